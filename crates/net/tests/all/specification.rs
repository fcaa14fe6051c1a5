//! A specification of mailboxes and mutexes that can be executed, and the machine compared with it.
//!
//! The specification shares no code with the machine. Its state is what docs/distributed.md describes: the sends and receives
//! of each mailbox, the queue of each mutex, and for each process how far it is and what it was told. Every interleaving of
//! random programs is run with both, which must agree on what is enabled, what each step answers, and what can be distinguished at the end.

use crate::common::{FAMILIES, script};
use std::collections::BTreeMap;
use whippet_generate::Sample;
use whippet_model::{Choice, Machine, Program, StateComparison};
use whippet_net::{Action, Net, Script};

/// An action of a process: the process and the number of the action.
type At = (usize, usize);

/// The state of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// The number of actions that each process has performed.
    done: Vec<usize>,
    /// The answers of the waits and tests of each process: the index of a completed entry, or `None` for a test that failed.
    answers: Vec<Vec<Option<usize>>>,
    /// The sends and receives of each mailbox, in order.
    sends: BTreeMap<usize, Vec<At>>,
    receives: BTreeMap<usize, Vec<At>>,
    /// The requests of each mutex that were not released, in order, and all requests.
    queues: BTreeMap<usize, Vec<At>>,
    requests: BTreeMap<usize, Vec<At>>,
}

/// A program as the specification reads it.
struct Specification<'a>(&'a Script);

impl Specification<'_> {
    fn start(&self) -> State {
        let none = self.0.processes().len();
        State { done: vec![0; none], answers: vec![Vec::new(); none], ..State::default() }
    }

    /// Returns the possible answers of a process's next action: none if it has to wait or has ended. An action that is no wait
    /// or test has a single answer, which tells nothing.
    fn next(&self, state: &State, process: usize) -> Vec<Option<usize>> {
        let actions = &self.0.processes()[process];
        let Some(action) = actions.get(state.done[process]) else { return Vec::new() };
        let (of, is_test, holds): (_, _, &dyn Fn(usize) -> bool) = match action {
            Action::Wait(of) => (of, false, &|k| self.is_complete(state, (process, k))),
            Action::Test(of) => (of, true, &|k| self.is_complete(state, (process, k))),
            Action::MutexWait(of) => (of, false, &|x| self.owns(state, process, x)),
            Action::MutexTest(of) => (of, true, &|x| self.owns(state, process, x)),
            _ => return vec![None],
        };
        let complete: Vec<Option<usize>> = (0..of.len()).filter(|&k| holds(of[k])).map(Some).collect();
        if complete.is_empty() && is_test { vec![None] } else { complete }
    }

    /// Returns `true` if a communication has both sides: the k-th send of a mailbox is matched with its k-th receive.
    fn is_complete(&self, state: &State, at: At) -> bool {
        let rank = |all: &[At]| all.iter().position(|other| *other == at);
        match self.0.processes()[at.0][at.1] {
            Action::Send(mailbox) => {
                let k = rank(&state.sends[&mailbox]).expect("it was sent");
                state.receives.get(&mailbox).is_some_and(|all| all.len() > k)
            }
            Action::Receive(mailbox) => {
                let k = rank(&state.receives[&mailbox]).expect("it was started");
                state.sends.get(&mailbox).is_some_and(|all| all.len() > k)
            }
            _ => unreachable!("only communications are waited for"),
        }
    }

    /// Returns `true` if the newest request of a process for a mutex is the first in the queue. It may have been released.
    fn owns(&self, state: &State, process: usize, mutex: usize) -> bool {
        let own = |all: &[At]| all.iter().rev().find(|(other, _)| *other == process).copied();
        own(&state.queues[&mutex]).is_some() && state.queues[&mutex].first().copied() == own(&state.queues[&mutex])
    }

    fn step(&self, state: &mut State, process: usize, answer: Option<usize>) {
        let at = (process, state.done[process]);
        state.done[process] += 1;
        match &self.0.processes()[at.0][at.1] {
            Action::Local => {}
            Action::Send(mailbox) => state.sends.entry(*mailbox).or_default().push(at),
            Action::Receive(mailbox) => state.receives.entry(*mailbox).or_default().push(at),
            Action::Lock(mutex) => {
                state.queues.entry(*mutex).or_default().push(at);
                state.requests.entry(*mutex).or_default().push(at);
            }
            Action::Unlock(mutex) => {
                // The oldest request of the process is released.
                let queue = state.queues.get_mut(mutex).expect("it was requested");
                let oldest = queue.iter().position(|(other, _)| *other == process).expect("it was requested");
                queue.remove(oldest);
            }
            Action::Wait(_) | Action::Test(_) | Action::MutexWait(_) | Action::MutexTest(_) => {
                state.answers[process].push(answer);
            }
        }
    }

    /// Returns `true` if some process has not ended although no action is possible.
    fn is_stuck(&self, state: &State) -> bool {
        self.0.processes().iter().zip(&state.done).any(|(actions, &done)| done < actions.len())
    }
}

/// Both at the same point of an execution, and what they distinguish.
struct Comparison<'a, M> {
    specification: Specification<'a>,
    machine: M,
    /// The final states of the one by those of the other.
    ends: BTreeMap<State, u128>,
    prints: BTreeMap<u128, State>,
    executions: u64,
}

impl<M: Machine> Comparison<'_, M> {
    /// Compares what is possible next, and goes on with each of it.
    fn every(&mut self, state: &State) {
        let mut choices = Vec::new();
        self.machine.enabled(&mut choices).unwrap();
        let mut possible: BTreeMap<usize, Vec<Option<usize>>> = BTreeMap::new();
        for process in 0..state.done.len() {
            let answers = self.specification.next(state, process);
            if !answers.is_empty() {
                possible.insert(process, answers);
            }
        }
        let mut offered: BTreeMap<usize, Vec<Choice>> = BTreeMap::new();
        for &choice in &choices {
            let process = self.machine.actor(choice.what).0 as usize;
            offered.entry(process).or_default().push(choice);
        }
        let by_machine: Vec<_> = offered.iter().map(|(&process, all)| (process, all.len())).collect();
        let specified: Vec<_> = possible.iter().map(|(&process, all)| (process, all.len())).collect();
        assert_eq!(by_machine, specified, "what is enabled in {state:?}");
        if choices.is_empty() {
            return self.end(state);
        }
        let depth = self.machine.depth();
        for (process, choices) in offered {
            // Both list the answers in the order in which the action names the entries.
            for (choice, &answer) in choices.into_iter().zip(&possible[&process]) {
                let mut next = state.clone();
                self.specification.step(&mut next, process, answer);
                self.machine.execute(choice).unwrap();
                self.every(&next);
                self.machine.rewind(depth);
            }
        }
    }

    fn end(&mut self, state: &State) {
        self.executions += 1;
        let mut problems = Vec::new();
        self.machine.final_problems(&mut problems).unwrap();
        let stuck = problems.iter().any(|problem| !problem.warning);
        assert_eq!(stuck, self.specification.is_stuck(state), "{state:?}: {problems:?}");
        let print = self.machine.fingerprint().unwrap().of_configuration(StateComparison::Canonical);
        let print = print.unwrap();
        let known = self.ends.entry(state.clone()).or_insert(print);
        assert_eq!(*known, print, "the machine distinguishes what is the same: {state:?}");
        let known = self.prints.entry(print).or_insert_with(|| state.clone());
        assert_eq!(known, state, "the machine does not distinguish these");
    }
}

/// Runs every interleaving of a program, and returns their number.
fn compare(script: &Script) -> u64 {
    let net = Net::script("random", script.clone());
    let machine = net.machine(&Default::default()).unwrap();
    let specification = Specification(script);
    let state = specification.start();
    let (ends, prints) = (BTreeMap::new(), BTreeMap::new());
    let mut comparison = Comparison { specification, machine, ends, prints, executions: 0 };
    comparison.every(&state);
    comparison.executions
}

#[test]
fn machine_and_specification_agree_on_random_programs() {
    let sample = Sample::from_environment(1, 400);
    let mut executions = 0;
    for seed in sample.seed..sample.seed.wrapping_add(sample.programs) {
        let family = FAMILIES[(seed % 4) as usize];
        executions += compare(&script(family, seed, 7));
    }
    assert!(executions > sample.programs, "{executions}");
}

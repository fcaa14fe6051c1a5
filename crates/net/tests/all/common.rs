//! Random programs, and the enumeration of their executions.

use std::collections::{BTreeMap, BTreeSet};
use whippet_model::{Choice, Clocks, Machine, Name, Program, StateComparison};
use whippet_net::{Action, Net, Script};

/// A deterministic pseudo-random number generator.
pub(crate) struct Dice(Name, u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(Name::ROOT.mixed(seed), 0)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.1 += 1;
        (self.0.mixed(self.1).0 >> 11) as usize % n
    }
}

/// The kind of actions in a random program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Communications,
    Tests,
    Mutexes,
    Mixed,
}

pub(crate) const FAMILIES: [Family; 4] = [Family::Communications, Family::Tests, Family::Mutexes, Family::Mixed];

/// Returns a random program of 2 to 4 processes with at most `most` actions in total.
pub(crate) fn script(family: Family, seed: u64, most: usize) -> Script {
    let mut dice = Dice::new(seed.wrapping_mul(4) + family as u64);
    let count = 2 + dice.below(3);
    let mut processes = vec![Vec::new(); count];
    for k in 0..most {
        let process = if k < count { k } else { dice.below(count) };
        if let Some(action) = action(family, &mut dice, &processes[process]) {
            processes[process].push(action);
        }
    }
    Script::new(processes).expect("only actions that make sense are drawn")
}

fn action(family: Family, dice: &mut Dice, before: &[Action]) -> Option<Action> {
    let mutex = match family {
        Family::Communications | Family::Tests => false,
        Family::Mutexes => true,
        Family::Mixed => dice.below(2) == 0,
    };
    if mutex { mutex_action(dice, before) } else { communication(family, dice, before) }
}

fn some(dice: &mut Dice, from: &[usize]) -> Vec<usize> {
    let mut of = vec![from[dice.below(from.len())]];
    for &other in from {
        if !of.contains(&other) && dice.below(2) == 0 {
            of.push(other);
        }
    }
    of
}

fn communication(family: Family, dice: &mut Dice, before: &[Action]) -> Option<Action> {
    let own: Vec<usize> =
        (0..before.len()).filter(|&k| matches!(before[k], Action::Send(_) | Action::Receive(_))).collect();
    let mailbox = dice.below(2);
    Some(match dice.below(if own.is_empty() { 4 } else { 7 }) {
        0 | 1 => Action::Send(mailbox),
        2 | 3 => Action::Receive(mailbox),
        4 if family == Family::Communications => Action::Wait(some(dice, &own)),
        4 | 5 if family != Family::Communications => Action::Test(some(dice, &own)),
        6 if dice.below(4) == 0 => Action::Local,
        _ => Action::Wait(some(dice, &own)),
    })
}

fn mutex_action(dice: &mut Dice, before: &[Action]) -> Option<Action> {
    let open = |x: usize| {
        let count = |pick: fn(&Action, usize) -> bool| before.iter().filter(|a| pick(a, x)).count();
        count(|a, x| *a == Action::Lock(x)) - count(|a, x| *a == Action::Unlock(x))
    };
    let held: Vec<usize> = (0..2).filter(|&x| open(x) > 0).collect();
    let x = dice.below(2);
    if held.is_empty() {
        return Some(Action::Lock(x));
    }
    Some(match dice.below(7) {
        0 | 1 => Action::Unlock(held[dice.below(held.len())]),
        2 | 3 => Action::MutexTest(some(dice, &held)),
        4 => Action::MutexWait(some(dice, &held)),
        5 if open(x) > 0 && dice.below(3) > 0 => return None,
        _ => Action::Lock(x),
    })
}

/// The results of all executions of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Enumerated {
    /// The traces.
    pub(crate) traces: BTreeSet<u64>,
    /// The ends of the executions: the final state, and the key of the deadlock if it is one.
    pub(crate) ends: BTreeSet<(u128, Option<Name>)>,
    /// All events, each identified together with its past.
    pub(crate) events: BTreeSet<u64>,
    pub(crate) executions: u64,
}

/// Runs every interleaving.
pub(crate) fn enumerate(net: &Net) -> Enumerated {
    let mut machine = net.machine(&Default::default()).unwrap();
    let mut found = Enumerated::default();
    every(&mut machine, &mut Clocks::new(), &mut |machine, clocks| {
        found.executions += 1;
        found.traces.insert(clocks.key());
        found.ends.insert(end(machine));
        found.events.extend((0..clocks.len()).map(|at| clocks.label(at)));
    });
    found
}

pub(crate) fn end<M: Machine>(machine: &mut M) -> (u128, Option<Name>) {
    let mut problems = Vec::new();
    machine.final_problems(&mut problems).unwrap();
    (
        machine.fingerprint().unwrap().of_configuration(StateComparison::Canonical).unwrap(),
        problems.iter().find(|p| !p.warning).map(|p| p.key),
    )
}

/// Calls `done` at the end of every execution.
pub(crate) fn every<M: Machine>(machine: &mut M, clocks: &mut Clocks, done: &mut impl FnMut(&mut M, &mut Clocks)) {
    clocks.follow(machine);
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    if choices.is_empty() {
        done(machine, clocks);
    }
    let depth = machine.depth();
    for choice in choices {
        machine.execute(choice).unwrap();
        every(machine, clocks, done);
        machine.rewind(depth);
        clocks.truncate(depth);
    }
}

/// Returns the choices that a machine has, by thread and branch.
pub(crate) fn choices<M: Machine>(machine: &mut M) -> BTreeMap<(Name, u64), Choice> {
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    choices.into_iter().map(|c| ((machine.thread(c.what), c.branch.0), c)).collect()
}

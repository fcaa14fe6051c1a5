//! The extensions for the unfolding search, computed in closed form for each operation.
//!
//! An event of the unfolding is an operation together with its past, i.e. all events that happen before it. Given the
//! steps taken so far, C, the unfolding search asks for all events whose past lies in C and contains the newest step e.
//! Then e is a maximal element of that past, so the operation depends on e. Since ranks determine the dependence
//! relation, the possible pasts of each operation can be listed without enumerating sets of steps (section 4.2 of Pham,
//! Jéron and Quinson, FORTE 2019, extended to further operations):
//!
//! * A local computation, a creation, and a send or receive at a port have one event, after the preceding step of the
//!   process.
//! * A send on a mailbox can take any place in the row of sends after those in its process's past. If tests of the
//!   receive at that place have failed, any of these tests may come before the send. The same holds for receives and,
//!   without tests, for locks.
//! * A wait or a successful test comes after the partner of the communication it completes, or after the unlocks of all
//!   requests before its own.
//! * A failed test of communications may have in its past any set of arrivals that is not sufficient for a collective
//!   operation, and nothing else; a failed test of mutexes any set of unlocks that is not sufficient for ownership.
//! * A choice has one event for each alternative.
//! * Joining a collective operation may come after any of the tests that found it incomplete.
//! * An unlock may come after any of the tests that found its request still in the queue.
//! * A receive at a port is matched with each message it could take, after any of the tests that found either of them
//!   unmatched; a probe after any of the tests that found the probe unmatched.
//!
//! "Any of the tests" stands for one event for each set of tests that is closed under happens-before.
//!
//! Operations that have already been executed can have further events too: for example, a wait for any of several
//! communications completed one of them, and e completes another.

use crate::collective::CollectiveCall;
use crate::machine::{Effect, NetMachine};
use crate::net::MailboxRelation;
use crate::op::{Op, WaitMode};
use crate::relation::touches;
use whippet_model::{Branch, Clocks, Extension, MachineError};

/// An operation, at the place in the execution where its events are computed.
struct OpSite<'a> {
    process: u32,
    /// The index of the operation among those of its process.
    index: u32,
    op: &'a Op,
    /// The step that precedes the operation.
    base: Option<usize>,
    /// The step that executed the operation, if any. The past of the new event must contain neither this step nor any
    /// step that depends on it.
    excluded: Option<usize>,
    /// The step that the past must contain, unless `base` implies it.
    newest: Option<usize>,
}

struct Extender<'a> {
    machine: &'a NetMachine,
    clocks: &'a Clocks,
    out: &'a mut Vec<Extension>,
}

impl NetMachine {
    /// Implements [`whippet_model::Machine::extensions`].
    pub(crate) fn extend(&self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<(), MachineError> {
        if self.relation == MailboxRelation::Paper {
            let why = "the relation `paper` has no unfolding, because its independent steps need not commute: use the relation `ranked`, or the reduction `optimal`";
            return Err(MachineError::Unsupported(why.into()));
        }
        let newest = self.steps.len().checked_sub(1);
        let actor = newest.map(|e| self.steps[e].process);
        let mut extender = Extender { machine: self, clocks, out };
        for process in 0..self.processes.len() as u32 {
            let base = self.preceding_step(process);
            let own = actor == Some(process) || base == newest;
            let site = OpSite {
                process,
                index: self.processes[process as usize].steps.len() as u32,
                op: self.op(process),
                base,
                excluded: None,
                newest: newest.filter(|_| !own),
            };
            if own || extender.may_depend_on_newest(&site) {
                extender.events(&site);
            }
            if !own {
                extender.events_of_executed(process);
            }
        }
        Ok(())
    }

    /// Implements [`whippet_model::Machine::late_alternatives`].
    pub(crate) fn later_branches(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let record = &self.steps[at];
        let op = self.histories.op(record.node);
        let completed = |step: usize| match &**op {
            Op::Wait { .. } => self.complete_since(step),
            _ => self.owns(step).then(|| {
                let (mutex, rank) = self.request(step);
                let unlocks = &self.mutexes[mutex as usize].unlocks[..rank as usize];
                unlocks.iter().flatten().max().map_or(step, |&u| u as usize)
            }),
        };
        if let (Op::Wait { of, .. } | Op::MutexWait { of, .. }, Effect::Completed { .. } | Effect::Owned { .. }) =
            (&**op, record.effect)
        {
            let later = of.iter().enumerate().filter_map(|(k, &index)| {
                let since = completed(self.own_step(record.process, index)).filter(|&since| since > at)?;
                Some((since, Branch(k as u64)))
            });
            out.extend(later);
        }
        if let Effect::Matched { port, index, message: taken } = record.effect {
            let port = &self.ports[port as usize];
            let later = port.messages().filter(|&message| message != taken).filter_map(|message| {
                let since = *port.required_steps(index, message)?.last()? as usize;
                (since > at).then_some((since, Branch(message.branch())))
            });
            out.extend(later);
        }
    }
}

impl Extender<'_> {
    /// Returns `true` if the newest step is of a kind on which the operation can depend.
    fn may_depend_on_newest(&self, site: &OpSite<'_>) -> bool {
        let newest = site.newest.expect("asked of other processes' steps only");
        match (self.machine.steps[newest].effect, site.op) {
            (Effect::SendStarted { mailbox, .. }, Op::Send { mailbox: m, .. })
            | (Effect::ReceiveStarted { mailbox, .. }, Op::Receive { mailbox: m }) => mailbox == *m,
            (Effect::LockRequested { mutex, .. }, Op::Lock { mutex: x }) => mutex == *x,
            (
                Effect::SendStarted { .. }
                | Effect::ReceiveStarted { .. }
                | Effect::Matched { .. }
                | Effect::Arrived { .. },
                Op::Wait { .. },
            ) => true,
            (Effect::PortSendStarted { port, .. } | Effect::Matched { port, .. }, Op::Match) => {
                port == self.machine.receive_of_matcher(site.process).0
            }
            (Effect::Chosen { .. }, Op::LearnChoice { .. }) => true,
            (Effect::Incomplete, Op::Match | Op::Send { .. } | Op::Receive { .. } | Op::Arrive { .. }) => true,
            (Effect::Unlocked { .. }, Op::MutexWait { .. }) | (Effect::NotOwned, Op::Unlock { .. }) => true,
            _ => false,
        }
    }

    /// Adds the events of operations that a process has already executed but could have executed differently.
    fn events_of_executed(&mut self, process: u32) {
        let machine = self.machine;
        let newest = machine.steps.len() - 1;
        let related = |op: &Op| match (machine.steps[newest].effect, op) {
            (Effect::PortSendStarted { .. } | Effect::Matched { .. } | Effect::Incomplete, Op::Match) => true,
            (
                Effect::SendStarted { .. }
                | Effect::ReceiveStarted { .. }
                | Effect::Matched { .. }
                | Effect::Arrived { .. },
                Op::Wait { of, .. },
            )
            | (Effect::Unlocked { .. }, Op::MutexWait { of, .. }) => of.len() > 1,
            _ => false,
        };
        for &step in &machine.processes[process as usize].steps {
            let record = &machine.steps[step as usize];
            let op = machine.histories.op(record.node);
            if related(op) && !self.clocks.before(step as usize, newest) {
                let before = record.index.checked_sub(1).map(|i| machine.own_step(process, i));
                let base = before.or(machine.processes[process as usize].creator.map(|c| c as usize));
                let excluded = Some(step as usize);
                self.events(&OpSite { process, index: record.index, op, base, excluded, newest: Some(newest) });
            }
        }
    }

    fn events(&mut self, site: &OpSite<'_>) {
        let machine = self.machine;
        match site.op {
            Op::Local(_) | Op::Create { .. } => self.add(site, Effect::Local, 0, &[]),
            Op::Choose { of } => {
                for k in 0..of.len() {
                    self.add(site, Effect::Chosen { k: k as u32 }, k, &[]);
                }
            }
            Op::LearnChoice { process } => {
                if let Some(&choice) = machine.processes[*process as usize].steps.first() {
                    let effect = machine.effect(site.process, site.op, Branch::FIRST);
                    self.add(site, effect, 0, &[choice as usize]);
                }
            }
            Op::Arrive { call, .. } => {
                let tests = self.failed_tests_of_others(site, call);
                let effect = machine.effect(site.process, site.op, Branch::FIRST);
                self.subsets(site, &tests, &mut |this, chosen| this.add(site, effect, 0, chosen));
            }
            Op::PortSend { .. } | Op::PortReceive { .. } => {
                self.add(site, machine.effect(site.process, site.op, Branch::FIRST), 0, &[]);
            }
            Op::Match => self.match_events(site),
            Op::Send { mailbox, .. } => {
                let mailbox = *mailbox;
                let (row, other) =
                    (&machine.mailboxes[mailbox as usize].sends, &machine.mailboxes[mailbox as usize].receives);
                self.queue_events(site, row, |rank| {
                    (Effect::SendStarted { mailbox, rank }, other.get(rank as usize).copied())
                });
            }
            Op::Receive { mailbox } => {
                let mailbox = *mailbox;
                let (row, other) =
                    (&machine.mailboxes[mailbox as usize].receives, &machine.mailboxes[mailbox as usize].sends);
                self.queue_events(site, row, |rank| {
                    (Effect::ReceiveStarted { mailbox, rank }, other.get(rank as usize).copied())
                });
            }
            Op::Lock { mutex } => {
                let mutex = *mutex;
                self.queue_events(site, &machine.mutexes[mutex as usize].locks, |rank| {
                    (Effect::LockRequested { mutex, rank }, None)
                });
            }
            Op::Wait { of, mode } => self.wait_events(site, of, *mode == WaitMode::Test),
            Op::MutexWait { of, test } => self.mutex_wait_events(site, of, *test),
            Op::Unlock { of } => {
                let (mutex, rank) = machine.request(machine.own_step(site.process, *of));
                let tests = self.failed_tests_behind(mutex, rank);
                self.subsets(site, &tests, &mut |this, chosen| {
                    this.add(site, Effect::Unlocked { mutex, rank }, 0, chosen)
                });
            }
            Op::Done | Op::Failed { .. } => {}
        }
    }

    /// Adds the events of an operation that joins a row, one for each place it can take. `at` returns the effect at a
    /// place, and the opposite communication at that place, if it exists.
    fn queue_events(&mut self, site: &OpSite<'_>, row: &[u32], at: impl Fn(u32) -> (Effect, Option<u32>)) {
        let from = row.iter().take_while(|&&step| self.in_past(site, step as usize)).count();
        for place in from..=row.len() {
            let (effect, opposite) = at(place as u32);
            let before = place.checked_sub(1).map(|i| row[i] as usize);
            let tests = opposite.map_or(Vec::new(), |step| self.failed_tests_of(step as usize));
            self.subsets(site, &tests, &mut |this, chosen| {
                let mut after = chosen.to_vec();
                after.extend(before);
                this.add(site, effect, 0, &after);
            });
        }
    }

    /// Adds the events that match a receive with a message, after any of the tests that found either of them unmatched.
    fn match_events(&mut self, site: &OpSite<'_>) {
        let (port, index) = self.machine.receive_of_matcher(site.process);
        let state = &self.machine.ports[port as usize];
        let receive = &state.receives[index as usize];
        for message in state.messages() {
            let Some(required) = state.required_steps(index, message) else { continue };
            let mut tests = self.failed_tests_of(receive.step as usize);
            if !receive.is_probe {
                tests.extend(self.failed_tests_of(state.sent(message).step as usize));
                tests.sort_unstable();
            }
            self.subsets(site, &tests, &mut |this, chosen| {
                let after: Vec<usize> =
                    required.iter().map(|&step| step as usize).chain(chosen.iter().copied()).collect();
                this.add(site, Effect::Matched { port, index, message }, message.branch() as usize, &after);
            });
        }
    }

    fn wait_events(&mut self, site: &OpSite<'_>, of: &[u32], test: bool) {
        let machine = self.machine;
        // The steps that complete each communication that is complete now.
        let mut complete: Vec<Vec<usize>> = Vec::new();
        let mut seen: Vec<usize> = Vec::new();
        for (k, &index) in of.iter().enumerate() {
            let communication = machine.own_step(site.process, index);
            if let Some(by) = machine.completing_steps(communication) {
                let by: Vec<usize> = by.iter().map(|&step| step as usize).collect();
                self.add(site, Effect::Completed { k: k as u32 }, k, &by);
                seen.extend(&by);
                complete.push(by);
            } else if let Op::Arrive { call, .. } = &**machine.histories.op(machine.steps[communication].node) {
                seen.extend(machine.joined_so_far(communication, call).iter().map(|&step| step as usize));
            }
        }
        if test {
            seen.sort_unstable();
            seen.dedup();
            self.subsets(site, &seen, &mut |this, chosen| {
                let there = |by: &usize| this.in_past(site, *by) || chosen.contains(by);
                if !complete.iter().any(|by| by.iter().all(there)) {
                    this.add(site, Effect::Incomplete, of.len(), chosen);
                }
            });
        }
    }

    /// Returns the tests of other members that found a collective operation incomplete which needs this call.
    fn failed_tests_of_others(&self, site: &OpSite<'_>, call: &CollectiveCall) -> Vec<usize> {
        let machine = self.machine;
        let effect = machine.effect(site.process, site.op, Branch::FIRST);
        let Effect::Arrived { place } = effect else { unreachable!("only arrivals arrive") };
        let mut tests = Vec::new();
        for member in (0..call.members.len() as u32).filter(|&member| member != call.member) {
            let Some(&arrival) = machine.arrivals.of(call.communicator, member).get(place as usize) else { continue };
            match &**machine.histories.op(machine.steps[arrival as usize].node) {
                Op::Arrive { call: other, .. } if other.needs.contains(&call.member) => {
                    tests.extend(self.failed_tests_of(arrival as usize));
                }
                _ => {}
            }
        }
        tests.sort_unstable();
        tests
    }

    fn mutex_wait_events(&mut self, site: &OpSite<'_>, of: &[u32], test: bool) {
        let machine = self.machine;
        let mut needed = Vec::new();
        for (k, &index) in of.iter().enumerate() {
            let (mutex, rank) = machine.request(machine.own_step(site.process, index));
            let unlocks = &machine.mutexes[mutex as usize].unlocks[..rank as usize];
            if unlocks.iter().all(Option::is_some) {
                let all: Vec<usize> = unlocks.iter().flatten().map(|&u| u as usize).collect();
                self.add(site, Effect::Owned { k: k as u32 }, k, &all);
            }
            needed.push(unlocks);
        }
        if test {
            let mut seen: Vec<usize> = needed.iter().flat_map(|u| u.iter().flatten()).map(|&u| u as usize).collect();
            seen.sort_unstable();
            seen.dedup();
            self.subsets(site, &seen, &mut |this, chosen| {
                let there = |u: &Option<u32>| {
                    u.is_some_and(|u| this.in_past(site, u as usize) || chosen.contains(&(u as usize)))
                };
                if needed.iter().all(|unlocks| !unlocks.iter().all(there)) {
                    this.add(site, Effect::NotOwned, of.len(), chosen);
                }
            });
        }
    }

    /// Returns the tests that found the communication started by a step incomplete.
    fn failed_tests_of(&self, communication: usize) -> Vec<usize> {
        let record = &self.machine.steps[communication];
        let steps = self.machine.processes[record.process as usize].steps[record.index as usize + 1..].iter();
        let is_failed_test = |&step: &usize| {
            let test = &self.machine.steps[step];
            test.effect == Effect::Incomplete
                && matches!(&**self.machine.histories.op(test.node), Op::Wait { of, .. } if of.contains(&record.index))
        };
        steps.map(|&step| step as usize).filter(is_failed_test).collect()
    }

    /// Returns the failed tests of requests behind this one, which found it still in the queue.
    fn failed_tests_behind(&self, mutex: u32, rank: u32) -> Vec<usize> {
        let is_failed_test = |&step: &usize| {
            let test = &self.machine.steps[step];
            test.effect == Effect::NotOwned
                && matches!(&**self.machine.histories.op(test.node), Op::MutexWait { of, .. } if of.iter().any(|&index| {
                    let (x, j) = self.machine.request(self.machine.own_step(test.process, index));
                    x == mutex && j > rank
                }))
        };
        (0..self.machine.steps.len()).filter(is_failed_test).collect()
    }

    fn in_past(&self, site: &OpSite<'_>, step: usize) -> bool {
        site.base.is_some_and(|base| self.clocks.before(step, base))
    }

    /// Calls `each` for all sets of candidates that are closed under happens-before, leaving out candidates in the past
    /// of the site and those that depend on `site.excluded`.
    fn subsets(&mut self, site: &OpSite<'_>, candidates: &[usize], each: &mut dyn FnMut(&mut Self, &[usize])) {
        let free = |&&c: &&usize| {
            !self.in_past(site, c) && site.excluded.is_none_or(|excluded| !self.clocks.before(excluded, c))
        };
        let free: Vec<usize> = candidates.iter().filter(free).copied().collect();
        self.choose(&free, &mut Vec::new(), each);
    }

    /// Enumerates the sets recursively. Candidates are in the order of steps, so each comes after those that happen
    /// before it.
    fn choose(&mut self, rest: &[usize], chosen: &mut Vec<usize>, each: &mut dyn FnMut(&mut Self, &[usize])) {
        let Some((&first, rest)) = rest.split_first() else { return each(self, chosen) };
        let without: Vec<usize> = rest.iter().filter(|&&c| !self.clocks.before(first, c)).copied().collect();
        self.choose(&without, chosen, each);
        chosen.push(first);
        self.choose(rest, chosen, each);
        chosen.pop();
    }

    /// Adds an event, if its past contains the newest step and none of the excluded steps.
    fn add(&mut self, site: &OpSite<'_>, effect: Effect, branch: usize, after: &[usize]) {
        let reaches = |step: usize| after.iter().any(|&a| self.clocks.before(step, a));
        if site.newest.is_some_and(|newest| !reaches(newest)) || site.excluded.is_some_and(reaches) {
            return;
        }
        let branch = Branch(branch as u64);
        let mut touched = Vec::new();
        touches(self.machine, site.process, site.op, effect, &mut touched);
        self.out.push(Extension {
            thread: self.machine.processes[site.process as usize].name,
            branch,
            event: self.machine.event(site.process, site.index, branch),
            after: site.base.into_iter().chain(after.iter().copied()).collect(),
            touches: touched,
        });
    }
}

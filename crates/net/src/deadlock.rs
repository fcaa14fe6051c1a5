//! Explanations of deadlocks: which processes are blocked, and what each waits for.

use crate::collective::CollectiveCall;
use crate::machine::{Effect, NetMachine};
use crate::op::{Op, WaitMode};
use std::collections::BTreeMap;
use whippet_model::{Explain, FindingKind, Name, Problem, WaitFor};

impl NetMachine {
    /// Appends the deadlock if processes are blocked, and the panics of processes that failed before their first step.
    pub(crate) fn deadlock(&self, out: &mut Vec<Problem>) {
        for process in self.processes.iter().filter(|p| p.steps.is_empty() && p.creator.is_none()) {
            if let Some((message, place)) = self.failure(process.node) {
                let key = process.name.mixed(0xfa11);
                out.push(Problem::new(FindingKind::Panic, message, key).with_place(place));
            }
        }
        self.late_receives(out);
        if self.mismatch(out) || self.problems() > 0 || !out.is_empty() {
            return; // Processes that wait for a failed process are not reported.
        }
        let waits = |&p: &u32| !self.op(p).is_end() && !matches!(&**self.op(p), Op::Match);
        let stuck: Vec<u32> = (0..self.processes.len() as u32).filter(waits).collect();
        if stuck.is_empty() {
            self.missing_call(out);
            if out.is_empty() {
                self.unreceived(out);
            }
            return;
        }
        let mut message = String::from("no process can continue");
        let mut key = Name::ROOT.mixed(0xdead);
        let mut waits = Vec::new();
        for &process in &stuck {
            let (actor, text) = (self.label(process).to_string(), self.why_stuck(process));
            message.push_str(&format!("\n  {actor} {text}"));
            waits.push(WaitFor { actor, text, on: self.waits_on(process) });
            let at = &self.processes[process as usize];
            key = key.mixed(at.name.0).mixed(at.steps.len() as u64);
        }
        // A deadlock also depends on the absence of further steps of the other processes, so its counterexample
        // includes all processes.
        let steps = (0..self.processes.len() as u32).filter_map(|p| self.preceding_step(p)).collect();
        out.push(Problem::new(FindingKind::Deadlock, message, key).with_steps(steps).with_waits(waits));
    }

    /// Returns the collective calls by operation, each with its steps in the order of members.
    fn collective_calls(&self) -> BTreeMap<(u32, Name), Vec<usize>> {
        let mut calls: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (step, record) in self.steps.iter().enumerate() {
            if let (Effect::Arrived { place }, Op::Arrive { call, .. }) =
                (record.effect, &**self.histories.op(record.node))
            {
                calls.entry((place, call.communicator)).or_default().push(step);
            }
        }
        for steps in calls.values_mut() {
            steps.sort_by_key(|&step| self.call_at(step).member);
        }
        calls
    }

    fn call_at(&self, step: usize) -> &CollectiveCall {
        match &**self.histories.op(self.steps[step].node) {
            Op::Arrive { call, .. } => call,
            _ => unreachable!("internal error: not a collective call"),
        }
    }

    /// Describes a collective call, e.g. "rank 0 calls bcast(root 0, i32) (action 3) at src/main.rs:7".
    fn call_text(&self, step: usize) -> String {
        let call = self.call_at(step);
        format!(
            "{} calls {} (action {}) at {}",
            self.label_of(step),
            call.signature,
            self.steps[step].index,
            call.place
        )
    }

    /// Appends the first two collective calls that do not match, and returns `true` if there are any.
    fn mismatch(&self, out: &mut Vec<Problem>) -> bool {
        for ((place, communicator), steps) in self.collective_calls() {
            let differ = |one: usize, two: usize| !self.call_at(one).signature.matches(&self.call_at(two).signature);
            let pairs =
                steps.iter().enumerate().flat_map(|(k, &one)| steps[k + 1..].iter().map(move |&two| (one, two)));
            let Some((first, other)) = pairs.into_iter().find(|&(one, two)| differ(one, two)) else { continue };
            let (one, two) = (self.call_text(first), self.call_text(other));
            let message = format!("collective calls do not match\n  {one}\n  {two}");
            let key = Name::ROOT.mixed(0x3157).mixed(communicator.0).mixed(u64::from(place));
            let problem = Problem::new(FindingKind::Assertion, message, key);
            out.push(problem.with_place(self.call_at(other).place.clone()).with_steps(vec![first, other]));
            return true;
        }
        false
    }

    /// Appends the first collective call that some member never made, in an execution in which all processes ended.
    fn missing_call(&self, out: &mut Vec<Problem>) {
        for ((place, communicator), steps) in self.collective_calls() {
            let call = self.call_at(steps[0]);
            let absent = call
                .members
                .iter()
                .enumerate()
                .filter(|&(member, _)| self.arrivals.of(communicator, member as u32).len() <= place as usize);
            let absent: Vec<&str> = absent.map(|(_, &rank)| self.label(rank)).collect();
            if absent.is_empty() {
                continue;
            }
            let text = self.call_text(steps[0]);
            let message = format!("{text}, but {} ended without calling it", absent.join(" and "));
            let key = Name::ROOT.mixed(0xab5e).mixed(communicator.0).mixed(u64::from(place));
            // The absence of a call depends on all processes.
            let steps = (0..self.processes.len() as u32).filter_map(|p| self.preceding_step(p)).collect();
            let problem = Problem::new(FindingKind::Assertion, message, key);
            out.push(problem.with_place(call.place.clone()).with_steps(steps));
            return;
        }
    }

    /// Returns the processes that own the mutexes that a blocked process waits for, or that could still serve its
    /// communications.
    fn waits_on(&self, process: u32) -> Vec<String> {
        let mut on: Vec<String> = Vec::new();
        let mut add = |label: &str| {
            if !on.iter().any(|other| other == label) {
                on.push(label.to_string());
            }
        };
        match &**self.op(process) {
            Op::MutexWait { of, .. } => {
                for &index in of {
                    let (mutex, rank) = self.request(self.own_step(process, index));
                    let queue = &self.mutexes[mutex as usize];
                    let first = queue.unlocks[..rank as usize].iter().position(Option::is_none);
                    first.into_iter().for_each(|i| add(self.label_of(queue.locks[i] as usize)));
                }
            }
            Op::Wait { of, .. } => {
                for &index in of {
                    let (mailbox, sends) = match self.steps[self.own_step(process, index)].effect {
                        Effect::SendStarted { mailbox, .. } => (mailbox, false),
                        Effect::ReceiveStarted { mailbox, .. } => (mailbox, true),
                        _ => continue,
                    };
                    for (no, other) in self.processes.iter().enumerate() {
                        let ahead = self.histories.remaining_ops(other.node).unwrap_or_default();
                        let serves = ahead.iter().any(|op| match &**op {
                            Op::Send { mailbox: m, .. } => sends && *m == mailbox,
                            Op::Receive { mailbox: m } => !sends && *m == mailbox,
                            _ => false,
                        });
                        if serves {
                            add(self.label(no as u32));
                        }
                    }
                }
            }
            _ => {}
        }
        on
    }

    fn why_stuck(&self, process: u32) -> String {
        match &**self.op(process) {
            Op::Wait { of, mode } => {
                let each = |step| format!("{}; {}", self.own_communication(step), self.could_serve(step));
                let verb = if *mode == WaitMode::Poll { "polls forever for" } else { "waits for" };
                format!("{verb} {}", self.list(process, of, each))
            }
            Op::MutexWait { of, .. } => {
                let each = |step: usize| {
                    let (mutex, rank) = self.request(step);
                    let queue = &self.mutexes[mutex as usize];
                    let first = queue.unlocks[..rank as usize].iter().position(Option::is_none);
                    let owner = first.map_or("no process", |i| self.label_of(queue.locks[i] as usize));
                    let holder =
                        if owner == self.label(process) { "it holds itself" } else { &format!("{owner} holds") };
                    format!("mutex {}, which {holder}", self.mutex_names[mutex as usize])
                };
                format!("waits for {}", self.list(process, of, each))
            }
            _ => unreachable!("only waits can be stuck"),
        }
    }

    /// Describes the communications that could have been matched with the one started by a step: those of processes
    /// that would have reached them later, and those that were matched with others instead.
    fn could_serve(&self, step: usize) -> String {
        if let Op::Arrive { call, .. } = &**self.histories.op(self.steps[step].node) {
            let place = self.steps[step].effect;
            let absent = call.needs.iter().filter(|&&member| {
                let joined = self.arrivals.of(call.communicator, member).len();
                matches!(place, Effect::Arrived { place } if joined <= place as usize)
            });
            let absent: Vec<&str> = absent.map(|&member| self.label(call.members[member as usize])).collect();
            return format!("{} did not call it", absent.join(" and "));
        }
        match self.steps[step].effect {
            Effect::PortSendStarted { port, .. } => return self.receives_at(port),
            Effect::PortReceiveStarted { port, .. } => return self.sends_to(port),
            _ => {}
        }
        let (mailbox, sends) = match self.steps[step].effect {
            Effect::SendStarted { mailbox, .. } => (mailbox, false),
            Effect::ReceiveStarted { mailbox, .. } => (mailbox, true),
            other => unreachable!("internal error: not a communication: {other:?}"),
        };
        let serves = |op: &Op| match op {
            Op::Send { mailbox: m, .. } => sends && *m == mailbox,
            Op::Receive { mailbox: m } => !sends && *m == mailbox,
            _ => false,
        };
        let verb = if sends { "send" } else { "receive" };
        let mut who = Vec::new();
        for (no, process) in self.processes.iter().enumerate() {
            let ahead = self.histories.remaining_ops(process.node).unwrap_or_default();
            if let Some(k) = ahead.iter().position(|op| serves(op)) {
                let action = process.steps.len() + k;
                let own = if no == self.steps[step].process as usize { " itself" } else { "" };
                who.push(format!("{}{own} would {verb} there later (action {action})", self.label(no as u32)));
            }
        }
        let row = &self.mailboxes[mailbox as usize];
        let (served, by) = if sends { (&row.sends, &row.receives) } else { (&row.receives, &row.sends) };
        for (&s, &taken) in served.iter().zip(by) {
            who.push(format!(
                "{}'s {verb} was matched with {}",
                self.label_of(s as usize),
                self.communication_of(taken as usize)
            ));
        }
        // The remaining operations of an async function are not known.
        let known = self.processes.iter().all(|process| self.histories.remaining_ops(process.node).is_some());
        match (who.is_empty(), known) {
            (false, _) => who.join(", "),
            (true, true) => format!("no process would {verb} there"),
            (true, false) => format!("no process reached a {verb} there"),
        }
    }

    /// Describes a communication with its process, e.g. "the send of worker 1".
    pub(crate) fn communication_of(&self, step: usize) -> String {
        let record = &self.steps[step];
        let what = if matches!(record.effect, Effect::SendStarted { .. } | Effect::PortSendStarted { .. }) {
            "send"
        } else {
            "receive"
        };
        format!("the {what} of {} (action {})", self.label_of(step), record.index)
    }

    /// Describes the receives at a port, for a message that none of them accepts.
    fn receives_at(&self, port: u32) -> String {
        let receives = self.ports[port as usize].receives.iter().filter(|receive| !receive.is_probe).map(|receive| {
            let (filter, action) = (self.filter_text(receive.filter), self.steps[receive.step as usize].index);
            match self.partner(receive.step as usize) {
                Some(send) => {
                    format!("received {filter} (action {action}), matched with {}", self.communication_of(send))
                }
                None => format!("receives {filter} (action {action}), which does not accept it"),
            }
        });
        let receives: Vec<String> = receives.collect();
        if receives.is_empty() {
            return format!("{} did not reach a receive", self.label(port));
        }
        format!("{} {}", self.label(port), receives.join(", "))
    }

    /// Describes the messages at a port, for a receive that accepts none of them.
    fn sends_to(&self, port: u32) -> String {
        let state = &self.ports[port as usize];
        let sends = state.messages().map(|message| {
            let sent = state.sent(message);
            let (who, tag) = (self.label_of(sent.step as usize), sent.envelope.tag);
            match self.partner(sent.step as usize) {
                Some(receive) => format!("{who} sent with tag {tag}, matched with {}", self.communication_of(receive)),
                None => format!("{who} sent with tag {tag}, which it does not accept"),
            }
        });
        let sends: Vec<String> = sends.collect();
        if sends.is_empty() { "no process reached a send to it".into() } else { sends.join(", ") }
    }
}

//! Textual descriptions of steps and deadlocks.

use crate::machine::{Effect, NetMachine};
use crate::op::Op;
use crate::port::{Message, ReceiveFilter};
use whippet_model::{EventKind, Explain, FindingKind, MessageText, Name, Problem, StepDescription, WaitFor};

impl NetMachine {
    fn label(&self, process: u32) -> &str {
        self.histories.label(self.processes[process as usize].body)
    }

    fn label_of(&self, step: usize) -> &str {
        self.label(self.steps[step].process)
    }

    /// Describes a communication by the step that started it, e.g. "its send on mailbox 0".
    fn own_communication(&self, step: usize) -> String {
        let index = self.steps[step].index;
        match self.steps[step].effect {
            Effect::SendStarted { mailbox, .. } => {
                format!("its send on mailbox {} (action {index})", self.mailbox_names[mailbox as usize])
            }
            Effect::ReceiveStarted { mailbox, .. } => {
                format!("its receive on mailbox {} (action {index})", self.mailbox_names[mailbox as usize])
            }
            Effect::PortSendStarted { port, message } => {
                let tag = self.ports[port as usize].sent(message).tag;
                format!("its send to {} with tag {tag} (action {index})", self.label(port))
            }
            Effect::PortReceiveStarted { port, index: k } => {
                format!(
                    "its receive {} (action {index})",
                    self.filter_text(self.ports[port as usize].receives[k as usize].filter)
                )
            }
            other => unreachable!("internal error: not a communication: {other:?}"),
        }
    }

    /// Describes the messages that a receive accepts, e.g. "from rank 1 with tag 0". The ranks are the first processes,
    /// and ports have the numbers of their ranks.
    fn filter_text(&self, filter: ReceiveFilter) -> String {
        let source = filter.source.map_or("any source", |source| self.label(source));
        let tag = filter.tag.map_or("any tag".into(), |tag| format!("tag {tag}"));
        format!("from {source} with {tag}")
    }

    fn mutex_of(&self, step: usize) -> &str {
        &self.mutex_names[self.request(step).0 as usize]
    }

    fn list(&self, process: u32, of: &[u32], each: impl Fn(usize) -> String) -> String {
        of.iter().map(|&index| each(self.own_step(process, index))).collect::<Vec<_>>().join(" or ")
    }

    /// Describes a step.
    pub(crate) fn step_text(&self, at: usize) -> StepDescription {
        let record = &self.steps[at];
        let process = record.process;
        let op = self.histories.op(record.node);
        let mut origin = None;
        let mut effects = Vec::new();
        let action = match (record.effect, &**op) {
            (_, Op::Local(what)) => what.clone().unwrap_or_else(|| "computes".into()),
            (_, Op::Create { body }) => format!("creates {}", self.histories.label(*body)),
            (Effect::SendStarted { mailbox, rank }, Op::Send { value, .. }) => {
                let what = value.as_ref().map_or(String::new(), |v| format!(" {}", v.text));
                let meets =
                    self.mailboxes[mailbox as usize].receives.get(rank as usize).filter(|&&r| (r as usize) < at);
                effects.extend(meets.map(|&r| format!("matches the receive of {}", self.label_of(r as usize))));
                format!("sends{what} on mailbox {}", self.mailbox_names[mailbox as usize])
            }
            (Effect::ReceiveStarted { mailbox, rank }, _) => {
                let meets = self.mailboxes[mailbox as usize].sends.get(rank as usize).filter(|&&s| (s as usize) < at);
                effects.extend(meets.map(|&s| format!("matches the send of {}", self.label_of(s as usize))));
                format!("starts a receive on mailbox {}", self.mailbox_names[mailbox as usize])
            }
            (Effect::PortSendStarted { port, .. }, Op::PortSend { value, tag, .. }) => {
                format!("sends {} to {} with tag {tag}", value.text, self.label(port))
            }
            (Effect::PortReceiveStarted { .. }, Op::PortReceive { filter, .. }) => {
                format!("starts a receive {}", self.filter_text(*filter))
            }
            (Effect::Matched { port, index, message }, _) => self.match_text(port, index, message),
            (Effect::Completed { k }, Op::Wait { of, test }) => {
                let step = self.own_step(process, of[k as usize]);
                origin = Some(self.origin_text(self.partner(step).expect("it is complete")));
                let communication = self.own_communication(step);
                if *test { format!("tests {communication}: complete") } else { format!("completes {communication}") }
            }
            (Effect::Incomplete, Op::Wait { of, .. }) => {
                format!("tests {}: not complete", self.list(process, of, |step| self.own_communication(step)))
            }
            (Effect::LockRequested { mutex, .. }, _) => format!("requests mutex {}", self.mutex_names[mutex as usize]),
            (Effect::Unlocked { mutex, .. }, _) => format!("unlocks mutex {}", self.mutex_names[mutex as usize]),
            (Effect::Owned { k }, Op::MutexWait { of, test }) => {
                let mutex = self.mutex_of(self.own_step(process, of[k as usize]));
                if *test { format!("tests mutex {mutex}: owned") } else { format!("acquires mutex {mutex}") }
            }
            (Effect::NotOwned, Op::MutexWait { of, .. }) => {
                format!("tests mutex {}: not owned", self.list(process, of, |step| self.mutex_of(step).to_string()))
            }
            (effect, _) => unreachable!("{effect:?} is not an effect of this operation"),
        };
        let (message, from) = self.message_of(at);
        let kind = match record.effect {
            Effect::SendStarted { .. } | Effect::PortSendStarted { .. } => EventKind::Send,
            Effect::ReceiveStarted { .. }
            | Effect::PortReceiveStarted { .. }
            | Effect::Matched { .. }
            | Effect::Completed { .. } => EventKind::Receive,
            Effect::LockRequested { .. } | Effect::Owned { .. } => EventKind::Lock,
            Effect::Unlocked { .. } => EventKind::Unlock,
            _ if matches!(&**op, Op::Create { .. }) => EventKind::Life,
            _ => EventKind::Step,
        };
        let actor = self.label(process).to_string();
        StepDescription { actor, action, origin, kind, message, from, effects, ..StepDescription::default() }
    }

    /// Returns the message that a step sends or has received, and the sender of the latter.
    fn message_of(&self, at: usize) -> (Option<MessageText>, Option<String>) {
        let record = &self.steps[at];
        let value = |step: usize| {
            let value = self.histories.op(self.steps[step].node).value();
            value.map(|value| MessageText { kind: None, text: value.text.to_string() })
        };
        match (record.effect, &**self.histories.op(record.node)) {
            (Effect::SendStarted { .. } | Effect::PortSendStarted { .. }, _) => (value(at), None),
            (Effect::Completed { k }, Op::Wait { of, .. }) => {
                let partner = self.partner(self.own_step(record.process, of[k as usize])).expect("it is complete");
                match self.steps[partner].effect {
                    Effect::SendStarted { .. } | Effect::PortSendStarted { .. } => {
                        (value(partner), Some(self.label_of(partner).to_string()))
                    }
                    _ => (None, None),
                }
            }
            _ => (None, None),
        }
    }

    /// Describes a match, e.g. "delivers 1 of rank 2 to rank 0's receive from any source with tag 3 (action 4)".
    fn match_text(&self, port: u32, index: u32, message: Message) -> String {
        let state = &self.ports[port as usize];
        let (send, receive) = (state.sent(message).step as usize, &state.receives[index as usize]);
        let value = &self.histories.op(self.steps[send].node).value().expect("messages have values").text;
        let (filter, action) = (self.filter_text(receive.filter), self.steps[receive.step as usize].index);
        format!(
            "delivers {value} of {} to {}'s receive {filter} (action {action})",
            self.label_of(send),
            self.label(port)
        )
    }

    /// Describes the result of a communication, given its partner's step.
    fn origin_text(&self, partner: usize) -> String {
        let who = self.label_of(partner);
        match self.steps[partner].effect {
            Effect::SendStarted { .. } | Effect::PortSendStarted { .. } => {
                match self.histories.op(self.steps[partner].node).value() {
                    Some(value) => format!("{} from {who}", value.text),
                    None => format!("from {who}"),
                }
            }
            _ => format!("received by {who}"),
        }
    }

    /// Appends the deadlock if processes are blocked, and the panics of processes that failed before their first step.
    pub(crate) fn deadlock(&self, out: &mut Vec<Problem>) {
        for process in self.processes.iter().filter(|p| p.steps.is_empty() && p.creator.is_none()) {
            if let Some((message, place)) = self.failure(process.node) {
                let key = process.name.mixed(0xfa11);
                out.push(Problem {
                    kind: FindingKind::Panic,
                    message,
                    place,
                    key,
                    steps: Vec::new(),
                    warning: false,
                    waits: Vec::new(),
                });
            }
        }
        if self.problems() > 0 || !out.is_empty() {
            return; // Processes that wait for a failed process are not reported.
        }
        let waits = |&p: &u32| !self.op(p).is_end() && !matches!(&**self.op(p), Op::Match);
        let stuck: Vec<u32> = (0..self.processes.len() as u32).filter(waits).collect();
        if stuck.is_empty() {
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
        out.push(Problem { kind: FindingKind::Deadlock, message, place: None, key, steps, warning: false, waits });
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
            Op::Wait { of, .. } => {
                let each = |step| format!("{}; {}", self.own_communication(step), self.could_serve(step));
                format!("waits for {}", self.list(process, of, each))
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
    fn communication_of(&self, step: usize) -> String {
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
        let receives = self.ports[port as usize].receives.iter().map(|receive| {
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
            let (who, tag) = (self.label_of(sent.step as usize), sent.tag);
            match self.partner(sent.step as usize) {
                Some(receive) => format!("{who} sent with tag {tag}, matched with {}", self.communication_of(receive)),
                None => format!("{who} sent with tag {tag}, which it does not accept"),
            }
        });
        let sends: Vec<String> = sends.collect();
        if sends.is_empty() { "no process reached a send to it".into() } else { sends.join(", ") }
    }
}

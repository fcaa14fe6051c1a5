//! Textual descriptions of steps and of the states of processes.

use crate::machine::{Effect, NetMachine};
use crate::op::{Op, WaitMode};
use crate::port::{Message, ReceiveFilter};
use whippet_model::{Access, ActorState, EventKind, MessageText, StepDescription, TraceTouch};

impl NetMachine {
    pub(crate) fn label(&self, process: u32) -> &str {
        self.histories.label(self.processes[process as usize].body)
    }

    pub(crate) fn label_of(&self, step: usize) -> &str {
        self.label(self.steps[step].process)
    }

    /// Describes a communication by the step that started it, e.g. "its send on mailbox 0".
    pub(crate) fn own_communication(&self, step: usize) -> String {
        let index = self.steps[step].index;
        match &**self.histories.op(self.steps[step].node) {
            Op::Arrive { call, .. } => return format!("its {} (action {index})", call.signature),
            Op::Local(what) => return what.clone().unwrap_or_default(),
            _ => {}
        }
        match self.steps[step].effect {
            Effect::SendStarted { mailbox, .. } => {
                format!("its send on mailbox {} (action {index})", self.mailbox_names[mailbox as usize])
            }
            Effect::ReceiveStarted { mailbox, .. } => {
                format!("its receive on mailbox {} (action {index})", self.mailbox_names[mailbox as usize])
            }
            Effect::PortSendStarted { port, message } => {
                let tag = self.ports[port as usize].sent(message).envelope.tag;
                format!("its send to {} with tag {tag} (action {index})", self.label(port))
            }
            Effect::PortReceiveStarted { port, index: k } => {
                let receive = &self.ports[port as usize].receives[k as usize];
                let what = if receive.is_probe { "probe for a message" } else { "receive" };
                format!("its {what} {} (action {index})", self.filter_text(receive.filter))
            }
            other => unreachable!("internal error: not a communication: {other:?}"),
        }
    }

    /// Describes the messages that a receive accepts, e.g. "from rank 1 with tag 0". The ranks are the first processes,
    /// and ports have the numbers of their ranks.
    pub(crate) fn filter_text(&self, filter: ReceiveFilter) -> String {
        let source = filter.source.map_or("any source", |source| self.label(source));
        let tag = filter.tag.map_or("any tag".into(), |tag| format!("tag {tag}"));
        format!("from {source} with {tag}")
    }

    fn mutex_of(&self, step: usize) -> &str {
        &self.mutex_names[self.request(step).0 as usize]
    }

    pub(crate) fn list(&self, process: u32, of: &[u32], each: impl Fn(usize) -> String) -> String {
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
            (Effect::Chosen { k }, Op::Choose { of }) => format!("chooses {}", of[k as usize]),
            (_, Op::LearnChoice { .. }) => "learns if collective operations synchronise".into(),
            (_, Op::Arrive { call, .. }) => format!("calls {} at {}", call.signature, call.place),
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
            (Effect::PortSendStarted { port, .. }, Op::PortSend { value, envelope, .. }) => {
                format!("sends {} to {} with tag {}", value.text, self.label(port), envelope.tag)
            }
            (Effect::PortReceiveStarted { .. }, Op::PortReceive { filter, is_probe, .. }) => {
                let what = if *is_probe { "probes for a message" } else { "starts a receive" };
                format!("{what} {}", self.filter_text(*filter))
            }
            (Effect::Matched { port, index, message }, _) => self.match_text(port, index, message),
            (Effect::Completed { k }, Op::Wait { of, mode }) => {
                let step = self.own_step(process, of[k as usize]);
                origin = match &**self.histories.op(self.steps[step].node) {
                    Op::PortSend { buffered: true, .. } => Some("buffered".into()),
                    _ => self.partner(step).map(|partner| self.origin_text(partner)),
                };
                let communication = self.own_communication(step);
                match mode {
                    WaitMode::Wait => format!("completes {communication}"),
                    WaitMode::Poll => format!("polls until {communication} is complete"),
                    WaitMode::Test => format!("tests {communication}: complete"),
                }
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
        let touches =
            self.object_of(at).into_iter().map(|object| TraceTouch { object, access: Access::Write, place: None });
        let touches = touches.collect();
        let body = self.processes[process as usize].body;
        let sent_at = self.received_send(at).and_then(|send| self.histories.place(self.steps[send].node));
        StepDescription::new(actor, action)
            .with_origin(origin)
            .with_place(self.histories.place(record.node))
            .with_created_at(self.histories.creation_place(body))
            .with_sent_at(sent_at)
            .with_kind(kind)
            .with_message(message)
            .with_from(from)
            .with_effects(effects)
            .with_touches(touches)
    }

    /// Returns the mailbox, mutex or port that a step uses.
    fn object_of(&self, at: usize) -> Option<String> {
        let record = &self.steps[at];
        let own = |of: &[u32], k: u32| self.own_step(record.process, of[k as usize]);
        Some(match (record.effect, &**self.histories.op(record.node)) {
            (Effect::SendStarted { mailbox, .. } | Effect::ReceiveStarted { mailbox, .. }, _) => {
                format!("mailbox {}", self.mailbox_names[mailbox as usize])
            }
            (
                Effect::PortSendStarted { port, .. }
                | Effect::PortReceiveStarted { port, .. }
                | Effect::Matched { port, .. },
                _,
            ) => format!("messages to {}", self.label(port)),
            (Effect::LockRequested { mutex, .. } | Effect::Unlocked { mutex, .. }, _) => {
                format!("mutex {}", self.mutex_names[mutex as usize])
            }
            (Effect::Owned { k }, Op::MutexWait { of, .. }) => format!("mutex {}", self.mutex_of(own(of, k))),
            (Effect::Completed { k }, Op::Wait { of, .. }) => return self.object_of(own(of, k)),
            _ => return None,
        })
    }

    /// Returns the state of every process: its next operation, and the messages that were sent to it or on a mailbox and
    /// that no process has received.
    pub(crate) fn process_states(&self) -> Vec<ActorState> {
        let mut states = Vec::new();
        for (number, process) in self.processes.iter().enumerate() {
            let op = self.op(number as u32);
            if matches!(&**op, Op::Match) {
                continue;
            }
            let status = match &**op {
                Op::Done => Some("has ended".to_owned()),
                Op::Failed { .. } => Some("has failed".to_owned()),
                Op::Wait { .. } | Op::MutexWait { .. } => Some(self.why_waiting(number as u32)),
                _ => None,
            };
            let pending = self.ports.get(number).map_or_else(Vec::new, |port| {
                let unmatched = port.messages().filter(|&message| port.sent(message).matched_by.is_none());
                unmatched.map(|message| self.message_text(port.sent(message).step as usize)).collect()
            });
            let actor = self.histories.label(process.body).to_string();
            states.push(ActorState { actor, status, pending, ..ActorState::default() });
        }
        for (mailbox, name) in self.mailboxes.iter().zip(&self.mailbox_names) {
            let unmatched = mailbox.sends.iter().skip(mailbox.receives.len());
            let pending: Vec<String> = unmatched.map(|&step| self.message_text(step as usize)).collect();
            if !pending.is_empty() {
                states.push(ActorState { actor: format!("mailbox {name}"), pending, ..ActorState::default() });
            }
        }
        states
    }

    /// Describes a message that was sent and not received.
    pub(crate) fn message_text(&self, send: usize) -> String {
        let value = self.histories.op(self.steps[send].node).value();
        let value = value.map_or_else(|| "a message".to_owned(), |value| value.text.to_string());
        format!("{value} from {}", self.label_of(send))
    }

    /// Says what a process waits for. The wait need not last.
    fn why_waiting(&self, process: u32) -> String {
        match &**self.op(process) {
            Op::Wait { of, .. } => format!("waits for {}", self.list(process, of, |step| self.own_communication(step))),
            Op::MutexWait { of, .. } => {
                format!("waits for mutex {}", self.list(process, of, |step| self.mutex_of(step).to_string()))
            }
            _ => String::new(),
        }
    }

    /// Returns the message that a step sends or has received, and the sender of the latter.
    fn message_of(&self, at: usize) -> (Option<MessageText>, Option<String>) {
        let value = |step: usize| {
            let value = self.histories.op(self.steps[step].node).value();
            value.map(|value| MessageText { kind: None, text: value.text.to_string() })
        };
        if self.is_send(at) {
            return (value(at), None);
        }
        self.received_send(at).map_or((None, None), |send| (value(send), Some(self.label_of(send).to_string())))
    }

    fn is_send(&self, at: usize) -> bool {
        matches!(self.steps[at].effect, Effect::SendStarted { .. } | Effect::PortSendStarted { .. })
    }

    /// Returns the step that sent the message that a step has received.
    fn received_send(&self, at: usize) -> Option<usize> {
        let record = &self.steps[at];
        match (record.effect, &**self.histories.op(record.node)) {
            (Effect::Completed { k }, Op::Wait { of, .. }) => {
                self.partner(self.own_step(record.process, of[k as usize])).filter(|&partner| self.is_send(partner))
            }
            _ => None,
        }
    }

    /// Describes a match, e.g. "delivers 1 of rank 2 to rank 0's receive from any source with tag 3 (action 4)".
    fn match_text(&self, port: u32, index: u32, message: Message) -> String {
        let state = &self.ports[port as usize];
        let (send, receive) = (state.sent(message).step as usize, &state.receives[index as usize]);
        let value = &self.histories.op(self.steps[send].node).value().expect("messages have values").text;
        let (filter, action) = (self.filter_text(receive.filter), self.steps[receive.step as usize].index);
        let (verb, what) = if receive.is_probe { ("shows", "probe") } else { ("delivers", "receive") };
        format!("{verb} {value} of {} to {}'s {what} {filter} (action {action})", self.label_of(send), self.label(port))
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
}

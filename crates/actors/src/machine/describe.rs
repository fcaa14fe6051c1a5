//! Textual description of one step of an execution.

use super::ActorMachine;
use crate::address::with_labels;
use crate::cell::ActorStatus;
use crate::current_step::{SETUP, TEST, WaitKind};
use crate::describe;
use crate::engine::Engine;
use crate::messages::{MessageContent, SentMessage};
use whippet_model::{EventKind, MessageText, StepDescription};

impl ActorMachine {
    /// Describes step `at`.
    pub(super) fn describe_step(&self, at: usize) -> StepDescription {
        let engine = self.engine.borrow();
        let labels = describe::labels(&engine);
        with_labels(labels.clone(), || step(self, &engine, &labels, at))
    }
}

fn step(machine: &ActorMachine, engine: &Engine, labels: &[String], at: usize) -> StepDescription {
    let record = &machine.records[at];
    let cell = &machine.cells[record.actor as usize];
    let what = record.choice.what.0;
    let sent = engine.messages[what];
    let text = cell.show_message(engine, what);
    let from = if sent.from == TEST { "the test" } else { &labels[sent.from as usize] };
    let action = match sent.content {
        MessageContent::Message(_) => format!("receives {text}"),
        MessageContent::Reply(..) => format!("gets the reply {text}"),
    };
    let sent_at = place(&sent);
    let place = sent_at.as_ref().map(|place| format!(" (sent {place})")).unwrap_or_default();
    let (before, after) = (record.position as usize, record.position as usize + 1);
    StepDescription {
        actor: labels[record.actor as usize].clone(),
        action,
        origin: Some(format!("from {from}{place}")),
        kind: EventKind::Receive,
        from: (sent.from != TEST).then(|| from.to_owned()),
        sent_at,
        place: None,
        message: Some(MessageText { kind: Some(describe::variant(&text).to_owned()), text }),
        effects: effects(machine, engine, labels, at),
        changes: match (cell.show(before), cell.show(after)) {
            (Some(before), Some(after)) => describe::changes(&before, &after),
            _ => Vec::new(),
        },
    }
}

/// Returns the source location of a send, or `None` for the replies of locks and other built-in objects.
fn place(sent: &SentMessage) -> Option<String> {
    (!sent.site.file().starts_with(crate::sources())).then(|| format!("{}:{}", sent.site.file(), sent.site.line()))
}

fn effects(machine: &ActorMachine, engine: &Engine, labels: &[String], at: usize) -> Vec<String> {
    let record = &machine.records[at];
    let mut effects = Vec::new();
    for (k, arity) in record.arities().iter().enumerate() {
        effects.push(format!("chooses {} of 0..{arity}", record.choice.branch.digit(k)));
    }
    for (slot, info) in engine.actors.iter().enumerate() {
        if info.by == at as u32 && info.by != SETUP {
            effects.push(format!("creates {}", labels[slot]));
        }
    }
    for what in whippet_model::Machine::sent(machine, at) {
        let sending = describe::send(engine, &machine.cells, labels, what);
        // A body created in this step runs at once, so it may be the sender.
        let by = engine.messages[what].from;
        effects.push(if by == record.actor { sending } else { format!("{} {sending}", labels[by as usize]) });
    }
    match machine.cells[record.actor as usize].status(record.position as usize + 1) {
        ActorStatus::Waiting(wait) => {
            if let WaitKind::Reply(call) = wait.kind
                && let Some(request) = engine.messages.all().iter().find(|sent| sent.name == call)
            {
                effects.push(format!("waits for the reply of {}", labels[request.to as usize]));
            }
        }
        ActorStatus::Failed => {
            let message = record.problem().map(|problem| problem.message.as_str()).unwrap_or_default();
            effects.push(format!("panics: {message}"));
        }
        ActorStatus::Stopped => effects.push("stops".to_owned()),
        _ => {}
    }
    effects
}

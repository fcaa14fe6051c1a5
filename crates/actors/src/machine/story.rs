//! Textual description of one step of an execution.

use super::ActorMachine;
use crate::address::with_labels;
use crate::cell::Status;
use crate::engine::Engine;
use crate::mail::{Content, Sent};
use crate::now::{On, SET_UP, TEST};
use crate::words;
use whippet_model::StepDescription;

impl ActorMachine {
    /// Describes step `at`.
    pub(super) fn words_of_step(&self, at: usize) -> StepDescription {
        let engine = self.engine.borrow();
        let labels = words::labels(&engine);
        with_labels(labels.clone(), || step(self, &engine, &labels, at))
    }
}

fn step(machine: &ActorMachine, engine: &Engine, labels: &[String], at: usize) -> StepDescription {
    let record = &machine.records[at];
    let cell = &machine.cells[record.actor as usize];
    let what = record.choice.what.0;
    let sent = engine.mail[what];
    let text = cell.show_message(engine, what);
    let from = if sent.from == TEST { "the test" } else { &labels[sent.from as usize] };
    let action = match sent.content {
        Content::Message(_) => format!("receives {text}"),
        Content::Reply(..) => format!("gets the reply {text}"),
    };
    let place = place(&sent).map(|place| format!(" (sent {place})")).unwrap_or_default();
    let (before, after) = (record.position as usize, record.position as usize + 1);
    StepDescription {
        actor: labels[record.actor as usize].clone(),
        action,
        origin: Some(format!("from {from}{place}")),
        effects: effects(machine, engine, labels, at),
        changes: match (cell.show(before), cell.show(after)) {
            (Some(before), Some(after)) => words::changes(&before, &after),
            _ => Vec::new(),
        },
    }
}

/// Returns the source location of a send, or `None` for the replies of locks and other built-in objects.
fn place(sent: &Sent) -> Option<String> {
    (!sent.site.file().starts_with(crate::sources())).then(|| format!("{}:{}", sent.site.file(), sent.site.line()))
}

fn effects(machine: &ActorMachine, engine: &Engine, labels: &[String], at: usize) -> Vec<String> {
    let record = &machine.records[at];
    let mut effects = Vec::new();
    for (k, arity) in record.arities().iter().enumerate() {
        effects.push(format!("chooses {} of 0..{arity}", record.choice.branch.digit(k)));
    }
    for (slot, about) in engine.about.iter().enumerate() {
        if about.by == at as u32 && about.by != SET_UP {
            effects.push(format!("creates {}", labels[slot]));
        }
    }
    for what in whippet_model::Machine::sent(machine, at) {
        let sending = words::sending(engine, &machine.cells, labels, what);
        // A body created in this step runs at once, so it may be the sender.
        let by = engine.mail[what].from;
        effects.push(if by == record.actor { sending } else { format!("{} {sending}", labels[by as usize]) });
    }
    match machine.cells[record.actor as usize].status(record.position as usize + 1) {
        Status::Waiting(wait) => {
            if let On::Reply(call) = wait.on
                && let Some(request) = engine.mail.all().iter().find(|sent| sent.name == call)
            {
                effects.push(format!("waits for the reply of {}", labels[request.to as usize]));
            }
        }
        Status::Failed => {
            let message = record.problem().map(|problem| problem.message.as_str()).unwrap_or_default();
            effects.push(format!("panics: {message}"));
        }
        Status::Stopped => effects.push("stops".to_owned()),
        _ => {}
    }
    effects
}

//! Textual description of one step of an execution.

use super::ActorMachine;
use super::faults::StepFault;
use crate::address::with_labels;
use crate::cell::ActorStatus;
use crate::current_step::{SETUP, TEST, WaitKind};
use crate::describe;
use crate::engine::Engine;
use crate::messages::{MessageContent, SendKind, SentMessage};
use crate::shared::VariableAccess;
use whippet_model::{Access, EventKind, MessageText, StateChange, StepDescription, TraceTouch};

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
    match record.fault {
        StepFault::Lost => return lost(labels, &sent, from, text),
        StepFault::Spared => {
            return StepDescription::new(labels[record.actor as usize].clone(), "does not crash any more");
        }
        _ => {}
    }
    let action = match sent.content {
        MessageContent::Message(_) if sent.kind == SendKind::Copy => format!("receives {text} a second time"),
        MessageContent::Message(_) if record.fault == StepFault::Overtakes => {
            format!("receives {text}, which has overtaken others,")
        }
        MessageContent::Message(_) if sent.kind == SendKind::Timer => format!("receives {text} from its timer"),
        MessageContent::Message(_) => format!("receives {text}"),
        MessageContent::Reply(..) => format!("gets the reply {text}"),
        MessageContent::Crash => "crashes".to_owned(),
    };
    let sent_at = place(&sent);
    let place = sent_at.as_ref().map(|place| format!(" (sent {place})")).unwrap_or_default();
    let (before, after) = (record.position as usize, record.position as usize + 1);
    let state = match (cell.show(before), cell.show(after)) {
        (Some(before), Some(after)) => StateChange::of_texts(&before, &after),
        _ => None,
    };
    let fires = sent.kind == SendKind::Timer;
    let is_crash = sent.kind == SendKind::Crash;
    let set = || sent_at.as_ref().map_or_else(String::new, |place| format!("(set {place})"));
    StepDescription::new(labels[record.actor as usize].clone(), action)
        .with_origin((!is_crash).then(|| if fires { set() } else { format!("from {from}{place}") }))
        .with_kind(if fires { EventKind::Timer } else { EventKind::Receive })
        .with_from((sent.from != TEST).then(|| from.to_owned()))
        .with_sent_at(sent_at)
        .with_message(Some(MessageText { kind: Some(describe::variant(&text).to_owned()), text }))
        .with_effects(effects(machine, engine, labels, at))
        .with_changes(state.as_ref().map_or_else(Vec::new, |state| state.before.changes(&state.after)))
        .with_state(state)
        .with_touches(touches(engine, at))
        .with_created_at(created_at(engine, record.actor))
}

/// Describes the loss of a message.
fn lost(labels: &[String], sent: &SentMessage, from: &str, text: String) -> StepDescription {
    let to = &labels[sent.to as usize];
    let sent_at = place(sent);
    let place = sent_at.as_ref().map(|place| format!(" (sent {place})")).unwrap_or_default();
    let what = if matches!(sent.content, MessageContent::Reply(..)) { "the reply " } else { "" };
    StepDescription::new("the network", format!("loses {what}{text}"))
        .with_origin(Some(format!("from {from} to {to}{place}")))
        .with_from((sent.from != TEST).then(|| from.to_owned()))
        .with_sent_at(sent_at)
        .with_message(Some(MessageText { kind: Some(describe::variant(&text).to_owned()), text }))
}

/// Returns the accesses of a step to shared variables.
fn touches(engine: &Engine, at: usize) -> Vec<TraceTouch> {
    let touch = |(variable, access): (u32, &VariableAccess)| TraceTouch {
        object: format!("variable {}", variable + 1),
        access: if access.write { Access::Write } else { Access::Read },
        place: Some(format!("{}:{}", access.site.file(), access.site.line())),
    };
    engine.shared.accesses_of(at as u32).map(touch).collect()
}

/// Returns the source location of an actor's creation, or `None` for locks and other built-in objects.
fn created_at(engine: &Engine, actor: u32) -> Option<String> {
    let site = engine.actors[actor as usize].site;
    (!site.file().starts_with(crate::sources())).then(|| format!("{}:{}", site.file(), site.line()))
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
        if engine.messages[what].kind == SendKind::Crash {
            continue;
        }
        if engine.messages[what].kind == SendKind::Copy {
            effects.push("the network will deliver it a second time".to_owned());
            continue;
        }
        if engine.messages[what].kind == SendKind::Timer {
            let text = machine.cells[record.actor as usize].show_message(engine, what);
            let after = engine.timers.duration(what).unwrap_or_default();
            effects.push(format!("sets a timer: {text} after {after:?}"));
            continue;
        }
        let sending = describe::send(engine, &machine.cells, labels, what);
        // A body created in this step runs at once, so it may be the sender.
        let by = engine.messages[what].from;
        effects.push(if by == record.actor { sending } else { format!("{} {sending}", labels[by as usize]) });
    }
    for what in engine.timers.cancelled_by(at as u32) {
        effects
            .push(format!("cancels the timer of {}", machine.cells[record.actor as usize].show_message(engine, what)));
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
        ActorStatus::Stopped if record.fault == StepFault::Crash => effects.push("does not restart".to_owned()),
        ActorStatus::Stopped => effects.push("stops".to_owned()),
        ActorStatus::Rest if record.fault == StepFault::Crash => effects.push("restarts".to_owned()),
        _ => {}
    }
    effects
}

//! The state of each actor, for a reader who walks through an execution.

use super::ActorMachine;
use crate::address::with_labels;
use crate::cell::ActorStatus;
use crate::current_step::{TEST, WaitKind};
use crate::describe;
use crate::engine::Engine;
use crate::messages::SendKind;
use whippet_model::{ActorState, DebugValue, Pending, States};

impl States for ActorMachine {
    fn of_actors(&mut self, out: &mut Vec<ActorState>) {
        let engine = self.engine.borrow();
        let labels = describe::labels(&engine);
        with_labels(labels.clone(), || {
            for slot in 0..self.cells.len() as u32 {
                out.extend(self.state_of(&engine, &labels, slot));
            }
        });
    }

    fn of_pending(&mut self, what: Pending) -> Option<(String, String)> {
        let engine = self.engine.borrow();
        let sent = engine.messages.all().get(what.0 as usize)?;
        let labels = describe::labels(&engine);
        let text = with_labels(labels.clone(), || self.cells[sent.to as usize].show_message(&engine, what.0));
        let from = match sent.from {
            TEST => "the test",
            _ if sent.kind == SendKind::Timer => "its timer",
            from => &labels[from as usize],
        };
        Some((labels[sent.to as usize].clone(), format!("receives {text} from {from}")))
    }
}

impl ActorMachine {
    /// Returns the state of one actor, or `None` for the test itself and for parts of the library.
    fn state_of(&self, engine: &Engine, labels: &[String], slot: u32) -> Option<ActorState> {
        let cell = &self.cells[slot as usize];
        let info = &engine.actors[slot as usize];
        if slot == TEST {
            return None;
        }
        let text = cell.show(cell.position()).filter(|_| !info.service);
        let live = engine.messages.pending_of(slot).into_iter().filter(|&what| !engine.timers.is_cancelled(what));
        let pending = live.map(|what| {
            let from = engine.messages[what].from;
            let from = if from == TEST { "the test" } else { &labels[from as usize] };
            format!("{} from {from}", cell.show_message(engine, what))
        });
        Some(ActorState {
            actor: labels[slot as usize].clone(),
            state: text.map(|text| DebugValue::parse(&text)),
            status: self.status_text(engine, labels, slot),
            pending: pending.collect(),
        })
    }

    fn status_text(&self, engine: &Engine, labels: &[String], slot: u32) -> Option<String> {
        match self.cells[slot as usize].current_status() {
            ActorStatus::Rest => None,
            ActorStatus::Stopped => Some("stopped".into()),
            ActorStatus::Failed => Some("panicked".into()),
            ActorStatus::Waiting(wait) => match wait.kind {
                WaitKind::Message(_) => None,
                WaitKind::Reply(call) => {
                    let request = engine.messages.all().iter().find(|sent| sent.name == call)?;
                    Some(format!("waits for the reply of {}", labels[request.to as usize]))
                }
            },
        }
    }
}

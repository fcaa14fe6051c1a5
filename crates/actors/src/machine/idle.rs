//! Deliveries that only consume a message: the receiver ignores it.
//!
//! Where messages wait for each other, consuming one may make another one deliverable, so this is for unordered delivery. A timer
//! may hold back others, and a crash uses a budget: these are never idle.

use super::ActorMachine;
use super::faults::StepFault;
use super::fingerprint::ConfigurationView;
use crate::delivery::Delivery;
use crate::messages::{MessageContent, SendKind};
use whippet_model::{IdleDeliveries, MachineError, Pending};

impl IdleDeliveries for ActorMachine {
    fn delivery_key(&mut self, what: Pending) -> Result<Option<u64>, MachineError> {
        let engine = self.engine.borrow();
        let sent = &engine.messages[what.0];
        let ordinary = matches!(sent.kind, SendKind::Sent | SendKind::Copy);
        let message = matches!(sent.content, MessageContent::Message(_));
        if self.delivery != Delivery::Unordered || !ordinary || !message {
            return Ok(None);
        }
        let view = ConfigurationView {
            engine: &engine,
            cells: &self.cells,
            records: &self.records,
            delivery: self.delivery,
            bodies: self.bodies,
            faults: self.faults.as_deref(),
            reached: None,
        };
        self.fingerprints.delivery(view, what.0).map(Some)
    }

    fn is_idle(&mut self) -> Result<bool, MachineError> {
        let engine = self.engine.borrow();
        let Some(record) = self.records.last() else { return Ok(false) };
        let at = self.records.len() as u32 - 1;
        let more = record.extras.is_some()
            || record.fault != StepFault::None
            || engine.messages.len() != record.sent
            || self.cells.len() != record.actors as usize
            || engine.timers.cancelled_by(at).next().is_some()
            || engine.histories.logs.iter().any(|log| log.ends_of(at).next().is_some())
            || engine.failed.last().is_some_and(|&(_, step, _)| step == at);
        if more {
            return Ok(false);
        }
        let view = ConfigurationView {
            engine: &engine,
            cells: &self.cells,
            records: &self.records,
            delivery: self.delivery,
            bodies: self.bodies,
            faults: self.faults.as_deref(),
            reached: None,
        };
        self.fingerprints.is_unchanged(view, record.actor)
    }
}

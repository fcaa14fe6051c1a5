//! The messages that can be delivered: those that their receiver accepts, unless the delivery order holds them back.
//!
//! A message is held back by an older one that its receiver also accepts and that must be delivered first; likewise a timer
//! by one that fires before it. A refused
//! message holds nothing back: a selective receive skips it.

use super::ActorMachine;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::messages::{DELIVERED_IN_SETUP, MessageContent, SendKind};
use crate::panics::{self, CaughtPanic};
use smallvec::SmallVec;
use std::cell::Ref;
use whippet_model::MachineError;

impl ActorMachine {
    /// Returns the engine, after updating the enabled messages of all actors to which something has happened.
    #[inline]
    pub(super) fn refreshed(&mut self) -> Result<Ref<'_, Engine>, MachineError> {
        let dirty = self.engine.borrow_mut().messages.next_dirty().is_some();
        if dirty {
            self.refresh();
        }
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(self.engine.borrow()),
        }
    }

    #[inline(never)]
    fn refresh(&mut self) {
        let engine = &mut *self.engine.borrow_mut();
        let result = panics::catch(|| {
            while let Some(actor) = engine.messages.next_dirty() {
                let cell = &self.cells[actor as usize];
                cell.update_enabled(actor, engine);
                let ordered = self.delivery != Delivery::Unordered || !engine.timers.is_empty();
                if ordered {
                    self.hold_back(engine, actor);
                }
                engine.messages.clean(actor);
                if !ordered && cell.accepts_all() {
                    engine.messages.open(actor);
                }
            }
        });
        let panicked = result.err().map(|panic| accepts_panicked(engine, panic));
        if self.error.is_none() {
            self.error = panicked;
        }
    }

    /// Closes the messages to an actor that must be delivered after another accepted one, and timers that were cancelled.
    fn hold_back(&self, engine: &mut Engine, actor: u32) {
        let pending = engine.messages.pending_of(actor);
        let accepted = |what: u32| engine.messages[what].enabled && !engine.timers.is_cancelled(what);
        // A message that is held back still holds back newer ones.
        let held = |k: usize, p: u32| pending[..k].iter().any(|&q| accepted(q) && self.precedes(engine, q, p));
        let can_be = |(k, &p): (usize, &u32)| accepted(p) && !held(k, p);
        let can_be: SmallVec<[bool; 16]> = pending.iter().enumerate().map(can_be).collect();
        engine.messages.update_enabled(actor, can_be);
    }

    /// Returns `true` if `what`, a message to the actor of step `at`, could have been delivered instead in that step.
    pub(super) fn was_enabled(&self, what: u32, at: usize) -> bool {
        let engine = self.engine.borrow();
        let record = &self.records[at];
        let (cell, position) = (&self.cells[record.actor as usize], record.position as usize);
        debug_assert_eq!(engine.messages[what].to, record.actor, "asked of a step of the same actor");
        let accepts = |p: u32| {
            let cancelled = !engine.timers.is_empty() && engine.timers.is_cancelled_before(p, at as u32);
            !cancelled && panics::catch(|| cell.accepts(position, &engine, p)).unwrap_or(false)
        };
        if !accepts(what) {
            return false;
        }
        self.delivery == Delivery::Unordered && engine.timers.is_empty()
            || !(0..what).any(|q| {
                let older = &engine.messages[q];
                let waiting =
                    older.is_pending() || older.delivered != DELIVERED_IN_SETUP && older.delivered as usize >= at;
                older.to == record.actor && waiting && self.precedes(&engine, q, what) && accepts(q)
            })
    }

    /// Returns `true` if `q` must be delivered before `p`, provided that their common receiver accepts `q`.
    fn precedes(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.messages[q], &engine.messages[p]);
        let messages =
            matches!((older.content, newer.content), (MessageContent::Message(_), MessageContent::Message(_)));
        if q >= p || !messages {
            return false;
        }
        match (older.kind, newer.kind) {
            (SendKind::Timer, SendKind::Timer) => return engine.timers.precedes(q, p),
            // A message need not wait for a timer, nor a timer for a message.
            (SendKind::Timer, _) | (_, SendKind::Timer) => return false,
            // The network delivers a copy at any time.
            (SendKind::Copy, _) | (_, SendKind::Copy) => return false,
            _ => {}
        }
        match self.delivery {
            Delivery::Unordered => false,
            Delivery::Fifo => older.from == newer.from,
            Delivery::Causal => engine.shared.clocks.sent_before(q, older.from, p),
        }
    }
}

/// Handles a panic of an actor that was asked which messages it accepts: it accepts none, and the error is returned.
#[cold]
fn accepts_panicked(engine: &mut Engine, panic: CaughtPanic) -> MachineError {
    let actor = engine.messages.next_dirty().expect("an actor was being asked");
    engine.messages.update_enabled(actor, std::iter::repeat(false));
    MachineError::Misuse(format!("`accepts` or the filter of a receive panicked: {panic}"))
}

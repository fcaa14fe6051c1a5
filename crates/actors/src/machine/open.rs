//! What can be delivered: what its receiver accepts, unless the order of delivery holds it back.
//!
//! A message is held back by an older one that could be delivered as well and must come before it. One that is refused
//! holds nothing back: a selective receive passes it over.

use super::ActorMachine;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::mail::{Content, LONG_AGO};
use crate::now::SET_UP;
use crate::panics::{self, Panic};
use smallvec::SmallVec;
use std::cell::Ref;
use whippet_model::MachineError;

impl ActorMachine {
    /// The engine, after it was found out again what can be delivered to actors that something happened to.
    #[inline]
    pub(super) fn refreshed(&mut self) -> Ref<'_, Engine> {
        let dirty = self.engine.borrow_mut().mail.next_dirty().is_some();
        if dirty {
            self.refresh();
        }
        self.engine.borrow()
    }

    #[inline(never)]
    fn refresh(&mut self) {
        let engine = &mut *self.engine.borrow_mut();
        let result = panics::catch(|| {
            while let Some(actor) = engine.mail.next_dirty() {
                self.cells[actor as usize].reopen(actor, engine);
                if self.delivery != Delivery::Unordered {
                    self.hold_back(engine, actor);
                }
                engine.mail.clean(actor);
            }
        });
        let panicked = result.err().map(|panic| refused_to_say(engine, panic));
        if self.error.is_none() {
            self.error = panicked;
        }
    }

    /// Closes messages to an actor that must come after another one which could be delivered as well.
    fn hold_back(&self, engine: &mut Engine, actor: u32) {
        let pending = engine.mail.pending_of(actor);
        let accepted = |what: u32| engine.mail[what].open;
        // A message that is held back still holds back younger ones.
        let held = |k: usize, p: u32| pending[..k].iter().any(|&q| accepted(q) && self.precedes(engine, q, p));
        let can_be = |(k, &p): (usize, &u32)| accepted(p) && !held(k, p);
        let can_be: SmallVec<[bool; 16]> = pending.iter().enumerate().map(can_be).collect();
        engine.mail.reopen(actor, can_be);
    }

    /// Whether a message to the actor of step `at` could have been delivered instead.
    pub(super) fn was_open(&self, what: u32, at: usize) -> bool {
        let engine = self.engine.borrow();
        let record = &self.records[at];
        let (cell, position) = (&self.cells[record.actor as usize], record.position as usize);
        debug_assert_eq!(engine.mail[what].to, record.actor, "asked of a step of the same actor");
        let accepts = |p: u32| panics::catch(|| cell.accepts(position, &engine, p)).unwrap_or(false);
        if !accepts(what) {
            return false;
        }
        self.delivery == Delivery::Unordered
            || !(0..what).any(|q| {
                let older = &engine.mail[q];
                let waiting = older.is_pending() || older.delivered != LONG_AGO && older.delivered as usize >= at;
                older.to == record.actor && waiting && self.precedes(&engine, q, what) && accepts(q)
            })
    }

    /// Whether `q` must be delivered before `p`, both to the same actor, if it can be.
    fn precedes(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.mail[q], &engine.mail[p]);
        let messages = matches!((older.content, newer.content), (Content::Message(_), Content::Message(_)));
        if q >= p || !messages {
            return false;
        }
        match self.delivery {
            Delivery::Unordered => false,
            Delivery::Fifo => older.from == newer.from,
            Delivery::Causal => self.sent_before(engine, q, p),
        }
    }

    /// Whether the sending of `q` happened before that of `p`: the sender did something later that the other
    /// sending depends on. What the same step sent before `q` does not count.
    fn sent_before(&self, engine: &Engine, q: u32, p: u32) -> bool {
        let (older, newer) = (&engine.mail[q], &engine.mail[p]);
        if older.by == newer.by || q < self.settled {
            return true;
        }
        let (Some(clocks), true) = (&self.clocks, newer.by != SET_UP) else { return false };
        let known = |step: usize| step <= newer.by as usize && clocks.before(step, newer.by as usize);
        let same_step = engine.mail.all()[q as usize..].iter().take_while(|sent| sent.by == older.by);
        let mut delivered = same_step.filter(|sent| sent.delivered < LONG_AGO).map(|sent| sent.delivered as usize);
        let next = || {
            let from = if older.by == SET_UP { self.records.len() } else { older.by as usize + 1 };
            (from..self.records.len()).find(|&step| self.records[step].actor == older.from)
        };
        delivered.any(known) || next().is_some_and(known)
    }
}

/// An actor panicked when it was asked what it accepts: it accepts nothing.
#[cold]
fn refused_to_say(engine: &mut Engine, panic: Panic) -> MachineError {
    let actor = engine.mail.next_dirty().expect("somebody was asked");
    engine.mail.reopen(actor, std::iter::repeat(false));
    MachineError::Misuse(format!(
        "deciding what an actor accepts must not panic, but it did: {} {}",
        panic.message,
        panic.place.unwrap_or_default()
    ))
}

//! Timers: messages that an actor sends to itself, which arrive later or are cancelled before.
//!
//! Time does not pass in a search, so a timer may fire at any time after it was set: before or after any message. Only what
//! all clocks agree on is certain: of two timers of one actor, the one that was set first also fires first unless it was set
//! for longer.
//!
//! A timer is a pending message. It is held back by timers that must fire before it, like a message by the order of delivery
//! (`machine/enabled.rs`). A timer that was cancelled stays pending, but is never accepted again; it is no part of a
//! configuration. Setting, cancelling and firing are steps of one actor, so nothing else depends on them.

use crate::Message;
use crate::current_step::SETUP;
use crate::engine::Engine;
use crate::messages::{MessageContent, MessageStore, SendKind};
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;
use whippet_model::Name;

/// A timer that was set, and perhaps has fired or was cancelled.
struct TimerInfo {
    /// The message that it delivers.
    what: u32,
    actor: u32,
    after: Duration,
    /// The step that set it, and the step that cancelled it.
    by: u32,
    cancelled: Option<u32>,
}

/// All timers of a system, in the order in which they were set.
#[derive(Default)]
pub(crate) struct Timers {
    timers: Vec<TimerInfo>,
    /// The timers that were cancelled, by their index, each with the step.
    cancelled: Vec<(usize, u32)>,
}

impl Timers {
    /// Returns `true` if no timer was set.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    fn get(&self, what: u32) -> Option<&TimerInfo> {
        let at = self.timers.binary_search_by_key(&what, |timer| timer.what).ok()?;
        Some(&self.timers[at])
    }

    /// Returns `true` if this message is a timer that was cancelled before step `at`.
    pub(crate) fn is_cancelled_before(&self, what: u32, at: u32) -> bool {
        let cancelled = self.get(what).and_then(|timer| timer.cancelled);
        cancelled.is_some_and(|step| step == SETUP || step < at)
    }

    /// Returns `true` if this message is a timer that was cancelled.
    pub(crate) fn is_cancelled(&self, what: u32) -> bool {
        self.is_cancelled_before(what, SETUP)
    }

    /// Returns the time after which a timer fires.
    pub(crate) fn duration(&self, what: u32) -> Option<Duration> {
        self.get(what).map(|timer| timer.after)
    }

    /// Returns the timers that step `at` cancelled, as messages.
    pub(crate) fn cancelled_by(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        self.cancelled.iter().filter(move |(_, step)| *step == at).map(|&(timer, _)| self.timers[timer].what)
    }

    /// Returns `true` if timer `q` of the same actor fires before timer `p`.
    pub(crate) fn precedes(&self, q: u32, p: u32) -> bool {
        q < p && self.get(q).zip(self.get(p)).is_some_and(|(q, p)| q.after <= p.after)
    }

    /// Returns the timers that have not fired, in the order in which they were set.
    pub(crate) fn pending<'a>(&'a self, messages: &'a MessageStore) -> impl Iterator<Item = u32> + 'a {
        self.timers.iter().map(|timer| timer.what).filter(|&what| messages[what].is_pending())
    }

    /// Undoes what steps from `depth` on did.
    pub(crate) fn rewind(&mut self, depth: u32) {
        while let Some((timer, _)) = self.cancelled.pop_if(|(_, step)| *step != SETUP && *step >= depth) {
            self.timers[timer].cancelled = None;
        }
        while self.timers.pop_if(|timer| timer.by != SETUP && timer.by >= depth).is_some() {}
    }

    /// Makes all timers part of the setup.
    pub(crate) fn commit(&mut self) {
        self.cancelled.iter_mut().for_each(|(_, step)| *step = SETUP);
        for timer in &mut self.timers {
            timer.by = SETUP;
            timer.cancelled = timer.cancelled.map(|_| SETUP);
        }
    }
}

impl Engine {
    /// Sets a timer of the current actor.
    pub(crate) fn set_timer<M: Message>(&mut self, after: Duration, message: M, site: &'static Location<'static>) {
        let name = self.current.next_name();
        if self.current.is_muted() {
            return;
        }
        if let Some(record) = &mut self.current.record {
            let message = message.clone();
            record.push(Rc::new(move |engine| engine.set_timer(after, message.clone(), site)));
        }
        let (actor, by) = (self.current.actor, self.current.step);
        let what = self.messages.len();
        let content = self.messages.keep_message(actor, message);
        self.post(name, actor, content, SendKind::Timer, site);
        self.records_more = true;
        self.timers.timers.push(TimerInfo { what, actor, after, by, cancelled: None });
    }

    /// Cancels the timers of the current actor whose message passes the filter.
    pub(crate) fn cancel_timers<M: Message>(&mut self, filter: impl Fn(&M) -> bool) {
        if self.current.is_muted() {
            return;
        }
        let actor = self.current.actor;
        let mut names: Vec<Name> = Vec::new();
        for timer in self.timers.timers.iter().filter(|timer| timer.actor == actor && timer.cancelled.is_none()) {
            let sent = &self.messages[timer.what];
            let MessageContent::Message(place) = sent.content else { continue };
            if sent.is_pending() && filter(self.messages.message::<M>(actor, place)) {
                names.push(sent.name);
            }
        }
        self.cancel(&names);
    }

    /// Cancels all timers of the current actor.
    pub(crate) fn cancel_all_timers(&mut self) {
        let live = |timer: &&TimerInfo| timer.actor == self.current.actor && timer.cancelled.is_none();
        let names: Vec<Name> =
            self.timers.timers.iter().filter(live).map(|timer| self.messages[timer.what].name).collect();
        self.cancel(&names);
    }

    /// Cancels timers of the current actor.
    fn cancel(&mut self, names: &[Name]) {
        if let Some(record) = &mut self.current.record {
            let names = names.to_vec();
            record.push(Rc::new(move |engine| engine.cancel(&names)));
        }
        let (actor, step) = (self.current.actor, self.current.step);
        for (at, timer) in self.timers.timers.iter_mut().enumerate() {
            let pending = self.messages[timer.what].is_pending();
            if timer.actor == actor
                && pending
                && timer.cancelled.is_none()
                && names.contains(&self.messages[timer.what].name)
            {
                timer.cancelled = Some(step);
                self.timers.cancelled.push((at, step));
            }
        }
    }
}

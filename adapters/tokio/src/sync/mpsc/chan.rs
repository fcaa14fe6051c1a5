//! What both ends of a channel share: one queue, in order of sending.
//!
//! A send writes the end of the queue; a receive happens after the send it takes from; the drop of the last
//! sender happens before the `None`. Bounded channels have permits, see [`Permits`].

use crate::sync::handles::Handles;
use std::collections::VecDeque;
use std::sync::Arc;
use whippet_model::Name;
use whippet_tasks::{
    Action, Asked, Local, Object, On, Part, Permits, Place, Ready, Source, event, is_foreign, is_learnt, learn,
    new_item, read,
    this_step, write,
};

pub(super) struct State<T> {
    pub(super) queue: VecDeque<Sent<T>>,
    /// How many places were ever asked for.
    pub(super) asked: usize,
    pub(super) permits: Option<Permits>,
    pub(super) capacity: usize,
    /// Whether the receiver has seen that all senders are gone.
    pub(super) over: bool,
    pub(super) closed: Option<u32>,
}

/// A message in the queue.
pub(super) struct Sent<T> {
    /// The step that sent it.
    step: u32,
    item: Name,
    value: T,
}

pub(super) struct Chan<T> {
    pub(super) object: Object,
    pub(super) senders: Handles,
    pub(super) state: Local<State<T>>,
}

/// Waits of receivers; other keys are places in the line for permits.
pub(super) const RECEIVE: u64 = 0;
/// Waits of senders for the receiver to be gone.
pub(super) const CLOSED: u64 = u64::MAX;

impl<T> Chan<T> {
    pub(super) fn new(capacity: Option<usize>) -> Arc<Chan<T>> {
        let state = State {
            queue: VecDeque::new(),
            asked: 0,
            permits: capacity.map(Permits::with),
            capacity: capacity.unwrap_or(usize::MAX),
            over: false,
            closed: None,
        };
        let object = Object::new("channel");
        Arc::new(Chan { object, senders: Handles::senders(object), state: Local::new(state) })
    }

    pub(super) fn on(self: &Arc<Self>, key: u64) -> On {
        crate::sync::on(self, key)
    }

    pub(super) fn action(&self, verb: &'static str, link: &'static str, place: Place) -> Action {
        Action::of::<T>(verb, link, self.object, place)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.with(|s| s.closed.is_some())
    }

    /// The running step sends.
    pub(super) fn push(&self, value: T) {
        let tail = self.object.part(Part::Tail);
        write(tail);
        let item = new_item();
        self.state.with(|s| s.queue.push_back(Sent { step: this_step(), item, value }));
        whippet_tasks::sent(item);
        whippet_tasks::enables(tail, item);
        whippet_tasks::appends(tail);
    }

    /// The running step takes what is first, if anything is.
    pub(super) fn pop(&self) -> Option<T> {
        let (sent, bounded) = self.state.with(|s| (s.queue.pop_front(), s.permits.is_some()));
        let Some(sent) = sent else {
            let over = self.senders.left() == 0;
            self.state.with(|s| s.over |= over);
            return None;
        };
        whippet_tasks::taken(sent.item);
        if bounded {
            self.free(1);
        }
        Some(sent.value)
    }

    /// The running step frees places.
    pub(super) fn free(&self, count: usize) {
        let free = self.object.part(Part::Free);
        write(free);
        whippet_tasks::enables(free, free.mixed(1));
        let step = this_step();
        self.state.with(|s| s.permits.as_mut().expect("it is bounded").release(count, step));
    }

    /// No more can be sent.
    pub(super) fn close(&self, place: Place) {
        // Once it is known that all senders are gone, nobody can tell.
        if self.is_closed() || whippet_tasks::is_over() || self.state.with(|s| s.over) {
            return;
        }
        event(Action::new("closes", self.object, place));
        if whippet_tasks::is_over() {
            return;
        }
        let closed = self.object.part(Part::Closed);
        write(closed);
        whippet_tasks::enables(closed, closed.mixed(1));
        whippet_tasks::enables(self.object.part(Part::Free), closed.mixed(1));
        let step = this_step();
        self.state.with(|s| {
            s.closed.get_or_insert(step);
        });
    }

    /// How many places are free. Libraries ask before every send, to know whether there are none: for them it is an event
    /// only where the places may run out, i.e. some execution asked for all of them.
    pub(super) fn room(&self, place: Place) -> usize {
        if !is_foreign(place) || is_learnt(self.object.part(Part::Free)) {
            event(Action::new("looks at", self.object, place));
            read(self.object.part(Part::Line));
            read(self.object.part(Part::Free));
        }
        self.state.with(|s| s.permits.as_ref().map_or(0, Permits::available))
    }

    /// The running step asks for places.
    pub(super) fn asks(&self, count: usize) {
        write(self.object.part(Part::Line));
        let all = self.state.with(|s| {
            s.asked += count;
            s.asked >= s.capacity
        });
        if all {
            learn(self.object.part(Part::Free));
        }
    }

    /// Asks for a place; `None` inside means wait for this number in line.
    pub(super) fn ask(&self, count: usize) -> Result<Option<u64>, ()> {
        self.asks(count);
        read(self.object.part(Part::Closed));
        self.state.with(|s| {
            if s.closed.is_some() {
                return Err(());
            }
            match s.permits.as_mut().expect("it is bounded").ask(count) {
                Asked::Now => Ok(None),
                Asked::Wait(id) => Ok(Some(id)),
            }
        })
    }
}

impl<T> Source for Chan<T> {
    fn ready(&self, key: u64) -> Option<Ready> {
        let closed = self.object.part(Part::Closed).mixed(1);
        self.state.with(|s| match key {
            RECEIVE => match s.queue.front() {
                Some(first) => Some(Ready { since: first.step, item: first.item }),
                None if self.senders.left() == 0 => self.senders.gone(),
                // A place that a sender holds may still bring something.
                None if s.closed.is_some() && s.permits.as_ref().is_none_or(|p| p.available() >= s.capacity) => {
                    Some(Ready { since: s.closed.expect("just seen"), item: closed })
                }
                None => None,
            },
            CLOSED => s.closed.map(|since| Ready { since, item: closed }),
            id => match s.permits.as_ref().and_then(|p| p.ready(id)) {
                Some(steps) => {
                    let since = steps.into_iter().filter(|&step| step != Ready::ALWAYS).max();
                    let item = self.object.part(Part::Free).mixed(1);
                    Some(Ready { since: since.unwrap_or(Ready::ALWAYS), item })
                }
                None => s.closed.map(|since| Ready { since, item: closed }),
            },
        })
    }

    fn watched(&self, key: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        match key {
            RECEIVE => out.extend([self.object.part(Part::Tail), self.senders.part()]),
            CLOSED => out.push(self.object.part(Part::Closed)),
            _ => out.extend([self.object.part(Part::Free), self.object.part(Part::Closed)]),
        }
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        let ready = self.ready(key);
        self.state.with(|s| match key {
            RECEIVE if s.queue.is_empty() && self.senders.left() == 0 => self.senders.causes(out),
            RECEIVE | CLOSED => out.extend(ready.map(|r| r.since)),
            id => match s.permits.as_ref().and_then(|p| p.ready(id)) {
                Some(steps) => out.extend(steps),
                None => out.extend(s.closed),
            },
        });
        out.retain(|&step| step != Ready::ALWAYS);
    }
}

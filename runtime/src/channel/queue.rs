//! The shared state of a channel with one receiver: a queue in the order of the sends.
//!
//! A send writes the tail of the queue. A receive happens after the send whose item it takes. The drop of the last
//! sender happens before the `None`. Bounded channels have permits, see [`Permits`].

use super::Handles;
use crate::drive::wait_here;
use crate::events::{
    self, appends, before_this, enables, event, is_every_event, is_learnt, is_over, is_preempted, is_taking, knows,
    learn, mergeable_event, new_item, read, this_step, write,
};
use crate::execution::{NONE, Steps};
use crate::local::Local;
use crate::merging::newest;
use crate::object::{Action, Object, Part, Place, is_foreign};
use crate::permits::{Asked, Permits};
use crate::points::Point;
use crate::waiting::{Readiness, Ready, UnobservedWait, WaitTarget};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;
use whippet_model::Name;

pub(super) struct State<T> {
    queue: VecDeque<Sent<T>>,
    /// The total number of slots requested so far.
    asked: usize,
    pub(super) permits: Option<Permits>,
    capacity: usize,
    /// The step that sent the item received last.
    taken: u32,
    /// The task that received last, or [`NONE`]. Only reports use it.
    receiver: u32,
    /// `true` if the receiver has seen the end of the channel: it is empty, and nothing can be sent.
    ended: bool,
    /// The steps that happen before the close, if there was one.
    pub(super) closed: Option<Steps>,
}

impl<T> State<T> {
    fn closed_since(&self, object: Object) -> Option<Ready> {
        let since = newest(self.closed.as_ref()?).unwrap_or(Ready::ALWAYS);
        Some(Ready { since, item: object.part(Part::Closed).mixed(1) })
    }

    /// Returns the reason for the end of a closed channel: nothing can be sent any more, because all slots are free. If the
    /// senders are gone, too, this is not the reason: it need not have come first.
    fn ended_since(&self, object: Object) -> Option<Ready> {
        let closed = self.closed_since(object)?;
        let Some(permits) = &self.permits else { return Some(closed) };
        if permits.available() < self.capacity {
            // A sender that holds a slot may still send.
            return None;
        }
        let freed = permits.released().map(|since| Ready { since, item: object.part(Part::Free).mixed(1) });
        freed.filter(|freed| freed.order() > closed.order()).or(Some(closed))
    }

    fn served_since(&self, id: u64, object: Object) -> Option<Ready> {
        let since = self.permits.as_ref()?.served_since(id)?;
        Some(Ready { since, item: object.part(Part::Free).mixed(1) })
    }
}

/// A message in the queue.
struct Sent<T> {
    /// The step that sent it.
    step: u32,
    item: Name,
    value: T,
}

/// A channel with one receiver.
pub struct Queue<T> {
    /// The identity of the channel.
    pub object: Object,
    /// The senders.
    pub senders: Handles,
    pub(super) state: Local<State<T>>,
}

/// The key of the receiver's wait; other keys are ids of waiters for permits.
const RECEIVE: u64 = 0;
/// The key of the wait for the receiver to close or be dropped.
const CLOSED: u64 = u64::MAX;

/// The reason for a failed attempt to send or receive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Full or empty at the moment.
    Now,
    /// Permanent: the other side is gone.
    Forever,
}

impl<T> Queue<T> {
    /// Creates a channel with one sender, and with `capacity` slots if it is bounded.
    #[must_use]
    pub fn new(capacity: Option<usize>) -> Arc<Queue<T>> {
        let state = State {
            queue: VecDeque::new(),
            asked: 0,
            permits: capacity.map(Permits::with),
            capacity: capacity.unwrap_or(usize::MAX),
            taken: Ready::ALWAYS,
            receiver: NONE,
            ended: false,
            closed: None,
        };
        let object = Object::new("channel");
        Arc::new(Queue { object, senders: Handles::senders(object), state: Local::here(state) })
    }

    /// Returns the wait for an item, or for the end of all senders.
    #[must_use]
    pub fn to_receive(self: &Arc<Self>) -> WaitTarget {
        WaitTarget::of(self, RECEIVE)
    }

    /// Returns the wait for the receiver to close or be dropped.
    #[must_use]
    pub fn to_close(self: &Arc<Self>) -> WaitTarget {
        WaitTarget::of(self, CLOSED)
    }

    /// Returns `true` if the channel belongs to this thread: after an execution, another thread may drop it.
    pub fn is_mine(&self) -> bool {
        self.state.is_mine()
    }

    /// Returns the total number of slots, free or not.
    pub fn capacity(&self) -> usize {
        self.state.with(|s| s.capacity)
    }

    /// Returns the description of an operation on a message of the channel.
    pub fn action(&self, point: Point, place: Place) -> Action {
        Action::of::<T>(point, self.object, place)
    }

    /// Returns `true` if the channel is closed for sends. The caller records the read.
    pub fn is_closed(&self) -> bool {
        self.state.with(|s| s.closed.is_some())
    }

    /// Sends `value` in the running step.
    pub fn push(&self, value: T) {
        let tail = self.object.part(Part::Tail);
        write(tail);
        let item = new_item();
        self.state.with(|s| s.queue.push_back(Sent { step: this_step(), item, value }));
        events::sent(item, None);
        enables(tail, item);
        appends(tail);
        crate::wake_polled();
    }

    /// Removes the first item in the running step. Returns `None` if the queue is empty.
    pub fn pop(&self) -> Option<T> {
        let (sent, bounded) = self.state.with(|s| (s.queue.pop_front(), s.permits.is_some()));
        let sent = sent?;
        events::taken(sent.item);
        self.state.with(|s| s.receiver = events::running_task());
        // Sends to one queue are totally ordered.
        events::supersedes(self.state.with(|s| std::mem::replace(&mut s.taken, sent.step)), sent.step);
        if bounded {
            self.free(1);
        }
        Some(sent.value)
    }

    /// Completes a receive in the running step: takes the first item, or reports the end of the channel.
    pub fn take(&self, place: Place) -> Option<T> {
        let value = self.pop();
        if value.is_none() {
            self.state.with(|s| s.ended = true);
            events::retell(Action::new(Point::SeesEnd, self.object, place));
        }
        value
    }

    /// Frees slots in the running step.
    pub fn free(&self, count: usize) {
        let free = self.object.part(Part::Free);
        // If the slots never run out, no sender waits for a slot that a merged receive frees.
        if !is_taking() || knows(self.scarce()) {
            write(free);
            enables(free, free.mixed(1));
            self.read_closed();
        }
        let step = this_step();
        self.state.with(|s| s.permits.as_mut().expect("it is bounded").release(count, step));
        crate::wake_polled();
    }

    /// Closes the channel for sends. Scheduling point, the first time.
    pub fn close(&self, place: Place) {
        // Once the receiver has seen the end of the channel, no task can observe the closing.
        if self.is_closed() || is_over() || !is_every_event() && self.state.with(|s| s.ended) {
            return;
        }
        let closed = self.object.part(Part::Closed);
        let free = self.object.part(Part::Free);
        // Case 4 of the lemma in `merging.rs`.
        mergeable_event(Action::new(Point::Closes, self.object, place), closed.mixed(2), &[closed, free]);
        if is_over() {
            return;
        }
        if self.state.with(|s| s.permits.is_some()) {
            learn(self.closable());
        }
        write(closed);
        enables(closed, closed.mixed(1));
        enables(free, closed.mixed(1));
        let before = before_this();
        self.state.with(|s| {
            s.closed.get_or_insert(before);
            s.permits.iter_mut().for_each(Permits::close);
        });
        crate::wake_polled();
    }

    /// Returns the number of free slots. Libraries ask for it before every send, to see if the channel is full; a
    /// call from a library is therefore an event only if the slots may run out, i.e. some execution requested all of
    /// them.
    pub fn room(&self, place: Place) -> usize {
        if !is_foreign(place) || is_learnt(self.scarce()) {
            event(Action::new(Point::LooksAtChannel, self.object, place));
            read(self.object.part(Part::Line));
            read(self.object.part(Part::Free));
        }
        self.state.with(|s| s.permits.as_ref().map_or(0, Permits::available))
    }

    /// Records the request for slots of the running step.
    fn asks(&self, count: usize) {
        write(self.object.part(Part::Line));
        let all = self.state.with(|s| {
            s.asked += count;
            s.asked >= s.capacity
        });
        if all {
            learn(self.scarce());
        }
    }

    /// Records that the running step assigns slots to waiting senders, unless the channel is closed.
    pub(super) fn read_closed(&self) {
        if knows(self.scarce()) && knows(self.closable()) {
            read(self.object.part(Part::Closed));
        }
    }

    /// Returns the name that is learnt if some execution closes the channel.
    fn closable(&self) -> Name {
        self.object.part(Part::Closed).mixed(3)
    }

    /// Returns the name that is learnt if the slots may run out: some execution requested all of them.
    fn scarce(&self) -> Name {
        self.object.part(Part::Free).mixed(2)
    }

    /// Requests slots. `Ok(Some(id))` means that the caller has to wait as waiter `id`; `Err` means that the channel
    /// is closed.
    pub(super) fn ask(&self, count: usize) -> Result<Option<u64>, ()> {
        self.asks(count);
        read(self.object.part(Part::Closed));
        let at_once = is_learnt(self.scarce()) && is_learnt(self.closable());
        if at_once {
            read(self.object.part(Part::Free));
        }
        self.state.with(|s| {
            if s.closed.is_some() {
                return Err(());
            }
            match s.permits.as_mut().expect("it is bounded").ask(count, at_once) {
                Asked::Now => Ok(None),
                Asked::Wait(id) => Ok(Some(id)),
            }
        })
    }
}

impl<T> Queue<T> {
    /// Takes slots if they are free. Scheduling point.
    pub fn try_ask(&self, count: usize, point: Point, place: Place) -> Result<(), Refused> {
        event(self.action(point, place));
        self.asks(count);
        if is_every_event() || is_learnt(self.scarce()) {
            read(self.object.part(Part::Free));
        }
        read(self.object.part(Part::Closed));
        self.state.with(|s| {
            if s.closed.is_some() {
                return Err(Refused::Forever);
            }
            let got = s.permits.as_mut().is_none_or(|permits| permits.try_ask(count));
            if got { Ok(()) } else { Err(Refused::Now) }
        })
    }

    /// Sends to an unbounded channel. Scheduling point.
    pub fn send(&self, value: T, place: Place) -> Result<(), T> {
        event(self.action(Point::Sends, place));
        read(self.object.part(Part::Closed));
        if self.is_closed() {
            return Err(value);
        }
        self.push(value);
        Ok(())
    }

    /// Receives the first item without waiting. Scheduling point; merged if possible.
    pub fn try_take(&self, place: Place) -> Result<T, Refused> {
        let action = self.action(Point::TriesToReceive, place);
        // If the slots may run out, a sender may wait for the one that is freed: no case of the lemma in `merging.rs`.
        if knows(self.scarce()) && self.state.with(|s| s.permits.is_some()) {
            event(action);
        } else {
            // Case 3.
            mergeable_event(action, self.object.part(Part::Head), &[]);
        }
        self.sees();
        match self.pop() {
            Some(value) => Ok(value),
            None if self.ready(RECEIVE).is_some() => {
                self.state.with(|s| s.ended = true);
                Err(Refused::Forever)
            }
            None => Err(Refused::Now),
        }
    }

    /// Receives an item, and blocks inside the current poll until there is one.
    pub fn take_here(self: &Arc<Self>, place: Place) -> Option<T> {
        let action = self.action(Point::Receives, place);
        if wait_here(&self.to_receive(), action) { self.take(place) } else { None }
    }

    /// Records that the running step reads the sends and the drops of senders.
    fn sees(&self) {
        read(self.object.part(Part::Tail));
        read(self.senders.part());
        if self.ends_with_slots() {
            read(self.object.part(Part::Free));
        }
    }

    /// Returns `true` if the end of the channel is visible only once all slots are free.
    fn ends_with_slots(&self) -> bool {
        self.state.with(|s| s.closed.is_some() && s.permits.is_some())
    }

    /// Returns the number of queued messages. Scheduling point.
    pub fn len(&self, place: Place) -> usize {
        event(Action::new(Point::LooksAtChannel, self.object, place));
        self.sees();
        self.state.with(|s| s.queue.len())
    }

    /// Returns `true` if the channel is closed for sends or all senders are dropped. Scheduling point.
    pub fn has_ended(&self, place: Place) -> bool {
        event(Action::new(Point::LooksAtChannel, self.object, place));
        self.sees();
        self.is_closed() || self.senders.left() == 0
    }

    /// Drops the receiver and all messages that were not received.
    pub fn abandon(&self, place: Place) {
        if self.is_mine() {
            // Messages may be sent through places that were reserved before the close. So this is an event even if there are
            // none now: otherwise the number of events would depend on an object that the previous event does not read.
            let may_have_messages = || self.state.with(|s| s.permits.is_some() && !s.ended);
            if self.is_closed() && may_have_messages() && !is_over() {
                event(Action::new(Point::DropsRest, self.object, place));
            } else {
                self.close(place);
                if is_preempted() && may_have_messages() {
                    event(Action::new(Point::DropsRest, self.object, place));
                }
            }
            read(self.object.part(Part::Tail));
            let (left, bounded) = self.state.with(|s| (std::mem::take(&mut s.queue), s.permits.is_some()));
            if bounded && !left.is_empty() && !is_over() {
                self.free(left.len());
            }
            drop(left);
        }
    }
}

impl<T> Readiness for Queue<T> {
    fn ready(&self, key: u64) -> Option<Ready> {
        self.state.with(|s| match key {
            RECEIVE => match s.queue.front() {
                Some(first) => Some(Ready { since: first.step, item: first.item }),
                None => s.ended_since(self.object).or_else(|| self.senders.gone()),
            },
            CLOSED => s.closed_since(self.object),
            // A waiter for a slot of a closed channel gets none, even if one was assigned to it.
            id => s.closed_since(self.object).or_else(|| s.served_since(id, self.object)),
        })
    }

    fn first_ready(&self, key: u64) -> Option<Ready> {
        match key {
            RECEIVE | CLOSED => self.ready(key),
            id => self.state.with(|s| Ready::first(s.served_since(id, self.object), s.closed_since(self.object))),
        }
    }

    fn watched(&self, key: u64, out: &mut SmallVec<[Name; 2]>) {
        match key {
            RECEIVE => {
                out.push(self.object.part(Part::Tail));
                out.push(self.senders.part());
                if self.ends_with_slots() {
                    out.push(self.object.part(Part::Free));
                }
            }
            CLOSED => out.push(self.object.part(Part::Closed)),
            _ => out.extend([self.object.part(Part::Free), self.object.part(Part::Closed)]),
        }
    }

    fn unobserved(&self, key: u64) -> Option<UnobservedWait> {
        let bounded = self.state.with(|s| s.permits.is_some());
        let freed = bounded.then(|| self.object.part(Part::Free));
        // If the slots may run out, a sender may wait for the one that is freed.
        let seen = key != RECEIVE || bounded && knows(self.scarce());
        (!seen).then(|| UnobservedWait { watched: self.object.part(Part::Tail), freed })
    }

    fn blockers(&self, key: u64, out: &mut Vec<u32>) {
        // A sender that waits for a slot waits for the receiver.
        let receiver = self.state.with(|s| s.receiver);
        out.extend(Some(receiver).filter(|&task| task != NONE && key != RECEIVE && key != CLOSED));
    }

    fn is_contested(&self, key: u64) -> bool {
        key != RECEIVE && key != CLOSED && self.is_closed()
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        let of = |step: u32| Some(step).filter(|&step| step != Ready::ALWAYS);
        self.state.with(|s| match key {
            RECEIVE => match s.queue.front() {
                Some(first) => out.extend(of(first.step)),
                None if s.ended_since(self.object).is_some() => {
                    out.extend(s.closed.iter().flatten());
                    out.extend(s.permits.as_ref().and_then(Permits::released));
                }
                None => self.senders.causes(out),
            },
            CLOSED => out.extend(s.closed.iter().flatten()),
            // A slot could have completed the wait before.
            _ if s.closed.is_some() => {}
            id => {
                let given = s.permits.as_ref().and_then(|p| p.ready(id));
                out.extend(given.into_iter().flatten().filter_map(of));
            }
        });
    }
}

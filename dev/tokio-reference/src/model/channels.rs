//! The leaves of channels.

use super::objects::{Heard, Received, Shared};
use super::semaphore::Acquired;
use super::state::{Guard, LeafState, State};
use super::step::{Pause, Poll, Step, joined};
use crate::program::{Leaf, ObjectId, Value};

impl Step<'_> {
    pub(super) fn poll_recv(&mut self, object: ObjectId) -> Poll {
        match self.mpsc(object).receive() {
            Received::Value(value) => self.ready_value(value),
            Received::Disconnected => self.ready("none"),
            Received::Empty => Poll::Pending { effect: false },
        }
    }

    /// Polls `recv_many`.
    ///
    /// `mpsc::Receiver::recv_many` docs: receives at least one message and up to the limit, without waiting for more
    /// than are there; returns 0 when the channel is closed, or when the limit is 0.
    pub(super) fn poll_recv_many(&mut self, object: ObjectId, limit: usize) -> Poll {
        let mut values = Vec::new();
        while values.len() < limit {
            match self.mpsc(object).receive() {
                Received::Value(value) => values.push(value),
                Received::Disconnected => break,
                Received::Empty if values.is_empty() => return Poll::Pending { effect: false },
                Received::Empty => break,
            }
        }
        if values.is_empty() { self.ready("none") } else { self.ready(&joined(&values)) }
    }

    /// Polls `send`: waits for a place, then pushes the message.
    ///
    /// `mpsc::Sender::send` docs: waits until there is capacity; an error if the receive half is closed, due to `close`
    /// or because the receiver was dropped.
    pub(super) fn poll_send(&mut self, object: ObjectId, state: &mut LeafState, value: Value) -> Poll {
        let LeafState::Request { queued, granted } = state else { unreachable!() };
        if *granted {
            self.mpsc(object).queue.push(value);
            return self.ready("sent");
        }
        let key = self.key();
        match self.semaphore(object).poll(key, 1, queued) {
            Acquired::Closed => self.ready("closed"),
            Acquired::Waiting { joined } => Poll::Pending { effect: joined },
            Acquired::Granted => {
                *granted = true;
                Poll::More(Pause::Fine)
            }
        }
    }

    /// Polls `reserve_owned`.
    ///
    /// `mpsc::Sender::reserve_owned` docs: moves the sender into the permit, which gives it back when it is used. The
    /// permit's sender keeps the channel open.
    pub(super) fn poll_reserve(&mut self, object: ObjectId, state: &mut LeafState) -> Poll {
        let LeafState::Request { queued, .. } = state else { unreachable!() };
        let key = self.key();
        match self.semaphore(object).poll(key, 1, queued) {
            Acquired::Closed => self.ready("closed"),
            Acquired::Waiting { joined } => Poll::Pending { effect: joined },
            Acquired::Granted => {
                self.mpsc(object).senders += 1;
                self.hands().guards.push(Guard { object, permits: 1 });
                self.ready("reserved")
            }
        }
    }

    /// Polls `closed()`.
    ///
    /// `mpsc::Sender::closed`, `oneshot::Sender::closed` docs: completes when the receiver has been dropped or has
    /// called `close`. `watch::Sender::closed` docs: completes when all receivers have been dropped.
    pub(super) fn poll_closed(&mut self, object: ObjectId) -> Poll {
        if is_closed(&self.state.objects[object]) { self.ready("closed") } else { Poll::Pending { effect: false } }
    }

    pub(super) fn poll_answer(&mut self, object: ObjectId) -> Poll {
        let poll = match self.oneshot(object).receive() {
            Received::Empty => return Poll::Pending { effect: false },
            Received::Value(value) => self.ready_value(value),
            Received::Disconnected => self.ready("gone"),
        };
        self.use_receiver_up(object);
        poll
    }

    /// Marks the receiver of a oneshot as used up, which it is once it is ready.
    pub(super) fn use_receiver_up(&mut self, object: ObjectId) {
        self.hands().receivers &= !(1 << object);
        self.oneshot(object).receiver = false;
    }

    pub(super) fn poll_heard(&mut self, object: ObjectId) -> Poll {
        match self.hear(object) {
            Heard::Value(value) => self.ready_value(value),
            Heard::Lagged(missed) => self.ready(&format!("lagged {missed}")),
            Heard::Closed => self.ready("closed"),
            Heard::Empty => Poll::Pending { effect: false },
        }
    }

    /// Receives the next message of a broadcast channel.
    pub(super) fn hear(&mut self, object: ObjectId) -> Heard {
        let mut seen = self.hands().seen[object];
        let heard = self.broadcast(object).receive(&mut seen);
        self.hands().seen[object] = seen;
        heard
    }

    /// Polls `changed()`, then borrows the value.
    ///
    /// `watch::Receiver::changed` docs: waits for a change, and marks the newest value as seen; an error if all senders
    /// are dropped and the newest value was seen. `borrow_and_update` docs: returns the most recent value and marks it
    /// as seen, which may be a later one than `changed` has noticed.
    pub(super) fn poll_changed(&mut self, object: ObjectId, state: &mut LeafState) -> Poll {
        let LeafState::Changed { marked } = state else { unreachable!() };
        let (value, version, senders) = {
            let watch = self.watch(object);
            (watch.value, watch.version, watch.senders)
        };
        let seen = self.hands().seen[object];
        if *marked {
            self.hands().seen[object] = version;
            return self.ready_value(value);
        }
        if seen != version {
            *marked = true;
            self.hands().seen[object] = version;
            return Poll::More(Pause::Fine);
        }
        if senders == 0 { self.ready("closed") } else { Poll::Pending { effect: false } }
    }
}

/// Tells if the receiving side of a channel has closed it.
pub(super) fn is_closed(object: &Shared) -> bool {
    match object {
        Shared::Mpsc(channel) => channel.semaphore.closed,
        Shared::Oneshot(channel) => channel.closed,
        Shared::Watch(channel) => channel.receivers == 0,
        _ => unreachable!("checked by `fits`"),
    }
}

/// Tells if polling a leaf without a state of its own would end its waiting.
pub(super) fn is_ready(state: &State, task: usize, leaf: &Leaf) -> bool {
    let seen = |object: ObjectId| state.tasks[task].hands.seen[object];
    match (leaf, leaf.object().map(|object| &*state.objects[object])) {
        (Leaf::Recv(_) | Leaf::RecvMany(..), Some(Shared::Mpsc(channel))) => {
            !channel.queue.is_empty() || channel.has_ended()
        }
        (Leaf::Closed(_), Some(object)) => is_closed(object),
        (Leaf::Answer(_), Some(Shared::Oneshot(channel))) => channel.complete || channel.closed,
        (Leaf::Heard(object), Some(Shared::Broadcast(channel))) => {
            channel.senders == 0 || seen(*object) != channel.sent.len() as u32
        }
        (Leaf::Changed(object), Some(Shared::Watch(watch))) => watch.senders == 0 || seen(*object) != watch.version,
        _ => false,
    }
}

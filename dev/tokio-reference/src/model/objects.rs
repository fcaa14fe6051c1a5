//! The shared objects.

use super::notify::Notify;
use super::semaphore::Semaphore;
use super::state::Content;
use crate::handles::Side;
use crate::program::{Object, ObjectId, Program, Value};

/// The number of permits of a `RwLock`. A writer takes all of them.
pub(super) const READERS: u32 = u32::MAX >> 3;

/// The number of messages that fit into an unbounded channel.
const UNBOUNDED: u32 = u32::MAX >> 1;

/// The state of a shared object.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Shared {
    Mpsc(Mpsc),
    Oneshot(Oneshot),
    Broadcast(Broadcast),
    Watch(Watch),
    Notify(Notify),
    Semaphore(Semaphore),
    /// A mutex or a read-write lock.
    Lock(Semaphore, Content),
    OnceCell(Semaphore, Option<Value>),
    SetOnce(Option<Value>),
    Barrier(Barrier),
}

/// An `mpsc` channel. Its semaphore counts the free places; it is closed when the receiver closes the channel.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Mpsc {
    pub(super) capacity: u32,
    pub(super) semaphore: Semaphore,
    pub(super) queue: Vec<Value>,
    pub(super) senders: u32,
    pub(super) receiver: bool,
}

/// The result of an attempt to receive.
pub(super) enum Received {
    Value(Value),
    /// Nothing will be received any more.
    Disconnected,
    Empty,
}

impl Mpsc {
    /// Receives a message if there is one.
    ///
    /// `mpsc::Receiver::recv` docs: `None` if the channel has been closed and there are no remaining messages, that is
    /// when all senders are dropped, or when `close` is called. `Receiver::close` docs: to guarantee that no messages
    /// are dropped, messages and outstanding permits are received after the close: `recv` returns `None` once all
    /// permits are released, too.
    pub(super) fn receive(&mut self) -> Received {
        if !self.queue.is_empty() {
            let value = self.queue.remove(0);
            self.semaphore.add(1);
            return Received::Value(value);
        }
        if self.has_ended() { Received::Disconnected } else { Received::Empty }
    }

    /// Tells if an empty channel will not get another message.
    pub(super) fn has_ended(&self) -> bool {
        self.senders == 0 || (self.semaphore.closed && self.semaphore.permits == self.capacity)
    }

    /// Drops the messages that a dropped receiver leaves, which frees their places.
    pub(super) fn drain(&mut self) {
        let messages = std::mem::take(&mut self.queue).len();
        self.semaphore.add(messages as u32);
        self.receiver = false;
    }
}

/// A `oneshot` channel.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Oneshot {
    pub(super) value: Option<Value>,
    /// The sender was used or dropped before the receiver closed the channel.
    pub(super) complete: bool,
    /// The receiver closed the channel or was dropped.
    pub(super) closed: bool,
    pub(super) sender: bool,
    pub(super) receiver: bool,
}

impl Oneshot {
    /// Receives the value if there is one.
    ///
    /// `oneshot::Receiver` docs: an error if the sender is dropped without sending. `Receiver::close` docs: a value that
    /// was sent before the close is still received.
    pub(super) fn receive(&mut self) -> Received {
        match self.value.take() {
            Some(value) => Received::Value(value),
            None if self.complete || self.closed => Received::Disconnected,
            None => Received::Empty,
        }
    }

    /// Marks the sender as used or dropped. Returns false if the receiver has closed the channel before.
    pub(super) fn complete(&mut self, value: Option<Value>) -> bool {
        self.sender = false;
        if self.closed {
            return false;
        }
        self.value = value;
        self.complete = true;
        true
    }
}

/// A `broadcast` channel, with all messages ever sent.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Broadcast {
    capacity: u32,
    pub(super) sent: Vec<Value>,
    pub(super) senders: u32,
    pub(super) receivers: u32,
}

/// The result of an attempt to receive from a broadcast channel.
pub(super) enum Heard {
    Value(Value),
    Lagged(u32),
    Closed,
    Empty,
}

impl Broadcast {
    /// Receives the next message for the receiver that has come as far as `seen`.
    ///
    /// `broadcast` module docs, lagging: a receiver whose next message is no longer retained gets `Lagged` with the
    /// number of skipped messages, and goes on with the oldest message that is retained. `broadcast::channel` docs: the
    /// capacity is rounded up to a power of two. `Receiver::recv` docs: `Closed` when all senders have been dropped and
    /// no message is left.
    pub(super) fn receive(&self, seen: &mut u32) -> Heard {
        let sent = self.sent.len() as u32;
        let oldest = sent.saturating_sub(self.capacity);
        if *seen == sent {
            return if self.senders == 0 { Heard::Closed } else { Heard::Empty };
        }
        if *seen < oldest {
            let missed = oldest - *seen;
            *seen = oldest;
            return Heard::Lagged(missed);
        }
        *seen += 1;
        Heard::Value(self.sent[*seen as usize - 1])
    }
}

/// A `watch` channel.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Watch {
    pub(super) value: Value,
    pub(super) version: u32,
    pub(super) senders: u32,
    pub(super) receivers: u32,
}

/// A barrier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Barrier {
    size: u32,
    arrived: u32,
    pub(super) generation: u32,
}

impl Barrier {
    /// Arrives. Returns true for the last of a generation.
    ///
    /// `Barrier::wait` docs: a barrier blocks n-1 tasks and wakes all of them when the nth calls `wait`; exactly one
    /// gets a result that says it is the leader. The implementation chooses the last one. Not cancel safe: an arrival
    /// counts even if its future is dropped.
    pub(super) fn arrive(&mut self) -> bool {
        self.arrived += 1;
        if self.arrived < self.size {
            return false;
        }
        self.arrived = 0;
        self.generation += 1;
        true
    }
}

impl Shared {
    /// Creates an object with the handles that tasks hold before the first one runs.
    pub(super) fn new(program: &Program, object: ObjectId) -> Shared {
        let count = |side| (0..program.tasks.len()).filter(|&task| program.holds(task, side)).count() as u32;
        let senders = || count(Side::Sender(object));
        let receivers = || count(Side::Receiver(object));
        match program.objects[object] {
            Object::Mpsc { capacity } => Shared::Mpsc(mpsc(capacity, senders(), receivers() > 0)),
            Object::Oneshot => Shared::Oneshot(oneshot(senders() > 0, receivers() > 0)),
            Object::Broadcast { capacity } => Shared::Broadcast(Broadcast {
                capacity: capacity.next_power_of_two() as u32,
                sent: Vec::new(),
                senders: senders(),
                receivers: receivers(),
            }),
            Object::Watch => Shared::Watch(Watch { senders: senders(), receivers: receivers(), ..Watch::default() }),
            Object::Notify => Shared::Notify(Notify::default()),
            Object::Semaphore { permits } => Shared::Semaphore(Semaphore::new(permits as u32)),
            Object::Mutex => Shared::Lock(Semaphore::new(1), Content::new()),
            Object::RwLock => Shared::Lock(Semaphore::new(READERS), Content::new()),
            Object::OnceCell => Shared::OnceCell(Semaphore::new(1), None),
            Object::SetOnce => Shared::SetOnce(None),
            // `Barrier::new` docs: a barrier of size 0 behaves like one of size 1.
            Object::Barrier { size } => {
                Shared::Barrier(Barrier { size: size.max(1) as u32, arrived: 0, generation: 0 })
            }
        }
    }

    /// Returns the semaphore in it.
    pub(super) fn semaphore(&mut self) -> &mut Semaphore {
        match self {
            Shared::Mpsc(channel) => &mut channel.semaphore,
            Shared::Semaphore(semaphore) | Shared::Lock(semaphore, _) | Shared::OnceCell(semaphore, _) => semaphore,
            _ => unreachable!("the object has no semaphore"),
        }
    }
}

fn mpsc(capacity: Option<usize>, senders: u32, receiver: bool) -> Mpsc {
    let capacity = capacity.map_or(UNBOUNDED, |capacity| capacity as u32);
    let mut semaphore = Semaphore::new(capacity);
    if !receiver {
        semaphore.close();
    }
    Mpsc { capacity, semaphore, queue: Vec::new(), senders, receiver }
}

fn oneshot(sender: bool, receiver: bool) -> Oneshot {
    Oneshot { value: None, complete: !sender && receiver, closed: !receiver, sender, receiver }
}

impl Shared {
    /// Tells if the semaphore in it has ended the waiting of a queued request.
    pub(super) fn releases(&self, key: super::state::Key) -> bool {
        match self {
            Shared::Mpsc(channel) => channel.semaphore.is_released(key),
            Shared::Semaphore(semaphore) | Shared::Lock(semaphore, _) | Shared::OnceCell(semaphore, _) => {
                semaphore.is_released(key)
            }
            _ => false,
        }
    }
}

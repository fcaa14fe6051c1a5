//! `std::sync::mpsc`. A channel created while a program is explored records its operations as events.

use super::leave_if_over;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc as real;
use std::task::Poll;
use std::time::Duration;
use whippet_runtime::Point;
use whippet_runtime::{Action, Asking, Place, Queue, Refused, WaitTarget, Waiter, block_on_here, is_live, misuse};

pub use real::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// One end of a channel: a real one, or a queue that records events.
enum ChannelEnd<R, T> {
    Real(R),
    Task(Arc<Queue<T>>),
}

/// The sender of an unbounded channel.
pub struct Sender<T>(ChannelEnd<real::Sender<T>, T>);

/// The sender of a bounded channel, which waits for room.
pub struct SyncSender<T>(ChannelEnd<real::SyncSender<T>, T>);

/// The receiver of a channel.
pub struct Receiver<T>(ChannelEnd<real::Receiver<T>, T>);

/// Creates an unbounded channel.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if is_live() {
        let queue = Queue::new(None);
        return (Sender(ChannelEnd::Task(queue.clone())), Receiver(ChannelEnd::Task(queue)));
    }
    let (sender, receiver) = real::channel();
    (Sender(ChannelEnd::Real(sender)), Receiver(ChannelEnd::Real(receiver)))
}

/// Creates a channel that holds up to `bound` messages. While a program is explored, `bound` must not be 0.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if is_live() {
        if bound == 0 {
            let place = Location::caller();
            misuse(format!(
                "whippet does not model std::sync::mpsc::sync_channel(0), used at {}:{}: use a bound of at least 1 in tests that \
                 are explored",
                place.file(),
                place.line()
            ));
        }
        let queue = Queue::new(Some(bound));
        return (SyncSender(ChannelEnd::Task(queue.clone())), Receiver(ChannelEnd::Task(queue)));
    }
    let (sender, receiver) = real::sync_channel(bound);
    (SyncSender(ChannelEnd::Real(sender)), Receiver(ChannelEnd::Real(receiver)))
}

impl<T> Sender<T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            ChannelEnd::Real(sender) => sender.send(value),
            ChannelEnd::Task(queue) => queue.send(value, Location::caller()).map_err(SendError),
        }
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, after waiting for room.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            ChannelEnd::Real(sender) => sender.send(value),
            ChannelEnd::Task(queue) => {
                let sent = Asking::new(queue, Some(value), 1, Location::caller()).here();
                leave_if_over();
                sent.map_err(|value| SendError(value.expect("an unsent value is returned")))
            }
        }
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            ChannelEnd::Real(sender) => sender.try_send(value),
            ChannelEnd::Task(queue) => match queue.try_ask(1, Point::TriesToSend, Location::caller()) {
                Ok(()) => {
                    queue.push(value);
                    Ok(())
                }
                Err(Refused::Now) => Err(TrySendError::Full(value)),
                Err(Refused::Forever) => Err(TrySendError::Disconnected(value)),
            },
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            ChannelEnd::Real(receiver) => receiver.recv(),
            ChannelEnd::Task(queue) => {
                let taken = queue.take_here(Location::caller());
                leave_if_over();
                taken.ok_or(RecvError)
            }
        }
    }

    /// Receives a message without waiting.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            ChannelEnd::Real(receiver) => receiver.try_recv(),
            ChannelEnd::Task(queue) => queue.try_take(Location::caller()).map_err(|refused| match refused {
                Refused::Now => TryRecvError::Empty,
                Refused::Forever => TryRecvError::Disconnected,
            }),
        }
    }

    /// Waits for a message or for the timeout.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            ChannelEnd::Real(receiver) => receiver.recv_timeout(timeout),
            ChannelEnd::Task(queue) => recv_timeout(queue, timeout, Location::caller()),
        }
    }

    /// Returns an iterator that waits for messages and ends when all senders are dropped.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Returns an iterator over the pending messages, which never waits.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

fn recv_timeout<T>(queue: &Arc<Queue<T>>, timeout: Duration, place: Place) -> Result<T, RecvTimeoutError> {
    let due =
        whippet_runtime::now(Location::caller()).saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let (mut messages, mut timer) = (Waiter::new(), Waiter::new());
    let answer = block_on_here(poll_fn(|cx| {
        let receives = || (queue.to_receive(), queue.action(Point::Receives, place));
        if messages.poll(cx, receives).is_ready() {
            return Poll::Ready(queue.take(place).ok_or(RecvTimeoutError::Disconnected));
        }
        let fires = || (WaitTarget::Timer(due), Action::plain(Point::IsWokenByTimer, place));
        timer.poll(cx, fires).map(|()| Err(RecvTimeoutError::Timeout))
    }));
    leave_if_over();
    answer.unwrap_or(Err(RecvTimeoutError::Timeout))
}

/// Implements `Clone` and `Drop` for both kinds of senders.
macro_rules! sender {
    ($($name:ident)*) => {$(
        impl<T> Clone for $name<T> {
            #[track_caller]
            fn clone(&self) -> $name<T> {
                match &self.0 {
                    ChannelEnd::Real(sender) => $name(ChannelEnd::Real(sender.clone())),
                    ChannelEnd::Task(queue) => {
                        queue.senders.clone_one(Location::caller());
                        $name(ChannelEnd::Task(queue.clone()))
                    }
                }
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                if let ChannelEnd::Task(queue) = &self.0 {
                    queue.senders.drop_one(Location::caller());
                }
            }
        }
    )*};
}
sender! { Sender SyncSender }

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let ChannelEnd::Task(queue) = &self.0 {
            queue.abandon(Location::caller());
        }
    }
}

/// The iterator that [`Receiver::iter`] returns.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// The iterator that [`Receiver::try_iter`] returns.
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// An iterator over messages that owns its receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

/// Implements `Iterator` by one of the receiving functions above.
macro_rules! messages {
    ($([$($life:lifetime)?] $name:ty, $take:ident;)*) => {$(
        impl<$($life,)? T> Iterator for $name {
            type Item = T;
            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.$take().ok()
            }
        }
    )*};
}
messages! {
    ['a] Iter<'a, T>, recv;
    ['a] TryIter<'a, T>, try_recv;
    [] IntoIter<T>, recv;
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
opaque! { Sender SyncSender Receiver }

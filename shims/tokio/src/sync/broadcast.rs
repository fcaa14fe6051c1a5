//! `broadcast`: every receiver sees every message, unless it lags by more than the capacity.

use super::hub::{Hub, News};
use crate::task::blocking::check_blocking;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Local, Object, Part, Place, Ready, Waiter, event, is_learnt, learn, read, this_step, write,
};

pub mod error {
    use std::fmt;

    #[derive(Debug, PartialEq, Eq, Clone)]
    pub struct SendError<T>(pub T);
    impl<T> fmt::Display for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }
    impl<T: fmt::Debug> std::error::Error for SendError<T> {}

    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum RecvError {
        Closed,
        Lagged(u64),
    }
    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                RecvError::Closed => f.write_str("channel closed"),
                RecvError::Lagged(count) => write!(f, "channel lagged by {count}"),
            }
        }
    }
    impl std::error::Error for RecvError {}

    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum TryRecvError {
        Empty,
        Closed,
        Lagged(u64),
    }
    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                TryRecvError::Empty => f.write_str("channel empty"),
                TryRecvError::Closed => f.write_str("channel closed"),
                TryRecvError::Lagged(count) => write!(f, "channel lagged by {count}"),
            }
        }
    }
    impl std::error::Error for TryRecvError {}
}
pub use error::SendError;
use error::{RecvError, TryRecvError};

/// A message that is kept for the receivers that have not received it yet.
struct Kept<T> {
    /// The message; `None` when no receiver can receive it any more.
    value: Option<Arc<T>>,
    /// The number of receivers that have not received it.
    left: usize,
}

struct State<T> {
    /// The newest messages; the first has number `first`.
    kept: VecDeque<Kept<T>>,
    first: u64,
    capacity: usize,
    /// The steps that sent the messages, for all messages since the creation of the channel.
    steps: Vec<u32>,
}

impl<T> State<T> {
    /// Returns the number of the next message to be sent.
    fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// Records that one receiver has received message `number`, or never will. Returns the message if that was the last
    /// receiver; the caller drops it.
    fn seen(&mut self, number: u64) -> Option<Arc<T>> {
        let kept = self.kept.get_mut(number.checked_sub(self.first)? as usize)?;
        kept.left -= 1;
        if kept.left == 0 { kept.value.take() } else { None }
    }
}

type Chan<T> = Hub<Local<State<T>>>;

fn item(object: Object, number: u64) -> Name {
    object.part(Part::Item).mixed(number)
}

impl<T> News for Local<State<T>> {
    fn after(&self, object: Object, next: u64) -> Option<Ready> {
        self.with(|s| {
            // A lagging receiver was made ready by the message that it missed.
            Some(Ready { since: *s.steps.get(next as usize)?, item: item(object, next) })
        })
    }
}

impl<T> Chan<T> {
    /// Records that the current step takes a message. The order in which receivers take messages is observable if
    /// dropping a message has effects, or if a task reads the number of messages kept; only then is the access
    /// recorded.
    fn takes(&self) {
        let head = self.object.part(Part::Head);
        if is_learnt(head) {
            write(head);
        }
    }

    /// Drops messages that no receiver can receive any more. If the drop causes an event, later executions take this
    /// into account.
    fn drop_seen(&self, value: impl Sized) {
        let step = this_step();
        drop(value);
        if step != this_step() {
            learn(self.object.part(Part::Head));
        }
    }
}

pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}

pub struct Receiver<T> {
    chan: Arc<Chan<T>>,
    next: u64,
    waiter: Waiter,
}

#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with_receivers(capacity, 1);
    let chan = sender.chan.clone();
    (sender, Receiver { chan, next: 0, waiter: Waiter::new() })
}

impl<T> Sender<T> {
    #[track_caller]
    pub fn new(capacity: usize) -> Sender<T> {
        Sender::with_receivers(capacity, 0)
    }

    #[track_caller]
    fn with_receivers(capacity: usize, receivers: usize) -> Sender<T> {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        // Rounded up, as in tokio.
        let state =
            State { kept: VecDeque::new(), first: 0, capacity: capacity.next_power_of_two(), steps: Vec::new() };
        Sender { chan: Hub::new("broadcast", receivers, Local::here(state)) }
    }

    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let chan = &self.chan;
        event(Action::of::<T>(Point::Publishes, chan.object, Location::caller()));
        read(chan.receivers.part());
        let receivers = chan.receivers.left();
        if receivers == 0 {
            return Err(SendError(value));
        }
        let tail = chan.tail();
        write(tail);
        let step = this_step();
        let (number, gone) = chan.news.with(|s| {
            s.steps.push(step);
            s.kept.push_back(Kept { value: Some(Arc::new(value)), left: receivers });
            let gone = if s.kept.len() > s.capacity { s.kept.pop_front() } else { None };
            s.first += u64::from(gone.is_some());
            (s.next() - 1, gone)
        });
        if gone.is_some() {
            // Receivers that have not taken this message lag now.
            write(item(chan.object, number - chan.news.with(|s| s.capacity) as u64).mixed(1));
        }
        whippet_runtime::enables(tail, item(chan.object, number));
        whippet_runtime::wake_polled();
        drop(gone);
        Ok(receivers)
    }

    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.chan, Location::caller())
    }

    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.chan.receivers.strong_count(Location::caller())
    }

    /// Returns the number of messages that a receiver can still receive.
    #[track_caller]
    pub fn len(&self) -> usize {
        let head = self.chan.object.part(Part::Head);
        learn(head);
        event(Action::new(Point::LooksAtChannel, self.chan.object, Location::caller()));
        for part in [self.chan.tail(), self.chan.receivers.part(), head] {
            read(part);
        }
        self.chan.news.with(|s| s.kept.iter().filter(|kept| kept.left > 0).count())
    }

    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.chan.senders.strong_count(Location::caller())
    }

    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.chan.senders.weak_count(Location::caller())
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    #[track_caller]
    pub fn downgrade(&self) -> WeakSender<T> {
        self.chan.senders.clone_weak(Location::caller());
        WeakSender { chan: self.chan.clone() }
    }

    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        self.chan.closed(Location::caller())
    }
}

fn subscribe<T>(chan: &Arc<Chan<T>>, place: Place) -> Receiver<T> {
    chan.subscribe(place);
    Receiver { chan: chan.clone(), next: chan.news.with(|s| s.next()), waiter: Waiter::new() }
}

impl<T> WeakSender<T> {
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.chan.senders.upgrade(Location::caller()).then(|| Sender { chan: self.chan.clone() })
    }

    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.chan.senders.strong_count(Location::caller())
    }

    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.chan.senders.weak_count(Location::caller())
    }
}

impl<T> Clone for WeakSender<T> {
    #[track_caller]
    fn clone(&self) -> WeakSender<T> {
        self.chan.senders.clone_weak(Location::caller());
        WeakSender { chan: self.chan.clone() }
    }
}

impl<T> Drop for WeakSender<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.chan.senders.drop_weak(Location::caller());
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        self.chan.senders.clone_one(Location::caller());
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.chan.senders.drop_one(Location::caller());
    }
}

impl<T: Clone> Receiver<T> {
    /// Takes the next message in the current step. Returns `None` if the channel has no new message, and `Some(Err(n))`
    /// if the receiver missed `n` messages.
    fn take(&mut self) -> Option<Result<T, u64>> {
        let (next, chan) = (self.next, self.chan.clone());
        read(item(chan.object, next).mixed(1));
        let first = chan.news.with(|s| s.first);
        if first > next {
            // Each further message makes it lag more.
            read(chan.tail());
            self.next = first;
            return Some(Err(first - next));
        }
        // The message is cloned and dropped outside of `with`, because its code may use the channel.
        let kept = chan.news.with(|s| s.kept.get((next - first) as usize).and_then(|kept| kept.value.clone()))?;
        chan.takes();
        self.next += 1;
        let value = T::clone(&kept);
        let seen = chan.news.with(|s| s.seen(next));
        chan.drop_seen((kept, seen));
        Some(Ok(value))
    }

    fn poll(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Result<T, RecvError>> {
        let (chan, next) = (&self.chan, self.next);
        let receives = || (chan.after(next), Action::of::<T>(Point::Hears, chan.object, place));
        ready!(self.waiter.poll(cx, receives));
        Poll::Ready(match self.take() {
            Some(Ok(value)) => Ok(value),
            Some(Err(count)) => Err(RecvError::Lagged(count)),
            None => Err(RecvError::Closed),
        })
    }

    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> + use<'_, T> {
        let place = Location::caller();
        // An earlier, cancelled wait may have been registered for an older message.
        self.waiter.forget();
        poll_fn(move |cx| self.poll(cx, place))
    }

    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        check_blocking();
        let place = Location::caller();
        whippet_runtime::block_on_here(poll_fn(|cx| self.poll(cx, place))).unwrap_or(Err(RecvError::Closed))
    }

    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        event(Action::of::<T>(Point::TriesToHear, self.chan.object, Location::caller()));
        read(self.chan.tail());
        read(self.chan.senders.part());
        match self.take() {
            Some(Ok(value)) => Ok(value),
            Some(Err(count)) => Err(TryRecvError::Lagged(count)),
            None if self.chan.senders.left() == 0 => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }
}

impl<T> Receiver<T> {
    #[track_caller]
    pub fn resubscribe(&self) -> Receiver<T> {
        subscribe(&self.chan, Location::caller())
    }

    #[track_caller]
    pub fn len(&self) -> usize {
        event(Action::new(Point::LooksAtChannel, self.chan.object, Location::caller()));
        read(self.chan.tail());
        self.chan.news.with(|s| s.next().saturating_sub(self.next) as usize)
    }

    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.chan.senders.are_gone(Location::caller())
    }

    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        self.chan.senders.strong_count(Location::caller())
    }

    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        self.chan.senders.weak_count(Location::caller())
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.chan.news.is_mine() {
            return;
        }
        self.chan.receivers.drop_one(Location::caller());
        self.chan.takes();
        // This receiver will never receive the remaining messages.
        let unseen: Vec<_> =
            self.chan.news.with(|s| (self.next.max(s.first)..s.next()).filter_map(|number| s.seen(number)).collect());
        self.chan.drop_seen(unseen);
    }
}

opaque!(Sender WeakSender Receiver);

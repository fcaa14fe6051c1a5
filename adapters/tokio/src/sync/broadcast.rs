//! `broadcast`: every receiver sees every message, unless it lags by more than the capacity.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_tasks::{
    Action, Leaf, Local, Object, On, Part, Place, Ready, Source, contributes, event, read, this_step, write,
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

struct State<T> {
    /// The newest messages with their steps; the first has number `first`.
    kept: VecDeque<(u32, T)>,
    first: u64,
    capacity: usize,
    senders: usize,
    drops: Vec<u32>,
    receivers: usize,
    /// The steps in which receivers were dropped.
    gone: Vec<u32>,
}

struct Chan<T> {
    object: Object,
    state: Local<State<T>>,
}

/// The wait for no receivers; other keys are numbers of messages.
const CLOSED: u64 = u64::MAX;

impl<T> Chan<T> {
    fn on(self: &Arc<Self>, key: u64) -> On {
        let source: Arc<dyn Source + '_> = self.clone();
        // Messages may borrow. A wait is forgotten when its future is dropped, which is before that borrow ends.
        On::Source(unsafe { std::mem::transmute::<Arc<dyn Source + '_>, Arc<dyn Source + 'static>>(source) }, key)
    }

    fn item(&self, number: u64) -> Name {
        self.object.part(Part::Item).mixed(number)
    }
}

impl<T> Source for Chan<T> {
    fn ready(&self, next: u64) -> Option<Ready> {
        self.state.with(|s| {
            if next == CLOSED {
                let since = s.gone.iter().copied().max().unwrap_or(Ready::ALWAYS);
                return (s.receivers == 0).then(|| Ready { since, item: self.object.part(Part::Members) });
            }
            let at = next.max(s.first);
            match s.kept.get((at - s.first) as usize) {
                Some((since, _)) => Some(Ready { since: *since, item: self.item(at) }),
                None if s.senders == 0 => {
                    let since = s.drops.iter().copied().max().unwrap_or(Ready::ALWAYS);
                    Some(Ready { since, item: self.object.part(Part::Drops) })
                }
                None => None,
            }
        })
    }

    fn watched(&self, key: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        if key == CLOSED {
            out.push(self.object.part(Part::Members));
        } else {
            out.extend([self.object.part(Part::Tail), self.object.part(Part::Drops)]);
        }
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        let ready = self.ready(key);
        self.state.with(|s| match ready {
            _ if key == CLOSED => out.extend(&s.gone),
            Some(ready) if ready.item == self.object.part(Part::Drops) => out.extend(&s.drops),
            ready => out.extend(ready.map(|r| r.since).filter(|&since| since != Ready::ALWAYS)),
        });
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
    leaf: Leaf,
}

#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "broadcast channel capacity cannot be zero");
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}

impl<T> Sender<T> {
    pub fn new(capacity: usize) -> Sender<T> {
        let state = State {
            kept: VecDeque::new(),
            first: 0,
            // As in tokio, which rounds up.
            capacity: capacity.next_power_of_two(),
            senders: 1,
            drops: Vec::new(),
            receivers: 0,
            gone: Vec::new(),
        };
        Sender { chan: Arc::new(Chan { object: Object::new("broadcast"), state: Local::new(state) }) }
    }

    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let chan = &self.chan;
        event(Action::of::<T>("sends", "to", chan.object, Location::caller()));
        read(chan.object.part(Part::Members));
        let receivers = chan.state.with(|s| s.receivers);
        if receivers == 0 {
            return Err(SendError(value));
        }
        let tail = chan.object.part(Part::Tail);
        write(tail);
        let step = this_step();
        let (number, gone) = chan.state.with(|s| {
            s.kept.push_back((step, value));
            let number = s.first + s.kept.len() as u64 - 1;
            let gone = if s.kept.len() > s.capacity { s.kept.pop_front() } else { None };
            s.first += u64::from(gone.is_some());
            (number, gone)
        });
        if gone.is_some() {
            // Whoever has not taken it yet lags now.
            write(chan.item(number - chan.state.with(|s| s.capacity) as u64).mixed(1));
        }
        drop(gone);
        whippet_tasks::enables(tail, chan.item(number));
        Ok(receivers)
    }

    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.chan, Location::caller())
    }

    fn look<R>(&self, place: Place, work: impl FnOnce(&State<T>) -> R) -> R {
        event(Action::new("looks at", self.chan.object, place));
        read(self.chan.object.part(Part::Members));
        read(self.chan.object.part(Part::Tail));
        self.chan.state.with(|s| work(s))
    }

    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.look(Location::caller(), |s| s.receivers)
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { chan: self.chan.clone() }
    }

    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
        let place = Location::caller();
        let mut leaf = Leaf::new();
        poll_fn(move |cx| {
            leaf.poll(cx, &self.chan.on(CLOSED), Action::new("waits for the end of", self.chan.object, place))
        })
    }
}

fn subscribe<T>(chan: &Arc<Chan<T>>, place: Place) -> Receiver<T> {
    event(Action::new("subscribes to", chan.object, place));
    write(chan.object.part(Part::Members));
    read(chan.object.part(Part::Tail));
    let next = chan.state.with(|s| {
        s.receivers += 1;
        s.first + s.kept.len() as u64
    });
    Receiver { chan: chan.clone(), next, leaf: Leaf::new() }
}

impl<T> WeakSender<T> {
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        event(Action::new("upgrades a weak sender of", self.chan.object, Location::caller()));
        write(self.chan.object.part(Part::Drops));
        let any = self.chan.state.with(|s| {
            let any = s.senders > 0;
            s.senders += usize::from(any);
            any
        });
        any.then(|| Sender { chan: self.chan.clone() })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> WeakSender<T> {
        WeakSender { chan: self.chan.clone() }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.chan.state.with(|s| s.senders += 1);
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("drops a sender of", self.chan.object, Location::caller()));
        contributes(self.chan.object.part(Part::Tail), self.chan.object.part(Part::Drops));
        let step = this_step();
        self.chan.state.with(|s| {
            s.senders -= 1;
            s.drops.push(step);
        });
    }
}

impl<T: Clone> Receiver<T> {
    /// The running step takes the next message, or finds out that it is gone.
    fn take(&mut self) -> Option<Result<T, u64>> {
        let next = self.next;
        let chan = self.chan.clone();
        let (first, found) = chan.state.with(|s| {
            let at = next.max(s.first);
            (s.first, s.kept.get((at - s.first) as usize).map(|(_, value)| value.clone()))
        });
        read(chan.item(next).mixed(1));
        if first > next {
            self.next = first;
            return Some(Err(first - next));
        }
        let value = found?;
        self.next += 1;
        Some(Ok(value))
    }

    fn poll(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Result<T, RecvError>> {
        let action = Action::of::<T>("receives", "from", self.chan.object, place);
        let on = self.chan.on(self.next);
        ready!(self.leaf.poll(cx, &on, action));
        Poll::Ready(match self.take() {
            Some(Ok(value)) => Ok(value),
            Some(Err(count)) => Err(RecvError::Lagged(count)),
            None => Err(RecvError::Closed),
        })
    }

    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> + use<'_, T> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, place))
    }

    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        let place = Location::caller();
        whippet_tasks::block_on_here(poll_fn(|cx| self.poll(cx, place))).unwrap_or(Err(RecvError::Closed))
    }

    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        event(Action::of::<T>("tries to receive", "from", self.chan.object, Location::caller()));
        read(self.chan.object.part(Part::Tail));
        read(self.chan.object.part(Part::Drops));
        match self.take() {
            Some(Ok(value)) => Ok(value),
            Some(Err(count)) => Err(TryRecvError::Lagged(count)),
            None if self.chan.state.with(|s| s.senders == 0) => Err(TryRecvError::Closed),
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
        event(Action::new("looks at", self.chan.object, Location::caller()));
        read(self.chan.object.part(Part::Tail));
        self.chan.state.with(|s| (s.first + s.kept.len() as u64).saturating_sub(self.next) as usize)
    }

    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("drops a receiver of", self.chan.object, Location::caller()));
        let members = self.chan.object.part(Part::Members);
        contributes(members, members);
        let step = this_step();
        self.chan.state.with(|s| {
            s.receivers -= 1;
            s.gone.push(step);
        });
    }
}

macro_rules! debug {
    ($($name:ident)*) => {$(
        impl<T> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
debug!(Sender WeakSender Receiver);

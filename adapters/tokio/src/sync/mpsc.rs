//! `mpsc`: one queue per channel, in order of sending.
//!
//! A send writes the end of the queue; a receive happens after the send it takes from; the drop of the last
//! sender happens before the `None`. Bounded channels have permits, see [`super::permits`].

use super::permits::{Asked, Permits};
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use whippet_model::Name;
use whippet_tasks::{
    Action, Leaf, Local, Object, On, Part, Place, Ready, Source, cause, event, read, this_step, write,
};

pub use super::mpsc_errors::{SendError, SendTimeoutError, TryRecvError, TrySendError, error};

struct State<T> {
    /// What was sent, with the step that did it.
    queue: VecDeque<(u32, T)>,
    sent: u64,
    taken: u64,
    permits: Option<Permits>,
    capacity: usize,
    senders: usize,
    weak: usize,
    /// The steps in which senders were dropped: `None` comes after all of them.
    drops: Vec<u32>,
    /// How many weak senders were upgraded: the drop of another sender might have been the last.
    upgrades: usize,
    closed: Option<u32>,
}

struct Chan<T> {
    object: Object,
    state: Local<State<T>>,
}

/// Waits of receivers; other keys are places in the line for permits.
const RECEIVE: u64 = 0;
/// Waits of senders for the receiver to be gone.
const CLOSED: u64 = u64::MAX;

impl<T> Chan<T> {
    fn new(capacity: Option<usize>) -> Arc<Chan<T>> {
        let state = State {
            queue: VecDeque::new(),
            sent: 0,
            taken: 0,
            permits: capacity.map(Permits::with),
            capacity: capacity.unwrap_or(usize::MAX),
            senders: 1,
            weak: 0,
            drops: Vec::new(),
            upgrades: 0,
            closed: None,
        };
        Arc::new(Chan { object: Object::new("channel"), state: Local::new(state) })
    }

    fn on(self: &Arc<Self>, key: u64) -> On {
        let source: Arc<dyn Source + '_> = self.clone();
        // Messages may borrow. A wait is forgotten when its future is dropped, which is before that borrow ends.
        On::Source(unsafe { std::mem::transmute::<Arc<dyn Source + '_>, Arc<dyn Source + 'static>>(source) }, key)
    }

    fn item(&self, number: u64) -> Name {
        self.object.part(Part::Item).mixed(number)
    }

    fn action(&self, verb: &'static str, link: &'static str, place: Place) -> Action {
        Action::of::<T>(verb, link, self.object, place)
    }

    fn is_closed(&self) -> bool {
        self.state.with(|s| s.closed.is_some())
    }

    /// The running step sends.
    fn push(&self, value: T) {
        let tail = self.object.part(Part::Tail);
        write(tail);
        let number = self.state.with(|s| {
            s.queue.push_back((this_step(), value));
            s.sent += 1;
            s.sent - 1
        });
        whippet_tasks::enables(tail, self.item(number));
    }

    /// The running step takes what is first, if anything is.
    fn pop(&self) -> Option<T> {
        let (value, bounded) = self.state.with(|s| (s.queue.pop_front(), s.permits.is_some()));
        let (step, value) = value?;
        cause(step);
        self.state.with(|s| s.taken += 1);
        if bounded {
            self.free(1);
        }
        Some(value)
    }

    /// The running step frees places.
    fn free(&self, count: usize) {
        let free = self.object.part(Part::Free);
        write(free);
        whippet_tasks::enables(free, free.mixed(1));
        let step = this_step();
        self.state.with(|s| s.permits.as_mut().expect("it is bounded").release(count, step));
    }

    /// No more can be sent.
    fn close(&self, place: Place) {
        if self.is_closed() || whippet_tasks::is_over() {
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

    fn drop_sender(&self, place: Place) {
        if whippet_tasks::is_over() || !self.state.is_mine() {
            return;
        }
        event(Action::new("drops a sender of", self.object, place));
        if whippet_tasks::is_over() {
            return;
        }
        let step = this_step();
        let last = self.state.with(|s| {
            s.senders -= 1;
            s.drops.push(step);
            s.senders <= s.upgrades
        });
        if last {
            whippet_tasks::ends(self.object.part(Part::Tail), self.object.part(Part::Ended));
        }
    }

    fn upgrade(&self, place: Place) -> bool {
        event(Action::new("upgrades a weak sender of", self.object, place));
        read(self.object.part(Part::Ended));
        self.state.with(|s| {
            let any = s.senders > 0;
            s.senders += usize::from(any);
            s.upgrades += usize::from(any);
            any
        })
    }

    /// Asks for a place; `None` inside means wait for this number in line.
    fn ask(&self, count: usize) -> Result<Option<u64>, ()> {
        write(self.object.part(Part::Line));
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
                Some((since, _)) => Some(Ready { since: *since, item: self.item(s.taken) }),
                None if s.senders == 0 => {
                    let since = s.drops.iter().copied().max().unwrap_or(Ready::ALWAYS);
                    Some(Ready { since, item: self.object.part(Part::Ended) })
                }
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
            RECEIVE => out.extend([self.object.part(Part::Tail), self.object.part(Part::Ended)]),
            CLOSED => out.push(self.object.part(Part::Closed)),
            _ => out.extend([self.object.part(Part::Free), self.object.part(Part::Closed)]),
        }
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        let ready = self.ready(key);
        self.state.with(|s| match key {
            RECEIVE if s.queue.is_empty() && s.senders == 0 => out.extend(&s.drops),
            RECEIVE | CLOSED => out.extend(ready.map(|r| r.since)),
            id => match s.permits.as_ref().and_then(|p| p.ready(id)) {
                Some(steps) => out.extend(steps),
                None => out.extend(s.closed),
            },
        });
        out.retain(|&step| step != Ready::ALWAYS);
    }
}

// ---- receiving -----------------------------------------------------------------------------------

/// The receiving half, of either kind.
struct Rx<T> {
    chan: Arc<Chan<T>>,
    leaf: Leaf,
}

impl<T> Rx<T> {
    fn poll_recv(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<Option<T>> {
        let action = self.chan.action("receives", "from", place);
        ready!(self.leaf.poll(cx, &self.chan.on(RECEIVE), action));
        Poll::Ready(self.chan.pop())
    }

    fn poll_recv_many(&mut self, cx: &mut Context<'_>, out: &mut Vec<T>, limit: usize, place: Place) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let Some(first) = ready!(self.poll_recv(cx, place)) else { return Poll::Ready(0) };
        out.push(first);
        // How many are taken depends on how many were sent by now.
        read(self.chan.object.part(Part::Tail));
        let mut count = 1;
        while count < limit
            && let Some(value) = self.chan.pop()
        {
            out.push(value);
            count += 1;
        }
        Poll::Ready(count)
    }

    fn try_recv(&mut self, place: Place) -> Result<T, TryRecvError> {
        event(self.chan.action("tries to receive", "from", place));
        read(self.chan.object.part(Part::Tail));
        read(self.chan.object.part(Part::Ended));
        match self.chan.pop() {
            Some(value) => Ok(value),
            None if self.chan.ready(RECEIVE).is_some() => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    fn blocking_recv(&mut self, place: Place) -> Option<T> {
        let action = self.chan.action("receives", "from", place);
        if whippet_tasks::wait_here(&self.chan.on(RECEIVE), action) { self.chan.pop() } else { None }
    }

    fn look<R>(&self, place: Place, work: impl FnOnce(&State<T>) -> R) -> R {
        event(Action::new("looks at", self.chan.object, place));
        read(self.chan.object.part(Part::Tail));
        read(self.chan.object.part(Part::Ended));
        self.chan.state.with(|s| work(s))
    }
}

impl<T> Drop for Rx<T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.chan.state.is_mine() {
            return;
        }
        self.chan.close(Location::caller());
        // What nobody took is dropped with the receiver.
        let rest = self.chan.state.with(|s| std::mem::take(&mut s.queue));
        drop(rest);
    }
}

macro_rules! receiver {
    ($name:ident, $sender:ident, $weak:ident) => {
        impl<T> $name<T> {
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> + use<'_, T> {
                let place = Location::caller();
                poll_fn(move |cx| self.0.poll_recv(cx, place))
            }
            #[track_caller]
            pub fn recv_many<'a>(
                &'a mut self,
                buffer: &'a mut Vec<T>,
                limit: usize,
            ) -> impl Future<Output = usize> + use<'a, T> {
                let place = Location::caller();
                poll_fn(move |cx| self.0.poll_recv_many(cx, buffer, limit, place))
            }
            #[track_caller]
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                self.0.poll_recv(cx, Location::caller())
            }
            #[track_caller]
            pub fn poll_recv_many(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
                self.0.poll_recv_many(cx, buffer, limit, Location::caller())
            }
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.0.try_recv(Location::caller())
            }
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                self.0.blocking_recv(Location::caller())
            }
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                whippet_tasks::block_on_here(self.recv_many(buffer, limit)).unwrap_or(0)
            }
            #[track_caller]
            pub fn close(&mut self) {
                self.0.chan.close(Location::caller());
            }
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.0.look(Location::caller(), |s| s.closed.is_some() || s.senders == 0)
            }
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.0.look(Location::caller(), |s| s.queue.is_empty())
            }
            #[track_caller]
            pub fn len(&self) -> usize {
                self.0.look(Location::caller(), |s| s.queue.len())
            }
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                self.0.look(Location::caller(), |s| s.senders)
            }
            #[track_caller]
            pub fn sender_weak_count(&self) -> usize {
                self.0.look(Location::caller(), |s| s.weak)
            }
        }
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }
        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
        impl<T> Clone for $sender<T> {
            fn clone(&self) -> $sender<T> {
                self.chan.state.with(|s| s.senders += 1);
                $sender { chan: self.chan.clone() }
            }
        }
        impl<T> Drop for $sender<T> {
            #[track_caller]
            fn drop(&mut self) {
                self.chan.drop_sender(Location::caller());
            }
        }
        impl<T> $sender<T> {
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                event(Action::new("looks at", self.chan.object, Location::caller()));
                read(self.chan.object.part(Part::Closed));
                self.chan.is_closed()
            }
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> + use<'_, T> {
                let place = Location::caller();
                let mut leaf = Leaf::new();
                poll_fn(move |cx| {
                    let action = Action::new("waits for the end of", self.chan.object, place);
                    leaf.poll(cx, &self.chan.on(CLOSED), action)
                })
            }
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.chan, &other.chan)
            }
            pub fn downgrade(&self) -> $weak<T> {
                self.chan.state.with(|s| s.weak += 1);
                $weak { chan: self.chan.clone() }
            }
            pub fn strong_count(&self) -> usize {
                self.chan.state.with(|s| s.senders)
            }
            pub fn weak_count(&self) -> usize {
                self.chan.state.with(|s| s.weak)
            }
        }
        impl<T> $weak<T> {
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.chan.upgrade(Location::caller()).then(|| $sender { chan: self.chan.clone() })
            }
            pub fn strong_count(&self) -> usize {
                self.chan.state.with(|s| s.senders)
            }
            pub fn weak_count(&self) -> usize {
                self.chan.state.with(|s| s.weak)
            }
        }
        impl<T> Clone for $weak<T> {
            fn clone(&self) -> $weak<T> {
                self.chan.state.with(|s| s.weak += 1);
                $weak { chan: self.chan.clone() }
            }
        }
        impl<T> Drop for $weak<T> {
            fn drop(&mut self) {
                if self.chan.state.is_mine() {
                    self.chan.state.with(|s| s.weak -= 1);
                }
            }
        }
    };
}

// ---- unbounded -----------------------------------------------------------------------------------

pub struct UnboundedReceiver<T>(Rx<T>);
pub struct UnboundedSender<T> {
    chan: Arc<Chan<T>>,
}
pub struct WeakUnboundedSender<T> {
    chan: Arc<Chan<T>>,
}
receiver!(UnboundedReceiver, UnboundedSender, WeakUnboundedSender);

pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(None);
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver(Rx { chan, leaf: Leaf::new() }))
}

impl<T> UnboundedSender<T> {
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        event(self.chan.action("sends", "to", Location::caller()));
        read(self.chan.object.part(Part::Closed));
        if self.chan.is_closed() {
            return Err(SendError(value));
        }
        self.chan.push(value);
        Ok(())
    }
}

// ---- bounded -------------------------------------------------------------------------------------

pub struct Receiver<T>(Rx<T>);
pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}
pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}
receiver!(Receiver, Sender, WeakSender);

#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let chan = Chan::new(Some(buffer));
    (Sender { chan: chan.clone() }, Receiver(Rx { chan, leaf: Leaf::new() }))
}

impl<T> Receiver<T> {
    pub fn capacity(&self) -> usize {
        self.0.chan.state.with(|s| s.permits.as_ref().map_or(0, Permits::available))
    }
    pub fn max_capacity(&self) -> usize {
        self.0.chan.state.with(|s| s.capacity)
    }
}

/// The wait for places in a bounded channel.
struct Asking<T> {
    chan: Arc<Chan<T>>,
    place: Place,
    count: usize,
    /// What is sent at once if there is room, and when there is room.
    value: Option<T>,
    reserve: bool,
    id: Option<u64>,
    leaf: Leaf,
}

/// Whether the places are there, or the value comes back.
type Placed<T> = Result<(), Option<T>>;

impl<T> Unpin for Asking<T> {}

impl<T> Asking<T> {
    fn new(chan: &Arc<Chan<T>>, value: Option<T>, count: usize, place: Place) -> Asking<T> {
        let reserve = value.is_none();
        Asking { chan: chan.clone(), place, count, value, reserve, id: None, leaf: Leaf::new() }
    }

    fn action(&self) -> Action {
        if self.reserve {
            Action::new("reserves a place in", self.chan.object, self.place)
        } else {
            self.chan.action("sends", "to", self.place)
        }
    }

    fn ask(&mut self) -> Option<Placed<T>> {
        event(self.action());
        if whippet_tasks::is_over() {
            return None;
        }
        match self.chan.ask(self.count) {
            Err(()) => Some(Err(self.value.take())),
            Ok(None) => {
                if let Some(value) = self.value.take() {
                    self.chan.push(value);
                }
                Some(Ok(()))
            }
            Ok(Some(id)) => {
                self.id = Some(id);
                None
            }
        }
    }

    fn got(&mut self) -> Placed<T> {
        let id = self.id.take().expect("it asked");
        let given = self.chan.state.with(|s| {
            let permits = s.permits.as_mut().expect("it is bounded");
            let given = permits.ready(id).is_some() && s.closed.is_none();
            permits.take(id);
            given
        });
        read(self.chan.object.part(Part::Closed));
        if !given {
            return Err(self.value.take());
        }
        if let Some(value) = self.value.take() {
            self.chan.push(value);
        }
        Ok(())
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Placed<T>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let mut action = self.action();
        action.verb = if self.reserve { "gets a place in" } else { "gets room and sends" };
        ready!(self.leaf.poll(cx, &self.chan.on(id), action));
        Poll::Ready(self.got())
    }

    fn here(&mut self) -> Placed<T> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(self.value.take()) };
        let on = self.chan.on(id);
        if whippet_tasks::wait_here(&on, self.action()) { self.got() } else { Err(self.value.take()) }
    }
}

impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if whippet_tasks::is_over() || !self.chan.state.is_mine() {
            return;
        }
        event(Action::new("stops waiting for room in", self.chan.object, self.place));
        write(self.chan.object.part(Part::Line));
        write(self.chan.object.part(Part::Free));
        let step = this_step();
        self.chan.state.with(|s| s.permits.as_mut().expect("it is bounded").give_up(id, step));
    }
}

impl<T> Sender<T> {
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, Some(value), 1, Location::caller());
        async move { poll_fn(move |cx| asking.poll(cx)).await.map_err(|value| SendError(value.expect("it was not sent"))) }
    }

    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        let answer = Asking::new(&self.chan, Some(value), 1, Location::caller()).here();
        answer.map_err(|value| SendError(value.expect("it was not sent")))
    }

    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, Some(value), 1, Location::caller());
        let mut sleep = crate::time::sleep(timeout);
        async move {
            poll_fn(move |cx| {
                if let Poll::Ready(answer) = asking.poll(cx) {
                    let error = |value: Option<T>| SendTimeoutError::Closed(value.expect("it was not sent"));
                    return Poll::Ready(answer.map_err(error));
                }
                ready!(std::pin::Pin::new(&mut sleep).poll(cx));
                Poll::Ready(Err(SendTimeoutError::Timeout(asking.value.take().expect("it was not sent"))))
            })
            .await
        }
    }

    fn try_place(&self, count: usize, place: Place, verb: &'static str) -> Result<(), TrySendError<()>> {
        event(self.chan.action(verb, "to", place));
        write(self.chan.object.part(Part::Line));
        read(self.chan.object.part(Part::Free));
        read(self.chan.object.part(Part::Closed));
        self.chan.state.with(|s| {
            if s.closed.is_some() {
                Err(TrySendError::Closed(()))
            } else if s.permits.as_mut().expect("it is bounded").try_ask(count) {
                Ok(())
            } else {
                Err(TrySendError::Full(()))
            }
        })
    }

    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.try_place(1, Location::caller(), "tries to send") {
            Ok(()) => {
                self.chan.push(value);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(value)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(value)),
        }
    }

    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, None, 1, Location::caller());
        async move {
            poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            Ok(Permit { chan: &self.chan, sent: false })
        }
    }

    #[track_caller]
    pub fn reserve_many(
        &self,
        count: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> + use<'_, T> {
        let mut asking = Asking::new(&self.chan, None, count, Location::caller());
        async move {
            if asking.chan.state.with(|s| s.capacity) < count {
                return Err(SendError(()));
            }
            if count > 0 {
                poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            }
            Ok(PermitIterator { chan: &self.chan, left: count })
        }
    }

    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let mut asking = Asking::new(&self.chan, None, 1, Location::caller());
        async move {
            poll_fn(move |cx| asking.poll(cx)).await.map_err(|_| SendError(()))?;
            Ok(OwnedPermit { sender: Some(self) })
        }
    }

    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.try_place(1, Location::caller(), "tries to reserve a place for")?;
        Ok(Permit { chan: &self.chan, sent: false })
    }

    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Sender<T>>> {
        match self.try_place(1, Location::caller(), "tries to reserve a place for") {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    #[track_caller]
    pub fn capacity(&self) -> usize {
        event(Action::new("looks at", self.chan.object, Location::caller()));
        read(self.chan.object.part(Part::Line));
        read(self.chan.object.part(Part::Free));
        self.chan.state.with(|s| s.permits.as_ref().map_or(0, Permits::available))
    }

    pub fn max_capacity(&self) -> usize {
        self.chan.state.with(|s| s.capacity)
    }
}

fn put_back<T>(chan: &Chan<T>, place: Place) {
    if whippet_tasks::is_over() || !chan.state.is_mine() {
        return;
    }
    event(Action::new("gives back a place in", chan.object, place));
    if !whippet_tasks::is_over() {
        chan.free(1);
    }
}

pub struct Permit<'a, T> {
    chan: &'a Arc<Chan<T>>,
    sent: bool,
}

impl<T> Permit<'_, T> {
    #[track_caller]
    pub fn send(mut self, value: T) {
        self.sent = true;
        event(self.chan.action("sends", "to", Location::caller()));
        self.chan.push(value);
    }
}

impl<T> Drop for Permit<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.sent {
            put_back(self.chan, Location::caller());
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

pub struct PermitIterator<'a, T> {
    chan: &'a Arc<Chan<T>>,
    left: usize,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;
    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { chan: self.chan, sent: false })
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        for _ in 0..self.left {
            put_back(self.chan, Location::caller());
        }
    }
}

pub struct OwnedPermit<T> {
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    #[track_caller]
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.sender.take().expect("it is used once");
        event(sender.chan.action("sends", "to", Location::caller()));
        sender.chan.push(value);
        sender
    }

    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect("it is used once");
        put_back(&sender.chan, Location::caller());
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            put_back(&sender.chan, Location::caller());
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}

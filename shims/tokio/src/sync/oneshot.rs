//! `oneshot`: channels for at most one value.

use crate::task::blocking::check_blocking;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Local, Object, Part, Place, Readiness, Ready, Steps, UnobservedWait, WaitTarget, Waiter, before_this,
    enables, enables_merged, event, is_over, mergeable_event, needs_own_event, newest, read, tell, write,
};

struct State<T> {
    value: Option<T>,
    /// The steps that happen before the use or drop of the sender; `None` as long as neither has happened.
    sent: Option<Steps>,
    /// The steps that happen before the close or drop of the receiver, in the same way.
    closed: Option<Steps>,
}

impl<T> State<T> {
    /// Returns `true` if the receiver has closed the channel and there is no value. Then it receives nothing; if the sender
    /// is dropped too, this is not the reason, because it need not have come first.
    fn ends_by_close(&self) -> bool {
        self.closed.is_some() && self.value.is_none()
    }
}

struct Chan<T> {
    object: Object,
    state: Local<State<T>>,
}

const RECEIVE: u64 = 0;
const CLOSED: u64 = 1;

impl<T> Chan<T> {
    /// Sends `unsent`, or drops the sender if it is `None`. This is a merged operation unless it
    /// [needs its own event](needs_own_event); tasks that read one of `seen_in` can observe it. Returns `unsent` if the
    /// receiver is closed or the execution is over.
    fn end(&self, unsent: Option<T>, seen_in: &[Name], action: Action) -> Option<T> {
        let (tail, item) = (self.object.part(Part::Tail), self.object.part(Part::Item));
        // Case 2 of the lemma in the runtime's `merging.rs`.
        let apart = needs_own_event(action.point, tail, seen_in);
        if apart {
            event(action);
            seen_in.iter().filter(|&&name| name != tail).for_each(|&name| read(name));
        }
        if is_over() || unsent.is_some() && self.state.with(|s| s.closed.is_some()) {
            return unsent;
        }
        if apart {
            write(tail);
            enables(tail, item);
        } else {
            enables_merged(tail);
            tell(action);
        }
        if unsent.is_some() {
            whippet_runtime::sent(item, (!apart).then_some(action));
        }
        let before = before_this();
        self.state.with(|s| (s.value, s.sent) = (unsent, Some(before)));
        whippet_runtime::wake_polled();
        None
    }

    /// Takes the value in the current step.
    fn take(&self) -> Option<T> {
        whippet_runtime::taken(self.object.part(Part::Item));
        self.state.with(|s| s.value.take())
    }

    fn close(&self, place: Place) {
        if whippet_runtime::is_over() || !self.state.is_mine() || self.state.with(|s| s.closed.is_some()) {
            return;
        }
        let closed = self.object.part(Part::Closed);
        // Case 4.
        mergeable_event(Action::new(Point::OneshotCloses, self.object, place), closed.mixed(2), &[closed]);
        write(closed);
        whippet_runtime::enables(closed, closed.mixed(1));
        let before = before_this();
        self.state.with(|s| {
            s.closed.get_or_insert(before);
        });
        whippet_runtime::wake_polled();
    }
}

impl<T> Readiness for Chan<T> {
    fn ready(&self, key: u64) -> Option<Ready> {
        let after = |before: &Steps, item| Ready { since: newest(before).unwrap_or(Ready::ALWAYS), item };
        let (closed, item) = (self.object.part(Part::Closed), self.object.part(Part::Item));
        self.state.with(|s| match key {
            CLOSED => s.closed.as_ref().map(|before| after(before, closed.mixed(1))),
            _ if s.ends_by_close() => s.closed.as_ref().map(|before| after(before, closed)),
            _ => s.sent.as_ref().map(|before| after(before, item)),
        })
    }

    fn watched(&self, key: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.object.part(if key == CLOSED { Part::Closed } else { Part::Tail }));
    }

    fn unobserved(&self, key: u64) -> Option<UnobservedWait> {
        (key == RECEIVE).then(|| UnobservedWait { watched: self.object.part(Part::Tail), freed: None })
    }

    fn causes(&self, key: u64, out: &mut Vec<u32>) {
        self.state.with(|s| {
            let by_close = key == CLOSED || s.ends_by_close();
            out.extend(if by_close { &s.closed } else { &s.sent }.iter().flatten());
        });
    }
}

pub mod error {
    use std::fmt;

    #[derive(Debug, PartialEq, Eq, Clone)]
    pub struct RecvError(pub(super) ());
    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }
    impl std::error::Error for RecvError {}

    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum TryRecvError {
        Empty,
        Closed,
    }
    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(if *self == TryRecvError::Empty { "channel empty" } else { "channel closed" })
        }
    }
    impl std::error::Error for TryRecvError {}
}
use error::{RecvError, TryRecvError};

pub struct Sender<T> {
    chan: Option<Arc<Chan<T>>>,
    waiter: Waiter,
}

pub struct Receiver<T> {
    /// `None` after the value was taken.
    chan: Option<Arc<Chan<T>>>,
    waiter: Waiter,
    place: Place,
}

#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { value: None, sent: None, closed: None };
    let chan = Arc::new(Chan { object: Object::new("oneshot"), state: Local::here(state) });
    let receiver = Receiver { chan: Some(chan.clone()), waiter: Waiter::new(), place: Location::caller() };
    (Sender { chan: Some(chan), waiter: Waiter::new() }, receiver)
}

impl<T> Sender<T> {
    #[track_caller]
    pub fn send(mut self, value: T) -> Result<(), T> {
        let chan = self.chan.take().expect("it is used once");
        let seen_in = [Part::Tail, Part::Closed].map(|part| chan.object.part(part));
        let action = Action::of::<T>(Point::OneshotSends, chan.object, Location::caller());
        chan.end(Some(value), &seen_in, action).map_or(Ok(()), Err)
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        let chan = self.chan.as_ref().expect("it is used once");
        event(Action::new(Point::LooksAtChannel, chan.object, Location::caller()));
        read(chan.object.part(Part::Closed));
        chan.state.with(|s| s.closed.is_some())
    }

    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> + use<'_, T> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll_closed_at(cx, place))
    }

    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(&mut self, cx: &mut Context<'_>, place: Place) -> Poll<()> {
        let chan = self.chan.as_ref().expect("it is used once");
        self.waiter.poll(cx, || (WaitTarget::of(chan, CLOSED), Action::new(Point::WaitsForEnd, chan.object, place)))
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        let Some(chan) = self.chan.take() else { return };
        if whippet_runtime::is_over() || !chan.state.is_mine() {
            return;
        }
        let tail = chan.object.part(Part::Tail);
        drop(chan.end(None, &[tail], Action::new(Point::OneshotDropsSender, chan.object, Location::caller())));
    }
}

impl<T> Receiver<T> {
    #[track_caller]
    pub fn close(&mut self) {
        if let Some(chan) = &self.chan {
            chan.close(Location::caller());
        }
    }

    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(chan) = self.chan.clone() else { return Err(TryRecvError::Closed) };
        let action = Action::of::<T>(Point::OneshotTriesToReceive, chan.object, Location::caller());
        // Case 3.
        mergeable_event(action, chan.object.part(Part::Head), &[]);
        read(chan.object.part(Part::Tail));
        let ended = chan.state.with(|s| s.sent.is_some() || s.closed.is_some());
        let value = chan.take();
        match value {
            Some(value) => {
                self.chan = None;
                Ok(value)
            }
            None if ended => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.look(Location::caller(), |s| s.value.is_none())
    }

    #[track_caller]
    pub fn is_terminated(&self) -> bool {
        self.chan.is_none()
    }

    fn look(&self, place: Place, work: impl FnOnce(&State<T>) -> bool) -> bool {
        let Some(chan) = &self.chan else { return true };
        event(Action::new(Point::LooksAtChannel, chan.object, place));
        read(chan.object.part(Part::Tail));
        chan.state.with(|s| work(s))
    }

    #[track_caller]
    pub fn blocking_recv(mut self) -> Result<T, RecvError> {
        check_blocking();
        let Some(chan) = self.chan.clone() else { return Err(RecvError(())) };
        let action = Action::of::<T>(Point::OneshotReceives, chan.object, Location::caller());
        if !whippet_runtime::wait_here(&WaitTarget::of(&chan, RECEIVE), action) {
            return Err(RecvError(()));
        }
        self.chan = None;
        chan.take().ok_or(RecvError(()))
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Receiver { chan: held, waiter, place } = &mut *self;
        let chan = held.as_ref().expect("called after complete");
        ready!(
            waiter.poll(cx, || (
                WaitTarget::of(chan, RECEIVE),
                Action::of::<T>(Point::OneshotReceives, chan.object, place)
            ))
        );
        let value = chan.take();
        *held = None;
        Poll::Ready(value.ok_or(RecvError(())))
    }
}

impl<T> Unpin for Receiver<T> {}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let Some(chan) = self.chan.take() else { return };
        chan.close(Location::caller());
        if chan.state.is_mine() {
            let rest = chan.state.with(|s| s.value.take());
            drop(rest);
        }
    }
}

opaque!(Sender Receiver);

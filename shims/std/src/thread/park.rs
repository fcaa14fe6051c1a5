//! Parking: a parked thread waits until it has been unparked since it last continued. There are no spurious wake-ups.

use crate::sync::leave_if_over;
use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;
use std::thread::ThreadId;
use std::time::Duration;
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Local, Object, Part, Place, Readiness, Ready, WaitTarget, Waiter, block_on_here, enables, event, is_live,
    pop_local, push_local, this_step, wait_here, write,
};

/// The parking state of a thread: the token is the step that unparked it.
pub(super) struct Parking {
    object: Object,
    token: Local<Option<u32>>,
}

impl Readiness for Parking {
    fn ready(&self, _: u64) -> Option<Ready> {
        self.token.with(|token| token.map(|since| Ready { since, item: self.object.part(Part::Item) }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.object.part(Part::Tail));
    }
}

impl Parking {
    pub(super) fn new() -> Arc<Parking> {
        Arc::new(Parking { object: Object::new("parking"), token: Local::here(None) })
    }

    /// Makes this the parking state of the running thread.
    pub(super) fn install(self: Arc<Parking>) {
        push_local(key(), self);
    }

    fn mine() -> Arc<Parking> {
        let parking = pop_local(key()).unwrap_or_else(Parking::new);
        parking.clone().install();
        parking
    }

    fn on(self: &Arc<Parking>) -> WaitTarget {
        WaitTarget::Object(self.clone(), 0)
    }

    fn action(&self, place: Place) -> Action {
        Action::new(Point::IsUnparked, self.object, place)
    }

    /// Consumes the token in the running step. Several earlier unparks count as one.
    fn take(&self) {
        write(self.object.part(Part::Tail));
        self.token.with(|token| *token = None);
    }

    fn unpark(&self, place: Place) {
        event(Action::new(Point::Unparks, self.object, place));
        let tail = self.object.part(Part::Tail);
        write(tail);
        enables(tail, self.object.part(Part::Item));
        let step = this_step();
        self.token.with(|token| {
            token.get_or_insert(step);
        });
    }
}

/// Returns the key of parking states among the local values of a task.
fn key() -> usize {
    static KEY: u8 = 0;
    std::ptr::from_ref(&KEY) as usize
}

/// A handle to a thread, for example to unpark it. Its name and id are those of the one real thread on which all
/// threads of an explored program run.
#[derive(Clone)]
pub struct Thread {
    real: std::thread::Thread,
    parking: Option<Arc<Parking>>,
}

impl Thread {
    pub(super) fn new(real: std::thread::Thread, parking: Option<Arc<Parking>>) -> Thread {
        Thread { real, parking }
    }

    /// Lets the thread continue from its current or its next `park`.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.parking {
            Some(parking) => parking.unpark(Location::caller()),
            None => self.real.unpark(),
        }
    }

    /// Returns the id of the real thread.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.real.id()
    }

    /// Returns the name of the real thread.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.real.name()
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

/// Returns the running thread.
#[must_use]
pub fn current() -> Thread {
    Thread::new(std::thread::current(), is_live().then(Parking::mine))
}

/// Waits to be unparked.
#[track_caller]
pub fn park() {
    if !is_live() {
        return std::thread::park();
    }
    let parking = Parking::mine();
    if wait_here(&parking.on(), parking.action(Location::caller())) {
        parking.take();
    }
    leave_if_over();
}

/// Waits to be unparked or for the timeout.
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    if !is_live() {
        return std::thread::park_timeout(timeout);
    }
    let (parking, place) = (Parking::mine(), Location::caller());
    let due =
        whippet_runtime::now(Location::caller()).saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let (mut told, mut timer) = (Waiter::new(), Waiter::new());
    let unparked = Cell::new(false);
    let _ = block_on_here(poll_fn(|cx| {
        unparked.set(told.poll(cx, || (parking.on(), parking.action(place))).is_ready());
        if unparked.get() {
            return Poll::Ready(());
        }
        timer.poll(cx, || (WaitTarget::Timer(due), Action::plain(Point::IsWokenByTimer, place)))
    }));
    leave_if_over();
    if unparked.get() {
        parking.take();
    }
}

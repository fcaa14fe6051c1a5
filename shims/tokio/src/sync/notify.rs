//! `Notify`: one stored permit, and a queue of waiters in the order in which they began to wait.
//!
//! Creating a `Notified` is an event, because `notify_waiters` only notifies those that exist. So is joining the queue,
//! which happens in the first poll or in `enable`.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Object, Part, PerExecution, Place, Readiness, Ready, WaitTarget, Waiter, event, has_asked, is_in_branch,
    this_step, write,
};

struct QueuedWaiter {
    id: u64,
    told: Option<(u32, bool)>,
}

#[derive(Default)]
struct State {
    permit: Option<u32>,
    line: VecDeque<QueuedWaiter>,
    /// The steps of the calls of `notify_waiters`.
    all: Vec<u32>,
    next: u64,
}

struct Core {
    state: PerExecution<State>,
}

impl Core {
    fn new() -> Core {
        Core { state: PerExecution::new("notify", None) }
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        self.state.with(work)
    }

    fn object(&self) -> Object {
        self.state.object()
    }

    fn tell_one(&self, last: bool, step: u32) {
        self.with(|s| {
            let mut waiting = s.line.iter_mut().filter(|waiter| waiter.told.is_none());
            match if last { waiting.next_back() } else { waiting.next() } {
                Some(waiter) => waiter.told = Some((step, true)),
                None => s.permit = Some(step),
            }
        });
    }
}

impl Readiness for Core {
    fn ready(&self, id: u64) -> Option<Ready> {
        let item = self.object().part(Part::Item);
        self.with(|s| s.line.iter().find(|w| w.id == id).and_then(|w| w.told).map(|(since, _)| Ready { since, item }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.object().part(Part::Tail));
    }
}

/// Shim of `tokio::sync::Notify`.
pub struct Notify {
    core: OnceLock<Arc<Core>>,
}

impl std::fmt::Debug for Notify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

impl std::panic::UnwindSafe for Notify {}
impl std::panic::RefUnwindSafe for Notify {}

impl Default for Notify {
    fn default() -> Notify {
        Notify::new()
    }
}

impl Notify {
    pub fn new() -> Notify {
        let notify = Notify::const_new();
        notify.core().object();
        notify
    }

    pub const fn const_new() -> Notify {
        Notify { core: OnceLock::new() }
    }

    fn core(&self) -> &Arc<Core> {
        self.core.get_or_init(|| Arc::new(Core::new()))
    }

    fn tell(&self, point: Point, place: Place) -> u32 {
        let object = self.core().state.used(&[Part::Tail], place);
        event(Action::new(point, object, place));
        write(object.part(Part::Tail));
        whippet_runtime::enables(object.part(Part::Tail), object.part(Part::Item));
        this_step()
    }

    #[track_caller]
    pub fn notify_one(&self) {
        let step = self.tell(Point::NotifiesOne, Location::caller());
        self.core().tell_one(false, step);
        whippet_runtime::wake_polled();
    }

    #[track_caller]
    pub fn notify_last(&self) {
        let step = self.tell(Point::NotifiesLast, Location::caller());
        self.core().tell_one(true, step);
        whippet_runtime::wake_polled();
    }

    #[track_caller]
    pub fn notify_waiters(&self) {
        let step = self.tell(Point::NotifiesAll, Location::caller());
        self.core().with(|s| {
            s.all.push(step);
            for waiter in s.line.iter_mut().filter(|waiter| waiter.told.is_none()) {
                waiter.told = Some((step, false));
            }
        });
        whippet_runtime::wake_polled();
    }

    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        Notified { inner: Waiting::new(self.core(), Location::caller()), marker: std::marker::PhantomData }
    }

    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified { inner: Waiting::new(self.core(), Location::caller()) }
    }
}

struct Waiting {
    core: Arc<Core>,
    place: Place,
    /// The number of calls of `notify_waiters` before its creation. `made` is the step that created it.
    seen: usize,
    made: u32,
    id: Option<u64>,
    done: bool,
    waiter: Waiter,
}

impl Waiting {
    fn new(core: &Arc<Core>, place: Place) -> Waiting {
        let object = core.state.used(&[Part::Tail], place);
        event(Action::new(Point::BeginsToListen, object, place));
        write(object.part(Part::Tail));
        let seen = core.with(|s| s.all.len());
        Waiting { core: core.clone(), place, seen, made: this_step(), id: None, done: false, waiter: Waiter::new() }
    }

    /// Joins the queue. The waiter is notified at once if `notify_waiters` was called since its creation; otherwise, it
    /// takes the stored permit, if any.
    ///
    /// Joining is merged into the step that created the waiter if it directly follows the creation and the task then
    /// waits for nothing else: any operation of another task in between has the same effect before the creation or
    /// after the joining.
    fn join(&mut self) {
        if self.id.is_some() {
            return;
        }
        if this_step() != self.made || is_in_branch() {
            event(Action::new(Point::WaitsForNotify, self.core.object(), self.place));
        }
        write(self.core.object().part(Part::Tail));
        let seen = self.seen;
        self.id = Some(self.core.with(|s| {
            let id = s.next;
            s.next += 1;
            let told = match s.all.get(seen) {
                Some(&step) => Some((step, false)),
                None => s.permit.take().map(|step| (step, true)),
            };
            s.line.push_back(QueuedWaiter { id, told });
            id
        }));
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.done {
            return Poll::Ready(());
        }
        if whippet_runtime::is_over() {
            return Poll::Pending;
        }
        if self.id.is_none() {
            self.join();
            has_asked(self.is_told());
        }
        let id = self.id.expect("it joined");
        let action = Action::new(Point::IsNotified, self.core.object(), self.place);
        ready!(self.waiter.poll(cx, || (WaitTarget::Object(self.core.clone(), id), action)));
        self.leave();
        self.done = true;
        Poll::Ready(())
    }

    fn enable(&mut self) -> bool {
        if !self.done {
            self.join();
            self.done = self.is_told();
        }
        if self.done {
            self.leave();
        }
        self.done
    }

    fn is_told(&self) -> bool {
        self.id.is_some_and(|id| self.core.ready(id).is_some())
    }

    /// Leaves the queue and consumes the notification, if any.
    fn leave(&mut self) {
        if let Some(id) = self.id.take() {
            self.core.with(|s| s.line.retain(|waiter| waiter.id != id));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if whippet_runtime::is_over() || !self.core.state.is_mine() {
            return;
        }
        let object = self.core.object();
        event(Action::new(Point::StopsListening, object, self.place));
        write(object.part(Part::Tail));
        let step = this_step();
        let told = self.core.with(|s| {
            let at = s.line.iter().position(|waiter| waiter.id == id);
            at.and_then(|at| s.line.remove(at)).and_then(|waiter| waiter.told)
        });
        // A notification of `notify_one` that was not consumed is passed on to the next waiter.
        if let Some((_, true)) = told {
            whippet_runtime::enables(object.part(Part::Tail), object.part(Part::Item));
            self.core.tell_one(false, step);
            whippet_runtime::wake_polled();
        }
    }
}

/// A future that waits for a notification.
pub struct Notified<'a> {
    inner: Waiting,
    marker: std::marker::PhantomData<&'a Notify>,
}

/// A future that waits for a notification and owns its `Notify`.
pub struct OwnedNotified {
    inner: Waiting,
}

impl Notified<'_> {
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.inner.enable()
    }
}

impl OwnedNotified {
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.inner.enable()
    }
}

impl Future for Notified<'_> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll(cx)
    }
}

impl Future for OwnedNotified {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll(cx)
    }
}

impl std::fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnedNotified").finish_non_exhaustive()
    }
}

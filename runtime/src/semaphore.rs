//! Gates: permits that tasks request, hold and release. Semaphores, mutexes and read-write locks are built on them.

use crate::drive::wait_here;
use crate::events;
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use crate::permits::{Asked, Permits};
use crate::points::Point;
use crate::waiting::{Readiness, Ready, WaitTarget, Waiter};
use smallvec::SmallVec;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_model::Name;

struct State {
    /// The execution that the state belongs to: gates in statics are reset in each execution.
    execution: u64,
    object: Option<Object>,
    permits: Permits,
    closed: Option<u32>,
    /// The tasks that hold permits, with their numbers of permits. Only reports use it.
    holders: Vec<(u32, usize)>,
}

impl State {
    fn closed_since(&self, object: Object) -> Option<Ready> {
        self.closed.map(|since| Ready { since, item: object.part(Part::Closed) })
    }

    fn served_since(&self, id: u64, object: Object) -> Option<Ready> {
        self.permits.served_since(id).map(|since| Ready { since, item: object.part(Part::Free) })
    }

    /// Records that a task got permits.
    fn hold(&mut self, task: u32, count: usize) {
        self.holders.push((task, count));
    }

    /// Records that a task released permits. They may be those of another task, if that has passed its guard on.
    fn let_go(&mut self, task: u32, mut count: usize) {
        for own in [true, false] {
            for (_, held) in self.holders.iter_mut().filter(|(holder, _)| (*holder == task) == own) {
                let part = count.min(*held);
                *held -= part;
                count -= part;
            }
        }
        self.holders.retain(|&(_, held)| held > 0);
    }
}

/// A semaphore with permits: the core of semaphores, mutexes and read-write locks.
pub struct SemaphoreCore {
    kind: &'static str,
    initial: usize,
    /// `true` if the semaphore is closed in the normal course of its use.
    closes: bool,
    made: Option<Place>,
    state: Local<State>,
}

impl SemaphoreCore {
    /// Creates a semaphore of this kind, a word for counterexamples, with `initial` permits.
    #[must_use]
    pub const fn new(kind: &'static str, initial: usize) -> SemaphoreCore {
        let state =
            State { execution: u64::MAX, object: None, permits: Permits::new(), closed: None, holders: Vec::new() };
        SemaphoreCore { kind, initial, closes: false, made: None, state: Local::new(state) }
    }

    /// Creates a semaphore that is closed in the normal course of its use.
    #[must_use]
    pub const fn closing(kind: &'static str, initial: usize) -> SemaphoreCore {
        let mut semaphore = SemaphoreCore::new(kind, initial);
        semaphore.closes = true;
        semaphore
    }

    /// Creates a semaphore that was constructed at `place`.
    #[must_use]
    pub const fn made_at(kind: &'static str, initial: usize, place: Place) -> SemaphoreCore {
        let mut semaphore = SemaphoreCore::new(kind, initial);
        semaphore.made = Some(place);
        semaphore
    }

    /// Returns `true` if the semaphore was not used in this execution yet.
    fn is_fresh(&self) -> bool {
        let now = events::execution_id();
        let is_foreign = now != 0 && !self.state.is_mine();
        is_foreign || self.state.with(|s| s.object.is_none() || (s.execution != now && now != 0))
    }

    fn begin(&self, object: Object) {
        let now = events::execution_id();
        self.state.adopt();
        self.state.with(|s| {
            // Outside of executions, another thread may be faster.
            if now == 0 && s.object.is_some() {
                return;
            }
            (s.execution, s.object, s.closed) = (now, Some(object), None);
            s.permits = Permits::with(self.initial);
            s.holders.clear();
        });
    }

    /// Calls `work` with the state, which is reset if it belongs to an earlier execution.
    fn with<R>(&self, work: impl FnOnce(&mut State, Object) -> R) -> R {
        if self.is_fresh() {
            self.begin(Object::new(self.kind));
        }
        self.state.with(|s| {
            let object = s.object.expect("it was made");
            work(s, object)
        })
    }

    /// Returns the semaphore's object; at its first use, it is named by the running task.
    pub fn object(&self) -> Object {
        self.with(|_, object| object)
    }

    /// Returns the semaphore's object. A semaphore in a static has no creator: its first use in an execution is an event.
    fn used(&self, place: Place) -> Object {
        if self.is_fresh() && events::is_live() {
            events::event(Action::plain(Point::BeginsToUseLock, place));
            if self.is_fresh() {
                self.begin(Object::late(self.kind, self.made));
            }
            let object = self.object();
            for part in [Part::Line, Part::Free, Part::Closed] {
                events::write(object.part(part));
            }
        }
        self.object()
    }

    /// Returns the number of free permits. Scheduling point.
    pub fn available(&self, place: Place) -> usize {
        let object = self.used(place);
        events::event(Action::new(Point::LooksAtPermits, object, place));
        events::read(object.part(Part::Free));
        events::read(object.part(Part::Line));
        self.with(|s, _| s.permits.available())
    }

    /// Returns `true` if the semaphore is closed. Scheduling point.
    pub fn is_closed(&self, place: Place) -> bool {
        let object = self.used(place);
        events::event(Action::new(Point::LooksAtPermits, object, place));
        events::read(object.part(Part::Closed));
        self.with(|s, _| s.closed.is_some())
    }

    /// Closes the semaphore: waiters get no permits from now on. Scheduling point.
    pub fn close(&self, place: Place) {
        self.close_as(Point::ClosesPermits, place, || {});
    }

    /// Closes the semaphore and calls `work` in the same step. Scheduling point.
    pub fn close_as(&self, point: Point, place: Place, work: impl FnOnce()) {
        let object = self.used(place);
        events::event(Action::new(point, object, place));
        if events::is_over() {
            return;
        }
        work();
        self.close_now();
    }

    /// Closes the semaphore in the running step.
    pub fn close_now(&self) {
        let object = self.object();
        events::learn(closable(object));
        events::write(object.part(Part::Closed));
        events::enables(object.part(Part::Free), object.part(Part::Closed));
        let step = events::this_step();
        self.with(|s, _| {
            s.closed.get_or_insert(step);
            s.permits.close();
        });
        crate::wake_polled();
    }

    /// Returns `Some(true)` if the running task got permits, `None` if the semaphore is closed. Scheduling point.
    pub fn try_acquire(&self, need: usize, point: Point, place: Place) -> Option<bool> {
        let object = self.used(place);
        events::event(Action::new(point, object, place));
        events::write(object.part(Part::Line));
        events::read(object.part(Part::Free));
        events::read(object.part(Part::Closed));
        self.with(|s, _| {
            let got = s.closed.is_none().then(|| s.permits.try_ask(need));
            if got == Some(true) {
                s.hold(events::running_task(), need);
            }
            got
        })
    }

    /// Releases permits. Scheduling point.
    pub fn release(&self, count: usize, point: Point, place: Place) {
        if count == 0 || events::is_over() || !self.state.is_mine() {
            return;
        }
        let object = self.used(place);
        events::event(Action::new(point, object, place));
        if events::is_over() {
            return;
        }
        events::write(object.part(Part::Free));
        events::enables(object.part(Part::Free), object.part(Part::Item));
        self.read_closed(object);
        let step = events::this_step();
        self.with(|s, _| {
            s.permits.release(count, step);
            s.let_go(events::running_task(), count);
        });
        crate::wake_polled();
    }

    /// Records that the running step assigns permits to waiters, unless the semaphore is closed.
    fn read_closed(&self, object: Object) {
        if self.closes || events::knows(closable(object)) {
            events::read(object.part(Part::Closed));
        }
    }

    /// Removes up to `count` free permits permanently, and returns their number. Scheduling point.
    pub fn forget(&self, count: usize, place: Place) -> usize {
        let object = self.used(place);
        events::event(Action::new(Point::ForgetsPermits, object, place));
        events::write(object.part(Part::Free));
        events::write(object.part(Part::Line));
        self.with(|s, _| s.permits.forget(count))
    }
}

impl Readiness for SemaphoreCore {
    fn ready(&self, id: u64) -> Option<Ready> {
        // A waiter of a closed semaphore gets no permits, even if some were assigned to it.
        self.with(|s, object| s.closed_since(object).or_else(|| s.served_since(id, object)))
    }

    fn first_ready(&self, id: u64) -> Option<Ready> {
        self.with(|s, object| Ready::first(s.served_since(id, object), s.closed_since(object)))
    }

    fn watched(&self, _: u64, out: &mut SmallVec<[Name; 2]>) {
        let object = self.object();
        out.push(object.part(Part::Free));
        out.push(object.part(Part::Closed));
    }

    fn blockers(&self, _: u64, out: &mut Vec<u32>) {
        if self.state.is_mine() {
            self.state.with(|s| out.extend(s.holders.iter().map(|&(task, _)| task)));
        }
    }

    fn causes(&self, id: u64, out: &mut Vec<u32>) {
        let steps = self.with(|s, _| match s.closed {
            // Permits could have completed the wait before.
            Some(_) => Vec::new(),
            None => s.permits.ready(id).unwrap_or_default(),
        });
        out.extend(steps.into_iter().filter(|&step| step != Ready::ALWAYS));
    }

    fn is_contested(&self, _: u64) -> bool {
        self.with(|s, _| s.closed.is_some())
    }
}

/// Returns the name that is learnt if some execution closes the semaphore.
fn closable(object: Object) -> Name {
    object.part(Part::Closed).mixed(3)
}

/// The error for a request without permits: the semaphore is closed, or the execution is over.
#[derive(Copy, Clone, Debug)]
pub struct Closed;

/// The wait for permits.
pub struct Acquiring {
    semaphore: Arc<SemaphoreCore>,
    need: usize,
    point: Point,
    place: Place,
    id: Option<u64>,
    waiter: Waiter,
}

impl Acquiring {
    /// Creates a wait that has not requested permits yet.
    pub fn new(semaphore: Arc<SemaphoreCore>, need: usize, point: Point, place: Place) -> Acquiring {
        Acquiring { semaphore, need, point, place, id: None, waiter: Waiter::new() }
    }

    /// Requests permits. Returns `Some` if the result is available at once.
    fn ask(&mut self) -> Option<Result<(), Closed>> {
        let object = self.semaphore.used(self.place);
        events::event(Action::new(self.point, object, self.place));
        if events::is_over() {
            return None;
        }
        events::write(object.part(Part::Line));
        events::read(object.part(Part::Closed));
        let at_once = self.semaphore.closes || events::is_learnt(closable(object));
        if at_once {
            events::read(object.part(Part::Free));
        }
        let need = self.need;
        let asked = self.semaphore.with(|s, _| s.closed.is_none().then(|| s.permits.ask(need, at_once)));
        match asked {
            None => Some(Err(Closed)),
            Some(Asked::Now) => {
                self.semaphore.with(|s, _| s.hold(events::running_task(), need));
                Some(Ok(()))
            }
            Some(Asked::Wait(id)) => {
                self.id = Some(id);
                events::has_asked(self.semaphore.ready(id).is_some());
                None
            }
        }
    }

    fn got(&mut self) -> Result<(), Closed> {
        let id = self.id.expect("it asked");
        let (assigned, closed) = self.semaphore.with(|s, object| {
            events::read(object.part(Part::Closed));
            (s.permits.assigned(id), s.closed.is_some())
        });
        // Permits that a closed semaphore has assigned are released when the wait is dropped.
        if !closed || assigned == 0 {
            self.semaphore.with(|s, _| s.permits.take(id));
            self.id = None;
        }
        if closed {
            return Err(Closed);
        }
        self.semaphore.with(|s, _| s.hold(events::running_task(), self.need));
        Ok(())
    }

    /// Requests permits, on the first call, and waits for them.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let waits = self.waits();
        std::task::ready!(self.waiter.poll(cx, || (WaitTarget::Object(self.semaphore.clone(), id), waits)));
        Poll::Ready(self.got())
    }

    fn waits(&self) -> Action {
        Action::new(
            if self.point == Point::AsksForPermit { Point::GetsPermit } else { Point::Gets },
            self.semaphore.object(),
            self.place,
        )
    }

    /// Requests permits, and blocks inside the current poll until they are available.
    pub fn here(&mut self) -> Result<(), Closed> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(Closed) };
        let on = WaitTarget::Object(self.semaphore.clone(), id);
        if wait_here(&on, self.waits()) { self.got() } else { Err(Closed) }
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if events::is_over() {
            return;
        }
        let object = self.semaphore.object();
        events::event(Action::new(Point::StopsWaiting, object, self.place));
        events::write(object.part(Part::Line));
        events::write(object.part(Part::Free));
        events::enables(object.part(Part::Free), object.part(Part::Item));
        self.semaphore.read_closed(object);
        let step = events::this_step();
        self.semaphore.with(|s, _| s.permits.give_up(id, step));
        crate::wake_polled();
    }
}

//! `Condvar`: a waiter releases the lock, waits for a notification, and takes the lock again.
//!
//! The search chooses which waiter `notify_one` wakes. There are no spurious wake-ups. A wait with a timeout may time
//! out at any point.

use super::MutexGuard;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, LockResult, OnceLock};
use std::time::Duration;
use whippet_model::Name;
use whippet_runtime::{
    Action, Object, On, Part, Place, Ready, Renewed, Source, choose, enables, event, is_live, read, this_step,
    wait_here, write,
};

struct Waiter {
    id: u64,
    told: Option<u32>,
}

#[derive(Default)]
struct State {
    line: Vec<Waiter>,
    next: u64,
}

struct Core(Renewed<State>);

impl Core {
    /// Records an event that changes the queue of waiters. The first use in an execution names the object.
    fn event(&self, verb: &'static str, place: Place) -> Object {
        event(Action { verb, what: "a Condvar", link: "", object: None, place });
        let object = self.0.named();
        write(object.part(Part::Tail));
        object
    }

    fn join(&self) -> u64 {
        self.0.with(|s| {
            s.next += 1;
            s.line.push(Waiter { id: s.next, told: None });
            s.next
        })
    }

    /// Leaves the queue. Returns `true` if the waiter was notified.
    fn leave(&self, id: u64) -> bool {
        self.0.with(|s| {
            let told = s.line.iter().any(|waiter| waiter.id == id && waiter.told.is_some());
            s.line.retain(|waiter| waiter.id != id);
            told
        })
    }

    fn tell(&self, all: bool, place: Place) {
        let object = self.event(if all { "notifies all of" } else { "notifies one of" }, place);
        enables(object.part(Part::Tail), object.part(Part::Item));
        let step = this_step();
        let waiting = self.0.with(|s| s.line.iter().filter(|waiter| waiter.told.is_none()).count());
        let chosen = if all { 0 } else { choose(waiting as u32) as usize };
        self.0.with(|s| {
            let line = s.line.iter_mut().filter(|waiter| waiter.told.is_none());
            line.skip(chosen).take(if all { usize::MAX } else { 1 }).for_each(|waiter| waiter.told = Some(step));
        });
    }
}

impl Source for Core {
    fn ready(&self, id: u64) -> Option<Ready> {
        let item = self.0.object().part(Part::Item);
        self.0.with(|s| s.line.iter().find(|w| w.id == id)?.told.map(|since| Ready { since, item }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.0.object().part(Part::Tail));
    }
}

/// Like `std::sync::Condvar`; its operations are events.
pub struct Condvar {
    made: Place,
    core: OnceLock<Arc<Core>>,
    real: std::sync::Condvar,
}

/// The result of a wait with a timeout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the wait ended because of its timeout.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable without waiters.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { made: Location::caller(), core: OnceLock::new(), real: std::sync::Condvar::new() }
    }

    fn core(&self) -> &Arc<Core> {
        self.core.get_or_init(|| Arc::new(Core(Renewed::new("condvar", Some(self.made)))))
    }

    /// Notifies one waiter. During exploration the search chooses which.
    #[track_caller]
    pub fn notify_one(&self) {
        if is_live() { self.core().tell(false, Location::caller()) } else { self.real.notify_one() }
    }

    /// Notifies all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        if is_live() { self.core().tell(true, Location::caller()) } else { self.real.notify_all() }
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let place = Location::caller();
        super::leave_if_over();
        if !is_live() {
            let real = guard.real.take().expect("the guard is in use");
            return super::map(self.real.wait(real), |real| {
                guard.real = Some(real);
                guard
            });
        }
        let (core, lock) = (self.core(), guard.lock);
        core.event("begins to wait on", place);
        let id = core.join();
        drop(guard);
        let action = Action { verb: "is told by", what: "a Condvar", link: "", object: None, place };
        wait_here(&On::Source(core.clone(), id), action);
        super::leave_if_over();
        core.leave(id);
        lock.lock()
    }

    /// Waits while `holds` returns `true`.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut holds: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while holds(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Releases the lock, waits for a notification or for the timeout, and takes the lock again.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        if !is_live() {
            let real = guard.real.take().expect("the guard is in use");
            return super::map(self.real.wait_timeout(real, timeout), |(real, result)| {
                guard.real = Some(real);
                (guard, WaitTimeoutResult(result.timed_out()))
            });
        }
        let (core, lock) = (self.core(), guard.lock);
        core.event("begins to wait on", place);
        let id = core.join();
        drop(guard);
        let object = core.event("is told by, or has waited long enough for,", place);
        read(object.part(Part::Tail));
        let told = core.leave(id);
        super::map(lock.lock(), |guard| (guard, WaitTimeoutResult(!told)))
    }

    /// Waits while `holds` returns `true`, or until a wait times out.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut holds: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        while holds(&mut guard) {
            let (again, result) = self.wait_timeout(guard, timeout)?;
            guard = again;
            if result.timed_out() {
                let late = holds(&mut guard);
                return Ok((guard, WaitTimeoutResult(late)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

//! `Condvar`: a waiter releases the lock, waits for a notification, and takes the lock again.
//!
//! The search chooses which waiter `notify_one` wakes. There are no spurious wake-ups. A wait with a timeout ends with a
//! notification or with a timer, like other timeouts.

use super::MutexGuard;
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Arc, LockResult, OnceLock};
use std::task::Poll;
use std::time::Duration;
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Object, Part, PerExecution, Place, Readiness, Ready, WaitTarget, Waiter, block_on_here, choose, enables,
    event, is_live, this_step, wait_here, write,
};

struct QueuedWaiter {
    id: u64,
    notified_at: Option<u32>,
}

#[derive(Default)]
struct State {
    waiters: Vec<QueuedWaiter>,
    next: u64,
}

struct WaiterQueue(PerExecution<State>);

impl WaiterQueue {
    /// Records an event that changes the queue of waiters. The first use in an execution names the object.
    fn event(&self, point: Point, place: Place) -> Object {
        event(Action { point, what: "a Condvar", object: None, place });
        let object = self.0.named();
        write(object.part(Part::Tail));
        object
    }

    fn join(&self) -> u64 {
        self.0.with(|s| {
            s.next += 1;
            s.waiters.push(QueuedWaiter { id: s.next, notified_at: None });
            s.next
        })
    }

    /// Leaves the queue. Returns `true` if the waiter was notified.
    fn leave(&self, id: u64) -> bool {
        self.0.with(|s| {
            let was_notified = s.waiters.iter().any(|waiter| waiter.id == id && waiter.notified_at.is_some());
            s.waiters.retain(|waiter| waiter.id != id);
            was_notified
        })
    }

    /// Notifies one waiter or all. Returns the number of waiters that were notified.
    fn notify(&self, all: bool, place: Place) -> usize {
        let object = self.event(if all { Point::CondvarNotifiesAll } else { Point::CondvarNotifiesOne }, place);
        enables(object.part(Part::Tail), object.part(Part::Item));
        let step = this_step();
        let waiting = self.0.with(|s| s.waiters.iter().filter(|waiter| waiter.notified_at.is_none()).count());
        let chosen = if all { 0 } else { choose(waiting as u32) as usize };
        self.0.with(|s| {
            let waiting = s.waiters.iter_mut().filter(|waiter| waiter.notified_at.is_none());
            waiting
                .skip(chosen)
                .take(if all { usize::MAX } else { 1 })
                .for_each(|waiter| waiter.notified_at = Some(step));
        });
        if all { waiting } else { waiting.min(1) }
    }
}

impl Readiness for WaiterQueue {
    fn ready(&self, id: u64) -> Option<Ready> {
        let item = self.0.object().part(Part::Item);
        self.0.with(|s| s.waiters.iter().find(|w| w.id == id)?.notified_at.map(|since| Ready { since, item }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.0.object().part(Part::Tail));
    }
}

/// Like `std::sync::Condvar`; its operations are events.
pub struct Condvar {
    made: Place,
    queue: OnceLock<Arc<WaiterQueue>>,
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
        Condvar { made: Location::caller(), queue: OnceLock::new(), real: std::sync::Condvar::new() }
    }

    fn queue(&self) -> &Arc<WaiterQueue> {
        self.queue.get_or_init(|| Arc::new(WaiterQueue(PerExecution::new("condvar", Some(self.made)))))
    }

    /// Notifies one waiter. During exploration the search chooses which.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// Notifies all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, Location::caller());
    }

    /// Notifies one waiter or all. Returns the number of waiters that were notified, or 0 outside of executions, where it
    /// is not known. For shims of other libraries.
    #[doc(hidden)]
    pub fn notify(&self, all: bool, place: Place) -> usize {
        if is_live() {
            return self.queue().notify(all, place);
        }
        if all {
            self.real.notify_all()
        } else {
            self.real.notify_one()
        }
        0
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
        let (queue, lock) = (self.queue(), guard.lock);
        queue.event(Point::StartsWaiting, place);
        let id = queue.join();
        drop(guard);
        let action = Action { point: Point::IsNotified, what: "a Condvar", object: None, place };
        wait_here(&WaitTarget::Object(queue.clone(), id), action);
        super::leave_if_over();
        queue.leave(id);
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
        super::leave_if_over();
        if is_live() {
            return self.wait_until(guard, deadline(timeout), Location::caller());
        }
        let real = guard.real.take().expect("the guard is in use");
        super::map(self.real.wait_timeout(real, timeout), |(real, result)| {
            guard.real = Some(real);
            (guard, WaitTimeoutResult(result.timed_out()))
        })
    }

    /// Waits while `holds` returns `true`, or until the timeout.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut holds: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        super::leave_if_over();
        if !is_live() {
            let real = guard.real.take().expect("the guard is in use");
            return super::map(self.real.wait_timeout_while(real, timeout, holds), |(real, result)| {
                guard.real = Some(real);
                (guard, WaitTimeoutResult(result.timed_out()))
            });
        }
        // All waits share one deadline: a notification does not extend the timeout.
        let (due, place) = (deadline(timeout), Location::caller());
        while holds(&mut guard) {
            let (again, result) = self.wait_until(guard, due, place)?;
            guard = again;
            if result.timed_out() {
                let late = holds(&mut guard);
                return Ok((guard, WaitTimeoutResult(late)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Releases the lock, waits for a notification or until the virtual time `due`, and takes the lock again.
    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        due: u64,
        place: Place,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (queue, lock) = (self.queue(), guard.lock);
        queue.event(Point::StartsWaiting, place);
        let id = queue.join();
        drop(guard);
        let (mut notified, mut timer) = (Waiter::new(), Waiter::new());
        let _ = block_on_here(poll_fn(|cx| {
            let action = Action { point: Point::IsNotified, what: "a Condvar", object: None, place };
            if notified.poll(cx, || (WaitTarget::Object(queue.clone(), id), action)).is_ready() {
                return Poll::Ready(());
            }
            timer.poll(cx, || (WaitTarget::Timer(due), Action::plain(Point::IsWokenByTimer, place)))
        }));
        super::leave_if_over();
        let was_notified = queue.leave(id);
        if !was_notified {
            // Others can observe that the queue is shorter now.
            write(queue.0.object().part(Part::Tail));
        }
        super::map(lock.lock(), |guard| (guard, WaitTimeoutResult(!was_notified)))
    }
}

/// Returns the virtual time at which a timeout that begins now ends.
#[track_caller]
fn deadline(timeout: Duration) -> u64 {
    let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    whippet_runtime::now(Location::caller()).saturating_add(nanoseconds)
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

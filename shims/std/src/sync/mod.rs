//! `std::sync`, with the types through which tasks share memory replaced by observed ones.

pub mod atomic;
mod barrier;
mod condvar;
pub mod mpsc;
mod mutex;
mod once;
mod rwlock;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::*;

use whippet_runtime::Point;
use whippet_runtime::{Acquiring, Place, SemaphoreCore};

/// The gate in front of a real lock. Outside executions it admits every caller, and only the real lock excludes.
struct LockGate {
    made: Place,
    gate: std::sync::OnceLock<Arc<SemaphoreCore>>,
    /// The execution that has used it last, or 0.
    used_in: std::sync::atomic::AtomicU64,
}

impl LockGate {
    const fn new(made: Place) -> LockGate {
        LockGate { made, gate: std::sync::OnceLock::new(), used_in: std::sync::atomic::AtomicU64::new(0) }
    }

    /// Returns `true` if an earlier execution has used the lock, and this one has not. The real lock may then be poisoned by it.
    fn begins_again(&self) -> bool {
        let now = whippet_runtime::execution_id();
        if now == 0 {
            return false;
        }
        let before = self.used_in.swap(now, std::sync::atomic::Ordering::Relaxed);
        before != 0 && before != now
    }

    fn gate(&self, permits: usize) -> &Arc<SemaphoreCore> {
        self.gate.get_or_init(|| Arc::new(SemaphoreCore::made_at("std lock", permits, self.made)))
    }

    /// Waits for `need` of the lock's `permits`. Returns `true` if `leave` must release them.
    fn enter(&self, permits: usize, need: usize, point: Point, place: Place) -> bool {
        let entered =
            whippet_runtime::is_live() && Acquiring::new(self.gate(permits).clone(), need, point, place).here().is_ok();
        whippet_runtime::holds(i32::from(entered));
        entered
    }

    /// Acquires `need` permits without waiting. Returns `None` if they are not available, and otherwise `Some(true)` if
    /// `leave` must release them.
    fn try_enter(&self, permits: usize, need: usize, place: Place) -> Option<bool> {
        if !whippet_runtime::is_live() {
            return Some(false);
        }
        let got = self.gate(permits).try_acquire(need, Point::TriesToLock, place) == Some(true);
        whippet_runtime::holds(i32::from(got));
        got.then_some(true)
    }

    fn leave(&self, permits: usize, count: usize, place: Place) {
        whippet_runtime::holds(-1);
        self.gate(permits).release(count, Point::Unlocks, place);
    }
}

/// Unwinds the running task if the execution is over. Tasks are then torn down one after another, so no task may wait
/// for another one.
pub(crate) fn leave_if_over() {
    if whippet_runtime::is_over() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new("the execution is over"));
    }
}

/// Takes the real lock after its [`LockGate`] has admitted the caller. During an execution no other task holds it, so
/// `attempt` fails only while the execution is torn down, and outside executions, where `wait` blocks.
fn real<G>(attempt: impl Fn() -> TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> Result<G, PoisonError<G>> {
    match attempt() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(error)) => forgive(error),
        Err(TryLockError::WouldBlock) => {
            leave_if_over();
            wait()
        }
    }
}

/// Ignores the poison of a lock if the execution is over. A task that unwinds then has not failed, and a destructor that panics
/// because of the poison would end the process.
fn forgive<G>(error: PoisonError<G>) -> LockResult<G> {
    if whippet_runtime::is_over() { Ok(error.into_inner()) } else { Err(error) }
}

/// Returns the result of an attempt with `make` applied to the guard, poisoned or not.
fn tried<G, H>(result: TryLockResult<G>, make: impl FnOnce(G) -> H) -> TryLockResult<H> {
    match result {
        Ok(guard) => Ok(make(guard)),
        Err(TryLockError::Poisoned(error)) => Ok(map(forgive(error), make)?),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

/// Applies `make` to a guard, poisoned or not.
fn map<G, H>(result: LockResult<G>, make: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(make(guard)),
        Err(error) => Err(PoisonError::new(make(error.into_inner()))),
    }
}

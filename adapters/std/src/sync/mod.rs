//! `std::sync`, of which what tasks share is ours.

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

use whippet_tasks::{Acquiring, Gate, Place};

/// The gate of a lock: outside of executions it is always open, and only the real lock counts.
struct Door {
    made: Place,
    gate: std::sync::OnceLock<Arc<Gate>>,
}

impl Door {
    const fn new(made: Place) -> Door {
        Door { made, gate: std::sync::OnceLock::new() }
    }

    fn gate(&self, permits: usize) -> &Arc<Gate> {
        self.gate.get_or_init(|| Arc::new(Gate::made_at("std lock", permits, self.made)))
    }

    /// Waits for permits. Whether they must be given back.
    fn enter(&self, permits: usize, need: usize, verb: &'static str, place: Place) -> bool {
        let entered =
            whippet_tasks::is_live() && Acquiring::new(self.gate(permits).clone(), need, verb, place).here().is_ok();
        whippet_tasks::holds(i32::from(entered));
        entered
    }

    /// Takes permits if they are there: whether they must be given back, or `None` if they are not.
    fn try_enter(&self, permits: usize, need: usize, place: Place) -> Option<bool> {
        if !whippet_tasks::is_live() {
            return Some(false);
        }
        let got = self.gate(permits).try_acquire(need, "tries to lock", place) == Some(true);
        whippet_tasks::holds(i32::from(got));
        got.then_some(true)
    }

    fn leave(&self, permits: usize, count: usize, place: Place) {
        whippet_tasks::holds(-1);
        self.gate(permits).release(count, "unlocks", place);
    }
}

/// When the execution is over, tasks are cleared away one after another: nobody waits for another one any more.
pub(crate) fn leave_if_over() {
    if whippet_tasks::is_over() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new("the execution is over"));
    }
}

/// The real lock behind a door that let us in: nobody else of this execution holds it.
fn real<G>(attempt: impl Fn() -> TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> Result<G, PoisonError<G>> {
    match attempt() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(error)) => Err(error),
        Err(TryLockError::WouldBlock) => {
            leave_if_over();
            wait()
        }
    }
}

/// A guard made from another, poisoned or not.
fn map<G, H>(result: LockResult<G>, make: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(make(guard)),
        Err(error) => Err(PoisonError::new(make(error.into_inner()))),
    }
}

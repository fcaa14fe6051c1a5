//! `Condvar`: the condition variable of `whippet-std` with the guards of parking_lot.

use crate::MutexGuard;
use std::panic::Location;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The result of a wait with a timeout.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns `true` if the wait ended because of its timeout.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// A condition variable.
#[derive(Debug, Default)]
pub struct Condvar {
    condvar: whippet_std::sync::Condvar,
}

impl Condvar {
    /// Creates a condition variable without waiters.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { condvar: whippet_std::sync::Condvar::new() }
    }

    /// Notifies one waiter. Returns `true` if there was one; always `false` outside of explorations.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.condvar.notify(false, Location::caller()) > 0
    }

    /// Notifies all waiters. Returns how many there were; always 0 outside of explorations.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.condvar.notify(true, Location::caller())
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        // SAFETY: the guard shows that the mutex is held.
        let raw = unsafe { MutexGuard::mutex(guard).raw() };
        // SAFETY: as above.
        let held = unsafe { raw.take() }.expect("a held mutex has a guard");
        raw.put_back(self.condvar.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits as long as `holds` returns `true`.
    #[track_caller]
    pub fn wait_while<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, mut holds: impl FnMut(&mut T) -> bool) {
        while holds(&mut **guard) {
            self.wait(guard);
        }
    }

    /// Releases the lock, waits for a notification or for the timeout, and takes the lock again.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        // SAFETY: the guard shows that the mutex is held.
        let raw = unsafe { MutexGuard::mutex(guard).raw() };
        // SAFETY: as above.
        let held = unsafe { raw.take() }.expect("a held mutex has a guard");
        let (held, result) = self.condvar.wait_timeout(held, timeout).unwrap_or_else(PoisonError::into_inner);
        raw.put_back(held);
        WaitTimeoutResult(result.timed_out())
    }

    /// Releases the lock, waits for a notification or until this time, and takes the lock again.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Instant) -> WaitTimeoutResult {
        self.wait_for(guard, timeout.saturating_duration_since(Instant::now()))
    }

    /// Waits as long as `holds` returns `true`, at most for the timeout.
    #[track_caller]
    pub fn wait_while_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut holds: impl FnMut(&mut T) -> bool,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        while holds(&mut **guard) {
            if self.wait_for(guard, timeout).timed_out() {
                return WaitTimeoutResult(holds(&mut **guard));
            }
        }
        WaitTimeoutResult(false)
    }
}

//! `Mutex`: a real mutex behind a gate with one permit.

use super::{LockGate, map, real, tried};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, TryLockError, TryLockResult};
use whippet_runtime::Point;

/// Like `std::sync::Mutex`; its operations are events.
pub struct Mutex<T: ?Sized> {
    gate_handle: LockGate,
    real: std::sync::Mutex<T>,
}

/// Like `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    /// `None` while a condition variable waits with it, and during `drop`.
    pub(super) real: Option<std::sync::MutexGuard<'a, T>>,
    entered: bool,
}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { gate_handle: LockGate::new(Location::caller()), real: std::sync::Mutex::new(value) }
    }

    /// Consumes the mutex and returns its value.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Forgets what an earlier execution has left.
    fn begin(&self) {
        if self.gate_handle.begins_again() {
            self.real.clear_poison();
        }
    }

    /// Waits for the lock and takes it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let entered = self.gate_handle.enter(1, 1, Point::RequestsLock, Location::caller());
        self.begin();
        let guard = real(|| self.real.try_lock(), || self.real.lock());
        map(guard, |guard| MutexGuard { lock: self, real: Some(guard), entered })
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let Some(entered) = self.gate_handle.try_enter(1, 1, Location::caller()) else {
            return Err(TryLockError::WouldBlock);
        };
        self.begin();
        tried(self.real.try_lock(), |guard| MutexGuard { lock: self, real: Some(guard), entered })
    }

    /// Returns `true` if a thread panicked while holding the lock.
    pub fn is_poisoned(&self) -> bool {
        self.begin();
        self.real.is_poisoned()
    }

    /// Clears the poisoned state.
    pub fn clear_poison(&self) {
        self.real.clear_poison();
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.real.get_mut()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.real.as_ref().expect("the guard is in use")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.real.as_mut().expect("the guard is in use")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.real = None;
        if whippet_runtime::is_over() {
            // A lock in a static is used by the next execution, too.
            self.lock.real.clear_poison();
        }
        if self.entered {
            self.lock.gate_handle.leave(1, 1, Location::caller());
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

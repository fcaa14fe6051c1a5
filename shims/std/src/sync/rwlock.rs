//! `RwLock`: a real lock behind a gate. A reader holds one permit, a writer all of them.

use super::{LockGate, map, real, tried};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, TryLockError, TryLockResult};
use whippet_runtime::Point;

const ALL: usize = u32::MAX as usize >> 3;

/// Like `std::sync::RwLock`; its operations are events.
pub struct RwLock<T: ?Sized> {
    gate_handle: LockGate,
    real: std::sync::RwLock<T>,
}

impl<T> RwLock<T> {
    /// Creates an unlocked lock.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { gate_handle: LockGate::new(Location::caller()), real: std::sync::RwLock::new(value) }
    }

    /// Consumes the lock and returns its value.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

/// Defines the guards of readers and writers, and the functions that return them.
macro_rules! guards {
    ($($guard:ident: $need:expr, $point:expr, $lock:ident, $try:ident, $doc:literal;)*) => {
        impl<T: ?Sized> RwLock<T> {
            $(
                #[doc = concat!("Waits until ", $doc, ".")]
                #[track_caller]
                pub fn $lock(&self) -> LockResult<$guard<'_, T>> {
                    let entered = self.gate_handle.enter(ALL, $need, $point, Location::caller());
                    self.begin();
                    let guard = real(|| self.real.$try(), || self.real.$lock());
                    map(guard, |guard| $guard { lock: self, real: Some(guard), entered })
                }

                #[doc = concat!("Like the blocking operation, but fails unless ", $doc, " now.")]
                #[track_caller]
                pub fn $try(&self) -> TryLockResult<$guard<'_, T>> {
                    let entered = self.gate_handle.try_enter(ALL, $need, Location::caller());
                    let Some(entered) = entered else { return Err(TryLockError::WouldBlock) };
                    self.begin();
                    tried(self.real.$try(), |guard| $guard { lock: self, real: Some(guard), entered })
                }
            )*
        }
        $(
            #[doc = concat!("Like `std::sync::", stringify!($guard), "`.")]
            #[must_use = "if unused the RwLock will immediately unlock"]
            pub struct $guard<'a, T: ?Sized> {
                lock: &'a RwLock<T>,
                real: Option<std::sync::$guard<'a, T>>,
                entered: bool,
            }

            impl<T: ?Sized> Deref for $guard<'_, T> {
                type Target = T;
                fn deref(&self) -> &T {
                    self.real.as_ref().expect("the guard is in use")
                }
            }

            impl<T: ?Sized> Drop for $guard<'_, T> {
                #[track_caller]
                fn drop(&mut self) {
                    self.real = None;
                    if whippet_runtime::is_over() {
                        // A lock in a static is used by the next execution, too.
                        self.lock.real.clear_poison();
                    }
                    if self.entered {
                        self.lock.gate_handle.leave(ALL, $need, Location::caller());
                    }
                }
            }

            impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    (**self).fmt(f)
                }
            }

            impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    (**self).fmt(f)
                }
            }
        )*
    };
}
guards! {
    RwLockReadGuard: 1, Point::RequestsToRead, read, try_read, "no other thread writes";
    RwLockWriteGuard: ALL, Point::RequestsToWrite, write, try_write, "no other thread reads or writes";
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.real.as_mut().expect("the guard is in use")
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Turns the writer into a reader. No other writer comes between.
    #[track_caller]
    pub fn downgrade(mut this: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let (lock, entered) = (this.lock, std::mem::take(&mut this.entered));
        let real = std::sync::RwLockWriteGuard::downgrade(this.real.take().expect("the guard is in use"));
        if entered {
            lock.gate_handle.gate(ALL).release(ALL - 1, Point::Unlocks, Location::caller());
        }
        RwLockReadGuard { lock, real: Some(real), entered }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Forgets what an earlier execution has left.
    fn begin(&self) {
        if self.gate_handle.begins_again() {
            self.real.clear_poison();
        }
    }

    /// Returns `true` if a thread panicked while writing.
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

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

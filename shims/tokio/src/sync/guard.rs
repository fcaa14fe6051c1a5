//! The common part of all lock guards: the permits that a guard holds and the part of the value that it protects.

use std::panic::Location;
use std::sync::Arc;
use whippet_runtime::Point;
use whippet_runtime::{Place, SemaphoreCore};

/// Permits of a semaphore, released on drop.
pub(super) struct Held {
    gate: Arc<SemaphoreCore>,
    count: usize,
}

impl Held {
    pub(super) fn new(gate: &Arc<SemaphoreCore>, count: usize) -> Held {
        Held { gate: gate.clone(), count }
    }

    /// Releases all permits but one: downgrades a write lock to a read lock.
    pub(super) fn keep_one(&mut self, place: Place) {
        self.gate.release(self.count - 1, Point::GoesOnReading, place);
        self.count = 1;
    }
}

impl Drop for Held {
    #[track_caller]
    fn drop(&mut self) {
        self.gate.release(self.count, Point::Unlocks, Location::caller());
    }
}

/// Permits, and the part of the value that they protect: while they are held, no other task can change it (read guards)
/// or access it (all other guards).
pub(super) struct Guarded<T: ?Sized> {
    pub(super) value: *mut T,
    pub(super) held: Held,
}

impl<T: ?Sized> Guarded<T> {
    /// Returns the same permits for another part of the value.
    pub(super) fn narrowed<U: ?Sized>(self, value: *mut U) -> Guarded<U> {
        Guarded { value, held: self.held }
    }
}

/// Implements the traits of a guard of `$part`; with `mut`, also `DerefMut`.
macro_rules! guard {
    ($mode:ident [$($generics:tt)*] $guard:ty, $part:ident; Send: $($send:ident: $sends:ident),*; Sync: $($sync:ident),*) => {
        // SAFETY: the same bounds as in tokio.
        unsafe impl<$($generics)*> Send for $guard where $($send: $sends),* {}
        unsafe impl<$($generics)*> Sync for $guard where $($sync: Send + Sync),* {}
        guard!($mode [$($generics)*] $guard);
        impl<$($generics)*> std::ops::Deref for $guard {
            type Target = $part;
            fn deref(&self) -> &$part {
                // SAFETY: the lock is held while the guard exists.
                unsafe { &*self.guarded.value }
            }
        }
        impl<$($generics)*> std::fmt::Debug for $guard where $part: std::fmt::Debug {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, f)
            }
        }
        impl<$($generics)*> std::fmt::Display for $guard where $part: std::fmt::Display {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }
    };
    (ref [$($generics:tt)*] $guard:ty) => {};
    (mut [$($generics:tt)*] $guard:ty) => {
        impl<$($generics)*> std::ops::DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut Self::Target {
                // SAFETY: the lock is held exclusively while the guard exists.
                unsafe { &mut *self.guarded.value }
            }
        }
    };
}

/// Defines the methods `$map` and `$try_map`, which turn a guard of `$part` into a guard of a part of it. With `ref`,
/// their closure gets a shared reference, with `mut` a mutable one. The lock of the new guard comes from the old one.
macro_rules! maps {
    (ref $($rest:tt)*) => {
        maps!([] std::ptr::from_ref, $($rest)*);
    };
    (mut $($rest:tt)*) => {
        maps!([mut] std::ptr::from_mut, $($rest)*);
    };
    (
        [$($mode:tt)*] $pointer:path,
        $map:ident, $try_map:ident<$($generic:ident),*>: $part:ident => $to:ty,
        |$this:ident| $lock:expr, $make:ident
    ) => {
        #[track_caller]
        #[allow(unused_mut)]
        pub fn $map<$($generic),*>(this: Self, f: F) -> $to
        where
            F: FnOnce(&$($mode)* $part) -> &$($mode)* V,
            V: ?Sized,
        {
            // SAFETY: the lock is held while the guard exists.
            let value = $pointer(f(unsafe { &$($mode)* *this.guarded.value })) as *mut V;
            let mut $this = this;
            let lock = $lock;
            $make { guarded: $this.guarded.narrowed(value), lock }
        }

        #[track_caller]
        #[allow(unused_mut)]
        pub fn $try_map<$($generic),*>(this: Self, f: F) -> Result<$to, Self>
        where
            F: FnOnce(&$($mode)* $part) -> Option<&$($mode)* V>,
            V: ?Sized,
        {
            // SAFETY: the guard holds the lock in the mode of this reference.
            let Some(value) = f(unsafe { &$($mode)* *this.guarded.value }) else { return Err(this) };
            let value = $pointer(value) as *mut V;
            let mut $this = this;
            let lock = $lock;
            Ok($make { guarded: $this.guarded.narrowed(value), lock })
        }
    };
}

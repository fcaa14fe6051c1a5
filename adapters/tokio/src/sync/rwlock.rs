//! `RwLock`: a reader holds one permit, a writer all of them.

use super::mutex::TryLockError;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_tasks::{Acquiring, Gate};

const ALL: usize = u32::MAX as usize >> 3;

/// Stand-in for `tokio::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    core: OnceLock<Arc<Gate>>,
    value: UnsafeCell<T>,
}

unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T> RwLock<T> {
    pub fn new(value: T) -> RwLock<T> {
        let lock = RwLock::const_new(value);
        lock.core().object();
        lock
    }

    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock { core: OnceLock::new(), value: UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

macro_rules! lock {
    ($guard:ident, $owned:ident, $need:expr, $asks:literal, $lock:ident, $lock_owned:ident, $try:ident, $try_owned:ident, $blocking:ident) => {
        #[track_caller]
        pub fn $lock(&self) -> impl Future<Output = $guard<'_, T>> + use<'_, T> {
            let mut wait = Acquiring::new(self.core().clone(), $need, $asks, Location::caller());
            async move {
                let _ = poll_fn(move |cx| wait.poll(cx)).await;
                $guard { lock: self }
            }
        }
        #[track_caller]
        pub fn $lock_owned(self: Arc<Self>) -> impl Future<Output = $owned<T>> {
            let mut wait = Acquiring::new(self.core().clone(), $need, $asks, Location::caller());
            async move {
                let _ = poll_fn(move |cx| wait.poll(cx)).await;
                $owned { lock: self }
            }
        }
        #[track_caller]
        pub fn $blocking(&self) -> $guard<'_, T> {
            let _ = Acquiring::new(self.core().clone(), $need, $asks, Location::caller()).here();
            $guard { lock: self }
        }
        #[track_caller]
        pub fn $try(&self) -> Result<$guard<'_, T>, TryLockError> {
            match self.core().try_acquire($need, $asks, Location::caller()) {
                Some(true) => Ok($guard { lock: self }),
                _ => Err(TryLockError(())),
            }
        }
        #[track_caller]
        pub fn $try_owned(self: Arc<Self>) -> Result<$owned<T>, TryLockError> {
            match self.core().try_acquire($need, $asks, Location::caller()) {
                Some(true) => Ok($owned { lock: self }),
                _ => Err(TryLockError(())),
            }
        }
    };
}

impl<T: ?Sized> RwLock<T> {
    fn core(&self) -> &Arc<Gate> {
        self.core.get_or_init(|| Arc::new(Gate::new("rwlock", ALL)))
    }

    lock!(
        RwLockReadGuard,
        OwnedRwLockReadGuard,
        1,
        "asks to read",
        read,
        read_owned,
        try_read,
        try_read_owned,
        blocking_read
    );
    lock!(
        RwLockWriteGuard,
        OwnedRwLockWriteGuard,
        ALL,
        "asks to write",
        write,
        write_owned,
        try_write,
        try_write_owned,
        blocking_write
    );

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

macro_rules! guard {
    ($need:expr, $owner:ty, [$($name:tt)*], $ident:ident, [$($life:tt)*]) => {
        #[must_use]
        pub struct $ident<$($life)* T: ?Sized> {
            lock: $owner,
        }
        unsafe impl<T: ?Sized + Sync> Sync for $($name)* {}
        impl<T: ?Sized> Deref for $($name)* {
            type Target = T;
            fn deref(&self) -> &T {
                // The lock is held while the guard lives.
                unsafe { &*self.lock.value.get() }
            }
        }
        impl<T: ?Sized> Drop for $($name)* {
            #[track_caller]
            fn drop(&mut self) {
                self.lock.core().release($need, "unlocks", Location::caller());
            }
        }
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $($name)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }
    };
}
guard!(1, &'a RwLock<T>, [RwLockReadGuard<'_, T>], RwLockReadGuard, ['a,]);
guard!(ALL, &'a RwLock<T>, [RwLockWriteGuard<'_, T>], RwLockWriteGuard, ['a,]);
guard!(1, Arc<RwLock<T>>, [OwnedRwLockReadGuard<T>], OwnedRwLockReadGuard, []);
guard!(ALL, Arc<RwLock<T>>, [OwnedRwLockWriteGuard<T>], OwnedRwLockWriteGuard, []);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for OwnedRwLockWriteGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Lets other readers in.
    #[track_caller]
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let lock = self.lock;
        std::mem::forget(self);
        lock.core().release(ALL - 1, "goes on reading", Location::caller());
        RwLockReadGuard { lock }
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// Lets other readers in.
    #[track_caller]
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        // The guard is forgotten, its lock is not.
        let lock = unsafe { std::ptr::read(&self.lock) };
        std::mem::forget(self);
        lock.core().release(ALL - 1, "goes on reading", Location::caller());
        OwnedRwLockReadGuard { lock }
    }
}

//! `RwLock`: a reader holds one permit, a writer all of them.

use super::guard::{Guarded, Held};
use super::mutex::TryLockError;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_runtime::Point;
use whippet_runtime::{Acquiring, SemaphoreCore};

/// The maximum, and default, number of concurrent readers.
const MOST: u32 = u32::MAX >> 3;

/// Shim of `tokio::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    core: OnceLock<Arc<SemaphoreCore>>,
    readers: u32,
    value: UnsafeCell<T>,
}

// SAFETY: as tokio's: the lock gives out the value to one writer, or to readers that share it.
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
        RwLock::with_max_readers(value, MOST)
    }

    #[track_caller]
    pub fn with_max_readers(value: T, readers: u32) -> RwLock<T> {
        let lock = RwLock::const_with_max_readers(value, readers);
        lock.core().object();
        lock
    }

    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock::const_with_max_readers(value, MOST)
    }

    #[track_caller]
    pub const fn const_with_max_readers(value: T, readers: u32) -> RwLock<T> {
        assert!(readers != 0, "a RwLock may not be created with 0 readers");
        assert!(readers <= MOST, "a RwLock may not be created with more than 536870911 readers");
        RwLock { core: OnceLock::new(), readers, value: UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// Defines the functions that acquire a lock, given their names, the guard types and the number of permits that a guard
/// holds.
macro_rules! lock {
    (
        $asks:expr, |$this:ident| $need:expr, $guard:ident, $owned:ident,
        $lock:ident, $lock_owned:ident, $try:ident, $try_owned:ident, $blocking:ident
    ) => {
        #[track_caller]
        pub fn $lock(&self) -> impl Future<Output = $guard<'_, T>> + use<'_, T> {
            let $this = self;
            let mut wait = Acquiring::new($this.core().clone(), $need, $asks, Location::caller());
            async move {
                let _ = poll_fn(move |cx| wait.poll(cx)).await;
                $guard { guarded: $this.guarded($need), lock: PhantomData }
            }
        }
        #[track_caller]
        pub fn $lock_owned(self: Arc<Self>) -> impl Future<Output = $owned<T>> {
            let $this = self;
            let mut wait = Acquiring::new($this.core().clone(), $need, $asks, Location::caller());
            async move {
                let _ = poll_fn(move |cx| wait.poll(cx)).await;
                $owned { guarded: $this.guarded($need), lock: $this }
            }
        }
        #[track_caller]
        pub fn $blocking(&self) -> $guard<'_, T> {
            $crate::task::blocking::check_blocking();
            let $this = self;
            let _ = Acquiring::new($this.core().clone(), $need, $asks, Location::caller()).here();
            $guard { guarded: $this.guarded($need), lock: PhantomData }
        }
        #[track_caller]
        pub fn $try(&self) -> Result<$guard<'_, T>, TryLockError> {
            let $this = self;
            match $this.core().try_acquire($need, $asks, Location::caller()) {
                Some(true) => Ok($guard { guarded: $this.guarded($need), lock: PhantomData }),
                _ => Err(TryLockError(())),
            }
        }
        #[track_caller]
        pub fn $try_owned(self: Arc<Self>) -> Result<$owned<T>, TryLockError> {
            let $this = self;
            match $this.core().try_acquire($need, $asks, Location::caller()) {
                Some(true) => Ok($owned { guarded: $this.guarded($need), lock: $this }),
                _ => Err(TryLockError(())),
            }
        }
    };
}

impl<T: ?Sized> RwLock<T> {
    fn core(&self) -> &Arc<SemaphoreCore> {
        self.core.get_or_init(|| Arc::new(SemaphoreCore::new("rwlock", self.readers as usize)))
    }

    /// Returns the guard data. The caller must have acquired `count` permits.
    fn guarded(&self, count: usize) -> Guarded<T> {
        Guarded { value: self.value.get(), held: Held::new(self.core(), count) }
    }

    lock!(
        Point::AsksToRead,
        |this| 1,
        RwLockReadGuard,
        OwnedRwLockReadGuard,
        read,
        read_owned,
        try_read,
        try_read_owned,
        blocking_read
    );
    lock!(
        Point::AsksToWrite,
        |this| this.readers as usize,
        RwLockWriteGuard,
        OwnedRwLockWriteGuard,
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

#[must_use]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    guarded: Guarded<T>,
    lock: PhantomData<&'a T>,
}

#[must_use]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guarded: Guarded<T>,
    lock: PhantomData<&'a mut T>,
}

#[must_use]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    guarded: Guarded<T>,
    lock: PhantomData<&'a mut T>,
}

#[must_use]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    guarded: Guarded<U>,
    lock: Arc<RwLock<T>>,
}

#[must_use]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    guarded: Guarded<T>,
    lock: Arc<RwLock<T>>,
}

#[must_use]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    guarded: Guarded<U>,
    lock: Arc<RwLock<T>>,
}

guard!(ref ['a, T: ?Sized] RwLockReadGuard<'a, T>, T; Send: T: Sync; Sync: T);
guard!(mut ['a, T: ?Sized] RwLockWriteGuard<'a, T>, T; Send: T: Send, T: Sync; Sync: T);
guard!(mut ['a, T: ?Sized] RwLockMappedWriteGuard<'a, T>, T; Send: T: Send, T: Sync; Sync: T);
guard!(ref [T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U>, U; Send: T: Send, T: Sync, U: Sync; Sync: T, U);
guard!(mut [T: ?Sized] OwnedRwLockWriteGuard<T>, T; Send: T: Send, T: Sync; Sync: T);
guard!(mut [T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U; Send: T: Send, T: Sync, U: Send, U: Sync; Sync: T, U);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    maps!(ref map, try_map<F, V>: T => RwLockReadGuard<'a, V>, |this| PhantomData, RwLockReadGuard);
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    maps!(ref map, try_map<F, V>: U => OwnedRwLockReadGuard<T, V>, |this| this.lock, OwnedRwLockReadGuard);

    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lock
    }
}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    maps!(mut map, try_map<F, V>: T => RwLockMappedWriteGuard<'a, V>, |this| PhantomData, RwLockMappedWriteGuard);
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    maps!(mut map, try_map<F, V>: U => OwnedRwLockMappedWriteGuard<T, V>, |this| this.lock, OwnedRwLockMappedWriteGuard);

    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lock
    }
}

/// Downgrades a write guard to a read guard, which admits other readers, and evaluates to `$lock`.
macro_rules! reading {
    ($this:ident, $lock:expr) => {{
        $this.guarded.held.keep_one(Location::caller());
        $lock
    }};
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    maps!(mut map, try_map<F, V>: T => RwLockMappedWriteGuard<'a, V>, |this| PhantomData, RwLockMappedWriteGuard);
    maps!(
        ref downgrade_map, try_downgrade_map<F, V>: T => RwLockReadGuard<'a, V>,
        |this| reading!(this, PhantomData), RwLockReadGuard
    );

    #[track_caller]
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        RwLockWriteGuard::downgrade_map(self, |value| value)
    }

    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockWriteGuard::map(this, |value| value)
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    maps!(mut map, try_map<F, V>: T => OwnedRwLockMappedWriteGuard<T, V>, |this| this.lock, OwnedRwLockMappedWriteGuard);
    maps!(
        ref downgrade_map, try_downgrade_map<F, V>: T => OwnedRwLockReadGuard<T, V>,
        |this| reading!(this, this.lock), OwnedRwLockReadGuard
    );

    #[track_caller]
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        OwnedRwLockWriteGuard::downgrade_map(self, |value| value)
    }

    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockWriteGuard::map(this, |value| value)
    }

    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lock
    }
}

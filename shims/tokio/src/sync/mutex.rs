//! `Mutex` and its guards.

use super::guard::{Guarded, Held};
use crate::task::blocking::check_blocking;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_runtime::Point;
use whippet_runtime::{Acquiring, Place, SemaphoreCore};

/// Shim of `tokio::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    core: OnceLock<Arc<SemaphoreCore>>,
    value: UnsafeCell<T>,
}

// SAFETY: as tokio's: the lock gives out the value to one holder at a time.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

#[derive(Debug)]
pub struct TryLockError(pub(crate) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}
impl std::error::Error for TryLockError {}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T> Mutex<T> {
    pub fn new(value: T) -> Mutex<T> {
        let mutex = Mutex::const_new(value);
        mutex.core().object();
        mutex
    }

    pub const fn const_new(value: T) -> Mutex<T> {
        Mutex { core: OnceLock::new(), value: UnsafeCell::new(value) }
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn core(&self) -> &Arc<SemaphoreCore> {
        self.core.get_or_init(|| Arc::new(SemaphoreCore::new("mutex", 1)))
    }

    /// Returns the guard data. The caller must have acquired the lock.
    fn guarded(&self) -> Guarded<T> {
        Guarded { value: self.value.get(), held: Held::new(self.core(), 1) }
    }

    fn asking(&self, place: Place) -> Acquiring {
        Acquiring::new(self.core().clone(), 1, Point::AsksToLock, place)
    }

    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> + use<'_, T> {
        let mut wait = self.asking(Location::caller());
        async move {
            let _ = poll_fn(move |cx| wait.poll(cx)).await;
            MutexGuard { guarded: self.guarded(), lock: self }
        }
    }

    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        check_blocking();
        let _ = self.asking(Location::caller()).here();
        MutexGuard { guarded: self.guarded(), lock: self }
    }

    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let mut wait = self.asking(Location::caller());
        async move {
            let _ = poll_fn(move |cx| wait.poll(cx)).await;
            OwnedMutexGuard { guarded: self.guarded(), lock: self }
        }
    }

    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        check_blocking();
        let _ = self.asking(Location::caller()).here();
        OwnedMutexGuard { guarded: self.guarded(), lock: self }
    }

    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        match self.core().try_acquire(1, Point::TriesToLock, Location::caller()) {
            Some(true) => Ok(MutexGuard { guarded: self.guarded(), lock: self }),
            _ => Err(TryLockError(())),
        }
    }

    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        match self.core().try_acquire(1, Point::TriesToLock, Location::caller()) {
            Some(true) => Ok(OwnedMutexGuard { guarded: self.guarded(), lock: self }),
            _ => Err(TryLockError(())),
        }
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

#[must_use]
pub struct MutexGuard<'a, T: ?Sized> {
    guarded: Guarded<T>,
    lock: &'a Mutex<T>,
}

#[must_use]
pub struct OwnedMutexGuard<T: ?Sized> {
    guarded: Guarded<T>,
    lock: Arc<Mutex<T>>,
}

#[must_use]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    guarded: Guarded<T>,
    lock: PhantomData<&'a mut T>,
}

#[must_use]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    guarded: Guarded<U>,
    lock: Arc<Mutex<T>>,
}

guard!(mut ['a, T: ?Sized] MutexGuard<'a, T>, T; Send: T: Send; Sync: T);
guard!(mut [T: ?Sized] OwnedMutexGuard<T>, T; Send: T: Send; Sync: T);
guard!(mut ['a, T: ?Sized] MappedMutexGuard<'a, T>, T; Send: T: Send; Sync: T);
guard!(mut [T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U; Send: T: Send, U: Send; Sync: T, U);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }

    maps!(mut map, try_map<V, F>: T => MappedMutexGuard<'a, V>, |this| PhantomData, MappedMutexGuard);
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }

    maps!(mut map, try_map<V, F>: T => OwnedMappedMutexGuard<T, V>, |this| this.lock, OwnedMappedMutexGuard);
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    maps!(mut map, try_map<V, F>: T => MappedMutexGuard<'a, V>, |this| PhantomData, MappedMutexGuard);
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    maps!(mut map, try_map<V, F>: U => OwnedMappedMutexGuard<T, V>, |this| this.lock, OwnedMappedMutexGuard);
}

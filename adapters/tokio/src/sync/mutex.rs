//! `Mutex` and its guards.

use std::cell::UnsafeCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_tasks::{Acquiring, Gate, Place};

/// Stand-in for `tokio::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    core: OnceLock<Arc<Gate>>,
    value: UnsafeCell<T>,
}

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
    fn core(&self) -> &Arc<Gate> {
        self.core.get_or_init(|| Arc::new(Gate::new("mutex", 1)))
    }

    fn asking(&self, place: Place) -> Acquiring {
        Acquiring::new(self.core().clone(), 1, "asks for", place)
    }

    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> + use<'_, T> {
        let mut wait = self.asking(Location::caller());
        async move {
            let _ = poll_fn(move |cx| wait.poll(cx)).await;
            MutexGuard { lock: self }
        }
    }

    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        let _ = self.asking(Location::caller()).here();
        MutexGuard { lock: self }
    }

    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let mut wait = self.asking(Location::caller());
        async move {
            let _ = poll_fn(move |cx| wait.poll(cx)).await;
            OwnedMutexGuard { lock: self }
        }
    }

    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        let _ = self.asking(Location::caller()).here();
        OwnedMutexGuard { lock: self }
    }

    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        match self.core().try_acquire(1, "tries to lock", Location::caller()) {
            Some(true) => Ok(MutexGuard { lock: self }),
            _ => Err(TryLockError(())),
        }
    }

    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        match self.core().try_acquire(1, "tries to lock", Location::caller()) {
            Some(true) => Ok(OwnedMutexGuard { lock: self }),
            _ => Err(TryLockError(())),
        }
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

#[must_use]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
}

#[must_use]
pub struct OwnedMutexGuard<T: ?Sized> {
    lock: Arc<Mutex<T>>,
}

unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}
unsafe impl<T: ?Sized + Sync> Sync for OwnedMutexGuard<T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }

    pub fn map<U: ?Sized>(this: Self, f: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U> {
        let value = std::ptr::from_mut(f(unsafe { &mut *this.lock.value.get() }));
        this.narrowed(value)
    }

    pub fn try_map<U: ?Sized>(
        this: Self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        match f(unsafe { &mut *this.lock.value.get() }).map(std::ptr::from_mut) {
            Some(value) => Ok(this.narrowed(value)),
            None => Err(this),
        }
    }

    /// The lock stays held, for a part of its value.
    fn narrowed<U: ?Sized>(self, value: *mut U) -> MappedMutexGuard<'a, U> {
        let core = self.lock.core().clone();
        std::mem::forget(self);
        MappedMutexGuard { core, value, marker: PhantomData }
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }
}

#[must_use]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    core: Arc<Gate>,
    value: *mut T,
    marker: PhantomData<&'a mut T>,
}

unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // The lock is held while the guard lives.
        unsafe { &*self.value }
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.value }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.core.release(1, "unlocks", Location::caller());
    }
}

macro_rules! guard {
    ($($name:tt)*) => {
        impl<T: ?Sized> Deref for $($name)* {
            type Target = T;
            fn deref(&self) -> &T {
                // The lock is held while the guard lives.
                unsafe { &*self.lock.value.get() }
            }
        }
        impl<T: ?Sized> DerefMut for $($name)* {
            fn deref_mut(&mut self) -> &mut T {
                unsafe { &mut *self.lock.value.get() }
            }
        }
        impl<T: ?Sized> Drop for $($name)* {
            #[track_caller]
            fn drop(&mut self) {
                self.lock.core().release(1, "unlocks", Location::caller());
            }
        }
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $($name)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }
        impl<T: ?Sized + fmt::Display> fmt::Display for $($name)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&**self, f)
            }
        }
    };
}
guard!(MutexGuard<'_, T>);
guard!(OwnedMutexGuard<T>);

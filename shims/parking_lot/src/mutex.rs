//! `RawMutex`: the mutex of `whippet-std`, and the place where its guard is kept while it is locked.

use lock_api::{GuardSend, RawMutexFair, RawMutexTimed};
use std::cell::UnsafeCell;
use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use whippet_std::sync::{Mutex, MutexGuard};

/// A mutex without a value.
pub struct RawMutex {
    mutex: Mutex<()>,
    /// The guard of the holder; `None` if the mutex is free.
    guard: UnsafeCell<Option<MutexGuard<'static, ()>>>,
}

// SAFETY: the guard is only accessed by the holder of the mutex.
unsafe impl Send for RawMutex {}
// SAFETY: as above.
unsafe impl Sync for RawMutex {}

impl RawMutex {
    #[expect(clippy::declare_interior_mutable_const, reason = "lock_api wants a constant")]
    const FREE: RawMutex = RawMutex { mutex: Mutex::new(()), guard: UnsafeCell::new(None) };

    /// Keeps the guard of this mutex, which its holder has just locked.
    fn keep(&self, guard: MutexGuard<'_, ()>) {
        // SAFETY: the guard is dropped before the mutex: a locked mutex is borrowed, or forgotten with its holder.
        let guard = unsafe { std::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
        // SAFETY: the caller holds the mutex.
        unsafe { *self.guard.get() = Some(guard) };
    }

    /// Takes the guard. It is missing if a wait for a condition variable has unwound because the execution is over.
    ///
    /// # Safety
    /// The caller must hold the mutex.
    pub(crate) unsafe fn take(&self) -> Option<MutexGuard<'static, ()>> {
        // SAFETY: required of the caller.
        unsafe { (*self.guard.get()).take() }
    }

    pub(crate) fn put_back(&self, guard: MutexGuard<'static, ()>) {
        self.keep(guard);
    }
}

// SAFETY: the mutex of `whippet-std` excludes.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: RawMutex = RawMutex::FREE;

    type GuardMarker = GuardSend;

    #[track_caller]
    fn lock(&self) {
        self.keep(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        let guard = match self.mutex.try_lock() {
            Ok(guard) => guard,
            Err(std::sync::TryLockError::Poisoned(error)) => error.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return false,
        };
        self.keep(guard);
        true
    }

    #[track_caller]
    unsafe fn unlock(&self) {
        // SAFETY: required of the caller.
        drop(unsafe { self.take() });
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        match self.mutex.try_lock() {
            Ok(_) | Err(std::sync::TryLockError::Poisoned(_)) => false,
            Err(std::sync::TryLockError::WouldBlock) => true,
        }
    }
}

// SAFETY: as above.
unsafe impl RawMutexFair for RawMutex {
    #[track_caller]
    unsafe fn unlock_fair(&self) {
        // SAFETY: required of the caller.
        unsafe { lock_api::RawMutex::unlock(self) };
    }
}

// SAFETY: as above.
unsafe impl RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    /// Takes the lock if it is free. Otherwise the timeout may end at once: the runtime may have stalled.
    #[track_caller]
    fn try_lock_for(&self, _: Duration) -> bool {
        lock_api::RawMutex::try_lock(self)
    }

    #[track_caller]
    fn try_lock_until(&self, _: Instant) -> bool {
        lock_api::RawMutex::try_lock(self)
    }
}

/// A fair mutex without a value: the search explores all orders, so it is the same.
pub struct RawFairMutex(RawMutex);

// SAFETY: as above.
unsafe impl lock_api::RawMutex for RawFairMutex {
    const INIT: RawFairMutex = RawFairMutex(RawMutex::FREE);

    type GuardMarker = GuardSend;

    #[track_caller]
    fn lock(&self) {
        self.0.lock();
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[track_caller]
    unsafe fn unlock(&self) {
        // SAFETY: required of the caller.
        unsafe { self.0.unlock() };
    }
}

/// Names the holder of a reentrant mutex: the running task, or the thread outside of explorations.
pub struct RawThreadId;

// SAFETY: a task has one name, and threads have distinct addresses of their variable.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: RawThreadId = RawThreadId;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        thread_local! { static HERE: u8 = const { 0 }; }
        let thread = || HERE.with(|here| std::ptr::from_ref(here).addr());
        let number = whippet_runtime::task_name().map_or_else(thread, |name| name.0 as usize | 1);
        NonZeroUsize::new(number).expect("addresses are not null")
    }
}

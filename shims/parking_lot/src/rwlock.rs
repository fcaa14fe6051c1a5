//! `RawRwLock`: the lock of `whippet-std`, and the place where its guards are kept while it is locked.

use lock_api::{
    GuardSend, RawRwLockDowngrade, RawRwLockFair, RawRwLockRecursive, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade,
};
use std::cell::UnsafeCell;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use whippet_std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A lock for readers and writers without a value.
pub struct RawRwLock {
    lock: RwLock<()>,
    /// The guards of the readers. They are all alike, so it does not matter which one a reader drops.
    readers: Mutex<Vec<RwLockReadGuard<'static, ()>>>,
    /// The guard of the writer, which alone accesses it.
    writer: UnsafeCell<Option<RwLockWriteGuard<'static, ()>>>,
}

// SAFETY: `readers` is behind a mutex, `writer` is only accessed by the writer.
unsafe impl Send for RawRwLock {}
// SAFETY: as above.
unsafe impl Sync for RawRwLock {}

impl RawRwLock {
    fn keep_reader(&self, guard: RwLockReadGuard<'_, ()>) {
        // SAFETY: the guard is dropped before the lock: a lock that is held is borrowed, or forgotten with its holder.
        let guard = unsafe { std::mem::transmute::<RwLockReadGuard<'_, ()>, RwLockReadGuard<'static, ()>>(guard) };
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(guard);
    }

    fn keep_writer(&self, guard: RwLockWriteGuard<'_, ()>) {
        // SAFETY: as above.
        let guard = unsafe { std::mem::transmute::<RwLockWriteGuard<'_, ()>, RwLockWriteGuard<'static, ()>>(guard) };
        // SAFETY: the caller is the writer.
        unsafe { *self.writer.get() = Some(guard) };
    }
}

/// Returns the guard of an attempt, poisoned or not.
fn tried<G>(result: Result<G, TryLockError<G>>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

// SAFETY: the lock of `whippet-std` excludes.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: RawRwLock =
        RawRwLock { lock: RwLock::new(()), readers: Mutex::new(Vec::new()), writer: UnsafeCell::new(None) };

    type GuardMarker = GuardSend;

    #[track_caller]
    fn lock_shared(&self) {
        self.keep_reader(self.lock.read().unwrap_or_else(PoisonError::into_inner));
    }

    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        tried(self.lock.try_read()).map(|guard| self.keep_reader(guard)).is_some()
    }

    #[track_caller]
    unsafe fn unlock_shared(&self) {
        let guard = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        drop(guard.expect("a reader has a guard"));
    }

    #[track_caller]
    fn lock_exclusive(&self) {
        self.keep_writer(self.lock.write().unwrap_or_else(PoisonError::into_inner));
    }

    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        tried(self.lock.try_write()).map(|guard| self.keep_writer(guard)).is_some()
    }

    #[track_caller]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: required of the caller.
        let guard = unsafe { (*self.writer.get()).take() };
        drop(guard.expect("a writer has a guard"));
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        tried(self.lock.try_write()).is_none()
    }

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        tried(self.lock.try_read()).is_none()
    }
}

// SAFETY: as above.
unsafe impl RawRwLockFair for RawRwLock {
    #[track_caller]
    unsafe fn unlock_shared_fair(&self) {
        // SAFETY: required of the caller.
        unsafe { lock_api::RawRwLock::unlock_shared(self) };
    }

    #[track_caller]
    unsafe fn unlock_exclusive_fair(&self) {
        // SAFETY: required of the caller.
        unsafe { lock_api::RawRwLock::unlock_exclusive(self) };
    }
}

// SAFETY: as above.
unsafe impl RawRwLockDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade(&self) {
        // SAFETY: required of the caller.
        let guard = unsafe { (*self.writer.get()).take() };
        self.keep_reader(RwLockWriteGuard::downgrade(guard.expect("a writer has a guard")));
    }
}

// SAFETY: a second read of a task is granted as long as no writer holds the lock.
unsafe impl RawRwLockRecursive for RawRwLock {
    #[track_caller]
    fn lock_shared_recursive(&self) {
        lock_api::RawRwLock::lock_shared(self);
    }

    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        lock_api::RawRwLock::try_lock_shared(self)
    }
}

// SAFETY: as above.
unsafe impl RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, _: Duration) -> bool {
        lock_api::RawRwLock::try_lock_shared(self)
    }

    #[track_caller]
    fn try_lock_shared_until(&self, _: Instant) -> bool {
        lock_api::RawRwLock::try_lock_shared(self)
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, _: Duration) -> bool {
        lock_api::RawRwLock::try_lock_exclusive(self)
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, _: Instant) -> bool {
        lock_api::RawRwLock::try_lock_exclusive(self)
    }
}

// SAFETY: an upgradable read is a write here, which excludes more than it must.
unsafe impl RawRwLockUpgrade for RawRwLock {
    #[track_caller]
    fn lock_upgradable(&self) {
        lock_api::RawRwLock::lock_exclusive(self);
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        lock_api::RawRwLock::try_lock_exclusive(self)
    }

    #[track_caller]
    unsafe fn unlock_upgradable(&self) {
        // SAFETY: required of the caller.
        unsafe { lock_api::RawRwLock::unlock_exclusive(self) };
    }

    unsafe fn upgrade(&self) {}

    unsafe fn try_upgrade(&self) -> bool {
        true
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgradeDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade_upgradable(&self) {
        // SAFETY: required of the caller.
        unsafe { RawRwLockDowngrade::downgrade(self) };
    }

    unsafe fn downgrade_to_upgradable(&self) {}
}

//! Whippet's shim of parking_lot 0.12.
//!
//! This crate has the names of parking_lot's API; `cargo whippet test` substitutes it for parking_lot in the whole
//! dependency graph. Its locks are those of [`lock_api`], as in the real crate, on top of the locks of `whippet-std`:
//! while a program is explored, each operation is an event, and a task that has to wait for a lock is suspended. Outside
//! of explorations they are ordinary locks.
//!
//! Differences: a lock for an upgradable read excludes readers, as a write does. There is no eventual fairness; the
//! search explores all orders. Timeouts are in virtual time.
//!
//! ```
//! use parking_lot::{Condvar, Mutex, Once, RwLock};
//! let (count, shared) = (Mutex::new(1), RwLock::new(2));
//! *count.lock() += *shared.read();
//! assert_eq!(*count.lock(), 3);
//! assert!(shared.try_write().is_some());
//! let once = Once::new();
//! once.call_once(|| *count.lock() = 0);
//! once.call_once(|| unreachable!("it was called"));
//! assert!(!Condvar::new().notify_one());
//! ```

mod condvar;
mod mutex;
mod once;
mod rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use lock_api;
pub use mutex::{RawFairMutex, RawMutex, RawThreadId};
pub use once::{Once, OnceState};
pub use rwlock::RawRwLock;

/// A lock for one holder at a time.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// The guard of a [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// The guard of a part of the value of a [`Mutex`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;
/// A lock for one holder at a time.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// The guard of a [`FairMutex`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// The guard of a part of the value of a [`FairMutex`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;
/// A lock that its holder can take again.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of a [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of a part of the value of a [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// A lock for several readers or one writer.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// The guard of a reader.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// The guard of a writer.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// The guard of a reader that can become a writer.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// The guard of a reader of a part of the value.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// The guard of a writer of a part of the value.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

#[cfg(feature = "arc_lock")]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
};

/// Creates a mutex in a constant.
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, value)
}

/// Creates a fair mutex in a constant.
pub const fn const_fair_mutex<T>(value: T) -> FairMutex<T> {
    FairMutex::from_raw(<RawFairMutex as lock_api::RawMutex>::INIT, value)
}

/// Creates a lock for readers and writers in a constant.
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::from_raw(<RawRwLock as lock_api::RawRwLock>::INIT, value)
}

/// Creates a reentrant mutex in a constant.
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, RawThreadId, value)
}

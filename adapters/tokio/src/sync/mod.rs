//! Channels, locks and signals between tasks.

mod barrier;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod semaphore;
mod set_once;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notify, OwnedNotified};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use set_once::{SetOnce, SetOnceError};

pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}

//! Read–write locks, implemented as actors that grant requests of many readers or one writer.
//!
//! A lock without a writer accepts `Read`; a lock without any holder accepts `Write`; `Free` is accepted from any
//! holder. All other requests stay pending, in no particular order: readers may starve a writer.
//!
//! Two readers that hold the lock at the same time are not ordered by happens-before, so a write by one of them to a
//! variable that the other accesses is a data race.

use crate::address::{Recipient, Reply};
use crate::cx::ActorContext;
use crate::engine::Engine;
use crate::lock::{HeldResource, Owner};
use crate::service::{Service, grant};
use std::panic::Location;
use whippet_model::Name;

/// A lock that many actors may hold for reading, or one for writing.
///
/// It is not re-entrant: a writer that locks it again deadlocks, and so does a reader that requests it for writing.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let (lock, total) = (system.new_rwlock(), system.new_shared(0));
/// system.spawn_fn(async move |inbox: &mut Inbox<i32>| {
///     let n = inbox.receive().await;
///     let guard = inbox.read_lock(lock).await;
///     let before = inbox.read(total);
///     drop(guard);
///     if before < n {
///         let _guard = inbox.write_lock(lock).await;
///         inbox.write(total, n);
///     }
/// });
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RwLock(Recipient<RwMsg>);

/// A guard of a lock held for reading. Dropping it releases the lock.
///
/// ```
/// use whippet::{ReadGuard, prelude::*};
/// // Two readers that each wait until the other one reads: they hold the lock at the same time.
/// whippet::check(|sys| {
///     let (lock, here) = (sys.new_rwlock(), sys.new_semaphore(0));
///     for _ in 0..2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///             let _guard: ReadGuard = inbox.read_lock(lock).await;
///             inbox.add_permit(here);
///             inbox.add_permit(here);
///             inbox.acquire(here).await.forget();
///             inbox.acquire(here).await.forget();
///         });
///     }
/// });
/// ```
#[must_use = "the lock is released as soon as its guard is dropped"]
pub struct ReadGuard {
    _held: HeldResource<RwMsg>,
}

/// A guard of a lock held for writing. Dropping it releases the lock.
///
/// ```
/// use whippet::{WriteGuard, prelude::*};
/// whippet::check(|sys| {
///     let (lock, total) = (sys.new_rwlock(), sys.new_shared(0));
///     for n in 1..=2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///             let _guard: WriteGuard = inbox.write_lock(lock).await;
///             let sum = inbox.read(total) + n;
///             inbox.write(total, sum);
///         });
///     }
/// });
/// ```
#[must_use = "the lock is released as soon as its guard is dropped"]
pub struct WriteGuard {
    _held: HeldResource<RwMsg>,
}

whippet_model::opaque_debug!(ReadGuard);
whippet_model::opaque_debug!(WriteGuard);

/// The messages that a read–write lock receives.
#[derive(Copy, Clone, Debug, Hash)]
pub(crate) enum RwMsg {
    /// The sender requests the lock for reading.
    Read(Reply<()>),
    /// The sender requests the lock for writing.
    Write(Reply<()>),
    /// The holder releases the lock.
    Free(Owner),
}

/// The actor that implements a read–write lock.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct RwLockActor {
    writer: Option<Owner>,
    /// The readers, one entry per guard, sorted by name so that the order of arrival does not affect the state.
    readers: Vec<Owner>,
}

impl RwLockActor {
    /// Returns the names of the actors that hold the lock.
    pub(crate) fn holders(&self) -> Vec<Name> {
        self.writer.iter().chain(&self.readers).map(|owner| owner.name()).collect()
    }
}

impl Service for RwLockActor {
    type Msg = RwMsg;

    fn take(&mut self, msg: RwMsg, engine: &mut Engine) {
        match msg {
            RwMsg::Read(reply) => {
                Owner::of(reply).join(&mut self.readers);
                grant(engine, reply);
            }
            RwMsg::Write(reply) => {
                self.writer = Some(Owner::of(reply));
                grant(engine, reply);
            }
            RwMsg::Free(by) if self.writer == Some(by) => self.writer = None,
            RwMsg::Free(by) => by.leave(&mut self.readers),
        }
    }

    fn accepts(&self, msg: &RwMsg) -> bool {
        match msg {
            RwMsg::Read(_) => self.writer.is_none(),
            RwMsg::Write(_) => self.writer.is_none() && self.readers.is_empty(),
            RwMsg::Free(by) => self.writer == Some(*by) || self.readers.contains(by),
        }
    }
}

impl ActorContext {
    pub(crate) fn new_rwlock(&self) -> RwLock {
        RwLock(self.spawn_service("rwlock", RwLockActor::default()))
    }

    pub(crate) async fn read_lock(&self, lock: RwLock, site: &'static Location<'static>) -> ReadGuard {
        self.call(lock.0, RwMsg::Read, site).await;
        ReadGuard { _held: HeldResource::new(self, lock.0, RwMsg::Free, site) }
    }

    pub(crate) async fn write_lock(&self, lock: RwLock, site: &'static Location<'static>) -> WriteGuard {
        self.call(lock.0, RwMsg::Write, site).await;
        WriteGuard { _held: HeldResource::new(self, lock.0, RwMsg::Free, site) }
    }
}

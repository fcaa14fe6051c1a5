//! Read–write locks: actors that answer many readers, or one writer.
//!
//! A lock that nobody writes under takes `Read`; one that nobody holds at all takes `Write`; `Free` it takes from those
//! who hold it. All other requests stay pending, in no order: a writer may wait as long as there are readers.
//!
//! Readers are told apart in no clock: two of them that hold the lock together are not ordered, so that a write under a
//! lock taken for reading is a data race.

use crate::address::{Recipient, Reply};
use crate::cx::Hands;
use crate::engine::Engine;
use crate::lock::{Held, Owner};
use crate::service::{Service, grant};
use std::panic::Location;
use whippet_model::Name;

/// A lock that many may hold for reading, or one for writing.
///
/// It is not re-entrant: whoever writes under it and locks it again waits for ever, and so does a reader who wants to
/// write.
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

/// A lock that is held for reading. Dropping it lets go.
///
/// ```
/// use whippet::{ReadGuard, prelude::*};
/// // Two readers that both wait for the other one to read: they hold the lock together.
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
#[must_use = "a lock is let go as soon as its guard is dropped"]
pub struct ReadGuard {
    _held: Held<RwMsg>,
}

/// A lock that is held for writing. Dropping it lets go.
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
#[must_use = "a lock is let go as soon as its guard is dropped"]
pub struct WriteGuard {
    _held: Held<RwMsg>,
}

/// What a read–write lock understands.
#[derive(Copy, Clone, Debug, Hash)]
pub(crate) enum RwMsg {
    /// Somebody wants to read.
    Read(Reply<()>),
    /// Somebody wants to write.
    Write(Reply<()>),
    /// Somebody lets go.
    Free(Owner),
}

/// The actor that a read–write lock is.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct RwLockActor {
    writer: Option<Owner>,
    /// By name, one entry for each time: who came first makes no difference.
    readers: Vec<Owner>,
}

impl RwLockActor {
    /// The names of the actors that hold it.
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

impl Hands {
    pub(crate) fn new_rwlock(&self) -> RwLock {
        RwLock(self.spawn_service("rwlock", RwLockActor::default()))
    }

    pub(crate) async fn read_lock(&self, lock: RwLock, site: &'static Location<'static>) -> ReadGuard {
        self.call(lock.0, RwMsg::Read, site).await;
        ReadGuard { _held: Held::new(self, lock.0, RwMsg::Free, site) }
    }

    pub(crate) async fn write_lock(&self, lock: RwLock, site: &'static Location<'static>) -> WriteGuard {
        self.call(lock.0, RwMsg::Write, site).await;
        WriteGuard { _held: Held::new(self, lock.0, RwMsg::Free, site) }
    }
}

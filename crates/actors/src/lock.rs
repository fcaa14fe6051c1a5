//! Locks, implemented as actors that grant one request at a time.
//!
//! A free lock accepts `Lock` and answers it; a held lock accepts only its owner's `Free`. All other requests stay
//! pending in the mailbox, which serves as the queue of waiters. Dropping the guard sends `Free`.

use crate::Message;
use crate::address::{RawAddr, Recipient, Reply};
use crate::cx::ActorContext;
use crate::engine::Engine;
use crate::service::{Service, grant};
use std::fmt;
use std::panic::Location;
use whippet_model::Name;

/// A re-entrant lock, like Scala's `synchronized`: its owner can acquire it again at once, and it is free when the last
/// guard is dropped.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let lock = system.new_lock();
/// system.spawn_fn(async move |inbox: &mut Inbox<()>| {
///     let outer = inbox.lock(lock).await;
///     let inner = inbox.lock(lock).await;
///     drop((inner, outer));
/// });
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lock(Recipient<LockMsg>);

/// A plain mutex: an owner that locks it again deadlocks.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let mutex = system.new_mutex();
/// system.spawn_fn(async move |inbox: &mut Inbox<()>| {
///     let guard = inbox.lock(mutex).await;
///     drop(guard);
/// });
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mutex(Recipient<LockMsg>);

/// A lock that guards can be acquired for: a [`Lock`] or a [`Mutex`].
///
/// ```
/// use whippet::{Lockable, prelude::*};
/// async fn twice(inbox: &mut Inbox<()>, lock: impl Lockable) {
///     let _outer = inbox.lock(lock).await;
///     let _inner = inbox.lock(lock).await;
/// }
/// let lock = Checker::new("a lock can be had twice").try_check(|sys| {
///     let lock = sys.new_lock();
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| twice(inbox, lock).await);
/// });
/// let mutex = Checker::new("a mutex cannot").try_check(|sys| {
///     let mutex = sys.new_mutex();
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| twice(inbox, mutex).await);
/// });
/// assert!(lock.is_ok() && mutex.unwrap_err().to_string().starts_with("deadlock"));
/// ```
pub trait Lockable: Copy + 'static {
    #[doc(hidden)]
    fn parts(self) -> (Recipient<LockMsg>, bool);
}

impl Lockable for Lock {
    fn parts(self) -> (Recipient<LockMsg>, bool) {
        (self.0, true)
    }
}

impl Lockable for Mutex {
    fn parts(self) -> (Recipient<LockMsg>, bool) {
        (self.0, false)
    }
}

/// A guard of a held lock. Dropping it releases the lock.
///
/// ```
/// use whippet::{Guard, prelude::*};
/// whippet::check(|sys| {
///     let (mutex, total) = (sys.new_mutex(), sys.new_shared(0));
///     for n in 1..=2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///             let guard: Guard = inbox.lock(mutex).await;
///             let sum = inbox.read(total) + n;
///             inbox.write(total, sum); // no data race: the lock is still held
///             drop(guard);
///         });
///     }
/// });
/// ```
#[must_use = "the lock is released as soon as its guard is dropped"]
pub struct Guard {
    context: ActorContext,
    lock: RawAddr,
}

whippet_model::opaque_debug!(Guard);

/// The messages that a lock receives.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, Hash)]
pub enum LockMsg {
    /// The sender requests the lock.
    Lock(Reply<()>),
    /// The owner releases the lock.
    Free(Owner),
}

/// The actor that holds a lock.
#[doc(hidden)]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Recipient<()>);

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Owner {
    /// Returns the sender of a request.
    pub(crate) fn of(reply: Reply<()>) -> Owner {
        Owner(Recipient::new(reply.to))
    }

    pub(crate) fn name(self) -> Name {
        self.0.raw.name
    }

    /// Adds the owner to a sorted list.
    pub(crate) fn join(self, owners: &mut Vec<Owner>) {
        owners.insert(owners.partition_point(|other| *other < self), self);
    }

    /// Removes one entry of the owner from a sorted list.
    pub(crate) fn leave(self, owners: &mut Vec<Owner>) {
        if let Ok(place) = owners.binary_search(&self) {
            owners.remove(place);
        }
    }
}

/// The actor that implements a lock.
#[derive(Clone, Debug, Hash)]
pub(crate) struct LockActor {
    owner: Option<Owner>,
}

impl LockActor {
    /// Returns the name of the actor that holds the lock.
    pub(crate) fn owner(&self) -> Option<Name> {
        self.owner.map(Owner::name)
    }
}

impl Service for LockActor {
    type Msg = LockMsg;

    fn take(&mut self, msg: LockMsg, engine: &mut Engine) {
        match msg {
            LockMsg::Lock(reply) => {
                self.owner = Some(Owner::of(reply));
                grant(engine, reply);
            }
            LockMsg::Free(_) => self.owner = None,
        }
    }

    fn accepts(&self, msg: &LockMsg) -> bool {
        match (msg, self.owner) {
            (LockMsg::Lock(_), owner) => owner.is_none(),
            (LockMsg::Free(by), owner) => owner == Some(*by),
        }
    }
}

/// The locks held by running and suspended code.
#[derive(Default)]
pub(crate) struct HeldLocks {
    /// The actor, the lock, and the number of guards.
    held: Vec<(u32, Name, u32)>,
}

impl HeldLocks {
    /// Returns how many guards of a lock an actor holds.
    fn times(&self, actor: u32, lock: Name) -> u32 {
        let held = self.held.iter().find(|&&(by, held, _)| (by, held) == (actor, lock));
        held.map_or(0, |&(_, _, times)| times)
    }

    fn hold(&mut self, actor: u32, lock: Name) {
        match self.held.iter_mut().find(|(by, held, _)| (*by, *held) == (actor, lock)) {
            Some((_, _, times)) => *times += 1,
            None => self.held.push((actor, lock, 1)),
        }
    }

    /// Removes one guard of the actor. Returns `true` if it was the last one.
    fn let_go(&mut self, actor: u32, lock: Name) -> bool {
        let place = self.held.iter().position(|&(by, held, _)| (by, held) == (actor, lock));
        let place = place.expect("a guard exists as long as its lock is held");
        self.held[place].2 -= 1;
        let last = self.held[place].2 == 0;
        if last {
            self.held.swap_remove(place);
        }
        last
    }
}

impl ActorContext {
    pub(crate) fn new_lock(&self) -> Lock {
        Lock(self.spawn_service("lock", LockActor { owner: None }))
    }

    pub(crate) fn new_mutex(&self) -> Mutex {
        Mutex(self.spawn_service("mutex", LockActor { owner: None }))
    }

    pub(crate) async fn lock(&self, lock: impl Lockable, site: &'static Location<'static>) -> Guard {
        let (lock, re_entrant) = lock.parts();
        let held = re_entrant && self.engine.borrow().held.times(self.me.slot, lock.raw.name) > 0;
        if !held {
            self.call(lock, LockMsg::Lock, site).await;
        }
        self.engine.borrow_mut().held.hold(self.me.slot, lock.raw.name);
        Guard { context: self.clone(), lock: lock.raw }
    }
}

impl Guard {
    /// Returns how many guards of this lock the actor holds.
    pub(crate) fn times(&self) -> u32 {
        self.context.engine.borrow().held.times(self.context.me.slot, self.lock.name)
    }

    /// Returns the lock, to be acquired again after its guard was dropped. The actor does not hold it then, so a
    /// re-entrant lock can be treated as a mutex.
    pub(crate) fn lockable(&self) -> impl Lockable + use<> {
        Mutex(Recipient::new(self.lock))
    }
}

impl Drop for Guard {
    #[track_caller]
    fn drop(&mut self) {
        let me = self.context.me;
        let mut engine = self.context.engine.borrow_mut();
        if engine.held.let_go(me.slot, self.lock.name) {
            let free = LockMsg::Free(Owner(Recipient::new(me)));
            engine.send(self.lock, free, Location::caller());
        }
    }
}

/// A resource held by an actor, which is given back when this value is dropped.
pub(crate) struct HeldResource<M: Message> {
    context: ActorContext,
    from: Recipient<M>,
    /// Creates the message that gives the resource back, or `None` if it is kept.
    back: Option<fn(Owner) -> M>,
    site: &'static Location<'static>,
}

impl<M: Message> HeldResource<M> {
    pub(crate) fn new(
        context: &ActorContext,
        from: Recipient<M>,
        back: fn(Owner) -> M,
        site: &'static Location<'static>,
    ) -> HeldResource<M> {
        HeldResource { context: context.clone(), from, back: Some(back), site }
    }

    /// Keeps the resource: it is never given back.
    pub(crate) fn forget(mut self) {
        self.back = None;
    }
}

impl<M: Message> Drop for HeldResource<M> {
    fn drop(&mut self) {
        if let Some(back) = self.back {
            let owner = Owner(Recipient::new(self.context.me));
            self.context.engine.borrow_mut().send(self.from.raw, back(owner), self.site);
        }
    }
}

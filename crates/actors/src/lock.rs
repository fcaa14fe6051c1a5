//! Locks: actors that answer one request at a time.
//!
//! A lock that is free takes `Lock` and answers it; one that is held takes nothing but its owner's `Free`. All other
//! requests stay pending: that is the queue. Dropping the guard sends `Free`.

use crate::Message;
use crate::address::{Raw, Recipient, Reply};
use crate::cx::Hands;
use crate::engine::Engine;
use crate::service::{Service, grant};
use std::fmt;
use std::panic::Location;
use whippet_model::Name;

/// A re-entrant lock, as Scala's `synchronized`: whoever holds it gets it again at once, and it is free when the last
/// guard is gone.
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

/// A plain mutex: whoever holds it and locks it again waits for ever.
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

/// What can be locked: a [`Lock`] or a [`Mutex`].
///
/// ```
/// use whippet::{Lockable, prelude::*};
/// async fn twice(inbox: &mut Inbox<()>, lock: impl Lockable) {
///     let _outer = inbox.lock(lock).await;
///     let _inner = inbox.lock(lock).await;
/// }
/// let lock = Whippet::new("a lock can be had twice").try_check(|sys| {
///     let lock = sys.new_lock();
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| twice(inbox, lock).await);
/// });
/// let mutex = Whippet::new("a mutex cannot").try_check(|sys| {
///     let mutex = sys.new_mutex();
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| twice(inbox, mutex).await);
/// });
/// assert!(lock.is_ok() && mutex.unwrap_err().starts_with("deadlock"));
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

/// A lock that is held. Dropping it lets go.
///
/// ```
/// use whippet::{Guard, prelude::*};
/// whippet::check(|sys| {
///     let (mutex, total) = (sys.new_mutex(), sys.new_shared(0));
///     for n in 1..=2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///             let guard: Guard = inbox.lock(mutex).await;
///             let sum = inbox.read(total) + n;
///             inbox.write(total, sum); // no data race: the guard is still there
///             drop(guard);
///         });
///     }
/// });
/// ```
#[must_use = "a lock is let go as soon as its guard is dropped"]
pub struct Guard {
    hands: Hands,
    lock: Raw,
}

/// What a lock understands.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, Hash)]
pub enum LockMsg {
    /// Somebody wants it.
    Lock(Reply<()>),
    /// The owner lets go.
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
    /// Whoever asked.
    pub(crate) fn of(reply: Reply<()>) -> Owner {
        Owner(Recipient::new(reply.to))
    }

    pub(crate) fn name(self) -> Name {
        self.0.raw.name
    }

    /// Adds it to a list that is kept in order.
    pub(crate) fn join(self, owners: &mut Vec<Owner>) {
        owners.insert(owners.partition_point(|other| *other < self), self);
    }

    /// Takes it from such a list once.
    pub(crate) fn leave(self, owners: &mut Vec<Owner>) {
        if let Ok(place) = owners.binary_search(&self) {
            owners.remove(place);
        }
    }
}

/// The actor that a lock is.
#[derive(Clone, Debug, Hash)]
pub(crate) struct LockActor {
    owner: Option<Owner>,
}

impl LockActor {
    /// The name of the actor that holds it.
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

/// The locks that running and suspended code holds.
#[derive(Default)]
pub(crate) struct HeldLocks {
    /// Actor, lock, how often.
    held: Vec<(u32, Name, u32)>,
}

impl HeldLocks {
    /// How often an actor holds a lock.
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

    /// Whether this was the last time that the actor held the lock.
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

impl Hands {
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
        Guard { hands: self.clone(), lock: lock.raw }
    }
}

impl Guard {
    /// How often its actor holds the lock.
    pub(crate) fn times(&self) -> u32 {
        self.hands.engine.borrow().held.times(self.hands.me.slot, self.lock.name)
    }

    /// What it guards. Whoever has let go of it does not hold it, so that re-entrance makes no difference.
    pub(crate) fn lockable(&self) -> impl Lockable + use<> {
        Mutex(Recipient::new(self.lock))
    }
}

impl Drop for Guard {
    #[track_caller]
    fn drop(&mut self) {
        let me = self.hands.me;
        let mut engine = self.hands.engine.borrow_mut();
        if engine.held.let_go(me.slot, self.lock.name) {
            let free = LockMsg::Free(Owner(Recipient::new(me)));
            engine.send(self.lock, free, Location::caller());
        }
    }
}

/// Something of an actor's that is held: it is given back when this is dropped.
pub(crate) struct Held<M: Message> {
    hands: Hands,
    from: Recipient<M>,
    /// What gives it back; `None`: it is kept.
    back: Option<fn(Owner) -> M>,
    site: &'static Location<'static>,
}

impl<M: Message> Held<M> {
    pub(crate) fn new(
        hands: &Hands,
        from: Recipient<M>,
        back: fn(Owner) -> M,
        site: &'static Location<'static>,
    ) -> Held<M> {
        Held { hands: hands.clone(), from, back: Some(back), site }
    }

    /// Never gives it back.
    pub(crate) fn forget(mut self) {
        self.back = None;
    }
}

impl<M: Message> Drop for Held<M> {
    fn drop(&mut self) {
        if let Some(back) = self.back {
            let owner = Owner(Recipient::new(self.hands.me));
            self.hands.engine.borrow_mut().send(self.from.raw, back(owner), self.site);
        }
    }
}

//! Condition variables, implemented as actors that keep a list of waiters and a list of notified waiters.
//!
//! Waiting takes two calls. `Register` is answered at once, and the lock is released only after that answer, so that no
//! notification is lost in between. `Await` stays pending until the waiter has been notified; then the waiter acquires
//! the lock again. Notifying is a call as well: it takes effect before the notifier continues, and it reaches only
//! actors that are registered at that time.
//!
//! The translations of tasks and locks to actors are published; this one is specific to this library. It assumes that:
//!
//! * `notify_one` may wake any one of the waiters: every possibility is explored;
//! * there are no spurious wakeups. Errors that only spurious wakeups would reveal are not found, so always wait in a
//!   loop that tests the condition.

use crate::address::{Recipient, Reply};
use crate::cx::ActorContext;
use crate::engine::Engine;
use crate::lock::{Guard, Owner};
use crate::service::{Service, grant};
use std::panic::Location;

/// A condition variable, on which actors and tasks that hold a lock wait to be notified.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let (mutex, changed, full) = (system.new_mutex(), system.new_condvar(), system.new_shared(false));
/// system.spawn_fn(async move |inbox: &mut Inbox<()>| {
///     let mut guard = inbox.lock(mutex).await;
///     while !inbox.read(full) {
///         guard = inbox.wait_on(changed, guard).await;
///     }
/// });
/// system.spawn_fn(async move |inbox: &mut Inbox<()>| {
///     let _guard = inbox.lock(mutex).await;
///     inbox.write(full, true);
///     inbox.notify_one(changed).await;
/// });
/// ```
///
/// `notify_one` may wake any one of the waiters: every possibility is explored. There are no spurious wakeups.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Condvar(Recipient<CondvarMsg>);

/// The messages that a condition variable receives.
#[derive(Copy, Clone, Debug, Hash)]
enum CondvarMsg {
    /// The caller is about to wait and still holds the lock.
    Register(Reply<()>),
    /// The caller waits and has released the lock.
    Await(Reply<()>),
    /// Notifies one waiter.
    NotifyOne(Reply<()>),
    /// Notifies all waiters.
    NotifyAll(Reply<()>),
}

/// The actor that implements a condition variable. Both lists are sorted by name, so that the order of arrival does not
/// affect the state.
#[derive(Clone, Debug, Default, Hash)]
struct CondvarActor {
    waiting: Vec<Owner>,
    notified: Vec<Owner>,
}

impl CondvarActor {
    fn notify(&mut self, place: usize) {
        self.waiting.remove(place).join(&mut self.notified);
    }
}

impl Service for CondvarActor {
    type Msg = CondvarMsg;

    fn take(&mut self, msg: CondvarMsg, engine: &mut Engine) {
        let reply = match msg {
            CondvarMsg::Register(reply) => {
                Owner::of(reply).join(&mut self.waiting);
                reply
            }
            CondvarMsg::Await(reply) => {
                Owner::of(reply).leave(&mut self.notified);
                reply
            }
            CondvarMsg::NotifyOne(reply) => {
                match self.waiting.len() as u32 {
                    0 => {}
                    1 => self.notify(0),
                    n => {
                        let place = engine.current.choose(n) as usize;
                        self.notify(place);
                    }
                }
                reply
            }
            CondvarMsg::NotifyAll(reply) => {
                while !self.waiting.is_empty() {
                    self.notify(0);
                }
                reply
            }
        };
        grant(engine, reply);
    }

    fn accepts(&self, msg: &CondvarMsg) -> bool {
        match msg {
            CondvarMsg::Await(reply) => self.notified.contains(&Owner::of(*reply)),
            _ => true,
        }
    }
}

impl ActorContext {
    pub(crate) fn new_condvar(&self) -> Condvar {
        Condvar(self.spawn_service("condvar", CondvarActor::default()))
    }

    pub(crate) async fn wait_on(&self, condvar: Condvar, guard: Guard, site: &'static Location<'static>) -> Guard {
        let times = guard.times();
        assert!(times == 1, "`wait_on` releases a lock that is held once, but this one is held {times} times");
        let lock = guard.lockable();
        self.call(condvar.0, CondvarMsg::Register, site).await;
        drop(guard);
        self.call(condvar.0, CondvarMsg::Await, site).await;
        self.lock(lock, site).await
    }

    pub(crate) async fn notify_one(&self, condvar: Condvar, site: &'static Location<'static>) {
        self.call(condvar.0, CondvarMsg::NotifyOne, site).await;
    }

    pub(crate) async fn notify_all(&self, condvar: Condvar, site: &'static Location<'static>) {
        self.call(condvar.0, CondvarMsg::NotifyAll, site).await;
    }
}

//! Condition variables: actors that know who waits and who was notified.
//!
//! To wait is to call twice. `Register` is answered at once; only then is the lock let go, so that no notification is
//! lost between the two. `Await` stays pending until the one who waits was notified; then the lock is taken again. To
//! notify is a call as well: it has happened before whoever notifies goes on, and reaches those alone who wait by then.
//!
//! The translation of futures and locks to actors is published; this one is ours, and assumes:
//!
//! * `notify_one` may wake any one of those who wait: every one is explored;
//! * nobody wakes without a notification. A program that would be wrong if somebody did is not found wrong, so go on
//!   waiting in a loop that asks for the condition.

use crate::address::{Recipient, Reply};
use crate::cx::Hands;
use crate::engine::Engine;
use crate::lock::{Guard, Owner};
use crate::service::{Service, grant};
use std::panic::Location;

/// Where actors and futures that hold a lock wait until others notify them.
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
/// `notify_one` may wake any one of those who wait: every one is explored. Nobody wakes without a notification.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Condvar(Recipient<CondvarMsg>);

/// What a condition variable understands.
#[derive(Copy, Clone, Debug, Hash)]
enum CondvarMsg {
    /// Somebody is going to wait, and still holds the lock.
    Register(Reply<()>),
    /// Somebody waits, without the lock.
    Await(Reply<()>),
    /// One of those who wait may go on.
    NotifyOne(Reply<()>),
    /// All of them may.
    NotifyAll(Reply<()>),
}

/// The actor that a condition variable is. Both lists are by name: who came first makes no difference.
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
                        let place = engine.now.choose(n) as usize;
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

impl Hands {
    pub(crate) fn new_condvar(&self) -> Condvar {
        Condvar(self.spawn_service("condvar", CondvarActor::default()))
    }

    pub(crate) async fn wait_on(&self, condvar: Condvar, guard: Guard, site: &'static Location<'static>) -> Guard {
        let times = guard.times();
        assert!(times == 1, "to wait lets go of a lock that is held once; this one is held {times} times");
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

//! Semaphores, implemented as actors that grant as many requests as they have permits.
//!
//! A semaphore with a free permit accepts `Acquire` and answers it; one without accepts only `Release` and `Add`. Other
//! requests stay pending, in no particular order.

use crate::address::{Recipient, Reply};
use crate::cx::ActorContext;
use crate::engine::Engine;
use crate::lock::{HeldResource, Owner};
use crate::service::{Service, grant};
use std::panic::Location;
use whippet_model::Name;

/// A semaphore: a number of permits. Acquiring one waits until a permit is free.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// let tables = system.new_semaphore(2);
/// system.spawn_fn(async move |inbox: &mut Inbox<()>| {
///     let permit = inbox.acquire(tables).await;
///     drop(permit);
/// });
/// ```
///
/// A permit that is [forgotten](Permit::forget) is never given back, and [`add_permit`](crate::Cx::add_permit) creates
/// a new one. Together they can serve as a signal from one actor to another.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Semaphore(Recipient<SemaphoreMsg>);

/// A permit of a [`Semaphore`]. Dropping it gives it back.
///
/// ```
/// use whippet::{Permit, prelude::*};
/// whippet::check(|sys| {
///     let one_at_a_time = sys.new_semaphore(1);
///     let busy = sys.new_shared(false);
///     for _ in 0..2 {
///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///             let permit: Permit = inbox.acquire(one_at_a_time).await;
///             assert!(!inbox.read(busy));
///             inbox.write(busy, true);
///             inbox.write(busy, false);
///             drop(permit);
///         });
///     }
/// });
/// ```
#[must_use = "the permit is returned as soon as it is dropped"]
pub struct Permit {
    held: HeldResource<SemaphoreMsg>,
}

whippet_model::opaque_debug!(Permit);

impl Permit {
    /// Discards the permit without giving it back.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// // One actor signals; another one waits for the signal and consumes it.
    /// whippet::check(|sys| {
    ///     let ready = sys.new_semaphore(0);
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.add_permit(ready));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.acquire(ready).await.forget());
    /// });
    /// ```
    pub fn forget(self) {
        self.held.forget();
    }
}

/// The messages that a semaphore receives.
#[derive(Copy, Clone, Debug, Hash)]
pub(crate) enum SemaphoreMsg {
    /// The sender requests a permit.
    Acquire(Reply<()>),
    /// The holder gives a permit back.
    Release(Owner),
    /// Adds a new permit.
    Add,
}

/// The actor that implements a semaphore.
#[derive(Clone, Debug, Hash)]
pub(crate) struct SemaphoreActor {
    permits: u32,
    /// The holders, one entry per permit, sorted by name so that the order of arrival does not affect the state.
    holders: Vec<Owner>,
}

impl SemaphoreActor {
    /// Returns the names of the actors that hold permits.
    pub(crate) fn holders(&self) -> Vec<Name> {
        self.holders.iter().map(|owner| owner.name()).collect()
    }
}

impl Service for SemaphoreActor {
    type Msg = SemaphoreMsg;

    fn take(&mut self, msg: SemaphoreMsg, engine: &mut Engine) {
        match msg {
            SemaphoreMsg::Acquire(reply) => {
                self.permits -= 1;
                Owner::of(reply).join(&mut self.holders);
                grant(engine, reply);
            }
            SemaphoreMsg::Release(by) => {
                self.permits += 1;
                by.leave(&mut self.holders);
            }
            SemaphoreMsg::Add => self.permits += 1,
        }
    }

    fn accepts(&self, msg: &SemaphoreMsg) -> bool {
        match msg {
            SemaphoreMsg::Acquire(_) => self.permits > 0,
            SemaphoreMsg::Release(_) | SemaphoreMsg::Add => true,
        }
    }
}

impl ActorContext {
    pub(crate) fn new_semaphore(&self, permits: u32) -> Semaphore {
        Semaphore(self.spawn_service("semaphore", SemaphoreActor { permits, holders: Vec::new() }))
    }

    pub(crate) async fn acquire(&self, semaphore: Semaphore, site: &'static Location<'static>) -> Permit {
        self.call(semaphore.0, SemaphoreMsg::Acquire, site).await;
        Permit { held: HeldResource::new(self, semaphore.0, SemaphoreMsg::Release, site) }
    }

    #[track_caller]
    pub(crate) fn add_permit(&self, semaphore: Semaphore) {
        self.send(semaphore.0, SemaphoreMsg::Add);
    }
}

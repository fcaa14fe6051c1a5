//! Explicit receive: actors written as one `async` body.

use crate::Message;
use crate::address::Recipient;
use crate::current_step::{ActorWait, WaitKind};
use crate::cx::ActorContext;
use crate::messages::MessageContent;
use crate::ops::actor_ops;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A filter of messages, stored while its actor waits.
pub(crate) type Filter<M> = Rc<dyn Fn(&M) -> bool>;

/// The context of an actor with an `async` body. It can receive, and do everything a handler can.
///
/// To restore an earlier point, the body may be run again from its beginning, so it must behave the same whenever it
/// receives the same messages. The actor stops when the body ends.
///
/// ```
/// use whippet_actors::{Inbox, System, receive};
///
/// #[derive(Clone, Debug)]
/// enum Msg { Data(u32), Done }
///
/// let mut system = System::scratch();
/// let reader = system.spawn_fn(async |inbox: &mut Inbox<Msg>| {
///     // `Done` is only received after two pieces of data, even if it arrives first.
///     let first = receive!(inbox, Msg::Data(n) => n);
///     let second = receive!(inbox, Msg::Data(n) => n);
///     inbox.receive_if(|m| matches!(m, Msg::Done)).await;
///     assert!(first != second);
/// });
/// system.send(reader, Msg::Done);
/// ```
pub struct Inbox<M> {
    pub(crate) context: ActorContext,
    of: PhantomData<fn(M)>,
}

whippet_model::opaque_debug!(Inbox, [M] Inbox<M>);

impl<M: Message> Inbox<M> {
    pub(crate) fn new(context: ActorContext) -> Inbox<M> {
        Inbox { context, of: PhantomData }
    }

    /// Waits for any message.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let adder = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
    ///         let sum = inbox.receive().await + inbox.receive().await;
    ///         assert_eq!(sum, 3);
    ///     });
    ///     sys.send(adder, 1);
    ///     sys.send(adder, 2);
    /// });
    /// ```
    #[track_caller]
    pub fn receive(&mut self) -> Receive<'_, M> {
        Receive { context: &self.context, filter: None, site: Location::caller() }
    }

    /// Waits for a message that passes the filter; other messages stay pending.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
    ///         assert_eq!(inbox.receive_if(|n| n % 2 == 0).await, 2);
    ///         assert_eq!(inbox.receive().await, 1);
    ///     });
    ///     sys.send(picky, 1);
    ///     sys.send(picky, 2);
    /// });
    /// ```
    #[track_caller]
    pub fn receive_if(&mut self, filter: impl Fn(&M) -> bool + 'static) -> Receive<'_, M> {
        Receive { context: &self.context, filter: Some(Rc::new(filter)), site: Location::caller() }
    }

    /// Sets a timer: this actor will receive the message from itself, unless [`cancel_timers`](Inbox::cancel_timers) cancels it.
    /// See [`Cx::set_timer`](crate::Cx::set_timer) for when it fires.
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// let failure = Checker::new("time-out").try_check(|sys| {
    ///     let client = sys.spawn_fn(async |inbox: &mut Inbox<Option<u32>>| {
    ///         inbox.set_timer(Duration::from_secs(1), None);
    ///         assert!(inbox.receive().await.is_some(), "no answer in time");
    ///         inbox.cancel_timers(|message| message.is_none());
    ///     });
    ///     sys.send(client, Some(42));
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("1. actor receives None from its timer"), "{failure}");
    /// ```
    #[track_caller]
    pub fn set_timer(&mut self, after: Duration, message: M) {
        self.context.engine.borrow_mut().set_timer(after, message, Location::caller());
    }

    /// Cancels the timers of this actor that have not fired and whose message passes the filter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     sys.spawn_fn(async |inbox: &mut Inbox<u32>| {
    ///         (1..=3).for_each(|n| inbox.set_timer(Duration::from_secs(n.into()), n));
    ///         inbox.cancel_timers(|&n| n == 2);
    ///         assert_eq!([inbox.receive().await, inbox.receive().await], [1, 3]);
    ///     });
    /// });
    /// ```
    pub fn cancel_timers(&mut self, filter: impl Fn(&M) -> bool) {
        self.context.engine.borrow_mut().cancel_timers(filter);
    }

    /// Returns the actor's own address.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
    ///         inbox.send(inbox.this(), 1);
    ///         assert_eq!(inbox.receive().await, 1);
    ///     });
    /// });
    /// ```
    #[must_use]
    pub fn this(&self) -> Recipient<M> {
        Recipient::new(self.context.me)
    }

    actor_ops!();
}

/// A receive that has not been awaited yet.
///
/// ```
/// use whippet::{Receive, prelude::*};
/// whippet::check(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
///         let next: Receive<'_, u8> = inbox.receive();
///         assert_eq!(next.await, 1);
///     });
///     sys.send(reader, 1);
/// });
/// ```
#[must_use = "nothing is received unless it is awaited"]
pub struct Receive<'a, M> {
    context: &'a ActorContext,
    filter: Option<Filter<M>>,
    site: &'static Location<'static>,
}

impl<M> fmt::Debug for Receive<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receive").field("site", &self.site).finish_non_exhaustive()
    }
}

impl<M: Message> Future for Receive<'_, M> {
    type Output = M;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<M> {
        let this = &mut *self;
        let mut engine = this.context.engine.borrow_mut();
        let Some(what) = engine.receive() else {
            let filter = this.filter.clone().map(|filter| Rc::new(filter) as Rc<dyn Any>);
            engine.current.wait = Some(ActorWait { kind: WaitKind::Message(filter), site: this.site });
            return Poll::Pending;
        };
        let sent = engine.messages[what];
        let MessageContent::Message(place) = sent.content else { unreachable!("a receive does not accept replies") };
        Poll::Ready(engine.messages.message::<M>(sent.to, place).clone())
    }
}

/// Waits for a message that matches a pattern and evaluates to the expression of that pattern; other messages stay
/// pending.
///
/// `receive!(inbox, Msg::Ack(n) => n)` receives the next `Msg::Ack`. Several patterns are separated by commas, as in
/// `match`. Guards may only use variables that the pattern binds.
///
/// ```
/// use whippet_actors::{Inbox, receive};
/// #[derive(Clone, Debug)]
/// enum Msg { Ack(u32), Nack }
/// async fn body(inbox: &mut Inbox<Msg>) -> Option<u32> {
///     receive!(inbox, Msg::Ack(n) if n > 0 => Some(n), Msg::Nack => None)
/// }
/// ```
#[macro_export]
macro_rules! receive {
    ($inbox:expr, $($pattern:pat $(if $guard:expr)? => $value:expr),+ $(,)?) => {
        match $inbox
            .receive_if(|message| match ::core::clone::Clone::clone(message) {
                #[allow(unused_variables)]
                $($pattern $(if $guard)? => true,)+
                #[allow(unreachable_patterns)]
                _ => false,
            })
            .await
        {
            $($pattern $(if $guard)? => $value,)+
            #[allow(unreachable_patterns)]
            _ => unreachable!("the filter lets nothing else through"),
        }
    };
}

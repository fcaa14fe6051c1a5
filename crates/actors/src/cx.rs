//! The operations available to handlers.

use crate::address::{Addr, RawAddr, Recipient, Reply};
use crate::body::BodyCell;
use crate::cell::ActorCell;
use crate::current_step::{ActorWait, WaitKind};
use crate::describe::type_label;
use crate::engine::EngineRef;
use crate::handler::HandlerCell;
use crate::inbox::Inbox;
use crate::messages::MessageContent;
use crate::ops::actor_ops;
use crate::service::{Service, ServiceCell};
use crate::{Actor, Message};
use std::any::{Any, type_name};
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The context of the actor `A` while it handles a message.
///
/// ```
/// use whippet_actors::{Actor, Addr, Cx, Reply};
///
/// #[derive(Clone, Debug)]
/// enum ServerMsg { Get(Reply<i32>), Shutdown }
/// #[derive(Clone, Debug)]
/// struct Server { value: i32 }
/// impl Actor for Server {
///     type Msg = ServerMsg;
///     async fn handle(&mut self, msg: ServerMsg, cx: &mut Cx<Self>) {
///         match msg {
///             ServerMsg::Get(reply) => cx.reply(reply, self.value),
///             ServerMsg::Shutdown => cx.stop(),
///         }
///     }
/// }
///
/// #[derive(Clone, Debug)]
/// struct Client { server: Addr<Server> }
/// impl Actor for Client {
///     type Msg = ();
///     async fn handle(&mut self, _start: (), cx: &mut Cx<Self>) {
///         let value = cx.call(self.server, ServerMsg::Get).await;
///         if value > 0 {
///             cx.send(self.server, ServerMsg::Shutdown);
///         }
///     }
/// }
/// ```
pub struct Cx<A> {
    pub(crate) context: ActorContext,
    of: PhantomData<fn(A)>,
}

whippet_model::opaque_debug!(Cx, [A] Cx<A>);

/// The part of [`Cx`] and [`Inbox`] that does not depend on the actor's type.
#[derive(Clone)]
pub(crate) struct ActorContext {
    pub(crate) engine: EngineRef,
    pub(crate) me: RawAddr,
}

impl ActorContext {
    #[track_caller]
    pub(crate) fn send<M: Message>(&self, to: impl Into<Recipient<M>>, message: M) {
        let site = Location::caller();
        self.engine.borrow_mut().send(to.into().raw, message, site);
    }

    #[track_caller]
    pub(crate) fn reply<T: Message>(&self, to: Reply<T>, value: T) {
        let site = Location::caller();
        self.engine.borrow_mut().reply(to.call, to.to, value, site);
    }

    #[track_caller]
    pub(crate) fn spawn<A: Actor + Clone>(&self, kind: Option<&str>, actor: A) -> Addr<A> {
        let engine = self.engine.clone();
        let mut acting = self.engine.borrow_mut();
        let known = acting.actor_type::<A>();
        let kind = kind.map_or(known.kind, Rc::from);
        let cell = |raw| {
            Box::new(HandlerCell::new(actor, ActorContext { engine, me: raw }, known.speed)) as Box<dyn ActorCell>
        };
        Addr::new(acting.create::<A::Msg>(kind, cell))
    }

    #[track_caller]
    pub(crate) fn spawn_fn<M, F>(&self, kind: Option<&str>, body: F) -> Recipient<M>
    where
        M: Message,
        F: AsyncFn(&mut Inbox<M>) + Send + 'static,
    {
        let kind = kind.map_or_else(|| type_label(type_name::<F>()), str::to_owned);
        let engine = self.engine.clone();
        let raw = self
            .engine
            .borrow_mut()
            .create::<M>(kind.into(), |raw| Box::new(BodyCell::new(Rc::new(body), ActorContext { engine, me: raw })));
        Recipient::new(raw)
    }

    /// Creates an actor that implements a lock or another built-in object.
    pub(crate) fn spawn_service<S: Service>(&self, kind: &str, state: S) -> Recipient<S::Msg> {
        let mut engine = self.engine.borrow_mut();
        let cell =
            |raw: RawAddr| Box::new(ServiceCell::new(state, raw.slot, self.engine.clone())) as Box<dyn ActorCell>;
        let raw = engine.create::<S::Msg>(kind.into(), cell);
        engine.mark_service(raw);
        Recipient::new(raw)
    }

    /// Creates an actor that implements a task or another built-in object by an `async` body.
    #[track_caller]
    pub(crate) fn spawn_service_fn<M, F>(&self, kind: &str, body: F) -> Recipient<M>
    where
        M: Message,
        F: AsyncFn(&mut Inbox<M>) + Send + 'static,
    {
        let recipient = self.spawn_fn(Some(kind), body);
        self.engine.borrow_mut().mark_service(recipient.raw);
        recipient
    }

    pub(crate) fn call<M: Message, T: Message>(
        &self,
        to: impl Into<Recipient<M>>,
        request: impl FnOnce(Reply<T>) -> M,
        site: &'static Location<'static>,
    ) -> Call<'_, T> {
        let call = self.engine.borrow().current.coming_name();
        let message = request(Reply::new(call, self.me));
        self.engine.borrow_mut().send(to.into().raw, message, site);
        Call { context: self, call, site, of: PhantomData }
    }
}

impl<A: Actor> Cx<A> {
    pub(crate) fn new(context: ActorContext) -> Cx<A> {
        Cx { context, of: PhantomData }
    }

    /// Returns the actor's own address.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Countdown(u32);
    /// impl Actor for Countdown {
    ///     type Msg = ();
    ///     async fn handle(&mut self, _tick: (), cx: &mut Cx<Self>) {
    ///         self.0 -= 1;
    ///         if self.0 > 0 {
    ///             cx.send(cx.this(), ());
    ///         }
    ///     }
    /// }
    /// whippet::check(|sys| {
    ///     let countdown = sys.spawn(Countdown(3));
    ///     sys.send(countdown, ());
    ///     sys.at_end(countdown, |countdown| assert_eq!(countdown.0, 0));
    /// });
    /// ```
    #[must_use]
    pub fn this(&self) -> Addr<A> {
        Addr::new(self.context.me)
    }

    actor_ops!();

    /// Sets a timer: this actor will receive the message from itself, unless [`cancel_timers`](Cx::cancel_timers) cancels it.
    ///
    /// A timer may fire at any time after it was set, before or after any other message, because nobody knows how long
    /// messages take. Of two timers of one actor, the one that was set first also fires first, unless it was set for longer.
    /// An execution ends only when all timers have fired or were cancelled, so an actor that always sets a timer again runs
    /// forever: let it count. The network cannot lose timers. They are not available to actors with
    /// [tracked fields](Actor::FIELDS).
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Follower { candidate: bool }
    /// #[derive(Clone, Debug)]
    /// enum Msg { Start, Heartbeat, Election }
    /// impl Actor for Follower {
    ///     type Msg = Msg;
    ///     async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
    ///         match msg {
    ///             Msg::Start => cx.set_timer(Duration::from_millis(150), Msg::Election),
    ///             Msg::Heartbeat => cx.cancel_timers(|msg| matches!(msg, Msg::Election)),
    ///             Msg::Election => self.candidate = true,
    ///         }
    ///     }
    /// }
    /// let verdict = Checker::new("follower").explore(|sys| {
    ///     let follower = sys.spawn(Follower { candidate: false });
    ///     sys.send(follower, Msg::Start);
    ///     sys.finish_setup();
    ///     sys.send(follower, Msg::Heartbeat);
    ///     sys.outcome(follower, |follower| follower.candidate);
    /// }).unwrap();
    /// let candidate: Vec<_> = verdict.outcomes.iter().map(|outcome| outcome.message.as_str()).collect();
    /// assert_eq!(candidate, ["false", "true"], "the heartbeat comes before the timer fires, or after");
    /// ```
    #[track_caller]
    pub fn set_timer(&mut self, after: Duration, message: A::Msg) {
        let mut engine = self.context.engine.borrow_mut();
        if A::FIELDS {
            engine.current.misuse(|| "an actor with tracked fields cannot set timers: remove `FIELDS`".to_owned());
            return;
        }
        engine.set_timer(after, message, Location::caller());
    }

    /// Cancels the timers of this actor that have not fired and whose message passes the filter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Hasty;
    /// impl Actor for Hasty {
    ///     type Msg = u32;
    ///     async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
    ///         assert_eq!(n, 0, "all timers were cancelled");
    ///         (1..=3).for_each(|n| cx.set_timer(Duration::from_secs(1), n));
    ///         cx.cancel_timers(|_n| true);
    ///     }
    /// }
    /// whippet::check(|sys| {
    ///     let hasty = sys.spawn(Hasty);
    ///     sys.send(hasty, 0);
    /// });
    /// ```
    pub fn cancel_timers(&mut self, filter: impl Fn(&A::Msg) -> bool) {
        self.context.engine.borrow_mut().cancel_timers(filter);
    }

    /// Stops the actor at the end of this handler. Messages still pending for it are never delivered.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Once;
    /// impl Actor for Once {
    ///     type Msg = ();
    ///     async fn handle(&mut self, _msg: (), cx: &mut Cx<Self>) { cx.stop(); }
    /// }
    /// Checker::new("stops").environment(Environment::Closed).check(|sys| {
    ///     let once = sys.spawn(Once);
    ///     sys.send(once, ());
    /// });
    /// ```
    pub fn stop(&mut self) {
        self.context.engine.borrow_mut().current.stop = true;
    }
}

/// A call whose reply has not been awaited yet.
///
/// ```
/// use whippet::{Call, prelude::*};
/// #[derive(Clone, Debug)]
/// struct Get(Reply<u32>);
/// whippet::check(|sys| {
///     let server = sys.spawn_fn(async |inbox: &mut Inbox<Get>| {
///         let Get(reply) = inbox.receive().await;
///         inbox.reply(reply, 42);
///     });
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
///         let call: Call<'_, u32> = inbox.call(server, Get);
///         assert_eq!(call.await, 42);
///     });
/// });
/// ```
#[must_use = "the reply is received only if the call is awaited"]
pub struct Call<'a, T> {
    context: &'a ActorContext,
    call: whippet_model::Name,
    site: &'static Location<'static>,
    of: PhantomData<fn() -> T>,
}

whippet_model::opaque_debug!(Call, [T] Call<'_, T>);

impl<T: Clone + 'static> Future for Call<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let mut engine = self.context.engine.borrow_mut();
        let Some(what) = engine.receive() else {
            engine.current.wait = Some(ActorWait { kind: WaitKind::Reply(self.call), site: self.site });
            return Poll::Pending;
        };
        let MessageContent::Reply(place, _) = engine.messages[what].content else {
            unreachable!("a caller receives only the reply")
        };
        let value: &dyn Any = &**engine.messages.reply(place);
        Poll::Ready(value.downcast_ref::<T>().expect("a reply is typed by its handle").clone())
    }
}

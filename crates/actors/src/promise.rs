//! Tasks: code that runs concurrently with its creator, each as an actor with its own mailbox; a [`Promise`] is the handle
//! to its result.
//!
//! A task runs its body when it is created, keeps the result, and from then on answers every `Wait` with it. While the
//! body runs, a `Wait` stays pending. To wait for a promise, an actor sends `Wait` to its task and receives nothing but
//! the reply.

use crate::Message;
use crate::address::{RawAddr, Recipient, Reply};
use crate::cx::ActorContext;
use crate::inbox::Inbox;
use crate::ops::actor_ops;
use crate::panics::{CaughtPanic, catch};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A handle to the result of a body that runs concurrently.
///
/// ```
/// use whippet_actors::{Inbox, System};
/// let mut system = System::scratch();
/// system.spawn_fn(async |inbox: &mut Inbox<()>| {
///     let six = inbox.spawn_task(async |_task| 6);
///     let half = six.map(inbox, |n| n / 2);
///     let both = inbox.join_all(vec![six, half]).await;
///     assert_eq!(both, [6, 3]);
/// });
/// ```
pub struct Promise<T> {
    raw: RawAddr,
    of: PhantomData<fn() -> T>,
}

impl<T> Copy for Promise<T> {}
impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Recipient::<()>::new(self.raw).fmt(f)
    }
}

/// The failure of a task whose body panicked.
///
/// ```
/// use whippet::prelude::*;
/// let verdict = Checker::new("fails").explore(|sys| {
///     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
///         let broken = inbox.spawn_task(async |_task| -> u32 { panic!("no disk") });
///         let failure = inbox.try_wait(broken).await.unwrap_err();
///         assert_eq!(failure.message, "no disk");
///     });
/// }).unwrap();
/// assert!(verdict.findings.is_empty(), "somebody has seen the failure");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The message of the panic.
    pub message: String,
    /// The location of the panic, as `file:line`.
    pub place: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.place {
            Some(place) => write!(f, " at {place}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// The messages that a task receives.
#[derive(Clone, Debug)]
pub(crate) enum Msg<T> {
    /// The sender waits for the result.
    Wait(Reply<Result<T, Failure>>),
    /// The result of one of the promises of a `select`, sent to the selecting task.
    First(Result<T, Failure>),
}

/// The context of the body of a task.
///
/// ```
/// use whippet::prelude::*;
/// whippet::check(|sys| {
///     let square = sys.spawn_task(async |task: &mut Task| {
///         let six = task.spawn_task(async |_| 6);
///         let six = task.wait(six).await;
///         six * six
///     });
///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| assert_eq!(inbox.wait(square).await, 36));
/// });
/// ```
pub struct Task {
    context: ActorContext,
}

whippet_model::opaque_debug!(Task);

impl Task {
    actor_ops!();
}

/// A context that can combine promises: [`Cx`](crate::Cx), [`Inbox`], [`Task`], and [`System`](crate::System) in the
/// body of a test.
///
/// ```
/// use whippet::{ActorOps, prelude::*};
/// /// Works in handlers, bodies and tasks.
/// fn doubled(cx: &mut impl ActorOps, n: Promise<u32>) -> Promise<u32> {
///     n.map(cx, |n| 2 * n)
/// }
/// whippet::check(|sys| {
///     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
///         let three = inbox.spawn_task(async |_task| 3);
///         let six = doubled(inbox, three);
///         assert_eq!(inbox.wait(six).await, 6);
///     });
/// });
/// ```
pub trait ActorOps {
    #[doc(hidden)]
    fn context(&self) -> ContextRef<'_>;

    /// Called after an actor was created through this context.
    #[doc(hidden)]
    fn after_spawn(&mut self) {}
}

/// Creates something through the context of `cx`.
fn spawn_with<T>(cx: &mut impl ActorOps, how: impl FnOnce(&ActorContext) -> T) -> T {
    let made = how(cx.context().0);
    cx.after_spawn();
    made
}

/// Access to the private part of an actor's context.
#[doc(hidden)]
pub struct ContextRef<'a>(pub(crate) &'a ActorContext);

whippet_model::opaque_debug!(ContextRef, [] ContextRef<'_>);

impl ActorOps for Task {
    fn context(&self) -> ContextRef<'_> {
        ContextRef(&self.context)
    }
}

impl<M> ActorOps for Inbox<M> {
    fn context(&self) -> ContextRef<'_> {
        ContextRef(&self.context)
    }
}

impl<A> ActorOps for crate::Cx<A> {
    fn context(&self) -> ContextRef<'_> {
        ContextRef(&self.context)
    }
}

impl<T: Message> Promise<T> {
    /// Returns a promise of `g` applied to the result.
    pub fn map<U: Message>(self, cx: &mut impl ActorOps, g: impl Fn(T) -> U + Send + 'static) -> Promise<U> {
        spawn_with(cx, |context| context.spawn_task("map", async move |task: &mut Task| g(task.wait(self).await)))
    }

    /// Returns a promise of the result of the promise that `g` creates from this result.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # whippet::check(|sys| {
    /// #     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    /// let user = inbox.spawn_task(async |_task| 7);
    /// let name = user.flat_map(inbox, |id, task| task.spawn_task(async move |_| format!("user {id}")));
    /// assert_eq!(inbox.wait(name).await, "user 7");
    /// #     });
    /// # });
    /// ```
    pub fn flat_map<U: Message>(
        self,
        cx: &mut impl ActorOps,
        g: impl Fn(T, &mut Task) -> Promise<U> + Send + 'static,
    ) -> Promise<U> {
        let body = async move |task: &mut Task| {
            let value = task.wait(self).await;
            let next = g(value, task);
            task.wait(next).await
        };
        spawn_with(cx, |context| context.spawn_task("flat map", body))
    }

    /// Returns a promise of the same result, which completes after `callback` has run on it.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # whippet::check(|sys| {
    /// #     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    /// let answer = inbox.spawn_task(async |_task| 42);
    /// let same = answer.and_then(inbox, |n| assert!(n % 2 == 0));
    /// assert_eq!(inbox.wait(same).await, 42);
    /// #     });
    /// # });
    /// ```
    pub fn and_then(self, cx: &mut impl ActorOps, callback: impl Fn(&T) + Send + 'static) -> Promise<T> {
        let body = async move |task: &mut Task| {
            let value = task.wait(self).await;
            callback(&value);
            value
        };
        spawn_with(cx, |context| context.spawn_task("and then", body))
    }

    /// Runs `callback` on the result; the order relative to other callbacks is unspecified, and every order is
    /// explored.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let log = sys.spawn_fn(async |inbox: &mut Inbox<u32>| assert_eq!(inbox.receive().await, 42));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
    ///         let answer = inbox.spawn_task(async |_task| 42);
    ///         answer.on_complete(inbox, async move |task, result| task.send(log, result.unwrap()));
    ///     });
    /// });
    /// ```
    pub fn on_complete(
        self,
        cx: &mut impl ActorOps,
        callback: impl AsyncFn(&mut Task, Result<T, Failure>) + Send + 'static,
    ) {
        let body = async move |task: &mut Task| {
            let result = task.try_wait(self).await;
            callback(task, result).await;
        };
        spawn_with(cx, |context| context.spawn_task("callback", body));
    }

    /// Returns a promise of the result, or of `g` applied to the failure if the body panicked.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # whippet::check(|sys| {
    /// #     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    /// let broken = inbox.spawn_task(async |_task| -> u32 { panic!("no disk") });
    /// let safe = broken.recover(inbox, |failure| failure.message.len() as u32);
    /// assert_eq!(inbox.wait(safe).await, 7);
    /// #     });
    /// # });
    /// ```
    pub fn recover(self, cx: &mut impl ActorOps, g: impl Fn(Failure) -> T + Send + 'static) -> Promise<T> {
        let body = async move |task: &mut Task| match task.try_wait(self).await {
            Ok(value) => value,
            Err(failure) => g(failure),
        };
        spawn_with(cx, |context| context.spawn_task("recover", body))
    }

    /// Returns a promise of the result of the first promise to complete, with its index. Every one of them may be the
    /// first.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let verdict = Checker::new("race").explore(|sys| {
    ///     sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    ///         let both = [10, 20].map(|n| inbox.spawn_task(async move |_task| n)).to_vec();
    ///         let first = Promise::select(inbox, both);
    ///         let (which, n) = inbox.wait(first).await;
    ///         assert_eq!(n, 10 * (which + 1));
    ///         assert_eq!(which, 0, "the second one was first");
    ///     });
    /// }).unwrap();
    /// assert_eq!(verdict.findings.len(), 1, "either may be first");
    /// ```
    #[must_use]
    pub fn select(cx: &mut impl ActorOps, promises: Vec<Promise<T>>) -> Promise<(usize, T)> {
        spawn_with(cx, |context| Promise::select_with(context, promises))
    }

    fn select_with(context: &ActorContext, promises: Vec<Promise<T>>) -> Promise<(usize, T)> {
        let first = context.spawn_service_fn("select", async move |inbox: &mut Inbox<Msg<(usize, T)>>| {
            let first = inbox.receive_if(|msg| matches!(msg, Msg::First(_))).await;
            let Msg::First(result) = first else { unreachable!("the filter lets nothing else through") };
            answer(inbox, result).await;
        });
        for (k, promise) in promises.into_iter().enumerate() {
            context.spawn_task("select", async move |task: &mut Task| {
                let result = task.try_wait(promise).await;
                task.send(first, Msg::First(result.map(|value| (k, value))));
            });
        }
        Promise { raw: first.raw, of: PhantomData }
    }
}

/// Answers every waiter with the result, in an endless loop.
async fn answer<T: Message>(inbox: &mut Inbox<Msg<T>>, result: Result<T, Failure>) {
    loop {
        if let Msg::Wait(reply) = inbox.receive().await {
            inbox.reply(reply, result.clone());
        }
    }
}

impl ActorContext {
    #[track_caller]
    pub(crate) fn spawn_task<T, F>(&self, kind: &str, body: F) -> Promise<T>
    where
        T: Message,
        F: AsyncFn(&mut Task) -> T + Send + 'static,
    {
        let recipient = self.spawn_service_fn(kind, async move |inbox: &mut Inbox<Msg<T>>| {
            let mut task = Task { context: inbox.context.clone() };
            let result = CatchPanic(Box::pin(body(&mut task))).await.map_err(|panic| {
                let failure = Failure { message: panic.message, place: panic.place };
                inbox.context.engine.borrow_mut().task_failed(inbox.context.me.slot, failure.clone());
                failure
            });
            answer(inbox, result).await;
        });
        Promise { raw: recipient.raw, of: PhantomData }
    }

    pub(crate) async fn try_wait<T: Message>(
        &self,
        promise: Promise<T>,
        site: &'static Location<'static>,
    ) -> Result<T, Failure> {
        self.call(Recipient::<Msg<T>>::new(promise.raw), Msg::Wait, site).await
    }

    pub(crate) async fn ready<T: Message>(&self, promise: Promise<T>, site: &'static Location<'static>) {
        let _ = self.try_wait(promise, site).await;
    }

    pub(crate) async fn wait<T: Message>(&self, promise: Promise<T>, site: &'static Location<'static>) -> T {
        match self.try_wait(promise, site).await {
            Ok(value) => value,
            Err(failure) => panic!("a task failed: {failure}"),
        }
    }

    pub(crate) async fn wait_or_timeout<T: Message>(
        &self,
        promise: Promise<T>,
        site: &'static Location<'static>,
    ) -> Option<T> {
        let in_time = self.engine.borrow_mut().current.choose(2) == 0;
        if in_time { Some(self.wait(promise, site).await) } else { None }
    }

    pub(crate) async fn join_all<T: Message>(
        &self,
        promises: Vec<Promise<T>>,
        site: &'static Location<'static>,
    ) -> Vec<T> {
        let mut values = Vec::with_capacity(promises.len());
        for promise in promises {
            values.push(self.wait(promise, site).await);
        }
        values
    }
}

/// A future whose output is `Err` if the inner future panics.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: std::future::Future> std::future::Future for CatchPanic<F> {
    type Output = Result<F::Output, CaughtPanic>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch(|| self.0.as_mut().poll(context)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

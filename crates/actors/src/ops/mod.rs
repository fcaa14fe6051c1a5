//! The operations that every actor has, whether it is a handler, a body or a task: those on messages and actors are
//! here, those on promises and on shared objects are in files of their own.

mod history;
mod promises;
mod sync;

pub(crate) use history::history_ops;
pub(crate) use promises::promise_ops;
pub(crate) use sync::sync_ops;

/// Defines the methods that [`Cx`](crate::Cx), [`Inbox`](crate::Inbox) and [`Task`](crate::Task) have in common.
///
/// The methods are generated in each type instead of being inherited through `Deref`, so that `cx.send(worker,
/// Msg::Hello(cx.this()))` compiles: two-phase borrows allow `cx.this()` as an argument only if `send` is a method of
/// the type itself.
macro_rules! actor_ops {
    () => {
        /// Sends a message. It may be delivered at any later time, unless the delivery order says otherwise.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// cx.send(cx.this(), 1);
        /// assert_eq!(cx.receive().await, 1);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn send<N: $crate::Message>(&mut self, to: impl Into<$crate::Recipient<N>>, message: N) {
            self.context.send(to, message);
        }

        /// Sends a request and waits for the reply; the actor receives no other message in the meantime.
        ///
        /// `request` wraps the reply handle in a message: `cx.call(server, Msg::Get).await`.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// #[derive(Clone, Debug)]
        /// struct Get(Reply<u32>);
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<()>| {
        /// let server = cx.spawn_fn(async |server: &mut Inbox<Get>| {
        ///     let Get(reply) = server.receive().await;
        ///     server.reply(reply, 42);
        /// });
        /// assert_eq!(cx.call(server, Get).await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn call<N: $crate::Message, T: $crate::Message>(
            &mut self,
            to: impl Into<$crate::Recipient<N>>,
            request: impl FnOnce($crate::Reply<T>) -> N,
        ) -> $crate::Call<'_, T> {
            self.context.call(to, request, ::std::panic::Location::caller())
        }

        /// Answers a call.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// #[derive(Clone, Debug)]
        /// struct Get(Reply<u32>);
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<()>| {
        /// let server = cx.spawn_fn(async |server: &mut Inbox<Get>| {
        ///     let Get(reply) = server.receive().await;
        ///     server.reply(reply, 42);
        /// });
        /// assert_eq!(cx.call(server, Get).await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn reply<T: $crate::Message>(&mut self, to: $crate::Reply<T>, value: T) {
            self.context.reply(to, value);
        }

        /// Creates an actor.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// #[derive(Clone, Debug)]
        /// struct Worker;
        /// impl Actor for Worker {
        ///     type Msg = Recipient<u32>;
        ///     async fn handle(&mut self, to: Recipient<u32>, cx: &mut Cx<Self>) { cx.send(to, 42); }
        /// }
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let worker = cx.spawn(Worker);
        /// cx.send(worker, cx.this());
        /// assert_eq!(cx.receive().await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn spawn<B: $crate::Actor + Clone>(&mut self, actor: B) -> $crate::Addr<B> {
            self.context.spawn(None, actor)
        }

        /// Creates an actor that is called `name` in counterexamples.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// #[derive(Clone, Debug)]
        /// struct Worker;
        /// impl Actor for Worker {
        ///     type Msg = Recipient<u32>;
        ///     async fn handle(&mut self, to: Recipient<u32>, cx: &mut Cx<Self>) { cx.send(to, 42); }
        /// }
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let worker = cx.spawn_named("worker of the night", Worker);
        /// cx.send(worker, cx.this());
        /// assert_eq!(cx.receive().await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn spawn_named<B: $crate::Actor + Clone>(&mut self, name: &str, actor: B) -> $crate::Addr<B> {
            self.context.spawn(Some(name), actor)
        }

        /// Creates an actor that receives explicitly: see [`Inbox`](crate::Inbox).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let me = cx.this();
        /// cx.spawn_fn(async move |child: &mut Inbox<()>| child.send(me, 42));
        /// assert_eq!(cx.receive().await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn spawn_fn<N, F>(&mut self, body: F) -> $crate::Recipient<N>
        where
            N: $crate::Message,
            F: AsyncFn(&mut $crate::Inbox<N>) + Send + 'static,
        {
            self.context.spawn_fn(None, body)
        }

        /// Creates an actor that receives explicitly and is called `name` in counterexamples.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let me = cx.this();
        /// cx.spawn_fn_named("child", async move |child: &mut Inbox<()>| child.send(me, 42));
        /// assert_eq!(cx.receive().await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn spawn_fn_named<N, F>(&mut self, name: &str, body: F) -> $crate::Recipient<N>
        where
            N: $crate::Message,
            F: AsyncFn(&mut $crate::Inbox<N>) + Send + 'static,
        {
            self.context.spawn_fn(Some(name), body)
        }

        /// Returns a number below `n`: every value is explored.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// let verdict = Checker::new("die").explore(|sys| {
        ///     let die = sys.spawn_fn(async |cx: &mut Inbox<()>| {
        ///         cx.receive().await;
        ///         assert!(cx.choose(6) < 5, "a six");
        ///     });
        ///     sys.send(die, ());
        /// }).unwrap();
        /// assert_eq!((verdict.counters.executions, verdict.findings.len()), (6, 1));
        /// ```
        #[must_use]
        pub fn choose(&mut self, n: u32) -> u32 {
            self.context.engine.borrow_mut().current.choose(n)
        }

        $crate::ops::history_ops!();
        $crate::ops::promise_ops!();
        $crate::ops::sync_ops!();
    };
}

pub(crate) use actor_ops;

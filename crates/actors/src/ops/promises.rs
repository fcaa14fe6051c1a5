//! The operations on tasks and promises that every actor has.
//!
//! See [`actor_ops`](super::actor_ops) for why these are macros.

/// Defines the methods that create tasks and wait for promises.
macro_rules! promise_ops {
    () => {
        /// Runs a body concurrently with the actor and returns a handle to its result: see [`Promise`](crate::Promise).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let answer = cx.spawn_task(async |_task| 42);
        /// assert_eq!(cx.wait(answer).await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn spawn_task<T, F>(&mut self, body: F) -> $crate::Promise<T>
        where
            T: $crate::Message,
            F: AsyncFn(&mut $crate::Task) -> T + Send + 'static,
        {
            self.context.spawn_task("task", body)
        }

        /// Waits for a promise. Panics if the body of its task panicked.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let answer = cx.spawn_task(async |_task| 42);
        /// assert_eq!(cx.wait(answer).await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn wait<T: $crate::Message>(
            &mut self,
            promise: $crate::Promise<T>,
        ) -> impl ::std::future::Future<Output = T> + '_ {
            self.context.wait(promise, ::std::panic::Location::caller())
        }

        /// Waits for a promise, and returns the failure if the body of its task panicked.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let broken = cx.spawn_task(async |_task| -> u32 { panic!("no disk") });
        /// assert_eq!(cx.try_wait(broken).await.unwrap_err().message, "no disk");
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn try_wait<T: $crate::Message>(
            &mut self,
            promise: $crate::Promise<T>,
        ) -> impl ::std::future::Future<Output = Result<T, $crate::Failure>> + '_ {
            self.context.try_wait(promise, ::std::panic::Location::caller())
        }

        /// Waits until a promise is complete, with or without a failure.
        #[track_caller]
        pub fn ready<T: $crate::Message>(
            &mut self,
            promise: $crate::Promise<T>,
        ) -> impl ::std::future::Future<Output = ()> + '_ {
            self.context.ready(promise, ::std::panic::Location::caller())
        }

        /// Waits for a promise with a timeout that may expire at any time: both outcomes are explored.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// let verdict = Checker::new("in time?").explore(|sys| {
        ///     let asker = sys.spawn_fn(async |cx: &mut Inbox<()>| {
        ///         cx.receive().await;
        ///         let answer = cx.spawn_task(async |_task| 42);
        ///         assert_eq!(cx.wait_or_timeout(answer).await, Some(42), "too late");
        ///     });
        ///     sys.send(asker, ());
        /// }).unwrap();
        /// assert_eq!(verdict.findings.len(), 1, "the time may be over");
        /// ```
        #[track_caller]
        pub fn wait_or_timeout<T: $crate::Message>(
            &mut self,
            promise: $crate::Promise<T>,
        ) -> impl ::std::future::Future<Output = Option<T>> + '_ {
            self.context.wait_or_timeout(promise, ::std::panic::Location::caller())
        }

        /// Waits for all of the promises and returns their results.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let all = [1, 2].map(|n| cx.spawn_task(async move |_task| n)).to_vec();
        /// assert_eq!(cx.join_all(all).await, [1, 2]);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn join_all<T: $crate::Message>(
            &mut self,
            promises: Vec<$crate::Promise<T>>,
        ) -> impl ::std::future::Future<Output = Vec<T>> + '_ {
            self.context.join_all(promises, ::std::panic::Location::caller())
        }
    };
}

pub(crate) use promise_ops;

//! The operations on futures that every actor has.
//!
//! See [`acts`](super::acts) for why these are macros.

/// Defines the methods that create futures and wait for them.
macro_rules! acts_on_futures {
    () => {
        /// Runs a body concurrently with the actor and returns a handle to its result: see [`Future`](crate::Future).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let answer = cx.spawn_future(async |_task| 42);
        /// assert_eq!(cx.wait(answer).await, 42);
        /// #     });
        /// # });
        /// ```
        pub fn spawn_future<T, F>(&mut self, body: F) -> $crate::Future<T>
        where
            T: $crate::Message,
            F: AsyncFn(&mut $crate::Task) -> T + 'static,
        {
            self.hands.spawn_future("future", body)
        }

        /// Waits for a future. Panics if the body of the future panicked.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let answer = cx.spawn_future(async |_task| 42);
        /// assert_eq!(cx.wait(answer).await, 42);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn wait<T: $crate::Message>(
            &mut self,
            future: $crate::Future<T>,
        ) -> impl ::std::future::Future<Output = T> + '_ {
            self.hands.wait(future, ::std::panic::Location::caller())
        }

        /// Waits for a future, and returns the failure if its body panicked.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let broken = cx.spawn_future(async |_task| -> u32 { panic!("no disk") });
        /// assert_eq!(cx.try_wait(broken).await.unwrap_err().message, "no disk");
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn try_wait<T: $crate::Message>(
            &mut self,
            future: $crate::Future<T>,
        ) -> impl ::std::future::Future<Output = Result<T, $crate::Failure>> + '_ {
            self.hands.try_wait(future, ::std::panic::Location::caller())
        }

        /// Waits until a future has completed, with or without a failure.
        #[track_caller]
        pub fn ready<T: $crate::Message>(
            &mut self,
            future: $crate::Future<T>,
        ) -> impl ::std::future::Future<Output = ()> + '_ {
            self.hands.ready(future, ::std::panic::Location::caller())
        }

        /// Waits for a future with a timeout that may expire at any time: both outcomes are explored.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// let verdict = Whippet::new("in time?").explore(|sys| {
        ///     let asker = sys.spawn_fn(async |cx: &mut Inbox<()>| {
        ///         cx.receive().await;
        ///         let answer = cx.spawn_future(async |_task| 42);
        ///         assert_eq!(cx.wait_or_timeout(answer).await, Some(42), "too late");
        ///     });
        ///     sys.send(asker, ());
        /// }).unwrap();
        /// assert_eq!(verdict.findings.len(), 1, "the time may be over");
        /// ```
        #[track_caller]
        pub fn wait_or_timeout<T: $crate::Message>(
            &mut self,
            future: $crate::Future<T>,
        ) -> impl ::std::future::Future<Output = Option<T>> + '_ {
            self.hands.wait_or_timeout(future, ::std::panic::Location::caller())
        }

        /// Waits for all of the futures and returns their results.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let all = [1, 2].map(|n| cx.spawn_future(async move |_task| n)).to_vec();
        /// assert_eq!(cx.join_all(all).await, [1, 2]);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn join_all<T: $crate::Message>(
            &mut self,
            futures: Vec<$crate::Future<T>>,
        ) -> impl ::std::future::Future<Output = Vec<T>> + '_ {
            self.hands.join_all(futures, ::std::panic::Location::caller())
        }
    };
}

pub(crate) use acts_on_futures;

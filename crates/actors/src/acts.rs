//! What every actor can do, however it is written.

/// The methods that [`Cx`](crate::Cx), [`Inbox`](crate::Inbox) and [`Task`](crate::Task) have in common.
///
/// They are written out in each type instead of being borrowed from an inner one, so that
/// `cx.send(worker, Msg::Hello(cx.this()))` compiles: a method of the type itself may be given what another one says.
macro_rules! acts {
    () => {
        /// Sends a message. It is delivered at any later time, unless the order of delivery says otherwise.
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
            self.hands.send(to, message);
        }

        /// Sends a request and waits for the reply; the actor takes no other message meanwhile.
        ///
        /// `request` makes the message around the handle for the reply: `cx.call(server, Msg::Get).await`.
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
            self.hands.call(to, request, ::std::panic::Location::caller())
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
            self.hands.reply(to, value);
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
        pub fn spawn<B: $crate::Actor + Clone>(&mut self, actor: B) -> $crate::Addr<B> {
            self.hands.spawn(None, actor)
        }

        /// Creates an actor that is called `name` in stories.
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
        pub fn spawn_named<B: $crate::Actor + Clone>(&mut self, name: &str, actor: B) -> $crate::Addr<B> {
            self.hands.spawn(Some(name), actor)
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
        pub fn spawn_fn<N, F>(&mut self, body: F) -> $crate::Recipient<N>
        where
            N: $crate::Message,
            F: AsyncFn(&mut $crate::Inbox<N>) + 'static,
        {
            self.hands.spawn_fn(None, body)
        }

        /// Creates an actor that receives explicitly and is called `name` in stories.
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
        pub fn spawn_fn_named<N, F>(&mut self, name: &str, body: F) -> $crate::Recipient<N>
        where
            N: $crate::Message,
            F: AsyncFn(&mut $crate::Inbox<N>) + 'static,
        {
            self.hands.spawn_fn(Some(name), body)
        }

        /// Some number below `n`: every one is explored.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// let verdict = Whippet::new("die").explore(|sys| {
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
            self.hands.engine.borrow_mut().now.choose(n)
        }

        /// Runs a body beside the actor and gives a handle to its result: see [`Future`](crate::Future).
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

        /// Waits for a future. If its body panicked, so does this.
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

        /// Waits for a future, and says why if its body panicked.
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

        /// Waits until a future has completed, whatever its result.
        #[track_caller]
        pub fn ready<T: $crate::Message>(
            &mut self,
            future: $crate::Future<T>,
        ) -> impl ::std::future::Future<Output = ()> + '_ {
            self.hands.ready(future, ::std::panic::Location::caller())
        }

        /// Waits for a future, or for a time that may be over at any moment: both are explored.
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

        /// Waits for all of them.
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

        /// A new re-entrant lock: see [`Lock`](crate::Lock).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let lock = cx.new_lock();
        /// let _outer = cx.lock(lock).await;
        /// let _inner = cx.lock(lock).await;
        /// #     });
        /// # });
        /// ```
        pub fn new_lock(&mut self) -> $crate::Lock {
            self.hands.new_lock()
        }

        /// A new mutex: see [`Mutex`](crate::Mutex).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let mutex = cx.new_mutex();
        /// drop(cx.lock(mutex).await);
        /// let _again = cx.lock(mutex).await;
        /// #     });
        /// # });
        /// ```
        pub fn new_mutex(&mut self) -> $crate::Mutex {
            self.hands.new_mutex()
        }

        /// Waits for a lock or mutex and holds it until the guard is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let mutex = cx.new_mutex();
        /// let guard = cx.lock(mutex).await;
        /// // Nobody else is here.
        /// drop(guard);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn lock(&mut self, lock: impl $crate::Lockable) -> impl ::std::future::Future<Output = $crate::Guard> + '_ {
            self.hands.lock(lock, ::std::panic::Location::caller())
        }

        /// A new read–write lock: see [`RwLock`](crate::RwLock).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let lock = cx.new_rwlock();
        /// drop(cx.write_lock(lock).await);
        /// #     });
        /// # });
        /// ```
        pub fn new_rwlock(&mut self) -> $crate::RwLock {
            self.hands.new_rwlock()
        }

        /// Waits for a read–write lock and holds it for reading until the guard is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let lock = cx.new_rwlock();
        /// let (_one, _other) = (cx.read_lock(lock).await, cx.read_lock(lock).await);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn read_lock(
            &mut self,
            lock: $crate::RwLock,
        ) -> impl ::std::future::Future<Output = $crate::ReadGuard> + '_ {
            self.hands.read_lock(lock, ::std::panic::Location::caller())
        }

        /// Waits for a read–write lock and holds it for writing until the guard is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let lock = cx.new_rwlock();
        /// let guard = cx.write_lock(lock).await;
        /// // Nobody else is here.
        /// drop(guard);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn write_lock(
            &mut self,
            lock: $crate::RwLock,
        ) -> impl ::std::future::Future<Output = $crate::WriteGuard> + '_ {
            self.hands.write_lock(lock, ::std::panic::Location::caller())
        }

        /// A new semaphore with so many permits: see [`Semaphore`](crate::Semaphore).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let two = cx.new_semaphore(2);
        /// let (_one, _other) = (cx.acquire(two).await, cx.acquire(two).await);
        /// #     });
        /// # });
        /// ```
        pub fn new_semaphore(&mut self, permits: u32) -> $crate::Semaphore {
            self.hands.new_semaphore(permits)
        }

        /// Waits for a permit and has it until it is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let one = cx.new_semaphore(1);
        /// let permit = cx.acquire(one).await;
        /// drop(permit);
        /// let _again = cx.acquire(one).await;
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn acquire(
            &mut self,
            semaphore: $crate::Semaphore,
        ) -> impl ::std::future::Future<Output = $crate::Permit> + '_ {
            self.hands.acquire(semaphore, ::std::panic::Location::caller())
        }

        /// Gives a semaphore one more permit.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let ready = cx.new_semaphore(0);
        /// cx.add_permit(ready);
        /// cx.acquire(ready).await.forget();
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn add_permit(&mut self, semaphore: $crate::Semaphore) {
            self.hands.add_permit(semaphore);
        }

        /// A new condition variable: see [`Condvar`](crate::Condvar).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let changed = cx.new_condvar();
        /// cx.notify_all(changed).await; // nobody waits: nothing happens
        /// #     });
        /// # });
        /// ```
        pub fn new_condvar(&mut self) -> $crate::Condvar {
            self.hands.new_condvar()
        }

        /// Lets go of a lock, waits until somebody notifies, and takes the lock again.
        ///
        /// The lock must be held once: it is a panic to wait with one that is held several times.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// whippet::check(|sys| {
        ///     let (mutex, changed, full) = (sys.new_mutex(), sys.new_condvar(), sys.new_shared(false));
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let mut guard = cx.lock(mutex).await;
        ///         while !cx.read(full) {
        ///             guard = cx.wait_on(changed, guard).await;
        ///         }
        ///     });
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let _guard = cx.lock(mutex).await;
        ///         cx.write(full, true);
        ///         cx.notify_one(changed).await;
        ///     });
        /// });
        /// ```
        #[track_caller]
        pub fn wait_on(
            &mut self,
            condvar: $crate::Condvar,
            guard: $crate::Guard,
        ) -> impl ::std::future::Future<Output = $crate::Guard> + '_ {
            self.hands.wait_on(condvar, guard, ::std::panic::Location::caller())
        }

        /// Wakes one of those who wait on a condition variable, if there is one; every one is explored.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// whippet::check(|sys| {
        ///     let (mutex, changed, full) = (sys.new_mutex(), sys.new_condvar(), sys.new_shared(false));
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let mut guard = cx.lock(mutex).await;
        ///         while !cx.read(full) {
        ///             guard = cx.wait_on(changed, guard).await;
        ///         }
        ///     });
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let _guard = cx.lock(mutex).await;
        ///         cx.write(full, true);
        ///         cx.notify_one(changed).await;
        ///     });
        /// });
        /// ```
        #[track_caller]
        pub fn notify_one(&mut self, condvar: $crate::Condvar) -> impl ::std::future::Future<Output = ()> + '_ {
            self.hands.notify_one(condvar, ::std::panic::Location::caller())
        }

        /// Wakes all who wait on a condition variable.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// whippet::check(|sys| {
        ///     let (mutex, changed, full) = (sys.new_mutex(), sys.new_condvar(), sys.new_shared(false));
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let mut guard = cx.lock(mutex).await;
        ///         while !cx.read(full) {
        ///             guard = cx.wait_on(changed, guard).await;
        ///         }
        ///     });
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let _guard = cx.lock(mutex).await;
        ///         cx.write(full, true);
        ///         cx.notify_all(changed).await;
        ///     });
        /// });
        /// ```
        #[track_caller]
        pub fn notify_all(&mut self, condvar: $crate::Condvar) -> impl ::std::future::Future<Output = ()> + '_ {
            self.hands.notify_all(condvar, ::std::panic::Location::caller())
        }

        /// A new variable that several actors and futures may use: see [`Shared`](crate::Shared).
        pub fn new_shared<T: $crate::Message>(&mut self, value: T) -> $crate::Shared<T> {
            self.hands.new_shared(value)
        }

        /// Reads a shared variable.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// whippet::check(|sys| {
        ///     let total = sys.new_shared(41);
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| assert_eq!(cx.read(total), 41));
        /// });
        /// ```
        #[track_caller]
        pub fn read<T: $crate::Message>(&mut self, variable: $crate::Shared<T>) -> T {
            self.hands.read(variable, ::std::panic::Location::caller())
        }

        /// Writes a shared variable.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// whippet::check(|sys| {
        ///     let total = sys.new_shared(41);
        ///     sys.spawn_fn(async move |cx: &mut Inbox<()>| {
        ///         let n = cx.read(total);
        ///         cx.write(total, n + 1);
        ///         assert_eq!(cx.read(total), 42);
        ///     });
        /// });
        /// ```
        #[track_caller]
        pub fn write<T: $crate::Message>(&mut self, variable: $crate::Shared<T>, value: T) {
            self.hands.write(variable, value, ::std::panic::Location::caller());
        }
    };
}

pub(crate) use acts;

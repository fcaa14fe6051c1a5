//! The operations on locks, semaphores, condition variables and shared variables that every actor has.
//!
//! See [`actor_ops`](super::actor_ops) for why these are macros.

/// Defines the methods that create and use shared objects.
macro_rules! sync_ops {
    () => {
        /// Creates a re-entrant lock: see [`Lock`](crate::Lock).
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
            self.context.new_lock()
        }

        /// Creates a mutex: see [`Mutex`](crate::Mutex).
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
            self.context.new_mutex()
        }

        /// Acquires a lock or mutex, waiting if necessary, and holds it until the guard is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let mutex = cx.new_mutex();
        /// let guard = cx.lock(mutex).await;
        /// // No other actor holds the lock here.
        /// drop(guard);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn lock(&mut self, lock: impl $crate::Lockable) -> impl ::std::future::Future<Output = $crate::Guard> + '_ {
            self.context.lock(lock, ::std::panic::Location::caller())
        }

        /// Creates a read–write lock: see [`RwLock`](crate::RwLock).
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
            self.context.new_rwlock()
        }

        /// Acquires a read–write lock for reading, waiting if necessary, and holds it until the guard is dropped.
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
            self.context.read_lock(lock, ::std::panic::Location::caller())
        }

        /// Acquires a read–write lock for writing, waiting if necessary, and holds it until the guard is dropped.
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let lock = cx.new_rwlock();
        /// let guard = cx.write_lock(lock).await;
        /// // No other actor holds the lock here.
        /// drop(guard);
        /// #     });
        /// # });
        /// ```
        #[track_caller]
        pub fn write_lock(
            &mut self,
            lock: $crate::RwLock,
        ) -> impl ::std::future::Future<Output = $crate::WriteGuard> + '_ {
            self.context.write_lock(lock, ::std::panic::Location::caller())
        }

        /// Creates a semaphore with this number of permits: see [`Semaphore`](crate::Semaphore).
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
            self.context.new_semaphore(permits)
        }

        /// Acquires a permit, waiting if necessary, and holds it until it is dropped.
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
            self.context.acquire(semaphore, ::std::panic::Location::caller())
        }

        /// Adds a permit to a semaphore.
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
            self.context.add_permit(semaphore);
        }

        /// Creates a condition variable: see [`Condvar`](crate::Condvar).
        ///
        /// ```
        /// # use whippet::prelude::*;
        /// # whippet::check(|sys| {
        /// #     sys.spawn_fn(async |cx: &mut Inbox<u32>| {
        /// let changed = cx.new_condvar();
        /// cx.notify_all(changed).await; // no waiters: no effect
        /// #     });
        /// # });
        /// ```
        pub fn new_condvar(&mut self) -> $crate::Condvar {
            self.context.new_condvar()
        }

        /// Releases a lock, waits for a notification, and acquires the lock again.
        ///
        /// # Panics
        ///
        /// Panics if the actor holds the lock more than once.
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
            self.context.wait_on(condvar, guard, ::std::panic::Location::caller())
        }

        /// Wakes one actor that waits on a condition variable, if there is one; every choice is explored.
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
            self.context.notify_one(condvar, ::std::panic::Location::caller())
        }

        /// Wakes all actors that wait on a condition variable.
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
            self.context.notify_all(condvar, ::std::panic::Location::caller())
        }

        /// Creates a variable that several actors and tasks may use: see [`Shared`](crate::Shared).
        pub fn new_shared<T: $crate::Message>(&mut self, value: T) -> $crate::Shared<T> {
            self.context.new_shared(value)
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
            self.context.read(variable, ::std::panic::Location::caller())
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
            self.context.write(variable, value, ::std::panic::Location::caller());
        }
    };
}

pub(crate) use sync_ops;

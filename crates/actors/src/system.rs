//! The system that the body of a test sets up.

use crate::address::{Addr, Recipient};
use crate::condvar::Condvar;
use crate::current_step::TEST;
use crate::cx::ActorContext;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::inbox::Inbox;
use crate::lock::{Lock, Mutex};
use crate::machine::ActorMachine;
use crate::network::Network;
use crate::promise::{ActorOps, ContextRef, Promise, Task};
use crate::rwlock::RwLock;
use crate::semaphore::Semaphore;
use crate::shared::Shared;
use crate::test_cell::TestCell;
use crate::{Actor, CheckTarget, Message};
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::MachineError;

/// The system that the body of a test sets up: the body creates actors, sends the first messages and declares checks.
///
/// No message is delivered while the body runs, except by [`finish_setup`](System::finish_setup).
///
/// ```
/// use whippet_actors::{Actor, Cx, System};
/// #[derive(Clone, Debug)]
/// struct Counter(u32);
/// impl Actor for Counter {
///     type Msg = u32;
///     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
///         self.0 += n;
///     }
/// }
/// fn counts(system: &mut System) {
///     let counter = system.spawn(Counter(0));
///     system.send(counter, 1);
///     system.finish_setup(); // ends the setup: delivered in one fixed order, not explored
///     system.send(counter, 2);
///     system.send(counter, 3);
///     system.at_end(counter, |counter| assert_eq!(counter.0, 6));
/// }
/// # counts(&mut System::scratch());
/// ```
pub struct System {
    pub(crate) machine: ActorMachine,
    pub(crate) context: ActorContext,
    error: Option<MachineError>,
}

whippet_model::opaque_debug!(System);

/// The maximum number of messages delivered by [`System::finish_setup`].
const MAX_SETUP_MESSAGES: usize = 100_000;

impl System {
    pub(crate) fn new(delivery: Delivery, environment: Environment) -> System {
        let engine = Rc::new(RefCell::new(Engine::new()));
        let machine = ActorMachine::new(engine.clone(), delivery, environment);
        let me = engine.borrow_mut().create::<()>("the test".into(), |_| Box::new(TestCell::default()));
        assert_eq!(me.slot, TEST, "the test comes first");
        let context = ActorContext { me, engine };
        let mut system = System { machine, context, error: None };
        system.start_new_actors();
        system
    }

    /// Creates an independent system, for use in documentation and unit tests.
    #[must_use]
    pub fn scratch() -> System {
        System::new(Delivery::Unordered, Environment::Open)
    }

    /// Returns the machine of the system, or the error that occurred during the setup.
    pub(crate) fn into_machine(self) -> Result<ActorMachine, MachineError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.machine),
        }
    }

    /// Starts the actors that were created.
    fn start_new_actors(&mut self) {
        self.context.engine.borrow_mut().current.leave_test();
        if let Err(error) = self.machine.start_new_actors() {
            self.error.get_or_insert(error);
        }
        // Bodies act under their own names; further effects belong to the test again.
        self.context.engine.borrow_mut().current.back_to_test();
    }

    /// Creates an actor.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Sum(u32);
    /// # impl Actor for Sum {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 += n; }
    /// # }
    /// whippet::check(|sys| {
    ///     let sum = sys.spawn(Sum(1));
    ///     sys.send(sum, 2);
    ///     sys.at_end(sum, |sum| assert_eq!(sum.0, 3));
    /// });
    /// ```
    #[track_caller]
    pub fn spawn<A: Actor + Clone>(&mut self, actor: A) -> Addr<A> {
        let addr = self.context.spawn(None, actor);
        self.start_new_actors();
        addr
    }

    /// Creates an actor that is called `name` in counterexamples.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug)]
    /// # struct Sum(u32);
    /// # impl Actor for Sum {
    /// #     type Msg = u32;
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { assert!(n > 5, "too little"); }
    /// # }
    /// let failure = Checker::new("named").try_check(|sys| {
    ///     let till = sys.spawn_named("till of the shop", Sum(0));
    ///     sys.send(till, 2);
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("1. till of the shop receives 2"), "{failure}");
    /// ```
    #[track_caller]
    pub fn spawn_named<A: Actor + Clone>(&mut self, name: &str, actor: A) -> Addr<A> {
        let addr = self.context.spawn(Some(name), actor);
        self.start_new_actors();
        addr
    }

    /// Creates an actor that receives explicitly: see [`Inbox`].
    ///
    /// The body must be `Send`, so that it cannot share an `Rc` with another actor:
    ///
    /// ```compile_fail,E0277
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let shared = std::rc::Rc::new(std::cell::Cell::new(0));
    ///     sys.spawn_fn(async move |_inbox: &mut Inbox<u8>| shared.set(1));
    /// });
    /// ```
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(reader, 1);
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_fn<M, F>(&mut self, body: F) -> Recipient<M>
    where
        M: Message,
        F: AsyncFn(&mut Inbox<M>) + Send + 'static,
    {
        let recipient = self.context.spawn_fn(None, body);
        self.start_new_actors();
        recipient
    }

    /// Creates an actor that receives explicitly and is called `name` in counterexamples.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let failure = Checker::new("named").try_check(|sys| {
    ///     let picky = sys.spawn_fn_named("picky reader", async |inbox: &mut Inbox<u8>| {
    ///         assert_eq!(inbox.receive().await, 1);
    ///     });
    ///     sys.send(picky, 2);
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("1. picky reader receives 2"), "{failure}");
    /// ```
    #[track_caller]
    pub fn spawn_fn_named<M, F>(&mut self, name: &str, body: F) -> Recipient<M>
    where
        M: Message,
        F: AsyncFn(&mut Inbox<M>) + Send + 'static,
    {
        let recipient = self.context.spawn_fn(Some(name), body);
        self.start_new_actors();
        recipient
    }

    /// Runs a body concurrently with the actors and returns a handle to its result: see [`Promise`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let answer = sys.spawn_task(async |_task| 42);
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| assert_eq!(inbox.wait(answer).await, 42));
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_task<T, F>(&mut self, body: F) -> Promise<T>
    where
        T: Message,
        F: AsyncFn(&mut Task) -> T + Send + 'static,
    {
        let promise = self.context.spawn_task("task", body);
        self.start_new_actors();
        promise
    }

    /// Creates a re-entrant lock: see [`Lock`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let lock = sys.new_lock();
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
    ///         let _outer = inbox.lock(lock).await;
    ///         let _inner = inbox.lock(lock).await;
    ///     });
    /// });
    /// ```
    pub fn new_lock(&mut self) -> Lock {
        let lock = self.context.new_lock();
        self.start_new_actors();
        lock
    }

    /// Creates a mutex: see [`Mutex`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let mutex = sys.new_mutex();
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| drop(inbox.lock(mutex).await));
    /// });
    /// ```
    pub fn new_mutex(&mut self) -> Mutex {
        let mutex = self.context.new_mutex();
        self.start_new_actors();
        mutex
    }

    /// Creates a read–write lock: see [`RwLock`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// whippet::check(|sys| {
    ///     let lock = sys.new_rwlock();
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| drop(inbox.read_lock(lock).await));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| drop(inbox.write_lock(lock).await));
    /// });
    /// ```
    pub fn new_rwlock(&mut self) -> RwLock {
        let lock = self.context.new_rwlock();
        self.start_new_actors();
        lock
    }

    /// Creates a semaphore with this number of permits: see [`Semaphore`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let failure = Checker::new("nobody gives one").try_check(|sys| {
    ///     let none = sys.new_semaphore(0);
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| drop(inbox.acquire(none).await));
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("deadlock"));
    /// ```
    pub fn new_semaphore(&mut self, permits: u32) -> Semaphore {
        let semaphore = self.context.new_semaphore(permits);
        self.start_new_actors();
        semaphore
    }

    /// Creates a condition variable: see [`Condvar`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let failure = Checker::new("nobody notifies").try_check(|sys| {
    ///     let (mutex, changed) = (sys.new_mutex(), sys.new_condvar());
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
    ///         let guard = inbox.lock(mutex).await;
    ///         drop(inbox.wait_on(changed, guard).await);
    ///     });
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("deadlock"));
    /// ```
    pub fn new_condvar(&mut self) -> Condvar {
        let condvar = self.context.new_condvar();
        self.start_new_actors();
        condvar
    }

    /// Creates a variable that several actors and tasks may use: see [`Shared`].
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let failure = Checker::new("nothing orders them").try_check(|sys| {
    ///     let total = sys.new_shared(0);
    ///     for n in 1..=2 {
    ///         sys.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.write(total, n));
    ///     }
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("race"), "{failure}");
    /// ```
    pub fn new_shared<T: Message>(&mut self, value: T) -> Shared<T> {
        self.context.new_shared(value)
    }

    /// Sends a message.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let verdict = Checker::new("two").explore(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     sys.send(sink, 1);
    ///     sys.send(sink, 2);
    /// }).unwrap();
    /// assert_eq!(verdict.counters.executions, 2, "in any order");
    /// ```
    #[track_caller]
    pub fn send<M: Message>(&mut self, to: impl Into<Recipient<M>>, message: M) {
        self.context.send(to, message);
    }

    /// Ends the setup: delivers pending messages in the order they were sent until none is deliverable. This is done
    /// once and is not explored; everything the body does afterwards is. The deliveries happen before what the body does
    /// afterwards.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let verdict = Checker::new("set up").explore(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     sys.send(sink, 1);
    ///     sys.send(sink, 2);
    ///     sys.finish_setup(); // both are delivered here, in this order
    ///     sys.send(sink, 3);
    /// }).unwrap();
    /// assert_eq!((verdict.counters.executions, verdict.counters.transitions), (1, 1));
    /// ```
    pub fn finish_setup(&mut self) {
        self.context.engine.borrow_mut().current.leave_test();
        if self.error.is_none()
            && let Err(error) = self.machine.run_setup(MAX_SETUP_MESSAGES)
        {
            self.error = Some(error);
        }
        self.context.engine.borrow_mut().current.back_to_test();
    }

    /// Sets the network between actors: see [`Network`]. Pairs with a network of their own keep it.
    ///
    /// ```
    /// # use whippet::{Network, prelude::*};
    /// let failure = Checker::new("lost").try_check(|sys| {
    ///     sys.network(Network::lossy(1));
    ///     let light = sys.spawn_fn(async |inbox: &mut Inbox<bool>| { inbox.receive().await; });
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| inbox.send(light, true));
    ///     sys.environment(Environment::Closed);
    /// }).unwrap_err().to_string();
    /// assert!(failure.contains("the network loses true"), "{failure}");
    /// ```
    pub fn network(&mut self, network: Network) {
        self.machine.set_network(network);
    }

    /// Sets the network between two actors, in both directions. It has budgets of its own.
    ///
    /// ```
    /// # use whippet::{Network, prelude::*};
    /// let verdict = Checker::new("one bad line").explore(|sys| {
    ///     let sinks = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }));
    ///     let sender = sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
    ///         inbox.receive().await;
    ///         sinks.map(|sink| inbox.send(sink, 1));
    ///     });
    ///     sys.send(sender, ());
    ///     sys.network_between(sender, sinks[0], Network::lossy(1));
    /// }).unwrap();
    /// assert_eq!(verdict.counters.executions, 2, "only one message can be lost");
    /// ```
    pub fn network_between<M: Message, N: Message>(
        &mut self,
        one: impl Into<Recipient<M>>,
        other: impl Into<Recipient<N>>,
        network: Network,
    ) {
        self.machine.set_network_between(one.into().raw.slot, other.into().raw.slot, network);
    }

    /// Lets the named actors crash: together at most `most` times in an execution, between any two of their steps and while a
    /// handler waits. [`Actor::after_crash`] says what survives, and whether the actor restarts. Messages to it are kept; to
    /// lose them as well, add a [`Network::lossy`]. Each call has a budget of its own.
    ///
    /// A crash is a step of its actor, and depends on nothing else but other crashes of the same budget.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Backup;
    /// impl Actor for Backup {
    ///     type Msg = Reply<()>;
    ///     async fn handle(&mut self, reply: Reply<()>, cx: &mut Cx<Self>) { cx.reply(reply, ()); }
    /// }
    /// let failure = Checker::new("backup").try_check(|sys| {
    ///     let backup = sys.spawn(Backup);
    ///     sys.spawn_fn(async move |client: &mut Inbox<()>| client.call(backup, |reply| reply).await);
    ///     sys.crashes(backup, 1);
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("deadlock"), "it does not restart: {failure}");
    /// ```
    #[track_caller]
    pub fn crashes<W: CheckTarget>(&mut self, who: W, most: u32) {
        self.machine.set_crashes(&who.slots(), most, Location::caller());
    }

    /// Sets the state that the program must have reached when no step is enabled.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// let failure = Checker::new("closed").try_check(|sys| {
    ///     sys.environment(Environment::Closed);
    ///     sys.spawn_fn(async |inbox: &mut Inbox<()>| inbox.receive().await);
    /// }).unwrap_err().to_string();
    /// assert!(failure.starts_with("environment"), "{failure}");
    /// ```
    pub fn environment(&mut self, environment: Environment) {
        self.machine.set_environment(environment);
    }
}

impl ActorOps for System {
    fn context(&self) -> ContextRef<'_> {
        ContextRef(&self.context)
    }

    fn after_spawn(&mut self) {
        self.start_new_actors();
    }
}

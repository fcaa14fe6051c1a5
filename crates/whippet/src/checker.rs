//! The settings of a test.

use crate::session::test_name;
use std::time::Duration;
use whippet_actors::{ActorProgram, Delivery, Environment, Network, System, TestOutcome};
use whippet_model::ConflictRule;
use whippet_search::{Options, Order, Reduction};

/// The settings of a test: the reduction, the order of the search, its limits.
///
/// ```
/// use whippet::prelude::*;
/// Checker::new("quiet")
///     .delivery(Delivery::Fifo)
///     .reduction(Reduction::Exhaustive)
///     .limit_executions(1_000)
///     .check(|_sys| {});
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    pub(crate) name: String,
    pub(crate) delivery: Delivery,
    conflict_rule: ConflictRule,
    environment: Environment,
    network: Network,
    pub(crate) options: Options,
    pub(crate) partial: bool,
    pub(crate) determinism: bool,
    pub(crate) regressions: bool,
}

impl Checker {
    /// Creates the default settings for a test of this name: every trace once, unordered delivery.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let verdict = Checker::new("nobody").explore(|_sys| {}).unwrap();
    /// assert_eq!(verdict.counters.executions, 1);
    /// ```
    pub fn new(name: impl Into<String>) -> Checker {
        Checker {
            name: name.into(),
            delivery: Delivery::default(),
            conflict_rule: ConflictRule::default(),
            environment: Environment::default(),
            network: Network::reliable(),
            options: Options::default(),
            partial: false,
            determinism: true,
            regressions: true,
        }
    }

    /// Creates the default settings for a test that has the name of the running `#[test]`.
    pub(crate) fn of_this_test<B>(_body: &B) -> Checker {
        Checker::new(test_name::<B>().unwrap_or_else(|| "test".into()))
    }

    /// Sets the order of delivery.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let in_order = |sys: &mut System| {
    ///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(reader, 1);
    ///     sys.send(reader, 2);
    /// };
    /// assert!(Checker::new("any order").try_check(in_order).is_err());
    /// assert!(Checker::new("in order").delivery(Delivery::Fifo).try_check(in_order).is_ok());
    /// ```
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Checker {
        self.delivery = delivery;
        self
    }

    /// Sets the environment, which decides what state the program must have reached at the end.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let waits = |sys: &mut System| {
    ///     sys.spawn_fn(async |inbox: &mut Inbox<()>| inbox.receive().await);
    /// };
    /// assert!(Checker::new("somebody may still send").try_check(waits).is_ok());
    /// let closed = Checker::new("nobody will").environment(Environment::Closed);
    /// assert!(closed.try_check(waits).unwrap_err().to_string().starts_with("environment"));
    /// ```
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Checker {
        self.environment = environment;
        self
    }

    /// Sets the network between actors, which may lose, duplicate or reorder messages: see [`Network`].
    ///
    /// ```
    /// use whippet::{Network, prelude::*};
    /// let verdict = Checker::new("at most one").network(Network::lossy(1)).explore(|sys| {
    ///     let sinks = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }));
    ///     sys.spawn_fn(async move |inbox: &mut Inbox<()>| { sinks.map(|sink| inbox.send(sink, 1)); });
    /// }).unwrap();
    /// assert_eq!(verdict.counters.executions, 3, "one of two messages is lost, or none");
    /// ```
    #[must_use]
    pub fn network(mut self, network: Network) -> Checker {
        self.network = network;
        self
    }

    /// Sets the reduction: the rule by which the search skips executions.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn two_actors(sys: &mut System) {
    /// #     for _ in 0..2 {
    /// #         let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    /// #         sys.send(sink, 1);
    /// #     }
    /// # }
    /// // Two actors with one message each: two orders that no actor can distinguish.
    /// let all = Checker::new("all").reduction(Reduction::Exhaustive).explore(two_actors).unwrap();
    /// let optimal = Checker::new("optimal").explore(two_actors).unwrap();
    /// assert_eq!((all.counters.executions, optimal.counters.executions), (2, 1));
    /// ```
    #[must_use]
    pub fn reduction(mut self, reduction: Reduction) -> Checker {
        self.options.reduction = reduction;
        self
    }

    /// Sets the order: the rule by which the search selects the next actor.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=3 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// // The same executions, in another order.
    /// let verdict = Checker::new("latest first").order(Order::Lifo).explore(some).unwrap();
    /// assert_eq!(verdict.counters.executions, 6);
    /// ```
    #[must_use]
    pub fn order(mut self, order: Order) -> Checker {
        self.options.order = order;
        self
    }

    /// Sets the conflict rule: the condition under which two messages to one actor are dependent.
    ///
    /// ```
    /// use whippet::model::ConflictRule;
    /// # use whippet::prelude::*;
    /// # #[derive(Clone, Debug, Default)]
    /// # struct Desk { names: Tracked<u32>, visits: Tracked<u32> }
    /// # impl Actor for Desk {
    /// #     type Msg = Option<u32>;
    /// #     const FIELDS: bool = true;
    /// #     async fn handle(&mut self, name: Option<u32>, _cx: &mut Cx<Self>) {
    /// #         match name {
    /// #             Some(name) => *self.names = name,
    /// #             None => *self.visits += 1,
    /// #         }
    /// #     }
    /// # }
    /// # fn two(sys: &mut System) {
    /// #     let desk = sys.spawn(Desk::default());
    /// #     sys.send(desk, Some(1));
    /// #     sys.send(desk, None);
    /// # }
    /// // Two messages that touch different fields.
    /// let executions = |rule| Checker::new("desk").conflict_rule(rule).explore(two).unwrap().counters.executions;
    /// assert_eq!((executions(ConflictRule::Fields), executions(ConflictRule::Actors)), (1, 2));
    /// ```
    #[must_use]
    pub fn conflict_rule(mut self, rule: ConflictRule) -> Checker {
        self.conflict_rule = rule;
        self
    }

    /// Sets the number of workers that share the search; 0 means one per core.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=4 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// let verdict = Checker::new("two at once").jobs(2).explore(some).unwrap();
    /// assert_eq!(verdict.counters.executions, 24, "shared, none twice");
    /// ```
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Checker {
        self.options.jobs = jobs;
        self
    }

    /// Sets the number of executions of a search that samples.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=4 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// let verdict = Checker::new("a sample").reduction(Reduction::Pos).samples(100).explore(some).unwrap();
    /// assert_eq!(verdict.counters.executions, 100);
    /// ```
    #[must_use]
    pub fn samples(mut self, samples: u64) -> Checker {
        self.options.samples = samples;
        self
    }

    /// Sets the seed of a search that samples. The same seed selects the same executions.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert!(inbox.receive().await == 1));
    /// #     for n in 1..=4 {
    /// #         sys.send(reader, n);
    /// #     }
    /// # }
    /// let sample = |seed| Checker::new("a sample").reduction(Reduction::Random).samples(20).seed(seed).explore(some).unwrap();
    /// assert_eq!(sample(7).findings[0].executions, sample(7).findings[0].executions);
    /// ```
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Checker {
        self.options.seed = seed;
        self
    }

    /// Stops the search at the first finding.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn wrong_twice(sys: &mut System) {
    /// #     let one = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert!(inbox.receive().await == 1));
    /// #     let two = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert!(inbox.receive().await == 2));
    /// #     sys.send(one, 2);
    /// #     sys.send(two, 1);
    /// # }
    /// assert_eq!(Checker::new("all").explore(wrong_twice).unwrap().findings.len(), 2);
    /// assert_eq!(Checker::new("first").first_bug().explore(wrong_twice).unwrap().findings.len(), 1);
    /// ```
    #[must_use]
    pub fn first_bug(mut self) -> Checker {
        self.options.first_bug = true;
        self
    }

    /// Treats a message that can never be received as an error.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn too_late(sys: &mut System) {
    /// #     let once = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    /// #     sys.send(once, 1);
    /// #     sys.send(once, 2);
    /// # }
    /// // The actor stops after one message but is sent two.
    /// let verdict = Checker::new("warns").explore(too_late).unwrap();
    /// assert!(verdict.findings.is_empty() && !verdict.warnings.is_empty());
    /// let verdict = Checker::new("fails").undeliverable_is_error().explore(too_late).unwrap();
    /// assert!(!verdict.findings.is_empty());
    /// ```
    #[must_use]
    pub fn undeliverable_is_error(mut self) -> Checker {
        self.options.undeliverable_is_error = true;
        self
    }

    /// Stops the search after this number of executions.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=4 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// let verdict = Checker::new("ten will do").limit_executions(10).explore(some).unwrap();
    /// assert_eq!((verdict.counters.executions, verdict.complete), (10, false));
    /// ```
    #[must_use]
    pub fn limit_executions(mut self, executions: u64) -> Checker {
        self.options.limits.executions = Some(executions);
        self
    }

    /// Stops the search after this time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// // Twelve messages in any order: 479,001,600 executions.
    /// let verdict = Checker::new("too many").limit_time(Duration::from_millis(50)).explore(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     for n in 1..=12 {
    ///         sys.send(sink, n);
    ///     }
    /// }).unwrap();
    /// assert!(!verdict.complete);
    /// ```
    #[must_use]
    pub fn limit_time(mut self, time: Duration) -> Checker {
        self.options.limits.time = Some(time);
        self
    }

    /// Treats an execution with more than `steps` steps as an error.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let verdict = Checker::new("for ever").limit_steps(20).explore(|sys| {
    ///     let echo = sys.spawn_fn(async |inbox: &mut Inbox<()>| loop {
    ///         inbox.receive().await;
    ///         let me = inbox.this();
    ///         inbox.send(me, ());
    ///     });
    ///     sys.send(echo, ());
    /// }).unwrap();
    /// assert_eq!(verdict.findings[0].kind, whippet::model::FindingKind::Limit);
    /// ```
    #[must_use]
    pub fn limit_steps(mut self, steps: usize) -> Checker {
        self.options.limits.steps = steps;
        self
    }

    /// Treats a handler that runs longer than `time` as an error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use whippet::prelude::*;
    /// let verdict = Checker::new("asleep").limit_handler(Duration::from_millis(20)).explore(|sys| {
    ///     let slow = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    ///         inbox.receive().await;
    ///         std::thread::sleep(Duration::from_secs(1));
    ///     });
    ///     sys.send(slow, ());
    /// }).unwrap();
    /// assert_eq!(verdict.findings[0].kind, whippet::model::FindingKind::Limit);
    /// ```
    #[must_use]
    pub fn limit_handler(mut self, time: Duration) -> Checker {
        self.options.limits.handler = time;
        self
    }

    /// Lets the test pass if a limit ended the search before anything was found.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=4 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// let ten = Checker::new("ten").limit_executions(10);
    /// assert!(ten.try_check(some).is_err());
    /// assert!(ten.partial_is_enough().try_check(some).is_ok());
    /// ```
    #[must_use]
    pub fn partial_is_enough(mut self) -> Checker {
        self.partial = true;
        self
    }

    /// Turns the determinism check off or on. It is on by default.
    ///
    /// If a search finds nothing, one execution is run, undone and run again. A difference is an error, because actors
    /// that share memory other than by messages are explored wrongly. Turn the check off if the `Debug` text of a state
    /// or message contains something that no actor depends on, such as a time or a global counter.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use whippet::prelude::*;
    /// #[derive(Clone, Debug)]
    /// struct Logger { log: Arc<Mutex<Vec<u8>>> }
    /// impl Actor for Logger {
    ///     type Msg = u8;
    ///     async fn handle(&mut self, n: u8, _cx: &mut Cx<Self>) { self.log.lock().unwrap().push(n); }
    /// }
    /// fn body(sys: &mut System) {
    ///     let log = Arc::new(Mutex::new(Vec::new()));
    ///     for n in 1..=2 {
    ///         let logger = sys.spawn(Logger { log: log.clone() });
    ///         sys.send(logger, n);
    ///     }
    /// }
    /// let error = Checker::new("shared log").explore(body).unwrap_err().to_string();
    /// assert!(error.contains("logger 1 shares memory with another actor"), "{error}");
    /// assert!(Checker::new("shared log").determinism_check(false).explore(body).is_ok());
    /// ```
    #[must_use]
    pub fn determinism_check(mut self, on: bool) -> Checker {
        self.determinism = on;
        self
    }

    /// Turns regressions off or on. They are on by default.
    ///
    /// If [`check`](Checker::check) fails, it keeps the schedule of the failure in the directory `whippet-regressions` of
    /// the package, and later runs execute it before the search. Commit the directory. A schedule that no longer fails is
    /// reported as fixed; one that does not fit the program any more is named and can be deleted. The environment
    /// variable `WHIPPET_REGRESSIONS` selects another directory, or `off`.
    ///
    /// A test that is expected to fail should not keep its schedule:
    ///
    /// ```should_panic
    /// use whippet::prelude::*;
    /// Checker::new("fails on purpose").regressions(false).check(|sys| {
    ///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(reader, 2);
    /// });
    /// ```
    #[must_use]
    pub fn regressions(mut self, on: bool) -> Checker {
        self.regressions = on;
        self
    }

    /// Changes any other option of the search.
    ///
    /// ```
    /// # use whippet::prelude::*;
    /// # fn some(sys: &mut System) {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     for n in 1..=3 {
    /// #         sys.send(sink, n);
    /// #     }
    /// # }
    /// let source = Checker::new("source").reduction(Reduction::Source).options(|options| options.sleep = true);
    /// assert_eq!(source.explore(some).unwrap().counters.executions, 6);
    /// ```
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Checker {
        change(&mut self.options);
        self
    }

    /// Returns the body as a program with these settings.
    ///
    /// ```
    /// use whippet::model::{Machine, Program};
    /// use whippet::prelude::*;
    /// // The program as a search sees it.
    /// let program = Checker::new("one message").program(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    ///     sys.send(sink, 1);
    /// });
    /// let mut enabled = Vec::new();
    /// program.machine(&Default::default()).unwrap().enabled(&mut enabled);
    /// assert_eq!(enabled.len(), 1);
    /// ```
    pub fn program<R: TestOutcome>(&self, body: impl Fn(&mut System) -> R + Send + Sync + 'static) -> ActorProgram {
        ActorProgram::new(self.name.clone(), body)
            .delivery(self.delivery)
            .environment(self.environment)
            .network(self.network)
            .conflict_rule(self.conflict_rule)
    }
}

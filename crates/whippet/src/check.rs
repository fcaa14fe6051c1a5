//! Checks a program in a test: explores it, and fails with a counterexample and the command that replays it.

use crate::{determinism, replay};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use whippet_actors::{ActorProgram, Delivery, Environment, System, TestOutcome};
use whippet_model::{ConflictRule, MachineError, Verdict};
use whippet_report::failure;
use whippet_search::{Options, Order, Reduction, ReplayError, SearchError, explore as search};

/// Explores every order of the messages of `body`, and panics with a counterexample if a problem is found.
///
/// The test has the name of the running `#[test]`. For settings see [`Checker`].
///
/// ```
/// use whippet::prelude::*;
/// #[derive(Clone, Debug)]
/// struct Sum(u32);
/// impl Actor for Sum {
///     type Msg = u32;
///     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
///         self.0 += n;
///     }
/// }
/// whippet::check(|sys| {
///     let sum = sys.spawn(Sum(0));
///     for n in 1..=3 {
///         sys.send(sum, n);
///     }
///     sys.at_end(sum, |sum| assert_eq!(sum.0, 6));
/// });
/// ```
#[track_caller]
pub fn check<R: TestOutcome>(body: impl Fn(&mut System) -> R + Send + Sync + 'static) {
    Checker::new(test_name()).check(body);
}

/// Explores every order of the messages of `body` and returns the verdict as a value: the findings, if any, and the
/// number of executions.
///
/// For settings see [`Checker::explore`].
///
/// ```
/// use whippet::{FindingKind, prelude::*};
/// let verdict = whippet::explore(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(reader, 1);
///     sys.send(reader, 2);
/// })?;
/// assert_eq!(verdict.counters.executions, 2);
/// assert_eq!(verdict.findings[0].kind, FindingKind::Assertion);
/// # Ok::<(), whippet::CheckError>(())
/// ```
pub fn explore<R: TestOutcome>(body: impl Fn(&mut System) -> R + Send + Sync + 'static) -> Result<Verdict, CheckError> {
    Checker::new(test_name()).explore(body)
}

/// Returns the name of the running test, which the test runner gives to the thread.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("test").to_owned()
}

/// The reason why no verdict was reached.
///
/// ```
/// use whippet::{CheckError, prelude::*};
/// let error = Checker::new("broken").explore(|_sys| panic!("no configuration")).unwrap_err();
/// assert!(matches!(error, CheckError::Search(_)));
/// assert!(error.to_string().starts_with("the body of the test panicked: no configuration at "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The program cannot be explored with these options.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The schedule to replay does not fit the program.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The schedule to replay cannot be read.
    #[error("cannot replay {path}: {why}")]
    File {
        /// The file that `WHIPPET_REPLAY` names.
        path: String,
        /// The reason.
        why: String,
    },
}

/// The failure of a test: its message is what a failing test shows.
///
/// ```
/// use whippet::{CheckFailure, prelude::*};
/// let failure: CheckFailure = Checker::new("wrong").try_check(|sys| {
///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(reader, 2);
/// }).unwrap_err();
/// assert!(failure.to_string().starts_with("assertion: "));
/// assert!(failure.to_string().contains("1. actor receives 2 from the test"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailure {
    pub(crate) message: String,
}

/// Prints the message as it is, so that a test that returns a `CheckFailure` shows it in a readable form.
impl fmt::Debug for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<CheckError> for CheckFailure {
    fn from(error: CheckError) -> CheckFailure {
        CheckFailure { message: error.to_string() }
    }
}

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
    name: String,
    delivery: Delivery,
    conflict_rule: ConflictRule,
    environment: Environment,
    options: Options,
    partial: bool,
    determinism: bool,
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
            options: Options::default(),
            partial: false,
            determinism: true,
        }
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
            .conflict_rule(self.conflict_rule)
    }

    fn run(&self, program: ActorProgram) -> Result<Verdict, CheckError> {
        let program = Arc::new(program);
        let result = search(program.clone(), &self.options, &());
        let doubtful = match &result {
            Ok(verdict) => verdict.findings.is_empty(),
            Err(error) => matches!(error, SearchError::Program(MachineError::Nondeterministic(_))),
        };
        if self.determinism && doubtful {
            determinism::test(program, self.options.limits.handler)?;
        }
        Ok(result?)
    }

    /// Explores the program and returns the verdict as a value.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let verdict = Checker::new("first come").explore(|sys| {
    ///     let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
    ///     sys.send(reader, 1);
    ///     sys.send(reader, 2);
    /// }).unwrap();
    /// assert_eq!((verdict.counters.executions, verdict.findings.len()), (2, 1));
    /// ```
    pub fn explore<R: TestOutcome>(
        &self,
        body: impl Fn(&mut System) -> R + Send + Sync + 'static,
    ) -> Result<Verdict, CheckError> {
        self.run(self.program(body))
    }

    /// Explores the program, and panics with a counterexample and the command that replays it if a problem is found.
    ///
    /// If the environment variable `WHIPPET_REPLAY` names a schedule of this test, only that schedule is executed, in
    /// one thread, so that a debugger can follow.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// Checker::new("any sum").check(|sys| {
    ///     let adder = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
    ///         let sum = inbox.receive().await + inbox.receive().await;
    ///         assert_eq!(sum, 3);
    ///     });
    ///     sys.send(adder, 1);
    ///     sys.send(adder, 2);
    /// });
    /// ```
    #[track_caller]
    pub fn check<R: TestOutcome>(&self, body: impl Fn(&mut System) -> R + Send + Sync + 'static) {
        if let Err(failure) = self.try_check(body) {
            panic!("{failure}");
        }
    }

    /// Like [`check`](Checker::check), but returns the failure instead of panicking.
    ///
    /// ```
    /// use whippet::prelude::*;
    /// let result = Checker::new("one").limit_executions(1).try_check(|sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    ///     sys.send(sink, 1);
    ///     sys.send(sink, 2);
    /// });
    /// assert!(result.unwrap_err().to_string().starts_with("no verdict"));
    /// ```
    pub fn try_check<R: TestOutcome>(
        &self,
        body: impl Fn(&mut System) -> R + Send + Sync + 'static,
    ) -> Result<(), CheckFailure> {
        let program = self.program(body);
        if let Some(schedule) = replay::wanted(&self.name)? {
            return replay::carry_out(program, &schedule, self.options.limits.handler);
        }
        let verdict = self.run(program)?;
        let links = replay::save(&self.name, &verdict);
        match failure(&verdict, self.partial, &links) {
            Some(message) => Err(CheckFailure { message }),
            None => Ok(()),
        }
    }
}

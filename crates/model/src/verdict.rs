//! The result of a search, and the limits that may end it early.

use crate::Finding;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// All limits of a search. The verdict lists the limits that were hit.
///
/// ```
/// let limits = whippet_model::Limits::default().with_executions(1_000);
/// assert_eq!(limits.steps, 10_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximal number of steps of one execution: a longer execution is a finding of kind `limit`.
    pub steps: usize,
    /// Maximal number of complete executions of the whole search.
    pub executions: Option<u64>,
    /// Maximal wall time of the whole search.
    pub time: Option<Duration>,
    /// Maximal wall time of one handler: exceeding it is a finding of kind `limit`.
    pub handler: Duration,
    /// Maximal memory, in bytes, by which the process may grow during the search: tables of the search, stored and saved states,
    /// messages, cached results. By default half of what the machine has. Only Linux tells how large a process is; elsewhere
    /// the limit is that of the states stored by a stateful search, and 1 GiB by default.
    pub memory: usize,
    /// Maximal number of findings kept with their schedules; further findings are only counted.
    pub findings: usize,
}

crate::setters!(Limits {
    with_steps => steps: usize,
    with_executions => executions: impl Into<Option<u64>>,
    with_time => time: impl Into<Option<Duration>>,
    with_handler => handler: Duration,
    with_memory => memory: usize,
    with_findings => findings: usize,
});

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 10_000,
            executions: None,
            time: None,
            handler: Duration::from_secs(10),
            memory: crate::memory::half(),
            findings: 100,
        }
    }
}

/// A limit that was hit.
///
/// ```
/// use whippet_model::LimitHit;
/// assert_eq!(LimitHit::Time.to_string(), "the limit on time");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LimitHit {
    /// An execution had more steps than [`Limits::steps`].
    Steps,
    /// [`Limits::executions`] executions were completed.
    Executions,
    /// [`Limits::time`] was exceeded.
    Time,
    /// A handler ran longer than [`Limits::handler`].
    Handler,
    /// [`Limits::memory`] was used up.
    Memory,
    /// The search was told to stop at the first finding.
    FirstBug,
    /// The user interrupted the search.
    Interrupted,
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LimitHit::Steps => "the limit on steps of an execution",
            LimitHit::Executions => "the limit on executions",
            LimitHit::Time => "the limit on time",
            LimitHit::Handler => "the limit on a handler's time",
            LimitHit::Memory => "the limit on memory",
            LimitHit::FirstBug => "the first finding",
            LimitHit::Interrupted => "an interruption",
        })
    }
}

/// Size of the explored part of an unfolding. An event is a step together with its past.
///
/// ```
/// use whippet_search::{Options, Reduction, explore};
/// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
/// let options = Options::new(Reduction::Udpor);
/// let verdict = explore(net.into(), &options, &()).unwrap();
/// let events = verdict.counters.events.unwrap();
/// assert!(events.created >= 4 && events.known <= events.created && events.avoided <= events.known);
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Events {
    /// Events created. An event that was forgotten and found again counts twice.
    pub created: u64,
    /// Maximal number of events known at a time: the largest U.
    pub known: u64,
    /// Maximal number of events to avoid at a time: the largest D.
    pub avoided: u64,
}

/// Counts of a search.
///
/// ```
/// use whippet_model::Counters;
/// let (mut all, mut more) = (Counters::default(), Counters::default());
/// (all.executions, all.depth) = (3, 7);
/// (more.executions, more.depth) = (2, 5);
/// all.add(&more);
/// assert_eq!((all.executions, all.depth), (5, 7));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counters {
    /// Complete executions, including those that ended in a deadlock or a finding.
    pub executions: u64,
    /// Executions abandoned because everything enabled had been explored elsewhere.
    pub blocked: u64,
    /// Steps executed, counting each edge of the explored tree once.
    pub transitions: u64,
    /// Number of times that user code ran.
    pub handler_runs: u64,
    /// Distinct configurations, counted by searches that compare configurations.
    pub states: Option<u64>,
    /// Event counts of an unfolding search.
    pub events: Option<Events>,
    /// Configurations in which no actor was known to be stable (`H`), counted with the order `stable`.
    pub unstable: Option<u64>,
    /// Number of steps of the longest execution.
    pub depth: usize,
    /// Steps in which user code panicked or a check failed, summed over all executions.
    pub problems: u64,
}

impl Counters {
    /// Adds the counts of another worker.
    pub fn add(&mut self, other: &Counters) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.transitions += other.transitions;
        self.handler_runs += other.handler_runs;
        let both = |a: Option<u64>, b: Option<u64>| a.or(b).map(|_| a.unwrap_or(0) + b.unwrap_or(0));
        self.states = both(self.states, other.states);
        self.unstable = both(self.unstable, other.unstable);
        self.events = match (self.events, other.events) {
            (Some(a), Some(b)) => Some(Events {
                created: a.created + b.created,
                known: a.known.max(b.known),
                avoided: a.avoided.max(b.avoided),
            }),
            (a, b) => a.or(b),
        };
        self.depth = self.depth.max(other.depth);
        self.problems += other.problems;
    }
}

/// An estimate of the total size of a search that did not finish.
///
/// ```
/// let verdict = whippet::Checker::new("sampled")
///     .reduction(whippet::Reduction::Random)
///     .samples(200)
///     .seed(1)
///     .explore(|sys| {
///         let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///         (0..3).for_each(|n| sys.send(sink, n));
///     })
///     .unwrap();
/// let estimate = verdict.estimate.unwrap();
/// assert_eq!((estimate.total.round(), estimate.seen), (6.0, Some(6)), "three messages: six orders");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimated total number of executions (for sampling searches: of traces).
    pub total: f64,
    /// The standard error of the estimate.
    pub error: f64,
    /// Number of distinct traces seen, for sampling searches.
    pub seen: Option<u64>,
}

impl Estimate {
    /// Creates an estimate.
    ///
    /// ```
    /// use whippet_model::Estimate;
    /// assert_eq!(Estimate::new(720.0, 0.0).with_seen(540).seen, Some(540));
    /// ```
    #[must_use]
    pub fn new(total: f64, error: f64) -> Estimate {
        Estimate { total, error, seen: None }
    }
}

crate::setters!(Estimate {
    with_seen => seen: impl Into<Option<u64>>,
});

impl Events {
    /// Creates counts of events.
    ///
    /// ```
    /// assert_eq!(whippet_model::Events::new(9, 5, 2).known, 5);
    /// ```
    #[must_use]
    pub fn new(created: u64, known: u64, avoided: u64) -> Events {
        Events { created, known, avoided }
    }
}

/// The algorithm that a reduction chose because it fits the program.
///
/// ```
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// assert_eq!(verdict.algorithm, Some(whippet_model::Algorithm::RevisitSearch), "these are plain actors");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Algorithm {
    /// The optimal search of programs in which two events are dependent iff they belong to the same actor.
    RevisitSearch,
    /// The optimal search of all other programs.
    WakeupTrees,
}

/// The result of a whole search.
///
/// ```
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// assert!(verdict.complete && verdict.findings.is_empty());
/// assert_eq!(verdict.counters.executions, 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The counts.
    pub counters: Counters,
    /// The errors found, each with its shortest counterexample, in a fixed order.
    pub findings: Vec<Finding>,
    /// Possible errors.
    pub warnings: Vec<Finding>,
    /// The results that the program declares, each with the schedule of one execution that has it, ordered by
    /// declaration. Reached states that have to be reachable are among them.
    pub outcomes: Vec<Finding>,
    /// `true` if everything was explored.
    pub complete: bool,
    /// The limits that were hit.
    pub limits: Vec<LimitHit>,
    /// The algorithm, if the reduction chose one of several.
    pub algorithm: Option<Algorithm>,
    /// Notes on how the result was obtained, for example the possible omissions of an unsound rule.
    pub notes: Vec<String>,
    /// `true` if, according to one of the notes, executions may have been missed even though the search is complete.
    pub may_miss: bool,
    /// An estimate of the total size, for a search that is not complete.
    pub estimate: Option<Estimate>,
    /// Wall time of the search.
    pub time: Duration,
}

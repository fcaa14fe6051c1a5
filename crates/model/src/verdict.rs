//! What a search has to say when it is over, and the limits that may end it early.

use crate::Finding;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Every limit of a search, declared once. A limit that was hit is in the verdict.
///
/// ```
/// let limits = whippet_model::Limits { executions: Some(1_000), ..Default::default() };
/// assert_eq!(limits.steps, 10_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Steps of one execution: a longer one is a finding of kind `limit`.
    pub steps: usize,
    /// Complete executions of the whole search.
    pub executions: Option<u64>,
    /// Wall time of the whole search.
    pub time: Option<Duration>,
    /// Wall time of one handler: an endless one is a finding of kind `limit`.
    pub handler: Duration,
    /// Memory for what a machine remembers of handlers' results and a stateful search of states, in bytes.
    pub memory: usize,
    /// Findings that are kept with their schedules; further ones are only counted.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 10_000,
            executions: None,
            time: None,
            handler: Duration::from_secs(10),
            memory: 1 << 30,
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
pub enum LimitHit {
    /// An execution had more steps than [`Limits::steps`].
    Steps,
    /// [`Limits::executions`] were done.
    Executions,
    /// [`Limits::time`] was over.
    Time,
    /// A handler ran longer than [`Limits::handler`].
    Handler,
    /// [`Limits::memory`] was used up.
    Memory,
    /// The search was told to stop at the first finding.
    FirstBug,
    /// Somebody asked it to stop.
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

/// How much an unfolding search had to know: an event is a step together with everything that happens before it.
///
/// ```
/// use whippet_search::{Options, Reduction, explore};
/// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
/// let options = Options { reduction: Reduction::Udpor, ..Options::default() };
/// let verdict = explore(net.into(), &options, &()).unwrap();
/// let events = verdict.counters.events.unwrap();
/// assert!(events.created >= 4 && events.known <= events.created && events.avoided <= events.known);
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Events created, one that was forgotten and met again counted again.
    pub created: u64,
    /// The most events known at a time: the largest U.
    pub known: u64,
    /// The most events to avoid at a time: the largest D.
    pub avoided: u64,
}

/// What a search counted.
///
/// ```
/// use whippet_model::Counters;
/// let mut all = Counters { executions: 3, depth: 7, ..Counters::default() };
/// all.add(&Counters { executions: 2, depth: 5, ..Counters::default() });
/// assert_eq!((all.executions, all.depth), (5, 7));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Complete executions, those that ended in a deadlock or a finding included.
    pub executions: u64,
    /// Executions that were given up because everything enabled had been explored elsewhere.
    pub blocked: u64,
    /// Steps, each edge of the explored tree once.
    pub transitions: u64,
    /// How often code of the user's program ran.
    pub handler_runs: u64,
    /// Different configurations, counted by searches that compare them.
    pub states: Option<u64>,
    /// What an unfolding search knew.
    pub events: Option<Events>,
    /// Configurations where no actor was known to be stable (`H`), counted with the order `stable`.
    pub unstable: Option<u64>,
    /// The deepest execution.
    pub depth: usize,
    /// Steps in which user code panicked or a check failed, over all executions.
    pub problems: u64,
}

impl Counters {
    /// Adds what another worker counted.
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

/// A guess at the size of what a search did not finish.
///
/// ```
/// let verdict = whippet::Whippet::new("sampled")
///     .reduction(whippet::Reduction::Random)
///     .samples(1, 200)
///     .explore(|sys| {
///         let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///         (0..3).for_each(|n| sys.send(sink, n));
///     })
///     .unwrap();
/// let estimate = verdict.estimate.unwrap();
/// assert_eq!((estimate.total.round(), estimate.seen), (6.0, Some(6)), "three messages: six orders");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The guessed number of executions (for sampling searches: of traces) in all.
    pub total: f64,
    /// The standard error of that guess.
    pub error: f64,
    /// Different traces seen, by searches that sample.
    pub seen: Option<u64>,
}

/// What the whole run says.
///
/// ```
/// let verdict = whippet::Whippet::new("holds").explore(|_sys| {}).unwrap();
/// assert!(verdict.complete && verdict.findings.is_empty());
/// assert_eq!(verdict.counters.executions, 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was counted.
    pub counters: Counters,
    /// What is wrong, the shortest story of each, in a fixed order.
    pub findings: Vec<Finding>,
    /// What may be wrong.
    pub warnings: Vec<Finding>,
    /// Whether everything was covered.
    pub complete: bool,
    /// The limits that were hit.
    pub limits: Vec<LimitHit>,
    /// What the reader must know about how the answer was found: the algorithm chosen, what an unsound rule may miss.
    pub notes: Vec<String>,
    /// Whether, by one of the notes, something may have been missed even if everything was covered.
    pub may_miss: bool,
    /// How much there may be in all, where not everything was covered.
    pub estimate: Option<Estimate>,
    /// Wall time.
    pub time: Duration,
}

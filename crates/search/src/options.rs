//! The options of a search.

use crate::reductions::Reduction;
use whippet_model::{Limits, StateComparison};

/// The actor that a search tries first.
///
/// ```
/// use whippet_search::Order;
/// assert_eq!("eca".parse(), Ok(Order::Eca));
/// assert_eq!(Order::Eca.help(), "the actor created earliest: good for pipelines");
/// assert_eq!(Order::ALL.iter().filter(|order| order.name().starts_with("sgr")).count(), 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// The search's own: for `optimal` an order learnt during the search, otherwise like `Fifo`.
    #[default]
    Default,
    /// The actor with the earliest pending message.
    Fifo,
    /// The actor with the latest pending message.
    Lifo,
    /// The actor created earliest.
    Eca,
    /// The actor created latest.
    Lca,
    /// The actor with the fewest deliverable messages.
    Ldm,
    /// The actor with the most deliverable messages.
    Hdm,
    /// The actor that sent most per message received, on average.
    Hms,
    /// The actor that reaches others in the graph of sends.
    Sgr,
    /// Like `Sgr`, but sorting messages with a comparator that is not transitive, as published.
    SgrPublished,
    /// An actor to which no further messages can be sent, otherwise the one with the lowest
    /// [estimate](whippet_model::OrderHints::inbound_estimate), according to the program's text.
    Stable,
}

/// The variant of TransDPOR.
///
/// ```
/// use whippet_search::Rule;
/// assert_eq!(Rule::default(), Rule::Sound);
/// assert!(Rule::Figure2.help().starts_with("the algorithm as printed"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Rule {
    /// Complete: the rules behind the published tables, with the additions that make them complete.
    #[default]
    Sound,
    /// The rule that gives the numbers of the paper's Table 1.
    Table1,
    /// The rule that gives the numbers of the paper's Table 2.
    Table2,
    /// The algorithm as printed in Figure 2.
    Figure2,
}

/// The unit that a stateful search regards as one step (section 3.5.3 of the Basset dissertation).
///
/// ```
/// use whippet_search::StepSize;
/// assert_eq!("big".parse(), Ok(StepSize::Big));
/// assert_eq!(StepSize::default().name(), "little");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum StepSize {
    /// One delivery: each ends in a state of its own.
    #[default]
    Little,
    /// Successive deliveries as long as there is no alternative: the states between them are not stored.
    Big,
}

/// The options of a search.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_search::{Options, Reduction, explore};
/// let test = Arc::new(ActorProgram::new("two actors", |sys| {
///     for _ in 0..2 {
///         let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///         sys.send(sink, 1);
///     }
/// }));
/// let exhaustive = Options::new(Reduction::Exhaustive);
/// assert_eq!(explore(test.clone(), &exhaustive, &()).unwrap().counters.executions, 2);
/// assert_eq!(explore(test, &Options::default(), &()).unwrap().counters.executions, 1);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The executions that the search may skip.
    pub reduction: Reduction,
    /// The actor that the search tries first.
    pub order: Order,
    /// Use sleep sets in the papers' reductions.
    pub sleep: bool,
    /// The variant of TransDPOR.
    pub rule: Rule,
    /// The comparison of configurations in a stateful search.
    pub comparison: StateComparison,
    /// Explore breadth-first in a stateful search.
    pub breadth_first: bool,
    /// The unit that a stateful search regards as one step.
    pub step: StepSize,
    /// In a stateful search, put off deliveries that change nothing and send nothing until they matter, and treat equal
    /// messages as one, so that there are fewer states. States that differ in such messages only are then not counted.
    pub put_off_idle: bool,
    /// The number of events that `udpor` considers for an alternative; `None` means all of them.
    pub alternatives: Option<usize>,
    /// The seed of sampling searches.
    pub seed: u64,
    /// The number of executions of sampling searches.
    pub samples: u64,
    /// The depth of the bugs that `pct` aims at.
    pub pct_depth: usize,
    /// The number of workers that share the search; 0 means one per core.
    pub jobs: usize,
    /// Stop at the first finding.
    pub first_bug: bool,
    /// Report an undeliverable message as a finding instead of a warning.
    pub undeliverable_is_error: bool,
    /// The limits at which the search stops.
    pub limits: Limits,
}

impl Options {
    /// Creates the default options for a reduction.
    ///
    /// ```
    /// use whippet_search::{Options, Order, Reduction};
    /// let options = Options::new(Reduction::Persistent).with_order(Order::Eca).with_sleep(true);
    /// assert_eq!((options.reduction, options.samples), (Reduction::Persistent, Options::default().samples));
    /// ```
    #[must_use]
    pub fn new(reduction: Reduction) -> Options {
        Options { reduction, ..Options::default() }
    }
}

whippet_model::setters!(Options {
    with_reduction => reduction: Reduction,
    with_order => order: Order,
    with_sleep => sleep: bool,
    with_rule => rule: Rule,
    with_comparison => comparison: StateComparison,
    with_breadth_first => breadth_first: bool,
    with_step => step: StepSize,
    with_put_off_idle => put_off_idle: bool,
    with_alternatives => alternatives: impl Into<Option<usize>>,
    with_seed => seed: u64,
    with_samples => samples: u64,
    with_pct_depth => pct_depth: usize,
    with_jobs => jobs: usize,
    with_first_bug => first_bug: bool,
    with_undeliverable_is_error => undeliverable_is_error: bool,
    with_limits => limits: Limits,
});

impl Default for Options {
    fn default() -> Options {
        Options {
            reduction: Reduction::default(),
            order: Order::default(),
            sleep: false,
            rule: Rule::default(),
            comparison: StateComparison::Canonical,
            breadth_first: false,
            step: StepSize::default(),
            put_off_idle: true,
            alternatives: None,
            seed: 0,
            samples: 1_000,
            pct_depth: 3,
            jobs: 1,
            first_bug: false,
            undeliverable_is_error: false,
            limits: Limits::default(),
        }
    }
}

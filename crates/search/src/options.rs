//! What a search can be told.

use whippet_model::{Comparison, Limits};

/// What a search may skip.
///
/// ```
/// use whippet_search::Reduction;
/// assert_eq!(Reduction::default(), Reduction::Optimal);
/// assert_eq!("udpor".parse(), Ok(Reduction::Udpor));
/// for reduction in Reduction::ALL {
///     assert_eq!(reduction.name().parse(), Ok(*reduction), "{}", reduction.help());
/// }
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Reduction {
    /// Nothing: every order of every message.
    Exhaustive,
    /// What follows from a configuration that was seen before.
    Stateful,
    /// dCUTE's rule (figure 2.5 of the Basset dissertation).
    Dcute,
    /// Dynamic persistent sets (figure 2.4).
    Persistent,
    /// Persistent sets that use the transitivity of races between actors.
    Transdpor,
    /// Source sets and sleep sets.
    Source,
    /// Exactly one execution per trace.
    #[default]
    Optimal,
    /// The unfolding: exactly one execution per trace, from the conflicts of events.
    Udpor,
    /// Random walks.
    Random,
    /// Random priorities with a few changes (probabilistic concurrency testing).
    Pct,
    /// Partial-order sampling.
    Pos,
}

impl Reduction {
    /// Whether it skips executions because steps are independent. That is justified as long as they are: a data race
    /// makes them see each other.
    ///
    /// ```
    /// use whippet_search::Reduction;
    /// assert!(Reduction::Optimal.needs_independence());
    /// assert!(!Reduction::Exhaustive.needs_independence(), "it skips nothing");
    /// ```
    #[must_use]
    pub fn needs_independence(self) -> bool {
        match self {
            Reduction::Dcute
            | Reduction::Persistent
            | Reduction::Transdpor
            | Reduction::Source
            | Reduction::Optimal
            | Reduction::Udpor => true,
            Reduction::Exhaustive | Reduction::Stateful | Reduction::Random | Reduction::Pct | Reduction::Pos => false,
        }
    }
}

/// Which actor goes first.
///
/// ```
/// use whippet_search::Order;
/// assert_eq!("eca".parse(), Ok(Order::Eca));
/// assert_eq!(Order::Eca.help(), "the actor created earliest: good for pipelines");
/// assert_eq!(Order::ALL.iter().filter(|order| order.name().starts_with("sgr")).count(), 2);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// The search's own: for `optimal`, learnt while it runs; otherwise like `Fifo`.
    #[default]
    Own,
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
    /// The actor that nobody can send to any more, or else the one of the lowest level, as far as the program's text tells.
    Stable,
}

/// Which variant of TransDPOR.
///
/// ```
/// use whippet_search::Rule;
/// assert_eq!(Rule::default(), Rule::Sound);
/// assert!(Rule::Figure2.help().starts_with("the algorithm as printed"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Rule {
    /// Complete: the rules behind the published tables with what they lack.
    #[default]
    Sound,
    /// The rule that gives the numbers of the paper's Table 1.
    Table1,
    /// The rule that gives the numbers of the paper's Table 2.
    Table2,
    /// The algorithm as printed in Figure 2.
    Figure2,
}

/// What a stateful search regards as one step (section 3.5.3 of the Basset dissertation).
///
/// ```
/// use whippet_search::StepSize;
/// assert_eq!("big".parse(), Ok(StepSize::Big));
/// assert_eq!(StepSize::default().name(), "little");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum StepSize {
    /// Every delivery ends in a state of its own.
    #[default]
    Little,
    /// A delivery without an alternative is one step with the next: the state between them is not kept.
    Big,
}

/// Everything a search can be told.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{Inbox, Test};
/// use whippet_search::{Options, Reduction, explore};
/// let test = Arc::new(Test::new("two actors", |sys| {
///     for _ in 0..2 {
///         let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///         sys.send(sink, 1);
///     }
/// }));
/// let exhaustive = Options { reduction: Reduction::Exhaustive, ..Options::default() };
/// assert_eq!(explore(test.clone(), &exhaustive, &()).unwrap().counters.executions, 2);
/// assert_eq!(explore(test, &Options::default(), &()).unwrap().counters.executions, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// What it may skip.
    pub reduction: Reduction,
    /// Which actor goes first.
    pub order: Order,
    /// Whether sleep sets are used by the papers' reductions.
    pub sleep: bool,
    /// Which variant of TransDPOR.
    pub rule: Rule,
    /// How a stateful search compares configurations.
    pub comparison: Comparison,
    /// Whether a stateful search goes breadth first.
    pub breadth_first: bool,
    /// What a stateful search regards as one step.
    pub step: StepSize,
    /// How many events `udpor` looks at for an alternative; all of them if `None`.
    pub alternatives: Option<usize>,
    /// Where sampling searches start from.
    pub seed: u64,
    /// How many executions sampling searches make.
    pub samples: u64,
    /// The depth of bugs that `pct` aims at.
    pub pct_depth: usize,
    /// How many workers share the search; 0 means one per core.
    pub jobs: usize,
    /// Whether to stop at the first finding.
    pub first_bug: bool,
    /// Whether an undeliverable message is a finding and not a warning.
    pub undeliverable_is_error: bool,
    /// When to give up.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            reduction: Reduction::default(),
            order: Order::default(),
            sleep: false,
            rule: Rule::default(),
            comparison: Comparison::Canonical,
            breadth_first: false,
            step: StepSize::default(),
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

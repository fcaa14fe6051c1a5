//! The flags that control a search, and their translation to [`Options`].

use super::parse::{choice, seconds};
use super::{Explore, Serve};
use clap::{Args, ValueEnum};
use std::time::Duration;
use whippet_model::{Limits, Remembered, StateComparison};
use whippet_search::{Options, Order, Reduction, Rule, StepSize};

/// Options of the search.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search options")]
pub(crate) struct SearchArgs {
    /// The reduction: which executions the search may skip.
    #[arg(long, short, value_name = "REDUCTION", default_value_t, value_parser = choice(Reduction::ALL, Reduction::name, Reduction::help))]
    pub(crate) reduction: Reduction,

    /// The order of search: which actor goes first.
    #[arg(long, short, value_name = "ORDER", default_value_t, value_parser = choice(Order::ALL, Order::name, Order::help))]
    pub(crate) order: Order,

    /// Use sleep sets, with dcute, persistent and transdpor (source always does).
    #[arg(long = "sleep-sets", alias = "sleep")]
    pub(crate) sleep: bool,

    /// The variant of transdpor.
    #[arg(long = "transdpor-rule", alias = "rule", value_name = "RULE", default_value_t, value_parser = choice(Rule::ALL, Rule::name, Rule::help))]
    pub(crate) rule: Rule,

    /// The way in which `stateful` compares configurations.
    #[arg(long = "state-comparison", alias = "compare", value_enum, value_name = "COMPARISON", default_value_t = ComparisonArg::Canonical)]
    pub(crate) comparison: ComparisonArg,

    /// Let `stateful` search breadth-first, which finds shortest paths.
    #[arg(long)]
    pub(crate) breadth_first: bool,

    /// The size of one step in `stateful`.
    #[arg(long = "step-size", alias = "step", value_name = "STEP", default_value_t, value_parser = choice(StepSize::ALL, StepSize::name, StepSize::help))]
    pub(crate) step: StepSize,

    /// Maximal number of events that `udpor` considers when computing an alternative [default: all].
    #[arg(long, value_name = "K")]
    pub(crate) alternatives: Option<usize>,

    /// The seed of `random`, `pct` and `pos`: the same seed gives the same sample.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Number of executions of `random`, `pct` and `pos` [default: 1000, or unlimited if a limit is given].
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,

    /// The bug depth that `pct` aims at: the number of priority changes plus one.
    #[arg(long, value_name = "N", default_value_t = Options::default().pct_depth)]
    pub(crate) pct_depth: usize,

    /// Number of worker threads [default: one per core].
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,

    /// Stop at the first finding.
    #[arg(long)]
    pub(crate) first_bug: bool,

    /// The way in which messages that can never be delivered are reported.
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Undeliverable::Warn)]
    pub(crate) undeliverable: Undeliverable,
}

/// The comparison of configurations.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonArg {
    /// Compare actors by identity, and pending messages as a multiset.
    Canonical,
    /// Distinguish orders of creation and sending: a weak baseline.
    Ordered,
    /// As Basset's comparison for actors: pending messages in order of sending, per receiver (native actors only).
    BassetActor,
    /// Like `basset-actor`, and actors remember the last message.
    BassetActorMessage,
    /// Like `basset-actor`, and actors remember the sender of the last message.
    BassetActorSender,
    /// As Java PathFinder in Basset: one list of pending messages, and the actor that acted last (native actors only).
    BassetJpf,
    /// Like `basset-jpf`, and actors remember the last message.
    BassetJpfMessage,
    /// Like `basset-jpf`, and actors remember the sender of the last message.
    BassetJpfSender,
}

impl From<ComparisonArg> for StateComparison {
    fn from(comparison: ComparisonArg) -> StateComparison {
        match comparison {
            ComparisonArg::Canonical => StateComparison::Canonical,
            ComparisonArg::Ordered => StateComparison::Ordered,
            ComparisonArg::BassetActor => StateComparison::BassetActor(Remembered::Nothing),
            ComparisonArg::BassetActorMessage => StateComparison::BassetActor(Remembered::Message),
            ComparisonArg::BassetActorSender => StateComparison::BassetActor(Remembered::Sender),
            ComparisonArg::BassetJpf => StateComparison::BassetJpf(Remembered::Nothing),
            ComparisonArg::BassetJpfMessage => StateComparison::BassetJpf(Remembered::Message),
            ComparisonArg::BassetJpfSender => StateComparison::BassetJpf(Remembered::Sender),
        }
    }
}

/// The way in which messages that can never be delivered are reported.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undeliverable {
    /// Report a warning.
    Warn,
    /// Report a finding.
    Error,
}

/// The limits. A search that hits a limit reports the limit and the findings so far.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after this many complete executions.
    #[arg(long, value_name = "N")]
    pub(crate) limit_executions: Option<u64>,

    /// Stop after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) limit_seconds: Option<Duration>,

    /// Report an execution with more steps than this, and do not continue it.
    #[arg(long, value_name = "N", default_value_t = Limits::default().steps)]
    pub(crate) limit_steps: usize,

    /// Report a handler that runs longer than this.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub(crate) limit_handler: Duration,

    /// Stop when the process has grown by this much, in MiB [default: half of the machine's memory].
    #[arg(long, value_name = "MIB")]
    pub(crate) limit_memory: Option<usize>,

    /// Keep at most this many findings with their counterexamples.
    #[arg(long, value_name = "N", default_value_t = Limits::default().findings)]
    pub(crate) limit_findings: usize,
}

impl Explore {
    /// Returns the options of the search.
    pub(crate) fn options(&self) -> Options {
        self.search.options(&self.limits)
    }
}

impl Serve {
    /// Returns the options of the search.
    pub(crate) fn options(&self) -> Options {
        self.search.options(&self.limits)
    }
}

impl SearchArgs {
    /// Returns the options of a search with these limits.
    fn options(&self, limits: &LimitArgs) -> Options {
        let search = self;
        let limited = limits.limit_seconds.is_some() || limits.limit_executions.is_some();
        Options::new(search.reduction)
            .with_order(search.order)
            .with_sleep(search.sleep)
            .with_rule(search.rule)
            .with_comparison(search.comparison.into())
            .with_breadth_first(search.breadth_first)
            .with_step(search.step)
            .with_alternatives(search.alternatives)
            .with_seed(search.seed)
            .with_samples(search.samples.unwrap_or(if limited { u64::MAX } else { Options::default().samples }))
            .with_pct_depth(search.pct_depth)
            .with_jobs(search.jobs)
            .with_first_bug(search.first_bug)
            .with_undeliverable_is_error(search.undeliverable == Undeliverable::Error)
            .with_limits(
                Limits::default()
                    .with_steps(limits.limit_steps)
                    .with_executions(limits.limit_executions)
                    .with_time(limits.limit_seconds)
                    .with_handler(limits.limit_handler)
                    .with_memory(limits.limit_memory.map_or(Limits::default().memory, |mebibytes| mebibytes << 20))
                    .with_findings(limits.limit_findings),
            )
    }
}

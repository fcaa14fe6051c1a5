//! The flags that control a search, and their translation to [`Options`].

use super::Explore;
use super::parse::{choice, seconds};
use clap::{Args, ValueEnum};
use std::time::Duration;
use whippet_model::{Comparison, Limits};
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

    /// How `stateful` compares configurations.
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

    /// How to report messages that can never be delivered.
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
}

/// How to report messages that can never be delivered.
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

    /// Use at most this much memory for cached results and stored states, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().memory >> 20)]
    pub(crate) limit_memory: usize,

    /// Keep at most this many findings with their counterexamples.
    #[arg(long, value_name = "N", default_value_t = Limits::default().findings)]
    pub(crate) limit_findings: usize,
}

impl Explore {
    /// Returns the options of the search.
    pub(crate) fn options(&self) -> Options {
        let (search, limits) = (&self.search, &self.limits);
        let limited = limits.limit_seconds.is_some() || limits.limit_executions.is_some();
        Options {
            reduction: search.reduction,
            order: search.order,
            sleep: search.sleep,
            rule: search.rule,
            comparison: match search.comparison {
                ComparisonArg::Canonical => Comparison::Canonical,
                ComparisonArg::Ordered => Comparison::Ordered,
            },
            breadth_first: search.breadth_first,
            step: search.step,
            alternatives: search.alternatives,
            seed: search.seed,
            samples: search.samples.unwrap_or(if limited { u64::MAX } else { Options::default().samples }),
            pct_depth: search.pct_depth,
            jobs: search.jobs,
            first_bug: search.first_bug,
            undeliverable_is_error: search.undeliverable == Undeliverable::Error,
            limits: Limits {
                steps: limits.limit_steps,
                executions: limits.limit_executions,
                time: limits.limit_seconds,
                handler: limits.limit_handler,
                memory: limits.limit_memory << 20,
                findings: limits.limit_findings,
            },
        }
    }
}

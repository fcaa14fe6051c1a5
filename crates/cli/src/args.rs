//! The command-line flags. Each is defined once; help, errors, completions and the options of a search derive from
//! here.
//!
//! The `///` comments on commands, flags and values are the help texts that users see.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use whippet_model::{Comparison, Limits};
use whippet_search::{Options, Order, Reduction, Rule, StepSize};

/// Find bugs that occur only in some orders of messages.
#[derive(Debug, Parser)]
#[command(name = "whippet", version, arg_required_else_help = true, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  whippet list                                         what there is to explore
  whippet explore server --set assert=true             find an inconsistent read, and the story of it
  whippet explore server --set assert=true --save .    the same, keeping a schedule that replays
  whippet replay server-1.json                         tell that story again
  whippet compare fib                                  how much each reduction and order saves
  whippet unfold file.net | dot -Tsvg > file.svg       a picture of everything that can happen

Exit code: 0 searched to the end and nothing found, 1 something found, 2 misuse or no verdict.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the subjects: names, descriptions, parameters with their defaults.
    List(List),
    /// Search a subject or a program file and report the errors found.
    Explore(Box<Explore>),
    /// Replay a schedule step by step.
    Replay(Replay),
    /// Print the unfolding of a small program as a graph: all events, their causes and their conflicts.
    Unfold(Unfold),
    /// Search a program with every reduction and order, and recommend an order.
    Compare(Compare),
    /// Run the published tables again and mark the cells with equal figures.
    Reproduce(Reproduce),
    /// Print a completion script for a shell.
    Completions(Completions),
}

/// List the subjects.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The program, and its settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// A subject (see `whippet list`), or a file that ends in .abs or .net.
    #[arg(value_name = "SUBJECT|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) program: String,

    /// Set a parameter of the program; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,

    /// The order in which messages may arrive [default: the program's own, usually unordered].
    #[arg(long, value_name = "DELIVERY", value_enum)]
    pub(crate) delivery: Option<Delivery>,

    /// The condition that the end of an execution must satisfy [default: the program's own, usually open].
    #[arg(long, value_name = "ENVIRONMENT", value_enum)]
    pub(crate) environment: Option<Environment>,

    /// The rule by which two tasks of one actor conflict [default: fields, as far as they are known].
    #[arg(long, alias = "tasks", value_name = "RULE", value_enum)]
    pub(crate) conflicts: Option<ConflictsArg>,

    /// The dependence relation of programs of mailboxes and mutexes [default: ranked].
    #[arg(long, value_name = "RELATION", value_enum)]
    pub(crate) relation: Option<Relation>,
}

/// The dependence relation of programs of mailboxes and mutexes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Relation {
    /// By the ranks of sends, receives and locks: misses nothing.
    Ranked,
    /// By the published theorems as printed, for comparison: may miss final states and deadlocks if a wait or test is
    /// for several communications. Not for udpor.
    Paper,
}

/// The rule by which two tasks of one actor conflict.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConflictsArg {
    /// Only if one writes a field that the other touches: misses nothing.
    Fields,
    /// Always: misses nothing, takes longer.
    Actors,
    /// Always, but a task marked as independent of an earlier one is skipped until a dependent task runs: may miss
    /// orders if other actors can still send to the selected actor, or if tasks block.
    Marks,
    /// Like marks, but a mark lasts only until the next task, as printed in the paper: may miss the same orders.
    MarksLiteral,
}

/// The order in which messages arrive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Delivery {
    /// Any order.
    Unordered,
    /// The order of sending, for each pair of sender and receiver.
    Fifo,
    /// An order that respects causality.
    Causal,
}

/// The condition that the end of an execution must satisfy.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Environment {
    /// Actors may still be waiting for messages; only an actor blocked in a call is an error.
    Open,
    /// Every actor must have stopped.
    Closed,
}

/// Search a subject or a program file.
#[derive(Debug, Args)]
#[command(after_help = EXPLORE_EXAMPLES)]
pub(crate) struct Explore {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Write the schedule of each finding and warning to a file in this directory.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  whippet explore pi --set workers=9                         every order that matters, on all cores
  whippet explore server --delivery fifo                     with another order of delivery
  whippet explore fib --reduction dcute --order lca          as the papers did
  whippet explore diningphil --first-bug --save schedules    stop at the first deadlock and keep it
  whippet explore leader --reduction pos --limit-seconds 60  a sample of what is too large to finish";

/// Options of the search.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to search")]
pub(crate) struct How {
    /// The reduction: which executions the search may skip.
    #[arg(long, short, value_name = "REDUCTION", default_value_t, value_parser = choice(Reduction::ALL, Reduction::name, Reduction::help))]
    pub(crate) reduction: Reduction,

    /// The order of search: which actor goes first.
    #[arg(long, short, value_name = "ORDER", default_value_t, value_parser = choice(Order::ALL, Order::name, Order::help))]
    pub(crate) order: Order,

    /// Use sleep sets, with dcute, persistent and transdpor (source always does).
    #[arg(long)]
    pub(crate) sleep: bool,

    /// The variant of transdpor.
    #[arg(long, value_name = "RULE", default_value_t, value_parser = choice(Rule::ALL, Rule::name, Rule::help))]
    pub(crate) rule: Rule,

    /// The comparison of configurations by `stateful`.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Compared::Canonical)]
    pub(crate) compare: Compared,

    /// Let `stateful` search breadth-first, which finds shortest paths.
    #[arg(long)]
    pub(crate) breadth_first: bool,

    /// The size of one step in `stateful`.
    #[arg(long, value_name = "STEP", default_value_t, value_parser = choice(StepSize::ALL, StepSize::name, StepSize::help))]
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

    /// Number of priority changes of `pct` plus one: the depth of the bugs that it aims at.
    #[arg(long, value_name = "N", default_value_t = Options::default().pct_depth)]
    pub(crate) pct_depth: usize,

    /// Number of workers that share the search [default: one per core].
    #[arg(long, short, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,

    /// Stop at the first finding.
    #[arg(long)]
    pub(crate) first_bug: bool,

    /// The treatment of messages that can never be delivered.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Undeliverable::Warn)]
    pub(crate) undeliverable: Undeliverable,
}

/// The comparison of configurations.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compared {
    /// Compare actors by identity, and pending messages as a multiset.
    Canonical,
    /// Distinguish orders of creation and sending: a weak baseline.
    Ordered,
}

/// The treatment of messages that can never be delivered.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undeliverable {
    /// Report a warning.
    Warn,
    /// Report a finding.
    Error,
}

/// The limits. A search that hits a limit reports the limit and the findings so far.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "When to give up")]
pub(crate) struct LimitArgs {
    /// Stop after this many complete executions.
    #[arg(long, value_name = "N")]
    pub(crate) limit_executions: Option<u64>,

    /// Stop after this time.
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

/// Replay a schedule.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// A schedule written by `explore --save`, or a report of `explore --json`; `-` reads standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Number of the finding in a report; warnings are numbered after the findings.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) finding: usize,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the unfolding of a small program.
#[derive(Debug, Args)]
#[command(after_help = UNFOLD_EXAMPLES)]
pub(crate) struct Unfold {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Print JSON instead of DOT, the language of Graphviz.
    #[arg(long)]
    pub(crate) json: bool,

    /// Stop after this many executions.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) limit_executions: u64,
}

const UNFOLD_EXAMPLES: &str = "\
An event is a step together with everything that happens before it. Arrows lead from causes to effects; a dashed line is a
conflict: no execution has both events.

Examples:
  whippet unfold any_src-can-deadlock3 | dot -Tsvg > picture.svg
  whippet unfold examples/net/philosophers.net --json";

/// Search a program with every reduction and order.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Stop each search after this many executions.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) limit_executions: u64,

    /// Stop each search after this time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    pub(crate) limit_seconds: Duration,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run the published tables again.
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Run only this table: transdpor-1, transdpor-2, 3.1, 3.2, 3.3, 4.1, 4.2, futures, udpor or selection.
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<String>,

    /// Run only this subject.
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,

    /// Use this rule for all transdpor cells, instead of each table's own.
    #[arg(long, value_name = "RULE", value_parser = choice(Rule::ALL, Rule::name, Rule::help))]
    pub(crate) rule: Option<Rule>,

    /// Stop each cell after this time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub(crate) limit_seconds: Duration,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a completion script.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

impl Explore {
    /// Returns the options of the search.
    pub(crate) fn options(&self) -> Options {
        let (how, limits) = (&self.how, &self.limits);
        let limited = limits.limit_seconds.is_some() || limits.limit_executions.is_some();
        Options {
            reduction: how.reduction,
            order: how.order,
            sleep: how.sleep,
            rule: how.rule,
            comparison: match how.compare {
                Compared::Canonical => Comparison::Canonical,
                Compared::Ordered => Comparison::Ordered,
            },
            breadth_first: how.breadth_first,
            step: how.step,
            alternatives: how.alternatives,
            seed: how.seed,
            samples: how.samples.unwrap_or(if limited { u64::MAX } else { Options::default().samples }),
            pct_depth: how.pct_depth,
            jobs: how.jobs,
            first_bug: how.first_bug,
            undeliverable_is_error: how.undeliverable == Undeliverable::Error,
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

/// Returns a parser for one of several names, each with a line of help.
fn choice<T>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + FromStr + Send + Sync + 'static,
{
    let values = all.iter().map(|&known| PossibleValue::new(name(known)).help(help(known)));
    PossibleValuesParser::new(values)
        .map(|name| name.parse().unwrap_or_else(|_| unreachable!("only known names get through")))
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("a setting is written name=value, as in --set workers=4".into()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    Duration::try_from_secs_f64(number).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn explore(arguments: &[&str]) -> Explore {
        let line = ["whippet", "explore", "pi"].iter().chain(arguments);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Explore(explore) => *explore,
            other => panic!("not an exploration: {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_flags_the_options_are_the_default_ones_on_all_cores() {
        let wanted = Options { jobs: 0, ..Options::default() };
        assert_eq!(format!("{:?}", explore(&[]).options()), format!("{wanted:?}"));
    }

    #[test]
    fn a_sample_goes_on_until_the_limit_that_is_given() {
        assert_eq!(explore(&["--limit-seconds", "0.5"]).options().samples, u64::MAX);
        assert_eq!(explore(&["--limit-seconds", "0.5", "--samples", "7"]).options().samples, 7);
        assert_eq!(explore(&["--limit-seconds", "0.5"]).options().limits.time, Some(Duration::from_millis(500)));
    }

    #[test]
    fn settings_are_pairs() {
        assert_eq!(explore(&["--set", "n=3", "--set", "edges=a=b"]).which.settings[1], ("edges".into(), "a=b".into()));
        assert!(setting("n").unwrap_err().contains("name=value"));
        assert!(setting("=3").is_err());
        assert!(seconds("-1").is_err());
    }
}

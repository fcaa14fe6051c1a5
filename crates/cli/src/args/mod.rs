//! The command-line flags. Each is defined once; help, errors, completions and the options of a search derive from
//! here.
//!
//! The `///` comments on commands, flags and values are the help texts that users see. A flag that was renamed keeps
//! its old name as a hidden alias.

mod parse;
pub(crate) use parse::range;
mod program;
mod search;

pub(crate) use program::{ConflictsArg, DeliveryArg, EnvironmentArg, ProgramArgs, RelationArg};
pub(crate) use search::{LimitArgs, SearchArgs};

use clap::{Args, Parser, Subcommand, ValueHint};
use parse::{choice, seconds};
use std::path::PathBuf;
use std::time::Duration;
use whippet_search::Rule;

/// Find bugs that occur only in some orders of messages.
///
/// Whippet runs a program under its own control, executes every meaningfully different order of messages once, and
/// reports each error with a minimal schedule that replays it.
#[derive(Debug, Parser)]
#[command(name = "whippet", version, arg_required_else_help = true, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  whippet list                                         list the programs that can be explored
  whippet explore server --set assert=true             find an inconsistent read
  whippet explore server --set assert=true --save .    the same, and save the schedule
  whippet replay server-1.json                         replay the saved schedule
  whippet serve server --set assert=true               walk through the program in a browser
  whippet compare fib                                  compare all reductions and orders
  whippet unfold file.net | dot -Tsvg > file.svg       draw all events of a small program

Exit status:
  0  the search is complete and found nothing
  1  the search found an error
  2  wrong usage, or no verdict (for example because of a limit)";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the built-in programs with their parameters and defaults.
    List(List),
    /// Search a program for errors.
    ///
    /// The search executes every meaningfully different order of messages. It continues after an error and reports
    /// each error once, with a minimal counterexample.
    Explore(Box<Explore>),
    /// Continue a search that was saved.
    ///
    /// A search of `explore --checkpoint DIR` that was interrupted, killed, or stopped by a limit goes on, with the same
    /// options. With other limits or another number of workers: repeat its command with other values.
    Resume(Resume),
    /// Walk through a program in a browser.
    ///
    /// Opens a local page that shows everything that can happen next, takes one choice after the other, goes back,
    /// reverses races, and shows the progress of a search. Ctrl-C ends it.
    Serve(Box<Serve>),
    /// Replay a schedule step by step.
    Replay(Replay),
    /// Print all events of a small program, with their causes and conflicts, as a graph.
    Unfold(Unfold),
    /// Compare all reductions and orders on a program, and recommend an order.
    Compare(Compare),
    /// Run the experiments of the papers again and compare the numbers.
    Reproduce(Reproduce),
    /// Print a completion script for a shell.
    Completions(Completions),
}

/// List the built-in programs with their parameters and defaults.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print one JSON array instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Search a program for errors.
#[derive(Debug, Args)]
#[command(after_help = EXPLORE_EXAMPLES)]
pub(crate) struct Explore {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Save the schedule of each finding and warning to a file in this directory.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) save: Option<PathBuf>,

    /// Write a page that shows all findings: diagram, steps, sources, and why they happen.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the trace of the first finding; the ending decides the format: .json, .html, .shiviz, .dot, .mmd
    /// (Mermaid) or .trace (Chrome, Perfetto).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Save the search in this directory every few seconds, and continue the search that is saved there [default: a
    /// directory below target, if there is one, after 30 seconds].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Neither save the search nor continue one, unless --checkpoint is given.
    #[arg(long)]
    pub(crate) no_checkpoint: bool,

    /// The time between two saves.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    pub(crate) checkpoint_seconds: Duration,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  whippet explore pi --set workers=9                         search with a parameter
  whippet explore server --delivery fifo                     search with FIFO delivery
  whippet explore server --set assert=true --html bug.html   write a page that shows the error
  whippet explore fib --reduction dcute --order lca          use another reduction and order
  whippet explore bank.abs --method Account.withdraw         explore a method with all inputs in bounds
  whippet explore diningphil --first-bug --save schedules    save the schedule of the first error
  whippet explore pi --set workers=11 --checkpoint saved     save the search; again, and it continues
  whippet explore leader --reduction pos --limit-seconds 60  sample a program that is too large";

/// Continue a search that was saved.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The directory of `explore --checkpoint`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
}

/// Walk through a program in a browser.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// The port of the page, on the loopback interface only [default: a free one].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

const SERVE_EXAMPLES: &str = "\
The address contains a secret token: without it nobody else on this machine, and no other page,
can run the program.

Examples:
  whippet serve server --set assert=true                   a subject with a bug
  whippet serve examples/net/master-worker-deadlock.net    a file
  whippet serve pi --set workers=9 --port 8000             always the same port";

/// Replay a schedule step by step.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// A schedule saved by `explore --save`, or a report of `explore --json`; `-` reads standard input.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Number of the finding in a report; warnings are numbered after the findings.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) finding: usize,

    /// Write a page that shows the execution: diagram, steps, sources, states.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the trace; the ending decides the format: .json, .html, .shiviz, .dot, .mmd (Mermaid) or .trace (Chrome,
    /// Perfetto).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print all events of a small program, with their causes and conflicts, as a graph.
#[derive(Debug, Args)]
#[command(after_help = UNFOLD_EXAMPLES)]
pub(crate) struct Unfold {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Print JSON instead of DOT, the language of Graphviz.
    #[arg(long)]
    pub(crate) json: bool,

    /// Stop after this many executions.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) limit_executions: u64,
}

const UNFOLD_EXAMPLES: &str = "\
An event is a step together with all steps that happen before it. Arrows lead from causes to effects.
A dashed line is a conflict: no execution contains both events.

Examples:
  whippet unfold any_src-can-deadlock3 | dot -Tsvg > picture.svg
  whippet unfold examples/net/philosophers.net --json";

/// Compare all reductions and orders on a program, and recommend an order.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Stop each search after this many executions.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) limit_executions: u64,

    /// Stop each search after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    pub(crate) limit_seconds: Duration,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run the experiments of the papers again and compare the numbers.
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Run only this table: transdpor-1, transdpor-2, 3.1, 3.2, 3.3, 4.1, 4.2, futures, udpor or selection.
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<String>,

    /// Run only this program.
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,

    /// Use this variant of transdpor in all tables, instead of the one that each table used.
    #[arg(long = "transdpor-rule", alias = "rule", value_name = "RULE", value_parser = choice(Rule::ALL, Rule::name, Rule::help))]
    pub(crate) rule: Option<Rule>,

    /// Stop each cell after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub(crate) limit_seconds: Duration,

    /// Write all tables as one page: figures, times, memory, speed-ups and plots, published and ours.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use whippet_search::Options;

    fn explore(arguments: &[&str]) -> Explore {
        let line = ["whippet", "explore", "pi"].iter().chain(arguments);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Explore(explore) => *explore,
            other => panic!("not an exploration: {other:?}"),
        }
    }

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn default_options_use_all_cores() {
        let expected = Options::default().with_jobs(0);
        assert_eq!(format!("{:?}", explore(&[]).options()), format!("{expected:?}"));
    }

    #[test]
    fn limits_make_samples_unlimited() {
        assert_eq!(explore(&["--limit-seconds", "0.5"]).options().samples, u64::MAX);
        assert_eq!(explore(&["--limit-seconds", "0.5", "--samples", "7"]).options().samples, 7);
        assert_eq!(explore(&["--limit-seconds", "0.5"]).options().limits.time, Some(Duration::from_millis(500)));
    }

    #[test]
    fn settings_are_name_value_pairs() {
        let explore = explore(&["--set", "n=3", "--set", "edges=a=b"]);
        assert_eq!(explore.program.settings[1], ("edges".into(), "a=b".into()));
    }

    #[test]
    fn renamed_flags_keep_their_old_names() {
        for (old, new) in [
            (&["--tasks", "actors"][..], &["--conflicts", "actors"][..]),
            (&["--sleep"], &["--sleep-sets"]),
            (&["--rule", "table1"], &["--transdpor-rule", "table1"]),
            (&["--compare", "ordered"], &["--state-comparison", "ordered"]),
            (&["--step", "big"], &["--step-size", "big"]),
        ] {
            assert_eq!(format!("{:?}", explore(old)), format!("{:?}", explore(new)));
            assert_ne!(format!("{:?}", explore(old)), format!("{:?}", explore(&[])), "{old:?} has an effect");
        }
        let help = Cli::command().find_subcommand_mut("explore").unwrap().render_long_help().to_string();
        assert!(help.contains("--conflicts") && !help.contains("--tasks"), "{help}");
    }
}

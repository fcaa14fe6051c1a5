//! The command line. Whippet's own options are defined here once, with clap. [`parts`] tells them from cargo's.

mod parts;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use parts::{names, own_value, split};
use std::path::PathBuf;
use whippet_search::{Order, Reduction};

const EXAMPLES: &str = "\
Cargo's options that select and build tests can be used too: -p, --workspace, --lib, --test NAME, --features …
The test filter and the options of the test harness go after `--`, as with `cargo test`.

Examples:
  cargo whippet test                                all tests of this package, in all orders
  cargo whippet test -p bank -- two_customers       one test of one package
  cargo whippet test --limit-seconds 60             at most a minute of each test
  cargo whippet test --hook ractor                  the operations of ractor on std::sync are events too
  cargo whippet test --junit report.xml             a report for a CI server
  cargo whippet replay target/whippet/schedules/bank.test-bank.two_customers-1.json
  cargo whippet serve two_customers                 walk through a test in a browser

Both kinds of tests are explored: #[tokio::test] with tokio's types, and #[whippet::test] with actors.
A failure's schedule is kept in the directory whippet-regressions of its package and re-run first; see --regressions.

The options can also be set, without the leading dashes, in [package.metadata.whippet] and [workspace.metadata.whippet],
and as environment variables, such as WHIPPET_LIMIT_SECONDS=60. The command line goes first, then the environment.

Exit code: 0 if the search was complete and found nothing, 1 if it found something, 2 for misuse or no verdict.";

const START: &str = "\
Start with `cargo whippet test` in your package. A test that fails names the command that replays its schedule,
and the page that shows it. `cargo whippet test --help` has examples, and the exit codes.";

/// Explores tests of tokio tasks and of actors in all orders.
#[derive(Parser)]
#[command(name = "cargo whippet", bin_name = "cargo whippet", version, arg_required_else_help = true, after_help = START, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Explore every `#[tokio::test]` and `#[whippet::test]` in all orders.
    Test(Test),
    /// Replay the schedule of a finding.
    Replay(Replay),
    /// Compare all reductions and orders of the search on one test.
    Compare(Compare),
    /// Print all events of a small test as a graph.
    Unfold(Unfold),
    /// Walk through a test in a browser.
    Serve(Serve),
    /// Run a program or an example once, on the shim for tokio.
    Run(Run),
}

/// The options of a search.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Search {
    /// Reduction of the search: which executions it may skip [default: optimal].
    #[arg(long, value_name = "R", value_parser = reductions())]
    pub(crate) reduction: Option<String>,
    /// Order of the search: which actor or task goes first [default: the search's own choice].
    #[arg(long, value_name = "O", value_parser = orders())]
    pub(crate) order: Option<String>,
    /// Use sleep sets, with the reductions for which they are optional.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) sleep_sets: Option<bool>,
    /// Seed of a search that samples [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Number of executions of a search that samples [default: 1000].
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,
    /// Stop the search of a test after N executions.
    #[arg(long, value_name = "N")]
    pub(crate) limit_executions: Option<u64>,
    /// Stop the search of a test after N seconds.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub(crate) limit_seconds: Option<f64>,
    /// Maximum length of an execution; a test with a longer one has no verdict [default: 10000].
    #[arg(long, value_name = "N")]
    pub(crate) limit_steps: Option<usize>,
    /// The longest stall of the runtime that a failure may need, per execution, such as 5ms or 1s; `unlimited` lets every
    /// timer fire early, 0 none [default: 20ms].
    #[arg(long, value_name = "DURATION", value_parser = stall)]
    pub(crate) stall: Option<String>,
    /// The runtime on which a failure counts: one with `several` threads, one with `one` thread, or the one that the test has
    /// `declared` [default: declared].
    #[arg(long, value_name = "RUNTIME", value_parser = ["several", "one", "declared"])]
    pub(crate) threads: Option<String>,
    /// Maximum number of timers that may fire early in one execution [default: 4].
    #[arg(long, value_name = "N")]
    pub(crate) timers: Option<u64>,
    /// Number of tests explored in parallel, each in its own process [default: one per core].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) jobs: Option<u64>,
    /// Number of threads that share the search of one test; only for tests without global variables [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) workers: Option<u64>,
    /// Stop the search of a test at its first finding.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) first_bug: Option<bool>,
    /// Report tasks that are still waiting when a test ends as findings.
    #[arg(long, alias = "left-behind", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) leaked_tasks: Option<bool>,
    /// Report messages that were sent but never received as findings.
    #[arg(long, alias = "untaken", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) unreceived: Option<bool>,
    /// Add a scheduling point before every operation, even where the order cannot matter to programs that share only
    /// tokio's types.
    #[arg(long, alias = "deep", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) preempt_everywhere: Option<bool>,
    /// Make every operation a step of its own, even where no other task can come between it and the one before.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_merge: Option<bool>,
    #[command(flatten)]
    pub(crate) hooks: Hooks,
    /// Run each test in one order only, with tasks taking turns, to check that it works on the shim at all.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) once: Option<bool>,
    /// Number of random executions beside each search [default: 1000 if tests share memory outside tokio's types,
    /// otherwise 0].
    #[arg(long, value_name = "N")]
    pub(crate) random: Option<u64>,
    /// Directory for the pages that show findings, or `off` [default: beside the schedules].
    #[arg(long, value_name = "DIR")]
    pub(crate) html: Option<String>,
    /// Directory in which the schedules of failures are kept, to be re-run first, or `off` [default:
    /// whippet-regressions in the package].
    #[arg(long, value_name = "DIR")]
    pub(crate) regressions: Option<String>,
}

/// The options that select the output of a run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Reports {
    /// Print one JSON object to standard output; everything else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print annotations for GitHub; the default if GITHUB_ACTIONS is set.
    #[arg(long)]
    pub(crate) github: bool,
}

/// The arguments that are not settings of a search: the name, and `true` if a value follows.
const NOT_OF_THE_SEARCH: [(&str, bool); 5] =
    [("--json", false), ("--junit", true), ("--github", false), ("--debug", false), ("--port", true)];

/// The options that select the crates whose shared memory is observed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Hooks {
    /// Crates whose use of std::sync is explored too: names, or `all` for every crate that may have tasks.
    #[arg(long, value_name = "CRATES", value_delimiter = ',')]
    pub(crate) hook: Vec<String>,
    /// Do not hook std::sync in your own crates; by default it is hooked.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_hook: Option<bool>,
}

#[derive(Args)]
#[command(after_help = EXAMPLES, max_term_width = 110, override_usage = "cargo whippet test [OPTIONS] [CARGO OPTIONS] [-- [FILTER] [HARNESS OPTIONS]]")]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) search: Search,
    #[command(flatten)]
    pub(crate) reports: Reports,
    /// The arguments for cargo.
    #[arg(skip)]
    pub(crate) cargo: Vec<String>,
    /// The test filter and the arguments of the test harness, given after `--` as with `cargo test`.
    #[arg(skip)]
    pub(crate) filter: Vec<String>,
    /// Whippet's own arguments, unparsed.
    #[arg(skip)]
    pub(crate) own: Vec<String>,
}

#[derive(Args)]
#[command(max_term_width = 110, override_usage = "cargo whippet replay [OPTIONS] <FILE> [CARGO OPTIONS]")]
pub(crate) struct Replay {
    /// Schedule file written by `cargo whippet test`.
    pub(crate) file: PathBuf,
    /// Run the schedule under a debugger: the first installed one of rust-gdb, rust-lldb, gdb and lldb.
    #[arg(long)]
    pub(crate) debug: bool,
    #[command(flatten)]
    pub(crate) search: Search,
    /// The arguments for cargo.
    #[arg(skip)]
    pub(crate) cargo: Vec<String>,
    /// Whippet's own arguments, unparsed.
    #[arg(skip)]
    pub(crate) own: Vec<String>,
}

/// The arguments that select one test.
#[derive(Args)]
pub(crate) struct OneTest {
    /// Name of the test, or a part of it that no other test has.
    #[arg(value_name = "TEST")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) search: Search,
    /// The arguments for cargo.
    #[arg(skip)]
    pub(crate) cargo: Vec<String>,
    /// Whippet's own arguments, unparsed.
    #[arg(skip)]
    pub(crate) own: Vec<String>,
}

/// Runs every reduction with every order, within the limits (by default 10,000 executions and 5 seconds each).
#[derive(Args)]
#[command(max_term_width = 110, override_usage = "cargo whippet compare [OPTIONS] <TEST> [CARGO OPTIONS]")]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) test: OneTest,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the graph in DOT, for Graphviz, or as JSON.
#[derive(Args)]
#[command(max_term_width = 110, override_usage = "cargo whippet unfold [OPTIONS] <TEST> [CARGO OPTIONS]")]
pub(crate) struct Unfold {
    #[command(flatten)]
    pub(crate) test: OneTest,
    /// Print JSON instead of DOT.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Opens a page on this machine, and runs until Ctrl-C.
#[derive(Args)]
#[command(max_term_width = 110, override_usage = "cargo whippet serve [OPTIONS] <TEST> [CARGO OPTIONS]")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) test: OneTest,
    /// Port of the page [default: any free one].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}

#[derive(Args)]
#[command(max_term_width = 110, override_usage = "cargo whippet run [OPTIONS] [CARGO OPTIONS] [-- ARGUMENTS]")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) hooks: Hooks,
    /// The arguments for cargo.
    #[arg(skip)]
    pub(crate) cargo: Vec<String>,
    /// The arguments of the program, given after `--`.
    #[arg(skip)]
    pub(crate) program: Vec<String>,
    /// Whippet's own arguments, unparsed.
    #[arg(skip)]
    pub(crate) own: Vec<String>,
}

fn reductions() -> PossibleValuesParser {
    Reduction::ALL.iter().map(|reduction| reduction.name()).collect::<Vec<_>>().into()
}

fn orders() -> PossibleValuesParser {
    Order::ALL.iter().map(|order| order.name()).collect::<Vec<_>>().into()
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("expected a number of seconds".into()) }
}

fn stall(text: &str) -> Result<String, String> {
    whippet_protocol::duration(text).map(|_| text.to_string())
}

/// Parses the arguments after `cargo whippet`.
pub(crate) fn parse(given: Vec<String>) -> Result<Command, String> {
    let start = vec!["cargo whippet".to_string()];
    let is = |name: &str| given.first().is_some_and(|word| word == name);
    if !["test", "replay", "compare", "unfold", "serve", "run"].into_iter().any(is) {
        return Ok(Arguments::parse_from([start, given].concat()).command);
    }
    let words = !is("test") && !is("run");
    let command = Arguments::command();
    let sub = command.find_subcommand(&given[0]).expect("it was just compared");
    let parts = split(sub, &given[1..], words)?;
    let Arguments { mut command } = Arguments::parse_from([start, vec![given[0].clone()], parts.own.clone()].concat());
    match &mut command {
        Command::Test(test) => {
            (test.cargo, test.filter, test.own) = (parts.cargo, parts.filter, of_the_search(parts.own, ""));
        }
        Command::Replay(replay) => {
            replay.own = of_the_search(parts.own, &replay.file.to_string_lossy());
            replay.cargo = parts.cargo;
        }
        Command::Compare(Compare { test, .. })
        | Command::Unfold(Unfold { test, .. })
        | Command::Serve(Serve { test, .. }) => {
            (test.cargo, test.own) = (parts.cargo, of_the_search(parts.own, &test.name));
        }
        Command::Run(run) => (run.cargo, run.program, run.own) = (parts.cargo, parts.filter, parts.own),
    }
    Ok(command)
}

/// Returns the arguments that concern only the search: without the word that is the file or the test.
fn of_the_search(own: Vec<String>, word: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut given = own.into_iter();
    while let Some(argument) = given.next() {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        match NOT_OF_THE_SEARCH.iter().find(|(other, _)| *other == name) {
            Some((_, value)) if *value && name == argument => drop(given.next()),
            Some(_) => {}
            None if argument == word => {}
            None => kept.push(argument),
        }
    }
    kept
}

/// Parses the settings of a search from command-line words. If a setting is given several times, the last one wins.
pub(crate) fn search(words: &[String]) -> Result<Search, String> {
    #[derive(Parser)]
    #[command(name = "whippet", no_binary_name = true, args_override_self = true, disable_help_flag = true)]
    struct Settings {
        #[command(flatten)]
        search: Search,
    }
    let settings = Settings::command();
    for word in words.iter().filter(|word| word.starts_with('-')) {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if own_value(&settings, name).is_none() {
            let known: Vec<String> = names(&settings).iter().map(|name| name.trim_start_matches('-').into()).collect();
            return Err(format!(
                "there is no setting `{}`; the settings are: {}",
                name.trim_start_matches('-'),
                known.join(", ")
            ));
        }
    }
    let read = Settings::try_parse_from(words).map_err(|error| {
        error.render().to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_string()
    })?;
    Ok(read.search)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_no_settings() {
        let line = ["--json", "--timers", "2", "--junit", "a.xml", "--junit=b.xml", "--github"].map(String::from);
        assert_eq!(of_the_search(line.to_vec(), ""), ["--timers", "2"]);
        let command = parse(["compare", "two", "--json", "-p", "bank", "--timers=1"].map(String::from).to_vec());
        let Ok(Command::Compare(Compare { test, json: true })) = command else { panic!("another command") };
        assert_eq!(
            (test.name.as_str(), test.own, test.cargo),
            ("two", vec!["--timers=1".into()], vec!["-p".into(), "bank".into()])
        );
    }

    #[test]
    fn the_last_setting_wins() {
        let words = ["--timers", "1", "--leaked-tasks", "--timers", "2", "--leaked-tasks=false"].map(String::from);
        let search = search(&words).unwrap();
        assert_eq!((search.timers, search.leaked_tasks), (Some(2), Some(false)));
    }

    #[test]
    fn former_names_still_work() {
        let words = ["--left-behind", "--untaken", "--deep"].map(String::from);
        let command = Arguments::command();
        let test = command.find_subcommand("test").unwrap();
        assert_eq!(split(test, &words, false).unwrap().own, words);
        let search = search(&words).unwrap();
        assert_eq!(
            (search.leaked_tasks, search.unreceived, search.preempt_everywhere),
            (Some(true), Some(true), Some(true))
        );
    }

    #[test]
    fn settings_are_checked() {
        let error = search(&["--timer=1".into()]).unwrap_err();
        assert!(error.starts_with("there is no setting `timer`; the settings are: reduction, "), "{error}");
        let error = search(&["--reduction=best".into()]).unwrap_err();
        assert!(error.contains("'best'"), "{error}");
    }
}

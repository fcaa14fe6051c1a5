//! The command line. Whippet's own options are defined here once, with clap. Cargo's options are recognized by name and
//! passed on, so that both kinds can be given in any order. An unknown option is an error that lists the known ones.

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use whippet_search::Reduction;

const EXAMPLES: &str = "\
Cargo's options that select and build tests can be used too: -p, --workspace, --lib, --test NAME, --features …
The test filter and the options of the test harness go after `--`, as with `cargo test`.

Examples:
  cargo whippet test                                all tests of this package, in all orders
  cargo whippet test -p bank -- two_customers       one test of one package
  cargo whippet test --limit-seconds 60             at most a minute of each test
  cargo whippet test --hook ractor                  the operations of ractor on std::sync are events too
  cargo whippet replay target/whippet/schedules/two_customers-1.json

The options can also be set, without the leading dashes, in [package.metadata.whippet] and [workspace.metadata.whippet].

Exit code: 0 if the search was complete and found nothing, 1 if it found something, 2 for misuse or no verdict.";

/// Explores tokio tests in all orders.
#[derive(Parser)]
#[command(name = "cargo whippet", bin_name = "cargo whippet", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Explore every `#[tokio::test]` instead of running it once.
    Test(Test),
    /// Replay the schedule of a finding.
    Replay(Replay),
    /// Run a program or an example once, on the shim for tokio.
    Run(Run),
}

/// The options of a search.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Search {
    /// Reduction of the search: which executions it may skip [default: optimal].
    #[arg(long, value_name = "R", value_parser = reductions())]
    pub(crate) reduction: Option<String>,
    /// Stop the search of a test after N executions.
    #[arg(long, value_name = "N")]
    pub(crate) limit_executions: Option<u64>,
    /// Stop the search of a test after N seconds.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub(crate) limit_seconds: Option<f64>,
    /// Report an execution of more than N steps as a finding [default: 10000].
    #[arg(long, value_name = "N")]
    pub(crate) limit_steps: Option<usize>,
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
}

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

fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("expected a number of seconds".into()) }
}

/// Cargo's options that select and build tests: the name, the short form, and `true` if a value follows.
const CARGO: [(&str, &str, bool); 33] = [
    ("--package", "-p", true),
    ("--workspace", "", false),
    ("--all", "", false),
    ("--exclude", "", true),
    ("--lib", "", false),
    ("--bins", "", false),
    ("--bin", "", true),
    ("--examples", "", false),
    ("--example", "", true),
    ("--tests", "", false),
    ("--test", "", true),
    ("--benches", "", false),
    ("--bench", "", true),
    ("--all-targets", "", false),
    ("--features", "-F", true),
    ("--all-features", "", false),
    ("--no-default-features", "", false),
    ("--release", "-r", false),
    ("--profile", "", true),
    ("--target", "", true),
    ("--manifest-path", "", true),
    ("--ignore-rust-version", "", false),
    ("--keep-going", "", false),
    ("--timings", "", false),
    ("--verbose", "-v", false),
    ("--quiet", "-q", false),
    ("--color", "", true),
    ("--config", "", true),
    ("--offline", "", false),
    ("--locked", "", false),
    ("--frozen", "", false),
    ("--no-fail-fast", "", false),
    ("-Z", "-Z", true),
];

/// The command line, split by recipient.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    /// Whippet's own arguments.
    own: Vec<String>,
    cargo: Vec<String>,
    /// The test filter, and all arguments after `--`.
    filter: Vec<String>,
}

/// Parses the arguments after `cargo whippet`.
pub(crate) fn parse(given: Vec<String>) -> Result<Command, String> {
    let start = vec!["cargo whippet".to_string()];
    let is = |name: &str| given.first().is_some_and(|word| word == name);
    if !["test", "replay", "run"].into_iter().any(is) {
        return Ok(Arguments::parse_from([start, given].concat()).command);
    }
    let replay = is("replay");
    let command = Arguments::command();
    let sub = command.find_subcommand(&given[0]).expect("it was just compared");
    let parts = split(sub, &given[1..], replay)?;
    let Arguments { mut command } = Arguments::parse_from([start, vec![given[0].clone()], parts.own.clone()].concat());
    match &mut command {
        Command::Test(test) => (test.cargo, test.filter, test.own) = (parts.cargo, parts.filter, parts.own),
        Command::Replay(replay) => {
            replay.own = without_values(parts.own, &["--debug"], &replay.file);
            replay.cargo = parts.cargo;
        }
        Command::Run(run) => (run.cargo, run.program, run.own) = (parts.cargo, parts.filter, parts.own),
    }
    Ok(command)
}

/// Returns `own` without these flags and the file: the arguments that concern only the search.
fn without_values(own: Vec<String>, flags: &[&str], file: &std::path::Path) -> Vec<String> {
    let keep = |word: &String| !flags.contains(&word.as_str()) && std::path::Path::new(word) != file;
    own.into_iter().filter(keep).collect()
}

fn split(command: &clap::Command, given: &[String], words: bool) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut rest = given.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            parts.filter.extend(rest.by_ref().cloned());
            break;
        }
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if !word.starts_with('-') {
            // This word is cargo's test filter, or the file of a replay.
            if words {
                parts.own.push(word.clone())
            } else {
                parts.filter.insert(0, word.clone())
            }
            continue;
        }
        let (list, value) = match (own_value(command, name), cargos_value(name)) {
            (Some(value), _) => (&mut parts.own, value),
            (None, Some(value)) => (&mut parts.cargo, value),
            (None, None) => return Err(unknown(command, name)),
        };
        list.push(word.clone());
        let attached = name != word || (!word.starts_with("--") && word.len() > 2);
        if value && !attached {
            list.extend(rest.next().cloned());
        }
    }
    Ok(parts)
}

/// Returns `Some(true)` if this is an option of Whippet that is followed by a value, and `None` if it is not an option
/// of Whippet.
fn own_value(command: &clap::Command, name: &str) -> Option<bool> {
    if ["--help", "-h"].contains(&name) {
        return Some(false);
    }
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').filter(|_| long.is_none()).and_then(|text| text.chars().next());
    let fits = |argument: &&clap::Arg| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        long.is_some_and(|long| argument.get_long() == Some(long) || aliases.contains(&long))
            || short.is_some() && argument.get_short() == short
    };
    let argument = command.get_arguments().find(fits)?;
    Some(argument.get_action().takes_values() && !argument.is_require_equals_set())
}

fn cargos_value(name: &str) -> Option<bool> {
    let fits = |(long, short, value): &&(&str, &str, bool)| {
        *long == name
            || !short.is_empty() && (*short == name || *value && !name.starts_with("--") && name.starts_with(short))
    };
    CARGO.iter().find(fits).map(|(_, _, value)| *value)
}

/// Returns the names of Whippet's own options.
fn names(command: &clap::Command) -> Vec<String> {
    command.get_arguments().filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect()
}

fn unknown(command: &clap::Command, name: &str) -> String {
    let own = names(command);
    let cargos: Vec<&str> = CARGO.iter().map(|(long, ..)| *long).collect();
    let near = own.iter().map(String::as_str).chain(cargos.iter().copied());
    let near = near.map(|known| (strsim::jaro(known, name), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let tip =
        near.filter(|(alike, _)| *alike > 0.8).map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"));
    format!(
        "there is no option `{name}`{tip}\noptions of whippet: {}\noptions of cargo that can be used: {}\noptions of the test harness go after `--`",
        own.join(", "),
        cargos.join(", ")
    )
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

    fn parts(line: &str) -> Result<Parts, String> {
        let given: Vec<String> = line.split_whitespace().map(Into::into).collect();
        let command = Arguments::command();
        split(command.find_subcommand("test").unwrap(), &given, false)
    }

    #[test]
    fn options_of_both_kinds_in_any_order() {
        let parts =
            parts("-p bank --limit-seconds 5 --test=bank -Fa --preempt-everywhere two --hook a,b -- --exact three")
                .unwrap();
        assert_eq!(parts.own, ["--limit-seconds", "5", "--preempt-everywhere", "--hook", "a,b"]);
        assert_eq!(parts.cargo, ["-p", "bank", "--test=bank", "-Fa"]);
        assert_eq!(parts.filter, ["two", "--exact", "three"]);
    }

    #[test]
    fn an_unknown_option_lists_the_known_ones() {
        let error = parts("--reductoin optimal").unwrap_err();
        assert!(
            error.starts_with(
                "there is no option `--reductoin`; did you mean `--reduction`?\noptions of whippet: --reduction, "
            ),
            "{error}"
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
        assert_eq!(parts(&words.join(" ")).unwrap().own, words);
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

//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Explores tokio tests in all orders.
#[derive(Parser)]
#[command(name = "cargo whippet", bin_name = "cargo whippet", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Explores every `#[tokio::test]` instead of running it once.
    Test(Test),
    /// Carries out the schedule of a finding again.
    Replay(Replay),
}

/// How to search. The same names, without the dashes in front, can stand in `[package.metadata.whippet]`.
#[derive(Args, Default)]
pub(crate) struct Search {
    /// What the search may skip: optimal, source, exhaustive, random …
    #[arg(long, value_name = "R")]
    pub(crate) reduction: Option<String>,
    /// Stop a test's search after so many executions.
    #[arg(long, value_name = "N")]
    pub(crate) limit_executions: Option<u64>,
    /// Stop a test's search after so much time.
    #[arg(long, value_name = "N")]
    pub(crate) limit_seconds: Option<f64>,
    /// The longest execution, in steps.
    #[arg(long, value_name = "N")]
    pub(crate) limit_steps: Option<usize>,
    /// How many timers may fire early in one execution.
    #[arg(long, value_name = "N")]
    pub(crate) timers: Option<u64>,
    /// How many workers share the search of a test.
    #[arg(long, value_name = "N")]
    pub(crate) search_jobs: Option<usize>,
    /// Stop a test's search at its first finding.
    #[arg(long)]
    pub(crate) first_bug: bool,
    /// Tasks that still wait when a test is over are findings.
    #[arg(long)]
    pub(crate) left_behind: bool,
}

#[derive(Args)]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) search: Search,
    /// Cargo's own arguments, after whippet's: -p, --features, --test, --lib …; after `--`, which tests.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO ARGUMENTS")]
    pub(crate) cargo: Vec<String>,
    /// Which tests, as with cargo test: what stands after `--`.
    #[arg(skip)]
    pub(crate) filter: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Replay {
    /// The schedule, as `cargo whippet test` wrote it.
    pub(crate) file: PathBuf,
    /// Print the command that runs this schedule under a debugger.
    #[arg(long)]
    pub(crate) debug: bool,
    /// Cargo's own arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO ARGUMENTS")]
    pub(crate) cargo: Vec<String>,
}

impl Search {
    /// What the test processes are told. `metadata` is the package's `[package.metadata.whippet]`.
    pub(crate) fn variables(&self, metadata: &serde_json::Value) -> Vec<(&'static str, String)> {
        let text = |given: Option<String>, name: &str| {
            given.or_else(|| match metadata.get(name)? {
                serde_json::Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            })
        };
        let flag = |given: bool, name: &str| {
            (given || metadata.get(name).and_then(serde_json::Value::as_bool) == Some(true)).then(|| "1".to_string())
        };
        let number = |given: Option<u64>, name: &str| text(given.map(|n| n.to_string()), name);
        [
            ("WHIPPET_REDUCTION", text(self.reduction.clone(), "reduction")),
            ("WHIPPET_LIMIT_EXECUTIONS", number(self.limit_executions, "limit-executions")),
            ("WHIPPET_LIMIT_SECONDS", text(self.limit_seconds.map(|n| n.to_string()), "limit-seconds")),
            ("WHIPPET_LIMIT_STEPS", number(self.limit_steps.map(|n| n as u64), "limit-steps")),
            ("WHIPPET_TIMERS", number(self.timers, "timers")),
            ("WHIPPET_JOBS", number(self.search_jobs.map(|n| n as u64), "search-jobs")),
            ("WHIPPET_FIRST_BUG", flag(self.first_bug, "first-bug")),
            ("WHIPPET_LEFT_BEHIND", flag(self.left_behind, "left-behind")),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

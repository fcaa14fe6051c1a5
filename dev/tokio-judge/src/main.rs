//! The command line of the judge.

mod many;
mod show;
mod summary;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::process::ExitCode;
use tokio_judge::judge::{Limits, Search};
use whippet_search::Reduction;

/// Compares Whippet's shim of tokio with a reference model and with the real tokio, on generated programs.
#[derive(Parser)]
#[command(name = "tokio-judge")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compares the shim with the reference model.
    Model {
        #[command(flatten)]
        many: Many,
        /// The way in which the shim is explored.
        #[arg(long, value_delimiter = ',', default_value = "optimal,source,exhaustive")]
        searches: Vec<String>,
        /// Merged events, or every event a step of its own.
        #[arg(long, value_enum, default_value_t = Merge::Both)]
        merge: Merge,
        /// Adds a point before every operation.
        #[arg(long)]
        deep: bool,
        /// Compares what one thread can show.
        #[arg(long)]
        one_thread: bool,
        /// Runs each program that is told on the real tokio too, so often, and tells how often the outcomes were seen.
        #[arg(long, default_value_t = 0)]
        evidence: u64,
    },
    /// Compares the traces that two searches of the shim explore.
    Traces {
        #[command(flatten)]
        many: Many,
        /// The searches.
        #[arg(long, value_delimiter = ',', default_value = "optimal,source")]
        searches: Vec<String>,
        /// Makes every event a step of its own.
        #[arg(long)]
        no_merge: bool,
    },
    /// Compares the real tokio with the reference model and with the shim.
    Real {
        #[command(flatten)]
        many: Many,
        /// The number of runs of each program.
        #[arg(long, default_value_t = 200)]
        runs: u64,
        /// Runs on a runtime with one thread, and compares with what one thread can show.
        #[arg(long)]
        one_thread: bool,
    },
    /// Shows one program, with its outcomes and executions for each judge.
    Show {
        seed: u64,
        #[command(flatten)]
        sizes: Sizes,
        /// Runs it on the real tokio too, so often.
        #[arg(long, default_value_t = 0)]
        runs: u64,
    },
}

#[derive(Args)]
struct Many {
    /// The number of programs.
    #[arg(long, default_value_t = 5_000)]
    programs: u64,
    /// The seed of the first program; the next ones follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads, each with a program at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Stops after this number of differences, which are made smaller and told. Those of one shape, that is, with the same
    /// operations, are told once.
    #[arg(long, default_value_t = 10)]
    most_differences: usize,
    #[command(flatten)]
    sizes: Sizes,
}

#[derive(Args)]
struct Sizes {
    /// Programs with more states in the reference model are not judged.
    #[arg(long, default_value_t = 300_000)]
    max_states: usize,
    /// Searches with more executions are not judged.
    #[arg(long, default_value_t = 20_000)]
    max_executions: u64,
    /// The ticks for which the runtime may stall in an execution [default: any number].
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    stall: u64,
}

impl Sizes {
    fn limits(&self) -> Limits {
        Limits { states: self.max_states, executions: self.max_executions, stall: self.stall }
    }
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Merge {
    Both,
    On,
    Off,
}

/// Gives the searches that the arguments ask for.
fn searches(names: &[String], merge: Merge, deep: bool, one_thread: bool) -> Result<Vec<Search>, String> {
    let merged: &[bool] = match merge {
        Merge::Both => &[true, false],
        Merge::On => &[true],
        Merge::Off => &[false],
    };
    let mut searches = Vec::new();
    for name in names {
        let reduction: Reduction = name.parse().map_err(|error| format!("{name}: {error}"))?;
        searches.extend(merged.iter().map(|&merged| Search { reduction, merged, deep, one_thread }));
    }
    Ok(searches)
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Model { many, searches: names, merge, deep, one_thread, evidence } => {
            searches(&names, merge, deep, one_thread).map(|searches| many::model(&many, &searches, evidence))
        }
        Command::Traces { many, searches: names, no_merge } => {
            searches(&names, if no_merge { Merge::Off } else { Merge::On }, false, false).and_then(|searches| {
                let two = <[Search; 2]>::try_from(searches);
                two.map(|two| many::traces(&many, two)).map_err(|_| "--searches needs two names".to_string())
            })
        }
        Command::Real { many, runs, one_thread } => Ok(many::real(&many, runs, one_thread)),
        Command::Show { seed, sizes, runs } => {
            show::show(seed, &sizes.limits(), runs);
            Ok(true)
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tokio-judge: {error}");
            ExitCode::from(2)
        }
    }
}

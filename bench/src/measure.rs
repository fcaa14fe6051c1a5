//! Makes one measurement in its own process, so that CPU time and peak memory are those of the measurement alone.

use crate::tool::{Counts, SearchLimits, Tool};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use whippet::report::Meter;

/// The prefix of the child's result. It tells the result from the output of the tools.
const RESULT_PREFIX: &str = "measured: ";

/// The measurement of one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub counts: Counts,
    /// CPU time of one search.
    pub cpu_seconds: f64,
    pub peak_memory_bytes: u64,
}

/// Returns the limits of searches.
fn limits(quick: bool) -> SearchLimits {
    if quick {
        SearchLimits { executions: 1_000, transitions: 20_000, stateful: Duration::from_secs(1) }
    } else {
        SearchLimits { executions: 50_000, transitions: 5_000_000, stateful: Duration::from_secs(10) }
    }
}

/// Runs the search that the arguments of this process name, and prints its cost. This is the main function of a
/// measuring process.
///
/// The arguments are a tool, a workload, and `quick` or `full`.
pub fn measure(run: impl Fn(Tool, Workload, SearchLimits) -> Result<Counts, String>) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [tool, workload, size] => match (Tool::find(tool), Workload::find(workload)) {
            (Some(tool), Some(workload)) => measure_here(|limits| run(tool, workload, limits), size == "quick"),
            _ => Err(format!("unknown tool `{tool}` or workload `{workload}`")),
        },
        _ => Err("run `cargo bench`, which starts this program".into()),
    };
    result.map_or_else(
        |why| {
            eprintln!("{why}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Measures in this process. Repeats a short search until its CPU time can be measured.
fn measure_here(run: impl Fn(SearchLimits) -> Result<Counts, String>, quick: bool) -> Result<(), String> {
    let min_seconds = if quick { 0.01 } else { 0.3 };
    let mut searches = 0;
    let meter = Meter::start();
    let (counts, usage) = loop {
        let counts = run(limits(quick))?;
        searches += 1;
        let usage = meter.read();
        if usage.cpu_seconds >= min_seconds {
            break (counts, usage);
        }
    };
    let cpu_seconds = usage.cpu_seconds / f64::from(searches);
    let sample = Sample { counts, cpu_seconds, peak_memory_bytes: usage.peak_memory_bytes };
    println!("\n{RESULT_PREFIX}{}", serde_json::to_string(&sample).map_err(|error| error.to_string())?);
    Ok(())
}

/// Measures in a child process that runs `program`.
pub fn measure_in_child(program: &str, tool: Tool, workload: Workload, quick: bool) -> Result<Sample, String> {
    let mut command = Command::new(program);
    command.args([tool.to_string(), workload.to_string()]).arg(if quick { "quick" } else { "full" });
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().rev().find_map(|line| line.strip_prefix(RESULT_PREFIX)) {
        Some(result) if output.status.success() => serde_json::from_str(result).map_err(|error| error.to_string()),
        _ => Err(format!("{tool} on {workload} failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

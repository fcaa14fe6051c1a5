//! Compares Whippet with its Rust peers on the same programs and prints one table.

use clap::Parser;
use std::process::ExitCode;
use whippet_bench::{TableLine, Tool, Workload, measure_in_child, table};

/// Runs every workload on every tool that can express it, and prints one table.
#[derive(Parser)]
struct Args {
    /// Run smaller workloads with low limits: a smoke test of a few seconds.
    #[arg(long)]
    quick: bool,
    /// Run only workloads whose names begin with NAME; can be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run only this tool; can be given several times.
    #[arg(long, value_name = "TOOL", value_parser = tool)]
    tool: Vec<Tool>,
    /// Number of repetitions of each measurement.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Flag that cargo passes to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match compare(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn tool(name: &str) -> Result<Tool, String> {
    let known = || Tool::ALL.map(|tool| tool.to_string()).join(", ");
    Tool::find(name).ok_or_else(|| format!("expected one of: {}", known()))
}

/// Returns the program that measures the tool.
fn program(tool: Tool) -> &'static str {
    match tool {
        Tool::Loom => env!("CARGO_BIN_EXE_peer-loom"),
        _ => env!("CARGO_BIN_EXE_peers"),
    }
}

/// Measures everything and prints the table. Returns all failures as one error.
fn compare(args: &Args) -> Result<(), String> {
    let wanted = |workload: &Workload| {
        args.only.is_empty() || args.only.iter().any(|name| workload.to_string().starts_with(name.as_str()))
    };
    let workloads: Vec<_> = Workload::all(args.quick).into_iter().filter(wanted).collect();
    if workloads.is_empty() {
        let known: Vec<_> = Workload::all(args.quick).iter().map(Workload::to_string).collect();
        return Err(format!("unknown workload; expected one of: {}", known.join(", ")));
    }
    let (mut lines, mut unsupported, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for &workload in &workloads {
        for tool in Tool::ALL.into_iter().filter(|tool| args.tool.is_empty() || args.tool.contains(tool)) {
            if let Some(why) = tool.unsupported_reason(workload) {
                unsupported.push(format!("{workload} on {tool}: {why}"));
                continue;
            }
            eprintln!("{workload} on {tool}");
            match (0..args.repetitions).map(|_| measure_in_child(program(tool), tool, workload, args.quick)).collect() {
                Ok(samples) => lines.push(TableLine { workload, tool, samples }),
                Err(why) => failed.push(why),
            }
        }
    }
    failed.extend(disagreements(&lines));
    println!("{}\n\n+ the search was stopped by a limit; rates are of the part that was done\n", table(&lines));
    unsupported.iter().for_each(|line| println!("not expressible: {line}"));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Returns the workloads for which TraceForge and Whippet count different traces. This means that they were not given
/// the same program.
fn disagreements(lines: &[TableLine]) -> Vec<String> {
    let executions = |tool, workload| {
        let line = lines.iter().find(|line| line.tool == tool && line.workload == workload)?;
        let counts = line.samples[0].counts;
        counts.executions.filter(|_| counts.complete)
    };
    let workloads = lines.iter().filter(|line| line.tool == Tool::TraceForge).map(|line| line.workload);
    let counted = |workload| Some((executions(Tool::Whippet, workload)?, executions(Tool::TraceForge, workload)?));
    workloads
        .filter_map(|workload| match counted(workload)? {
            (ours, theirs) if ours != theirs => Some(format!("{workload}: {ours} traces, but {theirs} by traceforge")),
            _ => None,
        })
        .collect()
}

//! Measures Whippet, TraceForge, Stateright or Shuttle.

mod on_shuttle;
mod on_stateright;
mod on_traceforge;
mod on_whippet;

use std::process::ExitCode;
use whippet::Reduction;
use whippet_bench::{Tool, measure};

fn main() -> ExitCode {
    measure(|tool, workload, cuts| match tool {
        Tool::Whippet => on_whippet::run(workload, Reduction::Optimal, None),
        Tool::WhippetStateful => on_whippet::run(workload, Reduction::Stateful, Some(cuts.stateful)),
        Tool::TraceForge => Ok(on_traceforge::run(workload, cuts.executions)),
        Tool::Stateright => Ok(on_stateright::run(workload, cuts.transitions)),
        Tool::Shuttle => Ok(on_shuttle::run(workload, cuts.executions)),
        Tool::Loom => Err("loom is measured by another program".into()),
    })
}

//! Measures Whippet, TraceForge, Stateright or Shuttle.

mod on_shuttle;
mod on_stateright;
mod on_traceforge;
mod on_whippet;

use std::process::ExitCode;
use whippet::Reduction;
use whippet_bench::{Tool, measure};

fn main() -> ExitCode {
    measure(|tool, workload, limits| match tool {
        Tool::Whippet => on_whippet::run(workload, Reduction::Optimal, None),
        Tool::WhippetStateful => on_whippet::run(workload, Reduction::Stateful, Some(limits.stateful)),
        Tool::TraceForge => Ok(on_traceforge::run(workload, limits.executions)),
        Tool::Stateright => Ok(on_stateright::run(workload, limits.transitions)),
        Tool::Shuttle => Ok(on_shuttle::run(workload, limits.executions)),
        Tool::Loom => Err("loom is measured by another program".into()),
    })
}

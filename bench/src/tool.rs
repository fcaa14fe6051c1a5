//! The compared tools, and the workloads that each of them can run.

use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A tool with the search that it performs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    Whippet,
    WhippetStateful,
    TraceForge,
    Stateright,
    Shuttle,
    Loom,
}

/// The maximum number of threads in loom, including the test's own.
const MAX_LOOM_THREADS: usize = 5;

/// The counters of one search.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Executions, for tools that count them.
    pub executions: Option<u64>,
    /// Distinct states, for tools that compare states.
    pub states: Option<u64>,
    /// Messages delivered.
    pub transitions: u64,
    /// `true` if the search ran to its end.
    pub complete: bool,
}

/// The limits at which searches are cut off.
#[derive(Copy, Clone, Debug)]
pub struct SearchLimits {
    /// Executions of a peer.
    pub executions: u64,
    /// Transitions of a peer that compares states.
    pub transitions: u64,
    /// Wall time of Whippet's stateful search.
    pub stateful: Duration,
}

impl Tool {
    pub const ALL: [Tool; 6] =
        [Tool::Whippet, Tool::TraceForge, Tool::Shuttle, Tool::Loom, Tool::WhippetStateful, Tool::Stateright];

    /// Returns the tool with this name.
    pub fn find(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.to_string() == name)
    }

    /// Returns the reason why the tool cannot run the workload, if there is one.
    pub fn unsupported_reason(self, workload: Workload) -> Option<&'static str> {
        let in_order = match workload {
            Workload::Producers { fifo, .. } => fifo,
            Workload::Leader(_) => false,
            // No mailbox ever holds two messages from one sender here, so channels allow every order.
            Workload::Pi(_) | Workload::Registry(_) | Workload::Fib(_) | Workload::Chameneos(_) => true,
        };
        match self {
            Tool::Shuttle | Tool::Loom if !in_order => Some("its threads' channels keep the order of one sender"),
            Tool::Loom if threads(workload) > MAX_LOOM_THREADS => Some("at most five threads"),
            _ => None,
        }
    }

    /// Returns Whippet's search of the same kind.
    pub fn whippet_counterpart(self) -> Tool {
        match self {
            Tool::Stateright | Tool::WhippetStateful => Tool::WhippetStateful,
            _ => Tool::Whippet,
        }
    }
}

/// Returns the number of threads of the workload, with one thread per actor.
fn threads(workload: Workload) -> usize {
    match workload {
        Workload::Pi(workers) | Workload::Registry(workers) => 1 + workers,
        Workload::Fib(n) => 1 + nodes(n),
        Workload::Producers { .. } => 3,
        Workload::Leader(n) => n,
        Workload::Chameneos(_) => 4,
    }
}

fn nodes(n: u32) -> usize {
    if n < 3 { 1 } else { 1 + nodes(n - 1) + nodes(n - 2) }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tool::Whippet => "whippet",
            Tool::WhippetStateful => "whippet stateful",
            Tool::TraceForge => "traceforge",
            Tool::Stateright => "stateright",
            Tool::Shuttle => "shuttle",
            Tool::Loom => "loom",
        })
    }
}

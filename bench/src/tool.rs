//! Who is compared, and what each of them can run.

use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A tool and the search that it makes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    Whippet,
    WhippetStateful,
    TraceForge,
    Stateright,
    Shuttle,
    Loom,
}

/// How many threads loom can do, the test's own one included.
const LOOMS_THREADS: usize = 5;

/// What one search counted.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Executions, by tools that make them.
    pub executions: Option<u64>,
    /// Different states, by tools that compare them.
    pub states: Option<u64>,
    /// Messages delivered.
    pub transitions: u64,
    /// Whether the search came to its end.
    pub complete: bool,
}

/// Where searches are cut.
#[derive(Copy, Clone, Debug)]
pub struct Cuts {
    /// Executions of a peer.
    pub executions: u64,
    /// Transitions of a peer that compares states.
    pub transitions: u64,
    /// Wall time of our own stateful search.
    pub stateful: Duration,
}

impl Tool {
    pub const ALL: [Tool; 6] =
        [Tool::Whippet, Tool::TraceForge, Tool::Shuttle, Tool::Loom, Tool::WhippetStateful, Tool::Stateright];

    /// The tool that is called this.
    pub fn find(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.to_string() == name)
    }

    /// Why the tool cannot run the workload, if so.
    pub fn refuses(self, workload: Workload) -> Option<&'static str> {
        let in_order = match workload {
            Workload::Producers { fifo, .. } => fifo,
            Workload::Leader(_) => false,
            // Here nobody has two messages from one sender in its mailbox: any order is a possible one.
            Workload::Pi(_) | Workload::Registry(_) | Workload::Fib(_) | Workload::Chameneos(_) => true,
        };
        match self {
            Tool::Shuttle | Tool::Loom if !in_order => Some("its threads' channels keep the order of one sender"),
            Tool::Loom if threads(workload) > LOOMS_THREADS => Some("at most five threads"),
            _ => None,
        }
    }

    /// Ours that does the same kind of search.
    pub fn ours(self) -> Tool {
        match self {
            Tool::Stateright | Tool::WhippetStateful => Tool::WhippetStateful,
            _ => Tool::Whippet,
        }
    }
}

/// How many threads the workload takes when every actor is one.
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

//! Explores a program on the shim and collects the outcomes of its executions.

use crate::hooks::Virtual;
use crate::logs::Logs;
use crate::machine::{Overheard, Seen};
use crate::on_shim::begin;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_reference::{Outcome, Program};
use whippet_runtime::{Settings, Tasks};
use whippet_search::{Options, Reduction, explore};

/// The outcomes that a search saw.
#[derive(Clone, Debug)]
pub struct Explored {
    pub outcomes: BTreeSet<Outcome>,
    /// The number of complete executions, of the last search.
    pub executions: u64,
    /// The number of executions that were abandoned.
    pub blocked: u64,
    /// Is `false` if the limit on executions came first.
    pub complete: bool,
}

/// Gives the settings of a search: timers may fire early as often as time allows.
#[must_use]
pub fn settings(merged: bool) -> Settings {
    Settings { timers: u64::MAX, every_event: !merged, ..Settings::default() }
}

/// Explores a program.
///
/// The search is begun again as long as something is learnt about the program. Only the outcomes of the last search
/// count: an earlier one must not hide what this one misses.
///
/// # Errors
/// With the text of what the search or the machine has to say, also where it panics.
pub fn outcomes(
    program: &Arc<Program>,
    reduction: Reduction,
    settings: Settings,
    limit_executions: u64,
) -> Result<Explored, String> {
    std::panic::catch_unwind(|| search(program, reduction, settings, limit_executions)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("the search panics: {}", text.unwrap_or("without a message")))
    })
}

fn search(program: &Arc<Program>, reduction: Reduction, settings: Settings, limit: u64) -> Result<Explored, String> {
    let (logs, seen) = (Logs::default(), Seen::default());
    let (body, to) = (program.clone(), logs.clone());
    let tasks = Tasks::new("generated", settings, move || main(body.clone(), to.clone()));
    let overheard = Arc::new(Overheard { tasks, logs, seen: seen.clone() });
    let mut options = Options { reduction, ..Options::default() };
    options.limits.executions = Some(limit);
    options.limits.steps = 1_000;
    options.limits.findings = 0;
    loop {
        drop(seen.take());
        let before = overheard.tasks.learnt();
        let verdict = explore(overheard.clone(), &options, &());
        if overheard.tasks.learnt() != before {
            continue;
        }
        let verdict = verdict.map_err(|error| error.to_string())?;
        let (counters, complete) = (verdict.counters, verdict.complete);
        let outcomes = seen.take();
        return Ok(Explored { outcomes, executions: counters.executions, blocked: counters.blocked, complete });
    }
}

/// The main task: begins the program and then never does anything. The execution is complete when no task can go on. This
/// adds no event to those of the program; a main task that waits for the others would depend on their ends.
async fn main(program: Arc<Program>, logs: Logs) {
    let shared = begin(&program, &logs, Arc::new(Virtual));
    std::future::pending::<()>().await;
    drop(shared);
}

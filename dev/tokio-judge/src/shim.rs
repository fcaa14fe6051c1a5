//! Explores a program on the shim and collects the outcomes of its executions.

use crate::hooks::Virtual;
use crate::logs::{Logs, Partial};
use crate::on_shim::begin;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_reference::{Outcome, Program};
use whippet_model::{Observed, Program as _, Threads};
use whippet_runtime::{Settings, TaskMachine, TaskProgram};
use whippet_search::{Options, Reduction, explore};

/// The outcomes that a search saw.
#[derive(Clone, Debug)]
pub struct Explored {
    pub outcomes: BTreeSet<Outcome>,
    /// The logs of all runs of user code, also of those that do not count because the search was restarted.
    pub runs: BTreeSet<Partial>,
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

/// The nanoseconds of a tick: see [`crate::hooks::Virtual`].
pub const TICK: u64 = 1_000_000_000;

/// Explores a program.
///
/// Outcomes of executions that need a longer stall than the settings allow do not count; with `one_thread`, neither do
/// those of executions that need several threads.
///
/// The driver starts the search again as long as the dependence relation is refined. Only the outcomes of the last
/// attempt count: an earlier one must not hide what this one misses.
///
/// # Errors
/// With the text of what the search or the machine has to say, also where it panics.
pub fn outcomes(
    program: &Arc<Program>,
    reduction: Reduction,
    settings: Settings,
    limit_executions: u64,
    one_thread: bool,
) -> Result<Explored, String> {
    let run = || search(program, reduction, settings, limit_executions, one_thread);
    std::panic::catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("the search panics: {}", text.unwrap_or("without a message")))
    })
}

fn search(
    program: &Arc<Program>,
    reduction: Reduction,
    settings: Settings,
    limit: u64,
    one_thread: bool,
) -> Result<Explored, String> {
    let (logs, budget) = (Logs::keeping_all(), settings.stall);
    let (body, to, all) = (program.clone(), logs.clone(), logs.clone());
    let tasks = TaskProgram::new("generated", settings, move || main(body.clone(), to.clone()));
    // The outcomes of each attempt of the search, by the number of refinements known to it.
    let attempts = Arc::<Mutex<BTreeMap<u64, BTreeSet<Outcome>>>>::default();
    let to = attempts.clone();
    let observed = Arc::new(Observed::new(tasks, move |machine: &mut TaskMachine, refinements| {
        if budget < u64::MAX && machine.stall() > Duration::from_nanos(budget) {
            return;
        }
        // Before the execution is run once more.
        let outcome = logs.outcome();
        if one_thread && machine.threads() == Threads::Several {
            return;
        }
        to.lock().unwrap_or_else(PoisonError::into_inner).entry(refinements).or_default().insert(outcome);
    }));
    let mut options = Options::new(reduction);
    options.limits.executions = Some(limit);
    options.limits.steps = 1_000;
    options.limits.findings = 0;
    let verdict = explore(observed.clone(), &options, &()).map_err(|error| error.to_string())?;
    let (counters, complete) = (verdict.counters, verdict.complete);
    let last = observed.program().refinements();
    let outcomes = attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(&last).unwrap_or_default();
    Ok(Explored {
        outcomes,
        runs: all.take_all(),
        executions: counters.executions,
        blocked: counters.blocked,
        complete,
    })
}

/// The main task: begins the program and then never does anything. The execution is complete when no task can go on. This
/// adds no event to those of the program; a main task that waits for the others would depend on their ends.
pub(crate) async fn main(program: Arc<Program>, logs: Logs) {
    let shared = begin(&program, &logs, Arc::new(Virtual));
    std::future::pending::<()>().await;
    drop(shared);
}

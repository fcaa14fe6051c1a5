//! The logs of an execution, beside the program.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_reference::{End, Outcome, TaskOutcome};

/// The logs of all runs of a program.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// The run that began last.
    newest: Arc<Mutex<RunLog>>,
    /// All runs, complete or not, if they are kept.
    runs: Option<Arc<Mutex<Runs>>>,
}

#[derive(Debug, Default)]
struct Runs {
    /// Runs whose tasks may be alive. There may be several: a search that shows a finding compares executions.
    alive: Vec<RunLog>,
    ended: BTreeSet<Partial>,
}

/// The logs that the tasks had written when a run was left.
pub type Partial = Vec<Vec<String>>;

/// The log and the end of each task of one run. Not part of the program: each task writes only its own.
#[derive(Clone, Debug, Default)]
pub struct RunLog(Arc<Mutex<Vec<TaskOutcome>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Logs {
    /// Creates logs that keep those of all runs: of the ones that the search has left, too.
    #[must_use]
    pub fn keeping_all() -> Logs {
        Logs { runs: Some(Arc::default()), ..Logs::default() }
    }

    /// Takes the kept logs of all runs so far.
    #[must_use]
    pub fn take_all(&self) -> BTreeSet<Partial> {
        let Some(runs) = &self.runs else { return BTreeSet::new() };
        let Runs { alive, mut ended } = std::mem::take(&mut *lock(runs));
        ended.extend(alive.iter().map(RunLog::partial));
        ended
    }

    /// Begins a new run with this number of tasks, none of them spawned.
    #[must_use]
    pub fn begin(&self, tasks: usize) -> RunLog {
        let not_spawned = |_| TaskOutcome { end: End::NotSpawned, log: Vec::new() };
        let log = RunLog(Arc::new(Mutex::new((0..tasks).map(not_spawned).collect())));
        *lock(&self.newest) = log.clone();
        if let Some(runs) = &self.runs {
            let Runs { alive, ended } = &mut *lock(runs);
            alive.retain(|run| {
                // Only this list has it: none of its tasks is left.
                let is_alive = Arc::strong_count(&run.0) > 1;
                if !is_alive {
                    ended.insert(run.partial());
                }
                is_alive
            });
            alive.push(log.clone());
        }
        log
    }

    /// Takes a snapshot of the run that began last.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome { tasks: lock(&lock(&self.newest).0).clone() }
    }
}

impl RunLog {
    fn partial(&self) -> Partial {
        lock(&self.0).iter().map(|task| task.log.clone()).collect()
    }

    /// Notes that a task is spawned: until it ends, it counts as blocked.
    pub fn spawned(&self, task: usize) {
        lock(&self.0)[task].end = End::Blocked;
    }

    /// Adds an entry to the log of a task.
    pub fn add(&self, task: usize, text: String) {
        lock(&self.0)[task].log.push(text);
    }

    /// Notes the end of a task.
    pub fn ended(&self, task: usize, end: End) {
        lock(&self.0)[task].end = end;
    }
}

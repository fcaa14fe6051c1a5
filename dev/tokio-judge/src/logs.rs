//! The logs of an execution, beside the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_reference::{End, Outcome, TaskOutcome};

/// The log and the end of each task. Not part of the program: each task writes only its own.
#[derive(Clone, Debug, Default)]
pub struct Logs(Arc<Mutex<Vec<TaskOutcome>>>);

impl Logs {
    fn lock(&self) -> MutexGuard<'_, Vec<TaskOutcome>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new execution with this number of tasks, none of them spawned.
    pub fn begin(&self, tasks: usize) {
        *self.lock() = (0..tasks).map(|_| TaskOutcome { end: End::NotSpawned, log: Vec::new() }).collect();
    }

    /// Notes that a task is spawned: until it ends, it counts as blocked.
    pub fn spawned(&self, task: usize) {
        self.lock()[task].end = End::Blocked;
    }

    /// Adds an entry to the log of a task.
    pub fn add(&self, task: usize, text: String) {
        self.lock()[task].log.push(text);
    }

    /// Notes the end of a task.
    pub fn ended(&self, task: usize, end: End) {
        self.lock()[task].end = end;
    }

    /// Takes a snapshot.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome { tasks: self.lock().clone() }
    }
}

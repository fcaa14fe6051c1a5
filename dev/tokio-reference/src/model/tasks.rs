//! Spawning, joining and aborting tasks.

use super::state::{JoinSet, State, Status};
use super::step::{Poll, Step};
use crate::outcome::End;
use crate::program::TaskId;

impl Step<'_> {
    /// Spawns a task. Returns false if it was spawned before.
    pub(super) fn spawn(&mut self, task: TaskId) -> bool {
        if self.state.tasks.get(task).is_none_or(|task| task.status != Status::NotSpawned) {
            return false;
        }
        self.state.task(task).status = Status::Scheduled;
        true
    }

    /// Requests the abort of a task.
    ///
    /// `JoinHandle::abort` docs: a task that is running goes on until it next yields to the runtime; one that has not
    /// begun is not polled at all; aborting a task that has completed has no effect.
    pub(super) fn abort(&mut self, task: TaskId) {
        if matches!(self.state.tasks[task].status, Status::Scheduled | Status::Idle | Status::Running) {
            self.state.task(task).aborted = true;
        }
    }

    /// Returns the members of a set in the order in which they are aborted.
    pub(super) fn members(set: &JoinSet) -> Vec<TaskId> {
        let waiting = set.members.iter().copied().filter(|task| !set.ended.contains(task));
        waiting.chain(set.ended.iter().copied()).collect()
    }

    pub(super) fn poll_join(&mut self, task: TaskId) -> Poll {
        let Some(end) = end(self.state, task) else { return Poll::Pending { effect: false } };
        self.hands().join_handles &= !(1 << task);
        self.ready(outcome(end))
    }

    pub(super) fn poll_join_next(&mut self) -> Poll {
        if self.hands().set.as_ref().is_some_and(|set| set.members.is_empty()) {
            return self.ready("none");
        }
        match self.next_ended() {
            Some(text) => self.ready(&text),
            None => Poll::Pending { effect: false },
        }
    }

    /// Removes the next task that has ended from the set, and returns what it logs.
    ///
    /// `JoinSet` docs: tasks are returned in the order they complete.
    pub(super) fn next_ended(&mut self) -> Option<String> {
        let set = self.hands().set.as_mut()?;
        if set.ended.is_empty() {
            return None;
        }
        let task = set.ended.remove(0);
        set.members.retain(|member| *member != task);
        let end = end(self.state, task)?;
        Some(if end == End::Finished { format!("ok {task}") } else { outcome(end).to_owned() })
    }
}

/// Tells if a task has ended for those that join it.
pub(super) fn has_ended(state: &State, task: TaskId) -> bool {
    end(state, task).is_some()
}

fn end(state: &State, task: TaskId) -> Option<End> {
    match state.tasks[task].status {
        Status::Leaving(end) | Status::Ended(end) => Some(end),
        _ => None,
    }
}

/// Returns what joining a task with this end gives.
///
/// `JoinError` docs: a task fails to execute to completion if it was cancelled or if it panicked.
fn outcome(end: End) -> &'static str {
    match end {
        End::Cancelled => "cancelled",
        End::Panicked => "panicked",
        _ => "ok",
    }
}

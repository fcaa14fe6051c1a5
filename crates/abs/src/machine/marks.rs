//! Marks on tasks (Figure 6 of the paper on actor and task selection; see [`Marks`]).
//!
//! Two independent tasks of one object commute, so a search need not try both orders. When a task runs, the
//! independent tasks that were called after it are marked. Running a marked task next would only repeat an execution
//! that is explored with the two tasks swapped, so the search skips it. Independence is decided by the summaries of
//! the methods.

use super::{AbsMachine, ConflictRule, Marks, Undo};

impl AbsMachine {
    /// Updates the marks of the other tasks in the group of a task that is about to run.
    pub(super) fn mark(&mut self, task: u32) {
        let ConflictRule::Marks(marks) = self.conflict_rule else { return };
        let (group, method) = (self.tasks[task as usize].group, self.tasks[task as usize].method);
        let mut changed = Vec::new();
        for &other in self.live.iter().filter(|&&other| other != task) {
            let entry = &self.tasks[other as usize];
            if entry.group == group {
                let keeps = marks == Marks::Persisting && entry.marked;
                let wanted = (keeps || other > task) && self.stability().independent(method, entry.method);
                if wanted != entry.marked {
                    changed.push(other);
                }
            }
        }
        for other in changed {
            self.flip_mark(other);
            self.undo.push(Undo::Mark(other));
        }
    }

    pub(super) fn flip_mark(&mut self, task: u32) {
        let marked = &mut self.tasks[task as usize].marked;
        *marked = !*marked;
    }

    /// Returns the note on executions that marks may miss, for the reader of the verdict.
    pub(super) fn marks_caveat(&self) -> Option<String> {
        let ConflictRule::Marks(_) = self.conflict_rule else { return None };
        Some("marks on tasks may miss executions if other actors can still send to the selected actor, or if tasks wait; `--conflicts fields` misses none".into())
    }
}

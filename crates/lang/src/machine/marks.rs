//! Marks on tasks (Figure 6 of the paper on actor and task selection; see [`Marks`]).
//!
//! Two independent tasks of one object commute, so a search need not take them in both orders. When a task is taken, those
//! independent ones that were called after it are marked: directly after it they would only repeat what
//! is found when they are taken before it. Independence is that of the methods' summaries.

use super::{AbsMachine, Marks, Tasks, Undo};

impl AbsMachine {
    /// A task is about to run: marks the others of its group, or takes their marks away.
    pub(super) fn mark(&mut self, task: u32) {
        let Tasks::Marks(marks) = self.tasks_mode else { return };
        let (group, method) = (self.tasks[task as usize].group, self.tasks[task as usize].method);
        let mut changed = Vec::new();
        for &other in self.live.iter().filter(|&&other| other != task) {
            let entry = &self.tasks[other as usize];
            if entry.group == group {
                let keeps = marks == Marks::Persisting && entry.marked;
                let wanted = (keeps || other > task) && self.knowledge().independent(method, entry.method);
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

    /// What marks may miss, for the reader of the verdict.
    pub(super) fn missed_by_marks(&self) -> Option<String> {
        let Tasks::Marks(_) = self.tasks_mode else { return None };
        Some("marks on tasks may miss executions where an actor is taken to which others can still send, and where tasks wait; `--tasks fields` does not".into())
    }
}

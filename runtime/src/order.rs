//! The happens-before order of steps and merged events by causes alone: see [`crate::merged`].
//!
//! Each step and merged event has a *stamp*, its number among all of them, and a row, which is a vector clock: for
//! each task, the stamp of the last operation of this task that happens before. The operations of one task are
//! totally ordered, so the row determines the order completely. A merged event without new causes shares the row of
//! its task's previous operation.

use crate::merging::{is_merged, merged_event_of};

/// The happens-before order.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The number of tasks for which a row has room.
    stride: usize,
    rows: Vec<i32>,
    steps: Vec<Entry>,
    merged: Vec<Entry>,
}

/// The minimum room of a row; larger rows are multiples of it.
const FEW: usize = 8;

/// A step or a merged event.
#[derive(Copy, Clone, Debug)]
struct Entry {
    task: u32,
    stamp: u32,
    /// The index of its row; `rows` is the number of rows up to and including it.
    row: u32,
    rows: u32,
}

impl Order {
    /// Adds a step of task `task`. Its causes are added by [`Order::newest_step_after`].
    pub(crate) fn step(&mut self, task: u32, stamp: u32) {
        let row = self.new_row(task);
        self.steps.push(Entry { task, stamp, row, rows: row + 1 });
    }

    /// Orders the newest step after `cause`.
    pub(crate) fn newest_step_after(&mut self, cause: u32) {
        let row = self.steps.last().expect("there is one").row;
        self.join(row, cause);
    }

    /// Adds a merged event of task `task`, after the task's operations `before` and the operations `causes` of other
    /// tasks.
    pub(crate) fn merge(&mut self, task: u32, stamp: u32, before: &[u32], causes: &[u32]) {
        let row = match (before, causes) {
            (&[before], []) if self.entry(before).task == task => self.entry(before).row,
            _ => {
                let row = self.new_row(task);
                // A merged event is listed behind the steps that it happens after; in reverse order, most joins are
                // skipped.
                before.iter().chain(causes).rev().for_each(|&cause| self.join(row, cause));
                row
            }
        };
        let rows = (self.rows.len() / self.stride) as u32;
        self.merged.push(Entry { task, stamp, row, rows });
    }

    /// Returns `true` if a cause happens after, or is, the operation of task `task` with this stamp.
    pub(crate) fn is_after(&self, cause: u32, task: u32, stamp: u32) -> bool {
        let entry = self.entry(cause);
        let row = &self.rows[entry.row as usize * self.stride..];
        if entry.task == task { entry.stamp >= stamp } else { row[task as usize] >= stamp as i32 }
    }

    /// Returns the stamp of a cause, and its row: for each task, the stamp of its last operation before the cause. Tasks
    /// beyond the end of the row have none.
    pub(crate) fn row(&self, cause: u32) -> (u32, &[i32]) {
        let entry = self.entry(cause);
        let from = entry.row as usize * self.stride;
        (entry.stamp, &self.rows[from..from + self.stride])
    }

    /// Removes all but the first `steps` steps and `merged` merged events.
    pub(crate) fn truncate(&mut self, steps: usize, merged: usize) {
        self.steps.truncate(steps);
        self.merged.truncate(merged);
        let rows = |entries: &[Entry]| entries.last().map_or(0, |entry| entry.rows);
        let left = rows(&self.steps).max(rows(&self.merged));
        self.rows.truncate(left as usize * self.stride);
    }

    fn entry(&self, cause: u32) -> Entry {
        if is_merged(cause) { self.merged[merged_event_of(cause)] } else { self.steps[cause as usize] }
    }

    fn new_row(&mut self, task: u32) -> u32 {
        if task as usize >= self.stride {
            self.widen(task as usize + 1);
        }
        let row = self.rows.len() / self.stride;
        self.rows.resize((row + 1) * self.stride, 0);
        row as u32
    }

    #[inline]
    fn join(&mut self, row: u32, cause: u32) {
        let entry = self.entry(cause);
        let (from, to) = (entry.row as usize * self.stride, row as usize * self.stride);
        // Happens-before is transitive: an operation after this one is after all of its causes.
        if self.rows[to + entry.task as usize] >= entry.stamp as i32 {
            return;
        }
        if from < to {
            let (old, new) = self.rows.split_at_mut(to);
            for (new, old) in new.chunks_exact_mut(FEW).zip(old[from..from + self.stride].chunks_exact(FEW)) {
                for k in 0..FEW {
                    new[k] = new[k].max(old[k]);
                }
            }
        }
        self.rows[to + entry.task as usize] = entry.stamp as i32;
    }

    #[cold]
    fn widen(&mut self, tasks: usize) {
        let (old, new) = (self.stride, tasks.next_power_of_two().max(FEW));
        let mut wide = Vec::with_capacity(self.rows.len() / old.max(1) * new);
        for row in self.rows.chunks_exact(old.max(1)) {
            wide.extend_from_slice(row);
            wide.resize(wide.len() + new - old, 0);
        }
        (self.rows, self.stride) = (wide, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merging::cause_of;

    #[test]
    fn an_operation_after_a_step_may_precede_its_merged_events() {
        let mut order = Order::default();
        // Task 0 takes a step with two merged events; task 1 takes a step after the step, task 20 after the merged
        // events.
        order.step(0, 1);
        order.merge(0, 2, &[0], &[]);
        order.merge(0, 3, &[cause_of(0)], &[]);
        order.step(1, 4);
        order.newest_step_after(0);
        order.step(20, 5);
        order.newest_step_after(cause_of(1));
        assert!(order.is_after(1, 0, 1) && !order.is_after(1, 0, 2));
        assert!(order.is_after(2, 0, 1) && order.is_after(2, 0, 3));
        assert!(order.is_after(cause_of(1), 0, 2) && !order.is_after(cause_of(0), 0, 3));
        assert!(!order.is_after(2, 1, 4));
        order.newest_step_after(1);
        assert!(order.is_after(2, 1, 4));
        order.truncate(2, 1);
        order.merge(20, 5, &[], &[1]);
        order.step(2, 6);
        order.newest_step_after(cause_of(1));
        assert!(order.is_after(2, 1, 4) && order.is_after(2, 0, 1) && !order.is_after(2, 0, 2));
    }
}

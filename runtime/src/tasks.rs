//! The tasks of an execution.

use crate::task::{State, Task};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// The tasks of an execution, by their numbers.
#[derive(Default)]
pub(crate) struct Tasks {
    #[expect(clippy::vec_box, reason = "they go from one list to the other, and are large")]
    list: Vec<Box<Task>>,
    /// Memory of finished tasks, for reuse.
    #[expect(clippy::vec_box, reason = "see above")]
    spare: Vec<Box<Task>>,
    /// The unfinished tasks, in ascending order.
    left: Vec<u32>,
    /// For each task, `true` if it is enabled; `None` if this is not known.
    pub(crate) able: Vec<Option<bool>>,
    /// Tasks that were created and have not begun.
    pub(crate) fresh: VecDeque<u32>,
}

impl Deref for Tasks {
    type Target = [Box<Task>];

    #[inline]
    fn deref(&self) -> &[Box<Task>] {
        &self.list
    }
}

impl DerefMut for Tasks {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Box<Task>] {
        &mut self.list
    }
}

impl Tasks {
    /// Prepares for a new execution. Requires that the tasks were removed.
    pub(crate) fn renew(&mut self) {
        debug_assert!(self.list.is_empty(), "tasks are dropped where nothing of the execution is borrowed");
        self.left.clear();
        self.able.clear();
        self.fresh.clear();
    }

    /// Returns the unfinished tasks, in ascending order.
    #[inline]
    pub(crate) fn left(&self) -> &[u32] {
        &self.left
    }

    /// Returns memory for a new task.
    pub(crate) fn unused(&mut self) -> Box<Task> {
        self.spare.pop().unwrap_or_else(|| Box::new(Task::none()))
    }

    /// Adds a task that has not begun.
    pub(crate) fn add(&mut self, task: Box<Task>) {
        let number = self.list.len() as u32;
        self.list.push(task);
        self.left.push(number);
        self.able.push(None);
        self.fresh.push_back(number);
    }

    /// Marks task `number` as done.
    pub(crate) fn end(&mut self, number: u32) {
        let at = self.left.binary_search(&number).expect("who runs is not over");
        self.left.remove(at);
        self.list[number as usize].state = State::Done;
    }

    /// Removes all tasks.
    #[expect(clippy::vec_box, reason = "see above")]
    pub(crate) fn take_all(&mut self) -> Vec<Box<Task>> {
        std::mem::take(&mut self.list)
    }

    /// Keeps the memory of tasks that were cleared, and returns tasks that were added since they were removed.
    #[expect(clippy::vec_box, reason = "see above")]
    pub(crate) fn reuse(&mut self, mut cleared: Vec<Box<Task>>) -> Vec<Box<Task>> {
        self.spare.append(&mut cleared);
        std::mem::replace(&mut self.list, cleared)
    }
}

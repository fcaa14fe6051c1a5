//! The fingerprint of a configuration.

use super::frame::{Frame, Status};
use super::{AbsMachine, TaskResult};
use crate::value::{Hasher128, Value};
use std::hash::Hash;
use whippet_model::StateComparison;

impl AbsMachine {
    /// Returns the hash of all objects, live tasks and kept results. Objects are identified by name, tasks by their
    /// call and their remaining work; tasks whose futures are kept also by name.
    pub(super) fn hash_state(&self, comparison: StateComparison) -> u128 {
        let parts = self.objects.iter().map(|object| {
            let mut hash = Hasher128::new();
            (object.name, object.class, &object.fields).hash(&mut hash);
            hash.finish_128()
        });
        let tasks = self.live.iter().map(|&task| self.hash_task(task));
        let kept = self.tasks.iter().filter(|task| task.future_kept).filter_map(|task| {
            let mut hash = Hasher128::new();
            match &task.result.as_ref()?.0 {
                TaskResult::Value(value) => (task.name, true, value).hash(&mut hash),
                TaskResult::Failed(value, _) => (task.name, task.observed, value).hash(&mut hash),
            }
            Some(hash.finish_128())
        });
        let mut hash = Hasher128::new();
        self.clock.hash(&mut hash);
        let all = parts.chain(tasks).chain(kept).chain(std::iter::once(hash.finish_128()));
        match comparison {
            StateComparison::Canonical => all.fold(0u128, u128::wrapping_add),
            _ => all.fold(0u128, |sum, part| {
                sum.rotate_left(7).wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(part)
            }),
        }
    }

    fn hash_task(&self, task: u32) -> u128 {
        let entry = &self.tasks[task as usize];
        let mut hash = Hasher128::new();
        (entry.method, self.objects[entry.object as usize].name, &*entry.args, entry.marked).hash(&mut hash);
        entry.deadline.hash(&mut hash);
        if entry.future_kept {
            entry.name.hash(&mut hash);
        }
        for Frame { method, object, at, locals, tries, dest } in &entry.state.frames {
            (method, self.objects[*object as usize].name, at, locals as &[Value], tries, dest).hash(&mut hash);
        }
        match &entry.state.status {
            Status::Ready | Status::Done => {}
            Status::Waiting(wait) => {
                wait.timer.hash(&mut hash);
                wait.futures.iter().for_each(|&future| self.tasks[future as usize].name.hash(&mut hash));
            }
            Status::Asleep(timer) => timer.hash(&mut hash),
            Status::Blocked(future, dest) => {
                (self.tasks[*future as usize].name, super::frame::pack(*dest)).hash(&mut hash);
            }
        }
        hash.finish_128()
    }
}

//! The conditions of waiting tasks: kept up to date after each step.

use super::frame::Status;
use super::{AbsMachine, ConflictRule, Undo, salt};
use crate::code::{Guard, Instr};
use crate::eval::{RandomChoices, field_bit};
use whippet_model::Touch;

/// The number of calls after which a condition counts as non-terminating.
const MAX_GUARD_CALLS: u64 = 1_000_000;

impl AbsMachine {
    /// Evaluates again the conditions in the group that the newest step may have changed.
    pub(super) fn update_guards(&mut self, group: u32, ran: u32) {
        if self.touched.iter().all(|&object| self.objects[object as usize].written == 0) {
            return;
        }
        for k in 0..self.live.len() {
            let task = self.live[k];
            let entry = &self.tasks[task as usize];
            if task == ran || entry.group != group {
                continue;
            }
            let Status::Waiting(wait) = &entry.state.status else { continue };
            if wait.condition {
                self.update_guard(task);
            }
        }
    }

    fn update_guard(&mut self, task: u32) {
        let code = self.code.clone();
        let Some((guard, object)) = self.guard_of(task, &code) else { return };
        let fields = guard.fields.iter().fold(0, |bits, &field| bits | field_bit(field));
        if self.objects[object as usize].written & fields == 0 {
            return;
        }
        let holds = self.guard_holds(task, guard, object);
        let Status::Waiting(wait) = &mut self.tasks[task as usize].state.status else { return };
        if wait.holds != holds {
            wait.holds = holds;
            self.undo.push(Undo::Guard(task));
        }
    }

    /// Adds the objects that decide if a blocked task becomes enabled: its group's lock, the awaited futures, and the
    /// fields that its condition reads.
    pub(super) fn blocking_touches(&self, task: u32, out: &mut Vec<Touch>) {
        let entry = &self.tasks[task as usize];
        let group = self.groups[entry.group as usize].name;
        let fields = self.conflict_rule == ConflictRule::Fields;
        if self.can_block || !fields {
            out.push(Touch::read(if fields { group.mixed(salt::LOCK) } else { group }));
        }
        if entry.state.status.timer().is_some() {
            // The clock jumps when no other task can run, which depends on all of them.
            out.push(Touch::read(whippet_model::Name::ROOT.mixed(salt::CLOCK)));
        }
        let future = |future: u32| Touch::read(self.tasks[future as usize].name.mixed(salt::FUTURE));
        match &entry.state.status {
            Status::Waiting(wait) => {
                out.extend(wait.futures.iter().copied().map(future));
                if let Some((guard, object)) = self.guard_of(task, &self.code).filter(|_| fields) {
                    let bits = guard.fields.iter().fold(0, |bits, &field| bits | field_bit(field));
                    let field = |k| self.objects[object as usize].name.mixed(salt::FIELD + k as u64);
                    out.extend(whippet_model::ones(&[bits]).map(|k| Touch::read(field(k))));
                }
            }
            Status::Blocked(awaited, _) => out.push(future(*awaited)),
            Status::Ready | Status::Asleep(_) | Status::Done => {}
        }
    }

    /// Returns the guard at which a task waits and the object whose fields the guard reads.
    fn guard_of<'a>(&self, task: u32, code: &'a crate::code::Code) -> Option<(&'a Guard, u32)> {
        let frame = self.tasks[task as usize].state.frames.last()?;
        match &code.methods[frame.method as usize].code[frame.at as usize] {
            Instr::Await(guard) => Some((guard, frame.object)),
            other => unreachable!("internal error: a task waits at {other:?}"),
        }
    }

    /// Returns `true` if the condition holds. A condition that throws or does not terminate counts as true: the task
    /// then runs into the problem and reports it.
    fn guard_holds(&mut self, task: u32, guard: &Guard, object: u32) -> bool {
        let Some(condition) = &guard.holds else { return true };
        let frame = self.tasks[task as usize].state.frames.last().expect("a waiting task has a frame");
        let mut locals = frame.locals.clone();
        let mut fuel = MAX_GUARD_CALLS;
        let mut random = RandomChoices::default();
        let mut eval = self.evaluator(task, object, &mut locals, &mut fuel, &mut random);
        eval.expr(condition).map_or(true, |value| value.truth())
    }
}

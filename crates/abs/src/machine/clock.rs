//! Virtual time.
//!
//! The clock stands still while a task can run. When none can, it jumps to the nearest time at which one can: the
//! smallest `latest` of a timer that enables a task. The steps between two jumps form an *interval*.
//!
//! # Why the order of steps stays a partial order
//!
//! A task whose timer a jump reaches could not run before: all steps of the interval before the jump are its causes
//! ([`Advance::barrier`]; the steps of earlier intervals precede those). Any other step of an interval was enabled by a
//! step of the same interval, on which it depends. So every step of an interval comes after all steps of the intervals before it, in every
//! equivalent execution, and the time that a step reads is a function of its past: reading the clock touches nothing.

use super::AbsMachine;
use crate::code::{Code, Instr};
use num_rational::BigRational;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// A jump of the clock.
#[derive(Clone, Debug)]
pub(super) struct Advance {
    /// The time that it leads to.
    to: BigRational,
    /// The first step after it.
    first: u32,
    /// The last step of each task that ran in the interval before it, in ascending order.
    pub(super) barrier: Rc<[u32]>,
}

impl AbsMachine {
    /// Returns `true` if the task can take a step now, where the clock may have to jump.
    pub(super) fn is_enabled(&self, task: u32) -> bool {
        self.is_enabled_at(task, &self.clock) || self.next_time().is_some_and(|time| self.is_enabled_at(task, &time))
    }

    /// Calls `visit` on every task that can take a step now.
    pub(super) fn each_enabled(&self, mut visit: impl FnMut(u32)) {
        let mut any = false;
        for &task in self.live.iter().filter(|&&task| self.is_enabled_at(task, &self.clock)) {
            any = true;
            visit(task);
        }
        if !any && let Some(time) = self.next_time() {
            self.live.iter().filter(|&&task| self.is_enabled_at(task, &time)).for_each(|&task| visit(task));
        }
    }

    /// Returns the time that the clock jumps to, or `None` if a task can run now or no timer enables one.
    fn next_time(&self) -> Option<BigRational> {
        if !self.timed || self.live.iter().any(|&task| self.is_enabled_at(task, &self.clock)) {
            return None;
        }
        let timers = self.live.iter().filter_map(|&task| self.tasks[task as usize].state.status.timer());
        let mut times: Vec<&BigRational> =
            timers.map(|timer| &timer.latest).filter(|time| **time > self.clock).collect();
        times.sort();
        times.dedup();
        let enables = |time: &&BigRational| self.live.iter().any(|&task| self.is_enabled_at(task, time));
        times.into_iter().find(enables).cloned()
    }

    /// Lets the clock jump if the task that is about to run needs it, and returns the time before.
    pub(super) fn advance_for(&mut self, task: u32) -> Option<Box<BigRational>> {
        if !self.timed || self.is_enabled_at(task, &self.clock) {
            return None;
        }
        let time = self.next_time().expect("a task that is enabled can run now or after a jump of the clock");
        let first = self.advances.last().map_or(0, |advance| advance.first) as usize;
        let mut seen = FxHashSet::default();
        let steps = (first..self.steps.len()).rev();
        let mut barrier: Vec<u32> = steps.filter(|&at| seen.insert(self.steps[at].task)).map(|at| at as u32).collect();
        barrier.reverse();
        let first = self.steps.len() as u32;
        self.advances.push(Advance { to: time.clone(), first, barrier: barrier.into() });
        Some(Box::new(std::mem::replace(&mut self.clock, time)))
    }

    /// Undoes a jump of the clock.
    pub(super) fn turn_back(&mut self, time: BigRational) {
        self.clock = time;
        self.advances.pop();
    }

    /// Returns the causes that a step of this task has because it waited for a point in time: the steps before the
    /// jump that reached it. Steps after that jump only conflict with the task's, so that both orders are explored.
    pub(super) fn barrier_of(&self, task: u32) -> Option<Rc<[u32]>> {
        let timer = self.tasks[task as usize].state.status.timer()?;
        let reached = self.advances.partition_point(|advance| advance.to < timer.earliest);
        Some(self.advances.get(reached)?.barrier.clone())
    }

    /// Returns the time at which a step ran.
    pub(super) fn time_of(&self, at: usize) -> &BigRational {
        let later = self.steps[at + 1..].iter().find_map(|record| record.advanced.as_deref());
        later.unwrap_or(&self.clock)
    }
}

/// Returns for each class if a program can create an object of it: all classes of the program, and the classes of the
/// library that it uses.
pub(super) fn used_classes(code: &Code) -> Vec<bool> {
    let mut used: Vec<bool> = (0..code.classes.len() as u32).map(|k| k == 0 || k >= code.library_classes).collect();
    loop {
        let before = used.clone();
        for method in code.methods.iter().filter(|method| before[method.class as usize]) {
            for instr in &method.code {
                if let Instr::New { class, .. } = instr {
                    used[*class as usize] = true;
                }
            }
        }
        if used == before {
            return used;
        }
    }
}

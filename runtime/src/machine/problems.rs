//! The problems of an execution: the stall and the threads that they need.

use super::TaskMachine;
use crate::ending::panic_problem;
use crate::execution::Execution;
use crate::one_thread::Trace;
use crate::task::State;
use std::sync::Arc;
use std::time::Duration;
use whippet_model::{Clocks, Machine, Problem, Stall, Threads};

impl TaskMachine {
    /// Adds the stall that a problem of the current execution needs. Returns `None` if that is over the budget.
    pub(super) fn within_budget(&self, mut problem: Problem) -> Option<Problem> {
        let stall = self.stall_of(&problem.steps);
        let is_within = stall.total() <= Duration::from_nanos(self.shared.settings.stall);
        problem.stall = Some(stall).filter(|stall| !stall.steps.is_empty());
        problem.threads = self.trace.as_ref().map(|trace| self.threads_for(trace, &problem.steps));
        is_within.then_some(problem)
    }

    /// Returns the stall that the past of these steps needs in the current execution.
    fn stall_of(&self, steps: &[usize]) -> Stall {
        if self.stalls.are_none() {
            return Stall::default();
        }
        let mut clocks = Clocks::new();
        clocks.follow(self);
        self.stalls.of(&clocks, steps)
    }

    /// Returns the shortest time for which the runtime has to stall for the current execution to happen.
    #[must_use]
    pub fn stall(&self) -> Duration {
        let steps: Vec<usize> = (0..self.depth).collect();
        self.stall_of(&steps).total()
    }

    /// Returns the weakest runtime that shows these steps of the current execution, whose trace is given.
    fn threads_for(&self, trace: &Trace, steps: &[usize]) -> Threads {
        let ended: Vec<u32> = steps.iter().flat_map(|&at| self.ended(at)).map(|k| self.ended[k]).collect();
        trace.needs(steps, &ended)
    }

    /// Returns the weakest runtime that shows the current execution, which is complete. Runs it once more.
    #[must_use]
    pub fn threads(&mut self) -> Threads {
        self.log_trace();
        let steps: Vec<usize> = (0..self.depth).collect();
        let ended: Vec<u32> = (0..self.depth).flat_map(|at| self.ended(at)).map(|k| self.ended[k]).collect();
        self.trace.take().map_or(Threads::One, |trace| trace.needs(&steps, &ended))
    }

    /// Runs the current execution once more to learn all of its operations: see `one_thread.rs`.
    pub(super) fn log_trace(&mut self) {
        self.trace = None;
        // Two executions of one program do not live at the same time.
        self.clear();
        // The search must not see what is learnt meanwhile.
        let shared = Arc::new(self.shared.apart());
        let Ok(mut again) = TaskMachine::with(shared, self.refinements.ordering(), true) else { return };
        for at in 0..self.depth {
            let choice = self.steps[at].choice;
            if again.tasks.len() <= choice.what.0 as usize || again.execute(choice).is_err() {
                return;
            }
        }
        let kinds: Vec<&str> = again.tasks.iter().map(|task| task.label.kind).collect();
        let Execution { log, merging, .. } = again.x();
        let (log, merged) = (log.take(), std::mem::take(&mut merging.events));
        self.trace = log.and_then(|log| Trace::of(&log, &again, &merged, &kinds));
        again.x().merging.events = merged;
    }

    pub(super) fn main_problem(&self, at: usize) -> Option<Box<Problem>> {
        let panic = self.live.as_ref()?.with(|x| {
            let task = x.tasks.first().filter(|task| matches!(task.state, State::Done))?;
            task.unseen_panic().filter(|(_, _, step)| *step as usize == at)
        });
        let (message, place, step) = panic?;
        Some(Box::new(panic_problem(message, place, step)))
    }
}

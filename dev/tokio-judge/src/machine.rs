//! The machine of tasks, with an ear at the end of each execution.

use crate::logs::Logs;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_reference::Outcome;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Dependence, Machine, MachineError, Name, Pending, Problem, Program, Reversal,
    Step, StepDescription, Touch,
};
use whippet_runtime::{TaskMachine, Tasks};

/// The outcomes of all executions so far.
#[derive(Clone, Debug, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<Outcome>>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<Outcome>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, outcome: Outcome) {
        self.lock().insert(outcome);
    }

    /// Takes what was seen.
    #[must_use]
    pub fn take(&self) -> BTreeSet<Outcome> {
        std::mem::take(&mut *self.lock())
    }
}

/// Tasks whose outcome is noted when an execution is complete.
pub struct Overheard {
    pub tasks: Tasks,
    pub logs: Logs,
    pub seen: Seen,
}

impl Program for Overheard {
    type Machine = Ear;

    fn machine(&self) -> Result<Ear, MachineError> {
        Ok(Ear { machine: self.tasks.machine()?, logs: self.logs.clone(), seen: self.seen.clone() })
    }

    fn name(&self) -> String {
        self.tasks.name()
    }
}

/// A machine that notes the outcome of each complete execution.
pub struct Ear {
    machine: TaskMachine,
    logs: Logs,
    seen: Seen,
}

impl Machine for Ear {
    fn completed(&mut self) {
        self.seen.add(self.logs.outcome());
    }

    fn depth(&self) -> usize {
        self.machine.depth()
    }
    fn enabled(&mut self, out: &mut Vec<Choice>) {
        self.machine.enabled(out);
    }
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        self.machine.execute(choice)
    }
    fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
    }
    fn next_branch(&self) -> Option<Branch> {
        self.machine.next_branch()
    }
    fn ways_differ(&self) -> bool {
        self.machine.ways_differ()
    }
    fn thread(&self, what: Pending) -> Name {
        self.machine.thread(what)
    }
    fn actor(&self, what: Pending) -> ActorNo {
        self.machine.actor(what)
    }
    fn find(&self, thread: Name) -> Option<Pending> {
        self.machine.find(thread)
    }
    fn pending(&self, out: &mut Vec<Pending>) {
        self.machine.pending(out);
    }
    fn relation(&self) -> Dependence {
        self.machine.relation()
    }
    fn step(&self, at: usize) -> Step {
        self.machine.step(at)
    }
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        self.machine.causes(at, out);
    }
    fn sent(&self, at: usize) -> Range<u32> {
        self.machine.sent(at)
    }
    fn touches(&self, at: usize) -> &[Touch] {
        self.machine.touches(at)
    }
    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        self.machine.late_alternatives(at, out);
    }
    fn one_choice_each(&self) -> bool {
        self.machine.one_choice_each()
    }
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal {
        self.machine.without(clocks, earlier, later)
    }
    fn actors(&self) -> usize {
        self.machine.actors()
    }
    fn problems(&self) -> usize {
        self.machine.problems()
    }
    fn problem(&self, at: usize) -> Option<Problem> {
        self.machine.problem(at)
    }
    fn final_problems(&mut self, out: &mut Vec<Problem>) {
        self.machine.final_problems(out);
    }
    fn describe(&mut self, at: usize) -> StepDescription {
        self.machine.describe(at)
    }
    fn handler_runs(&self) -> u64 {
        self.machine.handler_runs()
    }
}

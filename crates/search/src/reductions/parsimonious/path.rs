//! The current path, and the constraints of its detours.

use super::default::DefaultTouches;
use crate::driver::parts::{Mark, Part, PartStep};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{EventLabel, ExecutionRecord};
use whippet_model::{Choice, Executed, Machine, Name};

/// The constraints that a detour imposes on what follows.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    /// The depth at which the detour begins, and the position of its head.
    pub(crate) base: usize,
    pub(crate) head: usize,
    /// The thread of the default that it avoids, and what this default touches.
    pub(crate) against: Name,
    pub(crate) touches: DefaultTouches,
}

/// The current path. The machine has taken its steps, or the first of them.
pub(crate) struct Path {
    pub(crate) record: ExecutionRecord,
    pub(crate) marks: Vec<Mark>,
    pub(crate) constraints: Vec<Constraint>,
    /// The depth at which a detour begins whose head is still to come, and what the default touches that it avoids.
    pub(crate) begun: Option<(usize, DefaultTouches)>,
}

impl Path {
    pub(crate) fn new<M: Machine>(machine: &M) -> Path {
        let record = ExecutionRecord::new(machine);
        Path { record, marks: Vec::new(), constraints: Vec::new(), begun: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.record.len()
    }

    pub(crate) fn event(&self, at: usize) -> &EventLabel {
        &self.record.steps[at].event
    }

    /// Adds the newest step of the machine.
    pub(crate) fn push<M: Machine>(&mut self, machine: &M, executed: Executed, several: bool, mark: Mark) {
        self.record.push(machine, executed, several);
        if let Mark::Head { base, against, .. } = mark {
            let (base, head) = (base as usize, self.marks.len());
            let known = self.begun.take().expect("our bug: what a default touches is not known");
            assert_eq!(known.0, base, "our bug: detours overlap");
            self.constraints.push(Constraint { base, head, against, touches: known.1 });
        }
        self.marks.push(mark);
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.record.truncate(depth);
        self.marks.truncate(depth);
        self.begun = None;
        while self.constraints.last().is_some_and(|last| last.head >= depth) {
            self.constraints.pop();
        }
    }

    /// Returns the number of steps at the beginning that are also those of a part. A detour of the part is among them as a
    /// whole or not at all.
    pub(crate) fn common(&self, part: &Part) -> usize {
        let is_same = |(at, step): &(usize, &PartStep)| {
            let event = self.event(*at);
            (event.thread, event.branch, self.marks[*at]) == (step.thread, step.branch, step.mark)
        };
        let mut common = part.steps.iter().enumerate().take(self.len()).take_while(is_same).count();
        for step in part.steps.iter().skip(common) {
            match step.mark {
                Mark::Head { base, .. } => {
                    common = common.min(base as usize);
                    break;
                }
                Mark::Via => {}
                _ => break,
            }
        }
        common
    }

    /// Returns the first `depth` steps as the beginning of a part.
    pub(crate) fn part(&self, depth: usize) -> Part {
        let step = |at: usize| {
            let event = self.event(at);
            PartStep { thread: event.thread, branch: event.branch, mark: self.marks[at] }
        };
        Part { steps: (0..depth).map(step).collect(), weight: 0.0 }
    }

    /// Moves the machine to the configuration after the first `depth` steps. It has taken at most these.
    pub(crate) fn go<M: Machine>(&self, run: &mut Run<'_, M>, depth: usize) -> Result<(), Stop> {
        for at in run.depth()..depth {
            self.retake(run, at)?;
        }
        Ok(())
    }

    /// Executes a step of the path in the current configuration, which may differ by independent steps.
    pub(crate) fn retake<M: Machine>(&self, run: &mut Run<'_, M>, at: usize) -> Result<(), Stop> {
        let event = self.event(at);
        let what = run.machine().find(event.thread).expect("our bug: an independent step has vanished");
        run.redo(Choice { what, branch: event.branch }).map(drop)
    }
}

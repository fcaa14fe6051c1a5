//! The current path, and the constraints that its detours impose on whatever follows.

use super::part::{DefaultTouches, Detour, Mark, Part, PartStep};
use crate::reductions::optimal::events::{EventLabel, ExecutionRecord};
use crate::driver::run::{Run, Stop};
use whippet_model::{Choice, Executed, Machine, Name};

/// The constraint of one detour on the path.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) base: usize,
    pub(crate) head: usize,
    /// The thread of the default that the detour avoids, and what it touches.
    pub(crate) against: Name,
    pub(crate) touches: DefaultTouches,
}

/// The current path. The machine has taken its steps, or some of them.
pub(crate) struct Path {
    pub(crate) record: ExecutionRecord,
    pub(crate) marks: Vec<Mark>,
    pub(crate) constraints: Vec<Constraint>,
}

impl Path {
    pub(crate) fn new<M: Machine>(machine: &M) -> Path {
        Path { record: ExecutionRecord::new(machine), marks: Vec::new(), constraints: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.record.len()
    }

    pub(crate) fn event(&self, at: usize) -> &EventLabel {
        &self.record.steps[at].event
    }

    pub(crate) fn push<M: Machine>(&mut self, machine: &M, executed: Executed, several: bool, mark: Mark) {
        self.record.push(machine, executed, several);
        if let Mark::Head(Detour { base, against, touches, .. }) = &mark {
            let touches = touches.clone().expect("our bug: the footprint of a default is not known");
            let (base, head) = (*base as usize, self.marks.len());
            self.constraints.push(Constraint { base, head, against: *against, touches });
        }
        self.marks.push(mark);
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.record.truncate(depth);
        self.marks.truncate(depth);
        while self.constraints.last().is_some_and(|last| last.head >= depth) {
            self.constraints.pop();
        }
    }

    /// Returns the number of steps at the beginning that are also those of a part.
    pub(crate) fn common(&self, part: &Part) -> usize {
        let is_same = |(at, step): &(usize, &PartStep)| {
            let event = self.event(*at);
            event.thread == step.thread && event.branch == step.branch && self.marks[*at] == step.mark
        };
        part.steps.iter().enumerate().take(self.len()).take_while(is_same).count()
    }

    /// Returns the first `depth` steps as the beginning of a part.
    pub(crate) fn part(&self, depth: usize) -> Part {
        let step = |at: usize| {
            let event = self.event(at);
            PartStep { thread: event.thread, branch: event.branch, mark: self.marks[at].clone() }
        };
        Part { steps: (0..depth).map(step).collect() }
    }

    /// Moves the machine to the configuration after the first `depth` steps. It has taken at most these.
    pub(crate) fn go<M: Machine>(&self, run: &mut Run<'_, M>, depth: usize) -> Result<(), Stop> {
        for at in run.depth()..depth {
            let event = self.event(at);
            let what = run.machine().find(event.thread).expect("our bug: a step cannot be taken again");
            run.redo(Choice { what, branch: event.branch })?;
        }
        Ok(())
    }
}

//! The `Machine` implementation of [`AbsMachine`].

use super::{AbsMachine, ConflictRule};
use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Dependence, Extension, Machine, MachineError, Name, Pending, Problem,
    Step, StepDescription, Touch,
};

impl Machine for AbsMachine {
    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        out.extend(self.live.iter().filter(|&&task| self.is_enabled(task)).map(|&task| Choice::first(Pending(task))));
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        assert!(self.is_enabled(choice.what.0), "internal error: a search chose a task that is not enabled");
        self.steps_run += 1;
        self.run_step(choice);
        let arities = &self.steps[self.steps.len() - 1].arities;
        if (0..Branch::DIGITS).any(|k| choice.branch.digit(k) >= arities.get(k).copied().unwrap_or(1)) {
            self.rewind(self.steps.len() - 1);
            return Err(MachineError::Misuse(
                "a step has fewer branches than the schedule requires: it was recorded with another program".into(),
            ));
        }
        Ok(())
    }

    fn next_branch(&self) -> Option<Branch> {
        let newest = self.steps.last()?;
        newest.choice.branch.next(&newest.arities)
    }

    fn rewind(&mut self, depth: usize) {
        while self.steps.len() > depth {
            let record = self.steps.pop().expect("the loop checked");
            self.undo_step(record);
        }
    }

    fn thread(&self, what: Pending) -> Name {
        self.tasks[what.0 as usize].name
    }

    fn actor(&self, what: Pending) -> ActorNo {
        ActorNo(self.tasks[what.0 as usize].group)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        let task = *self.by_name.get(&thread)?;
        self.tasks[task as usize].result.is_none().then_some(Pending(task))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend(self.live.iter().map(|&task| Pending(task)));
    }

    fn relation(&self) -> Dependence {
        match self.conflict_rule {
            ConflictRule::Actors | ConflictRule::Marks(_) if !self.can_wait => Dependence::PerActor,
            _ => Dependence::Footprints,
        }
    }

    /// Returns `true`: calls arrive in any order, and objects refuse none.
    fn accepted_at(&mut self, _: Pending, _: usize) -> bool {
        true
    }

    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64> {
        Some(self.stability().level(self, actor.0))
    }

    fn caveat(&self) -> Option<String> {
        self.marks_caveat()
    }

    fn is_pruned(&self, what: Pending) -> bool {
        self.tasks[what.0 as usize].marked
    }

    fn step(&self, at: usize) -> Step {
        let record = &self.steps[at];
        Step { choice: record.choice, thread: record.thread, event: record.event, actor: ActorNo(record.group) }
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        out.extend(self.steps[at].causes.iter().map(|&step| step as usize));
    }

    fn sent(&self, at: usize) -> Range<u32> {
        let end = self.steps.get(at + 1).map_or(self.tasks.len() as u32, |next| next.tasks);
        self.steps[at].tasks..end
    }

    fn touches(&self, at: usize) -> &[Touch] {
        let end = self.steps.get(at + 1).map_or(self.touches.len(), |next| next.touches as usize);
        &self.touches[self.steps[at].touches as usize..end]
    }

    /// Returns `Ok(false)`: the footprint of a task is known only after running it.
    fn extensions(&mut self, _: &Clocks, _: &mut Vec<Extension>) -> Result<bool, MachineError> {
        Ok(false)
    }

    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        self.blocking_touches(what.0, out);
    }

    fn actors(&self) -> usize {
        self.groups.len()
    }

    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].problem.as_deref().cloned().map(|problem| Problem { steps: vec![at], ..problem })
    }

    fn final_problems(&mut self, out: &mut Vec<Problem>) {
        self.end_problems(out);
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.step_text(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        Ok(self.hash_state(comparison))
    }

    fn handler_runs(&self) -> u64 {
        self.steps_run
    }
}

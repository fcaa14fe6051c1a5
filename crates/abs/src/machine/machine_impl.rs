//! The `Machine` implementation of [`AbsMachine`].

use super::AbsMachine;
use std::ops::Range;
use whippet_model::{
    ActorNo, ActorState, Blockers, Branch, Choice, Delivered, Deliveries, Executed, Explain, Fingerprint, Machine,
    MachineError, Name, OrderHints, Pending, Problem, Profile, Pruning, StateComparison, States, Step, StepDescription,
    Touch, capabilities, enabled_after, enabled_of_lowest,
};

impl Machine for AbsMachine {
    capabilities!(Deliveries, Blockers, OrderHints, Pruning, Fingerprint, States);

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.each_enabled(|task| out.push(Choice::first(Pending(task))));
        Ok(())
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        assert!(self.is_enabled(choice.what.0), "internal error: a search chose a task that is not enabled");
        self.steps_run += 1;
        self.run_step(choice);
        let arities = &self.steps[self.steps.len() - 1].arities;
        let next_branch = choice.branch.next(arities);
        if (0..Branch::DIGITS).any(|k| choice.branch.digit(k) >= arities.get(k).copied().unwrap_or(1)) {
            self.rewind(self.steps.len() - 1);
            return Err(MachineError::Misuse(
                "a step has fewer branches than the schedule requires: it was recorded with another program".into(),
            ));
        }
        Ok(Executed { next_branch })
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

    fn actors(&self) -> usize {
        self.groups.len()
    }
}

impl States for AbsMachine {
    fn of_actors(&mut self, out: &mut Vec<ActorState>) {
        out.extend(self.object_states());
    }

    fn of_pending(&mut self, _: Pending) -> Option<(String, String)> {
        None
    }
}

impl Explain for AbsMachine {
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.steps[at].problem.as_deref().cloned().map(|problem| problem.with_steps(vec![at]))
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.end_problems(out);
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.step_text(at)
    }

    fn handler_runs(&self) -> u64 {
        self.steps_run
    }
}

impl Deliveries for AbsMachine {
    /// Returns `true`: calls arrive in any order, and objects refuse none.
    fn accepted_at(&mut self, _: Pending, _: usize) -> bool {
        true
    }

    fn enabled_of_lowest(&mut self, ranks: &[u32], most: usize, out: &mut Vec<Choice>) -> Result<usize, MachineError> {
        enabled_of_lowest(self, ranks, most, out)
    }

    fn enabled_after(&mut self, last: Pending, most: usize, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        enabled_after(self, last, most, out)
    }

    fn delivered(&self, at: usize) -> Delivered {
        Delivered::of(self, at)
    }
}

impl Blockers for AbsMachine {
    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        self.blocking_touches(what.0, out);
    }
}

impl OrderHints for AbsMachine {
    /// Returns `None`: the estimate follows from the program's text.
    fn note(&self) -> Option<String> {
        None
    }

    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64> {
        Some(self.stability().level(self, actor.0))
    }
}

impl Pruning for AbsMachine {
    fn caveat(&self) -> Option<String> {
        self.marks_caveat()
    }

    fn is_pruned(&self, what: Pending) -> bool {
        self.tasks[what.0 as usize].marked
    }
}

impl Fingerprint for AbsMachine {
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        if !comparison.merges_final() {
            let why = "comparisons like Basset's are for native actors: choose `canonical` or `ordered`";
            return Err(MachineError::Unsupported(why.into()));
        }
        Ok(self.hash_state(comparison))
    }
}

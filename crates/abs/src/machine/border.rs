//! The `Machine` implementation of [`AbsMachine`]: executes a step, records its causes and footprint, and undoes it.

use super::frame::{Status, TaskState};
use super::run::End;
use super::{AbsMachine, ConflictRule, NONE, Outcome, Record, Undo, salt};
use crate::eval::Thrown;
use smallvec::SmallVec;
use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Dependence, Extension, Machine, MachineError, Name, Pending, Problem,
    Step, StepDescription, Touch,
};

impl AbsMachine {
    /// Executes one step of the chosen task and appends its record.
    fn step_of(&mut self, choice: Choice) {
        let task = choice.what.0;
        let step = self.steps.len() as u32;
        let entry = &self.tasks[task as usize];
        let (thread, group) = (entry.name, entry.group);
        let holder = self.groups[group as usize].holder;
        let mut record = Record {
            choice,
            thread,
            event: thread.mixed(salt::EVENT + u64::from(entry.state.steps)),
            group,
            task,
            saved: Box::new(entry.state.clone()),
            holder,
            tasks: self.tasks.len() as u32,
            objects: self.objects.len() as u32,
            groups: self.groups.len() as u32,
            undo: self.undo.len() as u32,
            touches: self.touches.len() as u32,
            causes: SmallVec::new(),
            problem: None,
            arities: SmallVec::new(),
            place: NONE,
        };
        self.reasons(&mut record);
        self.mark(task);
        let (end, frames, place, arities) = self.run(task, choice.branch);
        record.place = place;
        if !arities.is_empty() {
            record.event = record.event.going(choice.branch);
            record.arities = arities;
        }
        let state = &mut self.tasks[task as usize].state;
        state.frames = frames;
        state.steps += 1;
        state.last = step;
        match end {
            End::Released(status) => self.tasks[task as usize].state.status = status,
            End::Returned(value) => self.finish(task, step, Outcome::Value(value)),
            End::Failed(thrown) => record.problem = self.fail(task, step, thrown),
        }
        let blocked = matches!(self.tasks[task as usize].state.status, Status::Blocked(..));
        self.groups[group as usize].holder = if blocked { task } else { NONE };
        self.touch(&record);
        self.look_at_guards(group, task);
        for object in self.touched.drain(..) {
            let object = &mut self.objects[object as usize];
            (object.read, object.written) = (0, 0);
        }
        self.problems += usize::from(record.problem.is_some());
        self.steps.push(record);
    }

    /// Records the causes of the step: the task's previous step (or the step that called it), and the steps that
    /// completed the futures it waited for.
    fn reasons(&self, record: &mut Record) {
        let state = &self.tasks[record.task as usize].state;
        let mut cause = |step: u32| {
            if step != NONE && !record.causes.contains(&step) {
                record.causes.push(step);
            }
        };
        cause(state.last);
        let ended = |future: &u32| self.tasks[*future as usize].outcome.as_ref().map_or(NONE, |(_, step)| *step);
        match &state.status {
            Status::Waiting(wait) => {
                wait.futures.iter().for_each(|future| cause(ended(future)));
            }
            Status::Blocked(future, _) => cause(ended(future)),
            Status::Ready | Status::Done => {}
        }
    }

    fn finish(&mut self, task: u32, step: u32, outcome: Outcome) {
        let entry = &mut self.tasks[task as usize];
        entry.state.status = Status::Done;
        entry.state.frames = Vec::new();
        entry.outcome = Some((outcome, step));
        let at = self.live.binary_search(&task).expect("a task that runs is alive");
        self.live.remove(at);
    }

    /// Ends a task with an exception, which readers of its future receive. Returns the problem to report, if any.
    fn fail(&mut self, task: u32, step: u32, thrown: Thrown) -> Option<Box<Problem>> {
        let problem = self.problem_of(task, &thrown);
        let (exception, place) = match thrown {
            Thrown::Exception(exception, place) => (exception, place),
            Thrown::Limit(_, place) => (crate::value::Value::Unit, place),
        };
        self.finish(task, step, Outcome::Failed(exception, place));
        if problem.is_some() {
            self.tasks[task as usize].seen = true;
        }
        problem.map(Box::new)
    }

    /// Records the footprint of the step.
    fn touch(&mut self, record: &Record) {
        let group = self.groups[record.group as usize].name;
        let state = &self.tasks[record.task as usize].state;
        let blocks = record.holder == record.task || matches!(state.status, Status::Blocked(..));
        match self.tasks_mode {
            ConflictRule::Actors | ConflictRule::Marks(_) => self.touches.push(Touch::write(group)),
            ConflictRule::Fields => {
                let lock = group.mixed(salt::LOCK);
                if self.blocks {
                    self.touches.push(if blocks { Touch::write(lock) } else { Touch::read(lock) });
                }
                // No other step can have touched an object created in this step.
                for &object in self.touched.iter().filter(|&&object| object < record.objects) {
                    let object = &self.objects[object as usize];
                    for field in whippet_model::ones(&[object.read | object.written]) {
                        let name = object.name.mixed(salt::FIELD + field as u64);
                        let written = object.written >> field & 1 != 0;
                        self.touches.push(if written { Touch::write(name) } else { Touch::read(name) });
                    }
                }
            }
        }
        let entry = &self.tasks[record.task as usize];
        if entry.kept && entry.outcome.is_some() {
            self.touches.push(Touch::write(entry.name.mixed(salt::FUTURE)));
        }
        self.looked_at.sort_unstable();
        self.looked_at.dedup();
        for future in self.looked_at.drain(..) {
            if future < record.tasks {
                self.touches.push(Touch::read(self.tasks[future as usize].name.mixed(salt::FUTURE)));
            }
        }
    }

    fn take_back(&mut self, record: Record) {
        while self.undo.len() > record.undo as usize {
            match self.undo.pop().expect("the loop checked") {
                Undo::Field(object, field, old) => self.objects[object as usize].fields[field as usize] = old,
                Undo::Guard(task) => {
                    if let Status::Waiting(wait) = &mut self.tasks[task as usize].state.status {
                        wait.holds = !wait.holds;
                    }
                }
                Undo::Seen(task) => self.tasks[task as usize].seen = false,
                Undo::Mark(task) => self.flip_mark(task),
            }
        }
        for task in self.tasks.drain(record.tasks as usize..) {
            self.by_name.remove(&task.name);
        }
        while self.live.last().is_some_and(|&task| task >= record.tasks) {
            self.live.pop();
        }
        self.objects.truncate(record.objects as usize);
        self.groups.truncate(record.groups as usize);
        self.touches.truncate(record.touches as usize);
        self.groups[record.group as usize].holder = record.holder;
        let entry = &mut self.tasks[record.task as usize];
        entry.state = *record.saved;
        if entry.outcome.take().is_some() {
            entry.seen = false;
            let at = self.live.partition_point(|&task| task < record.task);
            self.live.insert(at, record.task);
        }
        self.problems -= usize::from(record.problem.is_some());
    }

    pub(crate) fn state_of(&self, task: u32) -> &TaskState {
        &self.tasks[task as usize].state
    }
}

impl Machine for AbsMachine {
    fn depth(&self) -> usize {
        self.steps.len()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        out.extend(self.live.iter().filter(|&&task| self.is_enabled(task)).map(|&task| Choice::first(Pending(task))));
    }

    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        assert!(self.is_enabled(choice.what.0), "a search chose a task that is not enabled: a bug of the search");
        self.runs += 1;
        self.step_of(choice);
        let arities = &self.steps[self.steps.len() - 1].arities;
        if (0..Branch::DIGITS).any(|k| choice.branch.digit(k) >= arities.get(k).copied().unwrap_or(1)) {
            self.rewind(self.steps.len() - 1);
            return Err(MachineError::Misuse("a step has no such way: the schedule is of another program".into()));
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
            self.take_back(record);
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
        self.tasks[task as usize].outcome.is_none().then_some(Pending(task))
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        out.extend(self.live.iter().map(|&task| Pending(task)));
    }

    fn relation(&self) -> Dependence {
        match self.tasks_mode {
            ConflictRule::Actors | ConflictRule::Marks(_) if !self.waits => Dependence::PerActor,
            _ => Dependence::Footprints,
        }
    }

    /// Returns `true`: calls arrive in any order, and objects refuse none.
    fn accepted_at(&mut self, _: Pending, _: usize) -> bool {
        true
    }

    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64> {
        Some(self.knowledge().level(self, actor.0))
    }

    fn caveat(&self) -> Option<String> {
        self.missed_by_marks()
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
        self.waits_for(what.0, out);
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
        self.look_at_end(out);
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.step_text(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        Ok(self.hash_state(comparison))
    }

    fn handler_runs(&self) -> u64 {
        self.runs
    }
}

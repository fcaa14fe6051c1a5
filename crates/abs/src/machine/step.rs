//! Executes a step, records its causes and footprint, and undoes it.

use super::frame::{Status, TaskState};
use super::run::StepEnd;
use super::{AbsMachine, ConflictRule, NONE, StepRecord, Task, TaskResult, Undo, salt};
use crate::eval::Thrown;
use crate::record::CaseResult;
use smallvec::SmallVec;
use whippet_model::{Choice, Problem, Touch};

impl AbsMachine {
    /// Executes one step of the chosen task and appends its record.
    pub(super) fn run_step(&mut self, choice: Choice) {
        let task = choice.what.0;
        let advanced = self.advance_for(task);
        let step = self.steps.len() as u32;
        let entry = &self.tasks[task as usize];
        let (thread, group) = (entry.name, entry.group);
        let holder = self.groups[group as usize].holder;
        let mut record = StepRecord {
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
            advanced,
        };
        self.record_causes(&mut record);
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
            StepEnd::Released(status) => self.tasks[task as usize].state.status = status,
            StepEnd::Returned(value) => self.end_task(task, step, TaskResult::Value(value)),
            StepEnd::Failed(thrown) => record.problem = self.fail_task(task, step, thrown),
        }
        let blocked = matches!(self.tasks[task as usize].state.status, Status::Blocked(..) | Status::Asleep(_));
        self.groups[group as usize].holder = if blocked { task } else { NONE };
        self.record_footprint(&record);
        self.update_guards(group, task);
        for object in self.touched.drain(..) {
            let object = &mut self.objects[object as usize];
            (object.read, object.written) = (0, 0);
        }
        self.problems += usize::from(record.problem.is_some());
        self.steps.push(record);
        self.record_case(task);
    }

    /// Notes the inputs of the method that is explored, once the main block has chosen them, and its result, once it has
    /// ended.
    fn record_case(&self, task: u32) {
        let Some(record) = &self.record else { return };
        let entry = &self.tasks[task as usize];
        let Some((result, _)) = &entry.result else { return };
        let is_call = |entry: &Task| entry.caller == 0 && entry.method == record.target;
        let called = self.tasks.iter().skip(1).rposition(is_call);
        let result = match result {
            _ if task == 0 => None,
            _ if called.is_none_or(|at| at + 1 != task as usize) => return,
            TaskResult::Value(value) if value.has_reference() => Some(CaseResult::Other),
            TaskResult::Value(value) => {
                Some(CaseResult::Value(value.program_text(&self.code, &|_| unreachable!("there are no references"))))
            }
            TaskResult::Failed(exception, _) => {
                let Some((constructor, args)) = exception.parts() else { return };
                let name = &self.code.constructors[constructor as usize].name;
                let args = vec!["_"; args.len()].join(", ");
                Some(CaseResult::Throws(if args.is_empty() { name.clone() } else { format!("{name}({args})") }))
            }
        };
        let of_main = self.steps.iter().filter(|step| step.task == 0);
        let drawn = of_main.flat_map(|step| (0..step.arities.len()).map(|k| step.choice.branch.digit(k)));
        record.case(drawn.collect(), result);
    }

    /// Records the causes of the step: the task's previous step (or the step that called it), and the steps that
    /// completed the futures it waited for.
    fn record_causes(&self, record: &mut StepRecord) {
        let state = &self.tasks[record.task as usize].state;
        if let Some(barrier) = self.barrier_of(record.task) {
            record.causes.extend_from_slice(&barrier);
        }
        let mut cause = |step: u32| {
            if step != NONE && !record.causes.contains(&step) {
                record.causes.push(step);
            }
        };
        cause(state.last);
        let ended = |future: &u32| self.tasks[*future as usize].result.as_ref().map_or(NONE, |(_, step)| *step);
        match &state.status {
            Status::Waiting(wait) => {
                wait.futures.iter().for_each(|future| cause(ended(future)));
            }
            Status::Blocked(future, _) => cause(ended(future)),
            Status::Ready | Status::Asleep(_) | Status::Done => {}
        }
    }

    fn end_task(&mut self, task: u32, step: u32, result: TaskResult) {
        let entry = &mut self.tasks[task as usize];
        entry.state.status = Status::Done;
        entry.state.frames = Vec::new();
        entry.result = Some((result, step));
        let at = self.live.binary_search(&task).expect("a task that runs is alive");
        self.live.remove(at);
    }

    /// Ends a task with an exception, which readers of its future receive. Returns the problem to report, if any.
    fn fail_task(&mut self, task: u32, step: u32, thrown: Thrown) -> Option<Box<Problem>> {
        let problem = self.problem_of(task, &thrown);
        let (exception, place) = match thrown {
            Thrown::Exception(exception, place) => (exception, place),
            Thrown::Limit(_, place) => (crate::value::Value::Unit, place),
        };
        self.end_task(task, step, TaskResult::Failed(exception, place));
        if problem.is_some() {
            self.tasks[task as usize].observed = true;
        }
        problem.map(Box::new)
    }

    /// Records the footprint of the step.
    fn record_footprint(&mut self, record: &StepRecord) {
        let group = self.groups[record.group as usize].name;
        let state = &self.tasks[record.task as usize].state;
        let blocks = record.holder == record.task || matches!(state.status, Status::Blocked(..) | Status::Asleep(_));
        if self.timed {
            // Any step may be the last one before the clock jumps (see `blocking_touches`).
            self.touches.push(Touch::add(whippet_model::Name::ROOT.mixed(salt::CLOCK)));
        }
        match self.conflict_rule {
            ConflictRule::Actors | ConflictRule::Marks(_) => {
                self.touches.push(Touch::write(group));
                // A statement with a cost changes its deployment component, which is in another group.
                let mut others: Vec<u32> = self.touched.iter().map(|&o| self.objects[o as usize].group).collect();
                others.retain(|&other| other != record.group && other < record.groups);
                others.sort_unstable();
                others.dedup();
                self.touches.extend(others.iter().map(|&other| Touch::write(self.groups[other as usize].name)));
            }
            ConflictRule::Fields => {
                let lock = group.mixed(salt::LOCK);
                if self.can_block {
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
        if entry.future_kept && entry.result.is_some() {
            self.touches.push(Touch::write(entry.name.mixed(salt::FUTURE)));
        }
        self.futures_read.sort_unstable();
        self.futures_read.dedup();
        for future in self.futures_read.drain(..) {
            if future < record.tasks {
                self.touches.push(Touch::read(self.tasks[future as usize].name.mixed(salt::FUTURE)));
            }
        }
    }

    pub(super) fn undo_step(&mut self, record: StepRecord) {
        while self.undo.len() > record.undo as usize {
            match self.undo.pop().expect("the loop checked") {
                Undo::Field(object, field, old) => self.objects[object as usize].fields[field as usize] = old,
                Undo::Guard(task) => {
                    if let Status::Waiting(wait) = &mut self.tasks[task as usize].state.status {
                        wait.holds = !wait.holds;
                    }
                }
                Undo::Observed(task) => self.tasks[task as usize].observed = false,
                Undo::Mark(task) => self.flip_mark(task),
                Undo::Component(group, old) => self.groups[group as usize].component = old,
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
        if entry.result.take().is_some() {
            entry.observed = false;
            let at = self.live.partition_point(|&task| task < record.task);
            self.live.insert(at, record.task);
        }
        self.problems -= usize::from(record.problem.is_some());
        if let Some(time) = record.advanced {
            self.turn_back(*time);
        }
    }

    pub(crate) fn state_of(&self, task: u32) -> &TaskState {
        &self.tasks[task as usize].state
    }
}

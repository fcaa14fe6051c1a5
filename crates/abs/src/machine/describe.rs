//! Descriptions of steps for reports.

use super::frame::Status;
use super::{AbsMachine, TaskResult, Undo, salt};
use crate::eval::Objects;
use crate::value::Value;
use whippet_model::{
    Access, ActorState, Change, DebugValue, EventKind, MessageText, Name, StateChange, StepDescription, TraceTouch,
};

impl Objects for AbsMachine {
    fn class_of(&self, object: u32) -> u32 {
        self.objects[object as usize].class
    }

    fn stable_text(&self, object: u32) -> String {
        let object = &self.objects[object as usize];
        format!("{}@{:08x}", self.code.classes[object.class as usize].name, object.name.0 as u32)
    }
}

impl AbsMachine {
    /// Returns the class name of an object, followed by a number if the class has several objects.
    pub(crate) fn object_text(&self, object: u32) -> String {
        let class = self.objects[object as usize].class;
        let name = &self.code.classes[class as usize].name;
        let of_class = |o: &&super::Object| o.class == class;
        let several = self.objects.iter().filter(of_class).nth(1).is_some();
        match several {
            true => format!("{name} {}", self.objects[..=object as usize].iter().filter(of_class).count()),
            false => name.clone(),
        }
    }

    pub(super) fn value_text(&self, value: &Value) -> String {
        value.show(&self.code, &|object| self.object_text(object))
    }

    fn call_text(&self, task: u32) -> String {
        let entry = &self.tasks[task as usize];
        let args: Vec<String> = entry.args.iter().map(|arg| self.value_text(arg)).collect();
        format!("{}({})", self.code.method_name(entry.method), args.join(", "))
    }

    pub(super) fn step_text(&self, at: usize) -> StepDescription {
        let record = &self.steps[at];
        let entry = &self.tasks[record.task as usize];
        let main = entry.caller == super::NONE;
        let what = if main { "the main block".to_string() } else { self.call_text(record.task) };
        let first = record.saved.frames.is_empty();
        let action = if first { format!("runs {what}") } else { format!("continues {what}") };
        let origin = (first && !main).then(|| {
            let caller = &self.tasks[entry.caller as usize];
            let place = self.place(entry.place).unwrap_or_default();
            format!("from {} (called at {place})", self.object_text(caller.object))
        });
        let sent = first && !main;
        StepDescription::new(self.object_text(entry.object), action)
            .with_origin(origin)
            .with_kind(EventKind::Receive)
            .with_message(
                sent.then(|| MessageText { kind: Some(self.code.method_name(entry.method).to_string()), text: what }),
            )
            .with_from(sent.then(|| self.object_text(self.tasks[entry.caller as usize].object)))
            .with_sent_at(if sent { self.place(entry.place) } else { None })
            .with_effects(self.effects(at))
            .with_changes(self.changes(at))
            .with_state(self.state_change(at))
            .with_touches(self.step_touches(at))
            .with_place(self.place_of_step(at))
            .with_created_at(self.place(self.objects[entry.object as usize].place))
    }

    /// Returns the place at which a step begins: the first statement of the method, or the one at which the task
    /// stopped before.
    fn place_of_step(&self, at: usize) -> Option<String> {
        let record = &self.steps[at];
        if !record.saved.frames.is_empty() {
            return self.place(self.steps[record.saved.last as usize].place);
        }
        let method = self.tasks[record.task as usize].method;
        self.place(*self.code.methods[method as usize].places.first()?)
    }

    /// Returns the state of an object before step `at`.
    fn fields_before(&self, object: u32, at: usize) -> Vec<Value> {
        let entry = &self.objects[object as usize];
        let mut fields = entry.fields.clone();
        let from = self.steps.get(at).map_or(self.undo.len(), |step| step.undo as usize);
        for undo in self.undo[from..].iter().rev() {
            if let Undo::Field(other, field, old) = undo
                && *other == object
            {
                fields[*field as usize] = old.clone();
            }
        }
        fields
    }

    /// Returns an object with these values as a tree.
    fn object_tree(&self, object: u32, values: &[Value]) -> DebugValue {
        let class = &self.code.classes[self.objects[object as usize].class as usize];
        let fields = class.fields.iter().zip(values);
        let fields =
            fields.map(|(name, value)| (name.to_string(), DebugValue::parse(&self.value_text(value)))).collect();
        DebugValue::Struct { name: class.name.clone(), fields, more: false }
    }

    /// Returns the state of a step's object before and after the step, if the step changed it.
    fn state_change(&self, at: usize) -> Option<StateChange> {
        let record = &self.steps[at];
        let object = self.tasks[record.task as usize].object;
        if object >= record.objects {
            return None;
        }
        let [before, after] = [at, at + 1].map(|at| self.object_tree(object, &self.fields_before(object, at)));
        (before != after).then_some(StateChange { before, after })
    }

    /// Returns the fields that a step read and wrote, the futures that it read, and its own future if it completed it.
    fn step_touches(&self, at: usize) -> Vec<TraceTouch> {
        let record = &self.steps[at];
        let next = self.steps.get(at + 1);
        let mut touches = Vec::new();
        let mut add = |object: String, access| touches.push((object, access));
        let undo = record.undo as usize..next.map_or(self.undo.len(), |next| next.undo as usize);
        for undo in &self.undo[undo] {
            if let Undo::Field(object, field, _) = undo {
                add(self.field_text(*object, *field as usize), Access::Write);
            }
        }
        let range = record.touches as usize..next.map_or(self.touches.len(), |next| next.touches as usize);
        let reads = self.touches[range].iter().filter(|touch| touch.access == Access::Read);
        let reads: Vec<Name> = reads.map(|touch| touch.object).collect();
        if !reads.is_empty() {
            for (number, object) in self.objects[..record.objects as usize].iter().enumerate() {
                if object.group != record.group {
                    continue;
                }
                for field in 0..object.fields.len() {
                    if reads.contains(&object.name.mixed(salt::FIELD + field.min(63) as u64)) {
                        add(self.field_text(number as u32, field), Access::Read);
                    }
                }
            }
            for (number, task) in self.tasks[..record.tasks as usize].iter().enumerate() {
                if reads.contains(&task.name.mixed(salt::FUTURE)) {
                    add(self.result_text(number as u32), Access::Read);
                }
            }
        }
        let entry = &self.tasks[record.task as usize];
        if entry.future_kept && entry.result.as_ref().is_some_and(|(_, step)| *step as usize == at) {
            add(self.result_text(record.task), Access::Write);
        }
        touches.sort();
        touches.dedup();
        touches.into_iter().map(|(object, access)| TraceTouch { object, access, place: None }).collect()
    }

    fn field_text(&self, object: u32, field: usize) -> String {
        let class = self.objects[object as usize].class as usize;
        format!("{}.{}", self.object_text(object), self.code.classes[class].fields[field])
    }

    /// Describes the future of a call.
    fn result_text(&self, task: u32) -> String {
        format!("the result of {}!{}", self.object_text(self.tasks[task as usize].object), self.call_text(task))
    }

    /// Returns the state of every object, with the calls that it has not begun.
    pub(super) fn object_states(&self) -> Vec<ActorState> {
        let mut tasks: Vec<Vec<u32>> = vec![Vec::new(); self.objects.len()];
        for &task in &self.live {
            tasks[self.tasks[task as usize].object as usize].push(task);
        }
        let objects = (0..self.objects.len() as u32).map(|object| {
            let mut state = ActorState { actor: self.object_text(object), ..ActorState::default() };
            let values = &self.objects[object as usize].fields;
            state.state = (!values.is_empty()).then(|| self.object_tree(object, values));
            let mut waits = Vec::new();
            for &task in &tasks[object as usize] {
                let entry = &self.tasks[task as usize];
                match &entry.state.status {
                    Status::Ready if entry.state.frames.is_empty() && entry.caller != super::NONE => {
                        let caller = self.object_text(self.tasks[entry.caller as usize].object);
                        state.pending.push(format!("{} from {caller}", self.call_text(task)));
                    }
                    Status::Ready | Status::Done => {}
                    Status::Waiting(_) => waits.push(format!("{} waits", self.call_text(task))),
                    Status::Asleep(_) => waits.push(format!("{} sleeps", self.call_text(task))),
                    Status::Blocked(..) => waits.push(format!("{} is blocked in a get", self.call_text(task))),
                }
            }
            state.status = (!waits.is_empty()).then(|| waits.join(", "));
            state
        });
        objects.collect()
    }

    fn effects(&self, at: usize) -> Vec<String> {
        let record = &self.steps[at];
        let next = self.steps.get(at + 1);
        let objects = record.objects..next.map_or(self.objects.len() as u32, |next| next.objects);
        let tasks = record.tasks..next.map_or(self.tasks.len() as u32, |next| next.tasks);
        let mut effects = Vec::new();
        if record.advanced.is_some() {
            effects.push(format!("the time is now {}", self.time_of(at)));
        }
        effects.extend(objects.map(|object| format!("creates {}", self.object_text(object))));
        effects.extend(tasks.map(|task| {
            let to = self.object_text(self.tasks[task as usize].object);
            format!("calls {to}!{}", self.call_text(task))
        }));
        let branch = record.choice.branch;
        effects.extend((0..record.arities.len()).map(|k| format!("random returns {}", branch.digit(k))));
        effects.extend(self.end_text(at));
        effects
    }

    /// Describes how the step ended, or returns `None` if it simply returned `Unit`.
    fn end_text(&self, at: usize) -> Option<String> {
        let record = &self.steps[at];
        let entry = &self.tasks[record.task as usize];
        let place = self.place(record.place).unwrap_or_default();
        match &entry.result {
            Some((result, step)) if *step as usize == at => {
                return match result {
                    TaskResult::Value(Value::Unit) => None,
                    TaskResult::Value(value) => Some(format!("returns {}", self.value_text(value))),
                    TaskResult::Failed(Value::Unit, _) => Some("is stopped at the limit".into()),
                    TaskResult::Failed(value, place) => {
                        let place = self.place(*place).unwrap_or_default();
                        Some(format!("fails with {} at {place}", self.value_text(value)))
                    }
                };
            }
            _ => {}
        }
        // The status after this step was saved by the task's next step, or is the current status.
        let later = self.steps[at + 1..].iter().find(|later| later.task == record.task);
        Some(match later.map_or(&entry.state.status, |later| &later.saved.status) {
            Status::Blocked(..) => format!("blocks its group at {place}"),
            Status::Asleep(timer) => format!("sleeps until {} at {place}", timer.latest),
            Status::Waiting(_) => format!("waits at {place}"),
            Status::Ready | Status::Done => format!("suspends at {place}"),
        })
    }

    /// Lists the fields that the step changed, with old and new values.
    fn changes(&self, at: usize) -> Vec<Change> {
        let from = self.steps[at].undo as usize;
        let to = self.steps.get(at + 1).map_or(self.undo.len(), |next| next.undo as usize);
        let mut changes = Vec::new();
        for entry in &self.undo[from..to] {
            let Undo::Field(object, field, old) = entry else { continue };
            if *object >= self.steps[at].objects {
                continue;
            }
            let later = self.undo[to..].iter().find_map(|later| match later {
                Undo::Field(o, f, value) if (o, f) == (object, field) => Some(value),
                _ => None,
            });
            let new = later.unwrap_or(&self.objects[*object as usize].fields[*field as usize]);
            if new != old {
                let class = self.objects[*object as usize].class as usize;
                let name = &self.code.classes[class].fields[*field as usize];
                changes.push(Change::new(name.to_string(), self.value_text(old), self.value_text(new)));
            }
        }
        changes
    }
}

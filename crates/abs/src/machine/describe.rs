//! Descriptions of steps for reports.

use super::frame::Status;
use super::{AbsMachine, TaskResult, Undo};
use crate::eval::Objects;
use crate::value::Value;
use whippet_model::{Change, EventKind, MessageText, StepDescription};

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
        StepDescription {
            actor: self.object_text(entry.object),
            action,
            origin,
            kind: EventKind::Receive,
            message: sent
                .then(|| MessageText { kind: Some(self.code.method_name(entry.method).to_string()), text: what }),
            from: sent.then(|| self.object_text(self.tasks[entry.caller as usize].object)),
            sent_at: if sent { self.place(entry.place) } else { None },
            place: None,
            effects: self.effects(at),
            changes: self.changes(at),
        }
    }

    fn effects(&self, at: usize) -> Vec<String> {
        let record = &self.steps[at];
        let next = self.steps.get(at + 1);
        let objects = record.objects..next.map_or(self.objects.len() as u32, |next| next.objects);
        let tasks = record.tasks..next.map_or(self.tasks.len() as u32, |next| next.tasks);
        let mut effects: Vec<String> = objects.map(|object| format!("creates {}", self.object_text(object))).collect();
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

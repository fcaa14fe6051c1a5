//! Instructions that create tasks and objects, or wait for futures.

use super::frame::{Status, Timer, Wait, pack};
use super::run::{Flow, StepContext, StepEnd, frame};
use super::{AbsMachine, TaskResult, Undo, salt};
use crate::code::{CallKind, Dest, Expr, Guard, known};
use crate::eval::{Limit, MAX_NESTING, Thrown};
use crate::value::Value;
use smallvec::SmallVec;
use std::rc::Rc;

impl AbsMachine {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        cx: &mut StepContext,
        dest: Dest,
        kind: CallKind,
        object: &Expr,
        method: u32,
        args: &[Expr],
        deadline: Option<&Expr>,
        place: u32,
    ) -> Result<Flow, Thrown> {
        let Value::Object(target, _) = self.eval(cx, object)? else {
            return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
        };
        let args = self.eval_all(cx, args)?;
        let deadline = match deadline {
            Some(expr) => self.eval(cx, expr)?.parts().and_then(|(_, parts)| parts.first()).map(Value::rational),
            None => None,
        };
        let class = self.objects[target as usize].class;
        let found = cx.code.classes[class as usize].method(method).expect("the checker found the method");
        let this = frame(cx).object;
        let own = self.objects[target as usize].group == self.objects[this as usize].group;
        if kind == CallKind::Invoke && own {
            if cx.frames.len() >= MAX_NESTING as usize {
                return Err(Thrown::Limit(Limit::Depth, place));
            }
            let mut frame = self.new_frame(found, target, &args);
            frame.dest = pack(dest);
            cx.frames.push(frame);
            return Ok(Flow::Continue);
        }
        let kept = kind == CallKind::Invoke || dest != Dest::Nowhere;
        let future = self.send(cx.task, target, found, args, kept, place);
        if let (Value::Future(made, _), Some(left)) = (&future, deadline) {
            self.tasks[*made as usize].deadline = Some(Rc::new(&self.clock + left));
        }
        match kind {
            CallKind::Send => {
                self.set(cx, dest, future);
                Ok(Flow::Continue)
            }
            // A synchronous call to another group is an asynchronous call followed by `get`.
            CallKind::Invoke => self.get(cx, dest, &future, place),
        }
    }

    fn send(&mut self, task: u32, object: u32, method: u32, args: Rc<[Value]>, future_kept: bool, place: u32) -> Value {
        let state = &mut self.tasks[task as usize].state;
        let k = state.sends;
        state.sends += 1;
        let name = self.tasks[task as usize].name.child(k);
        let made = self.new_task(name, object, method, args, future_kept, task, place);
        Value::Future(made, name)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn create(
        &mut self,
        cx: &mut StepContext,
        dest: Dest,
        class: u32,
        local: bool,
        args: &[Expr],
        component: Option<&Expr>,
        place: u32,
    ) -> Result<(), Thrown> {
        let args = self.eval_all(cx, args)?;
        let component = match component {
            Some(expr) => match self.eval(cx, expr)? {
                Value::Object(object, _) => object,
                _ => return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place)),
            },
            None => self.groups[self.tasks[cx.task as usize].group as usize].component,
        };
        let task = &mut self.tasks[cx.task as usize];
        let name = task.name.mixed(salt::OBJECT + u64::from(task.state.news));
        task.state.news += 1;
        let group = local.then_some(task.group);
        let object = self.new_object(name, class, group, &args, place);
        if !local {
            self.groups[self.objects[object as usize].group as usize].component = component;
        }
        self.set(cx, dest, Value::Object(object, name));
        let (init, runs) = (cx.code.classes[class as usize].init, cx.code.classes[class as usize].run);
        if let Some(method) = runs {
            self.send(cx.task, object, method, Rc::from([]), false, place);
        }
        if cx.frames.len() >= MAX_NESTING as usize {
            return Err(Thrown::Limit(Limit::Depth, place));
        }
        let frame = self.new_frame(init, object, &[]);
        cx.frames.push(frame);
        Ok(())
    }

    /// Reads the value of a future, or blocks the group until the value is available.
    pub(super) fn get(&mut self, cx: &mut StepContext, dest: Dest, future: &Value, place: u32) -> Result<Flow, Thrown> {
        let Value::Future(task, _) = *future else {
            return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
        };
        self.futures_read.push(task);
        let entry = &mut self.tasks[task as usize];
        let Some((result, _)) = &entry.result else {
            return Ok(Flow::Stop(StepEnd::Released(Status::Blocked(task, dest))));
        };
        let result = result.clone();
        if !entry.observed {
            entry.observed = true;
            self.undo.push(Undo::Observed(task));
        }
        match result {
            TaskResult::Value(value) => {
                self.set(cx, dest, value);
                Ok(Flow::Continue)
            }
            TaskResult::Failed(exception, _) => Err(Thrown::Exception(exception, place)),
        }
    }

    pub(super) fn wait(&mut self, cx: &mut StepContext, guard: &Guard, place: u32) -> Result<Flow, Thrown> {
        let timer = guard.timer.map(|(first, last)| Box::new(timer(cx, first, last)));
        let mut all = timer.as_ref().is_none_or(|timer| timer.earliest <= self.clock);
        let mut wait = Wait { futures: SmallVec::new(), timer, condition: guard.holds.is_some(), holds: true };
        for future in &guard.futures {
            let Value::Future(task, _) = self.eval(cx, future)? else {
                return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
            };
            self.futures_read.push(task);
            wait.futures.push(task);
            all &= self.tasks[task as usize].result.is_some();
        }
        if let Some(condition) = &guard.holds {
            wait.holds = self.eval(cx, condition)?.truth();
        }
        if all && wait.holds {
            return Ok(Flow::Continue);
        }
        // The whole guard is evaluated again when the task continues.
        frame(cx).at -= 1;
        Ok(Flow::Stop(StepEnd::Released(Status::Waiting(wait))))
    }

    /// Blocks the group until a point in time.
    pub(super) fn sleep(&mut self, cx: &mut StepContext, first: u16, last: u16) -> Flow {
        let timer = timer(cx, first, last);
        if timer.earliest <= self.clock {
            return Flow::Continue;
        }
        frame(cx).at -= 1;
        Flow::Stop(StepEnd::Released(Status::Asleep(Box::new(timer))))
    }

    /// Calls `consume` of the group's deployment component, within this step. Without a component, nothing is limited.
    pub(super) fn consume(&mut self, cx: &mut StepContext, given: u16, wanted: u16) {
        let group = self.tasks[cx.task as usize].group;
        let component = self.groups[group as usize].component;
        let amount = frame(cx).locals[wanted as usize].clone();
        if component == super::NONE {
            frame(cx).locals[given as usize] = amount;
            return;
        }
        let class = self.objects[component as usize].class;
        let name = cx.code.method_names.iter().position(|name| name == "consume").expect("the library has the method");
        let method = cx.code.classes[class as usize].method(name as u32).expect("a component can be consumed");
        let mut frame = self.new_frame(method, component, &[amount]);
        frame.dest = pack(Dest::Local(given));
        cx.frames.push(frame);
    }
}

fn timer(cx: &mut StepContext, first: u16, last: u16) -> Timer {
    let locals = &frame(cx).locals;
    Timer { earliest: locals[first as usize].rational(), latest: locals[last as usize].rational() }
}

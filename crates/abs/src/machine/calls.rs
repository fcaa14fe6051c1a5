//! Instructions that create tasks and objects, or wait for futures.

use super::frame::{Status, Wait, pack};
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
        place: u32,
    ) -> Result<Flow, Thrown> {
        let Value::Object(target, _) = self.eval(cx, object)? else {
            return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
        };
        let args = self.eval_all(cx, args)?;
        let class = self.objects[target as usize].class;
        let found = cx.code.classes[class as usize].method(method).expect("the checker found the method");
        let own = self.objects[target as usize].group == self.tasks[cx.task as usize].group;
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

    pub(super) fn create(
        &mut self,
        cx: &mut StepContext,
        dest: Dest,
        class: u32,
        local: bool,
        args: &[Expr],
        place: u32,
    ) -> Result<(), Thrown> {
        let args = self.eval_all(cx, args)?;
        let task = &mut self.tasks[cx.task as usize];
        let name = task.name.mixed(salt::OBJECT + u64::from(task.state.news));
        task.state.news += 1;
        let group = local.then_some(task.group);
        let object = self.new_object(name, class, group, &args);
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
        let mut wait = Wait { futures: SmallVec::new(), condition: guard.holds.is_some(), holds: true };
        let mut all = true;
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
}

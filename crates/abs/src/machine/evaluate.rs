//! Evaluation of expressions and patterns in the frame of a running task.

use super::AbsMachine;
use super::run::{StepContext, frame};
use crate::code::{Expr, Pattern};
use crate::eval::{Eval, RandomChoices, Thrown};
use crate::value::Value;
use std::rc::Rc;

impl AbsMachine {
    #[inline]
    pub(super) fn eval(&mut self, cx: &mut StepContext, expr: &Expr) -> Result<Value, Thrown> {
        // Fast path for the most common expressions.
        match expr {
            Expr::Const(k) => return Ok(self.consts[*k as usize].clone()),
            Expr::Local(slot) => return Ok(frame(cx).locals[*slot as usize].clone()),
            _ => {}
        }
        self.with_eval(cx, |eval| {
            let locals = eval.stack.len();
            let result = eval.expr(expr);
            eval.stack.truncate(locals);
            result
        })
    }

    pub(super) fn matches(&mut self, cx: &mut StepContext, pattern: &Pattern, value: &Value) -> bool {
        self.with_eval(cx, |eval| eval.matches(pattern, value))
    }

    pub(super) fn eval_all(&mut self, cx: &mut StepContext, exprs: &[Expr]) -> Result<Rc<[Value]>, Thrown> {
        exprs.iter().map(|expr| self.eval(cx, expr)).collect()
    }

    /// Calls `work` with an evaluator for the innermost frame, and records the fields that it reads.
    #[inline]
    fn with_eval<T>(&mut self, cx: &mut StepContext, work: impl FnOnce(&mut Eval<'_>) -> T) -> T {
        let frame = cx.frames.last_mut().expect("a running task has a frame");
        let object = frame.object;
        let mut eval = self.evaluator(cx.task, object, &mut frame.locals, &mut cx.fuel, &mut cx.random);
        let result = work(&mut eval);
        let read = eval.read;
        if read != 0 {
            self.record_access(object, read, 0);
        }
        result
    }

    /// Creates an evaluator for code that a task runs on an object with these variables.
    #[inline]
    pub(super) fn evaluator<'a>(
        &'a self,
        task: u32,
        object: u32,
        stack: &'a mut Vec<Value>,
        fuel: &'a mut u64,
        random: &'a mut RandomChoices,
    ) -> Eval<'a> {
        let this = &self.objects[object as usize];
        Eval {
            code: &self.code,
            consts: &self.consts,
            stack,
            base: 0,
            fields: &this.fields,
            this: Value::Object(object, this.name),
            objects: self,
            fuel,
            depth: 0,
            read: 0,
            random,
            clock: &self.clock,
            deadline: self.tasks[task as usize].deadline.as_deref(),
            component: match self.groups[this.group as usize].component {
                super::NONE => Value::Null,
                component => Value::Object(component, self.objects[component as usize].name),
            },
        }
    }

    /// Records the fields of an object that the step has touched.
    pub(super) fn record_access(&mut self, object: u32, read: u64, written: u64) {
        let entry = &mut self.objects[object as usize];
        if entry.read | entry.written == 0 {
            self.touched.push(object);
        }
        entry.read |= read;
        entry.written |= written;
    }
}

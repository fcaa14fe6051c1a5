//! Executes one step of a task, instruction by instruction.

use super::frame::{Frame, Status, unpack};
use super::{AbsMachine, Undo};
use crate::code::{Code, Dest, Instr, LIBRARY, known};
use crate::eval::{Limit, RandomChoices, Thrown, field_bit};
use crate::value::Value;
use smallvec::SmallVec;
use std::sync::Arc;
use whippet_model::Branch;

/// The reason why a step ended.
pub(super) enum StepEnd {
    Released(Status),
    Returned(Value),
    Failed(Thrown),
}

/// The control flow after an instruction.
pub(super) enum Flow {
    Continue,
    Stop(StepEnd),
}

/// The working state of a step.
pub(super) struct StepContext {
    pub(super) task: u32,
    pub(super) frames: Vec<Frame>,
    /// The number of statements and calls still allowed.
    pub(super) fuel: u64,
    pub(super) random: RandomChoices,
    pub(super) code: Arc<Code>,
}

impl AbsMachine {
    /// Runs the task until it ends or stops. Returns the reason, the frames left, the place where it stopped, and the
    /// number of branches at each `random`.
    pub(super) fn run(&mut self, task: u32, branch: Branch) -> (StepEnd, Vec<Frame>, u32, SmallVec<[u32; 2]>) {
        let mut frames = std::mem::take(&mut self.tasks[task as usize].state.frames);
        if frames.is_empty() {
            let (method, object) = (self.tasks[task as usize].method, self.tasks[task as usize].object);
            frames.push(self.new_frame(method, object, &self.tasks[task as usize].args));
        }
        let random = RandomChoices { branch, arities: SmallVec::new() };
        let mut cx = StepContext { task, frames, fuel: self.statements, random, code: self.code.clone() };
        let (end, place) = self.resume(&mut cx);
        self.statements_executed += self.statements - cx.fuel;
        (end, cx.frames, place, cx.random.arities)
    }

    /// Continues the task; a blocked task first receives the value that it waited for.
    fn resume(&mut self, cx: &mut StepContext) -> (StepEnd, u32) {
        if let Status::Blocked(future, dest) = self.tasks[cx.task as usize].state.status {
            let frame = cx.frames.last().expect("a blocked task has a frame");
            let place = cx.code.methods[frame.method as usize].places[frame.at as usize - 1];
            let future = Value::Future(future, self.tasks[future as usize].name);
            if let Err(thrown) = self.get(cx, dest, &future, place)
                && let Some(thrown) = self.catch(cx, thrown)
            {
                return (StepEnd::Failed(thrown), place);
            }
        }
        self.run_instructions(cx)
    }

    fn run_instructions(&mut self, cx: &mut StepContext) -> (StepEnd, u32) {
        let code = cx.code.clone();
        loop {
            let frame = cx.frames.last_mut().expect("a running task has a frame");
            let method = &code.methods[frame.method as usize];
            let at = frame.at as usize;
            frame.at += 1;
            let place = method.places[at];
            let flow = match cx.fuel.checked_sub(1) {
                Some(left) => {
                    cx.fuel = left;
                    self.instr(cx, &method.code[at], place)
                }
                None => Err(Thrown::Limit(Limit::Statements, place)),
            };
            match flow {
                Ok(Flow::Continue) => {}
                Ok(Flow::Stop(end)) => return (end, place),
                Err(thrown) => {
                    let thrown = located(thrown, place);
                    if let Some(thrown) = self.catch(cx, thrown) {
                        return (StepEnd::Failed(thrown), place);
                    }
                }
            }
        }
    }

    /// Transfers an exception to the nearest handler, or returns it if no handler exists.
    fn catch(&mut self, cx: &mut StepContext, thrown: Thrown) -> Option<Thrown> {
        let Thrown::Exception(exception, _) = &thrown else { return Some(thrown) };
        while let Some(frame) = cx.frames.last_mut() {
            if let Some((to, slot)) = frame.tries.pop() {
                frame.locals[slot as usize] = exception.clone();
                frame.at = to;
                return None;
            }
            cx.frames.pop();
        }
        Some(thrown)
    }

    pub(super) fn set(&mut self, cx: &mut StepContext, dest: Dest, value: Value) {
        let frame = cx.frames.last_mut().expect("a running task has a frame");
        match dest {
            Dest::Nowhere => {}
            Dest::Local(slot) => frame.locals[slot as usize] = value,
            Dest::Field(field) => {
                let object = frame.object;
                let slot = &mut self.objects[object as usize].fields[field as usize];
                let old = std::mem::replace(slot, value);
                let first = self.objects[object as usize].written & field_bit(field) == 0;
                if first || field >= 63 {
                    self.undo.push(Undo::Field(object, field, old));
                }
                self.record_access(object, 0, field_bit(field));
            }
        }
    }

    /// Notes which way the current instruction leads, if anybody wants to know.
    fn record_branch(&self, cx: &StepContext, jumps: bool) {
        if let (Some(record), Some(frame)) = (&self.record, cx.frames.last()) {
            record.branch(frame.method, frame.at - 1, jumps);
        }
    }

    fn instr(&mut self, cx: &mut StepContext, instr: &Instr, place: u32) -> Result<Flow, Thrown> {
        match instr {
            Instr::Set(dest, expr) => {
                let value = self.eval(cx, expr)?;
                self.set(cx, *dest, value);
            }
            Instr::Jump(to) => frame(cx).at = *to,
            Instr::JumpUnless(condition, to) => {
                let jumps = !self.eval(cx, condition)?.truth();
                self.record_branch(cx, jumps);
                if jumps {
                    frame(cx).at = *to;
                }
            }
            Instr::Call { dest, kind, object, method, args, deadline } => {
                return self.call(cx, *dest, *kind, object, *method, args, deadline.as_deref(), place);
            }
            Instr::New { dest, class, local, args, component } => {
                self.create(cx, *dest, *class, *local, args, component.as_deref(), place)?;
            }
            Instr::Sleep(first, last) => return Ok(self.sleep(cx, *first, *last)),
            Instr::Consume(given, wanted) => self.consume(cx, *given, *wanted),
            Instr::Deploy(slot) => {
                if let Value::Object(component, _) = frame(cx).locals[*slot as usize] {
                    let group = self.tasks[cx.task as usize].group;
                    let old = std::mem::replace(&mut self.groups[group as usize].component, component);
                    self.undo.push(Undo::Component(group, old));
                }
            }
            Instr::Get(dest, future) => {
                let future = self.eval(cx, future)?;
                return self.get(cx, *dest, &future, place);
            }
            Instr::Await(guard) => return self.wait(cx, guard, place),
            Instr::Suspend => return Ok(Flow::Stop(StepEnd::Released(Status::Ready))),
            Instr::Return(value) => {
                let value = self.eval(cx, value)?;
                let done = cx.frames.pop().expect("a running task has a frame");
                if cx.frames.is_empty() {
                    return Ok(Flow::Stop(StepEnd::Returned(value)));
                }
                self.set(cx, unpack(done.dest), value);
            }
            Instr::Assert(condition) => {
                if !self.eval(cx, condition)?.truth() {
                    return Err(Thrown::Exception(Value::Atom(known::ASSERTION_FAILED), place));
                }
            }
            Instr::Throw(value) => {
                let value = self.eval(cx, value)?;
                return Err(Thrown::Exception(value, place));
            }
            Instr::Match(slot, pattern, to) => {
                let value = frame(cx).locals[*slot as usize].clone();
                let matches = self.matches(cx, pattern, &value);
                self.record_branch(cx, !matches);
                if !matches {
                    frame(cx).at = *to;
                }
            }
            Instr::Next(rest, item, to) => {
                let list = frame(cx).locals[*rest as usize].clone();
                let mut items = list.items();
                let next = items.next();
                self.record_branch(cx, next.is_none());
                let frame = frame(cx);
                match next {
                    Some(value) => {
                        frame.locals[*item as usize] = value.clone();
                        frame.locals[*rest as usize] = items.rest().clone();
                    }
                    None => frame.at = *to,
                }
            }
            Instr::Try(to, slot) => frame(cx).tries.push((*to, *slot)),
            Instr::EndTry => {
                frame(cx).tries.pop();
            }
        }
        Ok(Flow::Continue)
    }
}

#[inline]
pub(super) fn frame(cx: &mut StepContext) -> &mut Frame {
    cx.frames.last_mut().expect("a running task has a frame")
}

/// Replaces a place in the library by the place where the library was called.
fn located(thrown: Thrown, place: u32) -> Thrown {
    match thrown {
        Thrown::Exception(value, LIBRARY) => Thrown::Exception(value, place),
        Thrown::Limit(limit, LIBRARY) => Thrown::Limit(limit, place),
        other => other,
    }
}

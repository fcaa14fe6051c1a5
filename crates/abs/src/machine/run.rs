//! Executes one step of a task, instruction by instruction.

use super::frame::{Frame, Status, Wait, pack, unpack};
use super::{AbsMachine, Outcome, Undo, salt};
use crate::code::{CallKind, Code, Dest, Expr, Guard, Instr, LIBRARY, known};
use crate::eval::{Eval, Limit, MOST_NESTED, Thrown, Ways, field_bit};
use crate::value::Value;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use whippet_model::Branch;

/// The reason why a step ended.
pub(super) enum End {
    Released(Status),
    Returned(Value),
    Failed(Thrown),
}

/// The control flow after an instruction.
enum Flow {
    On,
    Stop(End),
}

/// The working state of a step.
pub(super) struct Run {
    pub(super) task: u32,
    pub(super) frames: Vec<Frame>,
    fuel: u64,
    ways: Ways,
    code: Arc<Code>,
}

impl AbsMachine {
    /// Runs the task until it ends or stops. Returns the reason, the frames left, the place where it stopped, and the
    /// number of branches at each `random`.
    pub(super) fn run(&mut self, task: u32, branch: Branch) -> (End, Vec<Frame>, u32, SmallVec<[u32; 2]>) {
        let mut frames = std::mem::take(&mut self.tasks[task as usize].state.frames);
        if frames.is_empty() {
            let (method, object) = (self.tasks[task as usize].method, self.tasks[task as usize].object);
            frames.push(self.new_frame(method, object, &self.tasks[task as usize].args));
        }
        let ways = Ways { branch, arities: SmallVec::new() };
        let mut run = Run { task, frames, fuel: self.statements, ways, code: self.code.clone() };
        let (end, place) = self.resume(&mut run);
        self.executed += self.statements - run.fuel;
        (end, run.frames, place, run.ways.arities)
    }

    /// Continues the task; a blocked task first receives the value that it waited for.
    fn resume(&mut self, run: &mut Run) -> (End, u32) {
        if let Status::Blocked(future, dest) = self.tasks[run.task as usize].state.status {
            let frame = run.frames.last().expect("a blocked task has a frame");
            let place = run.code.methods[frame.method as usize].places[frame.at as usize - 1];
            let future = Value::Future(future, self.tasks[future as usize].name);
            if let Err(thrown) = self.get(run, dest, &future, place)
                && let Some(thrown) = self.catch(run, thrown)
            {
                return (End::Failed(thrown), place);
            }
        }
        self.run_on(run)
    }

    fn run_on(&mut self, run: &mut Run) -> (End, u32) {
        let code = run.code.clone();
        loop {
            let frame = run.frames.last_mut().expect("a running task has a frame");
            let method = &code.methods[frame.method as usize];
            let at = frame.at as usize;
            frame.at += 1;
            let place = method.places[at];
            let flow = match run.fuel.checked_sub(1) {
                Some(left) => {
                    run.fuel = left;
                    self.instr(run, &method.code[at], place)
                }
                None => Err(Thrown::Limit(Limit::Statements, place)),
            };
            match flow {
                Ok(Flow::On) => {}
                Ok(Flow::Stop(end)) => return (end, place),
                Err(thrown) => {
                    let thrown = located(thrown, place);
                    if let Some(thrown) = self.catch(run, thrown) {
                        return (End::Failed(thrown), place);
                    }
                }
            }
        }
    }

    /// Transfers an exception to the nearest handler, or returns it if no handler exists.
    fn catch(&mut self, run: &mut Run, thrown: Thrown) -> Option<Thrown> {
        let Thrown::Exception(exception, _) = &thrown else { return Some(thrown) };
        while let Some(frame) = run.frames.last_mut() {
            if let Some((to, slot)) = frame.tries.pop() {
                frame.locals[slot as usize] = exception.clone();
                frame.at = to;
                return None;
            }
            run.frames.pop();
        }
        Some(thrown)
    }

    fn eval(&mut self, run: &mut Run, expr: &Expr) -> Result<Value, Thrown> {
        let frame = run.frames.last_mut().expect("a running task has a frame");
        // Fast path for the most common expressions.
        if let Expr::Const(k) = expr {
            return Ok(self.consts[*k as usize].clone());
        }
        if let Expr::Local(slot) = expr {
            return Ok(frame.locals[*slot as usize].clone());
        }
        let object = frame.object as usize;
        let locals = frame.locals.len();
        let mut eval = Eval {
            code: &run.code,
            consts: &self.consts,
            stack: &mut frame.locals,
            base: 0,
            fields: &self.objects[object].fields,
            this: Value::Object(object as u32, self.objects[object].name),
            class_of: &|at| self.objects[at as usize].class,
            name_of: &|at| self.stable_text(at),
            fuel: &mut run.fuel,
            depth: 0,
            read: 0,
            ways: &mut run.ways,
        };
        let result = eval.expr(expr);
        let read = eval.read;
        frame.locals.truncate(locals);
        if read != 0 {
            self.note(object as u32, read, 0);
        }
        result
    }

    /// Records the fields of an object that the step has touched.
    fn note(&mut self, object: u32, read: u64, written: u64) {
        let entry = &mut self.objects[object as usize];
        if entry.read | entry.written == 0 {
            self.touched.push(object);
        }
        entry.read |= read;
        entry.written |= written;
    }

    fn eval_all(&mut self, run: &mut Run, exprs: &[Expr]) -> Result<Rc<[Value]>, Thrown> {
        exprs.iter().map(|expr| self.eval(run, expr)).collect()
    }

    fn set(&mut self, run: &mut Run, dest: Dest, value: Value) {
        let frame = run.frames.last_mut().expect("a running task has a frame");
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
                self.note(object, 0, field_bit(field));
            }
        }
    }

    fn instr(&mut self, run: &mut Run, instr: &Instr, place: u32) -> Result<Flow, Thrown> {
        match instr {
            Instr::Set(dest, expr) => {
                let value = self.eval(run, expr)?;
                self.set(run, *dest, value);
            }
            Instr::Jump(to) => frame(run).at = *to,
            Instr::JumpUnless(condition, to) => {
                if !self.eval(run, condition)?.truth() {
                    frame(run).at = *to;
                }
            }
            Instr::Call { dest, kind, object, method, args } => {
                return self.call(run, *dest, *kind, object, *method, args, place);
            }
            Instr::New { dest, class, local, args } => self.create(run, *dest, *class, *local, args, place)?,
            Instr::Get(dest, future) => {
                let future = self.eval(run, future)?;
                return self.get(run, *dest, &future, place);
            }
            Instr::Await(guard) => return self.wait(run, guard, place),
            Instr::Suspend => return Ok(Flow::Stop(End::Released(Status::Ready))),
            Instr::Return(value) => {
                let value = self.eval(run, value)?;
                let done = run.frames.pop().expect("a running task has a frame");
                if run.frames.is_empty() {
                    return Ok(Flow::Stop(End::Returned(value)));
                }
                self.set(run, unpack(done.dest), value);
            }
            Instr::Assert(condition) => {
                if !self.eval(run, condition)?.truth() {
                    return Err(Thrown::Exception(Value::Atom(known::ASSERTION_FAILED), place));
                }
            }
            Instr::Throw(value) => {
                let value = self.eval(run, value)?;
                return Err(Thrown::Exception(value, place));
            }
            Instr::Match(slot, pattern, to) => {
                let value = frame(run).locals[*slot as usize].clone();
                let matches = self.matches(run, pattern, &value);
                if !matches {
                    frame(run).at = *to;
                }
            }
            Instr::Next(rest, item, to) => {
                let frame = frame(run);
                let list = frame.locals[*rest as usize].clone();
                let mut items = list.items();
                match items.next() {
                    Some(value) => {
                        frame.locals[*item as usize] = value.clone();
                        frame.locals[*rest as usize] = items.rest().clone();
                    }
                    None => frame.at = *to,
                }
            }
            Instr::Try(to, slot) => frame(run).tries.push((*to, *slot)),
            Instr::EndTry => {
                frame(run).tries.pop();
            }
        }
        Ok(Flow::On)
    }

    fn matches(&mut self, run: &mut Run, pattern: &crate::code::Pattern, value: &Value) -> bool {
        let frame = run.frames.last_mut().expect("a running task has a frame");
        let object = frame.object;
        let mut eval = Eval {
            code: &run.code,
            consts: &self.consts,
            stack: &mut frame.locals,
            base: 0,
            fields: &self.objects[object as usize].fields,
            this: Value::Null,
            class_of: &|at| self.objects[at as usize].class,
            name_of: &|at| self.stable_text(at),
            fuel: &mut run.fuel,
            depth: 0,
            read: 0,
            ways: &mut run.ways,
        };
        let matches = eval.matches(pattern, value);
        let read = eval.read;
        if read != 0 {
            self.note(object, read, 0);
        }
        matches
    }

    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        run: &mut Run,
        dest: Dest,
        kind: CallKind,
        object: &Expr,
        method: u32,
        args: &[Expr],
        place: u32,
    ) -> Result<Flow, Thrown> {
        let Value::Object(target, _) = self.eval(run, object)? else {
            return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
        };
        let args = self.eval_all(run, args)?;
        let class = self.objects[target as usize].class;
        let found = run.code.classes[class as usize].methods[method as usize]
            .expect("the checker saw that the class has the method");
        let own = self.objects[target as usize].group == self.tasks[run.task as usize].group;
        if kind == CallKind::Invoke && own {
            if run.frames.len() >= MOST_NESTED as usize {
                return Err(Thrown::Limit(Limit::Depth, place));
            }
            let mut frame = self.new_frame(found, target, &args);
            frame.dest = pack(dest);
            run.frames.push(frame);
            return Ok(Flow::On);
        }
        let kept = kind == CallKind::Invoke || dest != Dest::Nowhere;
        let future = self.send(run.task, target, found, args, kept, place);
        match kind {
            CallKind::Send => {
                self.set(run, dest, future);
                Ok(Flow::On)
            }
            // A synchronous call to another group is an asynchronous call followed by `get`.
            CallKind::Invoke => self.get(run, dest, &future, place),
        }
    }

    fn send(&mut self, task: u32, object: u32, method: u32, args: Rc<[Value]>, kept: bool, place: u32) -> Value {
        let state = &mut self.tasks[task as usize].state;
        let k = state.sends;
        state.sends += 1;
        let name = self.tasks[task as usize].name.child(k);
        let made = self.new_task(name, object, method, args, kept, task, place);
        Value::Future(made, name)
    }

    fn create(
        &mut self,
        run: &mut Run,
        dest: Dest,
        class: u32,
        local: bool,
        args: &[Expr],
        place: u32,
    ) -> Result<(), Thrown> {
        let args = self.eval_all(run, args)?;
        let task = &mut self.tasks[run.task as usize];
        let name = task.name.mixed(salt::OBJECT + u64::from(task.state.news));
        task.state.news += 1;
        let group = local.then_some(task.group);
        let object = self.new_object(name, class, group, &args);
        self.set(run, dest, Value::Object(object, name));
        let (init, runs) = (run.code.classes[class as usize].init, run.code.classes[class as usize].run);
        if let Some(method) = runs {
            self.send(run.task, object, method, Rc::from([]), false, place);
        }
        if run.frames.len() >= MOST_NESTED as usize {
            return Err(Thrown::Limit(Limit::Depth, place));
        }
        let frame = self.new_frame(init, object, &[]);
        run.frames.push(frame);
        Ok(())
    }

    /// Reads the value of a future, or blocks the group until the value is available.
    fn get(&mut self, run: &mut Run, dest: Dest, future: &Value, place: u32) -> Result<Flow, Thrown> {
        let Value::Future(task, _) = *future else {
            return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
        };
        self.looked_at.push(task);
        let entry = &mut self.tasks[task as usize];
        let Some((outcome, _)) = &entry.outcome else {
            return Ok(Flow::Stop(End::Released(Status::Blocked(task, dest))));
        };
        let outcome = outcome.clone();
        if !entry.seen {
            entry.seen = true;
            self.undo.push(Undo::Seen(task));
        }
        match outcome {
            Outcome::Value(value) => {
                self.set(run, dest, value);
                Ok(Flow::On)
            }
            Outcome::Failed(exception, _) => Err(Thrown::Exception(exception, place)),
        }
    }

    fn wait(&mut self, run: &mut Run, guard: &Guard, place: u32) -> Result<Flow, Thrown> {
        let mut wait = Wait { futures: smallvec::SmallVec::new(), condition: guard.holds.is_some(), holds: true };
        let mut all = true;
        for future in &guard.futures {
            let Value::Future(task, _) = self.eval(run, future)? else {
                return Err(Thrown::Exception(Value::Atom(known::NULL_POINTER), place));
            };
            self.looked_at.push(task);
            wait.futures.push(task);
            all &= self.tasks[task as usize].outcome.is_some();
        }
        if let Some(condition) = &guard.holds {
            wait.holds = self.eval(run, condition)?.truth();
        }
        if all && wait.holds {
            return Ok(Flow::On);
        }
        // The whole guard is evaluated again when the task continues.
        frame(run).at -= 1;
        Ok(Flow::Stop(End::Released(Status::Waiting(wait))))
    }
}

fn frame(run: &mut Run) -> &mut Frame {
    run.frames.last_mut().expect("a running task has a frame")
}

/// Replaces a place in the library by the place where the library was called.
fn located(thrown: Thrown, place: u32) -> Thrown {
    match thrown {
        Thrown::Exception(value, LIBRARY) => Thrown::Exception(value, place),
        Thrown::Limit(limit, LIBRARY) => Thrown::Limit(limit, place),
        other => other,
    }
}

//! The interpreter as a machine: one configuration of an ABS program, moved forward and back.
//!
//! An actor is an object group (cog). A step runs one task of a group until the task ends, releases the group
//! (`await`, `suspend`) or blocks it (`get`). A task is named by its calling task and the index of the call within it,
//! an object by its creating task and the index of the creation, so equivalent executions use the same names. A future
//! has the name of its task.
//!
//! To go back, every step saves the state of its task and logs the old values of the fields it changes; the tasks,
//! objects and groups that it created are truncated. No code runs a second time.
//!
//! With [`ConflictRule::Fields`], the footprint of a step consists of:
//! * each field of an object that it reads or writes;
//! * each future: written by the end of its task, read by every step that tests or reads it;
//! * the group's lock: written by a step that blocks its group or ends such a block, read by all other steps of the
//!   group.
//!
//! Time advances only when no task can run otherwise; `clock.rs` says how.
//!
//! With [`ConflictRule::Actors`] and [`ConflictRule::Marks`], the fields and the lock of a group are one object. If no task can stop
//! before its end, each task is then one message that is delivered once, so the searches for plain actors apply.

mod calls;
mod clock;
mod describe;
mod evaluate;
mod fingerprint;
mod frame;
mod guards;
mod machine_impl;
mod marks;
mod problems;
mod program;
mod run;
mod step;

use crate::code::{CallKind, Code, Expr, Instr, LIBRARY};
use crate::eval;
use crate::selection::Stability;
use crate::summary::each_expr;
use crate::value::Value;
use frame::{Frame, Status, TaskState};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use whippet_model::{Branches, Choice, ConflictRule, Dependence, Marks, Name, Problem, Profile, Touch};

pub use program::{AbsProgram, DEFAULT_STATEMENTS};

/// Sentinel for "no step" and "no task".
pub(crate) const NONE: u32 = u32::MAX;

/// An object of the running program.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) name: Name,
    pub(crate) class: u32,
    pub(crate) group: u32,
    pub(crate) fields: Vec<Value>,
    /// The place of its creation in the source.
    place: u32,
    /// The fields that the current step has read, as bits (see [`eval::field_bit`]).
    read: u64,
    /// The fields that the current step has written, as bits.
    written: u64,
}

/// An object group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    name: Name,
    /// The object that the group was created with.
    pub(crate) first: u32,
    /// The task that blocks the group, or [`NONE`].
    holder: u32,
    /// The deployment component of the group, or [`NONE`].
    component: u32,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq)]
enum TaskResult {
    Value(Value),
    /// An uncaught exception and the place where it was thrown.
    Failed(Value, u32),
}

/// A task: a call that was made.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) name: Name,
    pub(crate) group: u32,
    pub(crate) object: u32,
    pub(crate) method: u32,
    pub(crate) args: Rc<[Value]>,
    /// `true` if the caller keeps the future.
    future_kept: bool,
    /// The calling task.
    caller: u32,
    /// The place of the call in the source.
    place: u32,
    pub(crate) state: TaskState,
    result: Option<(TaskResult, u32)>,
    /// The time at which the task must have ended, if it has a deadline.
    deadline: Option<Rc<BigRational>>,
    /// `true` if the result was read or reported.
    observed: bool,
    /// `true` if the search skips this task for now (see [`Marks`]).
    marked: bool,
}

/// An undo entry for something that a step changed but did not create.
#[derive(Clone, Debug)]
enum Undo {
    Field(u32, u16, Value),
    /// Toggles the flag that says if the condition of a waiting task holds.
    Guard(u32),
    Observed(u32),
    /// Toggles the mark of a task.
    Mark(u32),
    /// The previous deployment component of a group.
    Component(u32, u32),
}

/// One step of the current execution.
#[derive(Clone, Debug)]
struct StepRecord {
    choice: Choice,
    thread: Name,
    event: Name,
    group: u32,
    task: u32,
    /// The state of the task before the step.
    saved: Box<TaskState>,
    /// The task that blocked the group before the step, or [`NONE`].
    holder: u32,
    /// The lengths of the machine's vectors before the step (this field and the next four).
    tasks: u32,
    objects: u32,
    groups: u32,
    undo: u32,
    touches: u32,
    causes: SmallVec<[u32; 2]>,
    problem: Option<Box<Problem>>,
    /// The number of branches at each `random`.
    arities: SmallVec<[u32; 2]>,
    /// The place where the task stopped.
    place: u32,
    /// The time before the step, if time advanced to enable it.
    advanced: Option<Box<BigRational>>,
}

/// One configuration of an ABS program. A step runs one task of an object group until the task ends, releases its
/// group or blocks it.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("cell.abs", r#"
/// #     interface Cell { Unit set(Int v); }
/// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
/// #     { Cell c = new Cell(); c!set(1); c!set(2); }
/// # "#).unwrap();
/// use whippet_abs::AbsMachine;
/// use whippet_model::{Explain, Machine, Program};
/// let mut machine: AbsMachine = program.machine(&Default::default()).unwrap();
/// let mut choices = Vec::new();
/// machine.enabled(&mut choices).unwrap();
/// machine.execute(choices[0]).unwrap();
/// assert_eq!(machine.describe(0).action, "runs the main block");
/// ```
#[derive(Debug)]
pub struct AbsMachine {
    pub(crate) code: Arc<Code>,
    /// The static analysis of the program, computed on first use.
    stability: Arc<OnceLock<Stability>>,
    consts: Vec<Value>,
    conflict_rule: ConflictRule,
    statements: u64,
    /// `true` if some method can block its group.
    can_block: bool,
    /// `true` if some method can wait for a point in time.
    timed: bool,
    /// The current time.
    pub(crate) clock: BigRational,
    /// The advances of time so far.
    advances: Vec<clock::Advance>,
    profile: Profile,
    pub(crate) objects: Vec<Object>,
    groups: Vec<Group>,
    pub(crate) tasks: Vec<Task>,
    by_name: FxHashMap<Name, u32>,
    /// The tasks that have not ended, in order of creation.
    pub(crate) live: Vec<u32>,
    steps: Vec<StepRecord>,
    touches: Vec<Touch>,
    undo: Vec<Undo>,
    /// The objects whose fields the current step has touched.
    touched: Vec<u32>,
    /// The tasks whose futures the current step has tested or read.
    futures_read: Vec<u32>,
    steps_run: u64,
    problems: usize,
    statements_executed: u64,
    record: Option<Arc<crate::record::Record>>,
}

impl AbsMachine {
    fn new(program: &AbsProgram) -> AbsMachine {
        let code = program.code.clone();
        let blocking = |instr: &Instr| match instr {
            Instr::Get(..) => true,
            Instr::Call { kind: CallKind::Invoke, object, .. } => !matches!(object, Expr::This),
            _ => false,
        };
        let sleeping = |instr: &Instr| matches!(instr, Instr::Sleep(..) | Instr::Consume(..));
        let timed = |instr: &Instr| match instr {
            Instr::Await(guard) => guard.timer.is_some(),
            other => sleeping(other),
        };
        let waiting =
            |instr: &Instr| matches!(instr, Instr::Await(_) | Instr::Suspend) || blocking(instr) || sleeping(instr);
        let used = clock::used_classes(&code);
        let methods = code.methods.iter().filter(|method| used[method.class as usize]);
        let any = |wanted: &dyn Fn(&Instr) -> bool| methods.clone().flat_map(|method| &method.code).any(wanted);
        let (timed, can_wait) = (any(&timed), any(&waiting));
        let can_block = any(&blocking) || any(&sleeping);
        let dependence = match program.conflict_rule {
            ConflictRule::Actors | ConflictRule::Marks(_) if !can_wait => Dependence::PerActor,
            _ => Dependence::Footprints,
        };
        // Nothing is concurrent with a main block that is one step, so its choices need no attention.
        let main_waits = code.methods[0].code.iter().any(waiting);
        let chooses = code.methods.iter().enumerate().any(|(k, method)| {
            used[method.class as usize] && (k > 0 || main_waits) && method.code.iter().any(has_random)
        });
        // Another branch of a step may touch other fields, make other calls or wait.
        let same_footprint = dependence == Dependence::PerActor || !chooses;
        let mut machine = AbsMachine {
            stability: program.stability.clone(),
            record: program.record.clone(),
            consts: eval::constants(&code),
            conflict_rule: program.conflict_rule,
            statements: program.statements,
            can_block,
            timed,
            clock: BigRational::from_integer(0.into()),
            advances: Vec::new(),
            // Where branches differ, it is untested that searches may rely on a thread's only choice.
            profile: Profile::new(dependence, Branches::Discovered { same_footprint })
                .with_one_choice_per_thread(same_footprint),
            code,
            objects: Vec::new(),
            groups: Vec::new(),
            tasks: Vec::new(),
            by_name: FxHashMap::default(),
            live: Vec::new(),
            steps: Vec::new(),
            touches: Vec::new(),
            undo: Vec::new(),
            touched: Vec::new(),
            futures_read: Vec::new(),
            steps_run: 0,
            problems: 0,
            statements_executed: 0,
        };
        let main = machine.code.methods[0].places.first().copied().unwrap_or(LIBRARY);
        machine.new_object(Name::ROOT, 0, None, &[], main);
        machine.new_task(Name::ROOT.child(0), 0, 0, Rc::from([]), false, NONE, 0);
        machine
    }

    /// Returns the number of statements run so far, including those of undone steps.
    ///
    /// ```
    /// # use whippet_abs::AbsProgram;
    /// # let program = AbsProgram::parse("cell.abs", r#"
    /// #     interface Cell { Unit set(Int v); }
    /// #     class Cell implements Cell { Int value = 0; Unit set(Int v) { value = v; } }
    /// #     { Cell c = new Cell(); c!set(1); c!set(2); }
    /// # "#).unwrap();
    /// use whippet_model::{Machine, Program};
    /// let mut machine = program.machine(&Default::default()).unwrap();
    /// let mut choices = Vec::new();
    /// machine.enabled(&mut choices);
    /// machine.execute(choices[0]).unwrap();
    /// assert!(machine.statements_run() >= 3, "three statements of the main block");
    /// ```
    #[must_use]
    pub fn statements_run(&self) -> u64 {
        self.statements_executed
    }

    fn new_object(&mut self, name: Name, class: u32, group: Option<u32>, args: &[Value], place: u32) -> u32 {
        let number = self.objects.len() as u32;
        let group = group.unwrap_or_else(|| {
            self.groups.push(Group { name: name.mixed(salt::GROUP), first: number, holder: NONE, component: NONE });
            self.groups.len() as u32 - 1
        });
        let mut fields = args.to_vec();
        fields.resize(self.code.classes[class as usize].fields.len(), Value::Null);
        self.objects.push(Object { name, class, group, fields, place, read: 0, written: 0 });
        number
    }

    #[allow(clippy::too_many_arguments)]
    fn new_task(
        &mut self,
        name: Name,
        object: u32,
        method: u32,
        args: Rc<[Value]>,
        future_kept: bool,
        caller: u32,
        place: u32,
    ) -> u32 {
        let number = self.tasks.len() as u32;
        let group = self.objects[object as usize].group;
        // The record of the current step is not pushed yet: its index is the number of records.
        let created = if caller == NONE { NONE } else { self.steps.len() as u32 };
        let state = TaskState::new(created);
        self.tasks.push(Task {
            name,
            group,
            object,
            method,
            args,
            future_kept,
            caller,
            place,
            state,
            result: None,
            deadline: None,
            observed: false,
            marked: false,
        });
        self.by_name.insert(name, number);
        self.live.push(number);
        number
    }

    /// Returns the static analysis of the program.
    pub(crate) fn stability(&self) -> &Stability {
        self.stability.get_or_init(|| Stability::new(&self.code))
    }

    /// Returns the object that a group was created with.
    pub(crate) fn first_object(&self, group: u32) -> u32 {
        self.groups[group as usize].first
    }

    /// Returns the step that created a task, or `None` for the main block.
    pub(crate) fn creation_step(&self, task: u32) -> Option<usize> {
        let after = self.steps.partition_point(|record| record.tasks <= task);
        after.checked_sub(1)
    }

    /// Returns the task that called a task, or [`NONE`] for the main block.
    pub(crate) fn caller_of(&self, task: u32) -> u32 {
        self.tasks[task as usize].caller
    }

    /// Returns `true` if the task can take a step at this time.
    fn is_enabled_at(&self, task: u32, time: &BigRational) -> bool {
        let task_ = &self.tasks[task as usize];
        let holder = self.groups[task_.group as usize].holder;
        let there = |future: &u32| self.tasks[*future as usize].result.is_some();
        match &task_.state.status {
            Status::Ready => holder == NONE,
            Status::Waiting(wait) => {
                let reached = wait.timer.as_ref().is_none_or(|timer| timer.earliest <= *time);
                holder == NONE && wait.holds && reached && wait.futures.iter().all(there)
            }
            Status::Blocked(future, _) => there(future),
            Status::Asleep(timer) => timer.earliest <= *time,
            Status::Done => false,
        }
    }

    fn new_frame(&self, method: u32, object: u32, args: &[Value]) -> Frame {
        if let Some(record) = &self.record {
            record.enter(method);
        }
        Frame::new(method, object, args, self.code.methods[method as usize].locals.len())
    }
}

/// Returns `true` if an instruction evaluates `random`.
fn has_random(instr: &Instr) -> bool {
    let mut found = false;
    each_expr(instr, &mut |expr| expr.walk(&mut |part| found |= matches!(part, Expr::Random(..))));
    found
}

/// Constants mixed into a name to derive the names of related objects, distinct so that derived names do not collide.
mod salt {
    pub(super) const GROUP: u64 = 1 << 40;
    pub(super) const LOCK: u64 = 2 << 40;
    pub(super) const FUTURE: u64 = 3 << 40;
    pub(super) const FIELD: u64 = 5 << 40;
    pub(super) const OBJECT: u64 = 6 << 40;
    pub(super) const EVENT: u64 = 7 << 40;
    pub(super) const CLOCK: u64 = 8 << 40;
}

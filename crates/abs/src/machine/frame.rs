//! The state of a task: its stack of method calls and its status.

use crate::code::Dest;
use crate::value::Value;
use num_rational::BigRational;
use smallvec::SmallVec;

/// A running method, called by the task's creator or synchronously within the task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) method: u32,
    pub(crate) object: u32,
    /// The next instruction.
    pub(crate) at: u32,
    pub(crate) locals: Vec<Value>,
    /// The exception handlers, innermost last: the instruction to continue at and the variable that receives the
    /// exception.
    pub(crate) tries: SmallVec<[(u32, u16); 2]>,
    /// The destination of the result in the caller's frame (see [`pack`]).
    pub(crate) dest: u32,
}

/// Encodes a destination as one number, so that frames are easy to hash.
pub(crate) fn pack(dest: Dest) -> u32 {
    match dest {
        Dest::Nowhere => 0,
        Dest::Local(slot) => 1 << 16 | u32::from(slot),
        Dest::Field(field) => 2 << 16 | u32::from(field),
    }
}

/// Decodes a destination that [`pack`] encoded.
pub(crate) fn unpack(dest: u32) -> Dest {
    match dest >> 16 {
        0 => Dest::Nowhere,
        1 => Dest::Local(dest as u16),
        _ => Dest::Field(dest as u16),
    }
}

impl Frame {
    pub(crate) fn new(method: u32, object: u32, args: &[Value], locals: usize) -> Frame {
        let mut all = Vec::with_capacity(locals);
        all.extend_from_slice(args);
        all.resize(locals, Value::Unit);
        Frame { method, object, at: 0, locals: all, tries: SmallVec::new(), dest: 0 }
    }
}

/// The times between which a wait ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Timer {
    pub(crate) earliest: BigRational,
    pub(crate) latest: BigRational,
}

/// An unsatisfied `await`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The tasks whose futures are awaited.
    pub(crate) futures: SmallVec<[u32; 2]>,
    /// The timer of the guard, if it has one.
    pub(crate) timer: Option<Box<Timer>>,
    /// `true` if the guard also has a condition.
    pub(crate) condition: bool,
    /// `true` if the condition holds now, or there is no condition.
    pub(crate) holds: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ready,
    /// In an `await`: other tasks of the group may run.
    Waiting(Wait),
    /// In a `get`: the group is blocked until the given task ends; its result goes to the given destination.
    Blocked(u32, Dest),
    /// In a `duration`: the group is blocked until a point in time.
    Asleep(Box<Timer>),
    Done,
}

impl Status {
    /// Returns the timer that the task waits for, if any.
    pub(crate) fn timer(&self) -> Option<&Timer> {
        match self {
            Status::Waiting(wait) => wait.timer.as_deref(),
            Status::Asleep(timer) => Some(timer),
            Status::Ready | Status::Blocked(..) | Status::Done => None,
        }
    }
}

/// The part of a task that changes from step to step.
#[derive(Clone, Debug)]
pub(crate) struct TaskState {
    pub(crate) status: Status,
    /// The method calls, innermost last; empty before the first step.
    pub(crate) frames: Vec<Frame>,
    /// The number of asynchronous calls that the task has made.
    pub(crate) sends: u32,
    /// The number of objects that the task has created.
    pub(crate) news: u32,
    /// The number of steps that the task has taken.
    pub(crate) steps: u32,
    /// The task's last step, or the step that created the task if it has not run yet.
    pub(crate) last: u32,
}

impl TaskState {
    pub(crate) fn new(made: u32) -> TaskState {
        TaskState { status: Status::Ready, frames: Vec::new(), sends: 0, news: 0, steps: 0, last: made }
    }
}

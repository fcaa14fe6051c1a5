//! Where a task stands.

use crate::code::Dest;
use crate::value::Value;
use smallvec::SmallVec;

/// A method that is being run, by its task or by a synchronous call within it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) method: u32,
    pub(crate) object: u32,
    /// The next instruction.
    pub(crate) at: u32,
    pub(crate) locals: Vec<Value>,
    /// Where exceptions lead, and the variable they go into, the innermost last.
    pub(crate) tries: SmallVec<[(u32, u16); 2]>,
    /// Where the caller wants the result.
    pub(crate) dest: u32,
}

/// A destination as one number, so that frames are easy to hash.
pub(crate) fn pack(dest: Dest) -> u32 {
    match dest {
        Dest::Nowhere => 0,
        Dest::Local(slot) => 1 << 16 | u32::from(slot),
        Dest::Field(field) => 2 << 16 | u32::from(field),
    }
}

/// See [`pack`].
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

/// An `await` that was not satisfied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The tasks whose futures it waits for.
    pub(crate) futures: SmallVec<[u32; 2]>,
    /// Whether there is a condition besides, and whether it holds now.
    pub(crate) condition: bool,
    pub(crate) holds: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ready,
    /// The group is free for others.
    Waiting(Wait),
    /// In a `get`: the group is blocked until this task's future is there, for this destination.
    Blocked(u32, Dest),
    Done,
}

/// What changes of a task from step to step.
#[derive(Clone, Debug)]
pub(crate) struct TaskState {
    pub(crate) status: Status,
    /// The method calls, the innermost last. None before the first step.
    pub(crate) frames: Vec<Frame>,
    /// How many calls and objects it has made.
    pub(crate) sends: u32,
    pub(crate) news: u32,
    /// How many steps it has made.
    pub(crate) steps: u32,
    /// Its last step, or the one that made it.
    pub(crate) last: u32,
}

impl TaskState {
    pub(crate) fn new(made: u32) -> TaskState {
        TaskState { status: Status::Ready, frames: Vec::new(), sends: 0, news: 0, steps: 0, last: made }
    }
}

//! How a printed task keeps its handles.

use crate::handles::{Node, Side};
use crate::program::{Leaf, Object, ObjectId, Op, Program, TaskId};
use crate::sharing::Name;
use std::collections::{BTreeMap, BTreeSet};

impl std::fmt::Display for Name {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Sender(object) => write!(formatter, "tx_{object}"),
            Name::Receiver(object) => write!(formatter, "rx_{object}"),
            Name::Armed(object) => write!(formatter, "armed_{object}"),
            Name::Guards(object) => write!(formatter, "guards_{object}"),
            Name::Join(task) => write!(formatter, "join_{task}"),
            Name::Set => formatter.write_str("set"),
            Name::Interval => formatter.write_str("interval"),
        }
    }
}

/// The place of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a variable of its own type.
    Plain,
    /// In an option, as it depends on the execution if it is still there.
    Option,
    /// It is not there.
    Gone,
}

/// The places of the handles of a task.
pub(super) struct Places {
    options: BTreeSet<Name>,
    /// Guards that are used inside of branches.
    pub(super) shared_guards: BTreeSet<ObjectId>,
}

impl Places {
    pub(super) fn new(program: &Program, task: TaskId) -> Places {
        let mut options = BTreeSet::new();
        let mut arms: BTreeMap<ObjectId, u32> = BTreeMap::new();
        let mut shared_guards = BTreeSet::new();
        for op in &program.tasks[task] {
            if let Op::Arm { object, .. } = op {
                *arms.entry(*object).or_default() += 1;
            }
            let mut nested = |node: Node<'_>| {
                options.extend(consumed(program, node));
                if let Node::Op(op) = node
                    && let Some(object) = guarded(op)
                {
                    shared_guards.insert(object);
                }
            };
            match op {
                Op::Await(Leaf::Answer(_) | Leaf::Join(_) | Leaf::Armed(_)) => {}
                Op::TryRecv(object) if program.objects.get(*object) == Some(&Object::Oneshot) => {
                    options.insert(Name::Receiver(*object));
                }
                op => op.leaves().iter().for_each(|leaf| leaf.visit(&mut nested)),
            }
        }
        options.extend(arms.iter().filter(|(_, count)| **count > 1).map(|(object, _)| Name::Armed(*object)));
        let children = (0..program.tasks.len()).filter(|&child| spawns(program, child) > 1);
        options.extend(children.map(Name::Join));
        Places { options, shared_guards }
    }

    pub(super) fn place(&self, name: Name) -> Place {
        if self.options.contains(&name) { Place::Option } else { Place::Plain }
    }

    /// Returns the handles that the task does not have at its beginning.
    pub(super) fn missing(&self, program: &Program, task: TaskId) -> BTreeSet<Name> {
        let mut missing = BTreeSet::new();
        for object in 0..program.objects.len() {
            if !program.holds(task, Side::Sender(object)) {
                missing.insert(Name::Sender(object));
            }
            if !program.holds(task, Side::Receiver(object)) {
                missing.insert(Name::Receiver(object));
            }
            if self.place(Name::Armed(object)) == Place::Plain || !arms(program, task, object) {
                missing.insert(Name::Armed(object));
            }
        }
        for child in 0..program.tasks.len() {
            if self.place(Name::Join(child)) == Place::Plain || !spawns_itself(program, task, child) {
                missing.insert(Name::Join(child));
            }
        }
        missing
    }

    /// Returns the plain handle that a statement uses up.
    pub(super) fn used_up_by(&self, op: &Op) -> Option<Name> {
        let name = match op {
            Op::DropReceiver(object) => Name::Receiver(*object),
            Op::DropSender(object) | Op::Reply(object) => Name::Sender(*object),
            Op::Await(Leaf::Answer(object)) => Name::Receiver(*object),
            Op::Await(Leaf::Armed(object)) => Name::Armed(*object),
            Op::Await(Leaf::Join(task)) => Name::Join(*task),
            Op::DropSet => Name::Set,
            _ => return None,
        };
        (self.place(name) == Place::Plain).then_some(name)
    }
}

/// Returns the handle that a node inside of a branch uses up or creates.
fn consumed(program: &Program, node: Node<'_>) -> Option<Name> {
    match node {
        Node::Op(op) => match op {
            Op::DropReceiver(object) => Some(Name::Receiver(*object)),
            Op::TryRecv(object) if program.objects.get(*object) == Some(&Object::Oneshot) => {
                Some(Name::Receiver(*object))
            }
            Op::DropSender(object) | Op::Reply(object) => Some(Name::Sender(*object)),
            Op::DropSet => Some(Name::Set),
            Op::Arm { object, .. } => Some(Name::Armed(*object)),
            Op::Spawn(task) => Some(Name::Join(*task)),
            _ => None,
        },
        Node::Leaf(leaf) => match leaf {
            Leaf::Answer(object) => Some(Name::Receiver(*object)),
            Leaf::Armed(object) => Some(Name::Armed(*object)),
            Leaf::Join(task) => Some(Name::Join(*task)),
            _ => None,
        },
    }
}

/// Returns the object whose guards an operation uses.
pub(super) fn guarded(op: &Op) -> Option<ObjectId> {
    match *op {
        Op::TryAcquire(object, _)
        | Op::TryLock(object)
        | Op::TryRead(object)
        | Op::TryWrite(object)
        | Op::SendPermit(object)
        | Op::Release(object)
        | Op::ForgetGuard(object) => Some(object),
        _ => None,
    }
}

/// Counts the operations that spawn a task, nested ones twice.
pub(super) fn spawns(program: &Program, child: TaskId) -> u32 {
    let mut count = 0;
    for op in program.tasks.iter().flatten() {
        let weight = if op.waits() { 2 } else { 1 };
        op.visit(&mut |node| {
            if matches!(node, Node::Op(Op::Spawn(task) | Op::SpawnIn(task)) if *task == child) {
                count += weight;
            }
        });
    }
    count
}

fn arms(program: &Program, task: TaskId, object: ObjectId) -> bool {
    let mut found = false;
    for op in &program.tasks[task] {
        op.visit(&mut |node| found |= matches!(node, Node::Op(Op::Arm { object: other, .. }) if *other == object));
    }
    found
}

/// Tells if a task has an operation that spawns this child and keeps its handle.
fn spawns_itself(program: &Program, task: TaskId, child: TaskId) -> bool {
    let mut found = false;
    for op in &program.tasks[task] {
        op.visit(&mut |node| found |= matches!(node, Node::Op(Op::Spawn(other)) if *other == child));
    }
    found
}

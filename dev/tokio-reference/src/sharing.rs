//! Handles that branches of one `select!` or `join!` both need.
//!
//! Rust lets only one branch borrow such a handle. In the programs of this crate the branch that comes first has it, and the
//! others log `-`. Where a branch needs a handle only once it is polled, the order of polls decides who comes first.

use crate::handles::{Node, Side};
use crate::program::{Leaf, Object, ObjectId, Op, Program, TaskId};

/// A handle of a task, by which a printed task names a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Sender(ObjectId),
    Receiver(ObjectId),
    Armed(ObjectId),
    Guards(ObjectId),
    Join(TaskId),
    Set,
    Interval,
}

/// The part of a branch that needs a handle: an elementary leaf or an operation.
struct Part {
    branch: usize,
    /// The part borrows its handle when the select begins.
    at_once: bool,
    needs: Option<(Name, bool)>,
}

impl Part {
    /// Tells if one of the parts cannot have its handle while the other one has it.
    fn excludes(&self, other: &Part) -> bool {
        let (Some((name, exclusive)), Some((other_name, other_exclusive))) = (self.needs, other.needs) else {
            return false;
        };
        self.branch != other.branch && name == other_name && (exclusive || other_exclusive)
    }
}

/// Replaces each branch by a yield that needs a handle of another branch only once it is polled. Which of the two has
/// the handle would depend on memory of their task, which no operation of tokio shows.
pub(crate) fn separate(program: &mut Program) {
    for op in program.tasks.iter_mut().flatten() {
        let (Op::Select { branches, .. } | Op::JoinAll(branches)) = op else { continue };
        while let Some(branch) = late_in_conflict(&program.objects, branches) {
            branches[branch] = Leaf::Yield;
        }
    }
}

/// Finds the last branch with a part that needs a handle late which another branch needs too.
fn late_in_conflict(objects: &[Object], branches: &[Leaf]) -> Option<usize> {
    let parts = parts(objects, branches);
    let is_late_in_conflict = |part: &&Part| !part.at_once && parts.iter().any(|other| part.excludes(other));
    parts.iter().rev().find(is_late_in_conflict).map(|part| part.branch)
}

/// Tells for each part of the branches, in order, if another branch has its handle.
pub(crate) fn refused(objects: &[Object], branches: &[Leaf]) -> Vec<bool> {
    let parts = parts(objects, branches);
    let mut refused = vec![false; parts.len()];
    let mut granted: Vec<&Part> = Vec::new();
    for at_once in [true, false] {
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.at_once == at_once) {
            if granted.iter().any(|other| part.excludes(other)) {
                refused[index] = true;
            } else {
                granted.push(part);
            }
        }
    }
    refused
}

fn parts(objects: &[Object], branches: &[Leaf]) -> Vec<Part> {
    let mut parts = Vec::new();
    for (branch, leaf) in branches.iter().enumerate() {
        add_parts(objects, leaf, branch, true, &mut parts);
    }
    parts
}

fn add_parts(objects: &[Object], leaf: &Leaf, branch: usize, at_once: bool, parts: &mut Vec<Part>) {
    match leaf {
        Leaf::Within(_, leaf) => add_parts(objects, leaf, branch, at_once, parts),
        Leaf::Now(op) => parts.push(Part { branch, at_once: false, needs: needs(objects, Node::Op(op)) }),
        Leaf::Then(op, leaf) => {
            parts.push(Part { branch, at_once: false, needs: needs(objects, Node::Op(op)) });
            add_parts(objects, leaf, branch, false, parts);
        }
        leaf => parts.push(Part { branch, at_once, needs: needs(objects, Node::Leaf(leaf)) }),
    }
}

/// Returns the handle that a node needs, and if it needs it exclusively.
pub(crate) fn needs(objects: &[Object], node: Node<'_>) -> Option<(Name, bool)> {
    let (side, object) = match node {
        Node::Op(op) => (op.side(), op.object()),
        Node::Leaf(leaf) => (leaf.side(), leaf.object()),
    };
    let is_oneshot = object.is_some_and(|object| objects.get(object) == Some(&Object::Oneshot));
    match (node, side) {
        (Node::Op(Op::SendPermit(_)), _) => None,
        (Node::Op(Op::DropSender(object)), _) => Some((Name::Sender(*object), true)),
        (_, Some(Side::Receiver(object))) => Some((Name::Receiver(object), true)),
        (_, Some(Side::Sender(object))) => Some((Name::Sender(object), is_oneshot)),
        (Node::Leaf(Leaf::Armed(object)) | Node::Op(Op::Arm { object, .. }), _) => Some((Name::Armed(*object), true)),
        (Node::Leaf(Leaf::Join(task)), _) => Some((Name::Join(*task), true)),
        (Node::Op(Op::Spawn(task) | Op::Abort(task) | Op::IsFinished(task)), _) => Some((Name::Join(*task), true)),
        (Node::Leaf(Leaf::JoinNext), _) => Some((Name::Set, true)),
        (Node::Op(Op::SpawnIn(_) | Op::TryJoinNext | Op::AbortAll | Op::DropSet), _) => Some((Name::Set, true)),
        (Node::Leaf(Leaf::Tick(_)), _) => Some((Name::Interval, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_need_a_handle_late_are_separated() {
        let recv = || Leaf::Recv(0);
        let late = || Leaf::Then(Box::new(Op::TryRecv(0)), Box::new(Leaf::Yield));
        let mut program = Program {
            objects: vec![Object::Mpsc { capacity: Some(1) }],
            tasks: vec![vec![
                Op::Select { biased: false, branches: vec![recv(), recv()] },
                Op::Select { biased: false, branches: vec![late(), late()] },
                Op::JoinAll(vec![recv(), late()]),
                Op::Select { biased: false, branches: vec![late(), Leaf::Yield] },
            ]],
        };
        separate(&mut program);
        let branches: Vec<_> = program.tasks[0].iter().map(|op| op.leaves().to_vec()).collect();
        assert_eq!(branches[0], [recv(), recv()]);
        assert_eq!(branches[1], [late(), Leaf::Yield]);
        assert_eq!(branches[2], [recv(), Leaf::Yield]);
        assert_eq!(branches[3], [late(), Leaf::Yield]);
    }
}

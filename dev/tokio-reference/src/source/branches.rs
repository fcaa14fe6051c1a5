//! `select!` and `join!`, and the handles that their branches share.

use super::places::{Name, Place};
use super::{Printer, indented};
use crate::handles::{Node, Side};
use crate::program::{Leaf, Object, Op, Value};

/// The part of a branch that needs a handle: an elementary leaf or an operation.
struct Part {
    branch: usize,
    /// The part borrows its handle when the select begins.
    at_once: bool,
    needs: Option<(Name, bool)>,
}

impl Printer<'_> {
    pub(super) fn select(&mut self, biased: bool, branches: &[Leaf], number: Value) -> String {
        self.refuse(branches);
        let mut text = String::from("tokio::select! {\n");
        if biased {
            text.push_str("    biased;\n");
        }
        let mut number = number;
        for (branch, leaf) in branches.iter().enumerate() {
            let future = self.future(leaf, number);
            let handler = self.handler(leaf, number, &format!("branch {branch}: "));
            let is_used = handler.contains("value");
            let binding = if is_used { "value" } else { "_" };
            let line = handler.strip_suffix(";\n").filter(|line| !line.contains('\n') && !line.contains(';'));
            text.push_str(&match line {
                Some(line) => indented(&format!("{binding} = {future} => {line},\n"), 1),
                None => indented(&format!("{binding} = {future} => {{\n{}}}\n", indented(&handler, 1)), 1),
            });
            number += leaf.nodes();
        }
        self.refused.clear();
        text + "}\n"
    }

    pub(super) fn join(&mut self, branches: &[Leaf], number: Value) -> String {
        self.refuse(branches);
        let (mut futures, mut handlers, mut names) = (String::new(), String::new(), Vec::new());
        let mut number = number;
        for (branch, leaf) in branches.iter().enumerate() {
            futures.push_str(&indented(&format!("{},\n", self.future(leaf, number)), 1));
            let handler = self.handler(leaf, number, &format!("branch {branch}: "));
            let is_used = handler.contains("value");
            names.push(format!("{}value_{branch}", if is_used { "" } else { "_" }));
            if is_used {
                handlers.push_str(&format!("let value = value_{branch};\n"));
            }
            handlers.push_str(&handler);
            number += leaf.nodes();
        }
        self.refused.clear();
        format!("let ({}) = tokio::join!(\n{futures});\n{handlers}", names.join(", "))
    }

    /// Finds the parts of branches that cannot have their handle, because another branch has it.
    fn refuse(&mut self, branches: &[Leaf]) {
        let mut parts = Vec::new();
        for (branch, leaf) in branches.iter().enumerate() {
            self.parts(leaf, branch, true, &mut parts);
        }
        let mut refused = vec![false; parts.len()];
        let mut taken: Vec<(usize, Name, bool)> = Vec::new();
        for at_once in [true, false] {
            for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.at_once == at_once) {
                let Some((name, exclusive)) = part.needs else { continue };
                let in_conflict =
                    |taken: &&(usize, Name, bool)| taken.0 != part.branch && taken.1 == name && (exclusive || taken.2);
                if taken.iter().any(|taken| in_conflict(&taken)) {
                    refused[index] = true;
                } else {
                    taken.push((part.branch, name, exclusive));
                }
            }
        }
        refused.reverse();
        self.refused = refused;
    }

    fn parts(&self, leaf: &Leaf, branch: usize, at_once: bool, parts: &mut Vec<Part>) {
        match leaf {
            Leaf::Within(_, leaf) => self.parts(leaf, branch, at_once, parts),
            Leaf::Now(op) => parts.push(Part { branch, at_once: false, needs: self.needs(Node::Op(op)) }),
            Leaf::Then(op, leaf) => {
                parts.push(Part { branch, at_once: false, needs: self.needs(Node::Op(op)) });
                self.parts(leaf, branch, false, parts);
            }
            leaf => parts.push(Part { branch, at_once, needs: self.needs(Node::Leaf(leaf)) }),
        }
    }

    /// Returns the handle that a part needs, and if it needs it exclusively.
    pub(super) fn needs(&self, node: Node<'_>) -> Option<(Name, bool)> {
        let (side, object) = match node {
            Node::Op(op) => (op.side(), op.object()),
            Node::Leaf(leaf) => (leaf.side(), leaf.object()),
        };
        let is_oneshot = object.is_some_and(|object| self.program.objects.get(object) == Some(&Object::Oneshot));
        match (node, side) {
            (Node::Op(Op::SendPermit(_)), _) => None,
            (Node::Op(Op::DropSender(object)), _) => Some((Name::Sender(*object), true)),
            (_, Some(Side::Receiver(object))) => Some((Name::Receiver(object), true)),
            (_, Some(Side::Sender(object))) => Some((Name::Sender(object), is_oneshot)),
            (Node::Leaf(Leaf::Armed(object)) | Node::Op(Op::Arm { object, .. }), _) => {
                Some((Name::Armed(*object), true))
            }
            (Node::Leaf(Leaf::Join(task)), _) => Some((Name::Join(*task), true)),
            (Node::Op(Op::Spawn(task) | Op::Abort(task) | Op::IsFinished(task)), _) => Some((Name::Join(*task), true)),
            (Node::Leaf(Leaf::JoinNext), _) => Some((Name::Set, true)),
            (Node::Op(Op::SpawnIn(_) | Op::TryJoinNext | Op::AbortAll | Op::DropSet), _) => Some((Name::Set, true)),
            (Node::Leaf(Leaf::Tick(_)), _) => Some((Name::Interval, true)),
            _ => None,
        }
    }

    /// Tells if the next part of the current branch is refused.
    pub(super) fn next_is_refused(&mut self) -> bool {
        self.refused.pop().unwrap_or(false)
    }

    /// Tells if the handle that a node needs is certainly not there.
    pub(super) fn lacks(&self, node: Node<'_>) -> bool {
        self.needs(node).is_some_and(|(name, _)| {
            let creates = matches!(node, Node::Op(Op::Spawn(_) | Op::Arm { .. }));
            !creates && name != Name::Interval && self.place(name) == Place::Gone
        })
    }
}

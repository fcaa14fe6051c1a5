//! `select!` and `join!`, and the handles that their branches share.

use super::places::Place;
use super::{Printer, indented};
use crate::handles::Node;
use crate::program::{Leaf, Op, Value};
use crate::sharing::{self, Name};

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
        self.refused = sharing::refused(&self.program.objects, branches);
        self.refused.reverse();
    }

    /// Returns the handle that a node needs, and if it needs it exclusively.
    pub(super) fn needs(&self, node: Node<'_>) -> Option<(Name, bool)> {
        sharing::needs(&self.program.objects, node)
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

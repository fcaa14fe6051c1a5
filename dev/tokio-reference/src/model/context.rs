//! Everything about a program that does not change while it runs, and the interned texts.

use super::Granularity;
use crate::handles::Node;
use crate::program::{Leaf, Op, Program, TaskId, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// An interned text.
pub(super) type Text = u32;

/// An interned log: the log before its last entry, and the entry. Equal logs have equal numbers.
pub(super) type LogId = u32;

/// The empty log.
pub(super) const EMPTY_LOG: LogId = 0;

pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) granularity: Granularity,
    /// For each task, each operation and each of its branches, the value of the leaf; without branches, of the operation.
    values: Vec<Vec<Vec<Value>>>,
    /// Tasks that can be aborted.
    pub(super) abortable: Vec<bool>,
    /// Tasks whose end can be observed.
    pub(super) observed: Vec<bool>,
    /// Objects with weak senders.
    pub(super) weak: Vec<bool>,
    texts: RefCell<Interner<String>>,
    logs: RefCell<Interner<(LogId, Text)>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(program: &'a Program, granularity: Granularity) -> Context<'a> {
        let named = |task: TaskId, names: fn(&Node<'_>) -> Option<TaskId>| {
            program.is_spawned_by_operation(task) && program.any_node(|node| names(&node) == Some(task))
        };
        let objects = 0..program.objects.len();
        let is_weak =
            |object| program.any_node(|node| matches!(node, Node::Op(Op::WeakSend(other)) if *other == object));
        let mut logs = Interner::default();
        logs.intern((LogId::MAX, Text::MAX));
        Context {
            program,
            granularity,
            values: values(program),
            abortable: (0..program.tasks.len()).map(|task| named(task, aborts)).collect(),
            observed: (0..program.tasks.len()).map(|task| named(task, observes)).collect(),
            weak: objects.map(is_weak).collect(),
            texts: RefCell::default(),
            logs: RefCell::new(logs),
        }
    }

    pub(super) fn op(&self, task: TaskId, index: usize) -> &'a Op {
        &self.program.tasks[task][index]
    }

    pub(super) fn value(&self, task: TaskId, index: usize, branch: usize) -> Value {
        self.values[task][index][branch]
    }

    pub(super) fn text(&self, text: impl Into<String>) -> Text {
        self.texts.borrow_mut().intern(text.into())
    }

    /// Returns the text of an interned text.
    pub(super) fn string(&self, text: Text) -> String {
        self.texts.borrow().entries[text as usize].clone()
    }

    /// Adds an entry to a log.
    pub(super) fn logged(&self, log: LogId, text: Text) -> LogId {
        self.logs.borrow_mut().intern((log, text))
    }

    /// Returns the entries of a log.
    pub(super) fn entries(&self, mut log: LogId) -> Vec<String> {
        let mut entries = Vec::new();
        while log != EMPTY_LOG {
            let (before, text) = self.logs.borrow().entries[log as usize];
            entries.push(self.string(text));
            log = before;
        }
        entries.reverse();
        entries
    }
}

fn aborts(node: &Node<'_>) -> Option<TaskId> {
    match node {
        Node::Op(Op::Abort(task) | Op::SpawnIn(task)) => Some(*task),
        _ => None,
    }
}

fn observes(node: &Node<'_>) -> Option<TaskId> {
    match node {
        Node::Op(Op::IsFinished(task) | Op::SpawnIn(task)) | Node::Leaf(Leaf::Join(task)) => Some(*task),
        _ => None,
    }
}

fn values(program: &Program) -> Vec<Vec<Vec<Value>>> {
    let mut all = Vec::new();
    for (task, ops) in program.tasks.iter().enumerate() {
        let mut number = task as Value * 100 + 1;
        let mut of_task = Vec::new();
        for op in ops {
            let mut branch_number = number + 1;
            let mut of_op = Vec::new();
            for leaf in op.leaves() {
                of_op.push(branch_number);
                branch_number += leaf.nodes();
            }
            of_task.push(if op.waits() { of_op } else { vec![number] });
            number += op.nodes();
        }
        all.push(of_task);
    }
    all
}

struct Interner<T> {
    numbers: FxHashMap<T, u32>,
    entries: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { numbers: FxHashMap::default(), entries: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    fn intern(&mut self, entry: T) -> u32 {
        if let Some(&number) = self.numbers.get(&entry) {
            return number;
        }
        let number = self.entries.len() as u32;
        self.entries.push(entry.clone());
        self.numbers.insert(entry, number);
        number
    }
}

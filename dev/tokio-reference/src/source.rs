//! Prints programs as tests for tokio.
//!
//! The tests are meant to be read. Each task is an `async` block that owns its handles, each operation is the call that
//! a person would write, and each result is printed. Handles that a task may or may not have used up are options.
//!
//! Three things are simpler than in the program: of two branches of one `select!` or `join!` that need the same handle,
//! the second is replaced by a comment, also where it would get the handle back in time; and a guard that a branch of a
//! `join!` acquires is kept when the `join!` is done; and a task that spawns another one holds the handles of that one
//! until it does, and drops them if it never does.

mod branches;
mod leaves;
mod objects;
mod operations;
mod places;

use crate::handles::Node;
use crate::program::{Leaf, Op, Program, TaskId, Value};
use crate::sharing::Name;
use places::{Place, Places};
use std::collections::BTreeSet;

/// Prints a program as a self-contained test for tokio.
pub fn rust_test(program: &Program) -> String {
    // A task that another one spawns is written before it, so that it can be moved into it.
    let tasks: String = objects::order(program).iter().map(|&task| Printer::new(program, task).task()).collect();
    let mut body = String::new();
    for (object, kind) in program.objects.iter().enumerate() {
        let is_used = objects::shared_name(kind).is_none_or(|name| tasks.contains(&format!("{name}_{object})")));
        if is_used {
            body.push_str(&objects::declaration(program, object, kind));
        }
    }
    if uses_clock(program) {
        body.push_str("let start = Instant::now();\n");
    }
    body.push('\n');
    body.push_str(&tasks);
    for (object, kind) in program.objects.iter().enumerate() {
        body.push_str(&objects::drops(program, object, kind));
    }
    body.push_str(&objects::ending(program));
    let body = indented(&body, 1);
    let imports = objects::imports(program, &body);
    format!("{imports}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn program() {{\n{body}}}\n")
}

fn uses_clock(program: &Program) -> bool {
    program.any_node(|node| matches!(node, Node::Op(Op::Now)))
}

/// Indents every line that is not empty.
fn indented(text: &str, levels: usize) -> String {
    let mut indented = String::new();
    for line in text.lines() {
        if !line.is_empty() {
            indented.push_str(&"    ".repeat(levels));
            indented.push_str(line);
        }
        indented.push('\n');
    }
    indented
}

/// Prints one task.
struct Printer<'a> {
    program: &'a Program,
    task: TaskId,
    places: Places,
    /// Handles that a statement before this one has used up, or that the task never had.
    gone: BTreeSet<Name>,
    /// Handles that the current branch cannot use, as another branch does.
    refused: Vec<bool>,
    has_interval: bool,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program, task: TaskId) -> Printer<'a> {
        let places = Places::new(program, task);
        let gone = places.missing(program, task);
        Printer { program, task, places, gone, refused: Vec::new(), has_interval: false }
    }

    /// Prints the block of the task, and how it is spawned.
    fn task(&mut self) -> String {
        let mut statements = String::new();
        let mut number = self.task as Value * 100 + 1;
        for op in &self.program.tasks[self.task] {
            statements.push_str(&self.statement(op, number));
            number += op.nodes();
        }
        if objects::is_in_set(self.program, self.task) {
            statements.push_str(&format!("{}\n", self.task));
        }
        let body = self.declarations(&statements) + &objects::tidied(self.program, &statements);
        objects::task(self.program, self.task, &indented(&body, 1))
    }

    /// Prints a statement of the task's own, with what it uses up.
    fn statement(&mut self, op: &Op, number: Value) -> String {
        let mut text = String::new();
        if let Some(ticks) = self.first_tick(op) {
            text = format!("let mut interval = time::interval({});\n", leaves::ticks(ticks));
        }
        text.push_str(&match op {
            Op::Await(leaf) => self.awaited(leaf, number + 1),
            Op::Select { biased, branches } => self.select(*biased, branches, number + 1),
            Op::JoinAll(branches) => self.join(branches, number + 1),
            _ => self.operation(op, number, true),
        });
        if let Some(name) = self.places.used_up_by(op) {
            self.gone.insert(name);
        }
        if let Op::Spawn(task) = op {
            self.gone.remove(&Name::Join(*task));
        }
        if let Op::Arm { object, .. } = op {
            self.gone.remove(&Name::Armed(*object));
        }
        text
    }

    fn first_tick(&mut self, op: &Op) -> Option<u64> {
        let mut first = None;
        op.visit(&mut |node| {
            if let Node::Leaf(Leaf::Tick(ticks)) = node {
                first.get_or_insert(*ticks);
            }
        });
        if self.has_interval {
            return None;
        }
        self.has_interval = first.is_some();
        first
    }

    /// Returns how a handle is kept here.
    fn place(&self, name: Name) -> Place {
        if self.gone.contains(&name) { Place::Gone } else { self.places.place(name) }
    }

    /// Prints a line of output.
    fn print(&self, text: &str) -> String {
        format!("println!(\"task {}: {text}\");\n", self.task)
    }

    /// Prints a line of output with a value.
    fn print_value(&self, text: &str, value: &str) -> String {
        if value == "value" {
            return format!("println!(\"task {}: {text} {{value:?}}\");\n", self.task);
        }
        format!("println!(\"task {}: {text} {{:?}}\", {value});\n", self.task)
    }
}

//! Objects, the handles that tasks take, and the frame of a printed test.

use super::operations::mentions;
use super::places::spawns;
use crate::handles::{Node, Side};
use crate::program::{Leaf, Object, ObjectId, Op, Program, TaskId};
use crate::sharing::Name;

/// Prints the creation of an object.
pub(super) fn declaration(program: &Program, object: ObjectId, kind: &Object) -> String {
    let shared = |name: &str, value: &str| format!("let {name}_{object} = Arc::new({value});\n");
    match kind {
        Object::Mpsc { capacity: Some(capacity) } => {
            channel(program, object, &format!("mpsc::channel::<u32>({capacity})"))
        }
        Object::Mpsc { capacity: None } => channel(program, object, "mpsc::unbounded_channel::<u32>()"),
        Object::Oneshot => channel(program, object, "oneshot::channel::<u32>()"),
        Object::Broadcast { capacity } => format!("let tx_{object} = broadcast::Sender::<u32>::new({capacity});\n"),
        Object::Watch => format!("let tx_{object} = watch::Sender::new(0_u32);\n"),
        Object::Notify => shared("notify", "Notify::new()"),
        Object::Semaphore { permits } => shared("semaphore", &format!("Semaphore::new({permits})")),
        Object::Mutex => shared("mutex", "Mutex::new(Vec::<u32>::new())"),
        Object::RwLock => shared("lock", "RwLock::new(Vec::<u32>::new())"),
        Object::OnceCell => shared("cell", "OnceCell::<u32>::new()"),
        Object::SetOnce => shared("cell", "SetOnce::<u32>::new()"),
        Object::Barrier { size } => shared("barrier", &format!("Barrier::new({size})")),
    }
}

fn channel(program: &Program, object: ObjectId, value: &str) -> String {
    let is_received = (0..program.tasks.len()).any(|task| program.holds(task, Side::Receiver(object)));
    let is_sent = program.objects[object] != Object::Oneshot
        || (0..program.tasks.len()).any(|task| program.holds(task, Side::Sender(object)));
    let sender = if is_sent { format!("tx_{object}") } else { "_".to_owned() };
    let receiver = if is_received { format!("rx_{object}") } else { "_".to_owned() };
    format!("let ({sender}, {receiver}) = {value};\n")
}

/// Returns the name of the variable of an object that is shared by reference.
pub(super) fn shared_name(kind: &Object) -> Option<&'static str> {
    match kind {
        Object::Notify => Some("notify"),
        Object::Semaphore { .. } => Some("semaphore"),
        Object::Mutex => Some("mutex"),
        Object::RwLock => Some("lock"),
        Object::OnceCell | Object::SetOnce => Some("cell"),
        Object::Barrier { .. } => Some("barrier"),
        _ => None,
    }
}

/// Prints the drop of the original sender of a channel.
pub(super) fn drops(_program: &Program, object: ObjectId, kind: &Object) -> String {
    match kind {
        Object::Mpsc { .. } | Object::Broadcast { .. } | Object::Watch => format!("drop(tx_{object});\n"),
        _ => String::new(),
    }
}

/// Returns the tasks in an order in which a task comes after those that it spawns.
pub(super) fn order(program: &Program) -> Vec<TaskId> {
    fn add(program: &Program, task: TaskId, order: &mut Vec<TaskId>, open: &mut Vec<TaskId>) {
        if order.contains(&task) || open.contains(&task) {
            return;
        }
        open.push(task);
        for child in 0..program.tasks.len() {
            if is_spawned_by(program, task, child) {
                add(program, child, order, open);
            }
        }
        open.pop();
        order.push(task);
    }
    let mut order = Vec::new();
    // Children first, as all handles are given out before the first task runs.
    let (children, others): (Vec<_>, Vec<_>) =
        (0..program.tasks.len()).partition(|&task| program.is_spawned_by_operation(task));
    for task in children.into_iter().chain(others) {
        add(program, task, &mut order, &mut Vec::new());
    }
    order
}

fn is_spawned_by(program: &Program, task: TaskId, child: TaskId) -> bool {
    names(program, task, |node| matches!(node, Node::Op(Op::Spawn(other) | Op::SpawnIn(other)) if *other == child))
}

fn names(program: &Program, task: TaskId, condition: impl Fn(Node<'_>) -> bool) -> bool {
    let mut found = false;
    program.tasks[task].iter().for_each(|op| op.visit(&mut |node| found |= condition(node)));
    found
}

/// Tells if a task is spawned into a `JoinSet`, so that it returns its number.
pub(super) fn is_in_set(program: &Program, task: TaskId) -> bool {
    program.any_node(|node| matches!(node, Node::Op(Op::SpawnIn(other)) if *other == task))
}

/// Prints a task with its handles around its body.
pub(super) fn task(program: &Program, task: TaskId, body: &str) -> String {
    let takes = takes(program, task, body);
    let block = format!("async move {{\n{body}}}");
    let is_child = program.is_spawned_by_operation(task);
    let wrapped =
        if takes.is_empty() { block } else { format!("{{\n{}}}", super::indented(&(takes + &block + "\n"), 1)) };
    if !is_child || spawns(program, task) == 1 {
        return format!("let task_{task} = {wrapped};\n");
    }
    let output = if is_in_set(program, task) { "u32" } else { "()" };
    format!(
        "let task_{task}: Pin<Box<dyn Future<Output = {output}> + Send>> = Box::pin({wrapped});\n\
         let task_{task} = Arc::new(StdMutex::new(Some(task_{task})));\n"
    )
}

/// Prints the lines with which a task takes its handles.
fn takes(program: &Program, task: TaskId, body: &str) -> String {
    let mut lines = String::new();
    for (object, kind) in program.objects.iter().enumerate() {
        if program.holds(task, Side::Sender(object)) && *kind != Object::Oneshot {
            lines.push_str(&format!("let tx_{object} = tx_{object}.clone();\n"));
        }
        if program.holds(task, Side::WeakSender(object)) {
            lines.push_str(&format!("let weak_{object} = tx_{object}.downgrade();\n"));
        }
        if program.holds(task, Side::Receiver(object)) && matches!(kind, Object::Broadcast { .. } | Object::Watch) {
            lines.push_str(&format!("let rx_{object} = tx_{object}.subscribe();\n"));
        }
        if let Some(name) = shared_name(kind)
            && mentions(body, &format!("{name}_{object}"))
        {
            lines.push_str(&format!("let {name}_{object} = Arc::clone(&{name}_{object});\n"));
        }
    }
    for child in 0..program.tasks.len() {
        if spawns(program, child) > 1 && is_spawned_by(program, task, child) && child != task {
            lines.push_str(&format!("let task_{child} = Arc::clone(&task_{child});\n"));
        }
    }
    lines
}

/// Removes what is superfluous in the statements of a task: variables that are not used again, and `mut`.
pub(super) fn tidied(program: &Program, statements: &str) -> String {
    let mut text = statements.to_owned();
    for task in 0..program.tasks.len() {
        let (with, name) = (format!("let mut join_{task} = "), format!("join_{task}"));
        let uses = text.matches(&name).count() - text.matches(&with).count();
        if uses == 0 {
            text = text.replace(&with, "");
        } else if !text.contains(&format!("&mut {name}")) {
            text = text.replace(&with, &format!("let {name} = "));
        }
    }
    for object in 0..program.objects.len() {
        let (with, name) = (format!("let mut armed_{object} = "), format!("armed_{object}"));
        if text.matches(&name).count() == text.matches(&with).count() {
            text = text.replace(&with, &format!("let _{name} = "));
        }
    }
    without_last_assignments(&text)
}

/// Removes assignments of `None` to variables that are not mentioned afterwards.
fn without_last_assignments(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_last = |index: usize| {
        let name = lines[index].trim().strip_suffix(" = None;").filter(|name| !name.starts_with("let "));
        name.is_some_and(|name| !lines[index + 1..].iter().any(|line| mentions(line, name)))
    };
    // An assignment alone in the block of an `if` goes with its block.
    let is_alone = |index: usize| is_last(index) && index > 0 && lines[index - 1].trim().starts_with("if value != ");
    let goes = |index: usize| {
        let after = index + 1 < lines.len() && is_alone(index + 1);
        is_last(index) || after || (index > 0 && is_alone(index - 1))
    };
    let kept = (0..lines.len()).filter(|&index| !goes(index));
    kept.map(|index| format!("{}\n", lines[index])).collect()
}

/// Prints how the tasks are spawned.
pub(super) fn ending(program: &Program) -> String {
    let tasks: Vec<TaskId> = (0..program.tasks.len()).filter(|&task| !program.is_spawned_by_operation(task)).collect();
    let list: Vec<String> = tasks.iter().map(|task| format!("tokio::spawn(task_{task})")).collect();
    let mut text = format!("\nlet tasks = [{}];\n", list.join(", "));
    text.push_str("for task in tasks {\n    let _ = task.await;\n}\n");
    text
}

/// Prints the imports that a test needs.
pub(super) fn imports(program: &Program, body: &str) -> String {
    let mut lines = Vec::new();
    let mut add = |condition: bool, line: &str| {
        if condition {
            lines.push(line.to_owned());
        }
    };
    add(body.contains("dyn Any"), "use std::any::Any;");
    add(body.contains("VecDeque"), "use std::collections::VecDeque;");
    add(body.contains("dyn Future"), "use std::future::Future;");
    add(body.contains("Pin<"), "use std::pin::Pin;");
    add(body.contains("Arc::"), "use std::sync::Arc;");
    add(body.contains("StdMutex"), "use std::sync::Mutex as StdMutex;");
    add(body.contains("TICK"), "use std::time::Duration;");
    let sync = [
        "broadcast",
        "mpsc",
        "oneshot",
        "watch",
        "Barrier",
        "Mutex",
        "Notify",
        "OnceCell",
        "RwLock",
        "Semaphore",
        "SemaphorePermit",
        "SetOnce",
    ];
    let is_used = |name: &&&str| {
        (body.contains(&format!("{name}::")) || (**name == "SemaphorePermit" && body.contains("SemaphorePermit<")))
            && (**name != "Mutex" || program.objects.contains(&Object::Mutex))
    };
    let used: Vec<&str> = sync.iter().filter(is_used).copied().collect();
    if !used.is_empty() {
        lines.push(imported("tokio::sync", &used));
    }
    let tasks: Vec<&str> = ["JoinHandle", "JoinSet"].into_iter().filter(|name| body.contains(name)).collect();
    if !tasks.is_empty() {
        lines.push(imported("tokio::task", &tasks));
    }
    let calls_time = body.contains("= time::") || body.contains("(time::") || body.contains(" time::");
    lines.extend(match (calls_time, body.contains("Instant::")) {
        (true, true) => Some("use tokio::time::{self, Instant};".to_owned()),
        (true, false) => Some("use tokio::time;".to_owned()),
        (false, true) => Some("use tokio::time::Instant;".to_owned()),
        (false, false) => None,
    });
    if body.contains("TICK") {
        lines.push("\nconst TICK: Duration = Duration::from_millis(20);".to_owned());
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Prints the import of names from a module.
fn imported(module: &str, names: &[&str]) -> String {
    match names {
        [name] => format!("use {module}::{name};"),
        _ => format!("use {module}::{{{}}};", names.join(", ")),
    }
}

/// Returns the objects whose guards a task keeps, with the way they are used in it.
pub(super) fn guarded_objects(program: &Program, task: TaskId) -> Vec<ObjectId> {
    (0..program.objects.len())
        .filter(|&object| {
            names(program, task, |node| match node {
                Node::Op(op) => super::places::guarded(op) == Some(object),
                Node::Leaf(Leaf::Reserve(other) | Leaf::Acquire(other, _) | Leaf::Lock(other)) => *other == object,
                Node::Leaf(Leaf::Read(other) | Leaf::Write(other)) => *other == object,
                Node::Leaf(_) => false,
            })
        })
        .collect()
}

/// Tells if a task has both read and write guards of a lock, so that they are kept as trait objects.
pub(super) fn has_both_guards(program: &Program, task: TaskId, object: ObjectId) -> bool {
    let reads = |node: Node<'_>| match node {
        Node::Op(Op::TryRead(other)) | Node::Leaf(Leaf::Read(other)) => *other == object,
        _ => false,
    };
    let writes = |node: Node<'_>| match node {
        Node::Op(Op::TryWrite(other)) | Node::Leaf(Leaf::Write(other)) => *other == object,
        _ => false,
    };
    names(program, task, reads) && names(program, task, writes)
}

/// Returns the channel handles of a task in the order in which it drops them.
pub(super) fn channel_handles(program: &Program, task: TaskId) -> Vec<Name> {
    let mut handles = Vec::new();
    for object in 0..program.objects.len() {
        if program.holds(task, Side::Receiver(object)) {
            handles.push(Name::Receiver(object));
        }
        if program.holds(task, Side::Sender(object)) {
            handles.push(Name::Sender(object));
        }
    }
    handles
}

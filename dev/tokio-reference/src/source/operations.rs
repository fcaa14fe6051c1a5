//! Operations that do not wait, as statements.

use super::objects::{channel_handles, guarded_objects, has_both_guards};
use super::places::{Place, spawns};
use super::{Printer, leaves};
use crate::handles::{Node, Side};
use crate::program::{Leaf, Object, ObjectId, Op, Value};
use crate::sharing::Name;

impl Printer<'_> {
    /// Prints the variables that a task begins with, so that they are dropped in the right order: the last one first.
    pub(super) fn declarations(&self, statements: &str) -> String {
        let mut lines = String::new();
        for child in 0..self.program.tasks.len() {
            if mentions(statements, &format!("join_{child} = Some"))
                || mentions(statements, &format!("join_{child}.as_mut"))
            {
                lines.push_str(&format!("let mut join_{child}: Option<JoinHandle<()>> = None;\n"));
            }
        }
        if self.uses(|op| matches!(op, Op::SpawnIn(_) | Op::TryJoinNext | Op::AbortAll | Op::DropSet))
            || self.uses_join_next()
        {
            let set = "JoinSet::<u32>::new()";
            let is_option = self.places.place(Name::Set) == Place::Option;
            lines.push_str(&match is_option {
                true => format!("let mut set = Some({set});\n"),
                false => format!("let mut set = {set};\n"),
            });
        }
        for &name in channel_handles(self.program, self.task).iter().rev() {
            lines.push_str(&self.own(name, statements));
        }
        for object in guarded_objects(self.program, self.task) {
            lines.push_str(&self.guard_queue(object, statements));
        }
        for object in 0..self.program.objects.len() {
            if self.places.place(Name::Armed(object)) == Place::Option
                && statements.contains(&format!("armed_{object}"))
            {
                let kind = "Option<Pin<Box<tokio::sync::futures::OwnedNotified>>>";
                lines.push_str(&format!("let mut armed_{object}: {kind} = None;\n"));
            }
        }
        lines
    }

    fn uses(&self, condition: impl Fn(&Op) -> bool) -> bool {
        let mut found = false;
        for op in &self.program.tasks[self.task] {
            op.visit(&mut |node| found |= matches!(node, Node::Op(op) if condition(op)));
        }
        found
    }

    fn uses_join_next(&self) -> bool {
        let mut found = false;
        for op in &self.program.tasks[self.task] {
            op.visit(&mut |node| found |= matches!(node, Node::Leaf(Leaf::JoinNext)));
        }
        found
    }

    /// Prints how a task makes a handle its own; the last one is dropped first.
    fn own(&self, name: Name, statements: &str) -> String {
        let value = if self.places.place(name) == Place::Option { format!("Some({name})") } else { name.to_string() };
        if !mentions(statements, &name.to_string()) {
            return format!("let _{name} = {name};\n");
        }
        let is_changed = [".recv", ".try_recv(", ".close(", ".changed(", ".as_mut()", ".take()", " = None"]
            .iter()
            .any(|call| statements.contains(&format!("{name}{call}")))
            || statements.contains(&format!("&mut {name}"));
        let (Name::Sender(object) | Name::Receiver(object)) = name else { unreachable!("only channels") };
        let is_oneshot = self.program.objects[object] == Object::Oneshot;
        if is_changed || (is_oneshot && statements.contains(&format!("{name}.closed("))) {
            return format!("let mut {name} = {value};\n");
        }
        let is_alone = channel_handles(self.program, self.task).len() == 1 && value == name.to_string();
        if is_alone { String::new() } else { format!("let {name} = {value};\n") }
    }

    fn guard_queue(&self, object: ObjectId, statements: &str) -> String {
        let name = Name::Guards(object);
        if !mentions(statements, &name.to_string()) {
            return String::new();
        }
        let is_mpsc = matches!(self.program.objects[object], Object::Mpsc { .. });
        let forgets = self.uses(|op| *op == Op::ForgetGuard(object));
        let queue = match has_both_guards(self.program, self.task, object) {
            true => "VecDeque::<Box<dyn Any + Send>>::new()",
            false if is_mpsc => "VecDeque::<mpsc::OwnedPermit<u32>>::new()",
            false if forgets => "VecDeque::<SemaphorePermit<'_>>::new()",
            false => "VecDeque::new()",
        };
        match self.places.shared_guards.contains(&object) {
            true => format!("let {name} = StdMutex::new({queue});\n"),
            false => format!("let mut {name} = {queue};\n"),
        }
    }

    /// Tells if the task can hold a guard of the object.
    fn acquires(&self, object: ObjectId) -> bool {
        let mut found = false;
        for op in &self.program.tasks[self.task] {
            op.visit(&mut |node| {
                found |= match node {
                    Node::Op(Op::TryAcquire(other, _) | Op::TryLock(other)) => *other == object,
                    Node::Op(Op::TryRead(other) | Op::TryWrite(other)) => *other == object,
                    Node::Leaf(
                        Leaf::Reserve(_) | Leaf::Acquire(..) | Leaf::Lock(_) | Leaf::Read(_) | Leaf::Write(_),
                    ) => {
                        matches!(node, Node::Leaf(leaf) if leaf.object() == Some(object))
                    }
                    _ => false,
                }
            });
        }
        found
    }

    /// Prints an operation; `own` if it is a statement of the task itself rather than of a branch.
    pub(super) fn operation(&mut self, op: &Op, number: Value, own: bool) -> String {
        if self.lacks(Node::Op(op)) {
            return format!("/* {}: its handle is gone */\n", self.describe(op));
        }
        if let Op::Release(object) | Op::ForgetGuard(object) | Op::SendPermit(object) = *op
            && !self.acquires(object)
        {
            return format!("/* {}: nothing is held */\n", self.describe(op));
        }
        match *op {
            Op::DropReceiver(object) => self.drop_handle(Name::Receiver(object)),
            Op::DropSender(object) => self.drop_handle(Name::Sender(object)),
            Op::DropSet => self.drop_handle(Name::Set),
            Op::Spawn(task) | Op::SpawnIn(task) => self.spawn(op, task, own),
            Op::Abort(task) | Op::IsFinished(task) => self.supervise(op, Name::Join(task)),
            Op::TryJoinNext | Op::AbortAll => self.supervise(op, Name::Set),
            Op::Now => self.print_value("now", "start.elapsed()"),
            Op::Panic => "panic!();\n".to_owned(),
            Op::WeakSend(object) => self.weak_send(object, number),
            Op::Arm { object, enable } => self.arm(object, enable),
            _ if op.side().is_some() && !matches!(op, Op::SendPermit(_)) => self.on_channel(op, number),
            _ => self.on_shared(op, number),
        }
    }

    fn describe(&self, op: &Op) -> String {
        format!("{op:?}").to_lowercase()
    }

    fn drop_handle(&self, name: Name) -> String {
        match self.place(name) {
            Place::Option => format!("drop({name}.take());\n"),
            _ => format!("drop({name});\n"),
        }
    }

    fn spawn(&self, op: &Op, task: usize, own: bool) -> String {
        if task >= self.program.tasks.len() || task == self.task {
            return format!("/* {}: a task cannot spawn itself */\n", self.describe(op));
        }
        let in_set = matches!(op, Op::SpawnIn(_));
        if !own || spawns(self.program, task) > 1 {
            let spawned = match (in_set, self.place(Name::Set)) {
                (true, Place::Option) => "if let Some(set) = &mut set { set.spawn(task); }".to_owned(),
                (true, _) => "set.spawn(task);".to_owned(),
                (false, _) if super::objects::is_in_set(self.program, task) => {
                    format!("join_{task} = Some(tokio::spawn(async {{ task.await; }}));")
                }
                (false, _) => format!("join_{task} = Some(tokio::spawn(task));"),
            };
            return format!(
                "let task = task_{task}.lock().unwrap().take();\nif let Some(task) = task {{\n    {spawned}\n}}\n"
            );
        }
        match (in_set, self.place(Name::Set)) {
            (true, Place::Option) => format!("if let Some(set) = &mut set {{\n    set.spawn(task_{task});\n}}\n"),
            (true, _) => format!("set.spawn(task_{task});\n"),
            (false, _) if self.places.place(Name::Join(task)) == Place::Option => {
                format!("join_{task} = Some(tokio::spawn(task_{task}));\n")
            }
            (false, _) => format!("let mut join_{task} = tokio::spawn(task_{task});\n"),
        }
    }

    fn supervise(&self, op: &Op, name: Name) -> String {
        let call = match op {
            Op::Abort(_) => "abort()",
            Op::IsFinished(_) => "is_finished()",
            Op::TryJoinNext => "try_join_next()",
            _ => "abort_all()",
        };
        let is_silent = matches!(op, Op::Abort(_) | Op::AbortAll);
        let value = match self.place(name) {
            Place::Option => format!("{name}.as_mut().map(|handle| handle.{call})"),
            _ => format!("{name}.{call}"),
        };
        match (is_silent, self.place(name)) {
            (true, Place::Option) => format!("let _ = {value};\n"),
            (true, _) => format!("{value};\n"),
            _ => self.print_value(call.trim_end_matches("()"), &value),
        }
    }

    fn weak_send(&self, object: ObjectId, number: Value) -> String {
        let send = if leaves::is_bounded(&self.program.objects[object]) { "try_send" } else { "send" };
        self.print_value("weak send", &format!("weak_{object}.upgrade().map(|tx| tx.{send}({number}))"))
    }

    fn arm(&self, object: ObjectId, enable: bool) -> String {
        let create = format!("Box::pin(Arc::clone(&notify_{object}).notified_owned())");
        let name = Name::Armed(object);
        let is_option = self.places.place(name) == Place::Option;
        let mut text = match is_option {
            true => format!("drop(armed_{object}.take());\narmed_{object} = Some({create});\n"),
            false => format!("let mut armed_{object} = {create};\n"),
        };
        if enable {
            let armed = if is_option { format!("armed_{object}.as_mut().unwrap()") } else { format!("armed_{object}") };
            text.push_str(&self.print_value("enable", &format!("{armed}.as_mut().enable()")));
        }
        text
    }

    /// Prints an operation on a handle of a channel.
    fn on_channel(&self, op: &Op, number: Value) -> String {
        let (name, short) = match op.side() {
            Some(Side::Sender(object)) => (Name::Sender(object), "tx"),
            Some(Side::Receiver(object)) => (Name::Receiver(object), "rx"),
            _ => unreachable!("weak senders are printed elsewhere"),
        };
        let is_option = self.place(name) == Place::Option;
        let handle = if is_option { short.to_owned() } else { name.to_string() };
        let (text, call) = self.call(op, &handle, number);
        if let Op::Reply(_) = op {
            let value = if is_option { format!("{name}.take().map(|{short}| {call})") } else { call };
            return self.print_value(text, &value);
        }
        if let (Op::TryRecv(object), true) = (op, is_option)
            && self.program.objects[*object] == Object::Oneshot
        {
            let print = self.print_value(text, "value");
            return format!(
                "let value = {name}.as_mut().map(|{short}| {call});\n\
                 if value != Some(Err(oneshot::error::TryRecvError::Empty)) {{\n    {name} = None;\n}}\n{print}"
            );
        }
        let access = if matches!(name, Name::Receiver(_)) { "as_mut" } else { "as_ref" };
        let value = if is_option { format!("{name}.{access}().map(|{short}| {call})") } else { call };
        match op {
            Op::Close(_) if is_option => format!("let _ = {value};\n"),
            Op::Close(_) => format!("{value};\n"),
            _ => self.print_value(text, &value),
        }
    }

    fn call(&self, op: &Op, handle: &str, number: Value) -> (&'static str, String) {
        let call = |text, call: &str| (text, format!("{handle}.{call}"));
        match op {
            Op::SendNow(_) => call("send", &format!("send({number})")),
            Op::Reply(_) => call("reply", &format!("send({number})")),
            Op::Broadcast(_) => call("broadcast", &format!("send({number})")),
            Op::TrySend(_) => call("try_send", &format!("try_send({number})")),
            Op::TryRecv(_) => call("try_recv", "try_recv()"),
            Op::TryHear(_) => call("try_recv", "try_recv()"),
            Op::Close(_) => call("close", "close()"),
            Op::Capacity(_) => call("capacity", "capacity()"),
            Op::IsClosed(_) => call("is_closed", "is_closed()"),
            Op::Len(_) => call("len", "len()"),
            Op::Publish(_) => call("send_replace", &format!("send_replace({number})")),
            Op::HasChanged(_) => call("has_changed", "has_changed()"),
            Op::Borrow(_) => ("borrow", format!("*{handle}.borrow()")),
            _ => unreachable!("printed elsewhere"),
        }
    }

    /// Prints an operation on an object that is shared by reference, or on a guard.
    fn on_shared(&self, op: &Op, number: Value) -> String {
        match *op {
            Op::NotifyOne(object) => format!("notify_{object}.notify_one();\n"),
            Op::NotifyWaiters(object) => format!("notify_{object}.notify_waiters();\n"),
            Op::AddPermits(object, permits) => format!("semaphore_{object}.add_permits({permits});\n"),
            Op::CloseSemaphore(object) => format!("semaphore_{object}.close();\n"),
            Op::Available(object) => self.print_value("available", &format!("semaphore_{object}.available_permits()")),
            Op::ForgetPermits(object, permits) => {
                self.print_value("forgotten", &format!("semaphore_{object}.forget_permits({permits})"))
            }
            Op::Get(object) => self.print_value("get", &format!("cell_{object}.get()")),
            Op::Set(object) => self.print_value("set", &format!("cell_{object}.set({number})")),
            Op::Release(object) => format!("drop({}.pop_front());\n", self.guards(object)),
            Op::ForgetGuard(object) => {
                let guards = self.guards(object);
                format!("if let Some(permit) = {guards}.pop_front() {{\n    permit.forget();\n}}\n")
            }
            Op::SendPermit(object) => format!(
                "let permit = {}.pop_front();\n{}",
                self.guards(object),
                self.print_value("send", &format!("permit.map(|permit| drop(permit.send({number})))"))
            ),
            _ => self.try_guard(op, number),
        }
    }

    fn try_guard(&self, op: &Op, number: Value) -> String {
        let (call, text, object, push) = match *op {
            Op::TryAcquire(object, permits) => {
                let call = format!("semaphore_{object}.try_acquire_many({permits})");
                (call, "try_acquire", object, None)
            }
            Op::TryLock(object) => (format!("mutex_{object}.try_lock()"), "try_lock", object, Some(number)),
            Op::TryRead(object) => {
                (format!("{}.try_read{}()", self.lock(object), self.owned(object)), "try_read", object, None)
            }
            Op::TryWrite(object) => {
                (format!("{}.try_write{}()", self.lock(object), self.owned(object)), "try_write", object, Some(number))
            }
            _ => unreachable!("printed elsewhere"),
        };
        let keep = match op {
            Op::TryAcquire(..) => format!("{}{}.push_back(value);\n", self.print(text), self.guards(object)),
            _ => self.keeps_guard(object, push, text),
        };
        let (keep, failed) = (super::indented(&keep, 2), super::indented(&self.print(&format!("{text} failed")), 2));
        format!("match {call} {{\n    Ok(value) => {{\n{keep}    }}\n    Err(_) => {{\n{failed}    }}\n}}\n")
    }
}

/// Tells if a text contains a name as a word.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(place, _)| {
        let after = text[place + name.len()..].chars().next();
        !after.is_some_and(|next| next.is_alphanumeric() || next == '_')
    })
}

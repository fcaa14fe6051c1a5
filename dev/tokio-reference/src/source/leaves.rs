//! Leaves as futures, and what is done with their results.

use super::places::Place;
use super::{Printer, indented};
use crate::handles::Node;
use crate::program::{Leaf, Object, ObjectId, Value};
use crate::sharing::Name;

/// Prints a duration.
pub(super) fn ticks(ticks: u64) -> String {
    if ticks == 1 { "TICK".to_owned() } else { format!("{ticks} * TICK") }
}

/// The text of a leaf.
enum Form {
    /// A call that returns a future.
    Future(String),
    /// The statements and the value of an `async` block.
    Block(String, String),
}

impl Printer<'_> {
    /// Prints a statement that awaits a leaf.
    pub(super) fn awaited(&mut self, leaf: &Leaf, number: Value) -> String {
        match leaf {
            Leaf::Now(op) => return self.operation(op, number + 1, true),
            Leaf::Then(op, leaf) => {
                let first = self.operation(op, number + 1, true);
                return first + &self.awaited(leaf, number + 1 + op.nodes());
            }
            _ => {}
        }
        if self.lacks(Node::Leaf(leaf)) {
            return format!("// {}: its handle is gone\n", label(leaf));
        }
        let future = self.future(leaf, number);
        let handler = self.handler(leaf, number, "");
        if !handler.contains("value") {
            return format!("{future}.await;\n{handler}");
        }
        if handler == self.print_value(label(leaf), "value") && !future.contains('\n') {
            return self.print_value(label(leaf), &format!("{future}.await"));
        }
        if let Some(handler) = handler.strip_prefix("let mut value = value;\n") {
            return format!("let mut value = {future}.await;\n{handler}");
        }
        format!("let value = {future}.await;\n{handler}")
    }

    /// Prints a leaf as a future.
    pub(super) fn future(&mut self, leaf: &Leaf, number: Value) -> String {
        match leaf {
            Leaf::Within(limit, leaf) => {
                return format!("time::timeout({}, {})", ticks(*limit), self.future(leaf, number + 1));
            }
            Leaf::Now(op) => {
                let refused = self.next_is_refused();
                return block(&if refused { refusal() } else { self.operation(op, number + 1, false) });
            }
            Leaf::Then(op, leaf) => {
                let refused = self.next_is_refused();
                let first = if refused { refusal() } else { self.operation(op, number + 1, false) };
                let future = self.future(leaf, number + 1 + op.nodes());
                return block(&format!("{first}{future}.await\n"));
            }
            _ => {}
        }
        if self.next_is_refused() || self.lacks(Node::Leaf(leaf)) {
            return "async { /* its handle is not there */ }".to_owned();
        }
        match self.needs(Node::Leaf(leaf)) {
            Some((name, is_exclusive)) if self.place(name) == Place::Option => {
                let access = if is_exclusive { "as_mut" } else { "as_ref" };
                match self.form(leaf, &format!("{name}.{access}()?"), number) {
                    Form::Future(future) => format!("async {{ Some({future}.await) }}"),
                    Form::Block(..) => {
                        let short = if is_exclusive { "rx" } else { "tx" };
                        let Form::Block(first, value) = self.form(leaf, short, number) else { unreachable!() };
                        block(&format!("let {short} = {name}.{access}()?;\n{first}Some({value})\n"))
                    }
                }
            }
            handle => match self.form(leaf, &handle.map_or(String::new(), |(name, _)| name.to_string()), number) {
                Form::Future(future) => future,
                Form::Block(first, value) => block(&format!("{first}{value}\n")),
            },
        }
    }

    /// Prints what a leaf does, with its handle.
    fn form(&self, leaf: &Leaf, handle: &str, number: Value) -> Form {
        match leaf {
            Leaf::RecvMany(_, limit) => {
                let first = format!("let mut values = Vec::new();\n{handle}.recv_many(&mut values, {limit}).await;\n");
                Form::Block(first, "values".to_owned())
            }
            Leaf::ReserveSend(_) => {
                Form::Block(String::new(), format!("{handle}.reserve().await.map(|permit| permit.send({number}))"))
            }
            Leaf::Changed(_) => {
                let value = format!("{handle}.changed().await.map(|()| *{handle}.borrow_and_update())");
                Form::Block(String::new(), value)
            }
            _ => Form::Future(self.future_of(leaf, handle, number)),
        }
    }

    fn future_of(&self, leaf: &Leaf, handle: &str, number: Value) -> String {
        let by_reference = |name: &str| if name.ends_with('?') { name.to_owned() } else { format!("(&mut {name})") };
        match leaf {
            Leaf::Recv(_) | Leaf::Heard(_) => format!("{handle}.recv()"),
            Leaf::Send(_) => format!("{handle}.send({number})"),
            Leaf::Reserve(_) => format!("{handle}.clone().reserve_owned()"),
            Leaf::SendTimeout(_, limit) => format!("{handle}.send_timeout({number}, {})", ticks(*limit)),
            Leaf::Closed(_) => format!("{handle}.closed()"),
            Leaf::Notified(object) => format!("notify_{object}.notified()"),
            Leaf::Answer(_) | Leaf::Armed(_) | Leaf::Join(_) => by_reference(handle),
            Leaf::Acquire(object, permits) => format!("semaphore_{object}.acquire_many({permits})"),
            Leaf::Lock(object) => format!("mutex_{object}.lock()"),
            Leaf::Read(object) => format!("{}.read{}()", self.lock(*object), self.owned(*object)),
            Leaf::Write(object) => format!("{}.write{}()", self.lock(*object), self.owned(*object)),
            Leaf::GetOrInit(object) => {
                format!("cell_{object}.get_or_init(|| async {{ tokio::task::yield_now().await; {number} }})")
            }
            Leaf::WaitSet(object) => format!("cell_{object}.wait()"),
            Leaf::BarrierWait(object) => format!("barrier_{object}.wait()"),
            Leaf::JoinNext => format!("{handle}.join_next()"),
            Leaf::Sleep(limit) => format!("time::sleep({})", ticks(*limit)),
            Leaf::Tick(_) => format!("{handle}.tick()"),
            Leaf::Yield => "tokio::task::yield_now()".to_owned(),
            _ => unreachable!("printed by `future` or `form`"),
        }
    }

    /// Prints the lock, which owned guards clone.
    pub(super) fn lock(&self, object: ObjectId) -> String {
        if self.owned(object).is_empty() { format!("lock_{object}") } else { format!("Arc::clone(&lock_{object})") }
    }

    /// Returns the ending of the methods of a lock.
    pub(super) fn owned(&self, object: ObjectId) -> &'static str {
        if super::objects::has_both_guards(self.program, self.task, object) { "_owned" } else { "" }
    }

    /// Prints what is done with the result of a leaf, which is called `value`.
    pub(super) fn handler(&self, leaf: &Leaf, number: Value, prefix: &str) -> String {
        let text = format!("{prefix}{}", label(leaf));
        match leaf {
            Leaf::Within(_, leaf) => {
                let inner = self.handler(leaf, number + 1, prefix);
                let binding = if inner.contains("value") { "value" } else { "_" };
                let elapsed = self.print(&format!("{prefix}elapsed"));
                let (inner, elapsed) = (indented(&inner, 2), indented(&elapsed, 2));
                format!(
                    "match value {{\n    Ok({binding}) => {{\n{inner}    }}\n    Err(_) => {{\n{elapsed}    }}\n}}\n"
                )
            }
            Leaf::Now(_) => self.print(&format!("{prefix}done")),
            Leaf::Then(op, leaf) => self.handler(leaf, number + 1 + op.nodes(), prefix),
            _ if self.lacks(Node::Leaf(leaf)) => self.print(&format!("{text}: no handle")),
            Leaf::Reserve(object) | Leaf::Acquire(object, _) => self.keeps_permit(*object, leaf, &text),
            Leaf::Lock(object) | Leaf::Write(object) => self.keeps_guard(*object, Some(number), &text),
            Leaf::Read(object) => self.keeps_guard(*object, None, &text),
            Leaf::BarrierWait(_) => self.print_value(&format!("{text} is leader:"), "value.is_leader()"),
            Leaf::Sleep(_) | Leaf::Tick(_) | Leaf::Yield | Leaf::Notified(_) => self.print(&text),
            Leaf::Closed(_) => self.print(&text),
            Leaf::Answer(_) | Leaf::Armed(_) | Leaf::Join(_) => self.uses_up(leaf, &text),
            _ => self.print_value(&text, "value"),
        }
    }

    fn uses_up(&self, leaf: &Leaf, text: &str) -> String {
        let (name, _) = self.needs(Node::Leaf(leaf)).expect("the leaf has a handle");
        let print = match leaf {
            Leaf::Armed(_) => self.print(text),
            _ => self.print_value(text, "value"),
        };
        if self.place(name) == Place::Option { format!("{print}{name} = None;\n") } else { print }
    }

    fn keeps_permit(&self, object: ObjectId, leaf: &Leaf, text: &str) -> String {
        let optional = self.needs(Node::Leaf(leaf)).is_some_and(|(name, _)| self.place(name) == Place::Option);
        let pattern = if optional { "Some(Ok(permit))" } else { "Ok(permit)" };
        let guards = self.guards(object);
        let done = indented(&format!("{}{guards}.push_back(permit);\n", self.print(text)), 2);
        let failed = indented(&self.print(&format!("{text} failed")), 2);
        format!("match value {{\n    {pattern} => {{\n{done}    }}\n    _ => {{\n{failed}    }}\n}}\n")
    }

    /// Prints how a guard is kept that was just acquired.
    pub(super) fn keeps_guard(&self, object: ObjectId, push: Option<Value>, text: &str) -> String {
        let guards = self.guards(object);
        let push = push.map_or(String::new(), |push| format!("let mut value = value;\nvalue.push({push});\n"));
        let boxed = if self.owned(object).is_empty() { "value" } else { "Box::new(value)" };
        format!("{push}{}{guards}.push_back({boxed});\n", self.print_value(text, "*value"))
    }

    /// Prints the queue of the guards of an object.
    pub(super) fn guards(&self, object: ObjectId) -> String {
        let name = Name::Guards(object);
        if self.places.shared_guards.contains(&object) { format!("{name}.lock().unwrap()") } else { name.to_string() }
    }
}

fn refusal() -> String {
    "/* its handle is used by another branch */\n".to_owned()
}

/// Prints an `async` block, on one line if it is short.
fn block(body: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    match lines[..] {
        [line] if line.len() < 90 => format!("async {{ {line} }}"),
        _ => format!("async {{\n{}}}", indented(body, 1)),
    }
}

/// Names a leaf in the output.
pub(super) fn label(leaf: &Leaf) -> &'static str {
    match leaf {
        Leaf::Recv(_) => "recv",
        Leaf::RecvMany(..) => "recv_many",
        Leaf::Send(_) | Leaf::ReserveSend(_) => "send",
        Leaf::Reserve(_) => "reserve",
        Leaf::SendTimeout(..) => "send_timeout",
        Leaf::Closed(_) => "closed",
        Leaf::Answer(_) => "answer",
        Leaf::Heard(_) => "heard",
        Leaf::Changed(_) => "changed",
        Leaf::Notified(_) | Leaf::Armed(_) => "notified",
        Leaf::Acquire(..) => "acquire",
        Leaf::Lock(_) => "lock",
        Leaf::Read(_) => "read",
        Leaf::Write(_) => "write",
        Leaf::GetOrInit(_) => "get_or_init",
        Leaf::WaitSet(_) => "wait",
        Leaf::BarrierWait(_) => "barrier",
        Leaf::Join(_) => "join",
        Leaf::JoinNext => "join_next",
        Leaf::Sleep(_) => "slept",
        Leaf::Tick(_) => "tick",
        Leaf::Yield => "yielded",
        Leaf::Now(_) => "now",
        Leaf::Then(..) => "then",
        Leaf::Within(..) => "within",
    }
}

/// Tells if the sender of a channel is unbounded.
pub(super) fn is_bounded(object: &Object) -> bool {
    matches!(object, Object::Mpsc { capacity: Some(_) })
}

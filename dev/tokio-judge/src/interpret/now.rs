//! The operations that do not wait.

use super::hands::{Ends, Guard, Receiver, Sender, Weak};
use super::objects::Made;
use super::tasks::{Me, run};
use super::tokio;
use super::tokio::sync::broadcast::error::TryRecvError as TryHearError;
use super::tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use super::tokio::sync::oneshot::error::TryRecvError as TryAnswerError;
use super::tokio::sync::{SetError, TryAcquireError};
use super::tokio::task::JoinError;
use tokio_reference::{ObjectId, Op, TaskId, Value};

/// Joins the values of a list, for the log.
pub fn content(values: &[Value]) -> String {
    if values.is_empty() {
        return "empty".into();
    }
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}

/// Gives the text, or `closed` after an error.
pub fn closed_or<T, E>(text: &str, result: Result<T, E>) -> String {
    if result.is_ok() { text } else { "closed" }.into()
}

/// Gives the text of a joined task, or how it failed.
pub fn joined(result: Result<String, JoinError>) -> String {
    result.unwrap_or_else(|error| if error.is_panic() { "panicked" } else { "cancelled" }.into())
}

/// The result of an operation: the text that it logs, if it logs any.
type Text = Option<String>;

fn text(text: impl Into<String>) -> Text {
    Some(text.into())
}

fn dash() -> Text {
    text("-")
}

/// Executes an operation that does not wait.
pub fn now(me: Me<'_>, op: &Op, node: u32) -> Text {
    let value = me.value(node);
    match op {
        Op::SendNow(o) | Op::TrySend(o) => send_now(&me.hands.ends[*o], value),
        Op::WeakSend(o) => weak_send(&me.hands.ends[*o], value),
        Op::SendPermit(o) => send_permit(me, *o, value),
        Op::TryRecv(o) => try_recv(&me.hands.ends[*o]),
        Op::Close(o) => close(&me.hands.ends[*o]),
        Op::DropReceiver(o) => dropped(me.hands.ends[*o].receiver.take()),
        Op::DropSender(o) => drop_sender(&me.hands.ends[*o]),
        Op::Capacity(o) => capacity(&me.hands.ends[*o]),
        Op::IsClosed(o) => is_closed(&me.hands.ends[*o]),
        Op::Len(o) => len(&me.hands.ends[*o]),
        Op::Reply(o) => reply(&me.hands.ends[*o], value),
        Op::Broadcast(o) => broadcast(&me.hands.ends[*o], value),
        Op::TryHear(o) => try_hear(&me.hands.ends[*o]),
        Op::Publish(o) => publish(&me.hands.ends[*o], value),
        Op::HasChanged(o) | Op::Borrow(o) => look(&me.hands.ends[*o], op),
        Op::NotifyOne(_) | Op::NotifyWaiters(_) | Op::Arm { .. } => notify(me, op),
        Op::TryAcquire(o, _)
        | Op::AddPermits(o, _)
        | Op::ForgetPermits(o, _)
        | Op::Available(o)
        | Op::CloseSemaphore(o) => semaphore(me, *o, op),
        Op::TryLock(o) | Op::TryRead(o) | Op::TryWrite(o) => try_lock(me, *o, op, value),
        Op::Release(o) => dropped(me.hands.oldest(*o, |_| true)),
        Op::ForgetGuard(o) => forget(me, *o),
        Op::Get(o) => get(me, *o),
        Op::Set(o) => set(me, *o, value),
        Op::Spawn(task) => spawn(me, *task),
        Op::SpawnIn(task) => spawn_in(me, *task),
        Op::Abort(task) => with_handle(me, *task, |handle| {
            handle.abort();
            None
        }),
        Op::IsFinished(task) => with_handle(me, *task, |handle| text(handle.is_finished().to_string())),
        Op::TryJoinNext => try_join_next(me),
        Op::AbortAll => abort_all(me),
        Op::DropSet => dropped(me.hands.set.take()),
        Op::Now => ticks(me),
        Op::Panic => std::panic::panic_any("a task panics as its program says"),
        Op::Await(_) | Op::Select { .. } | Op::JoinAll(_) => unreachable!("these wait"),
    }
}

fn dropped<T>(value: Option<T>) -> Text {
    if value.is_some() { None } else { dash() }
}

fn sent<T>(result: Result<(), TrySendError<T>>) -> Text {
    text(match result {
        Ok(()) => "sent",
        Err(TrySendError::Full(_)) => "full",
        Err(TrySendError::Closed(_)) => "closed",
    })
}

fn send_now(ends: &Ends, value: Value) -> Text {
    match ends.sender.share().as_deref() {
        Some(Sender::Unbounded(tx)) => text(closed_or("sent", tx.send(value))),
        Some(Sender::Bounded(tx)) => sent(tx.try_send(value)),
        _ => dash(),
    }
}

fn weak_send(ends: &Ends, value: Value) -> Text {
    match &ends.weak {
        Some(Weak::Unbounded(weak)) => match weak.upgrade() {
            Some(tx) => text(closed_or("sent", tx.send(value))),
            None => text("dead"),
        },
        Some(Weak::Bounded(weak)) => match weak.upgrade() {
            Some(tx) => sent(tx.try_send(value)),
            None => text("dead"),
        },
        None => dash(),
    }
}

fn send_permit(me: Me<'_>, object: ObjectId, value: Value) -> Text {
    let Some(Guard::Reserved(permit)) = me.hands.oldest(object, |guard| matches!(guard, Guard::Reserved(_))) else {
        return dash();
    };
    drop(permit.send(value));
    text("sent")
}

fn try_recv(ends: &Ends) -> Text {
    let Some(mut rx) = ends.receiver.borrow() else { return dash() };
    let got = match rx.get() {
        Receiver::Bounded(rx) => rx.try_recv(),
        Receiver::Unbounded(rx) => rx.try_recv(),
        Receiver::Oneshot(half) => {
            let got = half.try_recv();
            if !matches!(got, Err(TryAnswerError::Empty)) {
                drop(rx.consume());
            }
            got.map_err(|error| match error {
                TryAnswerError::Empty => TryRecvError::Empty,
                TryAnswerError::Closed => TryRecvError::Disconnected,
            })
        }
        _ => return dash(),
    };
    text(match got {
        Ok(value) => value.to_string(),
        Err(TryRecvError::Empty) => "empty".into(),
        Err(TryRecvError::Disconnected) => "disconnected".into(),
    })
}

fn close(ends: &Ends) -> Text {
    let Some(mut rx) = ends.receiver.borrow() else { return dash() };
    match rx.get() {
        Receiver::Bounded(rx) => rx.close(),
        Receiver::Unbounded(rx) => rx.close(),
        Receiver::Oneshot(half) => half.close(),
        _ => return dash(),
    }
    None
}

fn drop_sender(ends: &Ends) -> Text {
    match ends.reply.take() {
        Some(half) => dropped(Some(half)),
        None => dropped(ends.sender.take_unshared()),
    }
}

fn capacity(ends: &Ends) -> Text {
    match ends.sender.share().as_deref() {
        Some(Sender::Bounded(tx)) => text(tx.capacity().to_string()),
        _ => dash(),
    }
}

fn is_closed(ends: &Ends) -> Text {
    if let Some(mut half) = ends.reply.borrow() {
        return text(half.get().is_closed().to_string());
    }
    let is_closed = match ends.sender.share().as_deref() {
        Some(Sender::Bounded(tx)) => tx.is_closed(),
        Some(Sender::Unbounded(tx)) => tx.is_closed(),
        Some(Sender::Watch(tx)) => tx.is_closed(),
        _ => return dash(),
    };
    text(is_closed.to_string())
}

fn len(ends: &Ends) -> Text {
    let Some(mut rx) = ends.receiver.borrow() else { return dash() };
    let len = match rx.get() {
        Receiver::Bounded(rx) => rx.len(),
        Receiver::Unbounded(rx) => rx.len(),
        Receiver::Broadcast(rx) => rx.len(),
        _ => return dash(),
    };
    text(len.to_string())
}

fn reply(ends: &Ends, value: Value) -> Text {
    let Some(half) = ends.reply.take() else { return dash() };
    text(if half.send(value).is_ok() { "sent" } else { "gone" })
}

fn broadcast(ends: &Ends, value: Value) -> Text {
    match ends.sender.share().as_deref() {
        Some(Sender::Broadcast(tx)) => text(tx.send(value).map_or("nobody".into(), |count| count.to_string())),
        _ => dash(),
    }
}

fn try_hear(ends: &Ends) -> Text {
    let Some(mut rx) = ends.receiver.borrow() else { return dash() };
    let Receiver::Broadcast(rx) = rx.get() else { return dash() };
    text(match rx.try_recv() {
        Ok(value) => value.to_string(),
        Err(TryHearError::Empty) => "empty".into(),
        Err(TryHearError::Closed) => "closed".into(),
        Err(TryHearError::Lagged(count)) => format!("lagged {count}"),
    })
}

fn publish(ends: &Ends, value: Value) -> Text {
    match ends.sender.share().as_deref() {
        Some(Sender::Watch(tx)) => text(tx.send_replace(value).to_string()),
        _ => dash(),
    }
}

fn look(ends: &Ends, op: &Op) -> Text {
    let Some(mut rx) = ends.receiver.borrow() else { return dash() };
    let Receiver::Watch(rx) = rx.get() else { return dash() };
    if matches!(op, Op::Borrow(_)) {
        return text(rx.borrow().to_string());
    }
    text(rx.has_changed().map_or("closed".into(), |changed| changed.to_string()))
}

fn notify(me: Me<'_>, op: &Op) -> Text {
    let (Op::NotifyOne(o) | Op::NotifyWaiters(o) | Op::Arm { object: o, .. }) = op else { return dash() };
    let Made::Notify(notify) = &me.shared.objects[*o] else { return dash() };
    match op {
        Op::NotifyOne(_) => notify.notify_one(),
        Op::NotifyWaiters(_) => notify.notify_waiters(),
        Op::Arm { .. } if me.hands.armed(*o).is_borrowed() => return dash(),
        Op::Arm { enable, .. } => {
            drop(me.hands.armed(*o).take());
            let mut notified = Box::pin(notify.clone().notified_owned());
            let enabled = enable.then(|| notified.as_mut().enable());
            me.hands.armed(*o).put(notified);
            return enabled.map(|at_once| at_once.to_string());
        }
        _ => {}
    }
    None
}

fn semaphore(me: Me<'_>, object: ObjectId, op: &Op) -> Text {
    let Made::Semaphore(semaphore) = &me.shared.objects[object] else { return dash() };
    match op {
        Op::TryAcquire(_, count) => match semaphore.clone().try_acquire_many_owned(*count) {
            Ok(permits) => {
                me.hands.keep(object, Guard::Permits(permits));
                text("acquired")
            }
            Err(TryAcquireError::NoPermits) => text("none"),
            Err(TryAcquireError::Closed) => text("closed"),
        },
        Op::AddPermits(_, count) => {
            semaphore.add_permits(*count);
            None
        }
        Op::ForgetPermits(_, count) => text(semaphore.forget_permits(*count).to_string()),
        Op::Available(_) => text(semaphore.available_permits().to_string()),
        _ => {
            semaphore.close();
            None
        }
    }
}

fn try_lock(me: Me<'_>, object: ObjectId, op: &Op, value: Value) -> Text {
    let (guard, shown) = match (op, &me.shared.objects[object]) {
        (Op::TryLock(_), Made::Mutex(mutex)) => {
            let Ok(mut guard) = mutex.clone().try_lock_owned() else { return text("busy") };
            guard.push(value);
            let shown = content(&guard);
            (Guard::Mutex(guard), shown)
        }
        (Op::TryRead(_), Made::RwLock(lock)) => {
            let Ok(guard) = lock.clone().try_read_owned() else { return text("busy") };
            let shown = content(&guard);
            (Guard::Read(guard), shown)
        }
        (Op::TryWrite(_), Made::RwLock(lock)) => {
            let Ok(mut guard) = lock.clone().try_write_owned() else { return text("busy") };
            guard.push(value);
            let shown = content(&guard);
            (Guard::Write(guard), shown)
        }
        _ => return dash(),
    };
    me.hands.keep(object, guard);
    text(shown)
}

fn forget(me: Me<'_>, object: ObjectId) -> Text {
    match me.hands.oldest(object, |guard| matches!(guard, Guard::Permits(_))) {
        Some(Guard::Permits(permits)) => {
            permits.forget();
            None
        }
        _ => dash(),
    }
}

fn get(me: Me<'_>, object: ObjectId) -> Text {
    let value = match &me.shared.objects[object] {
        Made::OnceCell(cell) => cell.get().copied(),
        Made::SetOnce(cell) => cell.get().copied(),
        _ => return dash(),
    };
    text(value.map_or("unset".into(), |value| value.to_string()))
}

fn set(me: Me<'_>, object: ObjectId, value: Value) -> Text {
    text(match &me.shared.objects[object] {
        Made::OnceCell(cell) => match cell.set(value) {
            Ok(()) => "set",
            Err(SetError::AlreadyInitializedError(_)) => "already",
            Err(SetError::InitializingError(_)) => "initializing",
        },
        Made::SetOnce(cell) => {
            if cell.set(value).is_ok() {
                "set"
            } else {
                "already"
            }
        }
        _ => "-",
    })
}

fn spawn(me: Me<'_>, task: TaskId) -> Text {
    let Some(life) = me.shared.life(task) else { return dash() };
    me.hands.handles[task].put(tokio::spawn(run(life)));
    None
}

fn spawn_in(me: Me<'_>, task: TaskId) -> Text {
    let Some(mut set) = me.hands.set.borrow() else { return dash() };
    let Some(life) = me.shared.life(task) else { return dash() };
    set.get().spawn(run(life));
    None
}

fn with_handle(me: Me<'_>, task: TaskId, act: impl FnOnce(&tokio::task::JoinHandle<TaskId>) -> Text) -> Text {
    let Some(mut handle) = me.hands.handles[task].borrow() else { return dash() };
    act(handle.get())
}

fn try_join_next(me: Me<'_>) -> Text {
    let Some(mut set) = me.hands.set.borrow() else { return dash() };
    let result = set.get().try_join_next();
    text(result.map_or("none".into(), |result| joined(result.map(|task| format!("ok {task}")))))
}

fn abort_all(me: Me<'_>) -> Text {
    let Some(mut set) = me.hands.set.borrow() else { return dash() };
    set.get().abort_all();
    None
}

fn ticks(me: Me<'_>) -> Text {
    let began = me.shared.began?;
    let tick = me.shared.hooks.tick().as_millis().max(1);
    text(((tokio::time::Instant::now() - began).as_millis() / tick).to_string())
}

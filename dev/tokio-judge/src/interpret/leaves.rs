//! The futures that tasks await.

use super::hands::{Guard, Loan, Receiver, Sender, Slot};
use super::now::{closed_or, content, joined, now};
use super::objects::Made;
use super::tasks::Me;
use super::tokio::sync::broadcast::error::RecvError;
use super::tokio::sync::mpsc::error::SendTimeoutError;
use super::tokio::task::yield_now;
use super::tokio::time::{interval, sleep, timeout};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_reference::{Leaf, ObjectId, Op, Value};

/// A leaf as a future: it gives the text that is logged.
pub type Waits<'a> = Pin<Box<dyn Future<Output = String> + Send + 'a>>;

/// A leaf whose handle the task does not have.
fn nothing<'a>() -> Waits<'a> {
    Box::pin(ready("-".to_string()))
}

/// Creates a leaf. Before its first poll it does only what the real future does when it is made.
pub fn leaf<'a>(me: Me<'a>, what: &'a Leaf, node: u32) -> Waits<'a> {
    let waits = create(me, what, node).unwrap_or_else(nothing);
    if me.shared.hooks.pauses() { Box::pin(Paused { me, waits }) } else { waits }
}

/// Pauses before each poll, on runtimes that have pauses.
struct Paused<'a> {
    me: Me<'a>,
    waits: Waits<'a>,
}

impl Future for Paused<'_> {
    type Output = String;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<String> {
        self.me.shared.hooks.pause();
        self.waits.as_mut().poll(cx)
    }
}

fn create<'a>(me: Me<'a>, what: &'a Leaf, node: u32) -> Option<Waits<'a>> {
    let value = me.value(node);
    let ticks = |count: u64| me.shared.hooks.tick() * u32::try_from(count).unwrap_or(u32::MAX);
    Some(match what {
        Leaf::Recv(o) => Box::pin(recv(me.hands.ends[*o].receiver.borrow()?)),
        Leaf::RecvMany(o, limit) => Box::pin(recv_many(me.hands.ends[*o].receiver.borrow()?, *limit)),
        Leaf::Send(o) => Box::pin(send(me.hands.ends[*o].sender.share()?, value)),
        Leaf::ReserveSend(o) => Box::pin(reserve_send(me.hands.ends[*o].sender.share()?, value)),
        Leaf::Reserve(o) => reserve(me, *o)?,
        Leaf::SendTimeout(o, count) => Box::pin(send_timeout(me.hands.ends[*o].sender.share()?, value, ticks(*count))),
        Leaf::Closed(o) => closed(me, *o)?,
        Leaf::Answer(o) => Box::pin(answer(me.hands.ends[*o].receiver.borrow()?)),
        Leaf::Heard(o) => Box::pin(heard(me.hands.ends[*o].receiver.borrow()?)),
        Leaf::Changed(o) => Box::pin(changed(me.hands.ends[*o].receiver.borrow()?)),
        Leaf::Notified(o) => notified(me, *o)?,
        Leaf::Armed(o) => Box::pin(armed(me.hands.armed(*o).borrow()?)),
        Leaf::Acquire(o, count) => Box::pin(acquire(me, *o, *count)),
        Leaf::Lock(o) | Leaf::Read(o) | Leaf::Write(o) => Box::pin(lock(me, what, *o, value)),
        Leaf::GetOrInit(o) => Box::pin(get_or_init(me, *o, value)),
        Leaf::WaitSet(o) => Box::pin(wait_set(me, *o)),
        Leaf::BarrierWait(o) => Box::pin(barrier_wait(me, *o)),
        Leaf::Join(task) => Box::pin(join(me.hands.handles[*task].borrow()?)),
        Leaf::JoinNext => Box::pin(join_next(me.hands.set.borrow()?)),
        Leaf::Sleep(count) => slept(ticks(*count)),
        Leaf::Tick(count) => tick(me, ticks(*count))?,
        Leaf::Yield => Box::pin(yielded()),
        Leaf::Now(op) => Box::pin(at_once(me, op, node + 1)),
        Leaf::Then(op, rest) => Box::pin(then(me, op, rest, node + 1)),
        Leaf::Within(count, inner) => within(ticks(*count), leaf(me, inner, node + 1)),
    })
}

async fn recv(mut rx: Loan<'_, Receiver>) -> String {
    let got = match rx.get() {
        Receiver::Bounded(rx) => rx.recv().await,
        Receiver::Unbounded(rx) => rx.recv().await,
        _ => return "-".into(),
    };
    got.map_or("none".into(), |value| value.to_string())
}

async fn recv_many(mut rx: Loan<'_, Receiver>, limit: usize) -> String {
    let mut buffer = Vec::new();
    match rx.get() {
        Receiver::Bounded(rx) => rx.recv_many(&mut buffer, limit).await,
        Receiver::Unbounded(rx) => rx.recv_many(&mut buffer, limit).await,
        _ => return "-".into(),
    };
    if buffer.is_empty() { "none".into() } else { content(&buffer) }
}

async fn send(tx: Arc<Sender>, value: Value) -> String {
    let Sender::Bounded(tx) = &*tx else { return "-".into() };
    closed_or("sent", tx.send(value).await)
}

async fn reserve_send(tx: Arc<Sender>, value: Value) -> String {
    let Sender::Bounded(tx) = &*tx else { return "-".into() };
    closed_or("sent", tx.reserve().await.map(|permit| permit.send(value)))
}

fn reserve<'a>(me: Me<'a>, object: ObjectId) -> Option<Waits<'a>> {
    let tx = me.hands.ends[object].sender.share()?;
    let Sender::Bounded(sender) = &*tx else { return None };
    let reserving = sender.clone().reserve_owned();
    let keep = move |permit| me.hands.keep(object, Guard::Reserved(permit));
    Some(Box::pin(async move {
        let _shared = tx;
        closed_or("reserved", reserving.await.map(keep))
    }))
}

async fn send_timeout(tx: Arc<Sender>, value: Value, after: Duration) -> String {
    let Sender::Bounded(tx) = &*tx else { return "-".into() };
    match tx.send_timeout(value, after).await {
        Ok(()) => "sent",
        Err(SendTimeoutError::Timeout(_)) => "timeout",
        Err(SendTimeoutError::Closed(_)) => "closed",
    }
    .into()
}

fn closed<'a>(me: Me<'a>, object: ObjectId) -> Option<Waits<'a>> {
    let ends = &me.hands.ends[object];
    if let Some(mut half) = ends.reply.borrow() {
        return Some(Box::pin(async move {
            half.get().closed().await;
            "closed".to_string()
        }));
    }
    let tx = ends.sender.share()?;
    Some(Box::pin(async move {
        match &*tx {
            Sender::Bounded(tx) => tx.closed().await,
            Sender::Unbounded(tx) => tx.closed().await,
            Sender::Watch(tx) => tx.closed().await,
            Sender::Broadcast(_) => return "-".into(),
        }
        "closed".to_string()
    }))
}

async fn answer(mut rx: Loan<'_, Receiver>) -> String {
    let Receiver::Oneshot(half) = rx.get() else { return "-".into() };
    let text = half.await.map_or("gone".into(), |value| value.to_string());
    drop(rx.consume());
    text
}

async fn heard(mut rx: Loan<'_, Receiver>) -> String {
    let Receiver::Broadcast(rx) = rx.get() else { return "-".into() };
    match rx.recv().await {
        Ok(value) => value.to_string(),
        Err(RecvError::Lagged(count)) => format!("lagged {count}"),
        Err(RecvError::Closed) => "closed".into(),
    }
}

async fn changed(mut rx: Loan<'_, Receiver>) -> String {
    let Receiver::Watch(rx) = rx.get() else { return "-".into() };
    match rx.changed().await {
        Ok(()) => rx.borrow_and_update().to_string(),
        Err(_) => "closed".into(),
    }
}

fn notified<'a>(me: Me<'a>, object: ObjectId) -> Option<Waits<'a>> {
    let Made::Notify(notify) = &me.shared.objects[object] else { return None };
    let notified = notify.notified();
    Some(Box::pin(async move {
        notified.await;
        "notified".to_string()
    }))
}

async fn armed<F: Future>(mut notified: Loan<'_, Pin<Box<F>>>) -> String {
    notified.get().await;
    drop(notified.consume());
    "notified".into()
}

async fn acquire(me: Me<'_>, object: ObjectId, count: u32) -> String {
    let Made::Semaphore(semaphore) = &me.shared.objects[object] else { return "-".into() };
    let got = semaphore.clone().acquire_many_owned(count).await;
    closed_or("acquired", got.map(|permits| me.hands.keep(object, Guard::Permits(permits))))
}

async fn lock(me: Me<'_>, how: &Leaf, object: ObjectId, value: Value) -> String {
    let (guard, text) = match (how, &me.shared.objects[object]) {
        (Leaf::Lock(_), Made::Mutex(mutex)) => {
            let mut guard = mutex.clone().lock_owned().await;
            guard.push(value);
            let text = content(&guard);
            (Guard::Mutex(guard), text)
        }
        (Leaf::Read(_), Made::RwLock(lock)) => {
            let guard = lock.clone().read_owned().await;
            let text = content(&guard);
            (Guard::Read(guard), text)
        }
        (Leaf::Write(_), Made::RwLock(lock)) => {
            let mut guard = lock.clone().write_owned().await;
            guard.push(value);
            let text = content(&guard);
            (Guard::Write(guard), text)
        }
        _ => return "-".into(),
    };
    me.hands.keep(object, guard);
    text
}

async fn get_or_init(me: Me<'_>, object: ObjectId, value: Value) -> String {
    let Made::OnceCell(cell) = &me.shared.objects[object] else { return "-".into() };
    let init = || async move {
        yield_now().await;
        value
    };
    cell.get_or_init(init).await.to_string()
}

async fn wait_set(me: Me<'_>, object: ObjectId) -> String {
    let Made::SetOnce(cell) = &me.shared.objects[object] else { return "-".into() };
    cell.wait().await.to_string()
}

async fn barrier_wait(me: Me<'_>, object: ObjectId) -> String {
    let Made::Barrier(barrier) = &me.shared.objects[object] else { return "-".into() };
    if barrier.wait().await.is_leader() { "leader" } else { "follower" }.into()
}

async fn join<H: Future<Output = Result<T, super::tokio::task::JoinError>> + Unpin, T>(
    mut handle: Loan<'_, H>,
) -> String {
    let text = joined(handle.get().await.map(|_| "ok".into()));
    drop(handle.consume());
    text
}

async fn join_next(mut set: Loan<'_, super::tokio::task::JoinSet<usize>>) -> String {
    match set.get().join_next().await {
        Some(result) => joined(result.map(|task| format!("ok {task}"))),
        None => "none".into(),
    }
}

fn slept<'a>(after: Duration) -> Waits<'a> {
    let sleep = sleep(after);
    Box::pin(async move {
        sleep.await;
        "slept".to_string()
    })
}

fn tick<'a>(me: Me<'a>, period: Duration) -> Option<Waits<'a>> {
    if !me.hands.has_interval.swap(true, Ordering::Relaxed) {
        me.hands.interval.put(interval(period));
    }
    let mut interval = Slot::borrow(&me.hands.interval)?;
    Some(Box::pin(async move {
        interval.get().tick().await;
        "tick".to_string()
    }))
}

fn within<'a>(after: Duration, inner: Waits<'a>) -> Waits<'a> {
    let timeout = timeout(after, inner);
    Box::pin(async move { timeout.await.unwrap_or_else(|_| "elapsed".into()) })
}

async fn yielded() -> String {
    yield_now().await;
    "yielded".into()
}

async fn at_once(me: Me<'_>, op: &Op, node: u32) -> String {
    now(me, op, node).unwrap_or_default()
}

async fn then(me: Me<'_>, op: &Op, rest: &Leaf, node: u32) -> String {
    let first = now(me, op, node);
    let second = leaf(me, rest, node + op.nodes()).await;
    first.map_or(second.clone(), |first| format!("{first},{second}"))
}

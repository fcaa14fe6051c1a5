//! Futures that are polled by hand: once, with a waker of the program's own, or beside others.
//!
//! Each program polls every kind of future in one way, and the answers must be those of the real tokio.

use super::tokio;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::ArcWake;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// The programs with more than one outcome.
pub const SCHEDULED: [&str; 2] = ["polled_until_another_task_sends", "a_handle_that_is_polled"];

programs!(
    polled_with_no_waker
    polled_with_the_waker_of_the_task
    polled_in_a_poll_fn
    polled_with_a_waker_of_its_own
    polled_among_others
    the_first_of_several
    polled_until_another_task_sends
    a_handle_that_is_polled
    woken_by_another_task
    a_branch_that_polls_by_hand
    refused_and_given_up
    a_branch_that_acts_beside_a_ready_one
);

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Returns a future of each kind; `now` if it is ready. Each keeps alive what it waits for.
async fn each(now: bool) -> Vec<(&'static str, Boxed<bool>)> {
    let mut all: Vec<(&'static str, Boxed<bool>)> = Vec::new();
    let (tx, rx) = oneshot::channel::<u32>();
    let mut tx = Some(tx);
    if now {
        tx.take().unwrap().send(1).unwrap();
    }
    all.push((
        "oneshot",
        Box::pin(async move {
            let got = rx.await.is_ok();
            drop(tx);
            got
        }),
    ));
    let (tx, mut rx) = mpsc::channel::<u32>(1);
    if now {
        tx.try_send(1).unwrap();
    }
    all.push((
        "mpsc",
        Box::pin(async move {
            let got = rx.recv().await.is_some();
            drop(tx);
            got
        }),
    ));
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    if now {
        tx.send(1).unwrap();
    }
    all.push((
        "unbounded",
        Box::pin(async move {
            let got = rx.recv().await.is_some();
            drop(tx);
            got
        }),
    ));
    let (tx, rx) = mpsc::channel::<u32>(1);
    if !now {
        tx.try_send(1).unwrap();
    }
    all.push((
        "room",
        Box::pin(async move {
            let sent = tx.send(2).await.is_ok();
            drop(rx);
            sent
        }),
    ));
    let (tx, mut rx) = watch::channel(0);
    if now {
        tx.send(1).unwrap();
    }
    all.push((
        "watch",
        Box::pin(async move {
            let got = rx.changed().await.is_ok();
            drop(tx);
            got
        }),
    ));
    let (tx, mut rx) = broadcast::channel(2);
    if now {
        tx.send(1).unwrap();
    }
    all.push((
        "broadcast",
        Box::pin(async move {
            let got = rx.recv().await.is_ok();
            drop(tx);
            got
        }),
    ));
    let notify = Arc::new(Notify::new());
    if now {
        notify.notify_one();
    }
    all.push((
        "notify",
        Box::pin(async move {
            notify.notified().await;
            true
        }),
    ));
    let mutex = Arc::new(Mutex::new(0));
    let held = if now { None } else { Some(mutex.clone().lock_owned().await) };
    all.push((
        "mutex",
        Box::pin(async move {
            drop(mutex.lock().await);
            drop(held);
            true
        }),
    ));
    let lock = Arc::new(RwLock::new(0));
    let held = if now { None } else { Some(lock.clone().write_owned().await) };
    all.push((
        "reader",
        Box::pin(async move {
            drop(lock.read().await);
            drop(held);
            true
        }),
    ));
    let lock = Arc::new(RwLock::new(0));
    let held = if now { None } else { Some(lock.clone().read_owned().await) };
    all.push((
        "writer",
        Box::pin(async move {
            drop(lock.write().await);
            drop(held);
            true
        }),
    ));
    let semaphore = Arc::new(Semaphore::new(usize::from(now)));
    all.push(("semaphore", Box::pin(async move { semaphore.acquire().await.is_ok() })));
    if !now {
        let handle = tokio::spawn(std::future::pending::<()>());
        all.push(("join", Box::pin(async move { handle.await.is_ok() })));
        all.push((
            "sleep",
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                true
            }),
        ));
        all.push((
            "yield",
            Box::pin(async move {
                tokio::task::yield_now().await;
                true
            }),
        ));
    }
    all
}

/// Polls each future in the same way, and returns the answers.
macro_rules! answers {
    ($poll:expr) => {{
        let mut log = String::new();
        for now in [true, false] {
            for (name, mut future) in each(now).await {
                let poll = $poll;
                log += &format!("{name} {:?}; ", poll(&mut future).await);
            }
        }
        log
    }};
}

async fn polled_with_no_waker() -> String {
    use futures::FutureExt;
    answers!(async |future: &mut Boxed<bool>| future.now_or_never())
}

async fn polled_with_the_waker_of_the_task() -> String {
    answers!(async |future: &mut Boxed<bool>| futures::poll!(future))
}

async fn polled_in_a_poll_fn() -> String {
    answers!(async |future: &mut Boxed<bool>| poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await)
}

async fn polled_among_others() -> String {
    let mut log = String::new();
    for now in [true, false] {
        for (name, future) in each(now).await {
            let mut all: FuturesUnordered<_> = [future].into_iter().collect();
            let first = futures::poll!(all.next());
            log += &format!("{name} {first:?} {}; ", all.len());
        }
    }
    log
}

async fn the_first_of_several() -> String {
    let mut log = String::new();
    for (name, future) in each(true).await {
        let never: Boxed<bool> = Box::pin(std::future::pending());
        let (first, at, rest) = futures::future::select_all([never, future]).await;
        log += &format!("{name} {first} {at} {}; ", rest.len());
    }
    log
}

/// A waker that remembers that it was called.
#[derive(Default)]
struct Flag(AtomicBool);

impl ArcWake for Flag {
    fn wake_by_ref(flag: &Arc<Flag>) {
        flag.0.store(true, Ordering::SeqCst);
    }
}

impl Flag {
    fn poll<F: Future>(self: &Arc<Flag>, future: Pin<&mut F>) -> Poll<F::Output> {
        let waker = futures::task::waker(self.clone());
        self.0.store(false, Ordering::SeqCst);
        future.poll(&mut Context::from_waker(&waker))
    }

    fn is_woken(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Polls a future with a waker of its own, makes it ready, and polls it again.
macro_rules! woken {
    ($log:ident, $name:literal, $future:expr, $make_ready:expr) => {{
        let flag = Arc::new(Flag::default());
        let mut future = std::pin::pin!($future);
        let first = flag.poll(future.as_mut()).is_ready();
        let before = flag.is_woken();
        $make_ready;
        let after = flag.is_woken();
        let second = flag.poll(future.as_mut()).is_ready();
        $log += &format!("{} {first} {before} {after} {second}; ", $name);
    }};
}

async fn polled_with_a_waker_of_its_own() -> String {
    let mut log = String::new();
    let (tx, rx) = oneshot::channel::<u32>();
    woken!(log, "oneshot", rx, tx.send(1).unwrap());
    let (tx, rx) = oneshot::channel::<u32>();
    woken!(log, "dropped oneshot", rx, drop(tx));
    let (tx, mut rx) = mpsc::channel::<u32>(1);
    woken!(log, "mpsc", rx.recv(), tx.try_send(1).unwrap());
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    woken!(log, "unbounded", rx.recv(), tx.send(1).unwrap());
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    woken!(log, "closed", rx.recv(), drop(tx));
    let (tx, mut rx) = mpsc::channel::<u32>(1);
    tx.try_send(1).unwrap();
    woken!(log, "room", tx.send(2), assert!(rx.try_recv().is_ok()));
    let (tx, mut rx) = watch::channel(0);
    woken!(log, "watch", rx.changed(), tx.send(1).unwrap());
    let (tx, mut rx) = broadcast::channel(2);
    woken!(log, "broadcast", rx.recv(), drop(tx.send(1)));
    let notify = Notify::new();
    woken!(log, "notify", notify.notified(), notify.notify_one());
    woken!(log, "notify all", notify.notified(), notify.notify_waiters());
    let mutex = Mutex::new(0);
    let held = mutex.lock().await;
    woken!(log, "mutex", mutex.lock(), drop(held));
    let lock = RwLock::new(0);
    let held = lock.write().await;
    woken!(log, "reader", lock.read(), drop(held));
    let held = lock.read().await;
    woken!(log, "writer", lock.write(), drop(held));
    let semaphore = Semaphore::new(0);
    woken!(log, "semaphore", semaphore.acquire(), semaphore.add_permits(1));
    log
}

async fn polled_until_another_task_sends() -> String {
    let (tx, mut rx) = oneshot::channel::<u32>();
    let sender = tokio::spawn(async move { tx.send(1).unwrap() });
    let first = futures::poll!(&mut rx).is_ready();
    sender.await.unwrap();
    let then = if first { "had it".into() } else { format!("{:?}", futures::poll!(&mut rx)) };
    // Which of the two comes first is up to the scheduler.
    if first { then } else { format!("later {then}") }
}

async fn a_handle_that_is_polled() -> String {
    let mut handle = tokio::spawn(async { 7 });
    let first = futures::poll!(&mut handle).map(Result::unwrap);
    if first.is_pending() { format!("later {}", handle.await.unwrap()) } else { format!("{first:?}") }
}

async fn woken_by_another_task() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    let flag = Arc::new(Flag::default());
    let before = flag.poll(std::pin::pin!(rx.recv())).is_ready();
    let mut next = std::pin::pin!(rx.recv());
    let again = flag.poll(next.as_mut()).is_ready();
    tokio::spawn(async move { tx.send(1).unwrap() }).await.unwrap();
    format!("{before} {again} {} {:?}", flag.is_woken(), flag.poll(next.as_mut()))
}

async fn a_branch_that_polls_by_hand() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    tx.send(1).unwrap();
    let (one, two) = tokio::join!(
        async {
            let got = futures::poll!(std::pin::pin!(rx.recv()));
            format!("{got:?}")
        },
        async { tx.send(2).is_ok() }
    );
    format!("{one} {two}")
}

async fn refused_and_given_up() -> String {
    use futures::FutureExt;
    let mutex = Mutex::new(0);
    let held = mutex.lock().await;
    let refused = mutex.lock().now_or_never().is_none();
    drop(held);
    let got = mutex.lock().now_or_never().is_some();
    format!("{refused} {got} {}", mutex.try_lock().is_ok())
}

async fn a_branch_that_acts_beside_a_ready_one() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
    let (acts, mut acted) = mpsc::unbounded_channel::<u32>();
    tx.send(1).unwrap();
    let first = Box::pin(rx.recv());
    let second = Box::pin(async move {
        acts.send(2).unwrap();
        std::future::pending::<()>().await;
    });
    let is_first = matches!(futures::future::select(first, second).await, futures::future::Either::Left(_));
    format!("{is_first} {:?}", acted.try_recv())
}

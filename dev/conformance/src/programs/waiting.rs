//! Programs that wait for several futures, and for time.

use super::tokio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use tokio::task::{spawn, yield_now};

programs!(
    selected
    biased
    joined
    slept
    timed_out
    a_lost_branch_loses_no_message
    patterns_and_conditions
    nested
    futures_that_are_awaited_again
    a_handle_that_is_awaited_again
    join_waits_for_all
    try_join_leaves_early
    wakers_that_others_keep
    timers_in_order
    ticks
    just_in_time
    a_timeout_gives_back_what_it_waited_for
    a_sleep_that_is_reset
    names_in_scope
);

async fn selected() -> String {
    let (a, mut from_a) = mpsc::unbounded_channel();
    let (b, mut from_b) = mpsc::unbounded_channel();
    a.send("a").unwrap();
    b.send("b").unwrap();
    tokio::select! {
        x = from_a.recv() => x.unwrap().into(),
        x = from_b.recv() => x.unwrap().into(),
    }
}

async fn biased() -> String {
    let (a, mut from_a) = mpsc::unbounded_channel::<u32>();
    drop(a);
    let mut log = String::new();
    for _ in 0..2 {
        tokio::select! {
            biased;
            Some(n) = from_a.recv() => log += &n.to_string(),
            _ = std::future::pending::<()>(), if false => log += "never",
            else => log += "else ",
        }
    }
    log
}

async fn joined() -> String {
    let both = tokio::join!(async { 1 }, async { 2 });
    let tried: Result<(u32, u32), &str> = tokio::try_join!(async { Ok(1) }, async { Err("no") });
    format!("{both:?} {tried:?}")
}

async fn slept() -> String {
    tokio::time::sleep(Duration::from_millis(1)).await;
    "slept".into()
}

async fn timed_out() -> String {
    let late = tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
    format!("{late:?}")
}

async fn a_lost_branch_loses_no_message() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let sender = spawn(async move {
        for n in 0..2 {
            tx.send(n).unwrap();
        }
    });
    let (mut all, mut spare) = (Vec::new(), 1);
    loop {
        tokio::select! {
            n = rx.recv() => match n {
                Some(n) => all.push(n),
                None => break,
            },
            () = yield_now(), if spare > 0 => spare -= 1,
        }
    }
    sender.await.unwrap();
    format!("{all:?}")
}

async fn patterns_and_conditions() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    tx.send(Some(1)).unwrap();
    tx.send(None).unwrap();
    let mut log = String::new();
    for enabled in [true, true, false] {
        tokio::select! {
            biased;
            Some(Some(n)) = rx.recv(), if enabled => log += &format!("{n} "),
            else => log += "else ",
        }
    }
    log
}

async fn nested() -> String {
    let (a, mut from_a) = mpsc::unbounded_channel();
    let (b, mut from_b) = mpsc::unbounded_channel();
    a.send(1).unwrap();
    b.send(2).unwrap();
    let inner = async {
        tokio::select! {
            n = from_a.recv() => n,
            n = from_b.recv() => n,
        }
    };
    let text = tokio::select! {
        n = inner => format!("{n:?}"),
        () = std::future::pending() => "never".into(),
    };
    text
}

async fn futures_that_are_awaited_again() -> String {
    let notify = Arc::new(Notify::new());
    let other = notify.clone();
    let task = spawn(async move {
        yield_now().await;
        other.notify_one();
    });
    let waits = notify.notified();
    tokio::pin!(waits);
    let mut rounds = 0;
    loop {
        tokio::select! {
            biased;
            () = &mut waits => break,
            () = yield_now(), if rounds < 2 => rounds += 1,
        }
    }
    task.await.unwrap();
    format!("{}", rounds <= 2)
}

async fn a_handle_that_is_awaited_again() -> String {
    let mut task = spawn(async {
        yield_now().await;
        5
    });
    for _ in 0..2 {
        tokio::select! {
            biased;
            n = &mut task => return format!("{}", n.unwrap()),
            () = yield_now() => {}
        }
    }
    format!("{}", task.await.unwrap())
}

async fn join_waits_for_all() -> String {
    let (tx, rx) = oneshot::channel();
    let (a, b) = tokio::join!(
        async {
            yield_now().await;
            tx.send(1).is_ok()
        },
        rx
    );
    format!("{a} {b:?}")
}

async fn try_join_leaves_early() -> String {
    let result: Result<(u32, u32), &str> = tokio::try_join!(std::future::pending::<Result<u32, &str>>(), async {
        yield_now().await;
        Err("no")
    });
    format!("{result:?}")
}

async fn wakers_that_others_keep() -> String {
    // A future that is not tokio's. It keeps the waker through which it is woken.
    let (slot, flag) =
        (Arc::new(std::sync::Mutex::new(None::<std::task::Waker>)), Arc::new(std::sync::Mutex::new(false)));
    let (slot_there, flag_there) = (slot.clone(), flag.clone());
    let task = spawn(std::future::poll_fn(move |cx| {
        if *flag_there.lock().unwrap() {
            return std::task::Poll::Ready(7);
        }
        *slot_there.lock().unwrap() = Some(cx.waker().clone());
        std::task::Poll::Pending
    }));
    yield_now().await;
    *flag.lock().unwrap() = true;
    if let Some(waker) = slot.lock().unwrap().take() {
        waker.wake();
    }
    format!("{}", task.await.unwrap())
}

async fn timers_in_order() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for n in [30, 10, 20] {
        let tx = tx.clone();
        spawn(async move {
            tokio::time::sleep(Duration::from_millis(n)).await;
            tx.send(n).unwrap();
        });
    }
    drop(tx);
    let mut count = 0;
    while rx.recv().await.is_some() {
        count += 1;
    }
    format!("{count}")
}

async fn ticks() -> String {
    let start = tokio::time::Instant::now();
    let mut interval = tokio::time::interval(Duration::from_millis(2));
    let first = interval.tick().await;
    let second = interval.tick().await;
    format!(
        "{} {:?} {}",
        second - first >= Duration::from_millis(2),
        interval.period(),
        start.elapsed() >= Duration::from_millis(2)
    )
}

async fn just_in_time() -> String {
    let soon = tokio::time::timeout(Duration::from_secs(5), async { 1 }).await;
    let late = tokio::time::timeout_at(tokio::time::Instant::now(), std::future::pending::<()>()).await;
    let zero = tokio::time::timeout(Duration::ZERO, async { 2 }).await;
    format!("{soon:?} {} {zero:?}", late.unwrap_err())
}

async fn a_timeout_gives_back_what_it_waited_for() -> String {
    let lock = Arc::new(Mutex::new(0));
    let guard = lock.clone().lock_owned().await;
    let late = tokio::time::timeout(Duration::from_millis(1), lock.lock()).await.is_err();
    drop(guard);
    format!("{late} {}", *lock.lock().await)
}

async fn a_sleep_that_is_reset() -> String {
    let sleep = tokio::time::sleep(Duration::from_secs(3_600));
    tokio::pin!(sleep);
    sleep.as_mut().reset(tokio::time::Instant::now() + Duration::from_millis(1));
    sleep.as_mut().await;
    format!("{}", sleep.is_elapsed())
}

async fn names_in_scope() -> String {
    let (tx, mut rx) = oneshot::channel::<u32>();
    tx.send(1).unwrap();
    tokio::select! {
        got = &mut rx => {
            let mut next = std::future::ready(2);
            let pinned: Pin<&mut _> = Pin::new(&mut next);
            format!("{got:?} {}", pinned.await)
        }
    }
}

//! Programs about the end of tasks and about the order in which values are dropped.

use super::tokio;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet, spawn, spawn_blocking, yield_now};

programs!(
    panics
    cancels
    drop_order
    set
    a_task_that_is_done_cannot_be_cancelled
    finished
    a_handle_that_is_dropped_lets_the_task_go_on
    words_of_errors
    values_are_dropped_before_the_join
    a_panic_drops_what_the_task_holds
    cancelled_in_the_middle
    a_set_that_is_dropped_cancels
    a_set_in_all_its_ways
    all_of_a_set
    blocking_work
    task_locals
    names_of_tasks
    handles_of_the_runtime
    a_set_grows
    a_set_of_local_tasks
    the_runtime_is_one
    what_panics_do_not_break
    budgets
);

struct Tells(mpsc::UnboundedSender<&'static str>, &'static str);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

async fn panics() -> String {
    let error = spawn(async { std::panic::resume_unwind(Box::new("no")) }).await.map(|(): ()| ()).unwrap_err();
    format!("{} {} {:?}", error.is_panic(), error.is_cancelled(), error.into_panic().downcast_ref::<&str>())
}

async fn cancels() -> String {
    let task = spawn(std::future::pending::<()>());
    yield_now().await;
    task.abort();
    let error = task.await.unwrap_err();
    format!("{} {}", error.is_panic(), error.is_cancelled())
}

async fn drop_order() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let (one, two) = (Tells(tx.clone(), "one"), Tells(tx.clone(), "two"));
    let task = spawn(async move {
        let _two = two;
        let _one = one;
        std::future::pending::<()>().await
    });
    yield_now().await;
    task.abort();
    let _ = task.await;
    tx.send("joined").unwrap();
    drop(tx);
    let mut all = Vec::new();
    while let Some(text) = rx.recv().await {
        all.push(text);
    }
    // A task that never began drops its captured values in the order of capture, so the order here may differ.
    all.sort_unstable();
    all.join(" ")
}

async fn set() -> String {
    let mut set = JoinSet::new();
    for n in 0..2 {
        set.spawn(async move { n });
    }
    let mut all = String::new();
    while let Some(n) = set.join_next().await {
        all += &n.unwrap().to_string();
    }
    all
}

async fn a_task_that_is_done_cannot_be_cancelled() -> String {
    let task = spawn(async { 5 });
    let (tx, rx) = tokio::sync::oneshot::channel::<()>();
    let waits = spawn(async move {
        let _ = rx.await;
    });
    drop(tx);
    waits.await.unwrap();
    task.abort();
    // The task may have been cancelled before it began.
    match task.await {
        Ok(n) => format!("{n}"),
        Err(error) => format!("{}", error.is_cancelled()),
    }
}

async fn finished() -> String {
    let task = spawn(async { 1 });
    let handle = task.abort_handle();
    task.await.unwrap();
    format!("{}", handle.is_finished())
}

async fn a_handle_that_is_dropped_lets_the_task_go_on() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    drop(spawn(async move {
        yield_now().await;
        tx.send(1).unwrap();
    }));
    format!("{:?}", rx.recv().await)
}

async fn words_of_errors() -> String {
    let panicked = spawn(async { std::panic::resume_unwind(Box::new("why")) }).await.map(|(): ()| ()).unwrap_err();
    let task = spawn(std::future::pending::<()>());
    task.abort();
    let cancelled = task.await.unwrap_err();
    let plain = |error: String| {
        error.split_whitespace().filter(|word| word.parse::<u64>().is_err()).collect::<Vec<_>>().join(" ")
    };
    format!("{} / {}", plain(panicked.to_string()), plain(cancelled.to_string()))
}

async fn values_are_dropped_before_the_join() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let tells = Tells(tx.clone(), "dropped");
    let task = spawn(async move {
        let _tells = tells;
    });
    task.await.unwrap();
    tx.send("joined").unwrap();
    format!("{:?} {:?}", rx.recv().await, rx.recv().await)
}

async fn a_panic_drops_what_the_task_holds() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let tells = Tells(tx, "dropped");
    let task = spawn(async move {
        let _tells = tells;
        std::panic::resume_unwind(Box::new("no"));
    });
    let told = rx.recv().await;
    format!("{told:?} {} {:?}", task.await.is_err(), rx.recv().await)
}

async fn cancelled_in_the_middle() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let other = tx.clone();
    let task = spawn(async move {
        for n in 0..3 {
            other.send(n).unwrap();
            yield_now().await;
        }
    });
    rx.recv().await.unwrap();
    task.abort();
    let _ = task.await;
    drop(tx);
    let mut more = 0;
    while rx.recv().await.is_some() {
        more += 1;
    }
    format!("{more}")
}

async fn a_set_that_is_dropped_cancels() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let mut set = JoinSet::new();
    let tells = Tells(tx, "dropped");
    set.spawn(async move {
        let _tells = tells;
        std::future::pending::<()>().await
    });
    drop(set);
    format!("{:?} {:?}", rx.recv().await, rx.recv().await)
}

async fn a_set_in_all_its_ways() -> String {
    let mut set = JoinSet::new();
    let empty = set.try_join_next().is_none();
    set.spawn(async { 1 });
    let handle = set.spawn(std::future::pending());
    let length = set.len();
    handle.abort();
    let mut log = Vec::new();
    while let Some(result) = set.join_next().await {
        log.push(result.map_err(|error| error.is_cancelled()));
    }
    log.sort();
    set.spawn(std::future::pending());
    set.shutdown().await;
    format!("{empty} {length} {log:?} {}", set.is_empty())
}

async fn all_of_a_set() -> String {
    let set: JoinSet<u32> = [1, 2, 3].into_iter().map(|n| async move { n }).collect();
    let mut all = set.join_all().await;
    all.sort_unstable();
    format!("{all:?}")
}

async fn blocking_work() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let task = tokio::task::spawn_blocking(move || {
        tx.blocking_send(1).unwrap();
        2
    });
    format!("{:?} {}", rx.recv().await, task.await.unwrap())
}

tokio::task_local! {
    static NAME: &'static str;
}

async fn task_locals() -> String {
    let outside = NAME.try_with(|name| *name).is_err();
    let inside = NAME
        .scope("a", async {
            yield_now().await;
            let deeper = NAME.scope("b", async { NAME.get() }).await;
            let spawned = spawn(async { NAME.try_with(|name| *name).is_err() }).await.unwrap();
            format!("{} {deeper} {spawned}", NAME.get())
        })
        .await;
    format!("{outside} {inside} {}", NAME.sync_scope("c", || NAME.get()))
}

async fn names_of_tasks() -> String {
    let task = spawn(async { tokio::task::id() });
    let id = task.id();
    format!("{} {}", task.await.unwrap() == id, tokio::task::try_id() != Some(id))
}

async fn handles_of_the_runtime() -> String {
    let handle = tokio::runtime::Handle::current();
    format!("{}", handle.spawn(async { 3 }).await.unwrap())
}

async fn a_set_grows() -> String {
    let mut set = JoinSet::new();
    set.extend((1..3).map(|n| async move { n }));
    set.spawn_blocking_on(|| 10, &tokio::runtime::Handle::current());
    let mut sum = 0;
    while let Some(n) = set.join_next().await {
        sum += n.unwrap();
    }
    format!("{sum} {}", set.is_empty())
}

async fn a_set_of_local_tasks() -> String {
    let handle = tokio::runtime::Handle::current();
    let work = spawn_blocking(move || {
        let (local, other) = (LocalSet::new(), LocalSet::new());
        let ids = local.id() == local.id() && local.id() != other.id() && local.id() != handle.id();
        let mut set = JoinSet::new();
        let shared = std::rc::Rc::new(2);
        set.spawn_local_on(async move { *shared }, &local);
        let sum = handle.block_on(local.run_until(async move { set.join_next().await.unwrap().unwrap() }));
        format!("{ids} {sum}")
    });
    work.await.unwrap()
}

async fn the_runtime_is_one() -> String {
    let handle = tokio::runtime::Handle::current();
    let other = spawn(async { tokio::runtime::Handle::current().id() }).await.unwrap();
    let workers = handle.metrics().num_workers();
    let error = std::io::Error::other("no");
    format!(
        "{} {:?} {} {} {}",
        other == handle.id(),
        handle.name(),
        workers > 0,
        tokio::runtime::worker_index().is_some_and(|index| index < workers),
        tokio::runtime::is_rt_shutdown_err(&error)
    )
}

async fn what_panics_do_not_break() -> String {
    fn unbroken<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    let (tx, rx) = mpsc::channel::<std::cell::Cell<u32>>(1);
    let (unbounded, _rx) = mpsc::unbounded_channel::<std::cell::Cell<u32>>();
    let task = spawn(async {});
    unbroken(&tx);
    unbroken(&rx);
    unbroken(&tx.downgrade());
    unbroken(&unbounded);
    unbroken(&task.abort_handle());
    unbroken(&task);
    unbroken(&tokio::sync::Notify::new());
    unbroken(&tokio::runtime::Handle::current());
    let permit = tx.reserve().await.unwrap();
    unbroken(&permit);
    format!("{permit:?}").chars().take(6).collect()
}

async fn budgets() -> String {
    use tokio::task::coop;
    // The beginning of a new poll.
    tokio::task::yield_now().await;
    let mut count = 0;
    while coop::has_budget_remaining() {
        coop::consume_budget().await;
        count += 1;
    }
    let free = coop::unconstrained(async { coop::has_budget_remaining() }).await;
    let exhausted = std::future::poll_fn(|cx| {
        let pending = coop::poll_proceed(cx).is_pending();
        std::task::Poll::Ready(pending)
    });
    let exhausted = exhausted.await;
    // Goes on in another poll, with a new budget.
    coop::consume_budget().await;
    let budget = format!("{count} {free} {exhausted} {}", coop::has_budget_remaining());
    let one: coop::Unconstrained<_> = coop::unconstrained(async { 1 });
    let two: coop::Coop<_> = coop::cooperative(async { 2 });
    coop::consume_budget().await;
    let errors = [tokio::time::error::Error::shutdown(), tokio::time::error::Error::invalid()];
    let told = errors.map(|error| format!("{error} {} {}", error.is_shutdown(), error.is_at_capacity()));
    format!("{budget} {} {} {} {told:?}", one.await, two.await, coop::has_budget_remaining())
}

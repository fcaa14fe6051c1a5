//! The weakest runtime that shows a finding: one thread, or several.

use crate::common::{Place, explore_with};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use whippet_model::{Threads, Verdict};
use whippet_runtime::Settings;
use whippet_search::Reduction;

fn explored<F>(every_event: bool, body: impl Fn() -> F + Send + Sync + 'static) -> Verdict
where
    F: Future<Output = ()> + 'static,
{
    let body = move || {
        let body = body();
        async move {
            body.await;
            String::new()
        }
    };
    let verdict = explore_with(Reduction::Optimal, Settings { every_event, ..Settings::default() }, body).0;
    assert!(verdict.complete);
    verdict
}

/// Explores a program with one finding, merged and not. Returns the runtime that it needs and the number of executions
/// that show it.
#[track_caller]
fn needs<F>(body: impl Fn() -> F + Clone + Send + Sync + 'static) -> (Threads, u64)
where
    F: Future<Output = ()> + 'static,
{
    let [merged, single] = [false, true].map(|every_event| {
        let verdict = explored(every_event, body.clone());
        let [finding] = &verdict.findings[..] else { panic!("{} findings", verdict.findings.len()) };
        (finding.threads.expect("it is known"), finding.executions)
    });
    assert_eq!(merged.0, single.0, "merged and not");
    merged
}

/// Two sends, and a task that receives in between.
async fn sends_twice(switches: bool) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let reader = tokio::spawn(async move {
        rx.recv().await;
        (rx.try_recv().is_ok(), rx)
    });
    tx.send(1).unwrap();
    if switches {
        yield_now().await;
    }
    tx.send(2).unwrap();
    assert!(reader.await.unwrap().0, "the second message is not there yet");
}

#[test]
fn a_switch_between_two_sends_needs_several_threads() {
    assert_eq!(needs(|| sends_twice(false)), (Threads::Several, 1));
}

#[test]
fn a_switch_at_an_await_needs_one_thread() {
    assert_eq!(needs(|| sends_twice(true)), (Threads::One, 1));
}

/// Reads and writes a balance, with an await in between.
async fn withdraw(balance: Arc<Mutex<i32>>, asks: bool) {
    let enough = *balance.lock().await >= 80;
    if asks {
        let (tx, rx) = oneshot::channel();
        tokio::spawn(async move { tx.send(()) });
        rx.await.unwrap();
    }
    if enough {
        *balance.lock().await -= 80;
    }
}

async fn overdraws(asks: bool) {
    let balance = Arc::new(Mutex::new(100));
    let tasks = [0, 1].map(|_| tokio::spawn(withdraw(balance.clone(), asks)));
    for task in tasks {
        task.await.unwrap();
    }
    assert!(*balance.lock().await >= 0, "overdrawn");
}

#[test]
fn a_free_lock_is_no_switch() {
    assert_eq!(needs(|| overdraws(false)).0, Threads::Several);
    assert_eq!(needs(|| overdraws(true)).0, Threads::One);
}

#[test]
fn yielding_lets_everybody_run_first() {
    let body = |rounds: usize| {
        move || async move {
            let (tx, mut rx) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                for _ in 0..2 {
                    yield_now().await;
                }
                tx.send(1).unwrap();
            });
            for _ in 0..rounds {
                yield_now().await;
            }
            assert!(rx.try_recv().is_ok(), "nothing was sent");
        }
    };
    // The other task may be polled first or last in each round.
    assert_eq!(needs(body(2)).0, Threads::One);
    assert_eq!(needs(body(3)).0, Threads::Several);
}

/// A message goes through two tasks while the test yields once.
#[test]
fn yielding_lets_those_run_who_are_woken_meanwhile() {
    let body = |yields: bool| {
        move || async move {
            let (first, mut from_first) = mpsc::unbounded_channel();
            let (second, mut from_second) = mpsc::unbounded_channel();
            let (last, mut arrived) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                while let Some(next) = from_second.recv().await {
                    last.send(next).unwrap();
                }
            });
            tokio::spawn(async move {
                while let Some(next) = from_first.recv().await {
                    second.send(next).unwrap();
                }
            });
            first.send(1).unwrap();
            if yields {
                yield_now().await;
            } else {
                // This wait ends when its own task is polled.
                tokio::spawn(async {}).await.unwrap();
            }
            assert!(arrived.try_recv().is_ok(), "it has not arrived");
        }
    };
    assert_eq!(needs(body(true)).0, Threads::Several);
    assert_eq!(needs(body(false)).0, Threads::One);
}

#[test]
fn a_deadlock_of_two_locks_needs_a_switch() {
    let body = |switches: bool| {
        move || async move {
            let locks = [0, 1].map(|_| Arc::new(Mutex::new(())));
            let tasks = [0, 1].map(|k| {
                let (first, second) = (locks[k].clone(), locks[1 - k].clone());
                tokio::spawn(async move {
                    let _one = first.lock().await;
                    if switches {
                        yield_now().await;
                    }
                    let _other = second.lock().await;
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
        }
    };
    assert_eq!(needs(body(false)).0, Threads::Several);
    assert_eq!(needs(body(true)).0, Threads::One);
}

#[test]
fn blocking_tasks_run_beside_the_thread() {
    let body = || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let blocking = tokio::task::spawn_blocking(move || tx.send(1));
        let (first, second) = (rx.try_recv(), rx.try_recv());
        assert!(first.is_ok() || second.is_err(), "it came in between");
        drop(blocking);
    };
    assert_eq!(needs(body).0, Threads::One);
}

#[test]
fn an_abort_comes_before_the_first_poll() {
    let body = || async {
        let task = tokio::spawn(async {});
        task.abort();
        assert!(task.await.is_err(), "it has run");
    };
    assert_eq!(needs(body).0, Threads::Several);
}

#[test]
fn a_timer_fires_before_its_task_runs() {
    let ms = Duration::from_millis;
    let body = move || async move {
        let (tx, rx) = oneshot::channel();
        tokio::spawn(async move {
            sleep(ms(20)).await;
            let _ = tx.send(1);
        });
        timeout(ms(110), rx).await.expect("an answer in time").unwrap();
        String::new()
    };
    let settings = Settings { stall: 100_000_000, ..Settings::default() };
    let verdict = explore_with(Reduction::Optimal, settings, body).0;
    let found: Vec<_> = verdict.findings.iter().map(|finding| (finding.threads, finding.stall())).collect();
    assert_eq!(found, [(Some(Threads::One), Some(ms(90)))]);
}

/// A task waits for a value that is put in its place by another one, which then yields. On one thread the task has taken it by then.
#[test]
fn a_wake_comes_after_the_poll_that_has_asked_for_it() {
    let program = || async {
        let (place, taken) = (Arc::new(Place::default()), Arc::new(std::sync::atomic::AtomicU32::new(0)));
        let (theirs, out) = (place.clone(), taken.clone());
        tokio::spawn(async move { out.store(theirs.take().await, std::sync::atomic::Ordering::Relaxed) });
        // The task begins when this one comes to an operation.
        drop(Mutex::new(()).lock().await);
        place.put(7);
        yield_now().await;
        assert_eq!(taken.load(std::sync::atomic::Ordering::Relaxed), 7);
    };
    let verdict = explored(false, program);
    let [finding] = &verdict.findings[..] else { panic!("{} findings", verdict.findings.len()) };
    assert_eq!(finding.threads, Some(Threads::Several));
}

/// A value goes through two places that are not seen while the test yields once. On one thread it has arrived by then.
#[test]
fn memory_that_is_not_seen_has_one_order() {
    let program = || async {
        let places = [(); 2].map(|()| Arc::new(Place::default()));
        let arrived = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let [first, second] = places.clone();
        tokio::spawn(async move { second.put(first.take().await) });
        let ([_, second], out) = (places.clone(), arrived.clone());
        tokio::spawn(async move { out.store(second.take().await, std::sync::atomic::Ordering::Relaxed) });
        // The tasks begin when this one comes to an operation.
        drop(Mutex::new(()).lock().await);
        places[0].put(7);
        yield_now().await;
        assert_eq!(arrived.load(std::sync::atomic::Ordering::Relaxed), 7);
    };
    let verdict = explored(false, program);
    let threads: Vec<_> = verdict.findings.iter().map(|finding| finding.threads).collect();
    assert_eq!(threads, [Some(Threads::Several)]);
}

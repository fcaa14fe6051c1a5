//! Tasks that spin: whoever is ready gets to run.

use crate::common::explore;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::yield_now;
use tokio::time::{interval, sleep};
use whippet_model::FindingKind;
use whippet_search::Reduction;

/// Checks that every fair execution ends, with these outcomes.
#[track_caller]
fn outcomes<F>(expected: &[&str], body: impl Fn() -> F + Clone + Send + Sync + 'static)
where
    F: Future<Output = String> + 'static,
{
    for reduction in [Reduction::Optimal, Reduction::Source] {
        let (verdict, seen) = explore(reduction, body.clone());
        let executions = verdict.counters.executions;
        assert!(verdict.findings.is_empty(), "{reduction}, {executions} executions: {:?}", verdict.findings[0].message);
        assert!(verdict.complete, "{reduction}: {executions} executions");
        println!("{reduction}: {executions} executions, {} blocked", verdict.counters.blocked);
        let seen: Vec<&str> = seen.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        assert_eq!(seen, expected, "{reduction}, {executions} executions");
    }
}

async fn yields_for_ever() {
    loop {
        yield_now().await;
    }
}

#[test]
fn a_task_that_yields_for_ever_is_aborted() {
    outcomes(&["aborted"], || async {
        let task = tokio::spawn(yields_for_ever());
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        "aborted".into()
    });
}

#[test]
fn a_task_that_yields_for_ever_lets_timers_fire() {
    outcomes(&["aborted"], || async {
        let tasks = [0, 1].map(|_| tokio::spawn(yields_for_ever()));
        let mut ticks = interval(Duration::from_secs(3600));
        for _ in 0..3 {
            ticks.tick().await;
        }
        sleep(Duration::from_secs(3600)).await;
        tasks.iter().for_each(|task| task.abort());
        for task in tasks {
            assert!(task.await.unwrap_err().is_cancelled());
        }
        "aborted".into()
    });
}

#[test]
fn a_task_that_tries_to_receive_gets_all_messages() {
    outcomes(&["[1, 2]"], || async {
        let (tx, mut rx) = mpsc::channel(4);
        let task = tokio::spawn(async move {
            let mut got = Vec::new();
            loop {
                match rx.try_recv() {
                    Ok(n) => got.push(n),
                    Err(mpsc::error::TryRecvError::Disconnected) => return got,
                    Err(mpsc::error::TryRecvError::Empty) => yield_now().await,
                }
            }
        });
        for n in 1..=2 {
            tx.send(n).await.unwrap();
        }
        drop(tx);
        format!("{:?}", task.await.unwrap())
    });
}

/// Between the two sends, the spinning task may have looked or not, also when its free rounds are over.
#[test]
fn a_task_that_spins_sees_each_state() {
    outcomes(&["1", "2"], || async {
        let (tx, rx) = watch::channel(0);
        let task = tokio::spawn(async move {
            loop {
                let now = *rx.borrow();
                if now > 0 {
                    return now;
                }
                yield_now().await;
            }
        });
        tx.send_replace(1);
        tx.send_replace(2);
        task.await.unwrap().to_string()
    });
}

#[test]
fn tasks_that_wait_for_each_other_by_spinning_go_on() {
    outcomes(&["done"], || async {
        let (one, other) = (Arc::new(watch::channel(0).0), Arc::new(watch::channel(0).0));
        let wait = |on: Arc<watch::Sender<i32>>| async move {
            while *on.borrow() == 0 {
                yield_now().await;
            }
        };
        let (a, b) = (one.clone(), other.clone());
        let task = tokio::spawn(async move {
            wait(a).await;
            b.send_replace(1);
        });
        one.send_replace(1);
        wait(other).await;
        task.await.unwrap();
        "done".into()
    });
}

#[test]
fn a_select_on_a_closed_channel_is_stopped() {
    outcomes(&["stopped"], || async {
        let (tx, mut rx) = mpsc::channel::<u8>(1);
        let (stop, mut stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    _ = &mut stopped => return,
                    _ = rx.recv() => {}
                }
            }
        });
        drop(tx);
        tokio::spawn(async move { stop.send(()).unwrap() });
        task.await.unwrap();
        "stopped".into()
    });
}

/// Loops that end are explored as ever: in each round, the message has come or not.
#[test]
fn loops_that_end_are_no_spinning() {
    let expected: Vec<String> = (0..=20).map(|k| format!("{k:02}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    outcomes(&expected, || async {
        let notify = Arc::new(Notify::new());
        let (tx, mut rx) = mpsc::channel(1);
        let sender = tokio::spawn(async move { tx.send(1).await });
        let mut round = 0;
        while round < 20 && rx.try_recv().is_err() {
            yield_now().await;
            round += 1;
        }
        drop(notify);
        sender.await.unwrap().ok();
        format!("{round:02}")
    });
}

/// A helper of many tests: it looks again and again until a deadline.
#[test]
fn a_task_that_yields_until_a_deadline_ends() {
    outcomes(&["late"], || async {
        let start = tokio::time::Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            yield_now().await;
        }
        "late".into()
    });
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    outcomes(&["late"], || async {
        let start = std::time::Instant::now();
        tokio::spawn(async {}).await.unwrap();
        while start.elapsed() < Duration::from_secs(60) {
            yield_now().await;
        }
        "late".into()
    });
}

/// Nobody sends the message, so no fair execution ends.
#[test]
fn a_livelock_is_told_with_its_cycle() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (_tx, mut rx) = mpsc::channel::<u8>(1);
        tokio::spawn(async {}).await.unwrap();
        while rx.try_recv().is_err() {
            yield_now().await;
        }
        String::new()
    });
    let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert_eq!(finding.kind, FindingKind::Limit);
    let told = "livelock: from step ";
    assert!(finding.message.starts_with(told), "{}", finding.message);
    let told = "and goes on after 10000 steps: main continues after yielding";
    assert!(finding.message.contains(told), "{}", finding.message);
    assert!(finding.counterexample.len() < 10_000 || !verdict.complete);
}

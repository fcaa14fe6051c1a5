//! Timers that fire early, and the stall of the runtime that this needs.

use crate::common::{Place, explore_with};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use whippet_model::Verdict;
use whippet_runtime::Settings;
use whippet_search::Reduction;

fn within<F>(stall: Duration, body: impl Fn() -> F + Send + Sync + 'static) -> Verdict
where
    F: Future<Output = ()> + 'static,
{
    let stall = u64::try_from(stall.as_nanos()).unwrap_or(u64::MAX);
    let body = move || {
        let body = body();
        async move {
            body.await;
            String::new()
        }
    };
    explore_with(Reduction::Optimal, Settings { stall, ..Settings::default() }, body).0
}

const fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Waits for some time, and expects that a task has sent something by then.
async fn waits_and_looks(wait: Duration) {
    let (tx, mut rx) = mpsc::channel(1);
    tokio::spawn(async move { tx.send(1).await });
    sleep(wait).await;
    assert_eq!(rx.try_recv(), Ok(1), "it has had its time");
}

#[test]
fn a_finding_carries_the_stall_that_it_needs() {
    let verdict = within(ms(100), || waits_and_looks(ms(12)));
    assert!(verdict.complete);
    let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert_eq!(finding.stall(), Some(ms(12)));
    let text = whippet_report::headline(finding);
    assert!(text.ends_with("\n  needs the runtime to stall for 12 ms at step 1"), "{text}");
    assert!(within(ms(12), || waits_and_looks(ms(12))).findings.len() == 1, "the budget is inclusive");
}

#[test]
fn nothing_over_the_budget_is_reported() {
    for (stall, wait) in [(ms(0), ms(1)), (ms(11), ms(12)), (ms(100), ms(30_000))] {
        let verdict = within(stall, move || waits_and_looks(wait));
        assert!(verdict.complete && verdict.findings.is_empty(), "{stall:?} {wait:?}: {:?}", verdict.findings);
    }
}

#[test]
fn stalls_add_up() {
    let twice = || async {
        let (tx, mut rx) = mpsc::channel(1);
        tokio::spawn(async move { tx.send(1).await });
        sleep(ms(8)).await;
        if rx.try_recv().is_err() {
            sleep(ms(5)).await;
            assert_eq!(rx.try_recv(), Ok(1));
        }
    };
    assert!(within(ms(12), twice).findings.is_empty());
    let verdict = within(ms(13), twice);
    let text = whippet_report::headline(&verdict.findings[0]);
    assert!(text.ends_with("\n  needs the runtime to stall for 13 ms in total, at steps 1 and 3"), "{text}");
}

#[test]
fn a_long_timeout_fires_only_when_nothing_else_can_happen() {
    let answered = |stall| {
        within(stall, || async {
            let (tx, rx) = oneshot::channel();
            tokio::spawn(async move {
                sleep(ms(20)).await;
                let _ = tx.send(1);
            });
            timeout(Duration::from_secs(30), rx).await.expect("an answer in time").unwrap();
        })
    };
    let verdict = answered(ms(100));
    assert!(verdict.complete && verdict.findings.is_empty());
    let unlimited = answered(Duration::MAX);
    assert_eq!(unlimited.findings[0].stall(), Some(ms(29_980)), "the short timer fires first, on time");
    assert!(unlimited.counters.executions > verdict.counters.executions);
}

#[test]
fn a_timeout_without_an_answer_needs_no_stall() {
    let verdict = within(ms(0), || async {
        let (_tx, rx) = oneshot::channel::<()>();
        timeout(Duration::from_secs(30), rx).await.expect("an answer in time").unwrap();
    });
    assert_eq!(verdict.findings[0].stall(), None);
}

#[test]
fn timers_fire_in_order_unless_a_stall_covers_the_difference() {
    let raced = |stall| {
        within(stall, || async {
            let (tx, mut rx) = mpsc::channel(2);
            for (name, wait) in [("first", 1_000), ("second", 1_010)] {
                let tx = tx.clone();
                tokio::spawn(async move {
                    sleep(ms(wait)).await;
                    tx.send(name).await.unwrap();
                });
            }
            assert_eq!(rx.recv().await, Some("first"));
        })
    };
    assert!(raced(ms(9)).findings.is_empty());
    assert_eq!(raced(ms(10)).findings[0].stall(), Some(ms(10)));
}

#[test]
fn the_shortest_stall_is_kept() {
    // Found with both timers; the first one needs less.
    let verdict = within(ms(100), || async {
        let (tx, mut rx) = mpsc::channel::<u8>(1);
        tokio::spawn(async move { tx.send(1).await });
        tokio::select! {
            () = sleep(ms(30)) => panic!("no answer"),
            () = sleep(ms(3)) => panic!("no answer"),
            _ = rx.recv() => {}
        }
    });
    let stalls: Vec<_> = verdict.findings.iter().map(whippet_model::Finding::stall).collect();
    assert!(stalls.contains(&Some(ms(3))), "{stalls:?}");
}

/// A task collects the results of others until it is told to stop, in a way that is not seen. It has 15 ms for the result, and less
/// only if the runtime stalls.
#[test]
fn a_task_that_is_woken_by_unseen_memory_is_runnable() {
    let body = || async {
        let (stop, seen) = (Arc::new(Place::default()), Arc::new(Mutex::new(Vec::new())));
        let (stopped, out) = (stop.clone(), seen.clone());
        tokio::spawn(async move {
            let mut tasks = tokio::task::JoinSet::new();
            tasks.spawn(async {
                sleep(ms(15)).await;
                1
            });
            loop {
                tokio::select! {
                    biased;
                    _ = stopped.take() => break,
                    Some(Ok(result)) = tasks.join_next() => out.lock().unwrap().push(result),
                }
            }
        });
        sleep(ms(30)).await;
        let seen = seen.lock().unwrap().clone();
        stop.put(0);
        assert_eq!(seen, [1]);
    };
    for stall in [0, 14] {
        let verdict = within(ms(stall), body);
        assert!(verdict.findings.is_empty(), "{stall}: {:?}", verdict.findings);
    }
    let verdict = within(ms(15), body);
    let stalls: Vec<_> = verdict.findings.iter().map(whippet_model::Finding::stall).collect();
    assert_eq!(stalls, [Some(ms(15))]);
}

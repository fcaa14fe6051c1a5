//! Tests tokio's companion crates on the shim: streams, and types that tokio-util builds on channels.

use crate::common::explore;
use std::future::Future;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::{BroadcastStream, IntervalStream, ReceiverStream, UnboundedReceiverStream, WatchStream};
use tokio_util::sync::{CancellationToken, PollSemaphore, PollSender};
use tokio_util::task::TaskTracker;
use whippet_search::Reduction;

/// Asserts that one execution per order gives exactly these outcomes, without findings.
fn outcomes<F>(expected: &[&str], body: impl Fn() -> F + Send + Sync + 'static)
where
    F: Future<Output = String> + 'static,
{
    let (verdict, seen) = explore(Reduction::Optimal, body);
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    assert_eq!(seen, expected, "{} executions", verdict.counters.executions);
}

/// Asserts that random executions show these outcomes. If a crate shares memory of its own (`std` locks and atomics),
/// one execution per order of tokio's operations is not enough, unless that crate is hooked.
fn sampled<F>(expected: &[&str], body: impl Fn() -> F + Send + Sync + 'static)
where
    F: Future<Output = String> + 'static,
{
    let (verdict, seen) = explore(Reduction::Random, body);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_receiver_as_a_stream() {
    outcomes(&["ab", "ba"], || async {
        let (tx, rx) = mpsc::channel(4);
        for name in ["a", "b"] {
            let tx = tx.clone();
            tokio::spawn(async move { tx.send(name).await.unwrap() });
        }
        drop(tx);
        ReceiverStream::new(rx).collect::<String>().await
    });
}

#[test]
fn two_streams_merged() {
    outcomes(&["ab", "ba"], || async {
        let (a, from_a) = mpsc::unbounded_channel();
        let (b, from_b) = mpsc::unbounded_channel();
        tokio::spawn(async move { a.send("a").unwrap() });
        tokio::spawn(async move { b.send("b").unwrap() });
        UnboundedReceiverStream::new(from_a).merge(UnboundedReceiverStream::new(from_b)).collect::<String>().await
    });
}

#[test]
fn broadcast_and_watch_as_streams() {
    outcomes(&["12 2"], || async {
        let (tx, rx) = broadcast::channel(4);
        let (set, seen) = watch::channel(0);
        for n in [1, 2] {
            tx.send(n).unwrap();
            set.send(n).unwrap();
        }
        drop((tx, set));
        let all: Vec<String> = BroadcastStream::new(rx).map(|n| n.unwrap().to_string()).collect().await;
        let newest: Vec<String> = WatchStream::new(seen).map(|n| n.to_string()).collect().await;
        format!("{} {}", all.concat(), newest.concat())
    });
}

#[test]
fn ticks_as_a_stream() {
    outcomes(&["3"], || async {
        let ticks = IntervalStream::new(tokio::time::interval(Duration::from_secs(1)));
        ticks.take(3).collect::<Vec<_>>().await.len().to_string()
    });
}

#[test]
fn a_token_that_is_cancelled() {
    // The token's flag is memory of its own. If the message has also arrived when the worker polls, either branch may
    // run.
    sampled(&["cancelled", "done"], || async {
        let token = CancellationToken::new();
        let child = token.child_token();
        let (tx, mut rx) = mpsc::unbounded_channel();
        let worker = tokio::spawn(async move {
            tokio::select! {
                () = child.cancelled() => "cancelled",
                _ = rx.recv() => "done",
            }
        });
        let sender = tokio::spawn(async move { tx.send(()).unwrap_or_default() });
        token.cancel();
        sender.await.unwrap();
        worker.await.unwrap().into()
    });
}

#[test]
fn a_sender_that_is_polled() {
    outcomes(&["1"], || async {
        let (tx, mut rx) = mpsc::channel(1);
        let mut sender = PollSender::new(tx);
        let task = tokio::spawn(async move {
            std::future::poll_fn(|cx| sender.poll_reserve(cx)).await.unwrap();
            sender.send_item(1).unwrap();
        });
        let got = rx.recv().await.unwrap();
        task.await.unwrap();
        got.to_string()
    });
}

#[test]
fn a_semaphore_that_is_polled() {
    outcomes(&["true"], || async {
        let semaphore = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
        let held = semaphore.clone().acquire_owned().await.unwrap();
        let mut polled = PollSemaphore::new(semaphore);
        tokio::spawn(async move { drop(held) });
        std::future::poll_fn(|cx| polled.poll_acquire(cx)).await.is_some().to_string()
    });
}

#[test]
fn tasks_that_are_tracked() {
    sampled(&["ab", "ba"], || async {
        let tracker = TaskTracker::new();
        let (tx, rx) = mpsc::unbounded_channel();
        for name in ["a", "b"] {
            let tx = tx.clone();
            tracker.spawn(async move { tx.send(name).unwrap() });
        }
        drop(tx);
        tracker.close();
        tracker.wait().await;
        UnboundedReceiverStream::new(rx).collect::<String>().await
    });
}

#[test]
fn memory_that_is_not_seen_is_an_error_where_it_shows() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let program = whippet_runtime::TaskProgram::new("hidden", whippet_runtime::Settings::default(), || async {
        let hidden = std::sync::Arc::new(AtomicBool::new(false));
        let (tx, mut rx) = mpsc::unbounded_channel();
        let other = (hidden.clone(), tx.clone());
        let one = tokio::spawn(async move {
            tx.send(1).unwrap();
            hidden.store(true, Ordering::SeqCst);
            tokio::task::yield_now().await;
        });
        let two = tokio::spawn(async move {
            tokio::task::yield_now().await;
            if !other.0.load(Ordering::SeqCst) {
                other.1.send(2).unwrap();
                other.1.send(3).unwrap();
            }
        });
        one.await.unwrap();
        two.await.unwrap();
        rx.recv().await;
    });
    // Either the search does not depend on this memory or it reports the cause; it never fails with an internal error.
    if let Err(error) = program.explore(&whippet_search::Options::default(), &()) {
        assert!(error.to_string().contains("memory that whippet does not see"), "{error}");
    }
}

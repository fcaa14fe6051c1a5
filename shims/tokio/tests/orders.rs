//! Regression tests: for each kind of order that the search once missed, the smallest program that shows it.
//!
//! The outcomes are those of the reference model in `dev/tokio-reference`, or of the real tokio under stress.

use crate::common::outcomes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Barrier, Notify, OnceCell, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// A sender that waits for capacity gets a place that was freed before the receiver is dropped.
#[test]
fn a_waiting_sender_is_served_before_the_receiver_is_dropped() {
    outcomes(&["closed", "sent"], || async {
        let (tx, mut rx) = mpsc::channel(1);
        let receiver = tokio::spawn(async move {
            rx.recv().await;
            drop(rx);
        });
        tx.send(1).await.unwrap();
        let second = tx.send(2).await;
        receiver.await.unwrap();
        if second.is_ok() { "sent" } else { "closed" }.into()
    });
}

#[test]
fn a_waiting_sender_in_a_select_is_served_before_the_receiver_is_dropped() {
    outcomes(&["closed", "sent"], || async {
        let (_keep, mut other) = mpsc::channel::<i32>(1);
        let (tx, mut rx) = mpsc::channel::<i32>(1);
        let receiver = tokio::spawn(async move {
            rx.recv().await;
            drop(rx);
        });
        let sender = tokio::spawn(async move {
            tx.send(1).await.unwrap();
            tokio::select! { biased; _ = other.recv() => false, sent = tx.send(2) => sent.is_ok() }
        });
        receiver.await.unwrap();
        if sender.await.unwrap() { "sent" } else { "closed" }.into()
    });
}

#[test]
fn a_permit_is_got_before_the_semaphore_is_closed() {
    outcomes(&["closed", "permit"], || async {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiting = semaphore.clone();
        let waiter = tokio::spawn(async move { waiting.acquire().await.is_ok() });
        semaphore.add_permits(1);
        semaphore.close();
        if waiter.await.unwrap() { "permit" } else { "closed" }.into()
    });
}

/// A free permit is acquired immediately: closing the semaphore later has no effect on it.
#[test]
fn a_free_permit_is_got_at_once() {
    outcomes(&["true"], || async {
        let semaphore = Arc::new(Semaphore::new(0));
        let (waiting, (tx, rx)) = (semaphore.clone(), oneshot::channel());
        let waiter = tokio::spawn(async move {
            rx.await.unwrap();
            let permit = waiting.acquire().await;
            waiting.close();
            permit.is_ok()
        });
        semaphore.add_permits(1);
        tx.send(()).unwrap();
        waiter.await.unwrap().to_string()
    });
}

/// A running task that is aborted continues until it next waits; it may act after later operations of the aborter.
#[test]
fn an_aborted_task_goes_on_until_it_waits() {
    outcomes(&["nothing", "took 1"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let (out, mut seen) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let value: i32 = rx.recv().await.unwrap();
            out.send(value).unwrap();
        });
        task.abort();
        let _ = tx.send(1);
        match seen.recv().await {
            Some(value) => format!("took {value}"),
            None => "nothing".into(),
        }
    });
}

/// The value of a cell is visible as soon as it is set, and not before. The timeout never expires: `timeout` polls the
/// future before the timer, and the future is ready at its second poll.
#[test]
fn a_cell_is_set_between_two_looks() {
    outcomes(&["1 none", "1 set"], || async {
        let cell = Arc::new(OnceCell::new());
        let other = cell.clone();
        let maker = tokio::spawn(async move {
            let make = || async {
                tokio::task::yield_now().await;
                1
            };
            timeout(Duration::from_secs(1), other.get_or_init(make)).await.map_or(0, |value| *value)
        });
        let seen = if cell.get().is_some() { "set" } else { "none" };
        format!("{} {seen}", maker.await.unwrap())
    });
}

/// An arrival at a barrier counts even if the wait is cancelled.
#[test]
fn an_arrival_at_a_barrier_counts_after_a_timeout() {
    outcomes(&["false true", "true false", "true true"], || async {
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        let first = timeout(Duration::from_secs(1), barrier.wait());
        let task = tokio::spawn(async move { other.wait().await.is_leader() });
        let passed = first.await.is_ok();
        format!("{passed} {}", task.await.unwrap())
    });
}

/// Every branch of an unbiased `select!` that is ready can be taken.
#[test]
fn each_ready_branch_of_a_select_can_be_taken() {
    outcomes(&["a", "b", "c"], || async {
        let (a, b, c) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(1)), oneshot::channel());
        c.0.send(()).unwrap();
        a.notify_one();
        tokio::select! {
            () = a.notified() => "a".into(),
            _ = b.acquire() => "b".into(),
            _ = c.1 => "c".into(),
        }
    });
}

/// A biased `select!` takes the first ready branch in every execution that user code observes, including those that the
/// search only uses to learn about the program.
#[test]
fn a_biased_select_never_passes_over_a_ready_branch() {
    let wrong = Arc::new(AtomicUsize::new(0));
    let passed_over = wrong.clone();
    outcomes(&["first"], move || {
        let passed_over = passed_over.clone();
        async move {
            let (tx, rx) = oneshot::channel();
            tx.send(()).unwrap();
            let (other, mut events) = mpsc::unbounded_channel();
            let acts = async {
                other.send(()).unwrap();
                passed_over.fetch_add(1, Ordering::Relaxed);
            };
            let taken = tokio::select! { biased; _ = rx => "first", () = acts => "second" };
            assert!(events.try_recv().is_err(), "the second branch was polled");
            taken.into()
        }
    });
    let wrong_in_all = wrong.load(Ordering::Relaxed);
    assert_eq!(wrong_in_all, 0, "a later branch was taken while an earlier one was ready");
}

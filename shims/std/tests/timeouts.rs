//! Tests of waits with a timeout, each with its expected outcomes.

use crate::common::outcomes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whippet_std::sync::{Condvar, Mutex};
use whippet_std::thread;

type Flag = Arc<(Mutex<bool>, Condvar)>;

fn set(flag: &Flag) {
    *flag.0.lock().unwrap() = true;
    flag.1.notify_one();
}

/// Returns the virtual time in milliseconds.
#[track_caller]
fn milliseconds() -> u64 {
    whippet_runtime::now(std::panic::Location::caller()) / 1_000_000
}

#[test]
fn wait_timeout_is_notified_or_times_out() {
    outcomes(&["false timed out", "true notified", "true timed out"], || async {
        let flag = Flag::default();
        let theirs = flag.clone();
        let other = thread::spawn(move || set(&theirs));
        let guard = flag.0.lock().unwrap();
        let (guard, result) = if *guard {
            (guard, "notified")
        } else {
            let (guard, result) = flag.1.wait_timeout(guard, Duration::from_millis(5)).unwrap();
            (guard, if result.timed_out() { "timed out" } else { "notified" })
        };
        let seen = format!("{} {result}", *guard);
        drop(guard);
        other.join().unwrap();
        seen
    });
}

#[test]
fn wait_timeout_while_keeps_its_deadline() {
    // A notification that leaves the condition unchanged does not extend the timeout: with a new timeout for each wait,
    // there would be outcomes after 20 and 26 ms. After 16 ms, one thread began its timeout when the other one ended.
    outcomes(&["true after 10 ms", "true after 16 ms"], || async {
        let flag = Flag::default();
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(6));
            theirs.1.notify_one();
        });
        let wait = flag.1.wait_timeout_while(flag.0.lock().unwrap(), Duration::from_millis(10), |set| !*set);
        let (guard, result) = wait.unwrap();
        let seen = format!("{} after {} ms", result.timed_out(), milliseconds());
        drop(guard);
        other.join().unwrap();
        seen
    });
}

#[test]
fn wait_timeout_ends_with_its_execution() {
    outcomes(&["done"], || async {
        let flag = Flag::default();
        thread::spawn(move || {
            let mut guard = flag.0.lock().unwrap();
            while !*guard {
                guard = flag.1.wait_timeout(guard, Duration::from_secs(1)).unwrap().0;
            }
        });
        "done".into()
    });
}

#[test]
fn wait_timeout_while_keeps_its_deadline_outside_executions() {
    let flag = Flag::default();
    let theirs = flag.clone();
    let start = Instant::now();
    let other = std::thread::spawn(move || {
        while start.elapsed() < Duration::from_millis(600) {
            theirs.1.notify_one();
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let wait = flag.1.wait_timeout_while(flag.0.lock().unwrap(), Duration::from_millis(100), |set| !*set);
    assert!(wait.unwrap().1.timed_out());
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    other.join().unwrap();
}

//! Locks of the shim under exploration.

use parking_lot::{Condvar, Mutex, Once, RwLock};
use std::sync::Arc;
use whippet_model::Verdict;
use whippet_runtime::{Settings, TaskProgram, spawn};
use whippet_search::Options;

/// Explores a program.
fn explored<F: Future<Output = ()> + 'static>(body: impl Fn() -> F + Send + Sync + 'static) -> Verdict {
    TaskProgram::new("locks", Settings::default(), body).explore(&Options::default(), &()).unwrap()
}

/// Starts a task.
fn task(body: impl FnOnce() + Send + 'static) {
    drop(spawn("task", async move { body() }, std::panic::Location::caller(), None));
}

#[test]
fn two_tasks_take_turns() {
    let verdict = explored(|| async {
        let count = Arc::new(Mutex::new(0));
        let other = count.clone();
        task(move || *other.lock() += 1);
        *count.lock() += 1;
    });
    assert!(verdict.complete && verdict.findings.is_empty() && verdict.counters.executions > 1);
}

#[test]
fn locks_in_opposite_order_block() {
    let verdict = explored(|| async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(())));
        let (c, d) = (a.clone(), b.clone());
        task(move || {
            let _d = d.write();
            drop(c.lock());
        });
        let _a = a.lock();
        drop(b.read());
    });
    assert_eq!(verdict.findings.len(), 1, "{:?}", verdict.findings);
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let verdict = explored(|| async {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = pair.clone();
        task(move || {
            other.1.notify_one();
        });
        let mut guard = pair.0.lock();
        pair.1.wait(&mut guard);
    });
    assert_eq!(verdict.findings.len(), 1, "{:?}", verdict.findings);
}

#[test]
fn a_static_is_called_once_in_each_execution() {
    static ONCE: Once = Once::new();
    static CALLS: Mutex<u32> = parking_lot::const_mutex(0);
    let verdict = explored(|| async {
        let before = *CALLS.lock();
        task(|| ONCE.call_once(|| *CALLS.lock() += 1));
        ONCE.call_once(|| *CALLS.lock() += 1);
        assert_eq!(*CALLS.lock(), before + 1);
    });
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
}

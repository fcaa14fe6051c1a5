//! Tests of small programs with threads, channels and parking, each with its expected outcomes.

use crate::common::{explore, outcomes};
use std::sync::Arc;
use whippet_model::{Explain, FindingKind, Machine, Program};
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction};
use whippet_std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use whippet_std::sync::{Mutex, mpsc};
use whippet_std::thread;

#[test]
fn two_threads_send_to_one() {
    outcomes(&["ab", "ba"], || async {
        let (tx, rx) = mpsc::channel();
        for name in ["a", "b"] {
            let tx = tx.clone();
            thread::spawn(move || tx.send(name).unwrap());
        }
        drop(tx);
        rx.iter().collect()
    });
}

#[test]
fn full_channel_blocks_sender() {
    outcomes(&["Empty 1 2 3", "Ok(1) 2 3"], || async {
        let (tx, rx) = mpsc::sync_channel(1);
        let sender = thread::spawn(move || (1..4).for_each(|n| tx.send(n).unwrap()));
        let first = rx.try_recv();
        let rest: Vec<String> = rx.into_iter().map(|n: u32| n.to_string()).collect();
        sender.join().unwrap();
        let first = first.map_or_else(|error| format!("{error:?}"), |n| format!("Ok({n})"));
        format!("{first} {}", rest.join(" "))
    });
}

#[test]
fn recv_timeout_receives_or_times_out() {
    outcomes(&["Ok(1) true", "Timeout false", "Timeout true"], || async {
        let (tx, rx) = mpsc::channel();
        let sender = thread::spawn(move || tx.send(1).is_ok());
        let got = rx.recv_timeout(std::time::Duration::from_secs(1));
        drop(rx);
        let sent = sender.join().unwrap();
        format!("{} {sent}", got.map_or_else(|error| format!("{error:?}"), |n: u32| format!("Ok({n})")))
    });
}

#[test]
fn disconnected_channel() {
    outcomes(&["Err(RecvError) Disconnected Err(SendError { .. }) Err(TrySendError::Disconnected(..))"], || async {
        let (tx, rx) = mpsc::channel::<u32>();
        drop(tx);
        let (ended, again) = (rx.recv(), rx.try_recv().unwrap_err());
        let (tx, rx) = mpsc::sync_channel(1);
        drop(rx);
        format!("{ended:?} {again:?} {:?} {:?}", tx.send(1), tx.try_send(2))
    });
}

#[test]
fn rendezvous_channel_is_rejected() {
    let program = TaskProgram::new("test", Settings::default(), || async {
        let _ends = mpsc::sync_channel::<()>(0);
    });
    let error = program.explore(&Options::default(), &()).unwrap_err().to_string();
    assert!(error.contains("sync_channel(0)") && error.contains("tests/threads.rs:"), "{error}");
}

#[test]
fn scoped_threads_borrow() {
    outcomes(&["1 1", "1 2", "2 2"], || async {
        let (first, count) = (AtomicU32::new(0), AtomicU32::new(0));
        let seen = thread::scope(|scope| {
            for n in 1..3 {
                let (first, count) = (&first, &count);
                scope.spawn(move || {
                    let _ = first.compare_exchange(0, n, SeqCst, SeqCst);
                    count.fetch_add(1, SeqCst);
                });
            }
            let last = scope.spawn(|| count.load(SeqCst).max(1));
            last.join().unwrap()
        });
        assert_eq!(count.load(SeqCst), 2);
        format!("{} {}", first.load(SeqCst).min(seen), seen.max(first.load(SeqCst)))
    });
}

/// The scoped threads are dropped before the values that they borrow.
#[test]
fn scope_that_never_ends_deadlocks() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (text, lock) = (String::from("borrowed"), Mutex::new(()));
        let _guard = lock.lock();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _guard = lock.lock();
                assert_eq!(text, "borrowed");
            });
        });
        String::new()
    });
    assert_eq!(verdict.findings[0].kind, FindingKind::Deadlock, "{:?}", verdict.findings);
}

#[test]
fn panic_in_scope() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        thread::scope(|scope| {
            scope.spawn(|| panic!("no"));
        });
        String::new()
    });
    assert!(verdict.findings.iter().any(|finding| finding.message == "a scoped thread panicked"), "{verdict:?}");
}

/// Two unparks before the thread continues count as one; the second `park` then blocks forever.
#[test]
fn two_unparks_may_count_once() {
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let (verdict, seen) = explore(reduction, || async {
            let parked = thread::spawn(|| {
                thread::park();
                thread::park();
            });
            parked.thread().unpark();
            parked.thread().unpark();
            parked.join().unwrap();
            "twice".into()
        });
        assert_eq!(seen.iter().collect::<Vec<_>>(), ["twice"]);
        assert_eq!(verdict.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::Deadlock]);
    }
}

#[test]
fn park_timeout_is_unparked_or_times_out() {
    outcomes(&["0", "1"], || async {
        let (me, count) = (thread::current(), Arc::new(AtomicU32::new(0)));
        let theirs = count.clone();
        let other = thread::spawn(move || {
            theirs.store(1, SeqCst);
            me.unpark();
        });
        thread::park_timeout(std::time::Duration::from_secs(1));
        let seen = count.load(SeqCst);
        other.join().unwrap();
        seen.to_string()
    });
}

#[test]
fn park_without_unpark_deadlocks() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let me = thread::current();
        let other = thread::spawn(move || me.unpark());
        thread::park();
        other.join().unwrap();
        thread::park();
        String::new()
    });
    assert_eq!(verdict.findings[0].kind, FindingKind::Deadlock, "{:?}", verdict.findings);
}

/// A value that takes a lock when it is dropped.
struct Wants(Arc<Mutex<u32>>);

impl Drop for Wants {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
fn unfinished_execution_is_torn_down() {
    let program = TaskProgram::new("left", Settings::default(), || async {
        let (lock, step) = (Arc::new(Mutex::new(0)), AtomicU32::new(0));
        let theirs = lock.clone();
        // Two values: dropping the first one unwinds, because the lock is held, and the second one is dropped during
        // unwinding.
        let wanted = [Wants(lock.clone()), Wants(lock)];
        let body = async move {
            let guard = theirs.lock().unwrap();
            step.store(1, SeqCst);
            drop(guard);
        };
        drop(whippet_runtime::spawn("task", body, std::panic::Location::caller(), None));
        std::future::pending::<()>().await;
        drop(wanted);
    });
    let mut machine = program.machine(&Default::default()).unwrap();
    // Execute up to the step that requests the lock. No other task wants it, so it is held from then on.
    loop {
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled).unwrap();
        machine.execute(enabled[0]).unwrap();
        if machine.describe(machine.depth() - 1).action.starts_with("requests") {
            break;
        }
    }
    drop(machine);
}

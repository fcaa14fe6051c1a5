//! Less common parts of tokio's API, with their expected outcomes.

use crate::common::outcomes;
use std::sync::Arc;
use tokio::sync::{Notify, OnceCell, RwLock, SetOnce, broadcast, mpsc, watch};
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::Options;

#[test]
fn counts_of_senders_change_with_each_clone_and_drop() {
    outcomes(&["1", "2", "3"], || async {
        let (tx, rx) = mpsc::unbounded_channel::<()>();
        let other = tx.clone();
        let task = tokio::spawn(async move { drop((other.clone(), other)) });
        let seen = rx.sender_strong_count();
        task.await.unwrap();
        seen.to_string()
    });
}

#[test]
fn counts_of_receivers_change_with_each_clone_and_drop() {
    outcomes(&["1", "2", "3"], || async {
        let (tx, rx) = watch::channel(());
        let (other, more) = (rx.clone(), tx.clone());
        let task = tokio::spawn(async move {
            drop((other.clone(), other));
            drop(more);
        });
        let seen = tx.receiver_count();
        task.await.unwrap();
        assert_eq!((tx.sender_count(), rx.is_closed()), (1, false));
        seen.to_string()
    });
}

#[test]
fn weak_senders_are_counted_too() {
    outcomes(&["0", "1"], || async {
        let (tx, rx) = broadcast::channel::<()>(1);
        let weak = tx.downgrade();
        let task = tokio::spawn(async move { drop(weak) });
        let seen = rx.sender_weak_count();
        task.await.unwrap();
        seen.to_string()
    });
}

/// The last receiver of a message drops it. In this program, the drop is an event.
#[test]
fn a_message_is_dropped_by_the_last_to_see_it() {
    outcomes(&["closed", "open"], || async {
        let (tx, mut one) = broadcast::channel(2);
        let mut two = tx.subscribe();
        let (inner, mut closes) = mpsc::unbounded_channel::<()>();
        tx.send(inner).unwrap();
        let task = tokio::spawn(async move { drop(two.recv().await) });
        drop(one.recv().await);
        let open = closes.try_recv() == Err(mpsc::error::TryRecvError::Empty);
        task.await.unwrap();
        assert_eq!(closes.recv().await, None);
        if open { "open".into() } else { "closed".into() }
    });
}

#[test]
fn as_many_readers_as_were_allowed() {
    outcomes(&["1", "2"], || async {
        let lock = Arc::new(RwLock::with_max_readers(0, 2));
        let (one, other) = (lock.read().await, lock.clone());
        let task = tokio::spawn(async move { *other.read().await });
        let seen = 1 + u32::from(lock.try_read().is_ok());
        drop(one);
        task.await.unwrap();
        seen.to_string()
    });
}

/// The capacity is observable also in channels with more than one place.
#[test]
fn room_in_a_channel_changes_with_each_message() {
    outcomes(&["7", "8"], || async {
        let (tx, mut rx) = mpsc::channel(8);
        let other = tx.clone();
        let task = tokio::spawn(async move { other.send(()).await.unwrap() });
        let seen = tx.capacity();
        task.await.unwrap();
        rx.recv().await;
        assert_eq!(rx.capacity(), rx.max_capacity());
        seen.to_string()
    });
}

/// Statics start with their initial state in each execution, regardless of the task that uses them first.
#[test]
fn statics_begin_anew() {
    static CELL: OnceCell<u32> = OnceCell::const_new();
    static SET: SetOnce<u32> = SetOnce::const_new();
    static NOTIFY: Notify = Notify::const_new();
    outcomes(&["1 1", "1 2", "2 1", "2 2"], || async {
        let tasks = [1, 2].map(|n| {
            tokio::spawn(async move {
                let _ = SET.set(n);
                CELL.get_or_init(|| async { n }).await;
                NOTIFY.notify_one();
            })
        });
        NOTIFY.notified().await;
        let text = format!("{} {}", CELL.get().unwrap(), SET.wait().await);
        for task in tasks {
            task.await.unwrap();
        }
        text
    });
}

#[test]
fn tasks_are_built() {
    outcomes(&["6"], || async {
        let runtime = tokio::runtime::Handle::current();
        let builder = tokio::task::Builder::new().name("one");
        let one = builder.spawn_on(async { 1 }, &runtime).unwrap();
        let two = tokio::task::Builder::new().spawn_blocking(|| 2).unwrap();
        let mut set = tokio::task::JoinSet::new();
        set.build_task().name("three").spawn(async { 3 }).unwrap();
        let three = set.join_next().await.unwrap().unwrap();
        (one.await.unwrap() + two.await.unwrap() + three).to_string()
    });
}

#[test]
fn what_is_not_measured_is_named() {
    let line = line!() + 2;
    let program = TaskProgram::new("test", Settings::default(), || async {
        let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        assert_eq!(alive, 1);
    });
    let error = program.explore(&Options::default(), &()).unwrap_err().to_string();
    assert!(error.contains("runtime::RuntimeMetrics::num_alive_tasks"), "{error}");
    assert!(error.contains(&format!("tests/names.rs:{line}")), "{error}");
}

/// A thread of the operating system, as created by a crate without a shim, is reported with its operation and place.
#[test]
fn a_thread_of_the_operating_system_is_named() {
    let line = line!() + 3;
    let program = TaskProgram::new("test", Settings::default(), || async {
        let (tx, rx) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || tx.send(5));
        let _ = rx.await;
    });
    let error = program.explore(&Options::default(), &()).unwrap_err().to_string();
    assert!(error.contains("whippet does not model threads of the operating system"), "{error}");
    assert!(error.contains(&format!("it sends i32 to oneshot 1 at {}:{line}", file!())), "{error}");
}

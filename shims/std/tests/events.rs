//! Tests of small programs that share memory through `std`, each with its expected outcomes.

use crate::common::{explore, outcomes};
use std::collections::BTreeSet;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_model::FindingKind;
use whippet_runtime::Point;
use whippet_runtime::{Action, Ends, WaitTarget, Waiter};
use whippet_search::Reduction;
use whippet_std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use whippet_std::sync::{Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock};
use whippet_std::thread;

/// A task that can be awaited.
struct Task(Arc<dyn Ends>, Waiter);

#[track_caller]
fn spawn(work: impl FnOnce() + 'static) -> Task {
    Task(whippet_runtime::spawn("task", async move { work() }, Location::caller(), None), Waiter::new())
}

impl Future for Task {
    type Output = ();
    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Task(task, waiter) = &mut *self;
        let place = Location::caller();
        waiter.poll(cx, || (WaitTarget::Object(task.clone(), 0), Action::new(Point::Joins, task.end().object, place)))
    }
}

/// Runs two tasks that share a value. Returns the final state of the value, formatted by `end`.
async fn two<T: 'static>(shared: T, work: fn(&T), other: fn(&T), end: fn(&T) -> String) -> String {
    let shared = Arc::new(shared);
    let (a, b) = (shared.clone(), shared.clone());
    let (one, two) = (spawn(move || work(&a)), spawn(move || other(&b)));
    one.await;
    two.await;
    end(&shared)
}

#[test]
fn load_then_store_loses_an_update() {
    let add = |count: &AtomicU32| count.store(count.load(SeqCst) + 1, SeqCst);
    outcomes(&["1", "2"], move || two(AtomicU32::new(0), add, add, |count| count.load(SeqCst).to_string()));
}

#[test]
fn fetch_add_is_atomic() {
    let add = |count: &AtomicU32| {
        count.fetch_add(1, SeqCst);
    };
    outcomes(&["2"], move || two(AtomicU32::new(0), add, add, |count| count.load(SeqCst).to_string()));
}

#[test]
fn one_compare_exchange_wins() {
    let shared = || (AtomicU32::new(0), AtomicU32::new(0));
    let take = |(owner, won): &(AtomicU32, AtomicU32)| {
        if owner.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
            won.fetch_add(1, SeqCst);
        }
    };
    outcomes(&["1"], move || two(shared(), take, take, |(_, won)| won.load(SeqCst).to_string()));
}

#[test]
fn store_buffering() {
    // Under sequential consistency, at least one of the two loads sees the other task's store.
    let shared = || (AtomicBool::new(false), AtomicBool::new(false), AtomicU32::new(0));
    outcomes(&["1", "2", "3"], move || {
        two(
            shared(),
            |(a, b, seen)| {
                a.store(true, SeqCst);
                if b.load(SeqCst) {
                    seen.fetch_or(1, SeqCst);
                }
            },
            |(a, b, seen)| {
                b.store(true, SeqCst);
                if a.load(SeqCst) {
                    seen.fetch_or(2, SeqCst);
                }
            },
            |(_, _, seen)| seen.load(SeqCst).to_string(),
        )
    });
}

#[test]
fn static_atomics_are_reset() {
    static COUNT: AtomicU32 = AtomicU32::new(7);
    let add = |(): &()| {
        COUNT.fetch_add(1, SeqCst);
    };
    outcomes(&["9"], move || two((), add, add, |()| COUNT.load(SeqCst).to_string()));
}

#[test]
fn mutex_excludes() {
    let add = |count: &Mutex<u32>| *count.lock().unwrap() += 1;
    outcomes(&["2"], move || two(Mutex::new(0), add, add, |count| count.lock().unwrap().to_string()));
    let careless = |count: &Mutex<u32>| {
        let seen = *count.lock().unwrap();
        *count.lock().unwrap() = seen + 1;
    };
    outcomes(&["1", "2"], move || two(Mutex::new(0), careless, careless, |count| count.lock().unwrap().to_string()));
}

#[test]
fn try_lock_succeeds_or_fails() {
    let shared = || (Mutex::new(()), AtomicU32::new(0));
    let attempt = |(lock, got): &(Mutex<()>, AtomicU32)| {
        if let Ok(_guard) = lock.try_lock() {
            got.fetch_add(1, SeqCst);
        }
    };
    outcomes(&["1", "2"], move || two(shared(), attempt, attempt, |(_, got)| got.load(SeqCst).to_string()));
}

#[test]
fn lock_order_inversion_deadlocks() {
    let (verdict, _) = explore(Reduction::Optimal, || {
        two(
            (Mutex::new(()), Mutex::new(())),
            |(a, b)| drop((a.lock().unwrap(), b.lock().unwrap())),
            |(a, b)| drop((b.lock().unwrap(), a.lock().unwrap())),
            |_| String::new(),
        )
    });
    assert!(verdict.complete);
    assert!(verdict.findings.iter().any(|finding| finding.kind == FindingKind::Deadlock), "{verdict:?}");
}

#[test]
fn readers_and_a_writer() {
    let shared = || (RwLock::new(0), AtomicU32::new(0));
    outcomes(&["0", "5"], move || {
        two(
            shared(),
            |(value, _)| *value.write().unwrap() = 5,
            |(value, seen)| {
                let value = value.read().unwrap();
                seen.store(*value, SeqCst);
            },
            |(_, seen)| seen.load(SeqCst).to_string(),
        )
    });
}

#[test]
fn condvar_passes_value() {
    outcomes(&["1"], || {
        two(
            (Mutex::new(0), Condvar::new()),
            |(value, set)| {
                *value.lock().unwrap() = 1;
                set.notify_one();
            },
            |(value, set)| drop(set.wait_while(value.lock().unwrap(), |value| *value == 0).unwrap()),
            |(value, _)| value.lock().unwrap().to_string(),
        )
    });
}

#[test]
fn early_notification_is_lost() {
    let (verdict, _) = explore(Reduction::Optimal, || {
        two(
            (Mutex::new(()), Condvar::new()),
            |(_, set)| set.notify_one(),
            |(value, set)| drop(set.wait(value.lock().unwrap()).unwrap()),
            |_| String::new(),
        )
    });
    assert!(verdict.findings.iter().any(|finding| finding.kind == FindingKind::Deadlock), "{verdict:?}");
}

#[test]
fn once_lock_keeps_first_value() {
    outcomes(&["1", "2"], || {
        two(
            OnceLock::new(),
            |cell| {
                let _ = cell.set(1);
            },
            |cell| {
                cell.get_or_init(|| 2);
            },
            |cell| cell.get().unwrap().to_string(),
        )
    });
}

#[test]
fn lazy_lock_initializes_once() {
    outcomes(&["1"], || {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let lazy: LazyLock<u32> = LazyLock::new(|| MADE.fetch_add(1, SeqCst) + 1);
        two(lazy, |lazy| assert_eq!(**lazy, 1), |lazy| assert_eq!(**lazy, 1), |lazy| lazy.to_string())
    });
}

#[test]
fn barrier_has_one_leader() {
    let shared = || (Barrier::new(2), AtomicU32::new(0));
    let meet = |(barrier, leaders): &(Barrier, AtomicU32)| {
        if barrier.wait().is_leader() {
            leaders.fetch_add(1, SeqCst);
        }
    };
    let (verdict, seen) =
        explore(Reduction::Optimal, move || two(shared(), meet, meet, |(_, leaders)| leaders.load(SeqCst).to_string()));
    assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
    assert_eq!(seen, BTreeSet::from(["1".to_string()]));
}

#[test]
fn panic_poisons_mutex() {
    outcomes(&["false", "true"], || async {
        let lock = Arc::new(Mutex::new(()));
        let (other, seen) = (lock.clone(), lock.clone());
        let task = spawn(move || {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _guard = other.lock();
                panic!("on purpose");
            }));
            assert!(caught.is_err());
        });
        let poisoned = seen.lock().is_err();
        task.await;
        poisoned.to_string()
    });
}

#[test]
fn threads_are_tasks() {
    let add = |count: &AtomicU32| count.store(count.load(SeqCst) + 1, SeqCst);
    outcomes(&["1", "2"], move || async move {
        let count = Arc::new(AtomicU32::new(0));
        let threads = [count.clone(), count.clone()].map(|count| thread::spawn(move || add(&count)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        count.load(SeqCst).to_string()
    });
}

#[test]
fn join_returns_panic() {
    outcomes(&["oh"], || async {
        let thread = thread::Builder::new().name("one".into()).spawn(|| panic!("oh")).unwrap();
        (*thread.join().unwrap_err().downcast_ref::<&str>().unwrap()).to_string()
    });
}

#[test]
fn sleep_is_virtual() {
    outcomes(&["a", "b"], || async {
        let first = Arc::new(OnceLock::new());
        let threads = ["a", "b"].map(|name| {
            let first = first.clone();
            thread::spawn(move || {
                thread::sleep(std::time::Duration::from_secs(1_000_000));
                let _ = first.set(name);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        first.get().unwrap().to_string()
    });
}

/// An aborted task takes a lock while its values are dropped. It gets the lock only when it is free.
#[test]
fn aborted_tasks_can_use_locks() {
    struct AtEnd(Arc<Mutex<u32>>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    outcomes(&["2"], || async {
        let count = Arc::new(Mutex::new(0));
        let at_end = AtEnd(count.clone());
        let waits = async move {
            let _at_end = at_end;
            std::future::pending::<()>().await;
        };
        let task = whippet_runtime::spawn("task", waits, Location::caller(), None);
        let other = count.clone();
        let other = spawn(move || *other.lock().unwrap() += 1);
        task.end().abort(Location::caller());
        other.await;
        Task(task, Waiter::new()).await;
        let count = *count.lock().unwrap();
        count.to_string()
    });
}

/// Values left over from an earlier execution would change the behaviour of the next one.
#[test]
fn static_cells_are_reset() {
    static SET: OnceLock<u32> = OnceLock::new();
    static MADE: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(5));
    static BY_FUNCTION: LazyLock<Mutex<u32>> = LazyLock::new(Mutex::default);
    outcomes(&["1 6 1", "2 6 1"], || async {
        let [one, two] = [1, 2].map(|n| spawn(move || SET.set(n).unwrap_or_default()));
        one.await;
        two.await;
        *MADE.lock().unwrap() += 1;
        *BY_FUNCTION.lock().unwrap() += 1;
        let (made, by_function) = (*MADE.lock().unwrap(), *BY_FUNCTION.lock().unwrap());
        format!("{} {made} {by_function}", SET.get().unwrap())
    });
}

#[test]
fn a_lock_in_a_poll_keeps_the_waits_before_it() {
    outcomes(&["2"], || async {
        let (polls, mut waiter) = (Mutex::new(0), Waiter::new());
        let place = Location::caller();
        std::future::poll_fn(|cx| {
            let ready = waiter.poll(cx, || (WaitTarget::Yield, Action::plain(Point::GoesOnAfterYielding, place)));
            let mut polls = polls.lock().unwrap();
            // A poll may be repeated.
            *polls = if ready.is_ready() { 2 } else { 1 };
            ready
        })
        .await;
        polls.lock().unwrap().to_string()
    });
}

/// A value whose destructor takes a lock.
struct Returns(Arc<Mutex<u32>>);

impl Drop for Returns {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

static SHARED: Mutex<u32> = Mutex::new(0);

/// A lock in a static that was held when an execution was left is not poisoned in the next one.
#[test]
fn locks_in_statics_are_not_poisoned_by_an_execution_that_is_left() {
    outcomes(&["done"], || async {
        let second = Arc::new(Mutex::new(0));
        let theirs = second.clone();
        spawn(move || {
            let _first = SHARED.lock().unwrap();
            *theirs.lock().unwrap() += 1;
        });
        // If this comes first, the task is left while it waits.
        std::mem::forget(second.lock().unwrap());
        String::from("done")
    });
}

/// Tasks that are in a deadlock unwind when their execution is left. Their locks are poisoned then, and a destructor that panics
/// because of this would end the process.
#[test]
fn destructors_find_no_poison_when_an_execution_is_left() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (one, two) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (a, b) = (one.clone(), two.clone());
        let task = spawn(move || {
            let _returns = Returns(a.clone());
            let _first = a.lock().unwrap();
            *b.lock().unwrap() += 1;
        });
        let other = spawn(move || {
            let _first = two.lock().unwrap();
            *one.lock().unwrap() += 1;
        });
        task.await;
        other.await;
        String::new()
    });
    assert!(verdict.findings.iter().all(|finding| finding.kind == FindingKind::Deadlock), "{:?}", verdict.findings);
    assert!(!verdict.findings.is_empty() && verdict.complete);
}

/// A lock is taken in a branch of a select whose branches act, while another task holds it.
#[test]
fn a_lock_in_a_select_is_granted() {
    outcomes(&["[1, 2]", "[2, 1]"], || async {
        let shared = Arc::new((Mutex::new(Vec::new()), AtomicU32::new(0)));
        let of_other = shared.clone();
        let other = spawn(move || {
            let mut list = of_other.0.lock().unwrap();
            of_other.1.fetch_add(1, SeqCst);
            list.push(1);
        });
        std::future::poll_fn(|_| {
            let _branches = whippet_runtime::Composite::enter();
            shared.0.lock().unwrap().push(2);
            Poll::Ready(())
        })
        .await;
        other.await;
        let list = shared.0.lock().unwrap().clone();
        format!("{list:?}")
    });
}

/// A finding in which a task holds a lock of a static: the replays of it lock this, too.
#[test]
fn a_finding_that_holds_a_lock_of_a_static_is_replayed() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let fails = |deadlocks: bool| {
        move || async move {
            let other = spawn(move || {
                let mut held = LOCK.lock().unwrap();
                *held += 1;
                assert!(deadlocks, "while it is held");
                thread::park();
            });
            spawn(|| drop(LOCK.lock())).await;
            other.await;
            String::new()
        }
    };
    for (deadlocks, kind) in [(true, FindingKind::Deadlock), (false, FindingKind::Panic)] {
        let (verdict, _) = explore(Reduction::Optimal, fails(deadlocks));
        let kinds: Vec<FindingKind> = verdict.findings.iter().map(|finding| finding.kind).collect();
        assert!(verdict.complete && !kinds.is_empty() && kinds.iter().all(|found| *found == kind), "{verdict:?}");
    }
}

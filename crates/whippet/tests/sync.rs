//! Tests of read–write locks, semaphores and condition variables: exact counts of exhaustive search, and a deadlock of
//! each.

use std::collections::BTreeSet;
use whippet::model::{FindingKind, Verdict};
use whippet::prelude::*;

fn explore(reduction: Reduction, body: impl Fn(&mut System) + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new("sync").reduction(reduction).explore(body).unwrap();
    assert!(verdict.complete);
    verdict
}

/// Explores with every search, asserts that all have the same findings, and returns the verdict of exhaustive search.
fn check(body: impl Fn(&mut System) + Send + Sync + Copy + 'static) -> Verdict {
    let found = |verdict: &Verdict| verdict.findings.iter().map(|f| (f.kind, f.key)).collect::<BTreeSet<_>>();
    let all = explore(Reduction::Exhaustive, body);
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Persistent, Reduction::Transdpor] {
        let verdict = explore(reduction, body);
        assert_eq!(found(&all), found(&verdict), "{reduction:?}");
        assert!(verdict.counters.executions <= all.counters.executions, "{reduction:?}");
    }
    all
}

/// Returns the numbers of executions, of transitions, and of executions with a problem of this kind.
fn counts(verdict: &Verdict, kind: FindingKind) -> (u64, u64, u64) {
    let seen = verdict.findings.iter().filter(|f| f.kind == kind).map(|f| f.executions).sum();
    (verdict.counters.executions, verdict.counters.transitions, seen)
}

#[test]
fn two_readers() {
    let verdict = check(|sys| {
        let lock = sys.new_rwlock();
        for _ in 0..2 {
            sys.spawn_task(async move |task| drop(task.read_lock(lock).await));
        }
    });
    // Each task takes three steps (request, grant, release); all 20 interleavings of the two are possible.
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (20, 68, 0));
}

#[test]
fn two_writers() {
    let verdict = check(|sys| {
        let lock = sys.new_rwlock();
        for _ in 0..2 {
            sys.spawn_task(async move |task| drop(task.write_lock(lock).await));
        }
    });
    // The writers run one after the other.
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (2, 12, 0));
}

#[test]
fn a_reader_and_a_writer() {
    let verdict = check(|sys| {
        let lock = sys.new_rwlock();
        sys.spawn_task(async move |task| drop(task.read_lock(lock).await));
        sys.spawn_task(async move |task| drop(task.write_lock(lock).await));
    });
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (2, 12, 0));
}

#[test]
fn readers_who_want_to_write_wait_for_ever() {
    let verdict = check(|sys| {
        let lock = sys.new_rwlock();
        for _ in 0..2 {
            sys.spawn_task(async move |task| {
                let _reading = task.read_lock(lock).await;
                let _writing = task.write_lock(lock).await;
            });
        }
    });
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (6, 18, 6));
    let message = &verdict.findings[0].message;
    assert!(message.contains("waits for rwlock, which task"), "{message}");
}

#[test]
fn a_write_under_a_lock_for_reading_is_a_race() {
    let verdict = check(|sys| {
        let (lock, variable) = (sys.new_rwlock(), sys.new_shared(0));
        for _ in 0..2 {
            sys.spawn_task(async move |task| {
                let _guard = task.read_lock(lock).await;
                task.write(variable, 1);
            });
        }
    });
    // A race in all but the two executions in which one task releases the lock before the other begins.
    assert_eq!(counts(&verdict, FindingKind::Race), (20, 68, 18));
}

/// The test continues when everything is quiet, so what was done until then happens before what it does next.
#[test]
fn settling_orders_accesses() {
    let races = |settle: bool| {
        let verdict = explore(Reduction::Optimal, move |sys| {
            let variable = sys.new_shared(0);
            let writer = sys.spawn_fn(async move |inbox: &mut Inbox<i32>| {
                let n = inbox.receive().await;
                inbox.write(variable, n);
            });
            sys.send(writer, 1);
            if settle {
                sys.finish_setup();
            }
            sys.spawn_task(async move |task| task.read(variable));
        });
        counts(&verdict, FindingKind::Race).2
    };
    assert_eq!([false, true].map(races), [1, 0]);
}

#[test]
fn writes_under_a_lock_for_writing_are_ordered() {
    let verdict = check(|sys| {
        let (lock, variable) = (sys.new_rwlock(), sys.new_shared(0));
        sys.spawn_task(async move |task| {
            let _guard = task.write_lock(lock).await;
            task.write(variable, 1);
        });
        sys.spawn_task(async move |task| {
            let _guard = task.read_lock(lock).await;
            task.read(variable)
        });
    });
    assert_eq!(counts(&verdict, FindingKind::Race), (2, 12, 0));
}

/// Spawns `TAKERS` tasks that each take `EACH` permits of a semaphore with `PERMITS` permits.
fn takers<const PERMITS: u32, const TAKERS: usize, const EACH: usize>(sys: &mut System) {
    let semaphore = sys.new_semaphore(PERMITS);
    for _ in 0..TAKERS {
        sys.spawn_task(async move |task| {
            let mut permits = Vec::new();
            for _ in 0..EACH {
                permits.push(task.acquire(semaphore).await);
            }
        });
    }
}

#[test]
fn permits() {
    assert_eq!(counts(&check(takers::<1, 2, 1>), FindingKind::Deadlock), (2, 12, 0));
    assert_eq!(counts(&check(takers::<2, 2, 1>), FindingKind::Deadlock), (20, 68, 0));
    assert_eq!(counts(&check(takers::<2, 3, 1>), FindingKind::Deadlock), (384, 1371, 0));
}

#[test]
fn two_who_need_both_permits() {
    let verdict = check(takers::<2, 2, 2>);
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (30, 130, 6));
    let message = &verdict.findings[0].message;
    assert!(message.contains("waits for semaphore, which task"), "{message}");
}

#[test]
fn a_permit_as_a_signal() {
    let verdict = check(|sys| {
        let (ready, variable) = (sys.new_semaphore(0), sys.new_shared(0));
        sys.spawn_task(async move |task| {
            task.write(variable, 1);
            task.add_permit(ready);
        });
        sys.spawn_task(async move |task| {
            task.acquire(ready).await.forget();
            assert_eq!(task.read(variable), 1);
        });
    });
    assert_eq!(counts(&verdict, FindingKind::Race), (1, 3, 0));
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
}

/// Spawns tasks that wait until a variable is set, and a notifier that sets it. The waiters read the variable before
/// their first wait if `ask`; the notifier wakes all of them if `all`, and otherwise one.
fn meeting(sys: &mut System, waiters: usize, ask: bool, all: bool) {
    let (mutex, changed, full) = (sys.new_mutex(), sys.new_condvar(), sys.new_shared(false));
    for _ in 0..waiters {
        sys.spawn_task(async move |task| {
            let mut guard = task.lock(mutex).await;
            if !ask {
                guard = task.wait_on(changed, guard).await;
            }
            while !task.read(full) {
                guard = task.wait_on(changed, guard).await;
            }
            drop(guard);
        });
    }
    sys.spawn_fn_named("notifier", async move |task: &mut Inbox<()>| {
        let _guard = task.lock(mutex).await;
        task.write(full, true);
        if all {
            task.notify_all(changed).await;
        } else {
            task.notify_one(changed).await;
        }
    });
}

#[test]
fn whoever_asks_before_waiting_is_woken() {
    let verdict = check(|sys| meeting(sys, 1, true, false));
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (7, 52, 0));
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
}

#[test]
fn whoever_does_not_ask_misses_what_came_before() {
    let verdict = check(|sys| meeting(sys, 1, false, false));
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (7, 54, 1));
    let message = &verdict.findings[0].message;
    assert!(message.starts_with("task waits for condvar (at "), "{message}");
}

#[test]
fn one_notification_is_not_enough_for_two() {
    let verdict = check(|sys| meeting(sys, 2, true, false));
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (80, 557, 24));
    let verdict = check(|sys| meeting(sys, 2, true, true));
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (920, 6159, 0));
}

#[test]
fn to_wait_with_a_lock_that_is_held_twice_is_a_panic() {
    let verdict = explore(Reduction::Exhaustive, |sys| {
        let (lock, changed) = (sys.new_lock(), sys.new_condvar());
        sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
            let _outer = inbox.lock(lock).await;
            let inner = inbox.lock(lock).await;
            let _inner = inbox.wait_on(changed, inner).await;
        });
    });
    let message = &verdict.findings[0].message;
    assert!(message.contains("held 2 times"), "{message}");
}

/// Checks that states compare: two actors that use both objects end in the same state in either order.
#[test]
fn states_of_locks_compare() {
    #[derive(Clone, Debug, Hash)]
    struct User(RwLock, Semaphore);
    impl Actor for User {
        type Msg = ();
        const HASHES: Hashes<Self> = Hashes::of();
        async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
            let _permit = cx.acquire(self.1).await;
            let _guard = cx.read_lock(self.0).await;
        }
    }
    let body = |sys: &mut System| {
        let (lock, semaphore) = (sys.new_rwlock(), sys.new_semaphore(2));
        for _ in 0..2 {
            let user = sys.spawn(User(lock, semaphore));
            sys.send(user, ());
        }
    };
    let (all, states) = (explore(Reduction::Exhaustive, body), explore(Reduction::Stateful, body));
    assert!(states.counters.transitions < all.counters.transitions / 10, "{:?} {:?}", states.counters, all.counters);
}

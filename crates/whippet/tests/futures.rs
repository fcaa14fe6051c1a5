//! Tests of actors with tasks, locks and shared variables: exact counts, deadlocks and races of exhaustive search.

use whippet::model::{FindingKind, Verdict};
use whippet::prelude::*;

fn exhaustive(body: impl Fn(&mut System) + Send + Sync + 'static) -> Verdict {
    Checker::new("futures").reduction(Reduction::Exhaustive).explore(body).unwrap()
}

/// Returns the numbers of executions, of transitions, and of executions with a problem of this kind.
fn counts(verdict: &Verdict, kind: FindingKind) -> (u64, u64, u64) {
    let seen = verdict.findings.iter().filter(|f| f.kind == kind).map(|f| f.executions).sum();
    (verdict.counters.executions, verdict.counters.transitions, seen)
}

/// Spawns a main actor that waits for the tasks created by `make`.
fn main_waits(sys: &mut System, make: impl Fn(&mut Inbox<()>) -> Vec<Promise<()>> + Send + 'static) {
    sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
        let promises = make(main);
        main.join_all(promises).await;
    });
}

fn locked_writes(n: usize) -> impl Fn(&mut System) + Send + Sync {
    move |sys: &mut System| {
        let (lock, variable) = (sys.new_lock(), sys.new_shared(0));
        main_waits(sys, move |main| {
            let one = move |main: &mut Inbox<()>| {
                main.spawn_task(async move |task| {
                    let _guard = task.lock(lock).await;
                    task.write(variable, 1);
                })
            };
            (0..n).map(|_| one(main)).collect()
        });
    }
}

#[test]
fn futures_that_write_under_one_lock() {
    let verdict = exhaustive(locked_writes(2));
    assert_eq!(counts(&verdict, FindingKind::Race), (40, 160, 0));
    assert!(verdict.findings.is_empty());
    let verdict = exhaustive(locked_writes(3));
    assert_eq!(counts(&verdict, FindingKind::Race), (932, 3879, 0));
}

#[test]
fn locks_taken_in_opposite_order() {
    let verdict = exhaustive(|sys| {
        let (a, b) = (sys.new_lock(), sys.new_lock());
        main_waits(sys, move |main| {
            [(a, b), (b, a)]
                .map(|(first, second)| {
                    main.spawn_task(async move |task| {
                        let _first = task.lock(first).await;
                        let _second = task.lock(second).await;
                    })
                })
                .to_vec()
        });
    });
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (1734, 5655, 6));
    let [deadlock] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert!(deadlock.message.contains("task 1 waits for lock 2, which task 2 holds"), "{}", deadlock.message);
    assert!(deadlock.message.contains("tests/futures.rs:"), "{}", deadlock.message);
}

#[test]
fn an_actor_and_a_future_deadlock() {
    #[derive(Clone, Debug)]
    struct Taker(Lock, Lock);
    impl Actor for Taker {
        type Msg = ();
        async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
            let _first = cx.lock(self.0).await;
            let _second = cx.lock(self.1).await;
        }
    }
    let verdict = exhaustive(|sys| {
        let (a, b) = (sys.new_lock(), sys.new_lock());
        let taker = sys.spawn(Taker(a, b));
        sys.send(taker, ());
        main_waits(sys, move |main| {
            vec![main.spawn_task(async move |task| {
                let _first = task.lock(b).await;
                let _second = task.lock(a).await;
            })]
        });
    });
    assert_eq!(counts(&verdict, FindingKind::Deadlock), (2598, 9098, 10));
}

/// Explores two tasks for which main waits. Returns the numbers of racy executions and of all executions.
fn pair<A, B>(first: A, second: B) -> (u64, u64)
where
    A: AsyncFn(&mut Task, [Lock; 2], Shared<i32>) + Clone + Send + Sync + 'static,
    B: AsyncFn(&mut Task, [Lock; 2], Shared<i32>) + Clone + Send + Sync + 'static,
{
    let verdict = exhaustive(move |sys| {
        let (locks, variable) = ([sys.new_lock(), sys.new_lock()], sys.new_shared(0));
        let (first, second) = (first.clone(), second.clone());
        main_waits(sys, move |main| {
            let (first, second) = (first.clone(), second.clone());
            vec![
                main.spawn_task(async move |task: &mut Task| first(task, locks, variable).await),
                main.spawn_task(async move |task: &mut Task| second(task, locks, variable).await),
            ]
        });
    });
    let (all, _, racy) = counts(&verdict, FindingKind::Race);
    (racy, all)
}

async fn write(task: &mut Task, _: [Lock; 2], variable: Shared<i32>) {
    task.write(variable, 1);
}

async fn read(task: &mut Task, _: [Lock; 2], variable: Shared<i32>) {
    let _ = task.read(variable);
}

async fn write_locked(task: &mut Task, [lock, _]: [Lock; 2], variable: Shared<i32>) {
    let _guard = task.lock(lock).await;
    task.write(variable, 1);
}

async fn write_under_the_other(task: &mut Task, [_, lock]: [Lock; 2], variable: Shared<i32>) {
    let _guard = task.lock(lock).await;
    task.write(variable, 1);
}

#[test]
fn shares_of_racy_executions() {
    assert_eq!(pair(write_locked, write_locked), (0, 40), "the same lock");
    let one_task = |before: bool| {
        let verdict = exhaustive(move |sys| {
            let variable = sys.new_shared(0);
            sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
                let promise = main.spawn_task(async move |task| task.write(variable, 1));
                if before {
                    let _ = main.read(variable);
                }
                main.wait(promise).await;
                let _ = main.read(variable);
            });
        });
        let (all, _, racy) = counts(&verdict, FindingKind::Race);
        (racy, all)
    };
    assert_eq!(one_task(true), (1, 1), "a read before the promise is waited for");
    assert_eq!(one_task(false), (0, 1), "a read after");
    let (racy, all) = pair(write, write);
    assert!(racy == all && all > 0, "no lock: {racy} of {all}");
    assert_eq!(pair(write_locked, write_under_the_other), (454, 454), "different locks");
    let (racy, all) = pair(write_locked, read);
    assert!(racy == all && all > 0, "a locked writer, a reader without: {racy} of {all}");
    assert_eq!(pair(read, read).0, 0, "readers only");
    let late_lock = pair(
        async |task: &mut Task, [lock, _]: [Lock; 2], variable: Shared<i32>| {
            task.write(variable, 1);
            drop(task.lock(lock).await);
        },
        async |task: &mut Task, [lock, _]: [Lock; 2], variable: Shared<i32>| {
            drop(task.lock(lock).await);
            let _ = task.read(variable);
        },
    );
    assert_eq!(late_lock, (5, 40), "a write, then the lock, against the lock, then a read");
}

#[test]
fn failures_of_tasks() {
    let verdict = exhaustive(|sys| {
        sys.spawn_task(async |_task| -> u8 { panic!("lost") });
    });
    assert!(
        verdict.findings[0].message.contains("task panicked, and no actor waited for its result: lost"),
        "{:?}",
        verdict.findings
    );
    let verdict = exhaustive(|sys| {
        sys.spawn_fn_named("main", async |main: &mut Inbox<()>| {
            let promise = main.spawn_task(async |_task| -> u8 { panic!("lost") });
            let safe = promise.recover(main, |_| 7);
            assert_eq!(main.wait(safe).await, 7);
        });
    });
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let verdict = exhaustive(|sys| {
        sys.spawn_fn_named("main", async |main: &mut Inbox<()>| {
            let promise = main.spawn_task(async |_task| -> u8 { panic!("lost") });
            main.wait(promise).await;
        });
    });
    assert!(verdict.findings[0].message.contains("a task failed: lost"), "{:?}", verdict.findings);
}

#[test]
fn the_first_of_several_may_be_any() {
    let verdict = exhaustive(|sys| {
        sys.spawn_fn_named("main", async |main: &mut Inbox<()>| {
            let promises = vec![main.spawn_task(async |_| 'a'), main.spawn_task(async |_| 'b')];
            let first = Promise::select(main, promises);
            let (which, value) = main.wait(first).await;
            assert_eq!(value, ['a', 'b'][which]);
            assert!(which == 0, "the second was first");
        });
    });
    assert!(verdict.findings[0].message.contains("the second was first"), "{:?}", verdict.findings);
    assert!(verdict.findings[0].executions < verdict.counters.executions);
}

#[test]
fn reductions_find_the_same() {
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Persistent, Reduction::Transdpor] {
        let verdict = Checker::new("locks").reduction(reduction).explore(locked_writes(2)).unwrap();
        assert!(verdict.findings.is_empty() && verdict.complete, "{reduction:?}");
        assert!(verdict.counters.executions < 40, "{reduction:?}");
    }
}

const REDUCTIONS: [Reduction; 6] = [
    Reduction::Dcute,
    Reduction::Persistent,
    Reduction::Transdpor,
    Reduction::Source,
    Reduction::Optimal,
    Reduction::Udpor,
];

/// Two racers: each reads the variable that the other one writes and, if it is 0, writes its own and sends to a sink.
/// The sink asserts the order of the messages.
fn racy_decisions(sys: &mut System) {
    let (x, y) = (sys.new_shared(0), sys.new_shared(0));
    let sink = sys.spawn_fn_named("sink", async |sink: &mut Inbox<u8>| {
        let (first, second) = (sink.receive().await, sink.receive().await);
        assert!(first <= second, "the wrong way round");
    });
    let starts = [0, 1].map(|k| {
        sys.spawn_fn_named("racer", async move |racer: &mut Inbox<()>| {
            racer.receive().await;
            let (mine, yours) = if k == 0 { (x, y) } else { (y, x) };
            if racer.read(yours) == 0 {
                racer.write(mine, 1);
                racer.send(sink, k);
            }
        })
    });
    for racer in starts {
        sys.send(racer, ());
    }
}

#[test]
fn a_race_leads_no_search_astray() {
    let kinds = |verdict: &Verdict| verdict.findings.iter().map(|f| (f.kind, f.key)).collect::<Vec<_>>();
    let all = exhaustive(racy_decisions);
    assert!(all.notes.iter().all(|note| !note.contains("not justified")), "{:?}", all.notes);
    let races = |verdict: &Verdict| verdict.findings.iter().filter(|f| f.kind == FindingKind::Race).count();
    assert_eq!(races(&all), 1, "{:?}", all.findings);
    for reduction in REDUCTIONS {
        let verdict = Checker::new("racy").reduction(reduction).explore(racy_decisions).unwrap();
        assert!(verdict.complete && races(&verdict) > 0, "{reduction:?}: {:?}", verdict.findings);
        // Both racers read 0 only where reads do not see racing writes. With plain reads only one of them ever sends,
        // so the assertion of the sink must not be reported.
        assert!(
            kinds(&verdict).iter().all(|found| kinds(&all).contains(found)),
            "{reduction:?}: {:?}",
            verdict.findings
        );
        assert!(verdict.notes.iter().any(|note| note.contains("the reduction is not justified")), "{reduction:?}");
    }
}

#[test]
fn a_race_tells_both_accesses_and_both_messages() {
    let verdict = exhaustive(racy_decisions);
    let message = &verdict.findings[0].message;
    assert!(message.contains("racer 1, handling () from the test, "), "{message}");
    assert!(message.contains("racer 2, handling () from the test, "), "{message}");
    assert!(message.contains("it at crates/whippet/tests/futures.rs:"), "{message}");
    assert!(verdict.findings[0].place.is_some());
}

/// Checks that a problem in an execution with a data race is found as well, with a schedule that shows it.
#[test]
fn a_deadlock_beside_a_race() {
    let body = |sys: &mut System| {
        let (mutex, variable) = (sys.new_mutex(), sys.new_shared(0));
        for _ in 0..2 {
            sys.spawn_task(async move |task| task.write(variable, 1));
        }
        sys.spawn_task(async move |task| {
            let _first = task.lock(mutex).await;
            let _again = task.lock(mutex).await;
        });
    };
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let verdict = Checker::new("both").reduction(reduction).explore(body).unwrap();
        let kinds: Vec<FindingKind> = verdict.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Deadlock, FindingKind::Race], "{:?}", verdict.findings);
    }
}

/// Tests variables that an actor and a task create while they run.
#[test]
fn variables_made_in_steps() {
    let body = |locked: bool| {
        move |sys: &mut System| {
            let main = sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
                main.receive().await;
                let (lock, total) = (main.new_lock(), main.new_shared(0));
                let add = async move |task: &mut Task, n: i32| {
                    let guard = if locked { Some(task.lock(lock).await) } else { None };
                    let own = task.new_shared(n);
                    let sum = task.read(total) + task.read(own);
                    task.write(total, sum);
                    drop(guard);
                };
                let promises = [1, 2].map(|n| main.spawn_task(async move |task: &mut Task| add(task, n).await));
                main.join_all(promises.to_vec()).await;
                assert_eq!(main.read(total), 3);
            });
            sys.send(main, ());
        }
    };
    for reduction in [Reduction::Exhaustive].iter().chain(&REDUCTIONS) {
        for locked in [true, false] {
            let verdict = Checker::new("made").reduction(*reduction).explore(body(locked)).unwrap();
            assert!(verdict.complete);
            let races = verdict.findings.iter().any(|finding| finding.kind == FindingKind::Race);
            assert_eq!(races, !locked, "{reduction:?} {locked}: {:?}", verdict.findings);
        }
    }
}

/// A call, a task, a lock and a receive that wait for each other are reported as one cycle, each with its place.
#[test]
fn a_cycle_through_everything() {
    #[derive(Clone, Debug)]
    struct Asker(Recipient<Reply<u8>>, Recipient<u8>);
    impl Actor for Asker {
        type Msg = ();
        async fn handle(&mut self, (): (), cx: &mut Cx<Self>) {
            let answer = cx.call(self.0, |reply| reply).await;
            cx.send(self.1, answer);
        }
    }
    let body = |sys: &mut System| {
        let lock = sys.new_lock();
        let holder = sys.spawn_fn_named("holder", async move |holder: &mut Inbox<u8>| {
            let _guard = holder.lock(lock).await;
            holder.receive().await;
        });
        let answerer = sys.spawn_fn_named("answerer", async move |answerer: &mut Inbox<Reply<u8>>| {
            let reply = answerer.receive().await;
            let promise = answerer.spawn_task(async move |task| drop(task.lock(lock).await));
            answerer.wait(promise).await;
            answerer.reply(reply, 1);
        });
        let asker = sys.spawn(Asker(answerer, holder));
        sys.send(asker, ());
    };
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let verdict = Checker::new("cycle").reduction(reduction).explore(body).unwrap();
        let [deadlock] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
        let told = [
            "a cycle of actors that wait for each other: ",
            "asker waits for answerer",
            "answerer waits for task (at crates/whippet/tests/futures.rs:",
            "task waits for lock, which holder holds (at crates/whippet/tests/futures.rs:",
            "holder waits for a message (at crates/whippet/tests/futures.rs:",
        ];
        for part in told {
            assert!(deadlock.message.contains(part), "{}", deadlock.message);
        }
    }
}

/// A timeout may expire or not: both cases are explored, and if it expires the actor continues without the task.
#[test]
fn a_time_that_is_over_or_not() {
    let verdict = exhaustive(|sys| {
        let main = sys.spawn_fn_named("main", async |main: &mut Inbox<()>| {
            main.receive().await;
            let promise = main.spawn_task(async |_| 7);
            let seen = main.wait_or_timeout(promise).await;
            assert!(seen == Some(7), "without it: {seen:?}");
        });
        sys.send(main, ());
    });
    assert_eq!(verdict.counters.executions, 2);
    let [over] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert!(over.message.contains("without it: None") && over.executions == 1, "{over:?}");
}

/// Tests promises derived from promises in the body of a test; the callback sees the failure, and `ready` ignores it.
#[test]
fn futures_of_the_body_of_a_test() {
    let verdict = exhaustive(|sys| {
        let six = sys.spawn_task(async |_| 6);
        let seven = six.map(sys, |n| n + 1).and_then(sys, |n| assert_eq!(*n, 7));
        let both = seven.flat_map(sys, move |n, task| task.spawn_task(async move |_| n * 6));
        let lost = sys.spawn_task(async |_| -> u8 { panic!("lost") });
        lost.on_complete(sys, async |_task, result| assert_eq!(result.unwrap_err().message, "lost"));
        let main = sys.spawn_fn_named("main", async move |main: &mut Inbox<()>| {
            main.receive().await;
            main.ready(lost).await;
            assert_eq!(main.wait(both).await, 42);
        });
        sys.send(main, ());
    });
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
}

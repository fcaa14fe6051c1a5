//! Time and randomness of the operating system, as tasks see them through `std`.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::disallowed_types, reason = "the tests are about the order of std's hash maps")]

use crate::common::{explore, outcomes};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;
use tokio::time::sleep;
use whippet_model::Program;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction, explore as search, replay};

const MS: Duration = Duration::from_millis(1);

#[test]
fn clocks_show_virtual_time() {
    outcomes(&["10000 10000 10000"], || async {
        let (instant, wall, tokio) = (Instant::now(), SystemTime::now(), tokio::time::Instant::now());
        assert!(instant.elapsed() < MS, "time nearly stands still while a task runs");
        sleep(MS * 10_000).await;
        assert!(tokio::time::Instant::from_std(instant) - tokio < MS);
        assert!(instant - tokio.into_std() < MS);
        format!(
            "{} {} {}",
            instant.elapsed().as_millis(),
            wall.elapsed().unwrap().as_millis(),
            tokio.elapsed().as_millis()
        )
    });
}

/// Computing takes time, also if nothing waits.
#[test]
fn each_look_at_a_clock_is_later_than_the_one_before() {
    outcomes(&["true true true"], || async {
        let (start, wall) = (Instant::now(), SystemTime::now());
        let in_task = tokio::spawn(async { Instant::now() }).await.unwrap();
        let is_later = Instant::now() > in_task;
        format!("{} {is_later} {}", in_task > start, SystemTime::now() > wall)
    });
}

#[test]
fn outside_tasks_the_clock_is_real() {
    let start = Instant::now();
    let (_, seen) = explore(Reduction::Optimal, || async {
        sleep(Duration::from_secs(10_000)).await;
        format!("{:?}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 1_000)
    });
    let later = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 1_000;
    assert!(start.elapsed() < Duration::from_secs(1_000));
    assert!(seen.iter().all(|seen| seen.parse::<u64>().unwrap().abs_diff(later + 10) <= 1), "{seen:?} {later}");
}

/// A task reads the clock beside a timer of another one.
#[test]
fn a_read_depends_on_timers_beside_it() {
    outcomes(&["0", "5"], || async {
        let start = Instant::now();
        let (tx, mut rx) = mpsc::channel(1);
        let reader = tokio::spawn(async move {
            tx.send(()).await.unwrap();
            start.elapsed().as_millis()
        });
        tokio::spawn(sleep(MS * 5)).await.unwrap();
        rx.recv().await.unwrap();
        reader.await.unwrap().to_string()
    });
}

#[test]
fn a_task_that_waits_by_reading_the_clock_ends() {
    outcomes(&["done"], || async {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            std::hint::spin_loop();
        }
        "done".into()
    });
}

#[test]
fn threads_that_sleep_or_wait_advance_the_clock() {
    let real = Instant::now();
    outcomes(&["3600"], || async {
        let start = Instant::now();
        std::thread::sleep(Duration::from_secs(3600));
        start.elapsed().as_secs().to_string()
    });
    assert!(real.elapsed() < Duration::from_secs(600), "they do not really sleep");
    outcomes(&["3000 3000"], || async {
        let (start, tokio) = (Instant::now(), tokio::time::Instant::now());
        std::thread::sleep(MS * 2_990);
        let (lock, condition) = (Mutex::new(()), Condvar::new());
        let (_guard, result) = condition.wait_timeout(lock.lock().unwrap(), MS * 10).unwrap();
        assert!(result.timed_out());
        format!("{} {}", start.elapsed().as_millis(), tokio.elapsed().as_millis())
    });
}

/// Tasks that send in the order of a hash map: without the same order in each execution, no search can repeat one.
async fn sends_in_some_order() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for task in 0..2 {
        let tx = tx.clone();
        tokio::spawn(async move {
            let map: HashMap<u32, u32> = (0..20).map(|k| (k, task)).collect();
            for (k, task) in map.into_iter().take(2) {
                tx.send((task, k)).unwrap();
            }
        });
    }
    drop(tx);
    let mut all = Vec::new();
    while let Some(next) = rx.recv().await {
        all.push(next);
    }
    format!("{all:?}")
}

#[test]
fn the_order_of_hash_maps_repeats() {
    let mut seen = Vec::new();
    for reduction in [Reduction::Exhaustive, Reduction::Optimal, Reduction::Source] {
        let (verdict, outcomes) = explore(reduction, sends_in_some_order);
        assert!(verdict.findings.is_empty() && verdict.complete);
        assert_eq!(outcomes.len(), 6, "{reduction}: the interleavings of two and two sends");
        seen.push(outcomes);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

/// What a task draws depends on the task alone, not on the order of tasks.
#[test]
fn each_task_draws_for_itself() {
    let (_, seen) = explore(Reduction::Exhaustive, || async {
        let draws = || {
            let two = [RandomState::new(), RandomState::new()].map(|state| state.hash_one(1));
            assert_ne!(two[0], two[1]);
            two
        };
        let tasks = [0, 1].map(|_| {
            tokio::spawn(async move {
                let one = draws();
                tokio::task::yield_now().await;
                (one, draws())
            })
        });
        let mut all = vec![(draws(), draws())];
        for task in tasks {
            all.push(task.await.unwrap());
        }
        assert_eq!(all.iter().flat_map(|(a, b)| [a, b]).collect::<BTreeSet<_>>().len(), 6, "they differ");
        format!("{all:?}")
    });
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[test]
fn all_sources_of_random_bytes_repeat() {
    let (_, seen) = explore(Reduction::Exhaustive, || async {
        let (mut one, mut other, mut third) = ([0_u8; 9], [0_u8; 16], [0_u8; 5]);
        // SAFETY: the lengths are those of the arrays.
        unsafe {
            assert_eq!(c::getrandom(one.as_mut_ptr().cast(), 9, 0), 9);
            assert_eq!(c::getentropy(other.as_mut_ptr().cast(), 16), 0);
            assert_eq!(c::syscall(c::SYS_getrandom, third.as_mut_ptr(), 5, 0), 5);
        }
        tokio::spawn(async {});
        format!("{one:?} {other:?} {third:?}")
    });
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(!seen.iter().any(|text| text.contains("0, 0, 0")), "{seen:?}");
}

#[test]
fn a_replay_in_another_program_shows_the_same_time() {
    let program = || {
        TaskProgram::new("time", Settings::default(), || async {
            assert!(RandomState::new().hash_one(SystemTime::now()) == 0, "{:?}", SystemTime::now());
        })
    };
    let first = program();
    let verdict = search(Arc::new(first), &Options::default(), &()).unwrap();
    let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    std::thread::sleep(MS);
    let again = replay(&program().as_in(&finding.schedule), &finding.schedule).unwrap();
    assert_eq!(again.problems[0].message, finding.message);
    assert!(program().parameters().is_empty(), "a program that has read no clock has no time of its own");
}

#[test]
fn a_search_that_reads_the_clock_ends_in_time() {
    let mut options = Options::new(Reduction::Optimal);
    options.limits.time = Some(MS * 300);
    let program = TaskProgram::new("long", Settings::default(), || async {
        let start = Instant::now();
        let (tx, mut rx) = mpsc::unbounded_channel();
        for _ in 0..9 {
            let tx = tx.clone();
            tokio::spawn(async move { tx.send(start.elapsed()) });
        }
        drop(tx);
        while rx.recv().await.is_some() {}
    });
    let start = Instant::now();
    let verdict = search(Arc::new(program), &options, &()).unwrap();
    assert!(!verdict.complete && start.elapsed() >= MS * 300 && start.elapsed() < Duration::from_secs(60));
}

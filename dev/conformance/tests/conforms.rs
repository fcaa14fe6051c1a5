//! Checks that every outcome of the real tokio is among the outcomes that the shim can produce.

use conformance::Program;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction};

/// The maximum number of executions with a reduction. Programs here are small.
const MOST: u64 = 2_000;

/// The maximum number of executions that explore all orders of all events.
const ALL: u64 = 20_000;

/// The number of runs of each program on each runtime of the real tokio.
const RUNS: usize = 10;

/// Returns all outcomes that the shim can produce, or `None` if there are too many executions. A finding is an error:
/// no program here may block, so a lost wake-up is found as a deadlock.
fn explored(name: &str, program: Program, reduction: Reduction) -> Result<Option<BTreeSet<String>>, String> {
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let out = seen.clone();
    let every_event = reduction == Reduction::Exhaustive;
    let tasks = TaskProgram::new(name, Settings { every_event, ..Settings::default() }, move || {
        let out = out.clone();
        async move {
            let text = program().await;
            out.lock().unwrap().insert(text);
        }
    });
    let mut options = Options::new(reduction);
    options.limits.executions = Some(if every_event { ALL } else { MOST });
    let verdict = tasks.explore(&options, &()).map_err(|error| error.to_string())?;
    if let Some(finding) = verdict.findings.first() {
        return Err(finding.message.clone());
    }
    println!("{name}: {reduction}, {} executions, {:.2} s", verdict.counters.executions, verdict.time.as_secs_f64());
    let seen = seen.lock().unwrap().clone();
    Ok(verdict.complete.then_some(seen))
}

#[test]
fn the_real_outcome_is_among_the_explored_ones() {
    let runtimes = [
        real::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
        real::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
    ];
    let mut wrong = Vec::new();
    let programs = conformance::on_shim::all().into_iter().zip(conformance::on_real::all());
    for ((name, ours), (_, theirs)) in programs {
        let seen = match explored(name, ours, Reduction::Optimal) {
            Ok(Some(seen)) => seen,
            Ok(None) => {
                wrong.push(format!("{name}: more than {MOST} executions: make the program smaller"));
                continue;
            }
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let runs = runtimes.iter().flat_map(|runtime| {
            (0..RUNS).map(move |_| runtime.block_on(async { real::spawn(theirs()).await.unwrap() }))
        });
        let real: BTreeSet<String> = runs.collect();
        for text in real.difference(&seen) {
            wrong.push(format!("{name}: the real tokio gives «{text}», the shim only {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that a future that is polled by hand answers exactly as that of the real tokio.
#[test]
fn polls_by_hand_have_the_answers_of_the_real_ones() {
    use conformance::{on_real, on_shim};
    let runtime = real::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for ((name, ours), (_, theirs)) in on_shim::hand_polls::all().into_iter().zip(on_real::hand_polls::all()) {
        if on_shim::hand_polls::SCHEDULED.contains(&name) {
            continue;
        }
        let real = runtime.block_on(theirs());
        for reduction in [Reduction::Optimal, Reduction::Source] {
            assert_eq!(explored(name, ours, reduction), Ok(Some(BTreeSet::from([real.clone()]))), "{name}");
        }
    }
}

/// Checks that the reduction misses no outcome. Skips programs with too many orders to explore them all.
#[test]
fn every_outcome_is_seen() {
    let mut tried = 0;
    for (name, program) in conformance::on_shim::all() {
        let Ok(Some(all)) = explored(name, program, Reduction::Exhaustive) else { continue };
        assert_eq!(explored(name, program, Reduction::Optimal), Ok(Some(all)), "{name}");
        tried += 1;
    }
    assert!(tried > 50, "only {tried} programs were small enough");
}

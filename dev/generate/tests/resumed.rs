//! Searches that are interrupted again and again, and continue from what they saved, find the same as searches that are not.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use whippet_generate::{Log, Mixed, Random, Results, Setting, SharedLog, draw, watch};
use whippet_model::{Finding, Limits, Program, Verdict};
use whippet_search::toy::Granularity;
use whippet_search::{Checkpoint, Checkpoints, Observer, Order, Reduction, explore};

/// Stops a search after a number of polls.
#[derive(Debug)]
struct Interrupter {
    begin: Option<Checkpoint>,
    stop_after: Option<u64>,
    saved: Mutex<Option<String>>,
}

impl Checkpoints for Interrupter {
    fn begin(&self) -> Option<Checkpoint> {
        self.begin.clone()
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1_000)
    }

    fn save(&self, checkpoint: &Checkpoint) {
        *self.saved.lock().unwrap() = Some(checkpoint.to_json());
    }

    fn stop_after(&self) -> Option<u64> {
        self.stop_after
    }
}

struct Watcher(Arc<Interrupter>);

impl Observer for Watcher {
    fn checkpoints(&self) -> Option<Arc<dyn Checkpoints>> {
        Some(self.0.clone())
    }
}

/// Searches a program, with interruptions if `random` is given. Returns the verdict and the number of interruptions.
fn search<P: Program + Send + 'static>(
    program: &Arc<P>,
    setting: Setting,
    mut random: Option<&mut Random>,
) -> (Verdict, u64) {
    let limits = Limits::default().with_executions(400).with_steps(40);
    // Without interruptions, too large programs are left early; with them, all executions are wanted.
    let options =
        setting.options().with_limits(if random.is_some() { limits.clone().with_executions(None) } else { limits });
    let (mut begin, mut interruptions) = (None, 0);
    loop {
        let stop_after = random.as_mut().map(|random| 1 + random.below(60) as u64);
        let watcher = Watcher(Arc::new(Interrupter { begin, stop_after, saved: Mutex::default() }));
        let verdict = explore(program.clone(), &options, &watcher).unwrap();
        let saved = watcher.0.saved.lock().unwrap().take();
        match saved {
            Some(saved) if !verdict.complete => {
                interruptions += 1;
                begin = Some(Checkpoint::from_json(&saved).unwrap());
            }
            _ => return (verdict, interruptions),
        }
    }
}

/// Returns what must not depend on interruptions.
fn essence(verdict: &Verdict) -> impl PartialEq + std::fmt::Debug + use<> {
    let findings = |findings: &[Finding]| -> Vec<_> {
        let essence = |finding: &Finding| {
            (finding.kind, finding.message.clone(), finding.key, finding.schedule.clone(), finding.executions)
        };
        findings.iter().map(essence).collect()
    };
    let counters = &verdict.counters;
    (
        (counters.executions, counters.blocked, counters.depth, counters.problems),
        (findings(&verdict.findings), findings(&verdict.warnings), findings(&verdict.outcomes)),
        (verdict.complete, verdict.limits.clone(), verdict.notes.clone(), verdict.algorithm, verdict.may_miss),
    )
}

/// Returns how often each trace was executed.
fn times(log: &Log) -> Vec<(String, u64)> {
    let mut times: Vec<_> = log.traces.iter().map(|(trace, seen)| (format!("{trace:?}"), seen.times)).collect();
    times.sort();
    times
}

fn settings() -> Vec<Setting> {
    let of = Setting::of;
    let searches = [Reduction::Exhaustive, Reduction::Optimal, Reduction::Source, Reduction::Parsimonious];
    let mut all: Vec<Setting> = searches.into_iter().map(of).collect();
    all.extend(searches.into_iter().map(|reduction| Setting { jobs: 2, ..of(reduction) }));
    all.push(Setting { order: Order::Lifo, ..of(Reduction::Optimal) });
    all
}

/// Compares interrupted searches of a program with whole ones. Returns the number of interruptions.
fn compare<P: Program + Send + 'static>(what: &str, watched: impl Fn() -> (P, SharedLog), random: &mut Random) -> u64 {
    let mut interruptions = 0;
    for setting in settings() {
        let (program, whole) = watched();
        let (expected, _) = search(&Arc::new(program), setting, None);
        if !expected.complete {
            continue;
        }
        let (program, pieces) = watched();
        let (verdict, count) = search(&Arc::new(program), setting, Some(random));
        interruptions += count;
        let tell = || format!("{what}, {setting}, after {count} interruptions");
        assert_eq!(essence(&verdict), essence(&expected), "{}", tell());
        let (pieces, whole) = (times(&pieces.so_far()), times(&whole.so_far()));
        let differ = || pieces.iter().filter(|trace| !whole.contains(trace)).count();
        assert!(
            pieces == whole,
            "{}: {} traces before, {} now, of which {} differ",
            tell(),
            whole.len(),
            pieces.len(),
            differ()
        );
    }
    interruptions
}

#[test]
fn interrupted_searches_of_toy_programs_lose_and_repeat_nothing() {
    let (mut random, mut interruptions) = (Random::new(20), 0);
    for seed in 0..60 {
        let drawn = draw(seed);
        for granularity in [Granularity::Actor, Granularity::Footprint] {
            let program = drawn.clone().granularity(granularity);
            interruptions += compare(&format!("seed {seed}, {granularity:?}"), || watch(program.clone()), &mut random);
        }
    }
    assert!(interruptions > 1_000, "only {interruptions} interruptions");
}

#[test]
fn interrupted_searches_of_mixed_programs_lose_and_repeat_nothing() {
    let (mut random, mut interruptions) = (Random::new(21), 0);
    for seed in 0..40 {
        let program = Mixed::draw(seed);
        let watched = || watch(program.test(&Results::default()));
        interruptions += compare(&format!("seed {seed}"), watched, &mut random);
    }
    assert!(interruptions > 500, "only {interruptions} interruptions");
}

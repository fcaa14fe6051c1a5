//! The reverse search over detours, compared with the exhaustive search on random programs.
//!
//! The tests use fixed seeds. `WHIPPET_SEED` and `WHIPPET_PROGRAMS` choose others:
//!
//! ```text
//! WHIPPET_PROGRAMS=20000 cargo test --release -p whippet-search parsimonious:: -- --nocapture
//! ```
//!
//! The package `whippet-generate` compares this search on native actors, with faults, crashes, timers and locks; the tests of the
//! machines of mailbox programs, ABS and tokio on their own random programs.

use crate::wakeup::threads::{self, Threads};
use crate::wakeup::touching::Touching;
use whippet_generate::{Sample, Setting, Size, answer, compare, draw};
use whippet_model::Program;
use whippet_search::Reduction;
use whippet_search::toy::{Delivery, Granularity};

const DELIVERIES: [Delivery; 3] = [Delivery::Unordered, Delivery::Fifo, Delivery::Causal];

/// Totals over many programs.
#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    traces: u64,
    blocked: u64,
}

impl Tally {
    /// Compares the search with the exhaustive one. Skips programs that are too large.
    fn judge<P: Program + Clone + Send + 'static>(&mut self, program: &P, shown: &str) {
        let all = answer(program, &Setting::of(Reduction::Exhaustive), Some(Size { executions: 4_000, steps: 40 }));
        let Some(all) = all.unwrap() else { return };
        let setting = Setting::of(Reduction::Parsimonious);
        let found = answer(program, &setting, None).unwrap_or_else(|f| panic!("{f}\n{shown}")).unwrap();
        assert!(found.verdict.complete);
        let count = &found.verdict.counters;
        if let Err(what) = compare(&all, &found, &setting) {
            panic!("{what}; {} executions for {} traces\n{shown}", count.executions, all.log.traces.len());
        }
        self.programs += 1;
        self.traces += count.executions;
        self.blocked += count.blocked;
    }
}

fn programs(fixed: u64) -> std::ops::Range<u64> {
    let sample = Sample::from_environment(1, fixed);
    sample.seed..sample.seed + sample.programs
}

#[test]
fn random_actors() {
    let mut tally = Tally::default();
    for seed in programs(100) {
        let program = draw(seed).delivery(DELIVERIES[seed as usize % 3]).granularity(Granularity::Actor);
        tally.judge(&program, &format!("seed {seed}\n{program}"));
        tally.judge(&Touching(program.clone()), &format!("seed {seed}\n{program}"));
    }
    println!("{tally:?}");
    assert!(tally.programs > 100 && tally.blocked == 0, "{tally:?}");
}

#[test]
fn random_fields() {
    let mut tally = Tally::default();
    for seed in programs(500) {
        let program = draw(seed);
        if program.granularity == Granularity::Fields {
            tally.judge(&program, &format!("seed {seed}\n{program}"));
        }
    }
    println!("{tally:?}");
    assert!(tally.programs > 30 && tally.blocked == 0, "{tally:?}");
}

#[test]
fn random_threads() {
    let mut tally = Tally::default();
    for seed in programs(600) {
        let program: Threads = threads::draw(seed);
        tally.judge(&program, &format!("seed {seed}\n{program}"));
    }
    println!("{tally:?}");
    // A wait for one of several flags reads only the flag that it finds raised: see the head of `reductions/parsimonious`.
    assert!(tally.programs > 400 && tally.blocked * 100 < tally.traces, "{tally:?}");
}

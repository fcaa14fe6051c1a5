//! The reverse search over detours, compared with the exhaustive search.

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
    bad: u64,
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
        let most = found.log.traces.values().map(|seen| seen.times).max().unwrap_or(0);
        let twice = || if most > 1 { Err(format!("explored {most} times")) } else { Ok(()) };
        if let Err(what) = compare(&all, &found, &setting).and_then(|()| twice()) {
            if std::env::var("WHIPPET_COUNT").is_ok() {
                self.bad += 1;
                println!("{what}\n{shown}");
                return;
            }
            panic!("{what}; {} executions for {} traces\n{shown}", count.executions, all.log.traces.len());
        }
        assert_eq!(count.executions, all.log.traces.len() as u64, "{shown}");
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
    for seed in programs(150) {
        let program = draw(seed).delivery(DELIVERIES[seed as usize % 3]).granularity(Granularity::Actor);
        tally.judge(&program, &format!("seed {seed}\n{program}"));
        tally.judge(&Touching(program.clone()), &format!("seed {seed}\n{program}"));
    }
    println!("{tally:?}");
}

#[test]
fn random_fields() {
    let mut tally = Tally::default();
    for seed in programs(150) {
        let program = draw(seed);
        if program.granularity == Granularity::Fields {
            tally.judge(&program, &format!("seed {seed}\n{program}"));
        }
    }
    println!("{tally:?}");
}

#[test]
fn random_threads() {
    let mut tally = Tally::default();
    for seed in programs(600) {
        let program: Threads = threads::draw(seed);
        tally.judge(&program, &format!("seed {seed}\n{program}"));
    }
    println!("{tally:?}");
}

const SIZE: Size = Size { executions: 1_000, steps: 40 };

#[test]
fn mixed() {
    let mut bad = 0;
    for seed in programs(90) {
        let program = whippet_generate::Mixed::draw(seed);
        if let Err(f) = whippet_generate::judge_mixed(&program, &[Setting::of(Reduction::Parsimonious)], SIZE) {
            println!("{seed} {f}\n{program}");
            bad += 1;
        }
    }
    println!("mixed: {bad}");
}

#[test]
fn faulty() {
    let mut bad = 0;
    for seed in programs(90) {
        let program = draw(seed);
        if let Err(f) = whippet_generate::judge_faulty(&program, seed, &[Setting::of(Reduction::Parsimonious)], SIZE) {
            println!("{seed} {f}\n{program}");
            bad += 1;
        }
    }
    println!("faulty: {bad}");
}

#[test]
fn declared() {
    let mut bad = 0;
    for seed in programs(90) {
        let program = draw(seed);
        if let Err(f) = whippet_generate::judge_declared(&program, seed, &[Setting::of(Reduction::Parsimonious)], SIZE)
        {
            println!("{seed} {f}\n{program}");
            bad += 1;
        }
    }
    println!("declared: {bad}");
}

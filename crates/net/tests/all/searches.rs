//! Comparison of the searches with enumeration, on random programs.
//!
//! A seed determines a program with 2 to 4 processes, made of communications, tests, mutexes, or all of these. All its
//! interleavings are executed, and each search must find the same results: each trace exactly once, all final states,
//! and all deadlocks. A fixed sample and a fresh one are part of the tests. To run the full sample, use
//!
//! ```text
//! WHIPPET_PROGRAMS=10000 cargo test --release -p whippet-net searches::a_fixed_sample -- --nocapture
//! ```
//!
//! `WHIPPET_SEED` sets the first seed.

use crate::common::{FAMILIES, enumerate, script};
use std::collections::BTreeSet;
use std::sync::Arc;
use whippet_generate::Sample;
use whippet_model::{Counters, Name};
use whippet_net::{MailboxRelation, Net, Script, interleavings};
use whippet_search::{Options, Reduction, explore, unfold};

/// The maximum number of interleavings of a program to enumerate.
const MOST: u128 = 3_000;

/// Returns the program of a seed, reduced in size if it has too many interleavings.
fn program(seed: u64) -> Script {
    let family = FAMILIES[(seed % 4) as usize];
    let most = 5 + (seed / 4) as usize % 6;
    let sizes = (2..=most).rev().map(|size| script(family, seed, size));
    let manageable = |script: &Script| interleavings(&Net::script("random", script.clone())).unwrap() <= MOST;
    sizes.into_iter().find(manageable).expect("two actions have few interleavings")
}

/// The totals of a sample.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    executions: u64,
    traces: u64,
    ends: u64,
    deadlocks: u64,
    /// The largest U of each program, summed over all programs: with garbage collection, and without.
    known: (u64, u64),
}

fn check(sample: Sample) -> Tally {
    let mut tally = Tally::default();
    for seed in sample.seed..sample.seed.wrapping_add(sample.programs) {
        let script = program(seed);
        judge(&Net::script("random", script.clone()), &mut tally)
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong} of\n{script}"));
    }
    assert_eq!(tally.programs, sample.programs);
    assert!(tally.known.0 < tally.known.1, "collection keeps less in memory: {tally:?}");
    tally
}

fn judge(net: &Net, tally: &mut Tally) -> Result<(), String> {
    let all = enumerate(net);
    let states: BTreeSet<u128> = all.ends.iter().map(|end| end.0).collect();
    let deadlocks: BTreeSet<Name> = all.ends.iter().filter_map(|end| end.1).collect();
    for reduction in [Reduction::Udpor, Reduction::Optimal, Reduction::Parsimonious, Reduction::Source] {
        let seen = watch(net, reduction);
        let wrong = |what: &str| Err(format!("{reduction} does not show the {what}"));
        if seen.traces != all.traces || seen.counters.executions != all.traces.len() as u64 {
            return wrong("traces, each once,");
        }
        if seen.states != states {
            return wrong("final states");
        }
        if seen.deadlocks != deadlocks {
            return wrong("deadlocks");
        }
        if matches!(reduction, Reduction::Udpor | Reduction::Optimal) && seen.counters.blocked > 0 {
            return Err(format!("{reduction} is blocked in an execution"));
        }
        if let Some(events) = seen.counters.events {
            let whole = unfold(net.clone().into(), &Options::default()).unwrap().events.len() as u64;
            if events.known > whole {
                return Err(format!("{} events known at a time, of {whole}, by udpor", events.known));
            }
            tally.known.0 += events.known;
            tally.known.1 += whole;
        }
    }
    tally.programs += 1;
    tally.executions += all.executions;
    tally.traces += all.traces.len() as u64;
    tally.ends += states.len() as u64;
    tally.deadlocks += deadlocks.len() as u64;
    Ok(())
}

/// The results of a search.
struct Seen {
    traces: BTreeSet<u64>,
    states: BTreeSet<u128>,
    deadlocks: BTreeSet<Name>,
    counters: Counters,
}

fn watch(net: &Net, reduction: Reduction) -> Seen {
    let (watched, log) = whippet_generate::watch(net.clone());
    let options = Options::new(reduction);
    let verdict = explore(Arc::new(watched), &options, &()).unwrap_or_else(|error| panic!("{error}"));
    let log = log.so_far();
    assert_eq!(log.contradiction, None);
    Seen {
        traces: log.traces.values().map(|seen| seen.key).collect(),
        states: log.traces.values().filter_map(|seen| seen.state).collect(),
        deadlocks: verdict.findings.iter().map(|finding| finding.key).collect(),
        counters: verdict.counters,
    }
}

#[test]
fn random_programs_fixed_seeds() {
    println!("{:?}", check(Sample::from_environment(1, 240)));
}

#[test]
fn random_programs_fresh_seed() {
    let sample = Sample::from_environment(Sample::fresh_seed(), 120);
    println!("seeds from {}: {:?}", sample.seed, check(sample));
}

/// With the theorems as printed, a search may miss states, but must not report states that do not exist.
#[test]
fn paper_relation_adds_no_findings() {
    let mut missed = 0;
    for seed in 1..200 {
        let script = program(seed);
        let net = Net::script("random", script.clone()).with_relation(MailboxRelation::Paper);
        let all = enumerate(&net);
        let states: BTreeSet<u128> = all.ends.iter().map(|end| end.0).collect();
        for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Persistent, Reduction::Exhaustive] {
            let seen = watch(&net, reduction);
            assert!(seen.states.is_subset(&states), "{reduction}, seed {seed}:\n{script}");
            missed += usize::from(seen.states.len() < states.len());
        }
    }
    assert!(missed > 0, "the theorems are not sound");
}

//! The shim and the reference model agree on a fixed sample, and on fresh programs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_judge::judge::{Limits, Reference, Search, compare, look, report, shrink};
use tokio_reference::generate;
use whippet_search::Reduction;

/// Kept small, for the time that the test takes.
const LIMITS: Limits = Limits { states: 60_000, executions: 3_000, stall: u64::MAX };

/// Compares some programs, and reports the first differences.
fn differences(seeds: impl Iterator<Item = u64>, limits: &Limits) -> Vec<String> {
    let searches =
        [true, false].map(|merged| Search { reduction: Reduction::Optimal, merged, deep: false, one_thread: false });
    let mut told = Vec::new();
    for seed in seeds {
        let program = Arc::new(generate(seed));
        let Some(mut reference) = Reference::new(&program, limits) else { continue };
        let compared = searches.map(|search| compare(&mut reference, &program, search));
        let found = compared.into_iter().flat_map(|compared| compared.differences);
        for difference in found.take(1) {
            if told.len() == 3 {
                return told;
            }
            let (search, kind) = (difference.search.expect("it is one of a search"), difference.kind);
            let (program, difference) =
                shrink(&program, difference, Duration::from_secs(5), |program| look(program, search, kind, limits));
            told.push(report(seed, &program, &difference));
        }
    }
    told
}

#[test]
fn a_fixed_sample_agrees() {
    let told = differences(1..151, &LIMITS);
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn fresh_programs_agree() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right").as_millis() as u64;
    println!("seeds {now} to {}", now + 49);
    let told = differences(now..now + 50, &LIMITS);
    assert!(told.is_empty(), "seeds from {now}:\n{}", told.join("\n"));
}

#[test]
fn outcomes_within_a_stall_agree() {
    for stall in [0, 3] {
        let told = differences(1..81, &Limits { stall, ..LIMITS });
        assert!(told.is_empty(), "stalls of {stall} ticks:\n{}", told.join("\n"));
    }
}

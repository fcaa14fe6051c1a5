//! The shim and the reference model agree on a fixed sample, and on fresh programs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_judge::judge::{Limits, Reference, Search, compare, look, report, shrink};
use tokio_reference::generate;
use whippet_search::Reduction;

/// Kept small, for the time that the test takes.
const LIMITS: Limits = Limits { states: 60_000, executions: 3_000 };

/// Compares some programs; the answer tells the first differences.
fn differences(seeds: impl Iterator<Item = u64>) -> Vec<String> {
    let searches = [true, false].map(|merged| Search { reduction: Reduction::Optimal, merged, deep: false });
    let mut told = Vec::new();
    for seed in seeds {
        let program = Arc::new(generate(seed));
        let Some(mut reference) = Reference::new(&program, &LIMITS) else { continue };
        let compared = searches.map(|search| compare(&mut reference, &program, search));
        for difference in compared.into_iter().flat_map(|compared| compared.differences).take(1) {
            if told.len() == 3 {
                return told;
            }
            let (search, kind) = (difference.search.expect("it is one of a search"), difference.kind);
            let (program, difference) =
                shrink(&program, difference, Duration::from_secs(5), |program| look(program, search, kind, &LIMITS));
            told.push(report(seed, &program, &difference));
        }
    }
    told
}

#[test]
fn a_fixed_sample_agrees() {
    let told = differences(1..151);
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn fresh_programs_agree() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right").as_millis() as u64;
    println!("seeds {now} to {}", now + 49);
    let told = differences(now..now + 50);
    assert!(told.is_empty(), "seeds from {now}:\n{}", told.join("\n"));
}

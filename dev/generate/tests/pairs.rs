//! Comparison of all searches on random programs in which two kinds of faults meet.
//!
//! Each kind of fault and each search on 10,000 programs: see the commands at the head of the package.

use whippet_generate::Ingredient::{Crash, Duplicate, Line, Narrow};
use whippet_generate::{Ingredient, Sample, Size, draw, fault_settings, judge_paired};

const SIZE: Size = Size { executions: 1_500, steps: 40 };

fn check(test: &str, sample: Sample, pair: impl Fn(u64) -> [Ingredient; 2]) -> String {
    let settings = fault_settings();
    match sample.run(test, draw, |seed, program| judge_paired(program, pair(seed), seed, &settings, SIZE)) {
        Ok(tally) => format!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

#[test]
fn a_fixed_sample_of_pairs() {
    println!("{}", check("a_fixed_sample_of_pairs", Sample::from_environment(1, 120), Ingredient::of));
}

#[test]
fn a_fresh_sample_of_pairs() {
    println!(
        "{}",
        check("a_fresh_sample_of_pairs", Sample::from_environment(Sample::fresh_seed(), 60), Ingredient::of)
    );
}

/// A copy of a message was ordered after messages that were sent before the network made it, and its receiver learnt of them.
#[test]
fn a_copy_is_delivered_at_any_time() {
    println!("{}", check("a_copy_is_delivered_at_any_time", Sample { seed: 17, programs: 1 }, |_| [Duplicate, Line]));
}

/// A crash in which the actor chose was asleep, and was tried again in a state in which the actor does not choose.
#[test]
fn a_branch_that_became_impossible_is_not_tried() {
    println!(
        "{}",
        check("a_branch_that_became_impossible_is_not_tried", Sample { seed: 199, programs: 1 }, |_| [Crash, Narrow])
    );
}

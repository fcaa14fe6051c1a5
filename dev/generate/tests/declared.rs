//! Comparison of all searches on random programs with histories, results and states to reach.

use whippet_generate::{Sample, Size, draw, fault_settings, judge_declared};

/// Programs with more executions than this are skipped.
const SIZE: Size = Size { executions: 1_500, steps: 40 };

fn check(test: &str, sample: Sample) -> String {
    let settings = fault_settings();
    match sample.run(test, draw, |seed, program| judge_declared(program, seed, &settings, SIZE)) {
        Ok(tally) => format!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

#[test]
fn a_fixed_sample_with_declarations() {
    println!("{}", check("a_fixed_sample_with_declarations", Sample::from_environment(1, 120)));
}

#[test]
fn a_fresh_sample_with_declarations() {
    println!("{}", check("a_fresh_sample_with_declarations", Sample::from_environment(Sample::fresh_seed(), 60)));
}

/// Two independent steps ruled a crash out together: one stopped the actor, and one used the budget.
#[test]
fn only_the_budget_rules_a_crash_out() {
    println!("{}", check("only_the_budget_rules_a_crash_out", Sample { seed: 501_054, programs: 1 }));
}

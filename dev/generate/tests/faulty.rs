//! Comparison of all searches on random programs with faults.

use whippet_generate::{Sample, Size, draw, fault_settings, judge_faulty};

const SIZE: Size = Size { executions: 1_500, steps: 40 };

fn check(test: &str, sample: Sample) -> String {
    let settings = fault_settings();
    match sample.run(test, draw, |seed, program| judge_faulty(program, seed, &settings, SIZE)) {
        Ok(tally) => format!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

#[test]
fn a_fixed_sample_with_faults() {
    println!("{}", check("a_fixed_sample_with_faults", Sample::from_environment(1, 120)));
}

#[test]
fn a_fresh_sample_with_faults() {
    println!("{}", check("a_fresh_sample_with_faults", Sample::from_environment(Sample::fresh_seed(), 80)));
}

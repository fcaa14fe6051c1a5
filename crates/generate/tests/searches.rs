//! Every search on random programs: see `whippet_generate` for what is compared.

use whippet_generate::{Failure, Judged, Sample, Setting, Size, draw, judge};
use whippet_search::toy::{Delivery, Program};

/// These searches under every order of delivery.
fn judge_all(program: &Program, settings: &[Setting]) -> Result<Option<Judged>, Failure> {
    let mut sum = Judged::default();
    for delivery in [Delivery::Unordered, Delivery::Fifo, Delivery::Causal] {
        let program = program.clone().delivery(delivery);
        let Some(judged) = judge(&program, settings, Size::default())? else { return Ok(None) };
        sum.add(judged);
    }
    Ok(Some(sum))
}

/// All searches, or those of which the command line contains `WHIPPET_ONLY`.
fn settings() -> Vec<Setting> {
    let only = std::env::var("WHIPPET_ONLY").unwrap_or_default();
    Setting::all().into_iter().filter(|setting| setting.to_string().contains(&only)).collect()
}

fn check(test: &str, sample: Sample, settings: &[Setting]) {
    match sample.run(test, draw, |_, program| judge_all(program, settings)) {
        Ok(tally) => println!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

#[test]
fn the_exhaustive_search_agrees_with_the_reference() {
    check("the_exhaustive_search_agrees_with_the_reference", Sample::from_environment(1, 900), &[]);
}

#[test]
fn a_fixed_sample() {
    check("a_fixed_sample", Sample::from_environment(1, 90), &settings());
}

#[test]
fn a_fresh_sample() {
    check("a_fresh_sample", Sample::from_environment(Sample::fresh_seed(), 90), &settings());
}

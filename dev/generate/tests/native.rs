//! Comparison of random programs executed as native actors with the toy language.

use whippet_generate::{Failure, Judged, Sample, Size, Style, alike, draw};
use whippet_search::toy::{Delivery, Granularity, Program};

fn judge_all(program: &Program) -> Result<Option<Judged>, Failure> {
    let mut sum = Judged::default();
    for delivery in [Delivery::Unordered, Delivery::Fifo, Delivery::Causal] {
        for style in Style::ALL {
            let program = program.clone().delivery(delivery).granularity(Granularity::Actor);
            let Some(judged) = alike(&program, style, Size::default())? else { return Ok(None) };
            sum.add(judged);
        }
    }
    Ok(Some(sum))
}

fn check(test: &str, sample: Sample) -> String {
    match sample.run(test, draw, |_, program| judge_all(program)) {
        Ok(tally) => format!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

#[test]
fn a_fixed_sample_as_native_actors() {
    println!("{}", check("a_fixed_sample_as_native_actors", Sample::from_environment(1, 80)));
}

#[test]
fn a_fresh_sample_as_native_actors() {
    println!("{}", check("a_fresh_sample_as_native_actors", Sample::from_environment(Sample::fresh_seed(), 60)));
}

//! Comparison of all searches on random programs; see `whippet_generate` for a description.

use whippet_generate::{Failure, Judged, Sample, Setting, Size, draw, judge};
use whippet_search::Rule;
use whippet_search::toy::{Action, Delivery, Granularity, Program};

/// Compares the searches under every order of delivery and with every dependence relation that the program supports.
fn judge_all(program: &Program, settings: &[Setting]) -> Result<Option<Judged>, Failure> {
    let mut sum = Judged::default();
    let mut levels = vec![Granularity::Actor, Granularity::Footprint];
    levels.extend((program.granularity == Granularity::Fields).then_some(Granularity::Fields));
    for delivery in [Delivery::Unordered, Delivery::Fifo, Delivery::Causal] {
        for &level in &levels {
            let program = program.clone().delivery(delivery).granularity(level);
            let Some(judged) = judge(&program, settings, Size::default())? else { return Ok(None) };
            plain(&program, &judged)?;
            sum.add(judged);
        }
    }
    Ok(Some(sum))
}

/// Returns all searches, or those whose command line contains one of the words in `WHIPPET_ONLY`.
fn settings() -> Vec<Setting> {
    let only = std::env::var("WHIPPET_ONLY").unwrap_or_default();
    let wanted = |setting: &Setting| only.split(',').any(|word| setting.to_string().contains(word));
    Setting::all().into_iter().filter(wanted).collect()
}

fn check(test: &str, sample: Sample, settings: &[Setting]) -> String {
    match sample.run(test, draw, |_, program| judge_all(program, settings)) {
        Ok(tally) => format!("seeds from {}: {tally}", sample.seed),
        Err(story) => panic!("{story}"),
    }
}

/// Checks that the rules of the published tables miss nothing in programs whose actors accept every message at any
/// time.
fn plain(program: &Program, judged: &Judged) -> Result<(), Failure> {
    let tables = |setting: &&Setting| matches!(setting.rule, Rule::Table1 | Rule::Table2);
    match judged.misses.iter().find(tables) {
        Some(&setting) if takes_everything(program) => {
            let what = "misses something of a plain program".into();
            Err(Failure { program: Some(program.clone()), setting, what })
        }
        _ => Ok(()),
    }
}

fn takes_everything(program: &Program) -> bool {
    let closes = |action: &Action| matches!(action, Action::Stop | Action::Fail | Action::Call(..));
    program.delivery == Delivery::Unordered
        && program.refusals.is_empty()
        && !program.rules.iter().flat_map(|rule| &rule.actions).any(closes)
}

#[test]
fn the_exhaustive_search_agrees_with_the_reference() {
    println!("{}", check("the_exhaustive_search_agrees_with_the_reference", Sample::from_environment(1, 600), &[]));
}

#[test]
fn a_fixed_sample() {
    println!("{}", check("a_fixed_sample", Sample::from_environment(1, 80), &settings()));
}

#[test]
fn a_fresh_sample() {
    println!("{}", check("a_fresh_sample", Sample::from_environment(Sample::fresh_seed(), 60), &settings()));
}

//! Comparison of all searches on random programs that mix actors, futures, locks and shared variables.

use std::collections::BTreeMap;
use whippet_generate::{
    Failure, Guarantee, Judged, Mixed, Results, Sample, Setting, Size, judge_mixed, mixed_settings, steady,
};
use whippet_model::FindingKind;
use whippet_search::Reduction;

const SIZE: Size = Size { executions: 1_000, steps: 40 };

/// Compares the searches on a sample and returns a summary. Panics at the first failure, with a program as small as
/// possible.
fn check(test: &str, sample: Sample, settings: &[Setting]) -> String {
    let (mut judged, mut large, mut problems) = (Judged::default(), 0, BTreeMap::<FindingKind, u64>::new());
    for seed in sample.seed..sample.seed.wrapping_add(sample.programs) {
        let program = Mixed::draw(seed);
        match judge_mixed(&program, settings, SIZE) {
            Ok(None) => large += 1,
            Ok(Some((one, kinds))) => {
                judged.add(one);
                for kind in kinds {
                    *problems.entry(kind).or_default() += 1;
                }
            }
            Err(failure) => panic!("{}", story(test, seed, program, &failure)),
        }
    }
    let Judged { traces, executions, searches, .. } = judged;
    format!(
        "seeds from {}: {} programs ({large} were too large), {traces} traces, {executions} executions, \
         {searches} searches, with problems: {problems:?}",
        sample.seed,
        sample.programs - large
    )
}

fn story(test: &str, seed: u64, program: Mixed, failure: &Failure) -> String {
    let again = |program: &Mixed| judge_mixed(program, &[failure.setting], SIZE).err();
    let small = program.shrink(|program| again(program).is_some());
    let what = again(&small).unwrap_or_else(|| failure.clone());
    format!(
        "{what}\n\nThe smallest program that shows it, from seed {seed}:\n{small}\
         See it again: WHIPPET_SEED={seed} WHIPPET_PROGRAMS=1 cargo test -p whippet-generate {test}"
    )
}

#[test]
fn a_fixed_sample_of_mixed_programs() {
    let sample = Sample::from_environment(1, 90);
    println!("{}", check("a_fixed_sample_of_mixed_programs", sample, &mixed_settings()));
}

#[test]
fn a_fresh_sample_of_mixed_programs() {
    let sample = Sample::from_environment(Sample::fresh_seed(), 60);
    println!("{}", check("a_fresh_sample_of_mixed_programs", sample, &mixed_settings()));
}

/// Programs in which a guard used to be released twice: once by the remembered effects, and once when the suspended
/// code that contained it was dropped.
#[test]
fn guards_let_go_once() {
    let settings = [Reduction::Dcute, Reduction::Source, Reduction::Optimal].map(Setting::of);
    for seed in [930, 3_984, 10_974, 13_597] {
        println!("{}", check("guards_let_go_once", Sample { seed, programs: 1 }, &settings));
    }
}

/// A test of the comparison itself: it detects searches that miss traces if messages can be refused.
#[test]
fn the_published_rules_lose_traces_of_programs_with_locks() {
    let published =
        |setting: &Setting| setting.reduction == Reduction::Transdpor && setting.guarantee() == Guarantee::Some;
    let settings: Vec<Setting> = Setting::all().into_iter().filter(published).collect();
    let loses = |seed| judge_mixed(&Mixed::draw(seed), &settings, SIZE).is_err();
    assert!((1..200).any(loses));
}

/// Rewinding and repeating steps changes nothing, and every execution can be replayed.
#[test]
fn machines_of_mixed_programs_are_steady() {
    let sample = Sample::from_environment(1, 90);
    for seed in sample.seed..sample.seed + sample.programs {
        let program = Mixed::draw(seed);
        let size = Size { executions: 300, steps: 40 };
        steady(&program.test(&Results::default()), size)
            .unwrap_or_else(|what| panic!("seed {seed}: {what}\n{program}"));
    }
}

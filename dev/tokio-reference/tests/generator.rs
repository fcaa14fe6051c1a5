//! The generator, the shrinker, and the relation between the granularities.

use tokio_reference::shrink::fits;
use tokio_reference::{Granularity, Program, generate, is_real_time_safe, outcomes, smaller};

const MANY: usize = 100_000;

#[test]
fn coarse_outcomes_are_fine_outcomes() {
    let mut compared = 0;
    for seed in 0..400 {
        let program = generate(seed);
        let Some(fine) = outcomes(&program, Granularity::Fine, MANY) else { continue };
        let coarse = outcomes(&program, Granularity::Coarse, MANY).expect("coarse has fewer states");
        assert!(!coarse.is_empty() && coarse.is_subset(&fine), "seed {seed}: {program:?}");
        compared += 1;
    }
    assert!(compared >= 300, "{compared} compared");
}

#[test]
fn the_generator_is_deterministic() {
    for seed in 0..500 {
        assert_eq!(generate(seed), generate(seed));
    }
    let different: std::collections::BTreeSet<String> = (0..500).map(|seed| format!("{:?}", generate(seed))).collect();
    assert!(different.len() > 480, "{} different programs", different.len());
}

#[test]
fn generated_and_shrunk_programs_are_well_formed() {
    for seed in 0..2000 {
        let program = generate(seed);
        assert!(fits(&program), "{program:?}");
        assert!(
            program.tasks.len() <= 4 && program.tasks.iter().all(|ops| (1..=6).contains(&ops.len())),
            "{program:?}"
        );
    }
    for seed in 0..200 {
        assert!(smaller(&generate(seed)).iter().all(fits));
    }
}

#[test]
fn some_programs_are_safe_on_a_real_clock() {
    let safe = (0..1000).filter(|&seed| is_real_time_safe(&generate(seed))).count();
    assert!((300..1000).contains(&safe), "{safe} of 1000");
}

/// Shrinks greedily as long as a variation satisfies the condition.
fn shrunk(mut program: Program, condition: impl Fn(&Program) -> bool) -> Program {
    let mut steps = 0;
    while let Some(next) = smaller(&program).into_iter().find(|next| condition(next)) {
        program = next;
        steps += 1;
        assert!(steps < 1000, "shrinking does not end: {program:?}");
    }
    program
}

#[test]
fn shrinking_ends() {
    for seed in 0..300 {
        let least = shrunk(generate(seed), |_| true);
        assert_eq!(least, Program { objects: Vec::new(), tasks: vec![Vec::new()] }, "seed {seed}");
    }
}

#[test]
fn shrinking_keeps_what_matters() {
    let blocks = |program: &Program| {
        outcomes(program, Granularity::Coarse, MANY)
            .is_some_and(|outcomes| outcomes.iter().any(|outcome| outcome.to_string().contains("blocked")))
    };
    let least: Vec<Program> = (0..60).map(generate).filter(blocks).map(|program| shrunk(program, blocks)).collect();
    assert!(least.len() > 5);
    assert!(least.iter().all(|program| program.tasks.iter().flatten().count() <= 2), "{least:?}");
}

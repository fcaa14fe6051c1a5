//! Random searches: determined by their seed, with a correct account of the traces seen.

use std::sync::Arc;
use whippet_model::{LimitHit, Verdict};
use whippet_search::toy::{Action, Program, Target};
use whippet_search::{Options, Reduction, explore};

const SAMPLERS: [Reduction; 3] = [Reduction::Random, Reduction::Pct, Reduction::Pos];

fn run(program: &Program, reduction: Reduction, samples: u64, seed: u64) -> Verdict {
    let options = Options::new(reduction).with_samples(samples).with_seed(seed);
    explore(Arc::new(program.clone()), &options, &()).unwrap()
}

/// `n` messages to one actor: n! traces.
fn crowd(n: u32) -> Program {
    (0..n).fold(Program::new(1), |program, tag| program.main(0, tag))
}

#[test]
fn a_small_program_is_seen_whole() {
    for reduction in SAMPLERS {
        let verdict = run(&crowd(4), reduction, 1_000, 1);
        assert_eq!((verdict.counters.executions, verdict.counters.transitions), (1_000, 4_000));
        let estimate = verdict.estimate.unwrap();
        assert_eq!(estimate.seen, Some(24), "{reduction}");
        assert!((estimate.total - 24.0).abs() < 1.0, "{reduction}: {estimate:?}");
        assert!(!verdict.complete, "samples prove nothing");
        assert_eq!(verdict.limits, [LimitHit::Executions]);
        assert!(verdict.notes.iter().any(|note| note.contains("24 different traces")), "{:?}", verdict.notes);
    }
}

#[test]
fn a_large_program_is_guessed() {
    // 5040 traces; 1000 uniform samples see each one with a probability of about one in five.
    let estimate = run(&crowd(7), Reduction::Random, 1_000, 3).estimate.unwrap();
    assert!(estimate.seen.unwrap() < 1_000);
    assert!((estimate.total - 5040.0).abs() < 3.0 * estimate.error, "{estimate:?}");
}

#[test]
fn the_seed_decides() {
    for reduction in SAMPLERS {
        let seen = |seed| run(&crowd(6), reduction, 200, seed).estimate.unwrap().seen;
        assert_eq!(seen(7), seen(7), "{reduction}");
        assert!((8..20).any(|seed| seen(seed) != seen(7)), "{reduction}");
    }
}

#[test]
fn every_way_of_a_choice_is_drawn() {
    let program = Program::new(1).main(0, 0).on(0, 0, [Action::Choose(3), Action::Choose(2)]);
    for reduction in SAMPLERS {
        assert_eq!(run(&program, reduction, 200, 1).estimate.unwrap().seen, Some(6), "{reduction}");
    }
}

#[test]
fn a_bug_that_needs_an_order_is_found() {
    use Action::{Fail, Send, Set};
    // A0 fails if the last message of a chain arrives before the message that was pending from the beginning.
    let program = Program::new(3)
        .main(0, 0)
        .main(1, 0)
        .on(1, 0, [Send(Target::Actor(2), 0)])
        .on(2, 0, [Send(Target::Actor(0), 1)])
        .on(0, 0, [Set(1)])
        .when(0, 1, 0, [Fail]);
    for reduction in SAMPLERS {
        assert_eq!(run(&program, reduction, 200, 5).findings.len(), 1, "{reduction}");
    }
}

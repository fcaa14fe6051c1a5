//! The stateful search: its counts, the effect of its options, and that it reaches every final state and problem.

use std::sync::Arc;
use whippet_generate::{Setting, Size, answer, compare, draw};
use whippet_model::{Counters, LimitHit, Limits, Remembered, StateComparison};
use whippet_search::toy::{Action, Program, Target};
use whippet_search::{Options, Reduction, StepSize, explore};

use Action::{Call, Create, Fail, Send, Set, Stop};
use Target::{Actor, Me};

fn stateful() -> Options {
    Options::new(Reduction::Stateful)
}

fn count(program: &Program, options: &Options) -> Counters {
    let verdict = explore(Arc::new(program.clone()), options, &()).unwrap();
    assert!(verdict.complete);
    verdict.counters
}

/// The server of the papers. Tags: set 1, get 2, shutdown 3; `set` changes the server's state.
fn server() -> Program {
    let client = [Send(Actor(0), 1), Call(Actor(0), 2), Call(Actor(0), 2), Send(Actor(0), 3)];
    Program::new(2).main(1, 0).on(1, 0, client).on(0, 3, [Stop]).on(0, 1, [Set(1)])
}

#[test]
fn paths_that_meet_are_explored_once() {
    // Two actors with two messages each: a grid of 3 × 3.
    let grid = Program::new(2).main(0, 0).main(1, 0).on(0, 0, [Send(Me, 1)]).on(1, 0, [Send(Me, 1)]);
    for breadth_first in [false, true] {
        let counters = count(&grid, &stateful().with_breadth_first(breadth_first));
        assert_eq!((counters.states, counters.transitions, counters.executions), (Some(9), 12, 1));
    }
}

#[test]
fn the_server() {
    let counters = count(&server(), &stateful());
    assert_eq!((counters.states, counters.transitions, counters.executions), (Some(13), 16, 2));
    let big = count(&server(), &stateful().with_step(StepSize::Big));
    assert_eq!((big.states, big.transitions, big.executions), (Some(7), 26, 2), "fewer states, more work");
}

#[test]
fn an_order_of_sending_that_does_not_matter_is_seen_by_the_ordered_comparison_only() {
    let program = Program::new(3).main(0, 0).main(1, 0).on(0, 0, [Send(Actor(2), 0)]).on(1, 0, [Send(Actor(2), 0)]);
    let states = |comparison| count(&program, &stateful().with_comparison(comparison)).states.unwrap();
    assert!(states(StateComparison::Ordered) > states(StateComparison::Canonical));
}

#[test]
fn a_comparison_like_basset_s_counts_every_execution_that_reaches_an_end() {
    let program = Program::new(2).main(0, 0).main(1, 0);
    let of = |comparison, step| {
        let counters = count(&program, &stateful().with_comparison(comparison).with_step(step));
        (counters.executions, counters.states.unwrap(), counters.depth)
    };
    let basset = StateComparison::BassetActor(Remembered::Nothing);
    assert_eq!(of(StateComparison::Canonical, StepSize::Little), (1, 4, 2));
    assert_eq!(of(basset, StepSize::Little), (2, 5, 2));
    // Only the initial configuration has a choice, so each execution is one big step.
    assert_eq!(of(basset, StepSize::Big), (2, 3, 1));
}

#[test]
fn an_endless_program_with_finitely_many_states_is_covered() {
    let counters = count(&Program::new(1).main(0, 0).on(0, 0, [Send(Me, 0)]), &stateful());
    // Its first message is from `main`, all others are from itself.
    assert_eq!((counters.states, counters.transitions, counters.executions), (Some(2), 2, 0));
}

#[test]
fn a_failure_on_the_way_to_a_known_state_is_found() {
    // A0 stops in either order, but fails only if t2 comes first.
    let program = Program::new(1).main(0, 1).main(0, 2).on(0, 1, [Stop]).on(0, 2, [Fail]);
    for breadth_first in [false, true] {
        let verdict = explore(Arc::new(program.clone()), &stateful().with_breadth_first(breadth_first), &()).unwrap();
        assert_eq!(verdict.findings.len(), 1);
        assert_eq!(verdict.findings[0].counterexample.len(), 1);
    }
}

#[test]
fn memory_is_limited() {
    let wide = (0..14).fold(Program::new(14), |program, k| program.main(k, 0));
    for breadth_first in [false, true] {
        let limits = Limits::default().with_memory(100_000);
        let verdict =
            explore(Arc::new(wide.clone()), &stateful().with_breadth_first(breadth_first).with_limits(limits), &())
                .unwrap();
        assert_eq!((verdict.limits.as_slice(), verdict.complete), (&[LimitHit::Memory][..], false));
        assert!(verdict.counters.states.unwrap() > 100);
    }
}

#[test]
fn random_programs() {
    let mut judged = 0;
    for seed in 0..800 {
        let program = draw(seed);
        if program.rules.iter().any(|rule| rule.actions.iter().any(|action| matches!(action, Create(_)))) {
            // Equal messages are interchangeable, but the actors that they create are named after them.
            continue;
        }
        let size = Size { executions: 500, steps: 30 };
        let Some(all) = answer(&program, &Setting::of(Reduction::Exhaustive), Some(size)).unwrap() else { continue };
        judged += 1;
        let setting = Setting::of(Reduction::Stateful);
        let found = answer(&program, &setting, None).unwrap_or_else(|f| panic!("{f}\n{program}")).unwrap();
        if let Err(what) = compare(&all, &found, &setting) {
            panic!("seed {seed}: {what}\n{program}");
        }
        let breadth_first = count(&program, &stateful().with_breadth_first(true));
        assert_eq!(breadth_first.states, found.verdict.counters.states, "{program}");
    }
    assert!(judged > 100);
}

//! The optimal searches on actors: each trace once, no blocked executions, for every order and any number of workers.

use std::sync::Arc;
use whippet_generate::{Setting, Size, answer, compare, draw};
use whippet_search::toy::{Action, Delivery, Program, Target};
use whippet_search::{Options, Order, Reduction, explore};

use Action::{Choose, Create, Fail, Send, Set, Stop};
use Target::{Actor, Creator, Me, Newest};

const DELIVERIES: [Delivery; 3] = [Delivery::Unordered, Delivery::Fifo, Delivery::Causal];

fn optimal() -> Setting {
    Setting::of(Reduction::Optimal)
}

/// Checks that these searches agree with the exhaustive one. Returns the number of traces, or `None` if the program
/// is too large.
fn traces(program: &Program, settings: &[Setting]) -> Option<usize> {
    let all = answer(program, &Setting::of(Reduction::Exhaustive), Some(Size::default())).unwrap()?;
    for setting in settings {
        let found = answer(program, setting, None).unwrap_or_else(|f| panic!("{f}\n{program}")).unwrap();
        if let Err(what) = compare(&all, &found, setting) {
            panic!("{setting}: {what}\n{program}");
        }
        assert_eq!(found.verdict.counters.executions, all.log.traces.len() as u64, "{setting}\n{program}");
    }
    Some(all.log.traces.len())
}

fn orders() -> Vec<Setting> {
    Order::ALL.iter().filter(|order| **order != Order::Stable).map(|&order| Setting { order, ..optimal() }).collect()
}

#[test]
fn rule_stop_at_a_step_that_is_not_canonical() {
    let program =
        Program::new(3).main(1, 1).main(2, 0).on(1, 1, [Send(Me, 0), Send(Me, 0)]).on(2, 0, [Send(Actor(1), 2)]);
    assert_eq!(traces(&program, &orders()), Some(8));
}

#[test]
fn rule_pass_over_the_past_whether_canonical_or_not() {
    let program = Program::new(3).main(2, 1).main(2, 0).main(1, 1).on(2, 1, [Send(Actor(1), 1)]);
    assert_eq!(traces(&program, &orders()), Some(4));
}

#[test]
fn rule_every_revisit_of_a_step_not_only_the_nearest() {
    // A0 has received two messages when A1 sends another one: it may be delivered before either.
    let program = Program::new(2).main(0, 1).main(0, 2).main(1, 0).on(1, 0, [Send(Actor(0), 3)]);
    assert_eq!(traces(&program, &orders()), Some(6));
}

#[test]
fn rule_look_back_after_the_step_that_took_another_ones_place() {
    // A1's reaction to the late message is a message that is itself late for A0.
    let program =
        Program::new(3).main(0, 0).main(1, 0).main(2, 0).on(2, 0, [Send(Actor(1), 1)]).on(1, 1, [Send(Actor(0), 2)]);
    assert_eq!(traces(&program, &orders()), Some(4));
}

#[test]
fn rule_steps_taken_again_do_not_look_back() {
    let program = Program::new(3)
        .main(0, 0)
        .main(1, 0)
        .on(1, 0, [Send(Actor(0), 1), Send(Actor(2), 1)])
        .on(2, 1, [Send(Actor(0), 2), Send(Actor(1), 2)])
        .on(1, 2, [Send(Actor(0), 3)]);
    assert!(traces(&program, &orders()).is_some_and(|n| n > 20));
}

#[test]
fn a_message_refused_at_the_end_could_have_come_before() {
    // The defects of published rules: messages that an earlier one makes undeliverable.
    let stops = Program::new(1).main(0, 1).main(0, 0).on(0, 1, [Stop]);
    assert_eq!(traces(&stops, &orders()), Some(2));
    let refuses =
        Program::new(2).main(1, 1).main(0, 1).on(0, 1, [Send(Actor(1), 2)]).on(1, 1, [Set(5)]).refuse(1, 5, 2);
    assert_eq!(traces(&refuses, &orders()), Some(2));
}

#[test]
fn the_nearest_accepting_state_may_be_far_back() {
    let program = Program::new(2)
        .main(0, 0)
        .main(0, 1)
        .main(1, 0)
        .on(0, 0, [Set(1)])
        .on(0, 1, [Set(2)])
        .on(1, 0, [Send(Actor(0), 2)])
        .refuse(0, 1, 2)
        .refuse(0, 2, 2);
    assert!(traces(&program, &orders()).is_some());
}

#[test]
fn fifo_behind_an_older_message_is_no_race() {
    let program = Program::new(3)
        .delivery(Delivery::Fifo)
        .main(0, 0)
        .main(1, 0)
        .on(1, 0, [Send(Actor(0), 1), Send(Actor(0), 2), Send(Actor(2), 1)])
        .on(2, 1, [Send(Actor(0), 3)]);
    assert_eq!(traces(&program, &orders()), Some(4 * 3));
}

#[test]
fn ways_and_creations() {
    let program = Program::new(2)
        .main(0, 0)
        .main(1, 0)
        .on(0, 0, [Choose(3), Create(1), Send(Newest, 0)])
        .on(1, 0, [Choose(2), Send(Creator, 1), Send(Actor(0), 1)])
        .when(0, 1, 2, [Fail]);
    assert!(traces(&program, &orders()).is_some_and(|n| n > 12));
}

#[test]
fn random_programs_under_every_order() {
    let mut judged = 0;
    for seed in 0..140 {
        let program = draw(seed).delivery(DELIVERIES[seed as usize % 3]);
        judged += usize::from(traces(&program, &orders()).is_some());
    }
    assert!(judged > 70, "only {judged} programs were small enough");
}

#[test]
fn random_programs_with_any_number_of_workers() {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    for seed in 1000..1100 {
        let program = draw(seed).delivery(DELIVERIES[seed as usize % 3]);
        let settings: Vec<Setting> = [1, 2, 3, 8].map(|jobs| Setting { jobs, ..optimal() }).into();
        if traces(&program, &settings).is_none() {
            continue;
        }
        let run = |jobs| {
            let options = Setting { jobs, ..exhaustive }.options();
            let verdict = explore(Arc::new(program.clone()), &options, &()).unwrap();
            (verdict.counters, verdict.findings, verdict.warnings)
        };
        let (alone, shared) = (run(1), run(3));
        assert_eq!((alone.0.executions, alone.0.transitions), (shared.0.executions, shared.0.transitions));
        assert_eq!((alone.1, alone.2), (shared.1, shared.2), "{program}");
    }
}

#[test]
fn the_verdict_says_how_it_was_found() {
    let program = Program::new(1).main(0, 0).main(0, 1);
    let verdict = explore(Arc::new(program), &Options::default().with_jobs(2), &()).unwrap();
    assert_eq!(verdict.counters.executions, 2);
    assert_eq!(verdict.algorithm, Some(whippet_model::Algorithm::RevisitSearch));
}

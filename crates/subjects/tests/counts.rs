//! Exact counts for every subject: those of exhaustive searches, those without reduction in chapter 3 of the
//! dissertation, and the numbers of traces.

use std::sync::Arc;
use whippet::Delivery;
use whippet_model::{FindingKind, Verdict};
use whippet_search::{Options, Order, Reduction, explore, replay};
use whippet_subjects::{find, trace_counts};

fn verdict(subject: &str, set: &[(&str, &str)], delivery: Delivery, options: &Options) -> Verdict {
    let program = find(subject).unwrap().program(set.iter().copied()).unwrap().delivery(delivery);
    explore(Arc::new(program), options, &()).unwrap_or_else(|e| panic!("{subject}: {e}"))
}

fn exhaustive(subject: &str, set: &[(&str, &str)]) -> Verdict {
    let options = Options::new(Reduction::Exhaustive);
    verdict(subject, set, Delivery::Unordered, &options)
}

#[track_caller]
fn check(subject: &str, set: &[(&str, &str)], executions: u64, transitions: u64) {
    let verdict = exhaustive(subject, set);
    assert!(verdict.complete);
    let counted = (verdict.counters.executions, verdict.counters.transitions);
    assert_eq!(counted, (executions, transitions), "{subject} {set:?}");
}

#[test]
fn helloworld_has_one_execution() {
    check("helloworld", &[], 1, 1);
}

#[test]
fn exhaustive_counts() {
    check("server", &[], 6, 26);
    check("pi", &[("workers", "3")], 540, 1621);
    check("fib", &[("n", "4"), ("variant", "one-server")], 168, 768);
    check("spinsort", &[], 1152, 5045);
    check("shortpath", &[("graph", "triangle")], 3614, 9999);
    check("leader", &[], 374, 1466);
}

#[test]
fn exhaustive_counts_with_futures_and_locks() {
    check("dataproc", &[("futures", "2")], 40, 160);
    check("dataproc", &[("futures", "3")], 932, 3879);
    check("deadlock", &[], 2598, 9098);
    check("datarace", &[], 40, 160);
}

#[test]
fn exhaustive_counts_with_explicit_receive() {
    check("server", &[("variant", "scala")], 6, 25);
    check("pi", &[("workers", "3"), ("variant", "scala")], 540, 1620);
    check("fib", &[("n", "4"), ("variant", "scala")], 168, 767);
    check("spinsort", &[("variant", "scala")], 1152, 5044);
    check("shortpath", &[("graph", "triangle"), ("variant", "scala")], 3614, 9999);
    check("leader", &[("variant", "scala")], 374, 1466);
    check("scalawiki", &[], 4152, 22521);
}

#[test]
fn pi_4_has_60480_executions() {
    check("pi", &[("workers", "4")], 60_480, 168_645);
}

#[test]
fn mergesort_has_33264_executions() {
    check("mergesort", &[], 33_264, 113_066);
}

#[test]
fn quicksort_of_four_has_11088_executions() {
    check("quicksort", &[("data", "3 1 2 0"), ("variant", "scala")], 11_088, 43_437);
}

#[test]
fn twenty_executions_of_two_philosophers_deadlock() {
    let verdict = exhaustive("philosophers", &[]);
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (732, 4084));
    let deadlocked: u64 =
        verdict.findings.iter().filter(|f| f.kind == FindingKind::Deadlock).map(|f| f.executions).sum();
    assert_eq!(deadlocked, 20);
}

#[test]
fn the_inconsistent_read_is_found_and_told_without_idle_steps() {
    for variant in ["actorfoundry", "scala"] {
        let set = [("assert", "true"), ("variant", variant)];
        let verdict = exhaustive("server", &set);
        let found = verdict.findings.iter().find(|f| f.message.contains("inconsistent read")).unwrap();
        // Start (only with handlers), Get, reply, Set, Get, reply: all of them are necessary.
        let told = found.counterexample.len();
        assert_eq!(told, if variant == "scala" { 5 } else { 6 }, "{:#?}", found.counterexample);
        let program = find("server").unwrap().program(set).unwrap();
        let again = replay(&program, &found.schedule).unwrap();
        assert!(again.problems.iter().any(|p| p.message.contains("inconsistent read")));
    }
}

#[test]
fn under_fifo_the_inconsistent_read_is_gone() {
    let options = Options::new(Reduction::Exhaustive);
    let verdict = verdict("server", &[("assert", "true")], Delivery::Fifo, &options);
    assert_eq!((verdict.findings.len(), verdict.warnings.len(), verdict.complete), (0, 0, true));
}

#[test]
fn the_late_set_is_undeliverable() {
    let verdict = exhaustive("server", &[]);
    assert!(verdict.findings.is_empty());
    let late = verdict.warnings.iter().find(|w| w.kind == FindingKind::Undeliverable).unwrap();
    assert!(late.message.contains("Set(5)") && late.message.contains("has stopped"), "{}", late.message);
}

#[test]
fn producers_have_all_orders_and_under_fifo_all_merges() {
    let options = Options::default();
    let traces = |delivery| verdict("producers", &[("k", "3")], delivery, &options).counters.executions;
    assert_eq!((traces(Delivery::Unordered), traces(Delivery::Fifo)), (720, 20));
}

/// An optimal search has exactly one execution per trace, whatever the order of search.
#[test]
fn optimal_searches_have_one_execution_per_trace_in_every_order() {
    for known in trace_counts() {
        let set: Vec<_> = known.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        for &order in Order::ALL.iter().filter(|order| **order != Order::Stable) {
            let options = Options::new(Reduction::Optimal).with_order(order);
            let verdict = verdict(&known.subject, &set, Delivery::Unordered, &options);
            let counted = (verdict.counters.executions, verdict.counters.blocked);
            assert_eq!(counted, (known.traces, 0), "{} {set:?} {order}", known.subject);
        }
    }
}

/// The findings of the ported election, with messages between two nodes in order, as in Erlang.
#[test]
fn the_election_loses_its_leader_after_a_failure_and_may_have_two_after_a_restart() {
    let found = |set: &[(&str, &str)]| -> Vec<String> {
        let verdict = verdict("le-erlang", set, Delivery::Fifo, &Options::new(Reduction::Stateful));
        assert!(verdict.complete);
        verdict.findings.into_iter().map(|f| f.message).collect()
    };
    let after = |failure: &str, failing: &str| found(&[("failure", failure), ("failing", failing)]);
    let (none, two) = ("at the end: no leader", "always: two leaders: [1, 2]");
    assert_eq!(found(&[]), Vec::<String>::new());
    assert_eq!(found(&[("n", "4"), ("unique", "false")]), [none]);
    assert_eq!(after("stop", "0"), Vec::<String>::new());
    assert_eq!(after("stop", "1"), [none]);
    assert_eq!(after("stop", "2"), [none]);
    assert_eq!(after("restart", "0"), [two]);
    assert_eq!(after("restart", "1"), [none]);
    assert_eq!(after("restart", "2"), [none, two]);
}

#[test]
fn the_inventory_is_read_twice_with_different_answers() {
    let verdict = verdict("scalawiki", &[("assert", "true")], Delivery::Unordered, &Options::default());
    assert!(verdict.findings.iter().any(|f| f.message.contains("two reads disagree")));
}

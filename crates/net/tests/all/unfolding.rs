//! Tests of the unfolding search: its events, its garbage collection, and its output.

use crate::common::{FAMILIES, enumerate, script};
use std::sync::Arc;
use whippet_model::{FindingKind, Verdict};
use whippet_net::{Net, interleavings, subjects};
use whippet_search::{Options, Reduction, explore, unfold};

fn subject(name: &str, n: usize) -> Net {
    subjects().iter().find(|s| s.name == name).expect("a subject").program(Some(n)).unwrap()
}

fn udpor(net: &Net, alternatives: Option<usize>) -> Verdict {
    let options = Options::new(Reduction::Udpor).with_alternatives(alternatives);
    explore(Arc::new(net.clone()), &options, &()).unwrap()
}

/// Returns the number of events created, the largest U and the largest D.
fn numbers(verdict: &Verdict) -> [usize; 3] {
    let events = verdict.counters.events.expect("udpor says what it knew");
    [events.created, events.known, events.avoided].map(|n| n as usize)
}

#[test]
fn events_equal_those_of_all_executions() {
    let (mut known, mut all_events) = (0, 0);
    for family in FAMILIES {
        for seed in 0..40 {
            let script = script(family, 1_000 + seed, 5 + seed as usize % 4);
            let net = Net::script("random", script.clone());
            if interleavings(&net).unwrap() > 2_000 {
                continue;
            }
            let all = enumerate(&net);
            let unfolded = unfold(net.clone().into(), &Options::default()).unwrap();
            assert_eq!(unfolded.events.len(), all.events.len(), "{script}");
            known += numbers(&udpor(&net, None))[1];
            all_events += unfolded.events.len();
            for (id, event) in unfolded.events.iter().enumerate() {
                assert!(event.causes.iter().all(|&cause| cause < id), "causes come first");
                assert!(!event.text.is_empty(), "every event happened");
                assert!(event.conflicts.iter().all(|&other| unfolded.events[other].conflicts.contains(&id)));
            }
        }
    }
    assert!(known < all_events, "with collection {known} events are known at a time, without {all_events}");
}

#[test]
fn garbage_collection_bounds_events() {
    let net = subject("rmq-receiving", 5);
    let verdict = udpor(&net, None);
    let [created, largest, avoided] = numbers(&verdict);
    let all = unfold(net.clone().into(), &Options::default()).unwrap().events.len();
    assert!(largest < all, "{largest} at a time, {all} in all");
    assert!(created >= all);
    assert_eq!(avoided, 6, "the paper: k = 7 is optimal, which is |D| + 1");
}

#[test]
fn rmq_receiving_7_and_8() {
    for (n, traces) in [(7, 720), (8, 5_040)] {
        let verdict = udpor(&subject("rmq-receiving", n), None);
        assert_eq!((verdict.counters.executions, verdict.counters.blocked), (traces, 0));
        assert!(numbers(&verdict)[1] < 150, "what is known stays small: {:?}", verdict.counters);
    }
}

#[test]
fn partial_alternatives_find_all_traces() {
    let net = subject("rmq-receiving", 5);
    let mut seen = Vec::new();
    for k in 1..=7 {
        let verdict = udpor(&net, Some(k));
        assert_eq!(verdict.counters.executions, 24, "k = {k}");
        seen.push(verdict.counters.blocked);
    }
    assert_eq!(seen[6], 0, "with k = |D| + 1 nothing is given up");
    let deadlock = subjects().iter().find(|s| s.name == "any_src-can-deadlock3").unwrap().program(None).unwrap();
    let verdict = udpor(&deadlock, Some(1));
    assert_eq!(verdict.findings.iter().filter(|f| f.kind == FindingKind::Deadlock).count(), 1);
}

#[test]
fn partial_alternatives_on_random_programs() {
    for family in FAMILIES {
        for seed in 0..40 {
            let net = Net::script("random", script(family, 2_000 + seed, 5 + seed as usize % 4));
            let full = udpor(&net, None).counters;
            for k in [1, 2] {
                assert_eq!(
                    udpor(&net, Some(k)).counters.executions,
                    full.executions,
                    "family {family:?}, seed {seed}, k = {k}"
                );
            }
        }
    }
}

#[test]
fn unfolding_lists_events_causes_conflicts() {
    let net = Net::parse("two", "S0\nS0\n").unwrap();
    let unfolded = unfold(net.clone().into(), &Options::default()).unwrap();
    assert_eq!(unfolded.events.len(), 4);
    assert_eq!(
        unfolded.to_dot(),
        "digraph \"two\" {\n  node [shape=box];\n  \
         e0 [label=\"process 0 sends on mailbox 0\"];\n  \
         e1 [label=\"process 1 sends on mailbox 0\"];\n  \
         e2 [label=\"process 1 sends on mailbox 0\"];\n  \
         e3 [label=\"process 0 sends on mailbox 0\"];\n  \
         e0 -> e1 [dir=none, style=dashed, constraint=false];\n  \
         e0 -> e2;\n  e1 -> e3;\n}\n"
    );
    assert!(unfolded.to_json().contains(
        "\"text\": \"process 1 sends on mailbox 0\",\n      \"causes\": [\n        0\n      ],\n      \"conflicts\": []"
    ));
}

#[test]
fn all_searches_agree_on_subjects() {
    let net = subject("rmq-receiving", 4);
    for reduction in
        [Reduction::Exhaustive, Reduction::Persistent, Reduction::Stateful, Reduction::Source, Reduction::Optimal]
    {
        let options = Options::new(reduction);
        let verdict = explore(Arc::new(net.clone()), &options, &()).unwrap_or_else(|e| panic!("{reduction}: {e}"));
        assert!(verdict.complete && verdict.findings.is_empty(), "{reduction}");
        if reduction == Reduction::Exhaustive {
            assert_eq!(verdict.counters.executions, 20_064);
        }
    }
}

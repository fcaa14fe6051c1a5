//! Brute-force tests that steps commute if a dependence relation declares them independent.

use crate::common::{FAMILIES, Family, choices, every, script};
use std::collections::{BTreeMap, BTreeSet};
use whippet_model::{Choice, Clocks, Machine, Name, Program, StateComparison, Touch, conflict};
use whippet_net::{MailboxRelation, Net, NetMachine, interleavings};

type Label = (Name, u64);

/// Returns the footprint of a choice in the current state.
fn touches(machine: &mut NetMachine, choice: Choice) -> Vec<Touch> {
    let depth = machine.depth();
    machine.execute(choice).unwrap();
    let touches = machine.touches(depth).to_vec();
    machine.rewind(depth);
    touches
}

/// Returns the current state and its enabled choices.
fn seen(machine: &mut NetMachine) -> (u128, BTreeSet<Label>) {
    (
        machine.fingerprint().unwrap().of_configuration(StateComparison::Canonical).unwrap(),
        choices(machine).into_keys().collect(),
    )
}

/// Describes the first two choices, in any reachable state, that are declared independent but do not commute.
fn violation(machine: &mut NetMachine, visited: &mut BTreeSet<(u128, BTreeSet<Label>)>) -> Option<String> {
    if !visited.insert(seen(machine)) {
        return None;
    }
    let here = choices(machine);
    let depth = machine.depth();
    let touched: BTreeMap<Label, Vec<Touch>> = here.iter().map(|(l, &c)| (*l, touches(machine, c))).collect();
    for (a, &choice) in &here {
        machine.execute(choice).unwrap();
        let after = choices(machine);
        for (b, &next) in after.iter().filter(|(b, _)| b.0 != a.0) {
            if !here.contains_key(b) && !conflict(&touched[a], &touches(machine, next)) {
                return Some("one enables the other".into());
            }
        }
        for (b, &other) in here.iter().filter(|(b, _)| b.0 != a.0 && !conflict(&touched[a], &touched[b])) {
            machine.rewind(depth);
            machine.execute(choice).unwrap();
            let Some(&second) = choices(machine).get(b) else { return Some("one disables the other".into()) };
            machine.execute(second).unwrap();
            let one = seen(machine);
            machine.rewind(depth);
            machine.execute(other).unwrap();
            let Some(&second) = choices(machine).get(a) else { return Some("one disables the other".into()) };
            machine.execute(second).unwrap();
            if one != seen(machine) {
                return Some("the order makes a difference".into());
            }
        }
        machine.rewind(depth);
        machine.execute(choice).unwrap();
        if let Some(found) = violation(machine, visited) {
            return Some(found);
        }
        machine.rewind(depth);
    }
    None
}

pub(crate) fn violates(net: &Net) -> Option<String> {
    violation(&mut net.machine(&Default::default()).unwrap(), &mut BTreeSet::new())
}

/// Returns the number of equivalence classes of executions under exchanging adjacent independent steps, and the number
/// of different traces by their clocks.
fn classes(net: &Net) -> (usize, usize) {
    let mut machine = net.machine(&Default::default()).unwrap();
    let (mut executions, mut keys) = (BTreeMap::<Vec<Label>, Vec<usize>>::new(), BTreeSet::new());
    every(&mut machine, &mut Clocks::new(), &mut |machine, clocks| {
        let labels = (0..machine.depth()).map(|at| machine.step(at)).map(|s| (s.thread, s.choice.branch.0)).collect();
        let free = (1..machine.depth()).filter(|&at| {
            machine.step(at - 1).thread != machine.step(at).thread
                && !conflict(machine.touches(at - 1), machine.touches(at))
        });
        executions.insert(labels, free.collect());
        keys.insert(clocks.key());
    });
    let mut count = 0;
    let mut open: BTreeSet<Vec<Label>> = executions.keys().cloned().collect();
    while let Some(first) = open.pop_first() {
        count += 1;
        let mut stack = vec![first];
        while let Some(execution) = stack.pop() {
            for &at in &executions[&execution] {
                let mut other = execution.clone();
                other.swap(at - 1, at);
                if open.remove(&other) {
                    stack.push(other);
                }
            }
        }
    }
    (count, keys.len())
}

#[test]
fn ranked_relation_is_valid() {
    for family in FAMILIES {
        for seed in 0..150 {
            let script = script(family, seed, 5 + seed as usize % 6);
            let net = Net::script("random", script.clone());
            assert_eq!(violates(&net), None, "{script}");
        }
    }
}

#[test]
fn executions_equal_equivalence_classes() {
    for family in FAMILIES {
        for seed in 0..60 {
            let script = script(family, seed, 4 + seed as usize % 5);
            let net = Net::script("random", script.clone());
            if interleavings(&net).unwrap() <= 1_500 {
                let (classes, traces) = classes(&net);
                assert_eq!(classes, traces, "{script}");
            }
        }
    }
}

fn paper(text: &str) -> Net {
    Net::parse("violation", text).unwrap().with_relation(MailboxRelation::Paper)
}

#[test]
fn theorem_6_does_not_hold_for_several_communications() {
    // Which communication completed first depends on the order of a send and a receive that commute by Theorem 4.
    let text = "S1 R0 T0,1\nS0 R1 S1";
    assert!(violates(&paper(text)).is_some());
    assert_eq!(violates(&Net::parse("ranked", text).unwrap()), None);
}

#[test]
fn paper_relation_is_valid_for_single_waits() {
    for seed in 0..150 {
        let script = script(Family::Mutexes, seed, 5 + seed as usize % 5);
        if script
            .processes()
            .iter()
            .flatten()
            .any(|a| matches!(a, whippet_net::Action::MutexTest(m) | whippet_net::Action::MutexWait(m) if m.len() > 1))
        {
            continue;
        }
        let net = Net::script("random", script.clone()).with_relation(MailboxRelation::Paper);
        assert_eq!(violates(&net), None, "{script}");
    }
}

#[test]
fn theorem_10_is_coarse() {
    // The process that unlocks is not the owner: its unlock and the owner's test are dependent in the paper's relation,
    // but not in the ranked one.
    let text = "K0 MT0\nK0 U0";
    let count = |net: &Net| classes(net).1;
    let (ranked, paper) = (count(&Net::parse("ranked", text).unwrap()), count(&paper(text)));
    assert!(ranked < paper, "{ranked} traces by ranks, {paper} by the paper");
}

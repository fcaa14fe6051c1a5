//! The protocols: the correct versions hold and the faulty ones are found, with exact numbers of states.

use std::sync::Arc;
use whippet_model::Verdict;
use whippet_search::{Options, Reduction, explore};

fn verdict(name: &str, version: &str, reduction: Reduction) -> Verdict {
    let program = whippet_subjects::find(name).unwrap().program([("version", version)]).unwrap();
    explore(Arc::new(program), &Options::new(reduction), &()).unwrap()
}

fn describe(verdict: &Verdict) -> String {
    let findings: Vec<&str> = verdict.findings.iter().map(|finding| first_line(&finding.message)).collect();
    format!("{}: {}", verdict.counters.states.unwrap_or(verdict.counters.executions), findings.join("; "))
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// For each protocol: its faulty version, whether `optimal` is tried too, the numbers of states of both versions, and what is
/// found.
#[test]
fn faulty_protocols_are_found() {
    let linearizable = "the history of register is not linearizable: no order of the operations gives these answers";
    let two_leaders = "at the end: two leaders in one term";
    let both = "at the end: one commits and another one aborts";
    let stale = "always: a write of a lease that has ended comes after a newer one";
    for (name, faulty, optimal, states, found) in [
        ("2pc", "hasty", true, [567, 564], both),
        ("raft-election", "forgets-vote", true, [246, 367], two_leaders),
        ("abd", "no-majority", false, [604, 1_697], linearizable),
        ("paxos", "own-value", false, [19_480, 22_650], linearizable),
        ("chain", "reads-anywhere", false, [7_093, 5_566], linearizable),
        ("crdt-counter", "adds", true, [114, 105], "the replicas differ"),
        ("work-queue", "repeats", false, [2_086, 7_276], "at the end: a job is done twice"),
        ("leases", "no-fencing", true, [47, 49], stale),
    ] {
        let [correct, wrong] = ["correct", faulty].map(|version| verdict(name, version, Reduction::Stateful));
        assert_eq!(describe(&correct), format!("{}: ", states[0]), "{name}");
        assert_eq!(wrong.counters.states, Some(states[1]), "{name}");
        let found = |verdict: &Verdict| verdict.findings.iter().any(|finding| finding.message.contains(found));
        assert!(found(&wrong), "{name}: {}", describe(&wrong));
        if optimal {
            let [correct, wrong] = ["correct", faulty].map(|version| verdict(name, version, Reduction::Optimal));
            assert!(correct.findings.is_empty() && found(&wrong), "{name}: {}", describe(&correct));
        }
    }
}

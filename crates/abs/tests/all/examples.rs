//! Checks that Whippet's findings in each example are those its comment announces, with several searches.

use whippet_abs::{AbsProgram, ConflictRule};
use whippet_model::{FindingKind, Verdict};
use whippet_search::{Options, Reduction, explore};

fn program(name: &str) -> AbsProgram {
    let path = format!("{}/../../examples/abs/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    AbsProgram::parse(name, &text).unwrap_or_else(|e| panic!("{e}"))
}

fn verdict(name: &str, reduction: Reduction, tasks: ConflictRule) -> Verdict {
    let options = Options::new(reduction);
    explore(std::sync::Arc::new(program(name).conflict_rule(tasks)), &options, &()).unwrap()
}

/// Checks the kinds and places of the findings, and the number of executions that the default search needs.
#[track_caller]
fn check(name: &str, expected: &[(FindingKind, &str)], executions: u64) {
    let optimal = verdict(name, Reduction::Optimal, ConflictRule::Fields);
    assert!(optimal.complete);
    let found = |verdict: &Verdict| {
        let mut found: Vec<(FindingKind, String)> =
            verdict.findings.iter().map(|f| (f.kind, f.place.clone().unwrap_or_default())).collect();
        found.sort();
        found
    };
    let wanted: Vec<(FindingKind, String)> =
        expected.iter().map(|(kind, place)| (*kind, (*place).to_string())).collect();
    assert_eq!(found(&optimal), wanted, "{:#?}", optimal.findings);
    assert_eq!(optimal.counters.executions, executions);
    assert_eq!(optimal.counters.blocked, 0);
    let source = verdict(name, Reduction::Source, ConflictRule::Fields);
    assert_eq!(found(&source), wanted);
    let actors = verdict(name, Reduction::Optimal, ConflictRule::Actors);
    assert_eq!(found(&actors), wanted);
    assert!(actors.counters.executions >= executions);
}

#[test]
fn bounded_buffer() {
    check("bounded_buffer.abs", &[], 16);
}

#[test]
fn philosophers() {
    check("philosophers.abs", &[(FindingKind::Deadlock, "philosophers.abs:30")], 9);
}

#[test]
fn mail() {
    check("mail.abs", &[], 2);
}

#[test]
fn dht() {
    check("dht.abs", &[(FindingKind::Assertion, "dht.abs:48")], 2);
}

#[test]
fn chat() {
    check("chat.abs", &[(FindingKind::Assertion, "chat.abs:54")], 36);
}

#[test]
fn bank() {
    check("bank.abs", &[(FindingKind::Assertion, "bank.abs:29")], 4);
}

#[test]
fn election() {
    check("election.abs", &[], 15);
}

//! Tests that `random(n)` tries every number.

use whippet_abs::{AbsProgram, ConflictRule};
use whippet_model::{FindingKind, Verdict};
use whippet_search::{Options, Reduction, explore};

fn with(text: &str, reduction: Reduction, tasks: ConflictRule) -> Verdict {
    let program = AbsProgram::parse("random.abs", text).unwrap_or_else(|e| panic!("{e}")).conflict_rule(tasks);
    explore(program.into(), &Options::new(reduction), &()).unwrap()
}

fn verdict(text: &str) -> Verdict {
    with(text, Reduction::Optimal, ConflictRule::Fields)
}

/// Two players that roll a three-sided die and record the higher number, and one unrelated call.
const GAME: &str = "
    interface Table { Unit put(Int n); Unit other(); }
    class Table implements Table {
        Int best = 0; Int others = 0;
        Unit put(Int n) { if (n > best) { best = n; } }
        Unit other() { others = others + 1; }
    }
    interface Player { Unit play(Table t); }
    class Player implements Player { Unit play(Table t) { Int n = random(3); t!put(n + 1); } }
    { Table t = new Table(); Player p = new Player(); Player q = new Player(); p!play(t); q!play(t); t!other(); }";

#[test]
fn random_explores_each_number_once() {
    assert_eq!(verdict("{ Int n = random(4); Int m = random(2) + n; }").counters.executions, 8);
    // 3 × 3 numbers, and both orders at the table.
    for reduction in [Reduction::Optimal, Reduction::Udpor, Reduction::Source] {
        assert_eq!(with(GAME, reduction, ConflictRule::Fields).counters.executions, 18, "{reduction}");
    }
    assert_eq!(with(GAME, Reduction::Optimal, ConflictRule::Actors).counters.executions, 54, "3! orders at the table");
}

#[test]
fn finding_shows_random_number() {
    let verdict = verdict("{ Int n = random(4); assert n != 2; }");
    assert_eq!((verdict.findings.len(), verdict.findings[0].kind), (1, FindingKind::Assertion));
    let counterexample = format!("{:?}", verdict.findings[0]);
    assert!(counterexample.contains("random returns 2"), "{counterexample}");
}

#[test]
fn random_limits_are_reported() {
    for text in [
        "{ Int n = random(1000); }",
        "{ Int n = random(0); }",
        "{ Int n = 0; while (n < 9) { n = n + 1 + 0 * random(2); } }",
    ] {
        let found = verdict(text).findings;
        assert!(
            found.iter().any(|f| f.kind == FindingKind::Limit && f.message.contains("not supported: `random`")),
            "{found:?}"
        );
    }
}

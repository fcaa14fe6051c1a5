//! Compares whole reports of an invented verdict with the expected text.

use expect_test::{Expect, expect};
use std::time::Duration;
use whippet_model::{
    Branch, Change, Decision, Estimate, Finding, FindingKind, LimitHit, Name, Problem, Schedule, StepDescription,
    Verdict,
};
use whippet_report::{Exit, Links, RunInfo, Usage, failure, json_text, plain, schedule_in, text};
use whippet_search::{Options, Order, Reduction, Rule};

fn run() -> RunInfo {
    let mut run =
        RunInfo::new("bank", &Options::default()).with_parameter("clients", "2").with_parameter("audit", "true");
    run.delivery = Some("unordered".into());
    run.usage = Usage { cpu_seconds: 0.25, peak_memory_bytes: 5 << 20 };
    run
}

fn overdrawn() -> Finding {
    let decision = Decision::new(Name::ROOT.child(1), Branch::FIRST, "account receives Withdraw(5)");
    let problem = Problem::new(FindingKind::Assertion, "overdrawn: -5", Name::ROOT)
        .with_place("tests/bank.rs:15".to_string())
        .with_steps(vec![0]);
    Finding::new(
        problem,
        Schedule::new("bank", [("clients".to_string(), "2".to_string())].into(), vec![decision]),
        vec![
            StepDescription::new("account", "receives Withdraw(5)")
                .with_origin("from the test (sent tests/bank.rs:14)".to_string())
                .with_effects(vec!["sends Receipt to client 1".into(), "creates auditor".into()])
                .with_changes(vec![Change::new("balance", "0", "-5")]),
            StepDescription::new("client 1", "receives Receipt"),
        ],
        3,
    )
}

fn undeliverable() -> Finding {
    let mut finding = overdrawn();
    finding.kind = FindingKind::Undeliverable;
    finding.message = "Deposit(1) to account, which has stopped".into();
    finding.place = None;
    finding
}

fn verdict(findings: Vec<Finding>) -> Verdict {
    let mut verdict = Verdict::default();
    let counters = &mut verdict.counters;
    (counters.executions, counters.transitions, counters.handler_runs) = (6_000, 26_123, 88);
    (counters.depth, counters.problems) = (7, 3);
    verdict.findings = findings;
    verdict.complete = true;
    verdict.time = Duration::from_millis(120);
    verdict
}

fn check_text(run: &RunInfo, verdict: &Verdict, links: &[Links], expected: Expect) {
    expected.assert_eq(&plain(&text(run, verdict, links)));
}

#[test]
fn a_finding_on_the_terminal() {
    let mut verdict = verdict(vec![overdrawn()]);
    verdict.warnings = vec![undeliverable()];
    check_text(
        &run(),
        &verdict,
        &[Links::replay("whippet replay bank-1.json")],
        expect![[r#"
            bank(clients=2, audit=true) · optimal, delivery unordered

              executions        6,000
              transitions      26,123
              handler runs         88
              depth                 7
              time             0.12 s
              CPU time         0.25 s
              peak memory     5.0 MiB

            assertion: overdrawn: -5 at tests/bank.rs:15  (in 3 of 6,000 executions)
              1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
                 sends Receipt to client 1
                 creates auditor
              2. client 1 receives Receipt
              replay: whippet replay bank-1.json

            undeliverable: Deposit(1) to account, which has stopped  (in 3 of 6,000 executions)
              1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
                 sends Receipt to client 1
                 creates auditor
              2. client 1 receives Receipt

            1 finding in 6,000 executions. 1 warning.
        "#]],
    );
    assert_eq!(Exit::of(&verdict), Exit::Found);
}

#[test]
fn all_is_well_on_the_terminal() {
    check_text(
        &run(),
        &verdict(vec![]),
        &[],
        expect![[r#"
            bank(clients=2, audit=true) · optimal, delivery unordered

              executions        6,000
              transitions      26,123
              handler runs         88
              depth                 7
              time             0.12 s
              CPU time         0.25 s
              peak memory     5.0 MiB

            Nothing found: every order was covered, in 6,000 executions.
        "#]],
    );
    assert_eq!(Exit::of(&verdict(vec![])), Exit::Holds);
}

#[test]
fn a_search_cut_short_on_the_terminal() {
    let mut run = run();
    (run.reduction, run.rule, run.order, run.sleep) = (Reduction::Transdpor, Rule::Table1, Order::Eca, true);
    let mut verdict = verdict(vec![]);
    verdict.complete = false;
    verdict.limits = vec![LimitHit::Time];
    verdict.counters.blocked = 12;
    verdict.counters.states = Some(35);
    verdict.estimate = Some(Estimate::new(362_880.0, 20_123.0));
    verdict.notes = vec!["rule table1 may miss orders where an actor refuses messages".into()];
    verdict.may_miss = true;
    check_text(
        &run,
        &verdict,
        &[],
        expect![[r#"
            bank(clients=2, audit=true) · transdpor, order eca, with sleep sets, rule table1, delivery unordered

              executions        6,000
              blocked              12
              transitions      26,123
              states               35
              handler runs         88
              depth                 7
              time             0.12 s
              CPU time         0.25 s
              peak memory     5.0 MiB

            note: rule table1 may miss orders where an actor refuses messages

            Nothing found so far, in 6,000 executions.
            Stopped by the limit on time: not every order was covered.
            There are about 363,000 ± 20,000 executions in total; at this rate, a complete search takes about 7.26 s.
        "#]],
    );
    assert_eq!(Exit::of(&verdict), Exit::NoVerdict);
}

#[test]
fn a_sample_on_the_terminal() {
    let mut run = run();
    (run.reduction, run.seed) = (Reduction::Pos, 7);
    let mut verdict = verdict(vec![]);
    verdict.complete = false;
    verdict.estimate = Some(Estimate::new(720.0, 0.0).with_seen(540));
    check_text(
        &run,
        &verdict,
        &[],
        expect![[r#"
            bank(clients=2, audit=true) · pos, delivery unordered, seed 7

              executions        6,000
              transitions      26,123
              handler runs         88
              depth                 7
              time             0.12 s
              CPU time         0.25 s
              peak memory     5.0 MiB

            Nothing found so far, in 6,000 executions.
            This was a sample: other orders may behave differently.
            There are about 720 traces in total, 540 of them seen.
        "#]],
    );
}

#[test]
fn colours_are_only_added() {
    let verdict = verdict(vec![overdrawn()]);
    let coloured = text(&run(), &verdict, &[]);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31massertion:"), "{coloured:?}");
    assert!(!plain(&coloured).contains('\u{1b}'));
}

#[test]
fn many_findings_are_not_all_told() {
    let verdict = verdict(vec![overdrawn(); 7]);
    let text = plain(&text(&run(), &verdict, &[]));
    assert_eq!(text.matches("1. account receives").count(), 5);
    assert!(text.contains("… and 2 more; --json lists them all"), "{text}");
}

#[test]
fn json_has_every_field_of_the_contract() {
    let mut verdict = verdict(vec![overdrawn()]);
    verdict.warnings = vec![undeliverable()];
    verdict.warnings[0].counterexample = vec![];
    expect![[r#"
        {
          "format": "whippet report",
          "version": 1,
          "subject": "bank",
          "parameters": {
            "audit": true,
            "clients": 2
          },
          "reduction": "optimal",
          "order": "own",
          "sleep": false,
          "rule": "sound",
          "delivery": "unordered",
          "seed": 0,
          "executions": 6000,
          "blocked": 0,
          "transitions": 26123,
          "handler_runs": 88,
          "depth": 7,
          "findings": [
            {
              "kind": "assertion",
              "message": "overdrawn: -5",
              "place": "tests/bank.rs:15",
              "executions": 3,
              "story": [
                {
                  "actor": "account",
                  "action": "receives Withdraw(5)",
                  "origin": "from the test (sent tests/bank.rs:14)",
                  "effects": [
                    "sends Receipt to client 1",
                    "creates auditor"
                  ],
                  "changes": [
                    {
                      "field": "balance",
                      "before": "0",
                      "after": "-5"
                    }
                  ]
                },
                {
                  "actor": "client 1",
                  "action": "receives Receipt"
                }
              ],
              "schedule": {
                "format": "whippet schedule",
                "program": "bank",
                "settings": {
                  "clients": "2"
                },
                "steps": [
                  {
                    "name": "2302cd6db5a54b72",
                    "text": "account receives Withdraw(5)"
                  }
                ],
                "version": 1
              }
            }
          ],
          "warnings": [
            {
              "kind": "undeliverable",
              "message": "Deposit(1) to account, which has stopped",
              "place": null,
              "executions": 3,
              "story": [],
              "schedule": {
                "format": "whippet schedule",
                "program": "bank",
                "settings": {
                  "clients": "2"
                },
                "steps": [
                  {
                    "name": "2302cd6db5a54b72",
                    "text": "account receives Withdraw(5)"
                  }
                ],
                "version": 1
              }
            }
          ],
          "complete": true,
          "limits": [],
          "notes": [],
          "may_miss": false,
          "estimate": null,
          "seconds": 0.12,
          "cpu_seconds": 0.25,
          "peak_memory_bytes": 5242880
        }
    "#]]
    .assert_eq(&json_text(&run(), &verdict));
}

#[test]
fn states_are_reported_by_searches_that_count_them() {
    let mut verdict = verdict(vec![]);
    assert!(whippet_report::json(&run(), &verdict).get("states").is_none());
    verdict.counters.states = Some(21);
    assert_eq!(whippet_report::json(&run(), &verdict)["states"], 21);
}

#[test]
fn a_schedule_is_found_in_a_report() {
    let mut verdict = verdict(vec![overdrawn()]);
    verdict.warnings = vec![undeliverable()];
    let report = json_text(&run(), &verdict);
    let schedule = overdrawn().schedule;
    assert_eq!(schedule_in(&report, 1).unwrap(), schedule);
    assert_eq!(schedule_in(&report, 2).unwrap(), schedule);
    assert_eq!(schedule_in(&schedule.to_json(), 1).unwrap(), schedule);
    let error = schedule_in(&report, 3).unwrap_err().to_string();
    assert!(error.contains("2 findings and warnings, none with number 3"), "{error}");
    let newer = report.replace("\"version\": 1", "\"version\": 9");
    assert!(schedule_in(&newer, 1).unwrap_err().to_string().contains("version 9"));
}

#[test]
fn the_text_of_a_failing_test() {
    let mut verdict = verdict(vec![overdrawn(), undeliverable()]);
    verdict.notes = vec!["optimal by revisits".into()];
    let links =
        [Links::replay("WHIPPET_REPLAY=bank-1.json cargo test never_negative").with_page("target/whippet/bank.html")];
    expect![[r#"
        assertion: overdrawn: -5 at tests/bank.rs:15
          1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
             sends Receipt to client 1
             creates auditor
          2. client 1 receives Receipt
          replay: WHIPPET_REPLAY=bank-1.json cargo test never_negative
          look at it: target/whippet/bank.html

        undeliverable: Deposit(1) to account, which has stopped
          1. account receives Withdraw(5) from the test (sent tests/bank.rs:14)   [balance: 0 → -5]
             sends Receipt to client 1
             creates auditor
          2. client 1 receives Receipt

        2 findings in 6,000 executions
        note: optimal by revisits
    "#]]
    .assert_eq(&failure(&verdict, false, &links).unwrap());
}

#[test]
fn a_test_that_was_cut_short_fails_unless_told_otherwise() {
    let mut verdict = verdict(vec![]);
    (verdict.complete, verdict.limits) = (false, vec![LimitHit::Executions]);
    expect![[r#"
        no verdict after 6,000 executions: the limit on executions
    "#]]
    .assert_eq(&failure(&verdict, false, &[]).unwrap());
    assert_eq!(failure(&verdict, true, &[]), None);
}

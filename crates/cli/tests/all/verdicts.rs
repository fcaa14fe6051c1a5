//! Tests of `whippet explore`: exit codes, reports and limits.

use crate::common::{called, command, json, whippet};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn exit_0_without_findings() {
    let (report, code) = json(&["explore", "server", "--reduction", "exhaustive"]);
    assert_eq!(code, 0);
    assert_eq!((&report["executions"], &report["transitions"]), (&6.into(), &26.into()));
    assert_eq!(report["warnings"][0]["kind"], "undeliverable");
}

#[test]
fn exit_1_with_a_finding() {
    let (report, code) = json(&["explore", "server", "--set", "assert=true"]);
    assert_eq!(code, 1);
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &report["complete"]), (&"assertion".into(), &true.into()));
    assert!(finding["message"].as_str().unwrap().contains("inconsistent read"), "{finding}");
    assert_eq!(finding["story"].as_array().unwrap().len(), finding["schedule"]["steps"].as_array().unwrap().len());
}

#[test]
fn delivery_flag_changes_verdict() {
    let (report, code) = json(&["explore", "server", "--set", "assert=true", "--delivery", "fifo"]);
    assert_eq!((code, &report["delivery"]), (0, &"fifo".into()));
    assert_eq!(report["findings"], Value::Array(vec![]));
}

#[test]
fn undeliverable_error() {
    let (report, code) = json(&["explore", "server", "--undeliverable", "error"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (1, &"undeliverable".into()));
}

#[test]
fn closed_environment() {
    let (report, code) = json(&["explore", "helloworld", "--environment", "closed"]);
    assert_eq!((code, &report["findings"][0]["kind"]), (1, &"environment".into()));
    assert_eq!(whippet(&["explore", "helloworld"]).code, 0);
}

#[test]
fn exit_2_at_a_limit() {
    let called = whippet(&["explore", "pi", "--set", "workers=6", "--limit-executions", "100", "--json"]);
    assert_eq!(called.code, 2);
    assert!(called.err.contains("no verdict") && called.err.contains("limit on executions"), "{}", called.err);
    let report: Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((&report["executions"], &report["complete"]), (&100.into(), &false.into()));
    assert_eq!(report["limits"][0], "executions");
}

/// Advice follows the estimate, for programs of all kinds.
#[test]
fn advice_at_a_limit() {
    let advice = |arguments: &[&str]| {
        let called = whippet(&[arguments, &["--jobs", "1"]].concat());
        assert_eq!(called.code, 2, "{}", called.err);
        let at = called.out.find("There are ").unwrap_or_else(|| panic!("there is no estimate: {}", called.out));
        called.out[at..].split_once('\n').expect("the advice follows").1.to_string()
    };
    assert_eq!(
        advice(&["explore", "pi", "--set", "workers=6", "--limit-executions", "100"]),
        "help: raise `--limit-executions`, or leave it out\n\
         help: if different orders often lead to the same states, `--reduction stateful` explores each state once\n\
         help: if messages between two actors cannot overtake each other, `--delivery fifo` has fewer orders\n\
         help: use smaller parameters (`--set`); or look for errors only: `--reduction pos` samples, until a limit ends \
         it\n"
    );
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for file in ["net/philosophers.net", "abs/mail.abs"] {
        let file = files.join(file);
        let said = advice(&["explore", file.to_str().unwrap(), "--reduction", "exhaustive", "--limit-executions", "1"]);
        assert!(
            said.contains("help: `exhaustive` may repeat executions: `--reduction optimal` needs fewest\n"),
            "{said}"
        );
        assert!(said.contains("help: use a smaller program"), "{said}");
    }
}

#[test]
fn json_has_all_fields() {
    let (report, _) = json(&["explore", "pi", "--set", "workers=3"]);
    let fields = [
        "version",
        "subject",
        "parameters",
        "reduction",
        "order",
        "sleep",
        "delivery",
        "executions",
        "blocked",
        "transitions",
        "handler_runs",
        "findings",
        "warnings",
        "complete",
        "seconds",
        "cpu_seconds",
        "peak_memory_bytes",
    ];
    for field in fields {
        assert!(!report[field].is_null(), "{field} is missing in {report}");
    }
    assert!(report.get("states").is_none(), "only a stateful search counts states");
    assert_eq!(report["parameters"]["workers"], 3);
    assert_eq!((&report["reduction"], &report["executions"]), (&"optimal".into(), &6.into()));
}

#[test]
fn text_report() {
    let called = whippet(&["explore", "pi"]);
    assert_eq!(called.code, 0);
    assert!(
        called.out.starts_with("pi(workers=4, variant=actorfoundry) · optimal, delivery unordered\n"),
        "{}",
        called.out
    );
    assert!(called.out.contains("executions           24\n"), "{}", called.out);
    assert!(called.out.contains("Nothing found: every order was covered, in 24 executions."), "{}", called.out);
    assert!(!called.out.contains('\u{1b}'), "no colours in a pipe");
    assert!(!called.out.contains("note:"), "the algorithm is no news: {}", called.out);
    assert_eq!(called.err, "", "no progress in a pipe");
}

#[test]
fn first_bug_stops_early() {
    let (all, _) = json(&["explore", "philosophers", "--jobs", "1"]);
    let (first, code) = json(&["explore", "philosophers", "--jobs", "1", "--first-bug"]);
    assert_eq!(code, 1);
    assert_eq!((&first["complete"], &first["findings"][0]["kind"]), (&false.into(), &"deadlock".into()));
    assert!(first["executions"].as_u64() <= all["executions"].as_u64());
}

#[cfg(unix)]
#[test]
fn interrupt_reports_partial_verdict() {
    let mut search = command(&["explore", "pi", "--set", "workers=12", "--json"]);
    let child = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is a kill");
    assert!(killed.success());
    let ended = called(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 2, "{}", ended.err);
    let report: Value = serde_json::from_str(&ended.out).expect("a report in spite of the interruption");
    assert_eq!((&report["limits"][0], &report["complete"]), (&"interrupted".into(), &false.into()));
    assert!(report["executions"].as_u64() > Some(0));
}

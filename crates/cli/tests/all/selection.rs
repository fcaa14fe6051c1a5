//! Tests of the selection of actors and tasks.

use crate::common::{json, whippet};

/// The running example of the paper on selecting actors and tasks: 6 executions, or 2 with marks or fields.
#[test]
fn conflict_rules_on_running_example() {
    let running = concat!(env!("CARGO_MANIFEST_DIR"), "/../abs/subjects/running.abs");
    for (tasks, executions) in [("actors", 6), ("marks", 2), ("marks-literal", 2)] {
        let (report, code) = json(&["explore", running, "-r", "persistent", "--order", "stable", "--tasks", tasks]);
        let counted = (&report["executions"], &report["unstable"], code);
        assert_eq!(counted, (&executions.into(), &0.into(), 0), "{tasks}");
        assert_eq!(report["may_miss"], tasks != "actors", "{}", report["notes"]);
    }
    assert_eq!(json(&["explore", running]).0["executions"], 2);
    let marks = whippet(&["explore", running, "--tasks", "marks"]);
    assert!(marks.out.contains("what may have been missed") && !marks.out.contains("every order"), "{}", marks.out);
}

#[test]
fn native_actors() {
    let (report, code) = json(&["explore", "pi", "--order", "stable", "--tasks", "marks"]);
    assert!(code == 0 && report["unstable"].is_u64(), "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("may miss") && notes.contains("estimated from 64 sample executions"), "{notes}");
    let (plain, _) = json(&["explore", "pi", "--tasks", "actors"]);
    assert_eq!(plain["executions"], report["executions"], "it has no tracked fields");
}

#[test]
fn stable_order_needs_actors() {
    let stable = whippet(&["explore", "rmq-receiving", "--order", "stable"]);
    assert_eq!(stable.code, 2);
    assert!(stable.err.contains("known of .abs programs") && stable.err.contains("fifo, lifo, eca"), "{}", stable.err);
}

//! Panics of tasks that no other task observes, and that a plain run shows too.

use tokio::sync::mpsc;
use whippet_model::FindingKind;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::Options;

/// The place of all panics.
fn refuse(is_wrong: bool) {
    assert!(!is_wrong, "it is wrong");
}

/// A task panics in every order. With `another`, a second one panics at the same place if it comes after a third one, which a plain run does
/// not show.
fn program(another: bool) -> TaskProgram {
    TaskProgram::new("test", Settings::default(), move || async move {
        drop(tokio::spawn(async { refuse(true) }));
        if another {
            let (tx, mut rx) = mpsc::unbounded_channel();
            drop(tokio::spawn(async move { tx.send(1) }));
            drop(tokio::spawn(async move { refuse(rx.try_recv().is_ok()) }));
        }
    })
}

#[test]
fn a_panic_of_every_run_is_a_warning_and_one_more_is_not() {
    for another in [false, true] {
        let program = program(another);
        let expected = program.panics_of_a_plain_run(1_000);
        assert_eq!(expected.len(), 1);
        let verdict = program.expecting(expected).explore(&Options::default(), &()).unwrap();
        assert!(verdict.complete);
        assert_eq!(verdict.warnings.len(), 1, "{verdict:?}");
        let found: Vec<_> = verdict.findings.iter().map(|finding| (finding.kind, &*finding.message)).collect();
        let more = "it is wrong (in task 3): one more panic than in a plain run";
        assert_eq!(found, if another { vec![(FindingKind::Panic, more)] } else { Vec::new() });
    }
}

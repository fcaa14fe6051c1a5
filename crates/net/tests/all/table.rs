//! Tests of Table 1 of the paper: interleavings, traces and deadlocks.

use whippet_net::{interleavings, subjects};

#[test]
fn interleavings_of_subjects() {
    let count = |name: &str, n| {
        let all = subjects();
        let subject = all.iter().find(|s| s.name == name).expect("a subject");
        interleavings(&subject.program(n).unwrap()).unwrap()
    };
    assert_eq!(count("wait-deadlock", None), 2);
    assert_eq!(count("complex-deadlock", None), 36);
    assert_eq!(count("waitall-deadlock", None), 1_458);
    assert_eq!(count("no-error-wait-any_src", None), 21);
    assert_eq!(count("any_src-can-deadlock3", None), 999);
    assert_eq!(count("dtg", None), 884_353_560);
    assert_eq!(count("rmq-receiving", Some(4)), 20_064);
    assert_eq!(count("rmq-receiving", Some(5)), 5_045_472);
    assert_eq!(count("master-worker", Some(3)), 1_356_444);
    assert_eq!(count("master-worker", Some(4)), 725_079_914_472);
}

#[test]
fn table_1_is_reproduced() {
    let rows = whippet_net::reproduce().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        assert!(row.agrees(), "{row:?}");
    }
}

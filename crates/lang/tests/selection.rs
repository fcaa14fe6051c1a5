//! The paper on actor and task selection: its table comes out as published, or says why not.

use whippet_lang::selection::{Row, reproduce};

fn shown(row: &Row) -> String {
    let ours = row.ours.map_or("-".to_string(), |ours| ours.to_string());
    format!("{}, {}: {} published, {ours} here {}", row.test, row.how, row.published, row.why)
}

#[test]
fn the_table_comes_out() {
    let rows = reproduce(false).unwrap();
    let differ: Vec<String> = rows.iter().filter(|r| r.mark == "≠" && r.why.is_empty()).map(shown).collect();
    assert!(differ.is_empty(), "{differ:#?}");
    let equal: Vec<&str> = rows.iter().filter(|r| r.mark == "=").map(|r| r.test.as_str()).collect();
    for test in ["QSort(5)", "Fib(5)", "Fib(7)", "Pi(3)", "Pi(5)", "RegSim(6,1)", "RegSim(4,2)"] {
        assert_eq!(equal.iter().filter(|name| **name == test).count(), 2, "{test}");
    }
    assert_eq!(equal.iter().filter(|name| **name == "Figure 3").count(), 2);
    assert_eq!(equal.iter().filter(|name| **name == "Fib(3)").count(), 2);
}

#[test]
fn the_quick_table_leaves_long_searches_out() {
    let rows = reproduce(true).unwrap();
    assert!(rows.iter().any(|row| row.test == "Fib(7)" && row.ours.is_none() && row.why.contains("quick")));
}

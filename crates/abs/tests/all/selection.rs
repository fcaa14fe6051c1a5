//! Checks that the table of the paper on actor and task selection is reproduced, or that each difference has a reason.

use std::sync::Arc;
use whippet_abs::selection::{SelectionRow, figure_4, reproduce, running_example};
use whippet_search::{Options, Order, Reduction, explore};

fn shown(row: &SelectionRow) -> String {
    let ours = row.ours.map_or("-".to_string(), |ours| ours.to_string());
    format!("{}, {}: {} published, {ours} here {}", row.test, row.how, row.published, row.why)
}

#[test]
fn table_1_is_reproduced() {
    let rows = reproduce(true).unwrap();
    let differ: Vec<String> = rows.iter().filter(|r| r.mark == "≠" && r.why.is_empty()).map(shown).collect();
    assert!(differ.is_empty(), "{differ:#?}");
    let equal: Vec<&str> = rows.iter().filter(|r| r.mark == "=").map(|r| r.test.as_str()).collect();
    let tests =
        ["QSort(5)", "Fib(5)", "Fib(7)", "Pi(3)", "Pi(5)", "PSort(4,1)", "PSort(4,2)", "RegSim(6,1)", "RegSim(4,2)"];
    for test in tests.iter().chain(&["Figure 3", "Fib(3)"]) {
        assert_eq!(equal.iter().filter(|name| *name == test).count(), 2, "{test}");
    }
    let is_pruned: Vec<&SelectionRow> = rows.iter().filter(|row| row.ours.is_none()).collect();
    assert!(is_pruned.iter().all(|row| row.test.starts_with("BB(") && row.why.contains("quick")), "{is_pruned:?}");
}

#[test]
fn figure_4_is_transdpor() {
    let options = Options::new(Reduction::Transdpor).with_order(Order::Fifo);
    let counters = explore(Arc::new(running_example()), &options, &()).unwrap().counters;
    assert_eq!(figure_4(counters.executions, counters.transitions).mark, "=");
}

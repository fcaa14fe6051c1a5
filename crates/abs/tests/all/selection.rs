//! Checks that the table of the paper on actor and task selection is reproduced, or that each difference has a reason.

use std::collections::BTreeSet;
use std::sync::Arc;
use whippet_abs::selection::{Selection, SelectionRow, figure_4, reproduce, running_example, search};
use whippet_abs::{AbsProgram, ConflictRule};
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

/// The reason given for QSort(6).
#[test]
fn no_list_of_six_numbers_gives_the_published_sort() {
    let text = include_str!("../../subjects/qsort.abs");
    let mut seen = BTreeSet::new();
    for list in permutations(&[1, 2, 3, 4, 5, 6]) {
        let numbers: Vec<String> = list.iter().map(u32::to_string).collect();
        let program = AbsProgram::parse("qsort.abs", &text.replace("NUMBERS", &numbers.join(", "))).unwrap();
        let program = program.conflict_rule(ConflictRule::Actors);
        let count = search(&program, &Selection::default()).unwrap();
        seen.insert((count.executions, count.states, count.unstable));
    }
    assert!(seen.contains(&(32, 142, 51)) && !seen.contains(&(32, 146, 55)), "{seen:?}");
}

fn permutations(of: &[u32]) -> Vec<Vec<u32>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |k: usize| {
        let rest: Vec<u32> = of.iter().copied().filter(|&other| other != of[k]).collect();
        permutations(&rest).into_iter().map(move |tail| [vec![of[k]], tail].concat())
    };
    (0..of.len()).flat_map(with_first).collect()
}

#[test]
fn figure_4_is_transdpor() {
    let options = Options::new(Reduction::Transdpor).with_order(Order::Fifo);
    let counters = explore(Arc::new(running_example()), &options, &()).unwrap().counters;
    assert_eq!(figure_4(counters.executions, counters.transitions).mark, "=");
}

//! The paper on actor and task selection: its table, and where its rules lose final states.

use whippet_lang::selection::{Marks, Pick, Selection, reproduce, search};

#[test]
fn the_table_comes_out() {
    let rows = reproduce(true).unwrap();
    for row in &rows {
        let ours = row.ours.map_or("-".to_string(), |t| t.to_string());
        println!("{} | {} | {} | {ours} | {} {}", row.test, row.how, row.published, row.mark, row.why);
    }
    let differ: Vec<&str> =
        rows.iter().filter(|r| r.mark == "≠" && r.why.is_empty()).map(|r| r.test.as_str()).collect();
    assert!(differ.is_empty(), "{differ:?}");
}

#[test]
fn selection_default_uses_stability() {
    assert_eq!(Selection::default().pick, Pick::Stable);
    assert_eq!(Selection::default().marks, Marks::None);
    let _ = search;
}

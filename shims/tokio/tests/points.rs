//! The table of scheduling points in the documentation.

use whippet_runtime::table;

#[test]
fn the_documentation_has_the_table_of_scheduling_points() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tokio.md");
    let text = std::fs::read_to_string(path).expect("the documentation is there");
    assert!(text.contains(&table()), "docs/tokio.md lacks this table:\n\n{}", table());
}

//! Checks that the protocol of the documentation behaves as documented.

#[path = "../examples/register.rs"]
mod register;

const GUIDE: &str = include_str!("../../../docs/protocols.md");

/// Returns the blocks of code of a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    GUIDE.split("\n```").filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}

#[test]
fn the_guide_shows_the_code_of_the_example() {
    let example = include_str!("../examples/register.rs");
    let shown: Vec<&str> = blocks("rust").collect();
    assert!(shown.len() > 5);
    for block in shown {
        assert!(example.contains(block), "docs/protocols.md does not show this as it is:\n{block}");
    }
}

#[test]
fn the_guide_shows_what_the_example_prints() {
    let printed = register::report().replace("tests/../", "");
    let shown = blocks("text").filter(|block| !block.starts_with("sys.") && !block.starts_with("fn "));
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), 3);
    for block in shown {
        assert!(printed.contains(block), "the example does not print this:\n{block}\nbut this:\n{printed}");
    }
    let parts: Vec<&str> = printed.split("== ").skip(1).collect();
    let states: Vec<&str> = parts.iter().filter_map(|part| part.lines().next()).collect();
    assert_eq!(states, ["ReadMajority: 16186 states", "WriteBack: 554471 states", "Repaired: 448413 states"]);
    assert_eq!(parts[2].lines().count(), 1, "the repaired version has no finding");
    assert!(GUIDE.contains("554,471 states"));
}

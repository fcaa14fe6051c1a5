//! The page in the docs shows what Whippet really says.

use std::sync::Arc;
use whippet_lang::AbsProgram;
use whippet_report::{Run, plain, text};
use whippet_search::{Options, explore};

fn read(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Every line of `shown` stands in the page, but those with costs, which differ from run to run.
#[track_caller]
fn page_has(shown: &str) {
    let page = read("docs/abs.md");
    let cost = |line: &&str| {
        ["time", "memory", "transitions", "handler runs", "depth", "note:"].iter().any(|word| line.contains(word))
    };
    let missing: Vec<&str> =
        shown.lines().map(str::trim_end).filter(|line| !cost(line) && !page.contains(line)).collect();
    assert!(missing.is_empty(), "docs/abs.md lacks {missing:#?} of:\n{shown}");
}

#[test]
fn the_bank_of_the_page() {
    let name = "examples/abs/bank.abs";
    let program = AbsProgram::parse(name, &read(name)).unwrap();
    let options = Options::default();
    let verdict = explore(Arc::new(program), &options, &()).unwrap();
    page_has(&plain(&text(&Run::new(name, &options), &verdict, &[])));
}

#[test]
fn the_fault_of_the_page() {
    let text = "{\n    Int half = 1 / 2;\n}\n";
    page_has(&AbsProgram::parse("wrong.abs", text).unwrap_err().to_string());
}

//! Checks that the documentation page shows Whippet's actual output.

use std::sync::Arc;
use whippet_abs::AbsProgram;
use whippet_report::{RunInfo, plain, text};
use whippet_search::{Options, Order, explore};

fn read(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Asserts that the page contains every line of `shown`, except lines with costs, which differ from run to run.
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

/// Returns Whippet's output for a file of the repository.
fn said(name: &str, options: &Options) -> String {
    let program = AbsProgram::parse(name, &read(name)).unwrap();
    let verdict = explore(Arc::new(program), options, &()).unwrap();
    plain(&text(&RunInfo::new(name, options), &verdict, &[]))
}

#[test]
fn bank_output_is_in_docs() {
    page_has(&said("examples/abs/bank.abs", &Options::default()));
}

#[test]
fn stable_order_output_is_in_docs() {
    let stable = Options::default().with_order(Order::Stable);
    page_has(&said("examples/abs/bank.abs", &stable).lines().take(7).collect::<Vec<_>>().join("\n"));
}

/// Checks that the last lines of each example repeat Whippet's output for it, without the counterexample.
#[test]
fn examples_end_with_their_output() {
    let mut seen = 0;
    for entry in std::fs::read_dir(format!("{}/../../examples/abs", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let name = format!("examples/abs/{}", entry.unwrap().file_name().to_string_lossy());
        let head = |line: &&str| {
            ["assertion:", "deadlock:", "panic:", "Nothing", "1 finding"].iter().any(|start| line.starts_with(start))
        };
        let told = said(&name, &Options::default());
        let lines: Vec<String> = told.lines().filter(head).map(|line| format!("// {line}")).collect();
        let wanted = format!("// $ whippet explore {name}\n{}\n", lines.join("\n"));
        assert!(read(&name).ends_with(&wanted), "{name} should end with:\n{wanted}");
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn error_output_is_in_docs() {
    let text = "{\n    Int half = 1 / 2;\n}\n";
    page_has(&AbsProgram::parse("wrong.abs", text).unwrap_err().to_string());
}

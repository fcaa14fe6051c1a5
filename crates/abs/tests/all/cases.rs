//! The coverage of one method, and the cases that are generated from its executions.

use whippet_abs::{AbsProgram, InputBounds};
use whippet_model::Verdict;
use whippet_search::{Options, explore};

type Files = Vec<(String, String)>;

fn file(name: &str, text: &str) -> (String, String) {
    (name.to_string(), text.to_string())
}

/// Explores a method and returns the missed branches and the generated cases.
fn explored(files: &Files, method: &str, bounds: &InputBounds) -> (Vec<String>, String) {
    let program = AbsProgram::parse_method(files, Vec::new, method, bounds).unwrap_or_else(|error| panic!("{error}"));
    let verdict = explore(program.clone().into(), &Options::default(), &()).unwrap();
    assert!(verdict.complete);
    let missed = program.coverage().unwrap().missed.iter().map(ToString::to_string).collect();
    (missed, program.method_cases(files, Vec::new, method, bounds).unwrap())
}

/// Runs generated cases with a program.
fn run(cases: &str, program: &str) -> Verdict {
    let files = [file("cases.abs", cases), file("program.abs", program)];
    let program = AbsProgram::parse_files(&files, Vec::new).unwrap_or_else(|error| panic!("{cases}\n{error}"));
    explore(program.into(), &Options::default(), &()).unwrap()
}

const TILL: &str = "module Till; export *;
    exception WrongCoin; data Coin = Penny | Coins(Int number);
    interface Bank { Int balance(); }
    class Bank(Int money) implements Bank { Int balance() { return money; } }
    interface Till { Int pay(Bank bank, Coin coin); Bank open(); Unit wait(Int n); }
    class Till(Bool open) implements Till {
        Int count = 0;
        Int pay(Bank bank, Coin coin) {
            Int sum = await bank!balance();
            switch (coin) {
                Penny => sum = sum + 1;
                Coins(n) => { if (n == 0) { throw WrongCoin; } sum = sum + n; }
            }
            if (open && sum > 100) { sum = 0; }
            return sum;
        }
        Bank open() { Bank bank = new Bank(3); return bank; }
        Unit wait(Int n) { await n > 0 || count > 0; }
    }";

fn bounds() -> InputBounds {
    InputBounds::default().with_ints(0..=1).with_depth(1)
}

#[test]
fn generated_cases_pass_with_the_program_and_fail_with_another_one() {
    let (missed, cases) = explored(&vec![file("program.abs", TILL)], "Till.pay", &bounds());
    assert_eq!(missed.len(), 1, "{missed:?}");
    assert!(missed[0].ends_with("the condition is never true"), "{missed:?}");
    for part in [
        "new Till(True)",
        "new Bank(0)",
        "pay(null, ",
        "Coins(1)",
        "result == 2",
        "NullPointerException =>",
        "WrongCoin =>",
    ] {
        assert!(cases.contains(part), "{part} in:\n{cases}");
    }
    let verdict = run(&cases, TILL);
    assert!(verdict.complete && verdict.findings.is_empty(), "{cases}\n{:?}", verdict.findings);
    let wrong = TILL.replace("sum = sum + n;", "sum = sum - n;");
    assert_eq!(run(&cases, &wrong).findings.len(), 1, "{cases}");
}

#[test]
fn results_without_text_and_calls_that_do_not_end_are_told() {
    let files = vec![file("program.abs", TILL)];
    let (_, cases) = explored(&files, "Till.open", &bounds());
    assert!(cases.contains("future.get; ") || cases.contains("future.get;\n"), "{cases}");
    assert!(run(&cases, TILL).findings.is_empty(), "{cases}");
    let (_, cases) = explored(&files, "Till.wait", &bounds());
    assert!(cases.contains("// The call does not end: Till input") && cases.contains("!wait(0)"), "{cases}");
    assert!(cases.contains("!wait(1)"), "{cases}");
    assert!(run(&cases, TILL).findings.is_empty(), "{cases}");
}

#[test]
fn results_that_depend_on_the_order_are_all_allowed() {
    let text = "module M; interface C { Int read(); Unit set(); } class C implements C { Int v = 0; Int read() { return v; } Unit set() { v = 1; } }
        interface T { Int m(); } class T implements T {
            Int m() { C c = new C(); c!set(); Int v = await c!read(); return v; } }";
    let (missed, cases) = explored(&vec![file("program.abs", text)], "T.m", &bounds());
    assert!(missed.is_empty() && cases.contains("result == 0 || result == 1"), "{cases}");
    // The module exports nothing, so the cases belong to it.
    assert!(cases.contains("module M;"), "{cases}");
    assert!(run(&cases, text).findings.is_empty(), "{cases}");
}

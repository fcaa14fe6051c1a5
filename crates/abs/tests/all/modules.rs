//! Tests of names that several modules declare, and of programs with several files.

use whippet_abs::AbsProgram;
use whippet_model::Verdict;
use whippet_search::{Options, explore};

fn verdict(program: AbsProgram) -> Verdict {
    explore(program.into(), &Options::default(), &()).unwrap()
}

#[track_caller]
fn holds(text: &str) {
    let found = verdict(AbsProgram::parse("modules.abs", text).unwrap_or_else(|e| panic!("{e}"))).findings;
    assert!(found.is_empty(), "{found:?}");
}

/// Two modules that declare the same function, data type, selector, interface and class.
pub(crate) const TWO: &str = "
    module A; export *;
    def Int f(Int x) = x + 1;
    data D = K(Int part) | None;
    interface I { Int m(); }
    class C implements I { Int m() { return f(1); } }
    module Lib.B; export *;
    def Int f(Int x) = x + 2;
    data D = K(Int part, Int more) | None;
    interface I { Int m(); }
    class C implements I { Int m() { return f(1); } }
";

#[test]
fn names_resolve_by_module_and_imports() {
    holds(&format!(
        "{TWO} module Main; import * from A; {{
            I i = new C(); Int n = i.m(); assert n == 2 && f(1) == 2;
            D d = K(5); assert part(d) == 5 && head(map(f)(list[1])) == 2;
        }}"
    ));
    holds(&format!(
        "{TWO} module Main; import f, K from Lib.B; {{ assert f(1) == 3; assert Lib.B.part(K(1, 2)) == 1; }}"
    ));
    holds(&format!(
        "{TWO} module Main; {{
            assert A.f(1) == 2 && Lib.B.f(1) == 3;
            A.D d = A.K(1); Lib.B.D e = Lib.B.K(1, 2);
            assert case d {{ A.K(n) => n == 1; _ => False; }};
            A.I i = new A.C(); Lib.B.I j = new Lib.B.C();
            Int n = i.m(); Int k = j.m(); assert n == 2 && k == 3;
        }}"
    ));
}

#[test]
fn ambiguous_name_is_unknown() {
    let error = AbsProgram::parse("two.abs", &format!("{TWO} module Main; {{ Int n = f(1); }}")).unwrap_err();
    assert!(error.to_string().contains("unknown function `f`"), "{error}");
}

#[test]
fn imported_files_are_loaded() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let others = || {
        vec![
            file("broken.abs", "module Broken; \u{1} class"),
            file("far.abs", "module Far;\nexport *;\ndef Int two() = 2;\ndef Int fail(Int n) = 1 / n;"),
            file(
                "near.abs",
                "module Near;\nimport * from Far;\nexport *;\ndef Int three() = two() + 1; { assert False; }",
            ),
        ]
    };
    let main = "module Main; import * from Near; { assert three() == 3; }";
    let program = AbsProgram::parse_with("main.abs", main, others);
    // A mistake is reported in the file that contains it.
    let error = program.unwrap_err();
    let place = &error.places()[0];
    assert_eq!((place.file.as_str(), place.line, place.column), ("far.abs", 4, 23), "{error}");
    assert!(error.to_string().contains("far.abs:4:23"), "{error}");
    let right = || others().into_iter().map(|(name, text)| (name, text.replace("1 / n", "1"))).collect();
    let verdict = verdict(AbsProgram::parse_with("main.abs", main, right).unwrap());
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let alone = AbsProgram::parse_with("main.abs", "{ skip; }", || unreachable!("nothing is imported"));
    assert!(alone.is_ok());
}

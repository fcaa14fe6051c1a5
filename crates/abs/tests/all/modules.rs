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

#[track_caller]
fn rejects(text: &str, part: &str) {
    let error = AbsProgram::parse("modules.abs", text).map(drop).unwrap_err();
    assert!(error.places().iter().any(|place| place.message.contains(part)), "{error}");
}

/// Programs that the checker of the reference implementation rejects too.
#[test]
fn names_must_be_visible() {
    rejects(&format!("{TWO} module Main; {{ Int n = f(1); }}"), "`f` is not visible here");
    rejects(
        &format!("{TWO} module Main; import * from A; import * from Lib.B; {{ Int n = f(1); }}"),
        "`f` is ambiguous",
    );
    rejects("module A; data X; module B; import X; { }", "the module of `X` is missing");
    rejects("module A; data X; module B; import X from A; { }", "module `A` does not export `X`");
    rejects("module A; export X; data X; module B; import A.X; type Y = X; { }", "`X` is not visible here");
    rejects("module A; export X; data X; module B; import A.X from A; { }", "does not export `A.X`");
    rejects("module A; export X; { }", "module `A` has no `X` to export");
    rejects("module A; export X from B; { }", "unknown module `B`");
    rejects("module B; import A.X; { }", "unknown module `A`");
    rejects("module A; export X; import X from B; module B; export X; import X from A; { }", "to export");
    let own = "module A; export *; def Int f() = 1; module B; import * from A; def Int f() = 2; { }";
    rejects(own, "`f` is declared in module `B` and imported from module `A`");
    rejects("module A; import Unit from ABS.StdLib; { println(\"x\"); }", "`println` is not visible here");
}

#[test]
fn kinds_of_names_are_separate() {
    // A constructor does not hide an interface of another module.
    holds(
        "module A; export *; interface I { Int m(); } class C implements I { Int m() { return 1; } }
         module B; data D = I(Int n);
         module Main; import * from A; { I i = new C(); Int n = i.m(); assert n == 1; }",
    );
    // A name that is passed on means the same as in its own module, whatever other modules declare.
    holds(
        "module A; export *; def Int f() = 1;  module B; export * from A; import * from A;
         module C; def Int f() = 2;  module Main; import * from B; { assert f() == 1; }",
    );
    // Type and function parameters hide what other modules declare.
    holds(
        "module A; data T; def Int g() = 1;
         module Main; def List<T> each<T>(g)(List<T> l) = case l { Nil => Nil; Cons(x, r) => Cons(g(x), each(r)); };
         { assert each((Int x) => x + 1)(list[1]) == list[2]; }",
    );
    // A module that declares a name of the library does not hide it from others.
    holds(
        "module A; def Int length(Int x) = x;
         module Main; { assert length(list[1, 2]) == 2; }",
    );
    holds("module M; export X from M; import X from M; data X = X; { X x = X; }");
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

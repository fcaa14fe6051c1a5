//! Traits: what classes get from them, and what is rejected.

use whippet_abs::AbsProgram;
use whippet_search::{Options, explore};

/// Asserts that a program, given by its traits and a class body, runs to its end and that `i.test()` is `True`.
#[track_caller]
fn holds(traits: &str, body: &str) {
    let text = format!(
        "module M; interface I {{ Bool test(); }} {traits} class C implements I {{ {body} }}
         {{ I i = new C(); Bool result = await i!test(); assert result; }}"
    );
    let program = AbsProgram::parse("traits.abs", &text).unwrap_or_else(|error| panic!("{error}"));
    let verdict = explore(program.into(), &Options::default(), &()).unwrap();
    assert!(verdict.complete && verdict.findings.is_empty(), "{:?}", verdict.findings);
}

#[track_caller]
fn rejected(traits: &str, body: &str, why: &str) {
    let text = format!("module M; interface I {{ Bool test(); }} {traits} class C implements I {{ {body} }}");
    let error = AbsProgram::check("traits.abs", &text).unwrap_err();
    assert!(error.places()[0].message.contains(why), "{error}");
}

const YES: &str = "trait Yes = Bool test() { return True; }";
const NO: &str = "trait No = { Bool test() { return False; } }";

#[test]
fn a_class_has_the_methods_of_the_traits_it_uses() {
    holds(YES, "uses Yes;");
    holds(YES, "uses { Bool test() { return this.x(); } } adds Bool x() { return True; };");
    holds("trait All = { Bool test() { Bool b = this.x(); return b; } Bool x() { return True; } }", "uses All;");
    holds("trait Fields = Bool test() { return count == 1; }", "Int count = 1; uses Fields;");
}

#[test]
fn methods_are_modified_and_removed() {
    holds(&format!("{YES} {NO}"), "uses No modifies Yes;");
    holds(&format!("{YES} {NO}"), "uses No removes Bool test(); adds Yes;");
    holds(&format!("{YES} {NO} trait Other = No removes {{ Bool test(); }} adds Yes"), "uses Other;");
    holds(YES, "uses {} modifies Yes;");
}

#[test]
fn original_calls_the_method_before_the_change() {
    let twice = "trait Turn = Bool test() { Bool b = original(); return !b; }";
    holds(&format!("{NO} {twice}"), "uses No modifies Turn;");
    holds(&format!("{YES} {twice}"), "uses Yes modifies Turn modifies Turn;");
}

#[test]
fn traits_of_other_modules_are_imported() {
    let text = "module A; export T; trait T = Bool test() { return True; }
        module M; import T from A; interface I { Bool test(); } class C implements I { uses T; }
        { I i = new C(); Bool b = await i!test(); assert b; }";
    AbsProgram::parse("modules.abs", text).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn wrong_traits_are_rejected() {
    rejected("", "uses T;", "there is no trait `T`");
    rejected("trait T = {} removes Bool test();", "uses T;", "there is no method `test` to remove");
    rejected("trait T = T", "uses T;", "in terms of itself");
    rejected(&format!("{YES} {NO}"), "uses Yes; uses No;", "method `test` is declared twice");
    rejected("trait T = Bool test() { Bool b = original(); return b; }", "uses T;", "original");
}

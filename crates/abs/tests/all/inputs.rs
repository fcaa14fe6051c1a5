//! Programs that call one method with inputs that the search chooses.

use std::collections::BTreeSet;
use whippet_abs::{AbsProgram, InputBounds};
use whippet_model::Verdict;
use whippet_search::{Options, Reduction, explore};

fn parse(text: &str, method: &str, bounds: &InputBounds) -> Result<AbsProgram, String> {
    let files = [("test.abs".to_string(), text.to_string())];
    AbsProgram::parse_method(&files, Vec::new, method, bounds).map_err(|error| error.to_string())
}

fn verdict(text: &str, method: &str, bounds: &InputBounds) -> Verdict {
    let program = parse(text, method, bounds).unwrap_or_else(|error| panic!("{error}"));
    let verdict = explore(program.into(), &Options::default(), &()).unwrap();
    assert!(verdict.complete && verdict.may_miss, "other inputs are not explored");
    verdict
}

/// Returns the number of executions of a method whose parameters have these types, in a program with these declarations.
fn executions(declarations: &str, parameters: &str, bounds: &InputBounds) -> u64 {
    let text = format!(
        "module M; {declarations} interface T {{ Unit m({parameters}); }} class T implements T {{ Unit m({parameters}) {{ }} }}"
    );
    let verdict = verdict(&text, "T.m", bounds);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    verdict.counters.executions
}

fn bounds(depth: u32) -> InputBounds {
    InputBounds::default().with_ints(0..=1).with_depth(depth)
}

#[test]
fn simple_types_have_all_values() {
    assert_eq!(executions("", "", &bounds(2)), 1);
    assert_eq!(executions("", "Int a, Bool b, String c, Rat d", &bounds(0)), 16);
    assert_eq!(executions("", "Int a", &InputBounds::default()), 4);
    assert_eq!(executions("", "Unit a", &bounds(2)), 1);
    // More choices than one step can have.
    assert_eq!(
        executions("", "Bool a, Bool b, Bool c, Bool d, Bool e, Bool f, Bool g, Bool h, Bool i", &bounds(0)),
        512
    );
}

#[test]
fn data_has_all_values_to_a_depth() {
    let lists = |depth| executions("", "List<Bool> l", &bounds(depth));
    assert_eq!((lists(0), lists(1), lists(2), lists(3)), (1, 1 + 2, 1 + 2 + 4, 1 + 2 + 4 + 8));
    assert_eq!(executions("", "Maybe<Pair<Int, Bool>> p", &bounds(2)), 1 + 4);
    assert_eq!(executions("type Flags = List<Bool>;", "Flags f", &bounds(1)), 3);
    let tree = "data Tree = Leaf | Node(Tree left, Bool value, Tree right);";
    assert_eq!(executions(tree, "Tree t", &bounds(1)), 1 + 2);
    assert_eq!(executions(tree, "Tree t", &bounds(2)), 1 + 3 * 2 * 3);
    assert_eq!(executions("", "Set<Bool> s", &bounds(2)), 7, "by the lists from which they are made");
}

#[test]
fn objects_are_null_or_of_any_class() {
    let classes = "interface A { } interface B extends A { } class X implements A { } class Y(Bool b) implements B { }";
    assert_eq!(executions(classes, "A a", &bounds(1)), 1 + 1 + 2);
    assert_eq!(executions(classes, "B b", &bounds(1)), 1 + 2);
    assert_eq!(executions(classes, "A a", &bounds(0)), 1, "null");
    assert_eq!(executions(classes, "[Nonnull] A a", &bounds(1)), 1 + 2);
}

/// The inputs for which a method fails are those for which it fails when a main block calls it.
#[test]
fn findings_are_those_of_written_calls() {
    let declarations = "module M; interface T { Unit m(Int a, List<Int> l); }
        class T(Int limit) implements T { Unit m(Int a, List<Int> l) { assert a + length(l) < limit || a == limit; } }";
    let found = verdict(declarations, "T.m", &bounds(2));
    let mut fails = 0;
    for (limit, a) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for list in ["Nil", "list[0]", "list[1]", "list[0, 0]", "list[0, 1]", "list[1, 0]", "list[1, 1]"] {
            let text = format!("{declarations} {{ T t = new T({limit}); t!m({a}, {list}); }}");
            let program = AbsProgram::parse("written.abs", &text).unwrap();
            fails += explore(program.into(), &Options::default(), &()).unwrap().findings.len();
        }
    }
    assert!(fails > 0);
    assert_eq!((found.counters.executions, found.findings.len()), (28, 1));
    assert_eq!(found.findings[0].executions as usize, fails);
    let steps: Vec<String> = found.findings[0].counterexample.iter().flat_map(|step| step.effects.clone()).collect();
    assert!(steps.iter().any(|effect| effect.starts_with("calls T!m(")), "{steps:?}");
}

#[test]
fn inputs_and_orders_are_explored_together() {
    let text = "module M; interface Counter { Unit add(Int n); } class Counter implements Counter {
        Int sum = 0; Unit add(Int n) { this!twice(n); this!plus(n); } Unit twice(Int n) { sum = 2 * sum; }
        Unit plus(Int n) { sum = sum + n; } }";
    let all = |reduction| {
        let program = parse(text, "Counter.add", &bounds(0)).unwrap();
        explore(program.into(), &Options::new(reduction), &()).unwrap().counters.executions
    };
    assert_eq!(BTreeSet::from([Reduction::Optimal, Reduction::Udpor, Reduction::Source].map(all)), [4].into());
}

#[test]
fn misuse_is_explained() {
    let text =
        "module M; interface T { Unit m(Fut<Int> f); } class T implements T { Unit m(Fut<Int> f) { } Unit own() { } }";
    let error = |method: &str, bounds: &InputBounds| parse(text, method, bounds).unwrap_err();
    assert!(error("m", &bounds(1)).contains("write `Class.method`"));
    assert!(error("U.m", &bounds(1)).contains("unknown class `U`"));
    assert!(error("T.n", &bounds(1)).contains("it has m, own"));
    assert!(error("T.own", &bounds(1)).contains("no interface of `T` has the method `own`"));
    assert!(error("T.m", &bounds(1)).contains("unknown input of type `Fut`"));
    assert!(error("T.m", &InputBounds::default().with_ints(0..=256)).contains("1 to 256"));
}

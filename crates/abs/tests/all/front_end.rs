//! Tests of the front end: its messages about wrong programs, and that no input crashes or hangs it.

use crate::modules::TWO;
use whippet_abs::AbsProgram;
use whippet_model::{Explain, FindingKind, Machine, Program};
use whippet_search::{Options, explore};

const PROGRAM: &str = r#"
module Test;
import * from ABS.StdLib;
data Shape = Circle(Rat radius) | Square(Rat side);
type Numbers = List<Int>;
exception Trouble(String why);
def Rat area(Shape s) = case s { Circle(r) => 3 * r * r; Square(x) => x * x; };
def Int total(Numbers l) = case l { Nil => 0; Cons(x, xs) => x + total(xs); };
def List<B> each<A, B>(f)(List<A> l) = case l { Nil => Nil; Cons(x, xs) => Cons(f(x), each(xs)); };
interface Cell { Unit set(Int v); Int value(); Int risky(Int n); }
interface Both extends Cell { Int twice(); }
class Cell(Int start) implements Both {
    Int v = start * 2;
    { v = v + 1; }
    Unit set(Int v) { this.v = v; }
    Int value() { return v; }
    Int twice() { Int one = this.value(); return one * 2; }
    Int risky(Int n) {
        Int result = 0;
        try {
            if (n == 0) { throw Trouble("zero"); }
            result = truncate(10 / (n - 1));
            return result;
        } catch {
            Trouble(why) => result = strlen(why);
            DivisionByZeroException => result = -1;
        } finally { v = 100; }
        return result;
    }
}
interface Object { }
data Either<A> = This(A) | That;
interface Checker { Bool same(Int n); List<Int> above(List<Int> numbers); Bool holds(); }
class Checker(Int limit) implements Checker {
    Bool same(Int n) { return case n { limit => True; _ => False; }; }
    List<Int> above(List<Int> numbers) { return filter((Int n) => n > limit)(numbers); }
    Bool holds() { return case This(limit) { That => False; This(n) => n == limit; }; }
}
{
    Checker checks = new Checker(1);
    Both c = new Cell(3);
    Fut<Int> f = c!value();
    await f? & True;
    Int x = f.get;
    assert x == 7;
    Int four = await c!risky(0);
    assert four == 4;
    Int bad = await c!risky(1);
    assert bad == -1;
    Int ten = await c!risky(2);
    assert ten == 10;
    Int hundred = c.value();
    assert hundred == 100;
    Int twice = await c!twice();
    assert twice == 200;
    assert total(each((Int y) => y + x)(list[1, 2, 3])) == 27;
    assert area(Square(1/2)) == 1/4;
    assert `x is $x$` == "x is 7";
    Map<String, Int> m = map[Pair("a", 1), Pair("b", 2)];
    assert lookupDefault(put(m, "a", 5), "a", 0) == 5;
    assert elements(union(set[3, 1], set[2, 1])) == list[1, 2, 3];
    assert keys(m) == set["b", "a"];
    Int sum = 0;
    foreach (item, k in list[10, 20]) { sum = sum + item * k; }
    assert sum == 20;
    assert map((Int z) => z * 2)(list[1, 2]) == list[2, 4];
    assert foldl((Int z, Int acc) => z + acc)(list[1, 2, 3], 0) == 6;
    assert pow(2, 100) / pow(2, 99) == 2;
    assert c implements Cell;
    switch (Just(4)) { Nothing => assert False; Just(n) => assert n == 4; }
    Cell plain = new local Cell(1);
    plain.set(9);
    Int nine = plain.value();
    assert nine == 9;
    duration(1, 2);
    assert checks.holds();
    if True then 5 else 3;
    case sum { 20 => 1; _ => 2; };
    Map<Int, Int> twice_in = insert(insert(map[], Pair(1, 10)), Pair(1, 11));
    assert lookupUnsafe(twice_in, 1) == 11 && lookupUnsafe(removeKey(twice_in, 1), 1) == 10;
    DC host = new DeploymentComponent("host", map[Pair(Speed, 10)]);
    InfRat total = await host!total(Speed);
    assert total == Fin(10);
    Checker checker = new Checker(3);
    Bool same = await checker!same(3);
    assert same;
    List<Int> above = await checker!above(list[1, 4, 3, 5]);
    assert above == list[4, 5];
}
"#;

fn verdict(text: &str) -> whippet_model::Verdict {
    let program = AbsProgram::parse("test.abs", text).unwrap_or_else(|e| panic!("{e}"));
    let mut options = Options::default();
    // The limits of the interpreter are tested, not the speed of the computer.
    options.limits.handler = std::time::Duration::from_secs(600);
    explore(std::sync::Arc::new(program.statement_limit(100_000)), &options, &()).unwrap()
}

#[test]
fn language_tour_has_no_findings() {
    let verdict = verdict(PROGRAM);
    assert!(verdict.findings.is_empty(), "{:#?}", verdict.findings);
    assert!(verdict.complete);
}

#[track_caller]
fn rejects(text: &str, line: usize, column: usize, part: &str) {
    let error = AbsProgram::parse("wrong.abs", text).expect_err("it should be rejected");
    let place = &error.places()[0];
    assert_eq!((place.line, place.column), (line, column), "{error}");
    assert!(place.message.contains(part) || error.to_string().contains(part), "{error}");
}

#[test]
fn errors_have_line_and_column() {
    rejects("{ Int x = True; }", 1, 11, "Bool");
    rejects("{\n  Int x = 1\n}", 3, 1, "`;`");
    rejects("{ Int x = 1 / 2; }", 1, 11, "truncate");
    rejects("{ Strin x = \"a\"; }", 1, 3, "did you mean `String`?");
    rejects("interface I { Unit m(); } class C implements I { } { }", 1, 33, "does not implement method `m`");
    rejects("interface I { } class C implements I { } { I i = new C(); i!go(); }", 1, 61, "unknown method");
    rejects("interface I { Int m(); } class C implements I { Int m() { } } { }", 1, 59, "without returning");
    rejects("delta D; { }", 1, 1, "not supported: deltas");
    rejects("[Scheduler: x] class C { } { }", 1, 2, "not supported: user-defined schedulers");
    rejects("class C { { suspend; } } { }", 1, 13, "cannot wait");
    rejects("class C { }", 1, 12, "no main block");
    rejects("type T = List<T>; { T x = Nil; }", 1, 10, "defined in terms of itself");
    rejects("{ List<Int> l = Cons(1, list[\"a\"]); }", 1, 25, "String");
    let cell = "interface I { Int m(); } class C implements I { Int m() { return 1; } }";
    rejects(&format!("{cell} {{ I i = new C(); Int x = i.m() + 2; }}"), 1, 98, "assign its result to a variable");
    rejects("data D = A; data D = B; { }", 1, 18, "type `D` is declared twice");
    rejects("data Int = A; { }", 1, 6, "type `Int` is declared twice");
    rejects("data D = A; interface D { Unit m(); } { }", 1, 23, "type `D` is declared twice");
    rejects("{ await timeValue(now()) > 3; }", 1, 9, "not supported: a condition that waits for a point in time");
    rejects("def Bool late() = now() > Time(3); { await late(); }", 1, 44, "not supported: a condition that waits");
    rejects("{ Destiny d = null; }", 1, 3, "not supported: `Destiny`");
    rejects("class C { Int x = y + 1; Int y = 1; } { }", 1, 19, "used before it has a value");
    rejects("def Int f() = random(3); { Int n = f(); }", 1, 15, "not supported: `random` in a function");
    rejects("{ await random(2) > 0; }", 1, 9, "not supported: `random`");
    rejects("{ String s = readln(); }", 1, 14, "not supported: `readln`");
    rejects("module A; import * from Elsewhere; { }", 1, 25, "unknown module `Elsewhere`");
    rejects("module A; export 1; { }", 1, 18, "expected a name, found `1`");
    rejects("module A; import A.; { }", 1, 20, "expected a name");
    rejects("{ Int x = case 1 { -y => 1; _ => 2; }; }", 1, 21, "expected a number");
}

#[test]
fn initialization_calls_atomic_methods_only() {
    rejects(
        "class C { { this.m(); } Unit m() { } } { }",
        1,
        13,
        "during its initialization, unless the method is atomic",
    );
    let fine = "class C { { this.m(); } [Atomic] Unit m() { } } class D { { this!m(); } Unit m() { } } { }";
    assert!(AbsProgram::parse("fine.abs", fine).is_ok());
}

/// Rejects a program at the first occurrence of `place` in it.
#[track_caller]
fn rejects_at(text: &str, place: &str, part: &str) {
    rejects(text, 1, text.find(place).expect("the place is in the text") + 1, part);
}

#[test]
fn function_argument_errors_have_place() {
    let wrong = "expected a value of type Int, found type Bool";
    rejects_at("{ Int n = head(map((Int z) => True)(list[1])); assert n + 1 == 2; }", "head", wrong);
    rejects_at("{ Int n = foldl((Int z, Int a) => a)(list[1], True); }", "Int z", "found type Bool");
    let text = "{ List<Int> l = map((Int a, Int b) => a)(list[1]); }";
    rejects_at(text, "Int a", "`map` cannot be called with this function: `f` takes 2 arguments, not 1");
    rejects_at("{ List<Int> l = map(() => 1)(list[1]); }", "1)(", "`f` takes 0 arguments, not 1");
    rejects_at("{ List<String> l = map((String s) => s)(list[1]); }", "String s", "expected a value of type String");
    rejects_at("{ List<Int> l = filter((Int n) => n)(list[1]); }", "Int n", "expected a value of type Bool");
    let twice = "def Int twice(Int n) = n * 2;";
    rejects_at(
        &format!("{twice} {{ List<Int> l = filter(twice)(list[1]); }}"),
        "twice)",
        "expected a value of type Bool",
    );
    rejects_at(
        &format!("{twice} {{ List<Int> l = map(twice)(list[\"a\"]); }}"),
        "twice)",
        "expected a value of type Int",
    );
    rejects_at("{ List<Int> l = map(filter)(list[1]); }", "filter", "has function parameters");
    // The sum of fractions becomes a fraction, which the function does not take.
    rejects_at("{ Rat r = foldl((Int x, Int a) => x / 2 + a)(list[1], 0); }", "Int x", "expected a value of type Int");
    let both = "def List<B> both<A, B>(f, g)(List<A> l) = map(f)(map(g)(l));";
    let text = format!("{both} {{ List<Int> l = both((Int a) => a + 1, (Int b) => b > 1)(list[1]); }}");
    rejects_at(&text, "both((", "`both` cannot be called with these functions: expected a value of type Int");
    // The function is called with a number and with a string.
    let each = "def Int each<A>(f)(A a, Bool again) = if again then each(\"text\", False) else f(a);";
    rejects_at(&format!("{each} {{ Int n = each((Int x) => x)(1, True); }}"), "Int x", "expected a value of type Int");
    let deeper = "def Int deeper<A>(f)(A a) = deeper(list[a]);";
    rejects_at(
        &format!("{deeper} {{ Int n = deeper((Int x) => x)(1); }}"),
        "Int x",
        "not supported: recursion that passes new functions",
    );
}

/// Functions that take functions, and calls of them that are correct.
const FUNCTIONS: &str = "
    data Chain = Nil | Cons(Int, Chain);
    def Rat sum(f)(List<Int> l) = if l == list[] then 0 else f(head(l)) + sum(tail(l));
    def List<A> without_those<A>(p)(List<A> l) = filter((A x) => !p(x))(l);
    def A times<A>(f)(A a, Int n) = if n == 0 then a else times((A x) => f(x))(f(a), n - 1);
    def C composed<A, C>(f, g)(A a) = let (C c) = g(f(a)) in c;
    def String shown<A>(f)(A a, Bool again) = if again then shown(toString(a), False) else f(a);
";
const FITTING: [&str; 13] = [
    "foldl((Int x, Rat a) => x / 2 + a)(list[1, 2], 0) == 3/2",
    "sum((Int x) => x / 2)(list[1, 2]) == 3/2",
    "sum((Int x) => x * 2)(list[1, 2]) == 6",
    "map((Int x) => x > 1)(list[1, 2]) == list[False, True]",
    "map((Rat x) => x / 2)(list[1, 2]) == list[1/2, 1]",
    "map((Int x) => x)(list[]) == list[]",
    "map(toString)(list[1, 2]) == list[\"1\", \"2\"]",
    "map(fst)(list[Pair(1, True)]) == list[1]",
    "foldr(max)(list[3, 1], 2) == 3",
    "without_those((Int x) => x > 1)(list[1, 2]) == list[1]",
    "times((Int x) => x * 2)(1, 10) == 1024",
    "composed((Int x) => x > 1, (Bool b) => if b then \"yes\" else \"no\")(2) == \"yes\"",
    "shown(toString)(1, True) == \"1\"",
];

#[test]
fn function_arguments_are_accepted() {
    for holds in FITTING {
        let verdict = verdict(&format!("{FUNCTIONS} {{ assert {holds}; }}"));
        assert!(verdict.findings.is_empty(), "{holds}: {:?}", verdict.findings);
    }
}

#[test]
fn endless_loop_hits_limit() {
    let verdict = verdict("{ Int x = 0; while (True) { x = x + 1; } }");
    assert_eq!(verdict.findings[0].kind, FindingKind::Limit);
    assert!(verdict.findings[0].message.contains("100000 statements"), "{}", verdict.findings[0].message);
    let endless = verdict_of_function("def Int f(Int n) = f(n + 1);", "f(0)");
    assert_eq!(endless.findings[0].kind, FindingKind::Limit);
    let large = verdict_of_function("", "pow(10, 100000000)");
    assert_eq!(large.findings[0].kind, FindingKind::Limit);
}

/// Strings and lists that double again and again meet a limit before memory is exhausted.
#[test]
fn doubling_hits_limit() {
    let large = "exceeds a million";
    for (twice, limit) in [
        ("s = s + s;", large),
        ("s = `$s$$s$`;", large),
        ("s = toString(s) + `$k$` + s;", large),
        ("n = n * 100 + 1; s = n + s;", large),
        ("l = concatenate(l, l);", "statements"),
    ] {
        let first = "Int k = 0; Int n = 1; String s = \"a\"; List<Int> l = list[1];";
        let verdict = verdict(&format!("{{ {first} while (True) {{ k = k + 1; {twice} }} }}"));
        let [finding] = &verdict.findings[..] else { panic!("{twice}: {:?}", verdict.findings) };
        assert_eq!(finding.kind, FindingKind::Limit, "{twice}");
        assert!(finding.message.contains(limit), "{twice}: {}", finding.message);
    }
}

/// Comparisons of floats follow IEEE 754.
#[test]
fn nan_comparisons_are_false() {
    let nan = "Float nan = sqrt(-1.0); Float x = 1.0; Float zero = 0.0;";
    for holds in [
        "!(nan < x) && !(x < nan)",
        "!(nan <= x) && !(x <= nan)",
        "!(nan > x) && !(x > nan)",
        "!(nan >= x) && !(x >= nan)",
        "!(nan < nan) && !(nan <= nan) && !(nan == nan) && nan != nan",
        "nan != x && !(nan == x)",
        "zero == -zero && zero <= -zero && !(zero < -zero)",
        "x < 2.0 && x <= 1.0 && x == 1.0 && 2.0 > x && 1.0 >= x && x != 2.0",
    ] {
        let verdict = verdict(&format!("{{ {nan} assert {holds}; }}"));
        assert!(verdict.findings.is_empty(), "{holds}: {:?}", verdict.findings);
    }
}

fn verdict_of_function(function: &str, call: &str) -> whippet_model::Verdict {
    verdict(&format!("{function} {{ Rat x = {call}; }}"))
}

#[test]
fn exception_is_rethrown_by_get() {
    let class = "interface I { Int m(); } class C implements I { Int m() { throw NullPointerException; } }";
    let kind = |main: &str| verdict(&format!("{class} {{ I i = new C(); {main} }}")).findings.first().map(|f| f.kind);
    assert_eq!(kind("i!m();"), Some(FindingKind::Panic));
    assert_eq!(kind("Fut<Int> f = i!m();"), Some(FindingKind::Panic));
    assert_eq!(kind("Fut<Int> f = i!m(); try { Int x = f.get; } catch { NullPointerException => skip; }"), None);
}

#[test]
fn rewind_restores_fingerprints() {
    let program = AbsProgram::parse("test.abs", PROGRAM).unwrap();
    let mut machine = program.machine(&Default::default()).unwrap();
    let mut prints = Vec::new();
    let mut choices = Vec::new();
    loop {
        prints.push(machine.fingerprint().unwrap().of_configuration(whippet_model::StateComparison::Ordered).unwrap());
        choices.clear();
        machine.enabled(&mut choices).unwrap();
        let Some(&choice) = choices.last() else { break };
        machine.execute(choice).unwrap();
    }
    while machine.depth() > 0 {
        machine.rewind(machine.depth() - 1);
        assert_eq!(
            machine.fingerprint().unwrap().of_configuration(whippet_model::StateComparison::Ordered).unwrap(),
            prints[machine.depth()]
        );
    }
}

/// Checks that the front end answers for programs with pieces removed, duplicated or inserted. `WHIPPET_FUZZ=100000`
/// makes it a long run.
#[test]
fn mutated_programs_do_not_crash() {
    let mut state = 7u64;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let two = format!("{TWO} module Main; import f, K from Lib.B; import * from Else; {{ Int n = f(random(3)); }}");
    let bits =
        ["(", ")", "{", "}", "<", "!", "?", "case", "\"", "`", "$", "[", "await", "99999999999999999999", "é", "_"];
    let rounds = std::env::var("WHIPPET_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    for _ in 0..rounds {
        let mut text = [PROGRAM, &two][roll(2)].as_bytes().to_vec();
        for _ in 0..1 + roll(3) {
            let (from, length) = (roll(text.len()), roll(30));
            let to = (from + length).min(text.len());
            match roll(3) {
                0 => drop(text.drain(from..to)),
                1 => {
                    let piece = text[from..to].to_vec();
                    let at = roll(text.len());
                    text.splice(at..at, piece);
                }
                _ => drop(text.splice(from..from, bits[roll(bits.len())].bytes())),
            }
        }
        let text = String::from_utf8_lossy(&text);
        let other = ["module Else; data D = K; {", "module Else; def Int other() = 1;"][roll(2)];
        let beside = || vec![("other.abs".to_string(), other.to_string())];
        match AbsProgram::parse_with("mutated.abs", &text, beside) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(program) => run_to_an_end(&program.statement_limit(1_000)),
        }
        let _ = AbsProgram::parse("mutated.abs", &text).map_err(|error| error.to_string());
    }
}

/// Checks that programs with words replaced by other words are rejected, or run without a crash: what the checker accepts
/// must not confuse types.
#[test]
fn programs_with_exchanged_words_do_not_crash() {
    let mut state = 11u64;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let functions = format!("{FUNCTIONS} {{ {} }}", FITTING.map(|holds| format!("assert {holds};")).join(" "));
    let rounds = std::env::var("WHIPPET_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    for _ in 0..rounds {
        let text = [PROGRAM, &functions][roll(2)];
        let mut pieces: Vec<&str> = text.split_inclusive(|c| !is_word(c)).collect();
        for _ in 0..1 + roll(2) {
            let (at, other) = (roll(pieces.len()), roll(pieces.len()));
            pieces[at] = pieces[other];
        }
        if let Ok(program) = AbsProgram::parse("exchanged.abs", &pieces.concat()) {
            run_to_an_end(&program.statement_limit(1_000));
        }
    }
}

/// Runs some execution of a program that was accepted.
fn run_to_an_end(program: &AbsProgram) {
    let mut machine = program.machine(&Default::default()).unwrap();
    let mut choices = Vec::new();
    while machine.depth() < 100 {
        choices.clear();
        machine.enabled(&mut choices).unwrap();
        let Some(&choice) = choices.first() else { break };
        machine.execute(choice).unwrap();
    }
}

#[test]
fn deep_and_long_programs_do_not_crash() {
    let many = |piece: &str, n: usize| piece.repeat(n);
    for text in [
        format!("{{ Int x = {}1{}; }}", many("(", 10_000), many(")", 10_000)),
        format!("{{ Int x = {}1; }}", many("-", 10_000)),
        format!("{{ Int x = 1{}; }}", many(" + 1", 50_000)),
        format!("{{ {} }}", many("if (True) ", 10_000)),
        many("{", 10_000),
        many("[", 10_000),
        many("A<", 10_000),
        format!("data D = {};", many("A(", 10_000)),
        format!("{{ Bool b = case 1 {{ {} }}; }}", many("_ => case 1 { ", 10_000)),
        format!("{{ Int x = 1{}; assert x > 0; }}", many(" + 1", 900)),
        many("interface A extends B { } interface B extends A { }", 1),
    ] {
        let _ = AbsProgram::parse("deep.abs", &text).map_err(|error| error.to_string());
    }
}

/// Runs a loop of three million statements; `cargo test -- --nocapture` shows how fast it ran.
#[test]
fn statements_are_counted() {
    let text = "{ Int x = 0; while (x < 1000000) { x = x + 1; } assert x == 1000000; }";
    let program = AbsProgram::parse("loop.abs", text).unwrap();
    let mut machine = program.machine(&Default::default()).unwrap();
    let mut choices = Vec::new();
    machine.enabled(&mut choices).unwrap();
    let start = std::time::Instant::now();
    machine.execute(choices[0]).unwrap();
    println!("{} statements in {:?}", machine.statements_run(), start.elapsed());
    assert_eq!(machine.problems(), 0);
    assert!(machine.statements_run() > 3_000_000);
}

/// Checking takes time and memory linear in the number of classes. Quadratic tables would need gigabytes here.
#[test]
fn twenty_thousand_classes() {
    let mut text = String::new();
    for i in 0..20_000 {
        text += &format!("interface I{i} {{ Int m{i}(); }} data D{i} = A{i} | B{i}(Int f{i});\n");
        text +=
            &format!("class C{i} implements I{i} {{ Int v = {i}; Int m{i}() {{ return v + f{i}(B{i}({i})); }} }}\n");
    }
    text += "{ I7 c = new C7(); Int n = c.m7(); assert n == 14; }";
    let verdict = verdict(&text);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    assert!(verdict.complete);
}

/// A value that contains itself twice, many times over, is hashed and compared in linear time.
#[test]
fn doubled_pairs_are_hashed_with_sharing() {
    let data = "data Tree = Leaf | Node(Tree left, Tree right);";
    let class =
        "interface I { Unit put(Tree t); } class C implements I { Tree kept = Leaf; Unit put(Tree t) { kept = t; } }";
    let main =
        "Tree t = Leaf; Int k = 0; while (k < 100) { t = Node(t, t); k = k + 1; } I c = new C(); c!put(t); c!put(t);";
    let program =
        AbsProgram::parse("tree.abs", &format!("{data} {class} {{ {main} assert t == Node(left(t), right(t)); }}"));
    let options = Options::new(whippet_search::Reduction::Stateful);
    let verdict = explore(std::sync::Arc::new(program.unwrap()), &options, &()).unwrap();
    assert!(verdict.findings.is_empty() && verdict.complete, "{:?}", verdict.findings);
}

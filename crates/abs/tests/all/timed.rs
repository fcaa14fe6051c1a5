//! Tests of virtual time, deployment components, and the parts of the language that public programs use.

use whippet_abs::AbsProgram;
use whippet_model::{FindingKind, Verdict};
use whippet_search::{Options, explore};

fn verdict(text: &str) -> Verdict {
    let program = AbsProgram::parse("timed.abs", text).unwrap_or_else(|e| panic!("{e}"));
    explore(program.into(), &Options::default(), &()).unwrap()
}

#[track_caller]
fn holds(text: &str) -> Verdict {
    let verdict = verdict(text);
    assert!(verdict.findings.is_empty() && verdict.complete, "{:?}", verdict.findings);
    verdict
}

#[test]
fn clock_advances_with_durations() {
    holds("{ duration(5, 5); assert timeValue(now()) == 5; await duration(1/2); assert now() == Time(11/2); }");
    holds("{ await duration(0, 0); assert now() == Time(0); }");
    // A loop of short waits ends when another task's longer wait does.
    holds(
        "interface I { Unit wait(); Bool isDone(); }
         class C implements I { Bool over = False; Unit wait() { await duration(3, 3); over = True; } Bool isDone() { return over; } }
         { I i = new C(); i!wait(); Bool over = False;
           while (!over) { await duration(1, 1); over = await i!isDone(); }
           assert timeValue(now()) >= 3 && timeValue(now()) <= 4; }",
    );
}

#[test]
fn timers_fire_in_their_order() {
    let text = "interface I { Unit add(Int n, Rat t); Unit check(); }
         class C implements I {
             List<Int> seen = Nil;
             Unit add(Int n, Rat t) { await duration(t, t); seen = Cons(n, seen); }
             Unit check() { await duration(5, 5); assert seen == list[3, 2, 1]; }
         }
         { I i = new C(); i!add(3, 3); i!add(1, 1); i!add(2, 2); i!check(); }";
    holds(text);
    // Timers that end at the same time fire in any order.
    let same = verdict(&text.replace("i!add(2, 2)", "i!add(2, 1)"));
    assert_eq!(same.findings.len(), 1);
    assert_eq!(same.findings[0].kind, FindingKind::Assertion);
}

#[test]
fn sleeping_task_blocks_its_group() {
    holds(
        "interface I { Unit sleep(); Time quick(); }
         class C implements I { Unit sleep() { duration(2, 2); } Time quick() { return now(); } }
         { I i = new C(); Fut<Unit> f = i!sleep(); await duration(1, 1); Fut<Time> g = i!quick(); Time t = g.get; assert t == Time(2); }",
    );
}

#[test]
fn guard_with_condition_and_duration() {
    holds(
        "interface I { Time wait(); Unit go(); }
         class C implements I {
             Bool open = False;
             Time wait() { await open & duration(2, 2); return now(); }
             Unit go() { await duration(5, 5); open = True; }
         }
         { I i = new C(); Fut<Time> f = i!wait(); i!go(); await f?; Time t = f.get; assert t == Time(5) || t == Time(7); }",
    );
}

#[test]
fn deadlines_count_down() {
    holds(
        "interface I { Duration left(Rat t); }
         class C implements I { Duration left(Rat t) { await duration(t, t); return deadline(); } }
         { I i = new C();
           [Deadline: Duration(10)] Duration a = await i!left(4); assert a == Duration(6);
           Duration b = await i!left(4); assert b == InfDuration; }",
    );
}

#[test]
fn cost_takes_time_on_a_component() {
    holds(
        "import * from ABS.DC;
         interface I { Unit work(Rat cost); }
         class C implements I { Unit work(Rat cost) { [Cost: cost] skip; } }
         { DC dc = new DeploymentComponent(\"dc\", map[Pair(Speed, 5)]);
           [DC: dc] I i = new C();
           await i!work(12); assert now() == Time(2);
           await i!work(3); assert now() == Time(2);
           await i!work(1); assert now() == Time(3);
           Rat load = await dc!load(Speed, 1); assert load == 100;
           I free = new C(); await free!work(1000); assert now() == Time(3); }",
    );
}

#[test]
fn this_component_is_inherited() {
    holds(
        "import * from ABS.DC;
         interface I { DC host(); }
         class C implements I { DC host() { return thisDC(); } }
         { DC dc = new DeploymentComponent(\"dc\", map[]);
           [DC: dc] I i = new C(); DC a = await i!host(); assert a == dc;
           I j = new C(); DC b = await j!host(); DC mine = thisDC(); assert b == mine && b != dc;
           String name = await b!getName(); assert name == \"Initial DC\"; }",
    );
}

#[test]
fn bounds_that_differ_are_mentioned() {
    assert!(holds("{ await duration(1, 2); assert now() == Time(2); }").may_miss);
    assert!(!holds("{ Int n = 1; await duration(n + 1, n + 1); }").may_miss);
}

#[test]
fn plain_new_in_the_older_dialect_joins_the_group() {
    let text = "interface I { Unit m(); Unit n(); }
         class C implements I { Unit m() { skip; } Unit n() { Fut<Unit> f = this!m(); f.get; } }
         class D { Unit run() { I i = new C(); Fut<Unit> f = i!m(); f.get; } }
         { new cog D(); }";
    let older = verdict(text);
    assert_eq!(older.findings[0].kind, FindingKind::Deadlock, "the object is in the group that waits for it");
    holds(&text.replace("new cog", "new"));
}

#[test]
fn values_are_ordered_and_shown_as_the_reference_does() {
    holds(
        "data Person = Person(String name, Int age); data Size = Small | Large | Medium;
         { assert Large < Medium && Medium < Small && Cons(1, Nil) < Nil && Just(1) < Nothing;
           assert elements(set[Small, Large, Medium]) == list[Large, Medium, Small];
           assert toString(Person(\"Jo \\\"x\\\"\", 2)) == \"Person(\\\"Jo \\\\\\\"x\\\\\\\"\\\",2)\";
           assert toString(\"plain\") == \"plain\" && toString(list[1, 2]) == \"list[1,2]\";
           assert strlen(toString(range(1, 1000))) == 3898; }",
    );
}

#[test]
fn library_of_public_programs() {
    holds(
        "exception Trouble(Bool value);
         def Int sum(List<Int> l) = foldl((Int x, Int y) => x + y)(l, 0);
         { assert sum[1, 2, 3] == 6;
           assert fromJustDefault(Nothing, 4) == 4 && abs(-1.5) == 1.5 && abs(-3/2) == 3/2;
           Map<Int, String> m = map[Pair(1, \"a\"), Pair(2, \"b\")];
           assert lookupReverse(m, \"b\") == Just(2) && lookupReverseDefault(m, \"c\", 9) == 9;
           Trouble t = Trouble(True); assert value(t);
           assert case 2 { 1 => False 2 => True _ => False }; }",
    );
}

/// Programs that the checker of the reference implementation rejects too.
#[test]
fn rules_on_declarations() {
    let wrong = [
        ("def Int f(Int x, Int x) = x; { }", "parameter `x` is declared twice"),
        ("interface I { Unit m(Bool b, Int b); } { }", "parameter `b` is declared twice"),
        ("def A f<A, A>(A a) = a; { }", "type parameter `A` is declared twice"),
        ("data Foo<Int> = Bar(Int); { }", "cannot be a type parameter"),
        ("interface I extends J { } interface J extends I { } { }", "extends itself"),
        ("interface I { Int m(); } interface J extends I { Bool m(); } { }", "already declared in interface `I`"),
        (
            "interface A { Unit m(); } interface B { Unit m(Int x); } interface I extends A, B { } { }",
            "different types",
        ),
        ("type Foo = Bar; type Bar = Foo; { }", "in terms of itself"),
        ("{ Bool b = case True { True(5) => False; }; }", "`True` has 0 arguments, not 1"),
        ("class C { Bool m() { return True; return False; } } { }", "never reached"),
        ("interface I { } { [Final] I i; i = null; }", "`i` is final"),
        ("class C { [Atomic] Unit n() { suspend; } } { }", "an atomic method cannot wait"),
        ("class C { Bool b = False; [Readonly] Unit m() { b = True; } } { }", "cannot change a field"),
        ("interface I { } [COG] class C implements I { } { I i = new local C(); }", "use `new`"),
        ("interface I { } [Plain] class C implements I { } { I i = new C(); }", "use `new local`"),
        ("class C { { duration(1, 1); } } { }", "cannot wait during its initialization"),
        ("def Rat f(Rat x) = x; { [Cost: f(False)] skip; }", "Bool"),
        ("interface I { } { [Nonnull] I i; }", "`i` is `Nonnull` and cannot be null"),
        ("interface I { } class C { Unit m([Nonnull] I i) { i = null; } } { }", "`i` is `Nonnull`"),
        ("interface I { } class C { [Nonnull] I i = null; } { }", "`i` is `Nonnull`"),
        ("interface I { Unit m([Nonnull] Int n); } { }", "`Int` is never null"),
        (
            "interface I { Unit m(I i); } class C implements I { Unit m([Nonnull] I i) { } } { }",
            "parameter 1 must not be `Nonnull`, like that of `m` in interface `I`",
        ),
        (
            "interface I { [Nonnull] I m(); } class C implements I { I m() { return this; } } { }",
            "the result must be `Nonnull`, like that of `m` in interface `I`",
        ),
        ("module M; interface M.I { } { }", "its name has no qualifier"),
        ("{ [DataSize: 5] skip; }", "not supported: bandwidth"),
    ];
    for (text, part) in wrong {
        let error = AbsProgram::parse("wrong.abs", text).map(drop).unwrap_err().to_string();
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(error.contains(part), "{text}\n{error}");
    }
}

//! Measures how many ABS statements run per CPU-second: `cargo run --release -p whippet-abs --example abs_speed`.
//!
//! All executed statements count, including those of undone executions. The last program is explored exhaustively, so
//! its rate includes the cost of going forward and back.

#![allow(clippy::print_stdout)]

use whippet_abs::AbsProgram;
use whippet_model::{Choice, Machine, Program};
use whippet_report::Meter;

/// A description and a program for each measurement.
const PROGRAMS: [(&str, &str); 3] = [
    ("a loop over local variables", "{ Int x = 0; while (x < 1000000) { x = x + 1; } }"),
    (
        "fields, calls of methods and functions, lists",
        "def Int twice(Int n) = n * 2;
         interface I { Int add(Int n); }
         class C implements I {
             Int sum = 0; List<Int> last = Nil;
             Int add(Int n) { sum = sum + twice(n); last = Cons(n, take(last)); return sum; }
             Int all() { Int k = 0; while (k < 100000) { Int s = this.add(k); k = k + 1; } return sum; }
             { Int s = this.all(); }
         }
         def List<Int> take(List<Int> l) = case l { Cons(a, Cons(b, _)) => list[a, b]; other => other; };
         { I i = new C(); }",
    ),
    (
        "eight tasks of ten loops in every order",
        "interface I { Unit m(Int n); }
         class C implements I { Int sum = 0; Unit m(Int n) { Int k = 0; while (k < 10) { k = k + 1; sum = (sum * n + k) % 1000; } } }
         { I i = new C(); Int n = 0; while (n < 8) { i!m(n); n = n + 1; } }",
    ),
];

fn main() {
    for (what, text) in PROGRAMS {
        let program =
            AbsProgram::parse("speed.abs", text).unwrap_or_else(|error| panic!("{error}")).statement_limit(u64::MAX);
        let mut machine = program.machine(&Default::default()).expect("a program that was checked has a machine");
        let meter = Meter::start();
        every_order(&mut machine);
        let seconds = meter.read().cpu_seconds;
        let million = machine.statements_run() as f64 / seconds / 1e6;
        println!("{million:5.1} million statements per CPU-second: {what}");
    }
}

fn every_order(machine: &mut impl Machine) {
    let mut choices: Vec<Choice> = Vec::new();
    machine.enabled(&mut choices).unwrap();
    let depth = machine.depth();
    for choice in choices {
        machine.execute(choice).expect("an enabled task can run");
        every_order(machine);
        machine.rewind(depth);
    }
}

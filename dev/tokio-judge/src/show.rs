//! Shows one program.

use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_judge::judge::{Limits, Search};
use tokio_judge::real;
use tokio_reference::{Granularity, Outcome, generate, outcomes, rust_test};
use whippet_search::Reduction;

/// Prints a program, and its outcomes and executions for each judge.
pub fn show(seed: u64, limits: &Limits, runs: u64) {
    let program = Arc::new(generate(seed));
    println!("{}", rust_test(&program));
    let coarse = outcomes(&program, Granularity::Coarse, limits.states);
    let fine = outcomes(&program, Granularity::Fine, limits.states);
    let none = BTreeSet::new();
    match &coarse {
        Some(coarse) => tell("reference, coarse", coarse, &none),
        None => println!("reference, coarse: more than {} states", limits.states),
    }
    match &fine {
        Some(fine) => tell("reference, fine, beyond those", fine, coarse.as_ref().unwrap_or(&none)),
        None => println!("reference, fine: more than {} states", limits.states),
    }
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Exhaustive] {
        for (merged, deep) in [(true, false), (false, false), (false, true)] {
            let search = Search { reduction, merged, deep, one_thread: false };
            show_search(&program, search, limits, coarse.as_ref());
        }
    }
    if runs > 0 {
        std::panic::set_hook(Box::new(|_| {}));
        let seen = real::outcomes(&real::runtime(), &program, runs, seed);
        println!("real tokio, {} runs, {} stuck:", seen.runs, seen.stuck);
        for (outcome, count) in &seen.outcomes {
            println!("    {count:6} × {outcome}");
        }
    }
}

fn show_search(
    program: &Arc<tokio_reference::Program>,
    search: Search,
    limits: &Limits,
    coarse: Option<&BTreeSet<Outcome>>,
) {
    let explored = match search.run(program, limits) {
        Ok(explored) => explored,
        Err(error) => return println!("{search}: {error}"),
    };
    let complete = if explored.complete { "" } else { " (incomplete)" };
    println!("{search}: {} executions, {} blocked{complete}", explored.executions, explored.blocked);
    let Some(coarse) = coarse else { return tell("  all", &explored.outcomes, &BTreeSet::new()) };
    tell("  beyond coarse", &explored.outcomes, coarse);
    tell("  missing of coarse", coarse, &explored.outcomes);
}

/// Prints those outcomes that are not among others.
fn tell(name: &str, all: &BTreeSet<Outcome>, without: &BTreeSet<Outcome>) {
    let rest: Vec<&Outcome> = all.difference(without).collect();
    println!("{name}: {}", rest.len());
    rest.iter().for_each(|outcome| println!("    {outcome}"));
}

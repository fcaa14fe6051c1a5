//! Compares `optimal` with `exhaustive` on generated programs: `generated [PROGRAMS] [SEED]`. A third argument
//! `bounded` bounds the number of early timers; `commute` instead swaps adjacent steps that touch no common object.
//!
//! Programs with too many executions to explore every order are not counted. A program that shows a difference is
//! minimized and printed, and the run ends with exit code 1.

#![expect(clippy::print_stdout, reason = "this is a command")]

use conformance::generated::{Early, Judged, Plan, commute, judge, shrink};
use std::process::ExitCode;

/// The number of differences after which the run stops.
const ENOUGH: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).map(|text| text.parse::<u64>().expect("numbers: PROGRAMS SEED"));
    let (programs, seed) = (number(0).unwrap_or(5_000), number(1).unwrap_or(1));
    // Panics are not printed here: a failed internal assertion is reported together with its plan.
    std::panic::set_hook(Box::new(|_| {}));
    let differences = match arguments.get(2).map(String::as_str) {
        None => compare(programs, seed, Early::Always),
        Some("bounded") => compare(programs, seed, Early::Seldom),
        Some("commute") => exchange(programs, seed),
        Some(other) => panic!("{other}: only `bounded` and `commute` are known"),
    };
    ExitCode::from(u8::from(differences > 0))
}

fn compare(programs: u64, seed: u64, early: Early) -> usize {
    let (mut compared, mut too_large, mut few, mut lost, mut all, mut differences) = (0, 0, 0, 0, 0, 0);
    let mut next = seed;
    while compared < programs && differences < ENOUGH {
        let plan = Plan::new(next);
        match judge(&plan, early) {
            Judged::Same { optimal, blocked, exhaustive } => {
                (few, lost, all) = (few + optimal, lost + blocked, all + exhaustive);
                compared += 1;
            }
            Judged::TooLarge => too_large += 1,
            Judged::Different(_) => {
                let (plan, difference) = shrink(&plan, early);
                println!("seed {next}: {plan:?}\n  {difference:?}");
                differences += 1;
            }
        }
        next += 1;
        if next.is_multiple_of(500) {
            println!("up to seed {next}: {compared} compared, {differences} differ, {too_large} too large");
        }
    }
    println!(
        "seeds {seed}..{next}: {compared} programs compared, {differences} differ, {too_large} too large; {few} executions of optimal and {lost} blocked, {all} of exhaustive"
    );
    differences
}

fn exchange(programs: u64, seed: u64) -> usize {
    let mut differences = 0;
    for next in seed..seed + programs {
        let Some(text) = commute(&Plan::new(next)) else { continue };
        let (mut plan, mut text) = (Plan::new(next), text);
        while let Some(found) = plan.smaller().into_iter().find_map(|plan| commute(&plan).map(|text| (plan, text))) {
            (plan, text) = found;
        }
        println!("seed {next}: {plan:?}\n  {text}");
        differences += 1;
        if differences == ENOUGH {
            break;
        }
    }
    println!("seeds {seed}..{}: {differences} differ", seed + programs);
    differences
}

//! Compares `optimal` with `exhaustive` on generated programs: `generated [PROGRAMS] [SEED]`.
//!
//! Programs that have too many executions for every order are left out of the number. Whatever differs is made
//! smaller, told, and ends the run with exit code 1.

#![expect(clippy::print_stdout, reason = "this is a command")]

use conformance::generated::{Judged, Plan, commute, judge, shrink};
use std::process::ExitCode;

/// How many differences are told before the run gives up.
const ENOUGH: usize = 5;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("numbers: PROGRAMS SEED"));
    let (programs, seed) = (numbers.next().unwrap_or(5_000), numbers.next().unwrap_or(1));
    let (mut compared, mut too_large, mut few, mut all, mut differences) = (0, 0, 0, 0, 0);
    let mut next = seed;
    // Assertions of ours are told with the plan that they fail on.
    std::panic::set_hook(Box::new(|_| {}));
    let check = std::env::var_os("CHECK").is_some();
    while compared < programs && differences < ENOUGH {
        let plan = Plan::new(next);
        if check {
            compared += 1;
            if let Some(mut text) = commute(&plan, 800) {
                let mut plan = plan;
                while let Some((p, t)) = plan.smaller().into_iter().find_map(|p| commute(&p, 3000).map(|t| (p, t))) {
                    (plan, text) = (p, t);
                }
                println!("seed {next}: {plan:?}\n  {text}");
                differences += 1;
            }
            next += 1;
            continue;
        }
        match judge(&plan) {
            Judged::Same { optimal, exhaustive } => {
                (few, all) = (few + optimal, all + exhaustive);
                compared += 1;
            }
            Judged::TooLarge => too_large += 1,
            Judged::Different(_) => {
                let (plan, difference) = shrink(&plan);
                println!("seed {next}: {plan:?}\n  {difference:?}");
                println!("  commute: {}", commute(&plan, 100_000).unwrap_or_default());
                differences += 1;
            }
        }
        next += 1;
    }
    println!(
        "seeds {seed}..{next}: {compared} programs compared, {differences} differ, {too_large} too large; {few} executions of optimal, {all} of exhaustive"
    );
    ExitCode::from(u8::from(differences > 0))
}

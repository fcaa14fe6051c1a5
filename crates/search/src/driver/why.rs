//! Explains a finding by the nearest execution that passes.
//!
//! Two dependent steps of the counterexample that could have come in the other order are a candidate. They are tried
//! from the end of the counterexample backwards: the steps before the earlier one, the steps after it that do not
//! depend on it, then the later one, then everything else in the old order and on to the end. If none of them helps,
//! another step of the program is tried before each step of the counterexample. The first execution that only has
//! warnings shows which decision matters.

use crate::driver::control::{Control, PathStep};
use crate::driver::replay::Walk;
use std::time::{Duration, Instant};
use whippet_model::{Branch, Clocks, Decides, Machine, MachineError, Name, Program, StepDescription, Trace};

/// The number of reversals that are tried.
const TRIES: usize = 200;

/// The time after which no further reversal is tried.
const PATIENCE: Duration = Duration::from_secs(1);

/// Finds the nearest execution without a problem, for the counterexample `path`. `described` has a description of each
/// step.
pub(crate) fn decides<P: Program>(
    program: &P,
    control: &Control,
    path: &[PathStep],
    described: &[StepDescription],
) -> Result<Option<Decides>, MachineError> {
    let began = Instant::now();
    let Some(walk) =
        Walk::of(program, control.explaining_worker(), path.iter().map(|step| (step.thread, step.branch)))?
    else {
        return Ok(None);
    };
    if walk.depth() > 2_000 {
        return Ok(None);
    }
    let clocks = walk.clocks();
    let pairs = (0..path.len()).rev().flat_map(|later| candidates(&clocks, later).map(move |earlier| (earlier, later)));
    for (earlier, later) in pairs.take(TRIES) {
        if began.elapsed() > PATIENCE {
            break;
        }
        if let Some(passing) = other_order(program, control, path, &clocks, earlier, later)? {
            let [first, second] = [earlier, later].map(|at| Some(at as u32));
            let text = consequence(&described[later], &described[earlier]);
            return Ok(Some(Decides { first, second, text, passing }));
        }
    }
    for at in (0..path.len()).rev().take(TRIES) {
        for other in alternatives(program, control, path, at)? {
            if began.elapsed() > PATIENCE {
                return Ok(None);
            }
            if let Some((steps, passing)) = other_step(program, control, path, at, other)? {
                let text = consequence(&steps[at], &described[at]);
                return Ok(Some(Decides { first: Some(at as u32), second: None, text, passing }));
            }
        }
    }
    Ok(None)
}

/// Returns the other steps that are possible before step `at` of the counterexample.
fn alternatives<P: Program>(
    program: &P,
    control: &Control,
    path: &[PathStep],
    at: usize,
) -> Result<Vec<(Name, Branch)>, MachineError> {
    let before = path[..at].iter().map(|step| (step.thread, step.branch));
    let Some(mut walk) = Walk::of(program, control.explaining_worker(), before)? else { return Ok(Vec::new()) };
    let mut enabled = walk.enabled()?;
    enabled.retain(|&(thread, _)| thread != path[at].thread);
    Ok(enabled)
}

/// Executes the counterexample up to step `at`, then another step, then on to the end. Returns the steps and the trace
/// if that shows no problem.
fn other_step<P: Program>(
    program: &P,
    control: &Control,
    path: &[PathStep],
    at: usize,
    other: (Name, Branch),
) -> Result<Option<(Vec<StepDescription>, Trace)>, MachineError> {
    let steps = path[..at].iter().map(|step| (step.thread, step.branch)).chain([other]);
    match Walk::of(program, control.explaining_worker(), steps)? {
        Some(walk) => passes(walk, path),
        None => Ok(None),
    }
}

/// Continues to the end. Returns the steps and the trace if the execution has no problem but warnings.
fn passes<M: Machine>(
    mut walk: Walk<M>,
    path: &[PathStep],
) -> Result<Option<(Vec<StepDescription>, Trace)>, MachineError> {
    walk.finish(path, 2 * path.len() + 1_000)?;
    if !walk.ends()? || walk.problems()?.iter().any(|problem| !problem.warning) {
        return Ok(None);
    }
    let steps = walk.describe_steps();
    let trace = walk.trace(&steps);
    Ok(Some((steps, trace)))
}

/// Says what would follow if `second` had come before `first`.
fn consequence(second: &StepDescription, first: &StepDescription) -> String {
    format!("If «{}» had come before «{}», all would hold.", told(second), told(first))
}

/// Describes a step with its sender.
fn told(step: &StepDescription) -> String {
    let from = step.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
    format!("{} {}{from}", step.actor, step.action)
}

/// Returns the earlier steps that `later` may be in a race with, the nearest first: conflicting steps, and all earlier
/// steps of the same actor.
fn candidates(clocks: &Clocks, later: usize) -> impl Iterator<Item = usize> {
    let mut earlier: Vec<usize> = clocks.races(later).iter().map(|&at| at as usize).collect();
    let mut own = clocks.previous(later);
    while let Some(at) = own {
        earlier.push(at);
        own = clocks.previous(at);
    }
    earlier.sort_unstable();
    earlier.dedup();
    earlier.into_iter().rev()
}

/// Executes the counterexample with two steps in the other order, to its end. Returns the trace if that is possible and
/// shows no problem.
fn other_order<P: Program>(
    program: &P,
    control: &Control,
    path: &[PathStep],
    clocks: &Clocks,
    earlier: usize,
    later: usize,
) -> Result<Option<Trace>, MachineError> {
    let independent = (earlier + 1..later).filter(|&at| !clocks.before(earlier, at));
    let first = (0..earlier).chain(independent).chain([later]);
    let steps: Vec<(Name, Branch)> = first.map(|at| (path[at].thread, path[at].branch)).collect();
    let Some(walk) = Walk::of(program, control.explaining_worker(), steps)? else { return Ok(None) };
    Ok(passes(walk, path)?.map(|(_, trace)| trace))
}

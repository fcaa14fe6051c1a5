//! Explains a finding by the nearest execution that passes.
//!
//! Two dependent steps of the counterexample that could have come in the other order are a candidate. They are tried
//! from the end of the counterexample backwards: the steps before the earlier one, the steps after it that do not
//! depend on it, then the later one, then everything else in the old order and on to the end. If none of them helps,
//! another step of the program is tried before each step of the counterexample: at once, or after all steps that do not
//! depend on the latter. The first execution that only has
//! warnings shows which decision matters.

use crate::driver::control::{Control, PathStep};
use crate::driver::erased::AnyProgram;
use crate::driver::replay::GuidedMachine;
use std::time::{Duration, Instant};
use whippet_model::{Branch, Clocks, Decides, MachineError, Name, StepDescription, Trace};

/// The number of reversals that are tried.
const TRIES: usize = 200;

/// The time after which no further reversal is tried.
const PATIENCE: Duration = Duration::from_secs(1);

/// Finds the nearest execution without a problem, for the counterexample `path`. `described` has a description of each
/// step.
pub(crate) fn decides(
    program: &dyn AnyProgram,
    control: &Control,
    path: &[PathStep],
    described: &[StepDescription],
) -> Result<Option<Decides>, MachineError> {
    let began = Instant::now();
    let Some(walk) =
        GuidedMachine::of(program, control.explaining_worker(), path.iter().map(|step| (step.thread, step.branch)))?
    else {
        return Ok(None);
    };
    if walk.depth() > 2_000 {
        return Ok(None);
    }
    let clocks = walk.clocks();
    // Executions beside each other would wait for each other's locks in statics.
    drop(walk);
    let pairs = (0..path.len()).rev().flat_map(|later| candidates(&clocks, later).map(move |earlier| (earlier, later)));
    // The steps of one thread have one order.
    let pairs = pairs.filter(|&(earlier, later)| path[earlier].thread != path[later].thread);
    for (earlier, later) in pairs.take(TRIES) {
        if began.elapsed() > PATIENCE {
            break;
        }
        if let Some(passing) = other_order(program, control, path, &clocks, earlier, later)? {
            let [first, second] = [earlier, later].map(|at| Some(at as u32));
            let text = consequence(&numbered(described, later), &numbered(described, earlier));
            return Ok(Some(
                Decides::default().with_first(first).with_second(second).with_text(text).with_passing(passing),
            ));
        }
    }
    // At last, steps that are not in the counterexample: at once, or as soon as everything has happened that does not
    // depend on the step that they come before. The latter is for messages that their receiver no longer accepted.
    let at_once = (0..path.len()).rev().map(|at| (at, (0..at).collect::<Vec<_>>()));
    let waiting = (0..path.len()).rev().map(|at| (at, (0..at).chain(independent(&clocks, at, path.len())).collect()));
    for (at, before) in at_once.take(TRIES).chain(waiting.take(TRIES)) {
        for other in alternatives(program, control, path, &before, at)? {
            if began.elapsed() > PATIENCE {
                return Ok(None);
            }
            let Some((steps, passing)) = other_step(program, control, path, &before, other)? else { continue };
            let step = &steps[before.len()];
            if before.len() == at || step.actor == described[at].actor {
                // It may be a later step of the counterexample.
                let later = (at + 1..described.len()).find(|&later| told(&described[later]) == told(step));
                let step = later.map_or_else(|| told(step), |later| numbered(described, later));
                let text = consequence(&step, &numbered(described, at));
                let decides = Decides::default().with_first(at as u32).with_second(later.map(|later| later as u32));
                return Ok(Some(decides.with_text(text).with_passing(passing)));
            }
        }
    }
    Ok(None)
}

/// Returns the steps after `at` and before `end` that do not depend on step `at`.
fn independent(clocks: &Clocks, at: usize, end: usize) -> impl Iterator<Item = usize> {
    (at + 1..end).filter(move |&later| !clocks.before(at, later))
}

/// Returns the steps that are possible after the steps `before` of the counterexample, other than step `at`.
fn alternatives(
    program: &dyn AnyProgram,
    control: &Control,
    path: &[PathStep],
    before: &[usize],
    at: usize,
) -> Result<Vec<(Name, Branch)>, MachineError> {
    let before = before.iter().map(|&at| (path[at].thread, path[at].branch));
    let Some(mut walk) = GuidedMachine::of(program, control.explaining_worker(), before)? else {
        return Ok(Vec::new());
    };
    let mut enabled = walk.enabled()?;
    enabled.retain(|&(thread, _)| thread != path[at].thread);
    Ok(enabled)
}

/// Executes the steps `before` of the counterexample, then another step, then on to the end. Returns the steps and the
/// trace if that shows no problem.
fn other_step(
    program: &dyn AnyProgram,
    control: &Control,
    path: &[PathStep],
    before: &[usize],
    other: (Name, Branch),
) -> Result<Option<(Vec<StepDescription>, Trace)>, MachineError> {
    let steps = before.iter().map(|&at| (path[at].thread, path[at].branch)).chain([other]);
    match GuidedMachine::of(program, control.explaining_worker(), steps)? {
        Some(walk) => passes(walk, path),
        None => Ok(None),
    }
}

/// Continues to the end. Returns the steps and the trace if the execution has no problem but warnings.
fn passes(mut walk: GuidedMachine, path: &[PathStep]) -> Result<Option<(Vec<StepDescription>, Trace)>, MachineError> {
    walk.finish(path, 2 * path.len() + 1_000)?;
    if !walk.ends()? || walk.problems()?.iter().any(|problem| !problem.warning) {
        return Ok(None);
    }
    let steps = walk.describe_steps();
    let trace = walk.trace(&steps);
    Ok(Some((steps, trace)))
}

/// Says what would follow if `second` had come before `first`.
fn consequence(second: &str, first: &str) -> String {
    format!("If {second} had come before {first}, all would hold.")
}

/// Describes step `at` with its number, if another step has the same description.
fn numbered(described: &[StepDescription], at: usize) -> String {
    let text = told(&described[at]);
    let same = described.iter().filter(|step| told(step) == text).count();
    if same > 1 { format!("{text} (step {})", at + 1) } else { text }
}

/// Describes a step with its sender.
fn told(step: &StepDescription) -> String {
    let from = step.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
    format!("«{} {}{from}»", step.actor, step.action)
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
fn other_order(
    program: &dyn AnyProgram,
    control: &Control,
    path: &[PathStep],
    clocks: &Clocks,
    earlier: usize,
    later: usize,
) -> Result<Option<Trace>, MachineError> {
    let first = (0..earlier).chain(independent(clocks, earlier, later)).chain([later]);
    let steps: Vec<(Name, Branch)> = first.map(|at| (path[at].thread, path[at].branch)).collect();
    let Some(walk) = GuidedMachine::of(program, control.explaining_worker(), steps)? else { return Ok(None) };
    Ok(passes(walk, path)?.map(|(_, trace)| trace))
}

//! Finds the detours that an execution is responsible for.

use super::default::{DefaultTouches, is_narrow, names_of_branches};
use super::grow::Growth;
use super::path::Path;
use crate::driver::parts::{Mark, Part};
use crate::driver::run::{Run, Stop};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use whippet_model::{Branch, Machine, Name, Pending};

/// A step that a thread takes on the path, or would take next in the end.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) thread: Name,
    /// The position of the step, if it was taken.
    at: Option<usize>,
    /// The step that made it pending, with its past.
    needs: SmallVec<[usize; 2]>,
    /// `true` if the step was taken, and the thread had no other branch after the same past.
    only_branch: bool,
}

/// Appends a part for each detour that the execution on the path is responsible for, the deepest ones first. The machine has taken
/// the whole path, and is left somewhere on it.
pub(crate) fn find<M: Machine>(run: &mut Run<'_, M>, path: &Path, out: &mut Vec<Part>) -> Result<(), Stop> {
    let operations = operations(run.machine(), path);
    // The heads of detours and the other branches that come after a default.
    let mut later: Vec<usize> = Vec::new();
    for at in (0..path.len()).rev() {
        match path.marks[at] {
            Mark::Head { .. } | Mark::Other => later.push(at),
            Mark::Plain if !later.iter().any(|&head| path.record.clocks.before(at, head)) => {
                find_instead_of(run, path, at, &later, &operations, out)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists the steps that threads took on the path, and those that threads would take next in the end.
fn operations<M: Machine>(machine: &M, path: &Path) -> Vec<Operation> {
    let sent = |at: usize| machine.sent(at).map(move |what| (machine.thread(Pending(what)), at));
    let senders: FxHashMap<Name, usize> = (0..path.len()).flat_map(sent).collect();
    let mut last: FxHashMap<Name, usize> = FxHashMap::default();
    let (mut operations, mut causes, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..path.len() {
        let step = &path.record.steps[at];
        let (thread, event) = (step.event.thread, &step.event);
        let only_branch = !step.several && event.next.is_none() && event.branch == Branch::FIRST;
        let needs = match last.insert(thread, at).or_else(|| senders.get(&thread).copied()) {
            Some(step) => SmallVec::from_slice(&[step]),
            None => {
                causes.clear();
                machine.causes(at, &mut causes);
                SmallVec::from_slice(&causes)
            }
        };
        operations.push(Operation { thread, at: Some(at), needs, only_branch });
    }
    machine.pending(&mut pending);
    for thread in pending.into_iter().map(|what| machine.thread(what)) {
        let needs = last.get(&thread).or_else(|| senders.get(&thread)).copied().into_iter().collect();
        operations.push(Operation { thread, at: None, needs, only_branch: false });
    }
    operations
}

/// Appends the detours that avoid the default at `at`.
fn find_instead_of<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    at: usize,
    later: &[usize],
    operations: &[Operation],
    out: &mut Vec<Part>,
) -> Result<(), Stop> {
    let touches = DefaultTouches::of_step(run, path, at)?;
    let mut branches = Vec::new();
    if is_narrow(run.profile()) {
        run.rewind(at);
        branches = names_of_branches(run, path.event(at).thread)?;
    }
    for operation in operations {
        let Some((first, allowed)) = sets(run, path, at, later, operation) else { continue };
        run.rewind(at);
        let mut names = path.record.names.clone();
        names.truncate(at);
        let mut growth = Growth {
            path,
            at,
            touches: &touches,
            branches: &branches,
            thread: operation.thread,
            names,
            out,
            unknown: 0,
        };
        growth.go_to(run, &first)?;
        growth.grow(run, &first, allowed)?;
        run.rewind(at);
    }
    Ok(())
}

/// Returns the steps that must precede an operation in a detour from `at`, and for each step of the path whether it may.
/// Returns `None` if there is no such detour.
fn sets<M: Machine>(
    run: &Run<'_, M>,
    path: &Path,
    at: usize,
    later: &[usize],
    operation: &Operation,
) -> Option<(Vec<usize>, Vec<bool>)> {
    let clocks = &path.record.clocks;
    let is_apart = |step: usize| step > at && !clocks.before(at, step);
    let is_late = operation.at.is_some_and(|position| position <= at);
    if is_late || !operation.needs.iter().all(|&step| step < at || is_apart(step)) {
        return None;
    }
    let required = |step: usize| later.iter().chain(&operation.needs).any(|&other| clocks.before(step, other));
    let first: Vec<usize> = (at + 1..path.len()).filter(|&step| required(step)).collect();
    if let Some(position) = operation.at {
        // The past of the step that was taken does not contain the default. So if it is in the set already, the operation is
        // this step, whatever else is in the set.
        let is_first = |step: usize| step <= at || step == position || first.binary_search(&step).is_ok();
        let is_known = operation.only_branch && is_apart(position) && !is_narrow(run.profile());
        if clocks.before(position, *first.last().unwrap_or(&at)) || first.contains(&position) {
            return None;
        }
        if is_known && clocks.past_steps(position).all(is_first) {
            return None;
        }
    }
    let follows = |step: usize| operation.at.is_some_and(|position| clocks.before(position, step));
    let allowed: Vec<bool> = (0..path.len()).map(|step| is_apart(step) && !follows(step)).collect();
    first.iter().all(|&step| allowed[step]).then_some((first, allowed))
}

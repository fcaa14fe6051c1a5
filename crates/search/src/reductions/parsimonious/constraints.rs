//! Decides whether an event violates a constraint of a detour.

use super::detours::{is_narrow, listed};
use super::path::{Constraint, Path};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::EventLabel;
use whippet_model::{Choice, Machine, conflict};

/// Returns `true` if the newest step of the path violates a constraint.
pub(crate) fn forbid_newest<M: Machine>(run: &mut Run<'_, M>, path: &Path) -> Result<bool, Stop> {
    let at = path.len() - 1;
    let event = path.event(at).clone();
    let forbidden = forbid(run, path, &event, at, |base| base..at, |step| path.record.clocks.before(step, at))?;
    path.go(run, path.len())?;
    Ok(forbidden)
}

/// Returns `true` if an event violates a constraint of a detour whose head is before `limit`. `steps` are the steps taken
/// from a depth on, and `happens_before` says which of them are in the past of the event. May leave the machine elsewhere.
pub(crate) fn forbid<M: Machine, I: Iterator<Item = usize>>(
    run: &mut Run<'_, M>,
    path: &Path,
    event: &EventLabel,
    limit: usize,
    steps: impl Fn(usize) -> I,
    happens_before: impl Fn(usize) -> bool,
) -> Result<bool, Stop> {
    for constraint in path.constraints.iter().filter(|constraint| constraint.head < limit) {
        let of_thread = |&step: &usize| path.event(step).thread == constraint.against;
        let past = || steps(constraint.base).filter(|&step| happens_before(step));
        if event.thread == constraint.against && !steps(constraint.base).any(|step| of_thread(&step)) {
            if past().next().is_none() {
                return Ok(true);
            }
            continue;
        }
        if event.thread >= path.event(constraint.head).thread
            || past().any(|step| of_thread(&step) || conflict(&constraint.touches.all, &path.event(step).touches))
        {
            continue;
        }
        if conflict(&constraint.touches.all, &event.touches)
            || is_narrow(run.profile()) && opens(run, path, constraint, event, past())?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if an event is the first of its past that changes the branches of the default at the constraint's base.
fn opens<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    constraint: &Constraint,
    event: &EventLabel,
    past: impl Iterator<Item = usize>,
) -> Result<bool, Stop> {
    let past: Vec<usize> = past.collect();
    run.rewind(constraint.base);
    path.go(run, constraint.base)?;
    let opens = opens_there(run, path, constraint, event, &past);
    run.rewind(constraint.base);
    opens
}

fn opens_there<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    constraint: &Constraint,
    event: &EventLabel,
    past: &[usize],
) -> Result<bool, Stop> {
    let before = listed(run, constraint.against)?;
    for &step in past {
        let event = path.event(step);
        let what = run.machine().find(event.thread).expect("our bug: an independent step has vanished");
        run.redo(Choice { what, branch: event.branch })?;
        if listed(run, constraint.against)? != before {
            return Ok(false);
        }
    }
    let what = run.machine().find(event.thread).expect("our bug: an event has vanished");
    run.redo(Choice { what, branch: event.branch })?;
    Ok(listed(run, constraint.against)? != before)
}

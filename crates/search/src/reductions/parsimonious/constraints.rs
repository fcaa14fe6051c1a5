//! Decides whether an event violates a constraint of a detour.
//!
//! A detour from the configuration π avoids a default of the thread p. Behind π,
//! * the next step of p must happen after another event: otherwise it could have been the first one;
//! * no event of a thread with a lower name than the head's may affect p, unless it happens after another event that affects
//!   p, or after the next step of p: otherwise it would have been the head. So the rank of an event is the name of its thread.
//!
//! Both depend only on the event and its past. So what follows an event that violates a constraint violates it too.

use super::default::{is_narrow, names_of_branches};
use super::path::{Constraint, Path};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::EventLabel;
use whippet_model::{Choice, Machine, conflict};

/// Returns `true` if the newest step of the path violates a constraint.
pub(crate) fn forbid_newest<M: Machine>(run: &mut Run<'_, M>, path: &Path) -> Result<bool, Stop> {
    if path.constraints.is_empty() {
        return Ok(false);
    }
    let at = path.len() - 1;
    let event = path.event(at).clone();
    let forbidden = forbid(run, path, &event, at, |base| base..at, |step| path.record.clocks.before(step, at))?;
    path.go(run, path.len())?;
    Ok(forbidden)
}

/// Returns `true` if an event violates the constraint of a detour whose head is before `limit`. `steps` gives the steps taken
/// from a depth on, and `happens_before` says which of them are in the past of the event. May move the machine back.
pub(crate) fn forbid<M: Machine, I: Iterator<Item = usize>>(
    run: &mut Run<'_, M>,
    path: &Path,
    event: &EventLabel,
    limit: usize,
    steps: impl Fn(usize) -> I,
    happens_before: impl Fn(usize) -> bool,
) -> Result<bool, Stop> {
    for constraint in path.constraints.iter().filter(|constraint| constraint.head < limit) {
        let of_thread = |step: usize| path.event(step).thread == constraint.against;
        let past = || steps(constraint.base).filter(|&step| happens_before(step));
        let forbidden = if event.thread == constraint.against && !steps(constraint.base).any(of_thread) {
            past().next().is_none()
        } else if event.thread >= path.event(constraint.head).thread
            || past().any(|step| of_thread(step) || conflict(&constraint.touches.all, &path.event(step).touches))
        {
            false
        } else {
            conflict(&constraint.touches.all, &event.touches)
                || is_narrow(run.profile())
                    && changes_branches(run, path, constraint, event, &past().collect::<Vec<_>>())?
        };
        if forbidden {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if an event, but none of its past, changes which branches the thread has that a detour avoids.
fn changes_branches<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    constraint: &Constraint,
    event: &EventLabel,
    past: &[usize],
) -> Result<bool, Stop> {
    run.rewind(constraint.base);
    path.go(run, constraint.base)?;
    let before = names_of_branches(run, constraint.against)?;
    for &step in past {
        path.retake(run, step)?;
    }
    let mut changes = names_of_branches(run, constraint.against)? == before;
    if changes {
        let what = run.machine().find(event.thread).expect("our bug: an event has vanished");
        run.redo(Choice { what, branch: event.branch })?;
        changes = names_of_branches(run, constraint.against)? != before;
    }
    run.rewind(constraint.base);
    Ok(changes)
}

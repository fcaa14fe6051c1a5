//! Waits that complete as merged events, in the step that makes them ready: case 1 of the lemma in `merging.rs`.

use crate::execution::{Execution, NONE};
use crate::merging::is_merged;
use crate::points::Merge;
use crate::readiness::looks;
use crate::waiting::{UnobservedWait, Wait, WaitTarget};
use smallvec::SmallVec;
use whippet_model::{Name, Touch};

/// The number of merged events of a task in a row after which it takes a step of its own, so that a task which always
/// finds something ready (the end of a closed channel) does not run for ever in one step.
const MOST: u32 = 1_000;

/// A wait that can complete as a merged event: see [`pass`].
#[derive(Copy, Clone)]
pub(crate) struct PendingGrant {
    watched: Name,
    freed: Option<Name>,
    task: u32,
    wait: u32,
}

/// Completes the wait of the running task at once if it is ready and can complete as a merged event (case 1 of the
/// lemma in `merging.rs`); returns `true` then. The following operations of the task happen after the steps that made the wait ready. If the wait is not
/// ready yet, it is recorded in [`Execution::pending_grants`], and completes within the step that makes it ready.
///
/// A task that waits for several objects reads all of these: it would have continued with another one if that had
/// been ready first.
pub(crate) fn pass(x: &mut Execution) -> bool {
    if x.facts.is_over() || x.counters.merged > MOST {
        return false;
    }
    let number = x.running() as usize;
    let task = &x.tasks[number];
    let pending = match &task.waits[..] {
        [wait] if task.is_live(wait) && (task.polling.is_blocked || !x.is_marked(task.name)) => pending_grant(x, wait),
        _ if x.waits_for_several(number) => return pass_by_one_of_several(x),
        _ => task.live_waits().next().and_then(|wait| pending_grant(x, wait)),
    };
    let Some(pending) = pending else { return false };
    complete_if_ready(x, pending) || {
        x.pending_grants.push(pending);
        x.task().pending_grants = 1;
        false
    }
}

fn pass_by_one_of_several(x: &mut Execution) -> bool {
    let number = x.running();
    let (known, task) = (x.pending_grants.len(), &x.tasks[number as usize]);
    // An abort ends the wait too.
    let mut all = task.polling.is_blocked || !x.is_marked(task.name);
    for k in 0..task.waits.len() {
        let task = &x.tasks[number as usize];
        if !all || !task.is_live(&task.waits[k]) {
            continue;
        }
        match pending_grant(x, &task.waits[k]) {
            Some(pending) => x.pending_grants.push(pending),
            None => all = false,
        }
    }
    if !all {
        x.pending_grants.truncate(known);
        note_together(x, number);
        return false;
    }
    x.task().pending_grants = (x.pending_grants.len() - known) as u32;
    let passes = (known..x.pending_grants.len()).any(|k| complete_if_ready(x, x.pending_grants[k]));
    if passes {
        forget_pending_grants(x, number);
    }
    passes
}

/// Returns the record for a wait of the running task, if the wait can complete as a merged event.
#[inline]
fn pending_grant(x: &Execution, wait: &Wait) -> Option<PendingGrant> {
    let WaitTarget::Object(source, key) = &wait.on else { return None };
    let UnobservedWait { watched, freed } =
        source.unobserved(*key).filter(|_| wait.foreign.is_none() && !wait.polled.exact)?;
    debug_assert_eq!(wait.action.point.row().merge, Merge::Take, "{:?} may not be merged", wait.action.point);
    let is_marked = |name| x.is_marked(name);
    let seen = x.facts.every_event || is_marked(watched) || freed.is_some_and(is_marked);
    (!seen).then_some(PendingGrant { watched, freed, task: x.running(), wait: wait.id })
}

/// Completes a recorded wait as a merged event if it is ready and no other wait of its task is. Returns `true` if it
/// does.
#[inline]
fn complete_if_ready(x: &mut Execution, pending: PendingGrant) -> bool {
    let task = &*x.tasks[pending.task as usize];
    let Some(at) = task.waits.iter().position(|wait| wait.id == pending.wait) else { return false };
    task.interrupts.woken.is_none() && x.is_ready(&task.waits[at].on) && take(x, pending, at)
}

/// Completes wait `at` of a task as a merged event, unless another of the task's waits is ready too.
#[inline(never)]
fn take(x: &mut Execution, pending: PendingGrant, at: usize) -> bool {
    let task = &*x.tasks[pending.task as usize];
    let several = task.waits.len() > 1;
    if several && task.live_waits().any(|other| other.id != pending.wait && x.is_ready(&other.on)) {
        note_together(x, pending.task);
        return false;
    }
    let wait = &task.waits[at];
    if let WaitTarget::Object(source, key) = &wait.on {
        source.causes(*key, &mut x.scratch);
    }
    if x.step != NONE && !x.record.known {
        x.record.told.push((pending.task, wait.action));
    }
    let mut causes = std::mem::take(&mut x.scratch);
    if several {
        let of_task = x.pending_grants.iter().filter(|other| other.task == pending.task);
        let apart: SmallVec<[Name; 4]> = of_task.map(|pending| pending.watched).collect();
        x.merge(pending.task, &causes, apart);
        look_at_others(x, pending);
    } else {
        x.merge(pending.task, &causes, [pending.watched]);
    }
    if let Some(log) = &mut x.log {
        log.takes(&causes);
    }
    let task = &mut *x.tasks[pending.task as usize];
    (task.grant, task.past.taking) = (pending.wait, true);
    for &cause in &causes {
        if !is_merged(cause) && !task.past.after.contains(&cause) {
            task.past.after.push(cause);
        }
    }
    causes.clear();
    x.scratch = causes;
    if let Some(freed) = pending.freed
        && !x.record.known
    {
        x.merging.events.touch(pending.task, Touch::add(freed));
    }
    true
}

/// Adds reads of the other waits, which the task has seen not to be ready.
fn look_at_others(x: &mut Execution, pending: PendingGrant) {
    if x.record.known {
        return;
    }
    let task = &x.tasks[pending.task as usize];
    for wait in task.live_waits().filter(|wait| wait.id != pending.wait) {
        looks(&wait.on, |touch| x.merging.events.touch(pending.task, touch));
    }
}

/// Returns the next task that the running step allows to continue without an event. `seen` counts the entries of
/// `record.enables` that were examined.
pub(crate) fn next_to_pass(x: &mut Execution, seen: &mut usize) -> Option<u32> {
    while let Some(&enabled) = x.record.enables.get(*seen) {
        *seen += 1;
        for k in 0..x.pending_grants.len() {
            if x.pending_grants[k].watched == enabled && complete_if_ready(x, x.pending_grants[k]) {
                let task = x.pending_grants[k].task;
                // A single entry is removed here, without a search.
                if x.tasks[task as usize].pending_grants == 1 {
                    x.tasks[task as usize].pending_grants = 0;
                    x.pending_grants.swap_remove(k);
                }
                return Some(task);
            }
        }
    }
    None
}

/// Removes the recorded waits of a task that continues.
#[inline]
pub(crate) fn forget_pending_grants(x: &mut Execution, number: u32) {
    for _ in 0..std::mem::take(&mut x.tasks[number as usize].pending_grants) {
        let at = x
            .pending_grants
            .iter()
            .position(|pending| pending.task == number)
            .expect("they are noted until it goes on");
        x.pending_grants.swap_remove(at);
    }
}

/// Learns the objects that a task waits for together.
fn note_together(x: &mut Execution, number: u32) {
    if x.record.known {
        return;
    }
    let mut waits: SmallVec<[Name; 4]> = SmallVec::new();
    let mut watched = SmallVec::new();
    let mut foreign = 0;
    for wait in x.tasks[number as usize].live_waits() {
        foreign += usize::from(wait.foreign.is_some());
        if let WaitTarget::Object(source, key) = &wait.on {
            watched.clear();
            source.watched(*key, &mut watched);
            waits.push(watched[0]);
        }
    }
    // Futures that poll only woken children depend on the order of the wakes.
    if foreign > 1 {
        x.learning.together(&x.facts.refinements, &waits);
    }
    for &name in &waits {
        x.mark(name);
    }
}

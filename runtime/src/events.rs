//! The interface for shims: scheduling points, footprints, and the waits that an operation makes ready.
//!
//! All functions apply to the task that is running on this thread. Outside a task they do nothing.

use crate::current::{in_task, with_current, with_facts, with_running};
use crate::drive::{abandon, suspend_in_poll};
use crate::ending::Sent;
use crate::execution::{Execution, NONE, Steps};
use crate::object::Action;
use crate::points::{Merge, Point};
use crate::task::State;
use whippet_model::{Name, Touch};

/// Returns the number of the execution that runs on this thread, or 0 outside an execution.
#[must_use]
#[inline]
pub fn execution_id() -> u64 {
    with_facts(|facts| facts.id()).unwrap_or(0)
}

/// Returns the number of the running task, or [`NONE`] outside a task.
#[inline]
pub(crate) fn running_task() -> u32 {
    with_facts(|facts| facts.running()).unwrap_or(NONE)
}

/// Returns `true` if a task of an execution is running on this thread and its operations are events.
#[must_use]
#[inline]
pub fn is_live() -> bool {
    with_facts(|facts| facts.running() != NONE && !facts.is_over()).unwrap_or(false)
}

/// Returns `true` if the execution is over and its tasks are being dropped: operations then do nothing.
#[must_use]
#[inline]
pub fn is_over() -> bool {
    with_facts(|facts| facts.is_over()).unwrap_or(false)
}

/// The way in which a task continues that comes to an event.
enum Next {
    /// It performs the operation.
    Perform,
    /// It is suspended.
    Suspend,
    /// It is suspended permanently, because its execution is impossible.
    Abandon,
}

impl Next {
    fn follow(self) {
        match self {
            Next::Perform => {}
            Next::Suspend => suspend_in_poll(),
            Next::Abandon => abandon(),
        }
    }
}

/// Prepares the running task for an event, which `merge` performs at once or delays by [`Next::Suspend`].
#[inline]
fn come_to_event(x: &mut Execution, merge: impl FnOnce(&mut Execution) -> Next) -> Next {
    if x.facts.is_over() || std::thread::panicking() {
        return Next::Perform;
    }
    x.comes_to_event();
    if x.ending.impossible { Next::Abandon } else { merge(x) }
}

/// Suspends the running task before an event, until the search schedules it. Scheduling point. The caller then
/// reports the footprint with [`read`] and [`write()`]. A task that unwinds from a panic is not suspended.
pub fn event(action: Action) {
    let next = with_running(|x| {
        come_to_event(x, |x| {
            x.task().state = State::Event(action);
            Next::Suspend
        })
    });
    match next {
        Some(next) => next.follow(),
        None => crate::foreign_threads::about_to(action),
    }
}

/// Like [`event`], but merged into the running step unless `apart` or one of `watched` needs its own event. `apart`
/// is learnt if another task can interleave between this operation and the previous one of its task. `watched` are
/// the objects whose waiters the operation may enable; they are learnt if a task waits for one of them together with
/// other objects. For operations that disable no other task: reads (case 3 of the lemma in `merging.rs`), and closing
/// (case 4).
pub fn mergeable_event(action: Action, apart: Name, watched: &[Name]) {
    debug_assert!(
        matches!(action.point.row().merge, Merge::Read | Merge::Close),
        "{:?} may not be merged",
        action.point
    );
    let next = with_running(|x| {
        let is_apart = x.facts.every_event || x.is_marked(apart) || watched.iter().any(|&name| x.is_marked(name));
        come_to_event(x, |x| {
            if is_apart {
                x.task().state = State::Event(action);
                return Next::Suspend;
            }
            x.merge(x.running(), &[], [apart]);
            if x.notes() && action.point != Point::BeginsToSelect {
                x.record.told.push((x.running(), action));
            }
            Next::Perform
        })
    });
    match next {
        Some(next) => next.follow(),
        None => crate::foreign_threads::about_to(action),
    }
}

/// Replaces the description of the running step.
pub(crate) fn retell(action: Action) {
    with_running(|x| {
        if x.facts.is_over() {
        } else if !x.task().past.taking {
            x.record.action = Some(action);
        } else if let Some((_, told)) = x.record.told.last_mut() {
            *told = action;
        }
    });
}

/// Returns the number of the step being taken, for later use in [`Ready::since`](crate::Ready::since).
#[must_use]
#[inline]
pub fn this_step() -> u32 {
    with_current(|x| x.step).unwrap_or(NONE)
}

/// Records that the running step reads `name`.
#[inline]
pub fn read(name: Name) {
    with_current(|x| x.touch(Touch::read(name)));
}

/// Records that the running step writes `name`, or that its order relative to other writes matters.
#[inline]
pub fn write(name: Name) {
    with_current(|x| x.touch(Touch::write(name)));
}

/// Records that the running step sends to `queue`, and would do so even without the earlier sends to it.
pub fn appends(queue: Name) {
    with_current(|x| x.record.appends = Some(queue).filter(|_| !x.record.waited));
}

/// Returns a name for an item that the running step sends. It does not depend on the point within the step.
#[must_use]
pub fn new_item() -> Name {
    with_current(|x| x.record.new_item()).unwrap_or(Name::ROOT)
}

/// Records that the running step, or the given merged operation in it, sends `item`, which is expected to be
/// received.
#[inline]
pub fn sent(item: Name, merged: Option<Action>) {
    with_current(|x| {
        if x.untaken.keeps
            && !x.facts.is_over()
            && let Some(action) = merged.or(x.record.action)
        {
            let step = x.step;
            x.untaken.sent.push(Sent { item, action, step });
        }
    });
}

/// Records that the running step receives `item`.
#[inline]
pub fn taken(item: Name) {
    with_current(|x| {
        if x.untaken.keeps && !x.facts.is_over() {
            x.untaken.sent.retain(|sent| sent.item != item);
        }
    });
}

/// Records that the running step makes waits for `watched` ready with `item`. A step that takes this item and could
/// have taken another one depends on it.
#[inline]
pub fn enables(watched: Name, item: Name) {
    with_current(|x| {
        if x.facts.is_over() {
            return;
        }
        x.record.enables.push(watched);
        x.wakes.enable();
        if x.record.known {
            return;
        }
        if x.is_marked(watched) {
            x.touch(Touch::write(item));
        }
        if let Some(group) = x.facts.refinements.of(watched) {
            x.touch(Touch::write(group));
        }
    });
}

/// Records that an object that was ready may not be ready after the running step, although no task has taken it.
pub fn recalls() {
    with_current(|x| x.record.recalls = true);
}

/// Records that the running step is one of several that together, in any order, make waits for `watched` ready.
pub fn contributes(watched: Name, to: Name) {
    with_current(|x| {
        if x.facts.is_over() {
            return;
        }
        x.record.enables.push(watched);
        x.wakes.enable();
        x.touch(Touch::add(to));
        if let Some(group) = x.facts.refinements.of(watched) {
            x.touch(Touch::write(group));
        }
    });
}

/// Records that the running event has requested an item, which is `ready` or has to be awaited. The request counts as
/// the first check of the wait that is registered next.
pub fn has_asked(ready: bool) {
    with_running(|x| x.task().polling.asks = Some(ready));
}

/// Returns `true` if the program that runs declares a runtime with several threads.
#[must_use]
pub fn declares_threads() -> bool {
    with_facts(|facts| facts.declares_threads).unwrap_or(true)
}

/// Returns `true` if no operation is merged: [`Settings::every_event`](crate::Settings::every_event).
#[must_use]
pub(crate) fn is_every_event() -> bool {
    with_facts(|facts| facts.running() != NONE && facts.every_event).unwrap_or(false)
}

/// Returns `true` if other tasks may come in between any two operations: see [`Settings::deep`](crate::Settings::deep).
#[inline]
pub(crate) fn is_preempted() -> bool {
    with_facts(|facts| facts.running() != NONE && facts.deep && !facts.is_over()).unwrap_or(false)
}

/// Returns `true` if `point`, the next operation of the running task, which affects waiters for `watched`, needs its own
/// event. Otherwise it is recorded as a merged event with additions to all of `seen_in`, and belongs to the running
/// step; that is possible as long as causes order it with every access of other tasks to `seen_in` (case 2 of the lemma
/// in `merging.rs`).
#[must_use]
pub fn needs_own_event(point: Point, watched: Name, seen_in: &[Name]) -> bool {
    debug_assert_eq!(point.row().merge, Merge::Add, "{point:?} may not be merged");
    // Outside a task, the caller reports the operation by `event`, which detects foreign threads (`foreign_threads.rs`).
    let apart = with_running(|x| {
        let is_apart = x.facts.every_event || x.is_marked(watched) || seen_in.iter().any(|&name| x.is_marked(name));
        if is_apart || x.facts.is_over() {
            return Ok(is_apart);
        }
        x.comes_to_event();
        if x.ending.impossible && !std::thread::panicking() {
            return Err(Next::Abandon);
        }
        x.merge(x.running(), &[], seen_in.iter().copied());
        if !x.record.known {
            let running = x.running();
            seen_in.iter().for_each(|&name| x.merging.events.touch(running, Touch::add(name)));
        }
        Ok(false)
    });
    match apart {
        None => true,
        Some(Ok(apart)) => apart,
        Some(Err(next)) => {
            next.follow();
            false
        }
    }
}

/// Returns `true` if the running task receives an item in a merged event, or has done so since it was suspended.
pub(crate) fn is_taking() -> bool {
    with_running(|x| x.task().past.taking).unwrap_or(false)
}

/// Records that the running task makes waits for `watched` ready in a merged event.
#[inline]
pub fn enables_merged(watched: Name) {
    with_current(|x| {
        if !x.facts.is_over() {
            x.record.enables.push(watched);
            x.wakes.enable();
        }
    });
}

/// Adds the description of a merged operation of the running task to the step.
#[inline]
pub fn tell(action: Action) {
    with_running(|x| {
        if x.notes() {
            x.record.told.push((x.running(), action));
        }
    });
}

/// Returns the steps and merged events that happen before the current operation of the running task.
#[must_use]
#[inline]
pub fn before_this() -> Steps {
    with_running(|x| x.task().before()).unwrap_or_default()
}

/// Removes step `old`, from which the running task has received an item, from the task's causes: the task now receives
/// an item of the later step `new`, which happens after `old`.
#[inline]
pub(crate) fn supersedes(old: u32, new: u32) {
    if old != new {
        with_running(|x| x.task().past.after.retain(|step| *step != old));
    }
}

/// Learns a refinement about `name` for all executions. If it is new, the search restarts.
pub fn learn(name: Name) {
    if is_live() {
        in_task(|x| x.mark(name));
    }
}

/// Returns `true` if [`learn`] was called with `name` in an earlier execution of this search. Always `true` with
/// [`Settings::deep`](crate::Settings::deep).
#[must_use]
pub fn is_learnt(name: Name) -> bool {
    with_facts(|facts| facts.running() != NONE && (facts.deep || facts.refinements.is_marked(name))).unwrap_or(false)
}

/// Returns `true` if `name` was learnt, as [`is_learnt`] does, also where no task is running.
pub(crate) fn knows(name: Name) -> bool {
    with_facts(|facts| facts.refinements.is_marked(name)).unwrap_or(false)
}

/// Returns a choice of the search among `ways` branches.
#[must_use]
pub fn choose(ways: u32) -> u32 {
    if is_live() { in_task(|x| x.choose(ways)) } else { 0 }
}

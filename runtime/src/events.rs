//! The interface for shims: scheduling points, footprints, and the waits that an operation makes ready.
//!
//! All functions apply to the task that is running on this thread. Outside a task they do nothing.

use crate::execution::{NONE, Sent, Steps, current, running};
use crate::object::Action;
use crate::selects::BEGINS;
use crate::task::State;
use whippet_model::{Name, Touch};

/// Returns the number of the execution that runs on this thread, or 0 outside an execution.
#[must_use]
#[inline]
pub fn execution_id() -> u64 {
    current().map_or(0, |x| x.id)
}

/// Returns `true` if a task of an execution is running on this thread and its operations are events.
#[must_use]
#[inline]
pub fn is_live() -> bool {
    running().is_some_and(|x| !x.muted)
}

/// Returns `true` if the execution is over and being cleared away.
#[must_use]
#[inline]
pub fn is_over() -> bool {
    current().is_some_and(|x| x.muted)
}

/// Suspends the running task before an event, until the search schedules it. Scheduling point. The caller then
/// reports the footprint with [`read`] and [`write()`]. A task that unwinds from a panic is not suspended.
pub fn event(action: Action) {
    let Some(x) = running() else { return crate::strays::about_to(action) };
    if x.muted || std::thread::panicking() {
        return;
    }
    x.comes_to_event();
    if x.impossible {
        crate::task::abandon();
    }
    x.task().state = State::Event(action);
    crate::task::suspend();
}

/// Like [`event`], but merged into the running step unless `apart` or one of `watched` needs its own event. `apart`
/// is learnt if another task can interleave between this operation and the previous one of its task. `watched` are
/// the objects whose waiters the operation may enable; they are learnt if a task waits for one of them together with
/// other objects. For operations that disable no other task: reads (case 3 of the lemma in `asides.rs`), and closing
/// (case 4).
pub fn quiet_event(action: Action, apart: Name, watched: &[Name]) {
    let Some(x) = running() else { return crate::strays::about_to(action) };
    if x.every_event || x.groups.is_marked(apart) || watched.iter().any(|&name| x.groups.is_marked(name)) {
        return event(action);
    }
    if x.muted || std::thread::panicking() {
        return;
    }
    x.comes_to_event();
    if x.impossible {
        crate::task::abandon();
    }
    x.aside(x.running, &[], [apart]);
    if x.notes() && action.verb != BEGINS {
        x.record.told.push((x.running, action));
    }
}

/// Replaces the description of the running step.
pub(crate) fn retell(action: Action) {
    let Some(x) = running().filter(|x| !x.muted) else { return };
    if !x.task().taking {
        x.record.action = Some(action);
    } else if let Some((_, told)) = x.record.told.last_mut() {
        *told = action;
    }
}

/// Returns the number of the step being taken, for later use in [`Ready::since`](crate::Ready::since).
#[must_use]
#[inline]
pub fn this_step() -> u32 {
    current().map_or(NONE, |x| x.step)
}

/// Records that the running step reads `name`.
#[inline]
pub fn read(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::read(name));
    }
}

/// Records that the running step writes `name`, or that its order relative to other writes matters.
#[inline]
pub fn write(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::write(name));
    }
}

/// Records that the running step sends to `queue`, and would do so even without the earlier sends to it.
pub fn appends(queue: Name) {
    if let Some(x) = current() {
        x.record.appends = Some(queue).filter(|_| !x.record.waited);
    }
}

/// Returns a name for an item that the running step sends. It does not depend on the point within the step.
#[must_use]
pub fn new_item() -> Name {
    current().map_or(Name::ROOT, |x| x.record.new_item())
}

/// Records that the running step, or the given merged operation in it, sends `item`, which is expected to be
/// received.
#[inline]
pub fn sent(item: Name, aside: Option<Action>) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted)
        && let Some(action) = aside.or(x.record.action)
    {
        let step = x.step;
        x.untaken.push(Sent { item, action, step });
    }
}

/// Records that the running step receives `item`.
#[inline]
pub fn taken(item: Name) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted) {
        x.untaken.retain(|sent| sent.item != item);
    }
}

/// Records that the running step makes waits for `watched` ready with `item`. A step that takes this item and could
/// have taken another one depends on it.
#[inline]
pub fn enables(watched: Name, item: Name) {
    let Some(x) = current() else { return };
    x.record.enables.push(watched);
    if x.record.known {
        return;
    }
    if x.groups.is_marked(watched) {
        x.touch(Touch::write(item));
    }
    if let Some(group) = x.groups.of(watched) {
        x.touch(Touch::write(group));
    }
}

/// Records that an object that was ready may not be ready after the running step, although no task has taken it.
pub fn recalls() {
    if let Some(x) = current() {
        x.record.recalls = true;
    }
}

/// Records that the running step is one of several that together, in any order, make waits for `watched` ready.
pub fn contributes(watched: Name, to: Name) {
    let Some(x) = current() else { return };
    x.record.enables.push(watched);
    x.touch(Touch::add(to));
    if let Some(group) = x.groups.of(watched) {
        x.touch(Touch::write(group));
    }
}

/// Records that the running event has requested an item, which is `ready` or has to be awaited. The request counts as
/// the first check of the wait that is registered next.
pub fn has_asked(ready: bool) {
    if let Some(x) = running() {
        x.task().asks = Some(ready);
    }
}

/// Returns `true` if no operation is merged: [`Settings::every_event`](crate::Settings::every_event).
#[must_use]
pub(crate) fn is_every_event() -> bool {
    running().is_some_and(|x| x.every_event)
}

/// Returns `true` if the next operation of the running task, which affects waiters for `watched`, needs its own
/// event. Otherwise it is recorded as a merged event with additions to all of `seen_in`, and belongs to the running
/// step; that is possible as long as causes order it with every access of other tasks to `seen_in` (case 2 of the lemma
/// in `asides.rs`).
#[must_use]
pub fn stands_out(watched: Name, seen_in: &[Name]) -> bool {
    // Outside a task, the caller reports the operation by `event`, which detects foreign threads (`strays.rs`).
    let Some(x) = running() else { return true };
    let apart = x.every_event || x.groups.is_marked(watched) || seen_in.iter().any(|&name| x.groups.is_marked(name));
    if !apart && !x.muted {
        x.comes_to_event();
        if x.impossible {
            crate::task::abandon();
        }
        x.aside(x.running, &[], seen_in.iter().copied());
        if !x.record.known {
            seen_in.iter().for_each(|&name| x.asides.touch(x.running, Touch::add(name)));
        }
    }
    apart
}

/// Returns `true` if the running task receives an item in a merged event, or has done so since it was suspended.
pub(crate) fn is_taking() -> bool {
    running().is_some_and(|x| x.task().taking)
}

/// Records that the running task makes waits for `watched` ready in a merged event.
#[inline]
pub fn enables_aside(watched: Name) {
    if let Some(x) = current() {
        x.record.enables.push(watched);
    }
}

/// Adds the description of a merged operation of the running task to the step.
#[inline]
pub fn tell(action: Action) {
    if let Some(x) = running().filter(|x| x.notes()) {
        x.record.told.push((x.running, action));
    }
}

/// Returns the steps and merged events that happen before the current operation of the running task.
#[must_use]
#[inline]
pub fn before_this() -> Steps {
    running().map_or_else(Steps::new, |x| x.task().before())
}

/// Removes step `old`, from which the running task has received an item, from the task's causes: the task now receives
/// an item of the later step `new`, which happens after `old`.
#[inline]
pub(crate) fn supersedes(old: u32, new: u32) {
    if let Some(x) = running().filter(|_| old != new) {
        x.task().after.retain(|step| *step != old);
    }
}

/// Learns a refinement about `name` for all executions. If it is new, the search restarts.
pub fn learn(name: Name) {
    if let Some(x) = running().filter(|x| !x.muted)
        && x.learnt.mark(&x.groups, name)
    {
        x.grew = true;
    }
}

/// Returns `true` if [`learn`] was called with `name` in an earlier execution of this search. Always `true` with
/// [`Settings::deep`](crate::Settings::deep).
#[must_use]
pub fn is_learnt(name: Name) -> bool {
    running().is_some_and(|x| x.deep || x.groups.is_marked(name))
}

/// Returns `true` if `name` was learnt, as [`is_learnt`] does, also where no task is running.
pub(crate) fn knows(name: Name) -> bool {
    current().is_some_and(|x| x.groups.is_marked(name))
}

/// Returns a choice of the search among `ways` branches.
#[must_use]
pub fn choose(ways: u32) -> u32 {
    running().filter(|x| !x.muted).map_or(0, |x| x.choose(ways))
}

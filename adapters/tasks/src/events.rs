//! What stand-ins say of the code that runs: where it is an event, what that touches, whom it lets go on.
//!
//! All of this is about the task that is running on this thread; where none is, nothing happens.

use crate::execution::{NONE, Sent, Steps, current, running};
use crate::object::Action;
use crate::selects::BEGINS;
use crate::task::State;
use whippet_model::{Name, Touch};

/// The number of the execution that runs here; 0 outside of any.
#[must_use]
#[inline]
pub fn execution_id() -> u64 {
    current().map_or(0, |x| x.id)
}

/// Whether a task of an execution is running here and what it does are events.
#[must_use]
#[inline]
pub fn is_live() -> bool {
    running().is_some_and(|x| !x.muted)
}

/// Whether the execution is over and being cleared away.
#[must_use]
#[inline]
pub fn is_over() -> bool {
    current().is_some_and(|x| x.muted)
}

/// An event of the running task: the task stops here until the search lets it go on. Afterwards say with
/// [`read`] and [`write()`] what it touches. While a task unwinds from a panic, it is not stopped.
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

/// As [`event`], but an aside as long as nobody can come between it and what the task did before: then `apart` is learnt. Nor
/// does anybody wait for `watched` together with something else; these it may let go on. For what keeps nobody from going
/// on: looks, and closing.
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

/// The running step turns out to do this.
pub(crate) fn retell(action: Action) {
    let Some(x) = running().filter(|x| !x.muted) else { return };
    if !x.task().taking {
        x.record.action = Some(action);
    } else if let Some((_, told)) = x.record.told.last_mut() {
        *told = action;
    }
}

/// The number of the step being taken, for what must be known about it later: [`Ready::since`](crate::Ready::since).
#[must_use]
#[inline]
pub fn this_step() -> u32 {
    current().map_or(NONE, |x| x.step)
}

/// The running step only looks at `name`.
#[inline]
pub fn read(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::read(name));
    }
}

/// The running step changes `name`, or its order with others that do so matters.
#[inline]
pub fn write(name: Name) {
    if let Some(x) = current() {
        x.touch(Touch::write(name));
    }
}

/// The running step sends to `queue` and, had others not sent to it before, would do so all the same.
pub fn appends(queue: Name) {
    if let Some(x) = current() {
        x.record.appends = Some(queue).filter(|_| !x.record.waited);
    }
}

/// A name for something that the running step sends: the same wherever it is sent in this step.
#[must_use]
pub fn new_item() -> Name {
    current().map_or(Name::ROOT, |x| x.record.new_item())
}

/// The running step, or this aside of it, sends `item`, which somebody should take.
#[inline]
pub fn sent(item: Name, aside: Option<Action>) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted)
        && let Some(action) = aside.or(x.record.action)
    {
        let step = x.step;
        x.untaken.push(Sent { item, action, step });
    }
}

/// The running step takes `item`.
#[inline]
pub fn taken(item: Name) {
    if let Some(x) = current().filter(|x| x.keeps_untaken && !x.muted) {
        x.untaken.retain(|sent| sent.item != item);
    }
}

/// The running step makes waits for `watched` ready, by `item`: whoever takes that and could have taken something else
/// depends on it.
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

/// After the running step, something that was ready may not be so any more, though nobody has taken it.
pub fn recalls() {
    if let Some(x) = current() {
        x.record.recalls = true;
    }
}

/// The running step is one of those that make waits for `watched` ready together, in any order: the last one does.
pub fn contributes(watched: Name, to: Name) {
    let Some(x) = current() else { return };
    x.record.enables.push(watched);
    x.touch(Touch::add(to));
    if let Some(group) = x.groups.of(watched) {
        x.touch(Touch::write(group));
    }
}

/// The running event has asked for something that is `ready` or has to be waited for: with that, it has looked at the wait
/// that is registered next.
pub fn has_asked(ready: bool) {
    if let Some(x) = running() {
        x.task().asks = Some(ready);
    }
}

/// Whether what a task does is an event also where nobody can tell:
/// [`Settings::every_event`](crate::Settings::every_event).
#[must_use]
pub(crate) fn is_every_event() -> bool {
    running().is_some_and(|x| x.every_event)
}

/// Whether what the running task is about to do for those who watch `watched` has to be an event of its own. As long as
/// all who look at any of `seen_in` do so before or after it for some cause, it is an aside: a part of the running step.
#[must_use]
pub fn stands_out(watched: Name, seen_in: &[Name]) -> bool {
    // Where nobody runs, it is said to those who watch for that.
    let Some(x) = running() else { return true };
    let apart = x.every_event || x.groups.is_marked(watched) || seen_in.iter().any(|&name| x.groups.is_marked(name));
    if !apart && !x.muted {
        x.aside(x.running, &[], seen_in.iter().copied());
        if !x.record.known {
            seen_in.iter().for_each(|&name| x.asides.touch(x.running, Touch::add(name)));
        }
    }
    apart
}

/// Whether the running task takes something as an aside, or has done so since it was stopped.
pub(crate) fn is_taking() -> bool {
    running().is_some_and(|x| x.task().taking)
}

/// The running task makes waits for `watched` ready, as an aside: not as an event of its own.
#[inline]
pub fn enables_aside(watched: Name) {
    if let Some(x) = current() {
        x.record.enables.push(watched);
    }
}

/// The running task does this, as an aside.
#[inline]
pub fn tell(action: Action) {
    if let Some(x) = running().filter(|x| x.notes()) {
        x.record.told.push((x.running, action));
    }
}

/// The steps and asides that come before what the running task does now.
#[must_use]
#[inline]
pub fn before_this() -> Steps {
    running().map_or_else(Steps::new, |x| x.task().before())
}

/// The running task, which has taken what came by step `old`, takes what came by `new`, a later step that depends on it.
#[inline]
pub(crate) fn supersedes(old: u32, new: u32) {
    if let Some(x) = running().filter(|_| old != new) {
        x.task().after.retain(|step| *step != old);
    }
}

/// Remembers something about `name` for all executions. If it was not known, the search is begun again.
pub fn learn(name: Name) {
    if let Some(x) = running().filter(|x| !x.muted)
        && x.learnt.mark(&x.groups, name)
    {
        x.grew = true;
    }
}

/// Whether [`learn`] was called with `name`, in an earlier execution of this search; always with
/// [`Settings::deep`](crate::Settings::deep).
#[must_use]
pub fn is_learnt(name: Name) -> bool {
    running().is_some_and(|x| x.deep || x.groups.is_marked(name))
}

/// As [`is_learnt`], also where no task is running.
pub(crate) fn knows(name: Name) -> bool {
    current().is_some_and(|x| x.groups.is_marked(name))
}

/// A choice of the search among `ways`.
#[must_use]
pub fn choose(ways: u32) -> u32 {
    running().filter(|x| !x.muted).map_or(0, |x| x.choose(ways))
}

//! Selection of the enabled tasks, and of the wait that a blocked task completes when it is resumed.
//!
//! A task that waits for one object happens after the step that made it ready: that step is a cause. If a task waits
//! for several objects at once, the completion of a wait is in a race with the steps that made its object ready,
//! because another object might have resumed the task.

use crate::current::Live;
use crate::execution::{DUE, Execution, NONE, waking};
use crate::object::{Action, Part};
use crate::points::Point;
use crate::spinning;
use crate::task::{Removed, State, Task};
use crate::timers::{arm_all, fire, fire_early, look_at_clock, too_late};
use crate::waiting::{Ready, Wait, WaitTarget};
use smallvec::SmallVec;
use whippet_model::Touch;

/// Waits that can complete, by their index among the waits of a task.
pub(crate) type ReadyWaits = SmallVec<[(usize, Ready); 4]>;

/// Invalidates the cached enabledness of tasks that the newest step may have changed.
pub(crate) fn ask_again(x: &mut Execution) {
    // Timers may start or cease to be enabled in any step.
    if x.clock.used || x.record.recalls {
        x.tasks.able.fill(None);
    } else if !x.record.enables.is_empty() {
        let forget = |able: &mut Option<bool>| *able = able.filter(|able| *able);
        x.tasks.able.iter_mut().for_each(forget);
    }
}

/// Returns `true` if a task is enabled. A ready wait stays ready, so the result is cached until a step may change it.
#[inline]
pub(crate) fn is_enabled(x: &mut Execution, number: usize) -> bool {
    if spinning::is_any(x) {
        return is_able(x, number) && (!spinning::waits(x, number) || spinning::has_its_turn(x, number));
    }
    x.tasks.able[number].unwrap_or_else(|| {
        let able = is_able(x, number);
        x.tasks.able[number] = Some(able);
        able
    })
}

#[inline(never)]
pub(crate) fn is_able(x: &Execution, number: usize) -> bool {
    let task = &x.tasks[number];
    match task.state {
        State::Event(_) | State::Looking { .. } => true,
        State::Blocked => {
            task.cancelled().is_some()
                || task.interrupts.woken.is_some()
                || task.live_waits().any(|wait| x.can_end(wait))
        }
        State::Fresh | State::Abandoned | State::Done => false,
    }
}

/// Selects the wait that a blocked task completes, and records the causes and touches.
pub(crate) fn grant(x: &mut Execution, number: u32) -> Action {
    let at = number as usize;
    x.facts.set_running(number);
    if let State::Looking { first } = x.tasks[at].state {
        return look(x, at, first);
    }
    let abortable = x.is_abortable(at);
    if abortable {
        x.touch(Touch::read(x.tasks[at].name.mixed(Part::Abort as u64)));
    }
    // After this task continues, another timer may be the earliest.
    if x.tasks[at].live_waits().any(|wait| matches!(wait.on, WaitTarget::Timer(_))) {
        x.touch(Touch::add(DUE));
    }
    if x.tasks[at].cancelled().is_some() {
        x.tasks[at].interrupts.cancelling = true;
        return Action::plain(Point::IsCancelled, x.tasks[at].place);
    }
    let exact = x.tasks[at].live_waits().any(|wait| wait.polled.strict && wait.foreign.is_none());
    if exact || abortable && x.tasks[at].polling.number > 0 {
        return begin_poll(x, at, exact, abortable);
    }
    let woken = x.tasks[at].interrupts.woken.take();
    if woken.is_none()
        && let Some(action) = grant_only(x, at)
    {
        return action;
    }
    let mut ready = ready_waits(x, at);
    if let Some(step) = woken {
        x.cause(step);
    }
    if ready.is_empty() {
        // A wait that becomes ready independently of the call of the waker might have resumed the task before.
        look_at_all_but(x, at, NONE);
        return Action::plain(Point::IsWoken, x.tasks[at].place);
    }
    if x.tasks[at].live_waits().nth(1).is_some()
        && let Some(action) = fire_early(x, at, &mut ready, woken)
    {
        return action;
    }
    take_one(x, at, ready, woken.is_some())
}

/// Begins the poll of a blocked task: an `exact` one ([`Execution::is_exact`]), or that of a task that some execution
/// aborts. An abort has no effect on the latter until it waits again; the next step checks its waits.
fn begin_poll(x: &mut Execution, at: usize, exact: bool, abortable: bool) -> Action {
    let place = x.tasks[at].place;
    let woken = x.tasks[at].interrupts.woken;
    let mut ready = ready_waits(x, at);
    if let Some(step) = woken {
        x.cause(step);
    }
    look_at_clock(x, at);
    if let Some(action) = fire_early(x, at, &mut ready, woken) {
        return action;
    }
    look_at_reasons(x, at, &ready, woken.is_some());
    let action = Action::plain(Point::IsPolled, place);
    if exact {
        (x.tasks[at].polling.exact_next, x.tasks[at].interrupts.woken) = (true, None);
        if abortable {
            pause(x, at, State::Event(action));
        }
    } else {
        pause(x, at, State::Looking { first: false });
    }
    action
}

/// Makes the beginning of a poll depend on what allows it. If the task has several waits, any of them does, and a call of its waker
/// does, too. So the step depends on all of them, also on those that are not ready: if it depended on one that is, its footprint would differ
/// between two orders of the independent steps that make two of them ready, and searches would miss orders.
fn look_at_reasons(x: &mut Execution, at: usize, ready: &[(usize, Ready)], is_called: bool) {
    if is_called || x.tasks[at].live_waits().nth(1).is_some() {
        return look_at_all_but(x, at, NONE);
    }
    if let [(k, found)] = *ready {
        let on = x.tasks[at].waits[k].on.clone();
        let found = on.first_ready().unwrap_or(found);
        x.touch_item(&on, found);
    }
}

/// Checks the waits of a task in the middle of a poll: one that is ready completes, or the task blocks.
fn look(x: &mut Execution, at: usize, first: bool) -> Action {
    let woken = x.tasks[at].interrupts.woken.take();
    let mut ready = ready_waits(x, at);
    ready.retain(|&mut (k, _)| {
        let wait = &x.tasks[at].waits[k];
        match &wait.on {
            WaitTarget::Timer(due) => *due <= x.clock.now,
            WaitTarget::Yield => !first,
            WaitTarget::Object(..) => !(first && x.tasks[at].has_seen(wait)),
        }
    });
    let seen = x.tasks[at].live_waits().filter(|wait| !(first && x.tasks[at].has_seen(wait)));
    let seen: SmallVec<[WaitTarget; 4]> = seen.map(|wait| wait.on.clone()).collect();
    seen.iter().for_each(|on| x.look_at(on));
    if x.tasks[at].live_waits().any(|wait| matches!(wait.on, WaitTarget::Timer(_))) {
        x.touch(Touch::add(DUE));
    }
    if ready.is_empty() && (first || woken.is_none()) {
        x.tasks[at].interrupts.woken = woken;
        arm_all(x, at);
        pause(x, at, State::Blocked);
        return Action::plain(Point::HasToWait, x.tasks[at].place);
    }
    if ready.is_empty() {
        return Action::plain(Point::IsWoken, x.tasks[at].place);
    }
    if first {
        skip_seen(&mut x.tasks[at]);
    }
    take_one(x, at, ready, true)
}

/// Lets the next poll of a task, which goes on after a check, leave out the waits that the check leaves out.
fn skip_seen(task: &mut Task) {
    let (moments, next) = (task.polling.moments, task.polling.number + 1);
    for wait in task.waits.iter_mut().filter(|wait| moments.is_earlier(wait.polled.moment)) {
        wait.seen_in = next;
    }
}

/// Ends the step without running the task, which is left in `state`.
pub(crate) fn pause(x: &mut Execution, at: usize, state: State) {
    x.tasks[at].state = state;
    x.tasks.able[at] = None;
    x.record.runs_nothing = true;
    x.facts.set_running(NONE);
}

/// Grants one of the ready waits.
fn take_one(x: &mut Execution, at: usize, mut ready: ReadyWaits, woken: bool) -> Action {
    // If a task waits for several objects, the completion of one wait is in a race with the steps that would make
    // another one ready: the task could have been resumed without this one.
    let several = x.waits_for_several(at) || woken;
    let sole = ready.len() == 1;
    look_at_clock(x, at);
    narrow(x, at, &mut ready);
    let (chosen, since) = (ready[0].0, ready[0].1);
    let wait = &x.tasks[at].waits[chosen];
    let (id, on, action) = (wait.id, wait.on.clone(), wait.action);
    let raced = several || on.is_contested();
    x.tasks[at].grant = id;
    if sole && raced && !woken && x.notes() {
        note_awaited(x, at, &on);
    }
    match &on {
        WaitTarget::Object(..) if raced => {
            x.touch_item(&on, since);
            x.hidden_causes(&on);
        }
        WaitTarget::Object(..) => x.take_causes(&on),
        WaitTarget::Timer(due) if x.ending.main_done && *due > x.clock.now => return too_late(x, at, action),
        WaitTarget::Timer(due) => fire(x, *due),
        WaitTarget::Yield => {}
    }
    action
}

/// Grants the wait of a task that waits for exactly one object, which is the common case.
fn grant_only(x: &mut Execution, at: usize) -> Option<Action> {
    if x.waits_for_several(at) {
        return None;
    }
    let wait = x.tasks[at]
        .live_waits()
        .next()
        .filter(|wait| matches!(wait.on, WaitTarget::Object(..)) && x.is_ready(&wait.on))?;
    if wait.on.is_contested() {
        return None;
    }
    let (id, action) = (wait.id, wait.action);
    if x.notes() {
        let on = wait.on.clone();
        x.take_causes(&on);
    }
    x.tasks[at].grant = id;
    Some(action)
}

/// Records the objects that task `at` waited for, if nothing else could have resumed it.
fn note_awaited(x: &mut Execution, at: usize, on: &WaitTarget) {
    let task = &x.tasks[at];
    if x.is_marked(task.name) || task.live_waits().any(|wait| wait.foreign.is_some()) {
        return;
    }
    let mut awaited = std::mem::take(&mut x.record.awaited);
    let mut watched = SmallVec::new();
    for wait in task.live_waits() {
        let WaitTarget::Object(source, key) = &wait.on else {
            awaited.clear();
            break;
        };
        source.watched(*key, &mut watched);
        awaited.extend(watched.drain(..));
    }
    if !awaited.is_empty() {
        // A call of its waker would resume it too.
        awaited.push(task.name);
        if let WaitTarget::Object(source, key) = on {
            source.causes(*key, &mut x.record.needs);
        }
    }
    x.record.awaited = awaited;
}

/// Returns the waits that can complete now, in the order in which the task polls them.
fn ready_waits(x: &Execution, at: usize) -> ReadyWaits {
    let task = &x.tasks[at];
    let mut ready = ReadyWaits::new();
    for (k, wait) in task.waits.iter().enumerate().filter(|(_, wait)| task.is_live(wait) && x.can_end(wait)) {
        ready.extend(x.ready(&wait.on).map(|found| (k, found)));
    }
    if ready.len() < 2 {
        return ready;
    }
    ready.sort_by_key(|(k, _)| task.waits[*k].polled.order);
    // Futures that poll only woken children depend on the order of the wakes.
    let places: SmallVec<[usize; 4]> = (0..ready.len()).filter(|&i| task.waits[ready[i].0].foreign.is_some()).collect();
    let mut by_wake: Vec<_> = places.iter().map(|&i| ready[i]).collect();
    by_wake.sort_by_key(|(_, found)| found.order());
    for (&i, entry) in places.iter().zip(by_wake) {
        ready[i] = entry;
    }
    ready
}

/// Lets the search choose among the ready branches of unbiased selects. The step then depends on all branches that
/// were ready or might have been.
fn narrow(x: &mut Execution, at: usize, ready: &mut ReadyWaits) {
    for level in 0..3 {
        let (select, _) = x.tasks[at].waits[ready[0].0].path[level];
        if select == 0 {
            return;
        }
        let mut branches: SmallVec<[u32; 4]> = SmallVec::new();
        for (k, _) in ready.iter() {
            let (of, branch) = x.tasks[at].waits[*k].path[level];
            if of == select && !branches.contains(&branch) {
                branches.push(branch);
            }
        }
        look_around(x, at, select, level, ready);
        branches.sort_unstable();
        let branch = branches[x.choose(branches.len() as u32) as usize];
        ready.retain(|(k, _)| x.tasks[at].waits[*k].path[level] == (select, branch));
    }
}

fn look_around(x: &mut Execution, at: usize, select: u32, level: usize, ready: &[(usize, Ready)]) {
    let task = &x.tasks[at];
    let in_select = |wait: &Wait| wait.path[level].0 == select;
    if task.live_waits().filter(|wait| in_select(wait)).count() < 2 {
        return;
    }
    let live = task.waits.iter().enumerate().filter(|(_, wait)| task.is_live(wait) && in_select(wait));
    let seen: SmallVec<[(WaitTarget, Option<Ready>); 4]> =
        live.map(|(k, wait)| (wait.on.clone(), ready.iter().find(|(r, _)| *r == k).map(|(_, found)| *found))).collect();
    for (on, found) in seen {
        match (&on, found) {
            (WaitTarget::Object(..), Some(found)) => x.touch_item(&on, found),
            _ => x.look_at(&on),
        }
    }
}

/// Makes the running step depend on the readiness of the other waits of task `at`.
pub(crate) fn look_at_all_but(x: &mut Execution, at: usize, wait: u32) {
    let others: SmallVec<[WaitTarget; 4]> =
        (x.tasks[at].live_waits()).filter(|other| other.id != wait).map(|wait| wait.on.clone()).collect();
    others.iter().for_each(|on| x.look_at(on));
}

/// Calls the waker of the granted wait, because futures between a task and its waits may poll only woken children.
pub(crate) fn wake_granted(live: &Live, number: u32) {
    let foreign = live.with(|x| granted(&mut x.tasks[number as usize])?.foreign.take());
    if let Some(waker) = foreign {
        waking(number, || waker.wake_by_ref());
        let mut waker = Some(waker);
        live.with(|x| {
            if let Some(wait) = granted(&mut x.tasks[number as usize]) {
                std::mem::swap(&mut wait.foreign, &mut waker);
            }
        });
    }
}

/// Returns the wait of a task that is granted.
fn granted(task: &mut Task) -> Option<&mut Wait> {
    if task.grant == 0 { None } else { task.waits.iter_mut().find(|wait| wait.id == task.grant) }
}

/// Removes the wait of an unused grant: its future is alive but no longer polled, so it does not wait. The caller drops
/// it where the execution is not in use.
#[must_use]
pub(crate) fn forget_stale(task: &mut Task) -> Option<Removed> {
    let id = std::mem::take(&mut task.grant);
    if id == 0 { None } else { task.take_wait(id) }
}

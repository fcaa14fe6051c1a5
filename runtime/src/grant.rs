//! Selection of the enabled tasks, and of the wait that a blocked task completes when it is resumed.
//!
//! A task that waits for one object happens after the step that made it ready: that step is a cause. If a task waits
//! for several objects at once, the completion of a wait is in a race with the steps that made its object ready,
//! because another object might have resumed the task.

use crate::asides::is_aside;
use crate::execution::{CLOCK, DUE, Execution, IDLE, NONE, looks, waking};
use crate::object::{Action, Part};
use crate::task::{State, Task};
use crate::waiting::{On, Ready, Unseen, Wait};
use smallvec::SmallVec;
use whippet_model::{Name, Touch};

/// Waits that can complete, by their index among the waits of a task.
type ReadyWaits = SmallVec<[(usize, Ready); 4]>;

/// Determines the timers that may fire.
#[inline]
pub(crate) fn refresh(x: &mut Execution, timers: u64) {
    if x.clock.used {
        ask_timers(x, timers);
    }
}

#[cold]
fn ask_timers(x: &mut Execution, timers: u64) {
    x.clock.limit = 0;
    x.clock.idle = false;
    let Some(first) = x.tasks.iter().filter_map(|task| first_timer(task)).min() else { return };
    if x.clock.paused || x.clock.fired >= timers {
        x.clock.idle = true;
        if x.main_done || (0..x.tasks.len()).any(|number| is_able(x, number)) {
            return;
        }
    }
    x.clock.limit = first;
}

/// Returns the earliest timer of a task that may fire. In the middle of a poll, these are the timers that the poll has
/// registered.
fn first_timer(task: &Task) -> Option<u64> {
    let amid = match task.state {
        State::Blocked | State::Looking { .. } => false,
        State::Event(_) => true,
        State::Fresh | State::Done => return None,
    };
    let due = task.live_waits().filter_map(|wait| match wait.on {
        On::Timer(at) if wait.armed && (wait.exact || !amid) => Some(at),
        _ => None,
    });
    due.min()
}

/// Fires the timer of a task that is suspended before an event, in the middle of the poll that has registered the
/// timer. Otherwise the event comes first, by a choice of the search.
pub(crate) fn fire_amid(x: &mut Execution, number: u32) -> Option<Action> {
    let at = number as usize;
    let due = first_timer(&x.tasks[at])?;
    x.running = number;
    x.touch(Touch::read(CLOCK));
    x.touch(Touch::write(DUE));
    if due <= x.clock.now || due > x.clock.limit || x.main_done || x.choose(2) == 0 {
        return None;
    }
    let fires = |wait: &&Wait| matches!(wait.on, On::Timer(at) if at == due);
    let place = x.tasks[at].live_waits().find(fires)?.action.place;
    fire(x, due);
    x.record.vain = true;
    x.running = NONE;
    Some(Action::plain("lets a timer fire", place))
}

/// Invalidates the cached enabledness of tasks that the newest step may have changed.
pub(crate) fn ask_again(x: &mut Execution) {
    // Timers may start or cease to be enabled in any step.
    if x.clock.used || x.record.recalls {
        x.able.fill(None);
    } else if !x.record.enables.is_empty() {
        let forget = |able: &mut Option<bool>| *able = able.filter(|able| *able);
        x.able.iter_mut().for_each(forget);
    }
}

/// Returns `true` if a task is enabled. A ready wait stays ready, so the result is cached until a step may change it.
#[inline]
pub(crate) fn is_enabled(x: &mut Execution, number: usize) -> bool {
    x.able[number].unwrap_or_else(|| {
        let able = is_able(x, number);
        x.able[number] = Some(able);
        able
    })
}

#[inline(never)]
fn is_able(x: &Execution, number: usize) -> bool {
    let task = &x.tasks[number];
    match task.state {
        State::Event(_) | State::Looking { .. } => true,
        State::Blocked => {
            task.cancelled().is_some() || task.woken.is_some() || task.live_waits().any(|wait| x.can_end(wait))
        }
        State::Fresh | State::Done => false,
    }
}

/// Selects the wait that a blocked task completes, and records the causes and touches.
pub(crate) fn grant(x: &mut Execution, number: u32) -> Action {
    let at = number as usize;
    x.running = number;
    if let State::Looking { first } = x.tasks[at].state {
        return look(x, at, first);
    }
    let abortable = x.is_abortable(at);
    if abortable {
        x.touch(Touch::read(x.tasks[at].name.mixed(Part::Abort as u64)));
    }
    // After this task continues, another timer may be the earliest.
    if x.tasks[at].live_waits().any(|wait| matches!(wait.on, On::Timer(_))) {
        x.touch(Touch::add(DUE));
    }
    if x.tasks[at].cancelled().is_some() {
        x.tasks[at].cancelling = true;
        return Action::plain("is cancelled", x.tasks[at].place);
    }
    let exact = x.tasks[at].live_waits().any(|wait| wait.strict && wait.foreign.is_none());
    if exact || abortable && x.tasks[at].poll > 0 {
        return begin_poll(x, at, exact, abortable);
    }
    let woken = x.tasks[at].woken.take();
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
        return Action::plain("is woken", x.tasks[at].place);
    }
    if x.tasks[at].live_waits().nth(1).is_some()
        && let Some(action) = fire_early(x, at, &mut ready, woken)
    {
        return action;
    }
    take_one(x, at, ready, woken.is_some())
}

/// Makes the running step depend on the timers of task `at` that are not due: they could have fired before, unless
/// another one was due first.
fn look_at_clock(x: &mut Execution, at: usize) {
    let is_early = |wait: &Wait| matches!(wait.on, On::Timer(due) if due > x.clock.now);
    if x.clock.used && x.tasks[at].live_waits().any(is_early) {
        x.touch(Touch::read(CLOCK));
        x.touch(Touch::read(DUE));
    }
}

/// Begins the poll of a blocked task: an `exact` one ([`Execution::is_exact`]), or that of a task that some execution
/// aborts. An abort has no effect on the latter until it waits again; the next step checks its waits.
fn begin_poll(x: &mut Execution, at: usize, exact: bool, abortable: bool) -> Action {
    let place = x.tasks[at].place;
    let woken = x.tasks[at].woken;
    let mut ready = ready_waits(x, at);
    if let Some(step) = woken {
        x.cause(step);
    }
    look_at_clock(x, at);
    if let Some(action) = fire_early(x, at, &mut ready, woken) {
        return action;
    }
    // One reason to continue is enough: the check that follows depends on all waits.
    if let Some((k, found)) = ready.into_iter().min_by_key(|(_, found)| found.since.wrapping_add(1)) {
        let on = x.tasks[at].waits[k].on.clone();
        x.touch_item(&on, found);
    }
    let action = Action::plain("is polled", place);
    if exact {
        (x.tasks[at].exact_next, x.tasks[at].woken) = (true, None);
        if abortable {
            pause(x, at, State::Event(action));
        }
    } else {
        pause(x, at, State::Looking { first: false });
    }
    action
}

/// Fires a timer that is not due yet, in a step that does not run its task. If another wait is ready too, the search
/// chooses; if no timer fires, `ready` keeps only the other waits.
fn fire_early(x: &mut Execution, at: usize, ready: &mut ReadyWaits, woken: Option<u32>) -> Option<Action> {
    let is_early = |x: &Execution, k: usize| matches!(x.tasks[at].waits[k].on, On::Timer(due) if due > x.clock.now);
    let timer = ready.iter().map(|&(k, _)| k).find(|&k| is_early(x, k))?;
    let others = woken.is_some() || ready.iter().any(|&(k, _)| !is_early(x, k));
    if others && x.choose(2) == 1 {
        ready.retain(|&mut (k, _)| !is_early(x, k));
        return None;
    }
    let Wait { id, action, on: On::Timer(due), .. } = x.tasks[at].waits[timer] else { return None };
    if x.main_done {
        x.tasks[at].grant = id;
        return Some(too_late(x, at, action));
    }
    look_at_all_but(x, at, id);
    fire(x, due);
    x.tasks[at].woken = woken;
    pause(x, at, State::Blocked);
    Some(Action::plain("lets a timer fire", action.place))
}

/// Arms the timers that the running task begins to wait for, unless another wait of its poll is ready.
pub(crate) fn arm_timers(x: &mut Execution) {
    let at = x.running as usize;
    let is_new = |wait: &Wait| matches!(wait.on, On::Timer(_)) && !wait.armed;
    if !x.clock.used || !x.tasks[at].live_waits().any(is_new) {
        return;
    }
    let is_unseen = |wait: &&Wait| !wait.looked && !wait.exact && matches!(wait.on, On::Source(..));
    let sources = x.tasks[at].live_waits().filter(is_unseen);
    let sources: SmallVec<[On; 4]> = sources.map(|wait| wait.on.clone()).collect();
    sources.iter().for_each(|on| x.look_at(on));
    let is_due = |wait: &Wait| matches!(wait.on, On::Timer(due) if due <= x.clock.now) && !wait.looked;
    if !sources.iter().any(|on| x.is_ready(on)) && !x.tasks[at].live_waits().any(is_due) {
        arm_all(x, at);
    }
}

/// Arms the timers of a task that are not due yet.
fn arm_all(x: &mut Execution, at: usize) {
    let (now, task) = (x.clock.now, &mut *x.tasks[at]);
    let poll = task.poll;
    let live = |wait: &&mut Wait| wait.poll == poll || wait.foreign.is_some();
    task.waits.iter_mut().filter(live).for_each(|wait| wait.armed |= matches!(wait.on, On::Timer(due) if due > now));
}

/// Checks the waits of a task in the middle of a poll: one that is ready completes, or the task blocks.
fn look(x: &mut Execution, at: usize, first: bool) -> Action {
    let woken = x.tasks[at].woken.take();
    let mut ready = ready_waits(x, at);
    ready.retain(|&mut (k, _)| {
        let Wait { on, looked, .. } = &x.tasks[at].waits[k];
        match on {
            On::Timer(due) => *due <= x.clock.now,
            On::Yield => !first,
            On::Source(..) => !(first && *looked),
        }
    });
    let seen = x.tasks[at].live_waits().filter(|wait| !(first && wait.looked));
    let seen: SmallVec<[On; 4]> = seen.map(|wait| wait.on.clone()).collect();
    seen.iter().for_each(|on| x.look_at(on));
    if x.tasks[at].live_waits().any(|wait| matches!(wait.on, On::Timer(_))) {
        x.touch(Touch::add(DUE));
    }
    if ready.is_empty() && (first || woken.is_none()) {
        x.tasks[at].woken = woken;
        arm_all(x, at);
        pause(x, at, State::Blocked);
        return Action::plain("has to wait", x.tasks[at].place);
    }
    if ready.is_empty() {
        return Action::plain("is woken", x.tasks[at].place);
    }
    take_one(x, at, ready, true)
}

/// Ends the step without running the task, which is left in `state`.
fn pause(x: &mut Execution, at: usize, state: State) {
    x.tasks[at].state = state;
    x.able[at] = None;
    x.record.vain = true;
    x.running = NONE;
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
        On::Source(..) if raced => {
            x.touch_item(&on, since);
            x.hidden_causes(&on);
        }
        On::Source(..) => x.take_causes(&on),
        On::Timer(due) if x.main_done && *due > x.clock.now => return too_late(x, at, action),
        On::Timer(due) => fire(x, *due),
        On::Yield => {}
    }
    action
}

/// Grants the wait of a task that waits for exactly one object, which is the common case.
fn grant_only(x: &mut Execution, at: usize) -> Option<Action> {
    if x.waits_for_several(at) {
        return None;
    }
    let wait =
        x.tasks[at].live_waits().next().filter(|wait| matches!(wait.on, On::Source(..)) && x.is_ready(&wait.on))?;
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

/// A wait that can complete as a merged event: see [`pass`].
#[derive(Copy, Clone)]
pub(crate) struct Hope {
    watched: Name,
    freed: Option<Name>,
    task: u32,
    wait: u32,
}

/// Completes the wait of the running task at once if it is ready and can complete as a merged event (case 1 of the
/// lemma in `asides.rs`); returns `true` then. The following operations of the task happen after the steps that made the wait ready. If the wait is not
/// ready yet, it is recorded in [`Execution::hopes`], and completes within the step that makes it ready.
///
/// A task that waits for several objects reads all of these: it would have continued with another one if that had
/// been ready first.
pub(crate) fn pass(x: &mut Execution) -> bool {
    if x.muted {
        return false;
    }
    let number = x.running as usize;
    let task = &x.tasks[number];
    let hope = match &task.waits[..] {
        [wait] if task.is_live(wait) && (task.in_poll || !x.groups.is_marked(task.name)) => hope(x, wait),
        _ if x.waits_for_several(number) => return pass_by_one_of_several(x),
        _ => task.live_waits().next().and_then(|wait| hope(x, wait)),
    };
    let Some(hope) = hope else { return false };
    fulfil(x, hope) || {
        x.hopes.push(hope);
        x.task().hopes = 1;
        false
    }
}

fn pass_by_one_of_several(x: &mut Execution) -> bool {
    let number = x.running;
    let (known, task) = (x.hopes.len(), &x.tasks[number as usize]);
    // An abort ends the wait too.
    let mut all = task.in_poll || !x.groups.is_marked(task.name);
    for k in 0..task.waits.len() {
        let task = &x.tasks[number as usize];
        if !all || !task.is_live(&task.waits[k]) {
            continue;
        }
        match hope(x, &task.waits[k]) {
            Some(hope) => x.hopes.push(hope),
            None => all = false,
        }
    }
    if !all {
        x.hopes.truncate(known);
        note_together(x, number);
        return false;
    }
    x.task().hopes = (x.hopes.len() - known) as u32;
    let passes = (known..x.hopes.len()).any(|k| fulfil(x, x.hopes[k]));
    if passes {
        forget_hopes(x, number);
    }
    passes
}

/// Returns the record for a wait of the running task, if the wait can complete as a merged event.
#[inline]
fn hope(x: &Execution, wait: &Wait) -> Option<Hope> {
    let On::Source(source, key) = &wait.on else { return None };
    let Unseen { watched, freed } = source.unseen(*key).filter(|_| wait.foreign.is_none() && !wait.exact)?;
    let is_marked = |name| x.groups.is_marked(name);
    let seen = x.every_event || is_marked(watched) || freed.is_some_and(is_marked);
    (!seen).then_some(Hope { watched, freed, task: x.running, wait: wait.id })
}

/// Completes a recorded wait as a merged event if it is ready and no other wait of its task is. Returns `true` if it
/// does.
#[inline]
fn fulfil(x: &mut Execution, hope: Hope) -> bool {
    let task = &*x.tasks[hope.task as usize];
    let Some(at) = task.waits.iter().position(|wait| wait.id == hope.wait) else { return false };
    task.woken.is_none() && x.is_ready(&task.waits[at].on) && take(x, hope, at)
}

/// Completes wait `at` of a task as a merged event, unless another of the task's waits is ready too.
#[inline(never)]
fn take(x: &mut Execution, hope: Hope, at: usize) -> bool {
    let task = &*x.tasks[hope.task as usize];
    let several = task.waits.len() > 1;
    if several && task.live_waits().any(|other| other.id != hope.wait && x.is_ready(&other.on)) {
        note_together(x, hope.task);
        return false;
    }
    let wait = &task.waits[at];
    if let On::Source(source, key) = &wait.on {
        source.causes(*key, &mut x.scratch);
    }
    if x.step != NONE && !x.record.known {
        x.record.told.push((hope.task, wait.action));
    }
    let mut causes = std::mem::take(&mut x.scratch);
    if several {
        let of_task = x.hopes.iter().filter(|other| other.task == hope.task);
        let apart: SmallVec<[Name; 4]> = of_task.map(|hope| hope.watched).collect();
        x.aside(hope.task, &causes, apart);
        look_at_others(x, hope);
    } else {
        x.aside(hope.task, &causes, [hope.watched]);
    }
    let task = &mut *x.tasks[hope.task as usize];
    (task.grant, task.taking) = (hope.wait, true);
    for &cause in &causes {
        if !is_aside(cause) && !task.after.contains(&cause) {
            task.after.push(cause);
        }
    }
    causes.clear();
    x.scratch = causes;
    if let Some(freed) = hope.freed
        && !x.record.known
    {
        x.asides.touch(hope.task, Touch::add(freed));
    }
    true
}

/// Adds reads of the other waits, which the task has seen not to be ready.
fn look_at_others(x: &mut Execution, hope: Hope) {
    if x.record.known {
        return;
    }
    let task = &x.tasks[hope.task as usize];
    for wait in task.live_waits().filter(|wait| wait.id != hope.wait) {
        looks(&wait.on, |touch| x.asides.touch(hope.task, touch));
    }
}

/// Returns the next task that the running step allows to continue without an event. `seen` counts the entries of
/// `record.enables` that were examined.
pub(crate) fn next_to_pass(x: &mut Execution, seen: &mut usize) -> Option<u32> {
    while let Some(&enabled) = x.record.enables.get(*seen) {
        *seen += 1;
        for k in 0..x.hopes.len() {
            if x.hopes[k].watched == enabled && fulfil(x, x.hopes[k]) {
                let task = x.hopes[k].task;
                // A single entry is removed here, without a search.
                if x.tasks[task as usize].hopes == 1 {
                    x.tasks[task as usize].hopes = 0;
                    x.hopes.swap_remove(k);
                }
                return Some(task);
            }
        }
    }
    None
}

/// Removes the recorded waits of a task that continues.
#[inline]
pub(crate) fn forget_hopes(x: &mut Execution, number: u32) {
    for _ in 0..std::mem::take(&mut x.tasks[number as usize].hopes) {
        let at = x.hopes.iter().position(|hope| hope.task == number).expect("they are noted until it goes on");
        x.hopes.swap_remove(at);
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
        if let On::Source(source, key) = &wait.on {
            watched.clear();
            source.watched(*key, &mut watched);
            waits.push(watched[0]);
        }
    }
    // Futures that poll only woken children depend on the order of the wakes.
    x.grew |= foreign > 1 && x.learnt.together(&x.groups, &waits);
    for &name in &waits {
        x.grew |= x.learnt.mark(&x.groups, name);
    }
}

/// Records the objects that task `at` waited for, if nothing else could have resumed it.
fn note_awaited(x: &mut Execution, at: usize, on: &On) {
    let task = &x.tasks[at];
    if x.groups.is_marked(task.name) || task.live_waits().any(|wait| wait.foreign.is_some()) {
        return;
    }
    let mut awaited = std::mem::take(&mut x.record.awaited);
    let mut watched = SmallVec::new();
    for wait in task.live_waits() {
        let On::Source(source, key) = &wait.on else {
            awaited.clear();
            break;
        };
        source.watched(*key, &mut watched);
        awaited.extend(watched.drain(..));
    }
    if !awaited.is_empty() {
        // A call of its waker would resume it too.
        awaited.push(task.name);
        if let On::Source(source, key) = on {
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
    ready.sort_by_key(|(k, _)| task.waits[*k].order);
    // Futures that poll only woken children depend on the order of the wakes.
    let places: SmallVec<[usize; 4]> = (0..ready.len()).filter(|&i| task.waits[ready[i].0].foreign.is_some()).collect();
    let mut by_wake: Vec<_> = places.iter().map(|&i| ready[i]).collect();
    by_wake.sort_by_key(|(_, r)| r.since.wrapping_add(1));
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
    let seen: SmallVec<[(On, Option<Ready>); 4]> =
        live.map(|(k, wait)| (wait.on.clone(), ready.iter().find(|(r, _)| *r == k).map(|(_, found)| *found))).collect();
    for (on, found) in seen {
        match (&on, found) {
            (On::Source(..), Some(found)) => x.touch_item(&on, found),
            _ => x.look_at(&on),
        }
    }
}

/// Makes the running step depend on the readiness of the other waits of task `at`.
fn look_at_all_but(x: &mut Execution, at: usize, wait: u32) {
    let others: SmallVec<[On; 4]> =
        (x.tasks[at].live_waits()).filter(|other| other.id != wait).map(|wait| wait.on.clone()).collect();
    others.iter().for_each(|on| x.look_at(on));
}

/// Handles a timer that would fire after the test has ended. It might have fired earlier, so this is a step, but no
/// task runs in it and no other wait is granted.
fn too_late(x: &mut Execution, at: usize, action: Action) -> Action {
    look_at_all_but(x, at, x.tasks[at].grant);
    x.touch(Touch::write(CLOCK));
    x.touch(Touch::read(DUE));
    forget_stale(&mut x.tasks[at]);
    x.record.vain = true;
    x.running = NONE;
    Action::plain("waits for a timer in vain: the test is over", action.place)
}

/// Fires a timer and advances the clock to it.
fn fire(x: &mut Execution, due: u64) {
    if due <= x.clock.now {
        return x.touch(Touch::read(CLOCK));
    }
    x.touch(Touch::write(CLOCK));
    x.touch(Touch::read(DUE));
    x.clock.fired += 1;
    x.clock.now = due;
    if !x.clock.idle {
        return;
    }
    // No other step was possible: everything so far happens before.
    if x.clock.paused {
        for number in 0..x.tasks.len() {
            x.cause_all(number);
        }
    } else {
        // Without some of the earlier steps, the timer might have fired earlier.
        x.grew |= x.learnt.mark(&x.groups, IDLE);
        x.touch(Touch::read(IDLE));
    }
}

/// Calls the waker of the granted wait, because futures between a task and its waits may poll only woken children.
pub(crate) fn wake_granted(x: *mut Execution, number: u32) {
    // SAFETY: the machine passes its live execution, and this borrow ends before the waker is called.
    let task = unsafe { &(&(*x).tasks)[number as usize] };
    let foreign =
        task.waits.iter().find(|wait| wait.id == task.grant && task.grant != 0).and_then(|wait| wait.foreign.clone());
    if let Some(waker) = foreign {
        waking(|| waker.wake());
    }
}

/// Drops the wait of an unused grant: its future is alive but no longer polled, so it does not wait.
pub(crate) fn forget_stale(task: &mut Task) {
    let id = std::mem::take(&mut task.grant);
    if id != 0 {
        task.drop_wait(id);
    }
}

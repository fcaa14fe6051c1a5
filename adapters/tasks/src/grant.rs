//! Who can go on, and what a waiting task takes when it does.
//!
//! Who waits is let through by what made it ready, which is a cause. Where a task waits for several things at once, the
//! taking is in a race with what made its own thing ready: another one might have let it through.

use crate::asides::is_aside;
use crate::execution::{CLOCK, DUE, Execution, IDLE, NONE, looks, waking};
use crate::object::{Action, Part};
use crate::task::{State, Task};
use crate::waiting::{On, Ready, Unseen, Wait};
use smallvec::SmallVec;
use whippet_model::{Name, Touch};

/// Waits of a task that can end, by their place among its waits.
type ReadyWaits = SmallVec<[(usize, Ready); 4]>;

/// Finds out which timers may fire.
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
    let waiting = x.tasks.iter().filter(|task| matches!(task.state, State::Blocked | State::Looking { .. }));
    let due = waiting.flat_map(|task| task.live_waits()).filter_map(|wait| match wait.on {
        On::Timer(at) if wait.armed => Some(at),
        _ => None,
    });
    let Some(first) = due.min() else { return };
    if x.clock.paused || x.clock.fired >= timers {
        x.clock.idle = true;
        if x.main_done || (0..x.tasks.len()).any(|number| is_able(x, number)) {
            return;
        }
    }
    x.clock.limit = first;
}

/// What the newest step made ready may let tasks go on that could not.
pub(crate) fn ask_again(x: &mut Execution) {
    // Timers may fire or not, whatever happens.
    if x.clock.used || x.record.recalls {
        x.able.fill(None);
    } else if !x.record.enables.is_empty() {
        let forget = |able: &mut Option<bool>| *able = able.filter(|able| *able);
        x.able.iter_mut().for_each(forget);
    }
}

/// Whether a task can go on. What is ready stays ready: so this is asked again only where it may have changed.
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

/// Decides what a waiting task takes, and notes why it can.
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
    // When it goes on, others may be the first who are due.
    if x.tasks[at].live_waits().any(|wait| matches!(wait.on, On::Timer(_))) {
        x.touch(Touch::add(DUE));
    }
    if x.tasks[at].cancelled().is_some() {
        x.tasks[at].cancelling = true;
        return Action::plain("is cancelled", x.tasks[at].place);
    }
    if abortable && x.tasks[at].poll > 0 {
        return begin_poll(x, at);
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

/// Begins the poll of a waiting task that some execution aborts. From now on an abort does not reach it until it waits again;
/// its look at what it waits for is the next step.
fn begin_poll(x: &mut Execution, at: usize) -> Action {
    let place = x.tasks[at].place;
    let woken = x.tasks[at].woken;
    let mut ready = ready_waits(x, at);
    if let Some(step) = woken {
        x.cause(step);
    }
    if let Some(action) = fire_early(x, at, &mut ready, woken) {
        return action;
    }
    // One reason to go on is enough: the look that follows depends on all of them.
    if let Some((k, found)) = ready.into_iter().min_by_key(|(_, found)| found.since.wrapping_add(1)) {
        let on = x.tasks[at].waits[k].on.clone();
        x.touch_item(&on, found);
    }
    pause(x, at, State::Looking { first: false });
    Action::plain("is polled", place)
}

/// Lets a timer fire that is not due yet, in a step that does not run its task. Where something else is ready too, the search
/// chooses; `ready` is left with that if no timer fires.
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

/// Arms the timers that the running task begins to wait for, unless its poll has something else to take first.
pub(crate) fn arm_timers(x: &mut Execution) {
    let at = x.running as usize;
    let is_new = |wait: &Wait| matches!(wait.on, On::Timer(_)) && !wait.armed;
    if !x.clock.used || !x.tasks[at].live_waits().any(is_new) {
        return;
    }
    let sources = x.tasks[at].live_waits().filter(|wait| !wait.looked && matches!(wait.on, On::Source(..)));
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
    task.waits.iter_mut().filter(live).for_each(|wait| wait.armed = matches!(wait.on, On::Timer(due) if due > now));
}

/// A task in the middle of a poll looks at what it waits for: it takes what is ready, or waits.
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

/// Grants one of the waits that are ready.
fn take_one(x: &mut Execution, at: usize, mut ready: ReadyWaits, woken: bool) -> Action {
    // Where a task waits for several things, whatever lets it through is in a race with what would make another one
    // ready: it could have acted without.
    let several = x.waits_for_several(at) || woken;
    let sole = ready.len() == 1;
    // A timer that is not due could have fired before, unless another one was due first.
    let is_early = |wait: &Wait| matches!(wait.on, On::Timer(due) if due > x.clock.now);
    if x.clock.used && x.tasks[at].live_waits().any(is_early) {
        x.touch(Touch::read(CLOCK));
        x.touch(Touch::read(DUE));
    }
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

/// Lets a task through that waits for one thing only, as most do.
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

/// What a waiting task may take as an aside: see [`pass`].
#[derive(Copy, Clone)]
pub(crate) struct Hope {
    watched: Name,
    freed: Option<Name>,
    task: u32,
    wait: u32,
}

/// The running task is to wait: lets it go on at once if what it waits for is there, and to take it is an aside. Whatever it
/// does next comes after what made this ready. If it is not there yet, that is noted.
///
/// Who waits for several things looks at all of them: it would go on by another one, if that were there first.
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

/// What a wait of the running task may take as an aside.
#[inline]
fn hope(x: &Execution, wait: &Wait) -> Option<Hope> {
    let On::Source(source, key) = &wait.on else { return None };
    let Unseen { watched, freed } = source.unseen(*key).filter(|_| wait.foreign.is_none())?;
    let is_marked = |name| x.groups.is_marked(name);
    let seen = x.every_event || is_marked(watched) || freed.is_some_and(is_marked);
    (!seen).then_some(Hope { watched, freed, task: x.running, wait: wait.id })
}

/// Lets a task through that waits so, if what it waits for is there, and nothing else that it waits for.
#[inline]
fn fulfil(x: &mut Execution, hope: Hope) -> bool {
    let task = &*x.tasks[hope.task as usize];
    let Some(at) = task.waits.iter().position(|wait| wait.id == hope.wait) else { return false };
    task.woken.is_none() && x.is_ready(&task.waits[at].on) && take(x, hope, at)
}

/// Lets a task take what its wait `at` is for, if that is the only thing that is there.
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

/// A task that is let through by one of several things has seen that the others are not there.
fn look_at_others(x: &mut Execution, hope: Hope) {
    if x.record.known {
        return;
    }
    let task = &x.tasks[hope.task as usize];
    for wait in task.live_waits().filter(|wait| wait.id != hope.wait) {
        looks(&wait.on, |touch| x.asides.touch(hope.task, touch));
    }
}

/// The next task that what happened in the running step lets go on without an event; `seen` counts how much of that was
/// looked at.
pub(crate) fn next_to_pass(x: &mut Execution, seen: &mut usize) -> Option<u32> {
    while let Some(&enabled) = x.record.enables.get(*seen) {
        *seen += 1;
        for k in 0..x.hopes.len() {
            if x.hopes[k].watched == enabled && fulfil(x, x.hopes[k]) {
                let task = x.hopes[k].task;
                // Where it is the only one, it is found already.
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

/// A task goes on, for whatever reason: what it hoped for is over.
#[inline]
pub(crate) fn forget_hopes(x: &mut Execution, number: u32) {
    for _ in 0..std::mem::take(&mut x.tasks[number as usize].hopes) {
        let at = x.hopes.iter().position(|hope| hope.task == number).expect("they are noted until it goes on");
        x.hopes.swap_remove(at);
    }
}

/// Notes what a task waits for together.
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
    // Futures that poll only what was woken go by the order of the wakes.
    x.grew |= foreign > 1 && x.learnt.together(&x.groups, &waits);
    for &name in &waits {
        x.grew |= x.learnt.mark(&x.groups, name);
    }
}

/// Notes what task `at` waited for, if that is all that could have let it through.
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
        // A wake from elsewhere would do too.
        awaited.push(task.name);
        if let On::Source(source, key) = on {
            source.causes(*key, &mut x.record.needs);
        }
    }
    x.record.awaited = awaited;
}

/// The waits that can end now, in the order in which the task asks.
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
    // Futures that poll only what was woken go by the order of the wakes.
    let places: SmallVec<[usize; 4]> = (0..ready.len()).filter(|&i| task.waits[ready[i].0].foreign.is_some()).collect();
    let mut by_wake: Vec<_> = places.iter().map(|&i| ready[i]).collect();
    by_wake.sort_by_key(|(_, r)| r.since.wrapping_add(1));
    for (&i, entry) in places.iter().zip(by_wake) {
        ready[i] = entry;
    }
    ready
}

/// An unbiased select with several branches ready: the search chooses. What else was ready, or might have
/// been, then matters.
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

/// The running step depends on whether the other things are ready that task `at` waits for.
fn look_at_all_but(x: &mut Execution, at: usize, wait: u32) {
    let others: SmallVec<[On; 4]> =
        (x.tasks[at].live_waits()).filter(|other| other.id != wait).map(|wait| wait.on.clone()).collect();
    others.iter().for_each(|on| x.look_at(on));
}

/// A timer would fire, but the test is over. It might have fired before: so this is a step, in which nobody goes on, and nobody
/// asks what else might be there.
fn too_late(x: &mut Execution, at: usize, action: Action) -> Action {
    look_at_all_but(x, at, x.tasks[at].grant);
    x.touch(Touch::write(CLOCK));
    x.touch(Touch::read(DUE));
    forget_stale(&mut x.tasks[at]);
    x.record.vain = true;
    x.running = NONE;
    Action::plain("waits for a timer in vain: the test is over", action.place)
}

/// A timer fires: time goes on to it.
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
    // Nothing else could happen: everything so far comes before.
    if x.clock.paused {
        for number in 0..x.tasks.len() {
            x.cause_all(number);
        }
    } else {
        // Without some of it, it might have been early.
        x.grew |= x.learnt.mark(&x.groups, IDLE);
        x.touch(Touch::read(IDLE));
    }
}

/// Futures between a task and what it waits for may poll only what was woken.
pub(crate) fn wake_granted(x: *mut Execution, number: u32) {
    let task = unsafe { &(&(*x).tasks)[number as usize] };
    let foreign =
        task.waits.iter().find(|wait| wait.id == task.grant && task.grant != 0).and_then(|wait| wait.foreign.clone());
    if let Some(waker) = foreign {
        waking(|| waker.wake());
    }
}

/// A grant that nobody used was for a future that is alive and not polled: it does not wait.
pub(crate) fn forget_stale(task: &mut Task) {
    let id = std::mem::take(&mut task.grant);
    if id != 0 {
        task.drop_wait(id);
    }
}

//! Timers of tasks: which may fire, and what firing one touches. [`crate::clock`] says how virtual time passes.

use crate::execution::{CLOCK, DUE, Execution, IDLE, NONE};
use crate::grant::{ReadyWaits, forget_stale, is_able, look_at_all_but, pause};
use crate::object::Action;
use crate::points::Point;
use crate::spinning;
use crate::system::SHOWN;
use crate::task::{State, Task};
use crate::waiting::{Wait, WaitTarget};
use smallvec::SmallVec;
use whippet_model::Touch;

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
    x.clock.always_idle = x.clock.paused || first.saturating_sub(x.clock.now) > x.clock.stall;
    if x.clock.always_idle || x.clock.fired >= timers {
        x.clock.idle = true;
        // Tasks that spin take time.
        let is_busy = if spinning::is_any(x) {
            !spinning::are_alone(x) || !spinning::have_had_their_round(x)
        } else {
            (0..x.tasks.len()).any(|number| is_able(x, number))
        };
        if x.ending.main_done || is_busy {
            return;
        }
    }
    x.clock.limit = first;
}

/// Returns `true` if a timer is waiting to fire.
pub(crate) fn has_timers(x: &Execution) -> bool {
    x.clock.used && x.tasks.iter().any(|task| first_timer(task).is_some_and(|due| due > x.clock.now))
}

/// Returns the earliest timer of a task that may fire. In the middle of a poll, these are the timers that the poll has
/// registered.
fn first_timer(task: &Task) -> Option<u64> {
    let amid = match task.state {
        State::Blocked | State::Looking { .. } => false,
        State::Event(_) => true,
        State::Fresh | State::Abandoned | State::Done => return None,
    };
    let due = task.live_waits().filter_map(|wait| match wait.on {
        WaitTarget::Timer(at) if wait.armed && (wait.polled.exact || !amid) => Some(at),
        _ => None,
    });
    due.min()
}

/// Fires the timer of a task that is suspended before an event, in the middle of the poll that has registered the
/// timer. Otherwise the event comes first, by a choice of the search.
pub(crate) fn fire_amid(x: &mut Execution, number: u32) -> Option<Action> {
    let at = number as usize;
    let due = first_timer(&x.tasks[at])?;
    x.facts.set_running(number);
    x.touch(Touch::read(CLOCK));
    x.touch(Touch::write(DUE));
    if due <= x.clock.now || due > x.clock.limit || x.ending.main_done || x.choose(2) == 0 {
        return None;
    }
    let fires = |wait: &&Wait| matches!(wait.on, WaitTarget::Timer(at) if at == due);
    let place = x.tasks[at].live_waits().find(fires)?.action.place;
    fire(x, due);
    x.record.runs_nothing = true;
    x.facts.set_running(NONE);
    Some(Action::plain(Point::LetsTimerFire, place))
}

/// Makes the running step depend on the timers of task `at` that are not due: they could have fired before, unless
/// another one was due first.
pub(crate) fn look_at_clock(x: &mut Execution, at: usize) {
    let is_early = |wait: &Wait| matches!(wait.on, WaitTarget::Timer(due) if due > x.clock.now);
    if x.clock.used && x.tasks[at].live_waits().any(is_early) {
        x.touch(Touch::read(CLOCK));
        x.touch(Touch::read(DUE));
    }
}

/// Fires a timer that is not due yet, in a step that does not run its task. If another wait is ready too, the search
/// chooses; if no timer fires, `ready` keeps only the other waits.
pub(crate) fn fire_early(x: &mut Execution, at: usize, ready: &mut ReadyWaits, woken: Option<u32>) -> Option<Action> {
    let is_early =
        |x: &Execution, k: usize| matches!(x.tasks[at].waits[k].on, WaitTarget::Timer(due) if due > x.clock.now);
    let timer = ready.iter().map(|&(k, _)| k).find(|&k| is_early(x, k))?;
    let others = woken.is_some() || ready.iter().any(|&(k, _)| !is_early(x, k));
    if others && x.choose(2) == 1 {
        ready.retain(|&mut (k, _)| !is_early(x, k));
        return None;
    }
    let Wait { id, action, on: WaitTarget::Timer(due), .. } = x.tasks[at].waits[timer] else { return None };
    if x.ending.main_done {
        x.tasks[at].grant = id;
        return Some(too_late(x, at, action));
    }
    look_at_all_but(x, at, id);
    fire(x, due);
    x.tasks[at].interrupts.woken = woken;
    pause(x, at, State::Blocked);
    Some(Action::plain(Point::LetsTimerFire, action.place))
}

/// Arms the timers that the running task begins to wait for, unless another wait of its poll is ready.
pub(crate) fn arm_timers(x: &mut Execution) {
    let at = x.running() as usize;
    let is_new = |wait: &Wait| matches!(wait.on, WaitTarget::Timer(_)) && !wait.armed;
    if !x.clock.used || !x.tasks[at].live_waits().any(is_new) {
        return;
    }
    let is_unseen =
        |wait: &&Wait| !x.tasks[at].has_seen(wait) && !wait.polled.exact && matches!(wait.on, WaitTarget::Object(..));
    let sources = x.tasks[at].live_waits().filter(is_unseen);
    let sources: SmallVec<[WaitTarget; 4]> = sources.map(|wait| wait.on.clone()).collect();
    sources.iter().for_each(|on| x.look_at(on));
    let is_due =
        |wait: &Wait| matches!(wait.on, WaitTarget::Timer(due) if due <= x.clock.now) && !x.tasks[at].has_seen(wait);
    if !sources.iter().any(|on| x.is_ready(on)) && !x.tasks[at].live_waits().any(is_due) {
        arm_all(x, at);
    }
}

/// Arms the timers of a task that are not due yet.
pub(crate) fn arm_all(x: &mut Execution, at: usize) {
    let (now, task) = (x.clock.now, &mut *x.tasks[at]);
    let poll = task.polling.number;
    let live = |wait: &&mut Wait| wait.polled.poll == poll || wait.foreign.is_some();
    task.waits
        .iter_mut()
        .filter(live)
        .for_each(|wait| wait.armed |= matches!(wait.on, WaitTarget::Timer(due) if due > now));
}

/// Handles a timer that would fire after the test has ended. It might have fired earlier, so this is a step, but no
/// task runs in it and no other wait is granted.
pub(crate) fn too_late(x: &mut Execution, at: usize, action: Action) -> Action {
    look_at_all_but(x, at, x.tasks[at].grant);
    x.touch(Touch::write(CLOCK));
    x.touch(Touch::read(DUE));
    // No task runs now: a destructor of the user does not find the execution.
    drop(forget_stale(&mut x.tasks[at]));
    x.record.runs_nothing = true;
    x.facts.set_running(NONE);
    Action::plain(Point::TimerIsTooLate, action.place)
}

/// Fires a timer and advances the clock to it.
pub(crate) fn fire(x: &mut Execution, due: u64) {
    if due <= x.clock.now {
        return x.touch(Touch::read(CLOCK));
    }
    x.touch(Touch::write(CLOCK));
    x.touch(Touch::write(SHOWN));
    x.touch(Touch::read(DUE));
    let advance = due - x.clock.now;
    x.clock.advance(due, x.step);
    if !x.clock.idle {
        x.clock.fired += 1;
        x.record.fires = Some(advance);
        return;
    }
    // No other step was possible: everything so far happens before.
    if x.clock.always_idle {
        for number in 0..x.tasks.len() {
            x.cause_all(number);
        }
    } else {
        // Without some of the earlier steps, the timer might have fired earlier.
        x.clock.fired += 1;
        x.mark(IDLE);
        x.touch(Touch::read(IDLE));
    }
}

//! One step of an execution.

use crate::current::Live;
use crate::drive::resume;
use crate::execution::NONE;
use crate::grant::{ask_again, grant, wake_granted};
use crate::hand_polls::wake_polled;
use crate::one_thread::{log_action, log_step};
use crate::panics::quietly;
use crate::passing::next_to_pass;
use crate::record::Noting;
use crate::spinning;
use crate::stalls::note_reasons;
use crate::task::State;
use crate::timers::{fire_amid, refresh};
use whippet_model::Choice;

/// Takes step number `step` of an execution. Its footprint is left in the execution's record. `timers` is
/// [`Settings::timers`](crate::Settings::timers).
pub(crate) fn take(live: &mut Live, step: u32, choice: Choice, noting: Noting, timers: u64) {
    let number = choice.what.0;
    let x = live.get_mut();
    x.step = step;
    let task = &mut x.tasks[number as usize];
    task.steps += 1;
    (task.past.in_merged, task.past.taking) = (false, false);
    let event = task.name.mixed(0x5354_4550).child(task.steps).going(choice.branch);
    x.record.begin(event, choice.branch, noting);
    if noting == Noting::Recorded {
        x.merging.events.step(x.step, number);
    }
    spinning::begin_step(x, number as usize);
    x.cause_all(number as usize);
    note_reasons(x, number);
    log_step(x, number);
    let task = &mut x.tasks[number as usize];
    task.past.after.clear();
    task.past.after.push(step);
    task.past.last_merged = NONE;
    if let State::Event(action) = x.tasks[number as usize].state {
        refresh(x, timers);
        let action = if x.clock.used { fire_amid(x, number).unwrap_or(action) } else { action };
        log_action(x, number, &action);
        x.record.action = Some(action);
    } else {
        refresh(x, timers);
        x.record.waited = true;
        let action = grant(x, number);
        log_action(x, number, &action);
        x.record.action = Some(action);
    }
    if !x.record.runs_nothing {
        let live = &*live;
        quietly(|| {
            live.enter(|| {
                wake_granted(live, number);
                resume(live, number);
                run_on(live);
                live.with(|x| x.wakes.enable());
                wake_polled();
            });
        });
    }
    ask_again(live.get_mut());
}

/// Runs new tasks to their first event, and other tasks that can continue without an event.
pub(crate) fn run_on(live: &Live) {
    let mut seen = 0;
    let mut next = || {
        live.with(|x| match x.ending.impossible {
            true => None,
            false => x.tasks.fresh.pop_front().or_else(|| next_to_pass(x, &mut seen)),
        })
    };
    while let Some(number) = next() {
        resume(live, number);
    }
}

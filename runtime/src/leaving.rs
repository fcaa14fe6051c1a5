//! Leaving an execution: what becomes of its tasks when the search goes on with another one.
//!
//! A search leaves executions at any step, and tasks are then suspended in the middle of their code. This code cannot be
//! frozen: its values have destructors. Nor may it run on as it likes, because it would see states that no runtime shows,
//! and what it does then (it writes a file, it logs) is seen outside. So:
//!
//! 1. tasks in the middle of a poll run to their next wait by ordinary steps of the execution, which are like those that
//!    a search takes. Whatever code of the user sees is therefore a state of some execution. The steps are not recorded,
//!    and nothing is learnt from them;
//! 2. then the execution is over: all tasks are dropped, as by a runtime that shuts down. Code that is suspended in the
//!    middle of a poll even now unwinds: a thread that blocks, a task that spins, a task whose poll is
//!    [impossible](crate::ending::Ending::impossible). Only destructors run, and operations in them do nothing.

use crate::current::Live;
use crate::drive::resume;
use crate::panics::quietly;
use crate::record::Noting;
use crate::stepping::take;
use crate::task::{State, Task, next_to_clear};
use whippet_model::{Choice, Pending};

/// The most steps by which tasks come to a wait. A task that does not by then is unwound: it may spin until a blocked task
/// acts.
const MOST_STEPS: u32 = 10_000;

/// Clears an execution away that has taken `steps` steps. `timers` is [`Settings::timers`](crate::Settings::timers).
pub(crate) fn leave(live: &mut Live, steps: u32, timers: u64) {
    if live.get_mut().ending.misuse.is_none() {
        live.get_mut().learning.is_muted = true;
        finish_polls(live, steps, timers);
        live.get_mut().learning.is_muted = false;
    }
    live.facts().set_over();
    quietly(|| live.enter(|| drop_tasks(live)));
}

/// Lets all tasks that are in the middle of a poll take steps, in turn, until each has to wait.
fn finish_polls(live: &mut Live, steps: u32, timers: u64) {
    let mut from = 0;
    for step in steps..steps.saturating_add(MOST_STEPS) {
        let x = live.get_mut();
        // The task whose poll is impossible goes no further. Nothing has come of that poll, so it is as if it had not
        // begun, and the others are in a state that is possible.
        x.ending.impossible = false;
        let Some(number) = next_in_poll(&x.tasks, from) else { return };
        take(live, step, Choice::first(Pending(number as u32)), Noting::Unrecorded, timers);
        if live.get_mut().ending.misuse.is_some() {
            return;
        }
        from = number + 1;
    }
}

/// Returns the first task from number `from` on, and then around, that is suspended before an event.
fn next_in_poll(tasks: &[Box<Task>], from: usize) -> Option<usize> {
    let is_in_poll = |number: &usize| matches!(tasks[*number].state, State::Event(_));
    (from..tasks.len()).chain(0..from.min(tasks.len())).find(is_in_poll)
}

/// Drops the tasks of an execution that is over.
fn drop_tasks(live: &Live) {
    while let Some(number) = live.with(|x| next_to_clear(&x.tasks)) {
        resume(live, number as u32);
        live.with(|x| x.tasks[number].state = State::Done);
    }
    // Tasks may hold the last handles of the user's objects, whose destructors may access the execution and even spawn
    // tasks: they run while it is not in use.
    let mut tasks = live.with(|x| x.tasks.take_all());
    tasks.iter_mut().for_each(|task| task.clear());
    drop(live.with(|x| x.tasks.reuse(tasks)));
}

//! The reference model: every outcome of a program, by brute force over all interleavings.
//!
//! # States and steps
//!
//! A state is a plain value: the objects, the tasks with their operation, the future they poll, what they hold and
//! their log, and the clock. The search takes every step of every task that can take one, and remembers the states it
//! has seen. Any number of worker threads is assumed: any task that can go on may take the next step. One step is one
//! operation of a task, one poll of one leaf, one drop that others can notice, or the beginning of a poll of a task
//! that can be aborted. Steps that touch only the private state of their task are taken at once.
//!
//! A pending task is polled again when at least one leaf it waits for would be ready. What is ready stays ready until
//! its task acts, so wakeups are not part of the state.
//!
//! # Time
//!
//! The clock moves in a step of its own, at any moment at which a task awaits a timer that it has polled, and none of
//! these timers is due already: to the earliest deadline.
//!
//! If a task can take a step at that moment, the runtime stalls for the time that passes. With a budget
//! ([`outcomes_within`]), the clock moves only as long as the stalls of the execution stay within it.
//!
//! # Granularity
//!
//! See [`Granularity`]. Everything else is atomic.

mod borrow;
mod channels;
mod context;
mod ending;
mod leaf;
mod notify;
mod objects;
mod operation;
mod run;
mod semaphore;
mod state;
mod step;
mod tasks;
mod time;

use crate::outcome::{End, Outcome, TaskOutcome};
use crate::program::{Program, TaskId};
use context::Context;
use run::Ran;
use rustc_hash::FxHashSet;
use state::{State, Status};
use std::collections::BTreeSet;
use step::{Pause, Step};

/// The granularity at which other tasks may interleave with one poll of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// A leaf that is polled and stays pending without an effect that others could notice is glued to what follows in
    /// the same poll, so a biased `select!` never takes a later branch while an earlier one is ready. A permit to send
    /// and the message are one step, as is every operation. The clock does not move because of a timer that its task
    /// no longer awaits: after a `select!` has completed, and while a task is dropped.
    Coarse,
    /// Others may come in between any two polls of leaves, between the creation of futures and their first poll,
    /// between a permit to send and the message, and between the parts of a drop: what a runtime with several threads
    /// can really do.
    Fine,
    /// As [`Granularity::Fine`], on a real clock. The system may stop a thread between the creation of a timer and its first
    /// poll, for so long that the timer is due when it is polled: the clock also moves because of timers that were
    /// not polled yet. And a timer that is due at its first poll may be pending, because timers are rounded up.
    RealClock,
    /// Others come in between two polls only, and `yield_now` lets all tasks run that can go on, until none can: what a runtime
    /// with one thread can do, whatever its queue. The clock moves between polls.
    Poll,
}

impl Granularity {
    /// Returns `true` if others may come in inside of a poll.
    pub(crate) fn is_fine(self) -> bool {
        matches!(self, Granularity::Fine | Granularity::RealClock)
    }
}

/// Computes the outcomes of a program, or `None` if it has more than `max_states` states.
pub fn outcomes(program: &Program, granularity: Granularity, max_states: usize) -> Option<BTreeSet<Outcome>> {
    explore(program, granularity, max_states).map(|(outcomes, _)| outcomes)
}

/// Computes the outcomes of the executions in which the runtime stalls for at most `stall` ticks in total.
pub fn outcomes_within(
    program: &Program,
    granularity: Granularity,
    max_states: usize,
    stall: u64,
) -> Option<BTreeSet<Outcome>> {
    explore_within(program, granularity, max_states, stall).map(|(outcomes, _)| outcomes)
}

/// Computes the outcomes of a program, with the number of its states.
pub fn explore(program: &Program, granularity: Granularity, max_states: usize) -> Option<(BTreeSet<Outcome>, usize)> {
    explore_within(program, granularity, max_states, u64::MAX)
}

fn explore_within(
    program: &Program,
    granularity: Granularity,
    max_states: usize,
    stall: u64,
) -> Option<(BTreeSet<Outcome>, usize)> {
    let context = Context::new(program, granularity);
    let mut found = BTreeSet::new();
    let mut seen: FxHashSet<u128> = FxHashSet::default();
    let mut open = vec![run::initial(&context)];
    let mut successors = Vec::new();
    while let Some(state) = open.pop() {
        if !seen.insert(state.fingerprint()) {
            continue;
        }
        if seen.len() > max_states {
            return None;
        }
        for task in 0..state.tasks.len() {
            if run::can_step(&context, &state, task) {
                step(&context, &state, task, &mut successors);
            }
        }
        let can_stall = !successors.is_empty();
        successors.extend(time::advanced(granularity, &state, can_stall, stall));
        if successors.is_empty() {
            found.insert(outcome(&context, &state));
        }
        open.append(&mut successors);
    }
    Some((found, seen.len()))
}

/// Takes a step of a task, in all ways in which it can be taken.
fn step(context: &Context<'_>, state: &State, task: TaskId, successors: &mut Vec<State>) {
    let mut begun = state.clone();
    if context.granularity == Granularity::Poll {
        run::begin_turn(context, &mut begun, task);
    }
    let mut open = vec![(begun, None)];
    while let Some((mut state, mut choice)) = open.pop() {
        let mut paused = false;
        loop {
            let mut step = Step { context, state: &mut state, task, branch: 0, choice };
            match step.run() {
                Ran::Choose(possibilities) => {
                    open.extend((0..possibilities).map(|choice| (state.clone(), Some(choice))));
                    break;
                }
                Ran::Paused(pause) => {
                    choice = None;
                    paused |= pauses(context, pause);
                }
            }
            let stops = if context.granularity == Granularity::Poll {
                state.tasks[task].status == Status::Idle
            } else {
                // Once others may come in, only steps that do not concern them are taken.
                paused && !run::is_private_next(context, &state, task)
            };
            if has_ended(&state, task) || stops {
                if context.granularity == Granularity::Poll {
                    run::end_turn(&mut state, task);
                }
                successors.push(state);
                break;
            }
        }
    }
}

fn pauses(context: &Context<'_>, pause: Pause) -> bool {
    pause == Pause::Always || (pause == Pause::Fine && context.granularity.is_fine())
}

fn has_ended(state: &State, task: TaskId) -> bool {
    matches!(state.tasks[task].status, Status::Ended(_))
}

fn outcome(context: &Context<'_>, state: &State) -> Outcome {
    let tasks = state.tasks.iter().map(|task| TaskOutcome {
        end: match task.status {
            Status::NotSpawned => End::NotSpawned,
            Status::Ended(end) => end,
            _ => End::Blocked,
        },
        log: context.entries(task.log),
    });
    Outcome { tasks: tasks.collect() }
}

//! The clock.

use super::Granularity;
use super::state::{LeafState, Phase, State, Status, Task, Timer};

/// Moves the clock to the earliest deadline, if a timer is registered and none is due. If a task can take a step
/// (`stalls`), the runtime stalls meanwhile, for at most `budget` ticks in an execution.
///
/// With fine granularity, timers that are due do not stop the clock: their tasks may be delayed for any time.
pub(super) fn advanced(granularity: Granularity, state: &State, stalls: bool, budget: u64) -> Option<State> {
    let mut earliest: Option<u64> = None;
    let counts = |task: &&Task| granularity.is_fine() || !drops_timers(task);
    for task in state.tasks.iter().filter(|task| counts(&&***task)) {
        for leaf in &task.leaves {
            deadlines(task, leaf, granularity == Granularity::RealClock, &mut |deadline| {
                if !granularity.is_fine() || deadline > state.clock {
                    earliest = Some(earliest.map_or(deadline, |earliest| earliest.min(deadline)));
                }
            });
        }
    }
    let deadline = earliest.filter(|&deadline| deadline > state.clock)?;
    let mut later = state.clone();
    later.clock = deadline;
    if stalls && budget < u64::MAX {
        later.stalled += deadline - state.clock;
    }
    (later.stalled <= budget).then_some(later)
}

/// Returns `true` if a task no longer awaits its timers, and is about to drop them.
fn drops_timers(task: &Task) -> bool {
    matches!(task.phase, Phase::Winner { .. }) || matches!(task.status, Status::Ending(_))
}

/// Calls `add` with the deadlines of a leaf's timers, registered ones or `all`.
fn deadlines(task: &Task, leaf: &LeafState, all: bool, add: &mut dyn FnMut(u64)) {
    let mut take = |timer: &Timer| {
        if all || timer.registered {
            add(timer.deadline);
        }
    };
    match leaf {
        LeafState::Sleep(timer) => take(timer),
        LeafState::Tick(registered) => {
            let interval = task.hands.interval.expect("created with the leaf");
            take(&Timer { deadline: interval.deadline, registered: *registered });
        }
        LeafState::LimitedSend { timer: Some(timer), .. } => take(timer),
        LeafState::Within { timer, leaf, .. } => {
            take(timer);
            deadlines(task, leaf, all, add);
        }
        LeafState::ThenLeaf(_, Some(leaf)) => deadlines(task, leaf, all, add),
        _ => {}
    }
}

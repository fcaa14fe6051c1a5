//! The clock.

use super::Granularity;
use super::state::{LeafState, Phase, State, Status, Task, Timer};

/// Moves the clock to the earliest deadline, if a timer is registered and none is due. If a task can take a step
/// (`stalls`), the runtime stalls meanwhile, for at most `budget` ticks in an execution.
pub(super) fn advanced(granularity: Granularity, state: &State, stalls: bool, budget: u64) -> Option<State> {
    let mut earliest: Option<u64> = None;
    let counts = |task: &&Task| granularity == Granularity::Fine || !drops_timers(task);
    for task in state.tasks.iter().filter(|task| counts(&&***task)) {
        for leaf in &task.leaves {
            earliest_of(task, leaf, &mut earliest);
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

fn earliest_of(task: &Task, leaf: &LeafState, earliest: &mut Option<u64>) {
    let mut take = |timer: &Timer| {
        if timer.registered {
            *earliest = Some(earliest.map_or(timer.deadline, |deadline| deadline.min(timer.deadline)));
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
            earliest_of(task, leaf, earliest);
        }
        LeafState::ThenLeaf(_, Some(leaf)) => earliest_of(task, leaf, earliest),
        _ => {}
    }
}

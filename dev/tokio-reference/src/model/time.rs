//! The clock.

use super::state::{LeafState, State, Task, Timer};

/// Moves the clock to the earliest deadline, if a timer is registered and none is due.
pub(super) fn advanced(state: &State) -> Option<State> {
    let mut earliest: Option<u64> = None;
    for task in &state.tasks {
        for leaf in &task.leaves {
            earliest_of(task, leaf, &mut earliest);
        }
    }
    let deadline = earliest.filter(|&deadline| deadline > state.clock)?;
    let mut later = state.clone();
    later.clock = deadline;
    Some(later)
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

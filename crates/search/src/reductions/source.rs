//! Source sets with sleep sets (Abdulla, Aronis, Jonsson, Sagonas: "Source Sets").
//!
//! Before a step e that can be reversed, some choice must be explored that can begin a sequence without e. One is
//! enough: a set of choices that contains such a choice for everything that can happen is a source set. Each trace is
//! explored once. But without a wakeup tree nothing determines how to continue after the choice, and the search may
//! reach a configuration in which everything is asleep: such executions are blocked and abandoned.
//!
//! The rest is shared with the search that uses wakeup trees (`wakeup.rs`). But where two events are dependent iff
//! they belong to the same actor, [`reverse`] finds the reversible races without moving the machine: a message could
//! have been delivered before any earlier step of its receiver that is not in the past of its send, if the receiver
//! accepts it there.

use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{EventLabel, ExecutionRecord};
use crate::reductions::optimal::wakeup::{Keep, Levels, explore};
use smallvec::{SmallVec, smallvec};
use whippet_model::{Branch, Machine, Pending, Touch};

/// Explores each trace once, and possibly some blocked executions.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::First)
}

/// Ensures that the reversal of each reversible race is explored. The machine has taken all steps of the record; the
/// races of the first `examined` steps have been handled before.
pub(crate) fn reverse<M: Machine>(
    run: &mut Run<'_, M>,
    record: &ExecutionRecord,
    levels: &mut Levels,
    examined: usize,
) {
    let mut causes = Vec::new();
    for late in examined..record.len() {
        let Some(before) = record.clocks.previous(late) else { continue };
        causes.clear();
        run.machine().causes(late, &mut causes);
        let caused = |at: usize| causes.iter().any(|&cause| record.clocks.before(at, cause));
        if caused(before) {
            continue;
        }
        let what = run.machine().step(late).choice.what;
        let event = EventLabel { branch: Branch::FIRST, next: None, ..record.steps[late].event.clone() };
        // Only the nearest configuration that accepts the message counts: from there, the reversal continues to
        // earlier ones.
        let mut place = Some(before);
        while let Some(at) = place.filter(|&at| !caused(at)) {
            if run.accepted_at(what, at) {
                explore_before(record, levels, at, late, &event);
                break;
            }
            place = record.clocks.previous(at);
        }
    }
    let mut left = Vec::new();
    run.machine().pending(&mut left);
    for what in left {
        reverse_left(run, record, levels, what);
    }
}

/// Does the same for a message that could not be delivered in the end: any step of its receiver may have prevented
/// it.
fn reverse_left<M: Machine>(run: &mut Run<'_, M>, record: &ExecutionRecord, levels: &mut Levels, what: Pending) {
    let actor = run.machine().actor(what);
    let sender = (0..record.len()).find(|&at| run.machine().sent(at).contains(&what.0));
    let touches = smallvec![Touch::write(record.names.of(actor))];
    let event = EventLabel { thread: run.machine().thread(what), branch: Branch::FIRST, next: None, touches };
    let mut place = record.clocks.last_of(actor.0);
    while let Some(at) = place.filter(|&at| sender.is_none_or(|sender| !record.clocks.before(at, sender))) {
        if run.accepted_at(what, at) {
            explore_before(record, levels, at, record.len(), &event);
        }
        place = record.clocks.previous(at);
    }
}

/// Ensures that a choice is explored before step `at` that leads to `event`. The event depends on nothing after that
/// step, and it can follow the steps up to `late` that are independent of step `at`.
fn explore_before(record: &ExecutionRecord, levels: &mut Levels, at: usize, late: usize, event: &EventLabel) {
    let rest: SmallVec<[u32; 32]> =
        (at + 1..late).filter(|&step| !record.clocks.before(at, step)).map(|step| step as u32).collect();
    let sequence = rest.iter().map(|&step| &record.steps[step as usize].event).chain([event]);
    if !levels.leads_to(at, sequence.clone()) {
        let first = sequence.into_iter().next().unwrap_or(event).clone();
        levels.add(at, first);
    }
}

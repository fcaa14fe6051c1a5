//! Source sets with sleep sets (Abdulla, Aronis, Jonsson, Sagonas: "Source Sets").
//!
//! Before a step e that can be reversed, some choice must be explored that can begin what would come instead of e. One is
//! enough: a set of choices that has one for everything that can happen is a source set. Each trace is explored
//! once, but without a wakeup tree nobody tells the choice how to go on, and it may run into a configuration
//! where everything sleeps: such executions are blocked and given up.
//!
//! The rest is shared with the search that has wakeup trees; but where exactly the events of one actor are dependent, it is
//! simple to say what can be reversed ([`reverse`]), without going anywhere: a message that an actor took could have been taken
//! before any earlier one of that actor which is not in the past of its sending, if it is accepted there.

use crate::acts::{Act, Record};
use crate::run::{Run, Stop};
use crate::wakeup::{Keep, Levels, explore};
use smallvec::{SmallVec, smallvec};
use whippet_model::{Branch, Machine, Pending, Touch};

/// Explores each trace once, and perhaps some blocked executions.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::First)
}

/// Sees to it that everything is explored that could have happened instead of a step. The machine has taken all steps of
/// the record; what the first `examined` of them could have come before is known.
pub(crate) fn reverse<M: Machine>(run: &mut Run<'_, M>, record: &Record, levels: &mut Levels, examined: usize) {
    let mut causes = Vec::new();
    for late in examined..record.len() {
        let Some(before) = record.clocks.previous(late) else { continue };
        causes.clear();
        run.machine.causes(late, &mut causes);
        let caused = |at: usize| causes.iter().any(|&cause| record.clocks.before(at, cause));
        if caused(before) {
            continue;
        }
        let what = run.machine.step(late).choice.what;
        let act = Act { branch: Branch::FIRST, next: None, ..record.steps[late].act.clone() };
        // The nearest configuration that accepts it counts: from there it can go on to those before.
        let mut place = Some(before);
        while let Some(at) = place.filter(|&at| !caused(at)) {
            if run.accepted_at(what, at) {
                explore_before(record, levels, at, late, &act);
                break;
            }
            place = record.clocks.previous(at);
        }
    }
    let mut left = Vec::new();
    run.machine.pending(&mut left);
    for what in left {
        reverse_left(run, record, levels, what);
    }
}

/// The same for a message that could not be taken in the end: any step of its receiver may have shut it out.
fn reverse_left<M: Machine>(run: &mut Run<'_, M>, record: &Record, levels: &mut Levels, what: Pending) {
    let actor = run.machine.actor(what);
    let sender = (0..record.len()).find(|&at| run.machine.sent(at).contains(&what.0));
    let touches = smallvec![Touch::write(record.names.of(actor))];
    let act = Act { thread: run.machine.thread(what), branch: Branch::FIRST, next: None, touches };
    let mut place = record.clocks.last_of(actor.0);
    while let Some(at) = place.filter(|&at| sender.is_none_or(|sender| !record.clocks.before(at, sender))) {
        if run.accepted_at(what, at) {
            explore_before(record, levels, at, record.len(), &act);
        }
        place = record.clocks.previous(at);
    }
}

/// Sees to it that something is explored before step `at` that leads to this act: it needs nothing of what happens after
/// that step, and can follow the other steps up to `late`.
fn explore_before(record: &Record, levels: &mut Levels, at: usize, late: usize, act: &Act) {
    let rest: SmallVec<[u32; 32]> =
        (at + 1..late).filter(|&step| !record.clocks.before(at, step)).map(|step| step as u32).collect();
    let sequence = rest.iter().map(|&step| &record.steps[step as usize].act).chain([act]);
    if !levels.leads_to(at, sequence.clone()) {
        let first = sequence.into_iter().next().unwrap_or(act).clone();
        levels.add(at, first);
    }
}

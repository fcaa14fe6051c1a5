//! Turns the execution of a machine into a [`Trace`]: actors by their labels, events with their immediate predecessors.

use rustc_hash::FxHashMap;
use whippet_model::{Clocks, Dependence, Effect, EventKind, Machine, StepDescription, Trace, TraceActor, TraceEvent};

/// The longest execution whose happens-before is computed for a trace: the clocks take memory quadratic in the length.
const LONGEST: usize = 20_000;

/// Returns a trace of steps whose order is not known but for their sequence.
pub(crate) fn sequence(described: &[StepDescription]) -> Trace {
    let mut trace = Trace::default();
    let mut numbers = FxHashMap::default();
    for step in described {
        let mut number = |label: &str| {
            *numbers.entry(label.to_owned()).or_insert_with(|| {
                trace.actors.push(TraceActor::named(label));
                trace.actors.len() as u32 - 1
            })
        };
        let actor = number(&step.actor);
        let from = step.from.as_deref().map(number);
        if step.created_at.is_some() {
            trace.actors[actor as usize].place.clone_from(&step.created_at);
        }
        trace.events.push(TraceEvent {
            actor,
            kind: step.kind,
            text: step.action.clone(),
            message: step.message.clone(),
            from,
            sent_at: step.sent_at.clone(),
            place: step.place.clone(),
            effects: step.effects.iter().map(|text| Effect { text: text.clone() }).collect(),
            changes: step.changes.clone(),
            state: step.state.clone(),
            touches: step.touches.clone(),
            ..TraceEvent::default()
        });
    }
    trace.fold();
    trace
}

/// Returns the trace of the execution that a machine is in, given the descriptions of its steps. If there are more
/// descriptions than steps, the last one is a step that did not end.
pub(crate) fn trace<M: Machine>(machine: &M, described: &[StepDescription]) -> Trace {
    let mut trace = sequence(described);
    let mut clocks = Clocks::new();
    let ordered = machine.depth() <= LONGEST;
    if ordered {
        clocks.follow(machine);
    }
    let mut sender = FxHashMap::default();
    for (at, event) in trace.events.iter_mut().enumerate().take(machine.depth()) {
        let taken = machine.step(at);
        event.name = format!("{:016x}", taken.event.0);
        let mut causes = Vec::new();
        machine.causes(at, &mut causes);
        event.sent_by = match machine.profile().dependence {
            Dependence::PerActor => sender.get(&taken.choice.what).copied(),
            Dependence::Footprints if event.kind == EventKind::Receive => causes.last().map(|&at| at as u32),
            Dependence::Footprints => None,
        };
        sender.extend(machine.sent(at).map(|what| (whippet_model::Pending(what), at as u32)));
        if ordered {
            causes.extend(clocks.conflicts(at).iter().map(|&at| at as usize));
            causes.extend(clocks.previous(at).filter(|&earlier| clocks.before(earlier, at)));
        }
        causes.retain(|&earlier| earlier < at);
        causes.sort_unstable();
        causes.dedup();
        let implied = |&one: &usize| causes.iter().any(|&other| one < other && clocks.before(one, other));
        let kept = causes.iter().copied().filter(|one| !ordered || !implied(one) || event.sent_by == Some(*one as u32));
        event.causes = kept.map(|at| at as u32).collect();
    }
    trace
}

//! Traces, told in the plainest way: which events there were, and in which order those came that depend on each
//! other. Nothing of the searches' own arithmetic is used, so that it is judged too.

use whippet_model::{Machine, Name, Relation, conflict};

/// What executions have in common that differ only in the order of independent events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trace(Vec<(Name, Vec<Name>)>);

impl Trace {
    /// Of events in the order of an execution; `dependent` is asked about an earlier and a later one.
    pub fn new(events: &[Name], dependent: impl Fn(usize, usize) -> bool) -> Trace {
        let earlier = |at: usize| {
            let mut earlier: Vec<Name> = (0..at).filter(|&k| dependent(k, at)).map(|k| events[k]).collect();
            earlier.sort_unstable();
            earlier
        };
        let mut all: Vec<_> = (0..events.len()).map(|at| (events[at], earlier(at))).collect();
        all.sort_unstable();
        Trace(all)
    }

    /// Of the steps that a machine has taken.
    pub fn of<M: Machine>(machine: &M) -> Trace {
        let steps: Vec<_> = (0..machine.depth()).map(|at| machine.step(at)).collect();
        let events: Vec<Name> = steps.iter().map(|step| step.event).collect();
        match machine.relation() {
            Relation::SameActor => Trace::new(&events, |a, b| steps[a].actor == steps[b].actor),
            Relation::Footprints => Trace::new(&events, |a, b| conflict(machine.touches(a), machine.touches(b))),
        }
    }
}

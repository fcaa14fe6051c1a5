//! Traces, told in the plainest way: which events there were, and in which order those came that depend on each
//! other. Nothing of the searches' own arithmetic is used, so that it is judged too.

use whippet_model::{Machine, Name, Relation, conflict};

/// What executions have in common that differ only in the order of independent events.
///
/// ```
/// use whippet_generate::Trace;
/// use whippet_model::Name;
/// let [a, b] = [0, 1].map(|k| Name::ROOT.child(k));
/// let independent = |_, _| false;
/// assert_eq!(Trace::new(&[a, b], independent), Trace::new(&[b, a], independent));
/// let dependent = |_, _| true;
/// assert_ne!(Trace::new(&[a, b], dependent), Trace::new(&[b, a], dependent));
/// ```
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
    ///
    /// ```
    /// use whippet_generate::Trace;
    /// use whippet_model::{Machine, Program as _};
    /// let machine = whippet_search::toy::Program::new(1).machine().unwrap();
    /// assert_eq!(Trace::of(&machine), Trace::new(&[], |_, _| false), "nothing has happened");
    /// ```
    pub fn of<M: Machine>(machine: &M) -> Trace {
        let steps: Vec<_> = (0..machine.depth()).map(|at| machine.step(at)).collect();
        let events: Vec<Name> = steps.iter().map(|step| step.event).collect();
        match machine.relation() {
            Relation::SameActor => Trace::new(&events, |a, b| steps[a].actor == steps[b].actor),
            Relation::Footprints => Trace::new(&events, |a, b| conflict(machine.touches(a), machine.touches(b))),
        }
    }
}

//! An explicit representation of traces: the events, each with the earlier events that it depends on. It is
//! independent of the clocks that searches use, so that these are checked too.

use whippet_model::{Dependence, Machine, Name, conflict};

/// An equivalence class of executions that differ only in the order of independent events.
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
    /// Creates the trace of events listed in the order of an execution; `dependent` takes the positions of an earlier
    /// and a later event.
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

    /// Returns the trace of the steps that a machine has taken.
    ///
    /// ```
    /// use whippet_generate::Trace;
    /// use whippet_model::{Machine, Program as _};
    /// let machine = whippet_search::toy::Program::new(1).machine(&Default::default()).unwrap();
    /// assert_eq!(Trace::of(&machine), Trace::new(&[], |_, _| false), "nothing has happened");
    /// ```
    pub fn of<M: Machine>(machine: &M) -> Trace {
        let steps: Vec<_> = (0..machine.depth()).map(|at| machine.step(at)).collect();
        let events: Vec<Name> = steps.iter().map(|step| step.event).collect();
        match machine.profile().dependence {
            Dependence::PerActor => Trace::new(&events, |a, b| steps[a].actor == steps[b].actor),
            Dependence::Footprints => Trace::new(&events, |a, b| conflict(machine.touches(a), machine.touches(b))),
        }
    }
}

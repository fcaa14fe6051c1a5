//! Observation of the executions that a search completes: the one machine that wraps another.

use super::{
    Blockers, Completion, Deliveries, EnabledChoices, Executed, Explain, Fingerprint, Foresight, IdleDeliveries,
    KnownExtensions, Machine, MachineConfig, MachineError, OrderHints, Profile, Program, Pruning, States,
};
use crate::{ActorNo, Choice, Name, Pending, Problem, Step, StepDescription, Touch};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A program whose complete executions are observed. The search does not notice the difference.
///
/// The function is called with the machine at the end of each complete execution, and with the number of
/// [refinements](Program::refinements) known to that machine: what was observed with fewer refinements than at the end
/// of the search belongs to an attempt that was started again.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use whippet_model::{Machine, Observed};
/// use whippet_search::{explore, toy::{Program, Toy}};
/// let depths = Arc::new(Mutex::new(Vec::new()));
/// let seen = depths.clone();
/// let program = Program::new(1).main(0, 1).main(0, 2);
/// let observed = Observed::new(program, move |machine: &mut Toy, _| seen.lock().unwrap().push(machine.depth()));
/// explore(Arc::new(observed), &Default::default(), &()).unwrap();
/// assert_eq!(*depths.lock().unwrap(), [2, 2]);
/// ```
pub struct Observed<P: Program> {
    program: P,
    observe: Observe<P::Machine>,
}

/// Receives the machine at the end of an execution, and the number of refinements known to it.
type Observe<M> = Arc<dyn Fn(&mut M, u64) + Send + Sync>;

impl<P: Program> Observed<P> {
    /// Wraps a program.
    pub fn new(program: P, observe: impl Fn(&mut P::Machine, u64) + Send + Sync + 'static) -> Observed<P> {
        Observed { program, observe: Arc::new(observe) }
    }

    /// Returns the program that is wrapped.
    pub fn program(&self) -> &P {
        &self.program
    }
}

impl<P: Program + fmt::Debug> fmt::Debug for Observed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("program", &self.program).finish_non_exhaustive()
    }
}

impl<P: Program> Program for Observed<P> {
    type Machine = ObservedMachine<P::Machine>;

    fn machine(&self, config: &MachineConfig) -> Result<Self::Machine, MachineError> {
        let refinements = self.program.refinements();
        let machine = self.program.machine(config)?;
        Ok(ObservedMachine { machine, refinements, observe: self.observe.clone() })
    }

    fn name(&self) -> String {
        self.program.name()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        self.program.parameters()
    }

    fn caveats(&self) -> Vec<String> {
        self.program.caveats()
    }

    fn refinements(&self) -> u64 {
        self.program.refinements()
    }
}

/// The machine of an [`Observed`] program.
///
/// ```
/// use whippet_model::{Machine, Observed, ObservedMachine, Program as _};
/// use whippet_search::toy::{Program, Toy};
/// let observed = Observed::new(Program::new(1).main(0, 1), |_: &mut Toy, _| {});
/// let mut machine: ObservedMachine<Toy> = observed.machine(&Default::default()).unwrap();
/// assert!(machine.completion().is_some() && machine.deliveries().is_some());
/// ```
pub struct ObservedMachine<M> {
    machine: M,
    refinements: u64,
    observe: Observe<M>,
}

impl<M: fmt::Debug> fmt::Debug for ObservedMachine<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedMachine").field("machine", &self.machine).finish_non_exhaustive()
    }
}

impl<M: Machine> Completion for ObservedMachine<M> {
    fn completed(&mut self) {
        (self.observe)(&mut self.machine, self.refinements);
        if let Some(inner) = self.machine.completion() {
            inner.completed();
        }
    }
}

impl<M: Machine> Explain for ObservedMachine<M> {
    fn problems(&self) -> usize {
        self.machine.problems()
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.machine.problem(at)
    }

    fn data_races(&self, out: &mut Vec<Problem>) {
        self.machine.data_races(out);
    }

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.machine.final_problems(out)
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.machine.describe(at)
    }

    fn handler_runs(&self) -> u64 {
        self.machine.handler_runs()
    }
}

impl<M: Machine> Machine for ObservedMachine<M> {
    fn profile(&self) -> &Profile {
        self.machine.profile()
    }

    fn depth(&self) -> usize {
        self.machine.depth()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.machine.enabled(out)
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        self.machine.execute(choice)
    }

    fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
    }

    fn actors(&self) -> usize {
        self.machine.actors()
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        self.machine.pending(out);
    }

    fn thread(&self, what: Pending) -> Name {
        self.machine.thread(what)
    }

    fn actor(&self, what: Pending) -> ActorNo {
        self.machine.actor(what)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        self.machine.find(thread)
    }

    fn step(&self, at: usize) -> Step {
        self.machine.step(at)
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        self.machine.causes(at, out);
    }

    fn sent(&self, at: usize) -> Range<u32> {
        self.machine.sent(at)
    }

    fn touches(&self, at: usize) -> &[Touch] {
        self.machine.touches(at)
    }

    fn deliveries(&mut self) -> Option<&mut dyn Deliveries> {
        self.machine.deliveries()
    }

    fn enabled_choices(&mut self) -> Option<&mut dyn EnabledChoices> {
        self.machine.enabled_choices()
    }

    fn known_extensions(&mut self) -> Option<&mut dyn KnownExtensions> {
        self.machine.known_extensions()
    }

    fn blockers(&mut self) -> Option<&mut dyn Blockers> {
        self.machine.blockers()
    }

    fn foresight(&self) -> Option<&dyn Foresight> {
        self.machine.foresight()
    }

    fn order_hints(&self) -> Option<&dyn OrderHints> {
        self.machine.order_hints()
    }

    fn pruning(&self) -> Option<&dyn Pruning> {
        self.machine.pruning()
    }

    fn fingerprint(&mut self) -> Option<&mut dyn Fingerprint> {
        self.machine.fingerprint()
    }

    fn idle_deliveries(&mut self) -> Option<&mut dyn IdleDeliveries> {
        self.machine.idle_deliveries()
    }

    fn states(&mut self) -> Option<&mut dyn States> {
        self.machine.states()
    }

    fn completion(&mut self) -> Option<&mut dyn Completion> {
        Some(self)
    }
}

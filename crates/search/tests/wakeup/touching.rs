//! Actors of the toy language with dependence by footprints: every event writes its actor.

use std::ops::Range;
use whippet_model::{
    ActorNo, Branches, Choice, Dependence, Executed, Explain, Fingerprint, Machine, MachineConfig, MachineError, Name,
    Pending, Problem, Profile, StateComparison, Step, StepDescription, Touch, capabilities,
};
use whippet_search::toy::{Program, Toy};

/// A program whose machine has footprints.
#[derive(Clone, Debug)]
pub(crate) struct Touching(pub(crate) Program);

impl whippet_model::Program for Touching {
    type Machine = Touched;

    fn machine(&self, config: &MachineConfig) -> Result<Touched, MachineError> {
        let toy = self.0.machine(config)?;
        let profile = Profile::new(Dependence::Footprints, Branches::Discovered { same_footprint: true });
        let actors = (0..toy.actors() as u32).map(|k| Name::ROOT.child(k)).collect();
        Ok(Touched { profile, toy, actors, touches: Vec::new() })
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        0
    }
}

/// Machine of [`Touching`].
#[derive(Debug)]
pub(crate) struct Touched {
    profile: Profile,
    toy: Toy,
    /// The stable names of the actors.
    actors: Vec<Name>,
    /// For each step, the number of actors before it, and its footprint.
    touches: Vec<(usize, [Touch; 1])>,
}

impl Machine for Touched {
    capabilities!(Fingerprint);

    #[inline]
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        let known = self.actors.len();
        let actor = self.actors[self.toy.actor(choice.what).0 as usize];
        let executed = self.toy.execute(choice)?;
        let event = self.toy.step(self.toy.depth() - 1).event;
        self.actors.extend((known..self.toy.actors()).map(|k| event.child((k - known) as u32)));
        self.touches.push((known, [Touch::write(actor)]));
        Ok(executed)
    }

    fn rewind(&mut self, depth: usize) {
        if let Some(&(known, _)) = self.touches.get(depth) {
            self.actors.truncate(known);
            self.touches.truncate(depth);
        }
        self.toy.rewind(depth);
    }

    fn touches(&self, at: usize) -> &[Touch] {
        &self.touches[at].1
    }

    fn depth(&self) -> usize {
        self.toy.depth()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.toy.enabled(out)
    }

    fn thread(&self, what: Pending) -> Name {
        self.toy.thread(what)
    }

    fn actor(&self, what: Pending) -> ActorNo {
        self.toy.actor(what)
    }

    fn find(&self, thread: Name) -> Option<Pending> {
        self.toy.find(thread)
    }

    fn pending(&self, out: &mut Vec<Pending>) {
        self.toy.pending(out);
    }

    fn step(&self, at: usize) -> Step {
        self.toy.step(at)
    }

    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        self.toy.causes(at, out);
    }

    fn sent(&self, at: usize) -> Range<u32> {
        self.toy.sent(at)
    }

    fn actors(&self) -> usize {
        self.toy.actors()
    }
}

impl Explain for Touched {
    fn problems(&self) -> usize {
        self.toy.problems()
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.toy.problem(at)
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.toy.final_problems(out)
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.toy.describe(at)
    }

    fn handler_runs(&self) -> u64 {
        self.toy.handler_runs()
    }
}

impl Fingerprint for Touched {
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError> {
        self.toy.of_configuration(comparison)
    }
}

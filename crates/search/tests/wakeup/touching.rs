//! Actors of the toy language with dependence by footprints: every event writes its actor.

use std::ops::Range;
use whippet_model::{
    ActorNo, Branch, Choice, Comparison, Dependence, Machine, MachineError, Name, Pending, Problem, Step,
    StepDescription, Touch,
};
use whippet_search::toy::{Program, Toy};

/// A program whose machine has footprints.
#[derive(Clone, Debug)]
pub(crate) struct Touching(pub(crate) Program);

impl whippet_model::Program for Touching {
    type Machine = Touched;

    fn machine(&self) -> Result<Touched, MachineError> {
        let toy = self.0.machine()?;
        let actors = (0..toy.actors() as u32).map(|k| Name::ROOT.child(k)).collect();
        Ok(Touched { toy, actors, touches: Vec::new() })
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

/// Machine of [`Touching`].
#[derive(Debug)]
pub(crate) struct Touched {
    toy: Toy,
    /// The stable names of the actors.
    actors: Vec<Name>,
    /// For each step, the number of actors before it, and its footprint.
    touches: Vec<(usize, [Touch; 1])>,
}

impl Machine for Touched {
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        let known = self.actors.len();
        let actor = self.actors[self.toy.actor(choice.what).0 as usize];
        self.toy.execute(choice)?;
        let event = self.toy.step(self.toy.depth() - 1).event;
        self.actors.extend((known..self.toy.actors()).map(|k| event.child((k - known) as u32)));
        self.touches.push((known, [Touch::write(actor)]));
        Ok(())
    }

    fn rewind(&mut self, depth: usize) {
        if let Some(&(known, _)) = self.touches.get(depth) {
            self.actors.truncate(known);
            self.touches.truncate(depth);
        }
        self.toy.rewind(depth);
    }

    fn relation(&self) -> Dependence {
        Dependence::Footprints
    }

    fn touches(&self, at: usize) -> &[Touch] {
        &self.touches[at].1
    }

    fn depth(&self) -> usize {
        self.toy.depth()
    }

    fn enabled(&mut self, out: &mut Vec<Choice>) {
        self.toy.enabled(out);
    }

    fn next_branch(&self) -> Option<Branch> {
        self.toy.next_branch()
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

    fn problems(&self) -> usize {
        self.toy.problems()
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.toy.problem(at)
    }

    fn final_problems(&mut self, out: &mut Vec<Problem>) {
        self.toy.final_problems(out);
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.toy.describe(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        self.toy.fingerprint(comparison)
    }

    fn handler_runs(&self) -> u64 {
        self.toy.handler_runs()
    }
}

//! Machines behind a pointer: a `Box<dyn Machine>` is a machine too, so that a search can be compiled once for all.

use super::{
    Blockers, Completion, Deliveries, EnabledChoices, Executed, Explain, Fingerprint, Foresight, IdleDeliveries,
    KnownExtensions, Machine, MachineError, OrderHints, Profile, Pruning, States,
};
use crate::{ActorNo, Choice, Name, Pending, Problem, Step, StepDescription, Touch};
use std::ops::Range;

impl<M: Machine + ?Sized> Explain for Box<M> {
    #[inline]
    fn problems(&self) -> usize {
        (**self).problems()
    }

    #[inline]
    fn problem(&self, at: usize) -> Option<Problem> {
        (**self).problem(at)
    }

    #[inline]
    fn data_races(&self, out: &mut Vec<Problem>) {
        (**self).data_races(out);
    }

    #[inline]
    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        (**self).final_problems(out)
    }

    #[inline]
    fn describe(&mut self, at: usize) -> StepDescription {
        (**self).describe(at)
    }

    #[inline]
    fn handler_runs(&self) -> u64 {
        (**self).handler_runs()
    }
}

impl<M: Machine + ?Sized> Machine for Box<M> {
    #[inline]
    fn profile(&self) -> &Profile {
        (**self).profile()
    }

    #[inline]
    fn depth(&self) -> usize {
        (**self).depth()
    }

    #[inline]
    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        (**self).enabled(out)
    }

    #[inline]
    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        (**self).execute(choice)
    }

    #[inline]
    fn rewind(&mut self, depth: usize) {
        (**self).rewind(depth);
    }

    #[inline]
    fn actors(&self) -> usize {
        (**self).actors()
    }

    #[inline]
    fn pending(&self, out: &mut Vec<Pending>) {
        (**self).pending(out);
    }

    #[inline]
    fn thread(&self, what: Pending) -> Name {
        (**self).thread(what)
    }

    #[inline]
    fn actor(&self, what: Pending) -> ActorNo {
        (**self).actor(what)
    }

    #[inline]
    fn find(&self, thread: Name) -> Option<Pending> {
        (**self).find(thread)
    }

    #[inline]
    fn step(&self, at: usize) -> Step {
        (**self).step(at)
    }

    #[inline]
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        (**self).causes(at, out);
    }

    #[inline]
    fn sent(&self, at: usize) -> Range<u32> {
        (**self).sent(at)
    }

    #[inline]
    fn touches(&self, at: usize) -> &[Touch] {
        (**self).touches(at)
    }

    #[inline]
    fn deliveries(&mut self) -> Option<&mut dyn Deliveries> {
        (**self).deliveries()
    }

    fn enabled_choices(&mut self) -> Option<&mut dyn EnabledChoices> {
        (**self).enabled_choices()
    }

    #[inline]
    fn known_extensions(&mut self) -> Option<&mut dyn KnownExtensions> {
        (**self).known_extensions()
    }

    #[inline]
    fn blockers(&mut self) -> Option<&mut dyn Blockers> {
        (**self).blockers()
    }

    #[inline]
    fn foresight(&self) -> Option<&dyn Foresight> {
        (**self).foresight()
    }

    #[inline]
    fn order_hints(&self) -> Option<&dyn OrderHints> {
        (**self).order_hints()
    }

    #[inline]
    fn pruning(&self) -> Option<&dyn Pruning> {
        (**self).pruning()
    }

    #[inline]
    fn fingerprint(&mut self) -> Option<&mut dyn Fingerprint> {
        (**self).fingerprint()
    }

    #[inline]
    fn idle_deliveries(&mut self) -> Option<&mut dyn IdleDeliveries> {
        (**self).idle_deliveries()
    }

    #[inline]
    fn states(&mut self) -> Option<&mut dyn States> {
        (**self).states()
    }

    #[inline]
    fn completion(&mut self) -> Option<&mut dyn Completion> {
        (**self).completion()
    }
}

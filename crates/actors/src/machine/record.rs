//! The record of a step, used to describe and to undo it.

use super::faults::{Circumstances, StepFault};
use crate::messages::Acceptance;
use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Problem};

/// The number of values of each `choose` in a step.
pub(super) type Arities = SmallVec<[u32; Branch::DIGITS]>;

/// The record of a step.
pub(super) struct ActorStep {
    pub(super) choice: Choice,
    pub(super) actor: u32,
    /// The actor's position before the step.
    pub(super) position: u32,
    /// The number of messages, actors and touches before the step.
    pub(super) sent: u32,
    pub(super) actors: u32,
    pub(super) touches: u32,
    /// The actor's history before the step.
    pub(super) history: u64,
    /// The acceptance of the actor's mailbox before the step.
    pub(super) acceptance: Acceptance,
    pub(super) fault: StepFault,
    /// Properties of the step that only programs with faults need.
    pub(super) circumstances: Circumstances,
    pub(super) extras: Option<Box<StepExtras>>,
}

/// Data that few steps have.
pub(super) struct StepExtras {
    pub(super) arities: Arities,
    pub(super) problem: Option<Problem>,
}

impl ActorStep {
    pub(super) fn arities(&self) -> &[u32] {
        self.extras.as_ref().map_or(&[], |extras| &extras.arities)
    }

    /// Returns `true` if the step only removes a message, which is no step of an actor.
    pub(super) fn is_loss(&self) -> bool {
        self.fault.is_removal()
    }

    /// Returns `true` if the actor crashed in this step.
    pub(super) fn is_crash(&self) -> bool {
        self.fault == StepFault::Crash
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        self.extras.as_ref()?.problem.as_ref()
    }
}

//! What is kept of a step, to tell of it and to take it back.

use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Problem};

/// How many values each `choose` of a step had.
pub(super) type Arities = SmallVec<[u32; Branch::DIGITS]>;

/// See the module.
pub(super) struct Record {
    pub(super) choice: Choice,
    pub(super) actor: u32,
    /// The actor's position before the step.
    pub(super) position: u32,
    /// How many messages, actors and touches there were before.
    pub(super) sent: u32,
    pub(super) actors: u32,
    pub(super) touches: u32,
    /// The actor's history before.
    pub(super) history: u64,
    /// Whether all that was pending for the actor could have been delivered.
    pub(super) all_open: bool,
    pub(super) rare: Option<Box<Rare>>,
}

/// What few steps have.
pub(super) struct Rare {
    pub(super) arities: Arities,
    pub(super) problem: Option<Problem>,
}

impl Record {
    pub(super) fn arities(&self) -> &[u32] {
        self.rare.as_ref().map_or(&[], |rare| &rare.arities)
    }

    pub(super) fn problem(&self) -> Option<&Problem> {
        self.rare.as_ref()?.problem.as_ref()
    }
}

//! Parts: pieces of the search tree as values.

use smallvec::SmallVec;
use whippet_model::{Branch, Name, Touch};

/// A piece of the search tree: the path to its root. Nothing else is needed to explore it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) steps: Vec<PartStep>,
}

/// One step of a path, in names that mean the same in every process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartStep {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    pub(crate) mark: Mark,
}

/// The reason why a step is on a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// It is the default.
    Default,
    /// It belongs to a detour, before its head.
    Via,
    /// It is the head of a detour.
    Head(Detour),
    /// It is another branch of the default.
    Other,
}

/// A detour: steps taken instead of the default.
#[derive(Clone, Debug)]
pub(crate) struct Detour {
    /// The depth at which it begins.
    pub(crate) base: u32,
    /// The thread of the default there, and its branch.
    pub(crate) against: Name,
    pub(crate) branch: Branch,
    /// What the default touches, unless it has to be found by executing it.
    pub(crate) touches: Option<DefaultTouches>,
}

/// The footprints of a default.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefaultTouches {
    /// The footprint of the branch that is taken.
    pub(crate) own: SmallVec<[Touch; 2]>,
    /// The union of the footprints of all its branches.
    pub(crate) all: SmallVec<[Touch; 2]>,
}

impl PartialEq for Detour {
    /// Compares two detours from the same configuration; the footprint follows from it.
    fn eq(&self, other: &Detour) -> bool {
        (self.base, self.against) == (other.base, other.against)
    }
}

//! Parts: pieces of the search tree as values.

use whippet_model::{Branch, Name};

/// A piece of the search tree: the path to it. Nothing else is needed to explore it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) steps: Vec<PartStep>,
}

/// One step of a path, in names that mean the same in every process.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct PartStep {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    pub(crate) mark: Mark,
}

/// The reason why a step is on a path.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// It is the default.
    Default,
    /// It is another branch of the default's thread.
    Other,
    /// It belongs to a detour, before the head.
    Via,
    /// It is the head of a detour.
    Head(Detour),
}

/// A detour: steps taken instead of a default.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Detour {
    /// The depth at which it begins.
    pub(crate) base: u32,
    /// The thread of the default there, and its branch.
    pub(crate) against: Name,
    pub(crate) branch: Branch,
}

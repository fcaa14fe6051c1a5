//! The record of the step being taken.

use crate::object::Action;
use smallvec::SmallVec;
use whippet_model::{Branch, Name, Touch};

/// The effects of the step being taken so far.
pub(crate) struct Record {
    pub(crate) action: Option<Action>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) causes: Vec<u32>,
    pub(crate) branch: Branch,
    /// The number of branches of each choice made in this step.
    pub(crate) arities: SmallVec<[u32; 2]>,
    /// `true` if the step is replayed: its footprint is known.
    pub(crate) known: bool,
    /// The name of the event; `items` counts the items that it has sent.
    pub(crate) event: Name,
    items: u64,
    /// `true` if the task was waiting before the step.
    pub(crate) waited: bool,
    /// `true` if no task runs in this step.
    pub(crate) vain: bool,
    /// The queue that the step sends to, if its footprint does not depend on other tasks.
    pub(crate) appends: Option<Name>,
    /// The descriptions of merged operations, with their tasks.
    pub(crate) told: Vec<(u32, Action)>,
    /// The tasks that ended.
    pub(crate) ended: Vec<u32>,
    /// The objects whose waiters the step may enable.
    pub(crate) enables: Vec<Name>,
    /// `true` if an object that was ready may no longer be ready.
    pub(crate) recalls: bool,
    /// The objects that the task waited for, if one of these resumed it and nothing else could have.
    pub(crate) awaited: Vec<Name>,
    /// The steps without which that object would not have been ready.
    pub(crate) needs: Vec<u32>,
}

impl Record {
    pub(crate) fn new() -> Record {
        Record {
            action: None,
            touches: Vec::new(),
            causes: Vec::new(),
            branch: Branch::FIRST,
            arities: SmallVec::new(),
            known: false,
            event: Name::ROOT,
            items: 0,
            waited: false,
            vain: false,
            appends: None,
            told: Vec::new(),
            ended: Vec::new(),
            enables: Vec::new(),
            recalls: false,
            awaited: Vec::new(),
            needs: Vec::new(),
        }
    }

    /// Returns the description of the step.
    pub(crate) fn action(&self) -> &Action {
        self.action.as_ref().expect("every step does something")
    }

    /// Returns a name for an item that the step sends.
    pub(crate) fn new_item(&mut self) -> Name {
        self.items += 1;
        self.event.mixed(self.items)
    }

    /// Resets the record for a new step, or for the replay of a `known` one.
    pub(crate) fn begin(&mut self, event: Name, branch: Branch, known: bool) {
        self.action = None;
        self.touches.clear();
        self.causes.clear();
        (self.branch, self.known) = (branch, known);
        self.arities.clear();
        (self.event, self.items, self.appends) = (event, 0, None);
        (self.waited, self.vain) = (false, false);
        self.told.clear();
        self.ended.clear();
        self.enables.clear();
        self.recalls = false;
        self.awaited.clear();
        self.needs.clear();
    }
}

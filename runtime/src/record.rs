//! The record of the step being taken.

use crate::object::Action;
use smallvec::SmallVec;
use whippet_model::{Branch, Name, Touch};

/// What is noted about a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Noting {
    /// Its footprint, and what it teaches: the step is new.
    Recorded,
    /// Nothing: the step is replayed.
    Replayed,
    /// Nothing, although the step is new: see [`crate::leaving`].
    Unrecorded,
}

/// The effects of the step being taken so far.
pub(crate) struct Record {
    pub(crate) action: Option<Action>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) causes: Vec<u32>,
    pub(crate) branch: Branch,
    /// The number of branches of each choice made in this step.
    pub(crate) arities: SmallVec<[u32; 2]>,
    /// `true` if the footprint of the step is not noted.
    pub(crate) known: bool,
    /// `true` if the step was taken before, so that it is possible.
    pub(crate) replayed: bool,
    /// The name of the event; `items` counts the items that it has sent.
    pub(crate) event: Name,
    items: u64,
    /// `true` if the task was waiting before the step.
    pub(crate) waited: bool,
    /// `true` if no task runs in this step.
    pub(crate) runs_nothing: bool,
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
    /// The time by which the clock advances, if a timer fires that could have waited: see `stalls.rs`.
    pub(crate) fires: Option<u64>,
    /// The alternative reasons why the task was runnable, each followed by [`crate::execution::NONE`].
    pub(crate) runnable: Vec<u32>,
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
            replayed: false,
            event: Name::ROOT,
            items: 0,
            waited: false,
            runs_nothing: false,
            appends: None,
            told: Vec::new(),
            ended: Vec::new(),
            enables: Vec::new(),
            recalls: false,
            fires: None,
            runnable: Vec::new(),
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

    /// Returns `true` if the step has sent no items.
    pub(crate) fn has_sent_nothing(&self) -> bool {
        self.items == 0
    }

    /// Resets the record for a step.
    pub(crate) fn begin(&mut self, event: Name, branch: Branch, noting: Noting) {
        self.action = None;
        self.touches.clear();
        self.causes.clear();
        self.branch = branch;
        (self.known, self.replayed) = (noting != Noting::Recorded, noting == Noting::Replayed);
        self.arities.clear();
        (self.event, self.items, self.appends) = (event, 0, None);
        (self.waited, self.runs_nothing) = (false, false);
        self.told.clear();
        self.ended.clear();
        self.enables.clear();
        (self.recalls, self.fires) = (false, None);
        self.runnable.clear();
        self.awaited.clear();
        self.needs.clear();
    }
}

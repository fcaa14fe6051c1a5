//! What is noted of the step being taken.

use crate::object::Action;
use smallvec::SmallVec;
use whippet_model::{Branch, Name, Touch};

/// What the step being taken has done so far.
pub(crate) struct Record {
    pub(crate) action: Option<Action>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) causes: Vec<u32>,
    pub(crate) branch: Branch,
    /// How many ways each choice made in this step had.
    pub(crate) arities: SmallVec<[u32; 2]>,
    /// Whether the step was taken before: what it touches is known.
    pub(crate) known: bool,
    /// The name of the event, and how many items it has sent.
    pub(crate) event: Name,
    items: u64,
    /// Whether the task had been waiting.
    pub(crate) waited: bool,
    /// Whether nobody goes on.
    pub(crate) vain: bool,
    /// The queue that the step sends to, if what it touches does not depend on what others do.
    pub(crate) appends: Option<Name>,
    /// What is told of asides, and which tasks do them.
    pub(crate) told: Vec<(u32, Action)>,
    /// The tasks that ended.
    pub(crate) ended: Vec<u32>,
    /// What it makes ready for those who wait for it.
    pub(crate) enables: Vec<Name>,
    /// Whether something may not be ready any more.
    pub(crate) recalls: bool,
    /// What the task waited for, if one of these let it through and nothing else could have.
    pub(crate) awaited: Vec<Name>,
    /// The steps without which that would not have been ready.
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

    /// What the step does.
    pub(crate) fn action(&self) -> &Action {
        self.action.as_ref().expect("every step does something")
    }

    /// A name for something that the step sends.
    pub(crate) fn new_item(&mut self) -> Name {
        self.items += 1;
        self.event.mixed(self.items)
    }

    /// For a new step, or one that was taken before.
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

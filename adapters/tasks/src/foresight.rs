//! What can be said of a step, had another one not happened, without running anything.
//!
//! A search asks this of steps in a race. Two kinds of answers save it nearly every try:
//!
//! * Two sends to one queue can be exchanged: either is possible first, and touches the same.
//! * A task that waits for several things and is let through by one of them cannot act without the step that made this
//!   one ready, unless something that may come before makes it or another one ready. What is ready stays so until
//!   the task that waits for it goes on: see [`crate::Source::ready`].

use crate::record::Record;
use std::ops::Range;
use whippet_model::{Clocks, Name, Touch, Without};

/// What is known of the steps taken.
#[derive(Default)]
pub(crate) struct Foresight {
    steps: Vec<Known>,
    names: Vec<Name>,
    needs: Vec<u32>,
}

/// What is known of a step.
struct Known {
    /// The queue that it sends to, if that is all it does.
    appends: Option<Name>,
    /// What it made ready, among the names.
    enables: Range<usize>,
    /// What would have let its task through, among the names; nothing where that is not all of it.
    awaited: Range<usize>,
    /// The steps without which what it took would not have been ready.
    needs: Range<usize>,
    /// Whether something may not be ready any more after it.
    recalls: bool,
}

impl Foresight {
    /// Learns a step from its record.
    pub(crate) fn push(&mut self, record: &Record) {
        let names = self.names.len();
        self.names.extend_from_slice(&record.enables);
        let enables = names..self.names.len();
        let needs = self.needs.len();
        // Who waited for one thing only has none of these.
        if !record.awaited.is_empty() {
            self.names.extend_from_slice(&record.awaited);
            self.needs.extend_from_slice(&record.needs);
        }
        self.steps.push(Known {
            appends: record.appends.filter(|_| record.arities.is_empty()),
            awaited: enables.end..self.names.len(),
            enables,
            needs: needs..self.needs.len(),
            recalls: record.recalls,
        });
    }

    /// Forgets all steps from `depth` on.
    pub(crate) fn truncate(&mut self, depth: usize) {
        if let Some(first) = self.steps.get(depth) {
            self.names.truncate(first.enables.start);
            self.needs.truncate(first.needs.start);
            self.steps.truncate(depth);
        }
    }

    /// See [`Machine::without`](whippet_model::Machine::without); `touches` are those of the earlier step.
    pub(crate) fn without(&self, clocks: &Clocks, earlier: usize, touches: &[Touch], later: usize) -> Without {
        let step = &self.steps[later];
        if step.appends.is_some() && step.appends == self.steps[earlier].appends {
            return Without::Same;
        }
        let awaited = &self.names[step.awaited.clone()];
        let enables = |at: usize| &self.names[self.steps[at].enables.clone()];
        if awaited.is_empty() || !self.needs[step.needs.clone()].contains(&(earlier as u32)) {
            return Without::Unknown;
        }
        // What it took is the earlier step's doing; whatever else the earlier step has to do with is not clear.
        let clear =
            touches.iter().all(|touch| !awaited.contains(&touch.object) || enables(earlier).contains(&touch.object));
        let recalled = self.steps[earlier..later].iter().any(|step| step.recalls);
        let mut others = (later + 1..self.steps.len()).filter(|&at| !clocks.before(earlier, at));
        if clear && !recalled && others.all(|at| enables(at).iter().all(|name| !awaited.contains(name))) {
            Without::Nothing
        } else {
            Without::Unknown
        }
    }
}

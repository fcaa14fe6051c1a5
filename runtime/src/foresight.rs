//! Predictions of a step in the absence of an earlier one, without running anything.
//!
//! A search asks for these when two steps are in a race. Two rules avoid nearly every trial execution:
//!
//! * Two sends to one queue can be reversed: either can come first, with the same footprint.
//! * A task that waits for several objects and is resumed by one of them cannot act without the step that made this
//!   one ready, unless another step that may come before makes this or another of the objects ready. A ready object
//!   stays ready until the task that waits for it continues: see [`crate::Readiness::ready`].

use crate::record::Record;
use std::ops::Range;
use whippet_model::{Clocks, Name, Reversal, Touch};

/// The facts about the steps taken so far.
#[derive(Default)]
pub(crate) struct Foresight {
    steps: Vec<Known>,
    names: Vec<Name>,
    needs: Vec<u32>,
}

/// The facts about a step.
struct Known {
    /// The queue that it sends to, if it does nothing else.
    appends: Option<Name>,
    /// The objects that it made ready, as a range of `names`.
    enables: Range<usize>,
    /// The objects that could have resumed its task, as a range of `names`; empty if these are not all.
    awaited: Range<usize>,
    /// The steps without which the item that it took would not have been ready.
    needs: Range<usize>,
    /// `true` if an object that was ready may no longer be ready after it.
    recalls: bool,
}

impl Foresight {
    /// Adds a step from its record.
    pub(crate) fn push(&mut self, record: &Record) {
        let names = self.names.len();
        self.names.extend_from_slice(&record.enables);
        let enables = names..self.names.len();
        let needs = self.needs.len();
        // Empty for a task that waited for one object only.
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

    /// Removes all steps from `depth` on.
    pub(crate) fn truncate(&mut self, depth: usize) {
        if let Some(first) = self.steps.get(depth) {
            self.names.truncate(first.enables.start);
            self.needs.truncate(first.needs.start);
            self.steps.truncate(depth);
        }
    }

    /// Implements [`Foresight::without`](whippet_model::Foresight::without); `touches` is the footprint of the earlier
    /// step.
    pub(crate) fn without(&self, clocks: &Clocks, earlier: usize, touches: &[Touch], later: usize) -> Reversal {
        let step = &self.steps[later];
        if step.appends.is_some() && step.appends == self.steps[earlier].appends {
            return Reversal::Unchanged;
        }
        let awaited = &self.names[step.awaited.clone()];
        let enables = |at: usize| &self.names[self.steps[at].enables.clone()];
        if awaited.is_empty() || !self.needs[step.needs.clone()].contains(&(earlier as u32)) {
            return Reversal::Unknown;
        }
        // The earlier step made the taken item ready; if it touches other awaited objects too, the prediction is not
        // certain.
        let clear =
            touches.iter().all(|touch| !awaited.contains(&touch.object) || enables(earlier).contains(&touch.object));
        let recalled = self.steps[earlier..later].iter().any(|step| step.recalls);
        // More steps may be known than the execution has taken: those of the previous one.
        let mut others = (later + 1..clocks.len()).filter(|&at| !clocks.before(earlier, at));
        if clear && !recalled && others.all(|at| enables(at).iter().all(|name| !awaited.contains(name))) {
            Reversal::Disabled
        } else {
            Reversal::Unknown
        }
    }
}

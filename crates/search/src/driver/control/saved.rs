//! The state of a search as a checkpoint, and back.

use super::{Control, lock};
use crate::driver::checkpoint::{Checkpoint, Checkpoints, Open, Saving, SearchState, VERSION};
use crate::driver::findings::{Collector, Key};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use whippet_model::LimitHit;

impl Control {
    /// Prepares for a search that can be saved, and that may continue from a checkpoint.
    pub(crate) fn saved(mut self, checkpoints: &dyn Checkpoints) -> Control {
        let begin = checkpoints.begin();
        self.saving = Saving::new(begin.as_ref().map(|begin| begin.0.open.clone()), checkpoints);
        let Some(Checkpoint(state)) = begin else { return self };
        self.before = Mutex::new((state.counters, state.weights));
        self.time_before = state.elapsed;
        self.executions = AtomicU64::new(state.counters.executions);
        self.collector = Mutex::new(Collector::with(self.limits.findings, &state.found, &state.dropped));
        self.first = Mutex::new(state.first.clone());
        self.notes = Mutex::new(state.notes.clone());
        self.algorithm = Mutex::new(state.algorithm);
        self.may_miss = AtomicBool::new(state.may_miss);
        self.estimate = Mutex::new(state.estimate);
        if state.too_long {
            self.passed(LimitHit::Steps);
        }
        if let Some(unstable) = state.unstable {
            self.unstable().store(unstable, Ordering::Relaxed);
        }
        self
    }

    /// Returns the state of the search, in which this work is open.
    pub(crate) fn state(&self, open: Open) -> SearchState {
        let (counters, weights, _) = self.published();
        let collector = lock(&self.collector);
        let mut dropped: Vec<Key> = collector.dropped().iter().copied().collect();
        dropped.sort_unstable();
        SearchState {
            version: VERSION,
            counters,
            weights,
            elapsed: self.elapsed(),
            found: collector.found(),
            dropped,
            first: self.first(),
            notes: self.notes(),
            algorithm: self.algorithm(),
            may_miss: self.may_miss(),
            too_long: self.limits_hit().contains(&LimitHit::Steps),
            unstable: self.unstable.get().map(|count| count.load(Ordering::Relaxed)),
            estimate: *lock(&self.estimate),
            open,
        }
    }
}

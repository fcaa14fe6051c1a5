//! Memoization of the steps of slow and suspended code, by local history.
//!
//! An actor's reaction to a message depends only on what it has received before. A cell may therefore store the effects
//! of a step under the hash of the actor's history up to and including that step, and later repeat them without running
//! any code. This pays off for code that is slow or would have to be run again to restore it; other handlers are
//! cheaper to run. All cells share one memory budget; a cell that would exceed it discards everything it has memoized.

use crate::cell::Status;
use crate::engine::{Engine, EngineRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::Branch;

/// A send or reply that can be repeated.
pub(crate) type Effect = Rc<dyn Fn(&mut Engine)>;

/// The effects of a step.
pub(crate) struct Remembered<S> {
    effects: Vec<Effect>,
    arities: SmallVec<[u32; Branch::DIGITS]>,
    pub(crate) status: Status,
    /// The new state, if the step changed it.
    pub(crate) state: S,
}

/// The memoized steps of a cell.
pub(crate) struct Memory<S> {
    steps: FxHashMap<u64, Remembered<S>>,
    bytes: usize,
}

impl<S> Default for Memory<S> {
    fn default() -> Memory<S> {
        Memory { steps: FxHashMap::default(), bytes: 0 }
    }
}

/// An estimate of the memory that one effect uses besides its entry in the list.
const EFFECT_BYTES: usize = 80;

impl<S> Memory<S> {
    /// Repeats the effects of the current step and returns them, if the step is memoized. Otherwise starts recording
    /// its effects and returns `None`.
    pub(crate) fn recall(&self, engine: &EngineRef) -> Option<&Remembered<S>> {
        let mut engine = engine.borrow_mut();
        let Some(known) = self.steps.get(&engine.now.history) else {
            engine.now.record = Some(Vec::new());
            return None;
        };
        engine.now.arities = known.arities.clone();
        for effect in &known.effects {
            effect(&mut engine);
        }
        Some(known)
    }

    /// Memoizes the current step, if its effects could be recorded.
    pub(crate) fn keep(&mut self, engine: &EngineRef, status: &Status, state: impl FnOnce() -> S) {
        let engine = &mut *engine.borrow_mut();
        let Some(effects) = engine.now.record.take() else { return };
        let bytes = size_of::<Remembered<S>>() + 16 + effects.len() * (size_of::<Effect>() + EFFECT_BYTES);
        if engine.remember < bytes {
            engine.remember += self.bytes;
            self.bytes = 0;
            self.steps.clear();
            if engine.remember < bytes {
                return;
            }
        }
        engine.remember -= bytes;
        self.bytes += bytes;
        let arities = engine.now.arities.clone();
        let step = Remembered { effects, arities, status: status.clone(), state: state() };
        self.steps.insert(engine.now.history, step);
    }

    /// Discards the recorded effects of a step that failed.
    pub(crate) fn discard(engine: &EngineRef) {
        engine.borrow_mut().now.record = None;
    }
}

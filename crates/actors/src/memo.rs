//! Memoization of the steps of slow and suspended code, by local history.
//!
//! An actor's reaction to a message depends only on what it has received before. A cell may therefore store the effects
//! of a step under the hash of the actor's history up to and including that step, and later repeat them without running
//! any code. This pays off for code that is slow or would have to be run again to restore it; other handlers are
//! cheaper to run. All cells share one memory budget; a cell that would exceed it discards everything it has memoized.

use crate::cell::ActorStatus;
use crate::engine::{Engine, EngineRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::Branch;

/// A send or reply that can be repeated.
pub(crate) type RecordedEffect = Rc<dyn Fn(&mut Engine)>;

/// The effects of a step.
pub(crate) struct MemoizedStep<S> {
    effects: Vec<RecordedEffect>,
    arities: SmallVec<[u32; Branch::DIGITS]>,
    pub(crate) status: ActorStatus,
    /// The new state, if the step changed it.
    pub(crate) state: S,
}

/// The memoized steps of a cell.
pub(crate) struct MemoTable<S> {
    steps: FxHashMap<u64, MemoizedStep<S>>,
    bytes: usize,
}

impl<S> Default for MemoTable<S> {
    fn default() -> MemoTable<S> {
        MemoTable { steps: FxHashMap::default(), bytes: 0 }
    }
}

/// An estimate of the memory that one effect uses besides its entry in the list.
const EFFECT_BYTES: usize = 80;

impl<S> MemoTable<S> {
    /// Repeats the effects of the current step and returns them, if the step is memoized. Otherwise starts recording
    /// its effects and returns `None`.
    pub(crate) fn recall(&self, engine: &EngineRef) -> Option<&MemoizedStep<S>> {
        let mut engine = engine.borrow_mut();
        let Some(known) = self.steps.get(&engine.current.history) else {
            engine.current.record = Some(Vec::new());
            return None;
        };
        engine.current.arities = known.arities.clone();
        for effect in &known.effects {
            effect(&mut engine);
        }
        Some(known)
    }

    /// Memoizes the current step, if its effects could be recorded.
    pub(crate) fn insert(&mut self, engine: &EngineRef, status: &ActorStatus, state: impl FnOnce() -> S) {
        let engine = &mut *engine.borrow_mut();
        let Some(effects) = engine.current.record.take() else { return };
        let bytes = size_of::<MemoizedStep<S>>() + 16 + effects.len() * (size_of::<RecordedEffect>() + EFFECT_BYTES);
        if engine.memo_budget < bytes {
            engine.memo_budget += self.bytes;
            self.bytes = 0;
            self.steps.clear();
            if engine.memo_budget < bytes {
                return;
            }
        }
        engine.memo_budget -= bytes;
        self.bytes += bytes;
        let arities = engine.current.arities.clone();
        let step = MemoizedStep { effects, arities, status: status.clone(), state: state() };
        self.steps.insert(engine.current.history, step);
    }

    /// Discards the recorded effects of a step that failed.
    pub(crate) fn discard(engine: &EngineRef) {
        engine.borrow_mut().current.record = None;
    }
}

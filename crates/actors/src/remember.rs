//! Results of slow and of suspended code, remembered per local history.
//!
//! What an actor does with a message depends on what it has received before, and on nothing else. A cell may
//! therefore keep what a step did, under the hash of the actor's history up to and including that step, and do
//! it again without running any code. This pays for code that is slow or has to be brought back by running it
//! again; plain handlers are cheaper to run. All cells share one budget of memory; a cell that would exceed it
//! forgets what it knows.

use crate::cell::Status;
use crate::engine::{Engine, EngineRef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use whippet_model::Branch;

/// A send or reply, to be done again.
pub(crate) type Effect = Rc<dyn Fn(&mut Engine)>;

/// What a step did.
pub(crate) struct Remembered<S> {
    effects: Vec<Effect>,
    arities: SmallVec<[u32; Branch::DIGITS]>,
    pub(crate) status: Status,
    /// The new state, if the step changed it.
    pub(crate) state: S,
}

/// What a cell remembers.
pub(crate) struct Memory<S> {
    steps: FxHashMap<u64, Remembered<S>>,
    bytes: usize,
}

impl<S> Default for Memory<S> {
    fn default() -> Memory<S> {
        Memory { steps: FxHashMap::default(), bytes: 0 }
    }
}

/// A guess at what one effect takes besides its entry in the list.
const EFFECT_BYTES: usize = 80;

impl<S> Memory<S> {
    /// What the running step did the last time, after doing its effects again; otherwise they are recorded from here on.
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

    /// Keeps what the running step did, if it could be recorded.
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

    /// Nothing of a step that failed is kept.
    pub(crate) fn discard(engine: &EngineRef) {
        engine.borrow_mut().now.record = None;
    }
}

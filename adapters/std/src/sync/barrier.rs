//! `Barrier`: all wait for the last.

use super::{Condvar, Mutex};
use std::fmt;
use std::sync::PoisonError;

/// Like `std::sync::Barrier`; its operations are events.
pub struct Barrier {
    size: usize,
    /// Who has come, and how often all have.
    state: Mutex<(usize, usize)>,
    all_here: Condvar,
}

/// Who was the last.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this one was.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// For as many.
    #[must_use]
    #[track_caller]
    pub const fn new(size: usize) -> Barrier {
        Barrier { size, state: Mutex::new((0, 0)), all_here: Condvar::new() }
    }

    /// Waits for all.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let round = state.1;
        state.0 += 1;
        if state.0 < self.size {
            let waited = self.all_here.wait_while(state, |state| state.1 == round);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            return BarrierWaitResult(false);
        }
        *state = (0, round + 1);
        self.all_here.notify_all();
        BarrierWaitResult(true)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

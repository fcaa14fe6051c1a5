//! `Barrier`, built from a mutex and a condition variable.

use super::{Condvar, Mutex};
use std::fmt;
use std::sync::PoisonError;

/// Like `std::sync::Barrier`; its operations are events.
pub struct Barrier {
    size: usize,
    /// The number of threads that wait, and the number of completed rounds.
    state: Mutex<(usize, usize)>,
    all_here: Condvar,
}

/// The result of [`Barrier::wait`].
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns `true` if this thread is the leader: the last one to arrive.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for `size` threads.
    #[must_use]
    #[track_caller]
    pub const fn new(size: usize) -> Barrier {
        Barrier { size, state: Mutex::new((0, 0)), all_here: Condvar::new() }
    }

    /// Waits until `size` threads have arrived.
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

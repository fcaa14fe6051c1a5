//! How fast the handlers of a type of actors are.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A handler that takes longer is worth remembering.
const SLOW: Duration = Duration::from_micros(20);
/// How many runs must have taken longer.
const ENOUGH: u32 = 8;

/// Runs are timed until one is fast: then all count as fast, because any run may be interrupted, and the first ones are
/// slow anyway. If none of several is, they are slow.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    fast: Cell<bool>,
    slow: Cell<u32>,
}

impl Pace {
    /// Whether handlers are known to be fast.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.fast.get()
    }

    /// Whether handlers are known to take so long that remembering pays.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.get() == ENOUGH
    }

    /// Times a run, unless enough is known.
    pub(crate) fn time<T>(&self, run: impl FnOnce() -> T) -> T {
        if self.is_fast() || self.is_slow() {
            return run();
        }
        let began = Instant::now();
        let result = run();
        if began.elapsed() <= SLOW {
            self.fast.set(true);
        } else {
            self.slow.set(self.slow.get() + 1);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fast_run_is_enough_and_one_slow_run_is_not() {
        let slow = || std::thread::sleep(2 * SLOW);
        let pace = Pace::default();
        (1..ENOUGH).for_each(|_| pace.time(slow));
        assert!(!pace.is_slow() && !pace.is_fast());
        pace.time(slow);
        assert!(pace.is_slow() && !pace.is_fast());

        let pace = Pace::default();
        pace.time(slow);
        // Even on a busy machine not every run is interrupted.
        while !pace.is_fast() && !pace.is_slow() {
            pace.time(|| ());
        }
        assert!(pace.is_fast());
    }
}

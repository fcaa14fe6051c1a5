//! Measurement of how fast the handlers of a type of actors run.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The duration above which a run is slow enough to be worth memoizing.
const SLOW: Duration = Duration::from_micros(20);
/// The number of slow runs after which handlers count as slow.
const ENOUGH: u32 = 8;

/// The pace of the handlers of one type of actors.
///
/// Runs are timed until one is fast. From then on all count as fast, because a slow run may just have been interrupted,
/// and first runs are always slow. If [`ENOUGH`] runs are timed without a fast one, the handlers count as slow.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    fast: Cell<bool>,
    slow: Cell<u32>,
}

impl Pace {
    /// Returns `true` if handlers are known to be fast.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.fast.get()
    }

    /// Returns `true` if handlers are known to be slow enough to be worth memoizing.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.get() == ENOUGH
    }

    /// Runs the closure, and times it unless the pace is already known.
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

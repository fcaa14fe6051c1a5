//! Measurement of how fast the handlers of a type of actors run.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The duration above which a run is slow enough to be worth memoizing.
const SLOW: Duration = Duration::from_micros(20);
/// The number of slow runs after which handlers count as slow.
const ENOUGH: u32 = 8;

/// The speed of the handlers of one type of actors.
///
/// Runs are timed until one is fast. From then on all count as fast, because a slow run may just have been interrupted,
/// and first runs are always slow. If [`ENOUGH`] runs are timed without a fast one, the handlers count as slow.
#[derive(Debug, Default)]
pub(crate) struct HandlerSpeed {
    fast: Cell<bool>,
    slow: Cell<u32>,
}

impl HandlerSpeed {
    /// Returns `true` if handlers are known to be fast.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.fast.get()
    }

    /// Returns `true` if handlers are known to be slow enough to be worth memoizing.
    pub(crate) fn is_slow(&self) -> bool {
        self.slow.get() == ENOUGH
    }

    /// Runs the closure, and times it unless the speed is already known.
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
        let speed = HandlerSpeed::default();
        (1..ENOUGH).for_each(|_| speed.time(slow));
        assert!(!speed.is_slow() && !speed.is_fast());
        speed.time(slow);
        assert!(speed.is_slow() && !speed.is_fast());

        let speed = HandlerSpeed::default();
        speed.time(slow);
        // Even on a busy machine not every run is interrupted.
        while !speed.is_fast() && !speed.is_slow() {
            speed.time(|| ());
        }
        assert!(speed.is_fast());
    }
}

//! Virtual time: the clock stands still until a timer fires, and then shows the time of that timer.
//!
//! The earliest timer may fire at any point, even if other steps are possible: computation takes time too. Timers wait
//! until no other step is possible if the runtime would have to stall for longer than [`crate::Settings::stall`] (see
//! `stalls.rs`), after [`crate::Settings::timers`] early ones in one execution, which keeps periodic timers from running
//! forever, and always while the clock is paused.

use crate::execution::NONE;
use crate::stalls::Advances;

/// The clock of one execution.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Nanoseconds since the execution began.
    pub(crate) now: u64,
    pub(crate) paused: bool,
    /// The number of timers that have fired, except those that had to wait because of the stall or the pause.
    pub(crate) fired: u64,
    /// `true` if an operation has used the clock.
    pub(crate) used: bool,
    /// Timers up to this time may fire now.
    pub(crate) limit: u64,
    /// `true` if timers may fire only when no other step is possible.
    pub(crate) idle: bool,
    /// `true` if this holds regardless of the timers that have fired before.
    pub(crate) always_idle: bool,
    /// The longest stall after which a timer may fire early, in nanoseconds.
    pub(crate) stall: u64,
    /// The number of looks at a clock of the system: each shows a nanosecond more, because computing takes time.
    pub(crate) looks: u64,
    /// The number of times that the running task has read a clock of the system since it was resumed.
    pub(crate) reads: u32,
    /// The steps that have advanced the clock.
    pub(crate) advances: Advances,
}

impl Clock {
    /// Advances the clock in a step.
    pub(crate) fn advance(&mut self, to: u64, step: u32) {
        self.now = to;
        self.advances.push((to, step));
    }

    /// Returns the step in which the clock reached a time, or [`NONE`].
    pub(crate) fn reached(&self, time: u64) -> u32 {
        self.advances.iter().find(|(now, _)| *now >= time).map_or(NONE, |(_, step)| *step)
    }
}

//! Virtual time: the clock stands still until a timer fires, and then shows the time of that timer.
//!
//! The earliest timer may fire at any point, even if other steps are possible: computation takes time too. After
//! [`crate::Settings::timers`] of these in one execution, and always while the clock is paused, timers wait until no
//! other step is possible. This keeps periodic timers from running forever.

/// The clock of one execution.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Nanoseconds since the execution began.
    pub(crate) now: u64,
    pub(crate) paused: bool,
    /// The number of timers that have fired.
    pub(crate) fired: u64,
    /// `true` if an operation has used the clock.
    pub(crate) used: bool,
    /// Timers up to this time may fire now.
    pub(crate) limit: u64,
    /// `true` if timers may fire only when no other step is possible.
    pub(crate) idle: bool,
}

//! Virtual time: it stands still until a timer fires, and then is the time of that timer.
//!
//! The timer that is due first may fire at any point, whatever else could happen: computing takes time too. After
//! [`crate::Settings::timers`] of them in one execution, and always while the clock is paused, timers wait until
//! nothing else can happen, which keeps periodic timers from running for ever.

/// The clock of one execution.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// Nanoseconds since the execution began.
    pub(crate) now: u64,
    pub(crate) paused: bool,
    /// How many timers have fired.
    pub(crate) fired: u64,
    /// Whether anything has looked at the clock.
    pub(crate) used: bool,
    /// Timers up to this time may fire now.
    pub(crate) limit: u64,
    /// Whether they may do so only because nothing else can happen.
    pub(crate) idle: bool,
}

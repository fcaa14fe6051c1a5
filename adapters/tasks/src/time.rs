//! The clock as tasks see it.

use crate::events::{read, write};
use crate::execution::{CLOCK, current};

/// Nanoseconds since the execution began. The running step depends on timers that fire.
#[must_use]
pub fn now() -> u64 {
    let Some(x) = current() else { return 0 };
    x.clock.used = true;
    read(CLOCK);
    x.clock.now
}

/// Stops the clock as long as anything but timers can happen.
pub fn pause() {
    if let Some(x) = current() {
        x.clock.used = true;
        x.clock.paused = true;
        write(CLOCK);
    }
}

/// Lets the clock go on.
pub fn resume() {
    if let Some(x) = current() {
        x.clock.paused = false;
        write(CLOCK);
    }
}

/// Moves the clock.
pub fn advance(nanoseconds: u64) {
    if let Some(x) = current() {
        x.clock.used = true;
        x.clock.now = x.clock.now.saturating_add(nanoseconds);
        write(CLOCK);
    }
}

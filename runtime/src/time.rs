//! The clock for tasks.

use crate::events::{event, quiet_event, read, write};
use crate::execution::{CLOCK, current, running};
use crate::object::{Action, Place, place_name};

/// Returns the nanoseconds since the execution began. Scheduling point; merged where no timer fires beside it.
#[must_use]
pub fn now(place: Place) -> u64 {
    if let Some(x) = current() {
        x.clock.used = true;
    }
    if let Some(x) = running() {
        let action = Action::plain("reads the clock", place);
        // A timer that the poll has registered may fire first.
        if x.task().live_waits().any(|wait| wait.armed && wait.exact) {
            event(action);
        } else {
            // Case 3 of the lemma in `asides.rs`.
            quiet_event(action, place_name(place).mixed(0x434c_4f43), &[]);
        }
    }
    read(CLOCK);
    current().map_or(0, |x| x.clock.now)
}

/// Pauses the clock: it stands still as long as steps other than timers are possible.
pub fn pause() {
    if let Some(x) = current() {
        x.clock.used = true;
        x.clock.paused = true;
        write(CLOCK);
    }
}

/// Resumes the clock.
pub fn resume() {
    if let Some(x) = current() {
        x.clock.paused = false;
        write(CLOCK);
    }
}

/// Advances the clock.
pub fn advance(nanoseconds: u64) {
    if let Some(x) = current() {
        x.clock.used = true;
        x.clock.now = x.clock.now.saturating_add(nanoseconds);
        write(CLOCK);
    }
}

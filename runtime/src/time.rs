//! The clock for tasks.

use crate::current::{with_current, with_running};
use crate::events::{event, mergeable_event, read};
use crate::execution::{CLOCK, Execution, NONE};
use crate::object::{Action, Place, place_name};
use crate::points::Point;
use crate::system::SHOWN;
use whippet_model::Touch;

/// Returns the nanoseconds since the execution began. Scheduling point; merged where no timer fires beside it.
#[must_use]
pub fn now(place: Place) -> u64 {
    with_current(|x| x.clock.used = true);
    // A timer that the poll has registered may fire first.
    let beside_timer = with_running(|x| x.task().live_waits().any(|wait| wait.armed && wait.polled.exact));
    let action = Action::plain(Point::ReadsClock, place);
    match beside_timer {
        Some(true) => event(action),
        // Case 3 of the lemma in `merging.rs`.
        Some(false) => mergeable_event(action, place_name(place).mixed(0x434c_4f43), &[]),
        None => {}
    }
    read(CLOCK);
    with_current(|x| x.clock.now).unwrap_or(0)
}

/// Pauses the clock: it stands still as long as steps other than timers are possible.
pub fn pause() {
    with_current(|x| {
        (x.clock.used, x.clock.paused) = (true, true);
        x.touch(Touch::write(CLOCK));
    });
}

/// Resumes the clock.
pub fn resume() {
    with_current(|x| {
        x.clock.paused = false;
        x.touch(Touch::write(CLOCK));
    });
}

/// Advances the clock.
pub fn advance(nanoseconds: u64) {
    with_current(|x| x.advances_by(nanoseconds));
}

impl Execution {
    /// Advances the clock, because the running task takes time.
    pub(crate) fn advances_by(&mut self, nanoseconds: u64) {
        self.clock.used = true;
        if self.running() != NONE {
            self.tell_taking_apart();
        }
        let (to, step) = (self.clock.now.saturating_add(nanoseconds), self.step);
        self.clock.advance(to, step);
        self.touch(Touch::write(CLOCK));
        self.touch(Touch::write(SHOWN));
    }
}

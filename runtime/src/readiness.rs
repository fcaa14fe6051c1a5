//! The readiness of waits: which can complete, and what a check of one touches.

use crate::execution::{CLOCK, DUE, Execution, NONE};
use crate::waiting::{Ready, Wait, WaitTarget};
use smallvec::SmallVec;
use whippet_model::{Name, Touch};

impl Execution {
    pub(crate) fn is_ready(&self, on: &WaitTarget) -> bool {
        self.ready(on).is_some()
    }

    pub(crate) fn ready(&self, on: &WaitTarget) -> Option<Ready> {
        match on {
            WaitTarget::Object(source, key) => source.ready(*key),
            WaitTarget::Timer(at) => {
                (*at <= self.clock.limit.max(self.clock.now)).then_some(Ready { since: NONE, item: CLOCK })
            }
            WaitTarget::Yield => Some(Ready { since: NONE, item: Name::ROOT }),
        }
    }

    /// Returns `true` if a waiter that is polled now finds `on` ready.
    pub(crate) fn finds_ready(&self, on: &WaitTarget) -> bool {
        match on {
            WaitTarget::Timer(at) => *at <= self.clock.now,
            _ => self.is_ready(on),
        }
    }

    /// Returns `true` if the wait can complete now.
    pub(crate) fn can_end(&self, wait: &Wait) -> bool {
        match wait.on {
            WaitTarget::Timer(due) => due <= self.clock.now || wait.armed && due <= self.clock.limit,
            _ => self.is_ready(&wait.on),
        }
    }

    /// Makes the running step depend on the item that made `on` ready.
    pub(crate) fn touch_item(&mut self, on: &WaitTarget, ready: Ready) {
        if ready.since != NONE && matches!(on, WaitTarget::Object(..)) {
            self.touch(Touch::read(ready.item));
        }
    }

    /// Makes the running step depend on the readiness of `on`.
    pub(crate) fn look_at(&mut self, on: &WaitTarget) {
        if !self.record.known {
            looks(on, |touch| self.touch(touch));
        }
    }

    /// Orders the running step after the steps that made `on` ready.
    pub(crate) fn take_causes(&mut self, on: &WaitTarget) {
        if let WaitTarget::Object(source, key) = on
            && self.notes()
        {
            let mut causes = std::mem::take(&mut self.scratch);
            source.causes(*key, &mut causes);
            for step in causes.drain(..) {
                self.cause(step);
            }
            self.scratch = causes;
        }
    }

    /// Orders the running step after the steps that made `on` ready. Only the check of merged events sees this: for
    /// the search the two are in a race, because another step might have completed the wait of the task.
    pub(crate) fn hidden_causes(&mut self, on: &WaitTarget) {
        if let WaitTarget::Object(source, key) = on
            && self.merging.events.are_ordered()
            && self.notes()
        {
            let mut causes = std::mem::take(&mut self.scratch);
            source.causes(*key, &mut causes);
            for &cause in causes.iter().filter(|&&cause| cause != NONE) {
                self.merging.events.newest_step_after(cause);
            }
            causes.clear();
            self.scratch = causes;
        }
    }
}

/// Calls `touch` with the reads of a check for readiness.
pub(crate) fn looks(on: &WaitTarget, mut touch: impl FnMut(Touch)) {
    match on {
        WaitTarget::Object(source, key) => {
            let mut watched = SmallVec::new();
            source.watched(*key, &mut watched);
            watched.iter().for_each(|&name| touch(Touch::read(name)));
        }
        // The timer might have fired already, or not yet.
        WaitTarget::Timer(_) => [CLOCK, DUE].into_iter().for_each(|name| touch(Touch::read(name))),
        WaitTarget::Yield => {}
    }
}

//! The rules for one poll of a task: which waits it has really checked, and what counts as read by its next event.

use crate::execution::{CLOCK, DUE, Execution};
use crate::object::{Action, Place, place_name};
use crate::points::Point;
use crate::readiness::looks;
use crate::task::{Polling, Task};
use crate::waiting::{Wait, WaitTarget};
use smallvec::SmallVec;
use whippet_model::Touch;

impl Execution {
    /// Records that the running task polls its wait `at`. If that is not ready, the poll counts as a read as soon as
    /// the task reaches an event: if it had been ready, the task would have taken another path.
    #[inline]
    pub(crate) fn probe(&mut self, at: usize) {
        if !self.record.known && !self.finds_ready(&self.tasks[self.running() as usize].waits[at].on) {
            self.note_probe(at);
        }
    }

    fn note_probe(&mut self, at: usize) {
        let Task { polling: Polling { probes, .. }, waits, .. } = self.task();
        match &waits[at].on {
            // A timer that is polled only reads the current time.
            WaitTarget::Timer(_) => probes.push(Touch::read(CLOCK)),
            on => looks(on, |touch| probes.push(touch)),
        }
    }

    /// Adds the recorded reads of unready waits to the footprint, because the poll has reached an event.
    #[inline]
    pub(crate) fn attach_probes(&mut self) {
        if !self.task().polling.probes.is_empty() {
            self.touch_probes();
        }
    }

    /// Adds the reads of the running step's requests to the footprint: another result would have led to another path.
    #[inline]
    pub(crate) fn attach_asked_looks(&mut self) {
        while let Some(touch) = self.task().polling.asked_looks.pop() {
            self.touch(touch);
        }
    }

    fn touch_probes(&mut self) {
        let mut probes = std::mem::take(&mut self.task().polling.probes);
        for touch in probes.drain(..) {
            self.touch(touch);
        }
        self.task().polling.probes = probes;
    }

    /// Describes the running step by `action`, which takes an item that was ready when a select began.
    pub(crate) fn instead_of_begin(&mut self, action: Action) {
        if self.task().past.in_merged {
            if self.notes() {
                self.record.told.push((self.running(), action));
            }
        } else if self.record.action.is_some_and(|action| action.point == Point::BeginsToSelect) {
            self.record.action = Some(action);
        }
    }

    /// Returns `true` if some execution aborts task `at` and an abort takes effect at its current position.
    pub(crate) fn is_abortable(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        // The execution that learns it aborts the task, too.
        !task.polling.is_blocked && (self.is_marked(task.name) || task.interrupts.aborted.is_some())
    }

    /// Returns `true` if task `at`, whose poll has only to check its newest waits, checks them in a step of its own
    /// before it is blocked.
    ///
    /// Other tasks need no such step: they are blocked at once, and continue when one of their waits is ready. The
    /// step is needed
    /// * for a task that some execution aborts: an abort before the check does not prevent the task from taking an
    ///   item that is ready at the check;
    /// * beside `yield_now`, which is never ready at the first check and always at the second one;
    /// * if the poll had an event: the waits that were polled before it were not ready then, even if they are now.
    pub(crate) fn looks_first(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        let is_new = |wait: &Wait| !task.has_seen(wait) && !wait.polled.exact && !matches!(wait.on, WaitTarget::Yield);
        let is_old = |wait: &Wait| task.has_seen(wait) || matches!(wait.on, WaitTarget::Yield);
        task.polling.number > 0
            && task.live_waits().any(is_new)
            && (self.is_abortable(at) || task.live_waits().any(is_old))
    }

    /// Returns `true` if the running task checks its next wait in a step of its own: its poll continues with other
    /// branches if the wait is not ready, and has acted since its last check.
    pub(crate) fn looks_apart(&mut self) -> bool {
        self.is_exact() && self.task().polling.moments.has_acted() && self.task().polling.asks.is_none()
    }

    /// Returns `true` if waiters that are polled now really check their objects.
    ///
    /// A poll in which nothing happens between the checks need not check: the task registers its waits, and is
    /// granted one of those that are ready when it continues. If a branch of a select or join acts when it is polled,
    /// the checks before and after it are different points in time. The select or join is then learnt
    /// ([`Execution::mark_around`]), and each of its polls, and with it the whole poll of its task, is exact: each
    /// waiter checks its object when it is polled, and completes at once if that is ready.
    pub(crate) fn is_exact(&mut self) -> bool {
        let task = self.task();
        (task.selects.composite > 0 || task.polling.exact) && !task.polling.repeated
    }

    /// Records that the exact poll of the running task has registered its wait `at`: a timer may fire from now on.
    pub(crate) fn registers(&mut self, at: usize) {
        let now = self.clock.now;
        let wait = &mut self.task().waits[at];
        if let WaitTarget::Timer(due) = wait.on
            && wait.polled.exact
        {
            wait.armed |= due > now;
            self.touch(Touch::write(DUE));
        }
    }

    /// Returns `true` if the running task has other waits in its poll, or polls a select or join whose polls are exact.
    pub(crate) fn is_beside_others(&mut self) -> bool {
        let task = self.task();
        task.selects.composite > 0 || task.waits.iter().any(|wait| wait.polled.poll == task.polling.number)
    }

    /// Returns `true` if a waiting task could be resumed in more than one way.
    pub(crate) fn waits_for_several(&self, at: usize) -> bool {
        // An abort ends the wait too.
        self.is_abortable(at) || self.tasks[at].live_waits().nth(1).is_some()
    }

    /// Learns the selects and joins being polled, because one of their branches acts as soon as it is polled: the
    /// behaviour then depends on the branches that were ready before, or on the branch that was polled first.
    #[inline]
    pub(crate) fn mark_around(&mut self) {
        if !self.record.replayed && !self.task().selects.around.is_empty() {
            self.mark_places_around();
        }
    }

    fn mark_places_around(&mut self) {
        let task = self.task();
        let asked =
            !task.polling.probes.is_empty() || task.waits.iter().any(|wait| wait.polled.poll == task.polling.number);
        let around: SmallVec<[Place; 2]> =
            task.selects.around.iter().filter(|(_, any_first)| asked || *any_first).map(|(place, _)| *place).collect();
        let mut learnt = false;
        for place in around {
            learnt |= self.mark(place_name(place));
        }
        let task = &self.tasks[self.running() as usize];
        // A wait that was polled exactly was not ready then: a later branch of this poll has made it ready.
        let is_ready =
            |wait: &Wait| wait.polled.poll == task.polling.number && !wait.polled.exact && self.finds_ready(&wait.on);
        self.ending.impossible |= learnt && task.waits.iter().any(is_ready);
    }

    /// Prepares the running task for an event, or for a merged event that may need a step of its own.
    #[inline]
    pub(crate) fn comes_to_event(&mut self) {
        self.mark_around();
        self.goes_on();
        self.attach_probes();
        self.attach_asked_looks();
        if self.acts() && !self.task().past.in_merged {
            // The waits polled before could have been ready, which would have led to another path.
            self.record.appends = None;
        }
    }

    /// Records an operation of the running task. Returns `true` if it follows waits that the same poll has registered: the
    /// task may no longer wait for these, so the poll is dirty.
    pub(crate) fn acts(&mut self) -> bool {
        self.task().polling.moments.act();
        self.mark_dirty()
    }

    /// Records that a wait of the running task completes that was granted, or that no other task has made ready.
    pub(crate) fn completes(&mut self) {
        self.task().polling.moments.complete();
        self.mark_dirty();
    }

    fn mark_dirty(&mut self) -> bool {
        let task = self.task();
        let asked = task.waits.iter().any(|wait| wait.polled.poll == task.polling.number);
        task.polling.dirty |= asked;
        asked
    }
}

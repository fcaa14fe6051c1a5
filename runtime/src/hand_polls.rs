//! Futures that are polled by hand: with `now_or_never`, `poll!`, in a user's `poll_fn`.
//!
//! A waiter without a grant stays pending even if its object is ready, because its task is expected to wait then, and is
//! granted the item as soon as the search schedules it. Code that polls a future once and goes on would see an answer
//! that no runtime gives. Such an answer is noticed when the poll goes on to an operation, when its task ends, or when
//! the task waits for other objects only: no execution is like this, so it is given up, and the place of the waiter is
//! learnt. From then on its polls are exact (`Execution::is_exact`): they check the object, in a step of their own
//! unless the check can be merged into the running one.

use crate::current::{in_task, with_current, with_running};
use crate::events;
use crate::execution::{self, Execution};
use crate::object::{Action, Place, place_name};
use crate::outside;
use crate::points::Point;
use crate::waiting::WaitTarget;
use smallvec::SmallVec;
use std::task::Waker;
use whippet_model::Name;

/// The name that is marked if some place polls by hand.
pub(crate) const HANDS: Name = Name(0x4841_4e44_5300_0001);

/// The name that is marked if waiters of this place are polled by hand.
fn hand(place: Place) -> Name {
    place_name(place).mixed(0x4841_4e44)
}

/// The waits that have answered "pending" in the current poll of a task although they were ready, and their places.
pub(crate) type Unfounded = SmallVec<[(u32, Place); 2]>;

/// Wakers of programs with which waits were polled.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct ForeignWakers {
    /// `true` if the execution has such waits.
    pub(crate) any: bool,
    /// `true` if an operation since may have made one of them ready.
    pub(crate) due: bool,
}

impl ForeignWakers {
    /// Records an operation that makes waits ready.
    #[inline]
    pub(crate) fn enable(&mut self) {
        self.due = self.any;
    }
}

/// A guard that makes the polls during its lifetime exact.
pub(crate) struct ByHand(());

impl ByHand {
    /// Begins an exact poll of the running task. With `checks`, it is a check of an object, of which this is the
    /// description: a scheduling point, merged where no other task can come between.
    pub(crate) fn enter(checks: Option<Action>) -> ByHand {
        in_task(|x| x.task().selects.composite += 1);
        let guard = ByHand(());
        if let Some(action) = checks {
            // Case 3 of the lemma in `merging.rs`.
            events::mergeable_event(
                Action::plain(Point::BeginsToSelect, action.place),
                hand(action.place).mixed(1),
                &[],
            );
            // The check belongs to this step.
            with_running(|x| x.task().polling.moments.check());
        }
        guard
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        with_running(|x| {
            let selects = &mut x.task().selects;
            selects.composite = selects.composite.saturating_sub(1);
        });
    }
}

/// Calls the wakers with which waits were polled, other than those of tasks, if the waits have become ready. Shims call
/// this at the end of operations that make waits ready, while none of their state is borrowed.
#[inline]
pub fn wake_polled() {
    match with_current(|x| x.wakes.due) {
        Some(true) => call_wakers(),
        Some(false) => {}
        None => outside::has_changed(),
    }
}

#[cold]
fn call_wakers() {
    let mut found: Vec<(u32, u32, Waker)> = Vec::new();
    with_current(|x| {
        x.wakes.due = false;
        for number in 0..x.tasks.len() {
            for k in 0..x.tasks[number].waits.len() {
                let wait = &x.tasks[number].waits[k];
                if wait.called || wait.foreign.is_none() || !x.finds_ready(&wait.on) {
                    continue;
                }
                let wait = &mut x.tasks[number].waits[k];
                wait.called = true;
                found.extend(wait.foreign.take().map(|waker| (number as u32, wait.id, waker)));
            }
        }
    });
    for (number, id, waker) in found {
        execution::waking(number, || waker.wake_by_ref());
        let mut waker = Some(waker);
        with_current(|x| {
            let task = x.tasks.get_mut(number as usize);
            let wait = task.and_then(|task| task.waits.iter_mut().find(|wait| wait.id == id));
            if let Some(wait) = wait.filter(|wait| wait.foreign.is_none()) {
                std::mem::swap(&mut wait.foreign, &mut waker);
            }
        });
    }
}

impl Execution {
    /// Returns `true` if waiters with this action were seen to be polled by hand.
    #[inline]
    pub(crate) fn is_by_hand(&self, action: &Action) -> bool {
        self.facts.runs_once || self.learning.polls_by_hand && self.is_marked(hand(action.place))
    }

    /// Records that wait `at` of the running task answers "pending"; `again` if it was polled before. A task that was
    /// granted another wait is expected to go on with that one.
    #[inline]
    pub(crate) fn answers_pending(&mut self, at: usize, again: bool) {
        let task = &self.tasks[self.running() as usize];
        let wait = &task.waits[at];
        if self.record.replayed || task.grant != 0 || task.selects.inside > 0 || wait.polled.exact {
            return;
        }
        let is_ready = if matches!(wait.on, WaitTarget::Yield) {
            again && !task.polling.repeated
        } else {
            self.finds_ready(&wait.on)
        };
        if is_ready {
            let (id, place) = (wait.id, wait.action.place);
            self.task().polling.unfounded.push((id, place));
        }
    }

    /// Learns the places of waits that were polled by hand, because the running task goes on as if they were not ready.
    #[inline]
    pub(crate) fn goes_on(&mut self) {
        if !self.task().polling.unfounded.is_empty() && self.task().selects.inside == 0 {
            self.learn_by_hand(|_, _| true);
        }
    }

    /// Learns the places of waits that were polled by hand, because the running task blocks and does not wait for them.
    #[inline]
    pub(crate) fn waits_for_others(&mut self) {
        if !self.task().polling.unfounded.is_empty() {
            self.learn_by_hand(|x, id| {
                let task = &x.tasks[x.running() as usize];
                !task.live_waits().any(|wait| wait.id == id)
            });
        }
    }

    #[cold]
    fn learn_by_hand(&mut self, is_exposed: impl Fn(&Execution, u32) -> bool) {
        for (id, place) in std::mem::take(&mut self.task().polling.unfounded) {
            if self.facts.is_over() || !is_exposed(self, id) {
                continue;
            }
            self.ending.impossible |= self.mark(hand(place));
            self.mark(HANDS);
        }
    }
}

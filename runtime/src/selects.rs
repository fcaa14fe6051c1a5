//! The interface for selects and joins: they report their beginning, their polls and their branches.

use crate::current::{with_facts, with_running};
use crate::events::{event, mergeable_event};
use crate::execution::NONE;
use crate::object::{Action, Place, place_name};
use crate::points::Point;

/// Begins a select or join at `place`; `any_first` if it may poll any of its branches first. If one of its branches
/// acts as soon as it is polled, which is known (`acts`) or learnt, the behaviour depends on the objects that are ready
/// now: the beginning is then an event, merged if possible, and the result is `true`.
pub fn begins(place: Place, any_first: bool, acts: bool) -> bool {
    let name = place_name(place);
    let known = with_facts(|facts| {
        let is_live = facts.running() != NONE && !facts.is_over();
        is_live && (acts || facts.deep || facts.refinements.is_marked(name))
    });
    let acts = known.unwrap_or(false);
    if acts {
        let action = Action::plain(Point::BeginsToSelect, place);
        if any_first {
            event(action)
        } else {
            // Case 3 of the lemma in `merging.rs`.
            mergeable_event(action, name.mixed(1), &[])
        }
        // The first check belongs to this step.
        with_running(|x| x.task().polling.moments.check());
    }
    acts
}

/// A guard that marks all polls during its lifetime as preceding branches that act as soon as they are polled.
pub struct Composite(());

impl Composite {
    /// Begins the marking, for a branch.
    #[must_use]
    #[inline]
    pub fn enter() -> Composite {
        with_running(|x| x.task().selects.composite += 1);
        Composite(())
    }
}

/// A guard that marks all polls during its lifetime as a branch of a select or join.
pub struct Inside(());

impl Inside {
    /// Enters a branch.
    #[must_use]
    #[inline]
    pub fn enter() -> Inside {
        with_running(|x| x.task().selects.inside += 1);
        Inside(())
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        with_running(|x| {
            let task = x.task();
            task.selects.inside = task.selects.inside.saturating_sub(1);
        });
    }
}

/// Returns `true` if the current poll of the running task only repeats the previous one, to find out which waits are
/// still polled.
#[must_use]
pub fn is_repeated() -> bool {
    with_running(|x| x.task().polling.repeated).unwrap_or(false)
}

/// Returns `true` if the running task polls a branch of a select or join.
#[must_use]
pub fn is_in_branch() -> bool {
    with_running(|x| x.task().selects.inside > 0).unwrap_or(false)
}

/// A guard that marks all polls during its lifetime as part of a select or join that has just begun.
pub struct Around(());

impl Around {
    /// Begins the marking, for the select or join at `place`; `any_first` if it may poll any of its branches first.
    #[must_use]
    #[inline]
    pub fn enter(place: Place, any_first: bool) -> Around {
        with_running(|x| x.task().selects.around.push((place, any_first)));
        Around(())
    }

    /// Records that the polled branch has completed at once.
    pub fn done(&self) {
        let impossible = with_running(|x| {
            x.mark_around();
            x.ending.impossible
        });
        if impossible == Some(true) {
            crate::drive::abandon();
        }
    }
}

impl Drop for Around {
    #[inline]
    fn drop(&mut self) {
        with_running(|x| x.task().selects.around.pop());
    }
}

impl Drop for Composite {
    #[inline]
    fn drop(&mut self) {
        with_running(|x| {
            let task = x.task();
            task.selects.composite = task.selects.composite.saturating_sub(1);
        });
    }
}

/// One poll of a select. If all of its branches wait, and each has polled one waiter or is such a select itself, the
/// task certainly waits for all of these leaves.
#[derive(Debug, Default)]
pub struct Round {
    /// The last waiter polled before the select; `branch` is the last one before the current branch.
    from: u32,
    branch: u32,
    sure: bool,
    /// The task's `dirty` flag before the poll.
    dirty: bool,
}

impl Round {
    /// Begins the poll of the select.
    #[inline]
    pub fn begin(&mut self) {
        with_running(|x| {
            let dirty = std::mem::take(&mut x.task().polling.dirty);
            *self = Round { from: x.counters.polls, branch: x.counters.polls, sure: true, dirty };
        });
    }

    /// Records that one of its branches was polled.
    #[inline]
    pub fn branch(&mut self) {
        with_running(|x| {
            let (before, now) = (std::mem::replace(&mut self.branch, x.counters.polls), x.counters.polls);
            self.sure &= now <= before + 1 || x.task().polling.asked == (before, now);
        });
    }

    /// Ends the poll of the select; `waits` if it is still pending.
    #[inline]
    pub fn end(&mut self, waits: bool) {
        with_running(|x| {
            let to = x.counters.polls;
            let task = x.task();
            if waits && self.sure && !task.polling.dirty {
                task.polling.asked = (self.from, to);
            }
            task.polling.dirty |= self.dirty;
            self.sure = false;
        });
    }
}

/// Returns a number for a `select!` of the running task.
#[must_use]
pub fn new_select() -> u32 {
    let number = with_running(|x| {
        x.counters.selects += 1;
        x.counters.selects
    });
    number.unwrap_or(0)
}

/// A guard that marks all polls during its lifetime as a branch of an unbiased select.
pub struct InBranch(Option<usize>);

impl InBranch {
    /// Begins the marking, for branch `branch` of select `select`.
    #[must_use]
    pub fn enter(select: u32, branch: u32) -> InBranch {
        let at = with_running(|x| {
            let path = &mut x.task().selects.path;
            let at = path.iter().position(|(id, _)| *id == 0)?;
            path[at] = (select, branch);
            Some(at)
        });
        InBranch(at.flatten())
    }
}

impl Drop for InBranch {
    fn drop(&mut self) {
        if let Some(at) = self.0 {
            with_running(|x| x.task().selects.path[at] = (0, 0));
        }
    }
}

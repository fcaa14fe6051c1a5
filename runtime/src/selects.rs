//! The interface for selects and joins: they report their beginning, their polls and their branches.

use crate::events::{event, quiet_event};
use crate::execution::running;
use crate::object::{Action, Place, place_name};

/// The verb of the step with which some selects and joins begin.
pub(crate) const BEGINS: &str = "begins to select";

/// Begins a select or join at `place`; `any_first` if it may poll any of its branches first. If one of its branches
/// acts as soon as it is polled, which is known (`acts`) or learnt, the behaviour depends on the objects that are ready
/// now: the beginning is then an event, merged if possible, and the result is `true`.
pub fn begins(place: Place, any_first: bool, acts: bool) -> bool {
    let Some(x) = running().filter(|x| !x.muted) else { return false };
    let name = place_name(place);
    let acts = acts || x.deep || x.groups.is_marked(name);
    if acts {
        let action = Action::plain(BEGINS, place);
        if any_first {
            event(action)
        } else {
            // Case 3 of the lemma in `asides.rs`.
            quiet_event(action, name.mixed(1), &[])
        }
        // The first check belongs to this step.
        if let Some(x) = running() {
            x.task().acted = false;
        }
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
        if let Some(x) = running() {
            x.task().composite += 1;
        }
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
        if let Some(x) = running() {
            x.task().inside += 1;
        }
        Inside(())
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        if let Some(x) = running() {
            let task = x.task();
            task.inside = task.inside.saturating_sub(1);
        }
    }
}

/// Returns `true` if the current poll of the running task only repeats the previous one, to find out which waits are
/// still polled.
#[must_use]
pub fn is_repeated() -> bool {
    running().is_some_and(|x| x.task().repeated)
}

/// Returns `true` if the running task polls a branch of a select or join.
#[must_use]
pub fn is_in_branch() -> bool {
    running().is_some_and(|x| x.task().inside > 0)
}

/// A guard that marks all polls during its lifetime as part of a select or join that has just begun.
pub struct Around(());

impl Around {
    /// Begins the marking, for the select or join at `place`; `any_first` if it may poll any of its branches first.
    #[must_use]
    #[inline]
    pub fn enter(place: Place, any_first: bool) -> Around {
        if let Some(x) = running() {
            x.task().around.push((place, any_first));
        }
        Around(())
    }

    /// Records that the polled branch has completed at once.
    pub fn done(&self) {
        if let Some(x) = running() {
            x.mark_around();
            if x.impossible {
                crate::task::abandon();
            }
        }
    }
}

impl Drop for Around {
    #[inline]
    fn drop(&mut self) {
        if let Some(x) = running() {
            x.task().around.pop();
        }
    }
}

impl Drop for Composite {
    #[inline]
    fn drop(&mut self) {
        if let Some(x) = running() {
            let task = x.task();
            task.composite = task.composite.saturating_sub(1);
        }
    }
}

/// One poll of a select. If all of its branches wait, and each has polled one leaf or is such a select itself, the
/// task certainly waits for all of these leaves.
#[derive(Debug, Default)]
pub struct Round {
    /// The last leaf polled before the select; `branch` is the last one before the current branch.
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
        if let Some(x) = running() {
            let dirty = std::mem::take(&mut x.task().dirty);
            *self = Round { from: x.order, branch: x.order, sure: true, dirty };
        }
    }

    /// Records that one of its branches was polled.
    #[inline]
    pub fn branch(&mut self) {
        if let Some(x) = running() {
            let (before, now) = (std::mem::replace(&mut self.branch, x.order), x.order);
            self.sure &= now <= before + 1 || x.task().asked == (before, now);
        }
    }

    /// Ends the poll of the select; `waits` if it is still pending.
    #[inline]
    pub fn end(&mut self, waits: bool) {
        if let Some(x) = running() {
            let to = x.order;
            let task = x.task();
            if waits && self.sure && !task.dirty {
                task.asked = (self.from, to);
            }
            task.dirty |= self.dirty;
            self.sure = false;
        }
    }
}

/// Returns a number for a `select!` of the running task.
#[must_use]
pub fn new_select() -> u32 {
    running().map_or(0, |x| {
        x.selects += 1;
        x.selects
    })
}

/// A guard that marks all polls during its lifetime as a branch of an unbiased select.
pub struct InBranch(Option<usize>);

impl InBranch {
    /// Begins the marking, for branch `branch` of select `select`.
    #[must_use]
    pub fn enter(select: u32, branch: u32) -> InBranch {
        let Some(x) = running() else { return InBranch(None) };
        let path = &mut x.task().path;
        let at = path.iter().position(|(id, _)| *id == 0);
        if let Some(at) = at {
            path[at] = (select, branch);
        }
        InBranch(at)
    }
}

impl Drop for InBranch {
    fn drop(&mut self) {
        if let (Some(at), Some(x)) = (self.0, running()) {
            x.task().path[at] = (0, 0);
        }
    }
}

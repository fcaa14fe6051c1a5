//! What selects and joins tell about themselves: where they begin, what they poll, and in which branch.

use crate::events::{event, quiet_event};
use crate::execution::running;
use crate::object::{Action, Place, place_name};

/// What a select or join does that has to begin with a step of its own.
pub(crate) const BEGINS: &str = "begins to select";

/// A select or join at `place` begins; `any_first` if it may ask any of its branches first. Where a branch of it acts as soon
/// as it is polled, it matters what is ready now: then this is an event, or an aside, and the answer is `true`.
pub fn begins(place: Place, any_first: bool) -> bool {
    let Some(x) = running().filter(|x| !x.muted) else { return false };
    let name = place_name(place);
    let acts = x.deep || x.groups.is_marked(name);
    if acts {
        let action = Action::plain(BEGINS, place);
        if any_first {
            event(action)
        } else {
            quiet_event(action, name.mixed(1), &[])
        }
        // The first look belongs to this step.
        if let Some(x) = running() {
            x.task().acted = false;
        }
    }
    acts
}

/// Marks everything polled while it lives as what is asked before others that act as soon as they are polled.
pub struct Composite(());

impl Composite {
    /// From now on, for the branches of the one at `place`.
    #[must_use]
    #[inline]
    pub fn enter() -> Composite {
        if let Some(x) = running() {
            x.task().composite += 1;
        }
        Composite(())
    }
}

/// Marks everything polled while it lives as a branch of a select or join.
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

/// Returns `true` if the running task polls a branch of a select or join.
#[must_use]
pub fn is_in_branch() -> bool {
    running().is_some_and(|x| x.task().inside > 0)
}

/// Marks everything polled while it lives as part of a select or join that has just begun.
pub struct Around(());

impl Around {
    /// From now on, for the one at `place`; `any_first` if it may ask any of its branches first.
    #[must_use]
    #[inline]
    pub fn enter(place: Place, any_first: bool) -> Around {
        if let Some(x) = running() {
            x.task().around.push((place, any_first));
        }
        Around(())
    }

    /// What was polled is done at once.
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

/// One round of a select that asks its branches: if all of them wait, and each asked one leaf or is such a select itself, it
/// is sure that the task waits for all of these.
#[derive(Debug, Default)]
pub struct Round {
    /// The leaf asked last before the poll, and before the branch being polled.
    from: u32,
    branch: u32,
    sure: bool,
    /// What had to be asked again before.
    dirty: bool,
}

impl Round {
    /// The select is polled.
    #[inline]
    pub fn begin(&mut self) {
        if let Some(x) = running() {
            let dirty = std::mem::take(&mut x.task().dirty);
            *self = Round { from: x.order, branch: x.order, sure: true, dirty };
        }
    }

    /// One of its branches was polled.
    #[inline]
    pub fn branch(&mut self) {
        if let Some(x) = running() {
            let (before, now) = (std::mem::replace(&mut self.branch, x.order), x.order);
            self.sure &= now <= before + 1 || x.task().asked == (before, now);
        }
    }

    /// The select has been polled; `waits` if it still waits.
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

/// A number for a `select!` of the running task.
#[must_use]
pub fn new_select() -> u32 {
    running().map_or(0, |x| {
        x.selects += 1;
        x.selects
    })
}

/// Marks everything polled while it lives as a branch of an unbiased select.
pub struct InBranch(Option<usize>);

impl InBranch {
    /// From now on: branch `branch` of select `select`.
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

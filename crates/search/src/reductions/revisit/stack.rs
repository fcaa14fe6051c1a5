//! The stack of the revisit search: the steps taken, their pasts, and the flags of canonical steps.
//!
//! It does not allocate once its buffers have grown. A part of it can be saved and restored, which costs no step of the
//! machine: the pasts of the restored steps are computed again.

use whippet_model::{ActorNo, BitSet, Choice, Delivered, Pasts};

/// One step on the stack.
#[derive(Copy, Clone, Debug)]
pub(crate) struct StackStep {
    pub(crate) choice: Choice,
    pub(crate) actor: u32,
    /// The step that sent its message, or [`NONE`].
    by: u32,
    /// The range of handles that it made pending.
    pub(crate) sent: (u32, u32),
    /// Set if it was the first choice of its level.
    pub(crate) canonical: bool,
}

/// Sentinel: no step.
const NONE: u32 = u32::MAX;

/// The steps of the current execution.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    steps: Vec<StackStep>,
    pasts: Pasts,
    /// The steps that are not canonical.
    replaced: Replaced,
}

/// The steps that are not canonical: the first ones as bits, which are compared with pasts word by word, later ones as
/// a list, so that a long execution without such steps has nothing to go through.
#[derive(Debug, Default)]
struct Replaced {
    early: BitSet,
    late: Vec<u32>,
}

/// The number of steps that are stored as bits.
const EARLY: usize = 512;

/// A saved part of a [`Stack`].
#[derive(Copy, Clone, Debug)]
pub(crate) struct SavedSuffix {
    /// The depth of its first step.
    pub(crate) from: usize,
    steps: usize,
}

/// All saved parts of a [`Stack`], the newest last.
#[derive(Debug, Default)]
pub(crate) struct SavedSuffixes {
    steps: Vec<StackStep>,
    /// The steps of the newest part that are in the past of its last step, counted from its beginning.
    past: Vec<u32>,
}

impl Stack {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    #[inline]
    pub(crate) fn step(&self, at: usize) -> &StackStep {
        &self.steps[at]
    }

    pub(crate) fn steps(&self) -> &[StackStep] {
        &self.steps
    }

    /// Returns `true` if step `a` happens before step `b` or is the same step.
    #[inline]
    pub(crate) fn before(&self, a: usize, b: usize) -> bool {
        self.pasts.before(a, b)
    }

    /// Returns the last step of an actor.
    #[inline]
    pub(crate) fn last_of(&self, actor: u32) -> Option<usize> {
        self.pasts.last_of(actor)
    }

    /// Returns the previous step of the actor of step `at`.
    #[inline]
    pub(crate) fn previous(&self, at: usize) -> Option<usize> {
        self.pasts.previous(at)
    }

    /// Returns the newest step that is neither canonical nor in the past of step `at`: `back` stops there.
    #[inline]
    pub(crate) fn floor(&self, at: usize) -> Option<usize> {
        let Replaced { early, late } = &self.replaced;
        let late = late.iter().rev().map(|&step| step as usize).find(|&step| !self.pasts.before(step, at));
        late.or_else(|| self.pasts.newest_outside(at, early))
    }

    /// Adds the newest step.
    #[inline(always)]
    pub(crate) fn push(&mut self, step: Delivered, canonical: bool) {
        let Delivered { choice, actor: ActorNo(actor), by, sent } = step;
        self.pasts.push_after(actor, by);
        let by = by.map_or(NONE, |by| by as u32);
        self.enter(StackStep { choice, actor, by, sent: (sent.start, sent.end), canonical });
    }

    /// Removes all steps from `depth` on.
    #[inline]
    pub(crate) fn truncate(&mut self, depth: usize) {
        self.steps.truncate(depth);
        self.replaced.truncate(depth);
        self.pasts.truncate(depth);
    }

    /// Saves and removes all steps from `from` on.
    pub(crate) fn save_suffix(&mut self, from: usize, saved: &mut SavedSuffixes) -> SavedSuffix {
        let suffix = SavedSuffix { from, steps: saved.steps.len() };
        let last = self.steps.len() - 1;
        let past = (from..=last).filter(|&at| self.pasts.before(at, last)).map(|at| (at - from) as u32);
        saved.past.clear();
        saved.past.extend(past);
        saved.steps.extend_from_slice(&self.steps[from..]);
        self.truncate(from);
        suffix
    }

    /// Restores the part that was saved last.
    pub(crate) fn restore_suffix(&mut self, suffix: SavedSuffix, saved: &mut SavedSuffixes) {
        self.truncate(suffix.from);
        for &step in &saved.steps[suffix.steps..] {
            self.pasts.push_after(step.actor, (step.by != NONE).then_some(step.by as usize));
            self.enter(step);
        }
        saved.steps.truncate(suffix.steps);
    }

    /// Adds a step whose past is known.
    #[inline(always)]
    fn enter(&mut self, step: StackStep) {
        if !step.canonical {
            self.replaced.insert(self.steps.len());
        }
        self.steps.push(step);
    }
}

impl Replaced {
    #[inline]
    fn insert(&mut self, at: usize) {
        if at < EARLY { self.early.insert(at as u32) } else { self.late.push(at as u32) }
    }

    /// Removes all steps from `depth` on.
    #[inline]
    fn truncate(&mut self, depth: usize) {
        self.early.truncate(depth as u32);
        while self.late.last().is_some_and(|&at| at as usize >= depth) {
            self.late.pop();
        }
    }
}

impl SavedSuffixes {
    /// Returns the steps of one saved part. `next` is the part saved after it.
    pub(crate) fn steps(&self, suffix: SavedSuffix, next: Option<SavedSuffix>) -> &[StackStep] {
        &self.steps[suffix.steps..next.map_or(self.steps.len(), |next| next.steps)]
    }

    /// Iterates over those steps of the part saved last that are in the past of its last step, in order.
    pub(crate) fn past(&self, suffix: SavedSuffix) -> impl Iterator<Item = StackStep> + '_ {
        self.past.iter().map(move |&k| self.steps[suffix.steps + k as usize])
    }
}

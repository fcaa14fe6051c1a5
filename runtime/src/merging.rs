//! Merged events: operations that the machine folds into a step instead of giving each one a step of its own, and the
//! check that this loses no behaviour.
//!
//! A step consists of one event of one task and all code up to that task's next event. Other tasks may run in the
//! same step without an event of their own. The operations they perform on the way are *merged events*: small
//! events that the search sees only as a part of the step.
//!
//! # Lemma
//!
//! Let m be a merged event of task t, and p the last operation of t or of another task that m happens after by causes.
//! Assume, for every execution that the search runs:
//! 1. *Footprint.* m touches every object whose state it reads or changes, and its result depends on these alone.
//! 2. *No conflict.* Whenever another task touches one of these objects in conflict with m, one of the two happens
//!    after the other by causes alone.
//! 3. *No disabling.* m disables no operation of another task, and none of another task disables m once p has happened.
//! 4. *Causes.* A wait that m completes happens after m and after everything that m happens after, not only after the
//!    step in which m is merged ([`crate::before_this`]).
//!
//! Then each execution in which operations of other tasks come between p and m has the same trace as one in which m
//! follows p at once. So the search may treat m as a part of p's step.
//!
//! *Proof sketch.* Let o be the operation directly before m in an execution where m is delayed, o ≠ p and not of t. o
//! does not happen before m by causes: p is the last such operation. If o touches no object of m in conflict, o and m
//! commute (1), both stay enabled (3), and waits that either completes have the same causes (4); exchange them and go
//! on by induction on the number of operations between p and m. If it does, o is also possible, with the same touch,
//! in an execution that is run: the one in which m is not delayed, because m does not disable o (3), and operations
//! that o happens after are not after m. There the pair is in conflict and not ordered by causes, against (2). ∎
//!
//! (2) is checked here for each execution that is run. Each merged event records its footprint and its causes; if a
//! pair is in conflict and unordered, the names of the merged event are learnt as needing their own event, and the
//! search restarts. (1), (3) and (4) are properties of the operations. They hold by these cases, which every merged
//! operation names:
//!
//! * **Case 1, take.** Completes a wait whose item is reserved for t: only t can take it, and it stays. The touches
//!   are reads of the other objects of the same wait and an addition to what is freed. (`grant.rs`, [`pass`].)
//! * **Case 2, add.** Adds to objects in a way that commutes with other additions: the drop of a sender, the send or
//!   drop of a oneshot's sender, the end of a task. It only enables. (`events.rs`, [`needs_own_event`].)
//! * **Case 3, read.** Reads without waiting and changes nothing of others: `try_recv` unless a sender may wait for
//!   the slot, the clock, the beginning of a biased select or of a join. (`events.rs`, [`mergeable_event`].)
//! * **Case 4, close.** Closes an object by the only task that can: others read `Closed` before they act on it, which
//!   is in conflict; waits that it completes were not disabled before. (`events.rs`, [`mergeable_event`].)
//!
//! An operation that fits none of these is an event: sends to a queue, requests for permits and their release,
//! notifications, values of `watch` and `broadcast`, aborts, spawns that are observed, choices of the search.
//!
//! [`pass`]: crate::grant::pass
//! [`needs_own_event`]: crate::needs_own_event
//! [`mergeable_event`]: crate::events::mergeable_event
//!
//! A cause is the number of a step or, with one bit set, of a merged event ([`is_merged`]). The two are distinguished
//! because an operation that happens after a step may happen before the merged events in that step.

use crate::execution::NONE;
use crate::order::Order;
use whippet_model::{Access, Name, Touch};

/// Tag bit in a list of causes: the entry is the number of a merged event, not of a step.
const MERGED: u32 = 1 << 31;

/// Returns `true` if a cause is a merged event and not a step. The search does not know such causes.
#[inline]
pub(crate) fn is_merged(cause: u32) -> bool {
    cause & MERGED != 0
}

/// Returns the cause that denotes merged event `number` of an execution.
#[inline]
pub(crate) fn cause_of(number: u32) -> u32 {
    MERGED | number
}

/// Returns the newest step among causes.
#[must_use]
pub fn newest(causes: &[u32]) -> Option<u32> {
    causes.iter().copied().filter(|&cause| !is_merged(cause)).max()
}

/// Returns the number of the merged event that a cause denotes.
#[inline]
pub(crate) fn merged_event_of(cause: u32) -> usize {
    (cause & !MERGED) as usize
}

/// One merged event.
#[derive(Copy, Clone, Debug)]
struct MergedEvent {
    task: u32,
    /// Its number among steps and merged events.
    stamp: u32,
    /// Start of its touches in [`MergedEvents::touches`] and, in `apart`, of its names in [`MergedEvents::apart`].
    touches: u32,
    apart: u32,
}

/// The merged events of an execution, in the order in which they happened. In most programs no two tasks touch the
/// same object in conflict with a merged event; until that happens, only the touches and their tasks are stored.
#[derive(Debug, Default)]
pub(crate) struct MergedEvents {
    /// One entry per merged event if [`MergedEvents::order`] is present; the owners of touches are then indices into this
    /// list. Empty otherwise, and the owners of touches are tasks.
    list: Vec<MergedEvent>,
    touches: Touched,
    /// The names to learn for merged events that need a step of their own.
    apart: Vec<Name>,
    /// The happens-before order, if it is needed.
    order: Option<Order>,
}

/// The merged events of an execution.
pub(crate) struct Merging {
    /// Those of all recorded steps.
    pub(crate) events: MergedEvents,
    /// The number of the next one.
    pub(crate) next: u32,
}

impl Merging {
    pub(crate) fn new(ordered: bool) -> Merging {
        Merging { events: MergedEvents::new(ordered), next: 0 }
    }
}

/// The number of merged events and of their touches at some point of an execution.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Extent {
    merged: u32,
    touches: u32,
}

impl Extent {
    /// Returns the stamp of step number `step`, which begins at this extent.
    pub(crate) fn stamp(self, step: usize) -> u32 {
        self.merged + 1 + step as u32
    }
}

impl MergedEvents {
    /// Creates an empty list; `ordered` if the happens-before order is needed.
    pub(crate) fn new(ordered: bool) -> MergedEvents {
        MergedEvents { order: ordered.then(Order::default), ..MergedEvents::default() }
    }

    /// Returns `true` if the happens-before order is recorded.
    #[inline]
    pub(crate) fn are_ordered(&self) -> bool {
        self.order.is_some()
    }

    /// Returns the current extent.
    #[inline]
    pub(crate) fn extent(&self) -> Extent {
        Extent { merged: self.list.len() as u32, touches: self.touches.len() as u32 }
    }

    /// Returns the touches of the merged events between two extents.
    pub(crate) fn touches(&self, from: Extent, to: Extent) -> &[Touch] {
        &self.touches.list[from.touches as usize..to.touches as usize]
    }

    /// Adds a merged event of `task` after `steps` steps. `before` lists the last operations of its task, `causes`
    /// those of other tasks. The names `apart` are learnt if the merged event needs a step of its own. Requires a
    /// recorded order.
    pub(crate) fn push(
        &mut self,
        steps: u32,
        task: u32,
        before: &[u32],
        causes: &[u32],
        apart: impl IntoIterator<Item = Name>,
    ) {
        let stamp = self.list.len() as u32 + 1 + steps;
        self.list.push(MergedEvent { task, stamp, touches: self.touches.len() as u32, apart: self.apart.len() as u32 });
        self.apart.extend(apart);
        self.order.as_mut().expect("they are ordered").merge(task, stamp, before, causes);
    }

    /// Records that `task` takes step number `step`. Its causes are added by [`MergedEvents::newest_step_after`].
    #[inline]
    pub(crate) fn step(&mut self, step: u32, task: u32) {
        let stamp = self.extent().stamp(step as usize);
        if let Some(order) = &mut self.order {
            order.step(task, stamp);
        }
    }

    /// Records that the newest step happens after `cause`.
    #[inline]
    pub(crate) fn newest_step_after(&mut self, cause: u32) {
        if let Some(order) = &mut self.order {
            order.newest_step_after(cause);
        }
    }

    /// Adds a touch to the newest merged event, which belongs to `task`.
    #[inline]
    pub(crate) fn touch(&mut self, task: u32, touch: Touch) {
        match self.list.last() {
            None => self.touches.push(task, touch),
            Some(newest) if self.touches.list[newest.touches as usize..].contains(&touch) => {}
            Some(_) => self.touches.push(self.list.len() as u32 - 1, touch),
        }
    }

    /// Removes all but the first `steps` steps, and all merged events beyond `to`.
    pub(crate) fn truncate(&mut self, steps: usize, to: Extent) {
        self.touches.truncate(to.touches as usize);
        if let Some(order) = &mut self.order {
            order.truncate(steps, to.merged as usize);
            if let Some(&first) = self.list.get(to.merged as usize) {
                self.list.truncate(to.merged as usize);
                self.apart.truncate(first.apart as usize);
            }
        }
    }

    /// Returns the stamp of a cause and what happens before it: see [`Order::row`]. Requires a recorded order.
    pub(crate) fn row(&self, cause: u32) -> Option<(u32, &[i32])> {
        self.order.as_ref().map(|order| order.row(cause))
    }

    /// Returns the task of a merged event, and its number among steps and merged events.
    fn when(&self, at: usize) -> (u32, u32) {
        (self.list[at].task, self.list[at].stamp)
    }

    /// Returns the names to learn if this merged event needs a step of its own.
    pub(crate) fn apart(&self, at: usize) -> &[Name] {
        let to = self.list.get(at + 1).map_or(self.apart.len(), |next| next.apart as usize);
        &self.apart[self.list[at].apart as usize..to]
    }
}

/// The steps of an execution, with which merged events are compared.
pub(crate) trait Happened {
    /// Returns the touches of all steps, in the order of the steps.
    fn touches(&self) -> &Touched;
    /// Returns the index of the first touch of the newest step.
    fn newest_touches(&self) -> usize;
    /// Returns the task that takes a step, and the step's number among steps and merged events.
    fn task(&self, at: usize) -> (u32, u32);
}

/// A refinement that the search has to learn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The happens-before order has to be recorded.
    Order,
    /// The merged event with this number needs a step of its own.
    Apart(usize),
}

/// Compares the newest step and its merged events with everything before them.
#[inline]
pub(crate) fn compare(merged: &MergedEvents, from: Extent, steps: &impl Happened, learn: impl FnMut(Lesson)) {
    match &merged.order {
        None => compare_names(merged, from, steps, learn),
        Some(order) => compare_order(merged, order, from, steps, learn),
    }
}

/// Requests the happens-before order if different tasks have conflicting touches.
fn compare_names(merged: &MergedEvents, from: Extent, steps: &impl Happened, mut learn: impl FnMut(Lesson)) {
    let old = from.touches as usize;
    let mut differ = |one: u32, other: u32| {
        if one != other {
            learn(Lesson::Order);
        }
    };
    for at in steps.newest_touches()..steps.touches().len() {
        let task = || steps.task(steps.touches().links[at].owner as usize).0;
        merged.touches.conflicts(steps.touches().list[at], |_, owner| differ(task(), owner as u32));
    }
    for at in old..merged.touches.len() {
        let (touch, task) = (merged.touches.list[at], merged.touches.links[at].owner);
        merged.touches.conflicts(touch, |_, owner| differ(task, owner as u32));
        steps.touches().conflicts(touch, |_, owner| differ(task, steps.task(owner).0));
    }
}

/// Reports the merged events that need steps of their own: those in conflict with an unordered operation of another
/// task.
fn compare_order(
    merged: &MergedEvents,
    order: &Order,
    from: Extent,
    steps: &impl Happened,
    mut learn: impl FnMut(Lesson),
) {
    let old = from.touches as usize;
    let is_apart = |cause, task, (other, stamp)| task != other && !order.is_after(cause, other, stamp);
    for at in steps.newest_touches()..steps.touches().len() {
        let (touch, new) = (steps.touches().list[at], steps.touches().links[at].owner);
        merged.touches.conflicts(touch, |other, owner| {
            if other < old && is_apart(new, steps.task(new as usize).0, merged.when(owner)) {
                learn(Lesson::Apart(owner));
            }
        });
    }
    for at in old..merged.touches.len() {
        let (touch, new) = (merged.touches.list[at], merged.touches.links[at].owner);
        let task = merged.list[new as usize].task;
        merged.touches.conflicts(touch, |other, owner| {
            if other < at && is_apart(cause_of(new), task, merged.when(owner)) {
                learn(Lesson::Apart(owner));
                learn(Lesson::Apart(new as usize));
            }
        });
        steps.touches().conflicts(touch, |_, owner| {
            if is_apart(cause_of(new), task, steps.task(owner)) {
                learn(Lesson::Apart(new as usize));
            }
        });
    }
}

/// A list of touches with an index by object.
#[derive(Debug)]
pub(crate) struct Touched {
    list: Vec<Touch>,
    links: Vec<Link>,
    /// The newest touch in each bucket, by access (read, write, add) and by the object's name modulo [`KINDS`].
    newest: Box<[[u32; KINDS]; 3]>,
}

/// The owner of a touch and its predecessor in its bucket.
#[derive(Copy, Clone, Debug)]
struct Link {
    /// The number of the step or merged event that has this touch (or of its task, see [`MergedEvents::list`]).
    owner: u32,
    /// The previous touch in the same bucket, or [`NONE`].
    before: u32,
}

/// The number of buckets per access.
const KINDS: usize = 256;

impl Default for Touched {
    fn default() -> Touched {
        Touched { list: Vec::new(), links: Vec::new(), newest: Box::new([[NONE; KINDS]; 3]) }
    }
}

impl Touched {
    fn kind(&mut self, touch: Touch) -> &mut u32 {
        // Names are hashes already.
        &mut self.newest[touch.access as usize][touch.object.0 as usize % KINDS]
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn list(&self) -> &[Touch] {
        &self.list
    }

    #[inline]
    pub(crate) fn push(&mut self, owner: u32, touch: Touch) {
        let at = self.list.len() as u32;
        let before = std::mem::replace(self.kind(touch), at);
        self.list.push(touch);
        self.links.push(Link { owner, before });
    }

    /// Removes all but the first `len` touches.
    pub(crate) fn truncate(&mut self, len: usize) {
        for at in (len..self.list.len()).rev() {
            *self.kind(self.list[at]) = self.links[at].before;
        }
        self.list.truncate(len);
        self.links.truncate(len);
    }

    /// Calls `each` with the index and the owner of every touch in conflict with `touch`, the newest of each bucket
    /// first.
    #[inline]
    fn conflicts(&self, touch: Touch, mut each: impl FnMut(usize, usize)) {
        for access in [Access::Read, Access::Write, Access::Add] {
            if access == touch.access && access != Access::Write {
                continue;
            }
            let mut at = self.newest[access as usize][touch.object.0 as usize % KINDS];
            while at != NONE {
                let link = self.links[at as usize];
                if self.list[at as usize].object == touch.object {
                    each(at as usize, link.owner as usize);
                }
                at = link.before;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded execution: steps of tasks, with their touches, causes and merged events.
    struct Told {
        merged: MergedEvents,
        touches: Touched,
        steps: Vec<(u32, u32, usize)>,
    }

    impl Told {
        fn new(ordered: bool) -> Told {
            Told { merged: MergedEvents::new(ordered), touches: Touched::default(), steps: Vec::new() }
        }

        fn step(&mut self, task: u32, touches: &[Touch], causes: &[u32]) -> &mut Told {
            let stamp = self.merged.extent().stamp(self.steps.len());
            self.merged.step(self.steps.len() as u32, task);
            causes.iter().for_each(|&cause| self.merged.newest_step_after(cause));
            self.steps.push((task, stamp, self.touches.len()));
            let step = self.steps.len() as u32 - 1;
            touches.iter().for_each(|&touch| self.touches.push(step, touch));
            self
        }

        fn merge(&mut self, task: u32, touch: Touch, causes: &[u32]) -> &mut Told {
            if self.merged.are_ordered() {
                self.merged.push(self.steps.len() as u32, task, &[], causes, [touch.object]);
            }
            self.merged.touch(task, touch);
            self
        }

        fn lessons(&self, merged: u32) -> Vec<Lesson> {
            let mut lessons = Vec::new();
            let from = Extent { merged, touches: merged };
            compare(&self.merged, from, self, |lesson| lessons.push(lesson));
            lessons
        }
    }

    impl Happened for Told {
        fn touches(&self) -> &Touched {
            &self.touches
        }
        fn newest_touches(&self) -> usize {
            self.steps.last().unwrap().2
        }
        fn task(&self, at: usize) -> (u32, u32) {
            (self.steps[at].0, self.steps[at].1)
        }
    }

    #[test]
    fn a_task_after_a_step_may_precede_its_merged_events() {
        let [a, b] = [1, 2].map(|k| Name::ROOT.child(k));
        let lessons = |touch: Touch, causes: &[u32]| {
            Told::new(true).step(0, &[], &[]).merge(0, Touch::read(a), &[0]).step(1, &[touch], causes).lessons(1)
        };
        assert_eq!(lessons(Touch::write(a), &[0, cause_of(0)]), []);
        assert_eq!(lessons(Touch::write(a), &[0]), [Lesson::Apart(0)]);
        assert_eq!(lessons(Touch::write(b), &[0]), []);
        assert_eq!(lessons(Touch::read(a), &[0]), []);
    }

    #[test]
    fn unordered_merged_events_of_two_tasks_become_events() {
        let a = Name::ROOT.child(1);
        let two = |ordered, causes: &[u32]| {
            let mut told = Told::new(ordered);
            told.step(0, &[], &[]).merge(0, Touch::add(a), &[0]).merge(1, Touch::read(a), causes).lessons(0)
        };
        assert_eq!(two(true, &[0]), [Lesson::Apart(0), Lesson::Apart(1)]);
        assert_eq!(two(true, &[0, cause_of(0)]), []);
        assert!(two(false, &[0]).contains(&Lesson::Order));
    }

    #[test]
    fn a_task_after_one_merged_event_may_precede_the_next() {
        let a = Name::ROOT.child(1);
        let mut told = Told::new(true);
        told.step(0, &[], &[]).merge(0, Touch::read(a), &[0]).merge(0, Touch::add(a), &[cause_of(0)]);
        assert_eq!(told.step(1, &[Touch::write(a)], &[cause_of(0)]).lessons(2), [Lesson::Apart(1)]);
    }

    #[test]
    fn a_merged_event_follows_the_causes_of_its_task() {
        let a = Name::ROOT.child(1);
        let lessons = |causes: &[u32]| {
            let mut told = Told::new(true);
            told.step(0, &[Touch::write(a)], &[]).step(1, &[], &[0]).step(2, &[], causes);
            told.merge(2, Touch::read(a), &[2]).lessons(0)
        };
        assert_eq!(lessons(&[1]), []);
        assert_eq!(lessons(&[]), [Lesson::Apart(0)]);
    }

    #[test]
    fn what_is_forgotten_is_not_in_conflict() {
        let [a, b] = [1, 2].map(|k| Name::ROOT.child(k));
        let mut touched = Touched::default();
        for (owner, touch) in [(0, Touch::add(a)), (0, Touch::read(b)), (1, Touch::read(a))] {
            touched.push(owner, touch);
        }
        let conflicts = |touched: &Touched, touch| {
            let mut found = Vec::new();
            touched.conflicts(touch, |at, owner| found.push((at, owner)));
            found
        };
        let found = [Touch::add(a), Touch::write(a)].map(|touch| conflicts(&touched, touch));
        assert_eq!(found, [vec![(2, 1)], vec![(2, 1), (0, 0)]]);
        touched.truncate(2);
        let found = [Touch::add(a), Touch::read(a)].map(|touch| conflicts(&touched, touch));
        assert_eq!(found, [vec![], vec![(0, 0)]]);
        assert_eq!(touched.list(), [Touch::add(a), Touch::read(b)]);
    }
}

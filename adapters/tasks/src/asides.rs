//! Asides: what tasks do in a step besides its event, and why the search need not know.
//!
//! A step is an event of one task and all the code up to that task's next event; others may go on in it too, without an
//! event of their own. What they do on the way is an *aside*: a small event that the search takes for a part of the step.
//! An aside could be put off until after what others do in between, if they can tell the difference: if they touch what it
//! touches, and no cause has them do so before or after. So each aside notes what it touches and what it comes after; if two
//! asides, or an aside and an event, touch the same thing and neither comes after the other *by causes alone*, the
//! asides have to be events, which is learnt, and the search is begun again. Where that never happens, an aside commutes
//! with whatever could come between it and what its task did before: it can be told as a part of that.
//!
//! This is enough because the one who would come in between is there all the same, and touches the same thing, if the aside
//! is not put off: asides only look, add, take what is there for their task alone, or close. None of it keeps others from
//! going on.
//!
//! Causes are numbers of steps and, with a bit set, of asides ([`is_aside`]): what comes after a step may come before the
//! asides in it.

use crate::execution::NONE;
use crate::order::Order;
use whippet_model::{Access, Name, Touch};

/// In a list of causes: this is the number of an aside, and not of a step.
const ASIDE: u32 = 1 << 31;

/// Whether a cause is an aside, and not a step. The search does not know it then.
#[inline]
pub(crate) fn is_aside(cause: u32) -> bool {
    cause & ASIDE != 0
}

/// The cause that is aside number `number` of an execution.
#[inline]
pub(crate) fn cause_of(number: u32) -> u32 {
    ASIDE | number
}

/// The newest step among causes.
#[must_use]
pub fn newest(causes: &[u32]) -> Option<u32> {
    causes.iter().copied().filter(|&cause| !is_aside(cause)).max()
}

/// The number of an aside that is a cause.
#[inline]
pub(crate) fn aside_of(cause: u32) -> usize {
    (cause & !ASIDE) as usize
}

/// One aside.
#[derive(Copy, Clone, Debug)]
struct Aside {
    task: u32,
    /// Its number among steps and asides.
    stamp: u32,
    /// Where its touches and the names to learn begin.
    touches: u32,
    apart: u32,
}

/// The asides of an execution, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    list: Vec<Aside>,
    touches: Touched,
    /// What is learnt where an aside has to be an event.
    apart: Vec<Name>,
    /// What comes before what, if that has to be known.
    pub(crate) order: Option<Order>,
}

impl Asides {
    /// None so far; `ordered` if it has to be known what comes before what.
    pub(crate) fn new(ordered: bool) -> Asides {
        Asides { order: ordered.then(Order::default), ..Asides::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// A new one, after so many steps. Its task did `before` last, and causes are what others did. If it has to be an event,
    /// `apart` is to be learnt.
    #[inline]
    pub(crate) fn push(
        &mut self,
        steps: u32,
        task: u32,
        before: &[u32],
        causes: &[u32],
        apart: impl IntoIterator<Item = Name>,
    ) {
        let stamp = self.list.len() as u32 + 1 + steps;
        self.list.push(Aside { task, stamp, touches: self.touches.len() as u32, apart: self.apart.len() as u32 });
        self.apart.extend(apart);
        if let Some(order) = &mut self.order {
            order.aside(task, stamp, before, causes);
        }
    }

    /// Step number `step` is taken; causes follow.
    #[inline]
    pub(crate) fn step(&mut self, step: u32, task: u32) -> u32 {
        let stamp = self.list.len() as u32 + 1 + step;
        if let Some(order) = &mut self.order {
            order.step(task, stamp);
        }
        stamp
    }

    /// The newest one touches this.
    #[inline]
    pub(crate) fn touch(&mut self, touch: Touch) {
        let newest = self.list.len() - 1;
        if !self.touches.list[self.list[newest].touches as usize..].contains(&touch) {
            self.touches.push(newest as u32, touch);
        }
    }

    /// Forgets all but the first `len`, and steps.
    pub(crate) fn truncate(&mut self, steps: usize, len: usize) {
        if let Some(order) = &mut self.order {
            order.truncate(steps, len);
        }
        let Some(&first) = self.list.get(len) else { return };
        self.list.truncate(len);
        self.touches.truncate(first.touches as usize);
        self.apart.truncate(first.apart as usize);
    }

    /// Where the touches of those from number `at` on begin.
    fn touches_from(&self, at: usize) -> usize {
        self.list.get(at).map_or(self.touches.len(), |aside| aside.touches as usize)
    }

    /// Whose an aside is, and its number among steps and asides.
    fn when(&self, at: usize) -> (u32, u32) {
        (self.list[at].task, self.list[at].stamp)
    }

    /// What is learnt if this one has to be an event.
    pub(crate) fn apart(&self, at: usize) -> &[Name] {
        let to = self.list.get(at + 1).map_or(self.apart.len(), |next| next.apart as usize);
        &self.apart[self.list[at].apart as usize..to]
    }
}

/// The steps of an execution, as asides are compared with them.
pub(crate) trait Happened {
    /// Their touches, one step's after the other's.
    fn touches(&self) -> &Touched;
    /// Where the touches of the newest step begin.
    fn newest_touches(&self) -> usize;
    /// Who takes a step, and its number among steps and asides.
    fn task(&self, at: usize) -> (u32, u32);
}

/// What has to be learnt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// What comes before what.
    Order,
    /// That this aside has to be an event.
    Apart(usize),
}

/// Compares the newest step, and the asides from number `from` on, with everything before them.
pub(crate) fn compare(asides: &Asides, from: usize, steps: &impl Happened, mut learn: impl FnMut(Lesson)) {
    let old = asides.touches_from(from);
    for at in steps.newest_touches()..steps.touches().len() {
        let (touch, new) = (steps.touches().list[at], steps.touches().owner[at]);
        let mut known = Known { cause: new, task: steps.task(new as usize).0, before: 0 };
        asides.touches.conflicts(touch, |other, owner| {
            if other < old && known.is_apart_from(asides, asides.when(owner), &mut learn) {
                learn(Lesson::Apart(owner));
            }
        });
    }
    for at in old..asides.touches.len() {
        let (touch, new) = (asides.touches.list[at], asides.touches.owner[at]);
        let task = asides.list[new as usize].task;
        let mut known = Known { cause: cause_of(new), task, before: 0 };
        asides.touches.conflicts(touch, |other, owner| {
            if other < at && known.is_apart_from(asides, asides.when(owner), &mut learn) {
                learn(Lesson::Apart(owner));
                learn(Lesson::Apart(new as usize));
            }
        });
        known.before = 0;
        steps.touches().conflicts(touch, |_, owner| {
            if known.is_apart_from(asides, steps.task(owner), &mut learn) {
                learn(Lesson::Apart(new as usize));
            }
        });
    }
}

/// What is known of a step or an aside of this task.
struct Known {
    cause: u32,
    task: u32,
    /// The tasks that did something before it, as bits: all that they did before that came before it too.
    before: u64,
}

impl Known {
    /// Whether it does not come after what some task did then.
    #[inline]
    fn is_apart_from(&mut self, asides: &Asides, (task, stamp): (u32, u32), learn: &mut impl FnMut(Lesson)) -> bool {
        let bit = 1u64.checked_shl(task).unwrap_or(0);
        if task == self.task || self.before & bit != 0 {
            return false;
        }
        let Some(order) = &asides.order else {
            learn(Lesson::Order);
            return false;
        };
        let after = order.is_after(self.cause, task, stamp);
        self.before |= if after { bit } else { 0 };
        !after
    }
}

/// Touches, one after another, in which those of one object are found quickly.
#[derive(Debug)]
pub(crate) struct Touched {
    list: Vec<Touch>,
    /// For each, the number of the step or aside that touches so.
    owner: Vec<u32>,
    /// For each, the one before it of its kind, if there is one; see `newest`.
    before: Vec<u32>,
    /// The newest touch of each kind: of objects whose names end alike, and that are read, written or added to.
    newest: Box<[[u32; KINDS]; 3]>,
}

/// How many kinds of names there are.
const KINDS: usize = 256;

impl Default for Touched {
    fn default() -> Touched {
        Touched { list: Vec::new(), owner: Vec::new(), before: Vec::new(), newest: Box::new([[NONE; KINDS]; 3]) }
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
        self.owner.push(owner);
        self.before.push(before);
    }

    /// Forgets all but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        for at in (len..self.list.len()).rev() {
            *self.kind(self.list[at]) = self.before[at];
        }
        self.list.truncate(len);
        self.owner.truncate(len);
        self.before.truncate(len);
    }

    /// Calls `each` with those that are in conflict with this and whose they are, the newest of each kind first.
    #[inline]
    fn conflicts(&self, touch: Touch, mut each: impl FnMut(usize, usize)) {
        for access in [Access::Read, Access::Write, Access::Add] {
            if access == touch.access && access != Access::Write {
                continue;
            }
            let mut at = self.newest[access as usize][touch.object.0 as usize % KINDS];
            while at != NONE {
                if self.list[at as usize].object == touch.object {
                    each(at as usize, self.owner[at as usize] as usize);
                }
                at = self.before[at as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happened: steps of tasks, with their touches, causes and asides.
    struct Told {
        asides: Asides,
        touches: Touched,
        steps: Vec<(u32, u32, usize)>,
    }

    impl Told {
        fn new() -> Told {
            Told { asides: Asides::new(true), touches: Touched::default(), steps: Vec::new() }
        }

        fn step(&mut self, task: u32, touches: &[Touch], causes: &[u32]) -> &mut Told {
            let stamp = self.asides.step(self.steps.len() as u32, task);
            let order = self.asides.order.as_mut().unwrap();
            causes.iter().for_each(|&cause| order.newest_step_after(cause));
            self.steps.push((task, stamp, self.touches.len()));
            let step = self.steps.len() as u32 - 1;
            touches.iter().for_each(|&touch| self.touches.push(step, touch));
            self
        }

        fn aside(&mut self, task: u32, touch: Touch, causes: &[u32]) -> &mut Told {
            self.asides.push(self.steps.len() as u32, task, &[], causes, [touch.object]);
            self.asides.touch(touch);
            self
        }

        fn lessons(&self, from: usize) -> Vec<Lesson> {
            let mut lessons = Vec::new();
            compare(&self.asides, from, self, |lesson| lessons.push(lesson));
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
    fn who_comes_after_a_step_may_come_before_its_asides() {
        let [a, b] = [1, 2].map(|k| Name::ROOT.child(k));
        let lessons = |touch: Touch, causes: &[u32]| {
            Told::new().step(0, &[], &[]).aside(0, Touch::read(a), &[0]).step(1, &[touch], causes).lessons(1)
        };
        assert_eq!(lessons(Touch::write(a), &[0, cause_of(0)]), []);
        assert_eq!(lessons(Touch::write(a), &[0]), [Lesson::Apart(0)]);
        assert_eq!(lessons(Touch::write(b), &[0]), []);
        assert_eq!(lessons(Touch::read(a), &[0]), []);
    }

    #[test]
    fn asides_of_two_tasks_are_both_events_if_nothing_orders_them() {
        let a = Name::ROOT.child(1);
        let two = |causes: &[u32]| {
            let mut told = Told::new();
            told.step(0, &[], &[]).aside(0, Touch::add(a), &[0]).aside(1, Touch::read(a), causes);
            told
        };
        assert_eq!(two(&[0]).lessons(0), [Lesson::Apart(0), Lesson::Apart(1)]);
        assert_eq!(two(&[0, cause_of(0)]).lessons(0), []);
        let mut told = two(&[0]);
        told.asides.order = None;
        assert_eq!(told.lessons(0), [Lesson::Order]);
    }

    #[test]
    fn an_aside_comes_after_what_its_own_task_came_after() {
        let a = Name::ROOT.child(1);
        let lessons = |causes: &[u32]| {
            let mut told = Told::new();
            told.step(0, &[Touch::write(a)], &[]).step(1, &[], &[0]).step(2, &[], causes);
            told.aside(2, Touch::read(a), &[2]).lessons(0)
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

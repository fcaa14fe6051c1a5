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

/// The asides of an execution, in the order in which they happened. Most programs have none that touch what others do: as
/// long as that is so, only the touches are kept, and who touches so.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// With [`Asides::order`], the owners of touches are numbers in this list; without it, there are none, and the owners are
    /// tasks.
    list: Vec<Aside>,
    touches: Touched,
    /// What is learnt where an aside has to be an event.
    apart: Vec<Name>,
    /// What comes before what, if that has to be known.
    order: Option<Order>,
}

/// How much there is of asides.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Extent {
    asides: u32,
    touches: u32,
}

impl Extent {
    /// The stamp of step number `step`, which begins with so much.
    pub(crate) fn stamp(self, step: usize) -> u32 {
        self.asides + 1 + step as u32
    }
}

impl Asides {
    /// None so far; `ordered` if it has to be known what comes before what.
    pub(crate) fn new(ordered: bool) -> Asides {
        Asides { order: ordered.then(Order::default), ..Asides::default() }
    }

    /// Whether it has to be known what comes before what.
    #[inline]
    pub(crate) fn are_ordered(&self) -> bool {
        self.order.is_some()
    }

    /// How much there is.
    #[inline]
    pub(crate) fn extent(&self) -> Extent {
        Extent { asides: self.list.len() as u32, touches: self.touches.len() as u32 }
    }

    /// A new one, after so many steps. Its task did `before` last, and causes are what others did. If it has to be an event,
    /// `apart` is to be learnt. Only where they are ordered.
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
        self.order.as_mut().expect("they are ordered").aside(task, stamp, before, causes);
    }

    /// Step number `step` is taken; causes follow.
    #[inline]
    pub(crate) fn step(&mut self, step: u32, task: u32) {
        let stamp = self.extent().stamp(step as usize);
        if let Some(order) = &mut self.order {
            order.step(task, stamp);
        }
    }

    /// The newest step comes after this.
    #[inline]
    pub(crate) fn newest_step_after(&mut self, cause: u32) {
        if let Some(order) = &mut self.order {
            order.newest_step_after(cause);
        }
    }

    /// The newest aside, which is one of this task, touches this.
    #[inline]
    pub(crate) fn touch(&mut self, task: u32, touch: Touch) {
        match self.list.last() {
            None => self.touches.push(task, touch),
            Some(newest) if self.touches.list[newest.touches as usize..].contains(&touch) => {}
            Some(_) => self.touches.push(self.list.len() as u32 - 1, touch),
        }
    }

    /// Forgets all but the first steps, and what there was of asides before them.
    pub(crate) fn truncate(&mut self, steps: usize, to: Extent) {
        self.touches.truncate(to.touches as usize);
        if let Some(order) = &mut self.order {
            order.truncate(steps, to.asides as usize);
            if let Some(&first) = self.list.get(to.asides as usize) {
                self.list.truncate(to.asides as usize);
                self.apart.truncate(first.apart as usize);
            }
        }
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

/// Compares the newest step and its asides with everything before them.
#[inline]
pub(crate) fn compare(asides: &Asides, from: Extent, steps: &impl Happened, learn: impl FnMut(Lesson)) {
    match &asides.order {
        None => compare_names(asides, from, steps, learn),
        Some(order) => compare_order(asides, order, from, steps, learn),
    }
}

/// Whether different tasks touch the same thing.
fn compare_names(asides: &Asides, from: Extent, steps: &impl Happened, mut learn: impl FnMut(Lesson)) {
    let old = from.touches as usize;
    let mut differ = |one: u32, other: u32| {
        if one != other {
            learn(Lesson::Order);
        }
    };
    for at in steps.newest_touches()..steps.touches().len() {
        let task = || steps.task(steps.touches().links[at].owner as usize).0;
        asides.touches.conflicts(steps.touches().list[at], |_, owner| differ(task(), owner as u32));
    }
    for at in old..asides.touches.len() {
        let (touch, task) = (asides.touches.list[at], asides.touches.links[at].owner);
        asides.touches.conflicts(touch, |_, owner| differ(task, owner as u32));
        steps.touches().conflicts(touch, |_, owner| differ(task, steps.task(owner).0));
    }
}

/// Which asides have to be events.
fn compare_order(asides: &Asides, order: &Order, from: Extent, steps: &impl Happened, mut learn: impl FnMut(Lesson)) {
    let old = from.touches as usize;
    let is_apart = |cause, task, (other, stamp)| task != other && !order.is_after(cause, other, stamp);
    for at in steps.newest_touches()..steps.touches().len() {
        let (touch, new) = (steps.touches().list[at], steps.touches().links[at].owner);
        asides.touches.conflicts(touch, |other, owner| {
            if other < old && is_apart(new, steps.task(new as usize).0, asides.when(owner)) {
                learn(Lesson::Apart(owner));
            }
        });
    }
    for at in old..asides.touches.len() {
        let (touch, new) = (asides.touches.list[at], asides.touches.links[at].owner);
        let task = asides.list[new as usize].task;
        asides.touches.conflicts(touch, |other, owner| {
            if other < at && is_apart(cause_of(new), task, asides.when(owner)) {
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

/// Touches, one after another, in which those of one object are found quickly.
#[derive(Debug)]
pub(crate) struct Touched {
    list: Vec<Touch>,
    links: Vec<Link>,
    /// The newest touch of each kind: of objects whose names end alike, and that are read, written or added to.
    newest: Box<[[u32; KINDS]; 3]>,
}

/// Where a touch belongs.
#[derive(Copy, Clone, Debug)]
struct Link {
    /// The number of the step or aside that touches so.
    owner: u32,
    /// The touch before it of its kind, if there is one.
    before: u32,
}

/// How many kinds of names there are.
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

    /// Forgets all but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        for at in (len..self.list.len()).rev() {
            *self.kind(self.list[at]) = self.links[at].before;
        }
        self.list.truncate(len);
        self.links.truncate(len);
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

    /// What happened: steps of tasks, with their touches, causes and asides.
    struct Told {
        asides: Asides,
        touches: Touched,
        steps: Vec<(u32, u32, usize)>,
    }

    impl Told {
        fn new(ordered: bool) -> Told {
            Told { asides: Asides::new(ordered), touches: Touched::default(), steps: Vec::new() }
        }

        fn step(&mut self, task: u32, touches: &[Touch], causes: &[u32]) -> &mut Told {
            let stamp = self.asides.extent().stamp(self.steps.len());
            self.asides.step(self.steps.len() as u32, task);
            causes.iter().for_each(|&cause| self.asides.newest_step_after(cause));
            self.steps.push((task, stamp, self.touches.len()));
            let step = self.steps.len() as u32 - 1;
            touches.iter().for_each(|&touch| self.touches.push(step, touch));
            self
        }

        fn aside(&mut self, task: u32, touch: Touch, causes: &[u32]) -> &mut Told {
            if self.asides.are_ordered() {
                self.asides.push(self.steps.len() as u32, task, &[], causes, [touch.object]);
            }
            self.asides.touch(task, touch);
            self
        }

        fn lessons(&self, asides: u32) -> Vec<Lesson> {
            let mut lessons = Vec::new();
            let from = Extent { asides, touches: asides };
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
            Told::new(true).step(0, &[], &[]).aside(0, Touch::read(a), &[0]).step(1, &[touch], causes).lessons(1)
        };
        assert_eq!(lessons(Touch::write(a), &[0, cause_of(0)]), []);
        assert_eq!(lessons(Touch::write(a), &[0]), [Lesson::Apart(0)]);
        assert_eq!(lessons(Touch::write(b), &[0]), []);
        assert_eq!(lessons(Touch::read(a), &[0]), []);
    }

    #[test]
    fn asides_of_two_tasks_are_both_events_if_nothing_orders_them() {
        let a = Name::ROOT.child(1);
        let two = |ordered, causes: &[u32]| {
            let mut told = Told::new(ordered);
            told.step(0, &[], &[]).aside(0, Touch::add(a), &[0]).aside(1, Touch::read(a), causes).lessons(0)
        };
        assert_eq!(two(true, &[0]), [Lesson::Apart(0), Lesson::Apart(1)]);
        assert_eq!(two(true, &[0, cause_of(0)]), []);
        assert!(two(false, &[0]).contains(&Lesson::Order));
    }

    #[test]
    fn who_comes_after_one_aside_of_a_task_may_come_before_its_next() {
        let a = Name::ROOT.child(1);
        let mut told = Told::new(true);
        told.step(0, &[], &[]).aside(0, Touch::read(a), &[0]).aside(0, Touch::add(a), &[cause_of(0)]);
        assert_eq!(told.step(1, &[Touch::write(a)], &[cause_of(0)]).lessons(2), [Lesson::Apart(1)]);
    }

    #[test]
    fn an_aside_comes_after_what_its_own_task_came_after() {
        let a = Name::ROOT.child(1);
        let lessons = |causes: &[u32]| {
            let mut told = Told::new(true);
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

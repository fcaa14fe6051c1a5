//! Choices, the decisions of a search; and steps with their footprints, the results of executing them.

use crate::{Machine, Name};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// An actor of the current execution, by its creation number: 0 is the first actor created.
///
/// "Actor" means anything that the machine schedules: an actor, a process, a task. The number may differ between
/// equivalent executions; [`Name`]s do not.
///
/// ```
/// use whippet_model::ActorNo;
/// let (first, second) = (ActorNo(0), ActorNo(1));
/// assert!(first < second, "created before");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorNo(pub u32);

/// A pending operation: a message to be delivered, or the next step of a process or task. A handle issued by the
/// machine.
///
/// A handle is valid from the step that made it pending until that step is rewound, and always denotes the same
/// operation in between. To compare operations across branches of the search, use [`crate::Machine::thread`].
///
/// ```
/// use whippet_actors::{Inbox, ActorProgram};
/// use whippet_model::{Machine, Program};
/// let program = ActorProgram::new("one message", |sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///     sys.send(sink, 1);
/// });
/// let machine = program.machine(&Default::default()).unwrap();
/// let mut pending = Vec::new();
/// machine.pending(&mut pending);
/// assert_eq!(machine.find(machine.thread(pending[0])), Some(pending[0]));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pending(pub u32);

/// The branch that a nondeterministic step takes: the values returned by `choose` in a handler, the communication
/// that a wait completes, the arm of a select. Up to eight digits of eight bits each.
///
/// ```
/// use whippet_model::Branch;
/// let mut branch = Branch::FIRST;
/// branch = branch.with(0, 2).unwrap().with(1, 1).unwrap();
/// assert_eq!((branch.digit(0), branch.digit(1), branch.digit(2)), (2, 1, 0));
/// // Counts like an odometer: the two digits used have 3 and 2 values.
/// assert_eq!(Branch::FIRST.next(&[3, 2]), Branch::FIRST.with(1, 1));
/// assert_eq!(branch.next(&[3, 2]), None);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Branch(pub u64);

impl Branch {
    /// Returns `true` if this branch is one of those that begin with `listed`, for a machine that lists several branches of a
    /// step and discovers others by executing these: the topmost digit distinguishes the listed ones.
    ///
    /// ```
    /// use whippet_model::Branch;
    /// let lost = Branch::FIRST.with(Branch::DIGITS - 1, 1).unwrap();
    /// assert!(lost.with(0, 3).unwrap().belongs_to(lost) && !Branch::FIRST.belongs_to(lost));
    /// ```
    #[inline]
    #[must_use]
    pub fn belongs_to(self, listed: Branch) -> bool {
        self.digit(Branch::DIGITS - 1) == listed.digit(Branch::DIGITS - 1)
    }

    /// The first branch: every digit is 0.
    pub const FIRST: Branch = Branch(0);
    /// The number of digits.
    ///
    /// ```
    /// use whippet_model::Branch;
    /// assert_eq!(Branch::FIRST.with(Branch::DIGITS, 1), None, "one digit too many");
    /// ```
    pub const DIGITS: usize = 8;
    /// The number of values of a digit.
    ///
    /// ```
    /// use whippet_model::Branch;
    /// assert_eq!(Branch::FIRST.with(0, Branch::VALUES), None, "one value too many");
    /// ```
    pub const VALUES: u32 = 256;

    /// Returns the value of digit `k`.
    #[must_use]
    pub fn digit(self, k: usize) -> u32 {
        if k < Self::DIGITS { ((self.0 >> (8 * k)) & 0xff) as u32 } else { 0 }
    }

    /// Returns this branch with one digit set, or `None` if the digit or its value is out of range.
    #[must_use]
    pub fn with(self, k: usize, value: u32) -> Option<Branch> {
        (k < Self::DIGITS && value < Self::VALUES)
            .then(|| Branch(self.0 & !(0xff << (8 * k)) | u64::from(value) << (8 * k)))
    }

    /// Returns the branch after this one, given the number of values of each digit. The last digit changes fastest,
    /// and the digits after the one that changes are reset to 0.
    ///
    /// # Panics
    /// Panics if the next branch cannot be represented: if it needs more than [`DIGITS`](Branch::DIGITS) digits, or
    /// more than [`VALUES`](Branch::VALUES) values of a digit. Machines report such steps instead.
    #[must_use]
    pub fn next(self, arities: &[u32]) -> Option<Branch> {
        let k = (0..arities.len()).rev().find(|&k| self.digit(k) + 1 < arities[k])?;
        let value = self.digit(k) + 1;
        let fits = k < Self::DIGITS && value < Self::VALUES;
        assert!(fits, "our bug: a step has more choices, or a choice more values, than a branch can represent");
        let kept = self.0 & ((1u64 << (8 * k)) - 1);
        Branch(kept).with(k, value)
    }
}

/// One decision: the operation to execute and its branch.
///
/// ```
/// use whippet_model::{Branch, Choice, Pending};
/// let choice = Choice { what: Pending(3), branch: Branch(1) };
/// assert_ne!(choice, Choice::first(Pending(3)), "the same message, another way");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// The operation to execute.
    pub what: Pending,
    /// The branch to take.
    pub branch: Branch,
}

impl Choice {
    /// Returns the choice of `what` with its first branch.
    #[must_use]
    pub fn first(what: Pending) -> Choice {
        Choice { what, branch: Branch::FIRST }
    }
}

/// Mode of access to an object. Two accesses to one object conflict unless both are `Read` or both are `Add`.
///
/// ```
/// use whippet_model::{Access, Name, Touch};
/// assert_eq!(Touch::read(Name::ROOT).access, Access::Read);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// The event read the object.
    Read,
    /// The event changed the object, or its order relative to other such events matters.
    Write,
    /// The event changed the object in a way that commutes with other such changes: incrementing or decrementing a
    /// counter, finishing one of several tasks that are awaited together.
    Add,
}

/// One entry of a footprint: an object, by its stable name, and the mode of access.
///
/// Anything can be an object: an actor, a field of an actor, the end of a queue, "the third send on mailbox 2". Two
/// events whose footprints do not conflict commute.
///
/// ```
/// use whippet_model::{Name, Touch};
/// let field = Name::ROOT.child(0);
/// assert!(Touch::read(field).conflicts(Touch::write(field)));
/// assert!(!Touch::read(field).conflicts(Touch::read(field)));
/// assert!(!Touch::write(field).conflicts(Touch::write(Name::ROOT.child(1))));
/// // Increments commute with each other, but not with reads or writes.
/// assert!(!Touch::add(field).conflicts(Touch::add(field)));
/// assert!(Touch::add(field).conflicts(Touch::read(field)) && Touch::add(field).conflicts(Touch::write(field)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Touch {
    /// The object.
    pub object: Name,
    /// The mode of access.
    pub access: Access,
}

impl Touch {
    /// Returns a read of `object`.
    #[must_use]
    pub fn read(object: Name) -> Touch {
        Touch { object, access: Access::Read }
    }

    /// Returns a write of `object`.
    #[must_use]
    pub fn write(object: Name) -> Touch {
        Touch { object, access: Access::Write }
    }

    /// Returns a change of `object` that commutes with other changes of this kind.
    #[must_use]
    pub fn add(object: Name) -> Touch {
        Touch { object, access: Access::Add }
    }

    /// Returns `true` if the two accesses conflict, so that their events do not commute.
    #[inline]
    #[must_use]
    pub fn conflicts(self, other: Touch) -> bool {
        self.object == other.object && (self.access != other.access || self.access == Access::Write)
    }
}

/// Returns `true` if two footprints conflict.
///
/// ```
/// use whippet_model::{Name, Touch, conflict};
/// let [a, b, c] = [0, 1, 2].map(|k| Name::ROOT.child(k));
/// assert!(conflict(&[Touch::read(a), Touch::write(b)], &[Touch::read(b)]));
/// assert!(!conflict(&[Touch::read(a), Touch::write(b)], &[Touch::read(a), Touch::write(c)]));
/// ```
#[inline]
#[must_use]
pub fn conflict(a: &[Touch], b: &[Touch]) -> bool {
    a.iter().any(|x| b.iter().any(|y| x.conflicts(*y)))
}

/// Summary of one step.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Machine, Program};
/// # let program = ActorProgram::new("one message", |sys| {
/// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
/// #     sys.send(sink, 1);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// let step = machine.step(0);
/// assert_eq!(step.choice, enabled[0]);
/// assert_eq!(step.thread, machine.thread(enabled[0].what));
/// assert_eq!(step.actor, machine.actor(enabled[0].what));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The decision that was executed.
    pub choice: Choice,
    /// The thread that acted: see [`crate::Machine::thread`].
    pub thread: Name,
    /// The name of the event: unique in its execution, and the same in all equivalent executions.
    pub event: Name,
    /// The actor that acted.
    pub actor: ActorNo,
}

/// Summary of the delivery of one message: see [`crate::Deliveries::delivered`].
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Machine, Program};
/// # let program = ActorProgram::new("two receivers", |sys| {
/// #     let (a, b) = (
/// #         sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }),
/// #         sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }),
/// #     );
/// #     sys.send(a, 1);
/// #     sys.send(b, 2);
/// #     sys.send(b, 3);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// let delivered = machine.deliveries().unwrap().delivered(0);
/// assert_eq!(delivered.actor, machine.actor(enabled[0].what));
/// assert_eq!(delivered.by, None, "the test sent it, no step");
/// assert!(delivered.sent.is_empty());
/// assert_eq!(whippet_model::Delivered::of(&machine, 0), delivered);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The decision that was executed.
    pub choice: Choice,
    /// The receiver.
    pub actor: ActorNo,
    /// The step that sent the message, or `None` if it was sent before the first step.
    pub by: Option<usize>,
    /// The handles that the step made pending.
    pub sent: Range<u32>,
}

impl Delivered {
    /// Returns the summary of step `at` of a machine whose steps have at most one cause.
    #[must_use]
    pub fn of<M: Machine>(machine: &M, at: usize) -> Delivered {
        let (step, mut causes) = (machine.step(at), Vec::new());
        machine.causes(at, &mut causes);
        Delivered { choice: step.choice, actor: step.actor, by: causes.pop(), sent: machine.sent(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::Branch;

    #[test]
    fn branches_are_counted_to_the_last_one() {
        let last = Branch(u64::MAX);
        assert_eq!(last.next(&[256; 8]), None);
        assert_eq!(Branch(u64::MAX >> 8).next(&[256; 8]), last.with(7, 1));
        // Further choices with a single value are harmless.
        assert_eq!(last.next(&[[256; 8], [1; 8]].concat()), None);
    }

    #[test]
    #[should_panic(expected = "more choices")]
    fn a_ninth_choice_is_not_ignored() {
        let _ = Branch::FIRST.next(&[2; 9]);
    }

    #[test]
    #[should_panic(expected = "more values")]
    fn a_value_too_many_is_not_ignored() {
        let _ = Branch(255).next(&[300]);
    }
}

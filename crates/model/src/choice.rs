//! Choices: what a search decides.

use crate::Name;
use std::ops::Range;

/// An actor of the current execution, by its number of creation: 0 is the first one created.
///
/// "Actor" is anything that the machine schedules: an actor, a process, a task. The number may differ
/// between equivalent executions; [`Name`]s do not.
///
/// ```
/// use whippet_model::ActorNo;
/// let (first, second) = (ActorNo(0), ActorNo(1));
/// assert!(first < second, "created before");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorNo(pub u32);

/// Something that may act next: a pending message, a process, a task. The machine's own handle.
///
/// It is valid from the step that made it pending until that step is taken back, and means the same
/// thing all the while. Across branches of the search compare [`crate::Machine::thread`] instead.
///
/// ```
/// use whippet_actors::{Inbox, Test};
/// use whippet_model::{Machine, Program};
/// let program = Test::new("one message", |sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
///     sys.send(sink, 1);
/// });
/// let machine = program.machine().unwrap();
/// let mut pending = Vec::new();
/// machine.pending(&mut pending);
/// assert_eq!(machine.find(machine.thread(pending[0])), Some(pending[0]));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pending(pub u32);

/// Which way a nondeterministic step goes: the values of `choose` in a handler, the communication
/// that a wait completes, the arm of a select. Up to eight digits of eight bits each.
///
/// ```
/// use whippet_model::Branch;
/// let mut branch = Branch::FIRST;
/// branch = branch.with(0, 2).unwrap().with(1, 1).unwrap();
/// assert_eq!((branch.digit(0), branch.digit(1), branch.digit(2)), (2, 1, 0));
/// // The odometer: arities 3 and 2 of the digits that were asked for.
/// assert_eq!(Branch::FIRST.next(&[3, 2]), Branch::FIRST.with(1, 1));
/// assert_eq!(branch.next(&[3, 2]), None);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Branch(pub u64);

impl Branch {
    /// The first way: every digit is 0.
    pub const FIRST: Branch = Branch(0);
    /// How many digits there are.
    ///
    /// ```
    /// use whippet_model::Branch;
    /// assert_eq!(Branch::FIRST.with(Branch::DIGITS, 1), None, "one digit too many");
    /// ```
    pub const DIGITS: usize = 8;
    /// How many values a digit has.
    ///
    /// ```
    /// use whippet_model::Branch;
    /// assert_eq!(Branch::FIRST.with(0, Branch::VALUES), None, "one value too many");
    /// ```
    pub const VALUES: u32 = 256;

    /// The value of a digit.
    #[must_use]
    pub fn digit(self, k: usize) -> u32 {
        if k < Self::DIGITS { ((self.0 >> (8 * k)) & 0xff) as u32 } else { 0 }
    }

    /// The same branch with one digit set, or `None` where the digit or its value does not fit.
    #[must_use]
    pub fn with(self, k: usize, value: u32) -> Option<Branch> {
        (k < Self::DIGITS && value < Self::VALUES)
            .then(|| Branch(self.0 & !(0xff << (8 * k)) | u64::from(value) << (8 * k)))
    }

    /// The next branch after this one, when the digits had these arities: the last digit runs fastest
    /// and the digits after the one that moves start again at 0.
    #[must_use]
    pub fn next(self, arities: &[u32]) -> Option<Branch> {
        let k = (0..arities.len()).rev().find(|&k| self.digit(k) + 1 < arities[k])?;
        let kept = self.0 & ((1u64 << (8 * k)) - 1);
        Branch(kept).with(k, self.digit(k) + 1)
    }
}

/// One decision: who acts, and which way.
///
/// ```
/// use whippet_model::{Branch, Choice, Pending};
/// let choice = Choice { what: Pending(3), branch: Branch(1) };
/// assert_ne!(choice, Choice::first(Pending(3)), "the same message, another way");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// Who acts.
    pub what: Pending,
    /// Which way it goes.
    pub branch: Branch,
}

impl Choice {
    /// The choice of `what`, going its first way.
    #[must_use]
    pub fn first(what: Pending) -> Choice {
        Choice { what, branch: Branch::FIRST }
    }
}

/// How an event touched an object. Two touches of one object conflict unless both are reads, or both add to it.
///
/// ```
/// use whippet_model::{Access, Name, Touch};
/// assert_eq!(Touch::read(Name::ROOT).access, Access::Read);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// The event only looked.
    Read,
    /// The event changed it, or its order with others that did so matters.
    Write,
    /// The event changed it in a way that commutes with others that did so: counting up or down, one of many ends.
    Add,
}

/// One entry of a footprint: an object, by its stable name, and how it was touched.
///
/// Anything can be an object: an actor, a field of an actor, the end of a queue, "the third send on
/// mailbox 2". An event that touches no object in common with another one, in a way that conflicts,
/// commutes with it.
///
/// ```
/// use whippet_model::{Name, Touch};
/// let field = Name::ROOT.child(0);
/// assert!(Touch::read(field).conflicts(Touch::write(field)));
/// assert!(!Touch::read(field).conflicts(Touch::read(field)));
/// assert!(!Touch::write(field).conflicts(Touch::write(Name::ROOT.child(1))));
/// // Whoever counts up does not care who else does; whoever looks does.
/// assert!(!Touch::add(field).conflicts(Touch::add(field)));
/// assert!(Touch::add(field).conflicts(Touch::read(field)) && Touch::add(field).conflicts(Touch::write(field)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touch {
    /// What was touched.
    pub object: Name,
    /// How.
    pub access: Access,
}

impl Touch {
    /// A read of `object`.
    #[must_use]
    pub fn read(object: Name) -> Touch {
        Touch { object, access: Access::Read }
    }

    /// A write of `object`.
    #[must_use]
    pub fn write(object: Name) -> Touch {
        Touch { object, access: Access::Write }
    }

    /// A change of `object` that commutes with others of its kind.
    #[must_use]
    pub fn add(object: Name) -> Touch {
        Touch { object, access: Access::Add }
    }

    /// Whether two touches forbid their events to commute.
    #[inline]
    #[must_use]
    pub fn conflicts(self, other: Touch) -> bool {
        self.object == other.object && (self.access != other.access || self.access == Access::Write)
    }
}

/// Whether two footprints conflict.
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

/// What happened at one step, in short.
///
/// ```
/// # use whippet_actors::{Inbox, Test};
/// # use whippet_model::{Machine, Program};
/// # let program = Test::new("one message", |sys| {
/// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
/// #     sys.send(sink, 1);
/// # });
/// # let mut machine = program.machine().unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled);
/// machine.execute(enabled[0]).unwrap();
/// let step = machine.step(0);
/// assert_eq!(step.choice, enabled[0]);
/// assert_eq!(step.thread, machine.thread(enabled[0].what));
/// assert_eq!(step.actor, machine.actor(enabled[0].what));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The decision that was carried out.
    pub choice: Choice,
    /// Who acted: see [`crate::Machine::thread`].
    pub thread: Name,
    /// The name of the event: unique in its execution, the same in all equivalent ones.
    pub event: Name,
    /// The actor that acted.
    pub actor: ActorNo,
}

/// The delivery of one message, in short: see [`crate::Machine::delivered`].
///
/// ```
/// # use whippet_actors::{Inbox, Test};
/// # use whippet_model::{Machine, Program};
/// # let program = Test::new("two receivers", |sys| {
/// #     let (a, b) = (
/// #         sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }),
/// #         sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; }),
/// #     );
/// #     sys.send(a, 1);
/// #     sys.send(b, 2);
/// #     sys.send(b, 3);
/// # });
/// # let mut machine = program.machine().unwrap();
/// let mut enabled = Vec::new();
/// machine.enabled(&mut enabled);
/// machine.execute(enabled[0]).unwrap();
/// let delivered = machine.delivered(0);
/// assert_eq!(delivered.actor, machine.actor(enabled[0].what));
/// assert_eq!(delivered.by, None, "the test sent it, no step");
/// assert!(delivered.sent.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The decision that was carried out.
    pub choice: Choice,
    /// The receiver.
    pub actor: ActorNo,
    /// The step that sent the message, unless it was there from the beginning.
    pub by: Option<usize>,
    /// The handles that the step made pending.
    pub sent: Range<u32>,
}

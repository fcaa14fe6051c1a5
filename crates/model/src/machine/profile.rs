//! The facts about a machine that never change.

use crate::{ActorNo, Problem};

/// Dependence relation of a machine's events, in addition to causality (an event always depends on the events that
/// caused it).
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Dependence, Machine, Program};
/// let machine = ActorProgram::new("plain actors", |_sys| {}).machine(&Default::default()).unwrap();
/// assert_eq!(machine.profile().dependence, Dependence::PerActor);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Two events are dependent iff they belong to the same actor. Every thread has exactly one event (a message is
    /// delivered once), the machine has the capability [`Deliveries`](crate::Deliveries), and searches do not need
    /// footprints.
    PerActor,
    /// Two events are dependent iff their footprints conflict: see [`Machine::touches`](crate::Machine::touches).
    Footprints,
}

/// The way in which a search learns the branches of a nondeterministic step.
///
/// ```
/// # use whippet_actors::ActorProgram;
/// use whippet_model::{Branches, Machine, Program};
/// // The values of a `choose` are found by delivering the message; every branch touches only its actor.
/// let actors = ActorProgram::new("nothing", |_sys| {}).machine(&Default::default()).unwrap();
/// assert_eq!(actors.profile().branches, Branches::Discovered { same_footprint: true });
/// // A process of a mailbox program that waits for either of two sends lists both.
/// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
/// assert_eq!(net.machine(&Default::default()).unwrap().profile().branches, Branches::Listed);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Branches {
    /// [`Machine::enabled`](crate::Machine::enabled) lists a step once per branch.
    Listed,
    /// `enabled` lists a step with its first branch, and executing a branch returns the next one:
    /// [`Executed::next_branch`](crate::Executed::next_branch).
    Discovered {
        /// `true` if all branches of a step have the same footprint. Otherwise an event that is independent of one
        /// branch may depend on another, and a search must not treat one branch as representative of all.
        same_footprint: bool,
    },
}

/// The facts about a machine that never change: see [`Machine::profile`](crate::Machine::profile).
///
/// ```
/// use whippet_model::{Branches, Dependence, Profile};
/// let threads = Profile::new(Dependence::Footprints, Branches::Listed);
/// assert!(!threads.one_choice_per_thread && threads.setup_sends.is_empty());
/// assert!(!threads.branches_differ());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The dependence relation.
    pub dependence: Dependence,
    /// The way in which branches are found.
    pub branches: Branches,
    /// `true` if `enabled` is known never to list more than one choice of a thread. Searches then call it less often.
    pub one_choice_per_thread: bool,
    /// The sender and the receiver of each message sent before the explored part of the program began.
    pub setup_sends: Vec<(ActorNo, ActorNo)>,
    /// The problems of a program in which no execution has an outcome with the same key: states that have to be reachable.
    pub expected: Vec<Problem>,
    /// `true` if it is a finding that a declaration of the program has several outcomes.
    pub deterministic: bool,
}

crate::setters!(Profile {
    with_one_choice_per_thread => one_choice_per_thread: bool,
    with_setup_sends => setup_sends: Vec<(ActorNo, ActorNo)>,
    with_expected => expected: Vec<Problem>,
    with_deterministic => deterministic: bool,
});

impl Profile {
    /// Creates a profile without any setup messages, whose threads may have several choices.
    #[must_use]
    pub fn new(dependence: Dependence, branches: Branches) -> Profile {
        Profile {
            dependence,
            branches,
            one_choice_per_thread: false,
            setup_sends: Vec::new(),
            expected: Vec::new(),
            deterministic: false,
        }
    }

    /// Returns `true` if the branches of one step may have different footprints.
    #[inline]
    #[must_use]
    pub fn branches_differ(&self) -> bool {
        self.branches == Branches::Discovered { same_footprint: false }
    }
}

//! The border between programs and searches.
//!
//! A [`Program`] creates [`Machine`]s. A machine holds one configuration of the program, executes one chosen step at
//! a time and can undo steps. Searches are written against these traits only: they see choices, steps, footprints
//! and problems, but never user code.
//!
//! [`Machine`] is the core that every machine has to implement, and [`Explain`] its part for the reader. The facts
//! that never change are its [`Profile`]. Everything else is an optional capability, which a search asks for.

mod boxed;
mod capabilities;
mod explain;
mod observed;
mod profile;
mod program;

pub use capabilities::{
    Blockers, Completion, Deliveries, EnabledChoices, Extension, Fingerprint, Foresight, IdleDeliveries,
    KnownExtensions, OrderHints, Pruning, Reversal, States, enabled_after, enabled_of_lowest,
};
pub use explain::Explain;
pub use observed::{Observed, ObservedMachine};
pub use profile::{Branches, Dependence, Profile};
pub use program::{MachineConfig, MachineError, Program};

use crate::{ActorNo, Branch, Choice, Name, Pending, Step, Touch};
use std::ops::Range;

/// Equality of configurations used by a stateful search.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{StateComparison, Fingerprint, Machine, Program};
/// let test = ActorProgram::new("nobody", |_sys| {});
/// let [one, other] = [(); 2].map(|()| {
///     let mut machine = test.machine(&Default::default()).unwrap();
///     machine.fingerprint().unwrap().of_configuration(StateComparison::Canonical).unwrap()
/// });
/// assert_eq!(one, other);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StateComparison {
    /// Compares actors by stable name and pending messages as a multiset.
    Canonical,
    /// Also distinguishes the order in which actors were created and messages were sent.
    Ordered,
    /// Compares as Basset's comparison for actors does: actors in the order of their creation, and pending messages as one
    /// list per receiver. Final configurations are never equal.
    BassetActor(Remembered),
    /// Compares as Java PathFinder does in Basset: actors in the order of their creation, pending messages as one list, and
    /// the actor that acted last. Final configurations are never equal.
    BassetJpf(Remembered),
}

impl StateComparison {
    /// Returns `true` if configurations in which nothing is enabled can be equal to one another.
    ///
    /// ```
    /// use whippet_model::{Remembered, StateComparison};
    /// assert!(StateComparison::Canonical.merges_final());
    /// assert!(!StateComparison::BassetActor(Remembered::Nothing).merges_final());
    /// ```
    #[must_use]
    pub fn merges_final(self) -> bool {
        matches!(self, StateComparison::Canonical | StateComparison::Ordered)
    }
}

/// What an actor keeps of the messages it has handled, beside its state, in a comparison like Basset's.
///
/// Two configurations that differ only in it are different.
///
/// ```
/// use whippet_model::{Remembered, StateComparison};
/// assert_ne!(StateComparison::BassetJpf(Remembered::Message), StateComparison::BassetJpf(Remembered::Sender));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Remembered {
    /// Nothing.
    #[default]
    Nothing,
    /// The last message.
    Message,
    /// The sender of the last message.
    Sender,
}

/// The result of executing a step: see [`Machine::execute`].
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Choice, Executed, Machine, Program};
/// # let program = ActorProgram::new("coin", |sys| {
/// #     let coin = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
/// #         inbox.receive().await;
/// #         let _side = inbox.choose(2);
/// #     });
/// #     sys.send(coin, ());
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// # let mut enabled = Vec::new();
/// # machine.enabled(&mut enabled).unwrap();
/// // A handler that chooses one of two values.
/// let branch = machine.execute(enabled[0]).unwrap().next_branch.unwrap();
/// machine.rewind(0);
/// assert_eq!(machine.execute(Choice { branch, ..enabled[0] }), Ok(Executed::ONLY_BRANCH));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The branch after the one that was executed. `None` if there is no other branch, or if
    /// [`enabled`](Machine::enabled) listed all branches.
    pub next_branch: Option<Branch>,
}

impl Executed {
    /// The result of a step that has no further branch.
    pub const ONLY_BRANCH: Executed = Executed { next_branch: None };
}

/// One program in one configuration, which can be moved forward and back.
///
/// A configuration is reached by a sequence of steps; [`depth`](Machine::depth) is their number, and the steps taken
/// are numbered from 0. A machine knows nothing about searches, and a search knows a program only through this trait.
/// All results are deterministic: they depend only on the program and the steps taken.
///
/// A search may rely on these guarantees:
/// * a [`Pending`] handle stays valid, and its `thread` and `actor` stay the same, in all configurations after the
///   one in which it appeared, even after it has acted;
/// * rewinding steps and executing the same choices again gives the same events and handles;
/// * executing an event does not change whether an independent event is enabled, nor what that event does.
///
/// A method that borrows the machine mutably may run user code; the driver calls these under its watchdog. Methods
/// that share it must not run user code.
///
/// None of the methods has a default, so that a machine that wraps another one cannot forget to pass one on. The
/// page "Write your own adapter" (`docs/write-your-own-adapter.md`) builds a machine from scratch. To watch the
/// executions of an existing one, use [`Observed`].
///
/// ```
/// use whippet_model::{Dependence, Machine, Pending, Program};
/// // Two processes that want the same mutex.
/// let net = whippet_net::Net::parse("two", "a: Km Um\nb: Km Um").unwrap();
/// let mut machine = net.machine(&Default::default()).unwrap();
/// assert_eq!(machine.profile().dependence, Dependence::Footprints);
/// assert_eq!((machine.depth(), machine.actors()), (0, 2));
/// let (mut enabled, mut pending, mut causes) = (Vec::new(), Vec::new(), Vec::new());
/// machine.pending(&mut pending);
/// assert!(pending.iter().all(|&what: &Pending| machine.find(machine.thread(what)) == Some(what)));
///
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// assert_eq!(machine.step(0).actor, machine.actor(enabled[0].what));
/// assert!(!machine.touches(0).is_empty(), "it touches the mutex");
/// machine.causes(0, &mut causes);
/// assert!(causes.is_empty() && machine.sent(0).is_empty());
/// machine.rewind(0);
///
/// // The capabilities of this machine: it knows all possible events, and its configurations can be compared.
/// assert!(machine.known_extensions().is_some() && machine.foresight().is_some() && machine.fingerprint().is_some());
/// assert!(machine.deliveries().is_none() && machine.blockers().is_none());
/// assert!(machine.order_hints().is_none() && machine.pruning().is_none() && machine.completion().is_none());
/// ```
pub trait Machine: Explain {
    /// Returns the facts about this machine that never change.
    fn profile(&self) -> &Profile;

    /// Returns the number of steps that led to the current configuration.
    fn depth(&self) -> usize;

    /// Appends every choice that is enabled now, in the order in which the choices became pending. See [`Branches`]
    /// for steps with several branches.
    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError>;

    /// Executes one enabled choice. A failure of the user's program is not an error: it is stored with the step (see
    /// [`Explain::problem`]), and the execution continues without the actor that failed.
    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError>;

    /// Undoes all steps from `depth` on.
    fn rewind(&mut self, depth: usize);

    // ---- pending operations ----------------------------------------------------------------------

    /// Returns the number of actors that exist now.
    fn actors(&self) -> usize;

    /// Appends all pending operations, enabled or not, in the order in which they became pending.
    fn pending(&self, out: &mut Vec<Pending>);

    /// Returns the stable name of the message, process or task that acts. At most one pending operation has this
    /// name, and the name is the same in all equivalent executions.
    fn thread(&self, what: Pending) -> Name;

    /// Returns the actor that acts if `what` is chosen: the receiver of the message.
    fn actor(&self, what: Pending) -> ActorNo;

    /// Returns the pending operation with this name, enabled or not.
    fn find(&self, thread: Name) -> Option<Pending>;

    // ---- steps taken -----------------------------------------------------------------------------

    /// Returns the step taken at depth `at`.
    fn step(&self, at: usize) -> Step;

    /// Appends the earlier steps that made step `at` possible: the step that sent the message, the step that created
    /// the actor, the previous step of the process. Unlike conflicts, causes can never be reversed.
    fn causes(&self, at: usize, out: &mut Vec<usize>);

    /// Returns the handles that step `at` made pending (its sends), in order.
    fn sent(&self, at: usize) -> Range<u32>;

    /// Returns the footprint of step `at`. May be empty with [`Dependence::PerActor`].
    fn touches(&self, at: usize) -> &[Touch];

    // ---- capabilities: written with the macro `capabilities!` ----------------------------------------

    /// Returns the capability [`Deliveries`], if the machine has it.
    fn deliveries(&mut self) -> Option<&mut dyn Deliveries>;

    /// Returns the capability [`EnabledChoices`], if the machine has it.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// let mut actors = whippet_actors::ActorProgram::new("nobody", |_sys| {}).machine(&Default::default()).unwrap();
    /// assert_eq!(actors.enabled_choices().unwrap().count(), Ok(0));
    /// ```
    fn enabled_choices(&mut self) -> Option<&mut dyn EnabledChoices>;

    /// Returns the capability [`KnownExtensions`], if the machine has it.
    fn known_extensions(&mut self) -> Option<&mut dyn KnownExtensions>;

    /// Returns the capability [`Blockers`], if the machine has it.
    fn blockers(&mut self) -> Option<&mut dyn Blockers>;

    /// Returns the capability [`Foresight`], if the machine has it.
    fn foresight(&self) -> Option<&dyn Foresight>;

    /// Returns the capability [`OrderHints`], if the machine has it.
    fn order_hints(&self) -> Option<&dyn OrderHints>;

    /// Returns the capability [`Pruning`], if the machine has it.
    fn pruning(&self) -> Option<&dyn Pruning>;

    /// Returns the capability [`Fingerprint`], if the machine has it.
    fn fingerprint(&mut self) -> Option<&mut dyn Fingerprint>;

    /// Returns the capability [`IdleDeliveries`], if the machine has it.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// let mut actors = whippet_actors::ActorProgram::new("nobody", |_sys| {}).machine(&Default::default()).unwrap();
    /// assert!(actors.idle_deliveries().is_some());
    /// ```
    fn idle_deliveries(&mut self) -> Option<&mut dyn IdleDeliveries>;

    /// Returns the capability [`States`], if the machine has it.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// let mut actors = whippet_actors::ActorProgram::new("nobody", |_sys| {}).machine(&Default::default()).unwrap();
    /// assert!(actors.states().is_some());
    /// ```
    fn states(&mut self) -> Option<&mut dyn States>;

    /// Returns the capability [`Completion`], if the machine has it.
    fn completion(&mut self) -> Option<&mut dyn Completion>;
}

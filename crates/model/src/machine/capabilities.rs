//! Optional capabilities of machines. A search asks a machine for a capability and adapts if it is missing.
//!
//! A capability whose accessor borrows the machine mutably may run user code. The driver calls it under the watchdog.

use crate::{
    ActorNo, ActorState, Branch, Choice, Clocks, Delivered, Machine, MachineError, Name, Pending, StateComparison,
    Touch,
};

/// Queries about deliveries to one actor. Required of machines with [`Dependence::PerActor`](crate::Dependence).
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{ActorNo, Deliveries, Machine, Program};
/// # let program = ActorProgram::new("two receivers", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     sys.send(a, 1);
/// #     sys.send(b, 2);
/// #     sys.send(b, 3);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// // One message to an actor, and then two to another one, which is actor 2.
/// let (mut enabled, mut of_lowest) = (Vec::new(), Vec::new());
/// machine.enabled(&mut enabled).unwrap();
/// assert_eq!(machine.actor(enabled[2].what), ActorNo(2));
/// let left_out = machine.deliveries().unwrap().enabled_of_lowest(&[1, 1, 0], 1, &mut of_lowest).unwrap();
/// assert_eq!((left_out, &of_lowest[..]), (1, &enabled[1..2]));
/// machine.deliveries().unwrap().enabled_after(of_lowest[0].what, 1, &mut of_lowest).unwrap();
/// assert_eq!(of_lowest, enabled[1..]);
/// // The second message is delivered first. Instead of this step, the third message was accepted as well.
/// machine.execute(enabled[1]).unwrap();
/// let deliveries = machine.deliveries().unwrap();
/// assert!(deliveries.accepted_at(enabled[2].what, 0));
/// let delivered = deliveries.delivered(0);
/// assert_eq!((delivered.choice, delivered.by), (enabled[1], None), "the test sent it, no step");
/// ```
pub trait Deliveries {
    /// Returns `true` if `what` could have been delivered instead of step `at`, a step of the same actor, had `what`
    /// been sent by then: the receiver's state before step `at` accepts it and the order of delivery allows it, where
    /// only the messages that the sending of `what` requires count as sent.
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool;

    /// Appends the first `most` of the [enabled](crate::Machine::enabled) choices of a single actor: the one with the lowest
    /// rank, and among several of that rank the one with the lowest number. Actors beyond the end of `ranks` have rank 0.
    /// Returns the number of its enabled choices that were left out.
    fn enabled_of_lowest(&mut self, ranks: &[u32], most: usize, out: &mut Vec<Choice>) -> Result<usize, MachineError>;

    /// Appends the first `most` of the enabled choices that follow an enabled one and are of the same actor.
    fn enabled_after(&mut self, last: Pending, most: usize, out: &mut Vec<Choice>) -> Result<(), MachineError>;

    /// Returns, in one call, everything that a search needs to know of step `at`.
    fn delivered(&self, at: usize) -> Delivered;
}

/// Queries about the list of enabled choices that do not go through all of it.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{EnabledChoices, Machine, Program};
/// # let program = ActorProgram::new("two receivers", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     (1..=2).for_each(|n| sys.send(a, n));
/// #     sys.send(b, 3);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// let mut listed = Vec::new();
/// machine.enabled(&mut listed).unwrap();
/// let choices = machine.enabled_choices().unwrap();
/// assert_eq!(choices.count(), Ok(3));
/// for k in 0..3 {
///     assert_eq!(choices.nth(k), Ok(listed[k]));
///     let mut of_one = Vec::new();
///     choices.of(listed[k].what, &mut of_one).unwrap();
///     assert_eq!(of_one, [listed[k]]);
/// }
/// ```
pub trait EnabledChoices {
    /// Returns the number of choices that [`enabled`](crate::Machine::enabled) lists.
    fn count(&mut self) -> Result<usize, MachineError>;

    /// Returns the choice at a position of this list, which must be less than [`count`](EnabledChoices::count).
    fn nth(&mut self, k: usize) -> Result<Choice, MachineError>;

    /// Appends those choices of the list that are of one pending operation.
    fn of(&mut self, what: Pending, out: &mut Vec<Choice>) -> Result<(), MachineError>;
}

/// Implements [`Deliveries::enabled_of_lowest`] for machines that have no faster way: lists everything enabled.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Machine, Program, enabled_of_lowest};
/// # let program = ActorProgram::new("two receivers", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     sys.send(a, 1);
/// #     sys.send(b, 2);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// let (mut one, mut other) = (Vec::new(), Vec::new());
/// enabled_of_lowest(&mut machine, &[0, 5, 0], 10, &mut one).unwrap();
/// machine.deliveries().unwrap().enabled_of_lowest(&[0, 5, 0], 10, &mut other).unwrap();
/// assert_eq!(one, other);
/// ```
pub fn enabled_of_lowest<M: Machine>(
    machine: &mut M,
    ranks: &[u32],
    most: usize,
    out: &mut Vec<Choice>,
) -> Result<usize, MachineError> {
    let from = out.len();
    machine.enabled(out)?;
    let rank = |actor: ActorNo| ranks.get(actor.0 as usize).copied().unwrap_or(0);
    let actors = out[from..].iter().map(|choice| machine.actor(choice.what));
    let Some(lowest) = actors.min_by_key(|&actor| (rank(actor), actor)) else { return Ok(0) };
    Ok(keep_of(machine, lowest, from, most, out))
}

/// Implements [`Deliveries::enabled_after`] for machines that have no faster way: lists everything enabled.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Machine, Program, enabled_after};
/// # let program = ActorProgram::new("two receivers", |sys| {
/// #     let [a, b] = [(); 2].map(|()| sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; }));
/// #     (0..3).for_each(|n| sys.send(a, n));
/// #     sys.send(b, 2);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// let (mut all, mut one, mut other) = (Vec::new(), Vec::new(), Vec::new());
/// machine.enabled(&mut all).unwrap();
/// enabled_after(&mut machine, all[0].what, 10, &mut one).unwrap();
/// machine.deliveries().unwrap().enabled_after(all[0].what, 10, &mut other).unwrap();
/// assert_eq!((&one, &one[..]), (&other, &all[1..3]));
/// ```
pub fn enabled_after<M: Machine>(
    machine: &mut M,
    last: Pending,
    most: usize,
    out: &mut Vec<Choice>,
) -> Result<(), MachineError> {
    let from = out.len();
    machine.enabled(out)?;
    let place = out[from..].iter().rposition(|choice| choice.what == last).expect("the last choice is enabled");
    out.drain(from..=from + place);
    keep_of(machine, machine.actor(last), from, most, out);
    Ok(())
}

/// Removes the choices from `from` on that are not of this actor or are more than `most`, which is not 0. Returns the number of
/// those of the actor that were removed.
fn keep_of<M: Machine>(machine: &M, actor: ActorNo, from: usize, most: usize, out: &mut Vec<Choice>) -> usize {
    let (mut kept, mut left_out) = (from, 0);
    for k in from..out.len() {
        if machine.actor(out[k].what) != actor {
            continue;
        }
        // The branches of an operation are not separated.
        if kept - from >= most && out[kept - 1].what != out[k].what {
            left_out += 1;
        } else {
            out[kept] = out[k];
            kept += 1;
        }
    }
    out.truncate(kept);
    left_out
}

/// An event that is possible after some of the steps taken: see [`KnownExtensions`].
///
/// ```
/// use whippet_model::{Clocks, KnownExtensions, Machine, Program};
/// use whippet_net::Net;
/// // Two processes that want the same mutex: before the first step, both requests are possible.
/// let mut machine = Net::parse("two", "a: Km Um\nb: Km Um").unwrap().machine(&Default::default()).unwrap();
/// let mut extensions = Vec::new();
/// machine.known_extensions().unwrap().extensions(&Clocks::new(), &mut extensions).unwrap();
/// assert_eq!(extensions.len(), 2);
/// assert!(extensions.iter().all(|event| event.after.is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The thread that would act: see [`Machine::thread`](crate::Machine::thread).
    pub thread: Name,
    /// The branch it would take.
    pub branch: Branch,
    /// The name of the event: see [`Step::event`](crate::Step::event).
    pub event: Name,
    /// The immediate predecessors of the event. Their pasts together are the past of the event.
    pub after: Vec<usize>,
    /// The footprint of the event.
    pub touches: Vec<Touch>,
}

/// Enumeration of the events of an unfolding, for machines that know the footprint of a step beforehand.
///
/// ```
/// use whippet_model::{Clocks, KnownExtensions, Machine, Program};
/// let net = whippet_net::Net::parse("two", "a: Km Um\nb: Km Um").unwrap();
/// let mut machine = net.machine(&Default::default()).unwrap();
/// let (mut clocks, mut enabled, mut extensions) = (Clocks::new(), Vec::new(), Vec::new());
/// machine.enabled(&mut enabled).unwrap();
/// machine.execute(enabled[0]).unwrap();
/// clocks.follow(&machine);
/// machine.known_extensions().unwrap().extensions(&clocks, &mut extensions).unwrap();
/// // After one request for the mutex, its owner can unlock it or the other process can request it.
/// assert_eq!(extensions.len(), 2);
/// assert!(extensions.iter().all(|event| event.after == [0]));
/// ```
pub trait KnownExtensions {
    /// Appends every event whose past consists of steps taken so far and contains the newest step (before the first
    /// step: whose past is empty). Some of these events are enabled now; the others conflict with steps taken.
    /// `clocks` contains all steps taken.
    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<(), MachineError>;
}

/// The objects that blocked operations wait for. With it, a search can find the events of an unfolding by trial: it
/// executes pending steps after subsets of the steps taken.
///
/// ```
/// use whippet_abs::AbsProgram;
/// use whippet_model::{Blockers, Choice, Machine, Pending, Program};
/// let program = AbsProgram::parse("waits.abs", "
///     interface I { Unit m(); }
///     class C implements I { Bool open = False; Unit m() { await open; } }
///     { I a = new C(); a!m(); }
/// ").unwrap();
/// let mut machine = program.machine(&Default::default()).unwrap();
/// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block
/// machine.execute(Choice::first(Pending(1))).unwrap(); // m, up to its `await`
/// let mut objects = Vec::new();
/// machine.blockers().unwrap().blocked_on(Pending(1), &mut objects);
/// assert_eq!(objects, machine.touches(1), "it looked at the field that it waits for");
/// ```
pub trait Blockers {
    /// Appends the objects that decide whether `what`, which is pending but not enabled, becomes enabled: a step that
    /// conflicts with none of them does not enable it.
    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>);
}

/// The effect on a step of removing an earlier step that it is in a race with: see [`Foresight::without`].
///
/// ```
/// use whippet_model::Reversal;
/// assert_ne!(Reversal::Disabled, Reversal::Unknown, "that nothing could happen is something to know");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reversal {
    /// The machine cannot tell without executing the step.
    Unknown,
    /// The step's thread would not be enabled.
    Disabled,
    /// The step would be enabled with the same footprint, and its thread would have no other choice. This holds
    /// immediately, and also after any further steps that are independent of the step.
    Unchanged,
}

/// Predictions of steps in other executions, without executing anything. For machines with
/// [`Dependence::Footprints`](crate::Dependence).
///
/// ```
/// use whippet_model::{Foresight, Machine, Program};
/// // A waits for either of two sends. B sends before the wait and C after it, so the wait missed C's branch.
/// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
/// let mut machine = net.machine(&Default::default()).unwrap();
/// for process in [0, 0, 1, 0, 2] {
///     let mut enabled = Vec::new();
///     machine.enabled(&mut enabled).unwrap();
///     let next = enabled.into_iter().find(|choice| machine.actor(choice.what).0 == process).unwrap();
///     machine.execute(next).unwrap();
/// }
/// let mut late = Vec::new();
/// machine.foresight().unwrap().late_alternatives(3, &mut late);
/// assert_eq!(late.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [4]);
/// let mut early = Vec::new();
/// machine.foresight().unwrap().early_alternatives(3, &mut early);
/// assert!(early.is_empty(), "no earlier step disabled a branch of the wait");
/// // The machine of mailbox programs does not predict reversals.
/// let mut clocks = whippet_model::Clocks::new();
/// clocks.follow(&machine);
/// assert_eq!(machine.foresight().unwrap().without(&clocks, 2, 3), whippet_model::Reversal::Unknown);
/// ```
pub trait Foresight {
    /// Predicts what step `later` would do if `earlier` had not happened and, of the steps after `earlier`, only
    /// those independent of it had. The two steps are in a race; `clocks` contains all steps taken.
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal;

    /// Appends the later steps that would have enabled another branch of step `at` had they come first, each with
    /// that branch, although they are independent of the branch that `at` took. Such pairs do not appear as races.
    /// Example: a wait for any of several communications completes with one of them, and a later step completes
    /// another.
    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>);

    /// Appends the earlier steps that may have disabled another branch of step `at`, although they are independent of
    /// the branch that `at` took. Such pairs do not appear as races either. Example: a message is lost that its
    /// receiver would have accepted before it stopped. Steps that caused `at` need not be left out.
    fn early_alternatives(&self, at: usize, out: &mut Vec<usize>);
}

/// Static knowledge of the program that the order `stable` uses. Requires
/// [`MachineConfig::order_hints`](crate::MachineConfig::order_hints).
///
/// ```
/// use whippet_abs::AbsProgram;
/// use whippet_model::{ActorNo, Choice, Machine, MachineConfig, OrderHints, Pending, Program};
/// let program = AbsProgram::parse("two.abs", "
///     interface I { Unit m(I other); }
///     class C implements I { Unit m(I other) { if (other != null) { other!m(null); } } }
///     { I a = new C(); I b = new C(); a!m(b); b!m(null); }
/// ").unwrap();
/// let config = MachineConfig::default().with_order_hints(true);
/// let mut machine = program.machine(&config).unwrap();
/// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block, actor 0
/// let hints = machine.order_hints().unwrap();
/// assert_eq!(hints.inbound_estimate(ActorNo(1)), Some(0), "nobody can send to a");
/// assert!(hints.inbound_estimate(ActorNo(2)) > Some(0), "a still can send to b");
/// assert_eq!(hints.note(), None, "the program's text tells");
/// ```
pub trait OrderHints {
    /// Returns a note for the verdict on how the knowledge was obtained, if the reader should know.
    fn note(&self) -> Option<String>;

    /// Returns an estimate of the messages that may still be sent to an actor, derived from the program's text and
    /// this configuration: 0 if none can be. Returns `None` if the machine does not know. The estimate only
    /// influences the order of the search.
    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64>;
}

/// A pruning rule of the machine itself. The theorems about searches do not hold with it.
///
/// ```
/// use whippet_abs::{AbsProgram, ConflictRule, Marks};
/// use whippet_model::{Choice, Machine, Pending, Program, Pruning};
/// let program = AbsProgram::parse("two.abs", "
///     interface I { Unit m(); Unit n(); }
///     class C implements I { Int x = 0; Int y = 0; Unit m() { x = x + 1; } Unit n() { y = y + 1; } }
///     { I a = new C(); a!m(); a!n(); }
/// ").unwrap().conflict_rule(ConflictRule::Marks(Marks::Literal));
/// let mut machine = program.machine(&Default::default()).unwrap();
/// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block
/// machine.execute(Choice::first(Pending(1))).unwrap(); // m, which is independent of n
/// assert!(machine.pruning().unwrap().is_pruned(Pending(2)));
/// assert!(machine.pruning().unwrap().caveat().is_some(), "the marks may hide something");
/// ```
pub trait Pruning {
    /// Returns the possible omissions of the rule, or `None` if the rule is switched off.
    fn caveat(&self) -> Option<String>;

    /// Returns `true` if the rule skips `what` in this configuration although it is enabled.
    fn is_pruned(&self, what: Pending) -> bool;
}

/// Comparison of configurations, for the stateful search.
///
/// ```
/// # use whippet_actors::{Actor, ActorProgram, Cx, Hashes};
/// # use whippet_model::{StateComparison, Fingerprint, Machine, Program};
/// # #[derive(Clone, Debug, Hash)]
/// # struct Sum(u32);
/// # impl Actor for Sum {
/// #     type Msg = u32;
/// #     const HASHES: Hashes<Self> = Hashes::of();
/// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 += n; }
/// # }
/// # let program = ActorProgram::new("sum", |sys| {
/// #     let sum = sys.spawn(Sum(0));
/// #     sys.send(sum, 1);
/// #     sys.send(sum, 2);
/// # });
/// // An actor that adds up the numbers it receives reaches the same state in either order.
/// let [one, other] = [0, 1].map(|first| {
///     let (mut machine, mut enabled) = (program.machine(&Default::default()).unwrap(), Vec::new());
///     machine.enabled(&mut enabled).unwrap();
///     machine.execute(enabled[first]).unwrap();
///     machine.execute(enabled[1 - first]).unwrap();
///     machine.fingerprint().unwrap().of_configuration(StateComparison::Canonical).unwrap()
/// });
/// assert_eq!(one, other);
/// ```
pub trait Fingerprint {
    /// Returns a hash of the current configuration, or an error if it cannot be hashed.
    fn of_configuration(&mut self, comparison: StateComparison) -> Result<u128, MachineError>;
}

/// Recognition of deliveries that change nothing, for the stateful search.
///
/// ```
/// # use whippet_actors::{Actor, ActorProgram, Cx, Hashes};
/// # use whippet_model::{Machine, Program};
/// # #[derive(Clone, Debug, Hash)]
/// # struct Highest(u32);
/// # impl Actor for Highest {
/// #     type Msg = u32;
/// #     const HASHES: Hashes<Self> = Hashes::of();
/// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 = self.0.max(n); }
/// # }
/// # let program = ActorProgram::new("highest", |sys| {
/// #     let highest = sys.spawn(Highest(3));
/// #     (2..=4).for_each(|n| sys.send(highest, n));
/// # });
/// // An actor that keeps the highest number, 3 at first, and is sent 2, 3 and 4.
/// let (mut machine, mut enabled) = (program.machine(&Default::default()).unwrap(), Vec::new());
/// machine.enabled(&mut enabled).unwrap();
/// let idle = enabled.into_iter().map(|choice| {
///     let key = machine.idle_deliveries().unwrap().delivery_key(choice.what).unwrap();
///     machine.execute(choice).unwrap();
///     let idle = machine.idle_deliveries().unwrap().is_idle().unwrap();
///     machine.rewind(0);
///     (key.is_some(), idle)
/// });
/// assert!(idle.eq([(true, true), (true, true), (true, false)]));
/// ```
pub trait IdleDeliveries {
    /// Returns a hash of what determines the effects of delivering a pending message: the state of its receiver, and the
    /// message. Returns `None` if more may determine them, or if the delivery may change more than the receiver and what it
    /// sends, such as which other messages can be delivered.
    fn delivery_key(&mut self, what: Pending) -> Result<Option<u64>, MachineError>;

    /// Returns `true` if the newest step only consumed its message: no other part of the configuration has changed, and the
    /// step has no other branch and no problem. Its message had a [key](IdleDeliveries::delivery_key), which was requested in the
    /// configuration before.
    fn is_idle(&mut self) -> Result<bool, MachineError>;
}

/// The states of actors, for a reader who walks through an execution.
///
/// ```
/// # use whippet_actors::{Inbox, ActorProgram};
/// # use whippet_model::{Machine, Program, States};
/// # let program = ActorProgram::new("one message", |sys| {
/// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
/// #     sys.send(sink, 7);
/// # });
/// # let mut machine = program.machine(&Default::default()).unwrap();
/// // An actor that has been sent a message.
/// let mut states = Vec::new();
/// machine.states().unwrap().of_actors(&mut states);
/// assert_eq!(states[0].pending, ["7 from the test"]);
/// ```
pub trait States {
    /// Appends the state of every actor that exists now. May run user code, for example an implementation of `Debug`.
    fn of_actors(&mut self, out: &mut Vec<ActorState>);

    /// Returns the label of the actor that a pending operation belongs to, and the operation in words: "receives Take(4)
    /// from till 2". May run user code.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// # use whippet_model::{Machine, Pending, Program, States};
    /// # let program = ActorProgram::new("one message", |sys| {
    /// #     let sink = sys.spawn_fn_named("sink", async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    /// #     sys.send(sink, 7);
    /// # });
    /// # let mut machine = program.machine(&Default::default()).unwrap();
    /// // An actor that has been sent a message.
    /// let mut enabled = Vec::new();
    /// machine.enabled(&mut enabled).unwrap();
    /// let text = machine.states().unwrap().of_pending(enabled[0].what);
    /// assert_eq!(text.unwrap(), ("sink".to_string(), "receives 7 from the test".to_string()));
    /// ```
    fn of_pending(&mut self, what: Pending) -> Option<(String, String)>;
}

/// Notification of the ends of executions, for machines that wrap others: see [`Observed`](crate::Observed).
///
/// ```
/// # use whippet_actors::ActorProgram;
/// # use whippet_model::{Machine, Program};
/// let mut machine = ActorProgram::new("nobody", |_sys| {}).machine(&Default::default()).unwrap();
/// assert!(machine.completion().is_none(), "only wrappers need it");
/// if let Some(completion) = machine.completion() {
///     completion.completed();
/// }
/// ```
pub trait Completion {
    /// Called when a search has reached the end of an execution, before it collects the problems.
    fn completed(&mut self);
}

/// Declares, inside of `impl Machine for …`, which capabilities the machine has: the accessors of those that are
/// listed return the machine itself, all others return `None`.
///
/// ```
/// use whippet_model::*;
/// # struct Wheel { at: u64 }
/// # impl Explain for Wheel {
/// #     fn problems(&self) -> usize { 0 }
/// #     fn problem(&self, _: usize) -> Option<Problem> { None }
/// #     fn data_races(&self, _: &mut Vec<Problem>) {}
/// #     fn final_problems(&mut self, _: &mut Vec<Problem>) -> Result<(), MachineError> { Ok(()) }
/// #     fn describe(&mut self, _: usize) -> StepDescription { StepDescription::default() }
/// #     fn handler_runs(&self) -> u64 { 0 }
/// # }
/// impl Fingerprint for Wheel {
///     fn of_configuration(&mut self, _: StateComparison) -> Result<u128, MachineError> { Ok(self.at.into()) }
/// }
/// impl Machine for Wheel {
///     capabilities!(Fingerprint);
/// #   fn depth(&self) -> usize { 0 }
/// #   fn enabled(&mut self, _: &mut Vec<Choice>) -> Result<(), MachineError> { Ok(()) }
/// #   fn execute(&mut self, _: Choice) -> Result<Executed, MachineError> { Ok(Executed::ONLY_BRANCH) }
/// #   fn rewind(&mut self, _: usize) {}
/// #   fn profile(&self) -> &Profile { unimplemented!() }
/// #   fn actors(&self) -> usize { 0 }
/// #   fn thread(&self, _: Pending) -> Name { Name::ROOT }
/// #   fn actor(&self, _: Pending) -> ActorNo { ActorNo(0) }
/// #   fn find(&self, _: Name) -> Option<Pending> { None }
/// #   fn pending(&self, _: &mut Vec<Pending>) {}
/// #   fn step(&self, _: usize) -> Step { unimplemented!() }
/// #   fn causes(&self, _: usize, _: &mut Vec<usize>) {}
/// #   fn sent(&self, _: usize) -> std::ops::Range<u32> { 0..0 }
/// #   fn touches(&self, _: usize) -> &[Touch] { &[] }
///     // …
/// }
/// let mut wheel = Wheel { at: 3 };
/// assert!(wheel.fingerprint().is_some() && wheel.deliveries().is_none());
/// ```
#[macro_export]
macro_rules! capabilities {
    ($($has:ident),* $(,)?) => {
        #[inline]
        fn deliveries(&mut self) -> Option<&mut dyn $crate::Deliveries> {
            $crate::has_capability!(Deliveries self $($has)*)
        }

        fn enabled_choices(&mut self) -> Option<&mut dyn $crate::EnabledChoices> {
            $crate::has_capability!(EnabledChoices self $($has)*)
        }

        fn known_extensions(&mut self) -> Option<&mut dyn $crate::KnownExtensions> {
            $crate::has_capability!(KnownExtensions self $($has)*)
        }

        fn blockers(&mut self) -> Option<&mut dyn $crate::Blockers> {
            $crate::has_capability!(Blockers self $($has)*)
        }

        #[inline]
        fn foresight(&self) -> Option<&dyn $crate::Foresight> {
            $crate::has_capability!(Foresight self $($has)*)
        }

        fn order_hints(&self) -> Option<&dyn $crate::OrderHints> {
            $crate::has_capability!(OrderHints self $($has)*)
        }

        fn pruning(&self) -> Option<&dyn $crate::Pruning> {
            $crate::has_capability!(Pruning self $($has)*)
        }

        fn fingerprint(&mut self) -> Option<&mut dyn $crate::Fingerprint> {
            $crate::has_capability!(Fingerprint self $($has)*)
        }

        fn idle_deliveries(&mut self) -> Option<&mut dyn $crate::IdleDeliveries> {
            $crate::has_capability!(IdleDeliveries self $($has)*)
        }

        fn states(&mut self) -> Option<&mut dyn $crate::States> {
            $crate::has_capability!(States self $($has)*)
        }

        #[inline]
        fn completion(&mut self) -> Option<&mut dyn $crate::Completion> {
            // The names are checked: a capability that is misspelt or not implemented does not compile.
            $(let _ = |machine: &mut Self| { let _: &mut dyn $crate::$has = machine; };)*
            $crate::has_capability!(Completion self $($has)*)
        }
    };
}

/// Expands to `Some(self)` if the first capability is among the others, and to `None` otherwise.
#[doc(hidden)]
#[macro_export]
macro_rules! has_capability {
    (Deliveries $machine:ident Deliveries $($rest:ident)*) => { Some($machine) };
    (EnabledChoices $machine:ident EnabledChoices $($rest:ident)*) => { Some($machine) };
    (KnownExtensions $machine:ident KnownExtensions $($rest:ident)*) => { Some($machine) };
    (Blockers $machine:ident Blockers $($rest:ident)*) => { Some($machine) };
    (Foresight $machine:ident Foresight $($rest:ident)*) => { Some($machine) };
    (OrderHints $machine:ident OrderHints $($rest:ident)*) => { Some($machine) };
    (Pruning $machine:ident Pruning $($rest:ident)*) => { Some($machine) };
    (Fingerprint $machine:ident Fingerprint $($rest:ident)*) => { Some($machine) };
    (IdleDeliveries $machine:ident IdleDeliveries $($rest:ident)*) => { Some($machine) };
    (States $machine:ident States $($rest:ident)*) => { Some($machine) };
    (Completion $machine:ident Completion $($rest:ident)*) => { Some($machine) };
    ($which:ident $machine:ident $other:ident $($rest:ident)*) => {
        $crate::has_capability!($which $machine $($rest)*)
    };
    ($which:ident $machine:ident) => { None };
}

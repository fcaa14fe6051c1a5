//! The interface between programs and searches.
//!
//! A [`Program`] creates [`Machine`]s. A machine holds one configuration of the program, executes one chosen step at
//! a time and can undo steps. Searches are written against these two traits only: they see choices, steps, footprints
//! and problems, but never user code.

use crate::{ActorNo, Branch, Choice, Clocks, Delivered, Name, Pending, Problem, Step, StepDescription, Touch};
use std::ops::Range;

/// Dependence relation of a machine's events, in addition to causality (an event always depends on the events that
/// caused it).
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Machine, Program, Dependence};
/// let machine = ActorProgram::new("plain actors", |_sys| {}).machine().unwrap();
/// assert_eq!(machine.relation(), Dependence::PerActor);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Two events are dependent iff they belong to the same actor. Every thread has exactly one event (a message is
    /// delivered once), the machine implements [`Machine::accepted_at`], and searches do not need footprints.
    PerActor,
    /// Two events are dependent iff their footprints conflict: see [`Machine::touches`].
    Footprints,
}

/// Equality of configurations used by a stateful search.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Comparison, Machine, Program};
/// let test = ActorProgram::new("nobody", |_sys| {});
/// let (mut one, mut other) = (test.machine().unwrap(), test.machine().unwrap());
/// assert_eq!(one.fingerprint(Comparison::Canonical), other.fingerprint(Comparison::Canonical));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Compares actors by stable name and pending messages as a multiset.
    Canonical,
    /// Also distinguishes the order in which actors were created and messages were sent.
    Ordered,
}

/// An error that stops a machine. Errors of the user's program are not among them: see [`Problem`].
///
/// ```
/// use whippet_model::MachineError;
/// let error = MachineError::Nondeterministic("step 3 differs".into());
/// assert!(error.to_string().contains("usual causes: time, random numbers"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The program behaved differently from an earlier execution with the same messages in the same order.
    #[error(
        "your program is not deterministic: {0}\n  usual causes: time, random numbers, the order of a std HashMap, statics or shared memory that an earlier execution changed"
    )]
    Nondeterministic(String),
    /// The program uses a feature that this machine does not support, or uses a feature wrongly.
    #[error("{0}")]
    Misuse(String),
    /// The search requires a feature that this program's machine does not provide.
    #[error("{0}")]
    Unsupported(String),
}

/// An event that is possible after some of the steps taken: see [`Machine::extensions`].
///
/// ```
/// use whippet_model::{Clocks, Machine, Program};
/// use whippet_net::Net;
/// // Two processes that want the same mutex: before the first step, both requests are possible.
/// let mut machine = Net::parse("two", "a: Km Um\nb: Km Um").unwrap().machine().unwrap();
/// let mut extensions = Vec::new();
/// assert!(machine.extensions(&Clocks::new(), &mut extensions).unwrap());
/// assert_eq!(extensions.len(), 2);
/// assert!(extensions.iter().all(|event| event.after.is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The thread that would act: see [`Machine::thread`].
    pub thread: Name,
    /// The branch it would take.
    pub branch: Branch,
    /// The name of the event: see [`Step::event`].
    pub event: Name,
    /// The immediate predecessors of the event. Their pasts together are the past of the event.
    pub after: Vec<usize>,
    /// The footprint of the event.
    pub touches: Vec<Touch>,
}

/// The effect on a step of removing an earlier step that it is in a race with: see [`Machine::without`].
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
/// A minimal implementation: people who cross a house once each. Two crossings are dependent if they use the same
/// door.
///
/// ```
/// use std::{ops::Range, sync::Arc};
/// use whippet_model::*;
/// use whippet_search::{Options, explore};
///
/// /// The door that each person uses, and the people who have crossed.
/// struct House { doors: Vec<Touch>, crossed: Vec<Pending> }
///
/// impl Machine for House {
///     fn depth(&self) -> usize { self.crossed.len() }
///     fn enabled(&mut self, out: &mut Vec<Choice>) {
///         let mut left = Vec::new();
///         self.pending(&mut left);
///         out.extend(left.into_iter().map(Choice::first));
///     }
///     fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
///         self.crossed.push(choice.what);
///         Ok(())
///     }
///     fn rewind(&mut self, depth: usize) { self.crossed.truncate(depth); }
///     fn thread(&self, what: Pending) -> Name { Name::ROOT.child(what.0) }
///     fn actor(&self, what: Pending) -> ActorNo { ActorNo(what.0) }
///     fn find(&self, thread: Name) -> Option<Pending> {
///         let mut left = Vec::new();
///         self.pending(&mut left);
///         left.into_iter().find(|&what| self.thread(what) == thread)
///     }
///     fn pending(&self, out: &mut Vec<Pending>) {
///         out.extend((0..self.doors.len() as u32).map(Pending).filter(|what| !self.crossed.contains(what)));
///     }
///     fn relation(&self) -> Dependence { Dependence::Footprints }
///     fn step(&self, at: usize) -> Step {
///         let choice = Choice::first(self.crossed[at]);
///         let thread = self.thread(choice.what);
///         Step { choice, thread, event: thread.going(choice.branch), actor: self.actor(choice.what) }
///     }
///     fn causes(&self, _at: usize, _out: &mut Vec<usize>) {} // no crossing causes another
///     fn sent(&self, _at: usize) -> Range<u32> { 0..0 }
///     fn touches(&self, at: usize) -> &[Touch] { std::slice::from_ref(&self.doors[self.crossed[at].0 as usize]) }
///     fn actors(&self) -> usize { self.doors.len() }
///     fn problems(&self) -> usize { 0 }
///     fn problem(&self, _at: usize) -> Option<Problem> { None }
///     fn final_problems(&mut self, _out: &mut Vec<Problem>) {}
///     fn describe(&mut self, at: usize) -> StepDescription {
///         StepDescription { actor: format!("{:?}", self.crossed[at]), action: "crosses".into(), ..StepDescription::default() }
///     }
///     fn handler_runs(&self) -> u64 { 0 }
/// }
///
/// struct Visit;
/// impl Program for Visit {
///     type Machine = House;
///     fn machine(&self) -> Result<House, MachineError> {
///         let doors = [0, 0, 1].map(|door| Touch::write(Name::ROOT.child(door)));
///         Ok(House { doors: doors.to_vec(), crossed: Vec::new() })
///     }
///     fn name(&self) -> String { "visit".into() }
/// }
///
/// // The six orders form two traces: two people share a door, and either may cross first.
/// let verdict = explore(Arc::new(Visit), &Options::default(), &()).unwrap();
/// assert_eq!((verdict.counters.executions, verdict.complete), (2, true));
/// ```
pub trait Machine {
    /// Returns the number of steps that led to the current configuration.
    fn depth(&self) -> usize;

    /// Appends every choice that is enabled now, in the order in which the choices became pending.
    ///
    /// A step whose branches are known beforehand is listed once per branch. A step whose branches are found by
    /// executing it (a `choose` in a handler) is listed with its first branch, and
    /// [`next_branch`](Machine::next_branch) returns the others.
    fn enabled(&mut self, out: &mut Vec<Choice>);

    /// Appends the [enabled](Machine::enabled) choices of a single actor: the one with the lowest rank, and among
    /// several of that rank the one with the lowest number.
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
    /// # let mut machine = program.machine().unwrap();
    /// let mut enabled = Vec::new();
    /// machine.enabled(&mut enabled);
    /// assert_eq!(enabled.len(), 3);
    /// let last = machine.actor(enabled[2].what);
    /// let mut of_first = Vec::new();
    /// machine.enabled_of_first(|actor| u32::from(actor != last), &mut of_first);
    /// assert_eq!(of_first, enabled[1..]);
    /// ```
    fn enabled_of_first(&mut self, rank: impl Fn(ActorNo) -> u32, out: &mut Vec<Choice>) {
        let from = out.len();
        self.enabled(out);
        let actors = out[from..].iter().map(|choice| self.actor(choice.what));
        let Some(first) = actors.min_by_key(|&actor| (rank(actor), actor)) else { return };
        let mut kept = from;
        for k in from..out.len() {
            if self.actor(out[k].what) == first {
                out[kept] = out[k];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Executes one enabled choice. A failure of the user's program is not an error: it is stored with the step (see
    /// [`problem`](Machine::problem)), and the execution continues without the actor that failed.
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError>;

    /// Undoes all steps from `depth` on.
    fn rewind(&mut self, depth: usize);

    /// Isolates steps from each other: from now on, a step does not observe the effects of concurrent steps that the
    /// relation considers independent, even if the program has a data race that would make them visible. The result
    /// of a step then depends only on its past. A search that skips executions calls this once, before the first
    /// step. Machines whose steps never observe independent steps do nothing.
    ///
    /// ```
    /// use whippet_actors::ActorProgram;
    /// use whippet_model::{Machine, Program};
    /// let mut machine = ActorProgram::new("plain actors", |_sys| {}).machine().unwrap();
    /// machine.isolate_races(); // Steps of plain actors never observe independent steps.
    /// assert_eq!(machine.depth(), 0);
    /// ```
    fn isolate_races(&mut self) {}

    /// Returns the next branch of the newest step, to be called after [`execute`](Machine::execute). Returns `None`
    /// if there is no other branch, or if `enabled` listed the branches.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// # use whippet_model::{Branch, Choice, Machine, Program};
    /// # let program = ActorProgram::new("coin", |sys| {
    /// #     let coin = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    /// #         inbox.receive().await;
    /// #         let _side = inbox.choose(2);
    /// #     });
    /// #     sys.send(coin, ());
    /// # });
    /// # let mut machine = program.machine().unwrap();
    /// # let mut enabled = Vec::new();
    /// # machine.enabled(&mut enabled);
    /// // A handler that chooses one of two values.
    /// machine.execute(enabled[0]).unwrap();
    /// let other = machine.next_branch().unwrap();
    /// machine.rewind(0);
    /// machine.execute(Choice { branch: other, ..enabled[0] }).unwrap();
    /// assert_eq!(machine.next_branch(), None);
    /// ```
    fn next_branch(&self) -> Option<Branch> {
        None
    }

    /// Returns `true` if the branches of one step, found by executing it, may have different footprints. An event
    /// that is independent of one branch may then depend on another, and a search must not treat one branch as
    /// representative of all.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// use whippet_model::{Machine, Program};
    /// # let program = ActorProgram::new("nothing", |_sys| {});
    /// // Without tracked fields, every branch of a step touches only its actor.
    /// assert!(!program.machine().unwrap().ways_differ());
    /// ```
    fn ways_differ(&self) -> bool {
        false
    }

    // ---- pending operations ----------------------------------------------------------------------

    /// Returns the stable name of the message, process or task that acts. At most one pending operation has this
    /// name, and the name is the same in all equivalent executions.
    fn thread(&self, what: Pending) -> Name;

    /// Returns the actor that acts if `what` is chosen: the receiver of the message.
    fn actor(&self, what: Pending) -> ActorNo;

    /// Returns the pending operation with this name, enabled or not.
    fn find(&self, thread: Name) -> Option<Pending>;

    /// Appends all pending operations, enabled or not, in the order in which they became pending.
    fn pending(&self, out: &mut Vec<Pending>);

    /// Returns the dependence relation of this program's events.
    fn relation(&self) -> Dependence;

    /// Returns `true` if `what` could have been delivered instead of step `at`, a step of the same actor, had `what`
    /// been sent by then: the receiver's state before step `at` accepts it and the order of delivery allows it, where
    /// only the messages that the sending of `what` requires count as sent. Called only with [`Dependence::PerActor`].
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// # use whippet_model::{Machine, Program};
    /// # let program = ActorProgram::new("two messages", |sys| {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     sys.send(sink, 1);
    /// #     sys.send(sink, 2);
    /// # });
    /// # let mut machine = program.machine().unwrap();
    /// # let mut enabled = Vec::new();
    /// # machine.enabled(&mut enabled);
    /// // Two messages are pending. The first is delivered, but the second was accepted as well.
    /// machine.execute(enabled[0]).unwrap();
    /// assert!(machine.accepted_at(enabled[1].what, 0));
    /// ```
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let _ = (what, at);
        unreachable!("only asked of machines whose relation is PerActor")
    }

    // ---- steps taken -----------------------------------------------------------------------------

    /// Returns the step taken at depth `at`.
    fn step(&self, at: usize) -> Step;

    /// Returns, in one call, everything that a search needs to know of step `at` with [`Dependence::PerActor`].
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
    /// # let mut machine = program.machine().unwrap();
    /// let mut enabled = Vec::new();
    /// machine.enabled(&mut enabled);
    /// machine.execute(enabled[1]).unwrap();
    /// assert_eq!(machine.delivered(0).choice, machine.step(0).choice);
    /// ```
    fn delivered(&self, at: usize) -> Delivered {
        let (step, mut causes) = (self.step(at), Vec::new());
        self.causes(at, &mut causes);
        Delivered { choice: step.choice, actor: step.actor, by: causes.pop(), sent: self.sent(at) }
    }

    /// Appends the earlier steps that made step `at` possible: the step that sent the message, the step that created
    /// the actor, the previous step of the process. Unlike conflicts, causes can never be reversed.
    fn causes(&self, at: usize, out: &mut Vec<usize>);

    /// Returns the handles that step `at` made pending (its sends), in order.
    fn sent(&self, at: usize) -> Range<u32>;

    /// Returns the footprint of step `at`. May be empty with [`Dependence::PerActor`].
    fn touches(&self, at: usize) -> &[Touch] {
        let _ = at;
        &[]
    }

    /// Appends the later steps that would have enabled another branch of step `at` had they come first, each with
    /// that branch, although they are independent of the branch that `at` took. Such pairs do not appear as races.
    /// Example: a wait for any of several communications completes with one of them, and a later step completes
    /// another. Used only with [`Dependence::Footprints`].
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// // A waits for either of two sends. B sends before the wait and C after it, so the wait missed C's branch.
    /// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// for process in [0, 0, 1, 0, 2] {
    ///     let mut enabled = Vec::new();
    ///     machine.enabled(&mut enabled);
    ///     let next = enabled.into_iter().find(|choice| machine.actor(choice.what).0 == process).unwrap();
    ///     machine.execute(next).unwrap();
    /// }
    /// let mut missed = Vec::new();
    /// machine.late_alternatives(3, &mut missed);
    /// assert_eq!(missed.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [4]);
    /// ```
    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let _ = (at, out);
    }

    /// Returns `true` if [`enabled`](Machine::enabled) never lists more than one choice of a thread, because branches
    /// are found only by executing the step ([`next_branch`](Machine::next_branch)). Searches then need fewer calls
    /// of `enabled`.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// use whippet_model::{Machine, Program};
    /// # let program = ActorProgram::new("nothing", |_sys| {});
    /// // A message to a native actor is one choice: the branches of its `choose` are found by delivering it.
    /// assert!(program.machine().unwrap().one_choice_each());
    /// // A process of a mailbox program that waits for either of two sends has two choices.
    /// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
    /// assert!(!net.machine().unwrap().one_choice_each());
    /// ```
    fn one_choice_each(&self) -> bool {
        false
    }

    /// Predicts, without executing anything, what step `later` would do if `earlier` had not happened and, of the
    /// steps after `earlier`, only those independent of it had. The two steps are in a race; `clocks` contains all
    /// steps taken. Used only with [`Dependence::Footprints`].
    ///
    /// ```
    /// use whippet_model::{Clocks, Machine, Program, Reversal};
    /// let net = whippet_net::Net::parse("two", "a: Km Um\nb: Km Um").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// for _ in 0..3 {
    ///     let mut enabled = Vec::new();
    ///     machine.enabled(&mut enabled);
    ///     machine.execute(enabled[0]).unwrap();
    /// }
    /// let mut clocks = Clocks::new();
    /// clocks.follow(&machine);
    /// // Two requests for one mutex: the machine of mailbox programs predicts nothing.
    /// assert_eq!(machine.without(&clocks, 0, 2), Reversal::Unknown);
    /// ```
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal {
        let _ = (clocks, earlier, later);
        Reversal::Unknown
    }

    /// Appends every event whose past consists of steps taken so far and contains the newest step (before the first
    /// step: whose past is empty), and returns `true`. Some of these events are enabled now; the others conflict with
    /// steps taken. `clocks` contains all steps taken. Used by the unfolding search, with [`Dependence::Footprints`].
    ///
    /// Returns `false` if the footprint of a step is known only by executing it. The search then finds the extensions
    /// itself: it executes pending steps after subsets of the steps taken, and asks for the objects that disabled
    /// ones are [waiting for](Machine::blocked_on).
    ///
    /// ```
    /// use whippet_model::{Clocks, Machine, Program};
    /// let net = whippet_net::Net::parse("two", "a: Km Um\nb: Km Um").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// let (mut clocks, mut enabled, mut extensions) = (Clocks::new(), Vec::new(), Vec::new());
    /// machine.enabled(&mut enabled);
    /// machine.execute(enabled[0]).unwrap();
    /// clocks.follow(&machine);
    /// assert!(machine.extensions(&clocks, &mut extensions).unwrap());
    /// // After one request for the mutex, its owner can unlock it or the other process can request it.
    /// assert_eq!(extensions.len(), 2);
    /// assert!(extensions.iter().all(|event| event.after == [0]));
    /// ```
    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<bool, MachineError> {
        let _ = (clocks, out);
        Err(MachineError::Unsupported(
            "the unfolding search does not know the events of this kind of program: choose the reduction `optimal`, which explores the same executions".into(),
        ))
    }

    /// Appends the objects that decide whether `what`, which is pending but not enabled, becomes enabled: a step that
    /// conflicts with none of them does not enable it. Called only for machines that leave
    /// [`extensions`](Machine::extensions) to the search.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// use whippet_model::{Choice, Machine, Pending, Program};
    /// let program = AbsProgram::parse("waits.abs", "
    ///     interface I { Unit m(); }
    ///     class C implements I { Bool open = False; Unit m() { await open; } }
    ///     { I a = new C(); a!m(); }
    /// ").unwrap();
    /// let mut machine = program.machine().unwrap();
    /// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block
    /// machine.execute(Choice::first(Pending(1))).unwrap(); // m, up to its `await`
    /// let mut awaited = Vec::new();
    /// machine.blocked_on(Pending(1), &mut awaited);
    /// assert_eq!(awaited, machine.touches(1), "it looked at the field that it waits for");
    /// ```
    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        let _ = (what, out);
        unreachable!("only asked of machines that leave extensions to the search")
    }

    /// Returns the number of actors that exist now.
    fn actors(&self) -> usize;

    /// Returns the sender and the receiver of each message sent before the explored part of the program began.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// use whippet_model::{ActorNo, Machine, Program};
    /// let program = ActorProgram::new("one message", |sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    ///     sys.send(sink, 1);
    /// });
    /// assert_eq!(program.machine().unwrap().set_up_sends(), [(ActorNo(0), ActorNo(1))], "the test is actor 0");
    /// ```
    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        Vec::new()
    }

    // ---- static knowledge of the program ---------------------------------------------------------

    /// Prepares for calls of [`level`](Machine::inbound_estimate). A machine that does not know its program's text may execute
    /// the program a few times, and then returns a note about that for the verdict.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, ActorProgram};
    /// use whippet_model::{ActorNo, Machine, Program};
    /// let program = ActorProgram::new("one message", |sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    ///     sys.send(sink, 1);
    /// });
    /// let mut machine = program.machine().unwrap();
    /// assert_eq!(machine.inbound_estimate(ActorNo(1)), None);
    /// assert!(machine.prepare().unwrap().contains("sample executions"));
    /// assert_eq!(machine.inbound_estimate(ActorNo(1)), Some(0), "nobody sends to it any more");
    /// ```
    fn prepare(&mut self) -> Option<String> {
        None
    }

    /// Returns an estimate of the messages that may still be sent to an actor, derived from the program's text and
    /// this configuration: 0 if none can be. Returns `None` if the machine does not know. The estimate only
    /// influences the order of the search.
    ///
    /// ```
    /// use whippet_abs::AbsProgram;
    /// use whippet_model::{ActorNo, Choice, Machine, Pending, Program};
    /// let program = AbsProgram::parse("two.abs", "
    ///     interface I { Unit m(I other); }
    ///     class C implements I { Unit m(I other) { if (other != null) { other!m(null); } } }
    ///     { I a = new C(); I b = new C(); a!m(b); b!m(null); }
    /// ").unwrap();
    /// let mut machine = program.machine().unwrap();
    /// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block, actor 0
    /// assert_eq!(machine.inbound_estimate(ActorNo(1)), Some(0), "nobody can send to a");
    /// assert!(machine.inbound_estimate(ActorNo(2)) > Some(0), "a still can send to b");
    /// ```
    fn inbound_estimate(&self, actor: ActorNo) -> Option<u64> {
        let _ = actor;
        None
    }

    /// Returns the possible omissions of the machine's own pruning rule, or `None` if the machine has no such rule.
    ///
    /// ```
    /// # use whippet_actors::ActorProgram;
    /// # use whippet_model::{Machine, Program};
    /// // Most machines do not prune.
    /// assert_eq!(ActorProgram::new("nobody", |_sys| {}).machine().unwrap().caveat(), None);
    /// ```
    fn caveat(&self) -> Option<String> {
        None
    }

    /// Returns `true` if the machine's pruning rule skips `what` in this configuration although it is enabled.
    ///
    /// ```
    /// use whippet_abs::{AbsProgram, Marks, ConflictRule};
    /// use whippet_model::{Choice, Machine, Pending, Program};
    /// let program = AbsProgram::parse("two.abs", "
    ///     interface I { Unit m(); Unit n(); }
    ///     class C implements I { Int x = 0; Int y = 0; Unit m() { x = x + 1; } Unit n() { y = y + 1; } }
    ///     { I a = new C(); a!m(); a!n(); }
    /// ").unwrap().conflict_rule(ConflictRule::Marks(Marks::Literal));
    /// let mut machine = program.machine().unwrap();
    /// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block
    /// machine.execute(Choice::first(Pending(1))).unwrap(); // m, which is independent of n
    /// assert!(machine.is_pruned(Pending(2)));
    /// ```
    fn is_pruned(&self, what: Pending) -> bool {
        let _ = what;
        false
    }

    // ---- problems --------------------------------------------------------------------------------

    /// Returns the number of steps of the current execution that have a problem. Called after every step.
    fn problems(&self) -> usize;

    /// Returns the problem of step `at`, if it has one.
    fn problem(&self, at: usize) -> Option<Problem>;

    /// Appends the data races of the current execution: conflicting accesses that happens-before does not order. A
    /// data race does not end the execution, and other problems are reported as well. Steps with a data race are not
    /// independent even where the relation considers them so.
    ///
    /// ```
    /// use whippet_actors::ActorProgram;
    /// use whippet_model::{Machine, Program};
    /// let machine = ActorProgram::new("nothing shared", |_sys| {}).machine().unwrap();
    /// let mut races = Vec::new();
    /// machine.data_races(&mut races);
    /// assert!(races.is_empty());
    /// ```
    fn data_races(&self, out: &mut Vec<Problem>) {
        let _ = out;
    }

    /// Appends the problems of the current configuration, in which nothing is enabled, as a final one. Appends
    /// nothing if the execution ended properly. Problems with [`Problem::warning`] set do not count as findings.
    fn final_problems(&mut self, out: &mut Vec<Problem>);

    /// Notifies the machine that a search has reached the end of an execution, for machines that wrap others.
    ///
    /// ```
    /// # use whippet_actors::ActorProgram;
    /// # use whippet_model::{Machine, Program};
    /// // Most machines ignore it.
    /// let mut machine = ActorProgram::new("nobody", |_sys| {}).machine().unwrap();
    /// machine.completed();
    /// assert_eq!(machine.depth(), 0);
    /// ```
    fn completed(&mut self) {}

    /// Limits the memory, in bytes, used for cached data that can be recomputed, such as the results of user code.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// machine.limit_memory(0); // Same behaviour, but the program's code runs more often.
    /// let mut enabled = Vec::new();
    /// machine.enabled(&mut enabled);
    /// assert_eq!(enabled.len(), 2);
    /// ```
    fn limit_memory(&mut self, bytes: usize) {
        let _ = bytes;
    }

    // ---- descriptions ----------------------------------------------------------------------------

    /// Returns a description of step `at` for the reader.
    fn describe(&mut self, at: usize) -> StepDescription;

    /// Returns a hash of the current configuration, or an error if its configurations cannot be hashed.
    ///
    /// ```
    /// # use whippet_actors::{Actor, Cx, Hashes, ActorProgram};
    /// # use whippet_model::{Comparison, Machine, Program};
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
    ///     let (mut machine, mut enabled) = (program.machine().unwrap(), Vec::new());
    ///     machine.enabled(&mut enabled);
    ///     machine.execute(enabled[first]).unwrap();
    ///     machine.execute(enabled[1 - first]).unwrap();
    ///     machine.fingerprint(Comparison::Canonical).unwrap()
    /// });
    /// assert_eq!(one, other);
    /// ```
    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        let _ = comparison;
        Err(MachineError::Unsupported("the states of this program cannot be compared".into()))
    }

    /// Returns the number of times that user code was run to execute steps, including re-execution after a rewind.
    fn handler_runs(&self) -> u64;
}

/// A program under test. It creates machines in their initial configuration; each worker of a search creates its own.
///
/// ```
/// use whippet_actors::ActorProgram;
/// use whippet_model::{Machine, Program};
/// /// Returns the number of actors that a program begins with.
/// fn size<P: Program>(program: &P) -> usize {
///     program.machine().map_or(0, |machine: P::Machine| machine.actors())
/// }
/// let test = ActorProgram::new("nobody", |_sys| {}).parameter("n", 3);
/// assert_eq!((test.name().as_str(), size(&test)), ("nobody", 1), "the test itself counts as one");
/// assert_eq!(test.parameters()[0], ("n".to_string(), "3".to_string()));
/// ```
pub trait Program: Sync {
    /// The machine that executes this program.
    type Machine: Machine;

    /// Creates a machine. The program's set-up has already been run in it.
    fn machine(&self) -> Result<Self::Machine, MachineError>;

    /// Returns the program's name in schedules and reports.
    fn name(&self) -> String;

    /// Returns the names and values of the program's parameters, in the order of their declaration.
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns the possible omissions of even a complete search of this program, for example because its dependence
    /// relation ignores something.
    ///
    /// ```
    /// use whippet_model::Program;
    /// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
    /// assert!(net.caveats().is_empty(), "the relation that it has by default hides nothing");
    /// ```
    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }
}

//! The border between programs and searches.

use crate::{ActorNo, Branch, Choice, Clocks, Delivered, Name, Pending, Problem, Step, StepText, Touch};
use std::ops::Range;

/// Which events of a machine are dependent, besides those of which one caused the other.
///
/// ```
/// use whippet_actors::Test;
/// use whippet_model::{Machine, Program, Relation};
/// let machine = Test::new("plain actors", |_sys| {}).machine().unwrap();
/// assert_eq!(machine.relation(), Relation::SameActor);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Two events are dependent iff they are of the same actor. Every thread has exactly one event (a
    /// message is delivered once), the machine answers [`Machine::accepted_at`], and footprints need
    /// not be asked for.
    SameActor,
    /// Two events are dependent iff their footprints conflict: see [`Machine::touches`].
    Footprints,
}

/// How two configurations are compared by a stateful search.
///
/// ```
/// use whippet_actors::Test;
/// use whippet_model::{Comparison, Machine, Program};
/// let test = Test::new("nobody", |_sys| {});
/// let (mut one, mut other) = (test.machine().unwrap(), test.machine().unwrap());
/// assert_eq!(one.fingerprint(Comparison::Canonical), other.fingerprint(Comparison::Canonical));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Actors by stable name, pending messages as a multiset.
    Canonical,
    /// Sensitive to the order in which actors were created and messages were sent.
    Ordered,
}

/// Why a machine cannot go on at all. Not a problem of the user's program: see [`Problem`] for those.
///
/// ```
/// use whippet_model::MachineError;
/// let error = MachineError::Nondeterministic("step 3 differs".into());
/// assert!(error.to_string().contains("usual causes: time, random numbers"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The program did something else than the last time with the same messages in the same order.
    #[error(
        "your program is not deterministic: {0}\n  usual causes: time, random numbers, the order of a std HashMap, statics or shared memory that an earlier execution changed"
    )]
    Nondeterministic(String),
    /// The program uses something that this machine does not support, or uses it wrongly.
    #[error("{0}")]
    Misuse(String),
    /// A search asked for what this program cannot give.
    #[error("{0}")]
    Unsupported(String),
}

/// An event that a part of what happened makes possible: see [`Machine::extensions`].
///
/// ```
/// use whippet_model::{Clocks, Machine, Program};
/// use whippet_net::Net;
/// // Two processes that want the same mutex: both requests are possible before anything happened.
/// let mut machine = Net::parse("two", "a: Km Um\nb: Km Um").unwrap().machine().unwrap();
/// let mut extensions = Vec::new();
/// assert!(machine.extensions(&Clocks::new(), &mut extensions).unwrap());
/// assert_eq!(extensions.len(), 2);
/// assert!(extensions.iter().all(|event| event.after.is_empty()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Who would act: see [`Machine::thread`].
    pub thread: Name,
    /// Which way.
    pub branch: Branch,
    /// The name that the event would have: see [`Step::event`].
    pub event: Name,
    /// The steps that it would follow directly. Their pasts, together, are all that happens before it.
    pub after: Vec<usize>,
    /// What it would touch.
    pub touches: Vec<Touch>,
}

/// What is known of a step, had another one not happened: see [`Machine::without`].
///
/// ```
/// use whippet_model::Without;
/// assert_ne!(Without::Nothing, Without::Unknown, "that nothing could happen is something to know");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Without {
    /// Only trying tells.
    Unknown,
    /// Its thread could not act.
    Nothing,
    /// It would be possible and touch the same, and its thread could do nothing else: at once, or after any steps that
    /// it does not depend on.
    Same,
}

/// One program, in one configuration, moved forward and back.
///
/// A configuration is reached by a sequence of steps; [`depth`](Machine::depth) is their number, and
/// the steps taken are numbered from 0. A machine knows no search; a search knows nothing of a program
/// but this trait. All answers are deterministic: they depend on the program and the steps taken.
///
/// What a search may rely on:
/// * a [`Pending`] handle stays valid, and `thread` and `actor` of it stay the same, in all
///   configurations after the one where it appeared, also after it acted;
/// * taking back steps and carrying out the same choices again gives the same events and handles;
/// * executing an event does not change whether an independent one is enabled, nor what it does.
///
/// A machine of one's own, about as small as they get: people who cross a house once each. What two of them
/// do is dependent if they use the same door.
///
/// ```
/// use std::{ops::Range, sync::Arc};
/// use whippet_model::*;
/// use whippet_search::{Options, explore};
///
/// /// The door that each uses, and who has crossed.
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
///     fn relation(&self) -> Relation { Relation::Footprints }
///     fn step(&self, at: usize) -> Step {
///         let choice = Choice::first(self.crossed[at]);
///         let thread = self.thread(choice.what);
///         Step { choice, thread, event: thread.going(choice.branch), actor: self.actor(choice.what) }
///     }
///     fn causes(&self, _at: usize, _out: &mut Vec<usize>) {} // nobody needs anybody
///     fn sent(&self, _at: usize) -> Range<u32> { 0..0 }
///     fn touches(&self, at: usize) -> &[Touch] { std::slice::from_ref(&self.doors[self.crossed[at].0 as usize]) }
///     fn actors(&self) -> usize { self.doors.len() }
///     fn problems(&self) -> usize { 0 }
///     fn problem(&self, _at: usize) -> Option<Problem> { None }
///     fn ending(&mut self, _out: &mut Vec<Problem>) {}
///     fn describe(&mut self, at: usize) -> StepText {
///         StepText { actor: format!("{:?}", self.crossed[at]), action: "crosses".into(), ..StepText::default() }
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
/// // Of the six orders two are different: who goes first through the door that two of them use.
/// let verdict = explore(Arc::new(Visit), &Options::default(), &()).unwrap();
/// assert_eq!((verdict.counters.executions, verdict.complete), (2, true));
/// ```
pub trait Machine {
    /// How many steps led here.
    fn depth(&self) -> usize;

    /// Appends every choice that can be carried out now, in the order in which they became pending.
    ///
    /// Where the ways of a step are known beforehand, each is listed; where they are found by running it (a
    /// `choose` in a handler), the first is listed and [`next_branch`](Machine::next_branch) tells of the others.
    fn enabled(&mut self, out: &mut Vec<Choice>);

    /// Of what [`enabled`](Machine::enabled) lists, appends the choices of one actor only: of the one of the lowest
    /// rank, and of the lowest number among several.
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

    /// Carries out one enabled choice. A problem of the user's program is no error: it stays with the
    /// step, see [`problem`](Machine::problem), and the execution goes on without the actor that failed.
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError>;

    /// Takes back all steps from `depth` on.
    fn rewind(&mut self, depth: usize);

    /// A search that skips executions asks for this once, before the first step: from now on, steps that the relation
    /// takes for independent see nothing of each other, even where the program is such that they would. What a step
    /// does then depends on its past alone. Machines in which this is so anyway do nothing.
    ///
    /// ```
    /// use whippet_actors::Test;
    /// use whippet_model::{Machine, Program};
    /// let mut machine = Test::new("plain actors", |_sys| {}).machine().unwrap();
    /// machine.reduce(); // Their steps see nothing of each other anyway.
    /// assert_eq!(machine.depth(), 0);
    /// ```
    fn reduce(&mut self) {}

    /// After [`execute`](Machine::execute): the next way that the newest step could have gone, if
    /// `enabled` did not list it.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// # use whippet_model::{Branch, Choice, Machine, Program};
    /// # let program = Test::new("coin", |sys| {
    /// #     let coin = sys.spawn_fn(async |inbox: &mut Inbox<()>| {
    /// #         inbox.receive().await;
    /// #         let _side = inbox.choose(2);
    /// #     });
    /// #     sys.send(coin, ());
    /// # });
    /// # let mut machine = program.machine().unwrap();
    /// # let mut enabled = Vec::new();
    /// # machine.enabled(&mut enabled);
    /// // A handler that chooses one of two.
    /// machine.execute(enabled[0]).unwrap();
    /// let other = machine.next_branch().unwrap();
    /// machine.rewind(0);
    /// machine.execute(Choice { branch: other, ..enabled[0] }).unwrap();
    /// assert_eq!(machine.next_branch(), None);
    /// ```
    fn next_branch(&self) -> Option<Branch> {
        None
    }

    /// Whether the ways of one step, found by running it, may touch quite different things. Then what is independent of
    /// one way may still matter to another, and a search must not take one for all of them.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// use whippet_model::{Machine, Program};
    /// # let program = Test::new("nothing", |_sys| {});
    /// // Without tracked fields, a step touches its actor, whatever that one chooses.
    /// assert!(!program.machine().unwrap().ways_differ());
    /// ```
    fn ways_differ(&self) -> bool {
        false
    }

    // ---- what is pending -------------------------------------------------------------------------

    /// The stable name of what acts: of the message, the process or the task. At most one pending thing
    /// has it, and it is the same in all equivalent executions.
    fn thread(&self, what: Pending) -> Name;

    /// The actor that acts if `what` is chosen: the receiver of the message.
    fn actor(&self, what: Pending) -> ActorNo;

    /// The pending thing of this name, whether it is enabled or not.
    fn find(&self, thread: Name) -> Option<Pending>;

    /// Appends everything that is pending, enabled or not, in the order in which it became pending.
    fn pending(&self, out: &mut Vec<Pending>);

    /// The relation that makes events of this program dependent.
    fn relation(&self) -> Relation;

    /// With [`Relation::SameActor`]: whether `what` could be delivered in the configuration before step
    /// `at`, a step of the same actor, if it had been sent by then: the receiver's state then accepts it
    /// and the order of delivery allows it, counting as sent only what the sending of `what` needs.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// # use whippet_model::{Machine, Program};
    /// # let program = Test::new("two messages", |sys| {
    /// #     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| loop { inbox.receive().await; });
    /// #     sys.send(sink, 1);
    /// #     sys.send(sink, 2);
    /// # });
    /// # let mut machine = program.machine().unwrap();
    /// # let mut enabled = Vec::new();
    /// # machine.enabled(&mut enabled);
    /// // Of two messages that are pending, the first is taken; the other could have been.
    /// machine.execute(enabled[0]).unwrap();
    /// assert!(machine.accepted_at(enabled[1].what, 0));
    /// ```
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let _ = (what, at);
        unreachable!("only asked of machines whose relation is SameActor")
    }

    // ---- what happened ---------------------------------------------------------------------------

    /// The step taken at depth `at`.
    fn step(&self, at: usize) -> Step;

    /// With [`Relation::SameActor`]: what a search asks of every step, in one go.
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
    /// machine.execute(enabled[1]).unwrap();
    /// assert_eq!(machine.delivered(0).choice, machine.step(0).choice);
    /// ```
    fn delivered(&self, at: usize) -> Delivered {
        let (step, mut causes) = (self.step(at), Vec::new());
        self.causes(at, &mut causes);
        Delivered { choice: step.choice, actor: step.actor, by: causes.pop(), sent: self.sent(at) }
    }

    /// Appends the earlier steps that made step `at` possible at all: the one that sent the message or
    /// created the actor, the process's previous one. Never reversible, unlike a conflict.
    fn causes(&self, at: usize, out: &mut Vec<usize>);

    /// The handles that step `at` made pending, i.e. its sends, in order.
    fn sent(&self, at: usize) -> Range<u32>;

    /// What step `at` touched. Machines whose relation is [`Relation::SameActor`] may answer nothing.
    fn touches(&self, at: usize) -> &[Touch] {
        let _ = at;
        &[]
    }

    /// With [`Relation::Footprints`]: appends the later steps that would have opened another way for step
    /// `at`, had they come first, with that way, though they are independent of the way that `at` went. A
    /// wait for any of several communications takes one that is complete; another one completed later.
    /// Races do not show these.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// // A waits for either of two sends; when B has come and C comes after the wait, C's way was missed.
    /// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// for process in [0, 0, 1, 0, 2] {
    ///     let mut enabled = Vec::new();
    ///     machine.enabled(&mut enabled);
    ///     let next = enabled.into_iter().find(|choice| machine.actor(choice.what).0 == process).unwrap();
    ///     machine.execute(next).unwrap();
    /// }
    /// let mut missed = Vec::new();
    /// machine.missed(3, &mut missed);
    /// assert_eq!(missed.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [4]);
    /// ```
    fn missed(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let _ = (at, out);
    }

    /// Whether [`enabled`](Machine::enabled) has at most one choice of each thread; where it can go several ways,
    /// running it tells ([`next_branch`](Machine::next_branch)). Searches then need not look as often.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// use whippet_model::{Machine, Program};
    /// # let program = Test::new("nothing", |_sys| {});
    /// // A message to a native actor can be delivered or not: what `choose` makes of it is seen afterwards.
    /// assert!(program.machine().unwrap().one_choice_each());
    /// // A process of a mailbox program that waits for either of two sends has two choices.
    /// let net = whippet_net::Net::parse("any", "a: R0 R1 W0,1\nb: S0\nc: S1").unwrap();
    /// assert!(!net.machine().unwrap().one_choice_each());
    /// ```
    fn one_choice_each(&self) -> bool {
        false
    }

    /// With [`Relation::Footprints`]: what is known, without trying, of step `later` had `earlier` not happened, nor
    /// anything after that but steps that do not depend on it. The two are in a race; `clocks` knows all steps taken.
    ///
    /// ```
    /// use whippet_model::{Clocks, Machine, Program, Without};
    /// let net = whippet_net::Net::parse("two", "a: Km Um\nb: Km Um").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// for _ in 0..3 {
    ///     let mut enabled = Vec::new();
    ///     machine.enabled(&mut enabled);
    ///     machine.execute(enabled[0]).unwrap();
    /// }
    /// let mut clocks = Clocks::new();
    /// clocks.follow(&machine);
    /// // Two requests for one mutex: a process of a mailbox program is always tried.
    /// assert_eq!(machine.without(&clocks, 0, 2), Without::Unknown);
    /// ```
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Without {
        let _ = (clocks, earlier, later);
        Without::Unknown
    }

    /// With [`Relation::Footprints`], for the unfolding search: appends every event whose past consists of
    /// steps taken so far and contains the newest one, or, before the first step, is empty. Some of them
    /// can happen now; the others are in conflict with what happened. `clocks` knows all steps taken.
    ///
    /// The answer is no where only running a step tells what it touches: then the search tries steps out, after parts of what
    /// happened, and asks what others [wait for](Machine::awaited).
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
    /// // After one has asked for the mutex: it unlocks, or the other one asks.
    /// assert_eq!(extensions.len(), 2);
    /// assert!(extensions.iter().all(|event| event.after == [0]));
    /// ```
    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<bool, MachineError> {
        let _ = (clocks, out);
        Err(MachineError::Unsupported(
            "the unfolding search does not know the events of this kind of program: choose the reduction `optimal`, which explores the same executions".into(),
        ))
    }

    /// For machines that leave [`extensions`](Machine::extensions) to the search: appends what decides whether `what`,
    /// which is pending and not enabled, can be done. A step that conflicts with none of it does not enable it.
    ///
    /// ```
    /// use whippet_lang::AbsProgram;
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
    /// machine.awaited(Pending(1), &mut awaited);
    /// assert_eq!(awaited, machine.touches(1), "it looked at the field that it waits for");
    /// ```
    fn awaited(&mut self, what: Pending, out: &mut Vec<Touch>) {
        let _ = (what, out);
        unreachable!("only asked of machines that leave extensions to the search")
    }

    /// How many actors there are now.
    fn actors(&self) -> usize;

    /// Who sent to whom before the explored part began.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// use whippet_model::{ActorNo, Machine, Program};
    /// let program = Test::new("one message", |sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    ///     sys.send(sink, 1);
    /// });
    /// assert_eq!(program.machine().unwrap().set_up_sends(), [(ActorNo(0), ActorNo(1))], "the test is actor 0");
    /// ```
    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        Vec::new()
    }

    // ---- what is known of the program beforehand -------------------------------------------------

    /// Levels will be asked for. A machine that has no text of its program may run it a few times to see, and says what
    /// the reader of the verdict must know of that.
    ///
    /// ```
    /// # use whippet_actors::{Inbox, Test};
    /// use whippet_model::{ActorNo, Machine, Program};
    /// let program = Test::new("one message", |sys| {
    ///     let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| { inbox.receive().await; });
    ///     sys.send(sink, 1);
    /// });
    /// let mut machine = program.machine().unwrap();
    /// assert_eq!(machine.level(ActorNo(1)), None);
    /// assert!(machine.learn().unwrap().contains("sample executions"));
    /// assert_eq!(machine.level(ActorNo(1)), Some(0), "nobody sends to it any more");
    /// ```
    fn learn(&mut self) -> Option<String> {
        None
    }

    /// How much may still be sent to an actor, as far as the program's text and this configuration tell: 0 if
    /// nobody can send to it any more. Nothing where the machine cannot know. It orders a search, no more.
    ///
    /// ```
    /// use whippet_lang::AbsProgram;
    /// use whippet_model::{ActorNo, Choice, Machine, Pending, Program};
    /// let program = AbsProgram::parse("two.abs", "
    ///     interface I { Unit m(I other); }
    ///     class C implements I { Unit m(I other) { if (other != null) { other!m(null); } } }
    ///     { I a = new C(); I b = new C(); a!m(b); b!m(null); }
    /// ").unwrap();
    /// let mut machine = program.machine().unwrap();
    /// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block, actor 0
    /// assert_eq!(machine.level(ActorNo(1)), Some(0), "nobody can send to a");
    /// assert!(machine.level(ActorNo(2)) > Some(0), "a still can send to b");
    /// ```
    fn level(&self, actor: ActorNo) -> Option<u64> {
        let _ = actor;
        None
    }

    /// If the machine has a rule of its own by which searches leave choices out: what that may miss.
    ///
    /// ```
    /// # use whippet_actors::Test;
    /// # use whippet_model::{Machine, Program};
    /// // Most machines have none.
    /// assert_eq!(Test::new("nobody", |_sys| {}).machine().unwrap().leaves_out(), None);
    /// ```
    fn leaves_out(&self) -> Option<String> {
        None
    }

    /// Whether that rule leaves out `what` in this configuration, although it is enabled.
    ///
    /// ```
    /// use whippet_lang::{AbsProgram, Marks, Tasks};
    /// use whippet_model::{Choice, Machine, Pending, Program};
    /// let program = AbsProgram::parse("two.abs", "
    ///     interface I { Unit m(); Unit n(); }
    ///     class C implements I { Int x = 0; Int y = 0; Unit m() { x = x + 1; } Unit n() { y = y + 1; } }
    ///     { I a = new C(); a!m(); a!n(); }
    /// ").unwrap().tasks(Tasks::Marks(Marks::Literal));
    /// let mut machine = program.machine().unwrap();
    /// machine.execute(Choice::first(Pending(0))).unwrap(); // the main block
    /// machine.execute(Choice::first(Pending(1))).unwrap(); // m, which n is independent of
    /// assert!(machine.left_out(Pending(2)));
    /// ```
    fn left_out(&self, what: Pending) -> bool {
        let _ = what;
        false
    }

    // ---- what is wrong ---------------------------------------------------------------------------

    /// How many steps of the current execution have a problem. Asked after every step.
    fn problems(&self) -> usize;

    /// What went wrong in step `at`.
    fn problem(&self, at: usize) -> Option<Problem>;

    /// Appends the data races of the current execution: accesses that none of its past orders. They end nothing, and what
    /// else is wrong is asked for as well. Where one is, steps that the relation takes for independent are not.
    ///
    /// ```
    /// use whippet_actors::Test;
    /// use whippet_model::{Machine, Program};
    /// let machine = Test::new("nothing shared", |_sys| {}).machine().unwrap();
    /// let mut races = Vec::new();
    /// machine.races(&mut races);
    /// assert!(races.is_empty());
    /// ```
    fn races(&self, out: &mut Vec<Problem>) {
        let _ = out;
    }

    /// What is wrong with this configuration as an end: nothing is enabled any more. Appends nothing
    /// where all is well; problems with [`Problem::warning`] set do not count as findings.
    fn ending(&mut self, out: &mut Vec<Problem>);

    /// A search has come to the end of an execution. Machines that wrap others may want to look.
    ///
    /// ```
    /// # use whippet_actors::Test;
    /// # use whippet_model::{Machine, Program};
    /// // Most machines do not care.
    /// let mut machine = Test::new("nobody", |_sys| {}).machine().unwrap();
    /// machine.completed();
    /// assert_eq!(machine.depth(), 0);
    /// ```
    fn completed(&mut self) {}

    /// How many bytes may be used for what could also be found out again: results of user code, say.
    ///
    /// ```
    /// use whippet_model::{Machine, Program};
    /// let net = whippet_net::Net::parse("ping", "a: S0 W0\nb: R0 W0").unwrap();
    /// let mut machine = net.machine().unwrap();
    /// machine.limit_memory(0); // It goes as before, and asks the program more often.
    /// let mut enabled = Vec::new();
    /// machine.enabled(&mut enabled);
    /// assert_eq!(enabled.len(), 2);
    /// ```
    fn limit_memory(&mut self, bytes: usize) {
        let _ = bytes;
    }

    // ---- for the reader --------------------------------------------------------------------------

    /// What step `at` did, in words.
    fn describe(&mut self, at: usize) -> StepText;

    /// A hash of the current configuration, or why there is none.
    ///
    /// ```
    /// # use whippet_actors::{Actor, Cx, Hashes, Test};
    /// # use whippet_model::{Comparison, Machine, Program};
    /// # #[derive(Clone, Debug, Hash)]
    /// # struct Sum(u32);
    /// # impl Actor for Sum {
    /// #     type Msg = u32;
    /// #     const HASHES: Hashes<Self> = Hashes::of();
    /// #     async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) { self.0 += n; }
    /// # }
    /// # let program = Test::new("sum", |sys| {
    /// #     let sum = sys.spawn(Sum(0));
    /// #     sys.send(sum, 1);
    /// #     sys.send(sum, 2);
    /// # });
    /// // An actor that adds up what it gets is in the same state after either order.
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

    /// How often code of the user's program was run to carry out steps, going back included.
    fn handler_runs(&self) -> u64;
}

/// A program: makes machines in their first configuration. Each worker of a search makes its own.
///
/// ```
/// use whippet_actors::Test;
/// use whippet_model::{Machine, Program};
/// /// How many actors a program begins with.
/// fn size<P: Program>(program: &P) -> usize {
///     program.machine().map_or(0, |machine: P::Machine| machine.actors())
/// }
/// let test = Test::new("nobody", |_sys| {}).parameter("n", 3);
/// assert_eq!((test.name().as_str(), size(&test)), ("nobody", 1), "the test itself counts as one");
/// assert_eq!(test.parameters()[0], ("n".to_string(), "3".to_string()));
/// ```
pub trait Program: Sync {
    /// What runs it.
    type Machine: Machine;

    /// A new machine. The set-up of the program has been run.
    fn machine(&self) -> Result<Self::Machine, MachineError>;

    /// What the program is called in schedules and reports.
    fn name(&self) -> String;

    /// The values of its parameters, in the order of their declaration.
    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What a search of this program may miss even if it comes to its end: its relation hides something, say.
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

//! The border between programs and searches.

use crate::{ActorNo, Branch, Choice, Clocks, Name, Pending, Problem, Step, StepText, Touch};
use std::ops::Range;

/// Which events of a machine are dependent, besides those of which one caused the other.
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
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Actors by stable name, pending messages as a multiset.
    Canonical,
    /// Sensitive to the order in which actors were created and messages were sent.
    Ordered,
}

/// Why a machine cannot go on at all. Not a problem of the user's program: see [`Problem`] for those.
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
pub trait Machine {
    /// How many steps led here.
    fn depth(&self) -> usize;

    /// Appends every choice that can be carried out now, in the order in which they became pending.
    ///
    /// Where the ways of a step are known beforehand, each is listed; where they are found by running it (a
    /// `choose` in a handler), the first is listed and [`next_branch`](Machine::next_branch) tells of the others.
    fn enabled(&mut self, out: &mut Vec<Choice>);

    /// Carries out one enabled choice. A problem of the user's program is no error: it stays with the
    /// step, see [`problem`](Machine::problem), and the execution goes on without the actor that failed.
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError>;

    /// Takes back all steps from `depth` on.
    fn rewind(&mut self, depth: usize);

    /// After [`execute`](Machine::execute): the next way that the newest step could have gone, if
    /// `enabled` did not list it.
    fn next_branch(&self) -> Option<Branch> {
        None
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
    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        let _ = (what, at);
        unreachable!("only asked of machines whose relation is SameActor")
    }

    // ---- what happened ---------------------------------------------------------------------------

    /// The step taken at depth `at`.
    fn step(&self, at: usize) -> Step;

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
    fn missed(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let _ = (at, out);
    }

    /// With [`Relation::Footprints`], for the unfolding search: appends every event whose past consists of
    /// steps taken so far and contains the newest one, or, before the first step, is empty. Some of them
    /// can happen now; the others are in conflict with what happened. `clocks` knows all steps taken.
    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<(), MachineError> {
        let _ = (clocks, out);
        Err(MachineError::Unsupported(
            "the unfolding search does not know the events of this kind of program: choose the reduction `optimal`, which explores the same executions".into(),
        ))
    }

    /// How many actors there are now.
    fn actors(&self) -> usize;

    /// Who sent to whom before the explored part began.
    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        Vec::new()
    }

    // ---- what is wrong ---------------------------------------------------------------------------

    /// How many steps of the current execution have a problem. Asked after every step.
    fn problems(&self) -> usize;

    /// What went wrong in step `at`.
    fn problem(&self, at: usize) -> Option<Problem>;

    /// What is wrong with this configuration as an end: nothing is enabled any more. Appends nothing
    /// where all is well; problems with [`Problem::warning`] set do not count as findings.
    fn ending(&mut self, out: &mut Vec<Problem>);

    /// A search has come to the end of an execution. Machines that wrap others may want to look.
    fn completed(&mut self) {}

    // ---- for the reader --------------------------------------------------------------------------

    /// What step `at` did, in words.
    fn describe(&mut self, at: usize) -> StepText;

    /// A hash of the current configuration, or why there is none.
    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        let _ = comparison;
        Err(MachineError::Unsupported("the states of this program cannot be compared".into()))
    }

    /// How often code of the user's program was run to carry out steps, going back included.
    fn handler_runs(&self) -> u64;
}

/// A program: makes machines in their first configuration. Each worker of a search makes its own.
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
}

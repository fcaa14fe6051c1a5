//! The current step: its actor, its branch, and its effects so far.
//!
//! A suspended actor is restored by running its code again on the messages that it had received. During that time the
//! step is *muted*: sends and creations have no effect, but they are counted so that later ones get the same names as
//! before.

use crate::memo::RecordedEffect;
use smallvec::SmallVec;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{Branch, MachineError, Name};

/// The number used for steps before exploration begins.
pub(crate) const SETUP: u32 = u32::MAX;
/// The number of the test itself, which is the sender of everything its body sends.
pub(crate) const TEST: u32 = 0;

/// The wait of a suspended actor, and its source location.
#[derive(Clone)]
pub(crate) struct ActorWait {
    pub(crate) kind: WaitKind,
    pub(crate) site: &'static Location<'static>,
}

/// The event that ends a [`Wait`].
#[derive(Clone)]
pub(crate) enum WaitKind {
    /// The reply to the call of this name.
    Reply(Name),
    /// A message that passes the filter, an `Rc<dyn Fn(&M) -> bool>`.
    Message(Option<Rc<dyn Any>>),
}

/// The current step; see the module documentation.
pub(crate) struct CurrentStep {
    pub(crate) actor: u32,
    pub(crate) step: u32,
    /// The name of the message being handled, from which the names of sends and creations derive.
    pub(crate) handled: Name,
    /// The number of sends and creations since handling of that message began.
    pub(crate) effects: u32,
    /// The value of `effects` for the test itself, saved while actors run.
    test_effects: u32,
    muted: bool,
    pub(crate) branch: Branch,
    /// The number of values of each `choose` in this step.
    pub(crate) arities: SmallVec<[u32; Branch::DIGITS]>,
    /// The largest number of `choose` in a step.
    pub(crate) digits: usize,
    /// The values that `choose` returns next, while a body is run again up to its first receive.
    pub(crate) forced: VecDeque<u32>,
    pub(crate) stop: bool,
    /// The actor's history, including the message being handled.
    pub(crate) history: u64,
    /// The effects of the step, if they are being recorded.
    pub(crate) record: Option<Vec<RecordedEffect>>,
    pub(crate) wait: Option<ActorWait>,
    /// The messages that the actor receives next, each with its branch. Only the last one is new; the others are being
    /// replayed.
    pub(crate) feed: VecDeque<(u32, Branch)>,
    /// The first misuse of the API by the program.
    pub(crate) error: Option<MachineError>,
}

impl CurrentStep {
    /// Creates the state in which the body of the test begins.
    pub(crate) fn new() -> CurrentStep {
        CurrentStep {
            actor: TEST,
            step: SETUP,
            handled: Name::ROOT,
            effects: 0,
            test_effects: 0,
            muted: false,
            branch: Branch::FIRST,
            arities: SmallVec::new(),
            digits: Branch::DIGITS,
            forced: VecDeque::new(),
            stop: false,
            history: Name::ROOT.0,
            record: None,
            wait: None,
            feed: VecDeque::new(),
            error: None,
        }
    }

    /// Begins a step of an actor, whose history includes the message of this step.
    #[inline]
    pub(crate) fn begin_step(&mut self, step: u32, actor: u32, history: u64) {
        self.step = step;
        self.actor = actor;
        self.history = history;
        self.stop = false;
        self.set_muted(false);
    }

    /// Returns `true` if the code that runs has run before, so that its effects do not count.
    #[inline]
    pub(crate) fn is_muted(&self) -> bool {
        self.muted
    }

    /// Mutes the step, or ends that. Returns the previous value.
    #[inline]
    pub(crate) fn set_muted(&mut self, muted: bool) -> bool {
        if muted != self.muted {
            whippet_model::mute_output(muted);
        }
        std::mem::replace(&mut self.muted, muted)
    }

    /// Begins the handling of a message, from which the names of effects derive from here on.
    #[inline]
    pub(crate) fn begin(&mut self, handled: Name, branch: Branch) {
        self.handled = handled;
        self.effects = 0;
        self.branch = branch;
        self.arities.clear();
        self.wait = None;
    }

    /// Saves the number of effects of the test before actors run.
    pub(crate) fn leave_test(&mut self) {
        self.test_effects = self.effects;
    }

    /// Attributes further effects to the test, after actors have run outside of steps.
    pub(crate) fn back_to_test(&mut self) {
        self.handled = Name::ROOT;
        self.effects = self.test_effects;
        self.actor = TEST;
        self.step = SETUP;
        self.history = Name::ROOT.0;
    }

    /// Returns the name of the next send or creation, and counts it.
    #[inline]
    pub(crate) fn next_name(&mut self) -> Name {
        let name = self.coming_name();
        self.effects += 1;
        name
    }

    /// Returns the name that the next send or creation will get.
    #[inline]
    pub(crate) fn coming_name(&self) -> Name {
        self.handled.child(self.effects)
    }

    /// Returns the name that the k-th send or creation from now on will get.
    pub(crate) fn later_name(&self, k: u32) -> Name {
        self.handled.child(self.effects + k)
    }

    /// Returns a number below `n`, as selected by the branch.
    pub(crate) fn choose(&mut self, n: u32) -> u32 {
        if let Some(value) = self.forced.pop_front() {
            return value;
        }
        let k = self.arities.len();
        if n == 0 || n > Branch::VALUES || k == self.digits {
            let digits = self.digits;
            self.misuse(|| {
                format!(
                    "choose({n}): a choice has 1 to {} values, and a step at most {} choices; for more choices, let the handler send a message to its own actor",
                    Branch::VALUES,
                    digits
                )
            });
            return 0;
        }
        if n > 1 && self.step == SETUP {
            self.misuse(|| {
                format!("choose({n}) during setup, which is not explored: call it while handling a message")
            });
            return 0;
        }
        self.arities.push(n);
        self.branch.digit(k)
    }

    /// Records a misuse of the API by the program. Only the first one is kept.
    pub(crate) fn misuse(&mut self, why: impl FnOnce() -> String) {
        self.error.get_or_insert_with(|| MachineError::Misuse(why()));
    }
}

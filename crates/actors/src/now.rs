//! The step that is running: whose it is, which way it goes, and what it has done so far.
//!
//! A suspended actor is brought back by running its code again on what it had received. Meanwhile the step is *muted*:
//! sends and creations are only counted, so that they keep their names.

use crate::remember::Effect;
use smallvec::SmallVec;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use whippet_model::{Branch, MachineError, Name};

/// No step: before the explored part.
pub(crate) const SET_UP: u32 = u32::MAX;
/// The number of the test itself, which sends what its body sends.
pub(crate) const TEST: u32 = 0;

/// What a suspended actor waits for.
#[derive(Clone)]
pub(crate) struct Wait {
    pub(crate) on: On,
    pub(crate) site: &'static Location<'static>,
}

/// See [`Wait`].
#[derive(Clone)]
pub(crate) enum On {
    /// The answer to its call of that name.
    Reply(Name),
    /// A message that passes the filter, `Rc<dyn Fn(&M) -> bool>` inside.
    Message(Option<Rc<dyn Any>>),
}

/// See the module.
pub(crate) struct Now {
    pub(crate) actor: u32,
    pub(crate) step: u32,
    /// The name of the message being handled: what sends and creations are named after.
    pub(crate) handled: Name,
    /// How many sends and creations there were in it.
    pub(crate) effects: u32,
    /// How many there were by the test itself, while something else acts.
    test_effects: u32,
    pub(crate) muted: bool,
    pub(crate) branch: Branch,
    /// How many values each `choose` of the step had.
    pub(crate) arities: SmallVec<[u32; Branch::DIGITS]>,
    /// The values that `choose` gives next, when a first segment is run again.
    pub(crate) forced: VecDeque<u32>,
    pub(crate) stop: bool,
    /// The actor's history with what it handles now.
    pub(crate) history: u64,
    /// What the step does, while it is being recorded.
    pub(crate) record: Option<Vec<Effect>>,
    pub(crate) wait: Option<Wait>,
    /// What the actor receives next, and which way it went then: the last one is new, those before are being run again.
    pub(crate) feed: VecDeque<(u32, Branch)>,
    /// The program did what it must not.
    pub(crate) error: Option<MachineError>,
}

impl Now {
    /// The body of the test begins.
    pub(crate) fn new() -> Now {
        Now {
            actor: TEST,
            step: SET_UP,
            handled: Name::ROOT,
            effects: 0,
            test_effects: 0,
            muted: false,
            branch: Branch::FIRST,
            arities: SmallVec::new(),
            forced: VecDeque::new(),
            stop: false,
            history: Name::ROOT.0,
            record: None,
            wait: None,
            feed: VecDeque::new(),
            error: None,
        }
    }

    /// A step of an actor begins, who has this history with it.
    #[inline]
    pub(crate) fn begin_step(&mut self, step: u32, actor: u32, history: u64) {
        self.step = step;
        self.actor = actor;
        self.history = history;
        self.stop = false;
        self.muted = false;
    }

    /// From here on, effects belong to the handling of this message.
    #[inline]
    pub(crate) fn begin(&mut self, handled: Name, branch: Branch) {
        self.handled = handled;
        self.effects = 0;
        self.branch = branch;
        self.arities.clear();
        self.wait = None;
    }

    /// Remembers how far the test has come while something else acts.
    pub(crate) fn leave_test(&mut self) {
        self.test_effects = self.effects;
    }

    /// What is done from here on, outside of steps, is done by the test.
    pub(crate) fn back_to_test(&mut self) {
        self.handled = Name::ROOT;
        self.effects = self.test_effects;
        self.actor = TEST;
        self.step = SET_UP;
        self.history = Name::ROOT.0;
    }

    /// The name of the next send or creation.
    #[inline]
    pub(crate) fn next_name(&mut self) -> Name {
        let name = self.coming_name();
        self.effects += 1;
        name
    }

    /// The name that the next send will have.
    #[inline]
    pub(crate) fn coming_name(&self) -> Name {
        self.handled.child(self.effects)
    }

    /// Some number below `n`, as the branch says.
    pub(crate) fn choose(&mut self, n: u32) -> u32 {
        if let Some(value) = self.forced.pop_front() {
            return value;
        }
        let k = self.arities.len();
        if n == 0 || n > Branch::VALUES || k == Branch::DIGITS {
            self.misuse(|| {
                format!(
                    "choose({n}): a choice has 1 to {} values, and a step at most {} choices; split the handler by sending a message to itself",
                    Branch::VALUES,
                    Branch::DIGITS
                )
            });
            return 0;
        }
        if n > 1 && self.step == SET_UP {
            self.misuse(|| {
                format!(
                    "choose({n}) in the set-up, which is not explored: choose when a message of the test's body is handled"
                )
            });
            return 0;
        }
        self.arities.push(n);
        self.branch.digit(k)
    }

    /// The program did what it must not: the first such thing is told.
    pub(crate) fn misuse(&mut self, why: impl FnOnce() -> String) {
        self.error.get_or_insert_with(|| MachineError::Misuse(why()));
    }
}

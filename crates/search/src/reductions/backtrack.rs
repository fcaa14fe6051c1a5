//! The depth-first search that `dcute`, `persistent` and `transdpor` share.
//!
//! Each configuration of the current execution has a [`Level`] with a list of choices to explore. A rule decides
//! which choices the list starts with ([`Backtrack::begin`]) and which ones the newest step adds to the lists of
//! earlier levels ([`Backtrack::arrived`]). The search executes the listed choices, rewinds and, if sleep sets are
//! enabled, puts explored choices to sleep. Races are found with the clocks of the [`Run`]: a step happens before a
//! message iff it is in the past of the step that sent the message.

use crate::driver::run::{Run, Stop};
use crate::orders::Orders;
use crate::reductions::sleep::Sleep;
use whippet_model::{ActorNo, Choice, Clocks, Dependence, Machine};

/// One configuration of the current execution.
#[derive(Debug)]
pub(crate) struct Level {
    /// The enabled choices, in the order of sending.
    pub(crate) enabled: Vec<Choice>,
    /// The choices to explore here, in this order; later steps may add to it.
    pub(crate) list: Vec<Choice>,
    /// The number of choices of the list that have been executed.
    pub(crate) taken: usize,
    /// The actor of the choice that is being explored.
    pub(crate) actor: ActorNo,
    /// A flag used by the rule: `needs_delay` of dCUTE, `freeze` of TransDPOR.
    pub(crate) flag: bool,
    pub(crate) sleep: Sleep,
}

impl Level {
    fn new() -> Level {
        Level {
            enabled: Vec::new(),
            list: Vec::new(),
            taken: 0,
            actor: ActorNo(0),
            flag: false,
            sleep: Sleep::default(),
        }
    }

    fn reset(&mut self) {
        self.enabled.clear();
        self.list.clear();
        self.taken = 0;
        self.flag = false;
        self.sleep.clear();
    }

    /// Adds all choices of an actor that are not asleep, unless the list already has one of that actor.
    pub(crate) fn add_actor<M: Machine>(&mut self, machine: &M, actor: ActorNo) {
        if self.list.iter().any(|choice| machine.actor(choice.what) == actor) {
            return;
        }
        for &choice in &self.enabled {
            if machine.actor(choice.what) == actor && !self.sleep.contains(choice) {
                self.list.push(choice);
            }
        }
    }

    /// Returns the next choice of the list, without any condition.
    pub(crate) fn take(&mut self) -> Option<Choice> {
        let choice = self.list.get(self.taken).copied()?;
        self.taken += 1;
        Some(choice)
    }
}

/// A rule that decides which choices are explored.
pub(crate) trait Backtrack {
    /// Starts the list of a new configuration. If the list stays empty, everything enabled is asleep.
    fn begin<M: Machine>(&mut self, machine: &M, level: &mut Level, orders: &mut Orders);

    /// Adds choices to earlier levels because of the newest step. `levels[k]` is the configuration in which step `k`
    /// was taken.
    fn arrived<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]);

    /// Adds choices to earlier levels because of operations that are still pending when the execution is complete or
    /// blocked.
    fn ended<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) -> Result<(), Stop> {
        let _ = (run, levels);
        Ok(())
    }

    /// Returns the next choice of a level.
    fn next<M: Machine>(&mut self, machine: &M, level: &mut Level) -> Option<Choice> {
        let _ = machine;
        level.take()
    }
}

/// Explores everything that the rule asks for, with sleep sets if `sleeps` is set.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>, rule: impl Backtrack, sleeps: bool) -> Result<(), Stop> {
    run.follow_clocks();
    let orders = Orders::new(run.options.order, run.machine(), run.control)?;
    Walk { rule, orders, levels: Vec::new(), sleeps }.visit(run)
}

/// Returns an error for machines with races other than those between messages to one actor.
pub(crate) fn only_same_actor<M: Machine>(run: &Run<'_, M>, name: &str) -> Result<(), Stop> {
    match run.profile().dependence {
        Dependence::PerActor => Ok(()),
        Dependence::Footprints => Err(Stop::unsupported(format!(
            "the reduction `{name}` is for programs in which exactly the messages to one actor depend on each other, \
             and this is no such program: choose `optimal`, `source` or `persistent`"
        ))),
    }
}

struct Walk<B> {
    rule: B,
    orders: Orders,
    levels: Vec<Level>,
    sleeps: bool,
}

impl<B: Backtrack> Walk<B> {
    fn visit<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let depth = run.depth();
        self.enter(run, depth);
        if depth > 0 {
            self.rule.arrived(run, &mut self.levels[..depth]);
        }
        let level = &mut self.levels[depth];
        run.enabled(&mut level.enabled)?;
        if level.enabled.is_empty() {
            self.rule.ended(run, &mut self.levels[..depth])?;
            return run.complete();
        }
        self.rule.begin(run.machine(), level, &mut self.orders);
        if level.list.is_empty() {
            self.rule.ended(run, &mut self.levels[..depth])?;
            run.blocked();
            return Ok(());
        }
        while let Some(choice) = self.rule.next(run.machine(), &mut self.levels[depth]) {
            self.explore(run, depth, choice)?;
        }
        Ok(())
    }

    /// Explores one choice with all its branches.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, depth: usize, choice: Choice) -> Result<(), Stop> {
        let actor = run.machine().actor(choice.what);
        self.levels[depth].actor = actor;
        let mut touches = Vec::new();
        let mut branch_choice = choice;
        loop {
            let next = run.execute(branch_choice)?.next_branch;
            self.orders.arrived(run.machine());
            if self.sleeps {
                touches.extend_from_slice(run.machine().touches(depth));
            }
            self.visit(run)?;
            run.rewind(depth);
            match next {
                Some(branch) => branch_choice.branch = branch,
                None => break,
            }
        }
        if self.sleeps {
            self.levels[depth].sleep.add(choice, actor, &touches);
        }
        Ok(())
    }

    fn enter<M: Machine>(&mut self, run: &Run<'_, M>, depth: usize) {
        if self.levels.len() == depth {
            self.levels.push(Level::new());
        }
        let (before, here) = self.levels.split_at_mut(depth);
        here[0].reset();
        if let Some(parent) = before.last().filter(|_| self.sleeps) {
            here[0].sleep.inherit(&parent.sleep, run.machine());
        }
    }
}

/// Returns the first step after `k` in the past of `at`, which includes `at` itself.
pub(crate) fn first_after(clocks: &Clocks, k: usize, at: usize) -> Option<usize> {
    (k + 1..=at).find(|&step| clocks.before(step, at))
}

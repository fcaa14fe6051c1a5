//! Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas): explores each trace exactly once, without blocked executions,
//! for any dependence relation.
//!
//! The search goes forward until an execution E is complete. Then it looks for reversals ([`crate::reductions::optimal::reversals`]): a
//! step e of E, and a sequence v that can be executed before e instead of it. If a choice that is asleep before e can
//! begin v, the resulting traces have already been explored. Otherwise v is inserted into the *wakeup tree* of the
//! configuration before e, unless the tree contains it or leads to it. The branches of a wakeup tree are explored in
//! order, and each hands its subtree on as the wakeup tree of the next configuration. So every execution that is
//! started leads to a trace that has not been explored. Where the tree is empty, nothing is asleep, and any enabled
//! choice may be taken.
//!
//! If threads have several branches that are found only by executing them, the search may insert a sequence to which a
//! sleeping event would have led ([`Levels::covers`]). Some executions are then blocked.
//!
//! If only the first event of each sequence is kept, this is the search with source sets ([`crate::reductions::source`]). It is
//! simpler and also explores each trace once, but some executions are blocked on the way.

pub(crate) mod saved;

use crate::driver::checkpoint::Open;
use crate::driver::run::{Run, Stop};
use crate::orders::Orders;
use crate::reductions::optimal::events::{EventLabel, ExecutionRecord};
use crate::reductions::optimal::reversals::{Reversals, Sink, Tried};
use crate::reductions::source;
use whippet_model::{Branch, Choice, Dependence, Estimate, Machine, Name};

/// Explores each trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::Everything)
}

/// The part of a sequence that is kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The whole sequence, in wakeup trees.
    Everything,
    /// The first event, in source sets.
    First,
}

/// A node of a wakeup tree, which is explored in the order of its branches.
#[derive(Clone, Debug)]
struct Node {
    event: EventLabel,
    children: Vec<Node>,
}

/// One configuration of the current execution.
#[derive(Debug, Default)]
struct Level {
    /// The events that are asleep here, because they were explored here or above and would lead to nothing new, as
    /// indices into the list of sleepers; and the length of that list when this configuration was reached.
    sleep: Vec<u32>,
    sleepers: usize,
    tree: Vec<Node>,
    /// Set if a choice has been explored here.
    begun: bool,
    /// The number of choices below which everything has been explored.
    done: u32,
    tried: Tried,
}

/// The configurations of the current execution.
pub(crate) struct Levels {
    /// The configurations are the first `len` elements. The others are unused and keep their allocations.
    levels: Vec<Level>,
    len: usize,
    /// All events that are asleep at some level, in the order in which they fell asleep.
    sleepers: Vec<EventLabel>,
    keep: Keep,
    /// Set if some thread has branches that are found only by executing them and that have different footprints. An
    /// event that is independent of one branch of a thread may then be followed by another branch with an unknown
    /// footprint, and some executions are blocked.
    discovered: bool,
}

impl Levels {
    /// Returns `true` if a sleeping event leads to `sequence`.
    ///
    /// An event that does not occur in the sequence and is independent of it leads to it, too: its thread can act first.
    /// But if threads have branches that are found by executing them, such an event is only one branch of its thread,
    /// and another one may depend on the sequence. Then only an event of the sequence itself counts. If all branches turn
    /// out to be independent, the sequence leads to a configuration in which everything is asleep: a blocked execution.
    fn covers(&self, at: usize, sequence: &[EventLabel]) -> bool {
        self.asleep(at).any(|asleep| if self.discovered { asleep.begins(sequence) } else { asleep.may_begin(sequence) })
    }

    /// Returns the first branch of a thread, from `branch` on, that is not asleep.
    fn awake(&self, at: usize, thread: Name, mut branch: Branch) -> Option<Branch> {
        let asleep = |branch| self.asleep(at).find(|event| event.thread == thread && event.branch == branch);
        while let Some(event) = asleep(branch) {
            branch = event.next?;
        }
        Some(branch)
    }

    /// Returns `true` if an event that is known at this level can begin the sequence.
    #[inline]
    pub(crate) fn leads_to<'a>(&self, at: usize, sequence: impl IntoIterator<Item = &'a EventLabel> + Clone) -> bool {
        self.known(at).any(|event| event.begins(sequence.clone()))
    }

    /// Iterates over the events that are known at this level: those that are asleep and those in the tree.
    fn known(&self, at: usize) -> impl Iterator<Item = &EventLabel> {
        self.asleep(at).chain(self.levels[at].tree.iter().map(|node| &node.event))
    }

    /// Schedules one more event to be explored before step `at`.
    pub(crate) fn add(&mut self, at: usize, event: EventLabel) {
        self.levels[at].tree.push(Node { event, children: Vec::new() });
    }

    /// Enters the configuration that this event leads to.
    #[inline]
    fn enter(&mut self, event: &EventLabel) {
        if self.levels.len() == self.len {
            self.levels.push(Level::default());
        }
        let [level, next] = &mut self.levels[self.len - 1..=self.len] else { unreachable!("these are two") };
        level.begun = true;
        next.sleep.clear();
        if !level.sleep.is_empty() {
            next.sleep.extend(level.sleep.iter().filter(|&&asleep| !self.sleepers[asleep as usize].depends_on(event)));
        }
        next.sleepers = self.sleepers.len();
        next.begun = false;
        next.done = 0;
        if !next.tried.is_empty() {
            next.tried.clear();
        }
        self.len += 1;
    }

    /// Removes the newest levels until `len` are left.
    fn leave(&mut self, len: usize) {
        self.sleepers.truncate(self.levels[len].sleepers);
        self.len = len;
    }

    /// Puts the event that was taken at the newest level to sleep there.
    fn fall_asleep(&mut self, event: EventLabel) {
        let level = &mut self.levels[self.len - 1];
        level.sleep.push(self.sleepers.len() as u32);
        level.done += 1;
        self.sleepers.push(event);
    }

    /// Returns the explored fraction of the tree, if subtrees of siblings have equal sizes: see `weights.rs`. More
    /// siblings may be found later, so this is computed anew from the current execution, which has just ended.
    fn explored(&self) -> f64 {
        let (mut explored, mut share) = (0.0, 1.0);
        for level in &self.levels[..self.len] {
            let siblings = f64::from(level.done) + 1.0 + level.tree.len() as f64;
            explored += share * f64::from(level.done) / siblings;
            share /= siblings;
        }
        explored + share
    }
}

impl Sink for Levels {
    fn tried(&mut self, at: usize) -> &mut Tried {
        &mut self.levels[at].tried
    }

    fn other_branches(&self) -> bool {
        self.keep == Keep::Everything
    }

    #[inline]
    fn asleep(&self, at: usize) -> impl Iterator<Item = &EventLabel> + Clone {
        self.levels[at].sleep.iter().map(|&asleep| &self.sleepers[asleep as usize])
    }

    fn found(&mut self, at: usize, mut beginning: Vec<EventLabel>) {
        match self.keep {
            Keep::Everything => {
                if !self.covers(at, &beginning) {
                    insert(&mut self.levels[at].tree, beginning, self.discovered);
                }
            }
            Keep::First => {
                if !self.leads_to(at, &beginning) {
                    self.add(at, beginning.swap_remove(0));
                }
            }
        }
    }
}

/// Inserts a sequence into a tree, below the first branch that is compatible with it.
fn insert(mut branches: &mut Vec<Node>, mut sequence: Vec<EventLabel>, discovered: bool) {
    let leads = |event: &EventLabel, sequence: &[EventLabel]| {
        let only_branch = !discovered || event.branch == Branch::FIRST && event.next.is_none();
        if only_branch { event.may_begin(sequence) } else { event.begins(sequence) }
    };
    while let Some(k) = branches.iter().position(|node| leads(&node.event, &sequence)) {
        let node = &mut branches[k];
        if let Some(k) = sequence.iter().position(|event| event.thread == node.event.thread) {
            sequence.remove(k);
        }
        // A leaf leads to everything, and an empty sequence requires nothing more.
        if node.children.is_empty() || sequence.is_empty() {
            return;
        }
        branches = &mut branches[k].children;
    }
    let chain = |below: Vec<Node>, event: EventLabel| vec![Node { event, children: below }];
    branches.extend(sequence.into_iter().rev().fold(Vec::new(), chain));
}

/// Explores everything, with wakeup trees or with source sets.
pub(crate) fn explore<M: Machine>(run: &mut Run<'_, M>, keep: Keep) -> Result<(), Stop> {
    let orders = Orders::new(run.options.order, run.machine(), run.control)?;
    let record = ExecutionRecord::new(run.machine());
    let levels = Levels { levels: vec![Level::default()], len: 1, sleepers: Vec::new(), keep, discovered: false };
    let reversals = Reversals::default();
    let mut search = Search { levels, record, orders, reversals, examined: 0, choices: Vec::new() };
    match run.control.saving.begin() {
        None => {}
        Some(Open::Trees(saved)) => search.restore(run, saved)?,
        Some(_) => return Err(Stop::unsupported("this search cannot continue another kind of search")),
    }
    search.explore(run)
}

struct Search {
    levels: Levels,
    record: ExecutionRecord,
    orders: Orders,
    reversals: Reversals,
    /// The number of steps of the record for which reversals have been found.
    examined: usize,
    choices: Vec<Choice>,
}

impl Search {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        while self.levels.len > 0 {
            if run.control.saving.is_requested() {
                self.save(run);
                run.check_limits()?;
            }
            let at = self.levels.len - 1;
            let level = &mut self.levels.levels[at];
            if !level.tree.is_empty() {
                let node = level.tree.remove(0);
                // A branch found by executing another one may have been explored together with it.
                if self.levels.awake(at, node.event.thread, node.event.branch) == Some(node.event.branch) {
                    self.wake(run, node)?;
                }
            } else if level.begun || !self.choose(run)? {
                self.leave();
            }
        }
        Ok(())
    }

    /// Executes the event at a node of the wakeup tree, and hands its subtree on.
    fn wake<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Node) -> Result<(), Stop> {
        self.reach(run)?;
        let what = run.machine().find(node.event.thread).expect("our bug: a wakeup tree leads nowhere");
        self.forward(run, Choice { what, branch: node.event.branch })?;
        self.levels.levels[self.levels.len - 1].tree = node.children;
        Ok(())
    }

    /// Executes any choice that is not asleep. Returns `false` if all enabled choices are asleep, or nothing is
    /// enabled.
    fn choose<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<bool, Stop> {
        self.reach(run)?;
        self.choices.clear();
        run.enabled(&mut self.choices)?;
        let Some(&oldest) = self.choices.first() else {
            let completed = run.complete();
            if completed.is_ok() {
                self.reverse(run)?;
            }
            // Often enough for the progress line.
            if completed.is_err() || run.counters.executions % 16 == 1 {
                self.guess(run);
            }
            completed?;
            return Ok(false);
        };
        if self.orders.as_they_come() && self.levels.levels[self.levels.len - 1].sleep.is_empty() {
            self.forward(run, oldest)?;
            return Ok(true);
        }
        let (machine, levels, at) = (run.machine(), &self.levels, self.levels.len - 1);
        let awake = |choice: &Choice| levels.awake(at, machine.thread(choice.what), choice.branch);
        let first = self.orders.first(machine, &self.choices, |choice| awake(choice).is_some());
        let Some(actor) = first else {
            let may_block = levels.keep == Keep::First || run.prunes() || levels.discovered;
            assert!(may_block, "our bug: the optimal search is blocked");
            run.blocked();
            self.reverse(run)?;
            return Ok(false);
        };
        let of_actor = self.choices.iter().filter(|choice| machine.actor(choice.what) == actor);
        let mut found = of_actor.filter_map(|c| awake(c).map(|branch| Choice { branch, ..*c }));
        let choice = found.next().expect("the order found one");
        drop(found);
        self.forward(run, choice)?;
        Ok(true)
    }

    /// Estimates the size of the search. Nothing is known about the parts that are not explored, so the error is their
    /// size.
    fn guess<M: Machine>(&self, run: &Run<'_, M>) {
        let explored = self.levels.explored();
        let total = (run.control.executions_before() + run.counters.executions) as f64 / explored;
        run.control.guess(Estimate::new(total, total * (1.0 - explored)));
    }

    /// Finds the reversals of an execution that has ended.
    fn reverse<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        if self.levels.keep == Keep::First && run.profile().dependence == Dependence::PerActor {
            source::reverse(run, &self.record, &mut self.levels, self.examined);
            self.examined = self.record.len();
            return Ok(());
        }
        self.reversals.find(run, &self.record, &mut self.levels)
    }

    /// Returns `true` if the thread of a choice has several choices.
    #[inline]
    fn has_several<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<bool, Stop> {
        if run.profile().dependence != Dependence::Footprints || run.profile().one_choice_per_thread {
            return Ok(false);
        }
        self.choices.clear();
        run.all_enabled(&mut self.choices)?;
        Ok(self.choices.iter().filter(|other| other.what == choice.what).count() > 1)
    }

    fn forward<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<(), Stop> {
        let several = self.has_several(run, choice)?;
        let executed = run.execute(choice)?;
        self.orders.arrived(run.machine());
        self.record.push(run.machine(), executed, several);
        let event = &self.record.steps[self.record.len() - 1].event;
        self.levels.discovered |= event.next.is_some() && run.profile().branches_differ();
        self.levels.enter(event);
        Ok(())
    }

    /// Leaves the current configuration, below which everything has been explored: goes back to the newest level with
    /// open work, and puts the event that was taken there to sleep.
    fn leave(&mut self) {
        let one_by_one = self.levels.keep == Keep::First;
        let left = |at: &usize| {
            !self.levels.levels[*at].tree.is_empty() || one_by_one && self.record.steps[*at].event.next.is_some()
        };
        let Some(at) = (0..self.record.len()).rev().find(left) else {
            self.levels.len = 0;
            return;
        };
        let event = self.record.steps[at].event.clone();
        self.record.truncate(at);
        self.levels.leave(at + 1);
        self.examined = self.examined.min(at);
        if one_by_one && let Some(branch) = event.next.and_then(|next| self.levels.awake(at, event.thread, next)) {
            // With source sets, the branches of a step are explored one after the other, before any sibling: a choice
            // that is asleep in a sibling's subtree must not have an unexplored branch. The footprint copied from the
            // previous branch is never used, because this node is executed next, which determines its own.
            let event = EventLabel { branch, next: None, ..event.clone() };
            self.levels.levels[at].tree.insert(0, Node { event, children: Vec::new() });
        }
        self.levels.fall_asleep(event);
    }

    /// Moves the machine to the newest level: backward, or forward where a trial has left it behind.
    #[inline]
    fn reach<M: Machine>(&self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        if run.depth() == self.record.len() { Ok(()) } else { self.go(run) }
    }

    #[inline(never)]
    fn go<M: Machine>(&self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let depth = self.record.len();
        if run.depth() > depth {
            run.rewind(depth);
        }
        while run.depth() < depth {
            let event = &self.record.steps[run.depth()].event;
            let what = run.machine().find(event.thread).expect("our bug: a step cannot be taken again");
            run.redo(Choice { what, branch: event.branch })?;
        }
        Ok(())
    }
}

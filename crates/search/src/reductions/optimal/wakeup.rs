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
//! If threads have several branches that are found only by executing them, the search may insert a sequence to which
//! another branch would have led. Some executions are then blocked.
//!
//! If only the first act of each sequence is kept, this is the search with source sets ([`crate::reductions::source`]). It is
//! simpler and also explores each trace once, but some executions are blocked on the way.

use crate::driver::run::{Run, Stop};
use crate::orders::Orders;
use crate::reductions::optimal::acts::{Act, ExecutionRecord};
use crate::reductions::optimal::reversals::{Reversals, Sink, Tried};
use crate::reductions::source;
use whippet_model::{Branch, Choice, Dependence, Machine, Name};

/// Explores each trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::Everything)
}

/// The part of a sequence that is kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The whole sequence, in wakeup trees.
    Everything,
    /// The first act, in source sets.
    First,
}

/// A node of a wakeup tree, which is explored in the order of its branches.
#[derive(Clone, Debug)]
struct Node {
    act: Act,
    children: Vec<Node>,
}

/// One configuration of the current execution.
#[derive(Debug, Default)]
struct Level {
    /// The acts that are asleep here, because they were explored here or above and would lead to nothing new, as
    /// indices into the list of sleepers; and the length of that list when this configuration was reached.
    sleep: Vec<u32>,
    sleepers: usize,
    tree: Vec<Node>,
    /// Set if a choice has been explored here.
    begun: bool,
    tried: Tried,
}

/// The configurations of the current execution.
pub(crate) struct Levels {
    /// The configurations are the first `len` elements. The others are unused and keep their allocations.
    levels: Vec<Level>,
    len: usize,
    /// All acts that are asleep at some level, in the order in which they fell asleep.
    sleepers: Vec<Act>,
    keep: Keep,
    /// Set if some thread has branches that are found only by executing them and that have different footprints. An
    /// act that is independent of one branch of a thread may then be followed by another branch with an unknown
    /// footprint, and some executions are blocked.
    discovered: bool,
}

impl Levels {
    /// Returns `true` if a sleeping act leads to `sequence` or to all its continuations, or if acts of the tree do,
    /// below which the sequence is then inserted.
    fn covers(&mut self, at: usize, sequence: &[Act]) -> bool {
        if !self.discovered {
            return self.asleep(at).any(|asleep| asleep.may_begin(sequence));
        }
        if self.asleep(at).any(|asleep| asleep.begins(sequence)) {
            return true;
        }
        // A thread that is independent of `sequence` can still take any of its branches.
        let mut free = self.known(at).filter(|act| act.may_begin(sequence)).map(|act| act.thread);
        let Some(thread) = free.find(|&thread| self.all_branches(at, thread, sequence)) else { return false };
        drop(free);
        for node in self.levels[at].tree.iter_mut().filter(|node| node.act.thread == thread) {
            // A leaf leads to everything.
            if !node.children.is_empty() {
                insert(&mut node.children, sequence.to_vec(), true);
            }
        }
        true
    }

    /// Returns `true` if every branch of a thread is known at this level, that is, explored or in the tree, and none
    /// depends on `sequence`. A single branch counts only if it has been explored.
    fn all_branches(&self, at: usize, thread: Name, sequence: &[Act]) -> bool {
        let known: Vec<&Act> = self.known(at).filter(|act| act.thread == thread).collect();
        let mut branch = Some(Branch::FIRST);
        while let Some(tried) = branch {
            match known.iter().find(|act| act.branch == tried && act.may_begin(sequence)) {
                Some(act) => branch = act.next,
                None => return false,
            }
        }
        known.len() > 1 || self.asleep(at).any(|act| act.thread == thread)
    }

    /// Returns the first branch of a thread, from `branch` on, that is not asleep.
    fn awake(&self, at: usize, thread: Name, mut branch: Branch) -> Option<Branch> {
        let asleep = |branch| self.asleep(at).find(|act| act.thread == thread && act.branch == branch);
        while let Some(act) = asleep(branch) {
            branch = act.next?;
        }
        Some(branch)
    }

    /// Returns `true` if an act that is known at this level can begin the sequence.
    #[inline]
    pub(crate) fn leads_to<'a>(&self, at: usize, sequence: impl IntoIterator<Item = &'a Act> + Clone) -> bool {
        self.known(at).any(|act| act.begins(sequence.clone()))
    }

    /// Iterates over the acts that are known at this level: those that are asleep and those in the tree.
    fn known(&self, at: usize) -> impl Iterator<Item = &Act> {
        self.asleep(at).chain(self.levels[at].tree.iter().map(|node| &node.act))
    }

    /// Schedules one more act to be explored before step `at`.
    pub(crate) fn add(&mut self, at: usize, act: Act) {
        self.levels[at].tree.push(Node { act, children: Vec::new() });
    }

    /// Enters the configuration that this act leads to.
    #[inline]
    fn enter(&mut self, act: &Act) {
        if self.levels.len() == self.len {
            self.levels.push(Level::default());
        }
        let [level, next] = &mut self.levels[self.len - 1..=self.len] else { unreachable!("these are two") };
        level.begun = true;
        next.sleep.clear();
        if !level.sleep.is_empty() {
            next.sleep.extend(level.sleep.iter().filter(|&&asleep| !self.sleepers[asleep as usize].depends_on(act)));
        }
        next.sleepers = self.sleepers.len();
        next.begun = false;
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

    /// Puts the act that was taken at the newest level to sleep there.
    fn fall_asleep(&mut self, act: Act) {
        self.levels[self.len - 1].sleep.push(self.sleepers.len() as u32);
        self.sleepers.push(act);
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
    fn asleep(&self, at: usize) -> impl Iterator<Item = &Act> + Clone {
        self.levels[at].sleep.iter().map(|&asleep| &self.sleepers[asleep as usize])
    }

    fn found(&mut self, at: usize, mut beginning: Vec<Act>) {
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
fn insert(mut branches: &mut Vec<Node>, mut sequence: Vec<Act>, discovered: bool) {
    let leads = |act: &Act, sequence: &[Act]| {
        let only_branch = !discovered || act.branch == Branch::FIRST && act.next.is_none();
        if only_branch { act.may_begin(sequence) } else { act.begins(sequence) }
    };
    while let Some(k) = branches.iter().position(|node| leads(&node.act, &sequence)) {
        let node = &mut branches[k];
        if let Some(k) = sequence.iter().position(|act| act.thread == node.act.thread) {
            sequence.remove(k);
        }
        // A leaf leads to everything, and an empty sequence requires nothing more.
        if node.children.is_empty() || sequence.is_empty() {
            return;
        }
        branches = &mut branches[k].children;
    }
    let chain = |below: Vec<Node>, act: Act| vec![Node { act, children: below }];
    branches.extend(sequence.into_iter().rev().fold(Vec::new(), chain));
}

/// Explores everything, with wakeup trees or with source sets.
pub(crate) fn explore<M: Machine>(run: &mut Run<'_, M>, keep: Keep) -> Result<(), Stop> {
    let orders = Orders::new(run.options.order, run.machine(), run.control)?;
    let record = ExecutionRecord::new(run.machine());
    let levels = Levels { levels: vec![Level::default()], len: 1, sleepers: Vec::new(), keep, discovered: false };
    let reversals = Reversals::default();
    Search { levels, record, orders, reversals, examined: 0, choices: Vec::new() }.explore(run)
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
            let at = self.levels.len - 1;
            let level = &mut self.levels.levels[at];
            if !level.tree.is_empty() {
                let node = level.tree.remove(0);
                // A branch found by executing another one may have been explored together with it.
                if self.levels.awake(at, node.act.thread, node.act.branch) == Some(node.act.branch) {
                    self.wake(run, node)?;
                }
            } else if level.begun || !self.choose(run)? {
                self.leave();
            }
        }
        Ok(())
    }

    /// Executes the act at a node of the wakeup tree, and hands its subtree on.
    fn wake<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Node) -> Result<(), Stop> {
        self.reach(run)?;
        let what = run.machine().find(node.act.thread).expect("our bug: a wakeup tree leads nowhere");
        self.forward(run, Choice { what, branch: node.act.branch })?;
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
            run.complete()?;
            self.reverse(run)?;
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

    /// Finds the reversals of an execution that has ended.
    fn reverse<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        if self.levels.keep == Keep::First && run.profile().dependence == Dependence::PerActor {
            source::reverse(run, &self.record, &mut self.levels, self.examined);
            self.examined = self.record.len();
            return Ok(());
        }
        self.reversals.find(run, &self.record, &mut self.levels)
    }

    fn forward<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<(), Stop> {
        let several = run.profile().dependence == Dependence::Footprints && !run.profile().one_choice_per_thread && {
            self.choices.clear();
            run.all_enabled(&mut self.choices)?;
            self.choices.iter().filter(|other| other.what == choice.what).count() > 1
        };
        let executed = run.execute(choice)?;
        self.orders.arrived(run.machine());
        self.record.push(run.machine(), executed, several);
        let act = &self.record.steps[self.record.len() - 1].act;
        self.levels.discovered |= act.next.is_some() && run.profile().branches_differ();
        self.levels.enter(act);
        Ok(())
    }

    /// Leaves the current configuration, below which everything has been explored: goes back to the newest level with
    /// open work, and puts the act that was taken there to sleep.
    fn leave(&mut self) {
        let one_by_one = self.levels.keep == Keep::First;
        let left = |at: &usize| {
            !self.levels.levels[*at].tree.is_empty() || one_by_one && self.record.steps[*at].act.next.is_some()
        };
        let Some(at) = (0..self.record.len()).rev().find(left) else {
            self.levels.len = 0;
            return;
        };
        let act = self.record.steps[at].act.clone();
        self.record.truncate(at);
        self.levels.leave(at + 1);
        self.examined = self.examined.min(at);
        if one_by_one && let Some(branch) = act.next.and_then(|next| self.levels.awake(at, act.thread, next)) {
            // With source sets, the branches of a step are explored one after the other, before any sibling: a choice
            // that is asleep in a sibling's subtree must not have an unexplored branch. The footprint copied from the
            // previous branch is never used, because this node is executed next, which determines its own.
            let act = Act { branch, next: None, ..act.clone() };
            self.levels.levels[at].tree.insert(0, Node { act, children: Vec::new() });
        }
        self.levels.fall_asleep(act);
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
            let act = &self.record.steps[run.depth()].act;
            let what = run.machine().find(act.thread).expect("our bug: a step cannot be taken again");
            run.redo(Choice { what, branch: act.branch })?;
        }
        Ok(())
    }
}

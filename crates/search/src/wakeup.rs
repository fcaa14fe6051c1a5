//! Each trace once, nothing blocked, whatever the dependence: Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas).
//!
//! The search goes forward until an execution E is complete. Then it looks for what else could have happened
//! ([`crate::reversals`]): for a step e, a sequence v that can be carried out before e instead of it. If
//! a choice that sleeps before e could begin v, that trace was explored already. Otherwise v goes into the *wakeup
//! tree* of the configuration before e; what the tree has already, or leads to, is not put in again. The
//! branches of the tree are explored in order, each with its subtree as the tree of the next configuration: whoever is
//! woken up knows how to go on to a trace that is not explored yet. Where a tree is empty, nothing
//! sleeps, and any enabled choice will do.
//!
//! Where threads have several ways, which are found only by running them, a sequence may be put in that another way
//! would have led to: then some executions turn out to be blocked.
//!
//! With sequences of which only the first act is kept this is the search with source sets ([`crate::source`]): simpler,
//! each trace once, but some executions turn out to be blocked on the way.

use crate::acts::{Act, Record};
use crate::orders::Orders;
use crate::reversals::{Reversals, Sink, Tried};
use crate::run::{Run, Stop};
use crate::source;
use whippet_model::{Branch, Choice, Machine, Name, Relation};

/// Explores each trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    explore(run, Keep::Everything)
}

/// What of a sequence is kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All of it, in wakeup trees.
    Everything,
    /// The act it begins with, in source sets.
    First,
}

/// A branch of a wakeup tree. The order of branches is that in which they are explored.
#[derive(Clone, Debug)]
struct Node {
    act: Act,
    children: Vec<Node>,
}

/// One configuration on the way.
#[derive(Debug, Default)]
struct Level {
    /// What was explored here or above and would lead to nothing new: its places among the sleepers, of which there were
    /// so many when we came here.
    sleep: Vec<u32>,
    sleepers: usize,
    tree: Vec<Node>,
    /// Whether something has been explored here.
    begun: bool,
    tried: Tried,
}

/// The configurations on the way.
pub(crate) struct Levels {
    /// The first `len` of them; the others were left and are kept for their memory.
    levels: Vec<Level>,
    len: usize,
    /// Whatever sleeps at some level, in the order of falling asleep.
    sleepers: Vec<Act>,
    keep: Keep,
    /// Whether threads have ways that are found only by running them, and touch different things. Then what is
    /// independent of one way of a thread may still be followed by another one, of which it is not known what it
    /// touches: some executions turn out to be blocked.
    by_running: bool,
}

impl Levels {
    /// Whether something that sleeps leads to `sequence`, or to all that it can be continued to.
    fn covers(&self, at: usize, sequence: &[Act]) -> bool {
        if !self.by_running {
            return self.asleep(at).any(|asleep| asleep.may_begin(sequence));
        }
        // What `sequence` leaves alone can still go any of its ways.
        self.asleep(at).any(|asleep| asleep.begins(sequence))
            || self.known(at).any(|act| act.may_begin(sequence) && self.all_ways(at, act.thread, sequence))
    }

    /// Whether all ways of a thread that `sequence` leaves alone are explored, or will be, and one is.
    fn all_ways(&self, at: usize, thread: Name, sequence: &[Act]) -> bool {
        let known: Vec<&Act> = self.known(at).filter(|act| act.thread == thread).collect();
        let mut branch = Some(Branch::FIRST);
        while let Some(way) = branch {
            match known.iter().find(|act| act.branch == way && act.may_begin(sequence)) {
                Some(act) => branch = act.next,
                None => return false,
            }
        }
        known.len() > 1 || self.asleep(at).any(|act| act.thread == thread)
    }

    /// The first way, from `branch` on, of a thread that does not sleep.
    fn awake(&self, at: usize, thread: Name, mut branch: Branch) -> Option<Branch> {
        let asleep = |branch| self.asleep(at).find(|act| act.thread == thread && act.branch == branch);
        while let Some(act) = asleep(branch) {
            branch = act.next?;
        }
        Some(branch)
    }

    /// Whether something that is explored here, or will be, can begin this sequence.
    #[inline]
    pub(crate) fn leads_to<'a>(&self, at: usize, sequence: impl IntoIterator<Item = &'a Act> + Clone) -> bool {
        self.known(at).any(|act| act.begins(sequence.clone()))
    }

    /// What is explored here, or will be.
    fn known(&self, at: usize) -> impl Iterator<Item = &Act> {
        self.asleep(at).chain(self.levels[at].tree.iter().map(|node| &node.act))
    }

    /// Has one more act explored before step `at`.
    pub(crate) fn add(&mut self, at: usize, act: Act) {
        self.levels[at].tree.push(Node { act, children: Vec::new() });
    }

    /// Comes to another configuration by this act.
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

    /// Goes back until `len` levels are left.
    fn leave(&mut self, len: usize) {
        self.sleepers.truncate(self.levels[len].sleepers);
        self.len = len;
    }

    /// What led on from the newest level falls asleep there.
    fn fall_asleep(&mut self, act: Act) {
        self.levels[self.len - 1].sleep.push(self.sleepers.len() as u32);
        self.sleepers.push(act);
    }
}

impl Sink for Levels {
    fn tried(&mut self, at: usize) -> &mut Tried {
        &mut self.levels[at].tried
    }

    fn other_ways(&self) -> bool {
        self.keep == Keep::Everything
    }

    #[inline]
    fn asleep(&self, at: usize) -> impl Iterator<Item = &Act> {
        self.levels[at].sleep.iter().map(|&asleep| &self.sleepers[asleep as usize])
    }

    fn found(&mut self, at: usize, mut beginning: Vec<Act>) {
        match self.keep {
            Keep::Everything => {
                if !self.covers(at, &beginning) {
                    insert(&mut self.levels[at].tree, beginning, self.by_running);
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

/// Puts a sequence into a tree, below the first branch that is compatible with it.
fn insert(mut branches: &mut Vec<Node>, mut sequence: Vec<Act>, by_running: bool) {
    let leads = |act: &Act, sequence: &[Act]| {
        let only_way = !by_running || act.branch == Branch::FIRST && act.next.is_none();
        if only_way { act.may_begin(sequence) } else { act.begins(sequence) }
    };
    while let Some(k) = branches.iter().position(|node| leads(&node.act, &sequence)) {
        let node = &mut branches[k];
        if let Some(k) = sequence.iter().position(|act| act.thread == node.act.thread) {
            sequence.remove(k);
        }
        // A leaf leads to everything; an empty sequence asks for nothing more.
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
    let orders = Orders::new(run.options.order, &run.machine, run.control)?;
    let record = Record::new(&run.machine);
    let levels = Levels { levels: vec![Level::default()], len: 1, sleepers: Vec::new(), keep, by_running: false };
    let reversals = Reversals::default();
    Search { levels, record, orders, reversals, examined: 0, choices: Vec::new() }.explore(run)
}

struct Search {
    levels: Levels,
    record: Record,
    orders: Orders,
    reversals: Reversals,
    /// How many steps of the record were there when reversals were looked for.
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
                // A way that was found by running another one may have been explored with it.
                if self.levels.awake(at, node.act.thread, node.act.branch) == Some(node.act.branch) {
                    self.wake(run, node)?;
                }
            } else if level.begun || !self.choose(run)? {
                self.leave();
            }
        }
        Ok(())
    }

    /// Goes where the tree leads.
    fn wake<M: Machine>(&mut self, run: &mut Run<'_, M>, node: Node) -> Result<(), Stop> {
        self.reach(run)?;
        let what = run.machine.find(node.act.thread).expect("our bug: a wakeup tree leads nowhere");
        self.forward(run, Choice { what, branch: node.act.branch })?;
        self.levels.levels[self.levels.len - 1].tree = node.children;
        Ok(())
    }

    /// Goes on with any choice that does not sleep. `false`: there is none.
    fn choose<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<bool, Stop> {
        self.reach(run)?;
        self.choices.clear();
        run.enabled(&mut self.choices);
        let Some(&oldest) = self.choices.first() else {
            run.complete()?;
            self.reverse(run)?;
            return Ok(false);
        };
        if self.orders.as_they_come() && self.levels.levels[self.levels.len - 1].sleep.is_empty() {
            self.forward(run, oldest)?;
            return Ok(true);
        }
        let (machine, levels, at) = (&run.machine, &self.levels, self.levels.len - 1);
        let awake = |choice: &Choice| levels.awake(at, machine.thread(choice.what), choice.branch);
        let first = self.orders.first(machine, &self.choices, |choice| awake(choice).is_some());
        let Some(actor) = first else {
            let may_block = levels.keep == Keep::First || run.leaves_out() || levels.by_running;
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

    /// An execution has ended: looks for what else could have happened.
    fn reverse<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        if self.levels.keep == Keep::First && run.machine.relation() == Relation::SameActor {
            source::reverse(run, &self.record, &mut self.levels, self.examined);
            self.examined = self.record.len();
            return Ok(());
        }
        self.reversals.find(run, &self.record, &mut self.levels)
    }

    fn forward<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<(), Stop> {
        let several = run.machine.relation() == Relation::Footprints && !run.machine.one_choice_each() && {
            self.choices.clear();
            run.all_enabled(&mut self.choices);
            self.choices.iter().filter(|other| other.what == choice.what).count() > 1
        };
        run.execute(choice)?;
        self.orders.arrived(&run.machine);
        self.record.push(&run.machine, several);
        let act = &self.record.steps[self.record.len() - 1].act;
        self.levels.by_running |= act.next.is_some() && run.machine.ways_differ();
        self.levels.enter(act);
        Ok(())
    }

    /// Everything from here on has been explored: goes back to where something is left to do, and what led on from there
    /// falls asleep.
    fn leave(&mut self) {
        let ways = self.levels.keep == Keep::First;
        let left =
            |at: &usize| !self.levels.levels[*at].tree.is_empty() || ways && self.record.steps[*at].act.next.is_some();
        let Some(at) = (0..self.record.len()).rev().find(left) else {
            self.levels.len = 0;
            return;
        };
        let act = self.record.steps[at].act.clone();
        self.record.truncate(at);
        self.levels.leave(at + 1);
        self.examined = self.examined.min(at);
        if ways && let Some(branch) = act.next.and_then(|next| self.levels.awake(at, act.thread, next)) {
            // All ways at once: what sleeps in one sibling's subtree must not have a way that nobody explored.
            // What this one touches is known before anybody asks.
            let act = Act { branch, next: None, ..act.clone() };
            self.levels.levels[at].tree.insert(0, Node { act, children: Vec::new() });
        }
        self.levels.fall_asleep(act);
    }

    /// Moves the machine to the newest level: back, or forward where a look at something else has left it behind.
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
            let what = run.machine.find(act.thread).expect("our bug: a step cannot be taken again");
            run.redo(Choice { what, branch: act.branch })?;
        }
        Ok(())
    }
}

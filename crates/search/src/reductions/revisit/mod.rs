//! The revisit search: explores each trace exactly once, without blocked executions. It is for programs in which two
//! events are dependent iff they belong to the same actor (after TruSt and Must, specialised to actors).
//!
//! The search goes forward and, whenever a step sends a message that could have been delivered at an earlier step
//! instead, revisits that step.
//!
//! * *Forward*: pick any actor with an enabled message; without such an actor, the execution is complete. Each
//!   enabled message of that actor, in each of its branches, is a choice. The first branch of the first message is
//!   the *canonical* step.
//! * *Back*, after each step x: go down the stack. Skip the steps in the past of x. Stop at any other step that is
//!   not canonical. At a canonical step, request a revisit for each message that x sent to the same actor and that
//!   the actor would have accepted there.
//! * *Revisit* (step p, message s sent by x): rewind to the configuration before p. Execute again x and those steps
//!   after p that are in the past of x; none of them is canonical, and none requests revisits. Deliver s in place of
//!   p; this step is not canonical either. Continue with *Back* for this step and then *Forward*. Afterwards restore
//!   the stack.
//!
//! Why each trace is explored once: consider a configuration in which actor A was picked, and a trace that continues
//! it. The message that A receives next in this trace is either pending, and then it is one of the choices, or still
//! to be sent. In the second case the events that lead to its sending form a unique set that contains no event of A,
//! and exactly one path below "A takes its first choice" consists of these events and otherwise of canonical steps
//! only; the revisit is requested there. None of this depends on the actor that is picked, so every order is correct.
//! By default the order is learnt: an actor that was revisited often is picked late, when all its messages have been
//! sent.
//!
//! Restoring the stack costs a copy. The machine executes the restored steps again only if a choice of the old stack
//! is still open. Steps forward and the steps that replace others count as transitions; the steps executed again for
//! a revisit were counted when they were chosen.

mod parts;
pub(crate) mod stack;

use crate::driver::parallel::Share;
use crate::driver::run::{Run, Stop};
use crate::driver::weights::way;
use crate::options::Order;
use crate::orders::Orders;
use crate::reductions::revisit::stack::{SavedSuffix, SavedSuffixes, Stack};
use whippet_model::{Branch, Choice, Machine, MachineError, Pending};

/// Explores each trace from the initial configuration on exactly once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    Revisits::new(run)?.everything(run, &())
}

/// The open choices of one configuration. A configuration without alternatives has no level.
#[derive(Debug)]
struct Level {
    /// The number of steps that lead here.
    depth: usize,
    /// The range of this level's choices on the stack of choices, and the next one to execute.
    from: usize,
    next: usize,
    end: usize,
    /// The mark above which the revisits lie that were requested by the steps between this level and the next.
    revisits: usize,
    /// Set if the next step is canonical.
    first: bool,
    /// Set if this level was opened by a revisit: the stack is restored when it closes.
    detour: bool,
    /// The weight of each choice, and the part of the next choice's weight that remains for its further branches.
    weight: f64,
    left: f64,
}

/// A message that is to be delivered in place of an earlier step.
#[derive(Copy, Clone, Debug)]
struct Revisit {
    /// The step to be replaced.
    at: u32,
    /// The message, and the step that sent it.
    message: u32,
    by: u32,
    /// The weight of the subtree.
    weight: f64,
}

/// The position of the search.
#[derive(Debug)]
pub(crate) struct Revisits {
    stack: Stack,
    levels: Vec<Level>,
    choices: Vec<Choice>,
    revisits: Vec<Revisit>,
    /// The parts of the stack that revisits have saved, one per detour.
    saved: SavedSuffixes,
    suffixes: Vec<SavedSuffix>,
    /// The number of revisits of each actor.
    visits: Vec<u32>,
    /// The order that picks the actor. If `None`, the actor with the lowest number in `visits` is picked.
    orders: Option<Orders>,
    /// The new handles of messages sent by steps that were executed again: (number of the revisit, new handle),
    /// indexed by the old handle.
    moved: Vec<(u32, u32)>,
    round: u32,
}

impl Revisits {
    pub(crate) fn new<M: Machine>(run: &Run<'_, M>) -> Result<Revisits, Stop> {
        let orders = match run.options.order {
            Order::Default => None,
            order => Some(Orders::new(order, run.machine(), run.control)?),
        };
        Ok(Revisits {
            stack: Stack::default(),
            levels: Vec::new(),
            choices: Vec::new(),
            revisits: Vec::new(),
            saved: SavedSuffixes::default(),
            suffixes: Vec::new(),
            visits: Vec::new(),
            orders,
            moved: Vec::new(),
            round: 0,
        })
    }

    /// Explores everything. The machine is in the initial configuration.
    fn everything<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        self.list(run)?;
        match self.choices.len() {
            0 => return self.end(run, 1.0),
            several => self.open(0, 0, true, 1.0 / several as f64),
        }
        self.go_on(run, share)
    }

    fn go_on<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        while let Some(level) = self.levels.last() {
            if self.revisits.len() > level.revisits {
                self.revisit(run)?;
            } else if level.next < level.end {
                if share.wanted() {
                    share.serve(self, run)?;
                }
                self.forward(run)?;
            } else {
                self.close(run);
            }
        }
        Ok(())
    }

    /// Opens a level for the choices from `from` on.
    #[inline]
    fn open(&mut self, depth: usize, from: usize, first: bool, weight: f64) {
        let (end, revisits) = (self.choices.len(), self.revisits.len());
        self.levels.push(Level { depth, from, next: from, end, revisits, first, detour: false, weight, left: weight });
    }

    /// Completes the execution: nothing is enabled.
    fn end<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> Result<(), Stop> {
        run.weights.leaf(weight);
        run.complete()
    }

    /// Appends the choices of the actor that is picked.
    #[inline(always)]
    fn list<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        match &mut self.orders {
            Some(orders) => {
                let from = self.choices.len();
                run.enabled(&mut self.choices)?;
                let first = orders.first(run.machine(), &self.choices[from..], |_| true);
                let Some(picked) = first else { return Ok(()) };
                let mut kept = from;
                for k in from..self.choices.len() {
                    if run.machine().actor(self.choices[k].what) == picked {
                        self.choices[kept] = self.choices[k];
                        kept += 1;
                    }
                }
                self.choices.truncate(kept);
            }
            None => run.enabled_of_lowest(&self.visits, &mut self.choices)?,
        }
        Ok(())
    }

    /// Executes the next choice of the newest level, and continues as long as there is no alternative.
    #[inline]
    fn forward<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let level = self.levels.last_mut().expect("a level is open");
        let canonical = std::mem::take(&mut level.first);
        let (depth, next) = (level.depth, level.next);
        self.stack.truncate(depth);
        reach(run, &self.stack, depth)?;
        let other = self.step(run, self.choices[next], canonical)?;
        let level = self.levels.last_mut().expect("a level is open");
        let mut weight = way(&mut level.left, other.is_some());
        match other {
            // Another branch of the same message is an open choice, too; most messages have only one.
            Some(branch) => self.choices[next].branch = branch,
            None => (level.next, level.left) = (next + 1, level.weight),
        }
        loop {
            weight = self.back(run, weight);
            let from = self.choices.len();
            self.list(run)?;
            match self.choices.len() - from {
                0 => return self.end(run, weight),
                1 => {}
                several => {
                    self.open(run.depth(), from, true, weight / several as f64);
                    return Ok(());
                }
            }
            let only = self.choices.pop().expect("there is one");
            if let Some(branch) = self.step(run, only, true)? {
                self.choices.push(Choice { branch, ..only });
                let mut left = weight;
                weight = way(&mut left, true);
                self.open(run.depth() - 1, from, false, left);
            }
        }
    }

    /// Executes one step. Returns its next branch, if it has one.
    #[inline]
    fn step<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        choice: Choice,
        canonical: bool,
    ) -> Result<Option<Branch>, Stop> {
        let executed = run.execute(choice)?;
        self.stack.push(run.newest_delivery(), canonical);
        if let Some(orders) = &mut self.orders {
            orders.arrived(run.machine());
        }
        Ok(executed.next_branch)
    }

    /// Requests the revisits for the messages that the newest step sent. Divides the weight of the step among the
    /// revisits and the continuation, and returns the share of the continuation.
    #[inline]
    fn back<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> f64 {
        let asked = self.revisits.len();
        let x = self.stack.len() - 1;
        let (from, to) = self.stack.step(x).sent;
        for message in from..to {
            let what = Pending(message);
            let actor = run.machine().actor(what).0;
            // The steps of one actor are totally ordered: if one is in the past, all earlier ones are, too.
            let mut last = self.stack.last_of(actor).filter(|&at| !self.stack.before(at, x));
            if last.is_none() {
                continue;
            }
            let floor = self.stack.floor(x).map_or(0, |floor| floor + 1);
            while let Some(at) = last.filter(|&at| at >= floor && !self.stack.before(at, x)) {
                debug_assert!(self.stack.step(at).canonical, "our bug: the walk back passed its end");
                if run.accepted_at(what, at) {
                    self.revisits.push(Revisit { at: at as u32, message, by: x as u32, weight: 0.0 });
                    self.learn(actor);
                }
                last = self.stack.previous(at);
            }
        }
        if self.revisits.len() == asked {
            return weight;
        }
        let each = weight / (1 + self.revisits.len() - asked) as f64;
        self.revisits[asked..].iter_mut().for_each(|revisit| revisit.weight = each);
        each
    }

    fn learn(&mut self, actor: u32) {
        if actor as usize >= self.visits.len() {
            self.visits.resize(actor as usize + 1, 0);
        }
        self.visits[actor as usize] += 1;
    }

    /// Executes the newest revisit: opens a level with the message as its only choice.
    fn revisit<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let Revisit { at, message, by, weight } = self.revisits.pop().expect("there is one");
        let at = at as usize;
        self.stack.truncate(by as usize + 1);
        reach(run, &self.stack, at)?;
        let suffix = self.stack.save_suffix(at, &mut self.saved);
        self.suffixes.push(suffix);
        self.again(run, suffix)?;
        let message = Pending(self.now(message));
        let from = self.choices.len();
        self.choices.push(Choice::first(message));
        self.levels.push(Level {
            depth: run.depth(),
            from,
            next: from,
            end: from + 1,
            revisits: self.revisits.len(),
            first: false,
            detour: true,
            weight,
            left: weight,
        });
        Ok(())
    }

    /// Executes again those of the saved steps that are in the past of the newest saved step.
    fn again<M: Machine>(&mut self, run: &mut Run<'_, M>, suffix: SavedSuffix) -> Result<(), Stop> {
        self.round += 1;
        for step in self.saved.past(suffix) {
            let what = now(&self.moved, self.round, step.choice.what.0);
            run.redo(Choice { what: Pending(what), ..step.choice })?;
            self.stack.push(run.newest_delivery(), false);
            let sent = self.stack.step(self.stack.len() - 1).sent;
            if sent.1 - sent.0 != step.sent.1 - step.sent.0 {
                return Err(Stop::Machine(unlike()));
            }
            if self.moved.len() < step.sent.1 as usize {
                self.moved.resize(step.sent.1 as usize, (0, 0));
            }
            for (old, new) in (step.sent.0..step.sent.1).zip(sent.0..) {
                self.moved[old as usize] = (self.round, new);
            }
        }
        Ok(())
    }

    /// Returns the current handle for an old one.
    fn now(&self, handle: u32) -> u32 {
        now(&self.moved, self.round, handle)
    }

    /// Closes the newest level: everything below it has been explored.
    #[inline]
    fn close<M: Machine>(&mut self, run: &mut Run<'_, M>) {
        let level = self.levels.pop().expect("a level is open");
        self.choices.truncate(level.from);
        if level.detour {
            let suffix = self.suffixes.pop().expect("a detour saved a suffix");
            run.rewind(suffix.from);
            self.stack.restore_suffix(suffix, &mut self.saved);
        }
    }
}

/// Moves the machine along the stack to `depth`: backward, or forward where a detour has left it behind.
#[inline]
fn reach<M: Machine>(run: &mut Run<'_, M>, stack: &Stack, depth: usize) -> Result<(), Stop> {
    if run.depth() > depth {
        run.rewind(depth);
    }
    while run.depth() < depth {
        run.redo(stack.step(run.depth()).choice)?;
    }
    Ok(())
}

fn now(moved: &[(u32, u32)], round: u32, handle: u32) -> u32 {
    match moved.get(handle as usize) {
        Some(&(when, new)) if when == round => new,
        _ => handle,
    }
}

/// Creates the error that a step behaved differently although its actor had the same messages in its past.
#[cold]
fn unlike() -> MachineError {
    MachineError::Nondeterministic("a step sent other messages than the last time, after the same past".to_owned())
}

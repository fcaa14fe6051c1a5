//! Each trace once, nothing blocked: the revisit search, for programs in which exactly the events of one
//! actor are dependent (after TruSt and Must, specialised to actors).
//!
//! The search goes forward and, whenever a message turns up that an earlier step could have been about,
//! revisits that step.
//!
//! * *Forward*: pick any actor with an enabled message; none means that the execution is complete. Each
//!   enabled message of that actor, each of its ways, is a choice. The first way of the first
//!   message is the *canonical* step.
//! * *Back*, after each step x: go down the stack. A step in the past of x is passed over. Any other step that is not
//!   canonical is where we stop. At a canonical one, each message that x sent to the same actor and that the actor
//!   would have accepted there is worth a revisit.
//! * *Revisit* (step p, message s of x): go back to before p; take again only those steps after it that are in the
//!   past of x, and x, none of them canonical and without looking back; take s in place of p, not
//!   canonical; look back for s and go forward from there. Afterwards the stack is what it was.
//!
//! Why once: at a configuration where actor A was picked, A's next message in a given trace is pending, then
//! it is a choice, or is yet to be sent. Then what leads to its sending is a unique set of events without
//! one of A, and exactly one path below "A takes its first choice" has these events and otherwise canonical steps
//! only. None of this depends on the pick, so every order will do. By default the order is learnt: an
//! actor that was revisited often is picked late, when all its messages are there.
//!
//! Going back to the stack as it was costs a copy; the machine takes its steps again only when a choice
//! of the old stack is still open. Counted as transitions are steps forward and the step that takes the
//! place of another; what is taken again for a revisit was counted where it was chosen.

use crate::options::Order;
use crate::orders::Orders;
use crate::parallel::{Divisible, Share, Task, Work};
use crate::run::{Run, Stop};
use crate::stack::{Aside, NONE, Shelf, Stack};
use crate::weights::way;
use whippet_model::{Branch, Choice, Machine, MachineError, Pending, ones};

/// Explores each trace from the first configuration on once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    Revisits::new(run)?.explore(run, &())
}

/// The open choices of one configuration. Where there is no alternative, there is no level.
#[derive(Debug)]
struct Level {
    /// How many steps lead here.
    depth: usize,
    /// Its choices on the stack of choices, and the next one to take.
    from: usize,
    next: usize,
    end: usize,
    /// The revisits that its newest steps asked for, up to the next level, are those above this mark.
    revisits: usize,
    /// Whether the next step is canonical.
    first: bool,
    /// Whether this level takes the place of a step: the stack is to be put right after it.
    detour: bool,
    /// The part of the tree that each choice stands for, and what is left of it for further ways of the next one.
    weight: f64,
    left: f64,
}

/// A message that is to take the place of a step.
#[derive(Copy, Clone, Debug)]
struct Revisit {
    /// The step.
    at: u32,
    /// The message, and the step that sent it.
    message: u32,
    by: u32,
    /// The part of the tree that this stands for.
    weight: f64,
}

/// Where the search is.
#[derive(Debug)]
pub(crate) struct Revisits {
    stack: Stack,
    levels: Vec<Level>,
    choices: Vec<Choice>,
    revisits: Vec<Revisit>,
    /// The parts of the stack that revisits have put aside, one per detour.
    shelf: Shelf,
    asides: Vec<Aside>,
    /// How often each actor was revisited.
    visits: Vec<u32>,
    /// Which actor goes first, if not by `visits`.
    orders: Option<Orders>,
    /// Where the handles of steps taken again have gone: (revisit, new handle) by old handle.
    moved: Vec<(u32, u32)>,
    round: u32,
}

impl Revisits {
    pub(crate) fn new<M: Machine>(run: &Run<'_, M>) -> Result<Revisits, Stop> {
        let orders = match run.options.order {
            Order::Own => None,
            order => Some(Orders::new(order, &run.machine, run.control)?),
        };
        Ok(Revisits {
            stack: Stack::new(),
            levels: Vec::new(),
            choices: Vec::new(),
            revisits: Vec::new(),
            shelf: Shelf::default(),
            asides: Vec::new(),
            visits: Vec::new(),
            orders,
            moved: Vec::new(),
            round: 0,
        })
    }

    fn go_on<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        while let Some(level) = self.levels.last() {
            if self.revisits.len() > level.revisits {
                self.revisit(run)?;
            } else if level.next < level.end {
                if share.wanted() {
                    self.give(share);
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

    /// Nothing can happen any more: the execution is complete.
    fn end<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> Result<(), Stop> {
        run.weights.leaf(weight);
        run.complete()
    }

    /// Lists the choices of the actor that is picked.
    #[inline(always)]
    fn list<M: Machine>(&mut self, run: &mut Run<'_, M>) {
        match &mut self.orders {
            Some(orders) => {
                let from = self.choices.len();
                run.enabled(&mut self.choices);
                let first = orders.first(&run.machine, &self.choices[from..], |_| true);
                let Some(picked) = first else { return };
                let mut kept = from;
                for k in from..self.choices.len() {
                    if run.machine.actor(self.choices[k].what) == picked {
                        self.choices[kept] = self.choices[k];
                        kept += 1;
                    }
                }
                self.choices.truncate(kept);
            }
            None => {
                let visits = &self.visits;
                run.enabled_of_first(|actor| visits.get(actor.0 as usize).copied().unwrap_or(0), &mut self.choices);
            }
        }
    }

    /// Takes the next choice of the newest level, and goes on from there as long as there is no alternative.
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
            // Another way of the same message is an open choice too; mostly there is none.
            Some(branch) => self.choices[next].branch = branch,
            None => (level.next, level.left) = (next + 1, level.weight),
        }
        loop {
            weight = self.back(run, weight);
            let from = self.choices.len();
            self.list(run);
            match self.choices.len() - from {
                0 => return self.end(run, weight),
                1 => {}
                ways => {
                    self.open(run.depth(), from, true, weight / ways as f64);
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

    /// Takes one step. The answer is the next way that it could have gone.
    #[inline]
    fn step<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        choice: Choice,
        canonical: bool,
    ) -> Result<Option<Branch>, Stop> {
        run.execute(choice)?;
        self.stack.push(&run.machine, canonical);
        if let Some(orders) = &mut self.orders {
            orders.arrived(&run.machine);
        }
        Ok(run.machine.next_branch())
    }

    /// Notes which steps the messages of the newest step are worth a revisit of. What the step stands for is divided
    /// between those and going on, which gets the answer.
    #[inline]
    fn back<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> f64 {
        let asked = self.revisits.len();
        let x = self.stack.len() - 1;
        let (from, to) = self.stack.entry(x).sent;
        for message in from..to {
            let what = Pending(message);
            let actor = run.machine.actor(what).0;
            let mut at = self.stack.last_of(actor);
            // The steps of an actor are in a chain: below one in the past all are in the past.
            if at == NONE || self.stack.before(at as usize, x) {
                continue;
            }
            let floor = self.stack.floor(x).map_or(0, |floor| floor + 1);
            while at != NONE && at as usize >= floor && !self.stack.before(at as usize, x) {
                debug_assert!(self.stack.entry(at as usize).canonical, "our bug: the walk back passed its end");
                if run.accepted_at(what, at as usize) {
                    self.revisits.push(Revisit { at, message, by: x as u32, weight: 0.0 });
                    self.learn(actor);
                }
                at = self.stack.entry(at as usize).previous;
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

    /// Carries out the newest revisit: opens a level with the message as its only choice.
    fn revisit<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let Revisit { at, message, by, weight } = self.revisits.pop().expect("there is one");
        let at = at as usize;
        self.stack.truncate(by as usize + 1);
        reach(run, &self.stack, at)?;
        let aside = self.stack.put_aside(at, &mut self.shelf);
        self.asides.push(aside);
        self.again(run, aside)?;
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

    /// Takes the steps again that were put aside and are in the past of the newest of them.
    fn again<M: Machine>(&mut self, run: &mut Run<'_, M>, aside: Aside) -> Result<(), Stop> {
        self.round += 1;
        let (entries, past) = self.shelf.newest(aside);
        for at in ones(past).skip_while(|&at| at < aside.from) {
            let entry = entries[at - aside.from];
            let what = now(&self.moved, self.round, entry.choice.what.0);
            run.redo(Choice { what: Pending(what), ..entry.choice })?;
            self.stack.push(&run.machine, false);
            let sent = self.stack.entry(self.stack.len() - 1).sent;
            if sent.1 - sent.0 != entry.sent.1 - entry.sent.0 {
                return Err(Stop::Machine(unlike()));
            }
            if self.moved.len() < entry.sent.1 as usize {
                self.moved.resize(entry.sent.1 as usize, (0, 0));
            }
            for (old, new) in (entry.sent.0..entry.sent.1).zip(sent.0..) {
                self.moved[old as usize] = (self.round, new);
            }
        }
        Ok(())
    }

    /// What an old handle is called now.
    fn now(&self, handle: u32) -> u32 {
        now(&self.moved, self.round, handle)
    }

    /// Leaves the newest level: everything below it has been explored.
    #[inline]
    fn close<M: Machine>(&mut self, run: &mut Run<'_, M>) {
        let level = self.levels.pop().expect("a level is open");
        self.choices.truncate(level.from);
        if level.detour {
            let aside = self.asides.pop().expect("a detour put something aside");
            run.rewind(aside.from);
            self.stack.take_back(aside, &mut self.shelf);
        }
    }

    /// Gives the shallowest open choice or revisit away, if something is left to do here.
    #[cold]
    fn give(&mut self, share: &impl Share) {
        let top = self.levels.len() - 1;
        for k in 0..=top {
            let asked = self.levels.get(k + 1).map_or(self.revisits.len(), |above| above.revisits);
            let level = &mut self.levels[k];
            if level.end - level.next > usize::from(k == top) {
                level.end -= 1;
                let weight = if level.end == level.next { level.left } else { level.weight };
                let choice = self.choices[level.end];
                let path = self.path(k, self.levels[k].depth);
                return share.give(Task { path, work: Work::Choice(choice, weight) });
            }
            if asked > level.revisits {
                let Revisit { at, message, by, weight } = self.revisits.remove(asked - 1);
                self.levels[k + 1..].iter_mut().for_each(|above| above.revisits -= 1);
                let path = self.path(k, by as usize + 1);
                return share.give(Task { path, work: Work::Revisit { at, message, weight } });
            }
        }
    }

    /// The first `depth` steps to a level and from there to the next: what detours above it have put aside is put back
    /// in thought.
    fn path(&self, level: usize, depth: usize) -> Vec<(Choice, bool)> {
        let mut entries = self.stack.entries().to_vec();
        let mut next = None;
        let detours = self.levels[level + 1..].iter().filter(|level| level.detour).count();
        for &aside in self.asides.iter().rev().take(detours) {
            entries.truncate(aside.from);
            entries.extend_from_slice(self.shelf.entries(aside, next));
            next = Some(aside);
        }
        entries.truncate(depth);
        entries.iter().map(|entry| (entry.choice, entry.canonical)).collect()
    }

    /// Goes to where a task begins.
    fn begin<M: Machine>(&mut self, run: &mut Run<'_, M>, task: Task) -> Result<(), Stop> {
        self.stack.truncate(0);
        run.rewind(0);
        for &(choice, canonical) in &task.path {
            run.redo(choice)?;
            self.stack.push(&run.machine, canonical);
        }
        let mut level = Level {
            depth: run.depth(),
            from: 0,
            next: 0,
            end: 0,
            revisits: 0,
            first: false,
            detour: false,
            weight: 0.0,
            left: 0.0,
        };
        match task.work {
            Work::Choice(choice, weight) => {
                self.choices.push(choice);
                level.end = 1;
                (level.weight, level.left) = (weight, weight);
            }
            Work::Revisit { at, message, weight } => {
                self.revisits.push(Revisit { at, message, by: run.depth() as u32 - 1, weight });
            }
        }
        self.levels.push(level);
        Ok(())
    }
}

impl Divisible for Revisits {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        self.list(run);
        match self.choices.len() {
            0 => return self.end(run, 1.0),
            ways => self.open(0, 0, true, 1.0 / ways as f64),
        }
        self.go_on(run, share)
    }

    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, task: Task, share: &impl Share) -> Result<(), Stop> {
        self.begin(run, task)?;
        self.go_on(run, share)
    }
}

/// Moves the machine along the stack to `depth`: back, or forward where a detour has left it behind.
#[inline]
fn reach<M: Machine>(run: &mut Run<'_, M>, stack: &Stack, depth: usize) -> Result<(), Stop> {
    if run.depth() > depth {
        run.rewind(depth);
    }
    while run.depth() < depth {
        run.redo(stack.entry(run.depth()).choice)?;
    }
    Ok(())
}

fn now(moved: &[(u32, u32)], round: u32, handle: u32) -> u32 {
    match moved.get(handle as usize) {
        Some(&(when, new)) if when == round => new,
        _ => handle,
    }
}

/// A step did something else with the same messages in the past of its actor.
#[cold]
fn unlike() -> MachineError {
    MachineError::Nondeterministic("a step sent other messages than the last time, after the same past".to_owned())
}

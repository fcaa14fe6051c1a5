//! Happens-before at a finer grain than steps: a vector clock for each actor.
//!
//! A message carries its sender's clock, and its delivery joins that clock into the receiver's. A new actor begins with
//! its creator's clock. An actor's own entry counts its sends, creations and receives. An action of actor `a`,
//! performed when `a`'s own entry was `e`, happens before the present of actor `b` iff `b`'s clock has reached `e` in
//! the entry of `a`.
//!
//! Happens-before between whole steps is too coarse here: the part of a step after a send does not happen before the
//! delivery of that message.
//!
//! Clocks serve two purposes: they find data races, and they order messages under causal delivery. Without causal
//! delivery, they are maintained only while shared variables exist. This suffices, because every causal path from one
//! access to a later one begins after the first access.

use crate::current_step::{SETUP, TEST};
use std::rc::Rc;

/// A vector clock with an entry for each actor; missing entries are 0.
pub(crate) type VectorClock = Rc<[u32]>;

/// The clock of each actor, and of each message.
#[derive(Default)]
pub(crate) struct VectorClocks {
    /// `true` if the delivery order depends on happens-before, so that clocks are maintained in any case.
    pub(crate) causal: bool,
    actors: Vec<Vec<u32>>,
    carried: Vec<VectorClock>,
    /// The changes to undo: the step, the actor, and the actor's clock before the change.
    undo: Vec<(u32, u32, Vec<u32>)>,
}

/// Returns the entry of a clock for an actor.
pub(crate) fn entry(clock: &[u32], actor: u32) -> u32 {
    clock.get(actor as usize).copied().unwrap_or(0)
}

impl VectorClocks {
    /// Returns the current clock of an actor.
    pub(crate) fn of(&self, actor: u32) -> &[u32] {
        self.actors.get(actor as usize).map_or(&[][..], Vec::as_slice)
    }

    /// Returns the clock of an actor for modification in this step, and saves its previous value.
    fn change(&mut self, actor: u32, step: u32) -> &mut Vec<u32> {
        let place = actor as usize;
        if self.actors.len() <= place {
            self.actors.resize_with(place + 1, Vec::new);
        }
        self.undo.push((step, actor, self.actors[place].clone()));
        let clock = &mut self.actors[place];
        if clock.len() <= place {
            clock.resize(place + 1, 0);
        }
        clock
    }

    /// Advances an actor's own entry when it creates a shared variable.
    pub(crate) fn advance(&mut self, actor: u32, step: u32) {
        self.change(actor, step)[actor as usize] += 1;
    }

    /// Records that an actor sent message `what`.
    pub(crate) fn sent(&mut self, actor: u32, what: usize, step: u32) {
        let clock = self.change(actor, step);
        let carried = Rc::from(clock.as_slice());
        clock[actor as usize] += 1;
        self.carried.truncate(what);
        self.carried.resize_with(what, || Rc::from([]));
        self.carried.push(carried);
    }

    /// Records that the network made a copy of message `what`, which carries what the message carries.
    pub(crate) fn copied(&mut self, what: usize, copy: usize) {
        let carried = self.carried.get(what).cloned().unwrap_or_default();
        self.carried.truncate(copy);
        self.carried.resize_with(copy, || Rc::from([]));
        self.carried.push(carried);
    }

    /// Returns `true` if message `q`, which actor `from` sent, was sent before another message `p`. The clocks of all
    /// messages must have been maintained.
    pub(crate) fn sent_before(&self, q: u32, from: u32, p: u32) -> bool {
        self.is_in(q, from, &self.carried[p as usize])
    }

    /// Returns `true` if message `q`, which actor `from` sent, was sent before whatever `actor` sends next.
    pub(crate) fn has_seen(&self, actor: u32, q: u32, from: u32) -> bool {
        self.is_in(q, from, self.of(actor))
    }

    fn is_in(&self, q: u32, from: u32, clock: &[u32]) -> bool {
        // Each value of the sender's own entry is carried by one message or given to one new actor, so a clock that has
        // reached the value carried by `q` can only have got it from `q` or from a later action of the sender.
        entry(&self.carried[q as usize], from) <= entry(clock, from)
    }

    /// Records that an actor received message `what`.
    pub(crate) fn delivered(&mut self, actor: u32, what: usize, step: u32) {
        let carried = self.carried.get(what).cloned();
        let clock = self.change(actor, step);
        join(clock, carried.as_deref().unwrap_or_default());
        clock[actor as usize] += 1;
    }

    /// Records that an actor created another one.
    pub(crate) fn created(&mut self, creator: u32, actor: u32, step: u32) {
        let clock = self.change(creator, step);
        let begins = clock.clone();
        clock[creator as usize] += 1;
        let clock = self.change(actor, step);
        *clock = begins;
        clock.resize(clock.len().max(actor as usize + 1), 0);
        clock[actor as usize] += 1;
    }

    /// Undoes the changes made by steps from `depth` on.
    pub(crate) fn rewind(&mut self, depth: u32) {
        while self.undo.last().is_some_and(|&(step, ..)| step != SETUP && step >= depth) {
            let (_, actor, clock) = self.undo.pop().expect("the loop checked");
            self.actors[actor as usize] = clock;
        }
    }

    /// Makes everything that has happened so far permanent. It happens before whatever the test does next.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
        if let Some((test, others)) = self.actors.split_at_mut_checked(TEST as usize + 1) {
            others.iter().for_each(|clock| join(&mut test[TEST as usize], clock));
        }
    }

    /// Discards the clocks of messages when the last shared variable is removed.
    pub(crate) fn forget(&mut self) {
        if !self.causal {
            self.carried.clear();
        }
    }
}

/// Raises each entry of a clock to the entry of another one.
fn join(clock: &mut Vec<u32>, other: &[u32]) {
    clock.resize(clock.len().max(other.len()), 0);
    for (entry, &other) in clock.iter_mut().zip(other) {
        *entry = (*entry).max(other);
    }
}

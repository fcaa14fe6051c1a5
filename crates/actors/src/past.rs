//! What is in the past of what, finer than steps: a vector clock for each actor.
//!
//! A message carries its sender's clock and delivery joins it, a new actor begins with its creator's, and an actor's own
//! entry counts what it sends, creates and receives. What an actor did at an entry of its own is in the past of another
//! one iff that one's clock has reached the entry.
//!
//! (The past of whole steps is too coarse here: what a step does after a send is not in the past of what the message
//! leads to.)
//!
//! Clocks need not be kept before there is anything to order: all that leads from one thing to a later one comes after
//! the first.

use crate::now::SET_UP;
use std::rc::Rc;

/// A vector clock: an entry for each actor; missing ones are 0.
pub(crate) type Clock = Rc<[u32]>;

/// The clock of each actor, and of each message.
#[derive(Default)]
pub(crate) struct Pasts {
    actors: Vec<Vec<u32>>,
    carried: Vec<Clock>,
    /// What clocks were before each step changed them.
    undo: Vec<(u32, u32, Vec<u32>)>,
}

/// An entry of a clock.
pub(crate) fn entry(clock: &[u32], actor: u32) -> u32 {
    clock.get(actor as usize).copied().unwrap_or(0)
}

impl Pasts {
    /// An actor's clock now.
    pub(crate) fn of(&self, actor: u32) -> &[u32] {
        self.actors.get(actor as usize).map_or(&[][..], Vec::as_slice)
    }

    /// The clock of an actor, to be changed in this step.
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

    /// An actor has begun something that others can only do after it.
    pub(crate) fn began(&mut self, actor: u32, step: u32) {
        self.change(actor, step)[actor as usize] += 1;
    }

    /// An actor has sent its next message.
    pub(crate) fn sent(&mut self, actor: u32, what: usize, step: u32) {
        let clock = self.change(actor, step);
        let carried = Rc::from(clock.as_slice());
        clock[actor as usize] += 1;
        self.carried.truncate(what);
        self.carried.resize_with(what, || Rc::from([]));
        self.carried.push(carried);
    }

    /// An actor has received a message.
    pub(crate) fn delivered(&mut self, actor: u32, what: usize, step: u32) {
        let carried = self.carried.get(what).cloned();
        let clock = self.change(actor, step);
        for (k, &entry) in carried.iter().flat_map(|carried| carried.iter().enumerate()) {
            if clock.len() <= k {
                clock.resize(k + 1, 0);
            }
            clock[k] = clock[k].max(entry);
        }
        clock[actor as usize] += 1;
    }

    /// An actor has created another one.
    pub(crate) fn created(&mut self, creator: u32, actor: u32, step: u32) {
        let clock = self.change(creator, step);
        let begins = clock.clone();
        clock[creator as usize] += 1;
        let clock = self.change(actor, step);
        *clock = begins;
        clock.resize(clock.len().max(actor as usize + 1), 0);
        clock[actor as usize] += 1;
    }

    /// Takes back what steps from `depth` on did.
    pub(crate) fn rewind(&mut self, depth: u32) {
        while self.undo.last().is_some_and(|&(step, ..)| step != SET_UP && step >= depth) {
            let (_, actor, clock) = self.undo.pop().expect("the loop checked");
            self.actors[actor as usize] = clock;
        }
    }

    /// What has happened so far is not taken back any more.
    pub(crate) fn settle(&mut self) {
        self.undo.clear();
    }

    /// There is nothing left to order: messages sent from here on may carry nothing.
    pub(crate) fn forget(&mut self) {
        self.carried.clear();
    }
}

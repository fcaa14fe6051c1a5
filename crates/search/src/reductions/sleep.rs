//! Sleep sets (Godefroid): choices that need not be explored here because the subtree of an earlier sibling covers
//! them.
//!
//! A choice that has been explored at a configuration falls asleep there: the subtrees of its later siblings need not
//! begin with it. It stays asleep as long as only independent steps are taken, because these could as well have come
//! after it, and that order has been explored. A dependent step wakes it up.

use whippet_model::{ActorNo, Choice, Dependence, Machine, Touch, conflict};

/// A choice that is asleep.
#[derive(Copy, Clone, Debug)]
struct Sleeper {
    choice: Choice,
    actor: ActorNo,
    /// The range of its footprint in the list of touches.
    touches: (u32, u32),
}

/// The choices that are asleep at one configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sleep {
    sleepers: Vec<Sleeper>,
    /// One bit per handle, modulo 64: shows for most choices that they are awake without searching the list.
    bits: u64,
    /// The footprint of each sleeping choice when it was explored, of all its branches together. It stays the same
    /// while the choice is asleep.
    touches: Vec<Touch>,
}

impl Sleep {
    pub(crate) fn clear(&mut self) {
        self.sleepers.clear();
        self.bits = 0;
        self.touches.clear();
    }

    #[inline]
    pub(crate) fn contains(&self, choice: Choice) -> bool {
        self.bits & bit(choice) != 0 && self.sleepers.iter().any(|sleeper| sleeper.choice == choice)
    }

    /// Adds a choice that has been explored with all its branches.
    pub(crate) fn add(&mut self, choice: Choice, actor: ActorNo, touches: &[Touch]) {
        self.bits |= bit(choice);
        let from = self.touches.len() as u32;
        self.touches.extend_from_slice(touches);
        self.sleepers.push(Sleeper { choice, actor, touches: (from, self.touches.len() as u32) });
    }

    /// Replaces the contents by the choices of `before` that are still asleep after the newest step.
    pub(crate) fn inherit<M: Machine>(&mut self, before: &Sleep, machine: &M) {
        let at = machine.depth() - 1;
        let step = machine.step(at);
        self.clear();
        match machine.profile().dependence {
            Dependence::PerActor => {
                self.sleepers.extend(before.sleepers.iter().filter(|sleeper| sleeper.actor != step.actor));
                self.bits = self.sleepers.iter().fold(0, |bits, sleeper| bits | bit(sleeper.choice));
            }
            Dependence::Footprints => {
                let touched = machine.touches(at);
                for sleeper in &before.sleepers {
                    let touches = &before.touches[sleeper.touches.0 as usize..sleeper.touches.1 as usize];
                    if sleeper.choice.what != step.choice.what && !conflict(touches, touched) {
                        self.add(sleeper.choice, sleeper.actor, touches);
                    }
                }
            }
        }
    }
}

#[inline]
fn bit(choice: Choice) -> u64 {
    1 << (choice.what.0 % 64)
}

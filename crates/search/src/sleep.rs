//! Sleep sets (Godefroid): what need not be done here because an earlier sibling's subtree has it.
//!
//! When a choice has been explored at a configuration it falls asleep there; the subtrees of its later siblings
//! need not begin with it. It sleeps on as long as only independent steps are taken: they could as
//! well have come after it, and that was explored. A dependent step wakes it up.

use whippet_model::{ActorNo, Choice, Machine, Relation, Touch, conflict};

/// A choice that sleeps.
#[derive(Copy, Clone, Debug)]
struct Sleeper {
    choice: Choice,
    actor: ActorNo,
    /// Where its touches are.
    touches: (u32, u32),
}

/// The choices that sleep at one configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sleep {
    sleepers: Vec<Sleeper>,
    /// A bit per handle, modulo 64: most choices are seen to be awake without looking at each sleeper.
    bits: u64,
    /// What each touched when it was explored, all its ways together; while it sleeps it would touch the same.
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

    /// A choice has been explored, with all its ways.
    pub(crate) fn add(&mut self, choice: Choice, actor: ActorNo, touches: &[Touch]) {
        self.bits |= bit(choice);
        let from = self.touches.len() as u32;
        self.touches.extend_from_slice(touches);
        self.sleepers.push(Sleeper { choice, actor, touches: (from, self.touches.len() as u32) });
    }

    /// What of `before` still sleeps after the newest step.
    pub(crate) fn inherit<M: Machine>(&mut self, before: &Sleep, machine: &M) {
        let at = machine.depth() - 1;
        let step = machine.step(at);
        self.clear();
        match machine.relation() {
            Relation::SameActor => {
                self.sleepers.extend(before.sleepers.iter().filter(|sleeper| sleeper.actor != step.actor));
                self.bits = self.sleepers.iter().fold(0, |bits, sleeper| bits | bit(sleeper.choice));
            }
            Relation::Footprints => {
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

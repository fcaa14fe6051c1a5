//! Sleep sets (Godefroid): what need not be done here because an earlier sibling's subtree has it.
//!
//! When a choice has been explored at a configuration it falls asleep there; the subtrees of its later siblings
//! need not begin with it. It sleeps on as long as only independent steps are taken: they could as
//! well have come after it, and that was explored. A dependent step wakes it up.

use smallvec::SmallVec;
use whippet_model::{ActorNo, Choice, Machine, Relation, Touch, conflict};

/// What a step touched, all its ways together.
pub(crate) type Touches = SmallVec<[Touch; 4]>;

/// A choice that sleeps.
#[derive(Clone, Debug)]
struct Sleeper {
    choice: Choice,
    actor: ActorNo,
    /// What it touched when it was explored; while it sleeps it would touch the same.
    touches: Touches,
}

/// The choices that sleep at one configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sleep {
    sleepers: Vec<Sleeper>,
}

impl Sleep {
    pub(crate) fn clear(&mut self) {
        self.sleepers.clear();
    }

    #[inline]
    pub(crate) fn contains(&self, choice: Choice) -> bool {
        self.sleepers.iter().any(|sleeper| sleeper.choice == choice)
    }

    /// A choice has been explored, with all its ways.
    pub(crate) fn add(&mut self, choice: Choice, actor: ActorNo, touches: Touches) {
        self.sleepers.push(Sleeper { choice, actor, touches });
    }

    /// What of `before` still sleeps after the newest step.
    pub(crate) fn inherit<M: Machine>(&mut self, before: &Sleep, machine: &M) {
        let at = machine.depth() - 1;
        let step = machine.step(at);
        self.sleepers.clear();
        match machine.relation() {
            Relation::SameActor => {
                let sleep_on = before.sleepers.iter().filter(|s| s.actor != step.actor);
                self.sleepers.extend(sleep_on.cloned());
            }
            Relation::Footprints => {
                let touches = machine.touches(at);
                let other = |s: &&Sleeper| s.choice.what != step.choice.what && !conflict(&s.touches, touches);
                self.sleepers.extend(before.sleepers.iter().filter(other).cloned());
            }
        }
    }
}

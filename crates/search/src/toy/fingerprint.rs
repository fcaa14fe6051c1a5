//! A hash of a configuration of the toy language, computed from everything that influences its future.

use super::Delivery;
use super::handler::Job;
use super::machine::{Content, Message, Toy};
use whippet_model::{Name, StateComparison};

/// Returns the hash of a machine's configuration.
pub(super) fn fingerprint(toy: &Toy, comparison: StateComparison) -> u128 {
    let half = |seed: u64| View { toy, ordered: comparison != StateComparison::Canonical, seed }.hash();
    u128::from(half(1)) << 64 | u128::from(half(2))
}

struct View<'a> {
    toy: &'a Toy,
    ordered: bool,
    seed: u64,
}

impl View<'_> {
    fn hash(&self) -> u64 {
        let actors = (0..self.toy.actors.len() as u32).map(|a| self.actor(a));
        let pending: Vec<usize> =
            (0..self.toy.messages.len()).filter(|&m| self.toy.messages[m].taken.is_none()).collect();
        let messages = pending.iter().map(|&m| self.message(m).mixed(self.knowledge(m, &pending)).0);
        if self.ordered {
            actors.chain(messages).fold(self.seed, |hash, part| Name(hash).mixed(part).0)
        } else {
            actors.chain(messages).fold(self.seed, |hash, part| hash.wrapping_add(Name(part).mixed(self.seed).0))
        }
    }

    /// Returns the identity of an actor: its stable name, or its number if the order of creation counts.
    fn who(&self, actor: Option<u32>) -> u64 {
        match actor {
            None => 7,
            Some(a) if self.ordered => u64::from(a) + 11,
            Some(a) => self.toy.actors[a as usize].name.0,
        }
    }

    fn actor(&self, a: u32) -> u64 {
        let actor = &self.toy.actors[a as usize];
        let waits = actor.waits.as_ref().map_or(0, |job| self.job(job));
        let start = Name(self.who(Some(a))).mixed(self.seed);
        let parts = [u64::from(actor.like), actor.state as u64, u64::from(actor.stopped), waits];
        let known = [self.who(actor.creator), self.who(actor.newest)];
        let stores = actor.stores.iter().map(|&value| value as u64);
        parts.into_iter().chain(known).chain(stores).fold(start, Name::mixed).0
    }

    /// Hashes the rest of a handler: handlers with the same remaining actions continue in the same way.
    fn job(&self, job: &Job) -> u64 {
        let rest = job.rest.map_or(&[][..], |(rule, next)| &self.toy.program().rules[rule].actions[next..]);
        let start = Name(self.who(job.sender)).mixed(u64::from(job.called) + 1);
        let text = format!("{rest:?}");
        text.bytes().fold(start, |hash, byte| hash.mixed(u64::from(byte))).0
    }

    fn message(&self, m: usize) -> Name {
        let Message { from, to, content, .. } = &self.toy.messages[m];
        let content = match content {
            Content::Tag(tag) => u64::from(*tag) * 4,
            Content::Call(tag) => u64::from(*tag) * 4 + 1,
            Content::Reply => 2,
        };
        Name(self.who(Some(*to))).mixed(self.who(*from)).mixed(content)
    }

    /// Hashes the effect of the delivery order on a message: the messages before it and, with causal delivery, the
    /// actors that know of it, whose messages must not overtake it.
    fn knowledge(&self, m: usize, pending: &[usize]) -> u64 {
        if self.toy.program().delivery == Delivery::Unordered {
            return 0;
        }
        let ahead = pending.iter().copied().filter(|&o| self.toy.precedes(o, m));
        let ahead = ahead.fold(0u64, |sum, o| sum.wrapping_add(self.message(o).mixed(5).0));
        let mut aware = 0u64;
        if self.toy.program().delivery == Delivery::Causal {
            let actors = (0..self.toy.actors.len() as u32).filter(|&a| self.toy.knows(a, m));
            aware = actors.fold(aware, |sum, a| sum.wrapping_add(Name(self.who(Some(a))).mixed(6).0));
            // Messages in transit may carry this knowledge to other actors.
            let carriers = pending.iter().copied().filter(|&o| o != m && self.toy.tells_of(o, m));
            aware = carriers.fold(aware, |sum, o| sum.wrapping_add(self.message(o).mixed(8).0));
        }
        ahead ^ aware.rotate_left(7)
    }
}

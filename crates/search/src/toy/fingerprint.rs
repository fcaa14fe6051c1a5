//! A hash of a configuration of the little language: of everything that decides what can still happen.

use super::machine::{Configuration, Content, Job, Message, Toy};
use super::{Action, Delivery, Target};
use whippet_model::{Comparison, Name};

/// The hash of where a machine is.
pub(super) fn fingerprint(toy: &Toy, comparison: Comparison) -> u128 {
    let half = |seed: u64| View { toy, now: toy.now(), ordered: comparison == Comparison::Ordered, seed }.hash();
    u128::from(half(1)) << 64 | u128::from(half(2))
}

struct View<'a> {
    toy: &'a Toy,
    now: &'a Configuration,
    ordered: bool,
    seed: u64,
}

impl View<'_> {
    fn hash(&self) -> u64 {
        let actors = (0..self.now.actors.len() as u32).map(|a| self.actor(a));
        let pending: Vec<usize> = (0..self.now.messages.len()).filter(|&m| self.is_pending(m)).collect();
        let messages = pending.iter().map(|&m| self.message(m).0 ^ self.knowledge(m, &pending));
        if self.ordered {
            actors.chain(messages).fold(self.seed, |hash, part| Name(hash).mixed(part).0)
        } else {
            actors.chain(messages).fold(self.seed, |hash, part| hash.wrapping_add(Name(part).mixed(self.seed).0))
        }
    }

    fn is_pending(&self, m: usize) -> bool {
        self.now.messages[m].taken.is_none()
    }

    /// Who an actor is: by its stable name, or by its number where the order of creation counts.
    fn who(&self, actor: Option<u32>) -> u64 {
        match actor {
            None => 7,
            Some(a) if self.ordered => u64::from(a) + 11,
            Some(a) => self.now.actors[a as usize].name.0,
        }
    }

    fn actor(&self, a: u32) -> u64 {
        let actor = &self.now.actors[a as usize];
        let waits = actor.waits.as_ref().map_or(0, |job| self.job(job));
        let start = Name(self.who(Some(a))).mixed(self.seed);
        let parts = [u64::from(actor.like), actor.state as u64, u64::from(actor.stopped), waits];
        let known = [self.who(actor.creator), self.who(actor.newest)];
        parts.into_iter().chain(known).fold(start, Name::mixed).0
    }

    fn job(&self, job: &Job) -> u64 {
        let start = Name(self.who(job.sender)).mixed(u64::from(job.called) + 1);
        let target = |t: &Target| match t {
            Target::Actor(k) => 10 + u64::from(*k),
            Target::Me => 1,
            Target::Sender => 2,
            Target::Creator => 3,
            Target::Newest => 4,
        };
        job.rest
            .iter()
            .map(|action| match action {
                Action::Send(to, tag) => [1, target(to), u64::from(*tag)],
                Action::Call(to, tag) => [2, target(to), u64::from(*tag)],
                Action::Set(state) => [3, *state as u64, 0],
                Action::Add(n) => [4, *n as u64, 0],
                Action::Create(like) => [5, u64::from(*like), 0],
                Action::Choose(n) => [6, u64::from(*n), 0],
                Action::Stop => [7, 0, 0],
                Action::Fail => [8, 0, 0],
            })
            .fold(start, |hash, parts| parts.into_iter().fold(hash, Name::mixed))
            .0
    }

    fn message(&self, m: usize) -> Name {
        let Message { from, to, content, .. } = &self.now.messages[m];
        let content = match content {
            Content::Tag(tag) => u64::from(*tag) * 4,
            Content::Call(tag) => u64::from(*tag) * 4 + 1,
            Content::Reply => 2,
        };
        Name(self.who(Some(*to))).mixed(self.who(*from)).mixed(content)
    }

    /// What the order of delivery knows about a message: those ahead of it and, where it is causal, who knows
    /// of it and must not overtake it.
    fn knowledge(&self, m: usize, pending: &[usize]) -> u64 {
        let ahead = |ahead: u64, other: usize| ahead.wrapping_add(self.message(other).mixed(5).0);
        match self.toy.delivery() {
            Delivery::Unordered => 0,
            Delivery::Fifo => {
                let (from, to) = (self.now.messages[m].from, self.now.messages[m].to);
                let same = |o: &usize| self.now.messages[*o].from == from && self.now.messages[*o].to == to;
                pending.iter().copied().filter(|&o| o < m).filter(same).fold(0, ahead)
            }
            Delivery::Causal => {
                let others = pending.iter().copied().filter(|&o| o != m && self.toy.sent_before(o, m));
                let actors = (0..self.now.actors.len() as u32).filter(|&a| self.toy.knows(a, m));
                let aware = actors.fold(0u64, |sum, a| sum.wrapping_add(Name(self.who(Some(a))).mixed(6).0));
                others.fold(0, ahead) ^ aware.rotate_left(7)
            }
        }
    }
}

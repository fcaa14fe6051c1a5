//! The pasts of the steps of one execution: which steps happen before which.
//!
//! This is the one place that stores happens-before. [`Clocks`](crate::Clocks) adds the causes and conflicts of any
//! machine; the revisit search, in which a step comes after its sender and its actor's previous step, adds these two.
//!
//! A short execution has a row of bits for each step. The rows of an execution of L steps take L²/64 words, so a long one
//! has [clocks over chains](chains) instead, whose memory follows the length.

mod chains;

use crate::{BitMatrix, BitSet};
use chains::ChainClocks;

/// Sentinel: no step.
const NONE: u32 = u32::MAX;

/// The number of steps up to which an execution is short.
const SHORT: usize = 512;

/// The actor of a step, and the previous step of that actor.
#[derive(Copy, Clone, Debug)]
struct Link {
    actor: u32,
    previous: u32,
}

/// The happens-before relation of the steps of one execution, and the sequence of steps of each actor.
///
/// Steps are numbered in the order in which they are added, and removed in reverse order.
///
/// ```
/// use whippet_model::Pasts;
/// // Step 0 of actor 1 sends a message, which actor 2 receives in step 2.
/// let mut pasts = Pasts::default();
/// pasts.push_after(1, None);
/// pasts.push_after(2, None);
/// pasts.push_after(2, Some(0));
/// assert!(pasts.before(0, 2) && pasts.before(1, 2) && !pasts.before(0, 1));
/// assert_eq!((pasts.previous(2), pasts.last_of(2)), (Some(1), Some(2)));
/// assert_eq!(pasts.past_steps(2).collect::<Vec<_>>(), [0, 1, 2]);
/// let mut past = whippet_model::BitSet::default();
/// pasts.add_past(2, &mut past);
/// assert_eq!((past.contains(1), pasts.newest_outside(1, &past)), (true, Some(2)));
/// pasts.truncate(2);
/// assert_eq!((pasts.len(), pasts.is_empty(), pasts.last_of(2)), (2, false, Some(1)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pasts {
    links: Vec<Link>,
    /// The last step of each actor.
    last_of: Vec<u32>,
    /// The pasts of a short execution; each step is in its own past.
    rows: BitMatrix,
    /// The pasts of a long execution.
    chains: Option<Box<ChainClocks>>,
}

impl Pasts {
    /// Returns the number of steps.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Returns `true` if there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Returns the last step of an actor.
    #[inline]
    #[must_use]
    pub fn last_of(&self, actor: u32) -> Option<usize> {
        let last = *self.last_of.get(actor as usize)?;
        (last != NONE).then_some(last as usize)
    }

    /// Returns the actor of a step.
    #[inline]
    #[must_use]
    pub fn actor(&self, at: usize) -> u32 {
        self.links[at].actor
    }

    /// Returns the previous step of the actor of step `at`.
    #[inline]
    #[must_use]
    pub fn previous(&self, at: usize) -> Option<usize> {
        let previous = self.links[at].previous;
        (previous != NONE).then_some(previous as usize)
    }

    /// Returns `true` if step `a` happens before step `b` or is the same step.
    #[inline]
    #[must_use]
    pub fn before(&self, a: usize, b: usize) -> bool {
        match &self.chains {
            None => self.rows.has(b, a),
            Some(chains) => a == b || chains.before(a, b),
        }
    }

    /// Iterates over the steps in the past of step `at`, in order, ending with the step itself.
    pub fn past_steps(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let (row, searched) = if self.chains.is_none() { (self.rows.row(at as u32), 0) } else { (&[][..], at + 1) };
        crate::ones(row).chain((0..searched).filter(move |&step| self.before(step, at)))
    }

    /// Adds the past of step `at`, which contains the step itself, to a set.
    pub fn add_past(&self, at: usize, to: &mut BitSet) {
        match &self.chains {
            None => to.union_with(self.rows.row(at as u32)),
            Some(chains) => chains.add_past(at, to),
        }
    }

    /// Returns the newest of these steps, which come in increasing order, that is not in the past of step `at`.
    #[inline]
    pub fn newest_outside(&self, at: usize, steps: &BitSet) -> Option<usize> {
        // In a short execution the rows of bits are compared word by word.
        let row = if self.chains.is_none() { self.rows.row(at as u32) } else { &[] };
        let words = steps.words().iter().enumerate().rev();
        for (i, &word) in words {
            let mut bits = word & !row.get(i).copied().unwrap_or(0);
            while bits != 0 {
                let step = i * 64 + 63 - bits.leading_zeros() as usize;
                if self.chains.is_none() || !self.before(step, at) {
                    return Some(step);
                }
                bits &= !(1 << (step % 64));
            }
        }
        None
    }

    /// Adds a step that happens after the step `by` and after the previous step of its actor.
    #[inline(always)]
    pub fn push_after(&mut self, actor: u32, by: Option<usize>) {
        let at = self.links.len();
        if self.chains.is_some() || at >= SHORT {
            return self.push_after_in_chains(actor, by);
        }
        let previous = self.enter(actor);
        let previous = (previous != NONE).then_some(previous as usize);
        // The usual case: a past fits into one word.
        if !self.rows.push_joined(at, by, previous) {
            self.rows.push(at);
            by.into_iter().chain(previous).for_each(|earlier| self.rows.join_later(at, earlier));
        }
    }

    #[cold]
    fn push_after_in_chains(&mut self, actor: u32, by: Option<usize>) {
        let at = self.push(actor);
        let previous = self.previous(at);
        by.into_iter().chain(previous).for_each(|earlier| self.join(earlier));
        self.finish();
    }

    /// Adds a step with nothing but itself in its past, and returns its number. [`Pasts::join`] adds to its past,
    /// [`Pasts::finish`] completes it.
    #[inline]
    pub(crate) fn push(&mut self, actor: u32) -> usize {
        let at = self.links.len();
        if self.chains.is_none() && at >= SHORT {
            self.convert();
        }
        self.enter(actor);
        match &mut self.chains {
            None => self.rows.push(at),
            Some(chains) => chains.push(),
        }
        at
    }

    /// Adds an earlier step and its past to the past of the newest step.
    #[inline]
    pub(crate) fn join(&mut self, earlier: usize) {
        match &mut self.chains {
            None => self.rows.join_later(self.links.len() - 1, earlier),
            Some(chains) => chains.join(earlier),
        }
    }

    /// Completes the past of the newest step.
    #[inline]
    pub(crate) fn finish(&mut self) {
        if let Some(chains) = &mut self.chains {
            chains.finish(self.links[self.links.len() - 1].previous);
        }
    }

    /// Removes all steps from `depth` on.
    #[inline]
    pub fn truncate(&mut self, depth: usize) {
        while self.links.len() > depth {
            let link = self.links.pop().expect("the loop checked");
            self.last_of[link.actor as usize] = link.previous;
        }
        match &mut self.chains {
            None => self.rows.truncate(depth),
            Some(chains) => {
                chains.truncate(depth);
                if depth == 0 {
                    self.chains = None;
                }
            }
        }
    }

    #[inline(always)]
    fn enter(&mut self, actor: u32) -> u32 {
        let (at, index) = (self.links.len() as u32, actor as usize);
        if index >= self.last_of.len() {
            self.last_of.resize(index + 1, NONE);
        }
        let previous = std::mem::replace(&mut self.last_of[index], at);
        self.links.push(Link { actor, previous });
        previous
    }

    /// Replaces the rows of bits by clocks.
    #[cold]
    fn convert(&mut self) {
        let mut chains = ChainClocks::default();
        for (at, link) in self.links.iter().enumerate() {
            chains.push();
            // A step that is in the past through a later one is skipped by `join`.
            let past: Vec<usize> = crate::ones(self.rows.row(at as u32)).filter(|&step| step != at).collect();
            past.into_iter().rev().for_each(|earlier| chains.join(earlier));
            chains.finish(link.previous);
        }
        self.rows.truncate(0);
        self.chains = Some(Box::new(chains));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes random steps, forward and back, and compares with sets that are computed directly.
    #[test]
    fn long_executions_have_the_pasts_of_short_ones() {
        for (actors, ordered) in [(3_u32, true), (40, true), (700, true), (5, false), (200, false)] {
            let mut random = 0x9E37_79B9_7F4A_7C15_u64 ^ u64::from(actors);
            let mut below = |n: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 33) as usize % n
            };
            let mut pasts = Pasts::default();
            let mut expected: Vec<BitSet> = Vec::new();
            for round in 0..6 {
                while pasts.len() < SHORT + 300 {
                    let at = pasts.push(below(actors as usize) as u32);
                    let mut past = BitSet::default();
                    past.insert(at as u32);
                    let mut earlier: Vec<usize> = (0..below(3).min(at)).map(|_| below(at)).collect();
                    // Not all machines order the steps of an actor.
                    earlier.extend(pasts.previous(at).filter(|_| ordered || at % 3 == 0));
                    for earlier in earlier {
                        pasts.join(earlier);
                        past.union_with(expected[earlier].words());
                        assert!(pasts.before(earlier, at));
                    }
                    pasts.finish();
                    expected.push(past);
                }
                for b in (0..expected.len()).step_by(7) {
                    let past: Vec<usize> = expected[b].iter().map(|step| step as usize).collect();
                    assert_eq!(pasts.past_steps(b).collect::<Vec<_>>(), past, "{actors} actors, step {b}");
                    let mut set = BitSet::default();
                    pasts.add_past(b, &mut set);
                    assert!(set.iter().eq(expected[b].iter()));
                    let mut some = BitSet::default();
                    (0..expected.len() as u32).step_by(5).for_each(|step| some.insert(step));
                    let outside = some.iter().filter(|&step| !expected[b].contains(step)).last();
                    assert_eq!(pasts.newest_outside(b, &some), outside.map(|step| step as usize));
                }
                let depth = [600, 40, 0, 511, 512, 700][round];
                pasts.truncate(depth);
                expected.truncate(depth);
            }
        }
    }

    #[test]
    fn a_step_comes_after_its_sender_and_the_previous_step_of_its_actor() {
        let mut pasts = Pasts::default();
        let mut expected: Vec<BitSet> = Vec::new();
        for at in 0..SHORT + 100 {
            let by = (at > 2 && at % 4 != 0).then_some(at * 5 / 7);
            let mut past = BitSet::default();
            past.insert(at as u32);
            let actor = (at * at % 5) as u32;
            let previous = pasts.last_of(actor);
            by.into_iter().chain(previous).for_each(|earlier| past.union_with(expected[earlier].words()));
            pasts.push_after(actor, by);
            assert_eq!(pasts.previous(at), previous);
            expected.push(past);
        }
        for (at, past) in expected.iter().enumerate() {
            assert!(pasts.past_steps(at).eq(past.iter().map(|step| step as usize)), "step {at}");
        }
    }

    #[test]
    fn the_memory_of_a_long_execution_follows_its_length() {
        let bytes = |steps: usize| {
            let mut pasts = Pasts::default();
            for at in 0..steps {
                // A server and a hundred clients that answer each other.
                let actor = if at % 2 == 0 { 0 } else { 1 + (at / 2 % 100) as u32 };
                pasts.push_after(actor, at.checked_sub(1));
            }
            pasts.chains.expect("this is a long execution").bytes()
        };
        assert!(bytes(40_000) < 12 * bytes(4_000), "{} and {}", bytes(40_000), bytes(4_000));
    }
}

//! Alternatives: where else the unfolding search has to go.
//!
//! After C, with the events of D to avoid, an alternative is a set J of known events that can follow C, contains
//! none of D, and has an event in conflict with each of D. What C itself is in conflict with is settled. For each
//! other event d, its *spike* is the list of events that could stand against it: those in immediate conflict with d that fit to C
//! and have nothing of D before them. One of each spike is chosen, the shortest spike first; a choice settles all
//! events that it is in conflict with and shortens the other spikes, and is taken back when one becomes empty.

use crate::udpor_unfolding::Unfolding;
use fixedbitset::FixedBitSet;

/// An event to avoid and what could stand against it.
struct Spike {
    avoided: u32,
    candidates: Vec<u32>,
}

impl Unfolding {
    /// An alternative to `avoided` after `configuration`, with everything before its events. If `most` is given,
    /// it is in conflict with that many of the newest at least, and not necessarily with the others.
    pub(crate) fn alternative(
        &self,
        configuration: impl Iterator<Item = u32>,
        avoided: &[u32],
        most: Option<usize>,
    ) -> Option<FixedBitSet> {
        let mut banned = FixedBitSet::with_capacity(self.events.len());
        configuration.for_each(|id| banned.union_with(&self.event(id).conflicts));
        let mut all = FixedBitSet::with_capacity(self.events.len());
        avoided.iter().for_each(|&id| all.insert(id as usize));
        let open = avoided.iter().rev().filter(|&&id| !banned.contains(id as usize));
        let mut spikes = Vec::new();
        for &avoided in open.take(most.map_or(usize::MAX, |k| k.max(1))) {
            let candidates = self.spike(avoided, &banned, &all);
            if candidates.is_empty() {
                return None;
            }
            spikes.push(Spike { avoided, candidates });
        }
        let mut chosen = Vec::new();
        self.stand(&spikes, &banned, &mut chosen).then(|| {
            let mut guide = FixedBitSet::with_capacity(self.events.len());
            for id in chosen {
                guide.union_with(&self.event(id).past);
                guide.grow_and_insert(id as usize);
            }
            guide
        })
    }

    fn spike(&self, avoided: u32, banned: &FixedBitSet, all: &FixedBitSet) -> Vec<u32> {
        let fits =
            |&id: &usize| !banned.contains(id) && !all.contains(id) && self.event(id as u32).past.is_disjoint(all);
        self.event(avoided).direct.ones().filter(fits).map(|id| id as u32).collect()
    }

    fn stand(&self, spikes: &[Spike], banned: &FixedBitSet, chosen: &mut Vec<u32>) -> bool {
        let Some(shortest) = spikes.iter().min_by_key(|spike| spike.candidates.len()) else { return true };
        for &candidate in &shortest.candidates {
            let mut next = banned.clone();
            next.union_with(&self.event(candidate).conflicts);
            let rest = spikes.iter().filter(|spike| !next.contains(spike.avoided as usize)).map(|spike| Spike {
                avoided: spike.avoided,
                candidates: spike.candidates.iter().copied().filter(|&c| !next.contains(c as usize)).collect(),
            });
            let rest: Vec<Spike> = rest.collect();
            if rest.iter().any(|spike| spike.candidates.is_empty()) {
                continue;
            }
            chosen.push(candidate);
            if self.stand(&rest, &next, chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }
}

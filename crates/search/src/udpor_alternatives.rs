//! Alternatives: where else the unfolding search has to go.
//!
//! After C, with the events of D to avoid, an alternative is a set J of known events that can follow C, contains
//! none of D, and has an event in conflict with each of D. What C itself is in conflict with is settled. For each
//! other event d, its *spike* is the list of events that could stand against it: those in immediate conflict with d that fit to C
//! and have nothing of D before them. One of each spike is chosen, the shortest spike first; a choice settles all
//! events that it is in conflict with and shortens the other spikes, and is taken back when one becomes empty.

use crate::udpor_excluded::Excluded;
use crate::udpor_rows::{Bits, disjoint};
use crate::udpor_unfolding::Unfolding;

/// An event to avoid and what could stand against it.
struct Spike {
    avoided: u32,
    candidates: Vec<u32>,
}

impl Unfolding {
    /// Whether there is an alternative to `avoided` after C; it is put into `guide`, with everything before its events. If `most`
    /// is given, it is in conflict with that many of the newest at least, and not necessarily with the others.
    pub(crate) fn alternative(
        &self,
        excluded: &Excluded,
        avoided: &[u32],
        all: &Bits,
        most: Option<usize>,
        guide: &mut Bits,
    ) -> bool {
        let open = avoided.iter().rev().filter(|&&id| excluded.fits(id));
        let mut spikes = Vec::new();
        for &avoided in open.take(most.map_or(usize::MAX, |k| k.max(1))) {
            let candidates = self.spike(avoided, excluded, all);
            if candidates.is_empty() {
                return false;
            }
            spikes.push(Spike { avoided, candidates });
        }
        let mut chosen = Vec::new();
        if !self.stand(&spikes, &mut chosen) {
            return false;
        }
        for id in chosen {
            guide.extend(self.past(id));
            guide.insert(id);
        }
        true
    }

    fn spike(&self, avoided: u32, excluded: &Excluded, all: &Bits) -> Vec<u32> {
        let stands = |&id: &u32| excluded.fits(id) && !all.contains(id) && disjoint(self.past(id), all.words());
        self.direct(avoided).filter(stands).collect()
    }

    fn stand(&self, spikes: &[Spike], chosen: &mut Vec<u32>) -> bool {
        let Some(shortest) = spikes.iter().min_by_key(|spike| spike.candidates.len()) else { return true };
        for &candidate in &shortest.candidates {
            let fits = |&other: &u32| !self.in_conflict(candidate, other);
            let rest = spikes.iter().filter(|spike| fits(&spike.avoided)).map(|spike| Spike {
                avoided: spike.avoided,
                candidates: spike.candidates.iter().copied().filter(fits).collect(),
            });
            let rest: Vec<Spike> = rest.collect();
            if rest.iter().any(|spike| spike.candidates.is_empty()) {
                continue;
            }
            chosen.push(candidate);
            if self.stand(&rest, chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }
}

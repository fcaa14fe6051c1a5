//! Alternatives: sets of events that lead the unfolding search to unexplored configurations.
//!
//! An alternative to D after C is a set J of known events that can follow C, contains no event of D, and contains,
//! for each event d of D, an event in conflict with d. Events of D that are in conflict with C itself need no such
//! counterpart. For each other event d, its *spike* is the list of possible counterparts: the events in immediate
//! conflict with d that are not in conflict with C and have no event of D in their past. The algorithm chooses one
//! event of each spike, beginning with the shortest spike. A choice settles all events of D that it is in conflict
//! with, and removes the events that it is in conflict with from the other spikes. If a spike becomes empty, the
//! algorithm backtracks.

use crate::driver::run::{Run, Stop};
use crate::reductions::udpor::excluded::Excluded;
use crate::reductions::udpor::unfolding::Unfolding;
use whippet_model::{BitSet, Machine, is_disjoint};

/// An event to avoid, with its possible counterparts.
struct Spike {
    avoided: u32,
    candidates: Vec<u32>,
}

impl Unfolding {
    /// Returns `true` if there is an alternative to `avoided` after C, and adds its events and their pasts to
    /// `guide`. If `most` is given, only that many of the newest events to avoid are considered, and the alternative
    /// need not be in conflict with the others. The search can take long, and looks at the limits.
    pub(crate) fn alternative<M: Machine>(
        &self,
        run: &mut Run<'_, M>,
        excluded: &Excluded,
        avoided: &[u32],
        all: &BitSet,
        most: Option<usize>,
        guide: &mut BitSet,
    ) -> Result<bool, Stop> {
        let open = avoided.iter().rev().filter(|&&id| excluded.fits(id));
        let mut spikes = Vec::new();
        for &avoided in open.take(most.map_or(usize::MAX, |k| k.max(1))) {
            let candidates = self.spike(avoided, excluded, all);
            if candidates.is_empty() {
                return Ok(false);
            }
            spikes.push(Spike { avoided, candidates });
        }
        let mut chosen = Vec::new();
        if !self.stand(run, &spikes, &mut chosen)? {
            return Ok(false);
        }
        for id in chosen {
            guide.union_with(self.past(id));
            guide.insert(id);
        }
        Ok(true)
    }

    fn spike(&self, avoided: u32, excluded: &Excluded, all: &BitSet) -> Vec<u32> {
        let stands = |&id: &u32| excluded.fits(id) && !all.contains(id) && is_disjoint(self.past(id), all.words());
        self.direct(avoided).filter(stands).collect()
    }

    fn stand<M: Machine>(&self, run: &mut Run<'_, M>, spikes: &[Spike], chosen: &mut Vec<u32>) -> Result<bool, Stop> {
        let Some(shortest) = spikes.iter().min_by_key(|spike| spike.candidates.len()) else { return Ok(true) };
        run.check_limits()?;
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
            if self.stand(run, &rest, chosen)? {
                return Ok(true);
            }
            chosen.pop();
        }
        Ok(false)
    }
}

//! An estimate of the number of traces, computed from the number of times that each was sampled.
//!
//! Chao's lower bound (Chao1): with f1 traces seen once and f2 traces seen twice, about f1² / (2 f2) traces were not
//! seen at all. This is the bias-corrected form, which is also defined for f2 = 0.

use rustc_hash::FxHashMap;
use whippet_model::Estimate;

/// The number of times that each trace was seen.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    seen: FxHashMap<u64, u32>,
    samples: u64,
    once: u64,
    twice: u64,
}

impl Tally {
    /// Counts a sample of the trace with this key.
    pub(crate) fn add(&mut self, key: u64) {
        self.samples += 1;
        let times = self.seen.entry(key).or_insert(0);
        *times = times.saturating_add(1);
        match times {
            1 => self.once += 1,
            2 => (self.once, self.twice) = (self.once - 1, self.twice + 1),
            3 => self.twice -= 1,
            _ => {}
        }
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.seen.capacity() * (size_of::<(u64, u32)>() + 1)
    }

    /// Returns the estimated number of traces.
    pub(crate) fn estimate(&self) -> Estimate {
        let (seen, once, twice) = (self.seen.len() as f64, self.once as f64, self.twice as f64);
        let rare = once * (once - 1.0).max(0.0) / 2.0;
        let unseen = rare / (twice + 1.0);
        let variance = if self.twice > 0 {
            let ratio = once / twice;
            twice * (ratio.powi(4) / 4.0 + ratio.powi(3) + ratio.powi(2) / 2.0)
        } else if self.once > 0 {
            let total = seen + unseen;
            rare + once * (2.0 * once - 1.0).powi(2) / 4.0 - once.powi(4) / (4.0 * total)
        } else {
            0.0
        };
        Estimate::new(seen + unseen, variance.max(0.0).sqrt()).with_seen(self.seen.len() as u64)
    }

    /// Returns a sentence that states the estimate.
    pub(crate) fn words(&self) -> String {
        let Estimate { total, error, .. } = self.estimate();
        let share = 100.0 * self.seen.len() as f64 / total.max(1.0);
        format!(
            "{} samples saw {} different traces, about {share:.0} % of an estimated {total:.0} (± {error:.0}): \
             what no sample saw is not known",
            self.samples,
            self.seen.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn what_was_seen_often_is_all_there_is() {
        let mut tally = Tally::default();
        (0..100).for_each(|k| tally.add(k % 5));
        let estimate = tally.estimate();
        assert_eq!((estimate.total, estimate.error, estimate.seen), (5.0, 0.0, Some(5)));
    }

    #[test]
    fn many_single_sightings_mean_many_more_traces() {
        let mut tally = Tally::default();
        // 10 traces once, 5 twice: 10·9 / (2·6) = 7.5 more.
        (0..10).for_each(|k| tally.add(k));
        (10..15).for_each(|k| (0..2).for_each(|_| tally.add(k)));
        let estimate = tally.estimate();
        assert!((estimate.total - 22.5).abs() < 1e-9 && estimate.error > 0.0);
    }
}

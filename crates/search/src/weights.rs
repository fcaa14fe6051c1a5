//! How large the whole tree is, guessed from the part that has been explored.
//!
//! Weighted backtrack estimator: a leaf below nodes with b1, b2, … children stands for the fraction 1/(b1·b2·…)
//! of the tree. The fractions of the finished leaves add up to the part explored; executions divided by
//! it is the guess. Its error is the spread of what single leaves would have guessed, scaled by what
//! is still open. A search that does not weigh its leaves has no estimate.

use whippet_model::Estimate;

/// What the finished leaves weigh.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Weights {
    /// The sum of the fractions.
    part: f64,
    /// The sum of their inverses.
    inverses: f64,
}

impl Weights {
    /// A leaf was finished.
    #[inline]
    pub(crate) fn leaf(&mut self, weight: f64) {
        self.part += weight;
        self.inverses += weight.recip();
    }

    pub(crate) fn add(&mut self, other: &Weights) {
        self.part += other.part;
        self.inverses += other.inverses;
    }

    pub(crate) fn estimate(&self, executions: u64) -> Option<Estimate> {
        if self.part <= 0.0 || executions == 0 {
            return None;
        }
        let part = self.part.min(1.0);
        let total = executions as f64 / part;
        let variance = (self.inverses / part - total * total).max(0.0);
        Some(Estimate { total, error: variance.sqrt() * (1.0 - part), seen: None })
    }
}

#[cfg(test)]
mod tests {
    use super::Weights;

    #[test]
    fn a_regular_tree_is_guessed_from_its_first_leaf() {
        let mut weights = Weights::default();
        assert!(weights.estimate(0).is_none());
        weights.leaf(1.0 / 24.0);
        let guess = weights.estimate(1).unwrap();
        assert!((guess.total - 24.0).abs() < 1e-9 && guess.error < 1e-3);
    }

    #[test]
    fn a_finished_tree_has_no_error() {
        let mut weights = Weights::default();
        [0.5, 0.25, 0.25].into_iter().for_each(|w| weights.leaf(w));
        let guess = weights.estimate(3).unwrap();
        assert!((guess.total - 3.0).abs() < 1e-9 && guess.error.abs() < 1e-9);
    }
}

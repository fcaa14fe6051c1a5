//! An estimate of the size of the search tree, computed from the explored part.
//!
//! Weighted backtrack estimator: a leaf below nodes with b1, b2, … children has the weight 1/(b1·b2·…), its fraction
//! of a tree in which siblings have subtrees of equal size. The sum of the weights of the finished leaves is the
//! explored fraction, and the number of executions divided by it is the estimate of the total. The error of the
//! estimate is the standard deviation of the totals that single leaves suggest, scaled by the unexplored fraction. The
//! search with wakeup trees computes the fraction from its current execution; other searches have no estimate.
//!
//! Open work has its share of the weight, too: a revisit counts as a child of the step that requested it. Where the
//! branches of a step are found only by executing it, each branch but the last takes half of the remaining weight.

use serde::{Deserialize, Serialize};
use whippet_model::Estimate;

/// Removes from `left`, the remaining weight of a choice, the share of one of its branches, and returns it: half if
/// there are `more` branches, everything otherwise.
#[inline]
pub(crate) fn way(left: &mut f64, more: bool) -> f64 {
    let part = if more { *left / 2.0 } else { *left };
    *left -= part;
    part
}

/// The accumulated weights of the finished leaves.
#[derive(Copy, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Weights {
    /// The sum of the weights.
    part: f64,
    /// The sum of the inverses of the weights.
    inverses: f64,
}

impl Weights {
    /// Adds a finished leaf.
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
        Some(Estimate::new(total, variance.sqrt() * (1.0 - part)))
    }
}

#[cfg(test)]
mod tests {
    use super::Weights;
    use crate::Options;
    use crate::driver::control::Control;
    use crate::driver::run::{Run, Stop};
    use crate::reductions::{exhaustive, revisit};
    use crate::toy::{Action, Program, Target, Toy};

    #[test]
    fn a_regular_tree_is_guessed_from_its_first_leaf() {
        let mut weights = Weights::default();
        assert!(weights.estimate(0).is_none());
        weights.leaf(1.0 / 24.0);
        let guess = weights.estimate(1).unwrap();
        assert!((guess.total - 24.0).abs() < 1e-9 && guess.error < 1e-3);
    }

    /// Runs a complete search. Returns the number of executions and the sum of their weights.
    fn all(program: &Program, search: fn(&mut Run<'_, Toy>) -> Result<(), Stop>) -> (u64, f64) {
        let options = Options::default();
        let control = Control::new(&options.limits);
        let mut run = Run::new(program, &options, &control).unwrap();
        search(&mut run).unwrap();
        (run.counters.executions, run.weights.part)
    }

    #[test]
    fn the_parts_of_a_search_add_up_to_the_whole() {
        use Action::{Choose, Send};
        // A0 receives a message from main, one from A1 and one from A2, which are sent after A1 and A2 have received
        // messages from main: two revisits. And A2 chooses one of six values.
        let program = Program::new(3).main(0, 0).main(1, 0).main(2, 0).on(1, 0, [Send(Target::Actor(0), 1)]).on(
            2,
            0,
            [Choose(6), Send(Target::Actor(0), 2)],
        );
        let (executions, part) = all(&program, revisit::search);
        assert_eq!(executions, 6 * 6);
        assert!((part - 1.0).abs() < 1e-9, "{part}");
        let (executions, part) = all(&program, exhaustive::search);
        assert!(executions > 6 * 6 && (part - 1.0).abs() < 1e-9, "{executions} {part}");
    }

    #[test]
    fn a_finished_tree_has_no_error() {
        let mut weights = Weights::default();
        [0.5, 0.25, 0.25].into_iter().for_each(|w| weights.leaf(w));
        let guess = weights.estimate(3).unwrap();
        assert!((guess.total - 3.0).abs() < 1e-9 && guess.error.abs() < 1e-9);
    }
}

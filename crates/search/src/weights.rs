//! How large the whole tree is, guessed from the part that has been explored.
//!
//! Weighted backtrack estimator: a leaf below nodes with b1, b2, … children stands for the fraction 1/(b1·b2·…)
//! of the tree. The fractions of the finished leaves add up to the part explored; executions divided by
//! it is the guess. Its error is the spread of what single leaves would have guessed, scaled by what
//! is still open. A search that does not weigh its leaves has no estimate.
//!
//! Whatever is known to be open has its part: a revisit counts as a child of the step that asked for it, and
//! where a step has ways that only running it tells of, each takes half of what is left.

use whippet_model::Estimate;

/// The part of what is `left` of a choice's weight that one of its ways gets, if there are `more` of them or not.
#[inline]
pub(crate) fn way(left: &mut f64, more: bool) -> f64 {
    let part = if more { *left / 2.0 } else { *left };
    *left -= part;
    part
}

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
    use crate::control::Control;
    use crate::run::{Run, Stop};
    use crate::toy::{Action, Program, Target, Toy};
    use crate::{Options, exhaustive, revisit};
    use whippet_model::Program as _;

    #[test]
    fn a_regular_tree_is_guessed_from_its_first_leaf() {
        let mut weights = Weights::default();
        assert!(weights.estimate(0).is_none());
        weights.leaf(1.0 / 24.0);
        let guess = weights.estimate(1).unwrap();
        assert!((guess.total - 24.0).abs() < 1e-9 && guess.error < 1e-3);
    }

    /// Runs a search to its end: executions, and the parts of the tree that they stand for.
    fn all(program: &Program, search: fn(&mut Run<'_, Toy>) -> Result<(), Stop>) -> (u64, f64) {
        let options = Options::default();
        let control = Control::new(&options.limits);
        let mut run = Run::new(program.machine().unwrap(), &options, &control);
        search(&mut run).unwrap();
        (run.counters.executions, run.weights.part)
    }

    #[test]
    fn the_parts_of_a_search_add_up_to_the_whole() {
        use Action::{Choose, Send};
        // A0 hears from main, and from A1 and A2, which hear from main: two revisits; and A2 throws a die.
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

//! Exhaustive search with an explicit stack of open choices, so that they can be given to other workers. With a
//! single worker the plain recursion of `exhaustive` is used instead.

use crate::driver::parallel::{Divisible, Share, Subtree, Work};
use crate::driver::run::{Run, Stop};
use crate::driver::weights::way;
use whippet_model::{Choice, Machine};

/// The open choices of one configuration.
#[derive(Debug)]
struct Level {
    depth: usize,
    /// The range of this level's choices on the stack of choices, and the next one to execute.
    from: usize,
    next: usize,
    end: usize,
    /// The weight of each choice: see `weights.rs`.
    weight: f64,
    /// The part of the next choice's weight that remains for its further branches.
    left: f64,
}

impl Level {
    /// Returns the weight of the last choice, which has just been removed from the level.
    fn weight_of_last(&self) -> f64 {
        if self.end == self.next { self.left } else { self.weight }
    }
}

/// The position of the search.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    levels: Vec<Level>,
    choices: Vec<Choice>,
}

impl Levels {
    fn go_on<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        while let Some(level) = self.levels.last_mut() {
            if level.next == level.end {
                self.choices.truncate(level.from);
                self.levels.pop();
                continue;
            }
            run.rewind(level.depth);
            let other = run.execute(self.choices[level.next])?.next_branch;
            let weight = way(&mut level.left, other.is_some());
            match other {
                Some(branch) => self.choices[level.next].branch = branch,
                None => (level.next, level.left) = (level.next + 1, level.weight),
            }
            self.open(run, weight)?;
            if share.wanted() {
                self.give(run, share);
            }
        }
        Ok(())
    }

    /// Opens a level with the choices of the current configuration, or completes the execution if nothing is enabled.
    fn open<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> Result<(), Stop> {
        let from = self.choices.len();
        run.enabled(&mut self.choices)?;
        let end = self.choices.len();
        if end == from {
            run.weights.leaf(weight);
            return run.complete();
        }
        let weight = weight / (end - from) as f64;
        self.levels.push(Level { depth: run.depth(), from, next: from, end, weight, left: weight });
        Ok(())
    }

    /// Gives away the shallowest open choice, unless it is the only one.
    #[cold]
    fn give<M: Machine>(&mut self, run: &Run<'_, M>, share: &impl Share) {
        let open: usize = self.levels.iter().map(|level| level.end - level.next).sum();
        let Some(level) = self.levels.iter_mut().find(|level| level.next < level.end) else { return };
        if open > 1 {
            level.end -= 1;
            let path = (0..level.depth).map(|at| (run.machine().step(at).choice, true)).collect();
            share.give(Subtree { path, work: Work::Choice(self.choices[level.end], level.weight_of_last()) });
        }
    }
}

impl Divisible for Levels {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        self.open(run, 1.0)?;
        self.go_on(run, share)
    }

    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, subtree: Subtree, share: &impl Share) -> Result<(), Stop> {
        run.rewind(0);
        for &(choice, _) in &subtree.path {
            run.redo(choice)?;
        }
        let Work::Choice(choice, weight) = subtree.work else { unreachable!("our bug: nothing is revisited here") };
        self.choices.push(choice);
        self.levels.push(Level { depth: run.depth(), from: 0, next: 0, end: 1, weight, left: weight });
        self.go_on(run, share)
    }
}

//! Exhaustive search with an explicit stack of open choices, so that they can be given to other workers and saved. With a
//! single worker the plain recursion of `exhaustive` is used instead.

use crate::driver::parallel::{Divisible, Share};
use crate::driver::parts::{self, Mark, Part, PartStep, PartTree};
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
    /// Returns the weight of an open choice.
    fn weight_of(&self, choice: usize) -> f64 {
        if choice == self.next { self.left } else { self.weight }
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
                share.serve(self, run)?;
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
}

/// Returns step `at` of the machine as a step of a path.
fn path_step<M: Machine>(machine: &M, at: usize) -> PartStep {
    let step = machine.step(at);
    PartStep { thread: step.thread, branch: step.choice.branch, mark: Mark::Plain }
}

impl Divisible for Levels {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part, share: &impl Share) -> Result<(), Stop> {
        let Some((&last, path)) = part.steps.split_last() else {
            run.rewind(0);
            self.open(run, part.weight)?;
            return self.go_on(run, share);
        };
        let common = parts::common(run.machine(), path);
        run.rewind(common);
        path[common..].iter().try_for_each(|&step| parts::redo(run, step))?;
        let choice = parts::find(run, last)?;
        self.choices.push(choice);
        let (depth, weight) = (run.depth(), part.weight);
        self.levels.push(Level { depth, from: 0, next: 0, end: 1, weight, left: weight });
        self.go_on(run, share)
    }

    fn give<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<Option<Part>, Stop> {
        let open: usize = self.levels.iter().map(|level| level.end - level.next).sum();
        let Some(level) = self.levels.iter_mut().find(|level| level.next < level.end) else { return Ok(None) };
        if open == 1 {
            return Ok(None);
        }
        level.end -= 1;
        let choice = self.choices[level.end];
        let last = PartStep::of(run.machine(), choice, Mark::Plain);
        let steps = (0..level.depth).map(|at| path_step(run.machine(), at)).chain([last]).collect();
        Ok(Some(Part { steps, weight: level.weight_of(level.end) }))
    }

    fn open_parts<M: Machine>(&mut self, run: &mut Run<'_, M>, open: &mut PartTree) -> Result<(), Stop> {
        let mut depth = 0;
        for level in &self.levels {
            open.go_to(depth);
            (depth..level.depth).for_each(|at| open.step(path_step(run.machine(), at)));
            depth = level.depth;
            for k in level.next..level.end {
                open.step(PartStep::of(run.machine(), self.choices[k], Mark::Plain));
                open.open(level.weight_of(k));
                open.go_to(depth);
            }
        }
        Ok(())
    }
}

//! The exhaustive search once more, with its open choices on a stack of its own, so that they can be given
//! to other workers. With one worker the plain recursion of `exhaustive` is used.

use crate::parallel::{Divisible, Share, Task, Work};
use crate::run::{Run, Stop};
use crate::weights::way;
use whippet_model::{Choice, Machine};

/// The open choices of one configuration.
#[derive(Debug)]
struct Level {
    depth: usize,
    /// Its choices on the stack of choices, and the next one to take.
    from: usize,
    next: usize,
    end: usize,
    /// The part of the tree that each choice stands for.
    weight: f64,
    /// What is left of it for further ways of the next choice.
    left: f64,
}

impl Level {
    /// What the last choice stands for, which has just been taken away from the level.
    fn weight_of_last(&self) -> f64 {
        if self.end == self.next { self.left } else { self.weight }
    }
}

/// Where the search is.
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
            run.execute(self.choices[level.next])?;
            let other = run.machine.next_branch();
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

    /// Lists the choices of the current configuration, or completes the execution.
    fn open<M: Machine>(&mut self, run: &mut Run<'_, M>, weight: f64) -> Result<(), Stop> {
        let from = self.choices.len();
        run.enabled(&mut self.choices);
        let end = self.choices.len();
        if end == from {
            run.weights.leaf(weight);
            return run.complete();
        }
        let weight = weight / (end - from) as f64;
        self.levels.push(Level { depth: run.depth(), from, next: from, end, weight, left: weight });
        Ok(())
    }

    /// Gives the shallowest open choice away, if something is left to do here.
    #[cold]
    fn give<M: Machine>(&mut self, run: &Run<'_, M>, share: &impl Share) {
        let open: usize = self.levels.iter().map(|level| level.end - level.next).sum();
        let Some(level) = self.levels.iter_mut().find(|level| level.next < level.end) else { return };
        if open > 1 {
            level.end -= 1;
            let path = (0..level.depth).map(|at| (run.machine.step(at).choice, true)).collect();
            share.give(Task { path, work: Work::Choice(self.choices[level.end], level.weight_of_last()) });
        }
    }
}

impl Divisible for Levels {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, share: &impl Share) -> Result<(), Stop> {
        self.open(run, 1.0)?;
        self.go_on(run, share)
    }

    fn part<M: Machine>(&mut self, run: &mut Run<'_, M>, task: Task, share: &impl Share) -> Result<(), Stop> {
        run.rewind(0);
        for &(choice, _) in &task.path {
            run.redo(choice)?;
        }
        let Work::Choice(choice, weight) = task.work else { unreachable!("our bug: nothing is revisited here") };
        self.choices.push(choice);
        self.levels.push(Level { depth: run.depth(), from: 0, next: 0, end: 1, weight, left: weight });
        self.go_on(run, share)
    }
}

//! The revisit search in parts: an open choice or an open revisit, at the end of the path to it.
//!
//! The steps of a path are [canonical](Mark::Canonical) or not; an open revisit ends with the message and the number of
//! the step that it [replaces](Mark::Replaces). Handles of messages are valid only along the path on which the message was
//! sent, and detours leave that path. So the machine executes the paths again to find out the names.

use super::stack::StackStep;
use super::{Level, Revisit, Revisits};
use crate::driver::parallel::{Divisible, Share};
use crate::driver::parts::{self, Mark, Part, PartStep, PartTree};
use crate::driver::run::{Run, Stop};
use whippet_model::{Branch, Machine, Pending};

fn mark(canonical: bool) -> Mark {
    if canonical { Mark::Canonical } else { Mark::Plain }
}

/// Moves the machine to the end of a path, and returns the steps of the path.
fn names<M: Machine>(run: &mut Run<'_, M>, path: &[StackStep]) -> Result<Vec<PartStep>, Stop> {
    run.rewind(common(run.machine(), path));
    while run.depth() < path.len() {
        run.redo(path[run.depth()].choice)?;
    }
    let machine = run.machine();
    let name = |(at, step): (usize, &StackStep)| PartStep {
        thread: machine.step(at).thread,
        branch: step.choice.branch,
        mark: mark(step.canonical),
    };
    Ok(path.iter().enumerate().map(name).collect())
}

/// Returns the number of steps that the machine has in common with a path.
fn common<M: Machine>(machine: &M, path: &[StackStep]) -> usize {
    let taken = (0..machine.depth()).map(|at| machine.step(at).choice);
    taken.zip(path).take_while(|(taken, step)| *taken == step.choice).count()
}

/// Returns the last step of the path of a revisit. The machine is on the path of the revisit.
fn last_step<M: Machine>(machine: &M, revisit: &Revisit) -> PartStep {
    let thread = machine.thread(Pending(revisit.message));
    PartStep { thread, branch: Branch::FIRST, mark: Mark::Replaces(revisit.at) }
}

/// An open choice or revisit that is to be given away.
enum Given {
    /// The choice at the end of the list of a level.
    Choice { level: usize },
    /// A revisit, by its place in the list of revisits.
    Revisit { level: usize, place: usize },
}

impl Revisits {
    /// Returns the stack as it was before the detours above a level saved parts of it.
    fn path(&self, level: usize) -> Vec<StackStep> {
        let mut steps = self.stack.steps().to_vec();
        let mut next = None;
        let detours = self.levels[level + 1..].iter().filter(|level| level.detour).count();
        for &suffix in self.suffixes.iter().rev().take(detours) {
            steps.truncate(suffix.from);
            steps.extend_from_slice(self.saved.steps(suffix, next));
            next = Some(suffix);
        }
        steps
    }

    /// Returns the place behind the revisits that were requested between a level and the next.
    fn asked(&self, level: usize) -> usize {
        self.levels.get(level + 1).map_or(self.revisits.len(), |above| above.revisits)
    }

    /// Returns the shallowest open choice or revisit, if something else is open, too.
    fn shallowest(&self) -> Option<Given> {
        let top = self.levels.len() - 1;
        (0..=top).find_map(|level| {
            let (open, asked) = (&self.levels[level], self.asked(level));
            if open.end - open.next > usize::from(level == top) {
                return Some(Given::Choice { level });
            }
            (asked > open.revisits).then(|| Given::Revisit { level, place: asked - 1 })
        })
    }

    /// Moves the machine back onto the stack.
    fn back_to_stack<M: Machine>(&self, run: &mut Run<'_, M>) {
        let common = common(run.machine(), self.stack.steps());
        run.rewind(common);
    }

    /// Moves the machine and the stack to the end of a path.
    fn follow<M: Machine>(&mut self, run: &mut Run<'_, M>, path: &[PartStep]) -> Result<(), Stop> {
        let flags = self.stack.steps().iter().zip(path);
        let alike = flags.take_while(|(step, wanted)| mark(step.canonical) == wanted.mark).count();
        let common = parts::common(run.machine(), path).min(alike);
        run.rewind(common);
        self.stack.truncate(common);
        for &step in &path[common..] {
            if matches!(step.mark, Mark::Replaces(_)) {
                return Err(parts::misfit(run.depth()));
            }
            parts::redo(run, step)?;
            self.stack.push(run.newest_delivery(), step.mark == Mark::Canonical);
        }
        Ok(())
    }

    /// Opens a level without choices at the end of the stack.
    fn begin(&mut self, weight: f64, first: bool) {
        let depth = self.stack.len();
        let level = Level { depth, from: 0, next: 0, end: 0, revisits: 0, first, detour: false, weight, left: weight };
        self.levels.push(level);
    }
}

impl Divisible for Revisits {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part, share: &impl Share) -> Result<(), Stop> {
        let Some((&last, path)) = part.steps.split_last() else {
            self.follow(run, &[])?;
            return self.everything(run, share);
        };
        self.follow(run, path)?;
        if let Mark::Replaces(at) = last.mark {
            let by = run.depth().checked_sub(1).filter(|&by| at as usize <= by);
            let sent = by.map_or(0..0, |by| run.machine().sent(by));
            let message = run.machine().find(last.thread).filter(|message| sent.contains(&message.0));
            let (Some(by), Some(message)) = (by, message) else { return Err(parts::misfit(run.depth())) };
            self.begin(0.0, false);
            self.revisits.push(Revisit { at, message: message.0, by: by as u32, weight: part.weight });
        } else {
            let choice = parts::find(run, last)?;
            self.choices.push(choice);
            self.begin(part.weight, last.mark == Mark::Canonical);
            self.levels[0].end = 1;
        }
        self.go_on(run, share)
    }

    fn give<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<Option<Part>, Stop> {
        let Some(given) = self.shallowest() else { return Ok(None) };
        let (Given::Choice { level } | Given::Revisit { level, .. }) = given;
        let mut steps = names(run, &self.path(level))?;
        let weight = match given {
            Given::Choice { level } => {
                let level = &mut self.levels[level];
                level.end -= 1;
                steps.truncate(level.depth);
                steps.push(PartStep::of(run.machine(), self.choices[level.end], Mark::Plain));
                if level.end == level.next { level.left } else { level.weight }
            }
            Given::Revisit { level, place } => {
                let revisit = self.revisits.remove(place);
                self.levels[level + 1..].iter_mut().for_each(|above| above.revisits -= 1);
                steps.truncate(revisit.by as usize + 1);
                steps.push(last_step(run.machine(), &revisit));
                revisit.weight
            }
        };
        self.back_to_stack(run);
        Ok(Some(Part { steps, weight }))
    }

    /// Adds the parts from the newest level down, so that each place on the path is visited once.
    fn open_parts<M: Machine>(&mut self, run: &mut Run<'_, M>, open: &mut PartTree) -> Result<(), Stop> {
        let (mut path, mut suffixes, mut next) = (self.stack.steps().to_vec(), self.suffixes.iter().rev(), None);
        open.follow(&names(run, &path)?);
        for (k, level) in self.levels.iter().enumerate().rev() {
            for revisit in self.revisits[level.revisits..self.asked(k)].iter().rev() {
                open.go_to(revisit.by as usize + 1);
                open.step(last_step(run.machine(), revisit));
                open.open(revisit.weight);
            }
            for choice in level.next..level.end {
                open.go_to(level.depth);
                let canonical = level.first && choice == level.next;
                open.step(PartStep::of(run.machine(), self.choices[choice], mark(canonical)));
                open.open(if choice == level.next { level.left } else { level.weight });
            }
            if level.detour {
                let suffix = *suffixes.next().expect("a detour saved a suffix");
                path.truncate(suffix.from);
                path.extend_from_slice(self.saved.steps(suffix, next));
                next = Some(suffix);
                open.follow(&names(run, &path)?);
            }
        }
        self.back_to_stack(run);
        Ok(())
    }
}

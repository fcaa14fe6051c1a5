//! Reverse search over detours: explores each trace once, in parts that are independent of each other.
//!
//! Wakeup trees ([`crate::reductions::optimal::wakeup`]) remember what was explored and what is to be explored, and both can
//! grow exponentially. This search remembers neither. A [`Part`] of its tree is a path, and whoever has the path can explore the
//! part: the search finds there what belongs to it, and nothing else. The idea is that of parsimonious optimal DPOR (Abdulla,
//! Atig, Das, Jonsson, Sagonas, CAV 2024); the rules are different, because they have to fit machines of which nothing is known but
//! which steps commute.
//!
//! # The tree
//!
//! At each configuration π of a path the search takes a *default*: a branch e of a thread p that is enabled there. Every trace T that
//! continues π belongs to one of these:
//! * a branch of p can be the first event of T behind π. The search takes e, and opens a part for each other branch;
//! * none can. Then T contains events that *affect* p, and that happen after no other event behind π that affects p, nor after
//!   p's next step. An event affects p if it conflicts with a branch of p, or changes which branches p has. T belongs to the
//!   one with the lowest rank, x, and to the exact past v of x behind π. The part is π, then v, then x: a *detour* with the head x.
//!
//! A detour imposes two constraints on what follows ([`constraints`]): the next step of p cannot have been possible at π already, and no
//! event of lower rank affects p. A step that violates a constraint is never taken, since all that follows violates it as well. So
//! each trace has one path. After the head, p goes next if it can, because its step usually decides what affects it; where each
//! enabled step violates a constraint, the execution is blocked.
//!
//! # The detours of an execution
//!
//! To find each detour once, one execution is responsible for it ([`detours`]): let C = π·e·v. Since e is independent of v, C is a
//! configuration below π·e. Exactly one path leads to it: take the default, unless it would prevent an event of C; then take the
//! detour that C requires. The execution that continues this path with defaults is responsible. It recognizes this by itself: of the detours and
//! other branches on its path behind e, all are in v (*parsimony*), and each is required by an event of C.
//!
//! So when an execution has ended, the search goes through its defaults e for which everything behind e that is no default is
//! independent of e. For each thread q that could act without e, it looks for the sets v by which q's next event is affected, beginning
//! with those events that must be in v, and growing this set by events that affect q.
//!
//! # Why nothing is missing, and nothing is explored twice
//!
//! Let T be a trace that continues π and violates no constraint of π. Its first event behind π violates none, so there is a default
//! e. In the first case above, T continues a part that violates no constraint. In the second case, the detour (π, v, x) is found by the execution
//! responsible for it: this execution is explored, by induction on the number of steps behind π·e, because e and v
//! violate no constraint of π (whether an event violates one depends only on its past), and because q's event after v is found by growing: as long as
//! a set u ⊂ v is not all of v, some event of v affects q after u; otherwise q's event after v would be possible after u, and its
//! past would be in u. The cases exclude each other, x is unique, and each detour is found by one execution: no trace is explored twice.
//!
//! All this relies only on the guarantee that independent steps commute. It does not rely on fixed footprints, nor on steps that stay
//! enabled.
//!
//! # Costs
//!
//! The open parts that one execution leaves are as many as the detours that it is responsible for: usually fewer than the square of
//! its length. But a step that conflicts with k independent events has 2^k pasts, each of which is a detour. A disabled operation may become
//! enabled after any steps, unless the machine knows what it waits for ([`Blockers`](whippet_model::Blockers)): without that, all sets of steps are
//! tried, up to a limit ([`grow`]).

mod constraints;
mod default;
mod detours;
mod grow;
mod path;
#[cfg(test)]
mod tests;

use crate::driver::parallel::{Divisible, Share};
use crate::driver::parts::{self, Mark, Part, PartStep, PartTree};
use crate::driver::run::{Run, Stop};
use default::DefaultTouches;
use path::Path;
use whippet_model::{Branch, Choice, Machine, Name};

/// Explores each trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    if run.prunes() {
        return Err(Stop::unsupported("parsimonious: not available for programs with a pruning rule of their own"));
    }
    Search::new(run.machine()).explore(run, &Part { steps: Vec::new(), weight: 1.0 }, &())
}

/// The state of the search: its open parts. The path only saves time.
pub(crate) struct Search {
    open: Vec<Part>,
    path: Path,
    choices: Vec<Choice>,
}

impl Search {
    pub(crate) fn new<M: Machine>(machine: &M) -> Search {
        Search { open: Vec::new(), path: Path::new(machine), choices: Vec::new() }
    }

    /// Explores the execution that begins with the path of a part, and opens the parts that it is responsible for.
    fn execute<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part) -> Result<(), Stop> {
        if !self.replay(run, part)? {
            return Ok(());
        }
        let mut next = match part.steps.last() {
            Some(&PartStep { mark: Mark::Head { against, .. }, .. }) => Some(against),
            _ => None,
        };
        while self.advance(run, next.take())? {}
        let first = self.open.len();
        detours::find(run, &self.path, &mut self.open)?;
        // The deepest ones were found first, and are explored first.
        self.open[first..].reverse();
        Ok(())
    }

    /// Takes the path of a part. Returns `false` if its last step is a branch that violates a constraint.
    fn replay<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part) -> Result<bool, Stop> {
        let common = self.path.common(part);
        self.path.truncate(common);
        run.rewind(common);
        self.path.go(run, common)?;
        for (at, step) in part.steps.iter().enumerate().skip(common) {
            self.begin_detour(run, part, at)?;
            let choice = parts::find(run, *step)?;
            if let Mark::Head { base, .. } = step.mark
                && self.path.begun.as_ref().is_none_or(|begun| begun.0 != base as usize)
            {
                return Err(parts::misfit(at));
            }
            let several = self.has_several(run, choice)?;
            let is_new = at + 1 == part.steps.len();
            let executed = if is_new { run.execute(choice)? } else { run.redo(choice)? };
            self.path.push(run.machine(), executed, several, step.mark);
            if is_new && step.mark == Mark::Other {
                if let Some(branch) = executed.next_branch {
                    self.open_branch(at, step.thread, branch);
                }
                return Ok(!constraints::forbid_newest(run, &self.path)?);
            }
        }
        Ok(true)
    }

    /// Finds what the default touches that the part avoids by a detour from here, if there is one.
    fn begin_detour<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part, at: usize) -> Result<(), Stop> {
        let head = part.steps[at..].iter().find(|step| step.mark != Mark::Via);
        if let Some(&PartStep { mark: Mark::Head { base, against, branch }, .. }) = head
            && base as usize == at
        {
            self.path.begun = Some((at, DefaultTouches::find(run, &self.path, against, branch)?));
        }
        Ok(())
    }

    /// Returns `true` if several branches of a thread are listed.
    fn has_several<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<bool, Stop> {
        if !default::is_narrow(run.profile()) || run.profile().one_choice_per_thread {
            return Ok(false);
        }
        self.choices.clear();
        run.all_enabled(&mut self.choices)?;
        Ok(self.choices.iter().filter(|other| other.what == choice.what).count() > 1)
    }

    /// Opens the part in which the step at `at` takes another branch.
    fn open_branch(&mut self, at: usize, thread: Name, branch: Branch) {
        let mut part = self.path.part(at);
        part.steps.push(PartStep { thread, branch, mark: Mark::Other });
        self.open.push(part);
    }

    /// Takes a default, of the thread `next` if that is possible. Returns `false` at the end of the execution.
    fn advance<M: Machine>(&mut self, run: &mut Run<'_, M>, next: Option<Name>) -> Result<bool, Stop> {
        let mut choices = Vec::new();
        run.enabled(&mut choices)?;
        if choices.is_empty() {
            run.complete()?;
            return Ok(false);
        }
        let next = next.and_then(|thread| run.machine().find(thread));
        let mut threads: Vec<_> = choices.iter().map(|choice| choice.what).collect();
        threads.dedup();
        threads.sort_by_key(|what| Some(*what) != next);
        for what in threads {
            let listed: Vec<Choice> = choices.iter().copied().filter(|choice| choice.what == what).collect();
            if self.take_default(run, &listed)? {
                return Ok(true);
            }
        }
        run.blocked();
        run.given_up()?;
        Ok(false)
    }

    /// Takes the first branch of a thread that violates no constraint, and opens those behind it. Returns `false` if
    /// there is none.
    fn take_default<M: Machine>(&mut self, run: &mut Run<'_, M>, listed: &[Choice]) -> Result<bool, Stop> {
        let at = self.path.len();
        for (k, choice) in listed.iter().enumerate() {
            let mut branch = Some(choice.branch);
            while let Some(tried) = branch {
                let executed = run.execute(Choice { branch: tried, ..*choice })?;
                self.path.push(run.machine(), executed, listed.len() > 1, Mark::Plain);
                if !constraints::forbid_newest(run, &self.path)? {
                    let thread = self.path.event(at).thread;
                    for other in listed[k + 1..].iter().map(|other| other.branch).chain(executed.next_branch) {
                        self.open_branch(at, thread, other);
                    }
                    return Ok(true);
                }
                self.path.truncate(at);
                run.rewind(at);
                branch = executed.next_branch;
            }
        }
        Ok(false)
    }
}

impl Divisible for Search {
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part, share: &impl Share) -> Result<(), Stop> {
        self.open.push(part.clone());
        while let Some(part) = self.open.pop() {
            self.execute(run, &part)?;
            if share.wanted() {
                share.serve(self, run)?;
            }
        }
        Ok(())
    }

    fn give<M: Machine>(&mut self, _: &mut Run<'_, M>) -> Result<Option<Part>, Stop> {
        // The oldest part begins at the shallowest default, or was opened long ago.
        Ok((self.open.len() > 1).then(|| self.open.remove(0)))
    }

    fn open_parts<M: Machine>(&mut self, _: &mut Run<'_, M>, open: &mut PartTree) -> Result<(), Stop> {
        self.open.iter().for_each(|part| open.add(part));
        Ok(())
    }
}

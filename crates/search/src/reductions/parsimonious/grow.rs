//! Tries an operation after growing sets of steps, and so finds the detours of which it is the head.
//!
//! Each set of steps is reached once: a step that affects the operation is either added to the set, with its past, or excluded
//! from all further sets.

use super::constraints;
use super::default::{DefaultTouches, branches, is_narrow, names_of_branches};
use super::path::Path;
use crate::driver::parts::{Mark, Part, PartStep};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{ActorNames, EventLabel};
use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Dependence, Machine, Name, Touch, conflict};

/// The search for detours that avoid one default and have one operation as their head.
pub(crate) struct Growth<'a> {
    pub(crate) path: &'a Path,
    /// The position of the default, what it touches, and the branches of its thread, if steps that do not conflict with any of them
    /// may change them.
    pub(crate) at: usize,
    pub(crate) touches: &'a DefaultTouches,
    pub(crate) branches: &'a [Branch],
    /// The thread of the operation.
    pub(crate) thread: Name,
    /// The names of the actors in the machine's configuration.
    pub(crate) names: ActorNames,
    pub(crate) out: &'a mut Vec<Part>,
    /// The number of sets after which the operation was disabled for a reason that is not known.
    pub(crate) unknown: usize,
}

/// The maximal number of sets that are tried if nothing is known about what the operation waits for.
const MOST_UNKNOWN: usize = 20_000;

impl Growth<'_> {
    /// Moves the machine to the configuration before the default, and then executes these steps.
    pub(crate) fn go_to<M: Machine>(&mut self, run: &mut Run<'_, M>, steps: &[usize]) -> Result<(), Stop> {
        run.rewind(self.at);
        self.path.go(run, self.at)?;
        self.names.truncate(self.at);
        for &step in steps {
            self.path.retake(run, step)?;
            self.names.push(run.machine());
        }
        Ok(())
    }

    /// Tries the operation after the steps `taken`, which the machine has just executed, and then after these and further ones that are
    /// `allowed`.
    pub(crate) fn grow<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        taken: &[usize],
        mut allowed: Vec<bool>,
    ) -> Result<(), Stop> {
        run.check_limits()?;
        let clocks = &self.path.record.clocks;
        let found = branches(run, self.thread, &self.names)?;
        for (event, causes) in &found {
            self.judge(run, taken, event, causes)?;
        }
        let touches = self.affecting(run, &found);
        self.unknown += usize::from(touches.is_none());
        if self.unknown > MOST_UNKNOWN {
            return Err(Stop::unsupported(
                "parsimonious: not available for programs in which blocked operations have many possible reasons: choose \
                 the reduction `optimal`, which explores the same executions",
            ));
        }
        for step in self.at + 1..self.path.len() {
            let past = || clocks.past_steps(step).filter(|&other| other > self.at);
            if !allowed[step] || taken.contains(&step) || !past().all(|other| allowed[other]) {
                continue;
            }
            let mut more: Vec<usize> = past().filter(|other| !taken.contains(other)).collect();
            more.pop();
            let conflicts = touches.as_ref().is_none_or(|touches| self.affects(touches, step));
            let affects = conflicts || is_narrow(run.profile()) && self.changes_branches(run, taken, &more, step)?;
            if !affects {
                continue;
            }
            more.push(step);
            more.extend(taken);
            more.sort_unstable();
            self.go_to(run, &more)?;
            self.grow(run, &more, allowed.clone())?;
            for (other, allowed) in allowed.iter_mut().enumerate().skip(step) {
                *allowed &= !clocks.before(step, other);
            }
        }
        Ok(())
    }

    /// Appends a detour if its head is this event, after the steps `taken`. `causes` are the steps of the machine that caused
    /// the event.
    fn judge<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        taken: &[usize],
        event: &EventLabel,
        causes: &[usize],
    ) -> Result<(), Stop> {
        let (path, at) = (self.path, self.at);
        let position = |depth: usize| if depth < at { depth } else { taken[depth - at] };
        let steps = |base: usize| (base..at).chain(taken.iter().copied());
        let mut direct: Vec<usize> = causes.iter().map(|&depth| position(depth)).collect();
        direct.extend(steps(0).filter(|&step| path.event(step).depends_on(event)));
        let in_past = |step: usize| direct.iter().any(|&other| path.record.clocks.before(step, other));
        // The steps are exactly its past, they require the detours that are among them, and they do not affect the default.
        if !taken.iter().all(|&step| in_past(step))
            || !self.requires_detours(taken)
            || taken.iter().any(|&step| conflict(&self.touches.all, &path.event(step).touches))
        {
            return Ok(());
        }
        if self.affects_default(run, taken, event)? && !constraints::forbid(run, path, event, at, steps, in_past)? {
            self.out.push(self.detour(taken, event));
        }
        if run.depth() != at + taken.len() {
            self.go_to(run, taken)?;
        }
        Ok(())
    }

    /// Returns `true` if an event affects the default here, and the steps `taken` did not.
    fn affects_default<M: Machine>(
        &self,
        run: &mut Run<'_, M>,
        taken: &[usize],
        event: &EventLabel,
    ) -> Result<bool, Stop> {
        let conflicts = conflict(&self.touches.all, &event.touches);
        if !is_narrow(run.profile()) || conflicts && taken.is_empty() {
            return Ok(conflicts);
        }
        let default = self.path.event(self.at).thread;
        if names_of_branches(run, default)? != self.branches {
            return Ok(false);
        }
        if conflicts {
            return Ok(true);
        }
        let depth = run.depth();
        let what = run.machine().find(event.thread).expect("our bug: a choice has vanished");
        run.redo(Choice { what, branch: event.branch })?;
        let changes = names_of_branches(run, default)? != self.branches;
        run.rewind(depth);
        Ok(changes)
    }

    /// Returns `true` if the detours that begin on the path behind the default, whose heads are among `taken`, are required: without
    /// any of them, the default that it avoids would prevent one of these steps.
    fn requires_detours(&self, taken: &[usize]) -> bool {
        self.path.constraints.iter().filter(|constraint| constraint.head > self.at).all(|constraint| {
            let prevented = |event: &EventLabel| {
                event.thread == constraint.against || conflict(&constraint.touches.own, &event.touches)
            };
            taken.iter().any(|&step| step >= constraint.base && prevented(self.path.event(step)))
        })
    }

    /// Returns the accesses with which a step must conflict to affect the operation, whose branches here are `found`; or `None`
    /// if they are not known.
    fn affecting<M: Machine>(
        &self,
        run: &mut Run<'_, M>,
        found: &[(EventLabel, Vec<usize>)],
    ) -> Option<SmallVec<[Touch; 4]>> {
        if !found.is_empty() {
            return Some(found.iter().flat_map(|(event, _)| event.touches.iter().copied()).collect());
        }
        let what = run.machine().find(self.thread)?;
        if run.profile().dependence == Dependence::PerActor {
            let actor = self.names.of(run.machine().actor(what));
            return Some(SmallVec::from_slice(&[Touch::write(actor)]));
        }
        let mut objects = Vec::new();
        run.knows_blockers().then(|| run.blocked_on(what, &mut objects))?;
        Some(SmallVec::from_vec(objects))
    }

    fn affects(&self, touches: &[Touch], step: usize) -> bool {
        conflict(touches, &self.path.event(step).touches)
    }

    /// Returns `true` if a step of the path, after the steps `taken` and `more`, changes which branches the operation has. Leaves the
    /// machine where it was.
    fn changes_branches<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        taken: &[usize],
        more: &[usize],
        step: usize,
    ) -> Result<bool, Stop> {
        let mut all = [taken, more].concat();
        all.sort_unstable();
        self.go_to(run, &all)?;
        let before = names_of_branches(run, self.thread)?;
        self.path.retake(run, step)?;
        let changes = names_of_branches(run, self.thread)? != before;
        self.go_to(run, taken)?;
        Ok(changes)
    }

    fn detour(&self, taken: &[usize], event: &EventLabel) -> Part {
        let step = |event: &EventLabel, mark: Mark| PartStep { thread: event.thread, branch: event.branch, mark };
        let default = self.path.event(self.at);
        let head = Mark::Head { base: self.at as u32, against: default.thread, branch: default.branch };
        let mut part = self.path.part(self.at);
        part.steps.extend(taken.iter().map(|&at| step(self.path.event(at), Mark::Via)));
        part.steps.push(step(event, head));
        part
    }
}

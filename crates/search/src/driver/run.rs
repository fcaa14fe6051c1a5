//! The part that all searches share: [`Run`] moves one machine, counts, enforces the limits and collects problems.
//!
//! A search is a function from a [`Run`] to `Result<(), Stop>`. It asks for the [`enabled`](Run::enabled) choices,
//! [`execute`](Run::execute)s one, calls [`complete`](Run::complete) if nothing is enabled, [`rewind`](Run::rewind)s,
//! and returns when it has covered everything. A limit or an error unwinds the search as a [`Stop`].

use crate::driver::control::{Control, Doing, Worker, lock};
use crate::driver::findings;
use crate::driver::parallel::workers;
use crate::driver::weights::Weights;
use crate::options::{Options, Order};
use std::sync::Arc;
use whippet_model::{
    ActorNo, Choice, Clocks, Counters, FindingKind, LimitHit, Machine, MachineError, Name, Pending, Problem,
};

/// The reason why a search ends before it has covered everything.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A limit was hit.
    Limit(LimitHit),
    /// The machine reported an error.
    Machine(MachineError),
}

impl From<MachineError> for Stop {
    fn from(error: MachineError) -> Stop {
        Stop::Machine(error)
    }
}

impl Stop {
    /// Creates the error that this search does not support this program.
    pub(crate) fn unsupported(why: impl Into<String>) -> Stop {
        Stop::Machine(MachineError::Unsupported(why.into()))
    }
}

/// The machine of one worker, with its counters and clocks. The counters are published when the run is dropped.
pub(crate) struct Run<'a, M: Machine> {
    pub(crate) machine: M,
    /// Happens-before relation of the current execution, updated only after [`follow_clocks`](Run::follow_clocks).
    pub(crate) clocks: Clocks,
    pub(crate) counters: Counters,
    pub(crate) options: &'a Options,
    pub(crate) control: &'a Control,
    /// Weights of the complete executions, maintained by searches that can estimate their size.
    pub(crate) weights: Weights,
    worker: Arc<Worker>,
    follows: bool,
    first: bool,
    /// Two flags: the machine has a pruning rule of its own; that rule has just pruned every enabled choice.
    caveat: bool,
    cut: bool,
    wrong: Vec<Problem>,
}

impl<'a, M: Machine> Run<'a, M> {
    pub(crate) fn new(mut machine: M, options: &'a Options, control: &'a Control) -> Run<'a, M> {
        machine.limit_memory(options.limits.memory / workers(options));
        if options.reduction.needs_independence() {
            machine.isolate_races();
        }
        let caveat = machine.caveat();
        if let Some(missed) = &caveat {
            control.note_missing(missed.as_str());
        }
        let mut run = Run {
            caveat: caveat.is_some(),
            cut: false,
            machine,
            clocks: Clocks::new(),
            counters: Counters::default(),
            options,
            control,
            weights: Weights::default(),
            worker: control.worker(),
            follows: false,
            first: true,
            wrong: Vec::new(),
        };
        if options.order == Order::Stable
            && let Some(known) = run.watched(Doing::SettingUp, Machine::prepare)
        {
            control.note(known);
        }
        run
    }

    /// Adds the steps taken so far to `clocks`, and from now on also every new step.
    pub(crate) fn follow_clocks(&mut self) {
        self.follows = true;
        self.clocks.follow(&self.machine);
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.machine.depth()
    }

    /// Appends the choices that are enabled now. Appends nothing once the limit on steps is reached;
    /// [`complete`](Run::complete) then reports that the execution was cut.
    #[inline]
    pub(crate) fn enabled(&mut self, out: &mut Vec<Choice>) {
        if self.machine.depth() < self.options.limits.steps {
            let mark = out.len();
            self.all_enabled(out);
            if self.caveat {
                self.leave_out(out, mark);
            }
        }
    }

    /// Like [`enabled`](Run::enabled), but ignores the limit on steps and the machine's pruning rule.
    #[inline]
    pub(crate) fn all_enabled(&mut self, out: &mut Vec<Choice>) {
        self.watched(Doing::Asking, |machine| machine.enabled(out));
    }

    /// Calls `work`, which may run user code, while the watchdog shows what the worker is doing.
    #[inline]
    fn watched<T>(&mut self, doing: Doing, work: impl FnOnce(&mut M) -> T) -> T {
        self.worker.watchdog.enter(doing, self.machine.depth());
        let answer = work(&mut self.machine);
        self.worker.watchdog.leave();
        answer
    }

    /// Calls [`Machine::accepted_at`].
    #[inline]
    pub(crate) fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.watched(Doing::Asking, |machine| machine.accepted_at(what, at))
    }

    /// Like [`enabled`](Run::enabled), for a single actor: see [`Machine::enabled_of_first`].
    #[inline]
    pub(crate) fn enabled_of_first(&mut self, rank: impl Fn(ActorNo) -> u32, out: &mut Vec<Choice>) {
        if self.machine.depth() < self.options.limits.steps {
            self.watched(Doing::Asking, |machine| machine.enabled_of_first(rank, out));
        }
    }

    /// Returns `true` if the machine has a pruning rule of its own. The theorems about searches then do not hold.
    pub(crate) fn caveat(&self) -> bool {
        self.caveat
    }

    /// Removes the choices that the machine's pruning rule skips. If none remains, the execution is cut, not
    /// complete.
    #[cold]
    fn leave_out(&mut self, out: &mut Vec<Choice>, mark: usize) {
        let all = out.len();
        for k in (mark..all).rev() {
            if self.machine.is_pruned(out[k].what) {
                out.remove(k);
            }
        }
        self.cut = out.len() == mark && all > mark;
    }

    /// Executes one step and counts it.
    #[inline]
    pub(crate) fn execute(&mut self, choice: Choice) -> Result<(), Stop> {
        self.take(choice, 1)
    }

    /// Executes a step that has been counted before.
    #[inline]
    pub(crate) fn redo(&mut self, choice: Choice) -> Result<(), Stop> {
        self.take(choice, 0)
    }

    #[inline(always)]
    fn take(&mut self, choice: Choice, counts: u64) -> Result<(), Stop> {
        self.try_out(choice)?;
        self.counters.transitions += counts;
        if self.follows {
            self.clocks.push(&self.machine);
        }
        if self.options.first_bug && self.machine.problems() > 0 && self.newest_failed() {
            self.cut = false;
            self.complete()?;
        }
        Ok(())
    }

    /// Executes a step only to observe its effects, outside the current execution: it is not counted and not added to
    /// the clocks.
    #[inline(always)]
    pub(crate) fn try_out(&mut self, choice: Choice) -> Result<(), Stop> {
        if self.worker.asked() {
            self.answer()?;
        }
        self.worker.watchdog.begin(&self.machine, choice);
        self.machine.execute(choice)?;
        self.worker.watchdog.leave();
        Ok(())
    }

    fn newest_failed(&self) -> bool {
        self.machine.problem(self.machine.depth() - 1).is_some_and(|problem| !problem.warning)
    }

    /// Publishes the counters, because the poll flag is set, and returns an error if the search is to stop.
    #[cold]
    fn answer(&mut self) -> Result<(), Stop> {
        self.publish();
        self.control.stopped().map_or(Ok(()), |why| Err(Stop::Limit(why)))
    }

    /// Undoes all steps from `depth` on.
    #[inline]
    pub(crate) fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
        if self.follows {
            self.clocks.truncate(depth);
        }
    }

    /// Ends an execution in which nothing is enabled: counts it and collects its problems.
    pub(crate) fn complete(&mut self) -> Result<(), Stop> {
        if std::mem::take(&mut self.cut) {
            self.blocked();
            return self.given_up();
        }
        self.control.executed().map_err(Stop::Limit)?;
        self.machine.completed();
        self.counters.executions += 1;
        self.counters.depth = self.counters.depth.max(self.machine.depth());
        if self.first {
            self.first = false;
            self.control.keep_first(|| findings::path(&self.machine));
        }
        let cut = self.machine.depth() >= self.options.limits.steps && self.is_cut();
        self.machine.data_races(&mut self.wrong);
        if self.machine.problems() == 0 && !cut {
            let mut wrong = std::mem::take(&mut self.wrong);
            self.watched(Doing::Ending, |machine| machine.final_problems(&mut wrong));
            self.wrong = wrong;
            if self.wrong.is_empty() {
                return Ok(());
            }
        }
        self.collect(cut)
    }

    /// Collects the problems of the current execution: those in `wrong`, those of its steps, and, if it was `cut`,
    /// that it is too long.
    #[cold]
    fn collect(&mut self, cut: bool) -> Result<(), Stop> {
        let mut wrong = std::mem::take(&mut self.wrong);
        if self.machine.problems() > 0 {
            self.counters.problems += self.machine.problems() as u64;
            wrong.extend((0..self.machine.depth()).filter_map(|at| self.machine.problem(at)));
        }
        if cut {
            self.control.passed(LimitHit::Steps);
            wrong.push(too_long(self.options.limits.steps));
        }
        if !self.follows {
            self.clocks.truncate(0);
            self.clocks.follow(&self.machine);
        }
        let races: Vec<Vec<usize>> =
            wrong.iter().filter(|p| p.kind == FindingKind::Race).map(|p| p.steps.clone()).collect();
        let mut found = false;
        let mut told = Vec::new();
        let mut collector = lock(&self.control.collector);
        for mut problem in wrong.drain(..) {
            problem.warning &= !(problem.kind == FindingKind::Undeliverable && self.options.undeliverable_is_error);
            found |= !problem.warning;
            // An execution counts once per problem, even if several of its steps show the same problem.
            let key = (problem.kind, problem.key);
            let first = !told.contains(&key);
            if first {
                told.push(key);
            }
            collector.add(&self.machine, &self.clocks, problem, &races, first);
        }
        drop(collector);
        self.wrong = wrong;
        if found && self.options.first_bug {
            self.control.stop(LimitHit::FirstBug);
            return Err(Stop::Limit(LimitHit::FirstBug));
        }
        Ok(())
    }

    /// Counts a blocked execution: everything enabled has been explored elsewhere.
    #[inline]
    pub(crate) fn blocked(&mut self) {
        self.counters.blocked += 1;
    }

    /// Abandons the execution because its continuations are covered elsewhere, but collects the problems of its
    /// steps.
    pub(crate) fn given_up(&mut self) -> Result<(), Stop> {
        if self.machine.problems() > 0 { self.collect(false) } else { Ok(()) }
    }

    fn is_cut(&mut self) -> bool {
        let mut enabled = Vec::new();
        self.all_enabled(&mut enabled);
        !enabled.is_empty()
    }

    fn publish(&mut self) {
        self.counters.handler_runs = self.machine.handler_runs();
        self.worker.publish(&self.counters, self.machine.depth(), &self.weights);
    }
}

impl<M: Machine> Drop for Run<'_, M> {
    fn drop(&mut self) {
        self.publish();
    }
}

fn too_long(steps: usize) -> Problem {
    Problem {
        kind: FindingKind::Limit,
        message: format!("an execution goes on after {steps} steps: it may be endless, or the limit on steps too low"),
        place: None,
        key: Name::ROOT.mixed(0x57E9),
        steps: Vec::new(),
        warning: false,
        waits: Vec::new(),
    }
}

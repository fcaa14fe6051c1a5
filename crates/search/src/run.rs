//! What all searches share: one machine, moved through [`Run`], which counts, keeps to the limits and
//! collects what is wrong.
//!
//! A search is a function from a [`Run`] to `Result<(), Stop>`: it asks what is [`enabled`](Run::enabled),
//! [`execute`](Run::execute)s, calls [`complete`](Run::complete) where nothing is enabled, [`rewind`](Run::rewind)s,
//! and returns when it has covered everything. A limit or an error unwinds it as a [`Stop`].

use crate::collect;
use crate::control::{Control, Doing, Worker, lock};
use crate::options::{Options, Order};
use crate::parallel::workers;
use crate::weights::Weights;
use std::sync::Arc;
use whippet_model::{ActorNo, Choice, Clocks, Counters, Kind, LimitHit, Machine, MachineError, Name, Pending, Problem};

/// Why a search ends before it has covered everything.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A limit was hit.
    Limit(LimitHit),
    /// The machine cannot go on.
    Machine(MachineError),
}

impl From<MachineError> for Stop {
    fn from(error: MachineError) -> Stop {
        Stop::Machine(error)
    }
}

impl Stop {
    /// The search cannot do this with this program.
    pub(crate) fn unsupported(why: impl Into<String>) -> Stop {
        Stop::Machine(MachineError::Unsupported(why.into()))
    }
}

/// One worker's machine and what it has seen. What was counted is published when it is dropped.
pub(crate) struct Run<'a, M: Machine> {
    pub(crate) machine: M,
    /// Happens-before of the current execution, kept up by searches that ask for it.
    pub(crate) clocks: Clocks,
    pub(crate) counters: Counters,
    pub(crate) options: &'a Options,
    pub(crate) control: &'a Control,
    /// What complete executions stand for, kept by searches of which the size can be guessed.
    pub(crate) weights: Weights,
    worker: Arc<Worker>,
    follows: bool,
    first: bool,
    /// Whether the machine leaves choices out by a rule of its own, and whether it has just left out all of them.
    leaves_out: bool,
    cut: bool,
    wrong: Vec<Problem>,
}

impl<'a, M: Machine> Run<'a, M> {
    pub(crate) fn new(mut machine: M, options: &'a Options, control: &'a Control) -> Run<'a, M> {
        machine.limit_memory(options.limits.memory / workers(options));
        if options.reduction.needs_independence() {
            machine.reduce();
        }
        let leaves_out = machine.leaves_out();
        if let Some(missed) = &leaves_out {
            control.note_missing(missed.as_str());
        }
        let mut run = Run {
            leaves_out: leaves_out.is_some(),
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
            && let Some(known) = run.watched(Doing::SettingUp, Machine::learn)
        {
            control.note(known);
        }
        run
    }

    /// From now on `clocks` knows every step.
    pub(crate) fn follow_clocks(&mut self) {
        self.follows = true;
        self.clocks.follow(&self.machine);
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.machine.depth()
    }

    /// Appends what can be done now. An execution that is too long ends here, and `complete` says so.
    #[inline]
    pub(crate) fn enabled(&mut self, out: &mut Vec<Choice>) {
        if self.machine.depth() < self.options.limits.steps {
            let mark = out.len();
            self.all_enabled(out);
            if self.leaves_out {
                self.leave_out(out, mark);
            }
        }
    }

    /// The same, however long the execution is.
    #[inline]
    pub(crate) fn all_enabled(&mut self, out: &mut Vec<Choice>) {
        self.watched(Doing::Asking, |machine| machine.enabled(out));
    }

    /// Runs what may be the user's code.
    #[inline]
    fn watched<T>(&mut self, doing: Doing, work: impl FnOnce(&mut M) -> T) -> T {
        self.worker.watch.enter(doing, self.machine.depth());
        let answer = work(&mut self.machine);
        self.worker.watch.leave();
        answer
    }

    /// See [`Machine::accepted_at`].
    #[inline]
    pub(crate) fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.watched(Doing::Asking, |machine| machine.accepted_at(what, at))
    }

    /// The same of one actor only: see [`Machine::enabled_of_first`].
    #[inline]
    pub(crate) fn enabled_of_first(&mut self, rank: impl Fn(ActorNo) -> u32, out: &mut Vec<Choice>) {
        if self.machine.depth() < self.options.limits.steps {
            self.watched(Doing::Asking, |machine| machine.enabled_of_first(rank, out));
        }
    }

    /// Whether the machine leaves choices out by a rule of its own: then no theorem about a search holds.
    pub(crate) fn leaves_out(&self) -> bool {
        self.leaves_out
    }

    /// Drops what the machine leaves out. If nothing stays, the execution is not complete but cut.
    #[cold]
    fn leave_out(&mut self, out: &mut Vec<Choice>, mark: usize) {
        let all = out.len();
        for k in (mark..all).rev() {
            if self.machine.left_out(out[k].what) {
                out.remove(k);
            }
        }
        self.cut = out.len() == mark && all > mark;
    }

    /// Takes one step and counts it.
    #[inline]
    pub(crate) fn execute(&mut self, choice: Choice) -> Result<(), Stop> {
        self.take(choice, 1)
    }

    /// Takes a step that has been counted before.
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

    /// Takes a step to see what it does, away from the execution at hand: it is not counted, and the clocks do not
    /// learn of it.
    #[inline(always)]
    pub(crate) fn try_out(&mut self, choice: Choice) -> Result<(), Stop> {
        if self.worker.asked() {
            self.answer()?;
        }
        self.worker.watch.begin(&self.machine, choice);
        self.machine.execute(choice)?;
        self.worker.watch.leave();
        Ok(())
    }

    fn newest_failed(&self) -> bool {
        self.machine.problem(self.machine.depth() - 1).is_some_and(|problem| !problem.warning)
    }

    /// Somebody wants to know how far we are, or wants us to stop.
    #[cold]
    fn answer(&mut self) -> Result<(), Stop> {
        self.publish();
        self.control.stopped().map_or(Ok(()), |why| Err(Stop::Limit(why)))
    }

    /// Takes back all steps from `depth` on.
    #[inline]
    pub(crate) fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
        if self.follows {
            self.clocks.truncate(depth);
        }
    }

    /// Nothing is enabled: an execution is complete. Looks at what is wrong with it.
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
            self.control.keep_first(|| collect::path(&self.machine));
        }
        let cut = self.machine.depth() >= self.options.limits.steps && self.is_cut();
        self.machine.races(&mut self.wrong);
        if self.machine.problems() == 0 && !cut {
            let mut wrong = std::mem::take(&mut self.wrong);
            self.watched(Doing::Ending, |machine| machine.ending(&mut wrong));
            self.wrong = wrong;
            if self.wrong.is_empty() {
                return Ok(());
            }
        }
        self.collect(cut)
    }

    /// Something is wrong with the current execution: `wrong`, or its steps have problems, or it is `cut`.
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
        let races: Vec<Vec<usize>> = wrong.iter().filter(|p| p.kind == Kind::Race).map(|p| p.steps.clone()).collect();
        let mut found = false;
        let mut told = Vec::new();
        let mut collector = lock(&self.control.collector);
        for mut problem in wrong.drain(..) {
            problem.warning &= !(problem.kind == Kind::Undeliverable && self.options.undeliverable_is_error);
            found |= !problem.warning;
            // An execution counts once, however many of its steps show the same problem.
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

    /// Everything enabled has been explored elsewhere: the execution is given up.
    #[inline]
    pub(crate) fn blocked(&mut self) {
        self.counters.blocked += 1;
    }

    /// What follows is known: the execution is not complete, but what went wrong on the way here is kept.
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
        kind: Kind::Limit,
        message: format!("an execution goes on after {steps} steps: it may be endless, or the limit on steps too low"),
        place: None,
        key: Name::ROOT.mixed(0x57E9),
        steps: Vec::new(),
        warning: false,
    }
}

//! The part that all searches share: [`Run`] moves one machine, counts, enforces the limits and collects problems.
//!
//! A search is a function from a [`Run`] to `Result<(), Stop>`. It asks for the [`enabled`](Run::enabled) choices,
//! [`execute`](Run::execute)s one, calls [`complete`](Run::complete) if nothing is enabled, [`rewind`](Run::rewind)s,
//! and returns when it has covered everything. A limit or an error unwinds the search as a [`Stop`].

use crate::driver::control::{Control, lock};
use crate::driver::findings;
use crate::driver::guarded::Guarded;
use crate::driver::parallel::workers;
use crate::driver::weights::Weights;
use crate::options::{Options, Order};
use whippet_model::{
    Access, Choice, Clocks, Counters, Delivered, Dependence, Executed, Extension, FindingKind, LimitHit, Machine,
    MachineConfig, MachineError, Name, Pending, Problem, Profile, Program, StepDescription, Touch,
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

/// The longest cycle of steps in which an execution that is too long is said to end, and how often it must be repeated.
const LONGEST_CYCLE: usize = 32;
const REPETITIONS: usize = 100;

/// The machine of one worker, with its counters and clocks. The counters are published when the run is dropped.
pub(crate) struct Run<'a, M: Machine> {
    guarded: Guarded<M>,
    /// Happens-before relation of the current execution, updated only after [`follow_clocks`](Run::follow_clocks).
    pub(crate) clocks: Clocks,
    pub(crate) counters: Counters,
    pub(crate) options: &'a Options,
    pub(crate) control: &'a Control,
    /// Weights of the complete executions, maintained by searches that can estimate their size.
    pub(crate) weights: Weights,
    follows: bool,
    first: bool,
    /// Two flags: the machine has a pruning rule of its own; that rule has just pruned every enabled choice.
    prunes: bool,
    cut: bool,
    wrong: Vec<Problem>,
}

impl<'a, M: Machine> Run<'a, M> {
    /// Creates the machine of one worker.
    pub(crate) fn new<P: Program<Machine = M> + ?Sized>(
        program: &P,
        options: &'a Options,
        control: &'a Control,
    ) -> Result<Run<'a, M>, Stop> {
        let config = MachineConfig::default()
            .with_isolate_races(options.reduction.needs_independence())
            .with_memory(options.limits.memory / workers(options))
            .with_order_hints(options.order == Order::Stable);
        let guarded = Guarded::new(program, &config, control.worker())?;
        let machine = guarded.machine();
        let caveat = machine.pruning().and_then(|pruning| pruning.caveat());
        if options.order == Order::Stable
            && let Some(note) = machine.order_hints().and_then(|hints| hints.note())
        {
            control.note(note);
        }
        control.declare(machine.profile());
        if let Some(caveat) = &caveat {
            control.note_missing(caveat.as_str());
        }
        Ok(Run {
            prunes: caveat.is_some(),
            cut: false,
            guarded,
            clocks: Clocks::new(),
            counters: Counters::default(),
            options,
            control,
            weights: Weights::default(),
            follows: false,
            first: true,
            wrong: Vec::new(),
        })
    }

    /// Returns the machine for everything that does not run user code.
    #[inline]
    pub(crate) fn machine(&self) -> &M {
        self.guarded.machine()
    }

    /// Returns the facts about the machine that never change.
    #[inline]
    pub(crate) fn profile(&self) -> &Profile {
        self.machine().profile()
    }

    /// Adds the steps taken so far to `clocks`, and from now on also every new step.
    pub(crate) fn follow_clocks(&mut self) {
        self.follows = true;
        self.clocks.follow(self.guarded.machine());
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.machine().depth()
    }

    /// Appends the choices that are enabled now. Appends nothing once the limit on steps is reached;
    /// [`complete`](Run::complete) then reports that the execution was cut.
    #[inline]
    pub(crate) fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), Stop> {
        if self.depth() < self.options.limits.steps {
            let mark = out.len();
            self.all_enabled(out)?;
            if self.prunes {
                self.prune(out, mark);
            }
        }
        Ok(())
    }

    /// Like [`enabled`](Run::enabled), but ignores the limit on steps and the machine's pruning rule.
    #[inline]
    pub(crate) fn all_enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), Stop> {
        Ok(self.guarded.enabled(out)?)
    }

    /// Like [`enabled`](Run::enabled), for a single actor: see
    /// [`Deliveries::enabled_of_lowest`](whippet_model::Deliveries::enabled_of_lowest).
    #[inline]
    pub(crate) fn enabled_of_lowest(&mut self, ranks: &[u32], out: &mut Vec<Choice>) -> Result<(), Stop> {
        if self.depth() < self.options.limits.steps {
            self.guarded.enabled_of_lowest(ranks, out)?;
        }
        Ok(())
    }

    /// Calls [`Deliveries::accepted_at`](whippet_model::Deliveries::accepted_at).
    #[inline]
    pub(crate) fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.guarded.accepted_at(what, at)
    }

    /// Returns the newest step as a delivery.
    #[inline(always)]
    pub(crate) fn newest_delivery(&mut self) -> Delivered {
        self.guarded.newest_delivery()
    }

    /// Appends the events that the newest step enables, and returns `true`, if the machine knows them beforehand.
    /// Returns `false` if they have to be found by trial.
    pub(crate) fn extensions(&mut self, out: &mut Vec<Extension>) -> Result<bool, Stop> {
        let known = self.guarded.extensions(&self.clocks, out)?;
        if !known && !self.guarded.knows_blockers() {
            return Err(Stop::unsupported(
                "the unfolding search does not know the events of this kind of program: choose the reduction \
                 `optimal`, which explores the same executions",
            ));
        }
        Ok(known)
    }

    /// Calls [`Blockers::blocked_on`](whippet_model::Blockers::blocked_on).
    pub(crate) fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        self.guarded.blocked_on(what, out);
    }

    /// Returns `true` if the machine knows what blocked operations wait for.
    pub(crate) fn knows_blockers(&mut self) -> bool {
        self.guarded.knows_blockers()
    }

    /// Returns a hash of the current configuration.
    pub(crate) fn fingerprint(&mut self) -> Result<u128, Stop> {
        Ok(self.guarded.fingerprint(self.options.comparison)?)
    }

    pub(crate) fn describe(&mut self, at: usize) -> StepDescription {
        self.guarded.describe(at)
    }

    /// Returns `true` if the machine has a pruning rule of its own. The theorems about searches then do not hold.
    pub(crate) fn prunes(&self) -> bool {
        self.prunes
    }

    /// Removes the choices that the machine's pruning rule skips. If none remains, the execution is cut, not
    /// complete.
    #[cold]
    fn prune(&mut self, out: &mut Vec<Choice>, mark: usize) {
        let all = out.len();
        let pruning = self.machine().pruning().expect("the machine had a pruning rule when it was created");
        for k in (mark..all).rev() {
            if pruning.is_pruned(out[k].what) {
                out.remove(k);
            }
        }
        self.cut = out.len() == mark && all > mark;
    }

    /// Executes one step and counts it.
    #[inline]
    pub(crate) fn execute(&mut self, choice: Choice) -> Result<Executed, Stop> {
        self.take(choice, 1)
    }

    /// Executes a step that has been counted before.
    #[inline]
    pub(crate) fn redo(&mut self, choice: Choice) -> Result<Executed, Stop> {
        self.take(choice, 0)
    }

    #[inline(always)]
    fn take(&mut self, choice: Choice, counts: u64) -> Result<Executed, Stop> {
        let executed = self.try_out(choice)?;
        self.counters.transitions += counts;
        if self.follows {
            self.clocks.push(self.guarded.machine());
        }
        if self.options.first_bug && self.machine().problems() > 0 && self.newest_failed() {
            self.cut = false;
            self.complete()?;
        }
        Ok(executed)
    }

    /// Executes a step only to observe its effects, outside the current execution: it is not counted and not added to
    /// the clocks.
    #[inline(always)]
    pub(crate) fn try_out(&mut self, choice: Choice) -> Result<Executed, Stop> {
        self.check_limits()?;
        Ok(self.guarded.execute(choice)?)
    }

    /// Returns an error if the search is to stop. Every step checks this; a search calls it in loops that may go on for long
    /// without a step.
    #[inline(always)]
    pub(crate) fn check_limits(&mut self) -> Result<(), Stop> {
        if self.guarded.worker().asked() {
            self.answer()?;
        }
        Ok(())
    }

    /// Undoes steps that were only [tried out](Run::try_out).
    pub(crate) fn rewind_trial(&mut self, depth: usize) {
        self.guarded.rewind(depth);
    }

    fn newest_failed(&self) -> bool {
        self.machine().problem(self.machine().depth() - 1).is_some_and(|problem| !problem.warning)
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
        self.guarded.rewind(depth);
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
        self.guarded.completed(self.control.on_execution());
        self.counters.executions += 1;
        self.counters.depth = self.counters.depth.max(self.machine().depth());
        if self.first {
            self.first = false;
            self.control.keep_first(|| findings::path(self.guarded.machine()));
        }
        let cut = self.depth() >= self.options.limits.steps && self.is_cut()?;
        self.guarded.machine().data_races(&mut self.wrong);
        if !cut && !self.failed() {
            let mut wrong = std::mem::take(&mut self.wrong);
            self.guarded.final_problems(&mut wrong)?;
            self.wrong = wrong;
            if self.wrong.is_empty() && self.machine().problems() == 0 {
                return Ok(());
            }
        }
        self.collect(cut)
    }

    /// Returns `true` if a step of the current execution has a problem that is not an outcome.
    fn failed(&self) -> bool {
        let machine = self.machine();
        let failed = |at| machine.problem(at).is_some_and(|problem| problem.declaration.is_none());
        machine.problems() > 0 && (0..machine.depth()).any(failed)
    }

    /// Collects the problems of the current execution: those in `wrong`, those of its steps, and, if it was `cut`,
    /// that it is too long.
    #[cold]
    fn collect(&mut self, cut: bool) -> Result<(), Stop> {
        let mut wrong = std::mem::take(&mut self.wrong);
        if self.machine().problems() > 0 {
            let of_steps = wrong.len();
            wrong.extend((0..self.machine().depth()).filter_map(|at| self.machine().problem(at)));
            self.counters.problems += wrong[of_steps..].iter().filter(|p| p.declaration.is_none()).count() as u64;
        }
        if cut {
            self.control.passed(LimitHit::Steps);
            wrong.push(self.too_long());
        }
        if !self.follows {
            self.clocks.truncate(0);
            self.clocks.follow(self.guarded.machine());
        }
        let races: Vec<Vec<usize>> =
            wrong.iter().filter(|p| p.kind == FindingKind::Race).map(|p| p.steps.clone()).collect();
        let mut found = false;
        let mut told = Vec::new();
        let mut collector = lock(&self.control.collector);
        for mut problem in wrong.drain(..) {
            problem.warning &= !(problem.kind == FindingKind::Undeliverable && self.options.undeliverable_is_error);
            found |= problem.is_error();
            // An execution counts once per problem, even if several of its steps show the same problem.
            let key = (problem.kind, problem.key);
            let first = !told.contains(&key);
            if first {
                told.push(key);
            }
            collector.add(self.guarded.machine(), &self.clocks, problem, &races, first);
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
        if self.machine().problems() > 0 { self.collect(false) } else { Ok(()) }
    }

    fn is_cut(&mut self) -> Result<bool, Stop> {
        let mut enabled = Vec::new();
        self.all_enabled(&mut enabled)?;
        Ok(!enabled.is_empty())
    }

    /// Returns the problem that the current execution is too long, with the steps that it repeats in the end, if it does.
    fn too_long(&mut self) -> Problem {
        let steps = self.options.limits.steps;
        let message = match self.cycle() {
            Some((from, period)) => {
                let told: Vec<String> = (from..from + period).map(|at| self.told(at)).collect();
                format!(
                    "livelock: from step {} on, an execution repeats {period} step{}, and goes on after {steps} steps: {}",
                    from + 1,
                    if period == 1 { "" } else { "s" },
                    told.join(", then ")
                )
            }
            None => {
                format!("an execution goes on after {steps} steps: it may be endless, or the limit on steps too low")
            }
        };
        Problem::new(FindingKind::Limit, message, Name::ROOT.mixed(0x57E9))
    }

    /// Returns the first step of the repetitions with which the current execution ends, and their period. Steps that write
    /// something may repeat for other reasons: they make progress.
    fn cycle(&self) -> Option<(usize, usize)> {
        let machine = self.machine();
        let only_reads =
            |touches: &[Touch]| touches.iter().all(|touch| touch.access == Access::Read || touch.object == Name::IDLE);
        let is_same = |one: usize, other: usize| {
            let touches = machine.touches(one);
            machine.step(one).thread == machine.step(other).thread
                && touches == machine.touches(other)
                && only_reads(touches)
        };
        if self.profile().dependence == Dependence::PerActor {
            return None;
        }
        (1..=LONGEST_CYCLE).find_map(|period| {
            let repeat = (period..machine.depth()).rev().take_while(|&at| is_same(at, at - period)).count();
            (repeat >= REPETITIONS * period).then(|| (machine.depth() - repeat - period, period))
        })
    }

    fn told(&mut self, at: usize) -> String {
        let step = self.guarded.describe(at);
        let origin = step.origin.map_or_else(String::new, |origin| format!(" {origin}"));
        format!("{} {}{origin}", step.actor, step.action)
    }

    /// Publishes the counters.
    pub(crate) fn publish(&mut self) {
        self.counters.handler_runs = self.machine().handler_runs();
        self.guarded.worker().publish(&self.counters, self.machine().depth(), &self.weights);
    }
}

impl<M: Machine> Drop for Run<'_, M> {
    fn drop(&mut self) {
        self.publish();
    }
}

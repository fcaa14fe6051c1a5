//! Stalls: how long the runtime has to stand still for the timers of an execution to fire in its order.
//!
//! Virtual time stands still while tasks run. So a timer fires on time if no task could have run instead. If a task was
//! *runnable* (it had an operation to perform, or a wait other than a timer that was ready), the timer fires early, and
//! this order happens on a real runtime only if the runnable task is delayed until the timer is due: the runtime
//! stalls for the time by which the clock advances.
//!
//! # The stall of a trace
//!
//! An execution stands for all orders of its independent steps, which need different stalls. The stall of a trace
//! (a set of steps with happens-before) is the smallest one among its orders. Let f be a step in which a timer fires and the clock
//! advances by d(f). All such steps are in conflict (they write the clock), so they have the same order, and the same
//! d(f), in every order of the trace. Let P(f) be the steps that do not happen after f.
//!
//! * An order in which all of P(f) comes before f is an order of the trace. The sets P(f) grow with f, so one order
//!   has this property for all f.
//! * In any other order, a step of P(f) comes after f. The first such step was possible before f, so f needs the stall
//!   d(f). So the order above is the best one, and f needs a stall if and only if a task is runnable after P(f).
//!
//! Let t be such a task, and e its first step that is not in P(f): it happens after f. The *reasons* why t was runnable
//! at e are the last steps of t itself and those that made its wait ready. A ready wait stays ready. Therefore t is
//! runnable after P(f) if and only if no reason (or, if several waits of t are ready, no reason for one of these)
//! is f or happens after f. This is how [`Stalls::of`] decides: f needs a stall if some step e happens after f and
//! has such reasons; or if the task in which f fires was runnable itself.
//!
//! The condition looks only at e and its past. So the stall of a trace does not depend on the order in which it was
//! run, and it never shrinks when steps are added.
//!
//! # The budget
//!
//! A search with the budget b ([`crate::Settings::stall`]) must cover all traces whose stall is at most b. Cutting
//! executions as soon as their stall exceeds b would be wrong: the races that lead to another trace may be found only
//! in the part that is cut. Instead,
//!
//! 1. a timer with d(f) > b fires only if no task is runnable. All steps so far are causes of f (as with a clock that
//!    is paused). No trace within the budget is lost: in the best order above, f fires when no task is runnable. d(f) is
//!    the same in all orders, so this changes the program, but not its dependence relation;
//! 2. a timer with d(f) ≤ b may fire at any point. Executions in which several of these need more than b together are
//!    run to their end, and races in them count; their problems are not reported.
//!
//! The stall of a problem is that of the timers in the past of the steps that show it, in the execution that shows it.
//! Other timers are not part of the counterexample. The tasks that have to wait for a timer need not be: often they
//! have not done anything yet. So the steps after the problem count here.

use crate::execution::{Execution, NONE};
use crate::record::Record;
use crate::task::State;
use crate::waiting::{Wait, WaitTarget};
use smallvec::SmallVec;
use std::ops::Range;
use std::time::Duration;
use whippet_model::{BitSet, Clocks, Stall};

/// The facts about the steps taken so far.
#[derive(Default)]
pub(crate) struct Stalls {
    steps: Vec<Known>,
    /// The reasons of all steps. Each alternative ends with [`NONE`].
    reasons: Vec<u32>,
    /// `true` if a step that may need a stall was added.
    any: bool,
}

/// The facts about a step.
struct Known {
    /// The time by which it advances the clock, if a timer fires in it that could have waited for others.
    fires: Option<u64>,
    /// The alternative reasons why its task was runnable, as a range of `reasons`.
    reasons: Range<usize>,
}

impl Stalls {
    /// Adds a step from its record.
    pub(crate) fn push(&mut self, record: &Record) {
        let from = self.reasons.len();
        self.reasons.extend_from_slice(&record.runnable);
        self.any |= record.fires.is_some();
        self.steps.push(Known { fires: record.fires, reasons: from..self.reasons.len() });
    }

    /// Removes all steps from `depth` on.
    pub(crate) fn truncate(&mut self, depth: usize) {
        if let Some(first) = self.steps.get(depth) {
            self.reasons.truncate(first.reasons.start);
            self.steps.truncate(depth);
            self.any = self.any && self.steps.iter().any(|step| step.fires.is_some());
        }
    }

    /// Returns `true` if no step needs a stall, so that happens-before need not be computed.
    pub(crate) fn are_none(&self) -> bool {
        !self.any
    }

    /// Returns the stall that the trace needs before the steps `shown`: that of the timers in their past.
    pub(crate) fn of(&self, clocks: &Clocks, shown: &[usize]) -> Stall {
        let mut past = BitSet::default();
        shown.iter().for_each(|&at| clocks.add_past(at, &mut past));
        let fires =
            past.iter().map(|at| at as usize).filter_map(|at| self.steps[at].fires.map(|advance| (at, advance)));
        let stalls = fires.filter(|&(fire, _)| self.needs_stall(clocks, fire));
        Stall { steps: stalls.map(|(fire, advance)| (fire, Duration::from_nanos(advance))).collect() }
    }

    fn needs_stall(&self, clocks: &Clocks, fire: usize) -> bool {
        let is_after = |at: usize| at == fire || at > fire && clocks.before(fire, at);
        let is_independent = |reasons: &[u32]| !reasons.iter().any(|&at| is_after(at as usize));
        let own = !self.steps[fire].reasons.is_empty();
        let mut later = (fire + 1..clocks.len()).filter(|&at| is_after(at));
        own || later.any(|at| self.alternatives(at).any(is_independent))
    }

    /// Returns the alternative reasons of a step.
    fn alternatives(&self, at: usize) -> impl Iterator<Item = &[u32]> {
        let reasons = &self.reasons[self.steps[at].reasons.clone()];
        // Each alternative ends with a `NONE`, after which `split` finds an empty rest.
        reasons.split(|&at| at == NONE).take(reasons.iter().filter(|&&at| at == NONE).count())
    }
}

/// Records why the task that takes the next step is runnable. Requires that the step has not begun.
#[inline]
pub(crate) fn note_reasons(x: &mut Execution, number: u32) {
    if x.clock.used && !x.record.known {
        let mut reasons = std::mem::take(&mut x.record.runnable);
        add_reasons(x, number as usize, &mut reasons);
        x.record.runnable = reasons;
    }
}

fn add_reasons(x: &Execution, at: usize, out: &mut Vec<u32>) {
    let task = &x.tasks[at];
    let mut add = |reasons: &[u32]| {
        out.extend(
            reasons.iter().chain(&task.past.after).filter(|&&step| step != NONE && !crate::merging::is_merged(step)),
        );
        out.push(NONE);
    };
    if !matches!(task.state, State::Blocked) {
        return add(&[]);
    }
    task.cancelled().into_iter().chain(task.interrupts.woken).for_each(|step| add(&[step]));
    for Wait { on, .. } in task.live_waits() {
        match on {
            WaitTarget::Yield => add(&[]),
            WaitTarget::Timer(due) if *due <= x.clock.now => add(&[x.clock.reached(*due)]),
            WaitTarget::Timer(_) => {}
            WaitTarget::Object(source, key) if source.ready(*key).is_some() => {
                let mut causes = Vec::new();
                source.causes(*key, &mut causes);
                add(&causes);
            }
            WaitTarget::Object(..) => {}
        }
    }
}

/// Steps at which the clock was advanced, with the new time.
pub(crate) type Advances = SmallVec<[(u64, u32); 4]>;

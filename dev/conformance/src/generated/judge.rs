//! Explores a plan with `optimal` and with `exhaustive`, and compares the outcomes.

use super::plan::Plan;
use super::task::{Logs, program};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use whippet_model::{Explain, FindingKind, Machine, Observed, Problem, Program};
use whippet_runtime::{Settings, TaskMachine, TaskProgram};
use whippet_search::{Options, Reduction, SearchError, explore};

/// The maximum number of executions. Plans with more are too large to compare.
const MOST: u64 = 1_000;

/// The outcomes of complete executions: the logs of the tasks, and the kinds of problems.
type Outcomes = BTreeSet<(String, Vec<FindingKind>)>;

/// The outcomes of each attempt of a search, by the number of refinements known to it.
type Attempts = BTreeMap<u64, Outcomes>;

/// Returns the outcome of the execution that a machine has completed.
fn outcome(machine: &mut TaskMachine, logs: &Logs) -> (String, Vec<FindingKind>) {
    let mut problems: Vec<Problem> = Vec::new();
    if machine.problems() > 0 {
        problems.extend((0..machine.depth()).filter_map(|at| machine.problem(at)));
    } else {
        machine.final_problems(&mut problems).expect("the execution is complete");
    }
    (logs.text(), problems.into_iter().map(|problem| problem.kind).collect())
}

/// The result of one search.
struct Seen {
    outcomes: Outcomes,
    executions: u64,
    blocked: u64,
}

/// Explores a plan. Returns `None` if that takes too many executions.
fn see(plan: &Arc<Plan>, early: Early, reduction: Reduction) -> Result<Option<Seen>, String> {
    // A failed internal assertion is a difference too, and its plan is minimized like others.
    std::panic::catch_unwind(|| look(plan, early, reduction))
        .map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            text.unwrap_or("a panic").to_string()
        })?
        .map_err(|error| error.to_string())
}

/// The bound on timers that fire early.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Early {
    /// Timers may fire early without a bound.
    Always,
    /// Most programs have a small bound. Then all earlier steps affect whether a timer may fire early.
    Seldom,
}

/// Returns the settings for running a plan.
pub(crate) fn settings(plan: &Plan, early: Early) -> Settings {
    let acts: usize = plan.0.iter().map(Vec::len).sum();
    let bounds = if early == Early::Seldom { [u64::MAX, 1, 2] } else { [u64::MAX; 3] };
    Settings { timers: bounds[acts % 3], ..Settings::default() }
}

fn look(plan: &Arc<Plan>, early: Early, reduction: Reduction) -> Result<Option<Seen>, SearchError> {
    let (logs, attempts) = (Logs::default(), Arc::<Mutex<Attempts>>::default());
    let (plan, to) = (plan.clone(), logs.clone());
    // `exhaustive` also makes operations events that `optimal` merges into steps, such as drops, so that the two
    // searches do not omit the same orders.
    let every_event = reduction == Reduction::Exhaustive;
    let settings = Settings { every_event, ..settings(&plan, early) };
    let tasks = TaskProgram::new("generated", settings, move || program(plan.clone(), to.clone()));
    let to = attempts.clone();
    let observed = Arc::new(Observed::new(tasks, move |machine: &mut TaskMachine, refinements| {
        let outcome = outcome(machine, &logs);
        to.lock().unwrap_or_else(PoisonError::into_inner).entry(refinements).or_default().insert(outcome);
    }));
    let mut options = Options::new(reduction);
    options.limits.executions = Some(MOST);
    options.limits.steps = 500;
    let verdict = explore(observed.clone(), &options, &())?;
    // Outcomes of an earlier attempt must not hide outcomes that the last one misses.
    let last = observed.program().refinements();
    let outcomes = attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(&last).unwrap_or_default();
    let counters = verdict.counters;
    Ok(verdict.complete.then_some(Seen { outcomes, executions: counters.executions, blocked: counters.blocked }))
}

/// The result of comparing the two searches of a plan.
pub enum Judged {
    /// Both searches see the same outcomes.
    Same {
        /// The number of executions of `optimal`.
        optimal: u64,
        /// The number of further executions of `optimal` that were blocked. This happens only if a task makes a choice.
        blocked: u64,
        /// The number of executions of `exhaustive`.
        exhaustive: u64,
    },
    /// The plan has too many executions to compare.
    TooLarge,
    /// The searches differ.
    Different(Difference),
}

/// The difference between the two searches.
#[derive(Debug)]
pub struct Difference {
    /// Outcomes that only `exhaustive` sees.
    pub missed: Vec<String>,
    /// Outcomes that only `optimal` sees.
    pub invented: Vec<String>,
    /// An error, or a failed assertion, of a search.
    pub error: Option<String>,
}

/// Explores a plan with both searches and compares the outcomes.
pub fn judge(plan: &Plan, early: Early) -> Judged {
    let plan = Arc::new(plan.clone());
    let both = see(&plan, early, Reduction::Optimal).and_then(|few| {
        // If one execution per trace is too many, so are all orders.
        if few.is_none() { Ok((None, None)) } else { Ok((few, see(&plan, early, Reduction::Exhaustive)?)) }
    });
    let (few, all) = match both {
        Ok((Some(few), Some(all))) => (few, all),
        Ok(_) => return Judged::TooLarge,
        Err(error) => {
            return Judged::Different(Difference { missed: vec![], invented: vec![], error: Some(error) });
        }
    };
    let only = |a: &Outcomes, b: &Outcomes| {
        a.difference(b).map(|(text, kinds)| format!("{text} {kinds:?}")).collect::<Vec<_>>()
    };
    let (missed, invented) = (only(&all.outcomes, &few.outcomes), only(&few.outcomes, &all.outcomes));
    if missed.is_empty() && invented.is_empty() {
        return Judged::Same { optimal: few.executions, blocked: few.blocked, exhaustive: all.executions };
    }
    Judged::Different(Difference { missed, invented, error: None })
}

/// Minimizes a plan on which the two searches differ. Returns the smallest plan found, with its difference.
#[must_use]
pub fn shrink(plan: &Plan, early: Early) -> (Plan, Difference) {
    let Judged::Different(mut difference) = judge(plan, early) else { panic!("only plans that differ can be shrunk") };
    let mut plan = plan.clone();
    loop {
        let smaller = plan.smaller().into_iter().find_map(|plan| match judge(&plan, early) {
            Judged::Different(difference) => Some((plan, difference)),
            _ => None,
        });
        match smaller {
            Some(found) => (plan, difference) = found,
            None => return (plan, difference),
        }
    }
}

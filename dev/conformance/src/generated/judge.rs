//! Explores a plan with `optimal` and with `exhaustive`, and compares the outcomes.

use super::plan::Plan;
use super::task::{Logs, program};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Dependence, FindingKind, Machine, MachineError, Name, Pending, Problem, Program,
    Reversal, Step, StepDescription, Touch,
};
use whippet_runtime::{Settings, TaskMachine, Tasks};
use whippet_search::{Options, Reduction, SearchError, explore};

/// The maximum number of executions. Plans with more are too large to compare.
const MOST: u64 = 1_000;

/// The outcomes of complete executions: the logs of the tasks, and the kinds of problems.
type Outcomes = BTreeSet<(String, Vec<FindingKind>)>;

/// The tasks of a plan, with a record of the outcome of each execution.
struct Overheard {
    tasks: Tasks,
    logs: Logs,
    seen: Arc<Mutex<Outcomes>>,
}

impl Program for Overheard {
    type Machine = Ear;

    fn machine(&self) -> Result<Ear, MachineError> {
        Ok(Ear { machine: self.tasks.machine()?, logs: self.logs.clone(), seen: self.seen.clone() })
    }

    fn name(&self) -> String {
        self.tasks.name()
    }
}

struct Ear {
    machine: TaskMachine,
    logs: Logs,
    seen: Arc<Mutex<Outcomes>>,
}

impl Machine for Ear {
    fn completed(&mut self) {
        let mut problems: Vec<Problem> = Vec::new();
        if self.machine.problems() > 0 {
            problems.extend((0..self.machine.depth()).filter_map(|at| self.machine.problem(at)));
        } else {
            self.machine.final_problems(&mut problems);
        }
        let kinds = problems.into_iter().map(|problem| problem.kind).collect();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert((self.logs.text(), kinds));
    }

    fn depth(&self) -> usize {
        self.machine.depth()
    }
    fn enabled(&mut self, out: &mut Vec<Choice>) {
        self.machine.enabled(out);
    }
    fn execute(&mut self, choice: Choice) -> Result<(), MachineError> {
        self.machine.execute(choice)
    }
    fn rewind(&mut self, depth: usize) {
        self.machine.rewind(depth);
    }
    fn next_branch(&self) -> Option<Branch> {
        self.machine.next_branch()
    }
    fn ways_differ(&self) -> bool {
        self.machine.ways_differ()
    }
    fn thread(&self, what: Pending) -> Name {
        self.machine.thread(what)
    }
    fn actor(&self, what: Pending) -> ActorNo {
        self.machine.actor(what)
    }
    fn find(&self, thread: Name) -> Option<Pending> {
        self.machine.find(thread)
    }
    fn pending(&self, out: &mut Vec<Pending>) {
        self.machine.pending(out);
    }
    fn relation(&self) -> Dependence {
        self.machine.relation()
    }
    fn step(&self, at: usize) -> Step {
        self.machine.step(at)
    }
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        self.machine.causes(at, out);
    }
    fn sent(&self, at: usize) -> Range<u32> {
        self.machine.sent(at)
    }
    fn touches(&self, at: usize) -> &[Touch] {
        self.machine.touches(at)
    }
    fn late_alternatives(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        self.machine.late_alternatives(at, out);
    }
    fn one_choice_each(&self) -> bool {
        self.machine.one_choice_each()
    }
    fn without(&self, clocks: &Clocks, earlier: usize, later: usize) -> Reversal {
        self.machine.without(clocks, earlier, later)
    }
    fn actors(&self) -> usize {
        self.machine.actors()
    }
    fn problems(&self) -> usize {
        self.machine.problems()
    }
    fn problem(&self, at: usize) -> Option<Problem> {
        self.machine.problem(at)
    }
    fn final_problems(&mut self, out: &mut Vec<Problem>) {
        self.machine.final_problems(out);
    }
    fn describe(&mut self, at: usize) -> StepDescription {
        self.machine.describe(at)
    }
    fn handler_runs(&self) -> u64 {
        self.machine.handler_runs()
    }
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
    let (logs, seen) = (Logs::default(), Arc::<Mutex<Outcomes>>::default());
    let (plan, to) = (plan.clone(), logs.clone());
    // `exhaustive` also makes operations events that `optimal` merges into steps, such as drops, so that the two
    // searches do not omit the same orders.
    let every_event = reduction == Reduction::Exhaustive;
    let settings = Settings { every_event, ..settings(&plan, early) };
    let tasks = Tasks::new("generated", settings, move || program(plan.clone(), to.clone()));
    let overheard = Arc::new(Overheard { tasks, logs, seen: seen.clone() });
    let mut options = Options { reduction, ..Options::default() };
    options.limits.executions = Some(MOST);
    options.limits.steps = 500;
    loop {
        // Outcomes of an earlier round must not hide outcomes that this round misses.
        seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let before = overheard.tasks.learnt();
        let verdict = explore(overheard.clone(), &options, &());
        if overheard.tasks.learnt() != before {
            continue;
        }
        let verdict = verdict?;
        let outcomes = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
        let counters = verdict.counters;
        return Ok(verdict.complete.then_some(Seen {
            outcomes,
            executions: counters.executions,
            blocked: counters.blocked,
        }));
    }
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

//! Compares the traces that two searches explore.
//!
//! Outcomes are a weak judge of a reduction: a trace that is lost often has the outcome of another one. Two complete searches
//! of one machine must explore the same traces. If one has a trace more, either the other one has lost it, or equivalent
//! executions have different footprints, so that searches see two traces where there is one. Both are faults.

use crate::judge::{Limits, Search};
use crate::logs::Logs;
use crate::shim;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_reference::Program;
use whippet_model::{Clocks, Explain, Machine, Observed, Program as _};
use whippet_runtime::{Settings, TaskMachine, TaskProgram};
use whippet_search::{Options, explore};

/// The traces of a search by their keys, each with the steps of one execution.
type Traces = BTreeMap<u64, Vec<String>>;

/// The result of one search.
struct Explored {
    traces: Traces,
    /// The number of refinements that the search knew in the end. With others, it explores another machine.
    refinements: u64,
    complete: bool,
}

/// Two searches that explore different traces of a program.
#[derive(Debug)]
pub struct Difference {
    searches: [Search; 2],
    /// The number of traces of each search.
    counts: [usize; 2],
    /// The traces that only one of the searches has, with that search.
    only: Vec<(Search, Vec<String>)>,
}

/// The number of traces that the text of a difference shows.
const SHOWN: usize = 3;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (search, count) in self.searches.iter().zip(self.counts) {
            writeln!(f, "{search}: {count} traces")?;
        }
        for (search, steps) in self.only.iter().take(SHOWN) {
            writeln!(f, "only {search}:")?;
            steps.iter().try_for_each(|step| writeln!(f, "    {step}"))?;
        }
        match self.only.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "and {more} more"),
        }
    }
}

/// Compares the traces of two searches. Returns `None` if they are the same, or cannot be compared: a search was too large or
/// ended with an error, or the searches learnt different refinements.
#[must_use]
pub fn compare(program: &Program, searches: [Search; 2], limits: &Limits) -> Option<Difference> {
    let program = Arc::new(program.clone());
    let one = traces(&program, searches[0], limits)?;
    let other = traces(&program, searches[1], limits)?;
    if one.refinements != other.refinements || one.traces.keys().eq(other.traces.keys()) {
        return None;
    }
    let counts = [one.traces.len(), other.traces.len()];
    let beyond = |of: &Traces, others: &Traces, search: Search| {
        let only = of.iter().filter(|(key, _)| !others.contains_key(key));
        only.map(|(_, steps)| (search, steps.clone())).collect::<Vec<_>>()
    };
    let mut only = beyond(&one.traces, &other.traces, searches[0]);
    only.extend(beyond(&other.traces, &one.traces, searches[1]));
    Some(Difference { searches, counts, only })
}

/// Explores a program and collects the traces of the search's last attempt. Returns `None` if it is too large, or fails.
fn traces(program: &Arc<Program>, search: Search, limits: &Limits) -> Option<Explored> {
    let run = || explored(program, search, limits);
    std::panic::catch_unwind(run).ok().flatten().filter(|explored| explored.complete)
}

fn explored(program: &Arc<Program>, search: Search, limits: &Limits) -> Option<Explored> {
    let stall = limits.stall.saturating_mul(shim::TICK);
    let settings = Settings { deep: search.deep, stall, ..shim::settings(search.merged) };
    let (body, logs) = (program.clone(), Logs::keeping_all());
    let tasks = TaskProgram::new("generated", settings, move || shim::main(body.clone(), logs.clone()));
    let attempts = Arc::<Mutex<BTreeMap<u64, Traces>>>::default();
    let to = attempts.clone();
    let observed = Arc::new(Observed::new(tasks, move |machine: &mut TaskMachine, refinements| {
        let mut clocks = Clocks::new();
        clocks.follow(&*machine);
        let mut attempts = to.lock().unwrap_or_else(PoisonError::into_inner);
        let traces = attempts.entry(refinements).or_default();
        traces.entry(clocks.key()).or_insert_with(|| steps(machine, &clocks));
    }));
    let mut options = Options::new(search.reduction);
    options.limits.executions = Some(limits.executions);
    options.limits.steps = 1_000;
    options.limits.findings = 0;
    let complete = explore(observed.clone(), &options, &()).ok()?.complete;
    let refinements = observed.program().refinements();
    let traces = attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(&refinements).unwrap_or_default();
    Some(Explored { traces, refinements, complete })
}

/// Describes the steps of the current execution: the choice, the action, the footprint, and the steps that it depends on.
fn steps(machine: &mut TaskMachine, clocks: &Clocks) -> Vec<String> {
    let describe = |machine: &mut TaskMachine, at: usize| {
        let choice = machine.step(at).choice;
        let touches: Vec<String> = machine
            .touches(at)
            .iter()
            .map(|touch| format!("{:?} {:04x}", touch.access, touch.object.0 & 0xffff))
            .collect();
        let mut causes = Vec::new();
        machine.causes(at, &mut causes);
        let action = machine.describe(at).action;
        let (task, branch) = (choice.what.0, choice.branch.0);
        format!(
            "{at}. task {task} {action} (branch {branch}; {}; after {causes:?}, in a race with {:?})",
            touches.join(", "),
            clocks.races(at)
        )
    };
    (0..machine.depth()).map(|at| describe(machine, at)).collect()
}

//! Problems that a search has found, each with its shortest counterexample.
//!
//! The counterexample of a problem consists of the steps that show it and of their past; all other steps are removed.
//! Of all executions that show the same problem (same kind, same key), the collector keeps one that a runtime with one
//! thread can show, if there is one; among those, the one that needs the shortest stall of the runtime; among those, the one with the shortest counterexample; among those, the one with the fewest switches between actors, and then the one with the smallest
//! event names. The steps of a counterexample are put into an order that depends only on happens-before. The result
//! therefore depends neither on the order of the search nor on the number of workers.
//!
//! A counterexample is *race_tainted* if it contains a data race other than the one that it reports: the search may have
//! treated steps as independent that the race makes dependent, and the problem may not exist. A counterexample
//! without such a race is always preferred. A problem that has only race_tainted counterexamples is reported only if a
//! replay that assumes no independence shows it again: see `confirm.rs`.

use crate::driver::control::PathStep;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use whippet_model::{BitSet, Clocks, FindingKind, Machine, Name, Problem, Stall};

/// The identity of a problem.
pub(crate) type Key = (FindingKind, Name);

/// A problem with its best known counterexample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) problem: Problem,
    pub(crate) race_tainted: bool,
    pub(crate) counterexample: Vec<PathStep>,
    switches: usize,
    /// The whole execution that showed the problem, for the case that the counterexample alone does not reproduce it.
    pub(crate) whole: Vec<PathStep>,
    pub(crate) executions: u64,
    /// The events before which the runtime has to stall, with the times.
    pub(crate) stalls: Vec<(Name, Duration)>,
}

/// Returns the time for which the runtime has to stall.
fn stalled(problem: &Problem) -> Duration {
    problem.stall.as_ref().map_or(Duration::ZERO, Stall::total)
}

/// All problems of a search.
#[derive(Debug)]
pub(crate) struct Collector {
    found: BTreeMap<Key, Found>,
    /// The maximum number of problems to keep.
    most: usize,
    /// The problems that exceeded the maximum. The largest keys are dropped, regardless of when they are found.
    dropped: FxHashSet<Key>,
}

impl Collector {
    pub(crate) fn new(most: usize) -> Collector {
        Collector { found: BTreeMap::new(), most: most.max(1), dropped: FxHashSet::default() }
    }

    /// Creates a collector that has already found and dropped these problems.
    pub(crate) fn with(most: usize, found: &[Found], dropped: &[Key]) -> Collector {
        let found = found.iter().map(|found| ((found.problem.kind, found.problem.key), found.clone())).collect();
        Collector { found, dropped: dropped.iter().copied().collect(), ..Collector::new(most) }
    }

    /// Records that the current execution, which has these data races, shows `problem`. `first` is `true` the first
    /// time that this execution shows it.
    pub(crate) fn add<M: Machine>(
        &mut self,
        machine: &M,
        clocks: &Clocks,
        problem: Problem,
        races: &[Vec<usize>],
        first: bool,
    ) {
        let key = (problem.kind, problem.key);
        if self.dropped.contains(&key) {
            return;
        }
        let mut steps = relevant_steps(clocks, &problem, machine.depth());
        let races = races.iter().filter(|race| race.iter().all(|at| steps.contains(at))).count();
        let race_tainted = races > usize::from(problem.kind == FindingKind::Race);
        let known = self.found.get_mut(&key);
        if let Some(known) = &known
            && (known.race_tainted, known.problem.threads, stalled(&known.problem), known.counterexample.len())
                < (race_tainted, problem.threads, stalled(&problem), steps.len())
        {
            self.found.get_mut(&key).expect("just seen").executions += u64::from(first);
            return;
        }
        if problem.kind != FindingKind::Limit {
            tell(machine, clocks, &mut steps);
        }
        let switches = steps.windows(2).filter(|w| machine.step(w[0]).actor != machine.step(w[1]).actor).count();
        let counterexample: Vec<PathStep> = steps.iter().map(|&at| path_step(machine, at)).collect();
        let seen = match known {
            Some(known) => {
                known.executions += u64::from(first);
                let of_known = (known.race_tainted, known.problem.threads, stalled(&known.problem));
                let best = (of_known, known.counterexample.len(), known.switches);
                let this = ((race_tainted, problem.threads, stalled(&problem)), counterexample.len(), switches);
                if (best, &known.counterexample) <= (this, &counterexample) {
                    return;
                }
                known.executions
            }
            None => 1,
        };
        let stalls = problem.stall.iter().flat_map(|stall| &stall.steps);
        let stalls = stalls.map(|&(at, time)| (machine.step(at).event, time)).collect();
        let whole = path(machine);
        let found = Found { problem, race_tainted, counterexample, switches, whole, executions: seen, stalls };
        self.found.insert(key, found);
        if self.found.len() > self.most {
            let (last, _) = self.found.pop_last().expect("there are more than `most`");
            self.dropped.insert(last);
        }
    }

    /// Returns the problems found, sorted by key.
    pub(crate) fn found(&self) -> Vec<Found> {
        self.found.values().cloned().collect()
    }

    /// Returns the identities of the problems that were dropped.
    pub(crate) fn dropped(&self) -> &FxHashSet<Key> {
        &self.dropped
    }
}

/// Returns all steps of the current execution.
pub(crate) fn path<M: Machine>(machine: &M) -> Vec<PathStep> {
    (0..machine.depth()).map(|at| path_step(machine, at)).collect()
}

fn path_step<M: Machine>(machine: &M, at: usize) -> PathStep {
    let step = machine.step(at);
    PathStep { event: step.event, thread: step.thread, branch: step.choice.branch }
}

/// Returns the steps that a problem depends on. For an execution that is too long these are all steps.
fn relevant_steps(clocks: &Clocks, problem: &Problem, depth: usize) -> Vec<usize> {
    if problem.kind == FindingKind::Limit {
        return (0..depth).collect();
    }
    let mut relevant = BitSet::default();
    problem.steps.iter().for_each(|&at| clocks.add_past(at, &mut relevant));
    relevant.iter().map(|at| at as usize).collect()
}

/// The length above which counterexamples keep the order of execution, because sorting takes quadratic time.
const LONG: usize = 512;

/// Sorts the steps of a counterexample into an order that depends only on happens-before: the next step is one of the
/// same actor if possible, otherwise the one with the lowest level, which is the length of the longest chain of steps
/// before it.
fn tell<M: Machine>(machine: &M, clocks: &Clocks, steps: &mut [usize]) {
    if steps.len() > LONG {
        return;
    }
    let mut level: Vec<usize> = Vec::with_capacity(steps.len());
    for (i, &at) in steps.iter().enumerate() {
        let below = (0..i).filter(|&j| clocks.before(steps[j], at)).map(|j| level[j] + 1);
        level.push(below.max().unwrap_or(0));
    }
    let mut open: Vec<(usize, Name, usize)> =
        steps.iter().zip(level).map(|(&at, level)| (level, machine.step(at).event, at)).collect();
    open.sort_unstable();
    let mut last = None;
    for place in steps.iter_mut() {
        let ready = |k: &usize| open.iter().all(|o| o.2 == open[*k].2 || !clocks.before(o.2, open[*k].2));
        let same = |k: &usize| Some(machine.step(open[*k].2).actor) == last;
        let k = (0..open.len()).filter(same).find(ready).or_else(|| (0..open.len()).find(ready));
        let at = open.remove(k.expect("happens-before has no cycles")).2;
        last = Some(machine.step(at).actor);
        *place = at;
    }
}

//! Logging of the executions that a search completes.
//!
//! [`watch`] wraps a program; its machines log every complete execution. The search does not notice the difference.

use crate::Trace;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whippet_model::{Clocks, FindingKind, Machine, Name, Observed, Program, StateComparison};

/// The occurrences of one trace.
///
/// ```
/// use whippet_generate::{Setting, answer};
/// use whippet_search::{Reduction, toy::Program};
/// let pair = Program::new(2).main(0, 1).main(1, 1);
/// let answer = answer(&pair, &Setting::of(Reduction::Exhaustive), None).unwrap().unwrap();
/// assert!(answer.log.traces.values().all(|seen| seen.times == 2), "one trace, two orders");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Number of executions with this trace.
    pub times: u64,
    /// The hash of the final configuration; `None` if configurations cannot be hashed.
    pub state: Option<u128>,
    /// The [`Clocks::key`] of the trace.
    pub key: u64,
    /// `true` if any of the executions had a data race.
    pub races: bool,
}

/// The traces that a search has completed.
///
/// ```
/// use std::sync::Arc;
/// use whippet_search::{explore, toy::Program};
/// let (watched, log) = whippet_generate::watch(Program::new(1).main(0, 1).main(0, 2));
/// explore(Arc::new(watched), &Default::default(), &()).unwrap();
/// let log = log.so_far();
/// assert!(log.traces.len() == 2 && log.contradiction.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The traces and their occurrences.
    pub traces: FxHashMap<Trace, Seen>,
    /// The kinds and keys of the problems at the ends of executions without a data race.
    pub problems: BTreeSet<(FindingKind, Name)>,
    /// A description of an inconsistency, if one was seen: one trace with two final states or two keys.
    pub contradiction: Option<String>,
}

impl Log {
    fn add(&mut self, trace: Trace, seen: Seen) {
        let known = self.traces.entry(trace).or_insert(Seen { times: 0, ..seen });
        known.times += 1;
        if known.state != seen.state {
            self.contradiction = Some("one trace ends in two different states".into());
        }
        known.races |= seen.races;
        if known.key != seen.key {
            self.contradiction = Some("the clocks give one trace two different keys".into());
        }
    }
}

/// The log of a [`watch`]ed program.
///
/// ```
/// use std::sync::Arc;
/// use whippet_search::{explore, toy::Program};
/// let (watched, log) = whippet_generate::watch(Program::new(1).main(0, 1));
/// explore(Arc::new(watched), &Default::default(), &()).unwrap();
/// assert_eq!(log.so_far().traces.len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SharedLog(Arc<Mutex<Log>>);

impl SharedLog {
    /// Returns a copy of the log so far.
    #[must_use]
    pub fn so_far(&self) -> Log {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the same program, whose completed executions are logged.
///
/// ```
/// use whippet_model::{Machine, Program as _};
/// let (watched, log) = whippet_generate::watch(whippet_search::toy::Program::new(1).main(0, 1));
/// assert_eq!(watched.machine(&Default::default()).unwrap().actors(), 1);
/// assert!(log.so_far().traces.is_empty());
/// ```
pub fn watch<P: Program>(program: P) -> (Observed<P>, SharedLog) {
    let log = SharedLog::default();
    let to = log.clone();
    (Observed::new(program, move |machine, _| completed(machine, &to)), log)
}

fn completed<M: Machine>(machine: &mut M, log: &SharedLog) {
    let mut clocks = Clocks::new();
    clocks.follow(machine);
    let state = machine.fingerprint().and_then(|it| it.of_configuration(StateComparison::Canonical).ok());
    let (mut races, mut problems) = (Vec::new(), Vec::new());
    machine.data_races(&mut races);
    let mut contradiction = None;
    if races.is_empty()
        && machine.problems() == 0
        && let Err(error) = machine.final_problems(&mut problems)
    {
        contradiction = Some(error.to_string());
    }
    let seen = Seen { times: 1, state, key: clocks.key(), races: !races.is_empty() };
    let trace = Trace::of(machine);
    let mut log = log.lock();
    log.problems.extend(problems.iter().map(|problem| (problem.kind, problem.key)));
    log.add(trace, seen);
    if contradiction.is_some() {
        log.contradiction = contradiction;
    }
}

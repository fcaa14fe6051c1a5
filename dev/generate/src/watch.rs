//! Logging of the executions that a search completes.
//!
//! [`Watched`] wraps a program; its machines log every complete execution. The wrapper is transparent to the search.

use crate::Trace;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use whippet_model::{
    ActorNo, Branch, Choice, Clocks, Comparison, Dependence, Extension, FindingKind, Machine, MachineError, Name,
    Pending, Problem, Program, Reversal, Step, StepDescription, Touch,
};

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
/// use whippet_generate::Watched;
/// use whippet_search::{explore, toy::Program};
/// let watched = Arc::new(Watched::new(Program::new(1).main(0, 1).main(0, 2)));
/// explore(watched.clone(), &Default::default(), &()).unwrap();
/// let log = watched.log();
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

/// A program whose completed executions are logged.
///
/// ```
/// use std::sync::Arc;
/// use whippet_generate::Watched;
/// use whippet_search::{explore, toy::Program};
/// let watched = Arc::new(Watched::new(Program::new(1).main(0, 1)));
/// explore(watched.clone(), &Default::default(), &()).unwrap();
/// assert_eq!(watched.log().traces.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Watched<P> {
    program: P,
    log: Arc<Mutex<Log>>,
}

impl<P: Program> Watched<P> {
    /// Wraps `program`.
    pub fn new(program: P) -> Watched<P> {
        Watched { program, log: Arc::default() }
    }

    /// Returns a copy of the log so far.
    pub fn log(&self) -> Log {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<P: Program> Program for Watched<P> {
    type Machine = Watch<P::Machine>;

    fn machine(&self) -> Result<Watch<P::Machine>, MachineError> {
        Ok(Watch { machine: self.program.machine()?, log: self.log.clone() })
    }

    fn name(&self) -> String {
        self.program.name()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        self.program.parameters()
    }

    fn caveats(&self) -> Vec<String> {
        self.program.caveats()
    }
}

/// A machine that logs completed executions.
///
/// ```
/// use whippet_generate::Watched;
/// use whippet_model::{Machine, Program as _};
/// let machine = Watched::new(whippet_search::toy::Program::new(1).main(0, 1)).machine().unwrap();
/// assert_eq!(machine.actors(), whippet_search::toy::Program::new(1).machine().unwrap().actors());
/// ```
#[derive(Debug)]
pub struct Watch<M> {
    machine: M,
    log: Arc<Mutex<Log>>,
}

impl<M: Machine> Machine for Watch<M> {
    fn completed(&mut self) {
        let mut clocks = Clocks::new();
        clocks.follow(&self.machine);
        let state = self.machine.fingerprint(Comparison::Canonical).ok();
        let (mut races, mut problems) = (Vec::new(), Vec::new());
        self.machine.data_races(&mut races);
        if races.is_empty() && self.machine.problems() == 0 {
            self.machine.final_problems(&mut problems);
        }
        let seen = Seen { times: 1, state, key: clocks.key(), races: !races.is_empty() };
        let trace = Trace::of(&self.machine);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.problems.extend(problems.iter().map(|problem| (problem.kind, problem.key)));
        log.add(trace, seen);
        drop(log);
        self.machine.completed();
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

    fn accepted_at(&mut self, what: Pending, at: usize) -> bool {
        self.machine.accepted_at(what, at)
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

    fn extensions(&mut self, clocks: &Clocks, out: &mut Vec<Extension>) -> Result<bool, MachineError> {
        self.machine.extensions(clocks, out)
    }

    fn blocked_on(&mut self, what: Pending, out: &mut Vec<Touch>) {
        self.machine.blocked_on(what, out);
    }

    fn actors(&self) -> usize {
        self.machine.actors()
    }

    fn set_up_sends(&self) -> Vec<(ActorNo, ActorNo)> {
        self.machine.set_up_sends()
    }

    fn problems(&self) -> usize {
        self.machine.problems()
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.machine.problem(at)
    }

    fn isolate_races(&mut self) {
        self.machine.isolate_races();
    }

    fn data_races(&self, out: &mut Vec<Problem>) {
        self.machine.data_races(out);
    }

    fn final_problems(&mut self, out: &mut Vec<Problem>) {
        self.machine.final_problems(out);
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        self.machine.describe(at)
    }

    fn fingerprint(&mut self, comparison: Comparison) -> Result<u128, MachineError> {
        self.machine.fingerprint(comparison)
    }

    fn handler_runs(&self) -> u64 {
        self.machine.handler_runs()
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.machine.limit_memory(bytes);
    }
}

//! Compares the outcomes of the three interpreters, and makes programs on which they differ smaller.

use crate::logs::Partial;
use crate::{real, shim};
use ::real::runtime::Runtime;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_reference::{End, Granularity, Outcome, Program, TaskOutcome, outcomes_within, rust_test, smaller};
use whippet_search::Reduction;

/// A way to explore a program on the shim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    pub reduction: Reduction,
    /// Is `false` if every event is a step of its own.
    pub merged: bool,
    /// Is `true` if there is a point before every operation.
    pub deep: bool,
    /// Is `true` if only executions that one thread can show count.
    pub one_thread: bool,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let merged = if self.merged { "merged" } else { "unmerged" };
        let threads = if self.one_thread { ", one thread" } else { "" };
        write!(f, "{}, {}{merged}{threads}", self.reduction, if self.deep { "deep, " } else { "" })
    }
}

impl Search {
    /// Returns `true` if this search has at least as many executions as `other`, on every program.
    #[must_use]
    pub fn is_at_least(self, other: Search) -> bool {
        let rank = |reduction| match reduction {
            Reduction::Optimal => Some(0),
            Reduction::Source => Some(1),
            Reduction::Exhaustive => Some(2),
            _ => None,
        };
        let is_weaker = rank(self.reduction).is_some_and(|one| rank(other.reduction).is_some_and(|two| one >= two));
        is_weaker && (other.merged || !self.merged) && (self.deep || !other.deep)
    }

    /// Explores a program in this way.
    ///
    /// # Errors
    /// See [`shim::outcomes`].
    pub fn run(self, program: &Arc<Program>, limits: &Limits) -> Result<shim::Explored, String> {
        let stall = limits.stall.saturating_mul(shim::TICK);
        let settings = whippet_runtime::Settings { deep: self.deep, stall, ..shim::settings(self.merged) };
        shim::outcomes(program, self.reduction, settings, limits.executions, self.one_thread)
    }
}

/// Sizes beyond which programs are not judged.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// States of the reference model.
    pub states: usize,
    /// Executions of a search.
    pub executions: u64,
    /// The ticks for which the runtime may stall in an execution. Outcomes that need more are not compared.
    pub stall: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 300_000, executions: 20_000, stall: u64::MAX }
    }
}

/// Two judges that differ, and the way in which they do.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The coarse reference has outcomes that the shim does not have.
    Missed,
    /// The shim has outcomes that the fine reference does not have.
    Invented,
    /// The shim ran user code in a way that no outcome of the fine reference continues, possibly in a run that does not
    /// count.
    Impossible,
    /// The search on the shim ended with an error.
    Error,
    /// The real tokio has outcomes that the fine reference does not have: the reference is wrong.
    Unforeseen,
    /// The real tokio has outcomes of the coarse reference that the shim does not have.
    Unexplored,
    /// As [`Kind::Unexplored`], but these need an interleaving inside of one poll, and `--preempt-everywhere` does not explore
    /// them either.
    UnexploredInPoll,
    /// The real tokio has outcomes that need an interleaving inside of one poll, which the shim explores with
    /// `--preempt-everywhere` only. Not a fault: the documentation says so.
    InPoll,
    /// The real tokio has outcomes that only a real clock explains ([`Granularity::RealClock`]): a thread stalls in the middle of
    /// a poll, or a timer that is due is still pending. The shim does not explore them: not a fault.
    OnRealClock,
}

impl Kind {
    /// Returns `true` if one of the judges is wrong.
    #[must_use]
    pub fn is_fault(self) -> bool {
        !matches!(self, Kind::OnRealClock | Kind::InPoll)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Missed => "missed by the shim (reference, coarse)",
            Kind::Invented => "invented by the shim (not in the reference, fine)",
            Kind::Impossible => {
                "impossible logs in a run on the shim (no outcome of the reference, fine, continues them)"
            }
            Kind::Error => "error of the search",
            Kind::Unforeseen => "seen on the real tokio, not in the reference (fine)",
            Kind::Unexplored => "seen on the real tokio, not explored by the shim",
            Kind::UnexploredInPoll => {
                "seen on the real tokio, inside of one poll, not explored by the shim with --preempt-everywhere"
            }
            Kind::InPoll => "seen on the real tokio, inside of one poll, explored with --preempt-everywhere (no fault)",
            Kind::OnRealClock => "seen on the real tokio, explained by its real clock only (no fault)",
        })
    }
}

/// Two judges that do not agree on a program.
#[derive(Clone, Debug)]
pub struct Difference {
    pub kind: Kind,
    pub search: Option<Search>,
    pub outcomes: Vec<Outcome>,
    /// The text of an error.
    pub error: Option<String>,
    /// The number of executions of the search.
    pub executions: u64,
}

impl Difference {
    fn new(kind: Kind, search: Option<Search>, outcomes: Vec<Outcome>) -> Option<Difference> {
        let difference = Difference { kind, search, outcomes, error: None, executions: 0 };
        (!difference.outcomes.is_empty()).then_some(difference)
    }

    fn error(search: Search, error: String) -> Difference {
        let (kind, search) = (Kind::Error, Some(search));
        Difference { kind, search, outcomes: Vec::new(), error: Some(error), executions: 0 }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(search) = self.search {
            write!(f, " [{search}, {} executions]", self.executions)?;
        }
        writeln!(f, ":")?;
        for outcome in &self.outcomes {
            writeln!(f, "    {outcome}")?;
        }
        self.error.as_ref().map_or(Ok(()), |error| writeln!(f, "    {error}"))
    }
}

/// The reference's outcomes; the fine ones are computed when they are needed.
pub struct Reference<'a> {
    program: &'a Program,
    limits: Limits,
    coarse: BTreeSet<Outcome>,
    fine: Option<Option<BTreeSet<Outcome>>>,
}

impl<'a> Reference<'a> {
    /// Computes the coarse outcomes; `None` if there are too many states.
    #[must_use]
    pub fn new(program: &'a Program, limits: &Limits) -> Option<Reference<'a>> {
        let coarse = outcomes_within(program, Granularity::Coarse, limits.states, limits.stall)?;
        Some(Reference { program, limits: *limits, coarse, fine: None })
    }

    /// Computes the outcomes on one thread, which are both the coarse and the fine ones; `None` if there are too many
    /// states.
    #[must_use]
    pub fn one_thread(program: &'a Program, limits: &Limits) -> Option<Reference<'a>> {
        let coarse = outcomes_within(program, Granularity::Poll, limits.states, limits.stall)?;
        let fine = Some(Some(coarse.clone()));
        Some(Reference { program, limits: *limits, coarse, fine })
    }

    /// Computes the outcomes that a search is compared with.
    fn of(program: &'a Program, limits: &Limits, search: Search) -> Option<Reference<'a>> {
        if search.one_thread { Reference::one_thread(program, limits) } else { Reference::new(program, limits) }
    }

    #[must_use]
    pub fn coarse(&self) -> &BTreeSet<Outcome> {
        &self.coarse
    }

    /// Gives those of some outcomes that are not in the fine ones; `None` if the model is too large to know.
    pub fn strange<'o>(&mut self, some: impl Iterator<Item = &'o Outcome>) -> Option<Vec<Outcome>> {
        let beyond: Vec<&Outcome> = some.filter(|outcome| !self.coarse.contains(outcome)).collect();
        if beyond.is_empty() {
            return Some(Vec::new());
        }
        let compute = || outcomes_within(self.program, Granularity::Fine, self.limits.states, self.limits.stall);
        let fine = self.fine.get_or_insert_with(compute).as_ref()?;
        Some(beyond.into_iter().filter(|outcome| !fine.contains(outcome)).cloned().collect())
    }

    /// Returns those of some runs that no fine outcome continues; `None` if the model is too large to know.
    fn impossible<'r>(&mut self, runs: impl Iterator<Item = &'r Partial>) -> Option<Vec<Outcome>> {
        if self.limits.stall < u64::MAX {
            // Runs over the budget are possible, and do not count.
            return Some(Vec::new());
        }
        let beyond = without_end(runs, &self.coarse);
        if beyond.is_empty() {
            return Some(Vec::new());
        }
        let compute = || outcomes_within(self.program, Granularity::Fine, self.limits.states, self.limits.stall);
        let fine = self.fine.get_or_insert_with(compute).as_ref()?;
        let impossible = without_end(beyond.into_iter(), fine);
        let blocked = |log: &Vec<String>| TaskOutcome { end: End::Blocked, log: log.clone() };
        Some(impossible.into_iter().map(|run| Outcome { tasks: run.iter().map(blocked).collect() }).collect())
    }
}

/// Returns the runs that no outcome continues.
fn without_end<'r>(runs: impl Iterator<Item = &'r Partial>, outcomes: &BTreeSet<Outcome>) -> Vec<&'r Partial> {
    let continues =
        |run: &Partial, outcome: &Outcome| run.iter().zip(&outcome.tasks).all(|(log, task)| task.log.starts_with(log));
    runs.filter(|run| !outcomes.iter().any(|outcome| continues(run, outcome))).collect()
}

/// The result of one search on the shim, compared with the reference.
pub struct Compared {
    pub search: Search,
    /// Is `None` where the search ended with an error.
    pub explored: Option<shim::Explored>,
    /// Is `true` if the fine reference was needed and too large.
    pub undecided: bool,
    pub differences: Vec<Difference>,
}

impl Compared {
    /// Returns `true` if the limit on executions ended the search.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.explored.as_ref().is_some_and(|explored| !explored.complete)
    }
}

/// Compares the reference and one search.
pub fn compare(reference: &mut Reference<'_>, program: &Arc<Program>, search: Search) -> Compared {
    let mut compared = Compared { search, explored: None, undecided: false, differences: Vec::new() };
    let explored = match search.run(program, &reference.limits) {
        Ok(explored) => explored,
        Err(error) => {
            compared.differences.push(Difference::error(search, error));
            return compared;
        }
    };
    if explored.complete {
        let missed = reference.coarse.difference(&explored.outcomes).cloned().collect();
        compared.differences.extend(Difference::new(Kind::Missed, Some(search), missed));
    }
    match reference.strange(explored.outcomes.iter()) {
        Some(strange) => compared.differences.extend(Difference::new(Kind::Invented, Some(search), strange)),
        None => compared.undecided = true,
    }
    // The search itself assumes any number of threads.
    let runs = if search.one_thread { Some(Vec::new()) } else { reference.impossible(explored.runs.iter()) };
    match runs {
        Some(runs) => compared.differences.extend(Difference::new(Kind::Impossible, Some(search), runs)),
        None => compared.undecided = true,
    }
    compared.differences.iter_mut().for_each(|difference| difference.executions = explored.executions);
    compared.explored = Some(explored);
    compared
}

/// Looks for a difference of one kind between the reference and one search.
#[must_use]
pub fn look(program: &Program, search: Search, kind: Kind, limits: &Limits) -> Option<Difference> {
    let shared = Arc::new(program.clone());
    let mut reference = Reference::of(program, limits, search)?;
    compare(&mut reference, &shared, search).differences.into_iter().find(|difference| difference.kind == kind)
}

/// Compares what the real tokio showed with the reference and with a search of the shim.
#[must_use]
pub fn compare_real(program: &Arc<Program>, seen: &real::Observed, search: Search, limits: &Limits) -> Vec<Difference> {
    let mut differences = Vec::new();
    let reference = Reference::of(program, limits, search);
    let coarse = reference.as_ref().map(|reference| reference.coarse().clone());
    let mut by_clock = Vec::new();
    if let Some(strange) = reference.and_then(|mut reference| reference.strange(seen.outcomes.keys())) {
        let unforeseen;
        (by_clock, unforeseen) = partition_real_clock(program, strange, limits);
        differences.extend(Difference::new(Kind::OnRealClock, None, by_clock.clone()));
        differences.extend(Difference::new(Kind::Unforeseen, None, unforeseen));
    }
    let explored = match search.run(program, limits) {
        Ok(explored) if explored.complete => explored,
        Ok(_) => return differences,
        Err(error) => {
            differences.push(Difference::error(search, error));
            return differences;
        }
    };
    let is_unexplored = |outcome: &&Outcome| !explored.outcomes.contains(outcome) && !by_clock.contains(outcome);
    let unexplored = seen.outcomes.keys().filter(is_unexplored).cloned();
    let is_coarse = |outcome: &Outcome| coarse.as_ref().is_none_or(|coarse| coarse.contains(outcome));
    let (between, inside): (Vec<_>, Vec<_>) = unexplored.partition(is_coarse);
    differences.extend(Difference::new(Kind::Unexplored, Some(search), between));
    let deep = Search { deep: true, merged: false, ..search };
    let (preempted, inside) = match (!inside.is_empty()).then(|| deep.run(program, limits)) {
        Some(Ok(explored)) => inside.into_iter().partition(|outcome| explored.outcomes.contains(outcome)),
        _ => (Vec::new(), inside),
    };
    differences.extend(Difference::new(Kind::InPoll, Some(deep), preempted));
    differences.extend(Difference::new(Kind::UnexploredInPoll, Some(deep), inside));
    differences.iter_mut().for_each(|difference| difference.executions = explored.executions);
    differences
}

/// Separates the outcomes that a real clock explains from the others.
fn partition_real_clock(program: &Program, strange: Vec<Outcome>, limits: &Limits) -> (Vec<Outcome>, Vec<Outcome>) {
    if strange.is_empty() {
        return Default::default();
    }
    let by_clock = outcomes_within(program, Granularity::RealClock, limits.states, limits.stall);
    strange.into_iter().partition(|outcome| by_clock.as_ref().is_some_and(|by_clock| by_clock.contains(outcome)))
}

/// The settings for runs of the real tokio while a difference is made smaller: more runs, as not every run shows it.
#[must_use]
pub fn look_real(
    runtime: &Runtime,
    program: &Program,
    (search, kind): (Search, Kind),
    (runs, seed): (u64, u64),
    limits: &Limits,
) -> Option<Difference> {
    if !tokio_reference::is_real_time_safe(program) {
        return None;
    }
    let shared = Arc::new(program.clone());
    let seen = real::outcomes(runtime, &shared, runs, seed);
    compare_real(&shared, &seen, search, limits).into_iter().find(|difference| difference.kind == kind)
}

/// Makes a program smaller as long as `look` still finds a difference, within some time.
pub fn shrink<D>(
    program: &Program,
    difference: D,
    time: Duration,
    look: impl Fn(&Program) -> Option<D>,
) -> (Program, D) {
    let began = Instant::now();
    let (mut program, mut difference) = (program.clone(), difference);
    loop {
        let mut candidates = smaller(&program).into_iter().take_while(|_| began.elapsed() < time);
        let found = candidates.find_map(|candidate| look(&candidate).map(|difference| (candidate, difference)));
        match found {
            Some(found) => (program, difference) = found,
            None => return (program, difference),
        }
    }
}

/// Tells which searches show a difference of this kind on a program, and which do not.
#[must_use]
pub fn who(program: &Program, kind: Kind, limits: &Limits) -> String {
    let shared = Arc::new(program.clone());
    let Some(mut reference) = Reference::new(program, limits) else { return String::new() };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Exhaustive] {
        for (merged, deep) in [(true, false), (false, false), (false, true)] {
            let search = Search { reduction, merged, deep, one_thread: false };
            let compared = compare(&mut reference, &shared, search);
            let is_known = compared.explored.as_ref().is_none_or(|explored| explored.complete);
            let differs = compared.differences.iter().any(|difference| difference.kind == kind);
            match (differs, is_known) {
                (true, _) => with.push(format!("({search})")),
                (false, true) => without.push(format!("({search})")),
                (false, false) => {}
            }
        }
    }
    format!("searches that differ: {}; that do not: {}\n", with.join(" "), without.join(" "))
}

/// Names the objects and operations of a program, each once: programs of one shape often show the same fault.
#[must_use]
pub fn shape(program: &Program) -> String {
    let text = format!("{:?} {:?}", program.objects, program.tasks);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_uppercase));
    words.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// Tells a difference with its program.
#[must_use]
pub fn report(seed: u64, program: &Program, difference: &Difference) -> String {
    format!("seed {seed}, shape {}\n{difference}{program:?}\n{}\n", shape(program), rust_test(program))
}

//! Compares the outcomes of the three interpreters, and makes programs on which they differ smaller.

use crate::{real, shim};
use ::real::runtime::Runtime;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_reference::{Granularity, Outcome, Program, outcomes, rust_test, smaller};
use whippet_search::Reduction;

/// A way to explore a program on the shim.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    pub reduction: Reduction,
    /// Is `false` if every event is a step of its own.
    pub merged: bool,
    /// Is `true` if there is a point before every operation.
    pub deep: bool,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let merged = if self.merged { "merged" } else { "unmerged" };
        write!(f, "{}, {}{merged}", self.reduction, if self.deep { "deep, " } else { "" })
    }
}

impl Search {
    /// Explores a program in this way.
    ///
    /// # Errors
    /// See [`shim::outcomes`].
    pub fn run(self, program: &Arc<Program>, limits: &Limits) -> Result<shim::Explored, String> {
        let settings = whippet_runtime::Settings { deep: self.deep, ..shim::settings(self.merged) };
        shim::outcomes(program, self.reduction, settings, limits.executions)
    }
}

/// Sizes beyond which programs are not judged.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// States of the reference model.
    pub states: usize,
    /// Executions of a search.
    pub executions: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 300_000, executions: 20_000 }
    }
}

/// The two judges that differ, and how.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The coarse reference has outcomes that the shim does not have.
    Missed,
    /// The shim has outcomes that the fine reference does not have.
    Invented,
    /// The search on the shim ended with an error.
    Error,
    /// The real tokio has outcomes that the fine reference does not have: the reference is wrong.
    Unforeseen,
    /// The real tokio has outcomes of the coarse reference that the shim does not have.
    Unexplored,
    /// As [`Kind::Unexplored`], but these need an interleaving inside of one poll.
    UnexploredInPoll,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Missed => "missed by the shim (reference, coarse)",
            Kind::Invented => "invented by the shim (not in the reference, fine)",
            Kind::Error => "error of the search",
            Kind::Unforeseen => "seen on the real tokio, not in the reference (fine)",
            Kind::Unexplored => "seen on the real tokio, not explored by the shim",
            Kind::UnexploredInPoll => "seen on the real tokio, not explored by the shim, inside of one poll",
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
        let coarse = outcomes(program, Granularity::Coarse, limits.states)?;
        Some(Reference { program, limits: *limits, coarse, fine: None })
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
        let compute = || outcomes(self.program, Granularity::Fine, self.limits.states);
        let fine = self.fine.get_or_insert_with(compute).as_ref()?;
        Some(beyond.into_iter().filter(|outcome| !fine.contains(outcome)).cloned().collect())
    }
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
    compared.differences.iter_mut().for_each(|difference| difference.executions = explored.executions);
    compared.explored = Some(explored);
    compared
}

/// Looks for a difference of one kind between the reference and one search.
#[must_use]
pub fn look(program: &Program, search: Search, kind: Kind, limits: &Limits) -> Option<Difference> {
    let shared = Arc::new(program.clone());
    let mut reference = Reference::new(program, limits)?;
    compare(&mut reference, &shared, search).differences.into_iter().find(|difference| difference.kind == kind)
}

/// Compares what the real tokio showed with the reference and with a search of the shim.
#[must_use]
pub fn compare_real(program: &Arc<Program>, seen: &real::Observed, search: Search, limits: &Limits) -> Vec<Difference> {
    let mut differences = Vec::new();
    let reference = Reference::new(program, limits);
    let coarse = reference.as_ref().map(|reference| reference.coarse().clone());
    if let Some(strange) = reference.and_then(|mut reference| reference.strange(seen.outcomes.keys())) {
        differences.extend(Difference::new(Kind::Unforeseen, None, strange));
    }
    let explored = match search.run(program, limits) {
        Ok(explored) if explored.complete => explored,
        Ok(_) => return differences,
        Err(error) => {
            differences.push(Difference::error(search, error));
            return differences;
        }
    };
    let unexplored = seen.outcomes.keys().filter(|outcome| !explored.outcomes.contains(outcome)).cloned();
    let is_coarse = |outcome: &Outcome| coarse.as_ref().is_none_or(|coarse| coarse.contains(outcome));
    let (between, inside): (Vec<_>, Vec<_>) = unexplored.partition(is_coarse);
    differences.extend(Difference::new(Kind::Unexplored, Some(search), between));
    differences.extend(Difference::new(Kind::UnexploredInPoll, Some(search), inside));
    differences.iter_mut().for_each(|difference| difference.executions = explored.executions);
    differences
}

/// How the real tokio is run where a difference is made smaller: more often, as not every run shows it.
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
pub fn shrink(
    program: &Program,
    difference: Difference,
    time: Duration,
    look: impl Fn(&Program) -> Option<Difference>,
) -> (Program, Difference) {
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
            let search = Search { reduction, merged, deep };
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

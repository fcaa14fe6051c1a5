//! The papers' tables, run again: every cell as published and as it comes out here.
//!
//! For each cell: find the subject and the search that it means, run it within the limits, count as the paper counted,
//! and compare. Counting: a path is a complete execution. A transition is a delivery, each edge of the explored tree
//! once; the explored part begins with the start message, and some tables also count what the driver received before it
//! ([`PrintedProgram::prefix`](crate::PrintedProgram::prefix)). Searches that keep no states have one more state than
//! transitions; one table leaves out the first state ([`Table::first_state`]).
//!
//! Tables repeat each other's runs; a run is done once and counted wherever it belongs.

use crate::published::{Cell, Figures, Standing, StandingRule, Table, Technique};
use crate::registry::find;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use whippet_model::{LimitHit, Limits};
use whippet_search::{Observer, Options, Order, Progress, Reduction, Rule, StepSize, explore};

/// What is to be run, and for how long at most.
///
/// ```
/// use whippet_subjects::{Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// assert!(result.cells.iter().all(|cell| cell.program.starts_with("server")));
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// Only cells of these subjects, by our name or the printed one; all if empty.
    pub subjects: Vec<String>,
    /// This rule for all TransDPOR cells instead of the published table's own: with [`Rule::Sound`] the counts of the
    /// nine common subjects stay.
    pub rule: Option<Rule>,
    /// The limits of each cell.
    pub limits: Limits,
}

impl Default for Plan {
    fn default() -> Plan {
        let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
        Plan { subjects: Vec::new(), rule: None, limits }
    }
}

/// How a cell compares.
///
/// ```
/// use whippet_subjects::{Mark, Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// assert!(result.cells.iter().any(|cell| cell.mark == Mark::Equal));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// All figures are equal.
    Equal,
    /// They differ, and it is known why.
    Differs(Standing),
    /// They differ, or are not what this cell is known to come to: something is wrong here.
    Wrong,
    /// A limit of the plan cut the run; what was counted until then is no answer.
    Cut(LimitHit),
    /// The published run was cut, and so was ours, later: both are only the beginning of something larger.
    Beyond(LimitHit),
    /// It could not be run, and why.
    NotRun(String),
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::Equal => f.write_str("equal"),
            Mark::Differs(standing) => write!(f, "differs: {standing}"),
            Mark::Wrong => f.write_str("WRONG: known to be exact, and is not"),
            Mark::Cut(limit) => write!(f, "cut here by {limit}"),
            Mark::Beyond(limit) => write!(f, "cut there and, later, here by {limit}"),
            Mark::NotRun(why) => write!(f, "not run: {why}"),
        }
    }
}

/// One cell, published and run here.
///
/// ```
/// use whippet_subjects::{Mark, Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// for cell in result.cells.iter().filter(|cell| cell.mark == Mark::Equal) {
///     assert_eq!(cell.ours.paths, cell.cell.figures.paths);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Reproduced {
    /// As published.
    pub cell: Cell,
    /// Our subject with its settings: `pi workers=5 variant=actorfoundry`.
    pub program: String,
    /// As it came out here, as far as it was run.
    pub ours: Figures,
    /// How the two compare.
    pub mark: Mark,
    /// What is known of the cell, in a line; empty where there is nothing to say.
    pub note: String,
    /// How long it took here. Nothing for a run that another cell had done before.
    pub time: Duration,
}

/// A table, published and run here.
///
/// ```
/// use whippet_subjects::{Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// assert!(result.equal() > 0 && result.wrong() == 0 && !result.interrupted);
/// assert!(result.summary().starts_with(&format!("{} of {} cells equal", result.equal(), result.cells.len())));
/// ```
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The name of the table.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// Its cells, in printed order.
    pub cells: Vec<Reproduced>,
    /// Whether somebody stopped it before its end.
    pub interrupted: bool,
}

impl Reproduction {
    /// How many cells have a mark that `is` so.
    fn count(&self, is: impl Fn(&Mark) -> bool) -> usize {
        self.cells.iter().filter(|cell| is(&cell.mark)).count()
    }

    /// How many cells are equal.
    #[must_use]
    pub fn equal(&self) -> usize {
        self.count(|mark| *mark == Mark::Equal)
    }

    /// How many cells are known to be exact and are not.
    #[must_use]
    pub fn wrong(&self) -> usize {
        self.count(|mark| *mark == Mark::Wrong)
    }

    /// The table in a line: how many cells are equal, and why the others are not.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("{} of {} cells equal", self.equal(), self.cells.len())];
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.mark != Mark::Equal) {
            let reason = match &cell.mark {
                Mark::Differs(standing) => standing.to_string(),
                Mark::Wrong => "WRONG".into(),
                Mark::Cut(_) => "cut by a limit here".into(),
                Mark::Beyond(_) => "cut there and, later, here".into(),
                Mark::NotRun(_) => "not run".into(),
                Mark::Equal => unreachable!("filtered out"),
            };
            *reasons.entry(reason).or_default() += 1;
        }
        parts.extend(reasons.into_iter().map(|(reason, cells)| format!("{cells} {reason}")));
        parts.join(", ")
    }
}

/// Somebody who watches. `()` does not care.
///
/// ```
/// use whippet_search::Progress;
/// use whippet_subjects::{Cell, Plan, Reproducer, Table, Watcher, table};
/// /// Stops after the first cell.
/// #[derive(Default)]
/// struct One(std::cell::Cell<usize>);
/// impl Watcher for One {
///     fn begins(&self, _table: &Table, _cell: &Cell, k: usize, _of: usize) { self.0.set(k); }
///     fn progress(&self, _progress: &Progress) {}
///     fn interrupted(&self) -> bool { self.0.get() > 0 }
/// }
/// let result = Reproducer::new(Plan::default()).run(&table("4.2").unwrap(), &One::default());
/// assert!(result.interrupted);
/// ```
pub trait Watcher {
    /// A cell is about to be run: the `k`-th of `of`, counted from 0.
    fn begins(&self, table: &Table, cell: &Cell, k: usize, of: usize) {
        let _ = (table, cell, k, of);
    }

    /// The run of the present cell is so far.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Whether to stop; what has been run stays.
    fn interrupted(&self) -> bool {
        false
    }
}

impl Watcher for () {}

/// What a search sees of a watcher.
struct Watched<'a>(&'a dyn Watcher);

impl Observer for Watched<'_> {
    fn progress(&self, progress: &Progress) {
        self.0.progress(progress);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
enum Run {
    Done(Counted),
    Cut(Counted, LimitHit),
    Failed(String),
}

#[derive(Copy, Clone, Debug)]
struct Counted {
    executions: u64,
    transitions: u64,
    states: Option<u64>,
    depth: usize,
    time: Duration,
}

/// Runs tables again, one after the other.
///
/// ```
/// use whippet_subjects::{Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// assert_eq!(result.wrong(), 0, "{}", result.summary());
/// ```
#[derive(Debug, Default)]
pub struct Reproducer {
    plan: Plan,
    /// The runs that were done to their end, by what was run.
    done: BTreeMap<String, Counted>,
}

impl Reproducer {
    /// Runs as planned.
    #[must_use]
    pub fn new(plan: Plan) -> Reproducer {
        Reproducer { plan, done: BTreeMap::new() }
    }

    /// Runs a table, as far as the plan asks for its cells.
    pub fn run(&mut self, table: &Table, watcher: &dyn Watcher) -> Reproduction {
        let wanted: Vec<&Cell> = table.cells.iter().filter(|cell| self.wants(table, cell)).collect();
        let mut cells = Vec::new();
        let mut interrupted = false;
        for (k, cell) in wanted.iter().enumerate() {
            watcher.begins(table, cell, k, wanted.len());
            let reproduced = self.cell(table, cell, watcher);
            interrupted = reproduced.mark == Mark::Cut(LimitHit::Interrupted) || watcher.interrupted();
            cells.push(reproduced);
            if interrupted {
                break;
            }
        }
        let (name, title, source) = (table.name.clone(), table.title.clone(), table.source.clone());
        Reproduction { name, title, source, cells, interrupted }
    }

    fn wants(&self, table: &Table, cell: &Cell) -> bool {
        let ours = &table.program(cell).subject;
        let subjects = &self.plan.subjects;
        subjects.is_empty() || subjects.iter().any(|subject| subject == ours || *subject == cell.subject)
    }

    fn cell(&mut self, table: &Table, cell: &Cell, watcher: &dyn Watcher) -> Reproduced {
        let printed = table.program(cell);
        let technique = table.technique(cell);
        let subject = find(&printed.subject).expect("a test checks that the tables name subjects");
        let set = printed.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = subject.settings(set.clone()).expect("a test checks the tables' settings");
        let name = format!("{} {settings}", subject.name);
        let options = self.options(technique, cell);
        let key = format!("{name} {options:?}");
        let run = match self.done.get(&key) {
            Some(counted) => Run::Done(Counted { time: Duration::ZERO, ..*counted }),
            None => run(subject.program(set).expect("the same settings"), &options, watcher),
        };
        if let Run::Done(counted) = &run {
            self.done.insert(key, *counted);
        }
        let rule = self.standing(table, cell, subject.reconstructed.is_some());
        let (ours, mark, time) = match run {
            Run::Failed(why) => (Figures::default(), Mark::NotRun(why), Duration::ZERO),
            Run::Cut(counted, limit) => {
                let ours = counted.figures(table, cell);
                let beyond = rule.standing == Standing::Cut && ours.transitions > cell.figures.transitions;
                let mark = if beyond && limit == LimitHit::Time { Mark::Beyond(limit) } else { Mark::Cut(limit) };
                (ours, mark, counted.time)
            }
            Run::Done(counted) => {
                let ours = counted.figures(table, cell);
                (ours, mark(&cell.figures, &ours, &rule), counted.time)
            }
        };
        Reproduced { cell: cell.clone(), program: name, ours, mark, note: rule.note, time }
    }

    /// What is known of a cell, run as planned.
    fn standing(&self, table: &Table, cell: &Cell, reconstructed: bool) -> Expectation {
        let overridden = self.plan.rule.is_some_and(|rule| {
            let technique = table.technique(cell);
            technique.reduction == Reduction::Transdpor && technique.rule != rule
        });
        let known = table.standing(cell);
        let (standing, note) = match known {
            Some(StandingRule { standing, note, .. }) => (*standing, note.clone()),
            // A rule that misses nothing finds more than the published one where actors refuse messages.
            None if overridden && reconstructed => (Standing::Incomplete, "another rule than the published one".into()),
            None => (Standing::Exact, String::new()),
        };
        let expected = known.and_then(|known| known.expected).filter(|_| !overridden);
        Expectation { standing, note, expected }
    }

    fn options(&self, technique: &Technique, cell: &Cell) -> Options {
        let rule = match (technique.reduction, self.plan.rule) {
            (Reduction::Transdpor, Some(rule)) => rule,
            _ => technique.rule,
        };
        let order = match cell.order {
            // The published numbers come from sorting messages, not actors.
            Some(Order::Sgr) => Order::SgrPublished,
            Some(order) => order,
            None => Order::Fifo,
        };
        Options {
            reduction: technique.reduction,
            order,
            sleep: technique.sleep,
            rule,
            comparison: technique.comparison,
            step: technique.step,
            first_bug: cell.first_bug,
            limits: self.plan.limits.clone(),
            ..Options::default()
        }
    }
}

/// What a cell should come to.
struct Expectation {
    standing: Standing,
    note: String,
    expected: Option<Figures>,
}

fn run(program: whippet::Test, options: &Options, watcher: &dyn Watcher) -> Run {
    let verdict = match explore(Arc::new(program), options, &Watched(watcher)) {
        Ok(verdict) => verdict,
        Err(error) => return Run::Failed(error.to_string()),
    };
    let counters = verdict.counters;
    let counted = Counted {
        executions: counters.executions,
        transitions: counters.transitions,
        states: counters.states,
        depth: counters.depth,
        time: verdict.time,
    };
    // To stop at the first bug is what a cell may ask for; any other limit leaves it without an answer.
    match verdict.limits.iter().find(|limit| **limit != LimitHit::FirstBug) {
        Some(&limit) => Run::Cut(counted, limit),
        None => Run::Done(counted),
    }
}

impl Counted {
    /// The figures that the cell has, counted as its table counts.
    fn figures(&self, table: &Table, cell: &Cell) -> Figures {
        let transitions = self.transitions + table.program(cell).prefix;
        let left_out = u64::from(!table.first_state);
        let states = self.states.unwrap_or(transitions + 1) - left_out;
        // We count the depth in deliveries; big steps join several of them.
        let single = table.technique(cell).step == StepSize::Little;
        Figures {
            paths: cell.figures.paths.map(|_| self.executions),
            transitions: cell.figures.transitions.map(|_| transitions),
            states: cell.figures.states.map(|_| states),
            depth: cell.figures.depth.filter(|_| single).map(|_| self.depth as u64 - left_out),
        }
    }
}

fn mark(published: &Figures, ours: &Figures, known: &Expectation) -> Mark {
    let expected =
        known.expected.is_none_or(|expected| (expected.paths, expected.transitions) == (ours.paths, ours.transitions));
    match (published == ours, known.standing) {
        (true, _) => Mark::Equal,
        (false, Standing::Exact) => Mark::Wrong,
        (false, standing) if expected => Mark::Differs(standing),
        (false, _) => Mark::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::tables;

    #[test]
    fn every_cell_can_be_set_up() {
        for table in tables() {
            for printed in &table.programs {
                let set = printed.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                find(&printed.subject).unwrap().settings(set).unwrap();
            }
        }
    }

    fn expect(standing: Standing, expected: Option<Figures>) -> Expectation {
        Expectation { standing, note: String::new(), expected }
    }

    #[test]
    fn a_cell_is_wrong_only_if_better_is_known() {
        let figures = |paths| Figures { paths: Some(paths), ..Figures::default() };
        assert_eq!(mark(&figures(6), &figures(6), &expect(Standing::Exact, None)), Mark::Equal);
        assert_eq!(mark(&figures(6), &figures(7), &expect(Standing::Exact, None)), Mark::Wrong);
        assert_eq!(mark(&figures(6), &figures(7), &expect(Standing::Cut, None)), Mark::Differs(Standing::Cut));
        let known = expect(Standing::Cut, Some(figures(8)));
        assert_eq!(mark(&figures(6), &figures(8), &known), Mark::Differs(Standing::Cut));
        assert_eq!(mark(&figures(6), &figures(7), &known), Mark::Wrong);
    }
}

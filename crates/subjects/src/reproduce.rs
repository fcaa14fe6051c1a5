//! Reproduction of the papers' tables: every cell is run again and compared with the published figures.
//!
//! For each cell, the reproducer determines the subject and the search, runs the search within the limits, counts as
//! the paper does, and compares. Counting rules: a path is a complete execution. A transition is a delivery, counting
//! each edge of the explored tree once. The explored part begins with the start message; some tables also count the
//! messages that the driver received before it ([`PrintedProgram::prefix`](crate::PrintedProgram::prefix)). For
//! searches that store no states, the number of states is the number of transitions plus one; one table excludes the
//! initial state ([`Table::first_state`]).
//!
//! Some tables contain the same runs; such a run is executed once and used for all its cells.

use crate::published::{Figures, PrintedProgram, PublishedCell, Standing, StandingRule, Table, Technique};
use crate::registry::find;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use whippet_model::{LimitHit, Limits, StateComparison};
use whippet_search::{Observer, Options, Order, Progress, Reduction, Rule};

/// The cells to run, and the limits.
///
/// ```
/// use whippet_subjects::{Plan, Reproducer, table};
/// let plan = Plan { subjects: vec!["server".into()], ..Plan::default() };
/// let result = Reproducer::new(plan).run(&table("3.2").unwrap(), &());
/// assert!(result.cells.iter().all(|cell| cell.program.starts_with("server")));
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The subjects whose cells are run, by our name or the printed one; all if empty.
    pub subjects: Vec<String>,
    /// The rule for all TransDPOR cells, instead of the one of the published table. [`Rule::Sound`] does not change
    /// the counts of the nine common subjects.
    pub rule: Option<Rule>,
    /// The limits of each cell.
    pub limits: Limits,
}

impl Default for Plan {
    fn default() -> Plan {
        let limits = Limits::default().with_time(Some(Duration::from_secs(20)));
        Plan { subjects: Vec::new(), rule: None, limits }
    }
}

/// The result of comparing a cell with its published figures.
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
    /// The figures differ for a known reason.
    Differs(Standing),
    /// The figures differ without a known reason, or differ from those that we are known to get: a bug in our code.
    Wrong,
    /// A limit of the plan ended the run; its counts cannot be compared.
    Cut(LimitHit),
    /// Both the published run and ours were cut off, ours later: neither covers the whole state space.
    Beyond(LimitHit),
    /// The cell could not be run, for this reason.
    NotRun(String),
    /// Too little is known of the original to run anything.
    NoProgram,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::Equal => f.write_str("equal"),
            Mark::Differs(standing) => write!(f, "differs: {standing}"),
            Mark::Wrong => f.write_str("WRONG: expected to be equal, and is not"),
            Mark::Cut(limit) => write!(f, "stopped here by {limit}"),
            Mark::Beyond(limit) => write!(f, "stopped by a limit in the published run and, later, here by {limit}"),
            Mark::NotRun(why) => write!(f, "not run: {why}"),
            Mark::NoProgram => f.write_str("no program"),
        }
    }
}

/// One cell: the published figures and ours.
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
    /// The published cell.
    pub cell: PublishedCell,
    /// Our subject with its settings: `pi workers=5 variant=actorfoundry`.
    pub program: String,
    /// Our figures, as far as the cell was run.
    pub ours: Figures,
    /// The result of the comparison.
    pub mark: Mark,
    /// The number of initial deliveries that the table counts and our program does not make; ours include them.
    pub added: u64,
    /// The known remark on the cell, in one line; may be empty.
    pub note: String,
    /// The time that the run took here. A run that several cells share has the same time in all of them.
    pub time: Duration,
    /// The memory that the process used at most during the run, in bytes, if the watcher measures it.
    pub memory: Option<u64>,
}

/// One table: the published figures and ours.
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
    /// The title of the table.
    pub title: String,
    /// The publication.
    pub source: String,
    /// The cells, in printed order.
    pub cells: Vec<Reproduced>,
    /// `true` if the user stopped the run before its end.
    pub interrupted: bool,
}

impl Reproduction {
    /// Returns the number of cells whose mark satisfies `is`.
    fn count(&self, is: impl Fn(&Mark) -> bool) -> usize {
        self.cells.iter().filter(|cell| is(&cell.mark)).count()
    }

    /// Returns the number of equal cells.
    #[must_use]
    pub fn equal(&self) -> usize {
        self.count(|mark| *mark == Mark::Equal)
    }

    /// Returns the number of cells that are wrong.
    #[must_use]
    pub fn wrong(&self) -> usize {
        self.count(|mark| *mark == Mark::Wrong)
    }

    /// Returns a summary in one line: the number of equal cells, and the reasons for the others.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("{} of {} cells equal", self.equal(), self.cells.len())];
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.mark != Mark::Equal) {
            let reason = match &cell.mark {
                Mark::Differs(standing) => standing.to_string(),
                Mark::Wrong => "WRONG".into(),
                Mark::Cut(_) => "stopped by a limit here".into(),
                Mark::Beyond(_) => "stopped by a limit in both runs".into(),
                Mark::NotRun(_) => "not run".into(),
                Mark::NoProgram => "without a program".into(),
                Mark::Equal => unreachable!("filtered out"),
            };
            *reasons.entry(reason).or_default() += 1;
        }
        parts.extend(reasons.into_iter().map(|(reason, cells)| format!("{cells} {reason}")));
        parts.join(", ")
    }
}

/// An observer of a reproduction. `()` ignores everything.
///
/// ```
/// use whippet_search::Progress;
/// use whippet_subjects::{PublishedCell, Plan, Reproducer, Table, Watcher, table};
/// /// Stops after the first cell.
/// #[derive(Default)]
/// struct One(std::cell::Cell<usize>);
/// impl Watcher for One {
///     fn begins(&self, _table: &Table, _cell: &PublishedCell, k: usize, _of: usize) { self.0.set(k); }
///     fn progress(&self, _progress: &Progress) {}
///     fn interrupted(&self) -> bool { self.0.get() > 0 }
/// }
/// let result = Reproducer::new(Plan::default()).run(&table("4.2").unwrap(), &One::default());
/// assert!(result.interrupted);
/// ```
pub trait Watcher {
    /// Called before a cell is run: the `k`-th of `of`, counted from 0.
    fn begins(&self, table: &Table, cell: &PublishedCell, k: usize, of: usize) {
        let _ = (table, cell, k, of);
    }

    /// Called with the progress of the current cell.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Returns the memory that the process used at most since [`Watcher::begins`] was last called, in bytes, if it is known.
    ///
    /// ```
    /// use whippet_subjects::Watcher;
    /// assert_eq!(().peak_memory(), None, "it does not measure");
    /// ```
    fn peak_memory(&self) -> Option<u64> {
        None
    }

    /// Returns `true` to stop. The cells run so far are kept.
    fn interrupted(&self) -> bool {
        false
    }
}

impl Watcher for () {}

/// An adapter that presents a watcher as an observer of a search.
struct Watched<'a>(&'a dyn Watcher);

impl Observer for Watched<'_> {
    fn progress(&self, progress: &Progress) {
        self.0.progress(progress);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
enum CellRun {
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
    memory: Option<u64>,
}

/// A runner of tables, one after the other, which executes runs that tables share only once.
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
    /// The completed runs, by program and options.
    done: BTreeMap<String, Counted>,
}

impl Reproducer {
    /// Creates a reproducer with this plan.
    #[must_use]
    pub fn new(plan: Plan) -> Reproducer {
        Reproducer { plan, done: BTreeMap::new() }
    }

    /// Runs the cells of a table that the plan selects.
    pub fn run(&mut self, table: &Table, watcher: &dyn Watcher) -> Reproduction {
        let wanted: Vec<&PublishedCell> = table.cells.iter().filter(|cell| self.wants(table, cell)).collect();
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

    fn wants(&self, table: &Table, cell: &PublishedCell) -> bool {
        let ours = table.program(cell).subject.as_ref();
        let subjects = &self.plan.subjects;
        subjects.is_empty() || subjects.iter().any(|subject| Some(subject) == ours || *subject == cell.subject)
    }

    fn cell(&mut self, table: &Table, cell: &PublishedCell, watcher: &dyn Watcher) -> Reproduced {
        let printed = table.program(cell);
        let technique = table.technique(cell);
        let Some(subject) = &printed.subject else { return self.without_program(table, cell) };
        let subject = find(subject).expect("a test checks that the tables name subjects");
        let set = printed.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = subject.settings(set.clone()).expect("a test checks the tables' settings");
        let name = format!("{} {settings}", subject.name);
        let options = self.options(printed, technique, cell);
        let key = format!("{name} {options:?}");
        let run = match self.done.get(&key) {
            Some(counted) => CellRun::Done(*counted),
            None => run(subject.program(set).expect("the same settings"), &options, watcher),
        };
        if let CellRun::Done(counted) = &run {
            self.done.insert(key, *counted);
        }
        let rule = self.standing(table, cell, subject.reconstructed.is_some());
        let (ours, mark, time, memory) = match run {
            CellRun::Failed(why) => (Figures::default(), Mark::NotRun(why), Duration::ZERO, None),
            CellRun::Cut(counted, limit) => {
                let ours = counted.figures(table, cell);
                let beyond = rule.standing == Standing::Cut && ours.transitions > cell.figures.transitions;
                let mark = if beyond && limit == LimitHit::Time { Mark::Beyond(limit) } else { Mark::Cut(limit) };
                (ours, mark, counted.time, counted.memory)
            }
            CellRun::Done(counted) => {
                let ours = counted.figures(table, cell);
                (ours, mark(&cell.figures, &ours, &rule), counted.time, counted.memory)
            }
        };
        Reproduced {
            cell: cell.clone(),
            program: name,
            ours,
            mark,
            added: printed.prefix,
            note: rule.note,
            time,
            memory,
        }
    }

    fn without_program(&self, table: &Table, cell: &PublishedCell) -> Reproduced {
        Reproduced {
            cell: cell.clone(),
            program: String::new(),
            ours: Figures::default(),
            mark: Mark::NoProgram,
            added: 0,
            note: self.standing(table, cell, true).note,
            time: Duration::ZERO,
            memory: None,
        }
    }

    /// Returns the known standing of a cell, run as planned.
    fn standing(&self, table: &Table, cell: &PublishedCell, reconstructed: bool) -> Expectation {
        let overridden = self.plan.rule.is_some_and(|rule| {
            let technique = table.technique(cell);
            technique.reduction == Reduction::Transdpor && technique.rule != rule
        });
        let known = table.standing(cell);
        let (standing, note) = match known {
            Some(StandingRule { standing, note, .. }) => (*standing, note.clone()),
            // A sound rule explores more than the published one if actors refuse messages.
            None if overridden && reconstructed => (Standing::Incomplete, "another rule than the published one".into()),
            None => (Standing::Exact, String::new()),
        };
        let expected = known.and_then(|known| known.expected).filter(|_| !overridden);
        Expectation { standing, note, expected }
    }

    fn options(&self, printed: &PrintedProgram, technique: &Technique, cell: &PublishedCell) -> Options {
        let rule = match (technique.reduction, self.plan.rule) {
            (Reduction::Transdpor, Some(rule)) => rule,
            _ => technique.rule,
        };
        let order = match cell.order {
            // The published numbers were obtained by sorting messages, not actors.
            Some(Order::Sgr) => Order::SgrPublished,
            Some(order) => order,
            None => Order::Fifo,
        };
        Options::new(technique.reduction)
            .with_order(order)
            .with_sleep(technique.sleep)
            .with_rule(rule)
            .with_comparison(match technique.comparison {
                StateComparison::BassetActor(_) => StateComparison::BassetActor(printed.remembers),
                StateComparison::BassetJpf(_) => StateComparison::BassetJpf(printed.remembers),
                other => other,
            })
            .with_step(technique.step)
            .with_first_bug(cell.first_bug)
            .with_limits(self.plan.limits.clone())
    }
}

/// The expected result of a cell.
struct Expectation {
    standing: Standing,
    note: String,
    expected: Option<Figures>,
}

fn run(program: whippet::ActorProgram, options: &Options, watcher: &dyn Watcher) -> CellRun {
    let verdict = match whippet::prebuilt::explore(Arc::new(program), options, &Watched(watcher)) {
        Ok(verdict) => verdict,
        Err(error) => return CellRun::Failed(error.to_string()),
    };
    let counters = verdict.counters;
    let counted = Counted {
        executions: counters.executions,
        transitions: counters.transitions,
        states: counters.states,
        depth: counters.depth,
        time: verdict.time,
        memory: watcher.peak_memory(),
    };
    // A cell may require stopping at the first bug; any other limit invalidates its counts.
    match verdict.limits.iter().find(|limit| **limit != LimitHit::FirstBug) {
        Some(&limit) => CellRun::Cut(counted, limit),
        None => CellRun::Done(counted),
    }
}

impl Counted {
    /// Returns the figures that the cell has, by the counting rules of its table.
    fn figures(&self, table: &Table, cell: &PublishedCell) -> Figures {
        let transitions = self.transitions + table.program(cell).prefix;
        let is_pruned = u64::from(!table.first_state);
        let states = self.states.unwrap_or(transitions + 1) - is_pruned;
        Figures {
            paths: cell.figures.paths.map(|_| self.executions),
            transitions: cell.figures.transitions.map(|_| transitions),
            states: cell.figures.states.map(|_| states),
            depth: cell.figures.depth.map(|_| self.depth as u64 - is_pruned),
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
                if let Some(subject) = &printed.subject {
                    find(subject).unwrap().settings(set).unwrap();
                }
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

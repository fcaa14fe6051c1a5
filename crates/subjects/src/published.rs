//! What the papers printed, cell by cell, and what is known about each cell.
//!
//! The figures lie in `data/`, one file per table, extracted from the papers and checked against each other: the
//! tables repeat some of their own numbers, and the tests below compare them. A file also says which of our
//! subjects a printed row means, which search a printed column means, and where our count is known to differ and why.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use whippet_model::Comparison;
use whippet_search::{Order, Reduction, Rule, StepSize};

/// One table of a paper.
///
/// ```
/// let table = whippet_subjects::table("4.2").unwrap();
/// let cell = table.cells.iter().find(|c| c.subject == "pi" && c.technique == "Persistent+Sleep").unwrap();
/// assert_eq!((cell.figures.paths, cell.figures.transitions), (Some(120), Some(932)));
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// How it is called on the command line: `4.2`, `transdpor-1`.
    pub name: String,
    /// Its printed title.
    pub title: String,
    /// The paper and the number of the table.
    pub source: String,
    /// Whether the first state, and the delivery that leads on from it, are counted among states and depth.
    #[serde(default = "counted")]
    pub first_state: bool,
    /// Which of our subjects each printed one is.
    pub programs: Vec<PrintedProgram>,
    /// Which search each printed column is.
    pub techniques: Vec<Technique>,
    /// What is known of cells that cannot be expected to come out equal; the first that fits counts.
    pub standings: Vec<StandingRule>,
    /// The cells, in printed order.
    pub cells: Vec<Cell>,
}

/// A program as a table names it, and the same among our subjects.
///
/// ```
/// let table = whippet_subjects::table("4.2").unwrap();
/// let cell = &table.cells[0];
/// let printed = table.program(cell);
/// assert_eq!(printed.printed, cell.subject);
/// assert!(whippet_subjects::find(&printed.subject).is_ok());
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedProgram {
    /// The printed name.
    pub printed: String,
    /// The library it was written for, where the table has several.
    pub language: Option<String>,
    /// Our subject.
    pub subject: String,
    /// Its settings.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Deliveries at the beginning that the table counts and we do not: the driver's own.
    #[serde(default)]
    pub prefix: u64,
}

/// A printed column, and the search that it means.
///
/// ```
/// let table = whippet_subjects::table("4.2").unwrap();
/// let technique = table.techniques.iter().find(|technique| technique.printed == "Persistent+Sleep").unwrap();
/// assert_eq!((technique.reduction, technique.sleep), (whippet_search::Reduction::Persistent, true));
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technique {
    /// The printed name.
    pub printed: String,
    /// What the search may skip.
    #[serde(deserialize_with = "by_name")]
    pub reduction: Reduction,
    /// Whether it uses sleep sets.
    #[serde(default)]
    pub sleep: bool,
    /// Which variant of TransDPOR.
    #[serde(default, deserialize_with = "by_name")]
    pub rule: Rule,
    /// How states are compared.
    #[serde(default = "canonical", deserialize_with = "comparison")]
    pub comparison: Comparison,
    /// What one step is.
    #[serde(default, deserialize_with = "by_name")]
    pub step: StepSize,
}

/// What can be expected of a cell.
///
/// ```
/// use whippet_subjects::{Standing, tables};
/// // Nothing in the tables differs without a known reason.
/// let rules = tables().into_iter().flat_map(|table| table.standings);
/// assert!(rules.filter(|rule| rule.standing != Standing::Exact).all(|rule| !rule.note.is_empty()));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// All its figures come out equal.
    Exact,
    /// The published run was cut by a time-out.
    Cut,
    /// The program is rebuilt from a description: its exact source is not public.
    Reconstructed,
    /// The published tool compared states otherwise.
    Comparison,
    /// The published search missed something.
    Incomplete,
    /// It differs, and nobody knows why.
    Unexplained,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Standing::Exact => "exact",
            Standing::Cut => "cut by a time-out there",
            Standing::Reconstructed => "reconstructed subject",
            Standing::Comparison => "states compared otherwise there",
            Standing::Incomplete => "incomplete search there",
            Standing::Unexplained => "unexplained",
        })
    }
}

/// What is known of the cells that it fits; a field that is left out fits every cell.
///
/// ```
/// let table = whippet_subjects::table("transdpor-2").unwrap();
/// let known = table.cells.iter().filter_map(|cell| table.standing(cell)).next().unwrap();
/// assert!(!known.note.is_empty(), "a reason, in a line");
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandingRule {
    /// The printed subject.
    pub subject: Option<String>,
    /// The library.
    pub language: Option<String>,
    /// The printed technique.
    pub technique: Option<String>,
    /// The order.
    #[serde(default, deserialize_with = "maybe_by_name")]
    pub order: Option<Order>,
    /// Whether the search stops at the first bug.
    pub first_bug: Option<bool>,
    /// What can be expected.
    pub standing: Standing,
    /// Why, in a line.
    pub note: String,
    /// What the cell comes to with us, where that is established.
    pub expected: Option<Figures>,
}

/// The figures of a cell that can be compared.
///
/// ```
/// let figures = whippet_subjects::Figures { paths: Some(120), transitions: Some(932), ..Default::default() };
/// let table = whippet_subjects::table("4.2").unwrap();
/// assert!(table.cells.iter().any(|cell| cell.figures == figures));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Figures {
    /// Complete executions.
    pub paths: Option<u64>,
    /// Deliveries.
    pub transitions: Option<u64>,
    /// Configurations.
    pub states: Option<u64>,
    /// The length of the longest execution, in steps of the search.
    pub depth: Option<u64>,
}

/// One printed cell.
///
/// ```
/// let table = whippet_subjects::table("4.2").unwrap();
/// let pi = table.cells.iter().filter(|cell| cell.subject == "pi");
/// assert!(pi.clone().count() > 0 && pi.clone().all(|cell| cell.seconds >= 0.0));
/// ```
#[derive(Clone, Debug, Deserialize)]
pub struct Cell {
    /// The printed subject.
    pub subject: String,
    /// The library, where the table has several.
    pub language: Option<String>,
    /// The printed technique.
    pub technique: String,
    /// The order, where the technique has one.
    #[serde(default, deserialize_with = "maybe_by_name")]
    pub order: Option<Order>,
    /// Whether the search stops at the first bug.
    #[serde(default)]
    pub first_bug: bool,
    /// What was counted.
    #[serde(flatten)]
    pub figures: Figures,
    /// The published time, on the published machine.
    pub seconds: f64,
    /// The published memory.
    pub megabytes: Option<f64>,
}

impl Table {
    /// Which of our subjects a cell is about.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// assert_eq!(table.program(&table.cells[0]).printed, table.cells[0].subject);
    /// ```
    #[must_use]
    pub fn program(&self, cell: &Cell) -> &PrintedProgram {
        self.programs
            .iter()
            .find(|p| p.printed == cell.subject && p.language == cell.language)
            .expect("a test checks that every cell's subject is among the programs")
    }

    /// Which search a cell was run with.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// assert_eq!(table.technique(&table.cells[0]).printed, table.cells[0].technique);
    /// ```
    #[must_use]
    pub fn technique(&self, cell: &Cell) -> &Technique {
        self.techniques
            .iter()
            .find(|t| t.printed == cell.technique)
            .expect("a test checks that every cell's technique is among the techniques")
    }

    /// What is known of a cell; `None` means that it is exact and nothing needs to be said.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// let exact = table.cells.iter().filter(|cell| table.standing(cell).is_none()).count();
    /// assert!(exact > 0);
    /// ```
    #[must_use]
    pub fn standing(&self, cell: &Cell) -> Option<&StandingRule> {
        self.standings.iter().find(|rule| rule.fits(cell))
    }
}

impl StandingRule {
    fn fits(&self, cell: &Cell) -> bool {
        self.subject.as_ref().is_none_or(|s| *s == cell.subject)
            && self.language.as_ref().is_none_or(|l| Some(l) == cell.language.as_ref())
            && self.technique.as_ref().is_none_or(|t| *t == cell.technique)
            && self.order.is_none_or(|o| Some(o) == cell.order)
            && self.first_bug.is_none_or(|b| b == cell.first_bug)
    }
}

/// All tables, in the order of the papers' chapters.
///
/// ```
/// let names: Vec<String> = whippet_subjects::tables().into_iter().map(|table| table.name).collect();
/// assert!(names.contains(&"transdpor-1".to_string()), "{names:?}");
/// ```
#[must_use]
pub fn tables() -> Vec<Table> {
    [
        include_str!("../data/transdpor-1.json"),
        include_str!("../data/transdpor-2.json"),
        include_str!("../data/dissertation-3.1.json"),
        include_str!("../data/dissertation-3.2.json"),
        include_str!("../data/dissertation-3.3.json"),
        include_str!("../data/dissertation-4.1.json"),
        include_str!("../data/dissertation-4.2.json"),
        include_str!("../data/futures.json"),
    ]
    .map(|text| serde_json::from_str(text).expect("the data files are part of the build, and a test reads them"))
    .into()
}

/// A table that does not exist.
///
/// ```
/// let error = whippet_subjects::table("9.9").unwrap_err();
/// assert!(error.to_string().contains("9.9") && error.to_string().contains("4.2"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no table `{name}`; known are: {known}")]
pub struct UnknownTable {
    name: String,
    known: String,
}

/// The table of this name.
///
/// ```
/// assert_eq!(whippet_subjects::table("4.2").unwrap().name, "4.2");
/// ```
pub fn table(name: &str) -> Result<Table, UnknownTable> {
    let all = tables();
    let known = all.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
    all.into_iter().find(|t| t.name == name).ok_or_else(|| UnknownTable { name: name.into(), known })
}

/// How many traces a program has: the fewest executions that any complete search needs.
///
/// ```
/// let counts = whippet_subjects::trace_counts();
/// assert!(counts.iter().all(|count| count.traces > 0));
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceCount {
    /// The subject.
    pub subject: String,
    /// Its settings, as far as they are not the defaults.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The number of its traces.
    pub traces: u64,
}

/// The known numbers of traces.
///
/// ```
/// let counts = whippet_subjects::trace_counts();
/// let server = counts.iter().find(|count| count.subject == "server" && count.settings.is_empty()).unwrap();
/// # let program = whippet_subjects::find("server").unwrap().program([]).unwrap();
/// # let verdict = whippet_search::explore(std::sync::Arc::new(program), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, server.traces);
/// ```
#[must_use]
pub fn trace_counts() -> Vec<TraceCount> {
    #[derive(Deserialize)]
    struct File {
        programs: Vec<TraceCount>,
    }
    let text = include_str!("../data/traces.json");
    serde_json::from_str::<File>(text).expect("the data files are part of the build, and a test reads them").programs
}

fn by_name<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn maybe_by_name<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(from: D) -> Result<Option<T>, D::Error> {
    by_name(from).map(Some)
}

fn counted() -> bool {
    true
}

fn canonical() -> Comparison {
    Comparison::Canonical
}

fn comparison<'de, D: Deserializer<'de>>(from: D) -> Result<Comparison, D::Error> {
    match String::deserialize(from)?.as_str() {
        "canonical" => Ok(Comparison::Canonical),
        "ordered" => Ok(Comparison::Ordered),
        other => Err(D::Error::custom(format!("there is no comparison `{other}`; known are: canonical, ordered"))),
    }
}

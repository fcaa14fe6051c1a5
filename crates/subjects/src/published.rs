//! The published tables, cell by cell, with the known differences from our counts.
//!
//! The figures are in `data/`, one file per table. They were extracted from the papers and are checked against each
//! other in the tests of this crate, as the tables repeat some of each other's numbers. Each file also maps the
//! printed rows to our subjects and the printed columns to searches, and lists the cells in which our count is known
//! to differ, with the reasons.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use whippet_model::{Remembered, StateComparison};
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
    /// The name on the command line: `4.2`, `transdpor-1`.
    pub name: String,
    /// The printed title.
    pub title: String,
    /// The paper and the number of the table.
    pub source: String,
    /// `true` if the initial state, and the delivery that leaves it, are included in the counts of states and depth.
    #[serde(default = "counted")]
    pub first_state: bool,
    /// The subjects that the printed programs correspond to.
    pub programs: Vec<PrintedProgram>,
    /// The searches that the printed columns correspond to.
    pub techniques: Vec<Technique>,
    /// The known standings of cells that are not expected to be equal. The first rule that matches a cell applies.
    pub standings: Vec<StandingRule>,
    /// The cells, in printed order.
    pub cells: Vec<PublishedCell>,
}

/// A program as named in a table, and the corresponding subject of ours.
///
/// ```
/// let table = whippet_subjects::table("4.2").unwrap();
/// let cell = &table.cells[0];
/// let printed = table.program(cell);
/// assert_eq!(printed.printed, cell.subject);
/// assert!(whippet_subjects::find(printed.subject.as_deref().unwrap()).is_ok());
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedProgram {
    /// The printed name.
    pub printed: String,
    /// The library of the original, if the table distinguishes several.
    pub language: Option<String>,
    /// The name of our subject, or `None` if too little is known of the original to have one.
    pub subject: Option<String>,
    /// The settings of our subject.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Initial deliveries that the table counts and we do not: those to the driver.
    #[serde(default)]
    pub prefix: u64,
    /// What the actors of the original keep of the messages they have handled, for comparisons like Basset's.
    #[serde(default, deserialize_with = "remembered")]
    pub remembers: Remembered,
}

/// A printed column, and the search that it corresponds to.
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
    /// The reduction.
    #[serde(deserialize_with = "by_name")]
    pub reduction: Reduction,
    /// `true` if sleep sets are used.
    #[serde(default)]
    pub sleep: bool,
    /// The variant of TransDPOR.
    #[serde(default, deserialize_with = "by_name")]
    pub rule: Rule,
    /// The comparison of states.
    #[serde(default = "canonical", deserialize_with = "comparison")]
    pub comparison: StateComparison,
    /// The size of one step.
    #[serde(default, deserialize_with = "by_name")]
    pub step: StepSize,
}

/// The expected result of reproducing a cell.
///
/// ```
/// use whippet_subjects::{Standing, tables};
/// // No cell differs without a known reason.
/// let rules = tables().into_iter().flat_map(|table| table.standings);
/// assert!(rules.filter(|rule| rule.standing != Standing::Exact).all(|rule| !rule.note.is_empty()));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// All figures are equal.
    Exact,
    /// The published run ended by a time-out.
    Cut,
    /// The program is reconstructed from a description: its source is not public.
    Reconstructed,
    /// The published tool compared states differently.
    Comparison,
    /// The published search missed executions.
    Incomplete,
    /// The figures differ for an unknown reason.
    Unexplained,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Standing::Exact => "exact",
            Standing::Cut => "published run stopped by a time limit",
            Standing::Reconstructed => "reconstructed subject",
            Standing::Comparison => "published run compares states differently",
            Standing::Incomplete => "published search incomplete",
            Standing::Unexplained => "unexplained",
        })
    }
}

/// The standing of the cells that match its fields; a field that is `None` matches every cell.
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
    /// `true` matches cells whose search stops at the first bug, `false` the others.
    pub first_bug: Option<bool>,
    /// The expected result.
    pub standing: Standing,
    /// The reason, in one line.
    pub note: String,
    /// The figures that we are known to get, if established.
    pub expected: Option<Figures>,
}

/// The figures of a cell that are compared.
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
    /// Length of the longest execution, in steps of the search.
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
pub struct PublishedCell {
    /// The printed subject.
    pub subject: String,
    /// The library, if the table distinguishes several.
    pub language: Option<String>,
    /// The printed technique.
    pub technique: String,
    /// The order, if the technique has one.
    #[serde(default, deserialize_with = "maybe_by_name")]
    pub order: Option<Order>,
    /// `true` if the search stops at the first bug.
    #[serde(default)]
    pub first_bug: bool,
    /// The published figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// The published time, measured on the paper's machine.
    pub seconds: f64,
    /// The published memory.
    pub megabytes: Option<f64>,
}

impl Table {
    /// Returns the program of a cell, which names our subject.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// assert_eq!(table.program(&table.cells[0]).printed, table.cells[0].subject);
    /// ```
    #[must_use]
    pub fn program(&self, cell: &PublishedCell) -> &PrintedProgram {
        self.programs
            .iter()
            .find(|p| p.printed == cell.subject && p.language == cell.language)
            .expect("a test checks that every cell's subject is among the programs")
    }

    /// Returns the technique of a cell, which determines the search.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// assert_eq!(table.technique(&table.cells[0]).printed, table.cells[0].technique);
    /// ```
    #[must_use]
    pub fn technique(&self, cell: &PublishedCell) -> &Technique {
        self.techniques
            .iter()
            .find(|t| t.printed == cell.technique)
            .expect("a test checks that every cell's technique is among the techniques")
    }

    /// Returns the known standing of a cell. `None` means that the cell is exact and needs no remark.
    ///
    /// ```
    /// let table = whippet_subjects::table("4.2").unwrap();
    /// let exact = table.cells.iter().filter(|cell| table.standing(cell).is_none()).count();
    /// assert!(exact > 0);
    /// ```
    #[must_use]
    pub fn standing(&self, cell: &PublishedCell) -> Option<&StandingRule> {
        self.standings.iter().find(|rule| rule.fits(cell))
    }
}

impl StandingRule {
    fn fits(&self, cell: &PublishedCell) -> bool {
        self.subject.as_ref().is_none_or(|s| *s == cell.subject)
            && self.language.as_ref().is_none_or(|l| Some(l) == cell.language.as_ref())
            && self.technique.as_ref().is_none_or(|t| *t == cell.technique)
            && self.order.is_none_or(|o| Some(o) == cell.order)
            && self.first_bug.is_none_or(|b| b == cell.first_bug)
    }
}

/// Returns all tables, in the order of the papers' chapters.
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
#[error("unknown table `{name}`; expected one of: {known}")]
pub struct UnknownTable {
    name: String,
    known: String,
}

/// Returns the table with this name.
///
/// ```
/// assert_eq!(whippet_subjects::table("4.2").unwrap().name, "4.2");
/// ```
pub fn table(name: &str) -> Result<Table, UnknownTable> {
    let all = tables();
    let known = all.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
    all.into_iter().find(|t| t.name == name).ok_or_else(|| UnknownTable { name: name.into(), known })
}

/// The number of traces of a program: the minimal number of executions of a complete search.
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
    /// The settings that differ from the defaults.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The number of its traces.
    pub traces: u64,
}

/// Returns the known numbers of traces.
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

fn remembered<'de, D: Deserializer<'de>>(from: D) -> Result<Remembered, D::Error> {
    match String::deserialize(from)?.as_str() {
        "nothing" => Ok(Remembered::Nothing),
        "message" => Ok(Remembered::Message),
        "sender" => Ok(Remembered::Sender),
        other => Err(D::Error::custom(format!("unknown memory `{other}`; expected nothing, message or sender"))),
    }
}

fn canonical() -> StateComparison {
    StateComparison::Canonical
}

fn comparison<'de, D: Deserializer<'de>>(from: D) -> Result<StateComparison, D::Error> {
    match String::deserialize(from)?.as_str() {
        "canonical" => Ok(StateComparison::Canonical),
        "ordered" => Ok(StateComparison::Ordered),
        "basset-actor" => Ok(StateComparison::BassetActor(Remembered::Nothing)),
        "basset-jpf" => Ok(StateComparison::BassetJpf(Remembered::Nothing)),
        other => Err(D::Error::custom(format!(
            "unknown comparison `{other}`; expected canonical, ordered, basset-actor or basset-jpf"
        ))),
    }
}

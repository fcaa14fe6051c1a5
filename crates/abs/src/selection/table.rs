//! Table 1 of the paper, with our numbers beside the published ones.
//!
//! The programs are rewritten from their descriptions. The paper does not print their main blocks: for most tests a
//! main block was found that gives the numbers of the table. Those of DHT and Mail are reconstructions that do not,
//! and are marked as such.

use super::search::{ActorSelection, Selection, search};
use crate::{AbsProgram, ConflictRule, Marks};
use std::collections::BTreeSet;
use std::fmt;
use whippet_model::MachineError;

/// Executions, states and H, as in the table.
///
/// ```
/// use whippet_abs::selection::Counts;
/// let Counts(executions, states, unstable) = Counts(6, 25, 0);
/// assert!(executions < states && unstable == 0);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub u64, pub u64, pub u64);

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.0, self.1, self.2)
    }
}

/// One cell pair of the table: a test with or without task selection.
///
/// ```
/// use whippet_abs::selection::{reproduce};
/// let rows = reproduce(true).unwrap();
/// assert!(rows.iter().any(|row| row.mark == "=" && row.ours == Some(row.published)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionRow {
    /// The test, with its parameters.
    pub test: String,
    /// The kind of search: `no task selection`, `task selection`, …
    pub how: String,
    /// The numbers in the paper.
    pub published: Counts,
    /// Our numbers, or `None` if the program is not available or the run is skipped.
    pub ours: Option<Counts>,
    /// `=` if all published numbers agree, `≠` if not, `–` if we have no numbers.
    pub mark: &'static str,
    /// The reason why the numbers differ or are missing.
    pub why: &'static str,
    /// The way in which the program or the rule was chosen, where the paper leaves it open.
    pub note: &'static str,
}

/// Returns the subjects of the table, in lower case: the names of its tests without their parameters.
///
/// ```
/// use whippet_abs::selection::subjects;
/// assert!(subjects().contains("qsort"));
/// ```
#[must_use]
pub fn subjects() -> BTreeSet<String> {
    TESTS.iter().map(|test| test.name).chain([FIGURE]).map(subject).collect()
}

fn subject(test: &str) -> String {
    test.split('(').next().unwrap_or(test).to_lowercase()
}

impl SelectionRow {
    /// Returns the subject of the test: see [`subjects`].
    ///
    /// ```
    /// use whippet_abs::selection::figure_4;
    /// assert_eq!(figure_4(10, 31).subject(), "figure 3");
    /// ```
    #[must_use]
    pub fn subject(&self) -> String {
        subject(&self.test)
    }
}

/// A test of the table, and how to build its program.
struct TableTest {
    name: &'static str,
    text: &'static str,
    with: &'static [(&'static str, &'static str)],
    plain: Counts,
    marked: Counts,
    why: &'static str,
    note: &'static str,
    /// `true` if the test takes too long for a quick run.
    long: bool,
}

const FIB: &str = include_str!("../../subjects/fib.abs");
const QSORT: &str = include_str!("../../subjects/qsort.abs");
const PI: &str = include_str!("../../subjects/pi.abs");
const REGSIM: &str = include_str!("../../subjects/regsim.abs");
const RUNNING: &str = include_str!("../../subjects/running.abs");

const PSORT: &str = include_str!("../../subjects/psort.abs");
const BB: &str = include_str!("../../subjects/bb.abs");
const DHT: &str = include_str!("../../subjects/dht.abs");
const MAIL: &str = include_str!("../../subjects/mail.abs");

const FIGURE: &str = "Figure 3";
const UNKNOWN: &str = "no list of six different numbers gives the published numbers with this program";
const FITTED_LIST: &str = "fitted: the paper's list is not known; this one gives its numbers";
const FITTED_MAIN: &str = "fitted: the paper's main block is not known; this one gives its numbers";
const FITTED_MARKS: &str = "only with marks that last until a dependent task runs; as printed, they give 1728/7759/864";
const RECONSTRUCTED: &str = "a reconstruction: the paper's main block is not known";

#[rustfmt::skip]
const TESTS: &[TableTest] = &[
    TableTest { name: "QSort(5)", text: QSORT, with: &[("NUMBERS", "3, 1, 5, 2, 4")], plain: Counts(16, 72, 23), marked: Counts(16, 72, 23), why: "", note: FITTED_LIST, long: false },
    TableTest { name: "QSort(6)", text: QSORT, with: &[("NUMBERS", "4, 2, 6, 1, 3, 5")], plain: Counts(32, 146, 55), marked: Counts(32, 146, 55), why: UNKNOWN, note: "", long: false },
    TableTest { name: "Fib(5)", text: FIB, with: &[("BASE", "2"), ("N", "5")], plain: Counts(16, 72, 23), marked: Counts(16, 72, 23), why: "", note: "", long: false },
    TableTest { name: "Fib(7)", text: FIB, with: &[("BASE", "2"), ("N", "7")], plain: Counts(4096, 16760, 6495), marked: Counts(4096, 16760, 6495), why: "", note: "", long: false },
    TableTest { name: "Pi(3)", text: PI, with: &[("N", "3")], plain: Counts(6, 38, 3), marked: Counts(6, 38, 3), why: "", note: "", long: false },
    TableTest { name: "Pi(5)", text: PI, with: &[("N", "5")], plain: Counts(120, 932, 5), marked: Counts(120, 932, 5), why: "", note: "", long: false },
    TableTest { name: "PSort(4,1)", text: PSORT, with: &[("LISTS", "list[4, 3, 2, 1]")], plain: Counts(288, 1294, 144), marked: Counts(288, 1294, 144), why: "", note: "", long: false },
    TableTest { name: "PSort(4,2)", text: PSORT, with: &[("LISTS", "list[4, 3], list[2, 1]")], plain: Counts(5760, 25829, 2880), marked: Counts(288, 1304, 144), why: "", note: FITTED_MARKS, long: false },
    TableTest { name: "RegSim(6,1)", text: REGSIM, with: &[("N", "6"), ("M", "1")], plain: Counts(10080, 27415, 0), marked: Counts(720, 3923, 0), why: "", note: FITTED_MAIN, long: false },
    TableTest { name: "RegSim(4,2)", text: REGSIM, with: &[("N", "4"), ("M", "2")], plain: Counts(11520, 31576, 0), marked: Counts(384, 2132, 0), why: "", note: FITTED_MAIN, long: false },
    TableTest { name: "DHT(a)", text: DHT, with: &[("STORED", "1, 2"), ("ASKED", "1, 2")], plain: Counts(1152, 3905, 0), marked: Counts(36, 141, 0), why: RECONSTRUCTED, note: "", long: false },
    TableTest { name: "DHT(b)", text: DHT, with: &[("STORED", "1, 11"), ("ASKED", "1, 11")], plain: Counts(480, 2304, 0), marked: Counts(12, 85, 0), why: RECONSTRUCTED, note: "", long: false },
    TableTest { name: "Mail(2,2)", text: MAIL, with: &[("LETTERS", "1, 1")], plain: Counts(2648, 11377, 0), marked: Counts(460, 2270, 0), why: RECONSTRUCTED, note: "", long: false },
    TableTest { name: "Mail(2,3)", text: MAIL, with: &[("LETTERS", "2, 1")], plain: Counts(1_665_500, 5_109_783, 0), marked: Counts(27880, 94222, 0), why: RECONSTRUCTED, note: "", long: false },
    TableTest { name: "BB(3,1)", text: BB, with: &[("FIRST", "3"), ("SECOND", "0")], plain: Counts(155_520, 475_205, 0), marked: Counts(4320, 13214, 0), why: "", note: "", long: true },
    TableTest { name: "BB(4,2)", text: BB, with: &[("FIRST", "2"), ("SECOND", "2")], plain: Counts(1_099_008, 3_028_298, 0), marked: Counts(45792, 126_192, 0), why: "", note: FITTED_MAIN, long: true },
];

/// Returns Table 1, followed by the numbers of the paper's examples. Long searches are skipped if `quick`.
///
/// ```
/// use whippet_abs::selection::{reproduce};
/// let rows = reproduce(true).unwrap();
/// assert!(rows.iter().all(|row| row.mark != "≠" || !row.why.is_empty()), "what differs has a reason");
/// ```
pub fn reproduce(quick: bool) -> Result<Vec<SelectionRow>, MachineError> {
    let mut rows = Vec::new();
    for test in TESTS {
        for (how, marks, published) in
            [("no task selection", None, test.plain), ("task selection", Some(Marks::Persisting), test.marked)]
        {
            let ours = if quick && test.long {
                None
            } else {
                Some(count(test.text, test.with, ActorSelection::Stable, marks)?)
            };
            let note = if test.note == FITTED_MARKS && marks.is_none() { "" } else { test.note };
            rows.push(SelectionRow { note, ..row(test.name, how, published, ours, test.why) });
        }
    }
    examples(&mut rows)?;
    Ok(rows)
}

/// A test, the kind of search, the program and its parameters, the rules, and the published numbers.
type ExampleCase<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)], ActorSelection, Option<Marks>, Counts);

/// Returns the running example, Figure 3 of the paper, whose tree without selection is Figure 4.
///
/// ```
/// use whippet_abs::selection::{Selection, running_example, search};
/// let stable_first = search(&running_example(), &Selection::default()).unwrap();
/// assert_eq!(stable_first.executions, 6, "as the paper says");
/// ```
#[must_use]
pub fn running_example() -> AbsProgram {
    AbsProgram::parse("running.abs", RUNNING).expect("a built-in program is valid").conflict_rule(ConflictRule::Actors)
}

/// Returns the row of Figure 4: the running example under TransDPOR with the earliest message first, from the
/// counters of a search.
///
/// ```
/// use std::sync::Arc;
/// use whippet_abs::selection::{figure_4, running_example};
/// use whippet_search::{Options, Order, Reduction, explore};
/// let options = Options::new(Reduction::Transdpor).with_order(Order::Fifo);
/// let counters = explore(Arc::new(running_example()), &options, &()).unwrap().counters;
/// // The number of states equals the number of steps: the first step, the main block, leads to the root of the tree.
/// assert_eq!(figure_4(counters.executions, counters.transitions).mark, "=");
/// ```
#[must_use]
pub fn figure_4(executions: u64, states: u64) -> SelectionRow {
    row(FIGURE, "no selection", Counts(10, 31, 0), Some(Counts(executions, states, 0)), "")
}

/// Adds the rows of the running example and of Fib(3), for which H is not published.
fn examples(rows: &mut Vec<SelectionRow>) -> Result<(), MachineError> {
    let three = [("BASE", "1"), ("N", "3")];
    let cases: [ExampleCase; 4] = [
        (FIGURE, "stable first", RUNNING, &[], ActorSelection::Stable, None, Counts(6, 18, 0)),
        (
            FIGURE,
            "stable first, literal marks",
            RUNNING,
            &[],
            ActorSelection::Stable,
            Some(Marks::Literal),
            Counts(2, 12, 0),
        ),
        ("Fib(3)", "lowest level first", FIB, &three, ActorSelection::Stable, None, Counts(4, 0, 0)),
        ("Fib(3)", "highest level first, as printed", FIB, &three, ActorSelection::Highest, None, Counts(8, 0, 0)),
    ];
    for (test, how, text, with, pick, marks, published) in cases {
        let mut ours = count(text, with, pick, marks)?;
        ours.2 = 0;
        if published.1 == 0 {
            ours.1 = 0;
        }
        rows.push(row(test, how, published, Some(ours), ""));
    }
    Ok(())
}

fn row(test: &str, how: &str, published: Counts, ours: Option<Counts>, why: &'static str) -> SelectionRow {
    let mark = match ours {
        None => "–",
        Some(ours) if ours == published => "=",
        Some(_) => "≠",
    };
    let why = match (mark, why) {
        ("–", "") => "not run in the quick mode",
        ("=", _) => "",
        (_, why) => why,
    };
    SelectionRow { test: test.into(), how: how.into(), published, ours, mark, why, note: "" }
}

fn count(
    text: &str,
    with: &[(&str, &str)],
    pick: ActorSelection,
    marks: Option<Marks>,
) -> Result<Counts, MachineError> {
    let text = with.iter().fold(text.to_string(), |text, (name, value)| replace_word(&text, name, value));
    let program = AbsProgram::parse("subject.abs", &text).map_err(|error| MachineError::Misuse(error.to_string()))?;
    let count = search(&program, &Selection { pick, marks, ..Selection::default() })?;
    Ok(Counts(count.executions, count.states, count.unstable))
}

/// Replaces a parameter of a subject by its value where it occurs as a whole word.
fn replace_word(text: &str, name: &str, value: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once('\n')) {
        if part(c) {
            word.push(c);
            continue;
        }
        out.push_str(if word == name { value } else { &word });
        word.clear();
        out.push(c);
    }
    out
}

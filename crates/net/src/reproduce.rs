//! Reproduction of Table 1 of the paper.

use crate::net::Net;
use crate::subjects::subjects;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;
use whippet_model::{FindingKind, Machine, MachineConfig, MachineError, Program, StateComparison};
use whippet_search::{Options, Reduction, SearchError, explore};

/// One row as printed in the paper; `None` means that the paper's tool timed out after 30 minutes.
struct PublishedRow {
    subject: &'static str,
    n: Option<usize>,
    deadlock: bool,
    interleavings: Option<u128>,
    traces: u64,
    seconds: f64,
}

const fn row(
    subject: &'static str,
    n: Option<usize>,
    deadlock: bool,
    interleavings: Option<u128>,
    traces: u64,
    seconds: f64,
) -> PublishedRow {
    PublishedRow { subject, n, deadlock, interleavings, traces, seconds }
}

/// The rows of Table 1. "<0.01" is given as 0.01.
const TABLE: [PublishedRow; 10] = [
    row("wait-deadlock", None, true, Some(2), 1, 0.01),
    row("complex-deadlock", None, true, Some(36), 1, 0.01),
    row("waitall-deadlock", None, true, Some(1_458), 1, 0.01),
    row("no-error-wait-any_src", None, false, Some(21), 1, 0.01),
    row("any_src-can-deadlock3", None, true, Some(999), 2, 0.03),
    row("dtg", None, true, None, 2, 0.07),
    row("rmq-receiving", Some(4), false, Some(20_064), 6, 0.2),
    row("rmq-receiving", Some(5), false, None, 24, 2.52),
    row("master-worker", Some(3), false, Some(1_356_444), 2, 0.2),
    row("master-worker", Some(4), false, None, 6, 2.5),
];

/// One row of Table 1: the printed values and the measured ones.
///
/// ```
/// use whippet_net::UdporRow;
/// let row = UdporRow {
///     subject: "dtg", n: None, deadlock: (false, false), interleavings: (None, 7), traces: (2, 2), blocked: 0,
///     seconds: (0.1, 0.0),
/// };
/// assert!(row.agrees(), "the paper could not count the interleavings");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UdporRow {
    /// The subject's name.
    pub subject: &'static str,
    /// The number of processes, if the subject has that parameter.
    pub n: Option<usize>,
    /// `true` if there is a deadlock: as printed, and as found.
    pub deadlock: (bool, bool),
    /// The number of interleavings: as printed if the paper could count them, and as counted here.
    pub interleavings: (Option<u128>, u128),
    /// The number of traces explored: as printed, and by `udpor`.
    pub traces: (u64, u64),
    /// The number of blocked explorations of `udpor`; 0 is expected.
    pub blocked: u64,
    /// The time in seconds: as printed, and as measured here.
    pub seconds: (f64, f64),
}

impl UdporRow {
    /// Returns `true` if all printed values, except times, agree with the measured ones.
    #[must_use]
    pub fn agrees(&self) -> bool {
        let (printed, counted) = self.interleavings;
        self.deadlock.0 == self.deadlock.1
            && printed.is_none_or(|p| p == counted)
            && self.traces.0 == self.traces.1
            && self.blocked == 0
    }
}

/// Measures Table 1 again. This takes a while.
///
/// ```no_run
/// let rows = whippet_net::reproduce().unwrap();
/// assert!(rows.iter().all(whippet_net::UdporRow::agrees));
/// ```
pub fn reproduce() -> Result<Vec<UdporRow>, SearchError> {
    TABLE.iter().map(measure).collect()
}

fn measure(printed: &PublishedRow) -> Result<UdporRow, SearchError> {
    let all = subjects();
    let subject = all.iter().find(|s| s.name == printed.subject).expect("the table is about our subjects");
    let program = subject.program(printed.n).expect("the table's parameters are allowed");
    let counted = interleavings(&program)?;
    let options = Options::new(Reduction::Udpor);
    let begin = Instant::now();
    let verdict = explore(Arc::new(program), &options, &())?;
    let seconds = begin.elapsed().as_secs_f64();
    let deadlock = verdict.findings.iter().any(|finding| finding.kind == FindingKind::Deadlock);
    Ok(UdporRow {
        subject: printed.subject,
        n: printed.n,
        deadlock: (printed.deadlock, deadlock),
        interleavings: (printed.interleavings, counted),
        traces: (printed.traces, verdict.counters.executions),
        blocked: verdict.counters.blocked,
        seconds: (printed.seconds, seconds),
    })
}

/// Counts the maximal interleavings of a program, including those that end in a deadlock.
///
/// An exhaustive search would execute each one. This function visits each state once and adds up the counts of its
/// successors, so it can count many more interleavings than it could ever execute.
///
/// ```
/// let net = whippet_net::Net::parse("two", "L L\nL L").unwrap();
/// assert_eq!(whippet_net::interleavings(&net).unwrap(), 6);
/// ```
pub fn interleavings(program: &Net) -> Result<u128, MachineError> {
    fn from(machine: &mut impl Machine, known: &mut FxHashMap<u128, u128>) -> Result<u128, MachineError> {
        let state = machine
            .fingerprint()
            .expect("states of nets can be compared")
            .of_configuration(StateComparison::Canonical)?;
        if let Some(&count) = known.get(&state) {
            return Ok(count);
        }
        let mut choices = Vec::new();
        machine.enabled(&mut choices)?;
        let depth = machine.depth();
        let mut count = u128::from(choices.is_empty());
        for choice in choices {
            machine.execute(choice)?;
            count += from(machine, known)?;
            machine.rewind(depth);
        }
        known.insert(state, count);
        Ok(count)
    }
    from(&mut program.machine(&MachineConfig::default())?, &mut FxHashMap::default())
}

//! The report for a terminal: the run, a short table of counters, the counterexamples and the conclusion.

use crate::advice::estimate;
use crate::counterexample::{Links, counterexample, headline_in};
use crate::numbers::{bytes, count, grouped, seconds};
use crate::style::{BAD, DOUBT, FAINT, GOOD, STRONG, styled};
use crate::{Exit, RunInfo};
use anstyle::Style;
use whippet_model::{Finding, Verdict};
use whippet_search::{Order, Reduction, Rule};

/// The number of findings, and of warnings, that are shown in full. The rest is only counted; the JSON contains all.
const MAX_SHOWN: usize = 5;

/// Returns the whole report. `links` holds the links of each finding; it may be shorter than the list of
/// findings.
///
/// The text contains colours: print it through a stream of `anstream`, or remove them with [`plain`](crate::plain).
///
/// ```
/// use whippet_report::{RunInfo, plain, text};
/// let verdict = whippet::Checker::new("holds").explore(|_sys| {}).unwrap();
/// let report = plain(&text(&RunInfo::new("holds", &whippet_search::Options::default()), &verdict, &[]));
/// assert!(report.starts_with("holds · optimal\n"));
/// assert!(report.ends_with("Nothing found: every order was covered, in 1 execution.\n"));
/// ```
#[must_use]
pub fn text(run: &RunInfo, verdict: &Verdict, links: &[Links]) -> String {
    let mut text = format!("{} · {}\n\n", styled(STRONG, run.title()), method(run));
    for (name, value) in table(run, verdict) {
        text += &format!("  {name:<12}  {value:>9}\n");
    }
    for note in &verdict.notes {
        text += &format!("\n{} {note}\n", styled(STRONG, "note:"));
    }
    text += &counterexamples(&verdict.findings, BAD, verdict, links);
    text += &counterexamples(&verdict.warnings, DOUBT, verdict, &[]);
    text += &results(verdict);
    text += &format!("\n{}\n", conclusion(run, verdict));
    text
}

/// The number of results that are shown. The rest is only counted; the JSON contains all.
const MAX_RESULTS: usize = 20;

/// Lists the results of executions, below the place that declares them.
fn results(verdict: &Verdict) -> String {
    let mut text = String::new();
    let executions = count(verdict.counters.executions, "execution");
    let mut shown = verdict.outcomes.iter();
    let mut place = &None;
    for outcome in shown.by_ref().take(MAX_RESULTS) {
        if outcome.place != *place {
            place = &outcome.place;
            text += &format!("\n{} at {}\n", styled(STRONG, "results"), place.as_deref().unwrap_or("an unknown place"));
        }
        let seen = styled(FAINT, format!("(in {} of {executions})", grouped(outcome.executions)));
        text += &format!("  {}  {seen}\n", outcome.message);
    }
    match shown.count() {
        0 => text,
        more => text + &format!("  {}\n", styled(FAINT, format!("… and {more} more; --json lists them all"))),
    }
}

/// Describes the search: `transdpor, order eca, with sleep sets, rule table1, delivery fifo`.
fn method(run: &RunInfo) -> String {
    let mut parts = vec![run.reduction.to_string()];
    if run.order != Order::Default {
        parts.push(format!("order {}", run.order));
    }
    if run.sleep {
        parts.push("with sleep sets".into());
    }
    if run.reduction == Reduction::Transdpor && run.rule != Rule::Sound {
        parts.push(format!("rule {}", run.rule));
    }
    if let Some(delivery) = &run.delivery {
        parts.push(format!("delivery {delivery}"));
    }
    if run.is_sample() {
        parts.push(format!("seed {}", run.seed));
    }
    parts.join(", ")
}

fn table(run: &RunInfo, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let counters = &verdict.counters;
    let mut rows = vec![("executions", grouped(counters.executions))];
    if counters.blocked > 0 || counters.events.is_some() {
        rows.push(("blocked", grouped(counters.blocked)));
    }
    rows.push(("transitions", grouped(counters.transitions)));
    if let Some(states) = counters.states {
        rows.push(("states", grouped(states)));
    }
    if let Some(events) = counters.events {
        rows.push(("events", grouped(events.created)));
        rows.push(("largest U", grouped(events.known)));
        rows.push(("largest D", grouped(events.avoided)));
    }
    if let Some(unstable) = counters.unstable {
        rows.push(("unstable (H)", grouped(unstable)));
    }
    rows.push(("handler runs", grouped(counters.handler_runs)));
    rows.push(("depth", grouped(counters.depth as u64)));
    rows.push(("time", seconds(verdict.time.as_secs_f64())));
    rows.push(("CPU time", seconds(run.usage.cpu_seconds)));
    if run.usage.peak_memory_bytes > 0 {
        rows.push(("peak memory", bytes(run.usage.peak_memory_bytes)));
    }
    rows
}

fn counterexamples(findings: &[Finding], style: Style, verdict: &Verdict, links: &[Links]) -> String {
    let executions = count(verdict.counters.executions, "execution");
    let mut text = String::new();
    for (i, finding) in findings.iter().enumerate().take(MAX_SHOWN) {
        let seen = styled(FAINT, format!("(in {} of {executions})", grouped(finding.executions)));
        text += &format!("\n{}\n", headline_in(style, finding, &format!("  {seen}")));
        text += &counterexample(&finding.counterexample);
        if let Some(links) = links.get(i) {
            text += &links.text(FAINT);
        }
    }
    if findings.len() > MAX_SHOWN {
        let rest = format!("… and {} more; --json lists them all", findings.len() - MAX_SHOWN);
        text += &format!("\n{}\n", styled(FAINT, rest));
    }
    text
}

/// Returns the last lines: the conclusion.
fn conclusion(run: &RunInfo, verdict: &Verdict) -> String {
    let executions = count(verdict.counters.executions, "execution");
    let (style, line) = match Exit::of(verdict) {
        Exit::Found => (BAD, format!("{} in {executions}.", count(verdict.findings.len() as u64, "finding"))),
        Exit::Holds if verdict.may_miss => {
            (DOUBT, format!("Nothing found, in {executions}; a note above says what may have been missed."))
        }
        Exit::Holds => (GOOD, format!("Nothing found: every order was covered, in {executions}.")),
        Exit::NoVerdict => (DOUBT, format!("Nothing found so far, in {executions}.")),
    };
    let mut text = styled(style, line).to_string();
    if !verdict.warnings.is_empty() {
        text += &format!(" {}.", count(verdict.warnings.len() as u64, "warning"));
    }
    if verdict.complete {
        return text;
    }
    text += &format!("\n{}", shortfall(run, verdict));
    if let Some(estimate) = estimate(verdict) {
        text += &format!("\nThere are {estimate}.");
    }
    text
}

/// Explains why not everything was covered, for searches that end without a verdict.
///
/// ```
/// use whippet_report::{RunInfo, shortfall};
/// let verdict = whippet::Checker::new("cut").limit_executions(1).explore(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///     (0..3).for_each(|n| sys.send(sink, n));
/// }).unwrap();
/// assert_eq!(
///     shortfall(&RunInfo::new("cut", &whippet_search::Options::default()), &verdict),
///     "Stopped by the limit on executions: not every order was covered.",
/// );
/// ```
#[must_use]
pub fn shortfall(run: &RunInfo, verdict: &Verdict) -> String {
    let limits: Vec<String> = verdict.limits.iter().map(ToString::to_string).collect();
    match (limits.is_empty(), run.is_sample()) {
        (true, true) => "This was a sample: other orders may behave differently.".into(),
        (true, false) => "Not every order was covered.".into(),
        (false, _) => format!("Stopped by {}: not every order was covered.", limits.join(" and ")),
    }
}

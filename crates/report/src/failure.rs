//! The text of a failing test.

use crate::advice::estimate;
use crate::counterexample::{Links, counterexample, headline};
use crate::numbers::count;
use crate::{Exit, plain};
use whippet_model::Verdict;

/// The number of findings that a failing test shows in full.
const MAX_SHOWN: usize = 3;

/// Returns the text of a failing test, without colours, or `None` if the test passes: everything was covered and
/// nothing found. `links` holds the links of each finding; it may be shorter than the list of findings.
///
/// An incomplete search without findings fails the test only if `partial` is false: a test that requires full coverage
/// must not pass on a part of it.
///
/// ```
/// use whippet_model::Verdict;
/// let mut verdict = Verdict::default();
/// verdict.complete = true;
/// assert_eq!(whippet_report::failure(&verdict, false, &[]), None);
/// ```
#[must_use]
pub fn failure(verdict: &Verdict, partial: bool, links: &[Links]) -> Option<String> {
    let mut text = match Exit::of(verdict) {
        Exit::Holds => return None,
        Exit::NoVerdict if partial => return None,
        Exit::NoVerdict => no_verdict(verdict),
        Exit::Found => counterexamples(verdict, links),
    };
    for note in &verdict.notes {
        text += &format!("note: {note}\n");
    }
    Some(plain(&text))
}

fn no_verdict(verdict: &Verdict) -> String {
    let limits: Vec<String> = verdict.limits.iter().map(ToString::to_string).collect();
    let why = if limits.is_empty() { "a sample does not cover everything".into() } else { limits.join(" and ") };
    let estimate = estimate(verdict).map_or_else(String::new, |text| format!("there are {text}\n"));
    format!("no verdict after {}: {why}\n{estimate}", count(verdict.counters.executions, "execution"))
}

fn counterexamples(verdict: &Verdict, links: &[Links]) -> String {
    let mut text = String::new();
    for (i, finding) in verdict.findings.iter().enumerate().take(MAX_SHOWN) {
        text += &format!("{}\n{}", headline(finding), counterexample(&finding.counterexample));
        if let Some(links) = links.get(i) {
            text += &links.to_string();
        }
        text.push('\n');
    }
    for finding in verdict.findings.iter().skip(MAX_SHOWN) {
        text += &format!("also: {}\n", headline(finding));
    }
    let findings = count(verdict.findings.len() as u64, "finding");
    text + &format!("{findings} in {}\n", count(verdict.counters.executions, "execution"))
}

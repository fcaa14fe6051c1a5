//! Comparison of searches on mixed programs.

use super::{Mixed, Results};
use crate::{Answer, Failure, Guarantee, Judged, Setting, Size, Trace, answer, compare};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use whippet_model::FindingKind;
use whippet_search::{Reduction, explore};

/// Returns the searches to compare: all that guarantee something for such programs.
///
/// ```
/// use whippet_search::Reduction;
/// let settings = whippet_generate::mixed_settings();
/// assert!(settings.iter().any(|setting| setting.reduction == Reduction::Optimal));
/// ```
#[must_use]
pub fn mixed_settings() -> Vec<Setting> {
    // Promises do not implement `Hash`, so configurations cannot be compared.
    let owes = |s: &Setting| s.reduction != Reduction::Stateful && s.guarantee() != Guarantee::Some;
    Setting::all().into_iter().filter(owes).collect()
}

/// Compares searches of a mixed program with the exhaustive search. Also returns the kinds of problems that the
/// program has. Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Mixed, Size, judge_mixed, mixed_settings};
/// let judged = judge_mixed(&Mixed::draw(3), &mixed_settings(), Size { executions: 200, steps: 40 });
/// assert!(judged.is_ok(), "no search misses anything");
/// ```
pub fn judge_mixed(
    program: &Mixed,
    settings: &[Setting],
    size: Size,
) -> Result<Option<(Judged, BTreeSet<FindingKind>)>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let wanted = Results::default();
    if !fits(program, size) {
        return Ok(None);
    }
    let Some(all) = answer(&program.test(&wanted), &exhaustive, Some(size))? else { return Ok(None) };
    let races = has_race(&all);
    if let Some(what) = all.log.contradiction.as_ref().filter(|_| !races) {
        return Err(Failure { program: None, setting: exhaustive, what: what.clone() });
    }
    let executions = all.verdict.counters.executions;
    let mut judged = Judged { traces: all.log.traces.len(), executions, ..Judged::default() };
    for setting in settings {
        let found = Results::default();
        let answer = answer(&program.test(&found), setting, None)?.expect("there was no limit");
        judged.searches += 1;
        let same = if races {
            compare_without_races(&all, &answer, setting)
        } else {
            compare(&all, &answer, setting).and_then(|()| same_results(&wanted, &found))
        };
        same.map_err(|what| Failure { program: None, setting: *setting, what })?;
    }
    Ok(Some((judged, all.verdict.findings.iter().map(|finding| finding.kind).collect())))
}

/// Returns `true` if the program is not larger than `size`. Does not log the executions, which would take longer.
fn fits(program: &Mixed, size: Size) -> bool {
    let mut options = Setting::of(Reduction::Exhaustive).options();
    options.limits.steps = size.steps;
    options.limits.executions = Some(size.executions);
    let verdict = explore(Arc::new(program.test(&Results::default())), &options, &());
    // An error here occurs in the comparison as well, which reports it.
    verdict.map_or(true, |verdict| verdict.complete)
}

/// Compares the results that do not depend on a data race. Both searches must have found the race.
fn compare_without_races(all: &Answer, answer: &Answer, setting: &Setting) -> Result<(), String> {
    if !has_race(answer) {
        return Err("a data race is missing".into());
    }
    let free = |answer: &Answer| -> BTreeMap<Trace, u64> {
        let traces = answer.log.traces.iter().filter(|(_, seen)| !seen.races);
        traces.map(|(trace, seen)| (trace.clone(), seen.times)).collect()
    };
    let (wanted, found) = (free(all), free(answer));
    if let Some(trace) = wanted.keys().find(|trace| !found.contains_key(trace)) {
        return Err(format!("a trace without a race is missing: {trace:?}"));
    }
    if let Some(trace) = found.keys().find(|trace| !wanted.contains_key(trace)) {
        return Err(format!("a trace without a race that cannot be: {trace:?}"));
    }
    if matches!(setting.guarantee(), Guarantee::Once | Guarantee::EachOnce) && found.values().any(|&times| times > 1) {
        return Err("a trace is explored several times".into());
    }
    let told = |answer: &Answer| -> BTreeSet<_> {
        answer.verdict.findings.iter().chain(&answer.verdict.warnings).map(|f| (f.kind, f.key)).collect()
    };
    let (wanted, found) = (told(all), told(answer));
    if let Some((kind, _)) = all.log.problems.difference(&found).next() {
        return Err(format!("a problem of kind {kind} of an execution without a race is missing"));
    }
    match found.difference(&wanted).next() {
        Some((kind, _)) => Err(format!("a problem of kind {kind} is made up")),
        None => Ok(()),
    }
}

fn has_race(answer: &Answer) -> bool {
    answer.verdict.findings.iter().any(|finding| finding.kind == FindingKind::Race)
}

fn same_results(wanted: &Results, found: &Results) -> Result<(), String> {
    let (wanted, found) = (wanted.all(), found.all());
    if wanted == found { Ok(()) } else { Err(format!("the results {found:?}, not {wanted:?}")) }
}

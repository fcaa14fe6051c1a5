//! Remarks on a search that did not end, and on a test that tests little.

use crate::RunInfo;
use crate::numbers::{count, grouped, guess, seconds};
use whippet_model::{LimitHit, Verdict};
use whippet_search::Reduction;

/// Returns doubts about a test that passes: nothing happens in it, or only one order is possible.
///
/// ```
/// let empty = whippet::Checker::new("empty").explore(|_sys| {}).unwrap();
/// assert_eq!(whippet_report::doubts(&empty), ["nothing happens in this test: no message is sent"]);
/// ```
#[must_use]
pub fn doubts(verdict: &Verdict) -> Vec<String> {
    let counters = &verdict.counters;
    let one = verdict.complete && verdict.findings.is_empty() && counters.executions == 1 && counters.blocked == 0;
    let text = match counters.transitions {
        _ if !one => return Vec::new(),
        0 => "nothing happens in this test: no message is sent",
        _ => "only one order is possible: nothing in this test is concurrent",
    };
    vec![text.into()]
}

/// Describes the result of a test that passes in one line: executions, warnings, complete or not.
///
/// ```
/// let verdict = whippet::Checker::new("two").explore(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///     (0..2).for_each(|n| sys.send(sink, n));
/// }).unwrap();
/// assert_eq!(whippet_report::passing(&verdict), "every order was covered, in 2 executions");
/// ```
#[must_use]
pub fn passing(verdict: &Verdict) -> String {
    let executions = count(verdict.counters.executions, "execution");
    let mut text = match (verdict.complete, verdict.may_miss) {
        (true, false) => format!("every order was covered, in {executions}"),
        (true, true) => format!("nothing found, in {executions}, but some orders may have been missed"),
        (false, _) => format!("nothing found in {executions}; not every order was covered"),
    };
    if !verdict.warnings.is_empty() {
        text += &format!("; {}", count(verdict.warnings.len() as u64, "warning"));
    }
    text
}

/// Returns the estimate of a search that was not complete, and the time that the rest would take at the same rate.
pub(crate) fn estimate(verdict: &Verdict) -> Option<String> {
    let estimate = verdict.estimate.as_ref().filter(|_| verdict.limits != [LimitHit::FirstBug])?;
    let sampled = estimate.seen.is_some();
    let things = if sampled { "traces" } else { "executions" };
    let mut text = format!("there are {} {things} in total", guess(estimate));
    if let Some(seen) = estimate.seen {
        text += &format!(", {} of them seen", grouped(seen));
    } else if estimate.total.is_finite() && verdict.counters.executions > 0 {
        let all = verdict.time.as_secs_f64() * estimate.total / verdict.counters.executions as f64;
        if all >= 1.0 {
            text += &format!("; at this rate, a complete search takes {}", duration(all));
        }
    }
    Some(text)
}

/// Formats a long time in a suitable unit.
fn duration(time: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(365.25 * 86_400.0, "year"), (86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute")];
    match UNITS.iter().find(|(unit, _)| time >= 2.0 * unit) {
        Some((unit, _)) if time / unit > 1e6 => "more than a million years".into(),
        Some((unit, name)) => format!("about {}", count((time / unit).round() as u64, name)),
        None => format!("about {}", seconds(time)),
    }
}

/// Returns advice on what to do about a search that a limit has ended: which search, which bound.
///
/// ```
/// use whippet_report::RunInfo;
/// let verdict = whippet::Checker::new("cut").limit_executions(1).explore(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///     (0..3).for_each(|n| sys.send(sink, n));
/// }).unwrap();
/// let run = RunInfo::new("cut", &whippet_search::Options::default());
/// assert!(whippet_report::advice(&run, &verdict)[0].starts_with("raise the limit"));
/// ```
#[must_use]
pub fn advice(run: &RunInfo, verdict: &Verdict) -> Vec<String> {
    let mut advice: Vec<String> = Vec::new();
    let hit = |limit| verdict.limits.contains(&limit);
    if verdict.complete || !verdict.findings.is_empty() {
        return advice;
    }
    if run.is_sample() {
        advice.push(
            "a sample never covers everything: let the test pass on it with `partial_is_enough`, or use the reduction \
             `optimal`"
                .into(),
        );
        return advice;
    }
    for (limit, variable) in
        [(LimitHit::Executions, "WHIPPET_LIMIT_EXECUTIONS"), (LimitHit::Time, "WHIPPET_LIMIT_SECONDS")]
    {
        if hit(limit) {
            advice.push(format!("raise the limit for one run: {variable}=… overrides the one of the test"));
        }
    }
    if hit(LimitHit::Memory) && run.reduction == Reduction::Stateful {
        advice.push("the states do not fit in memory: use the reduction `optimal`, which stores none".into());
    }
    if verdict.limits.iter().all(|limit| [LimitHit::Executions, LimitHit::Time].contains(limit)) {
        if ![Reduction::Optimal, Reduction::Stateful, Reduction::Udpor].contains(&run.reduction) {
            advice.push(format!("`{}` may repeat executions: the reduction `optimal` needs fewest", run.reduction));
        }
        if run.reduction != Reduction::Stateful {
            advice.push(
                "if different orders often lead to the same states, the reduction `stateful` explores each state once"
                    .into(),
            );
        }
        if run.delivery.as_deref() == Some("unordered") {
            advice.push(
                "if messages between two actors cannot overtake each other, `Delivery::Fifo` has fewer orders".into(),
            );
        }
        advice.push(
            "use fewer actors or messages; or look for errors only: the reduction `pos` samples, and with \
             `partial_is_enough` a test passes if nothing was found"
                .into(),
        );
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_largest_unit_that_fits_twice() {
        let wanted = [
            (1.5, "about 1.50 s"),
            (90.0, "about 90 s"),
            (600.0, "about 10 minutes"),
            (2e5, "about 2 days"),
            (1e9, "about 32 years"),
            (1e40, "more than a million years"),
        ];
        assert_eq!(wanted.map(|(time, _)| duration(time)), wanted.map(|(_, text)| text.to_string()));
    }
}

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
    text + &results(verdict)
}

/// The number of results that the line of a passing test lists.
const FEW_RESULTS: usize = 8;

/// Lists the results of executions in one line, if the program declares any.
fn results(verdict: &Verdict) -> String {
    if verdict.outcomes.is_empty() {
        return String::new();
    }
    let mut values: Vec<&str> = verdict.outcomes.iter().map(|outcome| outcome.message.as_str()).collect();
    let all = values.len();
    values.truncate(FEW_RESULTS);
    let more = if all > FEW_RESULTS { ", …" } else { "" };
    format!("; {}: {}{more}", count(all as u64, "result"), values.join(", "))
}

/// Returns the estimate of a search that was not complete, and the time that all of it would take at the same rate:
/// "about 720 executions in total".
pub(crate) fn estimate(verdict: &Verdict) -> Option<String> {
    let estimate = verdict.estimate.as_ref().filter(|_| verdict.limits != [LimitHit::FirstBug])?;
    let sampled = estimate.seen.is_some();
    let things = if sampled { "traces" } else { "executions" };
    let mut text = format!("{} {things} in total", guess(estimate));
    if let Some(seen) = estimate.seen {
        text += &format!(", {} of them seen", grouped(seen));
    } else if estimate.total.is_finite() && verdict.counters.executions >= 100 {
        // The first executions are slower than the others.
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

/// The reader of advice, who decides by which means a setting is changed.
///
/// ```
/// use whippet_report::Advised;
/// assert_ne!(Advised::ActorTest, Advised::Command);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advised {
    /// The author of a test of actors: the settings are methods of `Checker`, and environment variables.
    ActorTest,
    /// The author of a tokio test: the settings are environment variables and options of `cargo whippet`.
    TokioTest,
    /// The user of the command `whippet`: the settings are options.
    Command,
}

impl Advised {
    /// Returns one of three texts.
    fn pick(self, actor_test: &str, tokio_test: &str, command: &str) -> String {
        match self {
            Advised::ActorTest => actor_test.into(),
            Advised::TokioTest => tokio_test.into(),
            Advised::Command => command.into(),
        }
    }

    /// Returns the name by which this reader knows a reduction.
    fn reduction(self, reduction: Reduction) -> String {
        match self {
            Advised::ActorTest => format!("the reduction `{reduction}`"),
            Advised::TokioTest | Advised::Command => format!("`--reduction {reduction}`"),
        }
    }
}

/// Returns advice on what to do about a search that a limit has ended: which search, which bound.
///
/// ```
/// use whippet_report::{Advised, RunInfo, advice};
/// let verdict = whippet::Checker::new("cut").limit_executions(1).explore(|sys| {
///     let sink = sys.spawn_fn(async |inbox: &mut whippet::Inbox<u8>| loop { inbox.receive().await; });
///     (0..3).for_each(|n| sys.send(sink, n));
/// }).unwrap();
/// let run = RunInfo::new("cut", &whippet_search::Options::default());
/// assert!(advice(&run, &verdict, Advised::ActorTest)[0].starts_with("raise the limit"));
/// assert_eq!(advice(&run, &verdict, Advised::Command)[0], "raise `--limit-executions`, or leave it out");
/// ```
#[must_use]
pub fn advice(run: &RunInfo, verdict: &Verdict, advised: Advised) -> Vec<String> {
    let hit = |limit| verdict.limits.contains(&limit);
    if verdict.complete || !verdict.findings.is_empty() || hit(LimitHit::Interrupted) {
        return Vec::new();
    }
    let optimal = advised.reduction(Reduction::Optimal);
    if run.is_sample() {
        return vec![advised.pick(
            "a sample never covers everything: let the test pass on it with `partial_is_enough`, or use the reduction \
             `optimal`",
            "a sample never covers everything: use `--reduction optimal`",
            "a sample never covers everything: use `--reduction optimal`",
        )];
    }
    let mut advice: Vec<String> = Vec::new();
    for (limit, variable, option) in [
        (LimitHit::Executions, "WHIPPET_LIMIT_EXECUTIONS", "--limit-executions"),
        (LimitHit::Time, "WHIPPET_LIMIT_SECONDS", "--limit-seconds"),
    ] {
        if hit(limit) {
            advice.push(match advised {
                Advised::ActorTest => {
                    format!("raise the limit for one run: {variable}=… overrides the one of the test")
                }
                Advised::TokioTest => format!("raise the limit: {variable}=… or `{option}`"),
                Advised::Command => format!("raise `{option}`, or leave it out"),
            });
        }
    }
    if hit(LimitHit::Memory) && run.reduction == Reduction::Stateful {
        advice.push(format!("the states do not fit in memory: use {optimal}, which stores none"));
    }
    if verdict.limits.iter().all(|limit| [LimitHit::Executions, LimitHit::Time].contains(limit)) {
        advice.extend(smaller(run, advised));
    }
    advice
}

/// Returns advice on how to have fewer executions.
fn smaller(run: &RunInfo, advised: Advised) -> Vec<String> {
    let mut advice = Vec::new();
    if ![Reduction::Optimal, Reduction::Stateful, Reduction::Udpor].contains(&run.reduction) {
        let optimal = advised.reduction(Reduction::Optimal);
        advice.push(format!("`{}` may repeat executions: {optimal} needs fewest", run.reduction));
    }
    // The states of tasks cannot be compared.
    if run.reduction != Reduction::Stateful && advised != Advised::TokioTest {
        let stateful = advised.reduction(Reduction::Stateful);
        advice.push(format!("if different orders often lead to the same states, {stateful} explores each state once"));
    }
    if run.delivery.as_deref() == Some("unordered") {
        let fifo = if advised == Advised::Command { "--delivery fifo" } else { "Delivery::Fifo" };
        advice.push(format!("if messages between two actors cannot overtake each other, `{fifo}` has fewer orders"));
    }
    advice.push(advised.pick(
        "use fewer actors or messages; or look for errors only: the reduction `pos` samples, and with \
         `partial_is_enough` a test passes if nothing was found",
        "use fewer tasks or messages, or fewer timers that fire early (`--timers`); or look for errors only: \
         `--reduction pos` samples",
        if run.parameters.is_empty() {
            "use a smaller program; or look for errors only: `--reduction pos` samples, until a limit ends it"
        } else {
            "use smaller parameters (`--set`); or look for errors only: `--reduction pos` samples, until a limit ends it"
        },
    ));
    advice
}

/// Returns advice on checks that make steps dependent on each other, given as their places with the number of actors.
///
/// ```
/// let advice = whippet_report::wide_checks(&[("tests/a.rs:7".into(), 3)], whippet_report::Advised::Command);
/// assert!(advice[0].starts_with("the check `always` at tests/a.rs:7 makes all steps of 3 actors dependent"));
/// ```
#[must_use]
pub fn wide_checks(checks: &[(String, usize)], advised: Advised) -> Vec<String> {
    let stateful = advised.reduction(Reduction::Stateful);
    let wide = checks.iter().map(|(place, actors)| {
        format!(
            "the check `always` at {place} makes all steps of {actors} actors dependent on each other: let it \
             see only the part of each state that it needs (`Addr::only`), check one actor at a time, or at the end \
             (`at_end`), or use {stateful}"
        )
    });
    wide.collect()
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

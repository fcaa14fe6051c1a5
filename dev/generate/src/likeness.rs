//! Comparison of native actors with the machine of the toy language: a program must behave the same on both.

use crate::judge::same_states;
use crate::{Answer, Failure, Judged, Setting, Size, Style, answer, compare, compare_stories, native, steady};
use std::collections::BTreeMap;
use whippet_model::{Finding, FindingKind};
use whippet_search::Reduction;
use whippet_search::toy::{Action, Delivery, Program};

/// Compares a program executed as native actors with the program itself: every trace must occur, the same number of
/// times, with corresponding final states. Also compares the default search and the stateful search of the native
/// program with its exhaustive search, and checks its machine with [`steady()`]. Returns `None` if the program is too
/// large.
///
/// ```
/// use whippet_generate::{Size, Style, alike, draw};
/// for style in Style::ALL {
///     assert!(alike(&draw(42), style, Size::default()).is_ok());
/// }
/// ```
pub fn alike(program: &Program, style: Style, size: Size) -> Result<Option<Judged>, Failure> {
    alike_in(program, style, size).map_err(|f| Failure {
        program: Some(program.clone()),
        what: format!("as native actors ({style:?}): {}", f.what),
        ..f
    })
}

fn alike_in(program: &Program, style: Style, size: Size) -> Result<Option<Judged>, Failure> {
    let [exhaustive, optimal, stateful] =
        [Reduction::Exhaustive, Reduction::Optimal, Reduction::Stateful].map(Setting::of);
    let Some(toy) = answer(program, &exhaustive, Some(size))? else { return Ok(None) };
    let test = native(program, style);
    let all = answer(&test, &exhaustive, None)?.expect("there was no limit");
    let fail = |setting: Setting| move |what: String| Failure { program: None, setting, what };
    // A failed native actor has no state, and orders of delivery are part of the configuration.
    let plain = program.delivery == Delivery::Unordered && toy.verdict.counters.problems == 0;
    same(&toy, &all, plain).map_err(fail(exhaustive))?;
    let best = answer(&test, &optimal, None)?.expect("there was no limit");
    compare(&all, &best, &optimal).and_then(|()| compare_stories(&all, &best)).map_err(fail(optimal))?;
    let merged = answer(&test, &stateful, None)?.expect("there was no limit");
    compare(&all, &merged, &stateful).map_err(fail(stateful))?;
    // Calls of native actors are named after messages, so equal messages lead to final states that differ in names.
    if !program.rules.iter().flat_map(|rule| &rule.actions).any(|action| matches!(action, Action::Call(..))) {
        same_states(program, &all, &merged).map_err(fail(stateful))?;
    }
    steady(&test, size).map_err(fail(exhaustive))?;
    Ok(Some(Judged {
        traces: toy.log.traces.len(),
        executions: all.verdict.counters.executions,
        searches: 3,
        misses: Vec::new(),
    }))
}

fn same(toy: &Answer, native: &Answer, plain: bool) -> Result<(), String> {
    let counts = |answer: &Answer| {
        let c = &answer.verdict.counters;
        [c.executions, c.transitions, c.problems, c.depth as u64]
    };
    if counts(toy) != counts(native) {
        return Err(format!("{:?} executions, transitions, problems and depth, not {:?}", counts(native), counts(toy)));
    }
    let mut ends = BTreeMap::new();
    for (trace, seen) in &toy.log.traces {
        let other = native.log.traces.get(trace).ok_or_else(|| format!("a trace is missing: {trace:?}"))?;
        if other.times != seen.times {
            return Err(format!("a trace has {} executions, not {}", other.times, seen.times));
        }
        // Native fingerprints may distinguish more configurations, for example by the handles for replies, but never
        // fewer.
        if plain && other.state.is_some() && ends.entry(other.state).or_insert(seen.state) != &seen.state {
            return Err(format!("different ends have the same fingerprint, such as that of {trace:?}"));
        }
    }
    same_problems(toy, native)
}

/// Compares the numbers of problems. Their descriptions differ between the machines.
fn same_problems(toy: &Answer, native: &Answer) -> Result<(), String> {
    let count = |findings: &[Finding], kinds: &[FindingKind]| -> u64 {
        findings.iter().filter(|f| kinds.contains(&f.kind)).map(|f| f.executions).sum()
    };
    let deadlocks = |answer: &Answer| count(&answer.verdict.findings, &[FindingKind::Deadlock]);
    if deadlocks(toy) != deadlocks(native) {
        return Err(format!("{} deadlocks, not {}", deadlocks(native), deadlocks(toy)));
    }
    let failures = |answer: &Answer| count(&answer.verdict.findings, &[FindingKind::Assertion, FindingKind::Panic]) > 0;
    if failures(toy) != failures(native) {
        return Err("only one machine sees a failure".into());
    }
    // If a native actor waits for a reply, only the deadlock is reported, not also the messages left for the actor.
    let left = |answer: &Answer| count(&answer.verdict.warnings, &[FindingKind::Undeliverable]) > 0;
    if left(native) && !left(toy) || left(toy) && !left(native) && deadlocks(toy) == 0 {
        return Err("only one machine sees messages that are never taken".into());
    }
    Ok(())
}

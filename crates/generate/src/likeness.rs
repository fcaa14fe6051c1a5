//! Native actors compared with the machine of the little language: the same program must do the same on both.

use crate::{Answer, Failure, Judged, Setting, Size, Style, answer, compare, compare_stories, native, steady};
use std::collections::BTreeMap;
use whippet_model::{Finding, Kind};
use whippet_search::Reduction;
use whippet_search::toy::{Delivery, Program};

/// Compares a program as native actors with the program itself: every trace, as often, with corresponding ends; the
/// default search of it; and that its machine is steady. `None`: the program is too large.
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
    let (exhaustive, optimal) = (Setting::of(Reduction::Exhaustive), Setting::of(Reduction::Optimal));
    let Some(toy) = answer(program, &exhaustive, Some(size))? else { return Ok(None) };
    let test = native(program, style);
    let all = answer(&test, &exhaustive, None)?.expect("there was no limit");
    let fail = |setting: Setting| move |what: String| Failure { program: None, setting, what };
    // A failed actor has no state any more, and orders of delivery have a state of their own.
    let plain = program.delivery == Delivery::Unordered && toy.verdict.counters.problems == 0;
    same(&toy, &all, plain).map_err(fail(exhaustive))?;
    let best = answer(&test, &optimal, None)?.expect("there was no limit");
    compare(&all, &best, &optimal).and_then(|()| compare_stories(&all, &best)).map_err(fail(optimal))?;
    steady(&test, size).map_err(fail(exhaustive))?;
    Ok(Some(Judged {
        traces: toy.log.traces.len(),
        executions: all.verdict.counters.executions,
        searches: 2,
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
        // Native states may tell more apart, such as the handles for replies, but never less.
        if plain && other.state.is_some() && ends.entry(other.state).or_insert(seen.state) != &seen.state {
            return Err(format!("different ends have the same fingerprint, such as that of {trace:?}"));
        }
    }
    same_problems(toy, native)
}

/// The machines word problems differently; they count them alike.
fn same_problems(toy: &Answer, native: &Answer) -> Result<(), String> {
    let count = |findings: &[Finding], kinds: &[Kind]| -> u64 {
        findings.iter().filter(|f| kinds.contains(&f.kind)).map(|f| f.executions).sum()
    };
    let deadlocks = |answer: &Answer| count(&answer.verdict.findings, &[Kind::Deadlock]);
    if deadlocks(toy) != deadlocks(native) {
        return Err(format!("{} deadlocks, not {}", deadlocks(native), deadlocks(toy)));
    }
    let failures = |answer: &Answer| count(&answer.verdict.findings, &[Kind::Assertion, Kind::Panic]) > 0;
    if failures(toy) != failures(native) {
        return Err("only one machine sees a failure".into());
    }
    // A native actor that waits for a reply is told of as a deadlock, not also by the messages left for it.
    let left = |answer: &Answer| count(&answer.verdict.warnings, &[Kind::Undeliverable]) > 0;
    if left(native) && !left(toy) || left(toy) && !left(native) && deadlocks(toy) == 0 {
        return Err("only one machine sees messages that are never taken".into());
    }
    Ok(())
}

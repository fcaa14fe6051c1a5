//! From what was found to a verdict: every finding is shown again on a new machine.

use crate::collect::Found;
use crate::control::{Control, Doing, Stuck, Taken, lock};
use crate::options::Options;
use crate::replay::{Walk, again};
use whippet_model::{Decision, Finding, Kind, LimitHit, MachineError, Name, Program, Schedule, StepText, Verdict};

/// The verdict of a search that has ended, or of which a worker is `stuck` in the user's program.
pub(crate) fn settle<P: Program>(
    program: &P,
    options: &Options,
    control: &Control,
    covered: bool,
    stuck: Option<Stuck>,
) -> Result<Verdict, MachineError> {
    if let Some(first) = control.first() {
        again(program, &first)?;
    }
    let (found, dropped) = {
        let collector = lock(&control.collector);
        (collector.found(), collector.dropped())
    };
    let (mut findings, mut warnings) = (Vec::new(), Vec::new());
    for found in found {
        let warning = found.problem.warning;
        let finding = show(program, found)?;
        if warning { warnings.push(finding) } else { findings.push(finding) }
    }
    if let Some(stuck) = stuck {
        findings.push(endless(program, options, &stuck)?);
    }
    if dropped > 0 {
        control.note(format!(
            "{dropped} more problems are not shown: the limit on findings is {}",
            options.limits.findings
        ));
    }
    let order = |f: &Finding| (f.kind, f.schedule.decisions.len(), f.message.clone(), f.key);
    findings.sort_by_cached_key(order);
    warnings.sort_by_cached_key(order);
    let (counters, _, estimate) = control.counted();
    Ok(Verdict {
        counters,
        findings,
        warnings,
        complete: covered,
        limits: control.limits_hit(),
        notes: control.notes(),
        estimate: estimate.filter(|_| !covered),
        time: control.elapsed(),
    })
}

/// Makes a finding of what was found: by its story if that shows it, by the whole execution otherwise.
fn show<P: Program>(program: &P, found: Found) -> Result<Finding, MachineError> {
    for path in [&found.story, &found.whole] {
        let walk = Walk::of(program, path.iter().map(|t| (t.thread, t.branch)))?;
        if let Some(mut walk) = walk
            && (found.problem.kind == Kind::Limit || walk.shows(found.problem.kind, found.problem.key))
        {
            let story = walk.story();
            let Found { problem, executions, .. } = found;
            return Ok(Finding {
                kind: problem.kind,
                message: problem.message,
                place: problem.place,
                key: problem.key,
                schedule: schedule(program, path, &story),
                story,
                executions,
            });
        }
    }
    Err(MachineError::Nondeterministic(format!(
        "«{}» was seen once, but not again with the same messages in the same order",
        found.problem.message
    )))
}

/// The schedule of a path; its decisions are told as the steps of the story.
fn schedule<P: Program>(program: &P, path: &[Taken], story: &[StepText]) -> Schedule {
    let decisions = path.iter().zip(story).map(|(taken, text)| Decision {
        thread: taken.thread,
        branch: taken.branch,
        text: words(text),
    });
    Schedule {
        program: program.name(),
        settings: program.parameters().into_iter().collect(),
        decisions: decisions.collect(),
    }
}

/// A step as a decision tells of it.
pub(crate) fn words(step: &StepText) -> String {
    format!("{} {}", step.actor, step.action)
}

/// The finding for what does not end: a step, of which the path is known up to the step before, or what is asked of
/// actors after the last one.
fn endless<P: Program>(program: &P, options: &Options, stuck: &Stuck) -> Result<Finding, MachineError> {
    let limit = options.limits.handler;
    let (step, before) = match stuck.path.split_last() {
        Some((&step, before)) if stuck.doing == Doing::Stepping => (Some(step), before),
        _ => (None, &stuck.path[..]),
    };
    let mut walk = Walk::of(program, before.iter().copied())?.ok_or_else(|| {
        MachineError::Nondeterministic("the way to a handler that does not end could not be gone again".into())
    })?;
    let mut story = walk.story();
    let at = before.len();
    let message = match step {
        Some((thread, _)) => {
            let actor = walk.actor(thread);
            let message = format!(
                "{actor} has been in step {} for more than {limit:?}: does its handler end, and do the checks?",
                at + 1
            );
            story.push(StepText { actor, action: "begins a step that does not end".into(), ..StepText::default() });
            message
        }
        None if stuck.doing == Doing::Ending => {
            format!("the checks at the end, after step {at}, have been running for more than {limit:?}: do they end?")
        }
        None => format!(
            "after step {at}, what actors accept has been asked for more than {limit:?}: do `accepts` and the filters of \
             receives end?"
        ),
    };
    let key = stuck.path.last().map_or(Name::ROOT, |&(thread, branch)| thread.mixed(branch.0));
    let taken: Vec<Taken> =
        stuck.path.iter().map(|&(thread, branch)| Taken { event: thread, thread, branch }).collect();
    Ok(Finding {
        kind: Kind::Limit,
        message,
        place: None,
        key: key.mixed(LimitHit::Handler as u64).mixed(stuck.doing as u64),
        schedule: schedule(program, &taken, &story),
        story,
        executions: 1,
    })
}

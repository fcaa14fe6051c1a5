//! Turns the problems that a search has collected into a verdict: replays every finding on a new machine.
//!
//! That machine does not isolate steps from each other
//! ([`MachineConfig::isolate_races`](whippet_model::MachineConfig::isolate_races)). A problem that a reduction saw only because of a data race, and that cannot really happen, is therefore not
//! reproduced and is left out. The race itself is reproduced, and a note in the verdict explains its consequences.

use crate::driver::control::{Control, PathStep, lock};
use crate::driver::erased::AnyProgram;
use crate::driver::findings::Found;
use crate::driver::replay::{GuidedMachine, again};
use crate::driver::watchdog::{Doing, Stuck};
use crate::driver::why;
use crate::options::Options;
use whippet_model::{
    Decision, Finding, FindingKind, LimitHit, Machine, MachineError, Name, Problem, Schedule, StepDescription, Verdict,
};

/// The note about the effect of a data race on a search that skips executions.
const UNJUSTIFIED: &str = "there is a data race, so the reduction is not justified for this program: other orders may behave \
     in ways that it does not show. Repair the race, or explore with the reduction `exhaustive`, which skips nothing";

/// The outcome of an attempt to search the program.
pub(crate) struct AttemptOutcome {
    /// `true` if everything was covered.
    pub(crate) covered: bool,
    /// `false` if the dependence relation was refined meanwhile. Steps may then be divided in another way when they
    /// are executed again, so findings that do not appear again are left out.
    pub(crate) settled: bool,
    /// The operation of a worker that did not return.
    pub(crate) stuck: Option<Stuck>,
}

/// Produces the verdict of an attempt.
pub(crate) fn confirm(
    program: &dyn AnyProgram,
    options: &Options,
    control: &Control,
    attempt: AttemptOutcome,
) -> Result<Verdict, MachineError> {
    let AttemptOutcome { covered, settled, stuck } = attempt;
    control.begin_confirming(covered);
    let reduces = options.reduction.needs_independence();
    if settled && let Some(first) = control.first() {
        again(program, control, &first, reduces)?;
    }
    let (found, dropped) = {
        let collector = lock(&control.collector);
        (collector.found(), collector.dropped().clone())
    };
    let (mut findings, mut warnings, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    // If a limit has ended the last attempt, problems of earlier attempts count as well, provided that they appear again.
    let earlier = if covered { Vec::new() } else { control.found_earlier() };
    let found = found.iter().map(|found| (found, settled)).chain(earlier.iter().map(|found| (found, false)));
    for (found, must_appear) in found {
        let shown = if reduces && found.race_tainted {
            show_race_tainted(program, control, found)
        } else {
            show(program, control, found).map(Some)
        };
        let finding = match shown {
            Err(_) if !must_appear => None,
            shown => shown?,
        };
        let told = match &found.problem {
            problem if problem.declaration.is_some() => &mut outcomes,
            problem if problem.warning => &mut warnings,
            _ => &mut findings,
        };
        let known = |finding: &Finding| {
            told.iter().any(|other: &Finding| (other.kind, other.key) == (finding.kind, finding.key))
        };
        if let Some(finding) = finding.filter(|finding| !known(finding)) {
            told.push(finding);
        }
    }
    if reduces && findings.iter().any(|finding| finding.kind == FindingKind::Race) {
        control.note_missing(UNJUSTIFIED);
    }
    if let Some(stuck) = stuck {
        findings.push(endless(program, options, control, &stuck)?);
    }
    let dropped_outcomes = dropped.iter().filter(|(kind, _)| *kind == FindingKind::Outcome).count();
    for (count, things) in [(dropped.len() - dropped_outcomes, "problems"), (dropped_outcomes, "outcomes")] {
        if count > 0 {
            let limit = options.limits.findings;
            control.note(format!("{count} more {things} are not shown: the limit on findings is {limit}"));
        }
    }
    let declared = control.declared();
    if findings.is_empty() && covered {
        findings.extend(declared.unreached(program, &outcomes));
    }
    findings.extend(declared.differences(&mut outcomes));
    program.caveats().into_iter().for_each(|caveat| control.note_missing(caveat));
    let order = |f: &Finding| (f.kind, f.schedule.decisions.len(), f.message.clone(), f.key);
    findings.sort_by_cached_key(order);
    warnings.sort_by_cached_key(order);
    let (counters, _, estimate) = control.counted();
    let mut verdict = Verdict::default();
    verdict.counters = counters;
    verdict.findings = findings;
    verdict.warnings = warnings;
    verdict.outcomes = outcomes;
    verdict.complete = covered;
    verdict.limits = control.limits_hit();
    verdict.algorithm = control.algorithm();
    verdict.notes = control.notes();
    verdict.may_miss = control.may_miss();
    verdict.estimate = estimate.filter(|_| !covered);
    verdict.time = control.elapsed();
    Ok(verdict)
}

/// Turns a problem into a finding: with its counterexample if a replay of that shows the problem, otherwise with the
/// whole execution.
fn show(program: &dyn AnyProgram, control: &Control, found: &Found) -> Result<Finding, MachineError> {
    let Found { problem, counterexample, whole, .. } = found;
    for path in [counterexample, whole] {
        if let Some(mut walk) =
            GuidedMachine::of(program, control.confirming_worker(), path.iter().map(|t| (t.thread, t.branch)))?
            && (problem.kind == FindingKind::Limit || walk.shows(problem.kind, problem.key)?)
        {
            // Several races may have the same key. The message has to describe the one that this replay shows, in
            // which the accesses may be in another order.
            let race = walk.races().into_iter().find(|race| race.key == problem.key);
            let problem = race.filter(|_| problem.kind == FindingKind::Race).unwrap_or_else(|| problem.clone());
            return finding(program, control, problem, path, walk, found);
        }
    }
    Err(MachineError::Nondeterministic(format!(
        "«{}» was seen once, but not again with the same messages in the same order",
        problem.message
    )))
}

/// Like [`show`], for a problem that may be an artefact of a data race. Returns `None` if it is one.
fn show_race_tainted(
    program: &dyn AnyProgram,
    control: &Control,
    found: &Found,
) -> Result<Option<Finding>, MachineError> {
    let Found { problem, counterexample, whole, .. } = found;
    for path in [counterexample, whole] {
        let Some(mut walk) =
            GuidedMachine::of(program, control.confirming_worker(), path.iter().map(|t| (t.thread, t.branch)))?
        else {
            continue;
        };
        let shown = if problem.kind == FindingKind::Race {
            // Without isolation the steps may be in another race earlier, and may then behave differently.
            let races = walk.races();
            races.iter().find(|race| race.key == problem.key).or(races.first()).cloned()
        } else {
            (walk.shows(problem.kind, problem.key)? && walk.ends()?).then(|| problem.clone())
        };
        if let Some(problem) = shown {
            return finding(program, control, problem, path, walk, found).map(Some);
        }
    }
    Ok(None)
}

/// Creates the finding that the replay of a path has shown.
fn finding(
    program: &dyn AnyProgram,
    control: &Control,
    problem: Problem,
    path: &[PathStep],
    mut walk: GuidedMachine,
    found: &Found,
) -> Result<Finding, MachineError> {
    let mut steps = walk.describe_steps();
    for (step, taken) in steps.iter_mut().zip(path) {
        step.stall = found.stalls.iter().find(|(event, _)| *event == taken.event).map(|&(_, time)| time);
    }
    let mut trace = walk.trace(&steps);
    trace.end = walk.states();
    // The steps of the problem are those of the execution in which it was found; the replay has fewer.
    let shown = walk.problems()?.into_iter().find(|other| (other.kind, other.key) == (problem.kind, problem.key));
    // Executions beside each other would wait for each other's locks in statics.
    drop(walk);
    // Another order need not be possible, for example if a step has other branches there. It only explains.
    let explains = control.explains() && problem.declaration.is_none();
    let decides = if explains { why::decides(program, control, path, &steps).unwrap_or(None) } else { None };
    let schedule = schedule(program, path, &steps);
    let mut finding = Finding::new(problem, schedule, steps, found.executions);
    finding.trace = trace;
    finding.events = shown.map_or_else(Vec::new, |shown| shown.steps.iter().map(|&at| at as u32).collect());
    finding.decides = decides;
    Ok(finding)
}

/// Creates the schedule of a path. Its decisions are described like the steps of the counterexample.
pub(crate) fn schedule(program: &dyn AnyProgram, path: &[PathStep], steps: &[StepDescription]) -> Schedule {
    let decision = |(taken, text): (&PathStep, _)| Decision::new(taken.thread, taken.branch, words(text));
    let decisions = path.iter().zip(steps).map(decision).collect();
    Schedule::new(program.name(), program.parameters().into_iter().collect(), decisions)
}

/// Returns the text of a step as it appears in a decision.
pub(crate) fn words(step: &StepDescription) -> String {
    format!("{} {}", step.actor, step.action)
}

/// Creates the finding for user code that does not return: a step, whose path is known up to the step before it, or
/// code that runs between steps.
fn endless(
    program: &dyn AnyProgram,
    options: &Options,
    control: &Control,
    stuck: &Stuck,
) -> Result<Finding, MachineError> {
    let limit = options.limits.handler;
    let (step, before) = match stuck.path.split_last() {
        Some((&step, before)) if stuck.doing == Doing::Stepping => (Some(step), before),
        _ => (None, &stuck.path[..]),
    };
    let mut walk =
        GuidedMachine::of(program, control.confirming_worker(), before.iter().copied())?.ok_or_else(|| {
            MachineError::Nondeterministic(
                "the steps before code that does not return could not be executed again".into(),
            )
        })?;
    let mut steps = walk.describe_steps();
    let at = before.len();
    let message = match step {
        Some((thread, _)) => {
            let number = walk.machine().find(thread).map(|what| walk.machine().actor(what).0);
            let actor = walk.actor(thread).or(number.map(|number| format!("actor {number}")));
            let actor = actor.unwrap_or_else(|| "an unknown actor".into());
            let (doing, step) = match walk.pending_text(thread) {
                Some((_, doing)) => (format!(", in which it {doing}"), format!("{doing}: this step does not end")),
                None => (String::new(), "begins a step that does not end".into()),
            };
            let message = format!(
                "{actor} did not return from step {}{doing}, within {limit:?}: its code may be an endless loop",
                at + 1
            );
            steps.push(StepDescription::new(actor, step));
            message
        }
        None => {
            let code = match stuck.doing {
                Doing::Ending => "the checks at the end",
                Doing::Rewinding => "a destructor",
                Doing::Comparing => "`Hash` of a value",
                Doing::Describing => "`Debug` of a value",
                Doing::SettingUp | Doing::Asking | Doing::Stepping => "`accepts` or a receive filter",
            };
            format!("after step {at}, {code} did not return within {limit:?}")
        }
    };
    let key = stuck.path.last().map_or(Name::ROOT, |&(thread, branch)| thread.mixed(branch.0));
    let taken: Vec<PathStep> =
        stuck.path.iter().map(|&(thread, branch)| PathStep { event: thread, thread, branch }).collect();
    let problem =
        Problem::new(FindingKind::Limit, message, key.mixed(LimitHit::Handler as u64).mixed(stuck.doing as u64));
    let schedule = schedule(program, &taken, &steps);
    let mut trace = walk.trace(&steps);
    trace.end = walk.states();
    let events = steps.len().checked_sub(1).map(|at| at as u32).into_iter().collect();
    let mut finding = Finding::new(problem, schedule, steps, 1);
    finding.trace = trace;
    finding.events = events;
    Ok(finding)
}

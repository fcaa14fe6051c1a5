//! Finds the detours of an execution that has ended.

use super::part::{DefaultTouches, Detour, Mark, Part, PartStep};
use super::path::Path;
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{ActorNames, EventLabel};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use super::constraints;
use whippet_model::{Branch, Choice, Dependence, Machine, Name, Pending, Profile, Touch, conflict};

/// A step that a thread takes in the execution, or would take next in the end.
#[derive(Clone, Debug)]
struct Operation {
    thread: Name,
    /// The position of the step, if it was taken.
    at: Option<usize>,
    /// The steps without which it is not pending.
    needs: SmallVec<[usize; 2]>,
    /// `true` if the step is known to be the only one that the thread can take after the same past.
    single: bool,
}

/// The threads that might have acted before one default, and the steps that may come before them.
struct Trial<'a> {
    at: usize,
    touches: &'a DefaultTouches,
    against: Name,
    operation: &'a Operation,
    /// For each step, `true` if it may precede the operation.
    allowed: Vec<bool>,
    /// The sets of steps that have been tried.
    tried: FxHashSet<Vec<usize>>,
    names: ActorNames,
    narrow: bool,
    /// The branches of the default, if steps that it does not conflict with may change them.
    listed: &'a [Branch],
}

/// Appends a part for each detour that this execution is responsible for. Leaves the machine somewhere along the path.
pub(crate) fn find<M: Machine>(run: &mut Run<'_, M>, path: &Path, out: &mut Vec<Part>) -> Result<(), Stop> {
    let operations = operations(run.machine(), path);
    let mut heads: Vec<usize> = Vec::new();
    for at in (0..path.len()).rev() {
        match path.marks[at] {
            Mark::Default => {}
            Mark::Via => continue,
            Mark::Head(_) | Mark::Other => {
                heads.push(at);
                continue;
            }
        }
        if heads.iter().any(|&head| path.record.clocks.before(at, head)) {
            continue;
        }
        find_from(run, path, at, &heads, &operations, out)?;
    }
    Ok(())
}

fn operations<M: Machine>(machine: &M, path: &Path) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut last: FxHashMap<Name, usize> = FxHashMap::default();
    let mut senders: FxHashMap<Name, usize> = FxHashMap::default();
    for at in 0..path.len() {
        senders.extend(machine.sent(at).map(|what| (machine.thread(Pending(what)), at)));
    }
    let mut causes = Vec::new();
    for at in 0..path.len() {
        let event = path.event(at);
        let needs = match last.insert(event.thread, at).or_else(|| senders.get(&event.thread).copied()) {
            Some(step) => SmallVec::from_slice(&[step]),
            None => {
                causes.clear();
                machine.causes(at, &mut causes);
                SmallVec::from_slice(&causes)
            }
        };
        let single = !path.record.steps[at].several && event.next.is_none() && event.branch == whippet_model::Branch::FIRST;
        operations.push(Operation { thread: event.thread, at: Some(at), needs, single });
    }
    let mut pending = Vec::new();
    machine.pending(&mut pending);
    for what in pending {
        let thread = machine.thread(what);
        let needs = last.get(&thread).or_else(|| senders.get(&thread)).copied().into_iter().collect();
        operations.push(Operation { thread, at: None, needs, single: false });
    }
    operations
}

fn find_from<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    at: usize,
    heads: &[usize],
    operations: &[Operation],
    out: &mut Vec<Part>,
) -> Result<(), Stop> {
    let clocks = &path.record.clocks;
    let own = path.event(at).touches.clone();
    let touches = DefaultTouches { own, all: touches_of_default(run, path, at)? };
    let narrow = is_narrow(run.profile());
    let default = if narrow {
        run.rewind(at);
        listed(run, path.event(at).thread)?
    } else {
        Vec::new()
    };
    for operation in operations {
        if operation.at.is_some_and(|x| x <= at) {
            continue;
        }
        let is_apart = |step: usize| step > at && !clocks.before(at, step);
        if !operation.needs.iter().all(|&step| step < at || is_apart(step)) {
            continue;
        }
        let follows = |step: usize| operation.at.is_some_and(|x| clocks.before(x, step));
        let allowed: Vec<bool> = (0..path.len()).map(|step| is_apart(step) && !follows(step)).collect();
        let required = |step: usize| heads.iter().chain(&operation.needs).any(|&other| clocks.before(step, other));
        let first: Vec<usize> = (at + 1..path.len()).filter(|&step| required(step)).collect();
        if first.iter().any(|&step| !allowed[step]) {
            continue;
        }
        if let Some(x) = operation.at
            && operation.single
            && !is_narrow(run.profile())
            && is_apart(x)
            && clocks.past_steps(x).all(|step| step <= at || step == x || first.contains(&step))
        {
            continue;
        }
        run.rewind(at);
        let mut names = path.record.names.clone();
        names.truncate(at);
        let tried = FxHashSet::default();
        let mut trial =
            Trial { at, touches: &touches, against: path.event(at).thread, operation, allowed, tried, names, narrow, listed: &default };
        take(run, path, &mut trial, &first)?;
        trial.tried.insert(first.clone());
        grow(run, path, &mut trial, &first, out)?;
        run.rewind(at);
    }
    Ok(())
}

/// Returns the union of the footprints of all branches of the default at `at`.
fn touches_of_default<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    at: usize,
) -> Result<SmallVec<[Touch; 2]>, Stop> {
    let step = &path.record.steps[at];
    let event = &step.event;
    if !step.several && !(event.next.is_some() && run.profile().branches_differ()) {
        return Ok(event.touches.clone());
    }
    run.rewind(at);
    let mut names = path.record.names.clone();
    names.truncate(at);
    union_of_branches(run, event.thread, &names)
}

/// Executes all branches of a thread that is enabled here, and returns the union of their footprints.
pub(crate) fn union_of_branches<M: Machine>(
    run: &mut Run<'_, M>,
    thread: Name,
    names: &ActorNames,
) -> Result<SmallVec<[Touch; 2]>, Stop> {
    let mut touches = SmallVec::new();
    for (event, _) in branches(run, thread, names)? {
        touches.extend(event.touches);
    }
    Ok(touches)
}

/// Executes all branches of a thread here, and returns each as an event with the steps that caused it. The thread may be disabled.
fn branches<M: Machine>(
    run: &mut Run<'_, M>,
    thread: Name,
    names: &ActorNames,
) -> Result<Vec<(EventLabel, Vec<usize>)>, Stop> {
    let depth = run.depth();
    let mut choices = Vec::new();
    run.all_enabled(&mut choices)?;
    let what = run.machine().find(thread);
    choices.retain(|choice| Some(choice.what) == what);
    let mut found = Vec::new();
    for choice in choices {
        let mut branch = Some(choice.branch);
        while let Some(tried) = branch {
            let executed = run.redo(Choice { branch: tried, ..choice })?;
            let mut causes = Vec::new();
            run.machine().causes(depth, &mut causes);
            found.push((names.event(run.machine(), executed), causes));
            branch = executed.next_branch;
            run.rewind(depth);
        }
    }
    Ok(found)
}

/// Executes steps of the path.
fn take<M: Machine>(run: &mut Run<'_, M>, path: &Path, trial: &mut Trial<'_>, steps: &[usize]) -> Result<(), Stop> {
    for &step in steps {
        let event = path.event(step);
        let what = run.machine().find(event.thread).expect("our bug: an independent step has vanished");
        run.redo(Choice { what, branch: event.branch })?;
        trial.names.push(run.machine());
    }
    Ok(())
}

/// Tries the operation after the steps `taken`, and then after more steps.
fn grow<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    trial: &mut Trial<'_>,
    taken: &[usize],
    out: &mut Vec<Part>,
) -> Result<(), Stop> {
    run.check_limits()?;
    let clocks = &path.record.clocks;
    let found = branches(run, trial.operation.thread, &trial.names)?;
    let mut looked_at: SmallVec<[Touch; 4]> = SmallVec::new();
    for (event, causes) in &found {
        looked_at.extend_from_slice(&event.touches);
        let position = |depth: usize| if depth < trial.at { depth } else { taken[depth - trial.at] };
        let causes: Vec<usize> = causes.iter().map(|&depth| position(depth)).collect();
        let precedes =
            |step: usize| causes.contains(&step) || path.event(step).depends_on(event);
        let direct: Vec<usize> = (0..trial.at).chain(taken.iter().copied()).filter(|&step| precedes(step)).collect();
        let in_past = |step: usize| direct.iter().any(|&other| clocks.before(step, other));
        let steps = |base: usize| (base..trial.at).chain(taken.iter().copied());
        if !taken.iter().all(|&step| in_past(step)) {
            continue;
        }
        // The default must be as it was, so that the operation is the first event that changes it.
        if taken.iter().any(|&step| conflict(&trial.touches.all, &path.event(step).touches))
            || trial.narrow && listed(run, trial.against)? != trial.listed
        {
            continue;
        }
        let affects = conflict(&trial.touches.all, &event.touches) || opens(run, trial, event)?;
        if affects && forces(path, trial.at, taken) && !constraints::forbid(run, path, event, trial.at, steps, in_past)? {
            out.push(detour(path, trial, taken, event));
        }
        restore(run, path, trial, taken)?;
    }
    let mut more: Vec<usize> = Vec::new();
    for step in trial.at + 1..path.len() {
        if !trial.allowed[step] || taken.contains(&step) || more.iter().any(|&other| clocks.before(other, step)) {
            continue;
        }
        let affects = found.is_empty()
            || conflict(&looked_at, &path.event(step).touches)
            || trial.narrow && opens_later(run, path, trial, taken, step)?;
        if affects {
            more.push(step);
        }
    }
    for &step in &more {
        let all = with_past(path, trial, taken, step);
        if !trial.tried.insert(all.clone()) {
            continue;
        }
        let depth = run.depth();
        run.rewind(trial.at);
        trial.names.truncate(trial.at);
        take(run, path, trial, &all)?;
        grow(run, path, trial, &all, out)?;
        run.rewind(trial.at);
        trial.names.truncate(trial.at);
        take(run, path, trial, taken)?;
        debug_assert_eq!(run.depth(), depth);
    }
    Ok(())
}

/// Returns `true` if the detours of the path behind `at`, whose heads are among `taken`, are necessary to take these
/// steps after the default: without any of them, a default would prevent one of the steps.
fn forces(path: &Path, at: usize, taken: &[usize]) -> bool {
    path.constraints.iter().filter(|constraint| constraint.head > at).all(|constraint| {
        let prevented = |event: &EventLabel| {
            event.thread == constraint.against || conflict(&constraint.touches.own, &event.touches)
        };
        taken.iter().any(|&step| step >= constraint.base && prevented(path.event(step)))
    })
}

/// Returns these steps and the past of another one.
fn with_past(path: &Path, trial: &Trial<'_>, taken: &[usize], step: usize) -> Vec<usize> {
    let past = path.record.clocks.past_steps(step);
    let added: Vec<usize> = past.filter(|&other| other > trial.at && !taken.contains(&other)).collect();
    let mut all = [taken, &added].concat();
    all.sort_unstable();
    all
}

/// Moves the machine back to the configuration after `taken`.
fn restore<M: Machine>(run: &mut Run<'_, M>, path: &Path, trial: &mut Trial<'_>, taken: &[usize]) -> Result<(), Stop> {
    if run.depth() == trial.at + taken.len() {
        return Ok(());
    }
    run.rewind(trial.at);
    path.go(run, trial.at)?;
    trial.names.truncate(trial.at);
    take(run, path, trial, taken)
}

/// Returns `true` if an event, executed here, changes the branches of the default.
fn opens<M: Machine>(run: &mut Run<'_, M>, trial: &Trial<'_>, event: &EventLabel) -> Result<bool, Stop> {
    if !trial.narrow {
        return Ok(false);
    }
    let depth = run.depth();
    let what = run.machine().find(event.thread).expect("it has just acted here");
    run.redo(Choice { what, branch: event.branch })?;
    let after = listed(run, trial.against)?;
    run.rewind(depth);
    Ok(after != trial.listed)
}

/// Returns `true` if a step of the path, taken after `taken` and its own past, changes the branches of the operation.
fn opens_later<M: Machine>(
    run: &mut Run<'_, M>,
    path: &Path,
    trial: &mut Trial<'_>,
    taken: &[usize],
    step: usize,
) -> Result<bool, Stop> {
    let mut all = with_past(path, trial, taken, step);
    all.retain(|&other| other != step);
    run.rewind(trial.at);
    trial.names.truncate(trial.at);
    take(run, path, trial, &all)?;
    let before = listed(run, trial.operation.thread)?;
    take(run, path, trial, &[step])?;
    let after = listed(run, trial.operation.thread)?;
    run.rewind(trial.at);
    trial.names.truncate(trial.at);
    take(run, path, trial, taken)?;
    Ok(before != after)
}

/// Returns the branches of a thread that are enabled here.
pub(crate) fn listed<M: Machine>(run: &mut Run<'_, M>, thread: Name) -> Result<Vec<Branch>, Stop> {
    let (mut choices, mut found) = (Vec::new(), Vec::new());
    run.all_enabled(&mut choices)?;
    let what = run.machine().find(thread);
    let depth = run.depth();
    for choice in choices.into_iter().filter(|choice| Some(choice.what) == what) {
        found.push(choice.branch);
        if run.profile().branches_differ() {
            let mut branch = choice.branch;
            while let Some(next) = run.redo(Choice { branch, ..choice })?.next_branch {
                run.rewind(depth);
                found.push(next);
                branch = next;
            }
            run.rewind(depth);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns `true` if a step can enable another branch of a thread without touching anything that the thread's other branches touch.
pub(crate) fn is_narrow(profile: &Profile) -> bool {
    profile.dependence == Dependence::Footprints && (profile.branches_differ() || !profile.one_choice_per_thread)
}

fn detour(path: &Path, trial: &Trial<'_>, taken: &[usize], event: &EventLabel) -> Part {
    let mut part = path.part(trial.at);
    part.steps.extend(taken.iter().map(|&step| {
        let event = path.event(step);
        PartStep { thread: event.thread, branch: event.branch, mark: Mark::Via }
    }));
    let base = trial.at as u32;
    let branch = path.event(trial.at).branch;
    let mark = Mark::Head(Detour { base, against: trial.against, branch, touches: Some(trial.touches.clone()) });
    part.steps.push(PartStep { thread: event.thread, branch: event.branch, mark });
    part
}

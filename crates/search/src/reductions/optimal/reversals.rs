//! Reversals: finds, for one execution, the beginnings of other traces.
//!
//! For an event e of the execution, take the events before e and, of the later ones, all that do not happen after e
//! (`notdep(e)` in the papers on Optimal-DPOR). If another choice that depends on e is then enabled, it can come
//! before e, and e and the events that depend on it turn out differently: `notdep(e)` followed by that choice is the
//! beginning of another trace.
//!
//! The threads that are tried for an event e:
//! * the thread of an event that is in a race with e. If it cannot act without e because a constraint forbids it, it
//!   is tried without those events that e itself is in conflict with: the nearest configuration that accepts it
//!   counts;
//! * a thread that is disabled at the end of the execution: e may have disabled it;
//! * e's own thread, if it could have taken another branch, possibly after some of the later events. This includes a
//!   branch that is asleep before e, if one of the later events depends on it: behind that event, the branch has not been
//!   explored;
//! * the thread of a later event, if e may have disabled another branch of that event
//!   ([`Foresight::early_alternatives`](whippet_model::Foresight::early_alternatives)).
//!
//! Only the machine can decide whether the thread can act, and what it does. Sometimes it can predict this
//! ([`Foresight::without`](whippet_model::Foresight::without)); otherwise the steps are executed. Events of `notdep(e)` may themselves disable a choice
//! (for example, a test that finds no message disables the branches in which one has arrived). So the machine first
//! executes the steps that the thread needs to be pending at all, then the others one by one. Each choice is recorded
//! with the longest part after which it is still enabled; behind it follow the remaining steps that do not depend on
//! the choice. If the thread has only one choice, and its event after the steps that it needs is independent of all others, they need
//! not be executed: its event is the same behind them.
//!
//! The same trial is not made twice: a configuration is identified by the labels of the events that lead to it.

use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{ActorNames, EventLabel, ExecutionRecord, RecordedEvent};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use whippet_model::{Branch, Choice, Dependence, Machine, Name, Pending, Reversal};

/// The trials made at one configuration, each with a flag that is `true` if the thread could act.
pub(crate) type Tried = FxHashMap<u64, bool>;

/// Receiver of reversals.
pub(crate) trait Sink {
    /// Returns the trials made at the configuration before step `at`.
    fn tried(&mut self, at: usize) -> &mut Tried;

    /// Returns `true` if branches that are found by executing a step count as reversals, too.
    fn other_branches(&self) -> bool;

    /// Iterates over the events that are asleep at the configuration before step `at`.
    fn asleep(&self, at: usize) -> impl Iterator<Item = &EventLabel> + Clone;

    /// Reports that the configuration before step `at` has an execution that begins with these events.
    fn found(&mut self, at: usize, beginning: Vec<EventLabel>);
}

/// A thread that might have acted earlier.
#[derive(Debug)]
struct Target {
    thread: Name,
    /// The steps that it needs to be pending at all are these and their pasts.
    needs: SmallVec<[usize; 2]>,
}

impl Target {
    /// Returns `true` if the target needs a step to be pending at all.
    fn needs(&self, record: &ExecutionRecord, at: usize) -> bool {
        self.needs.iter().any(|&step| record.clocks.before(at, step))
    }
}

/// A thread that is disabled at the end of the execution. It is tried without each step that it does not need, so
/// these pairs are not stored: there can be as many as the square of the length.
#[derive(Copy, Clone, Debug)]
struct LeftOver {
    target: usize,
    /// The only object whose steps may have disabled the thread, if it is known.
    object: Option<Name>,
}

/// A target to be tried without some step.
#[derive(Copy, Clone, Debug)]
struct Wanted {
    target: usize,
    /// A step of the target that is known to be possible there, with the same footprint.
    same: Option<usize>,
}

/// Finder of reversals, which keeps its allocations between executions.
#[derive(Debug, Default)]
pub(crate) struct Reversals {
    targets: Vec<Target>,
    /// The targets to be tried without each step.
    wanted: Vec<Vec<Wanted>>,
    left: Vec<LeftOver>,
    /// For each step, the number of `wanted` that are tried before those in `left`.
    races: Vec<usize>,
    rest: Rest,
    causes: Vec<usize>,
    pending: Vec<Pending>,
    choices: Vec<Choice>,
    late: Vec<(usize, Branch)>,
    early: Vec<usize>,
}

/// The steps that do not happen after a given step, in the order in which they are executed without it.
#[derive(Debug, Default)]
struct Rest {
    steps: Vec<usize>,
    /// The number of steps at the beginning that the target needs.
    needed: usize,
    others: Vec<usize>,
}

impl Reversals {
    /// Reports to `sink` every reversal of a step of this execution. The machine has taken all steps of the record,
    /// and is left somewhere along it.
    pub(crate) fn find<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &ExecutionRecord,
        sink: &mut impl Sink,
    ) -> Result<(), Stop> {
        self.targets.clear();
        self.left.clear();
        self.wanted.resize_with(record.len().max(self.wanted.len()), Vec::new);
        self.want_races(run.machine(), record);
        self.races.clear();
        self.races.extend(self.wanted[..record.len()].iter().map(Vec::len));
        self.find_left(run.machine(), record);
        self.want_own(run.machine(), record, sink);
        self.want_early(run.machine(), record);
        for at in (0..record.len()).rev() {
            self.try_wanted(run, record, sink, at, 0..self.races[at])?;
            for k in 0..self.left.len() {
                let target = self.left[k].target;
                if self.is_left_over(record, at, self.left[k]) {
                    self.try_without(run, record, sink, at, Wanted { target, same: None })?;
                }
            }
            self.try_wanted(run, record, sink, at, self.races[at]..self.wanted[at].len())?;
            self.wanted[at].clear();
        }
        Ok(())
    }

    /// Tries some of the targets that are wanted without step `at`.
    fn try_wanted<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &ExecutionRecord,
        sink: &mut impl Sink,
        at: usize,
        which: Range<usize>,
    ) -> Result<(), Stop> {
        for k in which {
            self.try_without(run, record, sink, at, self.wanted[at][k])?;
        }
        Ok(())
    }

    /// Tries a target without step `at`, or later without the steps that `at` is in conflict with.
    fn try_without<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &ExecutionRecord,
        sink: &mut impl Sink,
        at: usize,
        wanted: Wanted,
    ) -> Result<(), Stop> {
        if !self.look(run, record, sink, at, wanted)? {
            self.want_below(record, at, wanted.target);
        }
        Ok(())
    }

    fn want(&mut self, at: usize, target: usize) {
        if !self.wanted[at].iter().any(|wanted| wanted.target == target) {
            self.wanted[at].push(Wanted { target, same: None });
        }
    }

    /// Adds the threads of events that are in a race.
    fn want_races<M: Machine>(&mut self, machine: &M, record: &ExecutionRecord) {
        let foresight = machine.foresight();
        for at in 0..record.len() {
            let races = record.clocks.races(at);
            if races.is_empty() {
                continue;
            }
            self.causes.clear();
            machine.causes(at, &mut self.causes);
            let (target, needs) = (self.targets.len(), SmallVec::from_slice(&self.causes));
            self.targets.push(Target { thread: record.steps[at].event.thread, needs });
            for &earlier in races {
                let earlier = earlier as usize;
                let reversal = foresight.map_or(Reversal::Unknown, |it| it.without(&record.clocks, earlier, at));
                match reversal {
                    Reversal::Unknown => self.want(earlier, target),
                    Reversal::Disabled => self.want_below(record, earlier, target),
                    Reversal::Unchanged => self.wanted[earlier].push(Wanted { target, same: Some(at) }),
                }
            }
        }
    }

    /// Finds the threads that are disabled in the end.
    fn find_left<M: Machine>(&mut self, machine: &M, record: &ExecutionRecord) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        machine.pending(&mut pending);
        let last_of = |(at, step): (usize, &RecordedEvent)| (step.event.thread, at);
        let last: FxHashMap<Name, usize> = record.steps.iter().enumerate().map(last_of).collect();
        let sender: FxHashMap<u32, usize> =
            (0..record.len()).rev().flat_map(|at| machine.sent(at).map(move |what| (what, at))).collect();
        for &what in &pending {
            let thread = machine.thread(what);
            let needs = last.get(&thread).or_else(|| sender.get(&what.0)).copied().into_iter().collect();
            let object = match machine.profile().dependence {
                Dependence::PerActor => Some(record.names.of(machine.actor(what))),
                Dependence::Footprints => None,
            };
            self.left.push(LeftOver { target: self.targets.len(), object });
            self.targets.push(Target { thread, needs });
        }
        self.pending = pending;
    }

    /// Returns `true` if a thread that is disabled in the end is tried without step `at`.
    fn is_left_over(&self, record: &ExecutionRecord, at: usize, LeftOver { target, object }: LeftOver) -> bool {
        !self.targets[target].needs(record, at)
            && object.is_none_or(|object| record.steps[at].event.touches[0].object == object)
    }

    /// Adds the threads of steps that could have taken another branch.
    fn want_own<M: Machine>(&mut self, machine: &M, record: &ExecutionRecord, sink: &impl Sink) {
        let branches_differ = machine.profile().branches_differ();
        let foresight = machine.foresight();
        for (at, step) in record.steps.iter().enumerate() {
            self.late.clear();
            if let Some(foresight) = foresight {
                foresight.late_alternatives(at, &mut self.late);
            }
            let has_other = sink.other_branches() && step.event.next.is_some()
                || branches_differ && sleeping_branches(sink, &step.event, at).next().is_some();
            if step.several || has_other || !self.late.is_empty() {
                self.targets.push(Target { thread: step.event.thread, needs: SmallVec::new() });
                self.want(at, self.targets.len() - 1);
            }
        }
    }

    /// Adds the threads of steps that have another branch which an earlier step may have disabled.
    fn want_early<M: Machine>(&mut self, machine: &M, record: &ExecutionRecord) {
        let Some(foresight) = machine.foresight() else { return };
        for (at, step) in record.steps.iter().enumerate() {
            self.early.clear();
            foresight.early_alternatives(at, &mut self.early);
            if self.early.is_empty() {
                continue;
            }
            self.causes.clear();
            machine.causes(at, &mut self.causes);
            let (target, needs) = (self.targets.len(), SmallVec::from_slice(&self.causes));
            self.targets.push(Target { thread: step.event.thread, needs });
            for k in 0..self.early.len() {
                if !self.targets[target].needs(record, self.early[k]) {
                    self.want(self.early[k], target);
                }
            }
        }
    }

    /// Tries a target, which cannot act without step `at`, without the steps that `at` is in conflict with.
    fn want_below(&mut self, record: &ExecutionRecord, at: usize, target: usize) {
        if self.targets[target].thread == record.steps[at].event.thread {
            return;
        }
        for &below in record.clocks.conflicts(at) {
            let below = below as usize;
            let left = self.left.binary_search_by_key(&target, |left| left.target).ok().map(|k| self.left[k]);
            if !self.targets[target].needs(record, below)
                && !left.is_some_and(|left| self.is_left_over(record, below, left))
            {
                self.want(below, target);
            }
        }
    }

    /// Returns `true` if a target can act without step `at`, and reports this to the sink if it has not been tried
    /// before.
    fn look<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &ExecutionRecord,
        sink: &mut impl Sink,
        at: usize,
        wanted: Wanted,
    ) -> Result<bool, Stop> {
        run.check_limits()?;
        let target = &self.targets[wanted.target];
        if run.profile().one_choice_per_thread && sleeps(sink.asleep(at), target, record, at) {
            return Ok(true);
        }
        self.rest.fill(record, at, target);
        let rest = &self.rest;
        let labels = rest.steps.iter().map(|&k| record.clocks.label(k));
        // The label of the step itself is part of the key, because its other branches are tried one by one.
        let known = Name(labels.fold(0, u64::wrapping_add)).mixed(target.thread.0).mixed(record.clocks.label(at)).0;
        if let Some(&could) = sink.tried(at).get(&known) {
            return Ok(could);
        }
        if let Some(event) = wanted.same.map(|same| &record.steps[same].event)
            && !rest.steps[rest.needed..].iter().any(|&step| record.steps[step].event.depends_on(event))
        {
            sink.found(at, beginning(record, rest, rest.steps.len(), event.clone()));
            sink.tried(at).insert(known, true);
            return Ok(true);
        }
        let mut names = record.names.clone();
        names.truncate(at);
        if let Some(event) = independent_event(run, record, at, target, rest, &mut names, &mut self.choices)? {
            if event.depends_on(&record.steps[at].event) {
                sink.found(at, beginning(record, rest, rest.steps.len(), event));
            }
            run.rewind(at);
            sink.tried(at).insert(known, true);
            return Ok(true);
        }
        names.truncate(at);
        let mut branches = walk(run, record, at, target, rest, &mut names, &mut self.choices)?;
        if target.thread == record.steps[at].event.thread {
            let others = own_branches(run, record, sink, at, rest, &names, &self.choices)?;
            branches.extend(others.into_iter().map(|branch| (rest.steps.len(), branch)));
        }
        branches.sort_unstable();
        // All branches are tried: another one may depend on the step even if the first does not, and may be awake even if the
        // next one is asleep.
        let several = run.profile().branches_differ();
        for &(k, branch) in branches.iter().rev() {
            let mut branch = Some(branch);
            while let Some(tried) = branch {
                run.rewind(at + k);
                names.truncate(at + k);
                let event = attempt(run, &names, target.thread, tried)?;
                branch = event.next.filter(|_| several);
                if event.depends_on(&record.steps[at].event) {
                    sink.found(at, beginning(record, rest, k, event));
                }
            }
        }
        run.rewind(at);
        sink.tried(at).insert(known, !branches.is_empty());
        Ok(!branches.is_empty())
    }
}

impl Rest {
    /// Collects the steps after step `at` that do not depend on it, beginning with those that the target needs.
    fn fill(&mut self, record: &ExecutionRecord, at: usize, target: &Target) {
        self.steps.clear();
        self.others.clear();
        for step in apart(record, at) {
            if target.needs(record, step) { &mut self.steps } else { &mut self.others }.push(step);
        }
        self.needed = self.steps.len();
        self.steps.append(&mut self.others);
    }
}

/// Iterates over the steps after step `at` that do not depend on it.
fn apart(record: &ExecutionRecord, at: usize) -> impl Iterator<Item = usize> {
    (at + 1..record.len()).filter(move |&step| !record.clocks.before(at, step))
}

/// Returns `true` if a target with a single choice is known to be enabled without step `at` and to lead to nothing
/// new, because all branches of that choice are asleep there and none of the independent steps wakes one up.
fn sleeps<'a>(
    asleep: impl Iterator<Item = &'a EventLabel> + Clone,
    target: &Target,
    record: &ExecutionRecord,
    at: usize,
) -> bool {
    let wakes = |event: &EventLabel| apart(record, at).any(|step| record.steps[step].event.depends_on(event));
    if target.thread == record.steps[at].event.thread {
        return false;
    }
    let mut branch = Some(Branch::FIRST);
    while let Some(tried) = branch {
        let is_branch = |event: &&EventLabel| event.thread == target.thread && event.branch == tried && !wakes(event);
        let Some(event) = asleep.clone().find(is_branch) else { return false };
        branch = event.next;
    }
    true
}

/// Returns the event of the target after the steps that it needs, without step `at`, if the target then has one, and it is
/// independent of all other steps of the rest.
fn independent_event<M: Machine>(
    run: &mut Run<'_, M>,
    record: &ExecutionRecord,
    at: usize,
    target: &Target,
    rest: &Rest,
    names: &mut ActorNames,
    choices: &mut Vec<Choice>,
) -> Result<Option<EventLabel>, Stop> {
    let own = record.steps[at].event.thread == target.thread;
    if own || !run.profile().one_choice_per_thread || run.profile().branches_differ() {
        return Ok(None);
    }
    run.rewind(at);
    for &step in &rest.steps[..rest.needed] {
        redo(run, record, step, names)?;
    }
    enabled_of(run, target.thread, choices)?;
    let Some(choice) = choices.first() else { return Ok(None) };
    let event = attempt(run, names, target.thread, choice.branch)?;
    let is_independent = |&step: &usize| !record.steps[step].event.depends_on(&event);
    Ok(rest.steps[rest.needed..].iter().all(is_independent).then_some(event))
}

/// Lists the enabled choices of a thread.
fn enabled_of<M: Machine>(run: &mut Run<'_, M>, thread: Name, choices: &mut Vec<Choice>) -> Result<(), Stop> {
    choices.clear();
    match run.machine().find(thread) {
        Some(what) => run.enabled_of(what, choices),
        None => Ok(()),
    }
}

/// Executes a step of the record at another place.
fn redo<M: Machine>(
    run: &mut Run<'_, M>,
    record: &ExecutionRecord,
    step: usize,
    names: &mut ActorNames,
) -> Result<(), Stop> {
    let event = &record.steps[step].event;
    let what = run.machine().find(event.thread).expect("our bug: an independent step has vanished");
    run.redo(Choice { what, branch: event.branch })?;
    names.push(run.machine());
    Ok(())
}

/// Executes the rest without step `at` and finds the branches of the target, each with the number of steps after
/// which it is enabled for the last time.
fn walk<M: Machine>(
    run: &mut Run<'_, M>,
    record: &ExecutionRecord,
    at: usize,
    target: &Target,
    rest: &Rest,
    names: &mut ActorNames,
    choices: &mut Vec<Choice>,
) -> Result<Vec<(usize, Branch)>, Stop> {
    let own = record.steps[at].event.thread == target.thread;
    let mut branches: Vec<(usize, Branch)> = Vec::new();
    run.rewind(at);
    for k in 0..=rest.steps.len() {
        if k >= rest.needed {
            enabled_of(run, target.thread, choices)?;
            for choice in choices.iter().filter(|c| !own || c.branch != record.steps[at].event.branch) {
                // A branch that stays enabled moves to this position; one that is enabled again after an interruption
                // counts again.
                match branches.iter_mut().find(|known| known.1 == choice.branch && known.0 + 1 == k) {
                    Some(known) => known.0 = k,
                    None => branches.push((k, choice.branch)),
                }
            }
        }
        if let Some(&step) = rest.steps.get(k) {
            redo(run, record, step, names)?;
        }
    }
    Ok(branches)
}

/// Iterates over the other branches of an event before step `at` that are asleep there.
fn sleeping_branches<'a>(
    sink: &'a impl Sink,
    event: &'a EventLabel,
    at: usize,
) -> impl Iterator<Item = &'a EventLabel> {
    sink.asleep(at).filter(|asleep| asleep.thread == event.thread && asleep.branch != event.branch)
}

/// Returns the other branches of step `at` that are found only by executing it, to be tried behind the rest: the next
/// one, and those that are asleep until a step of the rest wakes them up. `listed` are the choices of the thread behind the
/// rest, where the machine is. What wakes a branch up may also make it impossible.
fn own_branches<M: Machine>(
    run: &mut Run<'_, M>,
    record: &ExecutionRecord,
    sink: &impl Sink,
    at: usize,
    rest: &Rest,
    names: &ActorNames,
    listed: &[Choice],
) -> Result<SmallVec<[Branch; 2]>, Stop> {
    let event = &record.steps[at].event;
    let mut branches: SmallVec<[Branch; 2]> = event.next.filter(|_| sink.other_branches()).into_iter().collect();
    if run.profile().branches_differ() {
        let wakes = |asleep: &EventLabel| rest.steps.iter().any(|&step| record.steps[step].event.depends_on(asleep));
        let woken = sleeping_branches(sink, event, at).filter(|asleep| wakes(asleep)).map(|asleep| asleep.branch);
        let one_listed = run.profile().one_choice_per_thread;
        for branch in woken {
            let first = listed.iter().map(|choice| choice.branch).find(|&first| one_listed || branch.belongs_to(first));
            if !branches.contains(&branch) && leads_to_branch(run, names, event.thread, first, branch)? {
                branches.push(branch);
            }
        }
    }
    Ok(branches)
}

/// Returns `true` if a thread has this branch now: if it is among those that follow `first`.
fn leads_to_branch<M: Machine>(
    run: &mut Run<'_, M>,
    names: &ActorNames,
    thread: Name,
    mut first: Option<Branch>,
    branch: Branch,
) -> Result<bool, Stop> {
    let depth = run.depth();
    while let Some(tried) = first.filter(|&tried| tried != branch) {
        first = attempt(run, names, thread, tried)?.next;
        run.rewind(depth);
    }
    Ok(first.is_some())
}

/// Executes `thread` and returns the resulting event.
fn attempt<M: Machine>(
    run: &mut Run<'_, M>,
    names: &ActorNames,
    thread: Name,
    branch: Branch,
) -> Result<EventLabel, Stop> {
    let what = run.machine().find(thread).expect("our bug: a choice has vanished");
    let executed = run.redo(Choice { what, branch })?;
    Ok(names.event(run.machine(), executed))
}

/// Returns `k` steps of the rest, then `event`, then the remaining steps that do not depend on it.
fn beginning(record: &ExecutionRecord, rest: &Rest, k: usize, event: EventLabel) -> Vec<EventLabel> {
    let (before, after) = rest.steps.split_at(k);
    // The first steps that are left out: they depend on the event, and all others that are left out happen after one of them.
    let mut out: Vec<usize> = Vec::new();
    let mut events = Vec::with_capacity(rest.steps.len() + 1);
    events.extend(before.iter().map(|&step| record.steps[step].event.clone()));
    events.push(event);
    for &step in after {
        let other = &record.steps[step].event;
        if out.iter().any(|&x| record.clocks.before(x, step)) {
            continue;
        }
        if other.depends_on(&events[k]) {
            out.push(step);
        } else {
            events.push(other.clone());
        }
    }
    events
}

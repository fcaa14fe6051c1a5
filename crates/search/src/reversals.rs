//! What else could have happened: from one execution to the beginnings of others.
//!
//! For an event e that something else could have come before, take the execution up to e and add, of what
//! came later, all that does not happen after e (`notdep(e)` in the papers on Optimal-DPOR). Where
//! another choice is then possible that depends on e, it can come first, and e's part of the execution
//! turns out differently: `notdep(e)` and that choice are the beginning of another trace.
//!
//! Which threads are worth looking at for an e:
//! * that of an event in a race with e. If it cannot act without e because a constraint forbids it, those events
//!   that e itself was in conflict with are tried instead: the nearest configuration that accepts it counts;
//! * one that could not act any more in the end: e may have shut it out;
//! * e's own, where it could have gone another way, or could have after what came later.
//!
//! Whether the thread can act, and how, is for the machine to say. Sometimes it knows ([`Machine::without`]); otherwise it
//! goes there. Events of `notdep(e)` may themselves
//! take a choice away (a test that finds nothing, before any of several messages). So the machine first
//! takes what the thread needs to be there at all, then the rest, and each choice counts with what
//! came before it vanished; then the rest follows as far as it does not depend on that choice.
//!
//! The same look is not taken twice: a configuration is known by the labels of the events that lead to it.

use crate::acts::{Act, ActorNames, Record};
use crate::run::{Run, Stop};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Machine, Name, Pending, Relation, Without};

/// What was tried at one configuration, and whether the thread could act.
pub(crate) type Tried = FxHashMap<u64, bool>;

/// Who wants to hear of reversals.
pub(crate) trait Sink {
    /// What was tried at the configuration before step `at`.
    fn tried(&mut self, at: usize) -> &mut Tried;

    /// Whether ways that are found by running a step are reversals too.
    fn other_ways(&self) -> bool;

    /// What would lead to nothing new at the configuration before step `at`.
    fn asleep(&self, at: usize) -> impl Iterator<Item = &Act>;

    /// The configuration before step `at` has an execution that begins with these acts.
    fn found(&mut self, at: usize, beginning: Vec<Act>);
}

/// A thread that could have acted before something else.
#[derive(Debug)]
struct Target {
    thread: Name,
    /// The steps that it needs to be there at all, as bits.
    needs: Bits,
}

/// A target to try without some step.
#[derive(Copy, Clone, Debug)]
struct Wanted {
    target: usize,
    /// A step of the target that is known to be possible, as it is.
    same: Option<usize>,
}

/// Steps as bits; one word nearly always.
type Bits = SmallVec<[u64; 1]>;

/// Finds reversals. Kept between executions for its memory.
#[derive(Debug, Default)]
pub(crate) struct Reversals {
    targets: Vec<Target>,
    /// Per step, the targets to try without it.
    wanted: Vec<Vec<Wanted>>,
    rest: Rest,
    causes: Vec<usize>,
    pending: Vec<Pending>,
    choices: Vec<Choice>,
    missed: Vec<(usize, Branch)>,
}

/// What does not happen after a step, in the order in which it is taken without it.
#[derive(Debug, Default)]
struct Rest {
    steps: Vec<usize>,
    /// How many of them the target needs.
    needed: usize,
    others: Vec<usize>,
}

impl Reversals {
    /// Tells `sink` everything that could have happened instead of a step of this execution. The machine has taken
    /// all steps of the record; it is left anywhere along it.
    pub(crate) fn find<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &Record,
        sink: &mut impl Sink,
    ) -> Result<(), Stop> {
        self.targets.clear();
        self.wanted.resize_with(record.len().max(self.wanted.len()), Vec::new);
        self.want_races(&run.machine, record);
        self.want_left(&run.machine, record);
        self.want_own(&run.machine, record, sink.other_ways());
        for at in (0..record.len()).rev() {
            let mut k = 0;
            while let Some(&wanted) = self.wanted[at].get(k) {
                k += 1;
                if !self.look(run, record, sink, at, wanted)? {
                    self.want_below(record, at, wanted.target);
                }
            }
            self.wanted[at].clear();
        }
        Ok(())
    }

    fn want(&mut self, at: usize, target: usize) {
        if !self.wanted[at].iter().any(|wanted| wanted.target == target) {
            self.wanted[at].push(Wanted { target, same: None });
        }
    }

    /// The threads of events in races.
    fn want_races<M: Machine>(&mut self, machine: &M, record: &Record) {
        for at in 0..record.len() {
            let races = record.clocks.races(at);
            if races.is_empty() {
                continue;
            }
            self.causes.clear();
            machine.causes(at, &mut self.causes);
            let (target, needs) = (self.targets.len(), union(record, &self.causes));
            self.targets.push(Target { thread: record.steps[at].act.thread, needs });
            for &earlier in races {
                let earlier = earlier as usize;
                match machine.without(&record.clocks, earlier, at) {
                    Without::Unknown => self.want(earlier, target),
                    Without::Nothing => self.want_below(record, earlier, target),
                    Without::Same => self.wanted[earlier].push(Wanted { target, same: Some(at) }),
                }
            }
        }
    }

    /// The threads that cannot act any more.
    fn want_left<M: Machine>(&mut self, machine: &M, record: &Record) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        machine.pending(&mut pending);
        for &what in &pending {
            let thread = machine.thread(what);
            let last = record.steps.iter().rposition(|step| step.act.thread == thread);
            let sender = || (0..record.len()).find(|&at| machine.sent(at).contains(&what.0));
            let needs = union(record, last.or_else(sender).as_slice());
            let object = match machine.relation() {
                Relation::SameActor => Some(record.names.of(machine.actor(what))),
                Relation::Footprints => None,
            };
            let target = self.targets.len();
            for (at, step) in record.steps.iter().enumerate() {
                if !has(&needs, at) && object.is_none_or(|object| step.act.touches[0].object == object) {
                    self.want(at, target);
                }
            }
            self.targets.push(Target { thread, needs });
        }
        self.pending = pending;
    }

    /// The threads of steps that could have gone another way.
    fn want_own<M: Machine>(&mut self, machine: &M, record: &Record, other_ways: bool) {
        for (at, step) in record.steps.iter().enumerate() {
            self.missed.clear();
            machine.missed(at, &mut self.missed);
            if step.several || other_ways && step.act.next.is_some() || !self.missed.is_empty() {
                self.targets.push(Target { thread: step.act.thread, needs: Bits::new() });
                self.want(at, self.targets.len() - 1);
            }
        }
    }

    /// A target cannot act without step `at` either: perhaps it can without what that step was in conflict with.
    fn want_below(&mut self, record: &Record, at: usize, target: usize) {
        if self.targets[target].thread == record.steps[at].act.thread {
            return;
        }
        for &below in record.clocks.conflicts(at) {
            if !has(&self.targets[target].needs, below as usize) {
                self.want(below as usize, target);
            }
        }
    }

    /// Whether a target can act without step `at`; tells the sink of it if this has not been tried before.
    fn look<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        record: &Record,
        sink: &mut impl Sink,
        at: usize,
        wanted: Wanted,
    ) -> Result<bool, Stop> {
        let target = &self.targets[wanted.target];
        if run.machine.one_choice_each() && sleeps(sink.asleep(at), target, record, at) {
            return Ok(true);
        }
        self.rest.fill(record, at, &target.needs);
        let rest = &self.rest;
        let labels = rest.steps.iter().map(|&k| record.clocks.label(k));
        // The step itself counts: its other ways are asked for one by one.
        let known = Name(labels.fold(0, u64::wrapping_add)).mixed(target.thread.0).mixed(record.clocks.label(at)).0;
        if let Some(&could) = sink.tried(at).get(&known) {
            return Ok(could);
        }
        if let Some(act) = wanted.same.map(|same| &record.steps[same].act)
            && !rest.steps[rest.needed..].iter().any(|&step| record.steps[step].act.depends_on(act))
        {
            sink.found(at, beginning(record, rest, rest.steps.len(), act.clone()));
            sink.tried(at).insert(known, true);
            return Ok(true);
        }
        let mut names = record.names.clone();
        names.truncate(at);
        let ways = walk(run, record, at, target, rest, &mut names, &mut self.choices)?;
        for &(k, branch) in ways.iter().rev() {
            run.rewind(at + k);
            names.truncate(at + k);
            let act = attempt(run, &names, target.thread, branch)?;
            if act.depends_on(&record.steps[at].act) {
                sink.found(at, beginning(record, rest, k, act));
            }
        }
        run.rewind(at);
        sink.tried(at).insert(known, !ways.is_empty());
        Ok(!ways.is_empty())
    }
}

impl Rest {
    /// What comes after step `at` but does not depend on it, what is needed first.
    fn fill(&mut self, record: &Record, at: usize, needs: &[u64]) {
        self.steps.clear();
        self.others.clear();
        for step in apart(record, at) {
            if has(needs, step) { &mut self.steps } else { &mut self.others }.push(step);
        }
        self.needed = self.steps.len();
        self.steps.append(&mut self.others);
    }
}

/// The steps after step `at` that do not depend on it.
fn apart(record: &Record, at: usize) -> impl Iterator<Item = usize> {
    (at + 1..record.len()).filter(move |&step| !record.clocks.before(at, step))
}

/// Whether a target that has only one choice is known to be able to act without step `at`, and to lead to nothing new:
/// it sleeps there, and none of the rest wakes it.
fn sleeps<'a>(mut asleep: impl Iterator<Item = &'a Act>, target: &Target, record: &Record, at: usize) -> bool {
    let wakes = |act: &Act| apart(record, at).any(|step| record.steps[step].act.depends_on(act));
    target.thread != record.steps[at].act.thread
        && asleep.any(|act| act.thread == target.thread && act.branch == Branch::FIRST && !wakes(act))
}

/// Goes through the rest without step `at` and sees which ways the target has: each with the number of steps
/// after which it is there for the last time.
fn walk<M: Machine>(
    run: &mut Run<'_, M>,
    record: &Record,
    at: usize,
    target: &Target,
    rest: &Rest,
    names: &mut ActorNames,
    choices: &mut Vec<Choice>,
) -> Result<Vec<(usize, Branch)>, Stop> {
    let own = record.steps[at].act.thread == target.thread;
    let mut ways: Vec<(usize, Branch)> = Vec::new();
    run.rewind(at);
    for k in 0..=rest.steps.len() {
        if k >= rest.needed {
            choices.clear();
            run.all_enabled(choices);
            let what = run.machine.find(target.thread);
            choices.retain(|choice| Some(choice.what) == what);
            for choice in choices.iter().filter(|c| !own || c.branch != record.steps[at].act.branch) {
                // A way that was there all the time moves on with us; one that comes again counts again.
                match ways.iter_mut().find(|way| way.1 == choice.branch && way.0 + 1 == k) {
                    Some(way) => way.0 = k,
                    None => ways.push((k, choice.branch)),
                }
            }
        }
        if let Some(&step) = rest.steps.get(k) {
            let act = &record.steps[step].act;
            let what = run.machine.find(act.thread).expect("our bug: an independent step has vanished");
            run.redo(Choice { what, branch: act.branch })?;
            names.push(&run.machine);
        }
    }
    if own && let Some(next) = record.steps[at].act.next {
        ways.push((rest.steps.len(), next));
    }
    ways.sort_unstable();
    Ok(ways)
}

/// What `thread` does if it acts now.
fn attempt<M: Machine>(run: &mut Run<'_, M>, names: &ActorNames, thread: Name, branch: Branch) -> Result<Act, Stop> {
    let what = run.machine.find(thread).expect("our bug: a choice has vanished");
    run.redo(Choice { what, branch })?;
    Ok(names.act(&run.machine))
}

/// `k` steps of the rest, then `act`, then whatever of the rest does not depend on it.
fn beginning(record: &Record, rest: &Rest, k: usize, act: Act) -> Vec<Act> {
    let (before, after) = rest.steps.split_at(k);
    let mut out: Vec<usize> = Vec::new();
    let mut acts = Vec::with_capacity(rest.steps.len() + 1);
    acts.extend(before.iter().map(|&step| record.steps[step].act.clone()));
    acts.push(act);
    for &step in after {
        let other = &record.steps[step].act;
        if other.depends_on(&acts[k]) || out.iter().any(|&x| record.clocks.before(x, step)) {
            out.push(step);
        } else {
            acts.push(other.clone());
        }
    }
    acts
}

/// The pasts of some steps, together.
fn union(record: &Record, steps: &[usize]) -> Bits {
    let Some((&first, others)) = steps.split_first() else { return Bits::new() };
    let mut words = Bits::from_slice(record.clocks.past(first));
    for &at in others {
        words.iter_mut().zip(record.clocks.past(at)).for_each(|(word, more)| *word |= more);
    }
    words
}

#[inline]
fn has(words: &[u64], at: usize) -> bool {
    words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
}

//! What is wrong with the executions of a search, the shortest story of each problem.
//!
//! A problem's story is the past of the steps that show it; all other steps are left out. Of all
//! executions that show the same problem (same kind, same key) the one with the shortest story is kept,
//! then the one with the fewest switches between actors, then the one whose events have the smallest names. A
//! story is told in an order that depends on happens-before alone, so what is kept depends neither on the order
//! of the search nor on the number of its workers.
//!
//! A story with a data race in it, other than the race that it tells of, is *doubtful*: where steps were taken for
//! independent, the race may have made it up. One without is always preferred, and what only doubtful stories show has to
//! be shown again where nothing is taken for granted: see `settle.rs`.

use crate::control::Taken;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use whippet_model::{Clocks, Kind, Machine, Name, Problem};

/// What makes two problems the same.
pub(crate) type Key = (Kind, Name);

/// One problem and the best that is known to show it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) problem: Problem,
    pub(crate) doubtful: bool,
    pub(crate) story: Vec<Taken>,
    switches: usize,
    /// The execution that showed it, in case that the story alone does not.
    pub(crate) whole: Vec<Taken>,
    pub(crate) executions: u64,
}

/// All problems of a search.
#[derive(Debug)]
pub(crate) struct Collector {
    found: BTreeMap<Key, Found>,
    /// How many are kept.
    most: usize,
    /// Those that were too many. The largest keys are dropped, whenever they come.
    dropped: FxHashSet<Key>,
}

impl Collector {
    pub(crate) fn new(most: usize) -> Collector {
        Collector { found: BTreeMap::new(), most: most.max(1), dropped: FxHashSet::default() }
    }

    /// One execution, with these data races, shows `problem`, for the `first` time or again.
    pub(crate) fn add<M: Machine>(
        &mut self,
        machine: &M,
        clocks: &Clocks,
        problem: Problem,
        races: &[Vec<usize>],
        first: bool,
    ) {
        let key = (problem.kind, problem.key);
        if self.dropped.contains(&key) {
            return;
        }
        let mut steps = story(clocks, &problem, machine.depth());
        let races = races.iter().filter(|race| race.iter().all(|at| steps.contains(at))).count();
        let doubtful = races > usize::from(problem.kind == Kind::Race);
        let known = self.found.get_mut(&key);
        if let Some(known) = &known
            && (known.doubtful, known.story.len()) < (doubtful, steps.len())
        {
            self.found.get_mut(&key).expect("just seen").executions += u64::from(first);
            return;
        }
        if problem.kind != Kind::Limit {
            tell(machine, clocks, &mut steps);
        }
        let switches = steps.windows(2).filter(|w| machine.step(w[0]).actor != machine.step(w[1]).actor).count();
        let story: Vec<Taken> = steps.iter().map(|&at| taken(machine, at)).collect();
        let seen = match known {
            Some(known) => {
                known.executions += u64::from(first);
                let best = (known.doubtful, known.story.len(), known.switches, &known.story);
                if best <= (doubtful, story.len(), switches, &story) {
                    return;
                }
                known.executions
            }
            None => 1,
        };
        self.found.insert(key, Found { problem, doubtful, story, switches, whole: path(machine), executions: seen });
        if self.found.len() > self.most {
            let (last, _) = self.found.pop_last().expect("there are more than `most`");
            self.dropped.insert(last);
        }
    }

    /// What was found, in a fixed order.
    pub(crate) fn found(&self) -> Vec<Found> {
        self.found.values().cloned().collect()
    }

    /// How many problems were not kept.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.len()
    }
}

/// The whole execution.
pub(crate) fn path<M: Machine>(machine: &M) -> Vec<Taken> {
    (0..machine.depth()).map(|at| taken(machine, at)).collect()
}

fn taken<M: Machine>(machine: &M, at: usize) -> Taken {
    let step = machine.step(at);
    Taken { event: step.event, thread: step.thread, branch: step.choice.branch }
}

/// The steps that matter to a problem: for an execution that is too long, all of them.
fn story(clocks: &Clocks, problem: &Problem, depth: usize) -> Vec<usize> {
    if problem.kind == Kind::Limit {
        return (0..depth).collect();
    }
    let mut words = vec![0u64; depth.div_ceil(64)];
    for &at in &problem.steps {
        for (word, more) in words.iter_mut().zip(clocks.past(at)) {
            *word |= more;
        }
    }
    whippet_model::ones(&words).collect()
}

/// Stories longer than this are told in the order of execution: sorting them takes quadratic time.
const LONG: usize = 512;

/// Puts the steps of a story into an order that depends on happens-before alone: stay with the actor if
/// possible, otherwise go on with the step that needs the least before it.
fn tell<M: Machine>(machine: &M, clocks: &Clocks, steps: &mut [usize]) {
    if steps.len() > LONG {
        return;
    }
    let mut level: Vec<usize> = Vec::with_capacity(steps.len());
    for (i, &at) in steps.iter().enumerate() {
        let below = (0..i).filter(|&j| clocks.before(steps[j], at)).map(|j| level[j] + 1);
        level.push(below.max().unwrap_or(0));
    }
    let mut open: Vec<(usize, Name, usize)> =
        steps.iter().zip(level).map(|(&at, level)| (level, machine.step(at).event, at)).collect();
    open.sort_unstable();
    let mut last = None;
    for place in steps.iter_mut() {
        let ready = |k: &usize| open.iter().all(|o| o.2 == open[*k].2 || !clocks.before(o.2, open[*k].2));
        let same = |k: &usize| Some(machine.step(open[*k].2).actor) == last;
        let k = (0..open.len()).filter(same).find(ready).or_else(|| (0..open.len()).find(ready));
        let at = open.remove(k.expect("happens-before has no cycles")).2;
        last = Some(machine.step(at).actor);
        *place = at;
    }
}

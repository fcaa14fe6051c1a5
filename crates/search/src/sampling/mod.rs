//! Sampling, for programs that are too large for a complete search: executions drawn at random, each from the
//! beginning.
//!
//! * `random`: all enabled choices have the same probability.
//! * `pct` (Burckhardt and others): every actor has a random priority, and the enabled actor with the highest one
//!   acts. At `d - 1` random steps, the actor that is about to act gets the lowest priority. A bug that requires `d`
//!   events in a certain order is found with a probability that does not vanish with the number of choices. The
//!   message that the actor receives is drawn uniformly.
//! * `pos` (Yuan, Yang, Gu: partial-order aware sampling): every pending operation has a random priority, the one
//!   with the highest priority acts, and the operations that its event is in conflict with draw a new priority. The
//!   footprint of a pending operation is not known, so the operations of the same actor draw again.
//!
//! The same seed draws the same executions. The verdict contains the number of traces seen and an estimate of the
//! total. It is never complete.

mod estimate;

use crate::driver::run::{Run, Stop};
use crate::sampling::estimate::Tally;
use whippet_model::{Branch, Choice, LimitHit, Machine};

/// Draws executions with uniformly distributed choices.
pub(crate) fn random<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    sample(run, &mut Even)
}

/// Draws executions by priorities of actors that change a few times.
pub(crate) fn pct<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    let changes = run.options.pct_depth.saturating_sub(1);
    sample(run, &mut Pct { changes, moments: Vec::new(), priorities: Vec::new(), longest: 0, steps: 0, lowest: 0 })
}

/// Draws executions by priorities of operations that are drawn again after conflicts.
pub(crate) fn pos<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    sample(run, &mut Pos::default())
}

/// A random number generator with the same results on every machine: splitmix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    #[inline]
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, which must not be 0.
    #[inline]
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.number()) * n as u128) >> 64) as usize
    }
}

/// A rule for drawing choices.
trait Sampler {
    /// Begins an execution.
    fn begin(&mut self, random: &mut Random);

    /// Returns the index of the enabled choice to take.
    fn pick<M: Machine>(&mut self, machine: &M, enabled: &[Choice], random: &mut Random) -> usize;

    /// Returns the choice to take, or `None` if nothing is enabled.
    fn next<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        enabled: &mut Vec<Choice>,
        random: &mut Random,
    ) -> Result<Option<Choice>, Stop> {
        enabled.clear();
        run.enabled(enabled)?;
        if enabled.is_empty() {
            return Ok(None);
        }
        Ok(Some(enabled[self.pick(run.machine(), enabled, random)]))
    }
}

fn sample<M: Machine>(run: &mut Run<'_, M>, sampler: &mut impl Sampler) -> Result<(), Stop> {
    let mut tally = Tally::default();
    run.follow_clocks();
    let drawn = draw(run, sampler, &mut tally);
    run.control.guess(tally.estimate());
    run.control.note(tally.words());
    drawn?;
    // A sample never covers everything, so the search ends with a limit.
    Err(Stop::Limit(LimitHit::Executions))
}

/// The number of samples between updates of the estimate.
const TELL: u64 = 4096;

fn draw<M: Machine>(run: &mut Run<'_, M>, sampler: &mut impl Sampler, tally: &mut Tally) -> Result<(), Stop> {
    let mut random = Random(run.options.seed);
    let mut enabled = Vec::new();
    for k in 1..=run.options.samples {
        run.rewind(0);
        sampler.begin(&mut random);
        while let Some(choice) = sampler.next(run, &mut enabled, &mut random)? {
            any_way(run, choice, &mut random)?;
        }
        run.complete()?;
        tally.add(run.clocks.key());
        if k % TELL == 0 {
            run.control.guess(tally.estimate());
            if tally.memory() > run.options.limits.memory {
                return Err(Stop::Limit(LimitHit::Memory));
            }
        }
    }
    Ok(())
}

/// Executes a choice. If it has several branches that are found by executing it, all have the same probability.
#[inline]
fn any_way<M: Machine>(run: &mut Run<'_, M>, choice: Choice, random: &mut Random) -> Result<(), Stop> {
    match run.execute(choice)?.next_branch {
        None => Ok(()),
        Some(next) => one_of_many(run, choice, next, random),
    }
}

#[cold]
fn one_of_many<M: Machine>(
    run: &mut Run<'_, M>,
    choice: Choice,
    next: Branch,
    random: &mut Random,
) -> Result<(), Stop> {
    let depth = run.depth() - 1;
    let (mut drawn, mut now, mut branches) = (choice.branch, choice.branch, 1);
    let mut next = Some(next);
    while let Some(branch) = next {
        run.rewind(depth);
        next = run.redo(Choice { branch, ..choice })?.next_branch;
        branches += 1;
        now = branch;
        if random.below(branches) == 0 {
            drawn = branch;
        }
    }
    if drawn != now {
        run.rewind(depth);
        run.redo(Choice { branch: drawn, ..choice })?;
    }
    Ok(())
}

/// Sampler of `random`. Where the machine can count the enabled choices, they are not listed.
struct Even;

impl Sampler for Even {
    fn begin(&mut self, _: &mut Random) {}

    #[inline]
    fn pick<M: Machine>(&mut self, _: &M, enabled: &[Choice], random: &mut Random) -> usize {
        draw_position(enabled.len(), random)
    }

    #[inline]
    fn next<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        enabled: &mut Vec<Choice>,
        random: &mut Random,
    ) -> Result<Option<Choice>, Stop> {
        let count = match run.enabled_count()? {
            Some(count) => count,
            None => {
                enabled.clear();
                run.enabled(enabled)?;
                let drawn = (!enabled.is_empty()).then(|| enabled[draw_position(enabled.len(), random)]);
                return Ok(drawn);
            }
        };
        if count == 0 { Ok(None) } else { run.nth_enabled(draw_position(count, random)).map(Some) }
    }
}

/// Sampler of `pct`.
struct Pct {
    changes: usize,
    /// The steps of this execution at which a priority changes.
    moments: Vec<usize>,
    /// The priorities by actor number. Those that have changed are lower than all others.
    priorities: Vec<u64>,
    /// The length of the longest execution so far, from which the moments are drawn.
    longest: usize,
    steps: usize,
    /// The lowest priority assigned by a change so far; before the first change, the number of changes.
    lowest: u64,
}

impl Sampler for Pct {
    fn begin(&mut self, random: &mut Random) {
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        self.priorities.clear();
        self.lowest = self.changes as u64;
        self.moments.clear();
        if self.longest > 0 {
            let longest = self.longest;
            self.moments.extend((0..self.changes).map(|_| random.below(longest)));
        }
    }

    fn pick<M: Machine>(&mut self, machine: &M, enabled: &[Choice], random: &mut Random) -> usize {
        while self.priorities.len() < machine.actors() {
            self.priorities.push(random.number() | 1 << 63);
        }
        let first = |priorities: &[u64]| {
            let actors = enabled.iter().map(|choice| machine.actor(choice.what).0);
            actors.max_by_key(|&actor| priorities[actor as usize]).expect("something is enabled")
        };
        let mut actor = first(&self.priorities);
        for _ in 0..self.moments.iter().filter(|&&moment| moment == self.steps).count() {
            self.lowest -= 1;
            self.priorities[actor as usize] = self.lowest;
            actor = first(&self.priorities);
        }
        self.steps += 1;
        one_of(enabled, random, |choice| machine.actor(choice.what).0 == actor)
    }
}

/// Sampler of `pos`.
#[derive(Default)]
struct Pos {
    /// For each handle, the execution in which its priority was drawn, and the priority.
    priorities: Vec<(u64, u64)>,
    execution: u64,
    /// The actor that acted last.
    last: Option<u32>,
}

impl Sampler for Pos {
    fn begin(&mut self, _: &mut Random) {
        self.execution += 1;
        self.last = None;
    }

    fn pick<M: Machine>(&mut self, machine: &M, enabled: &[Choice], random: &mut Random) -> usize {
        for choice in enabled {
            let handle = choice.what.0 as usize;
            if handle >= self.priorities.len() {
                self.priorities.resize(handle + 1, (0, 0));
            }
            if self.priorities[handle].0 != self.execution || self.last == Some(machine.actor(choice.what).0) {
                self.priorities[handle] = (self.execution, random.number());
            }
        }
        let priority = |choice: &&Choice| self.priorities[choice.what.0 as usize].1;
        let first = enabled.iter().max_by_key(priority).expect("something is enabled").what;
        self.last = Some(machine.actor(first).0);
        one_of(enabled, random, |choice| choice.what == first)
    }
}

/// Draws one of the first positions. Where there is only one, the generator does not move on.
#[inline]
fn draw_position(count: usize, random: &mut Random) -> usize {
    if count == 1 { 0 } else { random.below(count) }
}

/// Returns the index of one of the choices that are `meant`, drawn uniformly.
fn one_of(enabled: &[Choice], random: &mut Random, meant: impl Fn(&Choice) -> bool) -> usize {
    let places = || (0..enabled.len()).filter(|&k| meant(&enabled[k]));
    let drawn = random.below(places().count());
    places().nth(drawn).expect("it was counted")
}

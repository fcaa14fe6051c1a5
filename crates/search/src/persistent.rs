//! Dynamic persistent sets (Flanagan and Godefroid; figure 2.4 of the Basset dissertation).
//!
//! A level's list begins with everything enabled of the first actor. A send, at step s, to an actor that acted before, at
//! step k not in the past of s, might have come early enough to arrive first: so at level k
//! the actor that leads to the send is added, i.e. the one of the first step after k in the past of s.
//!
//! Machines with footprints have no such sends. There a step s that is in a race with step k does the same, and
//! the actor added is that of the first step after k that s needs and k does not touch, or of s itself.
//! That step could have come right before k, so the rule stays complete with sleep sets: if it sleeps,
//! what begins with it has been explored. A step that opened another way for an earlier one is treated alike.

use crate::backtrack::{Backtrack, Level, first_after, search as walk};
use crate::orders::Orders;
use crate::run::{Run, Stop};
use whippet_model::{Branch, Machine, Pending, Relation};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    walk(run, Persistent::default())
}

#[derive(Default)]
struct Persistent {
    races: Vec<usize>,
    missed: Vec<(usize, Branch)>,
}

impl Backtrack for Persistent {
    fn begin<M: Machine>(&mut self, machine: &M, level: &mut Level, orders: &mut Orders) {
        let Level { enabled, sleep, .. } = &*level;
        if let Some(actor) = orders.first(machine, enabled, |&choice| !sleep.contains(choice)) {
            level.add_actor(machine, actor);
        }
    }

    fn arrived<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        match run.machine.relation() {
            Relation::SameActor => sends(run, levels),
            Relation::Footprints => {
                let at = levels.len() - 1;
                self.races.clear();
                run.clocks.races(&run.machine, at, &mut self.races);
                for &k in &self.races {
                    add_cause(run, &mut levels[k], k, at);
                }
            }
        }
    }

    fn ended<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        if run.machine.relation() == Relation::SameActor {
            return;
        }
        for (k, level) in levels.iter_mut().enumerate() {
            self.missed.clear();
            run.machine.missed(k, &mut self.missed);
            for &(at, _) in &self.missed {
                add_cause(run, level, k, at);
            }
        }
    }
}

/// What the sends of the newest step add.
fn sends<M: Machine>(run: &Run<'_, M>, levels: &mut [Level]) {
    let at = levels.len() - 1;
    for message in run.machine.sent(at) {
        let receiver = run.machine.actor(Pending(message));
        let mut k = run.clocks.last_of(receiver.0);
        while let Some(step) = k.filter(|&step| !run.clocks.before(step, at)) {
            let cause = first_after(&run.clocks, step, at).expect("the send is in its own past");
            levels[step].add_actor(&run.machine, run.machine.step(cause).actor);
            k = run.clocks.previous(step);
        }
    }
}

/// Adds to level `k` what leads to step `at` without step `k`.
fn add_cause<M: Machine>(run: &Run<'_, M>, level: &mut Level, k: usize, at: usize) {
    let clocks = &run.clocks;
    let cause = clocks.past_steps(at).find(|&j| j > k && !clocks.before(k, j)).unwrap_or(at);
    let step = run.machine.step(cause);
    if level.enabled.iter().any(|choice| choice.what == step.choice.what) {
        level.add_actor(&run.machine, step.actor);
        return;
    }
    // It was not possible there at all: whatever makes it possible is among the rest.
    for choice in 0..level.enabled.len() {
        let actor = run.machine.actor(level.enabled[choice].what);
        level.add_actor(&run.machine, actor);
    }
}

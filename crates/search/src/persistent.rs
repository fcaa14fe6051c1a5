//! Dynamic persistent sets (Flanagan and Godefroid; figure 2.4 of the Basset dissertation).
//!
//! A level's list begins with everything enabled of the first actor. A send, at step s, to an actor that acted before, at
//! step k not in the past of s, might have come early enough to arrive first: so at level k
//! the actor that leads to the send is added, i.e. the one of the first step after k in the past of s.
//!
//! Machines with footprints have no such sends. There a step s that is in a race with step k does the same, and
//! the actor added is that of the first step after k that s needs and k does not touch, or of s itself.
//! That step could have come right before k, so the rule stays complete with sleep sets: if it sleeps,
//! what begins with it has been explored. Where s was not possible before k, it may have been before what k was in
//! conflict with. A step that opened another way for an earlier one, and what could not act any more in
//! the end, are treated alike; where the latter could not act before k either, nobody knows what would have let it: all are added.

use crate::backtrack::{Backtrack, Level, first_after, search as walk};
use crate::orders::Orders;
use crate::run::{Run, Stop};
use whippet_model::{ActorNo, Branch, Choice, Machine, Pending, Relation};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    walk(run, Persistent::default())
}

#[derive(Default)]
struct Persistent {
    races: Vec<usize>,
    causes: Vec<usize>,
    missed: Vec<(usize, Branch)>,
    pending: Vec<Pending>,
    enabled: Vec<Choice>,
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
            Relation::Footprints => self.races(run, levels),
        }
    }

    fn ended<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        if run.machine.relation() == Relation::Footprints {
            self.missed(run, levels);
            self.left(run, levels);
        }
    }
}

impl Persistent {
    /// What the races of the newest step add.
    fn races<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        let at = levels.len() - 1;
        self.races.clear();
        self.races.extend(run.clocks.races(at).iter().map(|&race| race as usize));
        self.causes.clear();
        run.machine.causes(at, &mut self.causes);
        let mut next = 0;
        while let Some(&k) = self.races.get(next) {
            next += 1;
            let clocks = &run.clocks;
            let cause = clocks.past_steps(at).find(|&j| j > k && !clocks.before(k, j)).unwrap_or(at);
            let step = run.machine.step(cause);
            if levels[k].add_cause(&run.machine, step.choice.what, step.actor) {
                continue;
            }
            let needed = |below: usize| self.causes.iter().any(|&cause| clocks.before(below, cause));
            let below = clocks.conflicts(k).iter().map(|&below| below as usize).filter(|&below| !needed(below));
            for below in below.collect::<Vec<_>>() {
                if !self.races.contains(&below) {
                    self.races.push(below);
                }
            }
        }
    }

    /// What the other ways that later steps opened add.
    fn missed<M: Machine>(&mut self, run: &Run<'_, M>, levels: &mut [Level]) {
        for (k, level) in levels.iter_mut().enumerate() {
            self.missed.clear();
            run.machine.missed(k, &mut self.missed);
            for &(at, _) in &self.missed {
                let cause = first_after(&run.clocks, k, at).expect("a step is in its own past");
                let step = run.machine.step(cause);
                level.add_cause(&run.machine, step.choice.what, step.actor);
            }
        }
    }

    /// What cannot act any more may have been shut out by any step that it does not need.
    fn left<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        self.pending.clear();
        run.machine.pending(&mut self.pending);
        self.enabled.clear();
        run.all_enabled(&mut self.enabled);
        for &what in &self.pending {
            if self.enabled.iter().any(|choice| choice.what == what) {
                continue;
            }
            let own = |at: &usize| run.machine.step(*at).choice.what == what;
            let sent = |at: &usize| run.machine.sent(*at).contains(&what.0);
            let needs = (0..levels.len()).rev().find(|at| own(at) || sent(at));
            for k in (0..levels.len()).filter(|&k| needs.is_none_or(|needs| !run.clocks.before(k, needs))) {
                let cause = needs.and_then(|needs| first_after(&run.clocks, k, needs));
                let step = cause.map(|cause| run.machine.step(cause));
                let (what, actor) = step.map_or((what, run.machine.actor(what)), |step| (step.choice.what, step.actor));
                if !levels[k].add_cause(&run.machine, what, actor) && cause.is_none() {
                    levels[k].add_all(&run.machine);
                }
            }
        }
    }
}

impl Level {
    /// Adds an actor if this is possible here.
    fn add_cause<M: Machine>(&mut self, machine: &M, what: Pending, actor: ActorNo) -> bool {
        let possible = self.enabled.iter().any(|choice| choice.what == what);
        if possible {
            self.add_actor(machine, actor);
        }
        possible
    }

    fn add_all<M: Machine>(&mut self, machine: &M) {
        for k in 0..self.enabled.len() {
            self.add_actor(machine, machine.actor(self.enabled[k].what));
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

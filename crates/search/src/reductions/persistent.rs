//! Dynamic persistent sets (Flanagan and Godefroid; figure 2.4 of the Basset dissertation).
//!
//! A level's list starts with all enabled choices of the first actor. Suppose that step s sends a message to an actor
//! that acted before, in step k, and that k is not in the past of s. Then the message might have been sent early
//! enough to arrive before k. So the actor that leads to the send is added at level k: the actor of the first step
//! after k in the past of s.
//!
//! Machines with footprints have races between steps instead of such sends. If step s is in a race with step k, the
//! actor added at level k is that of the first step after k that is in the past of s and does not depend on k, or
//! that of s if there is no other. This step could have been taken immediately before k, so the rule stays complete
//! with sleep sets: if the step is asleep, the executions that begin with it have been explored. If it was not
//! enabled before k, s may have been possible before a step that k is in conflict with, which is then handled in the
//! same way. Two more cases are treated alike: a later step that enabled another branch of an earlier one, and an
//! operation that is disabled at the end of the execution. If such an operation was disabled before k, too, it is
//! unknown what would have enabled it, and all actors are added.

use crate::driver::run::{Run, Stop};
use crate::orders::Orders;
use crate::reductions::backtrack::{Backtrack, Level, first_after, search as walk};
use whippet_model::{ActorNo, Branch, Branches, Choice, Dependence, Machine, Pending};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    // The listed branches of one step may have different footprints, such as the delivery and the loss of a message. If
    // one of them is asleep, the other one does not show the races of both, so there are no sleep sets then.
    let profile = run.profile();
    let mixed = profile.branches != Branches::Listed && !profile.one_choice_per_thread;
    let sleeps = run.options.sleep && !(mixed && run.machine().foresight().is_some());
    walk(run, Persistent::default(), sleeps)
}

#[derive(Default)]
struct Persistent {
    races: Vec<usize>,
    causes: Vec<usize>,
    late: Vec<(usize, Branch)>,
    early: Vec<usize>,
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
        match run.profile().dependence {
            Dependence::PerActor => sends(run, levels),
            Dependence::Footprints => self.races(run, levels),
        }
    }

    fn ended<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) -> Result<(), Stop> {
        if run.profile().dependence == Dependence::Footprints {
            self.late_alternatives(run, levels);
            self.left(run, levels)?;
        }
        Ok(())
    }
}

impl Persistent {
    /// Adds choices because of the races of the newest step.
    fn races<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        let at = levels.len() - 1;
        self.races.clear();
        self.races.extend(run.clocks.races(at).iter().map(|&race| race as usize));
        self.causes.clear();
        run.machine().causes(at, &mut self.causes);
        self.early.clear();
        if let Some(foresight) = run.machine().foresight() {
            foresight.early_alternatives(at, &mut self.early);
            let needed = |early: usize| self.causes.iter().any(|&cause| run.clocks.before(early, cause));
            self.early.retain(|&early| !needed(early));
            self.races.extend(&self.early);
        }
        let mut next = 0;
        while let Some(&k) = self.races.get(next) {
            next += 1;
            let clocks = &run.clocks;
            // Another branch of step `at` may conflict with less than the one that was taken, so that only its causes
            // decide who could act instead of step k.
            let needed = |j: usize| self.causes.iter().any(|&cause| clocks.before(j, cause));
            let early = self.early.contains(&k);
            let leads = |&j: &usize| j > k && !clocks.before(k, j) && (!early || needed(j));
            let cause = clocks.past_steps(at).find(leads).unwrap_or(at);
            let step = run.machine().step(cause);
            if levels[k].add_cause(run.machine(), step.choice.what, step.actor) {
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

    /// Adds choices because of branches that later steps enabled.
    fn late_alternatives<M: Machine>(&mut self, run: &Run<'_, M>, levels: &mut [Level]) {
        let Some(foresight) = run.machine().foresight() else { return };
        for (k, level) in levels.iter_mut().enumerate() {
            self.late.clear();
            foresight.late_alternatives(k, &mut self.late);
            for &(at, _) in &self.late {
                let cause = first_after(&run.clocks, k, at).expect("a step is in its own past");
                let step = run.machine().step(cause);
                level.add_cause(run.machine(), step.choice.what, step.actor);
            }
        }
    }

    /// Adds choices because of disabled operations: any step that such an operation does not need may have disabled
    /// it.
    fn left<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) -> Result<(), Stop> {
        self.pending.clear();
        run.machine().pending(&mut self.pending);
        self.enabled.clear();
        run.all_enabled(&mut self.enabled)?;
        for &what in &self.pending {
            if self.enabled.iter().any(|choice| choice.what == what) {
                continue;
            }
            let own = |at: &usize| run.machine().step(*at).choice.what == what;
            let sent = |at: &usize| run.machine().sent(*at).contains(&what.0);
            let needs = (0..levels.len()).rev().find(|at| own(at) || sent(at));
            for k in (0..levels.len()).filter(|&k| needs.is_none_or(|needs| !run.clocks.before(k, needs))) {
                let cause = needs.and_then(|needs| first_after(&run.clocks, k, needs));
                let step = cause.map(|cause| run.machine().step(cause));
                let (what, actor) =
                    step.map_or((what, run.machine().actor(what)), |step| (step.choice.what, step.actor));
                if !levels[k].add_cause(run.machine(), what, actor) && cause.is_none() {
                    levels[k].add_all(run.machine());
                }
            }
        }
        Ok(())
    }
}

impl Level {
    /// Adds the choices of an actor if its operation `what` is enabled here. Returns `true` if it is.
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

/// Adds choices because of the messages that the newest step sent.
fn sends<M: Machine>(run: &Run<'_, M>, levels: &mut [Level]) {
    let at = levels.len() - 1;
    for message in run.machine().sent(at) {
        let receiver = run.machine().actor(Pending(message));
        let mut k = run.clocks.last_of(receiver.0);
        while let Some(step) = k.filter(|&step| !run.clocks.before(step, at)) {
            let cause = first_after(&run.clocks, step, at).expect("the send is in its own past");
            levels[step].add_actor(run.machine(), run.machine().step(cause).actor);
            k = run.clocks.previous(step);
        }
    }
}

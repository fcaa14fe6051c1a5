//! The events that a step enables, for programs in which the footprint of a step is known only by executing it.
//!
//! Let t be a pending operation. An event of t consists of t and its past: a part P of C, the steps taken. Such parts
//! are found by trial. First t is executed after the smallest part after which it is pending; this shows its
//! footprint there, or the objects that it waits for. Steps that conflict with none of these objects change neither
//! the effect of t nor whether it is enabled, so each larger P contains a step s that does conflict. Therefore t is
//! executed again after the part extended by s and the past of s, and so on. A part is the past of an event if the
//! event depends on all its latest steps.
//!
//! Trials are kept, so a new step e only costs the parts that contain it. No step of C happens after e, so e enters a
//! part only by itself, where it conflicts with the footprint of t without e.
//!
//! The machine moves to each part and back. The steps of a part are executed in the order of C.

use crate::driver::run::{Run, Stop};
use rustc_hash::FxHashSet;
use whippet_model::{BitSet, Branch, Choice, Extension, Machine, Name, Touch};

/// An operation that is pending, or that was pending until a step of C executed it.
struct Site {
    thread: Name,
    done: Option<usize>,
}

/// A part of C.
type Part = BitSet;

/// A site that was executed after a part of C, with its footprint or the objects that it waited for.
struct Trial {
    site: usize,
    part: Part,
    touches: Vec<Touch>,
}

/// A step of C.
struct ConfigurationStep {
    thread: Name,
    branch: Branch,
    touches: Vec<Touch>,
}

/// Data of C and of the trials made.
#[derive(Default)]
pub(crate) struct Trials {
    taken: Vec<ConfigurationStep>,
    sites: Vec<Site>,
    trials: Vec<Trial>,
    /// For each depth, the number of sites and trials before the steps from there on.
    before: Vec<(usize, usize)>,
    /// The steps of C that the machine has currently taken, in order.
    path: Vec<usize>,
}

impl Trials {
    /// Appends the events whose past contains the newest step or, before the first step, is empty.
    pub(crate) fn extensions<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        out: &mut Vec<Extension>,
    ) -> Result<(), Stop> {
        let newest = run.depth().checked_sub(1);
        self.before.push((self.sites.len(), self.trials.len()));
        self.path.extend(newest);
        let old = self.trials.len();
        let mut parts = self.learn(run, newest);
        if let Some(e) = newest {
            for trial in &self.trials[..old] {
                if self.may_add(run, trial, e) {
                    parts.push((trial.site, with(run, &trial.part, e)));
                }
            }
        }
        let mut seen: FxHashSet<(usize, Part)> = parts.iter().cloned().collect();
        while let Some((site, part)) = parts.pop() {
            let touches = self.run_after(run, site, &part, out)?;
            let trial = Trial { site, part, touches };
            for s in 0..self.taken.len() {
                if !trial.part.contains(s as u32) && self.may_add(run, &trial, s) {
                    let next = (site, with(run, &trial.part, s));
                    if seen.insert(next.clone()) {
                        parts.push(next);
                    }
                }
            }
            self.trials.push(trial);
        }
        let all: Vec<usize> = (0..self.taken.len()).collect();
        self.go(run, &all)
    }

    /// Removes the steps from `depth` on, which the machine has undone.
    pub(crate) fn truncate(&mut self, depth: usize) {
        if self.taken.len() <= depth {
            return;
        }
        let (sites, trials) = self.before[depth + 1];
        self.before.truncate(depth + 1);
        self.sites.truncate(sites);
        self.trials.truncate(trials);
        self.taken.truncate(depth);
        self.path.truncate(depth);
        for site in &mut self.sites {
            site.done = site.done.filter(|&at| at < depth);
        }
    }

    /// Adds the newest step, and the operations that it made pending, each with the smallest part after which it is
    /// pending.
    fn learn<M: Machine>(&mut self, run: &Run<'_, M>, newest: Option<usize>) -> Vec<(usize, Part)> {
        let mut least = Part::default();
        if let Some(e) = newest {
            let step = run.machine().step(e);
            let touches = run.machine().touches(e).to_vec();
            self.taken.push(ConfigurationStep { thread: step.thread, branch: step.choice.branch, touches });
            let site = self.sites.iter_mut().rfind(|site| site.thread == step.thread && site.done.is_none());
            site.expect("what is carried out was pending: our own error if not").done = Some(e);
            run.clocks.add_past(e, &mut least);
        }
        let mut pending = Vec::new();
        run.machine().pending(&mut pending);
        let mut parts = Vec::new();
        for thread in pending.into_iter().map(|what| run.machine().thread(what)) {
            if !self.sites.iter().any(|site| site.thread == thread && site.done.is_none()) {
                parts.push((self.sites.len(), least.clone()));
                self.sites.push(Site { thread, done: None });
            }
        }
        parts
    }

    /// Returns `true` if a step outside the part of a trial makes a difference there and does not happen after the
    /// site itself.
    fn may_add<M: Machine>(&self, run: &Run<'_, M>, trial: &Trial, s: usize) -> bool {
        let done = self.sites[trial.site].done;
        done.is_none_or(|done| done > s || !run.clocks.before(done, s))
            && trial.touches.iter().any(|touch| self.taken[s].touches.iter().any(|other| other.conflicts(*touch)))
    }

    /// Executes a site after a part of C, with each of its branches. Appends the events that have the part as their
    /// past, and returns the combined footprint, or the objects that the site waits for.
    fn run_after<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        site: usize,
        part: &Part,
        out: &mut Vec<Extension>,
    ) -> Result<Vec<Touch>, Stop> {
        let steps: Vec<usize> = part.iter().map(|s| s as usize).collect();
        self.go(run, &steps)?;
        let thread = self.sites[site].thread;
        let what = run.machine().find(thread).expect("it is pending after this part: our own error if not");
        let mut enabled = Vec::new();
        run.all_enabled(&mut enabled)?;
        enabled.retain(|choice| choice.what == what);
        let mut touched = Vec::new();
        // If only other branches are enabled, the first one may still become enabled.
        if !enabled.iter().any(|choice| choice.branch == Branch::FIRST) {
            run.blocked_on(what, &mut touched);
        }
        while let Some(choice) = enabled.pop() {
            let executed = run.try_out(choice)?;
            let event = run.machine().step(steps.len()).event;
            let touches = run.machine().touches(steps.len()).to_vec();
            let mut causes = Vec::new();
            run.machine().causes(steps.len(), &mut causes);
            enabled.extend(executed.next_branch.map(|branch| Choice { what, branch }));
            run.rewind_trial(steps.len());
            let conflicts = |&s: &usize| self.taken[s].touches.iter().any(|a| touches.iter().any(|b| a.conflicts(*b)));
            let mut after: Vec<usize> = causes.into_iter().map(|cause| steps[cause]).collect();
            after.extend(steps.iter().copied().filter(conflicts));
            touched.extend(touches.iter().filter(|touch| !touched.contains(touch)).copied().collect::<Vec<_>>());
            let mut past = Part::default();
            after.iter().for_each(|&s| run.clocks.add_past(s, &mut past));
            if past == *part {
                out.push(Extension { thread, branch: choice.branch, event, after, touches });
            }
        }
        Ok(touched)
    }

    /// Moves the machine so that it has taken exactly these steps of C.
    fn go<M: Machine>(&mut self, run: &mut Run<'_, M>, steps: &[usize]) -> Result<(), Stop> {
        let common = self.path.iter().zip(steps).take_while(|(a, b)| a == b).count();
        if common < self.path.len() {
            run.rewind_trial(common);
            self.path.truncate(common);
        }
        for &s in &steps[common..] {
            let ConfigurationStep { thread, branch, .. } = self.taken[s];
            let what = run.machine().find(thread).expect("a part of C can be run: our own error if not");
            run.try_out(Choice { what, branch })?;
            self.path.push(s);
        }
        Ok(())
    }
}

/// Returns a part extended by a step and its past.
fn with<M: Machine>(run: &Run<'_, M>, part: &Part, s: usize) -> Part {
    let mut part = part.clone();
    run.clocks.add_past(s, &mut part);
    part
}

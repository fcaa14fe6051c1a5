//! The unfolding search: exactly one execution per trace, found through conflicts between events.
//!
//! The executions of a program, up to the order of independent steps, are the configurations of an event structure,
//! its *unfolding*: an event is a step together with everything that happens before it, and two events are in
//! conflict if no execution contains both. The search (algorithm 1 of Rodríguez, Sousa, Sharma and Kroening, CONCUR
//! 2015) visits the maximal configurations. It maintains:
//!
//! * *C*, the current configuration: the execution of the machine, with one level per step;
//! * *D*, the events to avoid: all configurations that contain C and one of them have been explored;
//! * *A*, the guide: the events to take next, because they are in conflict with D;
//! * *U*, the known events: see [`Unfolding`].
//!
//! In C the search takes an event e, one of the guide if there is a guide, and explores everything that contains it.
//! Then it adds e to D and searches U for an *alternative*: a set of events that can follow C and are in conflict
//! with everything in D (`alternatives.rs`). This set becomes the guide; without an alternative, C is finished.
//! Finding an alternative is a hard problem, so the search can be restricted to the k newest events of D (Nguyen,
//! Rodríguez, Sousa, Coti and Petrucci, CAV 2018). It may then reach executions in which all remaining events are to
//! be avoided; these are blocked.
//!
//! With a dependence relation by actors, the events that can follow C are found by `actors.rs`. With
//! footprints, the machine lists them if it knows them beforehand; otherwise they are found by trial
//! (`trials.rs`).

pub(crate) mod actors;
pub(crate) mod alternatives;
pub(crate) mod excluded;
pub(crate) mod export;
pub(crate) mod trials;
pub(crate) mod unfolding;

use crate::driver::run::{Run, Stop};
use crate::reductions::udpor::actors::{DeliveryEvents, PossibleDelivery};
use crate::reductions::udpor::excluded::Excluded;
use crate::reductions::udpor::trials::Trials;
use crate::reductions::udpor::unfolding::{Offer, Unfolding};
use smallvec::SmallVec;
use whippet_model::{BitSet, Choice, Dependence, Events, Extension, Machine, is_subset};

/// Explores every trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    if run.prunes() {
        let why =
            "the unfolding has every event, and this program's rule leaves some out: choose the reduction `optimal`";
        return Err(Stop::unsupported(why));
    }
    let mut search = Search::new(true, run.options.alternatives);
    let result = search.explore(run);
    let (known, avoided) = (search.unfolding.largest as u64, search.most_avoided as u64);
    run.counters.events = Some(Events::new(search.unfolding.created, known, avoided));
    result
}

/// Returns the whole unfolding: no event is removed, and every event has a description.
pub(crate) fn unfold<M: Machine>(run: &mut Run<'_, M>) -> Result<Unfolding, Stop> {
    let mut search = Search::new(false, None);
    search.explore(run)?;
    Ok(search.unfolding)
}

/// One event of C.
struct ConfigurationEvent {
    event: u32,
    /// The number of events in `following` before this one was taken.
    following: usize,
    /// The size of D at that time.
    avoided: usize,
}

struct Search {
    unfolding: Unfolding,
    /// C, in the order of steps.
    levels: Vec<ConfigurationEvent>,
    /// conf(C): the events in conflict with C.
    excluded: Excluded,
    /// D, as a list and as a set.
    avoided: Vec<u32>,
    avoided_set: BitSet,
    /// A, and the number of its events that are left.
    guide: BitSet,
    guided: usize,
    /// ex(C): the events that can follow C or a part of it, level by level.
    following: Vec<u32>,
    deliveries: DeliveryEvents,
    trials: Trials,
    collects: bool,
    /// The number of events of D that an alternative has to be in conflict with.
    alternatives: Option<usize>,
    /// The size of the largest D with which something was explored.
    most_avoided: usize,
    /// Buffers that keep their allocations.
    offers: Vec<Extension>,
    possible: Vec<PossibleDelivery>,
}

impl Search {
    fn new(collects: bool, alternatives: Option<usize>) -> Search {
        Search {
            unfolding: Unfolding::default(),
            levels: Vec::new(),
            excluded: Excluded::default(),
            avoided: Vec::new(),
            avoided_set: BitSet::default(),
            guide: BitSet::default(),
            guided: 0,
            following: Vec::new(),
            deliveries: DeliveryEvents::default(),
            trials: Trials::default(),
            collects,
            alternatives,
            most_avoided: 0,
            offers: Vec::new(),
            possible: Vec::new(),
        }
    }

    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        run.follow_clocks();
        self.extend(run)?;
        loop {
            while let Some(event) = self.choose(run)? {
                self.enter(run, event)?;
            }
            if !self.back(run)? {
                return Ok(());
            }
        }
    }

    /// Returns the next event, or `None` if the execution ends here.
    fn choose<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<Option<u32>, Stop> {
        if run.depth() >= run.options.limits.steps {
            run.complete()?;
            return Ok(None);
        }
        let guided = self.guided > 0;
        let excluded = &self.excluded;
        let enabled = self.following.iter().copied().filter(|&id| excluded.fits(id) && !excluded.contains(id));
        let allowed = |&id: &u32| if guided { self.guide.contains(id) } else { !self.avoided_set.contains(id) };
        let mut some = false;
        let mut chosen = enabled.inspect(|_| some = true).find(allowed);
        if guided {
            chosen = chosen.or_else(|| self.known_branch());
            assert!(chosen.is_some(), "the guide of the unfolding search leads nowhere: this is our own error");
        }
        if chosen.is_none() {
            if some {
                assert!(self.alternatives.is_some(), "the unfolding search is blocked: this is our own error");
                run.blocked();
            } else {
                run.complete()?;
            }
        }
        Ok(chosen)
    }

    /// Returns the next event of the guide for a branch that is known, but that is listed only after executing the
    /// step again.
    fn known_branch(&self) -> Option<u32> {
        let mut configuration = BitSet::default();
        self.levels.iter().for_each(|level| configuration.insert(level.event));
        self.guide.iter().find(|&id| is_subset(self.unfolding.past(id), configuration.words()))
    }

    /// Takes an event.
    fn enter<M: Machine>(&mut self, run: &mut Run<'_, M>, event: u32) -> Result<(), Stop> {
        let (thread, branch) = self.unfolding.label(event);
        let what = run.machine().find(thread).expect("an event that can follow is pending: our own error if not");
        let executed = run.execute(Choice { what, branch })?;
        // A branch that is found only by executing the step has the same past, so it belongs to the level before.
        if run.profile().dependence == Dependence::PerActor
            && let Some(next) = executed.next_branch
        {
            let (sibling, new) = self.unfolding.sibling(event, next);
            if new {
                self.excluded.learn(&self.unfolding, sibling);
            }
            if !self.following.contains(&sibling) {
                self.following.push(sibling);
            }
        }
        let level = ConfigurationEvent { event, following: self.following.len(), avoided: self.avoided.len() };
        self.levels.push(level);
        self.excluded.push(&self.unfolding, event);
        if self.guided > 0 && self.guide.contains(event) {
            self.guide.remove(event);
            self.guided -= 1;
        }
        if !self.collects {
            let at = run.depth() - 1;
            self.unfolding.tell(event, || run.describe(at).to_string());
        }
        self.extend(run)
    }

    /// Adds the events that the newest step enables.
    fn extend<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let from = self.following.len();
        match run.profile().dependence {
            Dependence::Footprints => {
                let mut offers = std::mem::take(&mut self.offers);
                if !run.extensions(&mut offers)? {
                    self.trials.extensions(run, &mut offers)?;
                }
                for Extension { thread, branch, event, after, touches } in offers.drain(..) {
                    self.follow(from, &after, Offer { thread, branch, event, touches: &touches });
                }
                self.offers = offers;
            }
            Dependence::PerActor => {
                let mut possible = std::mem::take(&mut self.possible);
                self.deliveries.extensions(run, &mut possible)?;
                for PossibleDelivery { thread, branch, after, touch } in possible.drain(..) {
                    self.follow(
                        from,
                        &after,
                        Offer { thread, branch, event: thread.mixed(branch.0), touches: &[touch] },
                    );
                }
                self.possible = possible;
            }
        }
        Ok(())
    }

    /// Adds an event that can follow the steps `after`. The events that the newest step enabled are listed from
    /// `from` on.
    fn follow(&mut self, from: usize, after: &[usize], offer: Offer<'_>) {
        let after: SmallVec<[u32; 4]> = after.iter().map(|&step| self.levels[step].event).collect();
        let (id, new) = self.unfolding.add(offer, &after);
        if new {
            self.excluded.learn(&self.unfolding, id);
        }
        if !self.following[from..].contains(&id) {
            self.following.push(id);
        }
    }

    /// Goes back to the newest configuration that has an alternative. Returns `false` if the search is finished.
    fn back<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<bool, Stop> {
        let mut found = false;
        while let Some(ConfigurationEvent { event, following, avoided }) = self.levels.pop() {
            self.excluded.pop(event);
            self.following.truncate(following);
            for id in self.avoided.drain(avoided..) {
                self.avoided_set.remove(id);
            }
            self.avoided.push(event);
            self.avoided_set.insert(event);
            self.guide.clear();
            let Search { unfolding, excluded, guide, .. } = self;
            found = unfolding.alternative(run, excluded, &self.avoided, &self.avoided_set, self.alternatives, guide)?;
            if found {
                break;
            }
            self.collect();
        }
        run.rewind(self.levels.len());
        self.deliveries.truncate(run.machine());
        self.trials.truncate(self.levels.len());
        self.most_avoided = self.most_avoided.max(if found { self.avoided.len() } else { 0 });
        self.levels.iter().for_each(|level| self.guide.remove(level.event));
        self.guided = self.guide.iter().count();
        Ok(found)
    }

    /// Removes the events that no alternative can need: U becomes C, D, the events that can follow, the events in
    /// conflict with C or D, and the pasts of all these.
    fn collect(&mut self) {
        if !self.collects || !self.unfolding.is_worth_collecting() {
            return;
        }
        let kept = self.levels.iter().map(|level| level.event).chain(self.avoided.iter().copied());
        self.unfolding.collect(kept, &self.following);
    }
}

//! The unfolding search: exactly one execution per trace, from the conflicts of events.
//!
//! The executions of a program, taken up to the order of independent steps, are the configurations of an event
//! structure, its *unfolding*: an event is a step together with everything that happens before it, and two
//! events are in conflict when no execution has both. The search (algorithm 1 of Rodríguez, Sousa, Sharma and Kroening,
//! CONCUR 2015) walks through the maximal configurations:
//!
//! * *C*, the configuration at hand, is the execution of the machine: one level per step;
//! * *D*, the events to avoid: everything with them and C has been explored;
//! * *A*, the guide: events to go through next, because they lead away from D;
//! * *U*, the events known: see [`Unfolding`].
//!
//! From C it takes an event e, through the guide if there is one, and explores everything that contains it. Then it puts
//! e into D and looks in U for an *alternative*: events that can follow C and are in conflict with everything in D
//! (`udpor_alternatives.rs`). Such a set becomes the guide; where there is none, C is done. Finding one is a hard
//! problem, so it may be told to care for the k newest events of D only (Nguyen, Rodríguez, Sousa, Coti and Petrucci,
//! CAV 2018): then it may run into executions where all that is left is to be avoided, and gives them up.
//!
//! The events that can follow C come from the machine where the relation is by footprints, and from
//! `udpor_actors.rs` where it is by actors.

use crate::run::{Run, Stop};
use crate::udpor_actors::Deliveries;
use crate::udpor_unfolding::{Offer, Unfolding};
use fixedbitset::FixedBitSet;
use whippet_model::{Choice, Extension, Machine, Relation};

/// Explores every trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    if run.leaves_out() {
        let why =
            "the unfolding has every event, and this program's rule leaves some out: choose the reduction `optimal`";
        return Err(Stop::unsupported(why));
    }
    let mut search = Search::new(true, run.options.alternatives);
    let result = search.explore(run);
    run.control.note(format!(
        "udpor: {} events created, at most {} known at a time (U), at most {} to avoid (D)",
        search.unfolding.created, search.unfolding.largest, search.most_avoided
    ));
    result
}

/// The whole unfolding: nothing is forgotten, and every event knows what it did.
pub(crate) fn unfold<M: Machine>(run: &mut Run<'_, M>) -> Result<Unfolding, Stop> {
    let mut search = Search::new(false, None);
    search.explore(run)?;
    Ok(search.unfolding)
}

/// One event of C.
struct Level {
    event: u32,
    /// How many events were known to be able to follow before this one was taken.
    following: usize,
    /// The size of D at that time.
    avoided: usize,
}

struct Search {
    unfolding: Unfolding,
    /// C, in the order of steps.
    levels: Vec<Level>,
    /// C as a set.
    configuration: FixedBitSet,
    /// D.
    avoided: Vec<u32>,
    /// A.
    guide: FixedBitSet,
    /// ex(C): what can follow C or a part of it, level by level.
    following: Vec<u32>,
    deliveries: Deliveries,
    collects: bool,
    /// How many events of D an alternative cares for.
    alternatives: Option<usize>,
    /// The largest D that something was explored with.
    most_avoided: usize,
    offers: Vec<Extension>,
}

impl Search {
    fn new(collects: bool, alternatives: Option<usize>) -> Search {
        Search {
            unfolding: Unfolding::default(),
            levels: Vec::new(),
            configuration: FixedBitSet::new(),
            avoided: Vec::new(),
            guide: FixedBitSet::new(),
            following: Vec::new(),
            deliveries: Deliveries::default(),
            collects,
            alternatives,
            most_avoided: 0,
            offers: Vec::new(),
        }
    }

    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        run.follow_clocks();
        self.extend(run)?;
        loop {
            while let Some(event) = self.choose(run)? {
                self.enter(run, event)?;
            }
            if !self.back(run) {
                return Ok(());
            }
        }
    }

    /// The next event, if the execution is to go on.
    fn choose<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<Option<u32>, Stop> {
        if run.depth() >= run.options.limits.steps {
            run.complete()?;
            return Ok(None);
        }
        let guided = !self.guide.is_clear();
        let enabled = self.following.iter().copied().filter(|&event| {
            !self.configuration.contains(event as usize) && self.unfolding.fits(event, &self.configuration)
        });
        let allowed = |event: &u32| {
            if guided { self.guide.contains(*event as usize) } else { !self.avoided.contains(event) }
        };
        let mut some = false;
        let mut chosen = enabled.inspect(|_| some = true).find(allowed);
        if guided {
            chosen = chosen.or_else(|| self.known_way());
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

    /// The next event of a guide that goes a way which is known, but which only running the step would tell of again.
    fn known_way(&self) -> Option<u32> {
        let ready = |event: &usize| self.unfolding.event(*event as u32).past.is_subset(&self.configuration);
        self.guide.ones().find(ready).map(|event| event as u32)
    }

    /// Takes an event.
    fn enter<M: Machine>(&mut self, run: &mut Run<'_, M>, event: u32) -> Result<(), Stop> {
        let (thread, branch) = self.unfolding.label(event);
        let what = run.machine.find(thread).expect("an event that can follow is pending: our own error if not");
        run.execute(Choice { what, branch })?;
        // A branch that only running the step could tell of has the same past, so it belongs to the level before.
        if let Some(next) = run.machine.next_branch() {
            let sibling = self.unfolding.sibling(event, next);
            if !self.following.contains(&sibling) {
                self.following.push(sibling);
            }
        }
        let level = Level { event, following: self.following.len(), avoided: self.avoided.len() };
        self.levels.push(level);
        self.configuration.grow_and_insert(event as usize);
        if self.guide.contains(event as usize) {
            self.guide.remove(event as usize);
        }
        if !self.collects {
            let at = run.depth() - 1;
            self.unfolding.tell(event, || run.machine.describe(at).to_string());
        }
        self.extend(run)
    }

    /// Learns which events the newest step makes possible.
    fn extend<M: Machine>(&mut self, run: &mut Run<'_, M>) -> Result<(), Stop> {
        let mut offers = std::mem::take(&mut self.offers);
        match run.machine.relation() {
            Relation::Footprints => run.machine.extensions(&run.clocks, &mut offers)?,
            Relation::SameActor => self.deliveries.extensions(&mut run.machine, &run.clocks, &mut offers),
        }
        let from = self.following.len();
        for offer in offers.drain(..) {
            let after = offer.after.iter().map(|&step| self.levels[step].event);
            let Extension { thread, branch, event, touches, .. } = &offer;
            let id = self.unfolding.add(Offer { thread: *thread, branch: *branch, event: *event, touches }, after);
            if !self.following[from..].contains(&id) {
                self.following.push(id);
            }
        }
        self.offers = offers;
        Ok(())
    }

    /// Takes steps back to where an alternative leads somewhere else. The answer is no when all is done.
    fn back<M: Machine>(&mut self, run: &mut Run<'_, M>) -> bool {
        while let Some(Level { event, following, avoided }) = self.levels.pop() {
            run.rewind(self.levels.len());
            self.deliveries.truncate(&run.machine);
            self.configuration.remove(event as usize);
            self.following.truncate(following);
            self.avoided.truncate(avoided);
            self.avoided.push(event);
            let configuration = self.levels.iter().map(|level| level.event);
            if let Some(guide) = self.unfolding.alternative(configuration, &self.avoided, self.alternatives) {
                self.most_avoided = self.most_avoided.max(self.avoided.len());
                self.guide = guide;
                self.guide.difference_with(&self.configuration);
                return true;
            }
            self.collect();
        }
        false
    }

    /// Forgets the events that no alternative can need: U becomes C, D, what may follow, and what is in conflict
    /// with C or D, with everything before it.
    fn collect(&mut self) {
        if !self.collects || !self.unfolding.is_worth_collecting() {
            return;
        }
        let kept = self.levels.iter().map(|level| level.event).chain(self.avoided.iter().copied());
        self.unfolding.collect(kept, &self.following);
    }
}

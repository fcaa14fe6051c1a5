//! Hash of a whole configuration.
//!
//! The canonical hash is a sum with one term per actor and one per pending message. A step changes few terms: the old
//! ones are subtracted and the new ones added, and the sums of earlier configurations are kept for undoing steps. The
//! ordered hash depends on the numbers of actors and the positions of pending messages, so it is computed from scratch
//! each time, and so are the hashes that compare as Basset does.
//!
//! With ordered delivery, a configuration also includes which messages have to wait for which, now and later. This part
//! is computed from scratch too.
//!
//! Actors with an async body are compared by the text of the messages they have received, in which addresses print as
//! their stable names.

use super::ActorStep;
use super::faults::Faults;
use crate::address::with_labels;
use crate::cell::ActorCell;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::messages::SendKind;
use smallvec::SmallVec;
use whippet_model::{MachineError, Name, Remembered, StateComparison};

/// Two independent sums of 64 bits each. 128 bits make a collision, which would merge two different states, unlikely.
type Sums = [u64; 2];

/// The sums of the current configuration, and the data to restore those of earlier ones.
#[derive(Default)]
pub(super) struct Fingerprints {
    sums: Sums,
    /// The configurations on the current path whose hash was requested.
    known: Vec<SavedSums>,
    /// The terms of all actors, and of all messages sent so far.
    actors: Vec<Sums>,
    messages: Vec<Sums>,
    /// The previous terms of actors, to be restored when steps are undone.
    undo: Vec<(u32, Sums)>,
}

/// A configuration whose hash was requested, with the data to restore the one requested before it.
struct SavedSums {
    depth: usize,
    sums: Sums,
    actors: usize,
    messages: usize,
    undo: usize,
}

/// The program in its current configuration.
#[derive(Copy, Clone)]
pub(super) struct ConfigurationView<'a> {
    pub(super) engine: &'a Engine,
    pub(super) cells: &'a [Box<dyn ActorCell>],
    pub(super) records: &'a [ActorStep],
    pub(super) delivery: Delivery,
    /// `true` if there may be an actor with an async body.
    pub(super) bodies: bool,
    pub(super) faults: Option<&'a Faults>,
    /// The properties of executions that have held.
    pub(super) reached: Option<Name>,
}

impl Fingerprints {
    /// Returns the hash of the current configuration.
    pub(super) fn of(&mut self, view: ConfigurationView<'_>, how: StateComparison) -> Result<u128, MachineError> {
        if !view.engine.shared.is_empty() {
            let why = "programs with shared variables cannot be compared by their states: use another search";
            return Err(MachineError::Unsupported(why.to_owned()));
        }
        labelled(view, || self.hash(view, how))
    }

    /// Returns a hash of a pending message and of the state of its receiver.
    pub(super) fn delivery(&mut self, view: ConfigurationView<'_>, what: u32) -> Result<u64, MachineError> {
        labelled(view, || self.update(view))?;
        let to = view.engine.messages[what].to as usize;
        Ok(Name(self.actors[to][0]).mixed(self.messages[what as usize][0]).0)
    }

    /// Returns `true` if the newest step, which an actor took, left its state unchanged. Hashes were requested in the
    /// configuration before.
    pub(super) fn is_unchanged(&self, view: ConfigurationView<'_>, actor: u32) -> Result<bool, MachineError> {
        let newest = self.known.last().filter(|known| known.depth == view.records.len());
        let replaced = newest.and_then(|known| self.undo[known.undo..].iter().find(|(slot, _)| *slot == actor));
        let before = replaced.map_or_else(|| self.actors.get(actor as usize).copied(), |&(_, before)| Some(before));
        Ok(before == Some(labelled(view, || view.actor(actor as usize))?))
    }

    /// Restores the sums after all steps from `depth` on have been undone.
    pub(super) fn rewind(&mut self, depth: usize) {
        while let Some(known) = self.known.pop_if(|known| known.depth > depth) {
            self.sums = known.sums;
            // Actors created since then may have taken steps too, so they are removed last.
            for (actor, part) in self.undo.drain(known.undo..).rev() {
                self.actors[actor as usize] = part;
            }
            self.actors.truncate(known.actors);
            self.messages.truncate(known.messages);
        }
    }

    fn hash(&mut self, view: ConfigurationView<'_>, how: StateComparison) -> Result<u128, MachineError> {
        let (mut sums, order) = match how {
            StateComparison::Canonical => {
                self.update(view)?;
                let mut sums = self.sums;
                for what in view.cancelled_timers() {
                    take(&mut sums, self.messages[what as usize]);
                }
                (sums, view.order(|slot| view.engine.actors[slot as usize].name.0)?)
            }
            StateComparison::Ordered => (ordered(view)?, view.order(u64::from)?),
            StateComparison::BassetActor(remembered) => (basset(view, remembered, false)?, view.order(u64::from)?),
            StateComparison::BassetJpf(remembered) => (basset(view, remembered, true)?, view.order(u64::from)?),
        };
        add(&mut sums, order);
        for (k, left) in view.faults.into_iter().flat_map(Faults::budgets).enumerate() {
            add(&mut sums, part(Name(k as u64).mixed(7).mixed(u64::from(left))));
        }
        if let Some(reached) = view.reached {
            add(&mut sums, part(reached));
        }
        if !view.engine.histories.is_empty() {
            add(&mut sums, view.engine.histories.hash(|slot| view.engine.actors[slot as usize].name));
        }
        let [high, low] = sums;
        Ok(u128::from(high) << 64 | u128::from(low))
    }

    /// Updates the sums to the current configuration.
    fn update(&mut self, view: ConfigurationView<'_>) -> Result<(), MachineError> {
        let depth = view.records.len();
        let from = self.known.last().map(|known| known.depth);
        if from == Some(depth) {
            return Ok(());
        }
        let (sums, actors, messages) = (self.sums, self.actors.len(), self.messages.len());
        self.known.push(SavedSums { depth, sums, actors, messages, undo: self.undo.len() });
        for slot in actors..view.cells.len() {
            let part = view.actor(slot)?;
            self.actors.push(part);
            add(&mut self.sums, part);
        }
        for what in messages..view.engine.messages.len() as usize {
            let part = view.message(what as u32)?;
            self.messages.push(part);
            add(&mut self.sums, part);
        }
        // Among the terms that existed before, only those of the receivers of the steps since then have changed.
        let Some(from) = from else {
            let delivered =
                view.engine.messages.all().iter().zip(&self.messages).filter(|(sent, _)| !sent.is_pending());
            delivered.for_each(|(_, &part)| take(&mut self.sums, part));
            return Ok(());
        };
        for record in &view.records[from..] {
            take(&mut self.sums, self.messages[record.choice.what.0 as usize]);
            let slot = record.actor as usize;
            let part = view.actor(slot)?;
            let before = std::mem::replace(&mut self.actors[slot], part);
            take(&mut self.sums, before);
            add(&mut self.sums, part);
            self.undo.push((record.actor, before));
        }
        Ok(())
    }
}

impl ConfigurationView<'_> {
    fn actor(self, slot: usize) -> Result<Sums, MachineError> {
        let info = &self.engine.actors[slot];
        // The test itself is not an actor of the program.
        let hash = if slot == 0 { Some(0) } else { self.cells[slot].hash(self.engine) };
        Ok(part(info.name.mixed(hash.ok_or_else(|| no_hash(&info.kind))?)))
    }

    fn message(self, what: u32) -> Result<Sums, MachineError> {
        let name = self.engine.actors[self.engine.messages[what].to as usize].name;
        Ok(part(name.mixed(3).mixed(self.content(what)?)))
    }

    fn content(self, what: u32) -> Result<u64, MachineError> {
        let to = self.engine.messages[what].to as usize;
        let hash = self.cells[to].hash_message(self.engine, what);
        let hash = hash.ok_or_else(|| no_hash(&self.engine.actors[to].kind))?;
        Ok(self.faults.map_or(hash, |faults| Name(hash).mixed(faults.hash_message(self.engine, what)).0))
    }

    /// Returns the timers that are pending although they were cancelled.
    fn cancelled_timers(self) -> impl Iterator<Item = u32> {
        let timers = &self.engine.timers;
        timers.pending(&self.engine.messages).filter(|&what| timers.is_cancelled(what))
    }

    /// Hashes what determines the order in which timers fire: the position of each among those of its actor, and its time.
    fn timers(self, who: impl Fn(u32) -> u64) -> Result<Sums, MachineError> {
        let (mut sums, mut seen) = ([0; 2], SmallVec::<[u32; 8]>::new());
        let (timers, messages) = (&self.engine.timers, &self.engine.messages);
        for what in timers.pending(messages).filter(|&what| !timers.is_cancelled(what)) {
            let actor = messages[what].to;
            let position = seen.iter().filter(|&&other| other == actor).count() as u64;
            let after = timers.duration(what).unwrap_or_default().as_nanos() as u64;
            let name = Name(who(actor)).mixed(position).mixed(after);
            add(&mut sums, part(name.mixed(8).mixed(self.content(what)?)));
            seen.push(actor);
        }
        Ok(sums)
    }

    /// Hashes what determines the delivery order of pending messages and of those sent later. `who` identifies an actor.
    ///
    /// Messages between the same two actors are ordered, so their receiver, sender and position identify them.
    fn order(self, who: impl Fn(u32) -> u64) -> Result<Sums, MachineError> {
        let mut sums = self.timers(&who)?;
        if self.delivery == Delivery::Unordered {
            return Ok(sums);
        }
        let (messages, clocks) = (&self.engine.messages, &self.engine.shared.clocks);
        let mut pending: SmallVec<[(u32, Name); 16]> = SmallVec::new();
        // A copy waits for nothing, and its receiver knows already what the message carried.
        let ordered = |what: &u32| !self.engine.timers.is_cancelled(*what) && messages[*what].kind != SendKind::Copy;
        for what in messages.pending().filter(ordered) {
            let (from, to) = (messages[what].from, messages[what].to);
            let position = pending.iter().filter(|&&(p, _)| (messages[p].from, messages[p].to) == (from, to)).count();
            let name = Name(who(to)).mixed(who(from)).mixed(position as u64);
            add(&mut sums, part(name.mixed(4).mixed(self.content(what)?)));
            pending.push((what, name));
        }
        if self.delivery == Delivery::Causal {
            // Messages sent by an actor that knows of a pending one come after it, and so do those sent by the receivers
            // of messages that carry this knowledge.
            for &(q, name) in &pending {
                let from = messages[q].from;
                let actors = (0..self.cells.len() as u32).filter(|&slot| clocks.has_seen(slot, q, from));
                actors.for_each(|slot| add(&mut sums, part(name.mixed(5).mixed(who(slot)))));
                let messages = pending.iter().filter(|&&(p, _)| p != q && clocks.sent_before(q, from, p));
                messages.for_each(|(_, other)| add(&mut sums, part(name.mixed(6).mixed(other.0))));
            }
        }
        Ok(sums)
    }
}

/// Calls a function that hashes, with the names by which addresses are compared.
fn labelled<T>(view: ConfigurationView<'_>, hash: impl FnOnce() -> T) -> T {
    if !view.bodies {
        return hash();
    }
    with_labels(view.engine.actors.iter().map(|info| info.name.to_string()).collect(), hash)
}

/// Hashes actors in the order they were created and messages in the order they were sent.
fn ordered(view: ConfigurationView<'_>) -> Result<Sums, MachineError> {
    let engine = view.engine;
    let mut sums = [0; 2];
    for slot in 1..view.cells.len() {
        let hash = view.cells[slot].hash(engine).ok_or_else(|| no_hash(&engine.actors[slot].kind))?;
        add(&mut sums, part(Name(slot as u64).mixed(hash)));
    }
    let live = engine.messages.pending().filter(|&p| !engine.timers.is_cancelled(p));
    for (k, p) in live.enumerate() {
        let to = engine.messages[p].to;
        add(&mut sums, part(Name(k as u64).mixed(u64::from(to)).mixed(view.content(p)?)));
    }
    Ok(sums)
}

/// Hashes actors in the order they were created, each with what it remembers, and messages by receiver in the order they were
/// sent. With `sequential`, also the order of messages to different receivers, and the actor that acted last.
fn basset(view: ConfigurationView<'_>, remembered: Remembered, sequential: bool) -> Result<Sums, MachineError> {
    let engine = view.engine;
    let mut last: Vec<Option<u32>> = vec![None; view.cells.len()];
    view.records.iter().for_each(|record| last[record.actor as usize] = Some(record.choice.what.0));
    let mut sums = [0; 2];
    for (slot, last) in last.into_iter().enumerate().skip(1) {
        let hash = view.cells[slot].hash(engine).ok_or_else(|| no_hash(&engine.actors[slot].kind))?;
        let memory = match (remembered, last) {
            (Remembered::Nothing, _) | (_, None) => 0,
            (Remembered::Message, Some(what)) => view.content(what)?,
            (Remembered::Sender, Some(what)) => u64::from(engine.messages[what].from) + 1,
        };
        add(&mut sums, part(Name(slot as u64).mixed(hash).mixed(memory)));
    }
    let mut waiting = vec![0; view.cells.len()];
    let live = engine.messages.pending().filter(|&p| !engine.timers.is_cancelled(p));
    for (k, p) in live.enumerate() {
        let to = engine.messages[p].to;
        let position = if sequential { k as u64 } else { waiting[to as usize] };
        waiting[to as usize] += 1;
        add(&mut sums, part(Name(position).mixed(u64::from(to)).mixed(view.content(p)?)));
    }
    if let Some(record) = view.records.last().filter(|_| sequential) {
        add(&mut sums, part(Name(u64::from(record.actor)).mixed(9)));
    }
    Ok(sums)
}

#[inline]
fn part(name: Name) -> Sums {
    [name.0, name.mixed(13).0]
}

#[inline]
fn add(sums: &mut Sums, part: Sums) {
    *sums = [sums[0].wrapping_add(part[0]), sums[1].wrapping_add(part[1])];
}

#[inline]
fn take(sums: &mut Sums, part: Sums) {
    *sums = [sums[0].wrapping_sub(part[0]), sums[1].wrapping_sub(part[1])];
}

fn no_hash(kind: &str) -> MachineError {
    MachineError::Unsupported(format!(
        "the state of {kind} cannot be compared: derive Hash for it and its messages and add \
         `const HASHES: Hashes<Self> = Hashes::of();` to its Actor, or use another search"
    ))
}

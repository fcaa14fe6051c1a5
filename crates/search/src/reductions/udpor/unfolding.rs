//! The events known to the unfolding search: U.
//!
//! Each event has a small number, which is reused after the event has been removed. Four relations store the events
//! that happen before it, the known events that happen after it, the events that it is in conflict with, and those of
//! the latter with which it is in *immediate* conflict: the two steps depend on each other, and the conflict is not
//! inherited from events before them. An event is identified by a hash of its step and of the events directly before
//! it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use whippet_model::{BitMatrix, BitSet, Branch, Name, Touch, is_disjoint};

/// A step that could happen.
pub(crate) struct Offer<'a> {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    pub(crate) event: Name,
    pub(crate) touches: &'a [Touch],
}

/// One event.
#[derive(Clone)]
struct Event {
    /// A hash of the event and its past.
    key: Name,
    thread: Name,
    branch: Branch,
    event: Name,
    touches: SmallVec<[Touch; 2]>,
    /// A hash of the events directly before it.
    after: u64,
    /// The number of events of its thread before it.
    number: u32,
    text: Option<String>,
}

impl Event {
    /// Returns a name for the thread and the number of this event in it: two events with the same name are always in
    /// conflict.
    fn turn(&self) -> Name {
        self.thread.mixed(u64::from(self.number))
    }
}

/// U: the known events and the relations between them.
#[derive(Default)]
pub(crate) struct Unfolding {
    events: Vec<Option<Event>>,
    free: Vec<u32>,
    known: FxHashMap<Name, u32>,
    by_turn: FxHashMap<Name, Vec<u32>>,
    by_object: FxHashMap<Name, Vec<u32>>,
    past: BitMatrix,
    future: BitMatrix,
    conflicts: BitMatrix,
    direct: BitMatrix,
    /// The number of events, and that number after the last collection.
    live: usize,
    kept: usize,
    pub(crate) created: u64,
    pub(crate) largest: usize,
    /// Buffers that keep their allocations.
    scratch: [BitSet; 4],
}

impl Unfolding {
    fn event(&self, id: u32) -> &Event {
        self.events[id as usize].as_ref().expect("events that are asked about are known")
    }

    /// Returns the count of numbers ever assigned, including those of removed events.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns the thread and the branch of an event.
    pub(crate) fn label(&self, id: u32) -> (Name, Branch) {
        (self.event(id).thread, self.event(id).branch)
    }

    /// Returns the events before an event, as a bit set.
    pub(crate) fn past(&self, id: u32) -> &[u64] {
        self.past.row(id)
    }

    /// Iterates over the events in conflict with an event.
    pub(crate) fn conflicts(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.conflicts.members(id)
    }

    pub(crate) fn in_conflict(&self, id: u32, other: u32) -> bool {
        self.conflicts.contains(id, other)
    }

    /// Iterates over the events in immediate conflict with an event.
    pub(crate) fn direct(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.direct.members(id)
    }

    pub(crate) fn text(&self, id: u32) -> Option<&str> {
        self.event(id).text.as_deref()
    }

    pub(crate) fn tell(&mut self, id: u32, text: impl FnOnce() -> String) {
        let event = self.events[id as usize].as_mut().expect("what happens is known");
        event.text.get_or_insert_with(text);
    }

    /// Returns the event of a step that directly follows the events `after`, and `true` if it is new. The previous
    /// event of its thread must be one of them, or happen before one of them.
    pub(crate) fn add(&mut self, offer: Offer<'_>, after: &[u32]) -> (u32, bool) {
        let (mut sum, mut number) = (0u64, 0);
        for (i, &id) in after.iter().enumerate() {
            let before = self.event(id);
            if before.thread == offer.thread {
                number = number.max(before.number + 1);
            }
            // An event that happens before another one of the list adds nothing, nor does a duplicate.
            if !after[..i].contains(&id) && !after.iter().any(|&other| self.past.contains(other, id)) {
                sum = sum.wrapping_add(before.key.mixed(5).0);
            }
        }
        let key = offer.event.mixed(sum);
        if let Some(&id) = self.known.get(&key) {
            return (id, false);
        }
        let Offer { thread, branch, event, touches } = offer;
        let event = Event { key, thread, branch, event, touches: touches.into(), after: sum, number, text: None };
        (self.enter(event, after), true)
    }

    /// Returns the event that differs from another one only in the branch, and `true` if it is new.
    pub(crate) fn sibling(&mut self, id: u32, branch: Branch) -> (u32, bool) {
        let like = self.event(id);
        let event = like.event.mixed(branch.0);
        let key = event.mixed(like.after);
        if let Some(&id) = self.known.get(&key) {
            return (id, false);
        }
        let sibling = Event { branch, key, event, text: None, ..like.clone() };
        let after: Vec<u32> = self.past.members(id).collect();
        (self.enter(sibling, &after), true)
    }

    /// Assigns a number to a new event and adds it to all relations.
    fn enter(&mut self, event: Event, after: &[u32]) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() as u32 - 1
        });
        for square in [&mut self.past, &mut self.future, &mut self.conflicts, &mut self.direct] {
            square.reserve(self.events.len());
        }
        let [mut past, mut conflicts, mut dependent, mut direct] = std::mem::take(&mut self.scratch);
        [&mut past, &mut conflicts, &mut direct].into_iter().for_each(BitSet::clear);
        for &before in after {
            past.union_with(self.past.row(before));
            past.insert(before);
            conflicts.union_with(self.conflicts.row(before));
        }
        self.dependent(&event, &past, &conflicts, &mut dependent);
        for other in dependent.iter().filter(|&other| is_disjoint(self.past.row(other), dependent.words())) {
            direct.insert(other);
            conflicts.insert(other);
            conflicts.union_with(self.future.row(other));
        }
        self.past.set(id, past.words());
        self.conflicts.set(id, conflicts.words());
        self.direct.set(id, direct.words());
        self.future.clear(id);
        past.iter().for_each(|before| self.future.insert(before, id));
        conflicts.iter().for_each(|other| self.conflicts.insert(other, id));
        direct.iter().for_each(|other| self.direct.insert(other, id));
        self.scratch = [past, conflicts, dependent, direct];
        self.list(id, event);
        id
    }

    /// Collects the events that depend on a new event and can be in immediate conflict with it: neither happens
    /// before the other, and they are not in conflict with the past of the new event.
    fn dependent(&self, event: &Event, past: &BitSet, conflicts: &BitSet, out: &mut BitSet) {
        out.clear();
        for &other in self.by_turn.get(&event.turn()).into_iter().flatten() {
            out.insert(other);
        }
        for touch in &event.touches {
            for &other in self.by_object.get(&touch.object).into_iter().flatten() {
                if self.event(other).touches.iter().any(|t| t.conflicts(*touch)) {
                    out.insert(other);
                }
            }
        }
        out.subtract(past.words());
        out.subtract(conflicts.words());
    }

    fn list(&mut self, id: u32, event: Event) {
        self.by_turn.entry(event.turn()).or_default().push(id);
        for touch in &event.touches {
            let list = self.by_object.entry(touch.object).or_default();
            if list.last() != Some(&id) {
                list.push(id);
            }
        }
        self.known.insert(event.key, id);
        self.events[id as usize] = Some(event);
        self.live += 1;
        self.created += 1;
        self.largest = self.largest.max(self.live);
    }

    /// Returns `true` if enough events were added since the last collection for another one to be worthwhile.
    pub(crate) fn is_worth_collecting(&self) -> bool {
        self.live > self.kept + self.kept / 8 + 8
    }

    /// Removes all events except those in `kept` and `following`, those in immediate conflict with an event in
    /// `kept`, and the pasts of these.
    pub(crate) fn collect(&mut self, kept: impl Iterator<Item = u32>, following: &[u32]) {
        let mut live = BitSet::default();
        let mut rivals = BitSet::default();
        for id in kept {
            live.insert(id);
            rivals.union_with(self.direct.row(id));
        }
        following.iter().for_each(|&id| live.insert(id));
        live.union_with(rivals.words());
        for id in rivals.iter() {
            live.union_with(self.past.row(id));
        }
        for id in 0..self.events.len() as u32 {
            if !live.contains(id) {
                self.forget(id);
            } else {
                for square in [&mut self.past, &mut self.future, &mut self.conflicts, &mut self.direct] {
                    square.retain(id, live.words());
                }
            }
        }
        for lists in [&mut self.by_turn, &mut self.by_object] {
            lists.retain(|_, list| {
                list.retain(|&id| live.contains(id));
                !list.is_empty()
            });
        }
        self.kept = self.live;
    }

    fn forget(&mut self, id: u32) {
        if let Some(event) = self.events[id as usize].take() {
            self.known.remove(&event.key);
            self.free.push(id);
            self.live -= 1;
        }
    }
}

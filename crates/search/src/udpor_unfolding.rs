//! The events known to the unfolding search: U.
//!
//! An event has a small number, which is used again when the event is forgotten, and keeps sets of such numbers: what
//! happens before it, what is known to happen after it, what it is in conflict with, and with which of those
//! *immediately*: because the two steps depend on each other, and not through events before them. An event is found again by
//! a hash of its step and of everything before it.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use whippet_model::{Branch, Name, Touch};

/// A step that could happen.
pub(crate) struct Offer<'a> {
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    pub(crate) event: Name,
    pub(crate) touches: &'a [Touch],
}

/// One event.
#[derive(Clone)]
pub(crate) struct Event {
    /// A hash of the event and its past.
    pub(crate) key: Name,
    pub(crate) thread: Name,
    pub(crate) branch: Branch,
    event: Name,
    touches: SmallVec<[Touch; 2]>,
    /// The thread and which of its events this is: two events of one turn are always in conflict.
    turn: Name,
    pub(crate) past: FixedBitSet,
    future: FixedBitSet,
    pub(crate) conflicts: FixedBitSet,
    pub(crate) direct: FixedBitSet,
    pub(crate) text: Option<String>,
}

/// U.
#[derive(Default)]
pub(crate) struct Unfolding {
    pub(crate) events: Vec<Option<Event>>,
    free: Vec<u32>,
    known: FxHashMap<Name, u32>,
    by_turn: FxHashMap<Name, Vec<u32>>,
    by_object: FxHashMap<Name, Vec<u32>>,
    /// How many events there are, and were after the last collection.
    live: usize,
    kept: usize,
    pub(crate) created: u64,
    pub(crate) largest: usize,
}

impl Unfolding {
    pub(crate) fn event(&self, id: u32) -> &Event {
        self.events[id as usize].as_ref().expect("events that are asked about are known")
    }

    fn event_mut(&mut self, id: usize) -> &mut Event {
        self.events[id].as_mut().expect("events that are asked about are known")
    }

    /// Who acts, and which way.
    pub(crate) fn label(&self, id: u32) -> (Name, Branch) {
        (self.event(id).thread, self.event(id).branch)
    }

    /// Whether an event is in conflict with none of a set.
    pub(crate) fn fits(&self, id: u32, set: &FixedBitSet) -> bool {
        self.event(id).conflicts.is_disjoint(set)
    }

    pub(crate) fn tell(&mut self, id: u32, text: impl FnOnce() -> String) {
        self.event_mut(id as usize).text.get_or_insert_with(text);
    }

    /// The event of a step that directly follows some events, known or new.
    pub(crate) fn add(&mut self, offer: Offer<'_>, after: impl Iterator<Item = u32>) -> u32 {
        let (mut past, mut conflicts) = (FixedBitSet::new(), FixedBitSet::new());
        for id in after {
            let before = self.event(id);
            past.union_with(&before.past);
            conflicts.union_with(&before.conflicts);
            past.grow_and_insert(id as usize);
        }
        let event = Event {
            key: offer.event,
            thread: offer.thread,
            branch: offer.branch,
            event: offer.event,
            touches: offer.touches.into(),
            turn: offer.thread,
            past,
            future: FixedBitSet::new(),
            conflicts,
            direct: FixedBitSet::new(),
            text: None,
        };
        self.enter(event)
    }

    /// The event that is like another one, but went another way.
    pub(crate) fn sibling(&mut self, id: u32, branch: Branch) -> u32 {
        let like = self.event(id);
        let mut conflicts = FixedBitSet::new();
        for before in like.past.ones() {
            conflicts.union_with(&self.event(before as u32).conflicts);
        }
        let event = like.event.mixed(branch.0);
        let mut sibling = Event { branch, key: event, event, conflicts, turn: like.thread, text: None, ..like.clone() };
        sibling.future.clear();
        sibling.direct.clear();
        self.enter(sibling)
    }

    /// Gives an event its place, unless it is there. Its past and the conflicts of its past are known.
    fn enter(&mut self, mut event: Event) -> u32 {
        let (mut sum, mut turn) = (0u64, 0u64);
        for id in event.past.ones() {
            let before = self.event(id as u32);
            sum = sum.wrapping_add(before.key.mixed(5).0);
            turn += u64::from(before.thread == event.thread);
        }
        event.key = event.event.mixed(sum);
        event.turn = event.thread.mixed(turn);
        if let Some(&id) = self.known.get(&event.key) {
            return id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() as u32 - 1
        });
        self.find_direct(&mut event);
        for other in event.direct.ones() {
            event.conflicts.grow_and_insert(other);
            let other = self.events[other].as_ref().expect("it is listed by its objects");
            event.conflicts.union_with(&other.future);
        }
        self.link(id, &event);
        self.known.insert(event.key, id);
        self.events[id as usize] = Some(event);
        self.live += 1;
        self.created += 1;
        self.largest = self.largest.max(self.live);
        id
    }

    /// Finds the events in immediate conflict with a new one: they depend on it, neither happens before the other,
    /// and what happens before the two is free of conflict.
    fn find_direct(&self, event: &mut Event) {
        let mut dependent = FixedBitSet::new();
        for &other in self.by_turn.get(&event.turn).into_iter().flatten() {
            dependent.grow_and_insert(other as usize);
        }
        for touch in &event.touches {
            for &other in self.by_object.get(&touch.object).into_iter().flatten() {
                if self.event(other).touches.iter().any(|t| t.conflicts(*touch)) {
                    dependent.grow_and_insert(other as usize);
                }
            }
        }
        dependent.difference_with(&event.past);
        dependent.difference_with(&event.conflicts);
        for other in dependent.ones().filter(|&other| self.event(other as u32).past.is_disjoint(&dependent)) {
            event.direct.grow_and_insert(other);
        }
    }

    /// Tells the others of a new event.
    fn link(&mut self, id: u32, event: &Event) {
        for before in event.past.ones() {
            self.event_mut(before).future.grow_and_insert(id as usize);
        }
        for other in event.conflicts.ones() {
            self.event_mut(other).conflicts.grow_and_insert(id as usize);
        }
        for other in event.direct.ones() {
            self.event_mut(other).direct.grow_and_insert(id as usize);
        }
        self.by_turn.entry(event.turn).or_default().push(id);
        for touch in &event.touches {
            let list = self.by_object.entry(touch.object).or_default();
            if list.last() != Some(&id) {
                list.push(id);
            }
        }
    }

    /// Whether enough is new since the last collection for another one to pay.
    pub(crate) fn is_worth_collecting(&self) -> bool {
        self.live > self.kept + self.kept / 8 + 8
    }

    /// Forgets all events but some, those that may follow, what is in immediate conflict with the first, and what
    /// happens before any of them.
    pub(crate) fn collect(&mut self, kept: impl Iterator<Item = u32>, following: &[u32]) {
        let mut live = FixedBitSet::with_capacity(self.events.len());
        let mut rivals = FixedBitSet::with_capacity(self.events.len());
        for id in kept {
            live.insert(id as usize);
            rivals.union_with(&self.event(id).direct);
        }
        following.iter().for_each(|&id| live.insert(id as usize));
        live.union_with(&rivals);
        for id in rivals.ones() {
            live.union_with(&self.event(id as u32).past);
        }
        for id in 0..self.events.len() {
            if self.events[id].is_some() && !live.contains(id) {
                self.forget(id);
            }
        }
        self.kept = self.live;
    }

    fn forget(&mut self, id: usize) {
        let event = self.events[id].take().expect("only known events are forgotten");
        for before in event.past.ones() {
            if let Some(before) = &mut self.events[before] {
                before.future.remove(id);
            }
        }
        for other in event.conflicts.ones() {
            if let Some(other) = &mut self.events[other] {
                other.conflicts.remove(id);
                if other.direct.contains(id) {
                    other.direct.remove(id);
                }
            }
        }
        self.known.remove(&event.key);
        unlist(&mut self.by_turn, event.turn, id as u32);
        for touch in &event.touches {
            unlist(&mut self.by_object, touch.object, id as u32);
        }
        self.free.push(id as u32);
        self.live -= 1;
    }
}

fn unlist(lists: &mut FxHashMap<Name, Vec<u32>>, name: Name, id: u32) {
    if let Some(list) = lists.get_mut(&name) {
        list.retain(|&other| other != id);
        if list.is_empty() {
            lists.remove(&name);
        }
    }
}

//! conf(C): the events that are in conflict with the current configuration.
//!
//! Stores, for each event, the first level of C whose event is in conflict with it, so that one comparison tells
//! whether an event fits C; and for each level the list of events that it excludes, so that removing the level costs
//! no more than adding it.

use crate::reductions::udpor::unfolding::Unfolding;

/// Sentinel: no level.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Excluded {
    /// For each event, the level that excludes it; and, for each event of C, its own level.
    by: Vec<u32>,
    level_of: Vec<u32>,
    /// For each level, the events that it excludes. Removed events may still be listed.
    lists: Vec<Vec<u32>>,
    levels: usize,
}

impl Excluded {
    /// Returns `true` if an event is in conflict with no event of C.
    #[inline]
    pub(crate) fn fits(&self, id: u32) -> bool {
        self.by[id as usize] == NONE
    }

    /// Returns `true` if an event is in C.
    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.level_of[id as usize] != NONE
    }

    /// Adds an event to C.
    pub(crate) fn push(&mut self, unfolding: &Unfolding, id: u32) {
        let level = self.levels as u32;
        self.levels += 1;
        if self.lists.len() < self.levels {
            self.lists.push(Vec::new());
        }
        self.level_of[id as usize] = level;
        let list = &mut self.lists[level as usize];
        for other in unfolding.conflicts(id) {
            let by = &mut self.by[other as usize];
            if *by == NONE {
                *by = level;
                list.push(other);
            }
        }
    }

    /// Removes the newest event of C.
    pub(crate) fn pop(&mut self, id: u32) {
        self.levels -= 1;
        self.level_of[id as usize] = NONE;
        let level = self.levels as u32;
        for other in self.lists[self.levels].drain(..) {
            if self.by[other as usize] == level {
                self.by[other as usize] = NONE;
            }
        }
    }

    /// Adds a new event of the unfolding.
    pub(crate) fn learn(&mut self, unfolding: &Unfolding, id: u32) {
        if self.by.len() < unfolding.len() {
            self.by.resize(unfolding.len(), NONE);
            self.level_of.resize(unfolding.len(), NONE);
        }
        let by = unfolding.conflicts(id).map(|other| self.level_of[other as usize]).min().unwrap_or(NONE);
        self.by[id as usize] = by;
        self.level_of[id as usize] = NONE;
        if by != NONE {
            self.lists[by as usize].push(id);
        }
    }
}

//! conf(C): the events that the configuration at hand excludes.
//!
//! For each event the first level of C whose event is in conflict with it, so that one comparison tells whether an event fits
//! to C; and for each level the events that it excludes, so that taking it back costs no more than taking it did.

use crate::udpor_unfolding::Unfolding;

/// Nobody.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Excluded {
    /// Per event, the level that excludes it; and, for events of C, their own level.
    by: Vec<u32>,
    level_of: Vec<u32>,
    /// Per level, what it excludes. An event that was forgotten may still be listed.
    lists: Vec<Vec<u32>>,
    levels: usize,
}

impl Excluded {
    /// Whether an event is in conflict with none of C.
    #[inline]
    pub(crate) fn fits(&self, id: u32) -> bool {
        self.by[id as usize] == NONE
    }

    /// Whether an event is in C.
    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.level_of[id as usize] != NONE
    }

    /// C grows by an event.
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

    /// The newest event is taken back.
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

    /// There is a new event.
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

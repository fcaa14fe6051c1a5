//! Sets of events as bits.
//!
//! Events have small numbers, so a set of events is a row of bits, and a relation between events is a square of such
//! rows in one allocation. Nothing is allocated once the buffers have grown.

use whippet_model::ones;

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn insert(&mut self, id: u32) {
        let word = id as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (id % 64);
    }

    pub(crate) fn remove(&mut self, id: u32) {
        if let Some(word) = self.0.get_mut(id as usize / 64) {
            *word &= !(1 << (id % 64));
        }
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        has(&self.0, id)
    }

    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ones(&self.0).map(|id| id as u32)
    }

    /// Adds the members of a row.
    pub(crate) fn extend(&mut self, row: &[u64]) {
        if row.len() > self.0.len() {
            self.0.resize(row.len(), 0);
        }
        join(&mut self.0, row);
    }

    /// Removes the members of a row.
    pub(crate) fn subtract(&mut self, row: &[u64]) {
        self.0.iter_mut().zip(row).for_each(|(word, &less)| *word &= !less);
    }
}

/// Returns `true` if a row contains `id`.
#[inline]
pub(crate) fn has(row: &[u64], id: u32) -> bool {
    row.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 != 0)
}

/// Returns `true` if two rows have no common member.
#[inline]
pub(crate) fn disjoint(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a & b == 0)
}

/// Returns `true` if all members of the row `of` are in the row `all`.
pub(crate) fn subset(of: &[u64], all: &[u64]) -> bool {
    let word = |i: usize| all.get(i).copied().unwrap_or(0);
    of.iter().enumerate().all(|(i, &bits)| bits & !word(i) == 0)
}

fn join(to: &mut [u64], row: &[u64]) {
    to.iter_mut().zip(row).for_each(|(word, &more)| *word |= more);
}

/// A relation between events, with one row for each event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Square {
    words: Vec<u64>,
    stride: usize,
}

impl Square {
    /// Makes room for events with numbers below `size`.
    pub(crate) fn reserve(&mut self, size: usize) {
        let wide = size.div_ceil(64);
        if wide > self.stride {
            let stride = wide.max(self.stride * 2);
            let mut words = Vec::with_capacity(size * stride);
            for row in self.words.chunks(self.stride.max(1)) {
                words.extend_from_slice(row);
                words.resize(words.len() + stride - self.stride, 0);
            }
            (self.words, self.stride) = (words, stride);
        }
        if size * self.stride > self.words.len() {
            self.words.resize(size * self.stride, 0);
        }
    }

    #[inline]
    pub(crate) fn row(&self, id: u32) -> &[u64] {
        &self.words[id as usize * self.stride..][..self.stride]
    }

    fn row_mut(&mut self, id: u32) -> &mut [u64] {
        &mut self.words[id as usize * self.stride..][..self.stride]
    }

    #[inline]
    pub(crate) fn has(&self, id: u32, other: u32) -> bool {
        has(self.row(id), other)
    }

    #[inline]
    pub(crate) fn insert(&mut self, id: u32, other: u32) {
        self.row_mut(id)[other as usize / 64] |= 1 << (other % 64);
    }

    /// Replaces a row by a set.
    pub(crate) fn set(&mut self, id: u32, to: &Bits) {
        let row = self.row_mut(id);
        row.fill(0);
        join(row, &to.0);
    }

    pub(crate) fn members(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        ones(self.row(id)).map(|id| id as u32)
    }

    /// Removes from a row everything that is not in a set.
    pub(crate) fn retain(&mut self, id: u32, live: &Bits) {
        let words = live.words();
        for (i, word) in self.row_mut(id).iter_mut().enumerate() {
            *word &= words.get(i).copied().unwrap_or(0);
        }
    }

    pub(crate) fn clear(&mut self, id: u32) {
        self.row_mut(id).fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_keeps_its_members_as_it_grows() {
        let mut square = Square::default();
        square.reserve(2);
        square.insert(0, 1);
        square.insert(1, 0);
        square.reserve(200);
        square.insert(1, 199);
        assert_eq!(square.members(1).collect::<Vec<_>>(), [0, 199]);
        assert!(square.has(0, 1) && !square.has(0, 199));
        let mut live = Bits::default();
        live.insert(199);
        square.retain(1, &live);
        assert_eq!(square.members(1).collect::<Vec<_>>(), [199]);
    }

    #[test]
    fn rows_of_different_width_compare() {
        let (mut small, mut large) = (Bits::default(), Bits::default());
        small.insert(3);
        large.insert(3);
        large.insert(100);
        assert!(subset(small.words(), large.words()) && !subset(large.words(), small.words()));
        assert!(!disjoint(small.words(), large.words()));
        large.subtract(small.words());
        assert_eq!(large.iter().collect::<Vec<_>>(), [100]);
    }
}

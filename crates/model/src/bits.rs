//! Sets of small numbers as bits, and relations between small numbers as rows of bits.
//!
//! All bit sets of the project are here. Nothing is allocated once the buffers have grown.

use std::hash::{Hash, Hasher};

/// A set of small numbers, stored as one bit each.
///
/// ```
/// use whippet_model::BitSet;
/// let mut set = BitSet::default();
/// set.insert(3);
/// set.insert(100);
/// assert!(set.contains(3) && !set.contains(4) && !set.contains(1_000));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [3, 100]);
///
/// let mut other = BitSet::default();
/// other.insert(3);
/// set.subtract(other.words());
/// assert_eq!(set.iter().collect::<Vec<_>>(), [100]);
/// set.union_with(other.words());
/// set.remove(100);
/// assert_eq!(set.words(), [0b1000, 0]);
/// assert_eq!(set, other);
/// set.insert(64);
/// set.truncate(64);
/// assert_eq!(set, other);
/// set.clear();
/// assert_eq!(set.iter().next(), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BitSet(Vec<u64>);

/// Sets are equal if they have the same members, however much room they have.
impl PartialEq for BitSet {
    fn eq(&self, other: &BitSet) -> bool {
        self.used() == other.used()
    }
}

impl Eq for BitSet {}

impl Hash for BitSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used().hash(state);
    }
}

impl BitSet {
    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, k: u32) {
        let word = k as usize / 64;
        if word >= self.0.len() {
            self.grow(word + 1);
        }
        self.0[word] |= 1 << (k % 64);
    }

    /// Removes a number.
    #[inline]
    pub fn remove(&mut self, k: u32) {
        if let Some(word) = self.0.get_mut(k as usize / 64) {
            *word &= !(1 << (k % 64));
        }
    }

    /// Returns `true` if the set contains a number.
    #[inline]
    #[must_use]
    pub fn contains(&self, k: u32) -> bool {
        is_set(&self.0, k)
    }

    /// Removes the numbers from `size` on.
    #[inline]
    pub fn truncate(&mut self, size: u32) {
        let mut later = self.0.iter_mut().skip(size as usize / 64);
        if let Some(word) = later.next() {
            *word &= (1 << (size % 64)) - 1;
            later.for_each(|word| *word = 0);
        }
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Iterates over the numbers in increasing order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        ones(&self.0).map(|k| k as u32)
    }

    /// Returns the bits of the set, 64 to a word.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Adds the members of a row.
    pub fn union_with(&mut self, row: &[u64]) {
        if row.len() > self.0.len() {
            self.grow(row.len());
        }
        join(&mut self.0, row);
    }

    /// Removes the members of a row.
    pub fn subtract(&mut self, row: &[u64]) {
        self.0.iter_mut().zip(row).for_each(|(word, &less)| *word &= !less);
    }

    /// Returns the words up to the last one that is not zero.
    fn used(&self) -> &[u64] {
        &self.0[..self.0.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1)]
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        self.0.resize(words, 0);
    }
}

/// A relation between small numbers: one row of bits for each number.
///
/// ```
/// use whippet_model::{BitMatrix, BitSet};
/// let mut reaches = BitMatrix::default();
/// reaches.reserve(2);
/// reaches.insert(0, 1);
/// reaches.reserve(200);
/// reaches.insert(1, 199);
/// reaches.join(0, 1);
/// assert!(reaches.contains(0, 199) && !reaches.contains(1, 1));
/// assert_eq!(reaches.members(0).collect::<Vec<_>>(), [1, 199]);
///
/// let mut live = BitSet::default();
/// live.insert(199);
/// reaches.retain(0, live.words());
/// reaches.clear(1);
/// assert_eq!(reaches.row(0), reaches.row(0));
/// assert_eq!((reaches.members(0).count(), reaches.members(1).count()), (1, 0));
/// reaches.set(1, live.words());
/// assert!(reaches.contains(1, 199));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BitMatrix {
    words: Vec<u64>,
    /// Number of words in a row.
    stride: usize,
}

impl BitMatrix {
    /// Makes room for the numbers below `size`, as rows and as members of rows.
    pub fn reserve(&mut self, size: usize) {
        let wide = size.div_ceil(64);
        if wide > self.stride {
            self.widen(wide.max(self.stride * 2), size);
        }
        if size * self.stride > self.words.len() {
            self.words.resize(size * self.stride, 0);
        }
    }

    /// Removes the rows from `size` on.
    #[inline]
    pub(crate) fn truncate(&mut self, size: usize) {
        self.words.truncate(size * self.stride);
    }

    /// Appends row `k`, the next one, with `k` itself as its only member.
    #[inline(always)]
    pub(crate) fn push(&mut self, k: usize) {
        if k >= self.stride * 64 {
            self.widen((self.stride * 2).max(1), k + 1);
        }
        if self.stride == 1 {
            // The usual case: a row is one word.
            self.words.push(1 << k);
        } else {
            self.words.resize((k + 1) * self.stride, 0);
            self.words[k * self.stride + k / 64] = 1 << (k % 64);
        }
    }

    /// Appends row `k`, the next one, with `k` itself and the members of two earlier rows. Returns `false`, and appends
    /// nothing, if a row has more than one word.
    #[inline(always)]
    pub(crate) fn push_joined(&mut self, k: usize, one: Option<usize>, other: Option<usize>) -> bool {
        if self.stride != 1 || k >= 64 {
            return false;
        }
        let row = |of: Option<usize>| of.map_or(0, |of| self.words[of]);
        let word = 1 << k | row(one) | row(other);
        self.words.push(word);
        true
    }

    /// Adds the members of row `other` to row `k`, which must be the later one.
    #[inline(always)]
    pub(crate) fn join_later(&mut self, k: usize, other: usize) {
        debug_assert!(other < k);
        if self.stride == 1 {
            self.words[k] |= self.words[other];
        } else {
            let (head, tail) = self.words.split_at_mut(k * self.stride);
            join(tail, &head[other * self.stride..][..self.stride]);
        }
    }

    /// Adds the members of row `other` to row `k`.
    pub fn join(&mut self, k: u32, other: u32) {
        let (k, other) = (k as usize * self.stride, other as usize * self.stride);
        for i in 0..self.stride {
            self.words[k + i] |= self.words[other + i];
        }
    }

    /// Returns the members of `k` as bits, 64 to a word.
    #[inline]
    #[must_use]
    pub fn row(&self, k: u32) -> &[u64] {
        &self.words[k as usize * self.stride..][..self.stride]
    }

    fn row_mut(&mut self, k: u32) -> &mut [u64] {
        &mut self.words[k as usize * self.stride..][..self.stride]
    }

    /// Returns `true` if row `k` has this member.
    #[inline]
    #[must_use]
    pub fn contains(&self, k: u32, member: u32) -> bool {
        is_set(self.row(k), member)
    }

    /// Like [`BitMatrix::contains`], for a member that is known to fit into a row.
    #[inline]
    pub(crate) fn has(&self, k: usize, member: usize) -> bool {
        self.words[k * self.stride + member / 64] >> (member % 64) & 1 != 0
    }

    /// Adds a member to row `k`.
    #[inline]
    pub fn insert(&mut self, k: u32, member: u32) {
        self.row_mut(k)[member as usize / 64] |= 1 << (member % 64);
    }

    /// Replaces row `k`.
    pub fn set(&mut self, k: u32, to: &[u64]) {
        let row = self.row_mut(k);
        row.fill(0);
        join(row, to);
    }

    /// Iterates over the members of row `k` in increasing order.
    pub fn members(&self, k: u32) -> impl Iterator<Item = u32> + '_ {
        ones(self.row(k)).map(|member| member as u32)
    }

    /// Removes the members of row `k` that are not in `live`.
    pub fn retain(&mut self, k: u32, live: &[u64]) {
        for (i, word) in self.row_mut(k).iter_mut().enumerate() {
            *word &= live.get(i).copied().unwrap_or(0);
        }
    }

    /// Removes all members of row `k`.
    pub fn clear(&mut self, k: u32) {
        self.row_mut(k).fill(0);
    }

    #[cold]
    fn widen(&mut self, stride: usize, rows: usize) {
        let mut words = Vec::with_capacity(rows * stride);
        for row in self.words.chunks(self.stride.max(1)) {
            words.extend_from_slice(row);
            words.resize(words.len() + stride - self.stride, 0);
        }
        (self.words, self.stride) = (words, stride);
    }
}

/// Iterates over the positions of the bits that are set, in order.
///
/// ```
/// let bits = [0b1001, 1 << 2];
/// assert_eq!(whippet_model::ones(&bits).collect::<Vec<_>>(), [0, 3, 66]);
/// ```
#[inline]
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let (mut at, mut bits) = (0, words.first().copied().unwrap_or(0));
    std::iter::from_fn(move || {
        while bits == 0 {
            at += 1;
            bits = *words.get(at)?;
        }
        let one = at * 64 + bits.trailing_zeros() as usize;
        bits &= bits - 1;
        Some(one)
    })
}

/// Returns `true` if a bit is set; bits beyond the last word are not.
///
/// ```
/// assert!(whippet_model::is_set(&[0b10], 1) && !whippet_model::is_set(&[0b10], 64));
/// ```
#[inline]
#[must_use]
pub fn is_set(words: &[u64], k: u32) -> bool {
    words.get(k as usize / 64).is_some_and(|word| word >> (k % 64) & 1 != 0)
}

/// Returns `true` if two rows have no common member.
///
/// ```
/// assert!(whippet_model::is_disjoint(&[0b01], &[0b10, 0b1]) && !whippet_model::is_disjoint(&[0b11], &[0b10]));
/// ```
#[inline]
#[must_use]
pub fn is_disjoint(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a & b == 0)
}

/// Returns `true` if all members of `row` are in `all`.
///
/// ```
/// assert!(whippet_model::is_subset(&[0b01, 0], &[0b11]) && !whippet_model::is_subset(&[0b01, 1], &[0b11]));
/// ```
#[must_use]
pub fn is_subset(row: &[u64], all: &[u64]) -> bool {
    row.iter().enumerate().all(|(i, &bits)| bits & !all.get(i).copied().unwrap_or(0) == 0)
}

fn join(to: &mut [u64], row: &[u64]) {
    to.iter_mut().zip(row).for_each(|(word, &more)| *word |= more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_keeps_its_members_as_it_grows() {
        let mut matrix = BitMatrix::default();
        matrix.reserve(2);
        matrix.insert(0, 1);
        matrix.insert(1, 0);
        matrix.reserve(200);
        matrix.insert(1, 199);
        assert_eq!(matrix.members(1).collect::<Vec<_>>(), [0, 199]);
        assert!(matrix.contains(0, 1) && !matrix.contains(0, 199));
        let mut live = BitSet::default();
        live.insert(199);
        matrix.retain(1, live.words());
        assert_eq!(matrix.members(1).collect::<Vec<_>>(), [199]);
    }

    #[test]
    fn rows_that_are_pushed_contain_themselves() {
        let mut matrix = BitMatrix::default();
        for k in 0..200 {
            matrix.push(k);
            if k >= 3 {
                matrix.join_later(k, k - 3);
            }
        }
        assert_eq!(matrix.members(7).collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!(matrix.members(199).count(), 67);
        matrix.truncate(8);
        matrix.push(8);
        assert_eq!(matrix.members(8).collect::<Vec<_>>(), [8]);
        assert!(matrix.has(7, 4) && !matrix.has(7, 5));
    }
}

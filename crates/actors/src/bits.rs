//! Bit sets of small integers.

/// A set of small integers, stored as one bit each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    #[inline]
    pub(crate) fn insert(&mut self, k: u32) {
        let word = k as usize / 64;
        if word >= self.0.len() {
            self.grow(word);
        }
        self.0[word] |= 1 << (k % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, k: u32) {
        if let Some(word) = self.0.get_mut(k as usize / 64) {
            *word &= !(1 << (k % 64));
        }
    }

    /// Returns the members of the set in increasing order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        whippet_model::ones(&self.0).map(|k| k as u32)
    }

    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    #[cold]
    fn grow(&mut self, word: usize) {
        self.0.resize(word + 1, 0);
    }
}

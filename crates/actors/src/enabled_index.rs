//! The set of enabled messages, from which the one at any position can be taken without going through all of them.

/// A set of small numbers that counts its members, in blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnabledIndex {
    words: Vec<u64>,
    /// The number of members in each block of [`BLOCK`] words.
    blocks: Vec<u32>,
    len: usize,
}

/// The number of words in a block.
const BLOCK: usize = 64;

impl EnabledIndex {
    /// Returns the number of members.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds or removes a number.
    pub(crate) fn set(&mut self, k: u32, member: bool) {
        let (word, bit) = (k as usize / 64, 1 << (k % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
            self.blocks.resize(word / BLOCK + 1, 0);
        }
        if (self.words[word] & bit != 0) == member {
            return;
        }
        self.words[word] ^= bit;
        let count = &mut self.blocks[word / BLOCK];
        (*count, self.len) = if member { (*count + 1, self.len + 1) } else { (*count - 1, self.len - 1) };
    }

    /// Returns the member at a position, in increasing order.
    pub(crate) fn nth(&self, mut k: usize) -> Option<u32> {
        let in_block = self.blocks.iter().position(|&count| {
            let is_here = k < count as usize;
            k -= if is_here { 0 } else { count as usize };
            is_here
        })?;
        let from = in_block * BLOCK;
        for (at, &word) in self.words[from..].iter().enumerate() {
            let count = word.count_ones() as usize;
            if k < count {
                let word = (0..k).fold(word, |word, _| word & (word - 1));
                return Some(((from + at) * 64) as u32 + word.trailing_zeros());
            }
            k -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_in_a_sorted_list() {
        let mut index = EnabledIndex::default();
        let mut members = std::collections::BTreeSet::new();
        let mut random = 1u64;
        for round in 0..3_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (k, member) = ((random >> 40) as u32 % 20_000, random >> 33 & 3 != 0);
            index.set(k, member);
            if member {
                members.insert(k);
            } else {
                members.remove(&k);
            }
            if round % 100 == 0 {
                assert_eq!(index.len(), members.len());
                assert!(members.iter().enumerate().all(|(n, &k)| index.nth(n) == Some(k)));
                assert_eq!(index.nth(members.len()), None);
            }
        }
    }
}

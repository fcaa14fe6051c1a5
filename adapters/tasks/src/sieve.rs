//! A list of names that says quickly, of most others, that they are not on it.

use whippet_model::Name;

/// Names, and a bit for each.
#[derive(Debug, Default)]
pub(crate) struct Sieve {
    names: Vec<Name>,
    bits: [u64; 8],
}

impl Sieve {
    /// Where the bit of a name is. Names are hashes already.
    fn bit(name: Name) -> (usize, u64) {
        ((name.0 >> 6) as usize % 8, 1 << (name.0 % 64))
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    #[inline]
    pub(crate) fn extend(&mut self, names: impl IntoIterator<Item = Name>) {
        for name in names {
            let (word, bit) = Sieve::bit(name);
            self.bits[word] |= bit;
            self.names.push(name);
        }
    }

    /// Forgets what was added after the first `len` names.
    pub(crate) fn truncate(&mut self, len: usize) {
        if len < self.names.len() {
            self.names.truncate(len);
            self.bits = [0; 8];
            for &name in &self.names {
                let (word, bit) = Sieve::bit(name);
                self.bits[word] |= bit;
            }
        }
    }

    #[inline]
    pub(crate) fn contains(&self, name: Name) -> bool {
        let (word, bit) = Sieve::bit(name);
        self.bits[word] & bit != 0 && self.names.contains(&name)
    }

    /// Those added after the first `len` names.
    pub(crate) fn since(&self, len: usize) -> &[Name] {
        &self.names[len..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_until_they_are_forgotten() {
        let [a, b, c] = [1, 2, 3].map(|k| Name::ROOT.child(k));
        let mut sieve = Sieve::default();
        sieve.extend([a, b]);
        assert!(sieve.contains(a) && sieve.contains(b) && !sieve.contains(c));
        assert_eq!(sieve.since(1), [b]);
        sieve.truncate(1);
        assert!(sieve.contains(a) && !sieve.contains(b));
        assert_eq!(sieve.len(), 1);
    }
}

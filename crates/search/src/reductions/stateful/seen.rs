//! The hashes of visited configurations, in one flat hash table.
//!
//! A large table does not fit into the processor's caches, so the cost of a lookup is the number of cache lines that
//! it reads. The table uses open addressing: the hash itself determines its place, and colliding hashes are stored
//! next to each other, without separate lists.

/// A set of hashes.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The places, whose number is 0 or a power of two. The value 0 marks an empty place.
    places: Vec<u128>,
    len: usize,
}

impl Seen {
    const FEWEST: usize = 64;

    /// Inserts a hash. Returns `true` if it is new.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u128) -> bool {
        if self.len * 3 >= self.places.len() * 2 {
            self.grow();
        }
        // 0 marks an empty place, so the hashes 0 and 1 are treated as equal.
        let hash = hash.max(1);
        let place = find(&self.places, hash);
        let new = self.places[place] == 0;
        self.places[place] = hash;
        self.len += usize::from(new);
        new
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<u128>()
    }

    #[cold]
    fn grow(&mut self) {
        let mut places = vec![0; (self.places.len() * 2).max(Seen::FEWEST)];
        for &hash in self.places.iter().filter(|&&hash| hash != 0) {
            let place = find(&places, hash);
            places[place] = hash;
        }
        self.places = places;
    }
}

/// Returns the place where a hash is or would be.
#[inline]
fn find(places: &[u128], hash: u128) -> usize {
    let last = places.len() - 1;
    let mut place = hash as usize & last;
    while places[place] != hash && places[place] != 0 {
        place = (place + 1) & last;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_new_once() {
        let mut seen = Seen::default();
        // Many hashes with the same place, and many with different places.
        let hashes = (0..500u128).flat_map(|k| [k << 64 | 7, k * 0x9E37_79B9_7F4A_7C15]);
        let all: std::collections::BTreeSet<u128> = hashes.clone().map(|hash| hash.max(1)).collect();
        let new = hashes.clone().filter(|&hash| seen.insert(hash)).count();
        assert_eq!((new, seen.len()), (all.len(), all.len()));
        assert!(hashes.clone().all(|hash| !seen.insert(hash)));
        assert!(seen.bytes() >= all.len() * size_of::<u128>());
    }
}

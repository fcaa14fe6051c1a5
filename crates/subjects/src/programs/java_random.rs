//! The random numbers of `java.util.Random`, with which the papers' sorting programs generate their lists.

/// A 48-bit linear congruential generator.
pub(crate) struct JavaRandom(u64);

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

impl JavaRandom {
    pub(crate) fn new(seed: u64) -> JavaRandom {
        JavaRandom((seed ^ MULTIPLIER) & MASK)
    }

    /// Advances the state and returns its upper 31 bits.
    fn next(&mut self) -> i64 {
        self.0 = (self.0.wrapping_mul(MULTIPLIER) + 0xB) & MASK;
        (self.0 >> 17) as i64
    }

    /// Returns a random number from 0 to below `bound`.
    pub(crate) fn below(&mut self, bound: i32) -> i32 {
        let bound = i64::from(bound);
        if bound & (bound - 1) == 0 {
            return ((bound * self.next()) >> 31) as i32;
        }
        // Reject numbers of the last, incomplete block, which would make small values too likely.
        loop {
            let bits = self.next();
            let value = bits % bound;
            if bits - value + bound <= 1 << 31 {
                return value as i32;
            }
        }
    }

    /// Returns the first `n` numbers below `bound` from this seed.
    pub(crate) fn list(seed: u64, n: usize, bound: i32) -> Vec<i32> {
        let mut random = JavaRandom::new(seed);
        (0..n).map(|_| random.below(bound)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of the published programs, as printed by their release.
    #[test]
    fn lists_are_java_s() {
        assert_eq!(JavaRandom::list(19 + 3, 3, 100), [2, 60, 12]);
        assert_eq!(JavaRandom::list(19 + 5, 5, 100), [55, 40, 76, 24, 10]);
        assert_eq!(JavaRandom::list(19 + 6, 6, 100), [81, 28, 47, 38, 97, 98]);
        assert_eq!(JavaRandom::list(12, 4, 16), [11, 0, 4, 3]);
        assert_eq!(JavaRandom::list(12, 5, 25), [16, 12, 6, 8, 24]);
        assert_eq!(JavaRandom::list(9999, 6, 1000), [98, 163, 979, 92, 233, 92]);
    }
}

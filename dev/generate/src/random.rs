//! A platform-independent random number generator: splitmix64.

/// A random number generator.
///
/// ```
/// use whippet_generate::Random;
/// let (mut a, mut b) = (Random::new(7), Random::new(7));
/// assert_eq!(a.below(100), b.below(100));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. Its numbers depend only on `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a random 64-bit number.
    ///
    /// ```
    /// # use whippet_generate::Random;
    /// let mut random = Random::new(7);
    /// assert_ne!(random.number(), random.number());
    /// ```
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a random number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.number()) * n as u128) >> 64) as usize
    }

    /// Returns `true` with a probability of `percent` percent.
    ///
    /// ```
    /// # use whippet_generate::Random;
    /// let mut random = Random::new(7);
    /// assert!(random.chance(100) && !random.chance(0));
    /// ```
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns the index of one of the weights, with probability proportional to the weight.
    ///
    /// ```
    /// # use whippet_generate::Random;
    /// assert_eq!(Random::new(7).weighted(&[0, 5, 0]), 1);
    /// ```
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (k, &weight) in weights.iter().enumerate() {
            if left < weight {
                return k;
            }
            left -= weight;
        }
        unreachable!("the number was below the sum")
    }
}

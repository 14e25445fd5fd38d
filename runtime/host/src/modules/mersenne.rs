//! The generator of `random` and `np.random.seed`: Mersenne Twister 19937, with the numbers that CPython
//! draws from it. The crate `mt19937` implements the twister.

use mt19937::{MT19937, N};
use num_bigint::BigUint;
use rand_core::Rng;

/// A generator's state.
pub struct Mersenne(MT19937);

impl Mersenne {
    /// Seeded by the 32-bit words of a non-negative int.
    pub fn new(seed: &BigUint) -> Mersenne {
        let mut key = seed.to_u32_digits();
        if key.is_empty() {
            key.push(0);
        }
        Mersenne(MT19937::new_with_slice_seed(&key))
    }

    /// Seeded by one word, which the crate has no public function for: `init_genrand` of the reference (Matsumoto and
    /// Nishimura, 2002).
    pub fn from_word(word: u32) -> Mersenne {
        let mut words = [word; N];
        for at in 1..N {
            let previous = words[at - 1];
            words[at] = 1_812_433_253_u32.wrapping_mul(previous ^ previous >> 30).wrapping_add(at as u32);
        }
        Mersenne::of(&words, N)
    }

    fn of(words: &[u32; N], at: usize) -> Mersenne {
        let mut generator = MT19937::default();
        generator.set_state(words);
        generator.set_index(at);
        Mersenne(generator)
    }

    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A float in `[0, 1)` of 53 random bits.
    pub fn next_f64(&mut self) -> f64 {
        mt19937::gen_res53(&mut self.0)
    }

    /// An int of `n_bits` random bits.
    pub fn next_bits(&mut self, n_bits: u64) -> BigUint {
        if n_bits <= 32 {
            return if n_bits == 0 { BigUint::ZERO } else { BigUint::from(self.next_u32() >> (32 - n_bits)) };
        }
        let n_words = n_bits.div_ceil(32);
        let mut words: Vec<u32> = (0..n_words).map(|_| self.next_u32()).collect();
        if let (Some(last), excess @ 1..) = (words.last_mut(), n_words * 32 - n_bits) {
            *last >>= excess;
        }
        BigUint::new(words)
    }

    /// An int in `0..n`, each as likely as the other; `n` is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let n_bits = (u64::BITS - n.leading_zeros()) as u64;
        loop {
            let candidate = match n_bits {
                ..=32 => (self.next_u32() >> (32 - n_bits)) as u64,
                _ => {
                    let low = self.next_u32() as u64;
                    low | (self.next_u32() as u64 >> (64 - n_bits)) << 32
                }
            };
            if candidate < n {
                return candidate;
            }
        }
    }

    pub fn below_big(&mut self, n: &BigUint) -> BigUint {
        loop {
            let candidate = self.next_bits(n.bits());
            if candidate < *n {
                return candidate;
            }
        }
    }

    /// The words and the position: what `getstate` returns.
    pub fn state(&self) -> (&[u32], usize) {
        (self.0.get_state(), self.0.get_index())
    }

    /// The generator in a saved state; `None` if the state is invalid.
    pub fn from_state(words: &[u32], at: usize) -> Option<Mersenne> {
        let words: &[u32; N] = words.try_into().ok()?;
        (at <= N).then(|| Mersenne::of(words, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cpythons() {
        fn check(seed: BigUint, expect: [f64; 2]) {
            let mut generator = Mersenne::new(&seed);
            assert_eq!([generator.next_f64(), generator.next_f64()], expect);
        }
        check(BigUint::ZERO, [0.8444218515250481, 0.7579544029403025]);
        check(BigUint::from(1_u32), [0.13436424411240122, 0.8474337369372327]);
        check(BigUint::from(1_u64 << 40), [0.1036394562812375, 0.6705558677439764]);
        check(BigUint::from(10_u32).pow(9000), [0.9229002635642904, 0.07052468205018081]);
    }
}

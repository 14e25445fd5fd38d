//! The generator behind `random`: Mersenne Twister 19937 (Matsumoto and Nishimura, 1998), seeded as CPython does.

use num_bigint::BigUint;

const N: usize = 624;
const M: usize = 397;

/// A generator's state.
#[derive(Clone)]
pub struct Mersenne {
    words: Box<[u32; N]>,
    /// The next word to give out; `N` when a new block is due.
    at: usize,
}

impl Mersenne {
    /// Seeded by the words of a non-negative int.
    pub fn new(seed: &BigUint) -> Mersenne {
        let mut key = seed.to_u32_digits();
        if key.is_empty() {
            key.push(0);
        }
        let mut generator = Mersenne::from_word(19_650_218);
        generator.mix_in(&key);
        generator
    }

    /// Seeded by one word, in the way of the paper.
    pub fn from_word(word: u32) -> Mersenne {
        let mut words = Box::new([0; N]);
        words[0] = word;
        for at in 1..N {
            let previous = words[at - 1];
            words[at] = 1_812_433_253_u32.wrapping_mul(previous ^ previous >> 30).wrapping_add(at as u32);
        }
        Mersenne { words, at: N }
    }

    fn mix_in(&mut self, key: &[u32]) {
        let mut at = 1;
        for step in 0..N.max(key.len()) {
            let key_idx = step % key.len();
            self.words[at] = (self.words[at] ^ self.scrambled(at, 1_664_525))
                .wrapping_add(key[key_idx])
                .wrapping_add(key_idx as u32);
            at = self.following(at);
        }
        for _ in 1..N {
            self.words[at] = (self.words[at] ^ self.scrambled(at, 1_566_083_941)).wrapping_sub(at as u32);
            at = self.following(at);
        }
        self.words[0] = 1 << 31;
    }

    fn scrambled(&self, at: usize, factor: u32) -> u32 {
        let previous = self.words[at - 1];
        (previous ^ previous >> 30).wrapping_mul(factor)
    }

    /// The next place to seed; the first word takes over the last one when the row is through.
    fn following(&mut self, at: usize) -> usize {
        if at + 1 < N {
            return at + 1;
        }
        self.words[0] = self.words[N - 1];
        1
    }

    fn refill(&mut self) {
        for at in 0..N {
            let bits = self.words[at] & 1 << 31 | self.words[(at + 1) % N] & !(1 << 31);
            let twist = if bits & 1 == 0 { 0 } else { 0x9908_b0df };
            self.words[at] = self.words[(at + M) % N] ^ bits >> 1 ^ twist;
        }
        self.at = 0;
    }

    pub fn next_u32(&mut self) -> u32 {
        if self.at >= N {
            self.refill();
        }
        let mut word = self.words[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    /// A float in `[0, 1)` of 53 random bits.
    pub fn next_f64(&mut self) -> f64 {
        let (high, low) = (self.next_u32() >> 5, self.next_u32() >> 6);
        (high as f64 * 67_108_864.0 + low as f64) / 9_007_199_254_740_992.0
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
        (&self.words[..], self.at)
    }

    /// The generator in a state that was saved; `None` when it is not one.
    pub fn from_state(words: &[u32], at: usize) -> Option<Mersenne> {
        let words: [u32; N] = words.try_into().ok()?;
        (at <= N).then(|| Mersenne { words: Box::new(words), at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cpythons() {
        fn check(seed: u64, expect: [f64; 2]) {
            let mut generator = Mersenne::new(&BigUint::from(seed));
            assert_eq!([generator.next_f64(), generator.next_f64()], expect);
        }
        check(0, [0.8444218515250481, 0.7579544029403025]);
        check(1, [0.13436424411240122, 0.8474337369372327]);
        check(1 << 40, [0.1036394562812375, 0.6705558677439764]);
    }
}

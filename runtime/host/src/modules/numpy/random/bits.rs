//! Streams of random bits, the same as NumPy's for the same seed: MT19937 for `np.random.seed`, PCG64 for
//! `np.random.default_rng`. Crates provide the generators; the conversion of their output to numbers is
//! NumPy's.
//!
//! The seeds of PCG64 are expanded as by NumPy's SeedSequence, after O'Neill's `seed_seq` alternative.

use rand_core::Rng;

use crate::modules::mersenne::Mersenne;

/// A stream of random bits.
pub trait Bits {
    fn next_u32(&mut self) -> u32;
    fn next_u64(&mut self) -> u64;

    /// Evenly from 0 up to below 1, with 53 bits.
    fn next_f64(&mut self) -> f64;
}

impl Bits for Mersenne {
    fn next_u32(&mut self) -> u32 {
        self.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        let high = self.next_u32();
        u64::from(high) << 32 | u64::from(self.next_u32())
    }

    fn next_f64(&mut self) -> f64 {
        self.next_f64()
    }
}

/// PCG64 with the half word that a draw of 32 bits leaves.
pub struct Pcg64 {
    generator: rand_pcg::Pcg64,
    /// The high half of a word whose low half was used.
    half: Option<u32>,
}

impl Pcg64 {
    /// `entropy` is the seed as 32-bit words, the lowest first.
    pub fn new(entropy: &[u32]) -> Pcg64 {
        let words = spread_seed(entropy);
        let word = |at: usize| u128::from(words[2 * at]) | u128::from(words[2 * at + 1]) << 32;
        let (start, sequence) = (word(0) << 64 | word(1), word(2) << 64 | word(3));
        Pcg64 { generator: rand_pcg::Pcg64::new(start, sequence), half: None }
    }
}

impl Bits for Pcg64 {
    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let word = self.next_u64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// One of the generators.
pub enum Source {
    Mersenne(Box<Mersenne>),
    Pcg64(Pcg64),
}

impl Bits for Source {
    #[inline]
    fn next_u32(&mut self) -> u32 {
        match self {
            Source::Mersenne(generator) => generator.next_u32(),
            Source::Pcg64(generator) => generator.next_u32(),
        }
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        match self {
            Source::Mersenne(generator) => Bits::next_u64(&mut **generator),
            Source::Pcg64(generator) => generator.next_u64(),
        }
    }

    #[inline]
    fn next_f64(&mut self) -> f64 {
        match self {
            Source::Mersenne(generator) => generator.next_f64(),
            Source::Pcg64(generator) => generator.next_f64(),
        }
    }
}

/// A seed of any length as eight words that each depend on all of it.
fn spread_seed(entropy: &[u32]) -> [u32; 8] {
    const POOL: usize = 4;
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ value >> 16
    };
    let mix = |x: u32, y: u32| {
        let mixed = 0xca01_f9dd_u32.wrapping_mul(x).wrapping_sub(0x4973_f715_u32.wrapping_mul(y));
        mixed ^ mixed >> 16
    };
    let mut pool = [0; POOL];
    for (at, place) in pool.iter_mut().enumerate() {
        *place = hash(entropy.get(at).copied().unwrap_or(0));
    }
    for source in 0..POOL {
        for target in (0..POOL).filter(|target| *target != source) {
            pool[target] = mix(pool[target], hash(pool[source]));
        }
    }
    for word in entropy.iter().skip(POOL) {
        for place in &mut pool {
            *place = mix(*place, hash(*word));
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let mut words = [0; 8];
    for (at, place) in words.iter_mut().enumerate() {
        let value = pool[at % POOL] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        *place = value ^ value >> 16;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_numpys() {
        // The first number of the paper's own test.
        assert_eq!(Mersenne::from_word(5489).next_u32(), 3_499_211_612);
        assert_eq!(Pcg64::new(&[0]).next_u64(), 11_749_869_230_777_074_271);
    }
}

//! Pseudorandom numbers, the same for the same seed on every machine (xorshift).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
        // Adjacent seeds start similarly, so they are mixed.
        (0..8).for_each(|_| _ = random.bits());
        random
    }

    /// Seeded by a text, for values that depend on nothing else.
    pub fn named(seed: u64, name: &str) -> Random {
        let hash = name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Random::new(hash)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = if self.0 == 0 { 1 } else { self.0 };
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 16) % n as u64) as usize
    }

    /// True once in `n` times on average.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

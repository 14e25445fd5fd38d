//! SHA-512 (FIPS 180-4), with which CPython turns a text into a seed.

use num_bigint::BigUint;

/// The seed that a text stands for: the bytes and their digest as one int.
pub fn seed(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(&[bytes, &digest(bytes)].concat())
}

/// The first `n` primes: the constants are the fractions of their roots.
fn primes(n: usize) -> Vec<u64> {
    (2..)
        .filter(|n: &u64| (2..*n).take_while(|&d| d * d <= *n).all(|d| !n.is_multiple_of(d)))
        .take(n)
        .collect()
}

/// The first 64 bits of the fraction of a prime's square or cube root.
fn root_fraction(prime: u64, degree: u32) -> u64 {
    let scaled = BigUint::from(prime) << (64 * degree);
    let root = if degree == 2 { scaled.sqrt() } else { scaled.cbrt() };
    root.iter_u64_digits().next().unwrap_or(0)
}

pub fn digest(bytes: &[u8]) -> [u8; 64] {
    let primes = primes(80);
    let constants: Vec<u64> = primes.iter().map(|&prime| root_fraction(prime, 3)).collect();
    let mut state: [u64; 8] = std::array::from_fn(|at| root_fraction(primes[at], 2));
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 128 != 112 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u128 * 8).to_be_bytes());
    for block in padded.as_chunks::<128>().0 {
        compress(&mut state, block, &constants);
    }
    let mut out = [0; 64];
    for (place, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(state) {
        *place = word.to_be_bytes();
    }
    out
}

fn compress(state: &mut [u64; 8], block: &[u8; 128], constants: &[u64]) {
    let mut words: Vec<u64> = block.as_chunks::<8>().0.iter().map(|&word| u64::from_be_bytes(word)).collect();
    for at in 16..80 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let sigma_early = early.rotate_right(1) ^ early.rotate_right(8) ^ early >> 7;
        let sigma_late = late.rotate_right(19) ^ late.rotate_right(61) ^ late >> 6;
        words.push(
            words[at - 16].wrapping_add(sigma_early).wrapping_add(words[at - 7]).wrapping_add(sigma_late),
        );
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let sum_e = e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41);
        let choice = e & f ^ !e & g;
        let first = h.wrapping_add(sum_e).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let sum_a = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
        let majority = a & b ^ a & c ^ b & c;
        let second = sum_a.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (place, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *place = place.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_the_standards() {
        fn check(bytes: &[u8], expect_start: &str) {
            let hex: String = digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(hex.starts_with(expect_start), "{hex}");
        }
        check(b"", "cf83e1357eefb8bdf1542850d66d8007");
        check(b"abc", "ddaf35a193617abacc417349ae204131");
        check(&[b'a'; 200], "4b11459c33f52a22ee8236782714c150");
    }
}

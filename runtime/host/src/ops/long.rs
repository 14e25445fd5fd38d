//! Arithmetic of long ints, in steps of a few milliseconds, between which interrupts are polled.
//!
//! `num_bigint` computes short operands at once. Products are split by Karatsuba's rule, quotients by the
//! recursive division of Burnikel and Ziegler ("Fast Recursive Division", 1998). Both are also faster than
//! the schoolbook methods.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::value::Result;
use crate::vm::checkpoint;

/// Factors of this many bits are multiplied in one step.
const WHOLE_FACTOR: u64 = 1 << 19;

/// Quotients of this many bits are worked out by the schoolbook's division.
const WHOLE_QUOTIENT: u64 = 1 << 14;

/// Products of the operands' bits below which a division takes less than a step.
const WHOLE_DIVISION: u64 = 1 << 34;

/// Exponents and moduli whose bits, and squares of bits, multiply to less than this take less than a step.
const WHOLE_POWER: u64 = 1 << 36;

pub fn mul(left: &BigInt, right: &BigInt) -> Result<BigInt> {
    let magnitude = product(left.magnitude(), right.magnitude())?;
    Ok(BigInt::from_biguint(left.sign() * right.sign(), magnitude))
}

/// The product of two numbers without sign.
pub fn product(left: &BigUint, right: &BigUint) -> Result<BigUint> {
    let (long, short) = if left.bits() >= right.bits() { (left, right) } else { (right, left) };
    if long.bits() <= WHOLE_FACTOR || short.bits() <= 1024 {
        return Ok(left * right);
    }
    checkpoint()?;
    let half = long.bits() / 2;
    let (long_high, long_low) = split(long, half);
    if short.bits() <= half {
        return Ok((product(&long_high, short)? << half) + product(&long_low, short)?);
    }
    let (short_high, short_low) = split(short, half);
    let high = product(&long_high, &short_high)?;
    let low = product(&long_low, &short_low)?;
    let cross = product(&(long_high + long_low), &(short_high + short_low))?;
    let middle = cross - &high - &low;
    Ok((high << (2 * half)) + (middle << half) + low)
}

/// The bits above the lowest `n_bits`, and the lowest ones.
fn split(number: &BigUint, n_bits: u64) -> (BigUint, BigUint) {
    let high = number >> n_bits;
    let low = number - (&high << n_bits);
    (high, low)
}

/// Quotient and remainder of two numbers without sign, the second not zero.
pub fn div_rem(dividend: &BigUint, divisor: &BigUint) -> Result<(BigUint, BigUint)> {
    let width = divisor.bits();
    let n_quotient = dividend.bits().saturating_sub(width) + 1;
    if n_quotient <= WHOLE_QUOTIENT || n_quotient.saturating_mul(width) <= WHOLE_DIVISION {
        return Ok(dividend.div_rem(divisor));
    }
    // Digits of the divisor's width, the highest first.
    let (mut quotient, mut rem) = (BigUint::zero(), BigUint::zero());
    for place in (0..dividend.bits().div_ceil(width)).rev() {
        let digit = (dividend >> (place * width)) & mask(width);
        let (digit, rest) = divide_two_by_one(&((rem << width) + digit), divisor, width)?;
        quotient = (quotient << width) + digit;
        rem = rest;
    }
    Ok((quotient, rem))
}

fn mask(n_bits: u64) -> BigUint {
    (BigUint::one() << n_bits) - 1u32
}

/// Divides a number of two digits by one of one digit of `width` bits; the quotient has one digit.
fn divide_two_by_one(dividend: &BigUint, divisor: &BigUint, width: u64) -> Result<(BigUint, BigUint)> {
    if dividend.bits().saturating_sub(width) <= WHOLE_QUOTIENT {
        return Ok(dividend.div_rem(divisor));
    }
    if width % 2 == 1 {
        let (quotient, rem) = divide_two_by_one(&(dividend << 1u32), &(divisor << 1u32), width + 1)?;
        return Ok((quotient, rem >> 1u32));
    }
    let half = width / 2;
    let parts = split(divisor, half);
    let (top, low) = split(dividend, width);
    let (middle, bottom) = split(&low, half);
    let (high, rem) = divide_three_by_two(&top, &middle, divisor, &parts, half)?;
    let (low, rem) = divide_three_by_two(&rem, &bottom, divisor, &parts, half)?;
    Ok(((high << half) + low, rem))
}

/// Divides `top` followed by a digit `next` of `width` bits by a divisor of two such digits, `parts`.
fn divide_three_by_two(
    top: &BigUint,
    next: &BigUint,
    divisor: &BigUint,
    parts: &(BigUint, BigUint),
    width: u64,
) -> Result<(BigUint, BigUint)> {
    checkpoint()?;
    let (high, low) = parts;
    let (mut quotient, rem) = if top >> width == *high {
        (mask(width), top + high - (high << width))
    } else {
        divide_two_by_one(top, high, width)?
    };
    let mut rem = (rem << width) + next;
    let taken = product(&quotient, low)?;
    // The estimate is at most two too large.
    while rem < taken {
        quotient -= 1u32;
        rem += divisor;
    }
    Ok((quotient, rem - taken))
}

/// Quotient and remainder as Python has them: the remainder has the divisor's sign.
pub fn div_mod_floor(dividend: &BigInt, divisor: &BigInt) -> Result<(BigInt, BigInt)> {
    let (quotient, rem) = div_rem(dividend.magnitude(), divisor.magnitude())?;
    let is_negative = dividend.is_negative() != divisor.is_negative();
    let rounds_down = is_negative && !rem.is_zero();
    let quotient = BigInt::from(quotient);
    let quotient = if is_negative { -quotient } else { quotient };
    let rem = BigInt::from(if rounds_down { divisor.magnitude() - rem } else { rem });
    let rem = if divisor.is_negative() { -rem } else { rem };
    Ok((if rounds_down { quotient - 1 } else { quotient }, rem))
}

pub fn pow(base: &BigInt, exponent: u32) -> Result<BigInt> {
    if base.bits().saturating_mul(u64::from(exponent)) <= WHOLE_FACTOR {
        return Ok(base.pow(exponent));
    }
    let mut power = BigInt::one();
    for at in (0..u32::BITS - exponent.leading_zeros()).rev() {
        checkpoint()?;
        power = mul(&power, &power)?;
        if exponent >> at & 1 == 1 {
            power = mul(&power, base)?;
        }
    }
    Ok(power)
}

/// `base ** exponent % modulus` of an exponent that is not negative; the result has the modulus's sign.
pub fn mod_pow(base: &BigInt, exponent: &BigInt, modulus: &BigInt) -> Result<BigInt> {
    let n_bits = modulus.bits().max(64);
    if n_bits.saturating_mul(n_bits).saturating_mul(exponent.bits()) <= WHOLE_POWER {
        return Ok(base.modpow(exponent, modulus));
    }
    /// Bits of the exponent per step.
    const WINDOW: u64 = 4;
    let limit = BigInt::from(modulus.magnitude().clone());
    let times = |left: &BigInt, right: &BigInt| -> Result<BigInt> {
        checkpoint()?;
        Ok(div_mod_floor(&mul(left, right)?, &limit)?.1)
    };
    let base = div_mod_floor(base, &limit)?.1;
    let mut powers = vec![div_mod_floor(&BigInt::one(), &limit)?.1];
    for at in 1..1 << WINDOW {
        powers.push(times(&powers[at - 1], &base)?);
    }
    let mut power = powers[0].clone();
    for place in (0..exponent.bits().div_ceil(WINDOW)).rev() {
        for _ in 0..WINDOW {
            power = times(&power, &power)?;
        }
        let bits = (0..WINDOW).map(|at| usize::from(exponent.bit(place * WINDOW + at)) << at).sum::<usize>();
        power = times(&power, &powers[bits])?;
    }
    Ok(div_mod_floor(&power, modulus)?.1)
}

/// The inverse of a number modulo another; `None` if there is none.
pub fn mod_inverse(number: &BigInt, modulus: &BigInt) -> Result<Option<BigInt>> {
    let limit = BigInt::from(modulus.magnitude().clone());
    let (mut rem, mut next_rem) = (limit.clone(), div_mod_floor(number, &limit)?.1);
    let (mut factor, mut next_factor) = (BigInt::zero(), BigInt::one());
    while !next_rem.is_zero() {
        checkpoint()?;
        let (quotient, rest) = div_mod_floor(&rem, &next_rem)?;
        let after = factor - mul(&quotient, &next_factor)?;
        (rem, next_rem) = (next_rem, rest);
        (factor, next_factor) = (next_factor, after);
    }
    if !rem.is_one() {
        return Ok(None);
    }
    Ok(Some(div_mod_floor(&factor, modulus)?.1))
}

/// The greatest common divisor, not negative.
pub fn gcd(left: &BigInt, right: &BigInt) -> Result<BigInt> {
    let (mut left, mut right) = (left.magnitude().clone(), right.magnitude().clone());
    // The library's way costs the product of both lengths, Euclid's steps cost one length each.
    while right.bits() > WHOLE_QUOTIENT {
        checkpoint()?;
        let rem = div_rem(&left, &right)?.1;
        (left, right) = (right, rem);
    }
    if !right.is_zero() {
        let rem = div_rem(&left, &right)?.1;
        left = right.gcd(&rem);
    }
    Ok(BigInt::from_biguint(if left.is_zero() { Sign::NoSign } else { Sign::Plus }, left))
}

/// The square root, rounded down, of a number that is not negative.
///
/// Each iteration doubles the number of correct digits, as in `math.isqrt` of CPython, whose source has the
/// proof.
pub fn sqrt(number: &BigInt) -> Result<BigInt> {
    if number.bits() <= WHOLE_QUOTIENT {
        return Ok(number.sqrt());
    }
    let half = (number.bits() - 1) / 2;
    let (mut root, mut n_known) = (BigInt::one(), 0);
    for at in (0..u64::BITS - half.leading_zeros()).rev() {
        let n_before = n_known;
        n_known = half >> at;
        let shifted: BigInt = number >> (2 * half - n_before - n_known + 1);
        root = (&root << (n_known - n_before - 1)) + div_mod_floor(&shifted, &root)?.0;
    }
    if mul(&root, &root)? > *number {
        root -= 1;
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudo-random number of this many bits.
    fn number(n_bits: u64, seed: u32) -> BigInt {
        let mut state = seed;
        let words = (0..n_bits.div_ceil(32)).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state ^ state >> 15
        });
        let number = BigInt::from_slice(Sign::Plus, &words.collect::<Vec<_>>());
        (number >> (n_bits.div_ceil(32) * 32 - n_bits)) | (BigInt::one() << (n_bits - 1))
    }

    #[test]
    fn products_and_quotients_are_those_of_short_numbers() {
        fn check(left: u64, right: u64) {
            let (left, right) = (number(left, 1), number(right, 2));
            let product = mul(&left, &right).expect("nothing interrupts");
            assert_eq!(product, &left * &right);
            let (quotient, rem) = div_mod_floor(&(&product + 5), &-&right).expect("nothing interrupts");
            assert_eq!((quotient, rem), (&product + 5i32).div_mod_floor(&-&right));
        }
        check(2_000_000, 1_500_001);
        check(3_000_001, 70_000);
        check(600_000, 1_300_000);
        check(100, 2_000_000);
    }

    #[test]
    fn quotients_of_extreme_digits_are_right() {
        let ones = |n_bits: u64| BigInt::from(mask(n_bits));
        for (dividend, divisor) in [
            (ones(2_000_000), ones(999_999)),
            (BigInt::one() << 1_500_000u32, ones(500_000)),
            (ones(1_999_999) << 7u32, (BigInt::one() << 700_000u32) + 1),
        ] {
            let (quotient, rem) = div_mod_floor(&dividend, &divisor).expect("nothing interrupts");
            assert!(rem < divisor);
            assert_eq!(quotient * &divisor + rem, dividend);
        }
    }

    #[test]
    fn powers_roots_and_divisors_are_right() {
        let base = number(40_000, 3);
        assert_eq!(pow(&base, 21).expect("nothing interrupts"), base.pow(21));
        let root = sqrt(&number(1_000_001, 4)).expect("nothing interrupts");
        let (low, high) = (&root * &root, (&root + 1) * (&root + 1));
        assert!(low <= number(1_000_001, 4) && number(1_000_001, 4) < high);
        let (a, b) = (number(30_000, 5), number(40_000, 6));
        let common = number(20_000, 7);
        assert_eq!(
            gcd(&(&a * &common), &-(&b * &common)).expect("nothing interrupts"),
            (&a * &common).gcd(&(&b * &common))
        );
    }

    #[test]
    fn powers_and_inverses_modulo_have_the_sign_of_the_modulus() {
        let (base, exponent) = (number(9_000, 8), number(2_000, 9));
        for modulus in [number(8_001, 10), -number(8_001, 11)] {
            let power = mod_pow(&base, &exponent, &modulus).expect("nothing interrupts");
            assert_eq!(power, base.modpow(&exponent, &modulus));
        }
        let modulus = (BigInt::one() << 9689u32) - 1;
        let inverse =
            mod_inverse(&base, &modulus).expect("nothing interrupts").expect("the modulus is a prime");
        assert!((inverse * base % modulus).is_one());
        assert_eq!(mod_inverse(&BigInt::from(6), &BigInt::from(9)).expect("nothing interrupts"), None);
    }
}

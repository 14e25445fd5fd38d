//! Ints to text and back: decimal conversion that is fast for long ints, `int(text, base)`, rounding.

use std::cell::Cell;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{Signed, Zero};

use super::error::{Result, value_error};
use super::{digits, quote};
use crate::ops::long;

/// The default limit of digits in conversions between ints and decimal text.
pub const MAX_STR_DIGITS: usize = 4300;

/// A script may set no smaller limit than this.
pub const LEAST_STR_DIGITS: usize = 640;

thread_local! {
    static STR_DIGITS: Cell<usize> = const { Cell::new(MAX_STR_DIGITS) };
}

/// The most digits of a conversion on this thread, as CPython limits them: the time of conversions is not
/// linear. 0 is no limit.
pub fn max_str_digits() -> usize {
    STR_DIGITS.get()
}

pub fn set_max_str_digits(most: usize) {
    STR_DIGITS.set(most);
}

/// Bits that a number of 1233 digits may have are 4096: `digits = bits * 1233 / 4096` is log10(2) nearly.
const LOG2_10: f64 = std::f64::consts::LOG2_10;

/// `str(int)`, refused above `max_digits` (0 is no limit).
pub fn to_decimal(int: &BigInt, max_digits: usize) -> Result<String> {
    // Only lengths near the limit need the digits themselves to be counted.
    let most_digits = (int.bits() as f64 / LOG2_10) as usize + 1;
    if max_digits != 0 && most_digits > max_digits + 1 {
        return too_long(max_digits);
    }
    let text = decimal(int.magnitude())?;
    if max_digits != 0 && text.len() > max_digits {
        return too_long(max_digits);
    }
    Ok(if int.is_negative() { format!("-{text}") } else { text })
}

fn too_long<T>(max_digits: usize) -> Result<T> {
    value_error(format!(
        "Exceeds the limit ({max_digits} digits) for integer string conversion; \
         use sys.set_int_max_str_digits() to increase the limit"
    ))
}

/// Divides by powers of ten that double in length, so that long ints cost few long divisions.
fn decimal(magnitude: &BigUint) -> Result<String> {
    const CHUNK: usize = 1024;
    let n_digits = (magnitude.bits() as f64 / LOG2_10) as usize + 1;
    if n_digits <= 2 * CHUNK {
        return Ok(magnitude.to_str_radix(10));
    }
    let mut powers = vec![(CHUNK, BigUint::from(10u32).pow(CHUNK as u32))];
    while let Some((length, power)) = powers.last()
        && length * 2 < n_digits
    {
        let next = (length * 2, long::product(power, power)?);
        powers.push(next);
    }
    let mut text = String::with_capacity(n_digits + 1);
    push_decimal(&mut text, magnitude, &powers, 0)?;
    Ok(text)
}

/// Appends the digits of a number below the square of the last power, filled up to `width`.
fn push_decimal(
    text: &mut String,
    magnitude: &BigUint,
    powers: &[(usize, BigUint)],
    width: usize,
) -> Result<()> {
    let Some(((length, power), lower)) = powers.split_last() else {
        let digits = magnitude.to_str_radix(10);
        text.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len())));
        text.push_str(&digits);
        return Ok(());
    };
    if width == 0 && magnitude < power {
        return push_decimal(text, magnitude, lower, 0);
    }
    let (high, low) = long::div_rem(magnitude, power)?;
    push_decimal(text, &high, lower, width.saturating_sub(*length))?;
    push_decimal(text, &low, lower, *length)
}

/// `int(text, base)`; `max_digits` bounds the digits of bases that are not powers of two.
pub fn parse(text: &str, base: u32, max_digits: usize) -> Result<BigInt> {
    if base == 1 || base > 36 {
        return value_error("int() base must be >= 2 and <= 36, or 0");
    }
    let invalid =
        || value_error(format!("invalid literal for int() with base {base}: {}", quote::repr(text)));
    let ascii = digits::to_ascii(text);
    let trimmed = ascii.trim_matches(digits::is_space);
    let (sign, unsigned) = match trimmed.as_bytes().first() {
        Some(b'-') => (Sign::Minus, &trimmed[1..]),
        Some(b'+') => (Sign::Plus, &trimmed[1..]),
        _ => (Sign::Plus, trimmed),
    };
    let Some((radix, body)) = split_prefix(unsigned, base) else { return invalid() };
    let Some(plain) = digits::without_underscores(body, |c| c.is_digit(radix)) else { return invalid() };
    if base == 0 && radix == 10 && plain.starts_with('0') && plain.bytes().any(|digit| digit != b'0') {
        return invalid();
    }
    if max_digits != 0 && !radix.is_power_of_two() && plain.len() > max_digits {
        return value_error(format!(
            "Exceeds the limit ({max_digits} digits) for integer string conversion: value has {} digits; \
             use sys.set_int_max_str_digits() to increase the limit",
            plain.len()
        ));
    }
    Ok(BigInt::from_biguint(sign, read_digits(plain.as_bytes(), radix)?))
}

/// Strips `0x`, `0o`, `0b` if the base allows it; `None` if nothing or a second `_` remains.
fn split_prefix(text: &str, base: u32) -> Option<(u32, &str)> {
    let prefix = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 0,
    };
    if prefix != 0 && (base == 0 || base == prefix) {
        let body = &text[2..];
        return Some((prefix, body.strip_prefix('_').unwrap_or(body)));
    }
    Some((if base == 0 { 10 } else { base }, text))
}

/// Splits long runs of digits in two, so that they cost few long multiplications.
fn read_digits(digits: &[u8], radix: u32) -> Result<BigUint> {
    const CHUNK: usize = 2048;
    if digits.len() <= CHUNK || radix.is_power_of_two() {
        return Ok(BigUint::parse_bytes(digits, radix).expect("every character was checked to be a digit"));
    }
    let (high, low) = digits.split_at(digits.len() / 2);
    let unit = long::pow(&BigInt::from(radix), low.len() as u32)?;
    Ok(long::product(&read_digits(high, radix)?, unit.magnitude())? + read_digits(low, radix)?)
}

/// `round(int, n_decimals)`: to a multiple of a power of ten, ties to even.
pub fn round(int: &BigInt, n_decimals: i64) -> Result<BigInt> {
    if n_decimals >= 0 {
        return Ok(int.clone());
    }
    let place = n_decimals.unsigned_abs();
    // A unit longer than the int rounds it to zero.
    if place as f64 > int.bits() as f64 / LOG2_10 + 2.0 {
        return Ok(BigInt::zero());
    }
    let unit = long::pow(&BigInt::from(10u32), place as u32)?;
    let (quotient, remainder) = long::div_mod_floor(int, &unit)?;
    let twice = remainder * 2u32;
    let up = twice > unit || twice == unit && quotient.is_odd();
    Ok(long::mul(&(quotient + BigInt::from(up as u32)), &unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_ints() {
        fn check(text: &str, base: u32, expect: &str) {
            let got = parse(text, base, MAX_STR_DIGITS);
            assert_eq!(got.map_or_else(|error| error.message().to_owned(), |int| int.to_string()), expect);
        }
        check(" -1_000\n", 10, "-1000");
        check("0x_ff", 16, "255");
        check("0b101", 0, "5");
        check("z", 36, "35");
        check("٣", 10, "3");
        check("00", 0, "0");
        check("010", 0, "invalid literal for int() with base 0: '010'");
        check("1__0", 10, "invalid literal for int() with base 10: '1__0'");
        check("0x", 16, "invalid literal for int() with base 16: '0x'");
        check("1 2", 10, "invalid literal for int() with base 10: '1 2'");
        check("", 10, "invalid literal for int() with base 10: ''");
        check("1", 37, "int() base must be >= 2 and <= 36, or 0");
    }

    #[test]
    fn long_ints_convert_there_and_back() {
        fn check(int: BigInt) {
            let text = to_decimal(&int, 0).expect("there is no limit");
            assert_eq!(text, int.to_string());
            assert_eq!(parse(&text, 10, 0).expect("these are digits"), int);
        }
        check(-BigInt::from(3u32).pow(9000));
        check(BigInt::from(10u32).pow(4096));
        check(BigInt::from(10u32).pow(8192) - 1);
    }

    #[test]
    fn the_limit_on_digits_is_exact() {
        fn check(int: BigInt, expect: bool) {
            assert_eq!(to_decimal(&int, MAX_STR_DIGITS).is_ok(), expect);
        }
        check(BigInt::from(10u32).pow(4300) - 1, true);
        check(BigInt::from(10u32).pow(4300), false);
        check(BigInt::from(2u32).pow(1_000_000), false);
    }

    #[test]
    fn rounding_is_half_even() {
        fn check(int: i64, n_decimals: i64, expect: i64) {
            assert_eq!(round(&BigInt::from(int), n_decimals), Ok(BigInt::from(expect)));
        }
        check(15, -1, 20);
        check(25, -1, 20);
        check(-25, -1, -20);
        check(-26, -1, -30);
        check(49, -2, 0);
        check(51, -2, 100);
        check(7, -400, 0);
        check(7, 3, 7);
    }
}

//! Sorts long runs by the digits of their keys, from the lowest to the highest: each pass keeps the order of
//! equal digits. Knuth, "The Art of Computer Programming", volume 3, section 5.2.5.
//!
//! NaN comes last, in the order in which it was found.

use kps_compute::Element;

use super::{elements, empty};
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// Digits have a byte, so that the places of all next items stay in the cache.
const N_DIGITS: usize = 1 << 8;

/// Elements whose order is that of unsigned keys.
pub trait Keyed: Element + PartialOrd {
    type Key: Key;
    /// Not for NaN. The keys of both zeros differ.
    fn key(self) -> Self::Key;
    fn of_key(key: Self::Key) -> Self;
    fn is_negative_zero(self) -> bool;
    /// The same number; a zero without its sign.
    fn without_sign_of_zero(self) -> Self;
    fn is_number(self) -> bool;
}

/// An unsigned integer.
pub trait Key: Copy + Default {
    const BYTES: usize;
    fn digit(self, at: usize) -> usize;
}

macro_rules! key {
    ($($ty:ident)*) => {$(
        impl Key for $ty {
            const BYTES: usize = size_of::<$ty>();

            #[inline]
            fn digit(self, at: usize) -> usize {
                (self >> (8 * at)) as usize % N_DIGITS
            }
        }
    )*};
}

key!(u8 u16 u32 u64);

macro_rules! keyed {
    ($($ty:ident $key:ident flips $flip:expr;)*) => {$(
        impl Keyed for $ty {
            type Key = $key;

            #[inline]
            fn key(self) -> $key {
                self as $key ^ $flip
            }

            #[inline]
            fn of_key(key: $key) -> $ty {
                (key ^ $flip) as $ty
            }

            #[inline]
            fn is_negative_zero(self) -> bool {
                false
            }

            #[inline]
            fn without_sign_of_zero(self) -> $ty {
                self
            }

            #[inline]
            fn is_number(self) -> bool {
                true
            }
        }
    )*};
}

// The sign bit of an int is flipped, so that negative ones come first.
keyed! {
    u8 u8 flips 0;
    u16 u16 flips 0;
    u32 u32 flips 0;
    u64 u64 flips 0;
    i8 u8 flips 1 << 7;
    i16 u16 flips 1 << 15;
    i32 u32 flips 1 << 31;
    i64 u64 flips 1 << 63;
}

macro_rules! keyed_float {
    ($($ty:ident $key:ident $signed:ident)*) => {$(
        impl Keyed for $ty {
            type Key = $key;

            /// All bits of a negative float are flipped, and the sign of others.
            #[inline]
            fn key(self) -> $key {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let bits = self.to_bits();
                bits ^ ((bits as $signed >> ($key::BITS - 1)) as $key | SIGN)
            }

            #[inline]
            fn of_key(key: $key) -> $ty {
                const SIGN: $key = 1 << ($key::BITS - 1);
                $ty::from_bits(key ^ ((!key as $signed >> ($key::BITS - 1)) as $key | SIGN))
            }

            #[inline]
            fn is_negative_zero(self) -> bool {
                self.to_bits() == 1 << ($key::BITS - 1)
            }

            #[inline]
            fn without_sign_of_zero(self) -> $ty {
                self + 0.0
            }

            #[inline]
            fn is_number(self) -> bool {
                !self.is_nan()
            }
        }
    )*};
}

keyed_float!(f32 u32 i32 f64 u64 i64);

/// The elements of a row in order; none of them is a negative zero.
pub fn sort<T: Keyed>(row: &[u8]) -> Result<Vec<T>> {
    let n = row.len() / size_of::<T>();
    let mut keys = empty(n)?;
    keys.extend(elements::<T>(row).filter(|element| element.is_number()).map(T::key));
    let mut sorted = empty(n)?;
    sorted.extend(by_digits(keys, |key| *key)?.into_iter().map(T::of_key));
    sorted.extend(elements::<T>(row).filter(|element| !element.is_number()));
    Ok(sorted)
}

/// The indices of the elements of a row in order; equal ones keep theirs.
pub fn argsort<T: Keyed>(row: &[u8]) -> Result<Vec<usize>> {
    let indexed = || elements::<T>(row).enumerate();
    let n = row.len() / size_of::<T>();
    let mut keys = empty(n)?;
    let numbers = indexed().filter(|(_, element)| element.is_number());
    keys.extend(numbers.map(|(at, element)| (element.without_sign_of_zero().key(), at)));
    let mut sorted = empty(n)?;
    sorted.extend(by_digits(keys, |(key, _)| *key)?.into_iter().map(|(_, at)| at));
    sorted.extend(indexed().filter(|(_, element)| !element.is_number()).map(|(at, _)| at));
    Ok(sorted)
}

fn by_digits<I: Copy, K: Key>(mut items: Vec<I>, key: impl Fn(&I) -> K) -> Result<Vec<I>> {
    let mut counts = vec![[0; N_DIGITS]; K::BYTES];
    for stretch in items.chunks(STRETCH) {
        checkpoint()?;
        for item in stretch {
            let key = key(item);
            counts.iter_mut().enumerate().for_each(|(at, counts)| counts[key.digit(at)] += 1);
        }
    }
    let mut sorted = empty(items.len())?;
    sorted.extend_from_slice(&items);
    for (at, counts) in counts.iter().enumerate() {
        if counts.contains(&items.len()) {
            continue;
        }
        let mut places = starts(counts);
        for stretch in items.chunks(STRETCH) {
            checkpoint()?;
            for item in stretch {
                let place = &mut places[key(item).digit(at)];
                sorted[*place] = *item;
                *place += 1;
            }
        }
        std::mem::swap(&mut items, &mut sorted);
    }
    Ok(items)
}

/// Where the items of each digit begin.
fn starts(counts: &[usize; N_DIGITS]) -> [usize; N_DIGITS] {
    let mut next = 0;
    counts.map(|count| {
        next += count;
        next - count
    })
}

//! A value of any element type, and its conversions.
//!
//! [`Number::store`] converts as assignment does: a float loses its fraction in an integer, as in NumPy, and
//! a value out of range is an error. [`Number::exact`] converts constants of a kernel: any change of the
//! value is an error, except the rounding of a float.

use crate::DType;
use crate::element::{Element, with_element};

/// A value of any element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
}

/// Why a number does not fit a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Outside the range of the type, or not finite.
    OutOfRange,
    /// The stored value would differ.
    NotExact,
}

impl Unfit {
    /// Describes why a number does not fit the type.
    pub fn why(self, dtype: DType) -> String {
        match (self, dtype.int_range()) {
            (Unfit::OutOfRange, Some((least, greatest))) => format!("{dtype} holds {least} to {greatest}"),
            (Unfit::OutOfRange, None) => format!("{dtype} cannot hold it"),
            (Unfit::NotExact, _) => format!("it would lose its value as {dtype}"),
        }
    }
}

impl Number {
    /// Reads the element at the start of `bytes`.
    pub fn load(dtype: DType, bytes: &[u8]) -> Number {
        with_element!(dtype, T => T::load(bytes).number())
    }

    /// Writes the number as an element at the start of `bytes`, as assignment does.
    pub fn store(self, dtype: DType, bytes: &mut [u8]) -> Result<(), Unfit> {
        let fitting = match (self, dtype.int_range()) {
            (Number::Int(value), Some(range)) => Number::Int(in_range(value, range)?),
            (Number::Float(value), Some(range)) if value.is_finite() => {
                Number::Int(in_range(value.trunc() as i128, range)?)
            }
            (Number::Float(_), Some(_)) => return Err(Unfit::OutOfRange),
            _ => self,
        };
        fitting.wrap(dtype, bytes);
        Ok(())
    }

    /// Writes the number as an element at the start of `bytes` if its value does not change.
    pub fn exact(self, dtype: DType, bytes: &mut [u8]) -> Result<(), Unfit> {
        let keeps = match self {
            Number::Float(value) if dtype == DType::Bool => value == 0.0 || value == 1.0,
            Number::Float(value) if !dtype.is_float() => value.fract() == 0.0 || !value.is_finite(),
            Number::Int(value) if dtype == DType::Bool => value == 0 || value == 1,
            _ => true,
        };
        if !keeps {
            return Err(Unfit::NotExact);
        }
        self.store(dtype, bytes)?;
        match (self, Number::load(dtype, bytes)) {
            (Number::Int(value), Number::Float(stored)) if stored as i128 != value => Err(Unfit::NotExact),
            (Number::Float(value), Number::Float(stored)) if value.is_finite() && stored.is_infinite() => {
                Err(Unfit::OutOfRange)
            }
            _ => Ok(()),
        }
    }

    /// Writes the number as an element at the start of `bytes`; integers wrap around, floats saturate.
    pub fn wrap(self, dtype: DType, bytes: &mut [u8]) {
        with_element!(dtype, T => T::from_number(self).store(bytes));
    }

    pub fn as_f64(self) -> f64 {
        match self {
            Number::Bool(value) => f64::from(u8::from(value)),
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    pub fn is_zero(self) -> bool {
        match self {
            Number::Bool(value) => !value,
            Number::Int(value) => value == 0,
            Number::Float(value) => value == 0.0,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Bool(value) => write!(f, "{value}"),
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

fn in_range(value: i128, (least, greatest): (i128, i128)) -> Result<i128, Unfit> {
    if (least..=greatest).contains(&value) { Ok(value) } else { Err(Unfit::OutOfRange) }
}

/// Converts elements of one type to another, as NumPy's `astype` does. Integers wrap around; a float loses
/// its fraction in an integer, and saturates; anything but zero is true.
pub fn convert(bytes: &[u8], from: DType, to: DType) -> Vec<u8> {
    if from == to {
        return bytes.to_vec();
    }
    const CHUNK: usize = 1024;
    let n = bytes.len() / from.size();
    let mut converted = vec![0; n * to.size()];
    let mut numbers = Vec::with_capacity(CHUNK.min(n));
    // One pass per type over small chunks needs 26 loops; one per pair of types would be 169.
    let chunks = bytes.chunks(CHUNK * from.size()).zip(converted.chunks_mut(CHUNK * to.size()));
    for (source, target) in chunks {
        numbers.clear();
        with_element!(from, T => numbers.extend(source.chunks_exact(size_of::<T>()).map(|one| T::load(one).number())));
        with_element!(to, T => {
            for (number, one) in numbers.iter().zip(target.chunks_exact_mut(size_of::<T>())) {
                T::from_number(*number).store(one);
            }
        });
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(number: impl Into<Number>, dtype: DType) -> Result<Number, Unfit> {
        let mut bytes = [0; 8];
        number.into().store(dtype, &mut bytes)?;
        Ok(Number::load(dtype, &bytes))
    }

    fn exact(number: impl Into<Number>, dtype: DType) -> Result<Number, Unfit> {
        let mut bytes = [0; 8];
        number.into().exact(dtype, &mut bytes)?;
        Ok(Number::load(dtype, &bytes))
    }

    #[test]
    fn assignment_truncates_floats_and_refuses_what_is_out_of_range() {
        assert_eq!(stored(1.9, DType::I32), Ok(Number::Int(1)));
        assert_eq!(stored(-1.9, DType::I8), Ok(Number::Int(-1)));
        assert_eq!(stored(300, DType::U8), Err(Unfit::OutOfRange));
        assert_eq!(stored(-1, DType::U32), Err(Unfit::OutOfRange));
        assert_eq!(stored(f64::NAN, DType::I32), Err(Unfit::OutOfRange));
        assert_eq!(stored(2, DType::Bool), Ok(Number::Bool(true)));
        assert_eq!(stored(0.5, DType::F16), Ok(Number::Float(0.5)));
        assert_eq!(stored(3, DType::Bf16), Ok(Number::Float(3.0)));
    }

    #[test]
    fn constants_keep_their_value_or_are_refused() {
        assert_eq!(exact(2.0, DType::I32), Ok(Number::Int(2)));
        assert_eq!(exact(2.5, DType::I32), Err(Unfit::NotExact));
        assert_eq!(exact(16_777_217, DType::F32), Err(Unfit::NotExact));
        assert_eq!(exact(16_777_216, DType::F32), Ok(Number::Float(16_777_216.0)));
        assert_eq!(exact(0.1, DType::F32), Ok(Number::Float(f64::from(0.1f32))));
        assert_eq!(exact(2, DType::Bool), Err(Unfit::NotExact));
        assert_eq!(exact(1.0, DType::Bool), Ok(Number::Bool(true)));
        assert_eq!(exact(2.0, DType::Bool), Err(Unfit::NotExact));
        assert_eq!(exact(65504.0, DType::F16), Ok(Number::Float(65504.0)));
        assert_eq!(exact(65520.0, DType::F16), Err(Unfit::OutOfRange));
        assert_eq!(exact(f64::INFINITY, DType::F32), Ok(Number::Float(f64::INFINITY)));
    }

    #[test]
    fn conversion_wraps_integers_and_saturates_floats() {
        let ints: Vec<u8> = [300i32, -1].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(convert(&ints, DType::I32, DType::U8), [44, 255]);
        let floats: Vec<u8> = [1e9f32, -0.7, f32::NAN].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(convert(&floats, DType::F32, DType::U8), [255, 0, 0]);
        assert_eq!(convert(&floats, DType::F32, DType::Bool), [1, 1, 1]);
    }
}

//! Converts rows from one element type to another.
//!
//! Integers wrap around. Floats converted to integers lose their fraction and saturate (NaN becomes 0). Any
//! value but zero is true. Each chunk is converted through `i64` or `f64`, whichever preserves its values. So
//! there is one loop per type, not one per pair of types.

use half::{bf16, f16};
use kps_compute::DType;
use kps_compute::halves::{to_bf16, to_f16};

use super::places::{Filled, Places, append, build};
use super::{copy, map};
use crate::value::Result;

/// Elements that are converted at a time.
const CHUNK: usize = 1024;

pub fn cast(row: &[u8], from: DType, to: DType) -> Result<Vec<u8>> {
    if from == to {
        return copy(row);
    }
    build(row.len() / from.size(), to.size(), |range, places| {
        convert(&row[range.start * from.size()..range.end * from.size()], from, to, places)
    })
}

/// The same of a row that the caller does not need any more.
pub fn cast_row(row: Vec<u8>, from: DType, to: DType) -> Result<Vec<u8>> {
    if from == to { Ok(row) } else { cast(&row, from, to) }
}

/// Converts a row from or to the type that a conversion goes through.
type Conversion = fn(&[u8], DType, Places<'_>) -> Filled;

/// Converts a row of one type to places for elements of another.
pub fn convert(row: &[u8], from: DType, to: DType, places: Places<'_>) -> Filled {
    let through =
        if from.is_float() || from == DType::U64 && to.is_float() { DType::F64 } else { DType::I64 };
    let (widen, narrow) = match through {
        DType::F64 => (to_floats as Conversion, of_floats as Conversion),
        _ => (to_ints as Conversion, of_ints as Conversion),
    };
    if from == to {
        return places.copy(row);
    }
    if to == through {
        return widen(row, from, places);
    }
    if from == through {
        return narrow(row, to, places);
    }
    let chunks = row.chunks(CHUNK * from.size()).map(|chunk| (chunk.len() / from.size() * to.size(), chunk));
    let mut wide = Vec::new();
    places.in_pieces(chunks, |chunk, places| {
        wide.clear();
        append(&mut wide, chunk.len() / from.size() * through.size(), |places| widen(chunk, from, places));
        narrow(&wide, to, places)
    })
}

fn to_floats(row: &[u8], from: DType, places: Places<'_>) -> Filled {
    match from {
        DType::F16 => map(row, places, f16::to_f64),
        DType::Bf16 => map(row, places, bf16::to_f64),
        DType::F32 => map(row, places, |float: f32| f64::from(float)),
        DType::U64 => map(row, places, |int: u64| int as f64),
        other => unreachable!("{other} goes through i64, or is f64"),
    }
}

fn to_ints(row: &[u8], from: DType, places: Places<'_>) -> Filled {
    match from {
        DType::Bool => map(row, places, |truth: bool| truth as i64),
        DType::I8 => map(row, places, |int: i8| int as i64),
        DType::I16 => map(row, places, |int: i16| int as i64),
        DType::I32 => map(row, places, |int: i32| int as i64),
        DType::U8 => map(row, places, |int: u8| int as i64),
        DType::U16 => map(row, places, |int: u16| int as i64),
        DType::U32 => map(row, places, |int: u32| int as i64),
        // Only to integers and bool, where only the bits matter.
        DType::U64 => map(row, places, |int: u64| int as i64),
        other => unreachable!("{other} goes through f64, or is i64"),
    }
}

macro_rules! narrow {
    ($row:ident as $from:ident, $to:ident, $places:ident) => {
        match $to {
            DType::Bool => map($row, $places, |number: $from| number != Default::default()),
            DType::I8 => map($row, $places, |number: $from| number as i8),
            DType::I16 => map($row, $places, |number: $from| number as i16),
            DType::I32 => map($row, $places, |number: $from| number as i32),
            DType::I64 => map($row, $places, |number: $from| number as i64),
            DType::U8 => map($row, $places, |number: $from| number as u8),
            DType::U16 => map($row, $places, |number: $from| number as u16),
            DType::U32 => map($row, $places, |number: $from| number as u32),
            DType::U64 => map($row, $places, |number: $from| number as u64),
            DType::F16 => map($row, $places, |number: $from| to_f16(number as f64)),
            DType::Bf16 => map($row, $places, |number: $from| to_bf16(number as f64)),
            DType::F32 => map($row, $places, |number: $from| number as f32),
            DType::F64 => map($row, $places, |number: $from| number as f64),
        }
    };
}

#[allow(clippy::unnecessary_cast, reason = "one of the arms converts to the row's own type")]
fn of_floats(row: &[u8], to: DType, places: Places<'_>) -> Filled {
    narrow!(row as f64, to, places)
}

#[allow(clippy::unnecessary_cast, reason = "one of the arms converts to the row's own type")]
fn of_ints(row: &[u8], to: DType, places: Places<'_>) -> Filled {
    narrow!(row as i64, to, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kps_compute::Element;
    use kps_compute::element::{from_bytes, to_bytes};

    fn check<T: Element, U: Element + PartialEq + std::fmt::Debug>(from: &[T], expect: &[U]) {
        let row = cast(&to_bytes(from), T::DTYPE, U::DTYPE).expect("a few elements have room");
        assert_eq!(from_bytes::<U>(&row), expect);
    }

    #[test]
    fn elements_are_converted() {
        check(&[300i32, -1], &[44u8, 255]);
        check(&[1e9f32, -0.7, f32::NAN, 2.9], &[255u8, 0, 0, 2]);
        check(&[u64::MAX], &[-1i64]);
        check(&[u64::MAX], &[u64::MAX as f64]);
        check(&[i64::MIN], &[i64::MIN as f32]);
        check(&[0.1f64, 0.0], &[true, false]);
        check(&[true, false], &[1.0f32, 0.0]);
        check(&[3u8; 3000], &[f16::from_f32(3.0); 3000]);
    }
}

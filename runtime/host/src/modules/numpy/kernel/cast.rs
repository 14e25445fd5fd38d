//! Converts rows from one element type to another.
//!
//! Integers wrap around. Floats converted to integers lose their fraction and saturate (NaN becomes 0). Any
//! value but zero is true. Each chunk is converted through `i64` or `f64`, whichever preserves its values. So
//! there is one loop per type, not one per pair of types.

use half::{bf16, f16};
use kps_compute::halves::{to_bf16, to_f16};
use kps_compute::{DType, Element};

use super::{copy, elements, zeros};
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

const CHUNK: usize = 1024;

pub fn cast(row: &[u8], from: DType, to: DType) -> Result<Vec<u8>> {
    if from == to {
        return copy(row);
    }
    let n = row.len() / from.size();
    let mut out = zeros(n * to.size())?;
    let chunks = row.chunks(CHUNK * from.size()).zip(out.chunks_mut(CHUNK * to.size()));
    if from.is_float() || from == DType::U64 && to.is_float() {
        let mut stage = [0f64; CHUNK];
        for (at, (source, target)) in chunks.enumerate() {
            poll(at)?;
            let n = load_floats(source, from, &mut stage);
            store_floats(&stage[..n], to, target);
        }
    } else {
        let mut stage = [0i64; CHUNK];
        for (at, (source, target)) in chunks.enumerate() {
            poll(at)?;
            let n = load_ints(source, from, &mut stage);
            store_ints(&stage[..n], to, target);
        }
    }
    Ok(out)
}

/// Polls for interrupts before some of the chunks.
fn poll(chunk: usize) -> Result<()> {
    if chunk.is_multiple_of(STRETCH / CHUNK) { checkpoint() } else { Ok(()) }
}

fn load<T: Element, U>(row: &[u8], stage: &mut [U], convert: impl Fn(T) -> U) -> usize {
    let n = row.len() / size_of::<T>();
    for (place, element) in stage.iter_mut().zip(elements::<T>(row)) {
        *place = convert(element);
    }
    n
}

fn store<T: Element, U: Copy>(stage: &[U], row: &mut [u8], convert: impl Fn(U) -> T) {
    for (place, &element) in row.chunks_exact_mut(size_of::<T>()).zip(stage) {
        convert(element).store(place);
    }
}

fn load_floats(row: &[u8], from: DType, stage: &mut [f64]) -> usize {
    match from {
        DType::F16 => load(row, stage, f16::to_f64),
        DType::Bf16 => load(row, stage, bf16::to_f64),
        DType::F32 => load(row, stage, f64::from as fn(f32) -> f64),
        DType::F64 => load(row, stage, |float: f64| float),
        DType::U64 => load(row, stage, |int: u64| int as f64),
        other => unreachable!("{other} goes through i64"),
    }
}

fn load_ints(row: &[u8], from: DType, stage: &mut [i64]) -> usize {
    match from {
        DType::Bool => load(row, stage, |truth: bool| truth as i64),
        DType::I8 => load(row, stage, |int: i8| int as i64),
        DType::I16 => load(row, stage, |int: i16| int as i64),
        DType::I32 => load(row, stage, |int: i32| int as i64),
        DType::I64 => load(row, stage, |int: i64| int),
        DType::U8 => load(row, stage, |int: u8| int as i64),
        DType::U16 => load(row, stage, |int: u16| int as i64),
        DType::U32 => load(row, stage, |int: u32| int as i64),
        // Only to integers and bool, where only the bits matter.
        DType::U64 => load(row, stage, |int: u64| int as i64),
        other => unreachable!("{other} goes through f64"),
    }
}

macro_rules! store_as {
    ($stage:ident, $to:ident, $row:ident) => {
        match $to {
            DType::Bool => store($stage, $row, |number| number != Default::default()),
            DType::I8 => store($stage, $row, |number| number as i8),
            DType::I16 => store($stage, $row, |number| number as i16),
            DType::I32 => store($stage, $row, |number| number as i32),
            DType::I64 => store($stage, $row, |number| number as i64),
            DType::U8 => store($stage, $row, |number| number as u8),
            DType::U16 => store($stage, $row, |number| number as u16),
            DType::U32 => store($stage, $row, |number| number as u32),
            DType::U64 => store($stage, $row, |number| number as u64),
            DType::F16 => store($stage, $row, |number| to_f16(number as f64)),
            DType::Bf16 => store($stage, $row, |number| to_bf16(number as f64)),
            DType::F32 => store($stage, $row, |number| number as f32),
            DType::F64 => store($stage, $row, |number| number as f64),
        }
    };
}

#[allow(clippy::unnecessary_cast, reason = "one of the arms converts to the stage's own type")]
fn store_floats(stage: &[f64], to: DType, row: &mut [u8]) {
    store_as!(stage, to, row);
}

#[allow(clippy::unnecessary_cast, reason = "one of the arms converts to the stage's own type")]
fn store_ints(stage: &[i64], to: DType, row: &mut [u8]) {
    store_as!(stage, to, row);
}

#[cfg(test)]
mod tests {
    use super::*;
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

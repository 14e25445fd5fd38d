//! Casts from each type to each other, over the grid of the source type, and bitcasts.
//!
//! Ints wrap around. Floats are rounded to nearest, ties to even, and to infinity beyond the largest float. A
//! float becomes an int by truncation, and saturates; NaN is 0.

use crate::columns::{Cell, Column, Printed};
use crate::lines::{Line, Output, wrap};
use crate::number::{Float, Number, Triple, int_range};

/// A target type of casts.
struct Cast {
    /// A cast of `x`.
    number: &'static str,
    /// A cast of a bool.
    test: &'static str,
    /// The same bits.
    bits: &'static str,
    to: Number,
}

const fn cast(number: &'static str, test: &'static str, bits: &'static str, to: Number) -> Cast {
    Cast { number, test, bits, to }
}

const CASTS: [Cast; 12] = [
    cast("i8(x)", "i8(x < y)", "bitcast(i8, x)", Number::Int { bits: 8, signed: true }),
    cast("i16(x)", "i16(x < y)", "bitcast(i16, x)", Number::Int { bits: 16, signed: true }),
    cast("i32(x)", "i32(x < y)", "bitcast(i32, x)", Number::Int { bits: 32, signed: true }),
    cast("i64(x)", "i64(x < y)", "bitcast(i64, x)", Number::Int { bits: 64, signed: true }),
    cast("u8(x)", "u8(x < y)", "bitcast(u8, x)", Number::Int { bits: 8, signed: false }),
    cast("u16(x)", "u16(x < y)", "bitcast(u16, x)", Number::Int { bits: 16, signed: false }),
    cast("u32(x)", "u32(x < y)", "bitcast(u32, x)", Number::Int { bits: 32, signed: false }),
    cast("u64(x)", "u64(x < y)", "bitcast(u64, x)", Number::Int { bits: 64, signed: false }),
    cast("f16(x)", "f16(x < y)", "bitcast(f16, x)", Number::Float(Float::F16)),
    cast("bf16(x)", "bf16(x < y)", "bitcast(bf16, x)", Number::Float(Float::Bf16)),
    cast("f32(x)", "f32(x < y)", "bitcast(f32, x)", Number::Float(Float::F32)),
    cast("f64(x)", "f64(x < y)", "bitcast(f64, x)", Number::Float(Float::F64)),
];

/// A line for every target type of bools.
pub fn of_bools(column: Column, args: &[Triple<bool>]) -> Vec<Line> {
    CASTS.iter().map(|cast| test_line(cast.number, cast.to, column, args, |Triple([x, ..])| *x)).collect()
}

/// A line for every target type of ints, for their tests, and for their bits as other types.
pub fn of_ints(column: Column, bits: u32, args: &[Triple<i128>]) -> Vec<Line> {
    let casts = CASTS.iter().map(|cast| {
        let to = cast.to;
        line((cast.number, to), column, args, move |Triple([x, ..])| match to {
            Number::Float(float) => Wanted::Float(rounded(*x, float), float.least_normal()),
            to => Wanted::Int(wrapped(*x, to)),
        })
    });
    let tests =
        CASTS.iter().map(|cast| test_line(cast.test, cast.to, column, args, |Triple([x, y, _])| x < y));
    let same_bits = CASTS.iter().filter(move |cast| width(cast.to) == bits).map(|cast| {
        let to = cast.to;
        line((cast.bits, to), column, args, move |Triple([x, ..])| match to {
            Number::Float(float) => {
                Wanted::Float(float.of_bits(wrap(*x, bits, false) as u64), float.least_normal())
            }
            to => Wanted::Int(wrapped(*x, to)),
        })
    });
    casts.chain(tests).chain(same_bits).collect()
}

/// The same for floats. A device may flush subnormal numbers, which then compare as zeros do. The bits of a
/// NaN are unspecified.
pub fn of_floats(column: Column, from: Float, args: &[Triple<f64>]) -> Vec<Line> {
    let casts = CASTS.iter().map(|cast| {
        let to = cast.to;
        line((cast.number, to), column, args, move |Triple([x, ..])| match to {
            // Flushed before or after the cast.
            Number::Float(to) => Wanted::Float(to.round(*x), to.least_normal().max(from.least_normal())),
            to => Wanted::Int(saturated(*x, to)),
        })
    });
    let tests =
        CASTS.iter().map(|cast| test_line(cast.test, cast.to, column, args, |Triple([x, y, _])| x < y));
    let same_bits = CASTS.iter().filter(move |cast| width(cast.to) == from.bits()).map(|cast| {
        let to = cast.to;
        line((cast.bits, to), column, args, move |Triple([x, ..])| match to {
            _ if x.is_nan() => Wanted::Anything,
            Number::Float(to) => Wanted::Float(to.of_bits(from.to_bits(*x)), to.least_normal()),
            to => Wanted::Int(wrapped(from.to_bits(*x).into(), to)),
        })
    });
    casts.chain(tests.filter(|_| column != Column::Vulkan)).chain(same_bits).collect()
}

/// Lines for casts to bool; `is_true` has the expected results.
fn test_line<T: Copy + std::fmt::Debug + 'static>(
    call: &'static str,
    to: Number,
    column: Column,
    args: &[Triple<T>],
    is_true: impl Fn(&Triple<T>) -> bool + 'static,
) -> Line {
    line((call, to), column, args, move |args| match (to, is_true(args)) {
        (Number::Float(float), is_true) => Wanted::Float(f64::from(u8::from(is_true)), float.least_normal()),
        (_, is_true) => Wanted::Int(i128::from(is_true)),
    })
}

fn width(number: Number) -> u32 {
    match number {
        Number::Bool => 1,
        Number::Int { bits, .. } => bits,
        Number::Float(float) => float.bits(),
    }
}

enum Wanted {
    Int(i128),
    /// With the smallest normal number: below it, a device may flush.
    Float(f64, f64),
    Anything,
}

impl Wanted {
    /// Bitwise equality, except for NaNs and flushed numbers.
    fn is(&self, found: Printed, column: Column) -> bool {
        match (self, found) {
            (Wanted::Anything, _) => true,
            (Wanted::Int(wanted), Printed::Int(found)) => *wanted == found,
            (Wanted::Float(wanted, least), Printed::Float(found)) => {
                let is_subnormal = wanted.abs() < *least;
                let is_flushed = column == Column::Vulkan && is_subnormal && found == 0.0;
                wanted.is_nan() && found.is_nan() || wanted.to_bits() == found.to_bits() || is_flushed
            }
            _ => false,
        }
    }
}

fn line<T: Copy + std::fmt::Debug + 'static>(
    (call, to): (&'static str, Number),
    column: Column,
    args: &[Triple<T>],
    wanted: impl Fn(&Triple<T>) -> Wanted + 'static,
) -> Line {
    let args = args.to_vec();
    let check = move |cells: &[Cell]| {
        let wrong = args.iter().zip(cells).filter_map(|(args, cell)| {
            let (found, wanted) = ((*cell)?, wanted(args));
            let expected = match wanted {
                Wanted::Int(wanted) => wanted.to_string(),
                Wanted::Float(wanted, _) => format!("{wanted:e}"),
                Wanted::Anything => "anything".to_owned(),
            };
            (!wanted.is(found, column))
                .then(|| format!("{:?} gives {found:?}, and {expected} is right", args.0))
        });
        wrong.collect()
    };
    Line { call, host: None, output: Output::Number(to), check: Box::new(check) }
}

/// An int as a float, rounded once. An inexact f64 is rounded to odd, so that rounding it again equals a
/// single rounding.
fn rounded(int: i128, float: Float) -> f64 {
    let near = int as f64;
    if float == Float::F64 || near as i128 == int {
        return float.round(near);
    }
    let is_past = (near as i128).abs() > int.abs();
    let towards_zero = match near > 0.0 {
        _ if !is_past => near,
        true => near.next_down(),
        false => near.next_up(),
    };
    float.round(f64::from_bits(towards_zero.to_bits() | 1))
}

fn wrapped(int: i128, to: Number) -> i128 {
    match to {
        Number::Int { bits, signed } => wrap(int, bits, signed),
        _ => int,
    }
}

fn saturated(value: f64, to: Number) -> i128 {
    let Number::Int { bits, signed } = to else { return 0 };
    let (low, high) = int_range(bits, signed);
    // `as` truncates, saturates, and maps NaN to 0.
    (value as i128).clamp(low, high)
}

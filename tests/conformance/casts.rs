//! Casts: each type to each other, over the grid of the type that is cast.
//!
//! Ints wrap, floats are rounded to the nearest (ties to even), what is past the largest float is an infinity.
//! A float becomes an int towards zero and stops at the ends of the type; NaN is 0.

use crate::columns::{Cell, Column, Printed};
use crate::lines::{Line, Output, wrap};
use crate::number::{Float, Number, Triple, int_range};

/// A cast of `x`, and one of a bool, to each type.
const CASTS: [(&str, &str, Number); 12] = [
    ("i8(x)", "i8(x < y)", Number::Int { bits: 8, signed: true }),
    ("i16(x)", "i16(x < y)", Number::Int { bits: 16, signed: true }),
    ("i32(x)", "i32(x < y)", Number::Int { bits: 32, signed: true }),
    ("i64(x)", "i64(x < y)", Number::Int { bits: 64, signed: true }),
    ("u8(x)", "u8(x < y)", Number::Int { bits: 8, signed: false }),
    ("u16(x)", "u16(x < y)", Number::Int { bits: 16, signed: false }),
    ("u32(x)", "u32(x < y)", Number::Int { bits: 32, signed: false }),
    ("u64(x)", "u64(x < y)", Number::Int { bits: 64, signed: false }),
    ("f16(x)", "f16(x < y)", Number::Float(Float::F16)),
    ("bf16(x)", "bf16(x < y)", Number::Float(Float::Bf16)),
    ("f32(x)", "f32(x < y)", Number::Float(Float::F32)),
    ("f64(x)", "f64(x < y)", Number::Float(Float::F64)),
];

/// A line for every type that ints are cast to, and for bools.
pub fn of_ints(column: Column, args: &[Triple<i128>]) -> Vec<Line> {
    let casts = CASTS.iter().map(|(call, _, to)| {
        line((call, *to), column, args, move |Triple([x, ..])| match *to {
            Number::Int { bits, signed } => Wanted::Int(wrap(*x, bits, signed)),
            Number::Float(float) => Wanted::Float(rounded(*x, float), least_normal(float)),
        })
    });
    casts.chain(of_bools(column, args, |Triple([x, y, _])| x < y)).collect()
}

/// The same for floats. A device may flush subnormal ones, which then compare as zeros do.
pub fn of_floats(column: Column, from: Float, args: &[Triple<f64>]) -> Vec<Line> {
    let casts = CASTS.iter().map(|(call, _, to)| {
        line((call, *to), column, args, move |Triple([x, ..])| match *to {
            Number::Int { bits, signed } => Wanted::Int(saturated(*x, bits, signed)),
            // Flushed before, or after.
            Number::Float(to) => Wanted::Float(to.round(*x), least_normal(to).max(least_normal(from))),
        })
    });
    let bools = of_bools(column, args, |Triple([x, y, _])| x < y);
    casts.chain(bools.filter(|_| column != Column::Vulkan)).collect()
}

fn of_bools<T: Copy + std::fmt::Debug + 'static>(
    column: Column,
    args: &[Triple<T>],
    is_less: impl Fn(&Triple<T>) -> bool + Copy + 'static,
) -> impl Iterator<Item = Line> {
    let args = args.to_vec();
    CASTS.iter().map(move |(_, call, to)| {
        line((call, *to), column, &args, move |args| match (*to, is_less(args)) {
            (Number::Int { .. }, is_less) => Wanted::Int(i128::from(is_less)),
            (Number::Float(float), is_less) => {
                Wanted::Float(f64::from(u8::from(is_less)), least_normal(float))
            }
        })
    })
}

enum Wanted {
    Int(i128),
    /// With the number below which a device may flush it.
    Float(f64, f64),
}

impl Wanted {
    /// Bit for bit, NaNs and what a device flushes aside.
    fn is(&self, found: Printed, column: Column) -> bool {
        match (self, found) {
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
            let told = match wanted {
                Wanted::Int(wanted) => wanted.to_string(),
                Wanted::Float(wanted, _) => format!("{wanted:e}"),
            };
            (!wanted.is(found, column)).then(|| format!("{:?} gives {found:?}, and {told} is right", args.0))
        });
        wrong.collect()
    };
    Line { call, host: None, output: Output::Number(to), check: Box::new(check) }
}

/// An int as a float, rounded once: an f64 that is not exact is made odd, so that rounding it again rounds
/// as the int itself would be.
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

fn least_normal(float: Float) -> f64 {
    float.format().least_normal()
}

fn saturated(value: f64, bits: u32, signed: bool) -> i128 {
    let (low, high) = int_range(bits, signed);
    // `as` goes towards zero, stops at the ends of its type and makes 0 of NaN.
    (value as i128).clamp(low, high)
}

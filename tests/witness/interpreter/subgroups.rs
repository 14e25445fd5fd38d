//! Subgroup operations. The subgroup is the whole workgroup, which must be as small as the smallest subgroup
//! of all devices, so that it is the same on all of them.
//!
//! Sums and products of floats depend on an unspecified order, so their results are open.

use kps_kernel::Scalar;
use kps_kernel::ir::{BinaryOp, Combine, CompareOp, Spread, SubgroupOp};

use super::{Stop, Value, numbers};

/// Larger workgroups may be several subgroups.
pub const MAX_INVOCATIONS: usize = 8;

/// The results of the invocations, in order; `values` and `lanes` are their operands.
pub fn combined(
    op: SubgroupOp,
    scalar: Scalar,
    values: &[Option<Value>],
    lanes: &[Option<Value>],
) -> Result<Vec<Value>, Stop> {
    let n = values.len();
    if n > MAX_INVOCATIONS {
        return Err(Stop::Open("subgroups of several sizes"));
    }
    let all: Vec<Value> = values.iter().flatten().cloned().collect();
    let holds = |value: &Value| value.as_bool();
    match op {
        SubgroupOp::Combine(combine, spread) => (0..n)
            .map(|lane| by_part(spread_to(spread, lane, &all), &|of| folded(combine, scalar, of)))
            .collect(),
        SubgroupOp::Any => Ok(vec![Value::Bool(all.iter().any(holds)); n]),
        SubgroupOp::All => Ok(vec![Value::Bool(all.iter().all(holds)); n]),
        SubgroupOp::Elect => Ok((0..n).map(|lane| Value::Bool(lane == 0)).collect()),
        SubgroupOp::Ballot => {
            let bits = (0..n).filter(|lane| all[*lane].as_bool()).map(|lane| 1 << lane).sum::<i128>();
            let parts = [bits, 0, 0, 0].map(Value::Int).to_vec();
            Ok(vec![Value::parts(parts); n])
        }
        SubgroupOp::FromFirst => Ok(vec![all[0].clone(); n]),
        SubgroupOp::Shuffle | SubgroupOp::ShuffleXor | SubgroupOp::ShuffleUp | SubgroupOp::ShuffleDown => {
            Ok((0..n).map(|lane| from_lane(op, lane, &all, lanes)).collect())
        }
    }
}

/// The values that are combined for a lane; none for the first of an exclusive scan.
fn spread_to(spread: Spread, lane: usize, all: &[Value]) -> (&[Value], &Value) {
    let of = match spread {
        Spread::Reduce => all,
        Spread::Inclusive => &all[..=lane],
        Spread::Exclusive => &all[..lane],
    };
    (of, &all[0])
}

/// Componentwise; the shape is that of `like`.
fn by_part(
    (of, like): (&[Value], &Value),
    f: &dyn Fn(&[Value]) -> Result<Value, Stop>,
) -> Result<Value, Stop> {
    let Value::Parts(parts) = like else { return f(of) };
    let part = |at: usize| {
        let numbers: Vec<Value> = of.iter().map(|value| value.as_parts()[at].clone()).collect();
        by_part((&numbers, &parts[at]), f)
    };
    Ok(Value::parts((0..parts.len()).map(part).collect::<Result<_, _>>()?))
}

fn folded(combine: Combine, scalar: Scalar, of: &[Value]) -> Result<Value, Stop> {
    if scalar.is_float() {
        return Err(Stop::Open("the order of floats in a subgroup"));
    }
    let mut of = of.iter().cloned();
    let Some(first) = of.next() else { return Ok(nothing_of(combine, scalar)) };
    Ok(of.fold(first, |a, b| {
        let with = |op| numbers::binary(op, scalar, &a, &b);
        match combine {
            Combine::Add => with(BinaryOp::Add),
            Combine::Mul => with(BinaryOp::Mul),
            Combine::And => with(BinaryOp::And),
            Combine::Or => with(BinaryOp::Or),
            Combine::Xor => with(BinaryOp::Xor),
            Combine::Min => {
                if numbers::compare(CompareOp::Less, &b, &a) {
                    b
                } else {
                    a
                }
            }
            Combine::Max => {
                if numbers::compare(CompareOp::Less, &a, &b) {
                    b
                } else {
                    a
                }
            }
        }
    }))
}

/// The neutral element of an operation.
fn nothing_of(combine: Combine, scalar: Scalar) -> Value {
    let range = scalar.int_range();
    match (combine, range) {
        (Combine::And, None) => Value::Bool(true),
        (_, None) => Value::Bool(false),
        (Combine::Add | Combine::Or | Combine::Xor, _) => Value::Int(0),
        (Combine::Mul, _) => Value::Int(1),
        (Combine::Max, Some((min, _))) => Value::Int(min),
        (Combine::Min, Some((_, max))) => Value::Int(max),
        (Combine::And, Some((min, max))) => Value::Int(if min < 0 { -1 } else { max }),
    }
}

/// The value of another lane, or the lane's own if there is no such lane.
fn from_lane(op: SubgroupOp, lane: usize, all: &[Value], lanes: &[Option<Value>]) -> Value {
    let given = lanes[lane].as_ref().map_or(0, Value::as_int) as u32;
    let own = lane as u32;
    let from = match op {
        SubgroupOp::ShuffleXor => own ^ given,
        SubgroupOp::ShuffleUp => own.wrapping_sub(given),
        SubgroupOp::ShuffleDown => own.wrapping_add(given),
        _ => given,
    };
    all.get(from as usize).unwrap_or(&all[lane]).clone()
}

//! `math.nextafter`: the neighbours of a float.
//!
//! Two floats and a number of steps go in; out comes the float that many steps from the first, but never
//! beyond the second.

use num_traits::{Signed, ToPrimitive};

use crate::builtins::float::to_f64;
use crate::builtins::int::required;
use crate::errors;
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

/// `nextafter(x, y, steps=1)`.
pub fn next_after(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("nextafter");
    let (x, towards) = (parser.positional("x")?, parser.positional("y")?);
    let steps = parser.keyword_only("steps");
    parser.finish()?;
    let (x, towards) = (to_f64(vm, x)?, to_f64(vm, towards)?);
    let n_steps = match steps {
        None | Some(Value::None) => 1,
        Some(steps) => n_steps(vm, steps)?,
    };
    Ok(Value::Float(stepped(x, towards, n_steps)))
}

/// More steps than there are floats lead as far as all of them.
fn n_steps(vm: &mut Vm, steps: &Value) -> Result<u64> {
    let steps = required(vm, steps)?;
    if steps.is_negative() {
        return Err(errors::value_error("steps must be a non-negative integer"));
    }
    Ok(steps.to_u64().unwrap_or(u64::MAX))
}

fn stepped(x: f64, towards: f64, n_steps: u64) -> f64 {
    if n_steps == 0 || x.is_nan() {
        return x;
    }
    if towards.is_nan() {
        return towards;
    }
    let way = place(towards) - place(x);
    let n_steps = i128::from(n_steps);
    if way.abs() <= n_steps {
        // A zero has the sign of the start.
        let is_signed = towards != 0.0 || x == 0.0;
        return if is_signed { towards } else { at_place(0, x) };
    }
    at_place(place(x) + n_steps * way.signum(), x)
}

/// Floats in their order, by the number of those between them and zero. Both zeros have place 0.
fn place(float: f64) -> i128 {
    let distance = i128::from(float.abs().to_bits());
    if float.is_sign_negative() { -distance } else { distance }
}

/// Zero has the sign of `from`, as an underflow has.
fn at_place(place: i128, from: f64) -> f64 {
    let distance = u64::try_from(place.unsigned_abs()).expect("the place of a float");
    let magnitude = f64::from_bits(distance);
    match place {
        0 => magnitude.copysign(from),
        place if place < 0 => -magnitude,
        _ => magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check((x, towards, n_steps): (f64, f64, u64), expected: f64) {
        assert_eq!(stepped(x, towards, n_steps).to_bits(), expected.to_bits());
    }

    #[test]
    fn steps_stop_at_the_second_float() {
        let tiny = f64::from_bits(1);
        check((1.0, 2.0, 3), 1.0f64.next_up().next_up().next_up());
        check((1.0, 2.0, 0), 1.0);
        check((1.0, 2.0, u64::MAX), 2.0);
        check((0.0, -0.0, 1), -0.0);
        check((tiny, -1.0, 1), 0.0);
        check((-tiny, 1.0, 1), -0.0);
        check((-tiny, 1.0, 3), tiny.next_up());
        check((f64::INFINITY, 0.0, 1), f64::MAX);
        check((f64::MAX, f64::INFINITY, 5), f64::INFINITY);
    }
}

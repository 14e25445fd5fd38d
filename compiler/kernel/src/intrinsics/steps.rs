//! The formulas of the table, step by step, over numbers with an error bound.

use super::bound::Bound::{self, Steps};
use super::rough::Rough;

type Args = [Rough; 3];

/// A quotient next to a whole number may be rounded to its other side. Then the remainder is off by the divisor, and
/// the quotient by one.
fn is_near_multiple(remainder: Rough, y: Rough) -> bool {
    let size = remainder.value.abs();
    size <= remainder.error || y.value.abs() - size <= remainder.error
}

pub fn rem([x, y, _]: Args) -> Rough {
    let remainder = x - y * (x / y).trunc();
    let off = if is_near_multiple(remainder, y) { y.value.abs() } else { 0.0 };
    Rough { error: remainder.error + off, ..remainder }
}

pub fn remainder([x, y, _]: Args) -> Rough {
    x - y * (x / y).round()
}

pub fn floor_mod([x, y, z]: Args) -> Rough {
    let remainder = rem([x, y, z]);
    let turned = remainder + y;
    let off = if is_near_multiple(remainder, y) { y.value.abs() } else { 0.0 };
    Rough { error: remainder.error + turned.error + off, ..remainder }
}

pub fn floor_div([x, y, z]: Args) -> Rough {
    let remainder = floor_mod([x, y, z]);
    // Rounded to a whole number in the end.
    let quotient = (x - remainder) / y;
    let error = if quotient.error < 0.5 { 0.0 } else { quotient.error + 0.5 };
    Rough { error, ..quotient }
}

pub fn pow([x, y, _]: Args) -> Rough {
    let size = Rough { value: x.value.abs(), ..x };
    (y * size.log2()).exp2()
}

pub fn cube([x, _, _]: Args) -> Rough {
    x * x * x
}

pub fn reciprocal([x, _, _]: Args) -> Rough {
    x.constant(1.0) / x
}

pub fn sqrt([x, _, _]: Args) -> Rough {
    x.sqrt()
}

pub fn fma([x, y, z]: Args) -> Rough {
    x * y + z
}

pub fn expm1([x, _, _]: Args) -> Rough {
    (x.exp() - x.constant(1.0)) * x / x.exp().log()
}

pub fn log_of_base([x, y, _]: Args) -> Rough {
    x.log2() / y.log2()
}

pub fn log10([x, _, _]: Args) -> Rough {
    x.log2() * x.constant(std::f64::consts::LOG10_2)
}

pub fn log1p([x, _, _]: Args) -> Rough {
    let one = x.constant(1.0);
    let sum = one + x;
    sum.log() * x / (sum - one)
}

pub fn hypot([x, y, _]: Args) -> Rough {
    let (large, small) = if x.value.abs() < y.value.abs() { (y, x) } else { (x, y) };
    let ratio = small / large;
    large * (x.constant(1.0) + ratio * ratio).sqrt()
}

pub fn hypot_of_three([x, y, z]: Args) -> Rough {
    hypot([hypot([x, y, z]), z, z])
}

pub fn dist([x, y, z]: Args) -> Rough {
    hypot([x - y, y - z, z])
}

pub fn tan([x, _, _]: Args) -> Rough {
    x.sin() / x.cos()
}

pub fn asin([x, _, _]: Args) -> Rough {
    x.atan2((x.constant(1.0) - x * x).sqrt())
}

pub fn acos([x, _, _]: Args) -> Rough {
    (x.constant(1.0) - x * x).sqrt().atan2(x)
}

fn negated(x: Rough) -> Rough {
    Rough { value: -x.value, ..x }
}

pub fn sinh([x, _, _]: Args) -> Rough {
    (x.exp() - negated(x).exp()) * x.constant(0.5)
}

pub fn cosh([x, _, _]: Args) -> Rough {
    (x.exp() + negated(x).exp()) * x.constant(0.5)
}

pub fn tanh(args: Args) -> Rough {
    sinh(args) / cosh(args)
}

pub fn asinh([x, _, _]: Args) -> Rough {
    (x + (x * x + x.constant(1.0)).sqrt()).log()
}

pub fn acosh([x, _, _]: Args) -> Rough {
    (x + (x * x - x.constant(1.0)).sqrt()).log()
}

pub fn atanh([x, _, _]: Args) -> Rough {
    let one = x.constant(1.0);
    ((one + x) / (one - x)).log() * x.constant(0.5)
}

/// The factor is a polynomial between 1 and 1.3, off by 4 units. Below a half it is `1.0 - erf(x)`.
pub const ERFC: Bound =
    Steps("exp(-x * x) * c / (1.0 + 2.0 * x), c in [1, 1.3]; 8 ULP where x < 0.5", |[x, _, _]| {
        if x.value < 0.5 {
            return Rough { error: 8.0 * x.format.unit(1.0), ..x.constant(1.0) };
        }
        let (one, two) = (x.constant(1.0), x.constant(2.0));
        let factor = Rough { error: 4.0 * x.format.unit(1.3), ..x.constant(1.3) };
        negated(x * x).exp() * factor / (one + two * x)
    });

pub fn mix([x, y, z]: Args) -> Rough {
    x * (z.constant(1.0) - z) + y * z
}

pub const MIX: Bound = Steps("x * (1.0 - z) + y * z", mix);

pub const SMOOTH_STEP: Bound =
    Steps("t * t * (3.0 - 2.0 * t), t = clamp((z - x) / (y - x), 0.0, 1.0)", |[x, y, z]| {
        let t = ((z - x) / (y - x)).clamp(0.0, 1.0);
        t * t * (t.constant(3.0) - t.constant(2.0) * t)
    });

pub const DOT: Bound = Steps("x * y + y * z", |[x, y, z]| x * y + y * z);

fn length(x: Rough, y: Rough) -> Rough {
    (x * x + y * y).sqrt()
}

pub const LENGTH: Bound = Steps("sqrt(x * x + y * y)", |[x, y, _]| length(x, y));

pub const DISTANCE: Bound = Steps("length(vec2(x - y, y - z))", |[x, y, z]| length(x - y, y - z));

pub const NORMALIZE: Bound = Steps("x * inversesqrt(x * x + y * y)", |[x, y, _]| {
    let inverse = (x * x + y * y).inverse_sqrt();
    // The squares may be too small for any number: nothing times infinity is NaN.
    if inverse.error.is_infinite() { inverse } else { x * inverse }
});

pub const CROSS: Bound = Steps("y * y - x * z", |[x, y, z]| y * y - x * z);

pub const REFLECT: Bound =
    Steps("x - 2.0 * dot(vec2(y, z), vec2(x, y)) * y", |[x, y, z]| x - x.constant(2.0) * (y * x + z * y) * y);

pub const REFRACT: Bound = Steps(
    "z * x - (z * d + sqrt(k)) * y if k >= 0.0 else 0.0, k = 1.0 - z * z * (1.0 - d * d), d = dot(vec2(y, z), vec2(x, y))",
    |[x, y, z]| {
        let one = x.constant(1.0);
        let dot = y * x + z * y;
        let inside = one - z * z * (one - dot * dot);
        if inside.value.abs() <= inside.error {
            // Either side may be taken.
            return Rough { error: f64::INFINITY, ..inside };
        }
        if inside.value < 0.0 { x.constant(0.0) } else { z * x - (z * dot + inside.sqrt()) * y }
    },
);

pub const FACE_FORWARD: Bound = Steps("x if dot(vec2(z, x), vec2(y, z)) < 0.0 else -x", |[x, y, z]| {
    let dot = z * y + x * z;
    let turned = if dot.value.abs() > dot.error { 0.0 } else { 2.0 * x.value.abs() + x.format.unit(0.0) };
    Rough { error: turned, ..x }
});

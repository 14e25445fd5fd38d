//! `GLSL.std.450`.

use std::f32::consts::{FRAC_PI_2, PI};

use super::assembly::{F32, F64, I32, U32, check_binary, check_unary, results_binary, results_unary};

fn op(name: &str, ty: &str, operands: &str) -> String {
    format!("%r = OpExtInst %{ty} %glsl {name} {operands}")
}

#[test]
fn rounding() {
    check_unary(F32, &op("Floor", "f32", "%x0"), f32::floor);
    check_unary(F32, &op("Ceil", "f32", "%x0"), f32::ceil);
    check_unary(F32, &op("Trunc", "f32", "%x0"), f32::trunc);
    check_unary(F32, &op("RoundEven", "f32", "%x0"), f32::round_ties_even);
    check_unary(F32, &op("Round", "f32", "%x0"), f32::round_ties_even);
    check_unary(F64, &op("RoundEven", "f64", "%x0"), f64::round_ties_even);
    let below_one = 1.0f32.next_down();
    check_unary(F32, &op("Fract", "f32", "%x0"), |a: f32| {
        let fract = a - a.floor();
        if fract > below_one { below_one } else { fract }
    });
}

#[test]
fn signs_and_sizes() {
    check_unary(F32, &op("FAbs", "f32", "%x0"), f32::abs);
    check_unary(F32, &op("FSign", "f32", "%x0"), |a: f32| {
        if a > 0.0 {
            1.0f32
        } else if a < 0.0 {
            -1.0
        } else {
            a
        }
    });
    check_unary(I32, &op("SAbs", "i32", "%x0"), i32::wrapping_abs);
    check_unary(I32, &op("SSign", "i32", "%x0"), i32::signum);
    check_unary(F32, &op("Sqrt", "f32", "%x0"), f32::sqrt);
    check_unary(F64, &op("InverseSqrt", "f64", "%x0"), |a: f64| 1.0 / a.sqrt());
}

#[test]
fn the_second_wins_only_where_it_compares_so() {
    check_binary(F32, F32, &op("FMin", "f32", "%x0 %x1"), |a, b| if b < a { b } else { a });
    check_binary(F32, F32, &op("FMax", "f32", "%x0 %x1"), |a, b| if b > a { b } else { a });
    check_binary(F32, F32, &op("NMin", "f32", "%x0 %x1"), f32::min);
    check_binary(F32, F32, &op("NMax", "f32", "%x0 %x1"), f32::max);
    check_binary(I32, I32, &op("SMin", "i32", "%x0 %x1"), i32::min);
    check_binary(I32, I32, &op("SMax", "i32", "%x0 %x1"), i32::max);
    check_binary(U32, U32, &op("UMin", "u32", "%x0 %x1"), u32::min);
    check_binary(U32, U32, &op("UMax", "u32", "%x0 %x1"), u32::max);
    check_binary(F32, F32, &op("FClamp", "f32", "%x0 %f1 %f2"), |a, _: f32| {
        let a = if a < 1.0 { 1.0 } else { a };
        if a > 2.0 { 2.0 } else { a }
    });
}

#[test]
fn bits_are_found() {
    let lsb = |a: u32| if a == 0 { -1 } else { a.trailing_zeros() as i32 };
    let msb = |a: u32| 31 - a.leading_zeros() as i32;
    check_unary(U32, &op("FindILsb", "i32", "%x0"), lsb);
    check_unary(U32, &op("FindUMsb", "i32", "%x0"), msb);
    check_unary(I32, &op("FindSMsb", "i32", "%x0"), |a: i32| msb((a ^ (a >> 31)) as u32));
}

#[test]
fn blends() {
    check_binary(F32, F32, &op("FMix", "f32", "%x0 %x1 %f2"), |a, b| a * (1.0 - 2.0) + b * 2.0);
    check_binary(F32, F32, &op("Step", "f32", "%x0 %x1"), |edge, x| if x < edge { 0.0f32 } else { 1.0 });
    check_binary(F32, F32, &op("Fma", "f32", "%x0 %x1 %f1"), |a, b| a.mul_add(b, 1.0));
    check_binary(F64, F64, &op("Fma", "f64", "%x0 %x1 %x0"), |a, b| a.mul_add(b, a));
    check_unary(F32, &op("SmoothStep", "f32", "%f1 %f2 %x0"), |x: f32| {
        let t = (x - 1.0) / (2.0 - 1.0);
        let t = if t < 0.0 { 0.0 } else { t };
        let t = if t > 1.0 { 1.0 } else { t };
        t * t * (3.0 - 2.0 * t)
    });
}

/// Checks a function against the exact result, within units in the last place.
fn check_within(name: &str, values: &[f32], ulps: f64, exact: fn(f64) -> f64) {
    for (&x, &result) in values.iter().zip(&results_unary(values, &op(name, "f32", "%x0"))) {
        assert_close(&format!("{name}({x:?})"), result, exact(f64::from(x)), ulps);
    }
}

fn assert_close(what: &str, result: f32, exact: f64, ulps: f64) {
    let rounded = exact as f32;
    if rounded.is_nan() || rounded.is_infinite() || rounded == 0.0 {
        assert!(
            result == rounded || rounded.is_nan() && result.is_nan(),
            "{what} gave {result:?}, not {rounded:?}"
        );
        return;
    }
    let unit = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
    let error = (f64::from(result) - exact).abs() / unit;
    assert!(error <= ulps, "{what} gave {result:?}, {error} units from {exact:?}");
}

const ANGLES: &[f32] = &[0.0, 0.1, -0.7, 1.0, FRAC_PI_2, 3.0, -PI, 10.0, 100.5, -1234.5, 1e6, f32::INFINITY];
const UNIT: &[f32] = &[0.0, -0.0, 0.3, -0.3, 0.5, 0.99, -0.99, 1.0, -1.0, 1.5];
const POSITIVE: &[f32] = &[0.0, 1e-30, 0.1, 0.5, 1.0, 1.5, 2.0, 10.0, 12345.6, 3e38, f32::INFINITY, -1.0];
const SMALL: &[f32] = &[0.0, 0.5, -0.5, 1.0, -1.0, 3.3, -7.7, 20.0, -20.0, 88.0, -100.0, f32::NAN];

#[test]
fn functions_keep_their_bounds() {
    check_within("Sin", ANGLES, 1.0, f64::sin);
    check_within("Cos", ANGLES, 1.0, f64::cos);
    check_within("Tan", ANGLES, 1.0, f64::tan);
    check_within("Asin", UNIT, 1.0, f64::asin);
    check_within("Acos", UNIT, 1.0, f64::acos);
    check_within("Atan", F32, 1.0, f64::atan);
    check_within("Sinh", SMALL, 1.0, f64::sinh);
    check_within("Cosh", SMALL, 1.0, f64::cosh);
    check_within("Tanh", SMALL, 1.0, f64::tanh);
    check_within("Asinh", F32, 1.0, f64::asinh);
    check_within("Acosh", POSITIVE, 1.0, f64::acosh);
    check_within("Atanh", UNIT, 1.0, f64::atanh);
    check_within("Exp", SMALL, 1.0, f64::exp);
    check_within("Exp2", SMALL, 1.0, f64::exp2);
    check_within("Log", POSITIVE, 1.0, f64::ln);
    check_within("Log2", POSITIVE, 1.0, f64::log2);
    check_within("Radians", SMALL, 1.0, f64::to_radians);
    check_within("Degrees", SMALL, 1.5, f64::to_degrees);
    let pairs: Vec<(f32, f32)> = SMALL.iter().flat_map(|&x| SMALL.iter().map(move |&y| (x, y))).collect();
    for (&(x, y), &result) in pairs.iter().zip(&results_binary(&pairs, &op("Pow", "f32", "%x0 %x1"))) {
        assert_close(&format!("Pow({x}, {y})"), result, f64::from(x).powf(f64::from(y)), 1.0);
    }
    for (&(y, x), &result) in pairs.iter().zip(&results_binary(&pairs, &op("Atan2", "f32", "%x0 %x1"))) {
        assert_close(&format!("Atan2({y}, {x})"), result, f64::from(y).atan2(f64::from(x)), 1.0);
    }
}

#[test]
fn floats_are_split_into_parts_and_rebuilt() {
    check_unary(
        F32,
        "%s = OpExtInst %pair_f32 %glsl ModfStruct %x0\n%r = OpCompositeExtract %f32 %s 1",
        f32::trunc,
    );
    let finite = &[0.0f32, 1.0, -0.75, 1e10, 1e-40, f32::MAX];
    let halves = "%s = OpExtInst %f32_i32 %glsl FrexpStruct %x0\n%m = OpCompositeExtract %f32 %s 0\n\
                  %e = OpCompositeExtract %i32 %s 1\n%r = OpExtInst %f32 %glsl Ldexp %m %e";
    check_unary(finite, halves, |a: f32| a);
    let significand = "%s = OpExtInst %f32_i32 %glsl FrexpStruct %x0\n%r = OpCompositeExtract %f32 %s 0";
    check_unary(
        &[1.0f32, 3.0, -0.75],
        significand,
        |a: f32| if a == 1.0 { 0.5f32 } else { 0.75f32.copysign(a) },
    );
}

#[test]
fn geometry() {
    let vectors =
        "%a = OpCompositeConstruct %v3f32 %x0 %x1 %f1\n%b = OpCompositeConstruct %v3f32 %f2 %x0 %x1\n";
    let check = |body: &str, expected: fn([f32; 3], [f32; 3]) -> f32| {
        let values = &[0.0f32, 1.0, -2.0, 3.5];
        check_binary(values, values, &format!("{vectors}{body}"), |x: f32, y: f32| {
            expected([x, y, 1.0], [2.0, x, y])
        });
    };
    let extract = |i: u32, inst: &str| {
        format!("%v = OpExtInst %v3f32 %glsl {inst}\n%r = OpCompositeExtract %f32 %v {i}")
    };
    check("%r = OpDot %f32 %a %b", |a, b| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    check("%r = OpExtInst %f32 %glsl Length %a", |a, _| (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt());
    check("%r = OpExtInst %f32 %glsl Distance %a %b", |a, b| {
        let d = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
    });
    check(&extract(0, "Cross %a %b"), |a, b| a[1] * b[2] - b[1] * a[2]);
    check(&extract(2, "Cross %a %b"), |a, b| a[0] * b[1] - b[0] * a[1]);
    check(&extract(1, "Normalize %a"), |a, _| a[1] / (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt());
    check(&extract(1, "Reflect %a %b"), |a, b| {
        a[1] - b[1] * (2.0 * (b[0] * a[0] + b[1] * a[1] + b[2] * a[2]))
    });
    check(&extract(1, "FaceForward %a %b %a"), |a, b| {
        if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] < 0.0 { a[1] } else { -a[1] }
    });
}

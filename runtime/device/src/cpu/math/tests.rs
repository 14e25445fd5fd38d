//! Tests every function against the true result in f64, and SIMD groups against single lanes.

use super::{Column, Function, MAX_ARGS, MAX_LANES};

/// The error of a result in units in the last place.
fn units(result: f32, exact: f64) -> f64 {
    if result.is_nan() || exact.is_nan() {
        return if result.is_nan() == exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if f64::from(result) == exact || result == exact as f32 {
        return 0.0;
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(result) - exact).abs() / f64::powi(2.0, exponent.max(-126) - 23)
}

fn one(function: Function, args: [f32; 2]) -> f32 {
    let address = function.address() as *const ();
    match function.params().len() {
        1 => {
            // SAFETY: the table says that it takes one float.
            let body = unsafe { std::mem::transmute::<*const (), extern "C" fn(f32) -> f32>(address) };
            body(args[0])
        }
        _ => {
            // SAFETY: as above, for two.
            let body = unsafe { std::mem::transmute::<*const (), extern "C" fn(f32, f32) -> f32>(address) };
            body(args[0], args[1])
        }
    }
}

fn all(function: Function, args: &[[f32; 2]]) -> Vec<f32> {
    let address = function.lanes_address() as *const ();
    // SAFETY: the address is that of such a function.
    let body = unsafe { std::mem::transmute::<*const (), extern "C" fn(*mut Column, u32)>(address) };
    let mut columns = [const { Column([0; MAX_LANES]) }; MAX_ARGS];
    for (i, column) in columns.iter_mut().enumerate().take(2) {
        for (lane, args) in args.iter().enumerate() {
            // SAFETY: a column is longer than that.
            unsafe { std::ptr::from_mut(column).cast::<f32>().add(lane).write(args[i]) };
        }
    }
    body(columns.as_mut_ptr(), args.len() as u32);
    // SAFETY: the results are in the first column.
    (0..args.len()).map(|lane| unsafe { columns.as_ptr().cast::<f32>().add(lane).read() }).collect()
}

/// Floats of every magnitude and sign, and the ends of the usual ranges.
fn numbers() -> Vec<f32> {
    let spread = (0..=u32::MAX / 65_521).map(|i| f32::from_bits(i * 65_521));
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY, f32::NAN];
    let ends = [134_217_728.0, 134_217_740.0, 200.0, 200.00002, 88.72284, 88.72283, -103.97208, 0.414_213_57];
    let near_1 = [1.000_000_1, 0.999_999_94, 1.000_5, 0.999_5, 1.01, 0.99, -0.999_999_94];
    let whole = (-160..160).map(|i| i as f32 * 0.5);
    spread.chain(special).chain(ends).chain(near_1).chain(whole).collect()
}

#[track_caller]
fn check(function: Function, bound: f64, exact: impl Fn(f64, f64) -> f64) {
    let numbers = numbers();
    let others: Vec<f32> = match function.params().len() {
        1 => vec![0.0],
        _ => numbers.iter().copied().step_by(1031).chain([0.0, -1.0, 3.0, 0.5, f32::NAN]).collect(),
    };
    let mut worst = (0.0, [0.0; 2]);
    for &y in &others {
        let step = if others.len() == 1 { 1 } else { 29 };
        let args: Vec<[f32; 2]> = numbers.iter().step_by(step).map(|&x| [x, y]).collect();
        for args in args.chunks(MAX_LANES) {
            for (&[x, y], lane) in args.iter().zip(all(function, args)) {
                let result = one(function, [x, y]);
                assert!(
                    result.to_bits() == lane.to_bits() || result.is_nan() && lane.is_nan(),
                    "{function:?}({x}, {y}) is {result} alone and {lane} in a SIMD group"
                );
                let off = units(result, exact(f64::from(x), f64::from(y)));
                if off > worst.0 {
                    worst = (off, [x, y]);
                }
            }
        }
    }
    assert!(worst.0 <= bound, "{function:?}: {} units off at {:?}", worst.0, worst.1);
}

#[test]
fn functions_keep_their_bounds() {
    check(Function::Sin, 0.51, |x, _| libm::sin(x));
    check(Function::Cos, 0.51, |x, _| libm::cos(x));
    check(Function::Tan, 0.51, |x, _| libm::tan(x));
    check(Function::Asin, 0.51, |x, _| libm::asin(x));
    check(Function::Acos, 0.51, |x, _| libm::acos(x));
    check(Function::Atan, 0.51, |x, _| libm::atan(x));
    check(Function::Atan2, 0.51, libm::atan2);
    check(Function::Sinh, 0.51, |x, _| libm::sinh(x));
    check(Function::Cosh, 0.51, |x, _| libm::cosh(x));
    check(Function::Tanh, 0.51, |x, _| libm::tanh(x));
    check(Function::Exp, 0.51, |x, _| libm::exp(x));
    check(Function::Exp2, 0.51, |x, _| libm::exp2(x));
    check(Function::Log, 0.51, |x, _| libm::log(x));
    check(Function::Log2, 0.51, |x, _| libm::log2(x));
    check(Function::Pow, 1.0, libm::pow);
    check(Function::Asinh, 0.51, |x, _| libm::asinh(x));
    check(Function::Acosh, 0.51, |x, _| if x < 1.0 { f64::NAN } else { libm::acosh(x) });
    check(Function::Atanh, 0.51, |x, _| libm::atanh(x));
}

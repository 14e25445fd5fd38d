//! Functions that compiled code calls, for operations without an instruction.
//!
//! They are pure Rust, so they give the same bits on every machine. None panics for any argument. The bounds
//! are in units in the last place of `f32`, against the exact result.
//!
//! | function | bound | note |
//! |---|---|---|
//! | sin, cos, tan | 0.51 | [`usual`] to 2^27 |
//! | asin, acos, atan, atan2 | 0.51 | [`usual`] |
//! | sinh, cosh, tanh | 0.51 | [`usual`] |
//! | asinh, acosh, atanh | 0.51 | [`usual`] |
//! | exp, exp2, log, log2 | 0.51 | [`usual`] |
//! | pow | 0.51 | C's: a negative base with a whole exponent has its sign; of such ones 1 |
//! | fmod (32 and 64 bits) | exact | the sign of the dividend |
//! | ldexp (32 and 64 bits) | exact | |
//! | frexp (32 and 64 bits) | exact | zero, inf and NaN have exponent 0 |

mod lanes;
#[cfg(test)]
mod tests;
mod usual;

use super::lane::Ty;

/// Maximum number of lanes in one call.
pub const MAX_LANES: usize = 16;
/// Maximum number of arguments of a function.
pub const MAX_ARGS: usize = 3;

/// One argument of all lanes.
#[repr(C, align(16))]
pub struct Column([u64; MAX_LANES]);

/// A table of functions. The first are of `f32`, and have branch-free forms for usual arguments, which are
/// vectorised.
macro_rules! functions {
    (
        usual { $($usual:ident $args:tt: if $is_usual:expr => $straight:expr, else $rare:expr;)* }
        others { $($name:ident: fn($($arg:ident: $arg_ty:ident),*) -> $result:ident = $body:expr;)* }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($usual,)* $($name),* }

        impl Function {
            pub fn params(self) -> &'static [Ty] {
                match self {
                    $(Function::$usual => floats!($args),)*
                    $(Function::$name => &[$(ty!($arg_ty)),*]),*
                }
            }

            pub fn result(self) -> Ty {
                match self {
                    $(Function::$usual => Ty::F32,)*
                    $(Function::$name => ty!($result)),*
                }
            }

            /// Its address, in the C calling convention.
            pub fn address(self) -> usize {
                match self {
                    $(Function::$usual => {
                        alone!($args, if $is_usual { $straight } else { $rare })
                    })*
                    $(Function::$name => {
                        extern "C" fn body($($arg: $arg_ty),*) -> $result { $body }
                        body as *const () as usize
                    })*
                }
            }

            /// The address of `fn(columns, n)` for `n` lanes. Each column has one argument of all lanes, and
            /// the results replace the first.
            pub fn lanes_address(self) -> usize {
                match self {
                    $(Function::$usual => {
                        #[inline(always)]
                        fn body(columns: *mut Column, n: u32) {
                            lanes::usual(columns, n, |$args| $is_usual, |$args| $straight, |$args| $rare);
                        }
                        lanes::best!(body)
                    })*
                    $(Function::$name => {
                        extern "C" fn body(columns: *mut Column, n: u32) {
                            for lane in 0..(n as usize).min(MAX_LANES) {
                                let _column = columns;
                                $(
                                    // SAFETY: compiled code passes a column for each argument.
                                    let ($arg, _column) = unsafe {
                                        (_column.cast::<$arg_ty>().add(lane).read(), _column.add(1))
                                    };
                                )*
                                let result: $result = $body;
                                // SAFETY: as above; there is at least one argument.
                                unsafe { columns.cast::<$result>().add(lane).write(result) };
                            }
                        }
                        body as *const () as usize
                    })*
                }
            }
        }
    };
}

/// A function of one or two floats, which it gets in registers.
macro_rules! alone {
    ([$x:ident], $body:expr) => {{
        extern "C" fn alone($x: f32) -> f32 {
            $body
        }
        alone as *const () as usize
    }};
    ([$x:ident, $y:ident], $body:expr) => {{
        extern "C" fn alone($x: f32, $y: f32) -> f32 {
            $body
        }
        alone as *const () as usize
    }};
}

macro_rules! floats {
    ([$x:ident]) => {
        &[Ty::F32]
    };
    ([$x:ident, $y:ident]) => {
        &[Ty::F32, Ty::F32]
    };
}

macro_rules! ty {
    (f32) => {
        Ty::F32
    };
    (f64) => {
        Ty::F64
    };
    (i32) => {
        Ty::I32
    };
}

functions! {
    usual {
        Sin [x]: if usual::is_angle(x) => usual::sin(x), else libm::sinf(x);
        Cos [x]: if usual::is_angle(x) => usual::cos(x), else libm::cosf(x);
        Tan [x]: if usual::is_angle(x) => usual::tan(x), else libm::tan(f64::from(x)) as f32;
        Asin [x]: if usual::is_cosine(x) => usual::asin(x), else libm::asinf(x);
        Acos [x]: if usual::is_cosine(x) => usual::acos(x), else libm::acosf(x);
        Atan [x]: if !x.is_nan() => usual::atan(x), else x;
        Atan2 [y, x]: if usual::is_point(y, x) => usual::atan2(y, x), else libm::atan2(f64::from(y), f64::from(x)) as f32;
        Sinh [x]: if usual::is_exponent(x) => usual::sinh(x), else libm::sinhf(x);
        Cosh [x]: if usual::is_exponent(x) => usual::cosh(x), else libm::coshf(x);
        Tanh [x]: if usual::is_exponent(x) => usual::tanh(x), else libm::tanhf(x);
        Asinh [x]: if usual::is_finite(x) => usual::asinh(x), else x;
        Acosh [x]: if usual::is_hyperbolic_cosine(x) => usual::acosh(x), else if x > 1.0 { x } else { f32::NAN };
        Atanh [x]: if usual::is_hyperbolic_tangent(x) => usual::atanh(x), else libm::atanhf(x);
        Exp [x]: if usual::is_exponent(x) => usual::exp(x), else libm::expf(x);
        Exp2 [x]: if usual::is_exponent(x) => usual::exp2(x), else libm::exp2f(x);
        Log [x]: if usual::is_positive(x) => usual::log(x), else libm::logf(x);
        Log2 [x]: if usual::is_positive(x) => usual::log2(x), else libm::log2f(x);
        Pow [x, y]: if usual::is_base(x, y) => usual::pow(x, y), else libm::powf(x, y);
    }

    others {
        Fmod32: fn(x: f32, y: f32) -> f32 = x % y;
        Fmod64: fn(x: f64, y: f64) -> f64 = x % y;
        Ldexp32: fn(x: f32, exponent: i32) -> f32 = libm::ldexpf(x, exponent);
        Ldexp64: fn(x: f64, exponent: i32) -> f64 = libm::ldexp(x, exponent);
        Significand32: fn(x: f32) -> f32 = if x.is_finite() { libm::frexpf(x).0 } else { x };
        Significand64: fn(x: f64) -> f64 = if x.is_finite() { libm::frexp(x).0 } else { x };
        Exponent32: fn(x: f32) -> i32 = if x.is_finite() { libm::frexpf(x).1 } else { 0 };
        Exponent64: fn(x: f64) -> i32 = if x.is_finite() { libm::frexp(x).1 } else { 0 };
        Fma32: fn(x: f32, y: f32, z: f32) -> f32 = libm::fmaf(x, y, z);
        Fma64: fn(x: f64, y: f64, z: f64) -> f64 = libm::fma(x, y, z);
    }
}

//! Functions that compiled code calls, because no instruction does their work.
//!
//! They are written in Rust alone, so they give the same bits on every machine. None panics, whatever it is
//! given. The bounds are in units in the last place of `f32`, against the exact result.
//!
//! | function | bound | note |
//! |---|---|---|
//! | sin, cos, tan | 1 | over all of `f32` |
//! | asin, acos, atan | 1 | |
//! | atan2 | 1.5 | |
//! | sinh, cosh, tanh | 2 | |
//! | asinh, acosh, atanh | 2 | computed in `f64` |
//! | exp, exp2, log, log2 | 1 | |
//! | pow | 1 | C's: a negative base with a whole exponent has its sign |
//! | fmod (32 and 64 bits) | exact | the sign of the dividend |
//! | ldexp (32 and 64 bits) | exact | |
//! | frexp (32 and 64 bits) | exact | zero, inf and NaN have exponent 0 |

use super::lane::Ty;

/// The most lanes that are worked on in one call.
pub const MAX_LANES: usize = 16;
/// The most arguments that a function has.
pub const MAX_ARGS: usize = 3;

/// One argument of every lane, side by side.
#[repr(C, align(16))]
pub struct Column([u64; MAX_LANES]);

macro_rules! functions {
    ($($name:ident: fn($($arg:ident: $arg_ty:ident),*) -> $result:ident = $body:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($name),* }

        impl Function {
            pub fn params(self) -> &'static [Ty] {
                match self { $(Function::$name => &[$(ty!($arg_ty)),*]),* }
            }

            pub fn result(self) -> Ty {
                match self { $(Function::$name => ty!($result)),* }
            }

            /// Its address, in the C calling convention.
            pub fn address(self) -> usize {
                match self {
                    $(Function::$name => {
                        extern "C" fn body($($arg: $arg_ty),*) -> $result { $body }
                        body as extern "C" fn($($arg_ty),*) -> $result as usize
                    })*
                }
            }

            /// The address of the same for `n` lanes: `fn(columns, n)`. Column by column lie the arguments of
            /// all lanes, and afterwards the results in the first.
            pub fn lanes_address(self) -> usize {
                match self {
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
                        body as extern "C" fn(*mut Column, u32) as usize
                    })*
                }
            }
        }
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
    Sin: fn(x: f32) -> f32 = libm::sinf(x);
    Cos: fn(x: f32) -> f32 = libm::cosf(x);
    Tan: fn(x: f32) -> f32 = libm::tanf(x);
    Asin: fn(x: f32) -> f32 = libm::asinf(x);
    Acos: fn(x: f32) -> f32 = libm::acosf(x);
    Atan: fn(x: f32) -> f32 = libm::atanf(x);
    Atan2: fn(y: f32, x: f32) -> f32 = libm::atan2f(y, x);
    Sinh: fn(x: f32) -> f32 = libm::sinhf(x);
    Cosh: fn(x: f32) -> f32 = libm::coshf(x);
    Tanh: fn(x: f32) -> f32 = libm::tanhf(x);
    Asinh: fn(x: f32) -> f32 = libm::asinh(f64::from(x)) as f32;
    // The library's gives numbers far below its domain.
    Acosh: fn(x: f32) -> f32 = if x < 1.0 { f32::NAN } else { libm::acosh(f64::from(x)) as f32 };
    Atanh: fn(x: f32) -> f32 = libm::atanh(f64::from(x)) as f32;
    Exp: fn(x: f32) -> f32 = libm::expf(x);
    Exp2: fn(x: f32) -> f32 = libm::exp2f(x);
    Log: fn(x: f32) -> f32 = libm::logf(x);
    Log2: fn(x: f32) -> f32 = libm::log2f(x);
    Pow: fn(x: f32, y: f32) -> f32 = libm::powf(x, y);
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

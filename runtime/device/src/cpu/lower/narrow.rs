//! Scalars of 8 and 16 bits, which the lane IR lacks. Ints are zero-extended in an `I32`, and floats are
//! exact in an `F32`. Each result is brought back into range once ([`Lowerer::fit`]), so floats are rounded
//! to nearest, ties to even, after each operation. Memory has their own bits.

use kps_scalar::Scalar;

use super::Lowerer;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, Unary};
use crate::cpu::module::constants::{is_narrow_int, lane_ty};

/// 2^-14: smaller halves are subnormal.
const HALF_MIN_NORMAL: f32 = 6.103_515_6e-5;

impl Lowerer<'_> {
    /// Truncates or rounds an operation's result to a scalar type.
    pub(super) fn fit(&mut self, scalar: Scalar, value: lane::Value) -> lane::Value {
        let b = &mut self.builder;
        match scalar {
            _ if is_narrow_int(scalar) => {
                let mask = b.int(Ty::I32, (1 << scalar.bits()) - 1);
                b.binary(Binary::And, value, mask)
            }
            Scalar::F16 => round_half(b, value),
            Scalar::Bf16 => round_bfloat16(b, value),
            _ => value,
        }
    }

    /// Sign-extends an int for operations that depend on the sign.
    pub(super) fn signed(&mut self, scalar: Scalar, value: lane::Value) -> lane::Value {
        if !is_narrow_int(scalar) {
            return value;
        }
        let unused = self.builder.i32(32 - scalar.bits() as i32);
        let high = self.builder.binary(Binary::Shl, value, unused);
        self.builder.binary(Binary::ShrS, high, unused)
    }

    /// The bits of a scalar as an int, narrow ones zero-extended.
    pub(super) fn bits_of(&mut self, scalar: Scalar, value: lane::Value) -> lane::Value {
        let b = &mut self.builder;
        match scalar {
            _ if !scalar.is_float() => value,
            Scalar::F16 => half_to_bits(b, value),
            Scalar::Bf16 => {
                let (bits, n) = (b.convert(Convert::Bits, value), b.i32(16));
                b.binary(Binary::ShrU, bits, n)
            }
            _ => b.convert(Convert::Bits, value),
        }
    }

    /// The scalar with these bits.
    pub(super) fn of_bits(&mut self, scalar: Scalar, bits: lane::Value) -> lane::Value {
        let b = &mut self.builder;
        match scalar {
            _ if !scalar.is_float() => bits,
            Scalar::F16 => half_of_bits(b, bits),
            Scalar::Bf16 => {
                let n = b.i32(16);
                let bits = b.binary(Binary::Shl, bits, n);
                b.convert(Convert::Bits, bits)
            }
            _ => b.convert(Convert::Bits, bits),
        }
    }

    pub(super) fn load_scalar(&mut self, scalar: Scalar, address: lane::Value, offset: u32) -> lane::Value {
        let value = match scalar {
            Scalar::Bool => self.builder.load(Ty::Bool, address, offset),
            _ if scalar.bits() < 32 => {
                let bits = self.builder.load_narrow(scalar.bytes(), address, offset);
                let value = self.of_bits(scalar, bits);
                self.narrow_bits.insert((scalar, value), bits);
                value
            }
            _ => self.builder.load(lane_ty(scalar), address, offset),
        };
        if let (Some(_), Some(line)) = (self.checks, self.builder.line) {
            self.loaded.insert(value, line);
        }
        value
    }

    pub(super) fn store_scalar(
        &mut self,
        scalar: Scalar,
        address: lane::Value,
        offset: u32,
        value: lane::Value,
    ) {
        if scalar == Scalar::Bool || scalar.bits() >= 32 {
            return self.builder.store(address, offset, value);
        }
        // A value that is only moved keeps its bits.
        let bits = match self.narrow_bits.get(&(scalar, value)) {
            Some(&bits) => bits,
            None => self.bits_of(scalar, value),
        };
        self.builder.store_narrow(scalar.bytes(), address, offset, bits);
    }

    /// Converts `F64` to an `F32` that rounds to a narrow float as the `F64` would. Between two `F32`s, it
    /// takes the one whose last bit is 1 (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
    /// proved algorithms using rounding to odd").
    pub(super) fn demote_to_odd(&mut self, value: lane::Value) -> lane::Value {
        let b = &mut self.builder;
        let near = b.convert(Convert::Demote, value);
        let back = b.convert(Convert::Promote, near);
        let (size, back) = (b.unary(Unary::FAbs, value), b.unary(Unary::FAbs, back));
        let bits = b.convert(Convert::Bits, near);
        let one = b.i32(1);
        let last = b.binary(Binary::And, bits, one);
        let even = b.compare(Compare::Ne, last, one);
        let (below, above) = (b.compare(Compare::FLt, back, size), b.compare(Compare::FGt, back, size));
        let (more, less) = (b.binary(Binary::Add, bits, one), b.binary(Binary::Sub, bits, one));
        let odd = b.select(below, more, bits);
        let odd = b.select(above, less, odd);
        let bits = b.select(even, odd, bits);
        b.convert(Convert::Bits, bits)
    }
}

/// Sign bit and magnitude bits of an `F32`.
fn take_apart(b: &mut lane::Builder, value: lane::Value) -> (lane::Value, lane::Value) {
    let bits = b.convert(Convert::Bits, value);
    let mask = b.i32(0x7fff_ffff);
    let size = b.binary(Binary::And, bits, mask);
    (b.binary(Binary::Xor, bits, size), size)
}

/// Rounds the bits above the lowest `n`: adds a half, or just less than that if those above are even.
fn round_up(b: &mut lane::Builder, size: lane::Value, n: u32) -> lane::Value {
    let (shift, one, half) = (b.i32(n as i32), b.i32(1), b.i32((1 << (n - 1)) - 1));
    let above = b.binary(Binary::ShrU, size, shift);
    let odd = b.binary(Binary::And, above, one);
    let size = b.binary(Binary::Add, size, half);
    b.binary(Binary::Add, size, odd)
}

fn clear_low(b: &mut lane::Builder, bits: lane::Value, n: u32) -> lane::Value {
    let mask = b.i32(-1 << n);
    b.binary(Binary::And, bits, mask)
}

/// `rounded`, but a quiet NaN if `size` is a NaN.
fn keep_nan(b: &mut lane::Builder, size: lane::Value, rounded: lane::Value) -> lane::Value {
    let (infinity, quiet) = (b.i32(0x7f80_0000), b.i32(0x0040_0000));
    let is_nan = b.compare(Compare::GtU, size, infinity);
    let nan = b.binary(Binary::Or, size, quiet);
    b.select(is_nan, nan, rounded)
}

fn with_sign(b: &mut lane::Builder, sign: lane::Value, size: lane::Value) -> lane::Value {
    let bits = b.binary(Binary::Or, sign, size);
    b.convert(Convert::Bits, bits)
}

/// As [`lane::fold::round_half`].
fn round_half(b: &mut lane::Builder, value: lane::Value) -> lane::Value {
    let (sign, size) = take_apart(b, value);
    let rounded = round_up(b, size, 13);
    let (too_large, infinity) = (b.i32(0x4780_0000), b.i32(0x7f80_0000));
    let fits = b.compare(Compare::LtU, rounded, too_large);
    let rounded = b.select(fits, rounded, infinity);
    let rounded = keep_nan(b, size, rounded);
    let rounded = clear_low(b, rounded, 13);
    // The unit in the last place of numbers from 0.5 to 1 is that of subnormal halves.
    let half = b.float(Ty::F32, 0.5);
    let moved = half_place(b, size);
    let small = b.binary(Binary::FSub, moved, half);
    let small = b.convert(Convert::Bits, small);
    let is_small = below_normal(b, size);
    let rounded = b.select(is_small, small, rounded);
    with_sign(b, sign, rounded)
}

fn below_normal(b: &mut lane::Builder, size: lane::Value) -> lane::Value {
    let least = b.i32(HALF_MIN_NORMAL.to_bits() as i32);
    b.compare(Compare::LtU, size, least)
}

fn half_place(b: &mut lane::Builder, size: lane::Value) -> lane::Value {
    let (float, half) = (b.convert(Convert::Bits, size), b.float(Ty::F32, 0.5));
    b.binary(Binary::FAdd, float, half)
}

/// As [`lane::fold::round_bfloat16`].
fn round_bfloat16(b: &mut lane::Builder, value: lane::Value) -> lane::Value {
    let (sign, size) = take_apart(b, value);
    let rounded = round_up(b, size, 16);
    let rounded = keep_nan(b, size, rounded);
    let rounded = clear_low(b, rounded, 16);
    with_sign(b, sign, rounded)
}

/// The 16 bits of a half.
fn half_to_bits(b: &mut lane::Builder, value: lane::Value) -> lane::Value {
    let (sign, size) = take_apart(b, value);
    let (n13, n16) = (b.i32(13), b.i32(16));
    let digits = b.binary(Binary::ShrU, size, n13);
    let bias = b.i32((127 - 15) << 10);
    let normal = b.binary(Binary::Sub, digits, bias);
    let moved = half_place(b, size);
    let (moved, place) = (b.convert(Convert::Bits, moved), b.i32(0.5f32.to_bits() as i32));
    let small = b.binary(Binary::Sub, moved, place);
    let is_small = below_normal(b, size);
    let bits = b.select(is_small, small, normal);
    let (mask, infinity) = (b.i32(0x3ff), b.i32(0x7c00));
    let payload = b.binary(Binary::And, digits, mask);
    let special = b.binary(Binary::Or, payload, infinity);
    let last = b.i32(0x7f7f_ffff);
    let is_special = b.compare(Compare::GtU, size, last);
    let bits = b.select(is_special, special, bits);
    let sign = b.binary(Binary::ShrU, sign, n16);
    b.binary(Binary::Or, sign, bits)
}

/// The half with these 16 bits.
fn half_of_bits(b: &mut lane::Builder, bits: lane::Value) -> lane::Value {
    let (mask, n13, n16) = (b.i32(0x7fff), b.i32(13), b.i32(16));
    let size = b.binary(Binary::And, bits, mask);
    let sign = b.binary(Binary::Xor, bits, size);
    let sign = b.binary(Binary::Shl, sign, n16);
    let digits = b.binary(Binary::Shl, size, n13);
    // Rescaling the exponent also normalises subnormal halves; an exponent of 15 becomes 127.
    let float = b.convert(Convert::Bits, digits);
    let scale = b.float(Ty::F32, f64::from(2.0f32.powi(112)));
    let scaled = b.binary(Binary::FMul, float, scale);
    let scaled = b.convert(Convert::Bits, scaled);
    let (infinity, special) = (b.i32(0x7f80_0000), b.i32(0x7bff));
    let is_special = b.compare(Compare::GtU, size, special);
    let special = b.binary(Binary::Or, digits, infinity);
    let size = b.select(is_special, special, scaled);
    with_sign(b, sign, size)
}

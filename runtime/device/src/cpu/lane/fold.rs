//! Constant folding: the meaning of the lane IR in plain Rust. The builder folds with it, and it computes
//! specialisation constants.
//!
//! The bits of a type are stored zero-extended in a `u64`.

use half::{bf16, f16};

use super::{Binary, Compare, Convert, Ty, Unary};

/// Only the bits of the type.
pub fn truncate(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::Bool => bits & 1,
        Ty::I32 | Ty::F32 => bits & 0xffff_ffff,
        Ty::I64 | Ty::F64 => bits,
    }
}

fn signed(ty: Ty, bits: u64) -> i64 {
    if ty == Ty::I32 { i64::from(bits as u32 as i32) } else { bits as i64 }
}

fn float(ty: Ty, bits: u64) -> f64 {
    if ty == Ty::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

/// Rounds to the type. Sums, products and quotients of two `f32` in `f64` round to the same `f32` as direct
/// computation.
fn float_bits(ty: Ty, value: f64) -> u64 {
    if ty == Ty::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
}

fn sign_bit(ty: Ty) -> u64 {
    1 << (ty.size() * 8 - 1)
}

/// `None` where only the machine code defines the result.
pub fn unary(op: Unary, ty: Ty, a: u64) -> Option<u64> {
    let width = ty.size() * 8;
    let bits = match op {
        Unary::Neg => a.wrapping_neg(),
        Unary::Not => !a,
        Unary::BitReverse => a.reverse_bits() >> (64 - width),
        Unary::PopCount => u64::from(a.count_ones()),
        Unary::LeadingZeros => u64::from(a.leading_zeros() - (64 - width)),
        Unary::TrailingZeros => u64::from(a.trailing_zeros().min(width)),
        Unary::FNeg => a ^ sign_bit(ty),
        Unary::FAbs => a & !sign_bit(ty),
        Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest => return None,
    };
    Some(truncate(ty, bits))
}

pub fn binary(op: Binary, ty: Ty, a: u64, b: u64) -> u64 {
    let width = u64::from(ty.size() * 8);
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let amount = (b % width) as u32;
    let bits = match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::DivS if b == 0 => 0,
        Binary::DivS => sa.wrapping_div(sb) as u64,
        Binary::DivU => a.checked_div(b).unwrap_or(0),
        Binary::RemS if b == 0 => 0,
        Binary::RemS => sa.wrapping_rem(sb) as u64,
        Binary::ModS if b == 0 => 0,
        Binary::ModS => {
            let rem = sa.wrapping_rem(sb);
            let wrong = rem != 0 && (rem < 0) != (sb < 0);
            (if wrong { rem.wrapping_add(sb) } else { rem }) as u64
        }
        Binary::RemU => a.checked_rem(b).unwrap_or(0),
        Binary::MulHighS => ((i128::from(sa) * i128::from(sb)) >> width) as u64,
        Binary::MulHighU => ((u128::from(a) * u128::from(b)) >> width) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => a << amount,
        Binary::ShrS => (sa >> amount) as u64,
        Binary::ShrU => a >> amount,
        Binary::FAdd => float_bits(ty, float(ty, a) + float(ty, b)),
        Binary::FSub => float_bits(ty, float(ty, a) - float(ty, b)),
        Binary::FMul => float_bits(ty, float(ty, a) * float(ty, b)),
        Binary::FDiv => float_bits(ty, float(ty, a) / float(ty, b)),
    };
    truncate(ty, bits)
}

pub fn compare(op: Compare, ty: Ty, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(ty, a), signed(ty, b));
    let (fa, fb) = (float(ty, a), float(ty, b));
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::LtS => sa < sb,
        Compare::LeS => sa <= sb,
        Compare::GtS => sa > sb,
        Compare::GeS => sa >= sb,
        Compare::LtU => a < b,
        Compare::LeU => a <= b,
        Compare::GtU => a > b,
        Compare::GeU => a >= b,
        Compare::FEq => fa == fb,
        Compare::FNe => fa != fb,
        Compare::FLt => fa < fb,
        Compare::FLe => fa <= fb,
        Compare::FGt => fa > fb,
        Compare::FGe => fa >= fb,
    }
}

pub fn convert(op: Convert, from: Ty, a: u64) -> u64 {
    let (sa, fa) = (signed(from, a), float(from, a));
    let bits = match op {
        Convert::BoolToInt | Convert::ZeroExtend | Convert::Truncate | Convert::Bits => a,
        Convert::SignExtend => sa as u64,
        Convert::FloatToS(Ty::I32) => fa as i32 as u64,
        Convert::FloatToS(_) => fa as i64 as u64,
        Convert::FloatToU(Ty::I32) => u64::from(fa as u32),
        Convert::FloatToU(_) => fa as u64,
        // Going through the other width would round an int twice.
        Convert::SToFloat(Ty::F32) => u64::from((sa as f32).to_bits()),
        Convert::SToFloat(_) => (sa as f64).to_bits(),
        Convert::UToFloat(Ty::F32) => u64::from((a as f32).to_bits()),
        Convert::UToFloat(_) => (a as f64).to_bits(),
        Convert::Promote => fa.to_bits(),
        Convert::Demote => u64::from((fa as f32).to_bits()),
    };
    truncate(op.result(from), bits)
}

/// To the nearest `f16`, ties to even.
pub fn round_half(x: f32) -> f32 {
    f16::from_f32(x).to_f32()
}

/// To the nearest `bf16`, ties to even.
pub fn round_bfloat16(x: f32) -> f32 {
    bf16::from_f32(x).to_f32()
}

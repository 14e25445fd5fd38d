//! Conversions between types.

use super::assembly::{F32, F64, I32, I64, U32, U64, check_binary, check_unary};

fn op(opcode: &str, ty: &str) -> String {
    format!("%r = {opcode} %{ty} %x0")
}

#[test]
fn floats_to_ints_saturate_and_nan_is_zero() {
    check_unary(F32, &op("OpConvertFToS", "i32"), |a: f32| a as i32);
    check_unary(F32, &op("OpConvertFToU", "u32"), |a: f32| a as u32);
    check_unary(F32, &op("OpConvertFToS", "i64"), |a: f32| a as i64);
    check_unary(F64, &op("OpConvertFToU", "u64"), |a: f64| a as u64);
    check_unary(F64, &op("OpConvertFToS", "i32"), |a: f64| a as i32);
    check_unary(F64, &op("OpConvertFToU", "u32"), |a: f64| a as u32);
}

#[test]
fn ints_to_floats_are_rounded_once() {
    check_unary(I32, &op("OpConvertSToF", "f32"), |a: i32| a as f32);
    check_unary(U32, &op("OpConvertUToF", "f32"), |a: u32| a as f32);
    check_unary(I64, &op("OpConvertSToF", "f32"), |a: i64| a as f32);
    check_unary(U64, &op("OpConvertUToF", "f32"), |a: u64| a as f32);
    check_unary(U64, &op("OpConvertUToF", "f64"), |a: u64| a as f64);
    check_unary(I32, &op("OpConvertSToF", "f64"), f64::from);
    let ties = &[0x0100_0001u64, 0x0100_0003, (1 << 40) + (1 << 16), (1 << 40) + (1 << 16) + 1];
    check_unary(ties, &op("OpConvertUToF", "f32"), |a: u64| a as f32);
}

#[test]
fn widths() {
    check_unary(I32, &op("OpSConvert", "i64"), i64::from);
    check_unary(U32, &op("OpUConvert", "u64"), u64::from);
    check_unary(I64, &op("OpSConvert", "i32"), |a: i64| a as i32);
    check_unary(U64, &op("OpUConvert", "u32"), |a: u64| a as u32);
    check_unary(F32, &op("OpFConvert", "f64"), f64::from);
    check_unary(F64, &op("OpFConvert", "f32"), |a: f64| a as f32);
}

#[test]
fn bits_stay_as_they_are() {
    check_unary(F32, &op("OpBitcast", "u32"), f32::to_bits);
    check_unary(U32, &op("OpBitcast", "f32"), f32::from_bits);
    check_unary(U64, &op("OpBitcast", "f64"), f64::from_bits);
    check_unary(I32, &op("OpBitcast", "u32"), |a: i32| a as u32);
    let join = "%v = OpCompositeConstruct %v2u32 %x0 %x1\n%r = OpBitcast %u64 %v";
    check_binary(U32, U32, join, |a: u32, b: u32| u64::from(b) << 32 | u64::from(a));
    let split = "%v = OpBitcast %v2u32 %x0\n%r = OpCompositeExtract %u32 %v 1";
    check_unary(F64, split, |a: f64| (a.to_bits() >> 32) as u32);
}

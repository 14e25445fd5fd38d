//! Numbers of 8 and 16 bits.

use half::{bf16, f16};

use super::assembly::{F32, F64, I32, U32, U64, check_binary, check_unary, kernel, results_unary};

const I8: &[i8] = &[0, 1, -1, 2, -2, 7, -7, 64, 100, i8::MAX, i8::MIN, i8::MIN + 1];
const U8: &[u8] = &[0, 1, 2, 3, 7, 8, 100, 127, 128, 254, 255];
const I16: &[i16] = &[0, 1, -1, 3, -7, 255, 256, -256, i16::MAX, i16::MIN, i16::MIN + 1];
const U16: &[u16] = &[0, 1, 2, 15, 255, 256, 0x7fff, 0x8000, u16::MAX];

/// The least and the largest, neighbours of a step, ties, infinities and NaN.
fn halves() -> Vec<f16> {
    let bits = [
        0, 0x8000, 1, 2, 3, 0x3ff, 0x400, 0x401, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0xbc00, 0x4000, 0x4248,
        0x5640, 0x6400, 0x6bff, 0x7800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
    ];
    bits.map(f16::from_bits).to_vec()
}

fn brains() -> Vec<bf16> {
    let bits = [
        0, 0x8000, 1, 0x7f, 0x80, 0x3f7f, 0x3f80, 0x3f81, 0xbf80, 0x4049, 0x4300, 0x7f7f, 0xff7f, 0x7f80,
        0xff80, 0x7fc0,
    ];
    bits.map(bf16::from_bits).to_vec()
}

/// A module for tests that corrupt it.
pub fn module() -> Vec<u32> {
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%x = OpLoad %f16 %at0\n%y = OpFMul %f16 %x %h15\n\
                %z = OpConvertFToS %i8 %y\n%w = OpIAdd %i8 %z %i8m3\n%u = OpSConvert %i16 %w\n\
                %v = OpBitcast %f16 %u\nOpStore %at0 %v";
    kernel(&[("f16", 2)], "", body)
}

fn two(opcode: &str, ty: &str) -> String {
    format!("%r = {opcode} %{ty} %x0 %x1")
}

fn one(opcode: &str, ty: &str) -> String {
    format!("%r = {opcode} %{ty} %x0")
}

#[test]
fn ints_wrap_in_their_own_width() {
    check_binary(I8, I8, &two("OpIAdd", "i8"), i8::wrapping_add);
    check_binary(U8, U8, &two("OpISub", "u8"), u8::wrapping_sub);
    check_binary(I16, I16, &two("OpIMul", "i16"), i16::wrapping_mul);
    check_binary(U16, U16, &two("OpIMul", "u16"), u16::wrapping_mul);
    check_unary(I8, &one("OpSNegate", "i8"), i8::wrapping_neg);
    check_unary(U16, &one("OpNot", "u16"), |a: u16| !a);
}

#[test]
fn division_looks_at_the_sign() {
    check_binary(I8, I8, &two("OpSDiv", "i8"), |a: i8, b| if b == 0 { 0 } else { a.wrapping_div(b) });
    check_binary(I8, I8, &two("OpSRem", "i8"), |a: i8, b| if b == 0 { 0 } else { a.wrapping_rem(b) });
    check_binary(I16, I16, &two("OpSMod", "i16"), |a: i16, b: i16| match b {
        0 => 0,
        b => (i32::from(a) - i32::from(b) * (f64::from(a) / f64::from(b)).floor() as i32) as i16,
    });
    check_binary(U8, U8, &two("OpUDiv", "u8"), |a: u8, b| a.checked_div(b).unwrap_or(0));
    check_binary(U16, U16, &two("OpUMod", "u16"), |a: u16, b| a.checked_rem(b).unwrap_or(0));
}

#[test]
fn comparisons_look_at_the_sign() {
    let less = |opcode, from| format!("%c = {opcode} %bool %x0 %x1\n%r = OpSelect %{from} %c %x0 %x1");
    check_binary(I8, I8, &less("OpSLessThan", "i8"), i8::min);
    check_binary(U8, U8, &less("OpUGreaterThan", "u8"), u8::max);
    check_binary(I16, I16, &less("OpSGreaterThanEqual", "i16"), i16::max);
    check_binary(U16, U16, &less("OpULessThanEqual", "u16"), u16::min);
    check_binary(I8, I8, "%r = OpExtInst %i8 %glsl SMin %x0 %x1", i8::min);
    check_binary(U8, U8, "%r = OpExtInst %u8 %glsl UMax %x0 %x1", u8::max);
}

#[test]
fn bits() {
    check_binary(U8, &[0u32, 1, 3, 7], &two("OpShiftLeftLogical", "u8"), |a: u8, b: u32| a << b);
    check_binary(I8, &[0u8, 1, 3, 7], &two("OpShiftRightArithmetic", "i8"), |a: i8, b: u8| a >> b);
    check_binary(U16, &[0u64, 1, 15], &two("OpShiftRightLogical", "u16"), |a: u16, b: u64| a >> b);
    // Beyond the width, amounts count modulo it.
    check_binary(U8, &[8u32, 13, 31], &two("OpShiftLeftLogical", "u8"), |a: u8, b: u32| a << (b & 7));
    check_binary(I16, &[16u16, 21], &two("OpShiftRightArithmetic", "i16"), |a: i16, b: u16| a >> (b & 15));
    check_unary(U8, &one("OpBitReverse", "u8"), u8::reverse_bits);
    check_unary(U16, &one("OpBitReverse", "u16"), u16::reverse_bits);
    check_unary(U16, &one("OpBitCount", "u16"), |a: u16| a.count_ones() as u16);
    check_unary(I8, &one("OpBitCount", "i32"), |a: i8| a.count_ones() as i32);
    check_unary(I8, "%r = OpExtInst %i8 %glsl SAbs %x0", i8::wrapping_abs);
    check_unary(I8, "%r = OpExtInst %i8 %glsl SSign %x0", i8::signum);
    check_unary(I16, "%r = OpExtInst %i16 %glsl FindSMsb %x0", |a: i16| {
        15 - (if a < 0 { !a } else { a }).leading_zeros() as i16
    });
    check_unary(I8, "%r = OpBitFieldSExtract %i8 %x0 %n2 %n4", |a: i8| a << 2 >> 4);
}

#[test]
fn ints_of_every_width_become_one_another() {
    check_unary(I8, &one("OpSConvert", "i32"), i32::from);
    check_unary(I8, &one("OpSConvert", "i64"), i64::from);
    check_unary(I8, &one("OpSConvert", "i16"), i16::from);
    check_unary(I16, &one("OpSConvert", "i8"), |a: i16| a as i8);
    check_unary(I16, &one("OpSConvert", "i64"), i64::from);
    check_unary(U8, &one("OpUConvert", "u16"), u16::from);
    check_unary(U16, &one("OpUConvert", "u64"), u64::from);
    check_unary(U64, &one("OpUConvert", "u8"), |a: u64| a as u8);
    check_unary(U32, &one("OpUConvert", "u16"), |a: u32| a as u16);
    check_unary(I32, &one("OpSConvert", "i8"), |a: i32| a as i8);
    check_unary(I16, &one("OpBitcast", "u16"), |a: i16| a as u16);
}

#[test]
fn floats_to_ints_saturate_and_nan_is_zero() {
    check_unary(F32, &one("OpConvertFToS", "i8"), |a: f32| a as i8);
    check_unary(F32, &one("OpConvertFToU", "u8"), |a: f32| a as u8);
    check_unary(F64, &one("OpConvertFToS", "i16"), |a: f64| a as i16);
    check_unary(F64, &one("OpConvertFToU", "u16"), |a: f64| a as u16);
    check_unary(&halves(), &one("OpConvertFToS", "i16"), |a: f16| a.to_f32() as i16);
    check_unary(&halves(), &one("OpConvertFToU", "u64"), |a: f16| a.to_f32() as u64);
    check_unary(&brains(), &one("OpConvertFToS", "i64"), |a: bf16| a.to_f32() as i64);
}

#[test]
fn every_half_is_the_float_that_it_is() {
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    check_unary(&all, &one("OpFConvert", "f32"), f16::to_f32);
    check_unary(&all, &one("OpFConvert", "f64"), f16::to_f64);
    check_unary(&all, &one("OpBitcast", "u16"), f16::to_bits);
    let all: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    check_unary(&all, &one("OpFConvert", "f32"), bf16::to_f32);
}

#[test]
fn floats_are_rounded_once_and_halves_to_even() {
    // Each half, and numbers a quarter, a half and three quarters of a step after it.
    let between: Vec<f32> = (0..=u16::MAX)
        .step_by(37)
        .map(|bits| f16::from_bits(bits).to_f32())
        .flat_map(|x| [0u32, 0x800, 0x1000, 0x1001, 0x1800].map(|more| f32::from_bits(x.to_bits() + more)))
        .chain([65519.9, 65520.0, -65520.0, 1e9, 2.0f32.powi(-25), 2.0f32.powi(-25) * 1.01, 1e-30])
        .collect();
    check_unary(&between, &one("OpFConvert", "f16"), f16::from_f32);
    check_unary(&between, &one("OpQuantizeToF16", "f32"), |a: f32| f16::from_f32(a).to_f32());
    let between: Vec<f32> = [0x3f80_0000u32, 0x3f81_0000, 0x7f7f_0000, 1, 0x0001_0000, 0xc049_0000]
        .into_iter()
        .flat_map(|bits| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|more| f32::from_bits(bits + more)))
        .collect();
    check_unary(&between, &one("OpFConvert", "bf16"), bf16::from_f32);
    // Going through `f32` would round each of these to the wrong side.
    let step = 2f64.powi(-10);
    let twice = [
        (1.0 + step / 2.0 + 1e-12, 1.0 + step),
        (1.0 + 1.5 * step - 1e-12, 1.0 + step),
        (65519.99999999, 65504.0),
        (2f64.powi(-25) + 1e-18, 2f64.powi(-24)),
    ];
    let results: Vec<f16> = results_unary(&twice.map(|(from, _)| from), &one("OpFConvert", "f16"));
    assert_eq!(results, twice.map(|(_, to)| f16::from_f64(to)));
    check_unary(F64, &one("OpFConvert", "f16"), f16::from_f64);
    check_unary(F64, &one("OpFConvert", "bf16"), bf16::from_f64);
    let ints = &[0, 1, 2048, 2049, 2051, -2049, 65519, 65520, i32::MAX, i32::MIN];
    check_unary(ints, &one("OpConvertSToF", "f16"), |a: i32| f16::from_f64(f64::from(a)));
    let wide = [(0x0101_0001u32, 0x0102_0000), (0x0101_0000, 0x0100_0000), (257, 256), (511, 512)];
    let results: Vec<bf16> = results_unary(&wide.map(|(from, _)| from), &one("OpConvertUToF", "bf16"));
    assert_eq!(results, wide.map(|(_, to)| bf16::from_f64(f64::from(to))));
}

#[test]
fn arithmetic_on_floats_of_16_bits_is_rounded_each_time() {
    let half = |a: f16, b: f16, f: fn(f32, f32) -> f32| f16::from_f32(f(a.to_f32(), b.to_f32()));
    let all = halves();
    check_binary(&all, &all, &two("OpFAdd", "f16"), |a, b| half(a, b, |a, b| a + b));
    check_binary(&all, &all, &two("OpFSub", "f16"), |a, b| half(a, b, |a, b| a - b));
    check_binary(&all, &all, &two("OpFMul", "f16"), |a, b| half(a, b, |a, b| a * b));
    check_binary(&all, &all, &two("OpFDiv", "f16"), |a, b| half(a, b, |a, b| a / b));
    check_binary(&all, &all, &two("OpFRem", "f16"), |a, b| half(a, b, |a, b| a % b));
    check_unary(&all, "%r = OpExtInst %f16 %glsl Sqrt %x0", |a: f16| f16::from_f32(a.to_f32().sqrt()));
    check_unary(&all, "%r = OpExtInst %f16 %glsl Floor %x0", |a: f16| f16::from_f32(a.to_f32().floor()));
    check_unary(&all, &one("OpFNegate", "f16"), |a: f16| -a);
    // Two roundings, not one.
    let body = "%p = OpFMul %f16 %x0 %x0\n%r = OpFAdd %f16 %p %x1";
    check_binary(&all, &all, body, |a: f16, b| half(half(a, a, |a, b| a * b), b, |a, b| a + b));
    let brain = |a: bf16, b: bf16, f: fn(f32, f32) -> f32| bf16::from_f32(f(a.to_f32(), b.to_f32()));
    let all = brains();
    check_binary(&all, &all, &two("OpFAdd", "bf16"), |a, b| brain(a, b, |a, b| a + b));
    check_binary(&all, &all, &two("OpFMul", "bf16"), |a, b| brain(a, b, |a, b| a * b));
}

#[test]
fn constants_have_their_own_bits() {
    check_unary(&halves(), "%k = OpFMul %f16 %x0 %h15\n%r = OpFAdd %f16 %k %h15", |a: f16| {
        f16::from_f32(f16::from_f32(a.to_f32() * 1.5).to_f32() + 1.5)
    });
    check_unary(I8, "%r = OpIAdd %i8 %x0 %i8m3", |a: i8| a.wrapping_add(-3));
}

#[test]
fn floats_packed_into_ints() {
    let pack = |name: &str, ty: &str| {
        format!("%v = OpCompositeConstruct %v2f32 %x0 %x1\n%r = OpExtInst %{ty} %glsl {name} %v")
    };
    let join = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let values: Vec<f32> = F32.iter().copied().filter(|value| !value.is_nan()).collect();
    check_binary(&values, &values, &pack("PackHalf2x16", "u32"), |a: f32, b: f32| {
        join(f16::from_f32(a).to_bits(), f16::from_f32(b).to_bits())
    });
    let snorm = |a: f32| ((a.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16) as u16;
    check_binary(&values, &values, &pack("PackSnorm2x16", "u32"), |a, b| join(snorm(a), snorm(b)));
    let unorm = |a: f32| (a.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16;
    check_binary(&values, &values, &pack("PackUnorm2x16", "u32"), |a, b| join(unorm(a), unorm(b)));
    let unpack = |name: &str, vector: &str, scalar: &str, i: u32| {
        format!("%v = OpExtInst %{vector} %glsl {name} %x0\n%r = OpCompositeExtract %{scalar} %v {i}")
    };
    check_unary(U32, &unpack("UnpackHalf2x16", "v2f32", "f32", 1), |a: u32| {
        f16::from_bits((a >> 16) as u16).to_f32()
    });
    check_unary(U32, &unpack("UnpackSnorm4x8", "v4f32", "f32", 3), |a: u32| {
        (f32::from((a >> 24) as i8) / 127.0).max(-1.0)
    });
    check_unary(U32, &unpack("UnpackUnorm4x8", "v4f32", "f32", 0), |a: u32| f32::from(a as u8) / 255.0);
    check_unary(F64, &unpack("UnpackDouble2x32", "v2u32", "u32", 1), |a: f64| (a.to_bits() >> 32) as u32);
    let double = "%v = OpCompositeConstruct %v2u32 %x0 %x1\n%r = OpExtInst %f64 %glsl PackDouble2x32 %v";
    check_binary(U32, U32, double, |a: u32, b: u32| f64::from_bits(u64::from(a) | u64::from(b) << 32));
}

#[test]
fn dot_products_of_bytes() {
    let dot = |a: u32, b: u32| -> i32 {
        a.to_le_bytes()
            .into_iter()
            .zip(b.to_le_bytes())
            .map(|(a, b)| i32::from(a as i8) * i32::from(b as i8))
            .sum()
    };
    let packed = "%r = OpSDot %i32 %x0 %x1 PackedVectorFormat4x8Bit";
    check_binary(U32, U32, packed, dot);
    let saturated = "%a = OpBitcast %i32 %n1\n%most = OpBitcast %i32 %x0\n\
                     %r = OpSDotAccSat %i32 %x0 %x1 %most PackedVectorFormat4x8Bit";
    check_binary(U32, U32, saturated, |a: u32, b| dot(a, b).saturating_add(a as i32));
}

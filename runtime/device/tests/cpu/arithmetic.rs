//! Sums, products, quotients, bits.

use super::assembly::{F32, F64, I32, I64, U32, U64, check_binary, check_unary};

fn op(opcode: &str, ty: &str) -> String {
    format!("%r = {opcode} %{ty} %x0 %x1")
}

#[test]
fn ints_wrap() {
    check_binary(I32, I32, &op("OpIAdd", "i32"), i32::wrapping_add);
    check_binary(I32, I32, &op("OpISub", "i32"), i32::wrapping_sub);
    check_binary(I32, I32, &op("OpIMul", "i32"), i32::wrapping_mul);
    check_binary(U64, U64, &op("OpIAdd", "u64"), u64::wrapping_add);
    check_binary(I64, I64, &op("OpIMul", "i64"), i64::wrapping_mul);
    check_unary(I32, "%r = OpSNegate %i32 %x0", i32::wrapping_neg);
}

#[test]
fn division_never_traps() {
    check_binary(I32, I32, &op("OpSDiv", "i32"), |a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
    check_binary(I32, I32, &op("OpSRem", "i32"), |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) });
    check_binary(U32, U32, &op("OpUDiv", "u32"), |a, b| a.checked_div(b).unwrap_or(0));
    check_binary(U32, U32, &op("OpUMod", "u32"), |a, b| a.checked_rem(b).unwrap_or(0));
    check_binary(I64, I64, &op("OpSDiv", "i64"), |a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
    check_binary(U64, U64, &op("OpUDiv", "u64"), |a, b| a.checked_div(b).unwrap_or(0));
    check_binary(U64, U64, &op("OpUMod", "u64"), |a, b| a.checked_rem(b).unwrap_or(0));
}

#[test]
fn a_constant_divisor_is_guarded_too() {
    // The modules' constants are small and unsigned: these are folded from them.
    let divisors = [
        (0, "%d = OpIMul %u32 %n0 %n1"),
        (1, "%d = OpIMul %u32 %n1 %n1"),
        (-1, "%d = OpNot %u32 %n0"),
        (-3, "%d = OpISub %u32 %n2 %n5"),
        (40, "%d = OpIMul %u32 %n4 %n10"),
    ];
    for (divisor, made) in divisors {
        let body = |opcode| format!("{made}\n%k = OpBitcast %i32 %d\n%r = {opcode} %i32 %x0 %k");
        check_unary(I32, &body("OpSDiv"), |a: i32| if divisor == 0 { 0 } else { a.wrapping_div(divisor) });
        check_unary(I32, &body("OpSRem"), |a: i32| if divisor == 0 { 0 } else { a.wrapping_rem(divisor) });
    }
}

#[test]
fn the_floored_remainder_has_the_divisors_sign() {
    let floored = |a: i64, b: i64| {
        let (a, b) = (i128::from(a), i128::from(b));
        if b == 0 {
            0
        } else {
            (a - b * (a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0))) as i64
        }
    };
    check_binary(I32, I32, &op("OpSMod", "i32"), |a, b| floored(i64::from(a), i64::from(b)) as i32);
    check_binary(I64, I64, &op("OpSMod", "i64"), floored);
}

#[test]
fn shifts_take_the_amount_modulo_the_width() {
    check_binary(I32, U32, &op("OpShiftLeftLogical", "i32"), i32::wrapping_shl);
    check_binary(I32, U32, &op("OpShiftRightArithmetic", "i32"), i32::wrapping_shr);
    check_binary(U32, U32, &op("OpShiftRightLogical", "u32"), u32::wrapping_shr);
    check_binary(I64, U32, &op("OpShiftRightArithmetic", "i64"), i64::wrapping_shr);
    check_binary(U64, U64, &op("OpShiftLeftLogical", "u64"), |a, b| a.wrapping_shl((b % 64) as u32));
    check_binary(U32, U64, &op("OpShiftRightLogical", "u32"), |a, b| a.wrapping_shr((b % 32) as u32));
}

#[test]
fn bits() {
    check_binary(I32, I32, &op("OpBitwiseAnd", "i32"), |a, b| a & b);
    check_binary(U64, U64, &op("OpBitwiseOr", "u64"), |a, b| a | b);
    check_binary(I32, I32, &op("OpBitwiseXor", "i32"), |a, b| a ^ b);
    check_unary(I64, "%r = OpNot %i64 %x0", |a: i64| !a);
    check_unary(U32, "%r = OpBitReverse %u32 %x0", u32::reverse_bits);
    check_unary(U64, "%r = OpBitReverse %u64 %x0", u64::reverse_bits);
    check_unary(U32, "%r = OpBitCount %u32 %x0", u32::count_ones);
    check_unary(U64, "%r = OpBitCount %i32 %x0", |a: u64| a.count_ones() as i32);
}

#[test]
fn bit_fields() {
    check_unary(U32, "%r = OpBitFieldUExtract %u32 %x0 %n3 %n5", |a: u32| (a >> 3) & 31);
    check_unary(I32, "%r = OpBitFieldSExtract %i32 %x0 %n3 %n5", |a: i32| (a << 24) >> 27);
    check_unary(I32, "%r = OpBitFieldSExtract %i32 %x0 %n3 %n0", |_: i32| 0);
    check_binary(U32, U32, "%r = OpBitFieldInsert %u32 %x0 %x1 %n4 %n8", |a: u32, b: u32| {
        (a & !0xff0) | ((b & 0xff) << 4)
    });
    let all = "%w = OpShiftLeftLogical %u32 %n1 %n5\n%r = OpBitFieldInsert %u32 %x0 %x1 %n0 %w";
    check_binary(U32, U32, all, |_: u32, b: u32| b);
}

#[test]
fn carries() {
    let check = |opcode: &str, expected: fn(u32, u32) -> u32| {
        let body = format!("%pair = {opcode} %pair_u32 %x0 %x1\n%r = OpCompositeExtract %u32 %pair 1");
        check_binary(U32, U32, &body, expected);
    };
    check("OpIAddCarry", |a, b| u32::from(a.checked_add(b).is_none()));
    check("OpISubBorrow", |a, b| u32::from(a < b));
    check("OpUMulExtended", |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    check("OpSMulExtended", |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32);
}

#[test]
fn floats() {
    check_binary(F32, F32, &op("OpFAdd", "f32"), |a, b| a + b);
    check_binary(F32, F32, &op("OpFSub", "f32"), |a, b| a - b);
    check_binary(F32, F32, &op("OpFMul", "f32"), |a, b| a * b);
    check_binary(F32, F32, &op("OpFDiv", "f32"), |a, b| a / b);
    check_binary(F64, F64, &op("OpFDiv", "f64"), |a, b| a / b);
    check_binary(F64, F64, &op("OpFMul", "f64"), |a, b| a * b);
    check_unary(F32, "%n = OpFNegate %f32 %x0\n%r = OpBitcast %u32 %n", |a: f32| (-a).to_bits());
}

#[test]
fn float_remainders() {
    check_binary(F32, F32, &op("OpFRem", "f32"), |a, b| a % b);
    check_binary(F64, F64, &op("OpFRem", "f64"), |a, b| a % b);
    let floored = |a: f32, b: f32| {
        let rem = a % b;
        if rem != 0.0 && (rem < 0.0) != (b < 0.0) { rem + b } else { rem }
    };
    check_binary(F32, F32, &op("OpFMod", "f32"), floored);
}

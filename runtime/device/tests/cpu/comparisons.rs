//! Comparisons, booleans, selects.

use super::assembly::{F32, F64, I32, I64, U32, U64, check_binary, check_unary};

/// `%r` is 1 if the comparison is true.
fn test(opcode: &str) -> String {
    format!("%c = {opcode} %bool %x0 %x1\n%r = OpSelect %u32 %c %n1 %n0")
}

#[test]
fn ints_compare_by_their_sign() {
    check_binary(I32, I32, &test("OpIEqual"), |a, b| u32::from(a == b));
    check_binary(I32, I32, &test("OpINotEqual"), |a, b| u32::from(a != b));
    check_binary(I32, I32, &test("OpSLessThan"), |a, b| u32::from(a < b));
    check_binary(I32, I32, &test("OpSLessThanEqual"), |a, b| u32::from(a <= b));
    check_binary(I64, I64, &test("OpSGreaterThan"), |a, b| u32::from(a > b));
    check_binary(I64, I64, &test("OpSGreaterThanEqual"), |a, b| u32::from(a >= b));
    check_binary(U32, U32, &test("OpULessThan"), |a, b| u32::from(a < b));
    check_binary(U32, U32, &test("OpULessThanEqual"), |a, b| u32::from(a <= b));
    check_binary(U64, U64, &test("OpUGreaterThan"), |a, b| u32::from(a > b));
    check_binary(U64, U64, &test("OpUGreaterThanEqual"), |a, b| u32::from(a >= b));
}

#[test]
fn floats_compare_with_and_without_nan() {
    let nan = |a: f32, b: f32| a.is_nan() || b.is_nan();
    check_binary(F32, F32, &test("OpFOrdEqual"), |a, b| u32::from(a == b));
    check_binary(F32, F32, &test("OpFOrdNotEqual"), |a, b| u32::from(a != b && !nan(a, b)));
    check_binary(F32, F32, &test("OpFOrdLessThan"), |a, b| u32::from(a < b));
    check_binary(F32, F32, &test("OpFOrdLessThanEqual"), |a, b| u32::from(a <= b));
    check_binary(F32, F32, &test("OpFOrdGreaterThan"), |a, b| u32::from(a > b));
    check_binary(F64, F64, &test("OpFOrdGreaterThanEqual"), |a, b| u32::from(a >= b));
    check_binary(F32, F32, &test("OpFUnordEqual"), |a, b| u32::from(a == b || nan(a, b)));
    check_binary(F32, F32, &test("OpFUnordNotEqual"), |a, b| u32::from(a != b));
    check_binary(F32, F32, &test("OpFUnordLessThan"), |a, b| u32::from(a < b || nan(a, b)));
    check_binary(F32, F32, &test("OpFUnordLessThanEqual"), |a, b| u32::from(a <= b || nan(a, b)));
    check_binary(F32, F32, &test("OpFUnordGreaterThan"), |a, b| u32::from(a > b || nan(a, b)));
    check_binary(F32, F32, &test("OpFUnordGreaterThanEqual"), |a, b| u32::from(a >= b || nan(a, b)));
    let is = |opcode: &str| format!("%c = {opcode} %bool %x0\n%r = OpSelect %u32 %c %n1 %n0");
    check_unary(F32, &is("OpIsNan"), |a: f32| u32::from(a.is_nan()));
    check_unary(F64, &is("OpIsInf"), |a: f64| u32::from(a.is_infinite()));
}

#[test]
fn booleans() {
    let logic = |opcode: &str| {
        format!(
            "%p = OpINotEqual %bool %x0 %n0\n%q = OpINotEqual %bool %x1 %n0\n%c = {opcode} %bool %p %q\n\
             %r = OpSelect %u32 %c %n1 %n0"
        )
    };
    let bits = &[0u32, 1, 2, u32::MAX];
    check_binary(bits, bits, &logic("OpLogicalAnd"), |a, b| u32::from(a != 0 && b != 0));
    check_binary(bits, bits, &logic("OpLogicalOr"), |a, b| u32::from(a != 0 || b != 0));
    check_binary(bits, bits, &logic("OpLogicalEqual"), |a, b| u32::from((a != 0) == (b != 0)));
    check_binary(bits, bits, &logic("OpLogicalNotEqual"), |a, b| u32::from((a != 0) != (b != 0)));
    let not = "%p = OpINotEqual %bool %x0 %n0\n%c = OpLogicalNot %bool %p\n%r = OpSelect %u32 %c %n1 %n0";
    check_unary(bits, not, |a: u32| u32::from(a == 0));
    let any_all = |opcode: &str| {
        format!(
            "%p = OpINotEqual %bool %x0 %n0\n%q = OpINotEqual %bool %x1 %n0\n\
             %v = OpCompositeConstruct %v2bool %p %q\n%c = {opcode} %bool %v\n%r = OpSelect %u32 %c %n1 %n0"
        )
    };
    check_binary(bits, bits, &any_all("OpAny"), |a, b| u32::from(a != 0 || b != 0));
    check_binary(bits, bits, &any_all("OpAll"), |a, b| u32::from(a != 0 && b != 0));
}

#[test]
fn vectors_are_chosen_part_by_part() {
    let body = "%v = OpCompositeConstruct %v2i32 %x0 %x1\n%w = OpCompositeConstruct %v2i32 %x1 %x0\n\
                %c = OpSLessThan %v2bool %v %w\n%s = OpSelect %v2i32 %c %v %w\n\
                %r = OpCompositeExtract %i32 %s 1";
    check_binary(I32, I32, body, |a: i32, b: i32| if b < a { b } else { a });
}

//! Expands float `//` and `%` into simpler operations.
//!
//! The results equal those of the emitter (`emit/floats.rs`). The sign of a zero quotient is that of a product with an
//! opaque zero.

use crate::ir::build::Builder;
use crate::ir::{BinaryOp, CompareOp, FloatFn, NodeId, NodeKind, UnaryOp};
use crate::types::Type;

/// The last operation of `a // b`, after the others.
pub(super) fn quotient(builder: &mut Builder, [a, b]: [NodeId; 2], ty: &Type) -> NodeKind {
    let zero = builder.float(ty, 0.0);
    let is_zero = builder.compare(CompareOp::Equal, b, zero);
    let remainder = builder.binary(BinaryOp::TruncRem, a, b);
    let whole = builder.binary(BinaryOp::Sub, a, remainder);
    let quotient = builder.binary(BinaryOp::Div, whole, b);
    let quotient = builder.function_of(FloatFn::Round, quotient);
    let one = builder.float(ty, 1.0);
    let less = builder.binary(BinaryOp::Sub, quotient, one);
    let has_rest = builder.compare(CompareOp::NotEqual, remainder, zero);
    let is_below = builder.compare(CompareOp::Less, remainder, zero);
    let wants_below = builder.compare(CompareOp::Less, b, zero);
    let differ = builder.binary(BinaryOp::Xor, is_below, wants_below);
    let adjusts = builder.binary(BinaryOp::And, has_rest, differ);
    let quotient = builder.select(adjusts, less, quotient);
    let has_quotient = builder.compare(CompareOp::NotEqual, quotient, zero);
    let laundered = builder.opaque_zero(ty);
    let nothing = builder.binary(BinaryOp::Mul, a, laundered);
    let turned = builder.node(NodeKind::Unary(UnaryOp::Negate, nothing), ty.clone());
    let nothing = builder.select(wants_below, turned, nothing);
    let quotient = builder.select(has_quotient, quotient, nothing);
    NodeKind::Select { condition: is_zero, then: zero, orelse: quotient }
}

/// The last operation of `a % b`, after the others.
pub(super) fn modulus(builder: &mut Builder, [a, b]: [NodeId; 2], ty: &Type) -> NodeKind {
    let zero = builder.float(ty, 0.0);
    let is_zero = builder.compare(CompareOp::Equal, b, zero);
    let remainder = builder.binary(BinaryOp::TruncRem, a, b);
    let has_rest = builder.compare(CompareOp::NotEqual, remainder, zero);
    let is_below = builder.compare(CompareOp::Less, remainder, zero);
    let wants_below = builder.compare(CompareOp::Less, b, zero);
    let differ = builder.binary(BinaryOp::Xor, is_below, wants_below);
    let turned = builder.binary(BinaryOp::Add, remainder, b);
    let rest = builder.select(differ, turned, remainder);
    let minus_zero = builder.float(ty, -0.0);
    let nothing = builder.select(wants_below, minus_zero, zero);
    let remainder = builder.select(has_rest, rest, nothing);
    NodeKind::Select { condition: is_zero, then: zero, orelse: remainder }
}

//! On processors without AVX-512, lavapipe does not round any f64 above 2^24 and rounds halves towards zero, also in
//! remainders (`GALLIUM_OVERRIDE_CPU_CAPS=avx` shows it on other processors). `Floor` and `Ceil` are right, so the
//! other roundings use them.

use super::floor_division;
use crate::constant::Constant;
use crate::ir::build::{self, Builder};
use crate::ir::{BinaryOp, CompareOp, FloatFn, Kernel, NodeId, NodeKind};
use crate::stages::Stage;
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel) {
    let has_opaque = kernel.stage == Stage::Compute;
    replace(kernel, |builder, kind, ty| match kind {
        NodeKind::Binary(BinaryOp::FloorDiv, a, b) if has_opaque => {
            Some(floor_division::quotient(builder, [a, b], ty))
        }
        NodeKind::Binary(BinaryOp::FloorMod, a, b) => Some(floor_division::modulus(builder, [a, b], ty)),
        _ => None,
    });
    replace(kernel, |builder, kind, ty| match kind {
        NodeKind::Float(FloatFn::Trunc, [Some(x), ..]) => Some(truncated(builder, x, ty)),
        NodeKind::Float(FloatFn::Round, [Some(x), ..]) => Some(rounded(builder, x, ty)),
        NodeKind::Binary(BinaryOp::TruncRem, a, b) => Some(remainder(builder, [a, b], ty)),
        _ => None,
    });
}

/// Gives nodes of f64 another computation, where there is one.
fn replace(kernel: &mut Kernel, other: impl Fn(&mut Builder, NodeKind, &Type) -> Option<NodeKind>) {
    build::rewrite(kernel, |builder, node| {
        let ty = builder.ty(node);
        if ty.scalar() != Some(Scalar::F64) {
            return;
        }
        let kind = builder.kind(node);
        if let Some(kind) = other(builder, kind, &ty) {
            builder.replace(node, kind);
        }
    });
}

/// Towards zero.
fn truncated(builder: &mut Builder, x: NodeId, ty: &Type) -> NodeKind {
    let zero = builder.float(ty, 0.0);
    let is_negative = builder.compare(CompareOp::Less, x, zero);
    let [below, above] = [FloatFn::Floor, FloatFn::Ceil].map(|next| builder.function_of(next, x));
    NodeKind::Select { condition: is_negative, then: above, orelse: below }
}

/// To the nearest whole number, to the even one of two.
fn rounded(builder: &mut Builder, x: NodeId, ty: &Type) -> NodeKind {
    let half = builder.float(ty, 0.5);
    let [below, above] = [FloatFn::Floor, FloatFn::Ceil].map(|next| builder.function_of(next, x));
    let rest = builder.binary(BinaryOp::Sub, x, below);
    let is_more = builder.compare(CompareOp::Greater, rest, half);
    let is_half = builder.compare(CompareOp::Equal, rest, half);
    let halved = builder.binary(BinaryOp::Mul, below, half);
    let whole = builder.function_of(FloatFn::Floor, halved);
    let is_odd = builder.compare(CompareOp::NotEqual, halved, whole);
    let is_odd_half = builder.binary(BinaryOp::And, is_half, is_odd);
    let goes_up = builder.binary(BinaryOp::Or, is_more, is_odd_half);
    NodeKind::Select { condition: goes_up, then: above, orelse: below }
}

/// With the sign of `a`; NaN by zero.
fn remainder(builder: &mut Builder, [a, b]: [NodeId; 2], ty: &Type) -> NodeKind {
    let quotient = builder.binary(BinaryOp::Div, a, b);
    let whole = truncated(builder, quotient, ty);
    let whole = builder.node(whole, ty.clone());
    let product = builder.binary(BinaryOp::Mul, whole, b);
    let rest = builder.binary(BinaryOp::Sub, a, product);
    // By an infinity, too.
    let zero = builder.float(ty, 0.0);
    let is_none = builder.compare(CompareOp::Equal, whole, zero);
    let kind = NodeKind::Select { condition: is_none, then: a, orelse: rest };
    let divisor = builder.function.known(b).and_then(Constant::as_float);
    if divisor.is_some_and(|divisor| divisor != 0.0) {
        return kind;
    }
    let remainder = builder.node(kind, ty.clone());
    let is_zero = builder.compare(CompareOp::Equal, b, zero);
    let nan = builder.float(ty, f64::NAN);
    NodeKind::Select { condition: is_zero, then: nan, orelse: remainder }
}

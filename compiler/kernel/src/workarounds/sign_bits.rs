//! On processors with AVX-512, LLVM 15, which lavapipe uses, may swap `x` and `y` if `(x & m) | (y & ~m)` is an
//! operand of a select. So a copied sign selects a float or its negation, without bits. The sign of a zero from float
//! `//` is that of a product with an opaque zero.

use super::floor_division;
use crate::constant::Constant;
use crate::ir::build::{self, Builder};
use crate::ir::{BinaryOp, CompareOp, Kernel, NodeId, NodeKind, UnaryOp};
use crate::stages::Stage;
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel) {
    let has_opaque = kernel.stage == Stage::Compute;
    build::rewrite(kernel, |builder, node| {
        let ty = builder.ty(node);
        let kind = match builder.kind(node) {
            NodeKind::CopySign { magnitude, sign } => chosen_sign(builder, magnitude, sign, &ty),
            NodeKind::Binary(BinaryOp::FloorDiv, a, b) if is_float(&ty) && has_opaque => {
                floor_division::quotient(builder, [a, b], &ty)
            }
            _ => return,
        };
        builder.replace(node, kind);
    });
}

fn is_float(ty: &Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

fn chosen_sign(builder: &mut Builder, magnitude: NodeId, sign: NodeId, ty: &Type) -> NodeKind {
    let size = builder.node(NodeKind::Abs(magnitude), ty.clone());
    let scalar = ty.scalar().unwrap_or(Scalar::F32).as_unsigned();
    let bits = ty.with_scalar(scalar);
    let top = builder.constant(Constant::int(scalar, 1i128 << (scalar.bits() - 1)));
    let top = builder.splat(top, &bits);
    let sign = builder.node(NodeKind::Bitcast(sign), bits);
    let has_sign = builder.compare(CompareOp::GreaterEqual, sign, top);
    let negated = builder.node(NodeKind::Unary(UnaryOp::Negate, size), ty.clone());
    NodeKind::Select { condition: has_sign, then: negated, orelse: size }
}

//! NVIDIA's compiler divides vectors of ints by 1 if the divisors are a select, as in the guard against zero. So they
//! are divided component by component.

use crate::ir::build::{self, Builder};
use crate::ir::{BinaryOp, Kernel, NodeId, NodeKind};
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel) {
    build::rewrite(kernel, |builder, node| {
        let ty = builder.ty(node);
        let NodeKind::Binary(op, a, b) = builder.kind(node) else { return };
        let is_division = matches!(
            op,
            BinaryOp::FloorDiv
                | BinaryOp::FloorMod
                | BinaryOp::TruncDiv
                | BinaryOp::TruncRem
                | BinaryOp::PlainDiv
                | BinaryOp::PlainMod
        );
        let Some(scalar) = ty.scalar().filter(|scalar| scalar.is_int()) else { return };
        if !is_division || !ty.is_vector() {
            return;
        }
        let parts = (0..u32::from(ty.n_components())).map(|at| {
            let [a, b] = [a, b].map(|side| component(builder, side, at, scalar));
            builder.node(NodeKind::Binary(op, a, b), scalar)
        });
        let parts = parts.collect();
        builder.replace(node, NodeKind::Construct(parts));
    });
}

/// A component of a vector; for a broadcast scalar, the scalar itself.
fn component(builder: &mut Builder, vector: NodeId, at: u32, scalar: Scalar) -> NodeId {
    match builder.kind(vector) {
        NodeKind::Splat(each) => each,
        _ => builder.node(NodeKind::Extract(vector, at), Type::from(scalar)),
    }
}

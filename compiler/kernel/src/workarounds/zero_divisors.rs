//! Lavapipe's `lp_build_div` treats `x / 0.0` as undefined if the zero is a constant, and drops even stores of the
//! result. Its `atan2` divides, too. So such zeros are laundered, in every kernel.

use crate::ir::build::{self, Builder};
use crate::ir::{BinaryOp, FloatFn, Kernel, NodeId, NodeKind};
use crate::stages::Stage;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.stage != Stage::Compute {
        return;
    }
    build::rewrite(kernel, |builder, node| match builder.kind(node) {
        NodeKind::Binary(BinaryOp::Div, a, by) => {
            if let Some(by) = laundered(builder, by) {
                builder.replace(node, NodeKind::Binary(BinaryOp::Div, a, by));
            }
        }
        NodeKind::Float(FloatFn::Atan2, args) => {
            let args = args.map(|arg| arg.map(|arg| laundered(builder, arg).unwrap_or(arg)));
            builder.replace(node, NodeKind::Float(FloatFn::Atan2, args));
        }
        _ => {}
    });
}

/// A value with its zeros opaque; `None` where it has no constant ones.
fn laundered(builder: &mut Builder, node: NodeId) -> Option<NodeId> {
    let ty = builder.ty(node);
    match builder.kind(node) {
        NodeKind::Constant(constant) => (constant.as_float() == Some(0.0)).then(|| builder.opaque(constant)),
        NodeKind::Splat(scalar) => {
            let scalar = laundered(builder, scalar)?;
            Some(builder.node(NodeKind::Splat(scalar), ty))
        }
        NodeKind::Construct(parts) => {
            let laundered: Vec<Option<NodeId>> = parts.iter().map(|part| laundered(builder, *part)).collect();
            if laundered.iter().all(Option::is_none) {
                return None;
            }
            let parts =
                laundered.iter().zip(parts).map(|(laundered, part)| laundered.unwrap_or(part)).collect();
            Some(builder.node(NodeKind::Construct(parts), ty))
        }
        _ => None,
    }
}

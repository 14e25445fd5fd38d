//! Lavapipe's `lp_build_div` takes `x / 0.0` for undefined where it sees the zero, so that even stores of it are left
//! out. Its `atan2` divides, too. Such zeros are opaque, in every kernel.

use super::build::{self, Builder};
use crate::ir::{BinaryOp, FloatFn, Kernel, NodeId, NodeKind};
use crate::stages::Stage;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.stage != Stage::Compute {
        return;
    }
    build::rewrite(kernel, |builder, node| match builder.kind(node) {
        NodeKind::Binary(BinaryOp::Div, a, by) => {
            if let Some(by) = hidden(builder, by) {
                builder.replace(node, NodeKind::Binary(BinaryOp::Div, a, by));
            }
        }
        NodeKind::Float(FloatFn::Atan2, args) => {
            let args = args.map(|arg| arg.map(|arg| hidden(builder, arg).unwrap_or(arg)));
            builder.replace(node, NodeKind::Float(FloatFn::Atan2, args));
        }
        _ => {}
    });
}

/// A value with its zeros opaque; `None` where it has no constant ones.
fn hidden(builder: &mut Builder, node: NodeId) -> Option<NodeId> {
    let ty = builder.ty(node);
    match builder.kind(node) {
        NodeKind::Constant(constant) => (constant.as_float() == Some(0.0)).then(|| builder.opaque(constant)),
        NodeKind::Splat(scalar) => {
            let scalar = hidden(builder, scalar)?;
            Some(builder.node(NodeKind::Splat(scalar), ty))
        }
        NodeKind::Construct(parts) => {
            let hidden: Vec<Option<NodeId>> = parts.iter().map(|part| hidden(builder, *part)).collect();
            if hidden.iter().all(Option::is_none) {
                return None;
            }
            let parts = hidden.iter().zip(parts).map(|(hidden, part)| hidden.unwrap_or(part)).collect();
            Some(builder.node(NodeKind::Construct(parts), ty))
        }
        _ => None,
    }
}

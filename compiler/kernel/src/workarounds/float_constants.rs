//! Launders float constants in precise kernels, so that optimizers cannot fold them.
//!
//! A float that is converted from an int becomes a constant when a loop is unrolled, so an opaque zero is added to it.

use crate::ir::build;
use crate::ir::{BinaryOp, Kernel, NodeKind};
use crate::stages::Stage;
use crate::types::Scalar;

/// Hides the constants of the scalar types for which `launders` holds.
pub(super) fn hide(kernel: &mut Kernel, launders: fn(Scalar) -> bool) {
    if !kernel.precise || kernel.stage != Stage::Compute {
        return;
    }
    build::rewrite(kernel, |builder, node| {
        let (kind, ty) = (builder.kind(node), builder.ty(node));
        let NodeKind::Convert(from) = kind else { return };
        let is_laundered = ty.scalar().is_some_and(launders);
        let is_counted = builder.ty(from).scalar().is_some_and(|scalar| !scalar.is_float());
        if is_laundered && is_counted {
            let converted = builder.node(kind, ty.clone());
            let zero = builder.opaque_zero(&ty);
            builder.replace(node, NodeKind::Binary(BinaryOp::Add, converted, zero));
        }
    });
    for node in kernel.functions.iter_mut().flat_map(|function| &mut function.nodes) {
        if let NodeKind::Constant(constant) = node.kind
            && launders(constant.scalar())
        {
            node.kind = NodeKind::Opaque(constant);
        }
    }
}

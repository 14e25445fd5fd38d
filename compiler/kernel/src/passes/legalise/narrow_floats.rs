//! Arithmetic of narrow floats in f32: operands are converted, the result is computed there and rounded back once.
//!
//! | Type | Computed in f32 |
//! |---|---|
//! | `bf16` | everything that is not exact: no device adds or multiplies it |
//! | `f16` | the functions of GLSL.std.450, `//`, `%`, dot products: f16 results of those are poor, and devices differ |
//!
//! f32 has more than twice the digits of either type. So for `+ - * /` and the square root, rounding twice gives the
//! same result as rounding once.
//!
//! Formulas are computed in f32 as a whole, by `formulas`. Inference converts the arguments of library functions.

use crate::ir::build::{self, Builder};
use crate::ir::{BinaryOp, Function, FunctionId, Kernel, NodeId, NodeKind};
use crate::remark::{FunctionRemark, Remark, RemarkKind};
use crate::types::Scalar;

pub(super) fn apply(kernel: &mut Kernel, remarks: &mut Vec<FunctionRemark>) {
    for (function, id) in kernel.functions.iter_mut().zip(0..) {
        if function.nodes.iter().any(|node| computed_in(function, &node.kind).is_some()) {
            let mut found = Vec::new();
            build::rewrite_function(function, &mut |builder, node| found.extend(widen(builder, node)));
            remarks.extend(found.into_iter().map(|remark| (FunctionId(id), remark)));
        }
    }
}

/// The scalar type in which a node is computed, if it differs from that of its operands.
pub(crate) fn computed_in(function: &Function, kind: &NodeKind) -> Option<Scalar> {
    let operand = match kind {
        // Exact: a workaround adds zeros.
        NodeKind::Binary(BinaryOp::Add, _, b) if is_opaque(function, *b) => return None,
        NodeKind::Binary(_, a, _) | NodeKind::Dot(a, _) => *a,
        NodeKind::Float(_, [Some(a), ..]) => *a,
        NodeKind::Geometry(_, args) => *args.first()?,
        _ => return None,
    };
    match function.ty(operand).scalar()? {
        Scalar::Bf16 => Some(Scalar::F32),
        Scalar::F16 => match kind {
            NodeKind::Binary(BinaryOp::FloorDiv | BinaryOp::FloorMod | BinaryOp::TruncRem, ..) => {
                Some(Scalar::F32)
            }
            NodeKind::Binary(..) => None,
            _ => Some(Scalar::F32),
        },
        _ => None,
    }
}

fn is_opaque(function: &Function, node: NodeId) -> bool {
    match function.node(node).kind {
        NodeKind::Opaque(_) => true,
        NodeKind::Splat(scalar) => is_opaque(function, scalar),
        _ => false,
    }
}

/// Computes a node in a wider type, if it needs that. The node becomes the conversion back to its own type.
fn widen(builder: &mut Builder, node: NodeId) -> Option<Remark> {
    let kind = builder.kind(node);
    let wide = computed_in(builder.function, &kind)?;
    let mut operands = Vec::new();
    kind.operands(&mut |operand| operands.push(operand));
    builder.begin_steps(node, &operands);
    let mut up = |node: NodeId| builder.convert(node, wide);
    let kind = match kind {
        NodeKind::Binary(op, a, b) => NodeKind::Binary(op, up(a), up(b)),
        NodeKind::Dot(a, b) => NodeKind::Dot(up(a), up(b)),
        NodeKind::Float(function, args) => NodeKind::Float(function, args.map(|arg| arg.map(&mut up))),
        NodeKind::Geometry(function, args) => {
            NodeKind::Geometry(function, args.into_iter().map(up).collect())
        }
        kind => kind,
    };
    let ty = builder.ty(node);
    let computed = builder.node(kind, ty.with_scalar(wide));
    builder.replace(node, NodeKind::Convert(computed));
    let span = builder.function.node(node).span;
    Some(Remark { span, kind: RemarkKind::ComputedIn { wide, ty } })
}

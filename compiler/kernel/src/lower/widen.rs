//! Arithmetic in a wider type: operands are converted, the result is computed there and rounded back once.
//!
//! | Type | Computed in f32 |
//! |---|---|
//! | `bf16` | everything that is not exact: no device adds or multiplies it |
//! | `f16` | the functions of GLSL.std.450, `//`, `%`, dot products: f16 results of those are poor, and devices differ |
//!
//! f32 has more than twice the digits of either type. So for `+ - * /` and the square root, rounding twice
//! gives the same result as rounding once.

use kps_syntax::Span;

use super::Ctx;
use crate::ir::{BinaryOp, NodeId, NodeKind};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// The scalar type in which a node is computed, if it differs from that of its operands.
    pub fn computed_in(&self, kind: &NodeKind) -> Option<Scalar> {
        let operand = match kind {
            NodeKind::Binary(_, a, _) | NodeKind::Dot(a, _) => *a,
            NodeKind::Float(_, [Some(a), ..]) => *a,
            NodeKind::Geometry(_, args) => *args.first()?,
            _ => return None,
        };
        match self.ty(operand).scalar()? {
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

    /// The node computed in `wide`, converted back to its own type.
    pub fn widened(&mut self, kind: NodeKind, ty: &Type, wide: Scalar, span: Span) -> NodeId {
        let narrow = ty.scalar().expect("widened nodes are numbers");
        let mut up = |node: NodeId| self.convert(node, wide, span);
        let kind = match kind {
            NodeKind::Binary(op, a, b) => NodeKind::Binary(op, up(a), up(b)),
            NodeKind::Dot(a, b) => NodeKind::Dot(up(a), up(b)),
            NodeKind::Float(function, args) => NodeKind::Float(function, args.map(|arg| arg.map(&mut up))),
            NodeKind::Geometry(function, args) => {
                NodeKind::Geometry(function, args.into_iter().map(up).collect())
            }
            kind => kind,
        };
        let computed = self.plain_node(kind, ty.with_scalar(wide), span);
        self.convert(computed, narrow, span)
    }
}

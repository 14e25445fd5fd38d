//! Arguments of the functions in `library`, and `bitcast`.

use kps_syntax::Span;

use super::BuiltinCall;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{NodeId, NodeKind, Stmt};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// A constant through a local, since a function is compiled for every constant argument.
    pub fn as_variable(&mut self, node: NodeId, span: Span) -> NodeId {
        if self.f.func.constant(node).is_none() {
            return node;
        }
        let ty = self.ty(node).clone();
        let local = self.new_local("kps.constant", ty.clone(), span);
        self.f.block.push(Stmt::Store { local, value: node, span });
        self.node(NodeKind::Load(local), ty, span)
    }

    /// `bitcast(u32, x)`: the same bits as another type.
    pub fn bitcast_call(&mut self, call: &BuiltinCall) -> Operand {
        let span = call.span;
        let [(ty, ty_span), (value, value_span)] = call.args else { return Operand::Error };
        let to = match ty {
            Operand::Static(Static::Type(to)) if is_bits(to) => to.clone(),
            operand => {
                let what = self.describe(operand);
                return self.fail(errors::bitcast_type(self.at(*ty_span), &what));
            }
        };
        let Some(node) = self.materialize(value, *value_span) else { return Operand::Error };
        let from = self.ty(node).clone();
        let bits = |ty: &Type| (ty.n_components(), ty.scalar().map(Scalar::bits));
        if !is_bits(&from) || bits(&from) != bits(&to) {
            let what = self.describe(value);
            return self.fail(errors::bitcast_width(self.at(*value_span), &what, &to));
        }
        if from == to {
            return Operand::Node(node);
        }
        Operand::Node(self.node(NodeKind::Bitcast(node), to, span))
    }
}

/// Whether it is a number or a vector of numbers. The representation of a bool is not specified.
fn is_bits(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool)
}

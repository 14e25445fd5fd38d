//! Calls of the functions in `library`, and `bitcast`.

use kps_syntax::Span;

use super::Ctx;
use super::builtin_calls::BuiltinCall;
use super::calls::Arguments;
use super::operand::{Operand, Static};
use crate::errors;
use crate::ir::{NodeId, NodeKind, Stmt};
use crate::library;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// Calls the function `name` for the scalars of `ty`, component by component.
    pub fn call_library(&mut self, name: &str, args: &[NodeId], ty: &Type, span: Span) -> Option<NodeId> {
        if !ty.is_vector() {
            return self.call_library_once(name, args, span);
        }
        let scalar = ty.scalar()?;
        let parts = (0..u32::from(ty.n_components())).map(|at| {
            let args: Vec<NodeId> =
                args.iter().map(|arg| self.node(NodeKind::Extract(*arg, at), scalar, span)).collect();
            self.call_library_once(name, &args, span)
        });
        let parts: Vec<Option<NodeId>> = parts.collect();
        let parts = parts.into_iter().collect::<Option<_>>()?;
        Some(self.node(NodeKind::Construct(parts), ty.clone(), span))
    }

    fn call_library_once(&mut self, name: &str, args: &[NodeId], span: Span) -> Option<NodeId> {
        let function = library::function(name).expect("library functions exist");
        let positional = args.iter().map(|arg| (Operand::Node(self.as_variable(*arg, span)), span)).collect();
        let args = Arguments { positional, keywords: Vec::new() };
        match self.call_helper(&function, args, span) {
            Operand::Node(node) => Some(node),
            _ => None,
        }
    }

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

    /// A library function with a version for each size of a square matrix. Narrow floats are computed in f32.
    pub fn square_function(&mut self, function: &str, matrix: NodeId, span: Span) -> Operand {
        let Type::Matrix { columns, scalar, .. } = *self.ty(matrix) else { return Operand::Error };
        let is_narrow = scalar.bits() < 32;
        let wide = if is_narrow { self.matrix_as(matrix, Scalar::F32, span) } else { matrix };
        match self.call_library_once(&format!("{function}{columns}"), &[wide], span) {
            Some(result) if !is_narrow => Operand::Node(result),
            Some(result) if self.ty(result).is_matrix() => {
                Operand::Node(self.matrix_as(result, scalar, span))
            }
            Some(result) => Operand::Node(self.convert(result, scalar, span)),
            None => Operand::Error,
        }
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

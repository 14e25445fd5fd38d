//! Calls of library functions. They take single numbers, so that they are called for each component of a vector.

use super::Lowering;
use crate::ir::build::Builder;
use crate::ir::{CallArg, FunctionId, NodeId, NodeKind};
use crate::types::Type;

impl Lowering<'_> {
    /// Calls a function of the library for each component. `None` after a mistake.
    pub(super) fn call_library(
        &mut self,
        builder: &mut Builder,
        name: &str,
        args: &[NodeId],
        ty: &Type,
    ) -> Option<NodeId> {
        let types: Vec<Type> = args.iter().map(|arg| component(builder.function.ty(*arg))).collect();
        let function = self.library.function(name, &types, builder.function, builder.span)?;
        Some(call_for_each(builder, function, args, ty))
    }
}

/// Calls a function for each component of a vector of type `ty`.
pub(super) fn call_for_each(
    builder: &mut Builder,
    function: FunctionId,
    args: &[NodeId],
    ty: &Type,
) -> NodeId {
    let call =
        |args: Vec<NodeId>| NodeKind::Call { function, args: args.into_iter().map(CallArg::Value).collect() };
    if !ty.is_vector() {
        return builder.node(call(args.to_vec()), ty.clone());
    }
    let mut parts = Vec::new();
    for at in 0..u32::from(ty.n_components()) {
        let mut numbers = Vec::new();
        for arg in args {
            let number = component(builder.function.ty(*arg));
            numbers.push(builder.node(NodeKind::Extract(*arg, at), number));
        }
        parts.push(builder.node(call(numbers), component(ty)));
    }
    builder.node(NodeKind::Construct(parts), ty.clone())
}

/// The type of one number of a vector, or the type itself.
fn component(ty: &Type) -> Type {
    match ty {
        Type::Vector(_, scalar) => (*scalar).into(),
        ty => ty.clone(),
    }
}

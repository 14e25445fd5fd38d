//! Math functions: one call of the script, as an instruction, a formula or a function of the library.
//!
//! The type of the numbers decides which. Formulas and library functions of narrow floats are computed in f32 and
//! rounded once; instructions are left to `passes/legalise/narrow_floats.rs`. A library function takes single numbers,
//! so it is called for each component of a vector.

use super::Lowering;
use super::formulas::Math;
use crate::ir::build::Builder;
use crate::ir::{Body, CallArg, FloatFn, Format, FunctionId, MathFn, NodeId, NodeKind};
use crate::remark::{Remark, RemarkKind};
use crate::types::{Scalar, Type};

/// An instruction for these arguments.
pub(super) fn instruction(function: FloatFn, args: &[NodeId]) -> NodeKind {
    NodeKind::Float(function, [0, 1, 2].map(|at| args.get(at).copied()))
}

impl Lowering<'_> {
    /// Computes a function for these arguments, with a result of type `ty`. `None` after a mistake.
    pub(super) fn math(
        &mut self,
        builder: &mut Builder,
        function: &MathFn,
        mut args: Vec<NodeId>,
        ty: &Type,
    ) -> Option<NodeId> {
        let given = builder.ty(args[0]);
        let scalar = given.number().expect("math functions are of numbers");
        let body = function.body(scalar);
        let wide = if scalar.is_float() && widens(body) { scalar.at_least_f32() } else { scalar };
        if wide != scalar {
            for arg in &mut args {
                if builder.ty(*arg).number() == Some(scalar) {
                    *arg = numbers_as(builder, *arg, wide);
                }
            }
            let kind = RemarkKind::ComputedIn { wide, ty: given.clone() };
            self.remarks.push((self.id, Remark { span: builder.span, kind }));
        }
        if let (Type::Tuple(parts), Body::LibraryOf(name, format)) = (ty, body) {
            return self.call_for_tuple(builder, (name, format), &args, (scalar, wide), parts);
        }
        let is_alike = ty.number() == Some(scalar);
        let wide_ty = if is_alike { with_number(ty, wide) } else { ty.clone() };
        let result = match body {
            Body::Instruction(function) => builder.node(instruction(function, &args), wide_ty),
            Body::Formula(function) => Math::of(builder, args[0]).formula(function, &args),
            Body::Library(name) => self.call_library(builder, (name, None), &args, &wide_ty)?,
            Body::LibraryOf(name, format) => {
                self.call_library(builder, (name, Some(format)), &args, &wide_ty)?
            }
            Body::Square(name) => {
                let name = format!("{name}{}", given.n_parts().unwrap_or(0));
                self.call_library(builder, (&name, None), &args, &wide_ty)?
            }
        };
        Some(if is_alike { numbers_as(builder, result, scalar) } else { result })
    }

    /// Calls a function of the library for each component, perhaps with arguments that describe their type. `None` after a mistake.
    pub(super) fn call_library(
        &mut self,
        builder: &mut Builder,
        (name, format): (&str, Option<Format>),
        args: &[NodeId],
        ty: &Type,
    ) -> Option<NodeId> {
        let function = self.library_function(builder, (name, format), args)?;
        Some(call_for_each(builder, function, args, ty))
    }

    /// The same for a function with several results, each with as many components as the arguments. Those of type
    /// `scalar` are computed in the type `wide`.
    fn call_for_tuple(
        &mut self,
        builder: &mut Builder,
        (name, format): (&str, Format),
        args: &[NodeId],
        (scalar, wide): (Scalar, Scalar),
        parts: &[Type],
    ) -> Option<NodeId> {
        let function = self.library_function(builder, (name, Some(format)), args)?;
        let computed =
            |part: &Type| if part.scalar() == Some(scalar) { part.with_scalar(wide) } else { part.clone() };
        let of_one = Type::tuple(parts.iter().map(|part| component(&computed(part))));
        let tuples = calls(builder, function, args, &of_one);
        if let ([tuple], true) = (&tuples[..], Type::tuple(parts.iter().cloned()) == of_one) {
            return Some(*tuple);
        }
        let mut results = Vec::new();
        for (part, at) in parts.iter().zip(0..) {
            let mut numbers = Vec::new();
            for tuple in &tuples {
                numbers.push(builder.node(NodeKind::Extract(*tuple, at), component(&computed(part))));
            }
            let result = joined(builder, numbers, &computed(part));
            results.push(numbers_as(builder, result, part.scalar()?));
        }
        Some(builder.node(NodeKind::Construct(results), Type::tuple(parts.iter().cloned())))
    }

    fn library_function(
        &mut self,
        builder: &Builder,
        (name, format): (&str, Option<Format>),
        args: &[NodeId],
    ) -> Option<FunctionId> {
        let types: Vec<Type> = args.iter().map(|arg| component(builder.function.ty(*arg))).collect();
        self.library.function(name, &types, format, builder.function, builder.span)
    }
}

/// Whether a function of narrow floats is computed in f32.
fn widens(body: Body) -> bool {
    match body {
        Body::Formula(function) => !function.is_selection(),
        Body::LibraryOf(_, format) => !matches!(format, Format::NarrowFloat | Format::Bits),
        Body::Instruction(_) | Body::Library(_) | Body::Square(_) => true,
    }
}

/// Numbers, or the numbers of a matrix, as another scalar type.
fn numbers_as(builder: &mut Builder, node: NodeId, to: Scalar) -> NodeId {
    let ty = builder.ty(node);
    let Some(column) = ty.column().filter(|_| ty.number() != Some(to)) else {
        return if ty.is_matrix() { node } else { builder.convert(node, to) };
    };
    let mut columns = Vec::new();
    for at in 0..ty.n_parts().unwrap_or(0) {
        let column = builder.node(NodeKind::Extract(node, at), column.clone());
        columns.push(builder.convert(column, to));
    }
    builder.node(NodeKind::Construct(columns), with_number(&ty, to))
}

fn with_number(ty: &Type, scalar: Scalar) -> Type {
    match *ty {
        Type::Matrix { columns, rows, .. } => Type::Matrix { columns, rows, scalar },
        _ => ty.with_scalar(scalar),
    }
}

/// Calls a function for each component of a vector of type `ty`.
pub(super) fn call_for_each(
    builder: &mut Builder,
    function: FunctionId,
    args: &[NodeId],
    ty: &Type,
) -> NodeId {
    let numbers = calls(builder, function, args, &component(ty));
    joined(builder, numbers, ty)
}

/// A call for each component of the arguments, with a result of type `ty`.
fn calls(builder: &mut Builder, function: FunctionId, args: &[NodeId], ty: &Type) -> Vec<NodeId> {
    let call =
        |args: Vec<NodeId>| NodeKind::Call { function, args: args.into_iter().map(CallArg::Value).collect() };
    let whole = builder.ty(args[0]);
    if !whole.is_vector() {
        return vec![builder.node(call(args.to_vec()), ty.clone())];
    }
    let mut results = Vec::new();
    for at in 0..u32::from(whole.n_components()) {
        let mut numbers = Vec::new();
        for arg in args {
            let number = component(builder.function.ty(*arg));
            numbers.push(builder.node(NodeKind::Extract(*arg, at), number));
        }
        results.push(builder.node(call(numbers), ty.clone()));
    }
    results
}

/// The components of a vector of type `ty`, or its one number.
fn joined(builder: &mut Builder, numbers: Vec<NodeId>, ty: &Type) -> NodeId {
    match ty.is_vector() {
        true => builder.node(NodeKind::Construct(numbers), ty.clone()),
        false => numbers[0],
    }
}

/// The type of one number of a vector, or the type itself.
fn component(ty: &Type) -> Type {
    match ty {
        Type::Vector(_, scalar) => (*scalar).into(),
        ty => ty.clone(),
    }
}

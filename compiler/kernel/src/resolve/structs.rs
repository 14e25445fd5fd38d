//! A struct from the class that defines it: `@struct class P: pos: vec3; mass: f32 = 1.0`.
//!
//! Members are the annotated names, in order; functions are methods. The class is not run, so only literals are known
//! as defaults; a host that runs the class knows the others.

use std::rc::Rc;

use kps_syntax::ast::{
    Argument, ArgumentKind, ClassDef, Expr, ExprKind, FunctionDef, Stmt, StmtKind, UnaryOp,
};
use kps_syntax::{Diagnostic, Diagnostics, Source, Span};
use num_traits::ToPrimitive;

use super::types::{NO_INTS, TypeReader};
use crate::constant::{Constant, Literal};
use crate::env::{HelperFunction, KernelEnv};
use crate::errors;
use crate::structs::{MAX_STRUCT_BYTES, Member, Method, MethodKind, StructType};
use crate::types::{Scalar, Type};

pub(crate) fn read_struct(
    def: &ClassDef,
    source: &Source,
    env: &Rc<dyn KernelEnv>,
) -> Result<StructType, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let is_object = |base: &&Argument| source.slice(base.span) == "object";
    if let Some(base) = def.arguments.first().filter(|base| !is_object(base)) {
        diagnostics.push(errors::struct_base(source.at(base.span)));
    }
    let mut of = StructType { name: Some(def.name.name.clone()), ..StructType::new(Vec::new()) };
    let reader = TypeReader { source, env: &**env, ints: NO_INTS };
    for stmt in &def.body {
        let read = match &stmt.kind {
            StmtKind::AnnAssign { target, annotation, value } => {
                member(&reader, &of, target, annotation, value.as_ref()).map(|member| of.members.push(member))
            }
            StmtKind::Function(def) => method(def, source, env).map(|method| of.methods.push(method)),
            _ => other_stmt(stmt, source),
        };
        diagnostics.extend(read.err());
    }
    if of.members.is_empty() && !diagnostics.has_errors() {
        diagnostics.push(errors::empty_struct(source.at(def.header), &def.name.name));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(of) }
}

fn other_stmt(stmt: &Stmt, source: &Source) -> Result<(), Diagnostic> {
    match &stmt.kind {
        // An attribute of the class is not a member.
        StmtKind::Pass | StmtKind::Error | StmtKind::Expr(_) | StmtKind::Assign { .. } => Ok(()),
        _ => {
            let text = source.slice(stmt.span);
            Err(errors::known_later(source.at(stmt.span), text.lines().next().unwrap_or(text)))
        }
    }
}

fn member(
    reader: &TypeReader,
    of: &StructType,
    target: &Expr,
    annotation: &Expr,
    value: Option<&Expr>,
) -> Result<Member, Diagnostic> {
    let at = reader.source.at(target.span);
    let ExprKind::Name(name) = &target.kind else { return Err(errors::struct_statement(at)) };
    let ty = reader.value_type(annotation).map_err(|mistake| reader.blame(annotation, mistake))?;
    let member = checked_member(reader, of, name, ty, target.span)?;
    let default = value.and_then(|value| constants(&member.ty, value));
    Ok(Member { default, ..member })
}

/// A member that may follow those that are there.
pub(super) fn checked_member(
    reader: &TypeReader,
    of: &StructType,
    name: &str,
    ty: Type,
    span: Span,
) -> Result<Member, Diagnostic> {
    let at = || reader.source.at(span);
    if of.member(name).is_some() {
        return Err(errors::member_declared_twice(at(), name));
    }
    if of.size().saturating_add(ty.packed_size()) > MAX_STRUCT_BYTES {
        return Err(errors::struct_too_large(at(), MAX_STRUCT_BYTES));
    }
    Ok(Member::new(name, ty))
}

fn method(
    def: &std::sync::Arc<FunctionDef>,
    source: &Source,
    env: &Rc<dyn KernelEnv>,
) -> Result<Method, Diagnostic> {
    let kind = match &def.decorators[..] {
        [] => MethodKind::Plain,
        [Expr { kind: ExprKind::Name(name), .. }] if &**name == "staticmethod" => MethodKind::Static,
        [Expr { kind: ExprKind::Name(name), .. }] if &**name == "property" => MethodKind::Property,
        [Expr { kind: ExprKind::Attribute { attr, .. }, .. }] if &*attr.name == "setter" => {
            MethodKind::Setter
        }
        [decorator, ..] => {
            return Err(errors::known_later(source.at(decorator.span), source.slice(decorator.span)));
        }
    };
    if kind != MethodKind::Static && def.params.iter().next().is_none() {
        return Err(errors::method_without_self(source.at(def.header), &def.name.name));
    }
    let function = HelperFunction { def: def.clone(), source: source.clone(), env: Rc::clone(env) };
    Ok(Method { name: def.name.name.clone(), function, kind })
}

/// The numbers of a default that is written out: `1.0`, `-1`, `True`, `vec3(0, 0, 1)`, `(0, 1)`.
fn constants(ty: &Type, value: &Expr) -> Option<Vec<Constant>> {
    let items: Vec<&Expr> = match &value.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().collect(),
        ExprKind::Call { args, .. } => args.iter().map(positional).collect::<Option<_>>()?,
        _ => return Some(vec![constant(ty.scalar()?, value)?]).filter(|_| ty.n_components() == 1),
    };
    match (ty, &items[..]) {
        (Type::Vector(n, scalar), [one]) => Some(vec![constant(*scalar, one)?; usize::from(*n)]),
        (ty, items) => {
            let fits = ty.n_parts() == Some(items.len() as u32);
            let parts = items.iter().zip(0..).map(|(item, at)| constants(&ty.part(at)?, item));
            fits.then(|| parts.collect::<Option<Vec<_>>>()).flatten().map(|parts| parts.concat())
        }
    }
}

fn positional(arg: &Argument) -> Option<&Expr> {
    match &arg.kind {
        ArgumentKind::Positional(value) => Some(value),
        _ => None,
    }
}

fn constant(scalar: Scalar, value: &Expr) -> Option<Constant> {
    match &value.kind {
        ExprKind::True | ExprKind::False if scalar == Scalar::Bool => {
            Some(Constant::bool(matches!(value.kind, ExprKind::True)))
        }
        _ => literal(value)?.fit(scalar),
    }
}

fn literal(value: &Expr) -> Option<Literal> {
    match &value.kind {
        ExprKind::Int(value) => Some(Literal::Int(value.to_i128()?)),
        ExprKind::Float(value) => Some(Literal::Float(*value)),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => Some(match literal(operand)? {
            Literal::Int(value) => Literal::Int(-value),
            Literal::Float(value) => Literal::Float(-value),
        }),
        _ => None,
    }
}

//! Types called as functions: casts, and vectors from components.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind};

use super::operand::{Facts, Operand, Static};
use crate::builtins;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::places::vars::Binding;
use crate::ir::{NodeId, NodeKind};
use crate::resolve::TypeReader;
use crate::type_expr::TypeExpr;
use crate::types::{ArrayType, Scalar, Type};

impl Ctx<'_> {
    /// `Vector(2, f32)`, `Array(4, f32)`: a type in the place of a value.
    pub fn type_operand(&mut self, expr: &Expr) -> Operand {
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        let reader = TypeReader { source: &source, env: env.get(), ints: &|name| self.named_int(name) };
        match reader.read(expr) {
            Ok(TypeExpr::Value(ty)) => Operand::Static(Static::Type(ty)),
            Ok(_) => {
                let text = self.f.source.slice(expr.span).to_owned();
                self.fail(errors::not_a_value_type(self.at(expr.span), &text))
            }
            // If another mistake keeps the kernel from its launch, the value of a `const` parameter is unknown.
            Err(_) if self.reads_mistake(expr) => Operand::Error,
            Err(_) if self.is_partial && reader.unknown_name(expr).is_some() => Operand::Error,
            Err(diagnostic) => self.fail(diagnostic),
        }
    }

    /// Whether an expression names a variable about which a mistake was reported.
    fn reads_mistake(&self, expr: &Expr) -> bool {
        if let ExprKind::Name(name) = &expr.kind {
            let var = self.f.vars.named(name);
            return var.is_some_and(|var| matches!(self.f.vars[var], Binding::Error));
        }
        let mut found = false;
        expr.each_child(&mut |part| found |= self.reads_mistake(part));
        found
    }

    pub fn cast(&mut self, ty: &Type, args: &[(Operand, Span)], span: Span) -> Operand {
        if args.iter().any(|(operand, _)| operand.has_error()) {
            return Operand::Error;
        }
        match ty {
            Type::Scalar(scalar) => self.scalar_cast(*scalar, args, span),
            Type::Vector(n, scalar) => self.vector_cast(*n, *scalar, args, span),
            Type::Matrix { columns, rows, scalar } => {
                self.matrix_cast((*columns, *rows, *scalar), args, span)
            }
            Type::Array(array) => self.make_array(array, args, span),
            // A struct also takes keywords. `structs.rs` handles its construction.
            _ => self.fail(errors::not_yet(self.at(span), &format!("making {}", errors::one(ty)))),
        }
    }

    /// `Array(3, f32)(1.0, 2.0, 3.0)`. Without elements, all are zero.
    fn make_array(&mut self, array: &Rc<ArrayType>, args: &[(Operand, Span)], span: Span) -> Operand {
        if args.is_empty() {
            let zero = self.zero(&array.element, span);
            return self.array_local(vec![zero; array.len as usize], array.element.clone(), span);
        }
        if args.len() != array.len as usize {
            return self.fail(errors::array_elements(self.at(span), array, args.len()));
        }
        let mut parts = Vec::with_capacity(args.len());
        for (operand, at) in args {
            let Some(part) = self.try_convert(operand, &array.element, *at) else {
                let what = self.describe(operand);
                return self.fail(errors::array_element(self.at(*at), &what, &array.element));
            };
            parts.push(part);
        }
        self.array_local(parts, array.element.clone(), span)
    }

    /// The int to which a name in the kernel refers.
    pub fn named_int(&self, name: &str) -> Option<i128> {
        match &self.f.vars[self.f.vars.named(name)?] {
            Binding::Bound { operand, .. } => self.known_int(operand),
            _ => None,
        }
    }

    fn scalar_cast(&mut self, to: Scalar, args: &[(Operand, Span)], span: Span) -> Operand {
        match args {
            [] => Operand::Node(self.constant(Constant::zero(to), span)),
            [(operand, _)] if self.is_coop(operand) => self.coop_cast(operand, to, span),
            [(operand, at)] => {
                let given = self.struct_cast(operand, to, *at).unwrap_or_else(|| operand.clone());
                match given.has_error() {
                    true => Operand::Error,
                    false => self
                        .cast_scalar(&given, to, (&Type::from(to), *at))
                        .map_or(Operand::Error, Operand::Node),
                }
            }
            _ => self.wrong_count(&[builtins::any("x")], to.name(), args, span),
        }
    }

    /// One number as another scalar type, before it becomes part of a value.
    pub fn cast_scalar(
        &mut self,
        operand: &Operand,
        to: Scalar,
        (made, span): (&Type, Span),
    ) -> Option<NodeId> {
        match operand {
            Operand::Literal(literal) => {
                let constant = match (literal, to.int_range()) {
                    // All or nothing: a literal that does not fit is a likely mistake.
                    (Literal::Int(_), Some(_)) => literal.fit(to),
                    (Literal::Int(value), None) if to == Scalar::Bool => Some(Constant::bool(*value != 0)),
                    (Literal::Float(value), _) if to == Scalar::Bool => Some(Constant::bool(*value != 0.0)),
                    (Literal::Float(value), Some(_)) => Some(Constant::float(Scalar::F64, *value).cast(to)),
                    _ => literal.rounded(to),
                };
                match constant {
                    Some(constant) => Some(self.constant(constant, span)),
                    None => {
                        self.error(errors::literal_does_not_fit(self.at(span), *literal, to));
                        None
                    }
                }
            }
            Operand::Node(node) if !self.ty(*node).is_vector() && self.ty(*node).scalar().is_some() => {
                let converted = self.convert(*node, to, span);
                Some(self.confirmed(converted))
            }
            operand => {
                let what = self.describe(operand);
                self.error(errors::cast_type(self.at(span), &what, made, &Type::from(to)));
                None
            }
        }
    }

    /// The result of an explicit cast has the written type, whatever the type of the operand.
    fn confirmed(&mut self, node: NodeId) -> NodeId {
        self.set_facts(node, Facts { guessed: false });
        node
    }

    fn vector_cast(&mut self, n: u8, to: Scalar, args: &[(Operand, Span)], span: Span) -> Operand {
        let ty = Type::Vector(n, to);
        if let [(operand, at)] = args {
            match operand {
                Operand::Node(node) if *self.ty(*node) == ty => return operand.clone(),
                Operand::Node(node) if self.ty(*node).n_components() == n => {
                    let converted = self.convert(*node, to, *at);
                    return Operand::Node(self.confirmed(converted));
                }
                Operand::Node(node) if self.ty(*node).is_vector() => {}
                operand => {
                    let Some(scalar) = self.cast_scalar(operand, to, (&ty, *at)) else {
                        return Operand::Error;
                    };
                    return Operand::Node(self.node(NodeKind::Splat(scalar), ty, span));
                }
            }
        }
        let mut parts = Vec::with_capacity(usize::from(n));
        for (operand, at) in args {
            match operand {
                Operand::Node(node) if self.ty(*node).is_vector() => {
                    let converted = self.coerce(*node, to, *at);
                    for component in 0..u32::from(self.ty(converted).n_components()) {
                        parts.push(self.node(NodeKind::Extract(converted, component), to, *at));
                    }
                }
                Operand::Node(node) if matches!(self.ty(*node), Type::Scalar(_)) => {
                    parts.push(self.coerce(*node, to, *at));
                }
                operand => match self.cast_scalar(operand, to, (&ty, *at)) {
                    Some(node) => parts.push(node),
                    None => return Operand::Error,
                },
            }
        }
        if parts.len() != usize::from(n) {
            return self.fail(errors::vector_parts(self.at(span), &ty, parts.len()));
        }
        Operand::Node(self.node(NodeKind::Construct(parts), ty, span))
    }
}

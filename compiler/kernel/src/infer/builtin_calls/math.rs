//! The math functions that kernels know, each as nodes.
//!
//! Vectors are handled component by component. A scalar beside vectors is splatted. An int where a float is
//! expected becomes one, as it does beside a float.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::BuiltinCall;
use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::arith::Sides;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{BinaryOp, Body, CompareOp, FormulaFn, GeometryFn, MathFn, NodeId, NodeKind, Place};
use crate::types::{Scalar, Type};

type Args<'e> = &'e [(Operand, Span)];

impl Ctx<'_> {
    pub fn len(&mut self, call: &BuiltinCall) -> Operand {
        let BuiltinCall { args, span, .. } = *call;
        match &args[0].0 {
            Operand::Buffer(_) | Operand::Row(_) => self.array_len(&args[0].0, span),
            Operand::Static(Static::Texture(texture)) => self.texture_len(*texture, span),
            Operand::Place(Place { ty: Type::Array(array), .. }) => Operand::int(i128::from(array.len)),
            Operand::Tuple(items) => Operand::int(items.len() as i128),
            Operand::Static(Static::Sequence(sequence)) if sequence.range().is_some() => {
                self.range_len(sequence, span)
            }
            Operand::Node(node) if self.ty(*node).is_vector() => {
                Operand::int(i128::from(self.ty(*node).n_components()))
            }
            Operand::Node(node) if self.ty(*node).is_matrix() => match self.ty(*node) {
                Type::Matrix { rows, .. } => Operand::int(i128::from(*rows)),
                _ => Operand::Error,
            },
            operand => {
                let what = self.describe(operand);
                self.fail(errors::no_len(self.at(args[0].1), &what))
            }
        }
    }

    pub fn divmod(&mut self, call: &BuiltinCall) -> Operand {
        let Sides { left, right, spans, .. } = call.sides();
        let quotient = self.binary(AstBinaryOp::FloorDiv, left, right, call.span, spans);
        if quotient.has_error() {
            return quotient;
        }
        let remainder = self.binary(AstBinaryOp::Mod, left, right, call.span, spans);
        Operand::Tuple(std::rc::Rc::new([quotient, remainder]))
    }

    pub fn truncating_call(&mut self, op: BinaryOp, call: &BuiltinCall) -> Operand {
        let Sides { left, right, spans, .. } = call.sides();
        self.truncating(op, (left, right), call.span, spans)
    }

    pub fn pow(&mut self, call: &BuiltinCall) -> Operand {
        if call.args.len() == 3 {
            return self.power_modulo(call);
        }
        let sides = call.sides();
        match (sides.left, sides.right) {
            (Operand::Literal(_), Operand::Literal(_)) => {
                self.binary(AstBinaryOp::Pow, sides.left, sides.right, call.span, sides.spans)
            }
            _ => self.power(sides),
        }
    }

    pub fn abs(&mut self, call: &BuiltinCall) -> Option<NodeId> {
        let node = self.number(&call.args[0], "abs")?;
        let ty = self.ty(node).clone();
        if !is_signed(&ty) {
            return Some(node);
        }
        let abs = self.node(NodeKind::Abs(node), ty, call.span);
        self.note_abs(abs, node);
        Some(abs)
    }

    pub fn sign(&mut self, call: &BuiltinCall) -> Option<NodeId> {
        let node = self.number(&call.args[0], "sign")?;
        let ty = self.ty(node).clone();
        Some(self.node(NodeKind::Sign(node), ty, call.span))
    }

    /// A number or a vector of numbers, of any type.
    pub fn number(&mut self, (operand, span): &(Operand, Span), name: &str) -> Option<NodeId> {
        let node = self.value_type(operand).and_then(|ty| ty.scalar());
        if node.is_none_or(|scalar| scalar == Scalar::Bool) {
            let what = self.describe(operand);
            self.error(errors::number_argument(self.at(*span), name, &what));
            return None;
        }
        self.materialize(operand, *span)
    }

    /// `min` and `max`: `b if b < a else a`, also for NaNs.
    pub fn choose(&mut self, op: CompareOp, args: Args, name: &str, span: Span) -> Option<NodeId> {
        static MIN: MathFn = MathFn::of(Body::Formula(FormulaFn::Min));
        static MAX: MathFn = MathFn::of(Body::Formula(FormulaFn::Max));
        let (nodes, ty) = self.alike(args, name)?;
        let function = if op == CompareOp::Less { &MIN } else { &MAX };
        let mut best = nodes[0];
        let mut before = args[0].0.clone();
        for (&node, (operand, _)) in nodes.iter().zip(args).skip(1) {
            best = self.node(NodeKind::Math(function, vec![best, node]), ty.clone(), span);
            self.note_extreme(best, op, [&before, operand]);
            before = Operand::Node(best);
        }
        Some(best)
    }

    /// `min(max(x, low), high)`.
    pub fn clamp(&mut self, call: &BuiltinCall) -> Option<NodeId> {
        static CLAMP: MathFn = MathFn::of(Body::Formula(FormulaFn::Clamp));
        let BuiltinCall { args, name, span, .. } = *call;
        let (nodes, ty) = self.alike(args, name)?;
        Some(self.node(NodeKind::Math(&CLAMP, nodes), ty, span))
    }

    /// All arguments in one type of numbers.
    pub fn alike(&mut self, args: Args, name: &str) -> Option<(Vec<NodeId>, Type)> {
        let (mut joined, first_span) = args[0].clone();
        // The first pass finds the type. The second one converts.
        for (operand, span) in &args[1..] {
            let n_errors = self.f.diagnostics.len();
            let common = match (&joined, operand) {
                (Operand::Literal(a), Operand::Literal(b)) => {
                    let is_float = matches!((a, b), (Literal::Float(_), _) | (_, Literal::Float(_)));
                    joined = Operand::Literal(if is_float { Literal::Float(a.to_f64()) } else { *a });
                    continue;
                }
                (joined, operand) => self.common(joined, operand, (first_span, *span), false),
            };
            match common {
                Some((_, node, _)) => joined = Operand::Node(node),
                None => {
                    if self.f.diagnostics.len() == n_errors {
                        let (first, other) = (self.describe(&args[0].0), self.describe(operand));
                        let cast = self.alike_hint((&args[0].0, first_span), (operand, *span));
                        let (first, at) = ((self.at(first_span), &first), self.at(*span));
                        self.error(errors::unlike_arguments(at, name, first, &other, cast));
                    }
                    return None;
                }
            }
        }
        let node = self.number(&(joined, first_span), name)?;
        let ty = self.ty(node).clone();
        let scalar = ty.scalar()?;
        let mut nodes = Vec::with_capacity(args.len());
        for (operand, span) in args {
            let node = match operand {
                Operand::Literal(literal) => self.literal_as(*literal, scalar, *span)?,
                operand => match self.adopted_as(operand, scalar, *span) {
                    Some(element) => element,
                    None => {
                        let node = self.materialize(operand, *span)?;
                        self.coerce(node, scalar, *span)
                    }
                },
            };
            nodes.push(self.splat_to(node, &ty, *span));
        }
        Some((nodes, ty))
    }

    /// All arguments in one float type.
    pub fn floats(&mut self, args: Args, name: &str) -> Option<(Vec<NodeId>, Type)> {
        for (operand, span) in args {
            self.number(&(operand.clone(), *span), name)?;
        }
        let (nodes, ty) = self.alike(args, name)?;
        let float = ty.scalar()?.as_float();
        let nodes = nodes.into_iter().zip(args).map(|(node, (_, span))| self.coerce(node, float, *span));
        Some((nodes.collect(), ty.with_scalar(float)))
    }

    pub fn geometry(&mut self, function: GeometryFn, call: &BuiltinCall) -> Option<NodeId> {
        let BuiltinCall { args, name, span, .. } = *call;
        // The last argument of `refract` is a scalar.
        let n_vectors = if function == GeometryFn::Refract { 2 } else { args.len() };
        let (mut nodes, ty) = self.floats(&args[..n_vectors], name)?;
        let scalar = ty.scalar()?;
        if let [(eta, at)] = &args[n_vectors..] {
            let Some(node) = self.try_convert(eta, &scalar.into(), *at) else {
                let what = self.describe(eta);
                self.error(errors::number_argument(self.at(*at), name, &what));
                return None;
            };
            nodes.push(node);
        }
        if function == GeometryFn::Cross && ty.n_components() != 3 {
            self.error(errors::cross_product(self.at(span), &ty));
            return None;
        }
        let result = match function {
            GeometryFn::Length | GeometryFn::Distance => scalar.into(),
            _ => ty,
        };
        Some(self.node(NodeKind::Geometry(function, nodes), result, span))
    }
}

fn is_signed(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar.is_signed() || scalar.is_float())
}

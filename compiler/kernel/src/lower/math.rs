//! The functions that kernels know, each as nodes.
//!
//! Component by component where vectors come in; a scalar beside vectors stands for every component;
//! an int where a float is wanted becomes one, as it does beside a float.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::Ctx;
use super::arith::Sides;
use super::fold::fold_function;
use super::formulas::Math;
use super::operand::{Operand, Place, Static};
use crate::builtins::{Call, FloatFn, Function, function_name};
use crate::constant::Literal;
use crate::errors;
use crate::ir::{BinaryOp, CompareOp, GeometryFn, NodeId, NodeKind, UnaryOp};
use crate::types::{Scalar, Type};

type Args<'e> = &'e [(Operand, Span)];

impl<'a> Ctx<'a> {
    pub fn call_builtin(&mut self, function: Function, name: &str, args: Args, span: Span) -> Operand {
        // A loop over a `range` is one, whatever its bounds are.
        if function != Function::Range && args.iter().any(|(operand, _)| operand.has_error()) {
            return Operand::Error;
        }
        if let (Function::Min | Function::Max, [(items, at)]) = (function, args)
            && !matches!(items, Operand::Literal(_))
        {
            return self.extreme(function, items, *at, span);
        }
        let call = Call::of(function);
        if !call.takes(args.len()) {
            let wanted = match (call.needs.len(), call.most) {
                (0, 0) => "no arguments".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (least, most) if least == most => format!("{least} arguments"),
                (1, usize::MAX) => "one argument or more".to_owned(),
                (least, usize::MAX) => format!("at least {least} arguments"),
                (least, most) => format!("{least} to {most} arguments"),
            };
            return self.wrong_count(&call, name, &wanted, args, span);
        }
        let literals: Option<Vec<Literal>> = args
            .iter()
            .map(|(operand, _)| match operand {
                Operand::Literal(literal) => Some(*literal),
                _ => None,
            })
            .collect();
        if let Some(folded) = literals.and_then(|literals| fold_function(function, &literals)) {
            return Operand::Literal(folded);
        }
        if let [(operand, at)] = args
            && let Some(result) = self.struct_function(function, operand, *at)
        {
            return result;
        }
        match function {
            Function::Range | Function::Enumerate | Function::Zip | Function::Reversed => {
                self.sequence(function, args, span)
            }
            Function::Print => unreachable!("its arguments are read by `print_call`"),
            Function::Len => self.len(args, span),
            Function::All | Function::Any => self.all_any(function, &args[0], span),
            Function::DivMod => self.divmod(args, span),
            Function::TruncDiv => self.truncating_call(BinaryOp::TruncDiv, args, span),
            Function::TruncRem => self.truncating_call(BinaryOp::TruncRem, args, span),
            Function::Sum => self.sum(args, span),
            Function::Frexp => self.frexp(args, name, span),
            Function::Pow if args.len() == 3 => self.power_modulo(args, name, span),
            Function::Pow => {
                let ((a, a_span), (b, b_span)) = (&args[0], &args[1]);
                if let (Operand::Literal(_), Operand::Literal(_)) = (a, b) {
                    return self.binary(AstBinaryOp::Pow, a, b, span, (*a_span, *b_span));
                }
                self.power(Sides { left: a, right: b, op_span: span, spans: (*a_span, *b_span) })
            }
            Function::Dot => {
                let ((a, a_span), (b, b_span)) = (&args[0], &args[1]);
                self.dot("dot", Sides { left: a, right: b, op_span: span, spans: (*a_span, *b_span) })
            }
            Function::Bitcast => self.bitcast_call(args, span),
            Function::Transpose | Function::Determinant | Function::Inverse => {
                self.matrix_function(function, &args[0], name, span)
            }
            Function::TextureRead | Function::TextureWrite | Function::TextureSample => {
                self.texture_function(function, args, span)
            }
            Function::Discard => self.discard(span),
            _ => {
                let given = self.given(args.iter().map(|(operand, _)| operand), span);
                self.as_one(&given, |ctx| {
                    let result = ctx.number_function(function, args, name, span);
                    result.map_or(Operand::Error, Operand::Node)
                })
            }
        }
    }

    /// A call with too few arguments, or too many.
    pub fn wrong_count(&mut self, call: &Call, name: &str, wanted: &str, args: Args, span: Span) -> Operand {
        // What a star spreads has one text for all of it.
        let is_spread = args.windows(2).any(|pair| pair[0].1 == pair[1].1);
        let given = if is_spread { &[][..] } else { args };
        let given: Vec<&str> = given.iter().map(|(_, at)| self.f.source.slice(*at)).collect();
        let line = match (name, &given[..]) {
            // GLSL's form.
            ("atan" | "math.atan", [y, x]) => format!("{name}2({y}, {x})"),
            _ => call.line(name, &given),
        };
        self.fail(errors::argument_count_range(self.at(span), name, wanted, args.len(), &line))
    }

    fn number_function(&mut self, function: Function, args: Args, name: &str, span: Span) -> Option<NodeId> {
        match function {
            Function::Float(FloatFn::Round) if args.len() == 2 => self.round_digits(args, name, span),
            Function::Abs => self.abs(args, span),
            Function::Sign => self.sign(args, span),
            Function::Min => self.choose(CompareOp::Less, args, name, span),
            Function::Max => self.choose(CompareOp::Greater, args, name, span),
            Function::Clamp => self.clamp(args, name, span),
            Function::Ldexp => self.ldexp(args, name, span),
            Function::Bits(function) => self.bits_function(function, &args[0], name, span),
            Function::Ulp => self.ulp(args, name, span),
            Function::NextAfter => self.next_after(args, name, span),
            Function::Length
            | Function::Distance
            | Function::Cross
            | Function::Normalize
            | Function::FaceForward
            | Function::Reflect
            | Function::Refract => self.geometry(function, args, name, span),
            _ => self.float_function(function, args, name, span),
        }
    }

    fn len(&mut self, args: Args, span: Span) -> Operand {
        match &args[0].0 {
            Operand::Buffer(_) | Operand::Row(_) => self.array_len(&args[0].0, span),
            Operand::Static(Static::Texture(texture)) => self.texture_len(*texture, span),
            Operand::Place(Place { ty: Type::Array(array), .. }) => Operand::int(i128::from(array.len)),
            Operand::Place(Place { ty: Type::Coop(coop), .. }) => Operand::int(i128::from(coop.rows)),
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

    fn divmod(&mut self, args: Args, span: Span) -> Operand {
        let ((a, a_span), (b, b_span)) = (&args[0], &args[1]);
        let quotient = self.binary(AstBinaryOp::FloorDiv, a, b, span, (*a_span, *b_span));
        if quotient.has_error() {
            return quotient;
        }
        let remainder = self.binary(AstBinaryOp::Mod, a, b, span, (*a_span, *b_span));
        Operand::Tuple(std::rc::Rc::new([quotient, remainder]))
    }

    fn truncating_call(&mut self, op: BinaryOp, args: Args, span: Span) -> Operand {
        let ((a, a_span), (b, b_span)) = (&args[0], &args[1]);
        self.truncating(op, (a, b), span, (*a_span, *b_span))
    }

    fn abs(&mut self, args: Args, span: Span) -> Option<NodeId> {
        let node = self.number(&args[0], "abs")?;
        let ty = self.ty(node).clone();
        if self.facts(node).nonneg || !is_signed(&ty) {
            return Some(node);
        }
        let abs = self.node(NodeKind::Abs(node), ty, span);
        self.note_abs(abs, node);
        Some(abs)
    }

    fn sign(&mut self, args: Args, span: Span) -> Option<NodeId> {
        let node = self.number(&args[0], "sign")?;
        let ty = self.ty(node).clone();
        Some(self.node(NodeKind::Sign(node), ty, span))
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

    /// `min` and `max`: `b if b < a else a`, NaN included.
    pub fn choose(&mut self, op: CompareOp, args: Args, name: &str, span: Span) -> Option<NodeId> {
        let (nodes, ty) = self.alike(args, name)?;
        let condition_ty = ty.with_scalar(Scalar::Bool);
        let mut best = nodes[0];
        let mut weak = self.weak_side(&args[0].0);
        for (&node, (operand, _)) in nodes.iter().zip(args).skip(1) {
            let condition = self.node(NodeKind::Compare(op, node, best), condition_ty.clone(), span);
            best = self.node(NodeKind::Select { condition, then: node, orelse: best }, ty.clone(), span);
            if let Some(sides) = weak.zip(self.weak_side(operand)) {
                self.note_extreme(best, op, sides.into());
            }
            weak = self.weak_side(&Operand::Node(best));
        }
        Some(best)
    }

    /// `min(max(x, low), high)`.
    fn clamp(&mut self, args: Args, name: &str, span: Span) -> Option<NodeId> {
        let (nodes, ty) = self.alike(args, name)?;
        let (x, low, high) = (nodes[0], nodes[1], nodes[2]);
        let bools = ty.with_scalar(Scalar::Bool);
        let is_low = self.node(NodeKind::Compare(CompareOp::Greater, low, x), bools.clone(), span);
        let raised =
            self.node(NodeKind::Select { condition: is_low, then: low, orelse: x }, ty.clone(), span);
        let is_high = self.node(NodeKind::Compare(CompareOp::Less, high, raised), bools, span);
        Some(self.node(NodeKind::Select { condition: is_high, then: high, orelse: raised }, ty, span))
    }

    /// All arguments as one type of numbers.
    pub fn alike(&mut self, args: Args, name: &str) -> Option<(Vec<NodeId>, Type)> {
        let (mut joined, first_span) = args[0].clone();
        // The first pass finds the type, the second converts to it.
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
                        let (first, at) = ((self.at(first_span), &*first), self.at(*span));
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
                operand => match self.taken_as(operand, scalar, *span) {
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

    /// All arguments as one float type.
    pub fn floats(&mut self, args: Args, name: &str) -> Option<(Vec<NodeId>, Type)> {
        for (operand, span) in args {
            self.number(&(operand.clone(), *span), name)?;
        }
        let (nodes, ty) = self.alike(args, name)?;
        let float = ty.scalar()?.as_float();
        let nodes = nodes.into_iter().zip(args).map(|(node, (_, span))| self.coerce(node, float, *span));
        Some((nodes.collect(), ty.with_scalar(float)))
    }

    fn float_function(&mut self, function: Function, args: Args, name: &str, span: Span) -> Option<NodeId> {
        let (nodes, ty) = self.floats(args, name)?;
        let scalar = ty.scalar()?;
        if matches!(scalar, Scalar::F16 | Scalar::Bf16) {
            // All steps of a formula, not each one.
            self.remark_computed_in(Scalar::F32, &ty, span);
            let wide: Vec<(Operand, Span)> = nodes
                .iter()
                .zip(args)
                .map(|(node, (_, at))| (Operand::Node(self.convert(*node, Scalar::F32, *at)), *at))
                .collect();
            let result = self.float_function(function, &wide, name, span)?;
            let is_float = self.ty(result).scalar().is_some_and(Scalar::is_float);
            return Some(if is_float { self.convert(result, scalar, span) } else { result });
        }
        let ours = match scalar {
            Scalar::F64 => f64_function(function, nodes.len()),
            _ => f32_function(function),
        };
        if let Some(ours) = ours {
            return self.call_ours(ours, &nodes, &ty, span);
        }
        let x = nodes[0];
        Some(match function {
            Function::Float(FloatFn::Atan2) => self.math(span, &ty).atan2(x, nodes[1]),
            Function::Float(float) => {
                let args = [nodes.first().copied(), nodes.get(1).copied(), nodes.get(2).copied()];
                self.node(NodeKind::Float(float, args), ty, span)
            }
            Function::IsNan => self.node(NodeKind::IsNan(x), ty.with_scalar(Scalar::Bool), span),
            Function::IsInf => self.node(NodeKind::IsInf(x), ty.with_scalar(Scalar::Bool), span),
            Function::IsFinite => {
                let bools = ty.with_scalar(Scalar::Bool);
                let nan = self.node(NodeKind::IsNan(x), bools.clone(), span);
                let inf = self.node(NodeKind::IsInf(x), bools.clone(), span);
                let either = self.node(NodeKind::Binary(BinaryOp::Or, nan, inf), bools.clone(), span);
                self.node(NodeKind::Unary(UnaryOp::Not, either), bools, span)
            }
            Function::Fmod => self.math(span, &ty).binary(BinaryOp::TruncRem, x, nodes[1]),
            Function::Degrees => self.math(span, &ty).scaled(x, 180.0 / std::f64::consts::PI),
            Function::Radians => self.math(span, &ty).scaled(x, std::f64::consts::PI / 180.0),
            Function::Log => {
                let mut math = self.math(span, &ty);
                let log2 = math.float(FloatFn::Log2, x);
                match nodes.get(1) {
                    Some(base) => {
                        let base = math.float(FloatFn::Log2, *base);
                        math.binary(BinaryOp::Div, log2, base)
                    }
                    None => math.natural_log(x),
                }
            }
            Function::Log10 => {
                let mut math = self.math(span, &ty);
                let log2 = math.float(FloatFn::Log2, x);
                math.scaled(log2, std::f64::consts::LOG10_2)
            }
            Function::Log1p => self.math(span, &ty).log1p(x),
            Function::Expm1 => self.math(span, &ty).expm1(x),
            Function::Hypot => {
                let mut math = self.math(span, &ty);
                match &nodes[1..] {
                    [] => math.abs(x),
                    others => others.iter().fold(x, |length, side| math.hypot(length, *side)),
                }
            }
            Function::Cbrt => self.math(span, &ty).cbrt(x),
            Function::Copysign => self.math(span, &ty).copysign(x, nodes[1]),
            Function::Mix => {
                // x + (y - x) * a, as x * (1 - a) + y * a: exact at both ends.
                let mut math = self.math(span, &ty);
                let one = math.value(1.0);
                let rest = math.binary(BinaryOp::Sub, one, nodes[2]);
                let a = math.binary(BinaryOp::Mul, x, rest);
                let b = math.binary(BinaryOp::Mul, nodes[1], nodes[2]);
                math.binary(BinaryOp::Add, a, b)
            }
            Function::Step => {
                let mut math = self.math(span, &ty);
                let (zero, one) = (math.value(0.0), math.value(1.0));
                let below = math.compare(CompareOp::Less, nodes[1], x);
                math.select(below, zero, one)
            }
            Function::SmoothStep => self.math(span, &ty).smooth_step(&nodes),
            _ => return None,
        })
    }

    fn geometry(&mut self, function: Function, args: Args, name: &str, span: Span) -> Option<NodeId> {
        // Refraction's last argument is a scalar of its own.
        let n_vectors = if function == Function::Refract { 2 } else { args.len() };
        let (mut nodes, ty) = self.floats(&args[..n_vectors], name)?;
        let scalar = ty.scalar()?;
        if function == Function::Refract {
            let eta = self.try_convert(&args[2].0, &scalar.into(), args[2].1);
            let Some(eta) = eta else {
                let what = self.describe(&args[2].0);
                self.error(errors::number_argument(self.at(args[2].1), name, &what));
                return None;
            };
            nodes.push(eta);
        }
        if function == Function::Cross && ty.n_components() != 3 {
            self.error(errors::cross_product(self.at(span), &ty));
            return None;
        }
        let (function, result) = match function {
            Function::Length => (GeometryFn::Length, scalar.into()),
            Function::Distance => (GeometryFn::Distance, scalar.into()),
            Function::Cross => (GeometryFn::Cross, ty),
            Function::Normalize => (GeometryFn::Normalize, ty),
            Function::FaceForward => (GeometryFn::FaceForward, ty),
            Function::Reflect => (GeometryFn::Reflect, ty),
            _ => (GeometryFn::Refract, ty),
        };
        Some(self.node(NodeKind::Geometry(function, nodes), result, span))
    }

    pub fn math<'c>(&'c mut self, span: Span, ty: &Type) -> Math<'c, 'a> {
        Math { ctx: self, span, ty: ty.clone() }
    }
}

fn is_signed(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar.is_signed() || scalar.is_float())
}

/// The function of `library` that stands for one that GLSL.std.450 lacks for f64; `None` where it has
/// it, or where plain arithmetic does it.
pub(crate) fn f64_function(function: Function, n_args: usize) -> Option<&'static str> {
    Some(match function {
        Function::Float(
            FloatFn::Round
            | FloatFn::Trunc
            | FloatFn::Floor
            | FloatFn::Ceil
            | FloatFn::Fract
            | FloatFn::Sqrt
            | FloatFn::InverseSqrt
            | FloatFn::Fma
            | FloatFn::NMin
            | FloatFn::NMax
            | FloatFn::NClamp,
        ) => return None,
        Function::Log if n_args == 2 => "log_base",
        Function::Float(_)
        | Function::Log
        | Function::Log10
        | Function::Log1p
        | Function::Expm1
        | Function::Cbrt
        | Function::Erf
        | Function::Erfc
        | Function::Gamma
        | Function::LogGamma
        | Function::Remainder => function_name(function),
        _ => return None,
    })
}

/// The same for f32.
pub(crate) fn f32_function(function: Function) -> Option<&'static str> {
    Some(match function {
        Function::Erf => "erf_single",
        Function::Erfc => "erfc_single",
        Function::Gamma => "gamma_single",
        Function::LogGamma => "lgamma_single",
        Function::Remainder => "remainder",
        _ => return None,
    })
}

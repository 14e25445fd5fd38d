//! Calls of functions that depend on the format of a type, or on how many numbers there are: `frexp` and similar
//! functions, rounding to decimals, sums, powers modulo a number.
//!
//! A function of numbers is a node, which lowering computes. One of the items of a list is a call of a library function.
//! That gets what it needs to know of the type as arguments that are types and literals, so it is compiled once for each
//! type.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::BuiltinCall;
use crate::constant::Constant;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::calls::library_functions::format_args;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::Operand;
use crate::ir::{Body, CompareOp, Format, MathFn, NodeId, NodeKind, Place};
use crate::library;
use crate::types::{Scalar, Type};

type Args<'e> = &'e [Spanned];

impl Ctx<'_> {
    /// A mantissa and an exponent.
    pub fn frexp(&mut self, call: &BuiltinCall) -> Operand {
        static FREXP: MathFn = MathFn::of(Body::LibraryOf("frexp", Format::Float));
        let BuiltinCall { args, name, span, .. } = *call;
        let Some((x, ty)) = self.float(&args[0], name) else { return Operand::Error };
        let parts = [ty.clone(), ty.with_scalar(Scalar::I32)];
        let pair = self.node(NodeKind::Math(&FREXP, vec![x]), Type::tuple(parts.clone()), span);
        let parts = parts.into_iter().zip(0..);
        let parts = parts.map(|(ty, at)| Operand::Node(self.node(NodeKind::Extract(pair, at), ty, span)));
        Operand::Tuple(parts.collect())
    }

    pub fn ldexp(&mut self, call: &BuiltinCall) -> Option<NodeId> {
        static LDEXP: MathFn = MathFn::of(Body::LibraryOf("ldexp", Format::Float));
        let BuiltinCall { args, name, span, .. } = *call;
        let (x, ty) = self.float(&args[0], name)?;
        let n = self.int_beside(&args[1], name, &ty)?;
        Some(self.node(NodeKind::Math(&LDEXP, vec![x, n]), ty, span))
    }

    /// `round(x, n)`: `n` digits after the point, or before it if `n` is negative. Ints stay ints.
    pub fn round_digits(&mut self, call: &BuiltinCall) -> Option<NodeId> {
        static OF_FLOATS: MathFn = MathFn::of(Body::LibraryOf("round_digits", Format::Decimals));
        static OF_INTS: MathFn = MathFn::of(Body::LibraryOf("round_whole", Format::WholeDecimals));
        let BuiltinCall { args, name, span, .. } = *call;
        let x = self.number(&args[0], name)?;
        let ty = self.ty(x).clone();
        let n = self.int_beside(&args[1], name, &ty)?;
        let function = if ty.scalar()?.is_int() { &OF_INTS } else { &OF_FLOATS };
        Some(self.node(NodeKind::Math(function, vec![x, n]), ty, span))
    }

    /// `pow(base, exponent, m)` of ints.
    pub fn power_modulo(&mut self, call: &BuiltinCall) -> Operand {
        static POWER: MathFn = MathFn::of(Body::LibraryOf("power_modulo", Format::Unsigned));
        let BuiltinCall { args, name, span, .. } = *call;
        let of_ints = |ctx: &mut Self| {
            let (nodes, ty) = ctx.alike(args, name)?;
            if !ty.scalar()?.is_int() {
                ctx.error(errors::modular_power(ctx.at(span), &ty));
                return None;
            }
            Some(ctx.node(NodeKind::Math(&POWER, nodes), ty, span))
        };
        of_ints(self).map_or(Operand::Error, Operand::Node)
    }

    /// `sum(xs)`, `sum(xs, start)`: from first to last.
    pub fn sum(&mut self, call: &BuiltinCall) -> Operand {
        let BuiltinCall { args, span, .. } = *call;
        let (xs, at) = &args[0];
        let items = match xs {
            Operand::Tuple(items) => Rc::clone(items),
            Operand::Node(node) if self.ty(*node).is_vector() => {
                self.numbers_of(*node, *at).into_iter().map(Operand::Node).collect()
            }
            xs => return self.sum_of_list(xs, args, span),
        };
        let items: Vec<Operand> = items.iter().map(|item| self.bool_as_int(item, *at)).collect();
        let (start, start_at) = args.get(1).cloned().unwrap_or((Operand::int(0), *at));
        let [first, rest @ ..] = &items[..] else { return start };
        let total = self.binary(AstBinaryOp::Add, &start, first, span, (start_at, *at));
        rest.iter().fold(total, |total, item| self.add_item(&total, item, *at, span))
    }

    pub fn all(&mut self, call: &BuiltinCall) -> Operand {
        self.joined_bools(NodeKind::All, AstBinaryOp::BitAnd, call)
    }

    pub fn any(&mut self, call: &BuiltinCall) -> Operand {
        self.joined_bools(NodeKind::Any, AstBinaryOp::BitOr, call)
    }

    /// `all` and `any` of a vector, a list or a tuple of bools.
    fn joined_bools(&mut self, kind: fn(NodeId) -> NodeKind, op: AstBinaryOp, call: &BuiltinCall) -> Operand {
        let span = call.span;
        let (xs, at) = &call.args[0];
        if let Operand::Node(node) = xs
            && matches!(self.ty(*node), Type::Vector(_, Scalar::Bool))
        {
            return Operand::Node(self.node(kind(*node), Type::BOOL, span));
        }
        let items = match xs {
            Operand::Tuple(items) => Some(Rc::clone(items)),
            Operand::Place(Place { ty: Type::Array(_), .. }) => self.items_of(xs, *at),
            _ => None,
        };
        let is_bool = |item: &Operand| self.value_type(item) == Some(Type::BOOL);
        let Some(items) = items.filter(|items| items.iter().all(is_bool)) else {
            let what = self.describe(xs);
            return self.fail(errors::bools_wanted(self.at(*at), call.function.name(), &what));
        };
        let of_none = self.bool_constant(op == AstBinaryOp::BitAnd, span);
        let joined = items.iter().cloned().reduce(|a, b| self.binary(op, &a, &b, span, (*at, *at)));
        joined.unwrap_or(of_none)
    }

    /// `math.fsum(xs)` of floats of one type. Narrow ones are rounded to f32 first.
    pub fn exact_sum(&mut self, xs: Spanned, scalar: Scalar, span: Span) -> Operand {
        let wide = scalar.at_least_f32();
        // Half of the bits of a word, and the words for the largest sum of any number of floats.
        let (width, n_words) = if wide == Scalar::F64 { (32, 68) } else { (16, 20) };
        let format = format_args(Format::Float, wide);
        let words = [Operand::int(width), Operand::int(n_words)];
        let format = format.into_iter().chain(words).map(|operand| (operand, span));
        let sum = self.call_library_with("exact_sum", std::iter::once(xs).chain(format).collect(), span);
        match self.materialize(&sum, span) {
            Some(sum) => Operand::Node(self.convert(sum, scalar, span)),
            None => Operand::Error,
        }
    }

    /// Adds an item of a tuple to the total. The item has no place of its own in the source.
    fn add_item(&mut self, total: &Operand, item: &Operand, at: Span, span: Span) -> Operand {
        let are_numbers = [total, item]
            .iter()
            .all(|operand| matches!(operand, Operand::Node(_)) && !self.is_matrix(operand));
        if !are_numbers || self.common(total, item, (at, at), false).is_some() {
            return self.binary(AstBinaryOp::Add, total, item, span, (at, at));
        }
        let (total, item) = (self.describe(total), self.describe(item));
        self.fail(errors::sum_types(self.at(at), &total, &item))
    }

    fn sum_of_list(&mut self, xs: &Operand, args: Args, span: Span) -> Operand {
        let element = match xs {
            Operand::Place(Place { ty: Type::Array(array), .. }) => Some(array.element.clone()),
            Operand::Buffer(_) | Operand::Row(_) => {
                let (buffer, axis) = self.array_place(xs);
                let buffer = self.array(buffer);
                (axis + 1 == buffer.rank).then(|| buffer.element.clone())
            }
            _ => None,
        };
        let is_number = |ty: &Type| ty.scalar().is_some() && !ty.is_matrix();
        let Some(element) = element.filter(is_number) else {
            let what = self.describe(xs);
            return self.fail(errors::sum_of(self.at(args[0].1), &what));
        };
        let start = match args.get(1) {
            Some((start, _)) => start.clone(),
            None => {
                let scalar = match element.scalar().expect("only numbers are added") {
                    Scalar::Bool => Scalar::I32,
                    scalar => scalar,
                };
                let zero = self.constant(Constant::zero(scalar), span);
                Operand::Node(self.splat_to(zero, &element, span))
            }
        };
        self.call_library_with("sum", vec![(xs.clone(), args[0].1), (start, span)], span)
    }

    /// `min(xs)`, `max(xs)` of a tuple, a vector or a fixed array.
    pub fn extreme(&mut self, op: CompareOp, call: &BuiltinCall) -> Operand {
        let (name, span) = (call.function.name(), call.span);
        let (xs, at) = (&call.args[0].0, call.args[0].1);
        let function = if op == CompareOp::Less { "least" } else { "greatest" };
        let is_number = |ty: &Type| matches!(ty, Type::Scalar(scalar) if *scalar != Scalar::Bool);
        match xs {
            Operand::Place(Place { ty: Type::Array(array), .. })
                if !self.is_coop(xs) && is_number(&array.element) =>
            {
                return self.call_library_with(function, vec![(xs.clone(), at)], span);
            }
            Operand::Tuple(_) | Operand::Node(_) => {}
            _ => {
                let what = self.describe(xs);
                return self.fail(errors::fold_of_array(self.at(at), name, &what));
            }
        }
        let items = self.items_of(xs, at).filter(|items| !items.is_empty() && !self.is_matrix(xs));
        let Some(items) = items else {
            let what = self.describe(xs);
            return self.fail(errors::fold_of_nothing(self.at(at), name, &what));
        };
        let items: Vec<Spanned> = items.iter().map(|item| (item.clone(), at)).collect();
        self.choose(op, &items, name, span).map_or(Operand::Error, Operand::Node)
    }

    /// One float, or a vector of them.
    fn float(&mut self, arg: &Spanned, name: &str) -> Option<(NodeId, Type)> {
        let (nodes, ty) = self.floats(std::slice::from_ref(arg), name)?;
        Some((nodes[0], ty))
    }

    /// An i32 for every component of `beside`.
    fn int_beside(&mut self, (operand, at): &Spanned, name: &str, beside: &Type) -> Option<NodeId> {
        let ints = beside.with_scalar(Scalar::I32);
        let scalar = self.try_convert(operand, &Type::I32, *at).map(|node| self.splat_to(node, &ints, *at));
        let node = scalar.or_else(|| self.try_convert(operand, &ints, *at));
        if node.is_none() {
            let what = self.describe(operand);
            self.error(errors::int_wanted(self.at(*at), name, &ints, &what));
        }
        node
    }

    fn numbers_of(&mut self, node: NodeId, span: Span) -> Vec<NodeId> {
        let ty = self.ty(node).clone();
        let (true, Some(scalar)) = (ty.is_vector(), ty.scalar()) else { return vec![node] };
        let n = u32::from(ty.n_components());
        (0..n).map(|at| self.node(NodeKind::Extract(node, at), scalar, span)).collect()
    }

    pub fn call_library_with(&mut self, name: &str, positional: Vec<Spanned>, span: Span) -> Operand {
        let function = library::function(name).expect("library functions exist");
        self.call_helper(&function, Arguments { positional, keywords: Vec::new() }, span)
    }
}

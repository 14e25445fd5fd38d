//! What `range(..)` counts: its type, its start and end, the number of rounds, and the number of each round.

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind, UnaryOp as AstUnaryOp};

use super::sequences::{Sequence, Spanned};
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, CompareOp, NodeId, NodeKind, Origin, UnaryOp};
use crate::types::{Scalar, Type};

/// How a `for` over a range counts.
pub(crate) struct Range {
    /// The counter's type.
    pub ty: Scalar,
    pub first: NodeId,
    pub end: NodeId,
    pub test: CompareOp,
    pub increment: i128,
    /// If the counter counts rounds: the type of the values, the first value and the step.
    scale: Option<(Scalar, NodeId, NodeId)>,
    /// Known if all bounds are constants.
    pub n_rounds: Option<i128>,
}

impl Range {
    /// The value of a round.
    pub fn value_of(&self, ctx: &mut Ctx, counter: NodeId, span: Span) -> NodeId {
        let Some((ty, first, step)) = self.scale else { return counter };
        let round = match ty == self.ty {
            true => counter,
            false => ctx.node(NodeKind::Bitcast(counter), ty, span),
        };
        ctx.value_of_round(ty, (first, step), round, span)
    }
}

impl Ctx<'_> {
    /// Start, stop and step, converted to the counter's type.
    pub fn range(&mut self, bounds: &[Spanned; 3], span: Span) -> Option<Range> {
        let (ty, [first, stop, step]) = self.range_bounds(bounds)?;
        Some(self.range_of(ty, first, stop, step, span))
    }

    /// The bounds in their common type.
    pub fn range_bounds(&mut self, bounds: &[Spanned; 3]) -> Option<(Scalar, [NodeId; 3])> {
        let [start, stop, step] = bounds;
        let ty = self.range_type(&[start, stop, step])?;
        if self.known_int(&step.0) == Some(0) {
            self.error(errors::range_step(self.at(step.1)));
            return None;
        }
        let mut typed = |(operand, at): &Spanned| {
            self.try_convert(operand, &ty.into(), *at).or_else(|| {
                if let Operand::Literal(literal) = operand {
                    self.error(errors::literal_does_not_fit(self.at(*at), *literal, ty));
                }
                None
            })
        };
        Some((ty, [typed(start)?, typed(stop)?, typed(step)?]))
    }

    /// The int type to which all bounds widen.
    fn range_type(&mut self, bounds: &[&Spanned]) -> Option<Scalar> {
        let mut joined: Option<Scalar> = None;
        for (operand, at) in bounds {
            let scalar = match operand {
                Operand::Error => return None,
                Operand::Literal(Literal::Int(_)) => continue,
                Operand::Node(node) => match self.ty(*node) {
                    Type::Scalar(scalar) if scalar.is_int() => *scalar,
                    _ => return self.range_bound(operand, *at),
                },
                _ => return self.range_bound(operand, *at),
            };
            joined = match joined {
                None => Some(scalar),
                Some(known) if scalar.widens_to(known) => Some(known),
                Some(known) if known.widens_to(scalar) => Some(scalar),
                Some(known) => {
                    self.error(errors::range_types(self.at(*at), known, scalar));
                    return None;
                }
            };
        }
        Some(joined.unwrap_or(Scalar::I32))
    }

    fn range_bound(&mut self, operand: &Operand, at: Span) -> Option<Scalar> {
        let (text, what) = (self.f.source.slice(at).to_owned(), self.describe(operand));
        self.error(errors::range_bound(self.at(at), &text, &what));
        None
    }

    fn range_of(&mut self, ty: Scalar, first: NodeId, stop: NodeId, step: NodeId, span: Span) -> Range {
        let constant = |node: NodeId| self.f.func.constant(node).and_then(Constant::as_int);
        let n_rounds = match (constant(first), constant(stop), constant(step)) {
            (Some(first), Some(stop), Some(step)) => Some(n_rounds(first, stop, step)),
            _ => None,
        };
        match constant(step) {
            Some(1) => {
                Range { ty, first, end: stop, test: CompareOp::Less, increment: 1, scale: None, n_rounds }
            }
            Some(-1) => {
                Range { ty, first, end: stop, test: CompareOp::Greater, increment: -1, scale: None, n_rounds }
            }
            _ => {
                // Counts rounds, since adding a wide step could overflow the type.
                let count = self.round_count(ty, first, stop, step, span);
                let unsigned = ty.as_unsigned();
                let zero = self.constant(Constant::zero(unsigned), span);
                Range {
                    ty: unsigned,
                    first: zero,
                    end: count,
                    test: CompareOp::Less,
                    increment: 1,
                    scale: Some((ty, first, step)),
                    n_rounds,
                }
            }
        }
    }

    /// `first + round * step`. The product may wrap although the value is in the range.
    pub fn value_of_round(
        &mut self,
        ty: Scalar,
        (first, step): (NodeId, NodeId),
        round: NodeId,
        span: Span,
    ) -> NodeId {
        self.walk_unreported(|ctx| {
            let offset = ctx.node(NodeKind::Binary(BinaryOp::Mul, round, step), ty, span);
            ctx.node(NodeKind::Binary(BinaryOp::Add, first, offset), ty, span)
        })
    }

    /// Builds arithmetic that the script does not contain. It is not reported.
    pub fn walk_unreported<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let first = self.f.func.nodes.len();
        let made = make(self);
        self.f.func.nodes[first..].iter_mut().for_each(|node| node.origin = Origin::Compiler);
        made
    }

    /// `max(0, ceil((stop - start) / step))` in unsigned arithmetic. It is 0 for a step of 0.
    pub fn round_count(
        &mut self,
        ty: Scalar,
        first: NodeId,
        stop: NodeId,
        step: NodeId,
        span: Span,
    ) -> NodeId {
        let unsigned = ty.as_unsigned();
        let known = |node: NodeId| self.f.func.constant(node).and_then(Constant::as_int);
        if let (Some(first), Some(stop), Some(step)) = (known(first), known(stop), known(step)) {
            return self.constant(Constant::int(unsigned, n_rounds(first, stop, step)), span);
        }
        self.walk_unreported(|ctx| ctx.rounds(ty, (first, stop), step, span))
    }

    /// `len(r)`.
    pub fn range_len(&mut self, sequence: &Sequence, span: Span) -> Operand {
        let Some(bounds) = sequence.range() else { return Operand::Error };
        let Some((ty, [first, stop, step])) = self.range_bounds(bounds) else { return Operand::Error };
        if let Some([first, stop, step]) = self.known_bounds(bounds) {
            return Operand::int(n_rounds(first, stop, step));
        }
        let count = self.round_count(ty, first, stop, step, span);
        let signed = if ty.bits() == 64 { Scalar::I64 } else { Scalar::I32 };
        Operand::Node(self.convert(count, signed, span))
    }

    /// `r[1]` of a range with known bounds.
    pub fn range_item(&mut self, sequence: &Sequence, range: Span, index: &Expr, span: Span) -> Operand {
        let at = self.expr(index);
        let Some(bounds) = sequence.range().filter(|_| !at.has_error()) else { return Operand::Error };
        if self.range_bounds(bounds).is_none() || self.index_node(&at, index.span).is_none() {
            return Operand::Error;
        }
        let known = self.known_int(&at);
        let (Some(at), Some([first, stop, step])) = (known, self.known_bounds(bounds)) else {
            let slice = |span| self.f.source.slice(span);
            let from_end = match &index.kind {
                ExprKind::Unary { op: AstUnaryOp::Minus, operand } => Some(slice(operand.span)),
                _ => None,
            };
            let error = errors::range_item(self.at(span), slice(range), slice(index.span), from_end);
            return self.fail(error);
        };
        let len = n_rounds(first, stop, step);
        let from_start = if at < 0 { at + len } else { at };
        match (0..len).contains(&from_start) {
            true => Operand::int(first + from_start * step),
            false => self.fail(errors::index_out_of_range(self.at(index.span), at, len as usize, "range")),
        }
    }

    fn known_bounds(&self, [first, stop, step]: &[Spanned; 3]) -> Option<[i128; 3]> {
        Some([self.known_int(&first.0)?, self.known_int(&stop.0)?, self.known_int(&step.0)?])
    }

    fn rounds(&mut self, ty: Scalar, (first, stop): (NodeId, NodeId), step: NodeId, span: Span) -> NodeId {
        let zero = self.constant(Constant::zero(ty), span);
        let known_step = self.f.func.constant(step).and_then(Constant::as_int);
        let up = self.rounds_one_direction(ty, (first, stop), step, span);
        if !ty.is_signed() || known_step.is_some_and(|step| step > 0) {
            return up;
        }
        let back = self.node(NodeKind::Unary(UnaryOp::Negate, step), ty, span);
        let down = self.rounds_one_direction(ty, (stop, first), back, span);
        if known_step.is_some_and(|step| step < 0) {
            return down;
        }
        let is_up = self.node(NodeKind::Compare(CompareOp::Greater, step, zero), Type::BOOL, span);
        let unsigned = ty.as_unsigned();
        self.node(NodeKind::Select { condition: is_up, then: up, orelse: down }, unsigned, span)
    }

    /// `low < high ? (high - low - 1) / step + 1 : 0`. Division by zero yields 0, so a step of 0 would give one
    /// round. It is tested as well.
    fn rounds_one_direction(
        &mut self,
        ty: Scalar,
        (low, high): (NodeId, NodeId),
        step: NodeId,
        span: Span,
    ) -> NodeId {
        let unsigned = ty.as_unsigned();
        let zero = self.constant(Constant::zero(ty), span);
        let one = self.constant(Constant::int(unsigned, 1), span);
        let no_rounds = self.constant(Constant::zero(unsigned), span);
        let binary = |ctx: &mut Self, op, a, b| ctx.node(NodeKind::Binary(op, a, b), unsigned, span);
        let bits = |ctx: &mut Self, node| match ty == unsigned {
            true => node,
            false => ctx.node(NodeKind::Bitcast(node), unsigned, span),
        };
        let (low_bits, high_bits, step_bits) = (bits(self, low), bits(self, high), bits(self, step));
        let distance = binary(self, BinaryOp::Sub, high_bits, low_bits);
        let distance = binary(self, BinaryOp::Sub, distance, one);
        let whole = binary(self, BinaryOp::FloorDiv, distance, step_bits);
        let rounds = binary(self, BinaryOp::Add, whole, one);
        let runs = self.node(NodeKind::Compare(CompareOp::Less, low, high), Type::BOOL, span);
        let steps = self.node(NodeKind::Compare(CompareOp::NotEqual, step, zero), Type::BOOL, span);
        let condition = self.node(NodeKind::Binary(BinaryOp::And, runs, steps), Type::BOOL, span);
        self.node(NodeKind::Select { condition, then: rounds, orelse: no_rounds }, unsigned, span)
    }
}

fn n_rounds(first: i128, stop: i128, step: i128) -> i128 {
    match step {
        0 => 0,
        step if step > 0 => ((stop - first + step - 1).div_euclid(step)).max(0),
        step => ((first - stop - step - 1).div_euclid(-step)).max(0),
    }
}

//! Comparison: of numbers, in chains, and of tuples and structs.

use kps_syntax::Span;
use kps_syntax::ast::{
    BinaryOp as AstBinaryOp, BoolOp, CompareOp as AstCompareOp, Comparison, Expr, ExprKind,
    UnaryOp as AstUnaryOp,
};

use super::operand::Operand;
use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;
use crate::ir::{CompareOp, NodeKind};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn comparison(&mut self, left: &Expr, comparisons: &[Comparison], span: Span) -> Operand {
        let first = self.expr(left);
        match comparisons {
            [only] => {
                let right = self.comparand(only);
                self.compare(only.op, &first, &right, only.op_span, (left.span, only.right.span))
            }
            _ => self.compare_chain(first, left.span, comparisons, span),
        }
    }

    /// The right side of a comparison. A list that is only searched needs no place in memory.
    fn comparand(&mut self, comparison: &Comparison) -> Operand {
        match (comparison.op, &comparison.right.kind) {
            (AstCompareOp::In | AstCompareOp::NotIn, ExprKind::List(items)) => {
                self.tuple(items, comparison.right.span)
            }
            _ => self.expr(&comparison.right),
        }
    }

    /// `a < b <= c` is `a < b and b <= c`, with `b` computed once.
    fn compare_chain(
        &mut self,
        left: Operand,
        left_span: Span,
        comparisons: &[Comparison],
        span: Span,
    ) -> Operand {
        let [comparison, rest @ ..] = comparisons else { return left };
        let right = self.comparand(comparison);
        let spans = (left_span, comparison.right.span);
        let test = self.compare(comparison.op, &left, &right, comparison.op_span, spans);
        if matches!(&test, Operand::Node(node) if self.ty(*node).is_vector()) {
            return self
                .fail(errors::chained_vectors(self.at(span), self.f.source.slice(spans.0.to(spans.1))));
        }
        if rest.is_empty() || test.has_error() {
            return test;
        }
        self.short_circuit_with(BoolOp::And, &test, spans.0.to(spans.1), span, |ctx| {
            ctx.nested(span, Operand::Error, |ctx| {
                ctx.compare_chain(right, comparison.right.span, rest, span)
            })
        })
    }

    pub fn compare(
        &mut self,
        op: AstCompareOp,
        left: &Operand,
        right: &Operand,
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let compare_op = match op {
            AstCompareOp::Eq => CompareOp::Equal,
            AstCompareOp::NotEq => CompareOp::NotEqual,
            AstCompareOp::Less => CompareOp::Less,
            AstCompareOp::LessEq => CompareOp::LessEqual,
            AstCompareOp::Greater => CompareOp::Greater,
            AstCompareOp::GreaterEq => CompareOp::GreaterEqual,
            AstCompareOp::In | AstCompareOp::NotIn => {
                return self.membership(op, left, right, op_span, spans);
            }
            // `check` refused them.
            AstCompareOp::Is | AstCompareOp::IsNot => return Operand::Error,
        };
        if left.has_error() || right.has_error() {
            return Operand::Error;
        }
        let span = spans.0.to(spans.1);
        if let (Operand::Literal(a), Operand::Literal(b)) = (left, right) {
            return self.bool_constant(compare_literals(compare_op, *a, *b), span);
        }
        if let (Operand::Tuple(a), Operand::Tuple(b)) = (left, right) {
            return self.compare_tuples(op, (a.as_ref(), b.as_ref()), op_span, spans);
        }
        if let Some(result) = self.struct_compare(op, left, right, spans) {
            return result;
        }
        if let Some(result) = self.compare_structs(op, left, right, span) {
            return result;
        }
        let n_errors = self.f.diagnostics.len();
        let is_equality = matches!(compare_op, CompareOp::Equal | CompareOp::NotEqual);
        let Some((ty, a, b)) = self.common(left, right, spans, is_equality) else {
            // A literal that does not fit was reported.
            if self.f.diagnostics.len() > n_errors {
                return Operand::Error;
            }
            let (what_left, what_right) = (self.describe(left), self.describe(right));
            let hint = self.cast_hint(left, right, spans, false);
            return self.fail(errors::compare_types(
                self.at(op_span),
                op.symbol(),
                (self.at(spans.0), &what_left),
                (self.at(spans.1), &what_right),
                hint,
            ));
        };
        // A comparison of `const` parameters is folded here. So the branch that is not taken need not
        // type-check.
        if let (Type::Scalar(_), Some(a), Some(b)) = (&ty, self.known_int(left), self.known_int(right)) {
            return self.bool_constant(compare_literals(compare_op, Literal::Int(a), Literal::Int(b)), span);
        }
        let result = ty.with_scalar(Scalar::Bool);
        Operand::Node(self.node(NodeKind::Compare(compare_op, a, b), result, span))
    }

    /// Tuples are equal if all their items are.
    fn compare_tuples(
        &mut self,
        op: AstCompareOp,
        (left, right): (&[Operand], &[Operand]),
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let span = spans.0.to(spans.1);
        if !matches!(op, AstCompareOp::Eq | AstCompareOp::NotEq) {
            return self.fail(errors::tuples_have_no_order(self.at(op_span)));
        }
        let mut equal = self.bool_constant(left.len() == right.len(), span);
        if left.len() == right.len() {
            for (a, b) in left.iter().zip(right) {
                let Some(part) = self.equal(a, b, op_span, spans) else { return Operand::Error };
                equal = self.binary(AstBinaryOp::BitAnd, &equal, &part, op_span, spans);
            }
        }
        match op {
            AstCompareOp::NotEq => self.unary(AstUnaryOp::Not, &equal, span, span),
            _ => equal,
        }
    }
}

pub(in crate::infer) fn compare_literals(op: CompareOp, a: Literal, b: Literal) -> bool {
    use std::cmp::Ordering;
    let order = match (a, b) {
        (Literal::Int(a), Literal::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.to_f64().partial_cmp(&b.to_f64()),
    };
    match op {
        CompareOp::Equal => order == Some(Ordering::Equal),
        CompareOp::NotEqual => order != Some(Ordering::Equal),
        CompareOp::Less => order == Some(Ordering::Less),
        CompareOp::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Greater => order == Some(Ordering::Greater),
        CompareOp::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

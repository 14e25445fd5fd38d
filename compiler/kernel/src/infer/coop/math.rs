//! Arithmetic of whole cooperative matrices: `a + b`, `m * 2.0`, `-m`, `f16(m)`.
//!
//! Each operation makes a new matrix. An augmented assignment changes the matrix of its variable, so a loop
//! carries it. Never here: matrix products. Only `coop_multiply_add` makes those.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::Coop;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::arith::Sides;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, CoopKind, Place, Root};
use crate::matrices::CoopType;
use crate::types::{Kind, Scalar, Type};

impl Ctx<'_> {
    /// Whether it is a cooperative matrix, or a list of rows like those of one.
    pub fn is_coop(&self, operand: &Operand) -> bool {
        let Operand::Place(place) = operand else { return false };
        let is_own = matches!(place.root, Root::Local(_)) && self.shared_id(place).is_none();
        is_own && self.is_coop_type(&place.ty)
    }

    pub fn coop_binary(&mut self, op: AstBinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, op_span, spans } = sides;
        let (left, right) = ((left, spans.0), (right, spans.1));
        let result = match (op, self.is_coop(left.0), self.is_coop(right.0)) {
            (AstBinaryOp::Add, true, true) => self.coop_sum(BinaryOp::Add, left, right, op_span),
            (AstBinaryOp::Sub, true, true) => self.coop_sum(BinaryOp::Sub, left, right, op_span),
            (AstBinaryOp::Mul, true, false) => self.coop_scaled(BinaryOp::Mul, left, right, op_span),
            (AstBinaryOp::Mul, false, true) => self.coop_scaled(BinaryOp::Mul, right, left, op_span),
            (AstBinaryOp::Div, true, false) => self.coop_scaled(BinaryOp::Div, left, right, op_span),
            _ => {
                let (a, b) = (self.describe(left.0), self.describe(right.0));
                let sides = [(self.at(left.1), &a), (self.at(right.1), &b)];
                Some(self.fail(errors::coop_operator(self.at(op_span), op.symbol(), sides)))
            }
        };
        result.unwrap_or(Operand::Error)
    }

    /// `m += other` and the other augmented assignments: the matrix itself becomes the result.
    pub fn coop_aug_assign(
        &mut self,
        op: AstBinaryOp,
        matrix: &Place,
        value: &Operand,
        op_span: Span,
        spans: (Span, Span),
    ) {
        let current = Operand::Place(matrix.clone());
        let Operand::Place(result) =
            self.coop_binary(op, Sides { left: &current, right: value, op_span, spans })
        else {
            return;
        };
        let span = spans.0.to(spans.1);
        let result = self.load_whole(&result, span);
        self.store_whole(matrix, result, span);
    }

    pub fn coop_negated(&mut self, operand: &Operand, span: Span) -> Operand {
        let Some(coop) = self.coop("-", &(operand.clone(), span)) else { return Operand::Error };
        self.coop_made(&coop, coop.shape.scalar, CoopKind::Negated(coop.matrix.clone()), span)
    }

    /// A matrix of the same shape and use, with another scalar type.
    pub fn coop_cast(&mut self, operand: &Operand, to: Scalar, span: Span) -> Operand {
        let Some(coop) = self.coop(to.name(), &(operand.clone(), span)) else { return Operand::Error };
        if to == Scalar::Bool {
            return self.fail(errors::coop_element(self.at(span), "bool"));
        }
        self.coop_made(&coop, to, CoopKind::Converted(coop.matrix.clone()), span)
    }

    fn coop_sum(
        &mut self,
        op: BinaryOp,
        left: (&Operand, Span),
        right: (&Operand, Span),
        op_span: Span,
    ) -> Option<Operand> {
        let symbol = if op == BinaryOp::Add { "+" } else { "-" };
        let a = self.coop(symbol, &(left.0.clone(), left.1))?;
        let b = self.coop(symbol, &(right.0.clone(), right.1))?;
        let [of_a, of_b] = [&a, &b].map(|coop| coop.shape);
        let is_same_use = of_a.purpose.is_none() || of_b.purpose.is_none() || of_a.purpose == of_b.purpose;
        if (of_a.rows, of_a.columns, of_a.scalar) != (of_b.rows, of_b.columns, of_b.scalar) || !is_same_use {
            let (text_a, text_b) = (of_a.to_string(), of_b.to_string());
            let sides = [(self.at(left.1), &*text_a), (self.at(right.1), &*text_b)];
            return Some(self.fail(errors::coop_sum(self.at(op_span), symbol, sides)));
        }
        let span = left.1.to(right.1);
        let sum = CoopKind::Sum(op, a.matrix.clone(), b.matrix);
        Some(self.coop_made(&a, of_a.scalar, sum, span))
    }

    /// A matrix times a number, or divided by one.
    fn coop_scaled(
        &mut self,
        op: BinaryOp,
        matrix: (&Operand, Span),
        number: (&Operand, Span),
        op_span: Span,
    ) -> Option<Operand> {
        let symbol = if op == BinaryOp::Mul { "*" } else { "/" };
        let coop = self.coop(symbol, &(matrix.0.clone(), matrix.1))?;
        if op == BinaryOp::Div && coop.shape.scalar.kind() != Kind::Float {
            return Some(self.fail(errors::coop_quotient(self.at(op_span), coop.shape.scalar)));
        }
        let Some(factor) = self.try_convert(number.0, &coop.shape.scalar.into(), number.1) else {
            let (text, what) = (self.f.source.slice(number.1).to_owned(), self.describe(number.0));
            let is_number = self.value_type(number.0).is_some_and(|ty| ty.n_components() == 1);
            let cast = is_number.then(|| format!("{}({text})", coop.shape.scalar));
            let at = self.at(number.1);
            return Some(self.fail(errors::coop_factor(at, symbol, coop.shape.scalar, &what, cast)));
        };
        let span = matrix.1.to(number.1);
        let scaled = CoopKind::Scaled(op, coop.matrix.clone(), factor);
        Some(self.coop_made(&coop, coop.shape.scalar, scaled, span))
    }

    /// A new matrix that is computed from one of the same shape.
    fn coop_made(&mut self, of: &Coop, scalar: Scalar, kind: CoopKind, span: Span) -> Operand {
        self.require_convergence(span);
        let ty = match of.matrix.place.ty.coop() {
            Some(coop) => Type::coop_rows(CoopType { scalar, ..coop }),
            None => Type::array(of.shape.rows, Type::array(of.shape.columns, scalar.into())),
        };
        let made = self.new_matrix(ty, of.shape.purpose, span);
        self.coop_op_on(&made, kind, span);
        Operand::Place(made)
    }
}

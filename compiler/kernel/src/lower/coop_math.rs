//! Arithmetic of whole cooperative matrices: `a + b`, `m * 2.0`, `-m`, `f16(m)`.
//!
//! Each operation makes a new matrix. An augmented assignment changes the matrix of its variable, so a loop
//! carries it. A device with native matrices uses an instruction for each component. Otherwise a function of
//! `library/coop.kps` does the work. Never here: matrix products. Only `coop_multiply_add` makes those.

use kps_syntax::Span;
use kps_syntax::ast::BinaryOp as AstBinaryOp;

use super::Ctx;
use super::arith::Sides;
use super::coop::Coop;
use super::operand::{Operand, Place, Root, Static};
use crate::errors;
use crate::ir::{BinaryOp, NodeKind, Stmt, Together, UnaryOp};
use crate::matrices::CoopType;
use crate::types::{Kind, Scalar, Type};

impl Ctx<'_> {
    /// Whether it is a cooperative matrix. If those are emulated, it is a list of rows of the size of one.
    pub fn is_coop(&self, operand: &Operand) -> bool {
        let Operand::Place(place) = operand else { return false };
        let is_own = matches!(place.root, Root::Local(_)) && self.shared_id(place).is_none();
        matches!(place.ty, Type::Coop(_)) || (is_own && self.coop_types.contains(&place.ty))
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
        if self.matrices.is_none() {
            return self.coop_made("coop_negate", &coop, coop.scalar, None, span);
        }
        let value = self.load_whole(&coop.place, span);
        self.tile_made(NodeKind::Unary(UnaryOp::Negate, value), &coop, coop.scalar, span)
    }

    /// A matrix of the same shape and use, with another scalar type.
    pub fn coop_cast(&mut self, operand: &Operand, to: Scalar, span: Span) -> Operand {
        let Some(coop) = self.coop(to.name(), &(operand.clone(), span)) else { return Operand::Error };
        if to == Scalar::Bool {
            return self.fail(errors::coop_element(self.at(span), "bool"));
        }
        if self.matrices.is_none() {
            let number = (Operand::Static(Static::Type(to.into())), span);
            return self.coop_made("coop_convert", &coop, to, Some(number), span);
        }
        // The conversion instructions do not saturate at the limits of an int type.
        if coop.scalar.is_float() && to.is_int() {
            return self.fail(errors::coop_emulated(self.at(span)));
        }
        if coop.scalar == to {
            let copy = self.tile(coop.ty(to), span);
            if let Operand::Place(copy) = &copy {
                let value = self.load_whole(&coop.place, span);
                self.store_whole(copy, value, span);
            }
            return copy;
        }
        let value = self.load_whole(&coop.place, span);
        self.tile_made(NodeKind::Convert(value), &coop, to, span)
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
        let is_same_use = a.purpose.is_none() || b.purpose.is_none() || a.purpose == b.purpose;
        if (a.rows, a.columns, a.scalar) != (b.rows, b.columns, b.scalar) || !is_same_use {
            let (text_a, text_b) = (a.to_string(), b.to_string());
            let sides = [(self.at(left.1), &*text_a), (self.at(right.1), &*text_b)];
            return Some(self.fail(errors::coop_sum(self.at(op_span), symbol, sides)));
        }
        let span = left.1.to(right.1);
        if self.matrices.is_none() {
            let name = if op == BinaryOp::Add { "coop_add" } else { "coop_subtract" };
            return Some(self.coop_made(name, &a, a.scalar, Some((right.0.clone(), right.1)), span));
        }
        let [x, y] = [&a, &b].map(|coop| self.load_whole(&coop.place, span));
        Some(self.tile_made(NodeKind::Binary(op, x, y), &a, a.scalar, span))
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
        if op == BinaryOp::Div && coop.scalar.kind() != Kind::Float {
            return Some(self.fail(errors::coop_quotient(self.at(op_span), coop.scalar)));
        }
        let Some(factor) = self.try_convert(number.0, &coop.scalar.into(), number.1) else {
            let (text, what) = (self.f.source.slice(number.1).to_owned(), self.describe(number.0));
            let is_number = self.value_type(number.0).is_some_and(|ty| ty.n_components() == 1);
            let cast = is_number.then(|| format!("{}({text})", coop.scalar));
            let at = self.at(number.1);
            return Some(self.fail(errors::coop_factor(at, symbol, coop.scalar, &what, cast)));
        };
        let span = matrix.1.to(number.1);
        if self.matrices.is_none() {
            let name = if op == BinaryOp::Mul { "coop_scale" } else { "coop_divide" };
            let factor = (Operand::Node(factor), number.1);
            return Some(self.coop_made(name, &coop, coop.scalar, Some(factor), span));
        }
        let value = self.load_whole(&coop.place, span);
        let factors = self.node(NodeKind::Splat(factor), coop.place.ty.clone(), span);
        Some(self.tile_made(NodeKind::Binary(op, value, factors), &coop, coop.scalar, span))
    }

    /// An emulated matrix that a library function computes from another one and further arguments.
    fn coop_made(
        &mut self,
        name: &str,
        of: &Coop,
        scalar: Scalar,
        with: Option<(Operand, Span)>,
        span: Span,
    ) -> Operand {
        self.f.block.push(Stmt::Together(Together::CoopMatrix, span));
        let made = self.coop_rows((of.rows, of.columns, scalar), of.purpose, span);
        let args = [(made.clone(), span), (Operand::Place(of.place.clone()), span)];
        self.call_coop(name, args.into_iter().chain(with).collect(), span);
        made
    }

    /// A native matrix that an instruction computes from another one. There is none for `bf16`.
    fn tile_made(&mut self, kind: NodeKind, of: &Coop, scalar: Scalar, span: Span) -> Operand {
        if [of.scalar, scalar].contains(&Scalar::Bf16) {
            return self.fail(errors::coop_emulated(self.at(span)));
        }
        self.f.block.push(Stmt::Together(Together::CoopMatrix, span));
        self.tile_of(of.ty(scalar), kind, span)
    }
}

impl Coop {
    /// The native type of a matrix like this one, with another scalar type.
    fn ty(&self, scalar: Scalar) -> CoopType {
        let purpose = self.purpose.expect("a native matrix has a use");
        CoopType { scalar, rows: self.rows, columns: self.columns, purpose }
    }
}

//! Arithmetic: the common type of two operands, and the nodes of each operator.
//!
//! Two literals are folded and stay a literal. A literal adopts the type of a value beside it. An int beside a
//! float becomes that float, and a narrow type widens to a wider one of its kind. A scalar beside a vector is
//! splatted. Anything else is an error that shows the cast to write.

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp as AstBinaryOp, UnaryOp as AstUnaryOp};

use super::fold::folded_unary;
use super::operand::Operand;
use crate::aliases::Copied;
use crate::constant::{Constant, Literal};
use crate::errors::{self, Found};
use crate::infer::{Ctx, MAX_ARRAY_LEN};
use crate::ir::{BinaryOp, NodeId, NodeKind, SimpleExponent, Step, UnaryOp};
use crate::types::{Kind, Scalar, Type};

/// The operands of an operator, and where all three are written.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub left: &'a Operand,
    pub right: &'a Operand,
    pub op_span: Span,
    pub spans: (Span, Span),
}

impl Ctx<'_> {
    pub fn binary(
        &mut self,
        op: AstBinaryOp,
        left: &Operand,
        right: &Operand,
        op_span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let sides = Sides { left, right, op_span, spans };
        let result = self.binary_of(op, sides);
        self.note_binary(&result, op, sides);
        result
    }

    fn binary_of(&mut self, op: AstBinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        if left.has_error() || right.has_error() {
            return Operand::Error;
        }
        if let (Operand::Literal(a), Operand::Literal(b)) = (left, right) {
            return self.fold(op, *a, *b, spans);
        }
        if let Some(constant) = self.fold_constants(op, left, right, spans.0.to(spans.1)) {
            return constant;
        }
        if let Some(result) = self.struct_binary(op, left, right, spans) {
            return result;
        }
        if self.is_coop(left) || self.is_coop(right) {
            return self.coop_binary(op, sides);
        }
        if op == AstBinaryOp::Mul
            && let Some(array) = self.repeat_list(left, right, spans)
        {
            return array;
        }
        if self.is_matrix(left) || self.is_matrix(right) {
            return self.matrix_binary(op, sides);
        }
        match op {
            AstBinaryOp::Add | AstBinaryOp::Sub | AstBinaryOp::Mul => {
                let op = match op {
                    AstBinaryOp::Add => BinaryOp::Add,
                    AstBinaryOp::Sub => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                self.arithmetic(op, sides)
            }
            AstBinaryOp::FloorDiv => self.floor(BinaryOp::FloorDiv, sides),
            AstBinaryOp::Mod => self.floor(BinaryOp::FloorMod, sides),
            AstBinaryOp::Div => self.divide(sides),
            AstBinaryOp::Pow => self.power(sides),
            AstBinaryOp::MatMul => self.dot("@", sides),
            AstBinaryOp::LeftShift => self.shift(BinaryOp::ShiftLeft, sides),
            AstBinaryOp::RightShift => self.shift(BinaryOp::ShiftRight, sides),
            AstBinaryOp::BitAnd => self.bitwise(BinaryOp::And, sides),
            AstBinaryOp::BitOr => self.bitwise(BinaryOp::Or, sides),
            AstBinaryOp::BitXor => self.bitwise(BinaryOp::Xor, sides),
        }
    }

    /// Converts both operands to their common type. `None` if there is none without a cast. As in Python, bools
    /// are 0 and 1. They stay bools if both are and `bools` allows it.
    pub fn common(
        &mut self,
        left: &Operand,
        right: &Operand,
        spans: (Span, Span),
        bools: bool,
    ) -> Option<(Type, NodeId, NodeId)> {
        let (in_left, in_right) = (self.beside(left, right, spans.0), self.beside(right, left, spans.1));
        let (left, right) = (in_left.as_ref().unwrap_or(left), in_right.as_ref().unwrap_or(right));
        let keeps_bools = bools && self.is_of_bools(left) && self.is_of_bools(right);
        let numbers = match keeps_bools {
            true => [None, None],
            false => {
                [self.bools_as_numbers(left, right, spans.0), self.bools_as_numbers(right, left, spans.1)]
            }
        };
        let (left, right) = (numbers[0].as_ref().unwrap_or(left), numbers[1].as_ref().unwrap_or(right));
        let (a, b) = (self.value_type(left)?, self.value_type(right)?);
        let n = match (a.n_components(), b.n_components()) {
            (0, _) | (_, 0) => return None,
            (a, b) if a == b => a,
            (1, n) | (n, 1) => n,
            _ => return None,
        };
        let scalar = self.common_scalar((left, a.scalar()?), (right, b.scalar()?))?;
        let ty = Type::of(n, scalar);
        let left = self.as_common(left, scalar, &ty, spans.0)?;
        let right = self.as_common(right, scalar, &ty, spans.1)?;
        Some((ty, left, right))
    }

    pub fn is_of_bools(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Node(node) if self.ty(*node).scalar() == Some(Scalar::Bool))
    }

    /// A bool or a vector of bools as numbers of the type of `other`. Beside another bool it is an i32. `None`
    /// for any other operand.
    fn bools_as_numbers(&mut self, operand: &Operand, other: &Operand, span: Span) -> Option<Operand> {
        if !self.is_of_bools(operand) {
            return None;
        }
        let Operand::Node(node) = *operand else { return None };
        let scalar = self.value_type(other)?.scalar()?;
        let scalar = if scalar == Scalar::Bool { Scalar::I32 } else { scalar };
        Some(Operand::Node(self.coerce(node, scalar, span)))
    }

    /// A bool as an i32. Any other operand is unchanged.
    pub fn bool_as_int(&mut self, operand: &Operand, span: Span) -> Operand {
        match operand {
            Operand::Node(node) if self.is_of_bools(operand) => {
                Operand::Node(self.coerce(*node, Scalar::I32, span))
            }
            operand => operand.clone(),
        }
    }

    fn common_scalar(&mut self, left: (&Operand, Scalar), right: (&Operand, Scalar)) -> Option<Scalar> {
        match (left, right) {
            ((Operand::Literal(literal), _), (_, scalar)) | ((_, scalar), (Operand::Literal(literal), _)) => {
                match (literal, scalar.kind()) {
                    (_, Kind::Bool) => None,
                    (Literal::Float(_), Kind::Signed | Kind::Unsigned) => Some(scalar.as_float()),
                    _ => Some(scalar),
                }
            }
            ((_, a), (_, b)) if a.widens_to(b) => Some(b),
            ((_, a), (_, b)) if b.widens_to(a) => Some(a),
            // A narrow float represents too few ints.
            ((_, a), (_, b @ (Scalar::F32 | Scalar::F64))) if a.is_int() => Some(b),
            ((_, a @ (Scalar::F32 | Scalar::F64)), (_, b)) if b.is_int() => Some(a),
            ((left, a), (right, b)) => {
                // A guess yields, and the function is walked again.
                let (guessed_left, guessed_right) = (self.is_guessed(left), self.is_guessed(right));
                if !(guessed_left || guessed_right) || a == Scalar::Bool || b == Scalar::Bool {
                    return None;
                }
                self.f.assumed.used_guess = true;
                Some(if guessed_left { b } else { a })
            }
        }
    }

    fn as_common(&mut self, operand: &Operand, scalar: Scalar, ty: &Type, span: Span) -> Option<NodeId> {
        let node = match operand {
            Operand::Literal(literal) => self.literal_as(*literal, scalar, span)?,
            Operand::Node(node) => self.coerce(*node, scalar, span),
            _ => return None,
        };
        Some(self.splat_to(node, ty, span))
    }

    fn arithmetic(&mut self, op: BinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let n_errors = self.f.diagnostics.len();
        match self.common(left, right, spans, false) {
            Some((ty, a, b)) => Operand::Node(self.node(NodeKind::Binary(op, a, b), ty, spans.0.to(spans.1))),
            None => self.mismatch(symbol(op), sides, n_errors),
        }
    }

    /// The error for two operands without a common type, unless one was reported already.
    pub fn mismatch(&mut self, symbol: &str, sides: Sides, n_errors: usize) -> Operand {
        let Sides { left, right, op_span, spans } = sides;
        if self.f.diagnostics.len() > n_errors || left.has_error() || right.has_error() {
            return Operand::Error;
        }
        let (what_left, what_right) = (self.describe(left), self.describe(right));
        let of_bits = matches!(symbol, "&" | "|" | "^" | "<<" | ">>");
        // The target of `a -= b` keeps its type.
        let is_augmented = self.f.source.slice(op_span) == format!("{symbol}=");
        let hint = match (is_augmented, self.value_type(left)) {
            (true, Some(ty)) if ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool) => {
                let text = errors::without_brackets(self.f.source.slice(spans.1));
                self.cast_hint(left, right, spans, of_bits).map(|_| format!("{ty}({text})"))
            }
            _ => self.cast_hint(left, right, spans, of_bits),
        };
        self.fail(errors::operand_types(
            self.at(op_span),
            symbol,
            (self.at(spans.0), &what_left),
            (self.at(spans.1), &what_right),
            hint,
        ))
    }

    /// The cast that gives both operands one type. Only the user converts a signed int to an unsigned one. So
    /// the hint converts the narrower operand or the unsigned one.
    pub fn cast_hint(
        &self,
        left: &Operand,
        right: &Operand,
        spans: (Span, Span),
        of_bits: bool,
    ) -> Option<String> {
        let (a, b) = (self.value_type(left)?, self.value_type(right)?);
        let (scalar_a, scalar_b) = (a.scalar()?, b.scalar()?);
        if scalar_a == scalar_b && scalar_a != Scalar::Bool {
            return None;
        }
        if a.n_components() != b.n_components() && a.is_vector() && b.is_vector() {
            return None;
        }
        let (ty, span) = match (scalar_a, scalar_b) {
            (Scalar::Bool, Scalar::Bool) => (a.with_scalar(Scalar::I32), spans.0),
            (Scalar::Bool, _) => (a.with_scalar(scalar_b), spans.0),
            (_, Scalar::Bool) => (b.with_scalar(scalar_a), spans.1),
            (Scalar::F16 | Scalar::Bf16, _) if scalar_b.is_int() => (a.with_scalar(Scalar::F32), spans.0),
            (_, Scalar::F16 | Scalar::Bf16) if scalar_a.is_int() => (b.with_scalar(Scalar::F32), spans.1),
            // Bitwise operators need ints. For other operators, a cast to an int would truncate the float.
            _ if scalar_a.is_float() != scalar_b.is_float() => match scalar_a.is_float() == of_bits {
                true => (a.with_scalar(scalar_b), spans.0),
                false => (b.with_scalar(scalar_a), spans.1),
            },
            // A wider type represents both.
            (Scalar::F16, Scalar::Bf16) | (Scalar::Bf16, Scalar::F16) => {
                (a.with_scalar(Scalar::F32), spans.0)
            }
            (Scalar::I8 | Scalar::I16, Scalar::U8) => (b.with_scalar(Scalar::I16), spans.1),
            (Scalar::U8, Scalar::I8 | Scalar::I16) => (a.with_scalar(Scalar::I16), spans.0),
            (Scalar::I8 | Scalar::I16, Scalar::U16) => (b.with_scalar(Scalar::I32), spans.1),
            (Scalar::U16, Scalar::I8 | Scalar::I16) => (a.with_scalar(Scalar::I32), spans.0),
            _ if scalar_a.bits() > scalar_b.bits() => (b.with_scalar(scalar_a), spans.1),
            _ if scalar_a.is_signed() && scalar_a.bits() == scalar_b.bits() => {
                (b.with_scalar(scalar_a), spans.1)
            }
            _ => (a.with_scalar(scalar_b), spans.0),
        };
        let text = errors::without_brackets(self.f.source.slice(span));
        // A part of a tuple needs the cast.
        let text = if errors::split_at_commas(text).len() > 1 { ".." } else { text };
        Some(format!("{ty}({text})"))
    }

    /// The cast that gives two values one type.
    pub fn alike_hint(
        &self,
        (left, left_at): (&Operand, Span),
        (right, right_at): (&Operand, Span),
    ) -> Option<String> {
        let (a, b) = (self.value_type(left)?, self.value_type(right)?);
        let (ty, at) = match (&a, &b) {
            (Type::Vector(n, _), Type::Vector(m, _)) if n != m => return None,
            (Type::Scalar(_), Type::Vector(..)) => (&b, left_at),
            (Type::Vector(..), Type::Scalar(_)) => (&a, right_at),
            // Here an int beside a float stays an int, unlike in a sum.
            (Type::Scalar(Scalar::F16 | Scalar::Bf16), Type::Scalar(int)) if int.is_int() => (&a, right_at),
            (Type::Scalar(int), Type::Scalar(Scalar::F16 | Scalar::Bf16)) if int.is_int() => (&b, left_at),
            _ => return self.cast_hint(left, right, (left_at, right_at), false),
        };
        Some(format!("{ty}({})", errors::without_brackets(self.f.source.slice(at))))
    }

    fn floor(&mut self, op: BinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let n_errors = self.f.diagnostics.len();
        let Some((ty, a, b)) = self.common(left, right, spans, false) else {
            return self.mismatch(symbol(op), sides, n_errors);
        };
        Operand::Node(self.node(NodeKind::Binary(op, a, b), ty, spans.0.to(spans.1)))
    }

    /// `tdiv` and `trem`.
    pub fn truncating(
        &mut self,
        op: BinaryOp,
        operands: (&Operand, &Operand),
        span: Span,
        spans: (Span, Span),
    ) -> Operand {
        let n_errors = self.f.diagnostics.len();
        let Some((ty, a, b)) = self.common(operands.0, operands.1, spans, false) else {
            let sides = Sides { left: operands.0, right: operands.1, op_span: span, spans };
            return self.mismatch(symbol(op), sides, n_errors);
        };
        if op == BinaryOp::TruncDiv && ty.scalar().is_some_and(Scalar::is_float) {
            let what = self.describe(operands.0);
            return self.fail(errors::int_argument(self.at(spans.0), "tdiv", &what));
        }
        Operand::Node(self.node(NodeKind::Binary(op, a, b), ty, span))
    }

    /// The result of `/` is a float for any operands.
    fn divide(&mut self, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let n_errors = self.f.diagnostics.len();
        let Some((ty, a, b)) = self.common(left, right, spans, false) else {
            return self.mismatch("/", sides, n_errors);
        };
        let float = self.quotient_type(sides, ty.scalar().map_or(Scalar::F32, Scalar::as_float));
        let (a, b) = (self.coerce(a, float, spans.0), self.coerce(b, float, spans.1));
        let span = spans.0.to(spans.1);
        Operand::Node(self.node(NodeKind::Binary(BinaryOp::Div, a, b), ty.with_scalar(float), span))
    }

    fn bitwise(&mut self, op: BinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let n_errors = self.f.diagnostics.len();
        match self.common(left, right, spans, true) {
            Some((ty, a, b)) if ty.scalar().is_some_and(|scalar| !scalar.is_float()) => {
                Operand::Node(self.node(NodeKind::Binary(op, a, b), ty, spans.0.to(spans.1)))
            }
            _ => self.mismatch(symbol(op), sides, n_errors),
        }
    }

    /// The result has the type of the left side. The amount may be any int.
    fn shift(&mut self, op: BinaryOp, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let n_errors = self.f.diagnostics.len();
        if let Some(amount) = self.known_int(right).filter(|amount| *amount < 0 && *amount > -128) {
            return self.fail(errors::negative_shift(self.at(spans.1), amount, symbol(op)));
        }
        let left = &self.bool_as_int(left, spans.0);
        let right = &self.bool_as_int(right, spans.1);
        let value = self.materialize(left, spans.0);
        let ty = value.map(|value| self.ty(value).clone());
        let amount = match (right, ty.as_ref().and_then(Type::scalar)) {
            (Operand::Literal(literal @ Literal::Int(amount)), Some(scalar)) if scalar.is_int() => {
                // Masked at run time. One that the type has no number for is masked here.
                let masked = || Constant::int(scalar, amount.rem_euclid(i128::from(scalar.bits())));
                let amount = literal.fit(scalar).unwrap_or_else(masked);
                Some(self.constant(amount, spans.1))
            }
            (Operand::Node(node), Some(scalar)) if self.ty(*node).scalar().is_some_and(Scalar::is_int) => {
                Some(self.convert(*node, scalar, spans.1))
            }
            _ => None,
        };
        let (Some(value), Some(ty), Some(amount)) = (value, ty, amount) else {
            return self.mismatch(symbol(op), sides, n_errors);
        };
        if let (Operand::Literal(Literal::Int(amount)), Some(scalar)) = (right, ty.scalar())
            && scalar.is_int()
            && *amount >= i128::from(scalar.bits())
        {
            self.warn(errors::shift_past_width(self.at(spans.1), *amount, scalar));
        }
        let amount_n = self.ty(amount).n_components();
        if !ty.scalar().is_some_and(Scalar::is_int) || (amount_n != 1 && amount_n != ty.n_components()) {
            return self.mismatch(symbol(op), sides, n_errors);
        }
        let amount = self.splat_to(amount, &ty, spans.1);
        Operand::Node(self.node(NodeKind::Binary(op, value, amount), ty, spans.0.to(spans.1)))
    }

    /// `**`.
    pub fn power(&mut self, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        let span = spans.0.to(spans.1);
        let base = self.value_type(left);
        let exponent = match right {
            Operand::Literal(literal) => Some(*literal),
            Operand::Node(node) => self.f.func.constant(*node).and_then(Constant::as_int).map(Literal::Int),
            _ => None,
        };
        if let (Operand::Node(node), Some(exponent), Some(ty)) = (left, exponent, &base)
            && let Some(scalar) = ty.scalar()
        {
            if let Literal::Int(exponent) = exponent
                && scalar.is_int()
                && exponent < 0
            {
                let text = self.f.source.slice(spans.0).to_owned();
                return self.fail(errors::negative_power(self.at(spans.1), &text, exponent, scalar));
            }
            if let Some(power) = self.constant_power(*node, (exponent, right, spans.1), span) {
                return Operand::Node(power);
            }
        }
        let n_errors = self.f.diagnostics.len();
        match self.common(left, right, spans, false) {
            Some((ty, a, b)) => Operand::Node(self.node(NodeKind::Power(a, b), ty, span)),
            None => self.mismatch("**", sides, n_errors),
        }
    }

    /// A power by a constant exponent that keeps its own type.
    fn constant_power(
        &mut self,
        base: NodeId,
        (exponent, operand, at): (Literal, &Operand, Span),
        span: Span,
    ) -> Option<NodeId> {
        let ty = self.ty(base).clone();
        let scalar = ty.scalar()?;
        let is_whole = matches!(exponent, Literal::Int(_));
        let is_constant_power = scalar.is_float() || scalar.is_int() && is_whole;
        if !is_constant_power {
            return None;
        }
        match exponent.to_f64() {
            0.0 => {
                let one = self.constant(Constant::int(Scalar::I32, 1).cast(scalar), span);
                return Some(self.splat_to(one, &ty, span));
            }
            1.0 => return Some(base),
            _ => {}
        }
        let own: &[Scalar] = match exponent {
            Literal::Int(_) => &[Scalar::I32, Scalar::I64, Scalar::U64],
            Literal::Float(_) => &[Scalar::F64],
        };
        let constant = own.iter().find_map(|own| exponent.fit(*own))?;
        SimpleExponent::of_constant(scalar, constant)?;
        let exponent = match operand {
            Operand::Node(exponent) => *exponent,
            _ if is_whole => self.constant(constant, at),
            // An f32 holds each of these.
            _ => self.constant(constant.cast(Scalar::F32), at),
        };
        Some(self.node(NodeKind::Power(base, exponent), ty, span))
    }

    /// The dot product of two vectors, which is called as `symbol` says.
    pub fn dot(&mut self, symbol: &str, sides: Sides) -> Operand {
        let Sides { left, right, spans, .. } = sides;
        if self.is_matrix(left) || self.is_matrix(right) {
            return self.mismatch(symbol, sides, self.f.diagnostics.len());
        }
        let n_errors = self.f.diagnostics.len();
        let vectors =
            [left, right].iter().all(|operand| self.value_type(operand).is_some_and(|ty| ty.is_vector()));
        let common = if vectors { self.common(left, right, spans, false) } else { None };
        let Some((ty, a, b)) = common else {
            return self.mismatch(symbol, sides, n_errors);
        };
        let scalar = ty.scalar().expect("vectors have one");
        Operand::Node(self.node(NodeKind::Dot(a, b), scalar, spans.0.to(spans.1)))
    }

    /// `[0] * 16`: a list with repeated items.
    fn repeat_list(&mut self, left: &Operand, right: &Operand, spans: (Span, Span)) -> Option<Operand> {
        let (place, count) = match (left, right) {
            (Operand::Place(place), count) | (count, Operand::Place(place)) => (place.clone(), count),
            _ => return None,
        };
        let Type::Array(array) = &place.ty else { return None };
        let span = spans.0.to(spans.1);
        if self.shared_id(&place).is_some() {
            return Some(self.fail(errors::shared_repeated(self.at(span))));
        }
        let count = match count {
            Operand::Literal(Literal::Int(count)) => Some(*count),
            Operand::Node(node) => self.f.func.constant(*node).and_then(Constant::as_int),
            _ => None,
        };
        let Some(count) = count else { return Some(self.fail(errors::list_repeat(self.at(span)))) };
        let total = count.saturating_mul(i128::from(array.len));
        if !(1..=MAX_ARRAY_LEN.into()).contains(&total) {
            return Some(self.fail(errors::list_repeated(self.at(span), total, MAX_ARRAY_LEN)));
        }
        let element = |at| place.part(Step::Part(at), array.element.clone());
        let elements: Vec<NodeId> = (0..array.len).map(|at| self.load_whole(&element(at), span)).collect();
        let parts = (0..total as usize).map(|at| elements[at % elements.len()]).collect();
        let list = self.array_local(parts, array.element.clone(), span);
        // Each matrix of the list is a separate one, like numbers.
        let of_matrices = self.is_coop_type(&array.element);
        match array.element {
            Type::Array(_) if total > i128::from(array.len) && !of_matrices => {
                self.record_copied(&list, span, Copied::OfOneRow)
            }
            Type::Array(_) => self.record_copied(&list, span, Copied::OfShared(vec![place])),
            _ => {}
        }
        Some(list)
    }

    pub fn unary(&mut self, op: AstUnaryOp, operand: &Operand, span: Span, operand_span: Span) -> Operand {
        if let Some(result) = self.struct_unary(op, operand, span) {
            return result;
        }
        match (op, operand) {
            (_, Operand::Error) => Operand::Error,
            (AstUnaryOp::Minus | AstUnaryOp::Plus | AstUnaryOp::Invert, Operand::Literal(literal))
                if let Some(folded) = folded_unary(op, *literal) =>
            {
                Operand::Literal(folded)
            }
            (AstUnaryOp::Minus, Operand::Literal(Literal::Int(_))) => {
                self.fail(errors::int_too_large(self.at(span)))
            }
            (AstUnaryOp::Not, operand) => match self.condition_of(operand, operand_span) {
                crate::infer::control::stmts::Condition::Known(value) => self.bool_constant(!value, span),
                crate::infer::control::stmts::Condition::Node(node) => {
                    Operand::Node(self.node(NodeKind::Unary(UnaryOp::Not, node), Type::BOOL, span))
                }
                crate::infer::control::stmts::Condition::Error
                | crate::infer::control::stmts::Condition::Unknown => Operand::Error,
            },
            (AstUnaryOp::Minus | AstUnaryOp::Plus, operand) if self.is_of_bools(operand) => {
                let number = self.bool_as_int(operand, operand_span);
                self.unary(op, &number, span, operand_span)
            }
            (op, Operand::Node(node)) => {
                let result = self.unary_node(op, *node, span);
                self.note_unary(&result, op, *node);
                result
            }
            (AstUnaryOp::Minus, operand) if self.is_coop(operand) => self.coop_negated(operand, span),
            (op, operand) => {
                let what = self.describe(operand);
                self.fail(errors::unary_type(self.at(span), op.symbol(), &what))
            }
        }
    }

    fn unary_node(&mut self, op: AstUnaryOp, node: NodeId, span: Span) -> Operand {
        let ty = self.ty(node).clone();
        if ty.is_matrix() && matches!(op, AstUnaryOp::Plus | AstUnaryOp::Minus) {
            let columns = self.columns(node, span);
            let columns = columns.into_iter().map(|column| match self.unary_node(op, column, span) {
                Operand::Node(column) => column,
                _ => column,
            });
            let columns = columns.collect();
            return Operand::Node(self.node(NodeKind::Construct(columns), ty, span));
        }
        let kind = ty.scalar().map(Scalar::kind);
        let unary = match (op, kind) {
            (AstUnaryOp::Plus, Some(Kind::Signed | Kind::Unsigned | Kind::Float)) => {
                return Operand::Node(node);
            }
            (AstUnaryOp::Minus, Some(Kind::Signed | Kind::Unsigned | Kind::Float)) => UnaryOp::Negate,
            (AstUnaryOp::Invert, Some(Kind::Signed | Kind::Unsigned)) => UnaryOp::Invert,
            // Of a vector of bools. For a single bool it is `not`.
            (AstUnaryOp::Invert, Some(Kind::Bool)) if ty.is_vector() => UnaryOp::Not,
            _ => {
                let what = Found::Value(ty);
                return self.fail(errors::unary_type(self.at(span), op.symbol(), &what));
            }
        };
        Operand::Node(self.node(NodeKind::Unary(unary, node), ty, span))
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv | BinaryOp::PlainDiv => "//",
        BinaryOp::FloorMod | BinaryOp::PlainMod => "%",
        BinaryOp::TruncDiv => "tdiv",
        BinaryOp::TruncRem => "trem",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
    }
}

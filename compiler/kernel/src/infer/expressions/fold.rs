//! Constant folding: arithmetic of literals, by Python's rules.

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp as AstBinaryOp, UnaryOp as AstUnaryOp};

use super::operand::Operand;
use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;

impl Ctx<'_> {
    /// Folds two constant ints of one type: `2 * N` sizes shared memory as `N` does. An overflow is left to run
    /// time, where it wraps.
    pub fn fold_constants(
        &mut self,
        op: AstBinaryOp,
        left: &Operand,
        right: &Operand,
        span: Span,
    ) -> Option<Operand> {
        let (a, b) = (self.known_int(left)?, self.known_int(right)?);
        let scalar = match (left, right) {
            (Operand::Node(a), Operand::Node(b)) if self.ty(*a) == self.ty(*b) => self.ty(*a).scalar()?,
            (Operand::Node(node), Operand::Literal(literal))
            | (Operand::Literal(literal), Operand::Node(node)) => {
                self.ty(*node).scalar().filter(|scalar| literal.fit(*scalar).is_some())?
            }
            _ => return None,
        };
        let is_shift = matches!(op, AstBinaryOp::LeftShift | AstBinaryOp::RightShift);
        let is_float = matches!(op, AstBinaryOp::Div | AstBinaryOp::Pow | AstBinaryOp::MatMul);
        if is_float || is_shift && !(0..i128::from(scalar.bits())).contains(&b) {
            return None;
        }
        let literal = fold_ints(op, a, b).ok()?;
        Some(Operand::Node(self.constant(literal.fit(scalar)?, span)))
    }

    /// Folds two literals. The result is a literal.
    pub fn fold(&mut self, op: AstBinaryOp, a: Literal, b: Literal, spans: (Span, Span)) -> Operand {
        let span = spans.0.to(spans.1);
        match fold_literals(op, a, b) {
            Ok(literal) => Operand::Literal(literal),
            Err(Failure::DivisionByZero) => self.fail(errors::constant_division_by_zero(self.at(span))),
            Err(Failure::TooLarge) => self.fail(errors::int_too_large(self.at(span))),
            Err(Failure::NegativeShift(amount)) => {
                self.fail(errors::negative_shift(self.at(spans.1), amount, op.symbol()))
            }
            Err(Failure::NoSuchOperator) => {
                let [what_a, what_b] = [a, b].map(|literal| self.describe(&Operand::Literal(literal)));
                let (left, right) = ((self.at(spans.0), &what_a), (self.at(spans.1), &what_b));
                let between = Span { start: spans.0.end, end: spans.1.start };
                self.fail(errors::operand_types(self.at(between), op.symbol(), left, right, None))
            }
        }
    }
}

/// The result of an operator for two literals. `None` if that is a mistake.
pub(in crate::infer) fn folded(op: AstBinaryOp, a: Literal, b: Literal) -> Option<Literal> {
    fold_literals(op, a, b).ok()
}

/// The result of `-` or `~` for a literal. `None` if that is a mistake.
pub(in crate::infer) fn folded_unary(op: AstUnaryOp, of: Literal) -> Option<Literal> {
    match (op, of) {
        (AstUnaryOp::Minus, Literal::Int(value)) => value.checked_neg().map(Literal::Int),
        (AstUnaryOp::Minus, Literal::Float(value)) => Some(Literal::Float(-value)),
        (AstUnaryOp::Invert, Literal::Int(value)) => Some(Literal::Int(!value)),
        (AstUnaryOp::Plus, literal) => Some(literal),
        _ => None,
    }
}

enum Failure {
    DivisionByZero,
    TooLarge,
    NegativeShift(i128),
    NoSuchOperator,
}

fn fold_literals(op: AstBinaryOp, a: Literal, b: Literal) -> Result<Literal, Failure> {
    match (a, b) {
        (Literal::Int(a), Literal::Int(b)) => fold_ints(op, a, b),
        (a, b) => fold_floats(op, a.to_f64(), b.to_f64()),
    }
}

fn fold_ints(op: AstBinaryOp, a: i128, b: i128) -> Result<Literal, Failure> {
    let folded = match op {
        AstBinaryOp::Add => a.checked_add(b),
        AstBinaryOp::Sub => a.checked_sub(b),
        AstBinaryOp::Mul => a.checked_mul(b),
        AstBinaryOp::Div | AstBinaryOp::FloorDiv | AstBinaryOp::Mod if b == 0 => {
            return Err(Failure::DivisionByZero);
        }
        AstBinaryOp::Div => return Ok(Literal::Float(a as f64 / b as f64)),
        AstBinaryOp::FloorDiv => {
            a.checked_div(b).map(|q| if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
        }
        AstBinaryOp::Mod => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        AstBinaryOp::Pow if b < 0 => return fold_floats(op, a as f64, b as f64),
        AstBinaryOp::Pow => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        AstBinaryOp::LeftShift | AstBinaryOp::RightShift if b < 0 => return Err(Failure::NegativeShift(b)),
        AstBinaryOp::LeftShift => {
            u32::try_from(b).ok().filter(|b| *b < 127).and_then(|b| a.checked_mul(1i128 << b))
        }
        AstBinaryOp::RightShift => Some(a >> b.min(127)),
        AstBinaryOp::BitAnd => Some(a & b),
        AstBinaryOp::BitOr => Some(a | b),
        AstBinaryOp::BitXor => Some(a ^ b),
        AstBinaryOp::MatMul => return Err(Failure::NoSuchOperator),
    };
    folded.map(Literal::Int).ok_or(Failure::TooLarge)
}

fn fold_floats(op: AstBinaryOp, a: f64, b: f64) -> Result<Literal, Failure> {
    Ok(Literal::Float(match op {
        AstBinaryOp::Add => a + b,
        AstBinaryOp::Sub => a - b,
        AstBinaryOp::Mul => a * b,
        AstBinaryOp::Div | AstBinaryOp::FloorDiv | AstBinaryOp::Mod if b == 0.0 => {
            return Err(Failure::DivisionByZero);
        }
        AstBinaryOp::Div => a / b,
        AstBinaryOp::FloorDiv => ((a - floor_mod(a, b)) / b).round_ties_even(),
        AstBinaryOp::Mod => floor_mod(a, b),
        AstBinaryOp::Pow if a == 0.0 && b < 0.0 => return Err(Failure::DivisionByZero),
        AstBinaryOp::Pow => power(a, b),
        _ => return Err(Failure::NoSuchOperator),
    }))
}

/// Float `%` with the sign of the divisor, also for a zero.
fn floor_mod(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    match remainder == 0.0 {
        true => remainder.copysign(b),
        false if (remainder < 0.0) != (b < 0.0) => remainder + b,
        false => remainder,
    }
}

/// Uses products if they are exact enough, so that the result does not depend on the machine's `pow`.
fn power(a: f64, b: f64) -> f64 {
    if b == b.trunc() && b.abs() <= 64.0 {
        let product = (0..b.abs() as u32).fold(1.0, |product, _| product * a);
        return if b < 0.0 { 1.0 / product } else { product };
    }
    if b == 0.5 { a.sqrt() } else { a.powf(b) }
}

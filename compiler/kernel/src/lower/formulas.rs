//! Formulas over nodes of one float type: the functions that GLSL.std.450 lacks, and plain arithmetic.

use kps_syntax::Span;

use super::Ctx;
use crate::constant::Constant;
use crate::ir::{BinaryOp, CompareOp, FloatFn, NodeId, NodeKind, UnaryOp};
use crate::types::{Scalar, Type};

/// Builds nodes of one float type.
pub(crate) struct Math<'c, 'a> {
    pub ctx: &'c mut Ctx<'a>,
    pub span: Span,
    pub ty: Type,
}

impl Math<'_, '_> {
    pub fn value(&mut self, value: f64) -> NodeId {
        let scalar = self.ty.scalar().expect("formulas are over floats");
        let node = self.ctx.constant(Constant::float(scalar, value), self.span);
        self.ctx.splat_to(node, &self.ty, self.span)
    }

    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.ctx.node(NodeKind::Binary(op, a, b), self.ty.clone(), self.span)
    }

    pub fn float(&mut self, function: FloatFn, x: NodeId) -> NodeId {
        self.ctx.node(NodeKind::Float(function, [Some(x), None, None]), self.ty.clone(), self.span)
    }

    pub fn abs(&mut self, x: NodeId) -> NodeId {
        self.ctx.node(NodeKind::Abs(x), self.ty.clone(), self.span)
    }

    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> NodeId {
        self.ctx.node(NodeKind::Compare(op, a, b), self.ty.with_scalar(Scalar::Bool), self.span)
    }

    pub fn select(&mut self, condition: NodeId, then: NodeId, orelse: NodeId) -> NodeId {
        self.ctx.node(NodeKind::Select { condition, then, orelse }, self.ty.clone(), self.span)
    }

    pub fn scaled(&mut self, x: NodeId, factor: f64) -> NodeId {
        let factor = self.value(factor);
        self.binary(BinaryOp::Mul, x, factor)
    }

    pub fn log_of_base(&mut self, x: NodeId, base: NodeId) -> NodeId {
        let [x, base] = [x, base].map(|x| self.float(FloatFn::Log2, x));
        self.binary(BinaryOp::Div, x, base)
    }

    pub fn log10(&mut self, x: NodeId) -> NodeId {
        let log2 = self.float(FloatFn::Log2, x);
        self.scaled(log2, std::f64::consts::LOG10_2)
    }

    /// A test of each component.
    pub fn test(&mut self, kind: NodeKind) -> NodeId {
        self.ctx.node(kind, self.ty.with_scalar(Scalar::Bool), self.span)
    }

    pub fn is_finite(&mut self, x: NodeId) -> NodeId {
        let (nan, inf) = (self.test(NodeKind::IsNan(x)), self.test(NodeKind::IsInf(x)));
        let either = self.test(NodeKind::Binary(BinaryOp::Or, nan, inf));
        self.test(NodeKind::Unary(UnaryOp::Not, either))
    }

    pub fn natural_log(&mut self, x: NodeId) -> NodeId {
        self.float(FloatFn::Log, x)
    }

    /// Kahan's form: the error of `1 + x` cancels in the quotient.
    pub fn log1p(&mut self, x: NodeId) -> NodeId {
        let one = self.value(1.0);
        let sum = self.binary(BinaryOp::Add, one, x);
        let is_tiny = self.compare(CompareOp::Equal, sum, one);
        let log = self.natural_log(sum);
        let step = self.binary(BinaryOp::Sub, sum, one);
        let ratio = self.binary(BinaryOp::Div, x, step);
        let product = self.binary(BinaryOp::Mul, log, ratio);
        let product = self.select(is_tiny, x, product);
        let infinity = self.value(f64::INFINITY);
        let is_infinite = self.compare(CompareOp::Equal, x, infinity);
        self.select(is_infinite, x, product)
    }

    /// Kahan's form, as for `log1p`. The quotient is near one, so no intermediate value exceeds the result.
    pub fn expm1(&mut self, x: NodeId) -> NodeId {
        let (one, minus_one) = (self.value(1.0), self.value(-1.0));
        let power = self.float(FloatFn::Exp, x);
        let is_tiny = self.compare(CompareOp::Equal, power, one);
        let step = self.binary(BinaryOp::Sub, power, one);
        let is_floor = self.compare(CompareOp::Equal, step, minus_one);
        let log = self.natural_log(power);
        let quotient = self.binary(BinaryOp::Div, x, log);
        let product = self.binary(BinaryOp::Mul, step, quotient);
        let limit = self.value(if self.ty.scalar() == Some(Scalar::F64) { 700.0 } else { 88.0 });
        let is_large = self.compare(CompareOp::Greater, x, limit);
        let inner = self.select(is_floor, minus_one, product);
        let bounded = self.select(is_large, step, inner);
        self.select(is_tiny, x, bounded)
    }

    /// GLSL.std.450 leaves the angle of two zeros undefined. Python uses their signs.
    pub fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        let (zero, one, half_turn) = (self.value(0.0), self.value(1.0), self.value(std::f64::consts::PI));
        let sign = self.copysign(one, x);
        let is_left = self.compare(CompareOp::Less, sign, zero);
        let of_zeros = self.select(is_left, half_turn, zero);
        let of_zeros = self.copysign(of_zeros, y);
        let [y_is_zero, x_is_zero] = [y, x].map(|side| self.compare(CompareOp::Equal, side, zero));
        let both = NodeKind::Binary(BinaryOp::And, y_is_zero, x_is_zero);
        let is_nothing = self.ctx.node(both, self.ty.with_scalar(Scalar::Bool), self.span);
        let args = [Some(y), Some(x), None];
        let angle = self.ctx.node(NodeKind::Float(FloatFn::Atan2, args), self.ty.clone(), self.span);
        self.select(is_nothing, of_zeros, angle)
    }

    /// Scaled by the larger side, so that no square overflows.
    pub fn hypot(&mut self, x: NodeId, y: NodeId) -> NodeId {
        let (zero, one) = (self.value(0.0), self.value(1.0));
        let (x, y) = (self.abs(x), self.abs(y));
        let is_less = self.compare(CompareOp::Less, x, y);
        let large = self.select(is_less, y, x);
        let small = self.select(is_less, x, y);
        let ratio = self.binary(BinaryOp::Div, small, large);
        let square = self.binary(BinaryOp::Mul, ratio, ratio);
        let sum = self.binary(BinaryOp::Add, one, square);
        let root = self.float(FloatFn::Sqrt, sum);
        let length = self.binary(BinaryOp::Mul, large, root);
        // It cannot be scaled: zero over zero, or infinity over infinity.
        let sides = self.binary(BinaryOp::Add, x, y);
        let is_zero = self.compare(CompareOp::Equal, sides, zero);
        let length = self.select(is_zero, zero, length);
        // Even if the other side is a NaN.
        let infinity = self.value(f64::INFINITY);
        let x_is_infinite = self.compare(CompareOp::Equal, x, infinity);
        let length = self.select(x_is_infinite, infinity, length);
        let y_is_infinite = self.compare(CompareOp::Equal, y, infinity);
        self.select(y_is_infinite, infinity, length)
    }

    /// The length of any number of sides.
    pub fn length(&mut self, sides: &[NodeId]) -> NodeId {
        let x = sides[0];
        match &sides[1..] {
            [] => self.abs(x),
            others => others.iter().fold(x, |length, side| self.hypot(length, *side)),
        }
    }

    /// `a + (b - a) * t`, as `a * (1 - t) + b * t`: exact at both ends.
    pub fn mix(&mut self, args: &[NodeId]) -> NodeId {
        let (a, b, t) = (args[0], args[1], args[2]);
        let one = self.value(1.0);
        let rest = self.binary(BinaryOp::Sub, one, t);
        let a = self.binary(BinaryOp::Mul, a, rest);
        let b = self.binary(BinaryOp::Mul, b, t);
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn step(&mut self, edge: NodeId, x: NodeId) -> NodeId {
        let (zero, one) = (self.value(0.0), self.value(1.0));
        let below = self.compare(CompareOp::Less, x, edge);
        self.select(below, zero, one)
    }

    pub fn cbrt(&mut self, x: NodeId) -> NodeId {
        let third = self.value(1.0 / 3.0);
        let size = self.abs(x);
        let log = self.float(FloatFn::Log2, size);
        let scaled = self.binary(BinaryOp::Mul, log, third);
        let guess = self.float(FloatFn::Exp2, scaled);
        // One step of Newton's method recovers the digits that the logarithm lost.
        let square = self.binary(BinaryOp::Mul, guess, guess);
        let quotient = self.binary(BinaryOp::Div, size, square);
        let twice = self.binary(BinaryOp::Add, guess, guess);
        let sum = self.binary(BinaryOp::Add, twice, quotient);
        let root = self.binary(BinaryOp::Mul, sum, third);
        let zero = self.value(0.0);
        let is_zero = self.compare(CompareOp::Equal, size, zero);
        let root = self.select(is_zero, zero, root);
        let infinity = self.value(f64::INFINITY);
        let is_infinite = self.compare(CompareOp::Equal, size, infinity);
        let root = self.select(is_infinite, size, root);
        self.copysign(root, x)
    }

    pub fn copysign(&mut self, magnitude: NodeId, sign: NodeId) -> NodeId {
        self.ctx.node(NodeKind::CopySign { magnitude, sign }, self.ty.clone(), self.span)
    }

    pub fn negated_if(&mut self, condition: NodeId, x: NodeId) -> NodeId {
        let negated = self.ctx.node(NodeKind::Unary(UnaryOp::Negate, x), self.ty.clone(), self.span);
        self.select(condition, negated, x)
    }

    /// Whether the sign bit is set, also for zeros and NaNs.
    pub fn has_sign(&mut self, x: NodeId) -> NodeId {
        let (bits, top) = self.sign_bit();
        let x = self.ctx.node(NodeKind::Bitcast(x), bits, self.span);
        self.compare(CompareOp::GreaterEqual, x, top)
    }

    /// The type of the bits, and the sign bit.
    fn sign_bit(&mut self) -> (Type, NodeId) {
        let scalar = self.ty.scalar().expect("formulas are over floats").as_unsigned();
        let bits = self.ty.with_scalar(scalar);
        let top = self.ctx.constant(Constant::int(scalar, 1i128 << (scalar.bits() - 1)), self.span);
        (bits.clone(), self.ctx.splat_to(top, &bits, self.span))
    }

    /// Hermite interpolation between two thresholds, constant outside.
    pub fn smooth_step(&mut self, nodes: &[NodeId]) -> NodeId {
        let (low, high, x) = (nodes[0], nodes[1], nodes[2]);
        let (zero, one) = (self.value(0.0), self.value(1.0));
        let (two, three) = (self.value(2.0), self.value(3.0));
        let over = self.binary(BinaryOp::Sub, x, low);
        let width = self.binary(BinaryOp::Sub, high, low);
        let t = self.binary(BinaryOp::Div, over, width);
        let below = self.compare(CompareOp::Less, t, zero);
        let t = self.select(below, zero, t);
        let above = self.compare(CompareOp::Greater, t, one);
        let t = self.select(above, one, t);
        let twice = self.binary(BinaryOp::Mul, two, t);
        let rest = self.binary(BinaryOp::Sub, three, twice);
        let square = self.binary(BinaryOp::Mul, t, t);
        self.binary(BinaryOp::Mul, square, rest)
    }
}

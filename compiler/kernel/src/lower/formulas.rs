//! Formulas: the functions of floats that GLSL.std.450 lacks, as operations on one type, f32 or f64, and selections of
//! numbers of any type.

use crate::constant::Constant;
use crate::ir::build::Builder;
use crate::ir::{BinaryOp, CompareOp, FloatFn, FormulaFn, NodeId, NodeKind, UnaryOp};
use crate::types::{Scalar, Type};

/// Builds nodes of one type.
pub(super) struct Math<'b, 'f> {
    builder: &'b mut Builder<'f>,
    ty: Type,
}

impl<'b, 'f> Math<'b, 'f> {
    /// Of the type of this number.
    pub fn of(builder: &'b mut Builder<'f>, x: NodeId) -> Math<'b, 'f> {
        let ty = builder.ty(x);
        Math { builder, ty }
    }

    pub fn formula(&mut self, function: FormulaFn, args: &[NodeId]) -> NodeId {
        let x = args[0];
        match function {
            FormulaFn::Remainder => self.binary(BinaryOp::TruncRem, x, args[1]),
            FormulaFn::CopySign => self.copysign(x, args[1]),
            FormulaFn::IsNan => self.test(NodeKind::IsNan(x)),
            FormulaFn::IsInf => self.test(NodeKind::IsInf(x)),
            FormulaFn::IsFinite => self.is_finite(x),
            FormulaFn::LogOfBase => self.log_of_base(x, args[1]),
            FormulaFn::Log10 => self.log10(x),
            FormulaFn::Log1p => self.log1p(x),
            FormulaFn::Expm1 => self.expm1(x),
            FormulaFn::Cbrt => self.cbrt(x),
            FormulaFn::Atan2 => self.atan2(x, args[1]),
            FormulaFn::Length => self.length(args),
            FormulaFn::Mix => self.mix(args),
            FormulaFn::Step => self.step(x, args[1]),
            FormulaFn::SmoothStep => self.smooth_step(args),
            FormulaFn::Degrees => self.scaled(x, 180.0 / std::f64::consts::PI),
            FormulaFn::Min => self.chosen(CompareOp::Less, x, args[1]),
            FormulaFn::Max => self.chosen(CompareOp::Greater, x, args[1]),
            FormulaFn::Clamp => self.clamp(args),
            FormulaFn::Radians => self.scaled(x, std::f64::consts::PI / 180.0),
        }
    }

    fn value(&mut self, value: f64) -> NodeId {
        let ty = self.ty.clone();
        self.builder.float(&ty, value)
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.builder.node(NodeKind::Binary(op, a, b), self.ty.clone())
    }

    fn float(&mut self, function: FloatFn, x: NodeId) -> NodeId {
        self.builder.node(NodeKind::Float(function, [Some(x), None, None]), self.ty.clone())
    }

    fn abs(&mut self, x: NodeId) -> NodeId {
        self.builder.node(NodeKind::Abs(x), self.ty.clone())
    }

    fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> NodeId {
        self.builder.node(NodeKind::Compare(op, a, b), self.ty.with_scalar(Scalar::Bool))
    }

    fn select(&mut self, condition: NodeId, then: NodeId, orelse: NodeId) -> NodeId {
        self.builder.node(NodeKind::Select { condition, then, orelse }, self.ty.clone())
    }

    fn scaled(&mut self, x: NodeId, factor: f64) -> NodeId {
        let factor = self.value(factor);
        self.binary(BinaryOp::Mul, x, factor)
    }

    fn log_of_base(&mut self, x: NodeId, base: NodeId) -> NodeId {
        let [x, base] = [x, base].map(|x| self.float(FloatFn::Log2, x));
        self.binary(BinaryOp::Div, x, base)
    }

    fn log10(&mut self, x: NodeId) -> NodeId {
        let log2 = self.float(FloatFn::Log2, x);
        self.scaled(log2, std::f64::consts::LOG10_2)
    }

    /// A test of each component.
    fn test(&mut self, kind: NodeKind) -> NodeId {
        self.builder.node(kind, self.ty.with_scalar(Scalar::Bool))
    }

    fn is_finite(&mut self, x: NodeId) -> NodeId {
        let (nan, inf) = (self.test(NodeKind::IsNan(x)), self.test(NodeKind::IsInf(x)));
        let either = self.test(NodeKind::Binary(BinaryOp::Or, nan, inf));
        self.test(NodeKind::Unary(UnaryOp::Not, either))
    }

    fn natural_log(&mut self, x: NodeId) -> NodeId {
        self.float(FloatFn::Log, x)
    }

    /// Kahan's form: the error of `1 + x` cancels in the quotient.
    fn log1p(&mut self, x: NodeId) -> NodeId {
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
    fn expm1(&mut self, x: NodeId) -> NodeId {
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
    fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        let (zero, one, half_turn) = (self.value(0.0), self.value(1.0), self.value(std::f64::consts::PI));
        let sign = self.copysign(one, x);
        let is_left = self.compare(CompareOp::Less, sign, zero);
        let of_zeros = self.select(is_left, half_turn, zero);
        let of_zeros = self.copysign(of_zeros, y);
        let [y_is_zero, x_is_zero] = [y, x].map(|side| self.compare(CompareOp::Equal, side, zero));
        let both = NodeKind::Binary(BinaryOp::And, y_is_zero, x_is_zero);
        let is_nothing = self.builder.node(both, self.ty.with_scalar(Scalar::Bool));
        let args = [Some(y), Some(x), None];
        let angle = self.builder.node(NodeKind::Float(FloatFn::Atan2, args), self.ty.clone());
        self.select(is_nothing, of_zeros, angle)
    }

    /// Scaled by the larger side, so that no square overflows.
    fn hypot(&mut self, x: NodeId, y: NodeId) -> NodeId {
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
    fn length(&mut self, sides: &[NodeId]) -> NodeId {
        let x = sides[0];
        match &sides[1..] {
            [] => self.abs(x),
            others => others.iter().fold(x, |length, side| self.hypot(length, *side)),
        }
    }

    /// `a + (b - a) * t`, as `a * (1 - t) + b * t`: exact at both ends.
    fn mix(&mut self, args: &[NodeId]) -> NodeId {
        let (a, b, t) = (args[0], args[1], args[2]);
        let one = self.value(1.0);
        let rest = self.binary(BinaryOp::Sub, one, t);
        let a = self.binary(BinaryOp::Mul, a, rest);
        let b = self.binary(BinaryOp::Mul, b, t);
        self.binary(BinaryOp::Add, a, b)
    }

    /// `b if b < a else a`, for NaNs too.
    fn chosen(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> NodeId {
        let condition = self.compare(op, b, a);
        self.select(condition, b, a)
    }

    fn clamp(&mut self, args: &[NodeId]) -> NodeId {
        let (x, low, high) = (args[0], args[1], args[2]);
        let raised = self.chosen(CompareOp::Greater, x, low);
        self.chosen(CompareOp::Less, raised, high)
    }

    fn step(&mut self, edge: NodeId, x: NodeId) -> NodeId {
        let (zero, one) = (self.value(0.0), self.value(1.0));
        let below = self.compare(CompareOp::Less, x, edge);
        self.select(below, zero, one)
    }

    fn cbrt(&mut self, x: NodeId) -> NodeId {
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

    fn copysign(&mut self, magnitude: NodeId, sign: NodeId) -> NodeId {
        self.builder.node(NodeKind::CopySign { magnitude, sign }, self.ty.clone())
    }

    fn negated_if(&mut self, condition: NodeId, x: NodeId) -> NodeId {
        let negated = self.builder.node(NodeKind::Unary(UnaryOp::Negate, x), self.ty.clone());
        self.select(condition, negated, x)
    }

    /// Whether the sign bit is set, also for zeros and NaNs.
    fn has_sign(&mut self, x: NodeId) -> NodeId {
        let (bits, top) = self.sign_bit();
        let x = self.builder.node(NodeKind::Bitcast(x), bits);
        self.compare(CompareOp::GreaterEqual, x, top)
    }

    /// The type of the bits, and the sign bit.
    fn sign_bit(&mut self) -> (Type, NodeId) {
        let scalar = self.ty.scalar().expect("formulas are over floats").as_unsigned();
        let bits = self.ty.with_scalar(scalar);
        let top = self.builder.constant(Constant::int(scalar, 1i128 << (scalar.bits() - 1)));
        (bits.clone(), self.builder.splat(top, &bits))
    }

    /// Hermite interpolation between two thresholds, constant outside.
    fn smooth_step(&mut self, nodes: &[NodeId]) -> NodeId {
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

    /// `x ** 0.5`: the square root, except for `-0.0` and minus infinity, where Python's result is positive.
    pub fn half_power(&mut self, x: NodeId) -> NodeId {
        let (zero, infinity) = (self.value(0.0), self.value(f64::INFINITY));
        let root = self.float(FloatFn::Sqrt, x);
        let is_zero = self.compare(CompareOp::Equal, x, zero);
        let root = self.select(is_zero, zero, root);
        let size = self.abs(x);
        let is_infinite = self.compare(CompareOp::Equal, size, infinity);
        self.select(is_infinite, infinity, root)
    }

    /// GLSL.std.450's `Pow` is undefined for a negative base and for 0 to the power of 0. So the magnitude is
    /// computed from that of the base, and the sign by Python's rules. A negative base with a fractional
    /// exponent is NaN, unless it is infinite.
    /// `size_and_power` are the magnitude of the base and its power, where they are known.
    pub fn power(&mut self, base: NodeId, exponent: NodeId, size_and_power: Option<[NodeId; 2]>) -> NodeId {
        let (zero, one, half) = (self.value(0.0), self.value(1.0), self.value(0.5));
        let infinity = self.value(f64::INFINITY);
        let [size, power] = size_and_power.unwrap_or_else(|| {
            let size = self.abs(base);
            [size, self.power_of_size(size, exponent)]
        });
        // The sign: an odd integer exponent keeps the sign of the base, also that of a zero.
        let floor = self.float(FloatFn::Floor, exponent);
        let is_whole = self.compare(CompareOp::Equal, floor, exponent);
        let halved = self.binary(BinaryOp::Mul, exponent, half);
        let half_floor = self.float(FloatFn::Floor, halved);
        let is_odd = self.compare(CompareOp::NotEqual, half_floor, halved);
        let is_odd_whole = self.both(BinaryOp::And, is_odd, is_whole);
        let has_sign = self.has_sign(base);
        let is_signed = self.both(BinaryOp::And, is_odd_whole, has_sign);
        let power = self.negated_if(is_signed, power);
        let nan = self.value(f64::NAN);
        let is_infinite = self.compare(CompareOp::Equal, size, infinity);
        let is_real = self.both(BinaryOp::Or, is_whole, is_infinite);
        let of_negative = self.select(is_real, power, nan);
        let is_negative = self.compare(CompareOp::Less, base, zero);
        let result = self.select(is_negative, of_negative, power);
        // Anything to the power of 0 is 1, and so is 1 to the power of anything.
        let no_exponent = self.compare(CompareOp::Equal, exponent, zero);
        let is_one = self.compare(CompareOp::Equal, base, one);
        let either = self.both(BinaryOp::Or, no_exponent, is_one);
        self.select(either, one, result)
    }

    /// Of an f32: for a base that is not negative, and an exponent that is not 0.
    fn power_of_size(&mut self, size: NodeId, exponent: NodeId) -> NodeId {
        let args = [Some(size), Some(exponent), None];
        let power = self.builder.node(NodeKind::Float(FloatFn::Pow, args), self.ty.clone());
        let (zero, infinity) = (self.value(0.0), self.value(f64::INFINITY));
        let is_zero = self.compare(CompareOp::Equal, size, zero);
        let is_below = self.compare(CompareOp::Less, exponent, zero);
        let is_above = self.compare(CompareOp::Greater, exponent, zero);
        let zero_or_nan = self.select(is_above, zero, exponent);
        let of_zero = self.select(is_below, infinity, zero_or_nan);
        self.select(is_zero, of_zero, power)
    }

    fn both(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        let bools = self.ty.with_scalar(Scalar::Bool);
        self.builder.node(NodeKind::Binary(op, a, b), bools)
    }
}

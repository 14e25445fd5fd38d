//! Powers whose exponent is known only at run time.

use kps_syntax::Span;

use super::formulas::Math;
use super::{Ctx, EnvRef, FunctionState};
use crate::constant::Constant;
use crate::ir::{Arg, BinaryOp, CallArg, CompareOp, FloatFn, FunctionId, Loop, NodeId, NodeKind, Stmt};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn any_power(&mut self, base: NodeId, exponent: NodeId, ty: &Type, span: Span) -> NodeId {
        let scalar = ty.scalar().expect("powers are of numbers");
        if matches!(scalar, Scalar::F16 | Scalar::Bf16) {
            let wide = ty.with_scalar(Scalar::F32);
            let (base, exponent) =
                (self.convert(base, Scalar::F32, span), self.convert(exponent, Scalar::F32, span));
            let power = self.any_power(base, exponent, &wide, span);
            return self.convert(power, scalar, span);
        }
        if scalar.is_float() {
            return self.math(span, ty).power(base, exponent);
        }
        let function = self.int_power(scalar, span);
        let call = |ctx: &mut Self, base, exponent| {
            let args = vec![CallArg::Value(base), CallArg::Value(exponent)];
            ctx.node(NodeKind::Call { function, args }, scalar, span)
        };
        if !ty.is_vector() {
            return call(self, base, exponent);
        }
        let parts = (0..u32::from(ty.n_components())).map(|at| {
            let base = self.node(NodeKind::Extract(base, at), scalar, span);
            let exponent = self.node(NodeKind::Extract(exponent, at), scalar, span);
            call(self, base, exponent)
        });
        let parts = parts.collect();
        self.node(NodeKind::Construct(parts), ty.clone(), span)
    }

    /// A helper function: repeated squaring, and 0 for a negative exponent. It is made once for each type.
    fn int_power(&mut self, scalar: Scalar, span: Span) -> FunctionId {
        if let Some((_, function)) = self.int_powers.iter().find(|(known, _)| *known == scalar) {
            return *function;
        }
        let env: EnvRef = self.f.env.clone();
        let called_for = self.f.func.called_for.clone().unwrap_or_else(|| self.at(span));
        let mut state = FunctionState::bare(&format!("kps.pow.{scalar}"), &self.f.source, env, span);
        state.func.is_operator = self.f.func.called_for.is_none();
        state.func.called_for = Some(called_for);
        let outer = std::mem::replace(&mut self.f, state);
        self.int_power_body(scalar, span);
        let mut inner = std::mem::replace(&mut self.f, outer);
        inner.func.body = inner.block;
        let id = self.functions.add(inner.func);
        self.int_powers.push((scalar, id));
        id
    }

    fn int_power_body(&mut self, scalar: Scalar, span: Span) {
        let ty = Type::from(scalar);
        self.f.func.result = ty.clone();
        for (at, name) in ["base", "exponent"].into_iter().enumerate() {
            self.f.func.args.push(Arg::Value { name: name.into(), ty: ty.clone() });
            let local = self.new_local(name, ty.clone(), span);
            let value = self.node(NodeKind::Arg(at as u32), ty.clone(), span);
            self.f.block.push(Stmt::Store { local, value, span });
        }
        let (base, exponent) = (crate::ir::LocalId(0), crate::ir::LocalId(1));
        let product = self.new_local("product", ty.clone(), span);
        let zero = self.constant(Constant::zero(scalar), span);
        let one = self.constant(Constant::int(scalar, 1), span);
        let given = self.node(NodeKind::Load(exponent), ty.clone(), span);
        // 1 unless the exponent is negative. If the start is 0, every product stays 0.
        let is_negative = self.node(NodeKind::Compare(CompareOp::Less, given, zero), Type::BOOL, span);
        let first =
            self.node(NodeKind::Select { condition: is_negative, then: zero, orelse: one }, ty.clone(), span);
        self.f.block.push(Stmt::Store { local: product, value: first, span });
        let (test, condition) = self.sub_block(|ctx| {
            let left = ctx.node(NodeKind::Load(exponent), ty.clone(), span);
            ctx.node(NodeKind::Compare(CompareOp::Greater, left, zero), Type::BOOL, span)
        });
        let (body, ()) = self.sub_block(|ctx| {
            let left = ctx.node(NodeKind::Load(exponent), ty.clone(), span);
            let square = ctx.node(NodeKind::Load(base), ty.clone(), span);
            let so_far = ctx.node(NodeKind::Load(product), ty.clone(), span);
            let mut binary = |op, a, b| ctx.node(NodeKind::Binary(op, a, b), ty.clone(), span);
            let last_bit = binary(BinaryOp::And, left, one);
            let multiplied = binary(BinaryOp::Mul, so_far, square);
            let rest = binary(BinaryOp::ShiftRight, left, one);
            // The last square is unused, and must not overflow.
            let goes_on = ctx.node(NodeKind::Compare(CompareOp::Greater, rest, zero), Type::BOOL, span);
            let factor = NodeKind::Select { condition: goes_on, then: square, orelse: zero };
            let factor = ctx.node(factor, ty.clone(), span);
            let squared = ctx.node(NodeKind::Binary(BinaryOp::Mul, square, factor), ty.clone(), span);
            let is_odd = ctx.node(NodeKind::Compare(CompareOp::NotEqual, last_bit, zero), Type::BOOL, span);
            let next = NodeKind::Select { condition: is_odd, then: multiplied, orelse: so_far };
            let next = ctx.node(next, ty.clone(), span);
            for (local, value) in [(product, next), (base, squared), (exponent, rest)] {
                ctx.f.block.push(Stmt::Store { local, value, span });
            }
        });
        let parts = Loop { test, condition: Some(condition), body, step: Vec::new(), span };
        self.f.block.push(Stmt::Loop(Box::new(parts)));
        let result = self.node(NodeKind::Load(product), ty, span);
        self.f.block.push(Stmt::Return(Some(result), span));
    }
}

impl Math<'_, '_> {
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
    fn power(&mut self, base: NodeId, exponent: NodeId) -> NodeId {
        let (zero, one, half) = (self.value(0.0), self.value(1.0), self.value(0.5));
        let infinity = self.value(f64::INFINITY);
        let size = self.abs(base);
        let power = self.power_of_size(size, exponent);
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

    /// For a base that is not negative, and an exponent that is not 0.
    fn power_of_size(&mut self, size: NodeId, exponent: NodeId) -> NodeId {
        let (ty, span) = (self.ty.clone(), self.span);
        if ty.scalar() == Some(Scalar::F64) {
            return self.ctx.call_library("pow", &[size, exponent], &ty, span).unwrap_or(size);
        }
        let args = [Some(size), Some(exponent), None];
        let power = self.ctx.node(NodeKind::Float(FloatFn::Pow, args), ty, span);
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
        self.ctx.node(NodeKind::Binary(op, a, b), bools, self.span)
    }
}

//! Powers whose exponent is known only at run time.

use kps_syntax::Span;

use super::{Ctx, EnvRef, FunctionState};
use crate::constant::Constant;
use crate::ir::{Arg, BinaryOp, CallArg, CompareOp, FormulaFn, FunctionId, Loop, NodeId, NodeKind, Stmt};
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
            return self.float_power(base, exponent, ty, span);
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

    /// The library has the power of a magnitude for f64.
    fn float_power(&mut self, base: NodeId, exponent: NodeId, ty: &Type, span: Span) -> NodeId {
        if ty.scalar() != Some(Scalar::F64) {
            return self.node(NodeKind::Formula(FormulaFn::Power, vec![base, exponent]), ty.clone(), span);
        }
        let size = self.node(NodeKind::Abs(base), ty.clone(), span);
        let power = self.call_library("pow", &[size, exponent], ty, span).unwrap_or(size);
        let kind = NodeKind::Formula(FormulaFn::PowerOfMagnitude, vec![base, exponent, size, power]);
        self.node(kind, ty.clone(), span)
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

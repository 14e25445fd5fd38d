//! Powers, `base ** exponent`: products where the exponent is a small constant, else repeated squaring for ints and a
//! formula for floats.
//!
//! The sign of a power of floats follows Python's rules, and an int to a negative power is 0.

use super::Lowering;
use super::formulas::Math;
use super::functions::call_for_each;
use crate::constant::Constant;
use crate::ir::build::Builder;
use crate::ir::{
    Arg, BinaryOp, Block, CompareOp, Function, FunctionId, Home, Local, LocalId, Loop, NodeId, NodeKind,
    Origin, SimpleExponent, Stmt,
};
use crate::types::{Scalar, Type};

impl Lowering<'_> {
    /// Computes a power. Gives its last operation, or `None` after a mistake.
    pub(super) fn power(&mut self, builder: &mut Builder, base: NodeId, exponent: NodeId) -> Option<NodeId> {
        let ty = builder.ty(base);
        let scalar = ty.scalar().expect("powers are of numbers");
        let simple = SimpleExponent::of(builder.function, scalar, exponent);
        let wide = if scalar.is_float() { scalar.at_least_f32() } else { scalar };
        let base = builder.convert(base, wide);
        let power = match simple {
            Some(SimpleExponent::Whole(exponent)) => whole_power(builder, base, exponent),
            Some(SimpleExponent::Half) => Math::of(builder, base).half_power(base),
            None => {
                let exponent = builder.convert(exponent, wide);
                let exponent = builder.splat_to(exponent, &ty.with_scalar(wide));
                match wide.is_float() {
                    true => self.float_power(builder, base, exponent)?,
                    false => self.int_power(builder, base, exponent),
                }
            }
        };
        Some(builder.convert(power, scalar))
    }

    /// The library has the power of a magnitude for f64.
    fn float_power(&mut self, builder: &mut Builder, base: NodeId, exponent: NodeId) -> Option<NodeId> {
        let ty = builder.ty(base);
        if ty.scalar() != Some(Scalar::F64) {
            return Some(Math::of(builder, base).power(base, exponent, None));
        }
        let size = builder.node(NodeKind::Abs(base), ty.clone());
        let power = self.call_library(builder, ("pow", None), &[size, exponent], &ty)?;
        Some(Math::of(builder, base).power(base, exponent, Some([size, power])))
    }

    fn int_power(&mut self, builder: &mut Builder, base: NodeId, exponent: NodeId) -> NodeId {
        let ty = builder.ty(base);
        let function = self.int_power_function(builder, ty.scalar().expect("powers are of numbers"));
        call_for_each(builder, function, &[base, exponent], &ty)
    }

    /// The function for ints of this type, which is made once.
    fn int_power_function(&mut self, builder: &Builder, scalar: Scalar) -> FunctionId {
        if let Some((_, function)) = self.int_powers.iter().find(|(known, _)| *known == scalar) {
            return *function;
        }
        let caller = &*builder.function;
        let mut function =
            Function::new(format!("kps.pow.{scalar}").into(), caller.source.clone(), builder.span);
        function.is_operator = caller.called_for.is_none();
        function.called_for =
            Some(caller.called_for.clone().unwrap_or_else(|| caller.source.at(builder.span)));
        define_int_power(&mut function, scalar);
        let id = self.library.add(function);
        self.int_powers.push((scalar, id));
        id
    }
}

/// By repeated squaring. The exponent is at least 1.
fn whole_power(builder: &mut Builder, base: NodeId, exponent: i128) -> NodeId {
    let (mut product, mut square) = (None, base);
    let mut left = exponent.unsigned_abs();
    while left > 0 {
        if left & 1 == 1 {
            product = Some(match product {
                None => square,
                Some(product) => builder.binary(BinaryOp::Mul, product, square),
            });
        }
        left >>= 1;
        if left > 0 {
            square = builder.binary(BinaryOp::Mul, square, square);
        }
    }
    let product = product.expect("the exponent is not 0");
    if exponent > 0 {
        return product;
    }
    let one = builder.float(&builder.ty(base), 1.0);
    builder.binary(BinaryOp::Div, one, product)
}

/// By repeated squaring, and 0 for a negative exponent.
fn define_int_power(function: &mut Function, scalar: Scalar) {
    let ty = Type::from(scalar);
    let span = function.span;
    let mut local = |name: &str| {
        function.locals.push(Local { name: name.into(), ty: ty.clone(), span, home: Home::Own });
        LocalId(function.locals.len() as u32 - 1)
    };
    let [base, exponent, product] = ["base", "exponent", "product"].map(&mut local);
    function.result = ty.clone();
    let mut body = Block::new();
    for (local, at) in [base, exponent].into_iter().zip(0..) {
        let name = function.local(local).name.clone();
        function.args.push(Arg::Value { name, ty: ty.clone() });
        let mut start = steps(function, &mut body);
        let value = start.node(NodeKind::Arg(at), scalar);
        start.stmt(Stmt::Store { local, value, span });
    }
    let mut start = steps(function, &mut body);
    let (zero, one) = (start.constant(Constant::zero(scalar)), start.constant(Constant::int(scalar, 1)));
    // 1 unless the exponent is negative. If the start is 0, every product stays 0.
    let given = start.node(NodeKind::Load(exponent), scalar);
    let is_negative = start.compare(CompareOp::Less, given, zero);
    let first = start.select(is_negative, zero, one);
    start.stmt(Stmt::Store { local: product, value: first, span });

    let (mut test, mut round) = (Block::new(), Block::new());
    let mut before = steps(function, &mut test);
    let left = before.node(NodeKind::Load(exponent), scalar);
    let condition = before.compare(CompareOp::Greater, left, zero);

    let mut within = steps(function, &mut round);
    let [left, square, so_far] =
        [exponent, base, product].map(|local| within.node(NodeKind::Load(local), scalar));
    let last_bit = within.binary(BinaryOp::And, left, one);
    let multiplied = within.binary(BinaryOp::Mul, so_far, square);
    let rest = within.binary(BinaryOp::ShiftRight, left, one);
    // The last square is unused, and must not overflow.
    let goes_on = within.compare(CompareOp::Greater, rest, zero);
    let factor = within.select(goes_on, square, zero);
    let squared = within.binary(BinaryOp::Mul, square, factor);
    let is_odd = within.compare(CompareOp::NotEqual, last_bit, zero);
    let next = within.select(is_odd, multiplied, so_far);
    for (local, value) in [(product, next), (base, squared), (exponent, rest)] {
        within.stmt(Stmt::Store { local, value, span });
    }

    let parts = Loop { test, condition: Some(condition), body: round, step: Block::new(), span };
    body.push(Stmt::Loop(Box::new(parts)));
    let result = steps(function, &mut body).node(NodeKind::Load(product), scalar);
    body.push(Stmt::Return(Some(result), span));
    function.body = body;
}

/// Builds steps that the script wrote: those of its operator.
fn steps<'f>(function: &'f mut Function, block: &'f mut Block) -> Builder<'f> {
    let span = function.span;
    Builder { origin: Origin::Source, ..Builder::at(function, block, span) }
}

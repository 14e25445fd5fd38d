//! Functions of the bits of an int, and Python's methods `bit_count` and `bit_length`, which count the bits of
//! its absolute value.
//!
//! Devices have these instructions for 32 bits. A narrower int is zero-extended. A wider one is split into
//! halves.

use kps_syntax::Span;
use kps_syntax::ast::{Argument, Ident};

use super::BuiltinCall;
use crate::builtins::BitsFn;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, BitsOp, CompareOp, NodeId, NodeKind};
use crate::types::{Scalar, Type};

/// The names of methods of ints.
const COUNT: &str = "bit_count";
const LENGTH: &str = "bit_length";

impl<'a> Ctx<'a> {
    /// An i32, or a vector of i32, for functions that count bits. For `reverse`, the type of the argument.
    pub fn bits_function(&mut self, function: BitsFn, call: &BuiltinCall) -> Option<NodeId> {
        let node = self.number(&call.args[0], call.name)?;
        Some(self.bits(call.span).of(function, node))
    }

    /// `x.bit_count()` and `x.bit_length()`. `None` for another method or receiver.
    pub fn call_bits_method(
        &mut self,
        receiver: &Operand,
        attr: &Ident,
        args: &[Argument],
        span: Span,
    ) -> Option<Operand> {
        if ![COUNT, LENGTH].contains(&&*attr.name) {
            return None;
        }
        let is_int = match receiver {
            Operand::Literal(literal) => matches!(literal, Literal::Int(_)),
            receiver => matches!(self.value_type(receiver), Some(Type::Scalar(scalar)) if scalar.is_int()),
        };
        if !is_int {
            return None;
        }
        if !args.is_empty() {
            let args = self.arguments(args).positional;
            let text = self.f.source.slice(span).to_owned();
            return Some(self.wrong_count(&[], errors::callee(&text), &args, span));
        }
        if let Operand::Literal(Literal::Int(value)) = receiver {
            let size = value.unsigned_abs();
            let n_bits = if *attr.name == *COUNT { size.count_ones() } else { 128 - size.leading_zeros() };
            return Some(Operand::int(i128::from(n_bits)));
        }
        let value = match receiver {
            Operand::Place(place) => self.load_place(place, span),
            other => other.clone(),
        };
        let node = self.materialize(&value, span)?;
        Some(Operand::Node(self.bits_of_size(&attr.name, node, span)))
    }

    /// The bits of the least int, read as unsigned, are its absolute value.
    fn bits_of_size(&mut self, method: &str, node: NodeId, span: Span) -> NodeId {
        let ty = self.ty(node).clone();
        let is_signed = ty.scalar().is_some_and(Scalar::is_signed);
        let size = if is_signed { self.node(NodeKind::Abs(node), ty.clone(), span) } else { node };
        if method == COUNT {
            return self.bits(span).of(BitsFn::Popcount, size);
        }
        let zeros = self.bits(span).of(BitsFn::LeadingZeros, size);
        let width = i128::from(ty.scalar().map_or(32, Scalar::bits));
        let width = self.constant(Constant::int(Scalar::I32, width), span);
        self.node(NodeKind::Binary(BinaryOp::Sub, width, zeros), Scalar::I32, span)
    }

    fn bits(&mut self, span: Span) -> Bits<'_, 'a> {
        Bits { ctx: self, span }
    }
}

/// Builds nodes for functions of bits.
struct Bits<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    span: Span,
}

impl Bits<'_, '_> {
    fn of(&mut self, function: BitsFn, node: NodeId) -> NodeId {
        let ty = self.ctx.ty(node).clone();
        let scalar = ty.scalar().expect("the operand is an int");
        if let Some(value) = self.ctx.f.func.constant(node).and_then(Constant::as_int) {
            return self.ctx.constant(known(function, scalar, value), self.span);
        }
        let unsigned = self.unsigned(node, &ty);
        if function == BitsFn::Reverse {
            let reversed = self.reversed(unsigned);
            return match ty.scalar() == Some(scalar.as_unsigned()) {
                true => reversed,
                false => self.ctx.node(NodeKind::Bitcast(reversed), ty, self.span),
            };
        }
        let count = match function {
            BitsFn::Popcount => self.ones(unsigned),
            BitsFn::LeadingZeros => self.leading_zeros(unsigned),
            _ => self.trailing_zeros(unsigned),
        };
        self.ctx.node(NodeKind::Bitcast(count), ty.with_scalar(Scalar::I32), self.span)
    }

    fn ones(&mut self, node: NodeId) -> NodeId {
        match self.halves(node) {
            Some([low, high]) => {
                let (low, high) = (self.op(BitsOp::CountOnes, low), self.op(BitsOp::CountOnes, high));
                self.binary(BinaryOp::Add, low, high)
            }
            None => {
                let word = self.word(node);
                self.op(BitsOp::CountOnes, word)
            }
        }
    }

    fn leading_zeros(&mut self, node: NodeId) -> NodeId {
        let width = self.width(node);
        if let Some([low, high]) = self.halves(node) {
            let (above, below) = (self.leading_zeros(high), self.leading_zeros(low));
            return self.across_halves(high, above, below);
        }
        let word = self.word(node);
        let highest = self.op(BitsOp::HighestOne, word);
        // For 0 the highest bit is -1.
        let last = self.number(word, width - 1);
        self.binary(BinaryOp::Sub, last, highest)
    }

    /// The leading ones of the reversed bits. In a narrow int, a one ends them.
    fn trailing_zeros(&mut self, node: NodeId) -> NodeId {
        let width = self.width(node);
        if let Some([low, high]) = self.halves(node) {
            let (below, above) = (self.trailing_zeros(low), self.trailing_zeros(high));
            return self.across_halves(low, below, above);
        }
        let mut word = self.word(node);
        if width < 32 {
            let end = self.number(word, 1 << width);
            word = self.binary(BinaryOp::Or, word, end);
        }
        let reversed = self.op(BitsOp::Reverse, word);
        self.leading_zeros(reversed)
    }

    fn reversed(&mut self, node: NodeId) -> NodeId {
        let ty = self.ctx.ty(node).clone();
        let width = self.width(node);
        if let Some([low, high]) = self.halves(node) {
            let halves = [low, high].map(|half| {
                let reversed = self.op(BitsOp::Reverse, half);
                self.ctx.convert(reversed, Scalar::U64, self.span)
            });
            let amount = self.number(node, 32);
            let above = self.binary(BinaryOp::ShiftLeft, halves[0], amount);
            return self.binary(BinaryOp::Or, above, halves[1]);
        }
        let word = self.word(node);
        let mut reversed = self.op(BitsOp::Reverse, word);
        if width < 32 {
            let amount = self.number(word, 32 - width);
            reversed = self.binary(BinaryOp::ShiftRight, reversed, amount);
        }
        self.ctx.convert(reversed, ty.scalar().unwrap_or(Scalar::U32), self.span)
    }

    /// `first` if a half has a one, else all of its bits plus `second`.
    fn across_halves(&mut self, half: NodeId, first: NodeId, second: NodeId) -> NodeId {
        let ty = self.ctx.ty(half).clone();
        let (zero, all) = (self.number(half, 0), self.number(half, 32));
        let bools = ty.with_scalar(Scalar::Bool);
        let is_empty = self.ctx.node(NodeKind::Compare(CompareOp::Equal, half, zero), bools, self.span);
        let beyond = self.binary(BinaryOp::Add, all, second);
        self.ctx.node(NodeKind::Select { condition: is_empty, then: beyond, orelse: first }, ty, self.span)
    }

    fn unsigned(&mut self, node: NodeId, ty: &Type) -> NodeId {
        let scalar = ty.scalar().expect("the operand is an int");
        match scalar.is_signed() {
            true => self.ctx.node(NodeKind::Bitcast(node), ty.with_scalar(scalar.as_unsigned()), self.span),
            false => node,
        }
    }

    /// The low and high halves of an int of 64 bits.
    fn halves(&mut self, node: NodeId) -> Option<[NodeId; 2]> {
        if self.width(node) < 64 {
            return None;
        }
        let amount = self.number(node, 32);
        let high = self.binary(BinaryOp::ShiftRight, node, amount);
        Some([node, high].map(|half| self.ctx.convert(half, Scalar::U32, self.span)))
    }

    /// A narrow int, extended to 32 bits.
    fn word(&mut self, node: NodeId) -> NodeId {
        self.ctx.convert(node, Scalar::U32, self.span)
    }

    fn width(&self, node: NodeId) -> u32 {
        self.ctx.ty(node).scalar().map_or(32, Scalar::bits)
    }

    fn op(&mut self, op: BitsOp, node: NodeId) -> NodeId {
        let ty = self.ctx.ty(node).clone();
        self.ctx.node(NodeKind::Bits(op, node), ty, self.span)
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        let ty = self.ctx.ty(a).clone();
        self.ctx.node(NodeKind::Binary(op, a, b), ty, self.span)
    }

    /// A number of the type of another node.
    fn number(&mut self, beside: NodeId, value: u32) -> NodeId {
        let ty = self.ctx.ty(beside).clone();
        let scalar = ty.scalar().expect("the operand is an int");
        let constant = self.ctx.constant(Constant::int(scalar, i128::from(value)), self.span);
        self.ctx.splat_to(constant, &ty, self.span)
    }
}

/// Folds a function of a known number.
fn known(function: BitsFn, scalar: Scalar, value: i128) -> Constant {
    let unused = 64 - scalar.bits();
    // The bits of the type, lowest first.
    let bits = value as u64;
    let count = match function {
        BitsFn::Reverse => return Constant::int(scalar, i128::from(bits.reverse_bits() >> unused)),
        BitsFn::Popcount => (bits << unused).count_ones(),
        BitsFn::LeadingZeros => (bits << unused).leading_zeros().min(scalar.bits()),
        BitsFn::TrailingZeros => bits.trailing_zeros().min(scalar.bits()),
    };
    Constant::int(Scalar::I32, i128::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_known_numbers() {
        let check = |scalar, value, expected: [i128; 4]| {
            let functions = [BitsFn::Popcount, BitsFn::LeadingZeros, BitsFn::TrailingZeros, BitsFn::Reverse];
            let found = functions.map(|function| known(function, scalar, value).as_int());
            assert_eq!(found, expected.map(Some), "{value} as {scalar}");
        };
        check(Scalar::I8, -128, [1, 0, 7, 1]);
        check(Scalar::U8, 0, [0, 8, 8, 0]);
        check(Scalar::I16, 6, [2, 13, 1, 0x6000]);
        check(Scalar::U32, 0xF000_0000, [4, 0, 28, 0xF]);
        check(Scalar::I64, -1, [64, 0, 0, -1]);
    }
}

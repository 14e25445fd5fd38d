//! Operations over the invocations of a subgroup: reductions, scans, shuffles, votes.
//!
//! The active invocations take part. An invocation that reads an inactive lane gets its own value. Narrow
//! numbers are combined as numbers of 32 bits, and the result is narrowed: wrapping gives the same result, and
//! a value that no lane gave is clamped.

use kps_syntax::Span;

use super::BuiltinCall;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{Combine, CompareOp, NodeId, NodeKind, Spread, SubgroupOp};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn elect(&mut self, call: &BuiltinCall) -> Operand {
        Operand::Node(self.subgroup_node(SubgroupOp::Elect, None, None, Type::BOOL, call.span))
    }

    fn subgroup_node(
        &mut self,
        op: SubgroupOp,
        value: Option<NodeId>,
        lane: Option<NodeId>,
        ty: Type,
        span: Span,
    ) -> NodeId {
        self.node(NodeKind::Subgroup { op, value, lane }, ty, span)
    }

    pub fn vote(&mut self, op: SubgroupOp, call: &BuiltinCall) -> Operand {
        self.vote_node(op, call).map_or(Operand::Error, Operand::Node)
    }

    fn vote_node(&mut self, op: SubgroupOp, call: &BuiltinCall) -> Option<NodeId> {
        let (name, span) = (call.name, call.span);
        let (operand, at) = &call.args[0];
        let condition = self.materialize(operand, *at)?;
        if *self.ty(condition) != Type::BOOL {
            let what = self.describe(operand);
            let text = self.f.source.slice(*at).to_owned();
            self.error(errors::subgroup_condition(self.at(*at), name, &text, &what));
            return None;
        }
        let ty = if op == SubgroupOp::Ballot { Type::Vector(4, Scalar::U32) } else { Type::BOOL };
        Some(self.subgroup_node(op, Some(condition), None, ty, span))
    }

    /// A scalar or a vector.
    fn subgroup_value(&mut self, name: &str, (operand, at): &(Operand, Span)) -> Option<NodeId> {
        let is_value = self.value_type(operand).is_some_and(|ty| ty.n_components() > 0);
        if !is_value {
            let what = self.describe(operand);
            self.error(errors::subgroup_value(self.at(*at), name, &what));
            return None;
        }
        self.materialize(operand, *at)
    }

    pub fn subgroup_combine(&mut self, combine: Combine, spread: Spread, call: &BuiltinCall) -> Operand {
        self.combined(combine, spread, call).map_or(Operand::Error, Operand::Node)
    }

    fn combined(&mut self, combine: Combine, spread: Spread, call: &BuiltinCall) -> Option<NodeId> {
        let (name, span, arg) = (call.name, call.span, &call.args[0]);
        let op = SubgroupOp::Combine(combine, spread);
        let value = self.subgroup_value(name, arg)?;
        let ty = self.ty(value).clone();
        let scalar = ty.scalar()?;
        let is_bitwise = matches!(combine, Combine::And | Combine::Or | Combine::Xor);
        if scalar == Scalar::Bool && !is_bitwise || scalar.is_float() && is_bitwise {
            let what = self.describe(&arg.0);
            self.error(errors::subgroup_combine(self.at(arg.1), name, &what, is_bitwise));
            return None;
        }
        let wide = match scalar {
            Scalar::Bool => scalar,
            scalar if scalar.bits() >= 32 => scalar,
            scalar if scalar.is_float() => Scalar::F32,
            scalar if scalar.is_signed() => Scalar::I32,
            _ => Scalar::U32,
        };
        let value = self.convert(value, wide, span);
        let combined = self.subgroup_node(op, Some(value), None, ty.with_scalar(wide), span);
        let combined = match spread {
            Spread::Exclusive => self.clamped_to_narrow(combined, combine, scalar, span),
            Spread::Reduce | Spread::Inclusive => combined,
        };
        Some(self.convert(combined, scalar, span))
    }

    /// Clamps the result of an exclusive `max` or `min` scan. Its first lane has the least or the largest
    /// number of 32 bits, which would wrap in a narrow type.
    fn clamped_to_narrow(
        &mut self,
        combined: NodeId,
        combine: Combine,
        narrow: Scalar,
        span: Span,
    ) -> NodeId {
        let wide = self.ty(combined).clone();
        let (Some(scalar), Some((least, most))) = (wide.scalar(), narrow.int_range()) else {
            return combined;
        };
        let (op, limit) = match combine {
            Combine::Min => (CompareOp::Less, most),
            Combine::Max => (CompareOp::Greater, least),
            _ => return combined,
        };
        if scalar == narrow || !narrow.is_signed() {
            return combined;
        }
        let limit = self.constant(Constant::int(scalar, limit), span);
        let limit = self.splat_to(limit, &wide, span);
        let bools = wide.with_scalar(Scalar::Bool);
        let condition = self.node(NodeKind::Compare(op, limit, combined), bools, span);
        self.node(NodeKind::Select { condition, then: limit, orelse: combined }, wide, span)
    }

    pub fn shuffle(&mut self, op: SubgroupOp, call: &BuiltinCall) -> Operand {
        self.shuffled(op, call).map_or(Operand::Error, Operand::Node)
    }

    fn shuffled(&mut self, op: SubgroupOp, call: &BuiltinCall) -> Option<NodeId> {
        let BuiltinCall { name, args, span, .. } = *call;
        let value = self.subgroup_value(name, &args[0])?;
        let (lane, at) = &args[1];
        let is_int = matches!(self.value_type(lane), Some(Type::Scalar(scalar)) if scalar.is_int());
        if !is_int {
            let (text, what) = (self.f.source.slice(*at).to_owned(), self.describe(lane));
            self.error(errors::index_type(self.at(*at), &text, &what));
            return None;
        }
        let lane = match lane {
            Operand::Literal(Literal::Int(_)) => self.try_convert(lane, &Type::U32, *at),
            lane => self.materialize(lane, *at).map(|lane| self.convert(lane, Scalar::U32, *at)),
        };
        let Some(lane) = lane else {
            self.error(errors::subgroup_lane(self.at(*at), self.f.source.slice(*at)));
            return None;
        };
        let ty = self.ty(value).clone();
        let wide = match ty.scalar()? {
            Scalar::F16 => Scalar::F32,
            scalar if scalar.is_int() && scalar.bits() < 32 => {
                if scalar.is_signed() {
                    Scalar::I32
                } else {
                    Scalar::U32
                }
            }
            scalar => scalar,
        };
        let scalar = ty.scalar()?;
        let value = self.convert(value, wide, span);
        let moved = self.subgroup_node(op, Some(value), Some(lane), ty.with_scalar(wide), span);
        Some(self.convert(moved, scalar, span))
    }
}

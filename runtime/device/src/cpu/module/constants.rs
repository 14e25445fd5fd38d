//! Constants, with every specialisation applied: the bits of their scalars in order.

use std::rc::Rc;

use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::Id;
use super::types::{Scalar, TypeId, Types};
use crate::cpu::lane::{Ty, fold};
use crate::cpu::lower::tables;

#[derive(Clone, Debug)]
pub struct Constant {
    pub ty: TypeId,
    /// One entry for each scalar, zero-extended.
    pub parts: Rc<[u64]>,
}

pub type Constants = FxHashMap<Id, Constant>;

impl Constant {
    /// The value of an int constant.
    pub fn as_int(&self, types: &Types) -> Option<u64> {
        match types.as_scalars(self.ty) {
            Some((Scalar::Int { .. }, 1)) => Some(self.parts[0]),
            _ => None,
        }
    }
}

/// The type that the lane IR has for a scalar.
pub fn lane_ty(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool => Ty::Bool,
        Scalar::Int { bits: 32, .. } => Ty::I32,
        Scalar::Int { .. } => Ty::I64,
        Scalar::Float { bits: 32 } => Ty::F32,
        Scalar::Float { .. } => Ty::F64,
    }
}

/// What `OpSpecConstantOp` computes. `None` where the operation is unknown or the operands do not fit it.
pub fn spec_op(
    types: &Types,
    constants: &Constants,
    ty: TypeId,
    op: Op,
    operands: &[u32],
) -> Option<Rc<[u64]>> {
    let constant = |i: usize| constants.get(&Id(*operands.get(i)?));
    match op {
        Op::CompositeExtract => {
            let composite = constant(0)?;
            let (found, first) = find(types, composite.ty, &operands[1..])?;
            let n = types.n_scalars(found) as usize;
            types.same(found, ty).then(|| composite.parts[first..first + n].into())
        }
        Op::CompositeInsert => {
            let (object, composite) = (constant(0)?, constant(1)?);
            let (found, first) = find(types, composite.ty, &operands[2..])?;
            let mut parts = composite.parts.to_vec();
            parts[first..first + types.n_scalars(found) as usize].copy_from_slice(&object.parts);
            (types.same(found, object.ty) && types.same(composite.ty, ty)).then(|| parts.into())
        }
        Op::VectorShuffle => {
            let (a, b) = (constant(0)?, constant(1)?);
            let (_, n) = types.as_scalars(ty)?;
            let all: Vec<u64> = a.parts.iter().chain(b.parts.iter()).copied().collect();
            let pick = |&idx: &u32| if idx == u32::MAX { Some(0) } else { all.get(idx as usize).copied() };
            let parts: Vec<u64> = operands[2..].iter().map(pick).collect::<Option<_>>()?;
            let (scalar, _) = types.as_scalars(ty)?;
            let fits = |c: &Constant| types.as_scalars(c.ty).is_some_and(|(s, _)| s == scalar);
            (parts.len() == n as usize && fits(a) && fits(b)).then(|| parts.into())
        }
        _ => {
            let (scalar, n) = types.as_scalars(ty)?;
            let args: Vec<&Constant> = (0..operands.len()).map(constant).collect::<Option<_>>()?;
            (0..n as usize).map(|i| scalar_op(types, scalar, op, &args, i)).collect()
        }
    }
}

/// Component `i` of an operation that goes component by component.
fn scalar_op(types: &Types, result: Scalar, op: Op, args: &[&Constant], i: usize) -> Option<u64> {
    let arg = |k: usize| {
        let constant = args.get(k)?;
        let (scalar, _) = types.as_scalars(constant.ty)?;
        Some((lane_ty(scalar), *constant.parts.get(i)?))
    };
    let (ty, a) = arg(0)?;
    let to = lane_ty(result);
    if op == Op::Select {
        let ((ty_b, b), (ty_c, c)) = (arg(1)?, arg(2)?);
        return (ty == Ty::Bool && ty_b == to && ty_c == to).then_some(if a != 0 { b } else { c });
    }
    if args.len() == 1 {
        if let Some(unary) = tables::unary(op, ty) {
            return if ty == to { fold::unary(unary, ty, a) } else { None };
        }
        let steps = tables::convert(op, ty, to)?;
        return Some(
            steps.iter().fold((ty, a), |(ty, a), step| (step.result(ty), fold::convert(*step, ty, a))).1,
        );
    }
    let (ty_b, b) = arg(1)?;
    if let Some(binary) = tables::binary(op, ty) {
        let b = if ty == ty_b { b } else { fold::truncate(ty, b) };
        return (args.len() == 2 && ty == to).then(|| fold::binary(binary, ty, a, b));
    }
    let (compare, negate) = tables::compare(op, ty)?;
    (args.len() == 2 && ty == ty_b && to == Ty::Bool)
        .then(|| u64::from(fold::compare(compare, ty, a, b) != negate))
}

/// Follows literal indices into a composite: the type there and the scalars before it.
pub fn find(types: &Types, mut ty: TypeId, indices: &[u32]) -> Option<(TypeId, usize)> {
    let mut first = 0;
    for (i, &idx) in indices.iter().enumerate() {
        if let Some((scalar, n)) = types.as_scalars(ty) {
            // Only a last index goes into a vector.
            let in_vector = n > 1 && idx < n && i + 1 == indices.len();
            return in_vector.then(|| (types.scalar(scalar), first + idx as usize));
        }
        let (element, before) = types.element(ty, idx)?;
        first += before as usize;
        ty = element;
    }
    Some((ty, first))
}

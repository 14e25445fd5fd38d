//! Constants, with all specialisations applied: the bits of their scalars in order.

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::Id;
use super::types::{TypeId, Types};
use crate::cpu::lane::{Convert, Ty, fold, opcodes};

#[derive(Clone, Debug)]
pub struct Constant {
    pub ty: TypeId,
    /// One entry for each scalar: the bits of its lane value, zero-extended.
    pub parts: Rc<[u64]>,
}

pub type Constants = FxHashMap<Id, Constant>;

impl Constant {
    /// The value of an int constant.
    pub fn as_int(&self, types: &Types) -> Option<u64> {
        match types.as_scalars(self.ty) {
            Some((scalar, 1)) if scalar.is_int() => Some(self.parts[0]),
            _ => None,
        }
    }
}

/// The type of a scalar in the lane IR.
pub fn lane_ty(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool => Ty::Bool,
        Scalar::I64 | Scalar::U64 => Ty::I64,
        Scalar::F64 => Ty::F64,
        _ if scalar.is_int() => Ty::I32,
        // Floats of 16 bits are computed in 32 bits ([`crate::cpu::lower`] has the rules).
        _ => Ty::F32,
    }
}

/// Whether it is an int that is zero-extended in an `I32`.
pub fn is_narrow_int(scalar: Scalar) -> bool {
    scalar.is_int() && scalar.bits() < 32
}

/// Converts a constant's bits to those of the lane value.
pub fn lane_bits(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        _ if is_narrow_int(scalar) => bits & ((1 << scalar.bits()) - 1),
        Scalar::F16 => u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits()),
        Scalar::Bf16 => (bits & 0xffff) << 16,
        _ => fold::truncate(lane_ty(scalar), bits),
    }
}

/// Evaluates `OpSpecConstantOp`. `None` if the operation is unknown, or the operands do not fit it.
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

/// Component `i` of a componentwise operation. Narrow floats are only converted.
fn scalar_op(types: &Types, result: Scalar, op: Op, args: &[&Constant], i: usize) -> Option<u64> {
    let arg = |k: usize| {
        let constant = args.get(k)?;
        let (scalar, _) = types.as_scalars(constant.ty)?;
        let bits = *constant.parts.get(i)?;
        let bits = if opcodes::looks_at_sign(op) { signed(scalar, bits) } else { bits };
        Some((scalar, lane_ty(scalar), bits))
    };
    let (scalar, ty, a) = arg(0)?;
    let to = lane_ty(result);
    if op == Op::Select {
        let ((scalar_b, _, b), (scalar_c, _, c)) = (arg(1)?, arg(2)?);
        let fits = scalar == Scalar::Bool && scalar_b == result && scalar_c == result;
        return fits.then_some(if a != 0 { b } else { c });
    }
    if args.len() == 1 {
        if let Some(unary) = opcodes::unary(op, ty) {
            return if scalar.is_alike(result) {
                Some(fit(result, fold::unary(unary, ty, a)?))
            } else {
                None
            };
        }
        if op == Op::Bitcast && scalar.bits() == result.bits() && scalar.bits() < 32 {
            return if scalar.is_int() && result.is_int() { Some(a) } else { None };
        }
        let steps = opcodes::convert(op, ty, to)?;
        let convert = |(ty, a), step: &Convert| (step.result(ty), fold::convert(*step, ty, a));
        return Some(fit(result, steps.iter().fold((ty, a), convert).1));
    }
    let (scalar_b, ty_b, b) = arg(1)?;
    if let Some(binary) = opcodes::binary(op, ty) {
        let b = if ty == ty_b { b } else { fold::truncate(ty, b) };
        return (args.len() == 2 && scalar.is_alike(result))
            .then(|| fit(result, fold::binary(binary, ty, a, b)));
    }
    let (compare, negate) = opcodes::compare(op, ty)?;
    (args.len() == 2 && scalar.is_alike(scalar_b) && result == Scalar::Bool)
        .then(|| u64::from(fold::compare(compare, ty, a, b) != negate))
}

/// As the lowering does it: see [`crate::cpu::lower`].
fn fit(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        _ if is_narrow_int(scalar) => bits & ((1 << scalar.bits()) - 1),
        Scalar::F16 => u64::from(fold::round_half(f32::from_bits(bits as u32)).to_bits()),
        Scalar::Bf16 => u64::from(fold::round_bfloat16(f32::from_bits(bits as u32)).to_bits()),
        _ => bits,
    }
}

fn signed(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        Scalar::I8 | Scalar::U8 => u64::from(bits as i8 as u32),
        Scalar::I16 | Scalar::U16 => u64::from(bits as i16 as u32),
        _ => bits,
    }
}

/// Follows literal indices into a composite: the type there, and the number of scalars before it.
pub fn find(types: &Types, mut ty: TypeId, indices: &[u32]) -> Option<(TypeId, usize)> {
    let mut first = 0;
    for (i, &idx) in indices.iter().enumerate() {
        if let Some((scalar, n)) = types.as_scalars(ty) {
            // Only a last index selects from a vector.
            let in_vector = n > 1 && idx < n && i + 1 == indices.len();
            return in_vector.then(|| (types.scalar(scalar), first + idx as usize));
        }
        let (element, before) = types.element(ty, idx)?;
        first += before as usize;
        ty = element;
    }
    Some((ty, first))
}

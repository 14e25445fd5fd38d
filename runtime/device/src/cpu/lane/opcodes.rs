//! Maps opcodes and scalars to lane operations. `None` where an opcode does not take the scalar.

use rspirv::spirv::Op;

use super::{Binary, Compare, Convert, Ty, Unary};

fn is_int(ty: Ty) -> bool {
    matches!(ty, Ty::I32 | Ty::I64)
}

fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::F32 | Ty::F64)
}

pub fn unary(op: Op, ty: Ty) -> Option<Unary> {
    let (unary, fits) = match op {
        Op::SNegate => (Unary::Neg, is_int(ty)),
        Op::Not => (Unary::Not, is_int(ty)),
        Op::LogicalNot => (Unary::Not, ty == Ty::Bool),
        Op::BitReverse => (Unary::BitReverse, is_int(ty)),
        Op::FNegate => (Unary::FNeg, is_float(ty)),
        _ => return None,
    };
    fits.then_some(unary)
}

/// Operations whose operands and result have one type. The amount of a shift may have another.
pub fn binary(op: Op, ty: Ty) -> Option<Binary> {
    let int = |binary| (binary, is_int(ty));
    let float = |binary| (binary, is_float(ty));
    let (binary, fits) = match op {
        Op::IAdd => int(Binary::Add),
        Op::ISub => int(Binary::Sub),
        Op::IMul => int(Binary::Mul),
        Op::SDiv => int(Binary::DivS),
        Op::UDiv => int(Binary::DivU),
        Op::SRem => int(Binary::RemS),
        Op::SMod => int(Binary::ModS),
        Op::UMod => int(Binary::RemU),
        Op::BitwiseAnd => int(Binary::And),
        Op::BitwiseOr => int(Binary::Or),
        Op::BitwiseXor => int(Binary::Xor),
        Op::ShiftLeftLogical => int(Binary::Shl),
        Op::ShiftRightArithmetic => int(Binary::ShrS),
        Op::ShiftRightLogical => int(Binary::ShrU),
        Op::LogicalAnd => (Binary::And, ty == Ty::Bool),
        Op::LogicalOr => (Binary::Or, ty == Ty::Bool),
        Op::FAdd => float(Binary::FAdd),
        Op::FSub => float(Binary::FSub),
        Op::FMul => float(Binary::FMul),
        Op::FDiv => float(Binary::FDiv),
        _ => return None,
    };
    fits.then_some(binary)
}

/// Whether narrow ints are sign-extended.
pub fn looks_at_sign(op: Op) -> bool {
    matches!(
        op,
        Op::SDiv
            | Op::SRem
            | Op::SMod
            | Op::ShiftRightArithmetic
            | Op::SLessThan
            | Op::SLessThanEqual
            | Op::SGreaterThan
            | Op::SGreaterThanEqual
            | Op::SConvert
            | Op::ConvertSToF
            | Op::SMulExtended
    )
}

/// Comparisons; the second says that the result is negated.
pub fn compare(op: Op, ty: Ty) -> Option<(Compare, bool)> {
    let int = |compare| (compare, false, is_int(ty));
    let bool = |compare| (compare, false, ty == Ty::Bool);
    let ordered = |compare| (compare, false, is_float(ty));
    // Unordered comparisons are true with a NaN: each is the negation of an ordered one.
    let unordered = |opposite| (opposite, true, is_float(ty));
    let (compare, negate, fits) = match op {
        Op::IEqual => int(Compare::Eq),
        Op::INotEqual => int(Compare::Ne),
        Op::SLessThan => int(Compare::LtS),
        Op::SLessThanEqual => int(Compare::LeS),
        Op::SGreaterThan => int(Compare::GtS),
        Op::SGreaterThanEqual => int(Compare::GeS),
        Op::ULessThan => int(Compare::LtU),
        Op::ULessThanEqual => int(Compare::LeU),
        Op::UGreaterThan => int(Compare::GtU),
        Op::UGreaterThanEqual => int(Compare::GeU),
        Op::LogicalEqual => bool(Compare::Eq),
        Op::LogicalNotEqual => bool(Compare::Ne),
        Op::FOrdEqual => ordered(Compare::FEq),
        Op::FOrdLessThan => ordered(Compare::FLt),
        Op::FOrdLessThanEqual => ordered(Compare::FLe),
        Op::FOrdGreaterThan => ordered(Compare::FGt),
        Op::FOrdGreaterThanEqual => ordered(Compare::FGe),
        Op::FUnordNotEqual => ordered(Compare::FNe),
        Op::FUnordLessThan => unordered(Compare::FGe),
        Op::FUnordLessThanEqual => unordered(Compare::FGt),
        Op::FUnordGreaterThan => unordered(Compare::FLe),
        Op::FUnordGreaterThanEqual => unordered(Compare::FLt),
        _ => return None,
    };
    fits.then_some((compare, negate))
}

/// The steps of a conversion; empty where nothing changes.
pub fn convert(op: Op, from: Ty, to: Ty) -> Option<&'static [Convert]> {
    use Convert::*;
    Some(match (op, from, to) {
        (Op::UConvert, Ty::I32, Ty::I64) => &[ZeroExtend],
        (Op::SConvert, Ty::I32, Ty::I64) => &[SignExtend],
        (Op::UConvert | Op::SConvert, Ty::I64, Ty::I32) => &[Truncate],
        (Op::UConvert | Op::SConvert, from, to) if from == to && is_int(from) => &[],
        (Op::FConvert, Ty::F32, Ty::F64) => &[Promote],
        (Op::FConvert, Ty::F64, Ty::F32) => &[Demote],
        (Op::FConvert, from, to) if from == to && is_float(from) => &[],
        (Op::ConvertFToS, Ty::F32 | Ty::F64, Ty::I32) => &[FloatToS(Ty::I32)],
        (Op::ConvertFToS, Ty::F32 | Ty::F64, Ty::I64) => &[FloatToS(Ty::I64)],
        (Op::ConvertFToU, Ty::F32 | Ty::F64, Ty::I32) => &[FloatToU(Ty::I32)],
        (Op::ConvertFToU, Ty::F32 | Ty::F64, Ty::I64) => &[FloatToU(Ty::I64)],
        (Op::ConvertSToF, Ty::I32 | Ty::I64, Ty::F32) => &[SToFloat(Ty::F32)],
        (Op::ConvertSToF, Ty::I32 | Ty::I64, Ty::F64) => &[SToFloat(Ty::F64)],
        (Op::ConvertUToF, Ty::I32 | Ty::I64, Ty::F32) => &[UToFloat(Ty::F32)],
        (Op::ConvertUToF, Ty::I32 | Ty::I64, Ty::F64) => &[UToFloat(Ty::F64)],
        (Op::Bitcast, from, to) if from == to && from != Ty::Bool => &[],
        (Op::Bitcast, Ty::I32, Ty::F32) | (Op::Bitcast, Ty::F32, Ty::I32) => &[Bits],
        (Op::Bitcast, Ty::I64, Ty::F64) | (Op::Bitcast, Ty::F64, Ty::I64) => &[Bits],
        _ => return None,
    })
}

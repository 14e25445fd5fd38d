//! The element type of a result, by NumPy 2's rules: Python's numbers are weak, all others keep their type.

use kps_compute::DType;

/// What an operand contributes to the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Elements of a type: arrays and NumPy's scalars.
    Strong(DType),
    /// Python's int: adopts any number type, else it is `int64`.
    WeakInt,
    /// Python's float: adopts any float type, else it is `float64`.
    WeakFloat,
}

impl Kind {
    /// The type without other operands.
    pub fn dtype(self) -> DType {
        match self {
            Kind::Strong(dtype) => dtype,
            Kind::WeakInt => DType::I64,
            Kind::WeakFloat => DType::F64,
        }
    }
}

/// The type that holds the values of both operands.
pub fn promote(left: Kind, right: Kind) -> DType {
    match (left, right) {
        (Kind::Strong(left), Kind::Strong(right)) => promote_types(left, right),
        (Kind::Strong(dtype), weak) | (weak, Kind::Strong(dtype)) => match weak {
            Kind::WeakInt if dtype == DType::Bool => DType::I64,
            Kind::WeakFloat if !dtype.is_float() => DType::F64,
            _ => dtype,
        },
        (Kind::WeakInt, Kind::WeakInt) => DType::I64,
        _ => DType::F64,
    }
}

pub fn promote_types(left: DType, right: DType) -> DType {
    match (left, right) {
        _ if left == right => left,
        (DType::Bool, other) | (other, DType::Bool) => other,
        _ if left.is_float() && right.is_float() => promote_floats(left, right),
        _ if left.is_float() => promote_floats(left, float_for(right)),
        _ if right.is_float() => promote_floats(float_for(left), right),
        _ if left.is_signed() == right.is_signed() => larger(left, right),
        _ => promote_mixed_ints(left, right),
    }
}

fn promote_floats(left: DType, right: DType) -> DType {
    match (left, right) {
        // Neither of the two 16-bit types holds the other's values.
        (DType::F16, DType::Bf16) | (DType::Bf16, DType::F16) => DType::F32,
        _ => larger(left, right),
    }
}

/// The smallest float type that holds every value of an integer type, or the largest one.
pub fn float_for(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I8 | DType::U8 => DType::F16,
        DType::I16 | DType::U16 => DType::F32,
        DType::I32 | DType::U32 | DType::I64 | DType::U64 => DType::F64,
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => dtype,
    }
}

fn promote_mixed_ints(left: DType, right: DType) -> DType {
    let (signed, unsigned) = if left.is_signed() { (left, right) } else { (right, left) };
    if signed.size() > unsigned.size() {
        return signed;
    }
    match unsigned {
        DType::U8 => DType::I16,
        DType::U16 => DType::I32,
        DType::U32 => DType::I64,
        _ => DType::F64,
    }
}

fn larger(left: DType, right: DType) -> DType {
    if right.size() > left.size() { right } else { left }
}

/// Whether a result of one type may be stored as another: only within a kind, or as a wider kind.
pub fn same_kind(from: DType, to: DType) -> bool {
    let rank = |dtype: DType| match dtype {
        DType::Bool => 0,
        dtype if dtype.is_int() => 1,
        _ => 2,
    };
    rank(from) <= rank(to) && !(from.is_signed() && to.is_int() && !to.is_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::*;

    #[test]
    fn types_are_promoted_as_numpy_promotes_them() {
        fn check(left: DType, right: DType, expect: DType) {
            assert_eq!(promote_types(left, right), expect, "{left} {right}");
            assert_eq!(promote_types(right, left), expect, "{right} {left}");
        }
        check(Bool, I8, I8);
        check(U8, I8, I16);
        check(U8, I32, I32);
        check(U64, I8, F64);
        check(I8, F16, F16);
        check(I16, F16, F32);
        check(I32, F32, F64);
        check(U16, F32, F32);
        check(F32, F64, F64);
        check(F16, Bf16, F32);
        check(Bf16, F32, F32);
        check(Bool, Bf16, Bf16);
    }

    #[test]
    fn python_numbers_are_weak() {
        fn check(left: Kind, right: Kind, expect: DType) {
            assert_eq!(promote(left, right), expect);
            assert_eq!(promote(right, left), expect);
        }
        check(Kind::Strong(U8), Kind::WeakInt, U8);
        check(Kind::Strong(U8), Kind::WeakFloat, F64);
        check(Kind::Strong(F32), Kind::WeakFloat, F32);
        check(Kind::Strong(F16), Kind::WeakInt, F16);
        check(Kind::Strong(Bool), Kind::WeakInt, I64);
        check(Kind::WeakInt, Kind::WeakFloat, F64);
    }
}

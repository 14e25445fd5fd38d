//! The types that elements of tensors have, by every name that people write for them.

use std::fmt;

use kps_device::interface::Scalar;

/// The type of a tensor's elements. A `bool` is one byte, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

impl DType {
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
    ];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.scalar().size() as usize
    }

    /// As kernels write it: `f32`.
    pub fn name(self) -> &'static str {
        self.scalar().name()
    }

    /// As NumPy writes it: `float32`.
    pub fn numpy_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::U8 => "uint8",
            DType::U16 => "uint16",
            DType::U32 => "uint32",
            DType::U64 => "uint64",
            DType::F16 => "float16",
            DType::Bf16 => "bfloat16",
            DType::F32 => "float32",
            DType::F64 => "float64",
        }
    }

    /// The type that has this name, as kernels or as NumPy write it.
    ///
    /// ```
    /// use kps_compute::DType;
    /// assert_eq!(DType::parse("float32"), Some(DType::F32));
    /// assert_eq!(DType::parse("u8"), Some(DType::U8));
    /// assert_eq!(DType::parse("float"), None);
    /// ```
    pub fn parse(name: &str) -> Option<DType> {
        let has_name = |dtype: &DType| dtype.name() == name || dtype.numpy_name() == name;
        DType::ALL.into_iter().find(has_name)
    }

    pub fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::Bf16 | DType::F32 | DType::F64)
    }

    /// The least and the greatest value of an integer type; `None` for the others.
    pub fn int_range(self) -> Option<(i128, i128)> {
        match self {
            DType::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            DType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            DType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            DType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
            DType::U8 => Some((0, u8::MAX.into())),
            DType::U16 => Some((0, u16::MAX.into())),
            DType::U32 => Some((0, u32::MAX.into())),
            DType::U64 => Some((0, u64::MAX.into())),
            DType::Bool | DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => None,
        }
    }

    /// The type in a module's interface that has these bits.
    pub fn scalar(self) -> Scalar {
        match self {
            DType::Bool => Scalar::Bool,
            DType::I8 => Scalar::I8,
            DType::I16 => Scalar::I16,
            DType::I32 => Scalar::I32,
            DType::I64 => Scalar::I64,
            DType::U8 => Scalar::U8,
            DType::U16 => Scalar::U16,
            DType::U32 => Scalar::U32,
            DType::U64 => Scalar::U64,
            DType::F16 => Scalar::F16,
            DType::Bf16 => Scalar::Bf16,
            DType::F32 => Scalar::F32,
            DType::F64 => Scalar::F64,
        }
    }
}

impl From<Scalar> for DType {
    fn from(scalar: Scalar) -> DType {
        match scalar {
            Scalar::Bool => DType::Bool,
            Scalar::I8 => DType::I8,
            Scalar::I16 => DType::I16,
            Scalar::I32 => DType::I32,
            Scalar::I64 => DType::I64,
            Scalar::U8 => DType::U8,
            Scalar::U16 => DType::U16,
            Scalar::U32 => DType::U32,
            Scalar::U64 => DType::U64,
            Scalar::F16 => DType::F16,
            Scalar::Bf16 => DType::Bf16,
            Scalar::F32 => DType::F32,
            Scalar::F64 => DType::F64,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_of_every_type_lead_back_to_it() {
        for dtype in DType::ALL {
            assert_eq!(DType::parse(dtype.name()), Some(dtype));
            assert_eq!(DType::parse(dtype.numpy_name()), Some(dtype));
            assert_eq!(DType::from(dtype.scalar()), dtype);
        }
    }
}

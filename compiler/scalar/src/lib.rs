//! The scalar types of kernels and tensors: one enum, and one table of what each type is.
//!
//! Kernels, SPIR-V modules, devices and tensors all use [`Scalar`], so no crate converts between lists of types.
//! A crate that supports a part of them checks for it. This crate depends on nothing.
//!
//! ```
//! use kps_scalar::{Kind, Scalar};
//!
//! let ty = Scalar::of_name("f16").expect("it is a type");
//! assert_eq!((ty.bits(), ty.kind(), ty.numpy_name()), (16, Kind::Float, "float16"));
//! ```

use std::fmt;

/// A number type or the type of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
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

/// The kind of a scalar: lossless conversions stay within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// The type as SPIR-V declares it: `OpTypeBool`, `OpTypeInt`, `OpTypeFloat`, `OpTypeFloat` with an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpirvType {
    Bool,
    Int { width: u32, signed: bool },
    Float { width: u32 },
    BFloat16,
}

/// The properties of a scalar type.
struct Row {
    scalar: Scalar,
    /// The name in kernels, in Rust and in the crate `half`.
    name: &'static str,
    /// The name in NumPy. NumPy has no bfloat16: that name is from the package `ml_dtypes`.
    numpy_name: &'static str,
    /// `dtype.char`.
    numpy_char: &'static str,
    kind: Kind,
    /// Bits of a number; a truth value has 1.
    bits: u32,
    /// Binary digits of a float's significand, including the implicit first one; else 0.
    digits: u32,
}

#[rustfmt::skip]
const TABLE: [Row; 13] = [
    row(Scalar::Bool, "bool", "bool",     "?", Kind::Bool,      1,  0),
    row(Scalar::I8,   "i8",   "int8",     "b", Kind::Signed,    8,  0),
    row(Scalar::I16,  "i16",  "int16",    "h", Kind::Signed,   16,  0),
    row(Scalar::I32,  "i32",  "int32",    "i", Kind::Signed,   32,  0),
    row(Scalar::I64,  "i64",  "int64",    "l", Kind::Signed,   64,  0),
    row(Scalar::U8,   "u8",   "uint8",    "B", Kind::Unsigned,  8,  0),
    row(Scalar::U16,  "u16",  "uint16",   "H", Kind::Unsigned, 16,  0),
    row(Scalar::U32,  "u32",  "uint32",   "I", Kind::Unsigned, 32,  0),
    row(Scalar::U64,  "u64",  "uint64",   "L", Kind::Unsigned, 64,  0),
    row(Scalar::F16,  "f16",  "float16",  "e", Kind::Float,    16, 11),
    row(Scalar::Bf16, "bf16", "bfloat16", "E", Kind::Float,    16,  8),
    row(Scalar::F32,  "f32",  "float32",  "f", Kind::Float,    32, 24),
    row(Scalar::F64,  "f64",  "float64",  "d", Kind::Float,    64, 53),
];

const fn row(
    scalar: Scalar,
    name: &'static str,
    numpy_name: &'static str,
    numpy_char: &'static str,
    kind: Kind,
    bits: u32,
    digits: u32,
) -> Row {
    Row { scalar, name, numpy_name, numpy_char, kind, bits, digits }
}

impl Scalar {
    /// Every type, in the order of the enum.
    pub const ALL: [Scalar; TABLE.len()] = {
        let mut all = [Scalar::Bool; TABLE.len()];
        let mut at = 0;
        while at < TABLE.len() {
            all[at] = TABLE[at].scalar;
            assert!(all[at] as usize == at, "the table is in the order of the enum");
            at += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name in kernels and Rust: `f32`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in NumPy: `float32`.
    pub const fn numpy_name(self) -> &'static str {
        self.row().numpy_name
    }

    /// NumPy's letter for it, `dtype.char`: `f`.
    pub const fn numpy_char(self) -> &'static str {
        self.row().numpy_char
    }

    /// NumPy's letter for its kind, `dtype.kind`. NumPy treats a bfloat16 as raw bytes.
    pub const fn numpy_kind(self) -> &'static str {
        match self.kind() {
            _ if matches!(self, Scalar::Bf16) => "V",
            Kind::Bool => "b",
            Kind::Signed => "i",
            Kind::Unsigned => "u",
            Kind::Float => "f",
        }
    }

    /// The type with this name in kernels.
    pub fn of_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// The type with this name in kernels or in NumPy.
    ///
    /// ```
    /// use kps_scalar::Scalar;
    /// assert_eq!(Scalar::parse("float32"), Some(Scalar::F32));
    /// assert_eq!(Scalar::parse("u8"), Some(Scalar::U8));
    /// assert_eq!(Scalar::parse("float"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Scalar> {
        let has_name = |scalar: &Scalar| scalar.name() == name || scalar.numpy_name() == name;
        Scalar::ALL.into_iter().find(has_name)
    }

    /// The declaration in SPIR-V.
    pub const fn spirv(self) -> SpirvType {
        let width = self.bits();
        match self.kind() {
            Kind::Bool => SpirvType::Bool,
            Kind::Signed => SpirvType::Int { width, signed: true },
            Kind::Unsigned => SpirvType::Int { width, signed: false },
            Kind::Float if matches!(self, Scalar::Bf16) => SpirvType::BFloat16,
            Kind::Float => SpirvType::Float { width },
        }
    }

    /// The type with this declaration in SPIR-V; `None` for widths without a type.
    pub fn of_spirv(declared: SpirvType) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|scalar| scalar.spirv() == declared)
    }

    pub const fn kind(self) -> Kind {
        self.row().kind
    }

    /// Bits of a number; a truth value has 1.
    pub const fn bits(self) -> u32 {
        self.row().bits
    }

    /// Bytes of one value in an array.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The same as a `usize`.
    pub const fn size(self) -> usize {
        self.bytes() as usize
    }

    /// Binary digits of a float's significand, including the implicit first one; other types have 0.
    pub const fn digits(self) -> u32 {
        self.row().digits
    }

    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }

    /// The smallest and the largest value of an int type.
    pub const fn int_range(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self.kind() {
            Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Unsigned => Some((0, (1 << bits) - 1)),
            Kind::Bool | Kind::Float => None,
        }
    }

    /// The unsigned int type of 8, 16 or 64 bits; for other widths the one of 32.
    pub const fn uint(bits: u32) -> Scalar {
        match bits {
            8 => Scalar::U8,
            16 => Scalar::U16,
            64 => Scalar::U64,
            _ => Scalar::U32,
        }
    }

    /// The unsigned int type of the same width.
    pub const fn as_unsigned(self) -> Scalar {
        Scalar::uint(self.bits())
    }

    /// The signed int type of the same width.
    pub const fn as_signed(self) -> Scalar {
        match self.bits() {
            8 => Scalar::I8,
            16 => Scalar::I16,
            64 => Scalar::I64,
            _ => Scalar::I32,
        }
    }

    /// Whether the types differ at most in the sign of ints, for which SPIR-V has separate operations.
    pub fn is_alike(self, other: Scalar) -> bool {
        self == other || self.is_int() && other.is_int() && self.bits() == other.bits()
    }

    /// The float type to which an int is converted where a float is required: f32 up to 32 bits, else f64.
    pub const fn as_float(self) -> Scalar {
        match self.kind() {
            Kind::Float => self,
            _ if self.bits() > 32 => Scalar::F64,
            _ => Scalar::F32,
        }
    }

    /// The type in which functions of a float are computed.
    pub const fn at_least_f32(self) -> Scalar {
        if matches!(self, Scalar::F64) { Scalar::F64 } else { Scalar::F32 }
    }

    /// The type that represents it in memory that the host shares. A `bool` is one byte, and any byte but 0
    /// reads as `True`; a `bf16` is the upper half of an f32's bits.
    pub const fn in_buffers(self) -> Scalar {
        match self {
            Scalar::Bool => Scalar::U8,
            Scalar::Bf16 => Scalar::U16,
            scalar => scalar,
        }
    }

    /// The type that represents it in the push constants. Members of 8 and 16 bits there need features that a
    /// device may lack, so they are passed in 32 bits. The wide type has every value of the narrow one.
    pub const fn in_push_constants(self) -> Scalar {
        match self.kind() {
            _ if self.bits() >= 32 => self,
            Kind::Bool | Kind::Unsigned => Scalar::U32,
            Kind::Signed => Scalar::I32,
            Kind::Float => Scalar::F32,
        }
    }

    /// Whether the other type has every value of this one, whatever its kind; a bool is 0 or 1 among ints.
    pub fn is_exact_in(self, other: Scalar) -> bool {
        self.widens_to(other)
            || self == Scalar::Bool && other.is_int()
            || self.is_int() && self.bits() - u32::from(self.is_signed()) <= other.digits()
    }

    /// Whether every value of `self` is also one of `other`, within a kind or from unsigned to a
    /// wider signed.
    pub fn widens_to(self, other: Scalar) -> bool {
        if self == other {
            return true;
        }
        match (self.kind(), other.kind()) {
            (Kind::Signed, Kind::Signed)
            | (Kind::Unsigned, Kind::Unsigned)
            | (Kind::Float, Kind::Float)
            | (Kind::Unsigned, Kind::Signed) => self.bits() < other.bits(),
            _ => false,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_declarations_lead_back_to_their_type() {
        for scalar in Scalar::ALL {
            assert_eq!(Scalar::of_name(scalar.name()), Some(scalar));
            assert_eq!(Scalar::parse(scalar.numpy_name()), Some(scalar));
            assert_eq!(Scalar::of_spirv(scalar.spirv()), Some(scalar));
        }
        assert_eq!(Scalar::of_spirv(SpirvType::Int { width: 24, signed: true }), None);
    }

    #[test]
    fn types_hold_the_values_of_others() {
        fn check(from: Scalar, to: Scalar, expect: bool) {
            assert_eq!(from.is_exact_in(to), expect, "{from} {to}");
        }
        check(Scalar::Bool, Scalar::U8, true);
        check(Scalar::U8, Scalar::I16, true);
        check(Scalar::I8, Scalar::U16, false);
        check(Scalar::U8, Scalar::Bf16, true);
        check(Scalar::I16, Scalar::F16, false);
        check(Scalar::I16, Scalar::F32, true);
        check(Scalar::F16, Scalar::F32, true);
        check(Scalar::F32, Scalar::I64, false);
    }
}

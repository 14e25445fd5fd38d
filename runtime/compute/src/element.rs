//! Rust types as elements of tensors.

use half::{bf16, f16};

use crate::DType;
use crate::halves::{to_bf16, to_f16};
use crate::number::Number;

/// A Rust type of tensor elements.
pub trait Element: Copy + sealed::Sealed + 'static {
    const DTYPE: DType;

    /// Reads the element at the start of `bytes`.
    fn load(bytes: &[u8]) -> Self;

    /// Writes the element at the start of `bytes`.
    fn store(self, bytes: &mut [u8]);

    fn number(self) -> Number;

    /// The nearest element: integers wrap around, floats saturate.
    fn from_number(number: Number) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! ints {
    ($($ty:ident $dtype:ident)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;

            #[inline]
            fn load(bytes: &[u8]) -> $ty {
                $ty::from_le_bytes(*bytes.first_chunk().expect("an element's bytes are all there"))
            }

            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes[..size_of::<$ty>()].copy_from_slice(&self.to_le_bytes());
            }

            fn number(self) -> Number {
                Number::Int(self.into())
            }

            fn from_number(number: Number) -> $ty {
                match number {
                    Number::Bool(value) => value.into(),
                    Number::Int(value) => value as $ty,
                    Number::Float(value) => value as $ty,
                }
            }
        }

        impl From<$ty> for Number {
            fn from(value: $ty) -> Number {
                value.number()
            }
        }
    )*};
}

macro_rules! floats {
    ($($ty:ident $dtype:ident |$value:ident| $narrow:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;

            #[inline]
            fn load(bytes: &[u8]) -> $ty {
                $ty::from_le_bytes(*bytes.first_chunk().expect("an element's bytes are all there"))
            }

            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes[..size_of::<$ty>()].copy_from_slice(&self.to_le_bytes());
            }

            fn number(self) -> Number {
                Number::Float(self.into())
            }

            fn from_number(number: Number) -> $ty {
                let $value = number.as_f64();
                $narrow
            }
        }

        impl From<$ty> for Number {
            fn from(value: $ty) -> Number {
                value.number()
            }
        }
    )*};
}

ints! { i8 I8  i16 I16  i32 I32  i64 I64  u8 U8  u16 U16  u32 U32  u64 U64 }

floats! {
    f16 F16 |value| to_f16(value);
    bf16 Bf16 |value| to_bf16(value);
    f32 F32 |value| value as f32;
    f64 F64 |value| value;
}

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    #[inline]
    fn load(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }

    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes[0] = self.into();
    }

    fn number(self) -> Number {
        Number::Bool(self)
    }

    fn from_number(number: Number) -> bool {
        !number.is_zero()
    }
}

impl From<bool> for Number {
    fn from(value: bool) -> Number {
        Number::Bool(value)
    }
}

/// The elements as bytes.
pub fn to_bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(elements)];
    for (element, place) in elements.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
        element.store(place);
    }
    bytes
}

/// The elements in these bytes.
pub fn from_bytes<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::load).collect()
}

/// Evaluates an expression in which `T` is the Rust type of a [`DType`].
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::Bf16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(crate) use with_element;

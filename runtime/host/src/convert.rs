//! Rust values as script values, and back.

use num_bigint::BigInt;

use crate::errors;
use crate::value::{Name, Result, Value};
use crate::vm::Vm;

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

macro_rules! small_ints {
    ($($int:ty),*) => {$(
        impl From<$int> for Value {
            fn from(int: $int) -> Value {
                Value::Int(int as i64)
            }
        }
    )*};
}

small_ints!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Value {
    fn from(int: u64) -> Value {
        Value::big(BigInt::from(int))
    }
}

impl From<usize> for Value {
    fn from(int: usize) -> Value {
        Value::from(int as u64)
    }
}

impl From<f32> for Value {
    fn from(float: f32) -> Value {
        Value::Float(float as f64)
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Value {
        Value::Float(float)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::str(text)
    }
}

impl From<Name> for Value {
    fn from(name: Name) -> Value {
        name.value()
    }
}

impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::None
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(option: Option<T>) -> Value {
        option.map_or(Value::None, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::list(items.into_iter().map(Into::into).collect())
    }
}

/// A Rust type that a script value may become.
pub trait FromValue: Sized {
    fn from_value(vm: &mut Vm, value: &Value) -> Result<Self>;
}

fn expected(what: &str, value: &Value) -> crate::value::Raise {
    errors::type_error(format!("expected {what}, got {}", value.type_name()))
}

impl FromValue for Value {
    fn from_value(_: &mut Vm, value: &Value) -> Result<Value> {
        Ok(value.clone())
    }
}

impl FromValue for () {
    fn from_value(_: &mut Vm, _: &Value) -> Result<()> {
        Ok(())
    }
}

impl FromValue for bool {
    fn from_value(_: &mut Vm, value: &Value) -> Result<bool> {
        match value {
            Value::Bool(truth) => Ok(*truth),
            other => Err(expected("bool", other)),
        }
    }
}

macro_rules! ints_from_value {
    ($($int:ty),*) => {$(
        impl FromValue for $int {
            fn from_value(vm: &mut Vm, value: &Value) -> Result<$int> {
                if let Value::BigInt(big) = value {
                    let out_of_range = |_| errors::overflow_error(concat!("int does not fit into ", stringify!($int)));
                    return <$int>::try_from(&**big).map_err(out_of_range);
                }
                let Some(int) = vm.try_index(value)? else { return Err(expected("int", value)) };
                <$int>::try_from(int)
                    .map_err(|_| errors::overflow_error(concat!("int does not fit into ", stringify!($int))))
            }
        }
    )*};
}

ints_from_value!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl FromValue for f64 {
    fn from_value(_: &mut Vm, value: &Value) -> Result<f64> {
        match crate::ops::number::number(value.base_value()) {
            Some(number) => number.to_f64(),
            None => Err(expected("float", value)),
        }
    }
}

impl FromValue for f32 {
    fn from_value(vm: &mut Vm, value: &Value) -> Result<f32> {
        Ok(f64::from_value(vm, value)? as f32)
    }
}

impl FromValue for String {
    fn from_value(_: &mut Vm, value: &Value) -> Result<String> {
        value.as_str().map(str::to_owned).ok_or_else(|| expected("str", value))
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(vm: &mut Vm, value: &Value) -> Result<Option<T>> {
        if value.is_none() { Ok(None) } else { T::from_value(vm, value).map(Some) }
    }
}

/// From anything that iterates: a list, a tuple, a tensor's data.
impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(vm: &mut Vm, value: &Value) -> Result<Vec<T>> {
        let items = vm.collect(value)?;
        items.iter().map(|item| T::from_value(vm, item)).collect()
    }
}

/// The arguments of a call from Rust: a tuple of values.
pub trait IntoArgs {
    fn into_args(self) -> Vec<Value>;
}

/// A Rust closure that scripts may call: parameters that convert from values, a result into one.
pub trait HostFunction<Params>: 'static {
    const ARITY: usize;
    fn invoke(&self, vm: &mut Vm, args: &[Value]) -> Result;
}

/// A result of a host function: a value, or a value that may have failed.
pub trait IntoResult {
    fn into_result(self) -> Result;
}

impl<T: Into<Value>> IntoResult for T {
    fn into_result(self) -> Result {
        Ok(self.into())
    }
}

impl<T: Into<Value>, E: std::fmt::Display> IntoResult for std::result::Result<T, E> {
    fn into_result(self) -> Result {
        self.map(Into::into).map_err(|error| errors::runtime_error(error.to_string()))
    }
}

macro_rules! tuples {
    ($n:literal: $($ty:ident $at:tt),*) => {
        impl<$($ty: Into<Value>),*> From<($($ty,)*)> for Value {
            fn from(items: ($($ty,)*)) -> Value {
                Value::tuple([$(items.$at.into()),*])
            }
        }

        impl<$($ty: Into<Value>),*> IntoArgs for ($($ty,)*) {
            fn into_args(self) -> Vec<Value> {
                vec![$(self.$at.into()),*]
            }
        }

        impl<$($ty: FromValue),*> FromValue for ($($ty,)*) {
            fn from_value(vm: &mut Vm, value: &Value) -> Result<($($ty,)*)> {
                let items = vm.unpack(value, $n)?;
                Ok(($($ty::from_value(vm, &items[$at])?,)*))
            }
        }

        impl<Func, Out, $($ty: FromValue),*> HostFunction<($($ty,)*)> for Func
        where
            Func: Fn($($ty),*) -> Out + 'static,
            Out: IntoResult,
        {
            const ARITY: usize = $n;

            fn invoke(&self, vm: &mut Vm, args: &[Value]) -> Result {
                self($($ty::from_value(vm, &args[$at])?),*).into_result()
            }
        }
    };
}

tuples!(1: A 0);
tuples!(2: A 0, B 1);
tuples!(3: A 0, B 1, C 2);
tuples!(4: A 0, B 1, C 2, D 3);
tuples!(5: A 0, B 1, C 2, D 3, E 4);
tuples!(6: A 0, B 1, C 2, D 3, E 4, F 5);

impl IntoArgs for () {
    fn into_args(self) -> Vec<Value> {
        Vec::new()
    }
}

impl<Func, Out> HostFunction<()> for Func
where
    Func: Fn() -> Out + 'static,
    Out: IntoResult,
{
    const ARITY: usize = 0;

    fn invoke(&self, _: &mut Vm, _: &[Value]) -> Result {
        self().into_result()
    }
}

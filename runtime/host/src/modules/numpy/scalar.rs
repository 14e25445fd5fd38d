//! NumPy's scalars: one number with an element type.

use kps_compute::number::Number;
use kps_compute::{DType, Element};
use kps_syntax::ast::UnaryOp;
use num_bigint::BigInt;

use super::array::NdArray;
use super::digits::Typed;
use super::operand::{self, Operand};
use super::{errors, methods, operators};
use crate::ops::{Side, number};
use crate::text::format_number::{format_float, format_int};
use crate::text::spec::FormatSpec;
use crate::value::{
    Args, BinaryOp, BuiltinType, CompareOp, Native, NativeDef, NativeFn, NativeType, Result, Value,
};
use crate::vm::Vm;

/// A number with its element type: `np.float32(1.5)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    pub dtype: DType,
    /// Exact for the type: an `f32` is stored as the `f64` of the same value.
    pub number: Number,
}

impl Scalar {
    /// The element at the start of `bytes`.
    pub fn load(dtype: DType, bytes: &[u8]) -> Scalar {
        Scalar { dtype, number: Number::load(dtype, bytes) }
    }

    /// The element's bytes.
    pub fn row(self) -> Vec<u8> {
        let mut bytes = vec![0; self.dtype.size()];
        self.number.wrap(self.dtype, &mut bytes);
        bytes
    }

    /// `.item()`: Python's own number.
    pub fn to_python(self) -> Value {
        match self.number {
            Number::Bool(truth) => Value::Bool(truth),
            Number::Int(int) => match i64::try_from(int) {
                Ok(small) => Value::Int(small),
                Err(_) => Value::big(BigInt::from(int)),
            },
            Number::Float(float) => Value::Float(float),
        }
    }

    /// As `str` shows it.
    pub fn text(self) -> String {
        match self.number {
            Number::Bool(true) => "True".to_owned(),
            Number::Bool(false) => "False".to_owned(),
            Number::Int(int) => int.to_string(),
            Number::Float(value) => Typed { value, dtype: self.dtype }.scalar_text(),
        }
    }
}

impl Native for Scalar {
    fn native_type(&self) -> &'static NativeType {
        type_of_dtype(self.dtype)
    }

    fn get_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<Option<Value>> {
        match index {
            Value::Tuple(indices) if indices.is_empty() => Ok(Some(Value::native(*self))),
            Value::Ellipsis => Ok(Some(Value::native(NdArray::from_row(self.dtype, &[], self.row())))),
            _ => Err(crate::errors::index_error("invalid index to scalar variable.")),
        }
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        // A sequence is repeated, as by an int of Python.
        if let (BinaryOp::Mul, Number::Int(_)) = (op, self.number)
            && let Value::Str(_) | Value::Bytes(_) | Value::List(_) | Value::Tuple(_) = other.base_value()
        {
            return vm.try_binary(op, other, &self.to_python());
        }
        operators::binary(vm, op, side, &Operand::Scalar(*self), other)
    }

    fn unary(&self, _: &Value, _: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        operators::unary(op, &Operand::Scalar(*self))
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        operators::compare(vm, op, &Operand::Scalar(*self), other)
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(!self.number.is_zero())
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(match self.number {
            Number::Bool(true) => "np.True_".to_owned(),
            Number::Bool(false) => "np.False_".to_owned(),
            _ => format!("np.{}({})", self.dtype.numpy_name(), self.text()),
        })
    }

    fn str(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.text())
    }

    fn format(&self, _: &Value, _: &mut Vm, spec: &str) -> Result<Option<String>> {
        if spec.is_empty() {
            // As the Python float of the same value, all its digits shown.
            return Ok(Some(match self.number {
                Number::Float(value) => Typed { value, dtype: DType::F64 }.scalar_text(),
                _ => self.text(),
            }));
        }
        let formatted = match self.number {
            Number::Float(float) => {
                FormatSpec::parse(spec, "float").and_then(|spec| format_float(float, &spec))
            }
            Number::Int(int) => {
                FormatSpec::parse(spec, "int").and_then(|spec| format_int(&int.into(), &spec))
            }
            Number::Bool(truth) => {
                FormatSpec::parse(spec, "int").and_then(|spec| format_int(&u8::from(truth).into(), &spec))
            }
        };
        formatted.map(Some).map_err(|error| crate::errors::value_error(error.message()))
    }

    fn number(&self) -> Option<Value> {
        Some(self.to_python())
    }

    fn same_key(&self, other: &Value) -> bool {
        let other = match other.downcast::<Scalar>() {
            Some(scalar) => scalar.to_python(),
            None => other.clone(),
        };
        number::equal(&self.to_python(), &other) == Some(true)
    }
}

static METHODS: &[NativeDef] = &[
    NativeDef::method("__float__", float),
    NativeDef::method("__int__", int),
    NativeDef::method("__bool__", bool),
    NativeDef::method("__round__", round),
    NativeDef::method("__abs__", methods::absolute),
    NativeDef::method("is_integer", is_integer),
];

static INT_METHODS: &[NativeDef] =
    &[NativeDef::method("__index__", int), NativeDef::method("bit_count", bit_count)];

/// Members of Python's floats, which a `float64` is.
static FLOAT64_METHODS: &[NativeDef] =
    &[NativeDef::method("hex", hex), NativeDef::method("as_integer_ratio", as_integer_ratio)];

macro_rules! abstract_types {
    ($($id:ident $name:literal $base:expr, $methods:expr;)*) => {$(
        pub static $id: NativeType =
            NativeType { base: $base, methods: $methods, ..NativeType::new($name, "numpy") };
    )*};
}

abstract_types! {
    GENERIC "generic" None, methods::METHODS;
    NUMBER "number" Some(&GENERIC), METHODS;
    INTEGER "integer" Some(&NUMBER), INT_METHODS;
    SIGNED "signedinteger" Some(&INTEGER), &[];
    UNSIGNED "unsignedinteger" Some(&INTEGER), &[];
    INEXACT "inexact" Some(&NUMBER), &[];
    FLOATING "floating" Some(&INEXACT), &[];
}

macro_rules! scalar_types {
    ($($id:ident $name:literal $base:ident $at:literal $methods:expr;)*) => {
        $(static $id: NativeType = NativeType {
            base: Some(&$base),
            new: Some(new::<$at> as NativeFn),
            methods: $methods,
            // NumPy's class derives from Python's float, too.
            passes_for: if $at == DType::F64 as usize { Some(BuiltinType::Float) } else { None },
            ..NativeType::new($name, "numpy")
        };)*

        /// The classes of scalars, in the order of [`DType::ALL`].
        pub static SCALARS: [&NativeType; 13] = [$(&$id),*];
    };
}

scalar_types! {
    BOOL "bool" GENERIC 0 METHODS;
    INT8 "int8" SIGNED 1 &[];
    INT16 "int16" SIGNED 2 &[];
    INT32 "int32" SIGNED 3 &[];
    INT64 "int64" SIGNED 4 &[];
    UINT8 "uint8" UNSIGNED 5 &[];
    UINT16 "uint16" UNSIGNED 6 &[];
    UINT32 "uint32" UNSIGNED 7 &[];
    UINT64 "uint64" UNSIGNED 8 &[];
    FLOAT16 "float16" FLOATING 9 &[];
    BFLOAT16 "bfloat16" FLOATING 10 &[];
    FLOAT32 "float32" FLOATING 11 &[];
    FLOAT64 "float64" FLOATING 12 FLOAT64_METHODS;
}

/// The classes that scalars derive from.
pub static ABSTRACT: [&NativeType; 7] =
    [&GENERIC, &NUMBER, &INTEGER, &SIGNED, &UNSIGNED, &INEXACT, &FLOATING];

pub fn type_of_dtype(dtype: DType) -> &'static NativeType {
    SCALARS[dtype as usize]
}

pub fn dtype_of_type(ty: &'static NativeType) -> Option<DType> {
    let at = SCALARS.iter().position(|scalar| std::ptr::eq(*scalar, ty))?;
    Some(DType::ALL[at])
}

/// `np.float32(value)`: a scalar, or an array if the value is one or a list.
fn new<const AT: usize>(vm: &mut Vm, args: &Args) -> Result {
    let dtype = DType::ALL[AT];
    let mut parser = args.parser(dtype.numpy_name());
    let value = parser.optional_positional();
    parser.finish()?;
    let Some(value) = value else {
        return Ok(Value::native(Scalar { dtype, number: Number::Int(0).of(dtype) }));
    };
    if let Some(text) = value.as_str() {
        return from_text(vm, dtype, value, text);
    }
    match operand::from_value(vm, value)? {
        Some(operand) => {
            let row = operand.row_as(dtype)?;
            Ok(operators::wrap(dtype, operand.shape(), row))
        }
        None => Err(errors::not_a_number(value)),
    }
}

fn from_text(vm: &mut Vm, dtype: DType, value: &Value, text: &str) -> Result {
    let class = if dtype.is_int() { "int" } else { "float" };
    if dtype == DType::Bool {
        return Ok(Value::native(Scalar { dtype, number: Number::Bool(!text.is_empty()) }));
    }
    let constructor = match class {
        "int" => vm.builtin_class(BuiltinType::Int),
        _ => vm.builtin_class(BuiltinType::Float),
    };
    let number = vm.call(&Value::Class(constructor), std::slice::from_ref(value))?;
    match operand::from_value(vm, &number)? {
        Some(operand) => Ok(operators::wrap(dtype, &[], operand.row_as(dtype)?)),
        None => Err(errors::not_a_number(value)),
    }
}

/// A number as it becomes when it is stored in a type.
pub trait OfType {
    fn of(self, dtype: DType) -> Number;
}

impl OfType for Number {
    fn of(self, dtype: DType) -> Number {
        let mut bytes = [0; 8];
        self.wrap(dtype, &mut bytes);
        Number::load(dtype, &bytes)
    }
}

fn float(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Float(args.this::<Scalar>()?.number.as_f64()))
}

fn int(vm: &mut Vm, args: &Args) -> Result {
    let scalar = args.this::<Scalar>()?;
    match scalar.number {
        Number::Float(float) => {
            let class = vm.builtin_class(BuiltinType::Int);
            vm.call(&Value::Class(class), &[Value::Float(float)])
        }
        Number::Bool(truth) => Ok(Value::Int(truth as i64)),
        Number::Int(_) => Ok(scalar.to_python()),
    }
}

fn bool(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Bool(!args.this::<Scalar>()?.number.is_zero()))
}

/// `round(x)` is an int, `round(x, n)` a scalar of the same type.
fn round(vm: &mut Vm, args: &Args) -> Result {
    let scalar = *args.this::<Scalar>()?;
    let digits = match args.positional().get(1) {
        None | Some(Value::None) => None,
        Some(digits) => Some(vm.index(digits)?),
    };
    let rounded = methods::round_operand(&Operand::Scalar(scalar), digits.unwrap_or(0))?;
    match digits {
        Some(_) => Ok(rounded),
        None => {
            let class = vm.builtin_class(BuiltinType::Int);
            vm.call(&Value::Class(class), &[rounded])
        }
    }
}

fn hex(vm: &mut Vm, args: &Args) -> Result {
    vm.call_method(&args.this::<Scalar>()?.to_python(), "hex", &[])
}

fn as_integer_ratio(vm: &mut Vm, args: &Args) -> Result {
    vm.call_method(&args.this::<Scalar>()?.to_python(), "as_integer_ratio", &[])
}

fn is_integer(_: &mut Vm, args: &Args) -> Result {
    let number = args.this::<Scalar>()?.number;
    Ok(Value::Bool(match number {
        Number::Float(float) => float.is_finite() && float.fract() == 0.0,
        _ => true,
    }))
}

fn bit_count(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bit_count")?;
    let number = args.this::<Scalar>()?.number;
    Ok(Value::from(match number {
        Number::Int(int) => int.unsigned_abs().count_ones(),
        _ => 0,
    }))
}

/// An element of a Rust type as a scalar.
pub fn scalar<T: Element>(element: T) -> Value {
    Value::native(Scalar { dtype: T::DTYPE, number: element.number() })
}

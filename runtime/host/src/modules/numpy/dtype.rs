//! `numpy.dtype` objects, and all values that scripts can write for an element type.

use std::hash::{DefaultHasher, Hash, Hasher};

use kps_array::ElementType;
use kps_compute::DType;

use super::records::{self, Alignment};
use super::{errors, scalar};
use crate::builtins::complex;
use crate::modules::kernels::structs;
use crate::value::{Args, BuiltinType, CompareOp, Layout, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static DTYPE: NativeType = NativeType {
    methods: &[
        NativeDef::getter("name", name),
        NativeDef::getter("itemsize", itemsize),
        NativeDef::getter("kind", kind),
        NativeDef::getter("char", char),
        NativeDef::getter("str", code),
        NativeDef::getter("type", scalar_type),
    ],
    new: Some(new),
    ..NativeType::new("dtype", "numpy").doc("(dtype, align=False)", "The type of an array's elements.")
};

/// An element type as an object: `np.dtype("float32")`, `array.dtype`.
pub struct DTypeObject(pub ElementType);

impl Native for DTypeObject {
    fn native_type(&self) -> &'static NativeType {
        &DTYPE
    }

    /// Equal to whatever means the same type: `a.dtype == np.float32`, `a.dtype == "float32"`.
    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let is_same = find(vm, other)? == Some(self.0);
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(is_same)),
            CompareOp::NotEq => Some(Value::Bool(!is_same)),
            _ => None,
        })
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("dtype('{}')", self.0.numpy_name()))
    }

    fn str(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.0.numpy_name().to_owned())
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        Ok(Some(hasher.finish() as i64))
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<DTypeObject>().is_some_and(|other| other.0 == self.0)
    }
}

pub fn object(dtype: impl Into<ElementType>) -> Value {
    Value::native(DTypeObject(dtype.into()))
}

fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("dtype");
    let dtype = parser.required("dtype")?;
    let align = parser.optional("align")?;
    parser.finish()?;
    if let Value::List(_) = dtype {
        let alignment = match align.map_or(Ok(false), |align| vm.truth(align))? {
            true => Alignment::AsInC,
            false => Alignment::None,
        };
        return records::of_fields(vm, dtype, alignment);
    }
    if let Some(of) = records::type_of(dtype) {
        return Ok(structs::type_value(vm, &of));
    }
    Ok(object(element_type(vm, dtype)?))
}

/// The type of an array's elements that a value denotes: a dtype object, a scalar class, `float`, `"f4"`, or an object
/// with a dtype.
pub fn from_value(vm: &mut Vm, value: &Value) -> Result<DType> {
    let ty = element_type(vm, value)?;
    ty.real().ok_or_else(|| errors::no_complex_arrays(ty.numpy_name()))
}

/// The same; tensors have complex numbers, too.
pub fn element_type(vm: &mut Vm, value: &Value) -> Result<ElementType> {
    match find(vm, value)? {
        Some(dtype) => Ok(dtype),
        None => Err(match value.as_str() {
            Some(name) => errors::unknown_dtype(name),
            None => errors::not_a_dtype(value),
        }),
    }
}

/// The same for an optional argument, which may be None.
pub fn from_argument(vm: &mut Vm, value: Option<&Value>) -> Result<Option<DType>> {
    match value {
        None | Some(Value::None) => Ok(None),
        Some(value) => from_value(vm, value).map(Some),
    }
}

fn find(vm: &mut Vm, value: &Value) -> Result<Option<ElementType>> {
    if let Some(object) = value.downcast::<DTypeObject>() {
        return Ok(Some(object.0));
    }
    match value {
        Value::Class(class) => Ok(match class.layout {
            Layout::Native(ty) if std::ptr::eq(ty, &complex::TYPE) => Some(ElementType::Complex128),
            Layout::Native(ty) => scalar::dtype_of_type(ty).map(ElementType::Real),
            Layout::Builtin(BuiltinType::Bool) => Some(DType::Bool.into()),
            Layout::Builtin(BuiltinType::Int) => Some(DType::I64.into()),
            Layout::Builtin(BuiltinType::Float) => Some(DType::F64.into()),
            _ => None,
        }),
        Value::Native(object) => {
            // A kernel type is called by its name, and arrays and tensors have a dtype.
            let _ = object;
            for attr in ["dtype", "name"] {
                let Some(found) = vm.find_attr(value, attr)? else { continue };
                if let Some(dtype) = found.downcast::<DTypeObject>() {
                    return Ok(Some(dtype.0));
                }
                if let Some(dtype) = found.as_str().and_then(ElementType::parse) {
                    return Ok(Some(dtype));
                }
            }
            Ok(None)
        }
        other => Ok(other.as_str().and_then(parse)),
    }
}

/// A name or a code, such as `float32`, `f4`, `<f4`, `f`. If NumPy and kernels disagree (`i8`), NumPy's
/// meaning applies.
pub fn parse(text: &str) -> Option<ElementType> {
    let native = text.strip_prefix(['<', '=', '|']).unwrap_or(text);
    let real = match native {
        "?" | "b1" | "bool_" => DType::Bool,
        "b" | "i1" | "byte" => DType::I8,
        "h" | "i2" | "short" => DType::I16,
        "i" | "i4" | "intc" => DType::I32,
        "l" | "q" | "p" | "i8" | "int" | "int_" | "long" | "longlong" | "intp" => DType::I64,
        "B" | "u1" | "ubyte" => DType::U8,
        "H" | "u2" | "ushort" => DType::U16,
        "I" | "u4" | "uintc" => DType::U32,
        "L" | "Q" | "P" | "u8" | "uint" | "ulong" | "ulonglong" | "uintp" => DType::U64,
        "e" | "f2" | "half" => DType::F16,
        "f" | "f4" | "single" => DType::F32,
        "d" | "f8" | "float" | "double" => DType::F64,
        "F" | "c8" | "csingle" => return Some(ElementType::Complex64),
        "D" | "c16" | "complex" | "cdouble" => return Some(ElementType::Complex128),
        name => return ElementType::parse(name),
    };
    Some(real.into())
}

/// `<i4`, as files have it.
pub fn code_of(dtype: impl Into<ElementType>) -> String {
    let dtype = dtype.into();
    let order = if dtype.size() == 1 { '|' } else { '<' };
    format!("{order}{}{}", kind_of(dtype), dtype.size())
}

fn kind_of(dtype: ElementType) -> &'static str {
    dtype.real().map_or("c", DType::numpy_kind)
}

fn this(args: &Args) -> Result<ElementType> {
    Ok(args.this::<DTypeObject>()?.0)
}

fn name(_: &mut Vm, args: &Args) -> Result {
    Ok(this(args)?.numpy_name().into())
}

fn itemsize(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(this(args)?.size() as i64))
}

fn kind(_: &mut Vm, args: &Args) -> Result {
    Ok(kind_of(this(args)?).into())
}

fn code(_: &mut Vm, args: &Args) -> Result {
    Ok(code_of(this(args)?).into())
}

fn char(_: &mut Vm, args: &Args) -> Result {
    Ok(match this(args)? {
        ElementType::Real(dtype) => dtype.numpy_char(),
        ElementType::Complex64 => "F",
        ElementType::Complex128 => "D",
    }
    .into())
}

fn scalar_type(vm: &mut Vm, args: &Args) -> Result {
    let ty = this(args)?.real().map_or(&complex::TYPE, scalar::type_of_dtype);
    Ok(Value::Class(vm.native_class(ty)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_lead_to_types() {
        fn check(text: &str, expect: Option<DType>) {
            assert_eq!(parse(text).and_then(ElementType::real), expect, "{text}");
        }
        check("float32", Some(DType::F32));
        check("<f4", Some(DType::F32));
        check("i8", Some(DType::I64));
        check("int8", Some(DType::I8));
        check("|b1", Some(DType::Bool));
        check("foo", None);
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bf16) {
            check(&code_of(dtype), Some(dtype));
        }
    }
}

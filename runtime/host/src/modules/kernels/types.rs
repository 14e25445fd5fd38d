//! The types of kernels as host values: `f32`, `ivec3`, `Array(f32)`, what annotations and PyShader's
//! parameter tuples are made of.

use kps_compute::{DType, Number};
use kps_kernel::Type;

use crate::errors::{overflow_error, type_error};
use crate::modules::kp;
use crate::value::{Args, CompareOp, Native, NativeType, Result, Value};
use crate::vm::Vm;

pub static KERNEL_TYPE: NativeType = NativeType::new("KernelType", "pyshader");

/// Names of types that stand alone.
pub const NAMES: &[&str] = &[
    "boolean", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "vec2",
    "vec3", "vec4", "ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4", "bvec2", "bvec3", "bvec4", "dvec2",
    "dvec3", "dvec4", "hvec2", "hvec3", "hvec4", "mat2", "mat3", "mat4", "mat2x2", "mat2x3", "mat2x4",
    "mat3x2", "mat3x3", "mat3x4", "mat4x2", "mat4x3", "mat4x4", "void",
];

/// Names of what makes types of other types.
pub const CONSTRUCTORS: &[&str] = &["Array", "Vector", "Matrix", "Struct", "const"];

/// A type, or what makes one, by the text that it is written with.
pub struct KernelType {
    text: String,
}

impl KernelType {
    pub fn named(name: &str) -> Value {
        Value::native(KernelType { text: name.to_owned() })
    }

    /// The name, where it is a name alone.
    pub fn name(&self) -> Option<&str> {
        let is_name = NAMES.contains(&self.text.as_str()) || CONSTRUCTORS.contains(&self.text.as_str());
        is_name.then_some(self.text.as_str())
    }

    fn is_constructor(&self) -> bool {
        CONSTRUCTORS.contains(&self.text.as_str())
    }

    /// The type of elements that tensors have too.
    fn dtype(&self) -> Option<DType> {
        if self.text == "boolean" { Some(DType::Bool) } else { DType::parse(&self.text) }
    }

    fn applied(&self, arguments: &[String], brackets: [char; 2]) -> Value {
        let [open, close] = brackets;
        Value::native(KernelType { text: format!("{}{open}{}{close}", self.text, arguments.join(", ")) })
    }
}

impl Native for KernelType {
    fn native_type(&self) -> &'static NativeType {
        &KERNEL_TYPE
    }

    /// `name` is what makes a type good wherever a dtype is asked for.
    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        Ok(match name {
            "name" | "__name__" => Some(self.text.as_str().into()),
            _ => None,
        })
    }

    fn is_callable(&self) -> bool {
        true
    }

    /// `Array(f32)` makes a type, `f32(x)` a number as the type holds it.
    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        if self.is_constructor() {
            let mut arguments = Vec::new();
            for argument in args.positional() {
                arguments.push(vm.str(argument)?);
            }
            for (name, argument) in args.keywords() {
                arguments.push(format!("{}={}", &**name, vm.str(argument)?));
            }
            return Ok(Some(self.applied(&arguments, ['(', ')'])));
        }
        let Some(dtype) = self.dtype() else {
            let message = format!("`{}` values exist inside of kernels only", self.text);
            return Err(type_error(message));
        };
        let [argument] = args.exactly(&self.text)?;
        let number = kp::number(argument)?.ok_or_else(|| {
            type_error(format!("{}() takes a number, not {}", self.text, argument.type_name()))
        })?;
        let mut element = [0; 8];
        let unfit = |_| overflow_error(format!("{number} is out of range for {}", self.text));
        number.store(dtype, &mut element).map_err(unfit)?;
        Ok(Some(kp::number_value(Number::load(dtype, &element))))
    }

    /// `Array[f32]`, `const[i32]`.
    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if !self.is_constructor() {
            return Ok(None);
        }
        let mut arguments = Vec::new();
        match index {
            Value::Tuple(items) => {
                for item in items.iter() {
                    arguments.push(vm.str(item)?);
                }
            }
            one => arguments.push(vm.str(one)?),
        }
        Ok(Some(self.applied(&arguments, ['[', ']'])))
    }

    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let same = other.downcast::<KernelType>().is_some_and(|other| self.text == other.text);
        Ok(match op {
            CompareOp::Eq => Some(same.into()),
            CompareOp::NotEq => Some((!same).into()),
            _ => None,
        })
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(self.text.bytes().fold(7, |hash, byte| hash.wrapping_mul(31) ^ i64::from(byte))))
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<KernelType>().is_some_and(|other| self.text == other.text)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.text.clone())
    }
}

/// The type of array elements that a tensor's dtype is.
pub fn element_type(dtype: DType) -> Type {
    Type::by_name(dtype.name()).expect("kernels know every dtype by its name")
}

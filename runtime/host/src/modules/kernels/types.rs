//! The types of kernels as host values: `f32`, `ivec3`, `Array(f32)`. Annotations and PyShader's parameter
//! tuples consist of them.

use std::cell::RefCell;
use std::rc::Rc;

use kps_compute::{DType, Number};
use kps_kernel::{ArrayParam, MAX_STRUCT_BYTES, Member, StructType, Type, TypeExpr};

use super::construct::construct;
use super::library_struct::LibraryStruct;
use super::{errors, structs};
use crate::errors::{overflow_error, type_error};
use crate::modules::{kp, numpy};
use crate::value::{Args, CompareOp, Native, NativeType, Result, Value};
use crate::vm::Vm;

pub static KERNEL_TYPE: NativeType =
    NativeType::new("KernelType", "pyshader").doc("", "A type of values in kernels.");

/// Names of types without parameters.
pub const NAMES: &[&str] = &[
    "boolean", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "vec2",
    "vec3", "vec4", "ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4", "bvec2", "bvec3", "bvec4", "dvec2",
    "dvec3", "dvec4", "hvec2", "hvec3", "hvec4", "mat2", "mat3", "mat4", "mat2x2", "mat2x3", "mat2x4",
    "mat3x2", "mat3x3", "mat3x4", "mat4x2", "mat4x3", "mat4x4", "void",
];

/// Names of type constructors.
pub const CONSTRUCTORS: &[&str] = &["Array", "Vector", "Matrix", "Struct", "const"];

/// `__doc__` of types that are no plain values.
const DOCS: [(&str, &str); 6] = [
    ("Array", "The type of a parameter that is a tensor: `Array[f32]`, or `Array[f32, 2]` with two axes."),
    ("Vector", "Makes a vector type: `Vector(3, f32)` is `vec3`."),
    ("Matrix", "Makes a matrix type of columns and rows: `Matrix(2, 3, f32)` is `mat2x3`."),
    ("Struct", "Makes a struct type: `Struct(position=vec2, mass=f32)`."),
    ("const", "The type of a parameter whose value is compiled in: `const[i32]`."),
    ("void", "PyShader's type of no value."),
];

/// A type, or a type constructor, with its source text.
pub struct KernelType {
    text: String,
    /// `None` for a type constructor: `Vector`.
    ty: Option<TypeExpr>,
    /// A struct with newer methods, as its class had them at the last use by a kernel.
    pub latest: RefCell<Option<Rc<StructType>>>,
}

impl KernelType {
    pub fn named(name: &str) -> Value {
        KernelType::value(name.to_owned(), Type::by_name(name).map(TypeExpr::Value))
    }

    pub fn of_struct(of: &Rc<StructType>) -> Value {
        KernelType::of_type(Type::Struct(of.clone()))
    }

    fn of_type(ty: Type) -> Value {
        KernelType::value(ty.to_string(), Some(TypeExpr::Value(ty)))
    }

    fn value(text: String, ty: Option<TypeExpr>) -> Value {
        Value::native(KernelType { text, ty, latest: RefCell::default() })
    }

    /// The type, if values can have it.
    pub fn ty(&self) -> Option<&Type> {
        match &self.ty {
            Some(TypeExpr::Value(ty)) => Some(ty),
            _ => None,
        }
    }

    /// The type as a declaration of a parameter.
    pub fn declares(&self) -> Option<&TypeExpr> {
        self.ty.as_ref()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name, if it is a plain name.
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

    fn applied(&self, arguments: &[String], [open, close]: [char; 2], ty: Option<TypeExpr>) -> Value {
        let text = format!("{}{open}{}{close}", self.text, arguments.join(", "));
        KernelType::value(text, ty)
    }

    /// `Array[f32]`, `Array(f32, 2)`, `const[i32]`; `None` for an invalid declaration, which is reported when
    /// a kernel uses it.
    fn declared_of(&self, given: &[Value]) -> Option<TypeExpr> {
        let rank = |n: &Value| n.as_int().and_then(|n| u8::try_from(n).ok()).filter(|n| (1..=8).contains(n));
        match (self.text.as_str(), given) {
            ("Array", [element]) => Some(TypeExpr::Buffer(ArrayParam::flat(type_of(element)?))),
            ("Array", [element, n]) => Some(TypeExpr::Buffer(ArrayParam::new(type_of(element)?, rank(n)?))),
            ("const", [ty]) => match type_of(ty)? {
                Type::Scalar(scalar) => Some(TypeExpr::Const(scalar)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl KernelType {
    /// `Array(4, f32)`, `Vector(2, i32)`, `Struct(a=f32)`: the types of values; `None` for the others.
    fn made_of(&self, args: &Args) -> Result<Option<Type>> {
        let given = args.positional();
        match (self.text.as_str(), given) {
            ("Array", [len, element]) => {
                // `Array(f32, 2)` has any number of elements.
                let Some(element) = type_of(element) else {
                    return type_of(len).map(|_| None).ok_or_else(errors::bad_array);
                };
                let len = len.as_int().and_then(|len| u32::try_from(len).ok());
                let len = len.filter(|len| (1..=0xffff).contains(len)).ok_or_else(errors::bad_array_len)?;
                Ok(Some(Type::array(len, element)))
            }
            ("Vector", [n, scalar]) => match (n.as_int(), type_of(scalar)) {
                (Some(n @ 2..=4), Some(Type::Scalar(scalar))) => Ok(Some(Type::Vector(n as u8, scalar))),
                (len, element) => Err(errors::bad_vector(len, element.as_ref())),
            },
            ("Matrix", [columns, rows, scalar]) => match (columns.as_int(), rows.as_int(), type_of(scalar)) {
                (Some(columns @ 2..=4), Some(rows @ 2..=4), Some(Type::Scalar(scalar)))
                    if scalar.is_float() =>
                {
                    Ok(Some(Type::Matrix { columns: columns as u8, rows: rows as u8, scalar }))
                }
                _ => Err(errors::bad_matrix()),
            },
            ("Vector", _) => Err(errors::bad_vector(None, None)),
            ("Matrix", _) => Err(errors::bad_matrix()),
            ("Array", [element, ..]) if type_of(element).is_some() => Ok(None),
            ("Array", _) => Err(errors::bad_array()),
            ("Struct", []) => struct_of(args).map(Some),
            ("Struct", _) => Err(errors::unnamed_member()),
            _ => Ok(None),
        }
    }
}

fn struct_of(args: &Args) -> Result<Type> {
    let mut of = StructType::new(Vec::new());
    for (name, ty) in args.keywords() {
        let ty = type_of(ty).ok_or_else(|| errors::member_type("Struct", name, ty))?;
        of.members.push(Member::new(&**name, ty));
    }
    if of.size() > MAX_STRUCT_BYTES {
        return Err(errors::struct_too_large("Struct", MAX_STRUCT_BYTES));
    }
    Ok(Type::Struct(Rc::new(of)))
}

/// The type of values that a value of the script names.
pub fn type_of(value: &Value) -> Option<Type> {
    match value {
        Value::Class(class) => structs::type_of_class(class).or_else(|| Type::by_name(&class.name)),
        Value::Str(name) => Type::by_name(name),
        value => match value.downcast::<LibraryStruct>() {
            Some(of) => Some(of.ty().clone()),
            None => value.downcast::<KernelType>()?.ty().cloned(),
        },
    }
}

/// `shadertype_as_ctype(type)`: the memory layout of a type. A number is a dtype of NumPy's. A composite is a
/// callable type, whose `itemsize` is the bytes of one value.
pub fn as_ctype(vm: &mut Vm, args: &Args) -> Result {
    let [given] = args.exactly("shadertype_as_ctype")?;
    let ty = match given.as_str() {
        Some(text) => kps_kernel::type_named(text),
        None => type_of(given),
    };
    match ty.filter(Type::has_layout) {
        Some(Type::Scalar(scalar)) => Ok(numpy::dtype_object(scalar)),
        Some(Type::Struct(of)) => Ok(structs::type_value(vm, &of)),
        Some(ty) => Ok(KernelType::of_type(ty)),
        None => Err(errors::no_ctype(&vm.repr(given)?)),
    }
}

/// Attributes of PyShader's types: `length`, `subtype`, `keys`, and a struct's members by name.
fn type_attr(ty: &Type, name: &str) -> Option<Value> {
    match (ty, name) {
        (Type::Struct(of), name) if of.member(name).is_some() => {
            of.member(name).map(|(_, member)| KernelType::of_type(member.ty.clone()))
        }
        (Type::Struct(of), "keys") => {
            Some(Value::tuple(of.members.iter().map(|member| Value::from(&*member.name)).collect::<Vec<_>>()))
        }
        (Type::Matrix { columns, .. }, "cols") => Some(Value::Int((*columns).into())),
        (Type::Matrix { rows, .. }, "rows") => Some(Value::Int((*rows).into())),
        (Type::Matrix { scalar, .. }, "subtype") => Some(KernelType::of_type(Type::Scalar(*scalar))),
        (_, "length") => ty.n_parts().map(|n| Value::Int(n.into())),
        (Type::Vector(..) | Type::Array(_), "subtype") => ty.part(0).map(KernelType::of_type),
        (_, "itemsize") => Some(Value::Int(ty.packed_size().into())),
        _ => None,
    }
}

impl Native for KernelType {
    fn native_type(&self) -> &'static NativeType {
        &KERNEL_TYPE
    }

    /// `name` makes a type usable wherever a dtype is expected.
    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        Ok(match name {
            "name" | "__name__" => Some(self.text.as_str().into()),
            "__doc__" => DOCS.iter().find(|(name, _)| *name == self.text).map(|(_, doc)| (*doc).into()),
            _ => self.ty().and_then(|ty| type_attr(ty, name)),
        })
    }

    fn is_callable(&self) -> bool {
        true
    }

    /// `Array(f32)` creates a type, `f32(x)` a number with the type's precision.
    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        if self.is_constructor() {
            if let Some(ty) = self.made_of(args)? {
                return Ok(Some(KernelType::of_type(ty)));
            }
            let mut arguments = Vec::new();
            for argument in args.positional() {
                arguments.push(vm.str(argument)?);
            }
            for (name, argument) in args.keywords() {
                arguments.push(format!("{}={}", &**name, vm.str(argument)?));
            }
            return Ok(Some(self.applied(&arguments, ['(', ')'], self.declared_of(args.positional()))));
        }
        if let Some(ty @ Type::Struct(of)) = self.ty() {
            // As ctypes has it: a struct of zeros, to be filled in.
            if args.positional().is_empty() && !args.has_keywords() {
                return structs::unpack(vm, ty, &vec![0; ty.packed_size() as usize]).map(Some);
            }
            let class = structs::class_of(vm, of);
            return vm.instantiate(&class, args).map(Some);
        }
        if let Some(ty @ (Type::Vector(..) | Type::Matrix { .. } | Type::Array(_))) = self.ty() {
            return construct(vm, ty, args).map(Some);
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
        let given = match index {
            Value::Tuple(items) => items.to_vec(),
            one => vec![one.clone()],
        };
        let mut arguments = Vec::new();
        for argument in &given {
            arguments.push(vm.str(argument)?);
        }
        Ok(Some(self.applied(&arguments, ['[', ']'], self.declared_of(&given))))
    }

    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let same = self.same_key(other);
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
        other.downcast::<KernelType>().is_some_and(|other| self.text == other.text && self.ty == other.ty)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.text.clone())
    }
}

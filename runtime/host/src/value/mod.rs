//! Values of the host language: sixteen bytes, numbers unboxed, objects behind non-atomic counts.
//!
//! Dropping the last reference to an object frees it at once; `teardown` keeps deep structures from
//! overflowing the stack. Cycles stay until the host ends, and are freed then (`vm/cycles.rs`).
//!
//! To add a kind of object from a module, do not add a variant: implement [`Native`] (see `native.rs`).

mod class;
mod dict;
mod exception;
mod function;
mod instance;
mod iter;
mod name;
mod native;
mod sequence;
mod set;
mod teardown;

use std::borrow::Cow;
use std::rc::Rc;

use num_bigint::BigInt;

pub use class::{BuiltinType, Class, Layout};
pub(crate) use dict::PlainKey;
pub(crate) use dict::plain_equal;
pub use dict::{Dict, HashedKey, PassHash};
pub use exception::{ExceptionData, ExceptionKind, KernelPlace, Order, Raise, Result, TraceEntry};
pub use function::{
    Annotations, Args, BoundMethod, Cell, Descriptor, Doc, Function, NativeCode, NativeDef, NativeFn,
    NativeFunction, NativeKind, Parser, Super, joined,
};
pub use instance::{Fields, Instance, Payload, Shape};
pub use iter::{Generator, GeneratorState, Iter, IterState, NativeIter};
pub use name::{Attrs, Name, Str, TextKey};
pub use native::{BinaryOp, CompareOp, Module, Namespace, Native, NativeModule, NativeObject, NativeType};
pub use sequence::{Bytes, List, Range, Slice, Tuple};
pub use set::Set;
pub(crate) use teardown::teardown;

/// Any value of the host language.
///
/// The tag of `Unset` is zero, so that zeroed memory is a row of empty registers.
#[derive(Clone, Default)]
#[repr(u8)]
pub enum Value {
    /// An empty register or slot; never visible to a script.
    #[default]
    Unset = 0,
    None,
    NotImplemented,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    // From here on, objects. ORDER VALUE: `is_object` compares with `Str`.
    Str(Rc<Str>),
    /// An int outside of i64; one that fits is always `Int`.
    BigInt(Rc<BigInt>),
    Bytes(Rc<Bytes>),
    List(Rc<List>),
    Tuple(Rc<Tuple>),
    Dict(Rc<Dict>),
    Set(Rc<Set>),
    FrozenSet(Rc<Set>),
    Range(Rc<Range>),
    Slice(Rc<Slice>),
    Function(Rc<Function>),
    NativeFunction(Rc<NativeFunction>),
    Method(Rc<BoundMethod>),
    Descriptor(Rc<Descriptor>),
    Super(Rc<Super>),
    Class(Rc<Class>),
    Instance(Rc<Instance>),
    Module(Rc<Module>),
    Iter(Rc<Iter>),
    Generator(Rc<Generator>),
    Native(Rc<NativeObject>),
    /// A captured variable; lives in registers and closures, never visible to a script.
    Cell(Rc<Cell>),
}

const _: () = assert!(size_of::<Value>() == 16);

impl Value {
    pub fn str(text: impl Into<String>) -> Value {
        Value::Str(Rc::new(Str::new(text)))
    }

    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Value {
        Value::Bytes(Rc::new(Bytes(bytes.into())))
    }

    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(items)))
    }

    pub fn tuple(items: impl Into<Box<[Value]>>) -> Value {
        Value::Tuple(Rc::new(Tuple::new(items)))
    }

    pub fn native(object: impl Native) -> Value {
        Value::Native(Rc::new(NativeObject::new(object)))
    }

    pub fn iter(state: IterState) -> Value {
        Value::Iter(Rc::new(Iter::new(state)))
    }

    /// An iterator written in Rust.
    pub fn native_iter(iter: impl NativeIter) -> Value {
        Value::iter(IterState::Native(Box::new(iter)))
    }

    /// An int of any size: small ones are unboxed.
    pub fn big(int: BigInt) -> Value {
        match i64::try_from(&int) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::BigInt(Rc::new(int)),
        }
    }

    pub fn bool(truth: bool) -> Value {
        Value::Bool(truth)
    }

    /// The host object of Rust type `T`, when this is one.
    pub fn downcast<T: Native>(&self) -> Option<&T> {
        match self {
            Value::Native(object) => object.downcast::<T>(),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn is_object(&self) -> bool {
        !matches!(
            self,
            Value::Unset
                | Value::None
                | Value::NotImplemented
                | Value::Ellipsis
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
        )
    }

    #[inline(always)]
    pub fn is_unset(&self) -> bool {
        matches!(self, Value::Unset)
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// `None` for the script's `None`.
    pub fn not_none(self) -> Option<Value> {
        if self.is_none() { None } else { Some(self) }
    }

    pub fn is_callable_kind(&self) -> bool {
        match self {
            Value::Function(_) | Value::NativeFunction(_) | Value::Method(_) | Value::Class(_) => true,
            Value::Descriptor(descriptor) => matches!(**descriptor, Descriptor::StaticMethod(_)),
            _ => false,
        }
    }

    /// The text of a str, also of an instance of a class derived from str.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            Value::Instance(instance) => instance.payload_value()?.as_str(),
            _ => None,
        }
    }

    /// An int or a bool that fits into i64.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(int) => Some(*int),
            Value::Bool(truth) => Some(*truth as i64),
            Value::Instance(instance) => instance.payload_value()?.as_int(),
            _ => None,
        }
    }

    /// The built-in value in an instance of a class derived from a built-in type (`class Row(list)`). Any
    /// other value is its own base.
    pub fn base_value(&self) -> &Value {
        match self {
            Value::Instance(instance) => instance.payload_value().unwrap_or(self),
            _ => self,
        }
    }

    /// `is`: the same object, or equal unboxed values of one type.
    pub fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Unset, Value::Unset)
            | (Value::None, Value::None)
            | (Value::NotImplemented, Value::NotImplemented)
            | (Value::Ellipsis, Value::Ellipsis) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Int(left), Value::Int(right)) => left == right,
            (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
            _ => match (self.address(), other.address()) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
        }
    }

    /// The object's address; `None` for unboxed values.
    pub fn address(&self) -> Option<usize> {
        fn of<T>(object: &Rc<T>) -> Option<usize> {
            Some(Rc::as_ptr(object) as *const u8 as usize)
        }
        match self {
            Value::Unset
            | Value::None
            | Value::NotImplemented
            | Value::Ellipsis
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_) => None,
            Value::Str(object) => of(object),
            Value::BigInt(object) => of(object),
            Value::Bytes(object) => of(object),
            Value::List(object) => of(object),
            Value::Tuple(object) => of(object),
            Value::Dict(object) => of(object),
            Value::Set(object) | Value::FrozenSet(object) => of(object),
            Value::Range(object) => of(object),
            Value::Slice(object) => of(object),
            Value::Function(object) => of(object),
            Value::NativeFunction(object) => of(object),
            Value::Method(object) => of(object),
            Value::Descriptor(object) => of(object),
            Value::Super(object) => of(object),
            Value::Class(object) => of(object),
            Value::Instance(object) => of(object),
            Value::Module(object) => of(object),
            Value::Iter(object) => of(object),
            Value::Generator(object) => of(object),
            Value::Native(object) => of(object),
            Value::Cell(object) => of(object),
        }
    }

    /// The name of the value's type, as messages show it.
    pub fn type_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Value::Instance(instance) => return Cow::Owned(instance.class().name.to_string()),
            Value::Native(object) => object.native_type().name,
            Value::Iter(iter) => return Cow::Borrowed(iter.type_name()),
            other => other.builtin_type().name(),
        })
    }

    /// The built-in type of the value: `Instance` and `Native` values answer `object`.
    pub fn builtin_type(&self) -> BuiltinType {
        match self {
            Value::Unset | Value::Instance(_) | Value::Native(_) => BuiltinType::Object,
            Value::None => BuiltinType::NoneType,
            Value::NotImplemented => BuiltinType::NotImplementedType,
            Value::Ellipsis => BuiltinType::EllipsisType,
            Value::Bool(_) => BuiltinType::Bool,
            Value::Int(_) | Value::BigInt(_) => BuiltinType::Int,
            Value::Float(_) => BuiltinType::Float,
            Value::Str(_) => BuiltinType::Str,
            Value::Bytes(_) => BuiltinType::Bytes,
            Value::List(_) => BuiltinType::List,
            Value::Tuple(_) => BuiltinType::Tuple,
            Value::Dict(_) => BuiltinType::Dict,
            Value::Set(_) => BuiltinType::Set,
            Value::FrozenSet(_) => BuiltinType::FrozenSet,
            Value::Range(_) => BuiltinType::Range,
            Value::Slice(_) => BuiltinType::Slice,
            Value::Function(_) => BuiltinType::Function,
            Value::NativeFunction(_) => BuiltinType::NativeFunction,
            Value::Method(method) if matches!(method.function, Value::NativeFunction(_)) => {
                BuiltinType::NativeFunction
            }
            Value::Method(_) => BuiltinType::Method,
            Value::Descriptor(descriptor) => descriptor.builtin_type(),
            Value::Super(_) => BuiltinType::Super,
            Value::Class(_) => BuiltinType::Type,
            Value::Module(_) => BuiltinType::Module,
            Value::Iter(_) => BuiltinType::Iterator,
            Value::Generator(_) => BuiltinType::Generator,
            Value::Cell(_) => BuiltinType::Cell,
        }
    }
}

/// For logs of the host itself: type and, for plain values, the value. Scripts see `Vm::repr`.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Unset => f.write_str("unset"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Int(int) => write!(f, "{int}"),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Str(text) => write!(f, "{:?}", text.as_str()),
            other => write!(f, "<{}>", other.type_name()),
        }
    }
}

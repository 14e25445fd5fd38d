//! `kp.MemoryTypes`, `kp.TensorTypes` and `kp.DataTypes`: names of memory types and of element types.

use std::rc::Rc;

use kps_compute::{DType, MemoryType};
use kps_kernel::Type;

use crate::errors::{type_error, value_error};
use crate::modules::kernels::structs;
use crate::value::{Args, Dict, Module, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static ENUM: NativeType = NativeType {
    methods: &[
        NativeDef::getter("name", name).doc("", "The name of the member."),
        NativeDef::getter("value", value).doc("", "The number of the member in its enumeration."),
        NativeDef::method("__int__", value),
        NativeDef::method("__index__", value),
    ],
    ..NativeType::new("Enum", "kp").doc("", "A member of an enumeration.")
};

/// A member of one of the enumerations.
#[derive(Clone, Copy)]
pub struct EnumValue {
    family: &'static str,
    name: &'static str,
    value: i64,
}

const MEMORY_TYPES: &str = "MemoryTypes";
const TENSOR_TYPES: &str = "TensorTypes";
const DATA_TYPES: &str = "DataTypes";

/// `__doc__` of the enumerations.
const FAMILY_DOCS: [(&str, &str); 3] = [
    (MEMORY_TYPES, "The kinds of memory that a tensor may have."),
    (TENSOR_TYPES, "As `MemoryTypes`, under the name of older versions."),
    (DATA_TYPES, "The element types that `Tensor.data_type` returns, and that `dtype` takes."),
];

/// `__doc__` of the kinds of memory.
const MEMORY_DOCS: [(&str, &str); 5] = [
    ("device", "Memory of the device, with a copy on the host: the default."),
    ("host", "Memory of the host that kernels access."),
    ("storage", "Memory of the device that the host cannot read."),
    ("deviceAndHost", "Memory of the device that the host accesses without a copy, if there is any."),
    ("staging", "As `host`, under the name of older versions."),
];

/// `__doc__` of the element types.
const DATA_DOCS: [(&str, &str); 10] = [
    ("bool", "The member `bool` of `DataTypes`, for `bool`."),
    ("int", "The member `int` of `DataTypes`, for `int32`."),
    ("uint", "The member `uint` of `DataTypes`, for `uint32`."),
    ("float", "The member `float` of `DataTypes`, for `float32`."),
    ("double", "The member `double` of `DataTypes`, for `float64`."),
    ("short", "The member `short` of `DataTypes`, for `int16`."),
    ("ushort", "The member `ushort` of `DataTypes`, for `uint16`."),
    ("char", "The member `char` of `DataTypes`, for `int8`."),
    ("uchar", "The member `uchar` of `DataTypes`, for `uint8`."),
    ("custom", "The member `custom` of `DataTypes`, for all types without a member of their own."),
];

/// Old and new names; `staging` is the name of host memory in the first releases.
const MEMORY: [(&str, MemoryType); 5] = [
    ("device", MemoryType::Device),
    ("host", MemoryType::Host),
    ("storage", MemoryType::Storage),
    ("deviceAndHost", MemoryType::DeviceAndHost),
    ("staging", MemoryType::Host),
];

const DATA: [(&str, DType); 10] = [
    ("bool", DType::Bool),
    ("int", DType::I32),
    ("uint", DType::U32),
    ("float", DType::F32),
    ("double", DType::F64),
    ("short", DType::I16),
    ("ushort", DType::U16),
    ("char", DType::I8),
    ("uchar", DType::U8),
    ("custom", CUSTOM),
];

/// Stands for all types without a name of their own, such as structs. It is none of them.
const CUSTOM: DType = DType::F16;

/// `from kp import *` leaves these out, because they would hide the built-in types.
const BUILTINS: [&str; 3] = ["bool", "int", "float"];

impl EnumValue {
    pub fn of_memory(memory: MemoryType) -> Value {
        let value = MEMORY.iter().position(|(_, known)| *known == memory).unwrap_or(0);
        Value::native(EnumValue { family: MEMORY_TYPES, name: MEMORY[value].0, value: value as i64 })
    }

    pub fn of_dtype(dtype: DType) -> Value {
        let value = DATA.iter().position(|(_, known)| *known == dtype).unwrap_or(DATA.len() - 1);
        Value::native(EnumValue { family: DATA_TYPES, name: DATA[value].0, value: value as i64 })
    }
}

/// The memory type of an argument; device memory by default.
pub fn memory_type(given: Option<&Value>) -> Result<MemoryType> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(MemoryType::Device) };
    let name = match given.downcast::<EnumValue>() {
        Some(member) if member.family != DATA_TYPES => Some(member.name),
        Some(_) => None,
        None => given.as_str(),
    };
    let known = name.and_then(|name| MEMORY.iter().find(|(known, _)| *known == name));
    let unknown = || match named_dtype(given) {
        Some(dtype) => type_error(format!("`{dtype}` is no memory type"))
            .help(format!("the type of the elements goes by its name: `dtype={dtype}`")),
        None => type_error(format!("{} is no memory type", given.type_name()))
            .help("one of kp.MemoryTypes.device, host, storage, deviceAndHost"),
    };
    known.map(|(_, memory)| *memory).ok_or_else(unknown)
}

/// A script's name of an element type: `f32` for `np.float32` and for `"float32"`.
fn named_dtype(given: &Value) -> Option<String> {
    let dtype = match given {
        Value::Class(class) => DType::parse(&class.name),
        Value::Str(name) => DType::parse(name),
        given => data_type(given),
    };
    dtype.map(|dtype| dtype.to_string()).or_else(|| match structs::type_of(given)? {
        ty @ (Type::Scalar(_) | Type::Struct(_)) => Some(ty.to_string()),
        _ => None,
    })
}

/// The element type of a member of `DataTypes`.
pub fn data_type(given: &Value) -> Option<DType> {
    let member = given.downcast::<EnumValue>().filter(|member| member.family == DATA_TYPES)?;
    let is_same = |(name, dtype): &&(&str, DType)| *name == member.name && *dtype != CUSTOM;
    DATA.iter().find(is_same).map(|(_, dtype)| *dtype)
}

/// Adds the enumerations, and like Kompute also their members.
pub fn add_to(module: &Module) {
    let memory = MEMORY.map(|(name, _)| name);
    for family in [MEMORY_TYPES, TENSOR_TYPES] {
        module.set(family, family_value(family, &memory));
    }
    module.set(DATA_TYPES, family_value(DATA_TYPES, &DATA.map(|(name, _)| name)));
    for (value, name) in (0..).zip(memory) {
        module.set(name, Value::native(EnumValue { family: MEMORY_TYPES, name, value }));
    }
    for (value, (name, _)) in (0..).zip(DATA) {
        module.set(name, Value::native(EnumValue { family: DATA_TYPES, name, value }));
    }
}

/// The names for `from kp import *`: those of the module that hide no built-in type.
pub fn listed(module: &Module) -> Value {
    let names = module.namespace.to_pairs().into_iter().map(|(name, _)| name);
    let listed = names.filter(|name| !name.starts_with('_') && !BUILTINS.contains(&&**name));
    Value::list(listed.map(|name| Value::str(&*name)).collect())
}

fn family_value(family: &'static str, names: &[&'static str]) -> Value {
    let members = (0..).zip(names).map(|(value, name)| EnumValue { family, name, value }).collect();
    Value::native(Family { name: family, members })
}

static FAMILY: NativeType =
    NativeType::new("EnumType", "kp").doc("", "An enumeration: its members are its attributes.");

/// An enumeration: its members are its attributes.
struct Family {
    name: &'static str,
    members: Vec<EnumValue>,
}

impl Native for Family {
    fn native_type(&self) -> &'static NativeType {
        &FAMILY
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        if name == "__doc__" {
            return Ok(named(&FAMILY_DOCS, self.name));
        }
        if name == "__members__" {
            let members = Dict::new();
            for member in &self.members {
                members.insert_text(member.name, Value::native(*member));
            }
            return Ok(Some(Value::Dict(Rc::new(members))));
        }
        let member = self.members.iter().find(|member| member.name == name);
        Ok(member.map(|member| Value::native(*member)))
    }

    fn is_callable(&self) -> bool {
        true
    }

    /// `MemoryTypes(1)`: the member with a number.
    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        let [given] = args.exactly(self.name)?;
        if let Some(given) = given.downcast::<EnumValue>() {
            let member = self.members.iter().find(|member| member.same(given));
            let wrong =
                || value_error(format!("{}.{} is not a valid {}", given.family, given.name, self.name));
            return Ok(Some(Value::native(*member.ok_or_else(wrong)?)));
        }
        let number = vm.index(given)?;
        let member = self.members.iter().find(|member| member.value == number);
        let member = member.ok_or_else(|| value_error(format!("{number} is not a valid {}", self.name)))?;
        Ok(Some(Value::native(*member)))
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let list = Value::list(self.members.iter().map(|member| Value::native(*member)).collect());
        vm.iter(&list).map(Some)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("<enum 'kp.{}'>", self.name))
    }
}

/// The text for a name in a table.
fn named(table: &[(&str, &'static str)], name: &str) -> Option<Value> {
    table.iter().find(|(known, _)| *known == name).map(|(_, text)| Value::from(*text))
}

fn name(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<EnumValue>()?.name.into())
}

fn value(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<EnumValue>()?.value.into())
}

impl EnumValue {
    /// `kp.device` is `kp.TensorTypes.device` and `kp.MemoryTypes.device`, and `staging` is `host`.
    fn same(&self, other: &EnumValue) -> bool {
        self.known_name() == other.known_name() && (self.family == DATA_TYPES) == (other.family == DATA_TYPES)
    }

    /// The newest name of the member.
    fn known_name(&self) -> &'static str {
        if self.name == "staging" { "host" } else { self.name }
    }
}

impl Native for EnumValue {
    fn native_type(&self) -> &'static NativeType {
        &ENUM
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        let docs = if self.family == DATA_TYPES { &DATA_DOCS[..] } else { &MEMORY_DOCS };
        Ok(if name == "__doc__" { named(docs, self.name) } else { None })
    }

    fn compare(
        &self,
        _: &Value,
        _: &mut Vm,
        op: crate::value::CompareOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        use crate::value::CompareOp;
        // Others, such as a dtype, may know whether they equal the member.
        let Some(other) = other.downcast::<EnumValue>() else { return Ok(None) };
        let same = self.same(other);
        Ok(match op {
            CompareOp::Eq => Some(same.into()),
            CompareOp::NotEq => Some((!same).into()),
            _ => None,
        })
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<EnumValue>().is_some_and(|other| self.same(other))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(self.known_name().bytes().fold(17, |hash, byte| hash.wrapping_mul(31) ^ i64::from(byte))))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("{}.{}", self.family, self.name))
    }
}

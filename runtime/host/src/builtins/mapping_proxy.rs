//! `mappingproxy`: the `__dict__` of a class, which shows its attributes as they are now and cannot be written to.

use std::rc::Rc;

use crate::errors;
use crate::ops::Side;
use crate::value::{Args, BinaryOp, Class, CompareOp, Dict, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType { methods: METHODS, ..NativeType::new("mappingproxy", "builtins") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("get", get),
    NativeDef::method("keys", keys),
    NativeDef::method("values", values),
    NativeDef::method("items", items),
    NativeDef::method("copy", copy),
    NativeDef::method("__len__", super::protocol::len),
    NativeDef::method("__iter__", super::protocol::iter),
    NativeDef::method("__contains__", super::protocol::contains),
    NativeDef::method("__getitem__", super::protocol::get_item),
];

struct MappingProxy(Rc<Class>);

/// The `__dict__` of a class.
pub fn class_dict(class: &Rc<Class>) -> Value {
    Value::native(MappingProxy(class.clone()))
}

impl MappingProxy {
    fn to_dict(&self) -> Rc<Dict> {
        let dict = Dict::new();
        for (name, value) in self.0.own_attrs().iter() {
            dict.set_name(name, value.clone());
        }
        Rc::new(dict)
    }

    fn find(&self, key: &Value) -> Option<Value> {
        self.0.own_attrs().get_text(key.as_str()?).cloned()
    }
}

impl Native for MappingProxy {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn get_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<Option<Value>> {
        self.find(index).map(Some).ok_or_else(|| errors::key_error(index.clone()))
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.0.own_attrs().len()))
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        vm.iter(&Value::Dict(self.to_dict())).map(Some)
    }

    fn contains(&self, _: &Value, _: &mut Vm, item: &Value) -> Result<Option<bool>> {
        Ok(Some(self.find(item).is_some()))
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let (this, other) = (Value::Dict(self.to_dict()), as_dict(other));
        match side {
            Side::Left => vm.try_binary(op, &this, &other),
            Side::Right => vm.try_binary(op, &other, &this),
        }
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if !matches!(op, CompareOp::Eq | CompareOp::NotEq) {
            return Ok(None);
        }
        vm.compare(op, &Value::Dict(self.to_dict()), &as_dict(other)).map(Some)
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        Ok(format!("mappingproxy({})", vm.repr(&Value::Dict(self.to_dict()))?))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

fn as_dict(value: &Value) -> Value {
    match value.downcast::<MappingProxy>() {
        Some(proxy) => Value::Dict(proxy.to_dict()),
        None => value.clone(),
    }
}

fn get(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("get");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    let found = args.this::<MappingProxy>()?.find(key);
    Ok(found.or_else(|| default.cloned()).unwrap_or(Value::None))
}

fn keys(_: &mut Vm, args: &Args) -> Result {
    Ok(super::views::keys(args.this::<MappingProxy>()?.to_dict()))
}

fn values(_: &mut Vm, args: &Args) -> Result {
    Ok(super::views::values(args.this::<MappingProxy>()?.to_dict()))
}

fn items(_: &mut Vm, args: &Args) -> Result {
    Ok(super::views::items(args.this::<MappingProxy>()?.to_dict()))
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Dict(args.this::<MappingProxy>()?.to_dict()))
}

//! `globals()` and the `__dict__` of a module: a dict whose entries are the names of the module.

use std::rc::Rc;

use crate::errors;
use crate::ops::Side;
use crate::value::{
    Args, BinaryOp, CompareOp, Dict, Name, Namespace, Native, NativeDef, NativeType, Result, Value,
};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType { methods: METHODS, ..NativeType::new("dict", "builtins") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("get", get),
    NativeDef::method("keys", |_, args| Ok(super::views::keys(this(args)?.to_dict()))),
    NativeDef::method("values", |_, args| Ok(super::views::values(this(args)?.to_dict()))),
    NativeDef::method("items", |_, args| Ok(super::views::items(this(args)?.to_dict()))),
    NativeDef::method("copy", |_, args| Ok(Value::Dict(this(args)?.to_dict()))),
    NativeDef::method("update", update),
    NativeDef::method("setdefault", setdefault),
    NativeDef::method("pop", pop),
    NativeDef::method("__len__", super::protocol::len),
    NativeDef::method("__iter__", super::protocol::iter),
    NativeDef::method("__contains__", super::protocol::contains),
    NativeDef::method("__getitem__", super::protocol::get_item),
    NativeDef::method("__setitem__", super::protocol::set_item),
    NativeDef::method("__delitem__", super::protocol::delete_item),
];

struct Names(Rc<Namespace>);

/// The names of a module as a dict.
pub fn namespace_dict(namespace: &Rc<Namespace>) -> Value {
    Value::native(Names(namespace.clone()))
}

impl Names {
    fn to_dict(&self) -> Rc<Dict> {
        let dict = Dict::new();
        for (name, value) in self.0.to_pairs() {
            dict.set_name(&name, value);
        }
        Rc::new(dict)
    }

    fn find(&self, key: &Value) -> Option<Value> {
        self.0.get(key.as_str()?)
    }

    fn set(&self, vm: &Vm, key: &Value, value: Value) -> Result<()> {
        let Some(name) = key.as_str() else {
            return Err(errors::type_error("the names of a module are strings"));
        };
        let slot = self.0.slot(&vm.name(name));
        drop(self.0.put(slot, value));
        Ok(())
    }
}

impl Native for Names {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn get_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<Option<Value>> {
        self.find(index).map(Some).ok_or_else(|| errors::key_error(index.clone()))
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        self.set(vm, index, value.clone())?;
        Ok(true)
    }

    fn delete_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<bool> {
        match index.as_str() {
            Some(name) if self.0.remove(name) => Ok(true),
            _ => Err(errors::key_error(index.clone())),
        }
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.0.to_pairs().len()))
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

    fn repr(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        let address = this.address().unwrap_or(0);
        if vm.repr_active.contains(&address) {
            return Ok("{...}".to_owned());
        }
        vm.repr_active.push(address);
        let text = vm.repr(&Value::Dict(self.to_dict()));
        vm.repr_active.pop();
        text
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

fn as_dict(value: &Value) -> Value {
    match value.downcast::<Names>() {
        Some(names) => Value::Dict(names.to_dict()),
        None => value.clone(),
    }
}

fn this<'a>(args: &Args<'a>) -> Result<&'a Names> {
    args.this::<Names>()
}

fn get(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("get");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    Ok(this(args)?.find(key).or_else(|| default.cloned()).unwrap_or(Value::None))
}

fn update(vm: &mut Vm, args: &Args) -> Result {
    let names = this(args)?;
    let given = Rc::<Dict>::default();
    for source in args.rest().positional() {
        vm.dict_update(&given, source)?;
    }
    for (key, value) in given.to_pairs() {
        names.set(vm, &key, value)?;
    }
    for (name, value) in args.keywords() {
        names.set(vm, &Name::value(name), value.clone())?;
    }
    Ok(Value::None)
}

fn setdefault(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("setdefault");
    let key = parser.positional("key")?;
    let default = parser.optional_positional().cloned().unwrap_or(Value::None);
    parser.finish()?;
    let names = this(args)?;
    if let Some(found) = names.find(key) {
        return Ok(found);
    }
    names.set(vm, key, default.clone())?;
    Ok(default)
}

fn pop(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("pop");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    let names = this(args)?;
    match (names.find(key), default) {
        (Some(found), _) => {
            names.0.remove(key.as_str().unwrap_or(""));
            Ok(found)
        }
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(errors::key_error(key.clone())),
    }
}

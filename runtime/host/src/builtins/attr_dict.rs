//! `globals()`, the `__dict__` of modules and classes, and `types.MappingProxyType`: dicts that are views.
//!
//! Entries are read from their owner on each access. Those of a module are writable, the others are not.

use std::rc::Rc;

use crate::errors;
use crate::ops::Side;
use crate::value::{
    Args, BinaryOp, Class, CompareOp, Dict, Name, Namespace, Native, NativeDef, NativeType, Result, Value,
};
use crate::vm::Vm;

static NAMES: NativeType = NativeType { methods: NAMES_METHODS, ..NativeType::new("dict", "builtins") };

static PROXY: NativeType =
    NativeType { methods: METHODS, new: Some(new_proxy), ..NativeType::new("mappingproxy", "builtins") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("get", get),
    NativeDef::method("keys", |vm, args| Ok(super::views::keys(this(args)?.to_dict(vm)?))),
    NativeDef::method("values", |vm, args| Ok(super::views::values(this(args)?.to_dict(vm)?))),
    NativeDef::method("items", |vm, args| Ok(super::views::items(this(args)?.to_dict(vm)?))),
    NativeDef::method("copy", |vm, args| Ok(Value::Dict(this(args)?.to_dict(vm)?))),
    NativeDef::method("__len__", super::protocol::len),
    NativeDef::method("__iter__", super::protocol::iter),
    NativeDef::method("__contains__", super::protocol::contains),
    NativeDef::method("__getitem__", super::protocol::get_item),
];

static NAMES_METHODS: &[NativeDef] = &[
    NativeDef::method("get", get),
    NativeDef::method("keys", |vm, args| Ok(super::views::keys(this(args)?.to_dict(vm)?))),
    NativeDef::method("values", |vm, args| Ok(super::views::values(this(args)?.to_dict(vm)?))),
    NativeDef::method("items", |vm, args| Ok(super::views::items(this(args)?.to_dict(vm)?))),
    NativeDef::method("copy", |vm, args| Ok(Value::Dict(this(args)?.to_dict(vm)?))),
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

/// A dict view, by the owner of its entries.
enum Entries {
    Module(Rc<Namespace>),
    Class(Rc<Class>),
    Mapping(Value),
}

/// The names of a module as a dict.
pub fn namespace_dict(namespace: &Rc<Namespace>) -> Value {
    Value::native(Entries::Module(namespace.clone()))
}

/// The `__dict__` of a class.
pub fn class_dict(class: &Rc<Class>) -> Value {
    Value::native(Entries::Class(class.clone()))
}

/// `types.MappingProxyType(mapping)`.
fn new_proxy(vm: &mut Vm, args: &Args) -> Result {
    let [mapping] = args.exactly("mappingproxy")?;
    let is_mapping = match mapping.base_value() {
        Value::Dict(_) => true,
        Value::Native(object) => object.downcast::<Entries>().is_some(),
        Value::Instance(_) => vm.script_method(mapping, "__getitem__").is_some(),
        _ => false,
    };
    if !is_mapping {
        let given = mapping.type_name();
        return Err(errors::type_error(format!("mappingproxy() argument must be a mapping, not {given}")));
    }
    // A proxy of a proxy refers to the inner mapping, so that proxies do not nest.
    let mapping = match mapping.downcast::<Entries>() {
        Some(Entries::Mapping(inner)) => inner,
        _ => mapping,
    };
    Ok(Value::native(Entries::Mapping(mapping.clone())))
}

impl Entries {
    fn to_dict(&self, vm: &mut Vm) -> Result<Rc<Dict>> {
        let dict = Rc::new(Dict::new());
        match self {
            Entries::Module(namespace) => {
                namespace.to_pairs().into_iter().for_each(|(name, value)| drop(dict.set_name(&name, value)));
            }
            Entries::Class(class) => {
                class.own_attrs().iter().for_each(|(name, value)| drop(dict.set_name(name, value.clone())));
            }
            Entries::Mapping(mapping) => vm.dict_update(&dict, mapping)?,
        }
        Ok(dict)
    }

    /// The value of a key. A mapping may compute it, or raise.
    fn find(&self, vm: &mut Vm, key: &Value) -> Result<Option<Value>> {
        Ok(match (self, key.as_str()) {
            (Entries::Module(namespace), Some(name)) => namespace.get(name),
            (Entries::Class(class), Some(name)) => class.own_attrs().get_text(name).cloned(),
            (Entries::Mapping(mapping), _) if vm.contains(mapping, key)? => Some(vm.get_item(mapping, key)?),
            _ => None,
        })
    }

    /// The names of a module, which are the entries that may be written.
    fn names(&self) -> Option<&Rc<Namespace>> {
        match self {
            Entries::Module(namespace) => Some(namespace),
            _ => None,
        }
    }
}

fn set_name(vm: &Vm, namespace: &Namespace, key: &Value, value: Value) -> Result<()> {
    let Some(name) = key.as_str() else {
        return Err(errors::type_error("the names of a module are strings"));
    };
    let slot = namespace.slot(&vm.name(name));
    drop(namespace.put(slot, value));
    Ok(())
}

impl Native for Entries {
    fn native_type(&self) -> &'static NativeType {
        if self.names().is_some() { &NAMES } else { &PROXY }
    }

    fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        match self {
            Entries::Module(_) => {}
            Entries::Class(class) => visit(&Value::Class(class.clone())),
            Entries::Mapping(mapping) => visit(mapping),
        }
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if let Entries::Mapping(mapping) = self {
            return vm.get_item(mapping, index).map(Some);
        }
        self.find(vm, index)?.map(Some).ok_or_else(|| errors::key_error(index.clone()))
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        let Some(namespace) = self.names() else { return Ok(false) };
        set_name(vm, namespace, index, value.clone())?;
        Ok(true)
    }

    fn delete_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<bool> {
        match (self.names(), index.as_str()) {
            (None, _) => Ok(false),
            (Some(namespace), Some(name)) if namespace.remove(name) => Ok(true),
            _ => Err(errors::key_error(index.clone())),
        }
    }

    fn len(&self, vm: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(match self {
            Entries::Module(namespace) => namespace.to_pairs().len(),
            Entries::Class(class) => class.own_attrs().len(),
            Entries::Mapping(mapping) => vm.len(mapping)?,
        }))
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let items = match self {
            Entries::Mapping(mapping) => mapping.clone(),
            _ => Value::Dict(self.to_dict(vm)?),
        };
        vm.iter(&items).map(Some)
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        Ok(Some(match self {
            Entries::Mapping(mapping) => vm.contains(mapping, item)?,
            _ => self.find(vm, item)?.is_some(),
        }))
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let (this, other) = (Value::Dict(self.to_dict(vm)?), as_dict(vm, other)?);
        match side {
            Side::Left => vm.try_binary(op, &this, &other),
            Side::Right => vm.try_binary(op, &other, &this),
        }
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if !matches!(op, CompareOp::Eq | CompareOp::NotEq) {
            return Ok(None);
        }
        let (this, other) = (Value::Dict(self.to_dict(vm)?), as_dict(vm, other)?);
        vm.compare(op, &this, &other).map(Some)
    }

    fn repr(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        let address = this.address().unwrap_or(0);
        if vm.repr_active.contains(&address) {
            return Ok("{...}".to_owned());
        }
        vm.repr_active.push(address);
        let text = match self {
            Entries::Mapping(mapping) => vm.repr(mapping),
            _ => self.to_dict(vm).and_then(|dict| vm.repr(&Value::Dict(dict))),
        };
        vm.repr_active.pop();
        Ok(if self.names().is_some() { text? } else { format!("mappingproxy({})", text?) })
    }

    fn str(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        match self {
            Entries::Mapping(mapping) => vm.str(mapping),
            _ => self.repr(this, vm),
        }
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

fn as_dict(vm: &mut Vm, value: &Value) -> Result {
    match value.downcast::<Entries>() {
        Some(entries) => entries.to_dict(vm).map(Value::Dict),
        None => Ok(value.clone()),
    }
}

fn this<'a>(args: &Args<'a>) -> Result<&'a Entries> {
    args.this::<Entries>()
}

fn names<'a>(args: &Args<'a>) -> Result<&'a Rc<Namespace>> {
    let receiver = args.receiver()?;
    this(args)?.names().ok_or_else(|| errors::wrong_receiver(receiver))
}

fn get(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("get");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    let found = this(args)?.find(vm, key)?;
    Ok(found.or_else(|| default.cloned()).unwrap_or(Value::None))
}

fn update(vm: &mut Vm, args: &Args) -> Result {
    let namespace = names(args)?;
    let given = Rc::<Dict>::default();
    for source in args.rest().positional() {
        vm.dict_update(&given, source)?;
    }
    for (key, value) in given.to_pairs() {
        set_name(vm, namespace, &key, value)?;
    }
    for (name, value) in args.keywords() {
        set_name(vm, namespace, &Name::value(name), value.clone())?;
    }
    Ok(Value::None)
}

fn setdefault(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("setdefault");
    let key = parser.positional("key")?;
    let default = parser.optional_positional().cloned().unwrap_or(Value::None);
    parser.finish()?;
    if let Some(found) = this(args)?.find(vm, key)? {
        return Ok(found);
    }
    set_name(vm, names(args)?, key, default.clone())?;
    Ok(default)
}

fn pop(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("pop");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    match (this(args)?.find(vm, key)?, default) {
        (Some(found), _) => {
            names(args)?.remove(key.as_str().unwrap_or(""));
            Ok(found)
        }
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(errors::key_error(key.clone())),
    }
}

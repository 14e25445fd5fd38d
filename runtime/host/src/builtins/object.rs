//! `object`, `type` and `super`.

use std::rc::Rc;

use super::core::attr_name;
use crate::errors;
use crate::value::{Args, Class, Layout, Module, NativeDef, Result, Super, Value};
use crate::vm::Vm;

pub static OBJECT_METHODS: &[NativeDef] = &[
    NativeDef::method("__init__", init),
    NativeDef::static_method("__new__", new),
    NativeDef::method("__repr__", repr),
    NativeDef::method("__str__", str),
    NativeDef::method("__eq__", eq),
    NativeDef::method("__ne__", ne),
    NativeDef::method("__hash__", hash),
    NativeDef::method("__setattr__", setattr),
    NativeDef::method("__delattr__", delattr),
    NativeDef::method("__getattribute__", getattribute),
    NativeDef::class_method("__init_subclass__", init_subclass),
];

pub static TYPE_METHODS: &[NativeDef] = &[
    NativeDef::class_method("__class_getitem__", super::generic_alias::of_class),
    NativeDef::method("mro", mro),
    NativeDef::method("__subclasses__", subclasses),
];

/// Initialises the base of a derived class: an exception's arguments, a list's items.
fn init(vm: &mut Vm, args: &Args) -> Result {
    let this = args.positional().first().ok_or_else(errors::method_needs_object)?;
    match this.base_value() {
        Value::List(list) => {
            if let Some(items) = args.positional().get(1) {
                let items = vm.collect(items)?;
                let previous = list.borrow_mut().splice(.., items).collect::<Vec<_>>();
                drop(previous);
            }
        }
        Value::Dict(dict) => {
            if let Some(source) = args.positional().get(1) {
                vm.dict_update(dict, source)?;
            }
            for (name, value) in args.keywords() {
                dict.insert_text(name.value(), value.clone());
            }
        }
        Value::Set(set) => {
            if let Some(items) = args.positional().get(1) {
                for item in vm.collect(items)? {
                    vm.set_add(set, &item)?;
                }
            }
        }
        Value::Instance(instance)
            if args.values().len() > 1 && matches!(instance.class().layout, Layout::Plain) =>
        {
            return Err(errors::type_error(format!(
                "{}.__init__() takes exactly one argument (the instance to initialize)",
                instance.class().name
            )));
        }
        _ => {}
    }
    Ok(Value::None)
}

fn new(vm: &mut Vm, args: &Args) -> Result {
    match args.positional().first() {
        Some(Value::Class(class)) if class.is_script || class.is_exception() => {
            vm.blank_instance(class, &args.rest())
        }
        Some(Value::Class(class)) => vm.instantiate(class, &args.rest()),
        _ => Err(errors::type_error("object.__new__(X): X is not a type object")),
    }
}

/// The default repr, for an object without a `__repr__`.
fn repr(vm: &mut Vm, args: &Args) -> Result {
    let [this] = args.exactly("__repr__")?;
    Ok(Value::str(match this {
        Value::Instance(instance) if instance.payload_value().is_none() && instance.exception().is_none() => {
            let class = instance.class();
            format!(
                "<{}.{} object at {:#x}>",
                class.shown_module(),
                class.qualname(),
                this.address().unwrap_or(0)
            )
        }
        Value::Instance(instance) => match instance.payload_value() {
            Some(payload) => vm.repr(payload)?,
            None => {
                let args = instance.exception().map_or(Vec::new(), |data| data.args.borrow().clone());
                let args: Result<Vec<String>> = args.iter().map(|arg| vm.repr(arg)).collect();
                format!("{}({})", instance.class().name, args?.join(", "))
            }
        },
        other => vm.repr(other)?,
    }))
}

fn str(vm: &mut Vm, args: &Args) -> Result {
    let [this] = args.exactly("__str__")?;
    Ok(Value::str(match this {
        Value::Instance(instance) => match (instance.exception(), instance.payload_value()) {
            (Some(data), _) => {
                let args = data.args.borrow().clone();
                match &args[..] {
                    [] => String::new(),
                    [message] => vm.str(message)?,
                    _ => vm.repr(&Value::tuple(args))?,
                }
            }
            (None, Some(payload)) => vm.str(payload)?,
            (None, None) => vm.repr(this)?,
        },
        other => vm.str(other)?,
    }))
}

/// Equality without the object's own `__eq__`: `super().__eq__(other)`.
fn eq(vm: &mut Vm, args: &Args) -> Result {
    let [this, other] = args.exactly("__eq__")?;
    Ok(match this {
        Value::Instance(instance) => match instance.payload_value() {
            Some(payload) => Value::Bool(vm.equals(payload, other.base_value())?),
            None if this.is(other) => Value::Bool(true),
            None => Value::NotImplemented,
        },
        _ => Value::Bool(vm.equals(this, other)?),
    })
}

fn ne(vm: &mut Vm, args: &Args) -> Result {
    Ok(match eq(vm, args)? {
        Value::Bool(equal) => Value::Bool(!equal),
        other => other,
    })
}

fn hash(vm: &mut Vm, args: &Args) -> Result {
    let [this] = args.exactly("__hash__")?;
    Ok(Value::Int(match this {
        Value::Instance(instance) => match instance.payload_value() {
            Some(payload) => vm.hash(payload)?,
            None => this.address().unwrap_or(0) as i64 >> 4,
        },
        other => vm.hash(other)?,
    }))
}

fn setattr(vm: &mut Vm, args: &Args) -> Result {
    let [this, name, value] = args.exactly("__setattr__")?;
    let name = attr_name(name)?;
    match this {
        Value::Instance(instance) => {
            vm.set_instance_attr(this, instance, &vm.name(name), value.clone())?;
        }
        _ => vm.set_attr(this, name, value.clone())?,
    }
    Ok(Value::None)
}

fn getattribute(vm: &mut Vm, args: &Args) -> Result {
    let [this, name] = args.exactly("__getattribute__")?;
    let name = attr_name(name)?;
    vm.get_plain_attr(this, name)
}

fn delattr(vm: &mut Vm, args: &Args) -> Result {
    let [this, name] = args.exactly("__delattr__")?;
    let name = attr_name(name)?;
    match this {
        Value::Instance(instance) => vm.delete_instance_attr(this, instance, &vm.name(name))?,
        _ => vm.delete_attr(this, name)?,
    }
    Ok(Value::None)
}

/// `C.mro()`: the class and its bases.
fn mro(_: &mut Vm, args: &Args) -> Result {
    match args.positional() {
        [Value::Class(class)] => Ok(Value::list(class.line().map(Value::Class).collect())),
        _ => Err(errors::method_needs_object()),
    }
}

/// `C.__subclasses__()`: the classes that derive from it directly.
fn subclasses(_: &mut Vm, args: &Args) -> Result {
    match args.positional() {
        [Value::Class(class)] => Ok(Value::list(class.subclasses().into_iter().map(Value::Class).collect())),
        _ => Err(errors::method_needs_object()),
    }
}

fn init_subclass(_: &mut Vm, args: &Args) -> Result {
    match args.positional() {
        [Value::Class(class)] if args.has_keywords() => Err(errors::no_class_keywords(&class.qualname())),
        _ => Ok(Value::None),
    }
}

/// `type(value)`.
pub fn new_type(vm: &mut Vm, args: &Args) -> Result {
    if let [name, bases, members] = args.positional() {
        let (Some(name), Value::Tuple(bases), Value::Dict(members)) = (name.as_str(), bases, members) else {
            return Err(errors::type_error("type() takes a name, a tuple of bases and a dict of members"));
        };
        let keywords = args.keywords().map(|(name, value)| (name.clone(), value.clone())).collect();
        return vm.class_of_members(&vm.name(name), bases, members, keywords);
    }
    let [value] = args.exactly("type")?;
    Ok(Value::Class(vm.class_of(value)))
}

/// `types.ModuleType(name, doc=None)`.
pub fn new_module(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("module");
    let name = parser.required("name")?;
    let doc = parser.optional("doc")?.cloned().unwrap_or(Value::None);
    parser.finish()?;
    let Some(name) = name.as_str() else {
        let given = name.type_name();
        return Err(errors::type_error(format!("module() argument 'name' must be str, not {given}")));
    };
    let module = Module::new(vm.name(name));
    module.set("__doc__", doc);
    Ok(Value::Module(Rc::new(module)))
}

/// `super(class, object)`; the compiler adds both to a bare `super()` inside of a class.
pub fn new_super(vm: &mut Vm, args: &Args) -> Result {
    match args.positional() {
        [Value::Class(class), receiver] => {
            check_super(vm, class, receiver)?;
            Ok(Value::Super(Rc::new(Super { class: class.clone(), receiver: receiver.clone() })))
        }
        [] => Err(errors::runtime_error("super(): no arguments")
            .help("call it in a method of a class, or write super(Class, self)")),
        _ => Err(errors::type_error("super() takes a class and an object of it")),
    }
}

fn check_super(vm: &mut Vm, class: &Rc<Class>, receiver: &Value) -> Result<()> {
    let fits = match receiver {
        Value::Class(receiver) => receiver.is_subclass_of(class),
        receiver => vm.is_instance(receiver, class),
    };
    if fits {
        return Ok(());
    }
    Err(errors::type_error("super(type, obj): obj must be an instance or subtype of type"))
}

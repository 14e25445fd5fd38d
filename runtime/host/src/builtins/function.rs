//! Attributes of functions, methods and generators; property, staticmethod, classmethod.

use std::rc::Rc;

use crate::errors;
use crate::value::{
    Annotations, Args, BoundMethod, BuiltinType, Class, Descriptor, Dict, Doc, Function, Generator, Layout,
    NativeDef, Payload, Raise, Result, Value,
};
use crate::vm::Vm;

pub static FUNCTION_METHODS: &[NativeDef] = &[
    NativeDef::getter("__name__", function_name),
    NativeDef::getter("__qualname__", function_qualname),
    NativeDef::getter("__module__", function_module),
    NativeDef::getter("__doc__", function_doc),
    NativeDef::getter("__defaults__", function_defaults),
    NativeDef::getter("__kwdefaults__", function_keyword_defaults),
    NativeDef::getter("__annotations__", function_annotations),
    NativeDef::getter("__dict__", function_dict),
    NativeDef::getter("__code__", |_, args| Ok(super::code::code_object(&function(args)?.code))),
    NativeDef::getter("__globals__", function_globals),
    NativeDef::getter("__closure__", function_closure),
    NativeDef::getter("__type_params__", |_, _| Ok(Value::tuple([]))),
    NativeDef::method("__get__", function_get),
    NativeDef::method("__call__", call_itself),
];

pub static NATIVE_METHODS: &[NativeDef] = &[
    NativeDef::getter("__name__", callable_name),
    NativeDef::getter("__qualname__", callable_name),
    NativeDef::getter("__self__", native_self),
    NativeDef::getter("__doc__", native_doc),
    NativeDef::getter("__text_signature__", native_signature),
];

pub static METHOD_METHODS: &[NativeDef] = &[
    NativeDef::getter("__name__", method_name),
    NativeDef::getter("__self__", method_self),
    NativeDef::getter("__func__", method_func),
    NativeDef::getter("__doc__", method_doc),
];

pub static PROPERTY_METHODS: &[NativeDef] = &[
    NativeDef::method("getter", property_getter),
    NativeDef::method("setter", property_setter),
    NativeDef::method("deleter", property_deleter),
    NativeDef::getter("fget", property_fget),
    NativeDef::getter("fset", property_fset),
    NativeDef::getter("fdel", property_fdel),
    NativeDef::member("__doc__", property_doc, set_property_doc),
    NativeDef::method("__init__", init_property),
    NativeDef::method("__get__", function_get),
    NativeDef::method("__set__", property_set),
    NativeDef::method("__delete__", property_delete),
];

pub static WRAPPED_METHODS: &[NativeDef] = &[
    NativeDef::getter("__func__", property_fget),
    NativeDef::getter("__wrapped__", property_fget),
    NativeDef::getter("__name__", |vm, args| wrapped_attr(vm, args, "__name__")),
    NativeDef::getter("__qualname__", |vm, args| wrapped_attr(vm, args, "__qualname__")),
    NativeDef::getter("__module__", |vm, args| wrapped_attr(vm, args, "__module__")),
    NativeDef::getter("__doc__", |vm, args| wrapped_attr(vm, args, "__doc__")),
    NativeDef::method("__init__", init_wrapped),
    NativeDef::method("__get__", function_get),
];

pub static CELL_METHODS: &[NativeDef] = &[NativeDef::getter("cell_contents", cell_contents)];

pub static GENERATOR_METHODS: &[NativeDef] = &[
    NativeDef::method("__next__", generator_next),
    NativeDef::method("__iter__", generator_iter),
    NativeDef::method("send", generator_send),
    NativeDef::method("throw", generator_throw),
    NativeDef::method("close", generator_close),
    NativeDef::getter("__name__", generator_name),
    NativeDef::getter("__qualname__", generator_qualname),
];

fn function<'a>(args: &Args<'a>) -> Result<&'a Rc<Function>> {
    match args.receiver()? {
        Value::Function(function) => Ok(function),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn function_name(_: &mut Vm, args: &Args) -> Result {
    let name = function(args)?.name.borrow().value();
    Ok(name)
}

fn function_qualname(_: &mut Vm, args: &Args) -> Result {
    Ok(function(args)?.qualname().value())
}

fn function_module(_: &mut Vm, args: &Args) -> Result {
    Ok(function(args)?.code.program.module.value())
}

fn function_doc(_: &mut Vm, args: &Args) -> Result {
    Ok(function(args)?.code.code.doc.as_deref().map_or(Value::None, Value::str))
}

fn function_defaults(_: &mut Vm, args: &Args) -> Result {
    let defaults = function(args)?.defaults.borrow();
    Ok(if defaults.is_empty() { Value::None } else { Value::tuple(defaults.clone()) })
}

fn function_keyword_defaults(_: &mut Vm, args: &Args) -> Result {
    let function = function(args)?;
    let dict = Dict::new();
    for (name, default) in function.keyword_only_names().iter().zip(&*function.keyword_defaults.borrow()) {
        if !default.is_unset() {
            dict.set_name(name, default.clone());
        }
    }
    Ok(if dict.is_empty() { Value::None } else { Value::Dict(Rc::new(dict)) })
}

/// Annotations are evaluated at their first use.
fn function_annotations(vm: &mut Vm, args: &Args) -> Result {
    let function = function(args)?;
    let source = match &*function.annotations.borrow() {
        Annotations::Known(dict) => return Ok(Value::Dict(dict.clone())),
        Annotations::None => Value::Unset,
        Annotations::Waiting(source) => source.clone(),
    };
    let dict = match &source {
        Value::Tuple(texts) => {
            let dict = Dict::new();
            for pair in texts.chunks_exact(2) {
                dict.insert_text(pair[0].clone(), pair[1].clone());
            }
            Rc::new(dict)
        }
        Value::Unset => Rc::default(),
        source => match vm.call(source, &[])? {
            Value::Dict(dict) => dict,
            _ => unreachable!("annotations are gathered in a dict"),
        },
    };
    drop(function.annotations.replace(Annotations::Known(dict.clone())));
    Ok(Value::Dict(dict))
}

fn function_dict(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Dict(function(args)?.to_dict()))
}

/// The captured variables, each as a cell with its value in `cell_contents`.
fn function_closure(_: &mut Vm, args: &Args) -> Result {
    let cells: Vec<Value> = function(args)?.closure.iter().cloned().map(Value::Cell).collect();
    Ok(if cells.is_empty() { Value::None } else { Value::tuple(cells) })
}

fn cell_contents(_: &mut Vm, args: &Args) -> Result {
    match args.receiver()? {
        Value::Cell(cell) => match cell.get() {
            Value::Unset => Err(errors::value_error("Cell is empty")),
            value => Ok(value),
        },
        other => Err(errors::wrong_receiver(other)),
    }
}

/// `function.__get__(instance, owner=None)`: the result of looking the function up in a class.
fn function_get(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("__get__");
    let receiver = parser.positional("instance")?;
    let owner = parser.optional_positional();
    parser.finish()?;
    let attr = args.receiver()?;
    let class = match owner {
        Some(Value::Class(owner)) => owner.clone(),
        _ => vm.class_of(receiver),
    };
    match (receiver, attr) {
        (Value::None, Value::Function(_)) => Ok(attr.clone()),
        (Value::None, Value::Descriptor(of)) if of.is_property() => Ok(args.positional()[0].clone()),
        _ => vm.bind(attr, receiver, &class),
    }
}

fn call_itself(vm: &mut Vm, args: &Args) -> Result {
    vm.call_with(args.receiver()?, &args.rest())
}

fn function_globals(_: &mut Vm, args: &Args) -> Result {
    Ok(super::namespace_dict(function(args)?.globals()))
}

fn callable_name(vm: &mut Vm, args: &Args) -> Result {
    Ok(vm.function_name(args.receiver()?).value())
}

/// The receiver of a bound method in Rust; other functions have none.
fn native_self(_: &mut Vm, args: &Args) -> Result {
    Ok(match args.receiver()? {
        Value::Method(method) => method.receiver.clone(),
        _ => Value::None,
    })
}

/// The documentation of a function in Rust, or of a method that is bound to its receiver.
fn doc_of(args: &Args) -> Result<Option<Doc>> {
    Ok(match args.receiver()? {
        Value::NativeFunction(function) => function.doc,
        Value::Method(method) => match &method.function {
            Value::NativeFunction(function) => function.doc,
            _ => None,
        },
        _ => None,
    })
}

fn native_doc(_: &mut Vm, args: &Args) -> Result {
    Ok(doc_of(args)?.map_or(Value::None, |doc| doc.sentence.into()))
}

/// The parameters in brackets, without the receiver.
fn native_signature(_: &mut Vm, args: &Args) -> Result {
    let signature = doc_of(args)?.map(|doc| doc.signature).filter(|signature| !signature.is_empty());
    Ok(signature.map_or(Value::None, Value::from))
}

fn method<'a>(args: &Args<'a>) -> Result<&'a Rc<BoundMethod>> {
    match args.receiver()? {
        Value::Method(method) => Ok(method),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn method_name(vm: &mut Vm, args: &Args) -> Result {
    vm.get_attr(&method(args)?.function, "__name__")
}

fn method_doc(vm: &mut Vm, args: &Args) -> Result {
    vm.get_attr(&method(args)?.function, "__doc__")
}

fn method_self(_: &mut Vm, args: &Args) -> Result {
    Ok(method(args)?.receiver.clone())
}

fn method_func(_: &mut Vm, args: &Args) -> Result {
    Ok(method(args)?.function.clone())
}

/// `types.MethodType(function, instance)`.
pub fn new_method(vm: &mut Vm, args: &Args) -> Result {
    let [function, receiver] = args.exactly("method")?;
    if !vm.is_callable(function) {
        return Err(errors::type_error("first argument must be callable"));
    }
    if receiver.is_none() {
        return Err(errors::type_error("instance must not be None"));
    }
    Ok(Value::Method(Rc::new(BoundMethod { function: function.clone(), receiver: receiver.clone() })))
}

fn descriptor(descriptor: Descriptor) -> Value {
    Value::Descriptor(Rc::new(descriptor))
}

/// The functions of a property, by name, in the order of `property`'s parameters.
struct PropertyParts {
    functions: [Value; 3],
    doc: Value,
}

impl PropertyParts {
    fn of_args(args: &Args) -> Result<PropertyParts> {
        let mut parser = args.parser("property");
        let functions = [parser.optional("fget")?, parser.optional("fset")?, parser.optional("fdel")?];
        let doc = parser.optional("doc")?.cloned().and_then(Value::not_none).unwrap_or_default();
        parser.finish()?;
        let functions = functions.map(|function| function.cloned().unwrap_or(Value::None));
        Ok(PropertyParts { functions, doc })
    }

    fn to_value(&self) -> Value {
        let [get, set, delete] = self.functions.clone();
        descriptor(Descriptor::Property { get, set, delete, doc: self.doc.clone().into() })
    }
}

pub fn new_property(_: &mut Vm, args: &Args) -> Result {
    Ok(PropertyParts::of_args(args)?.to_value())
}

pub fn new_static_method(_: &mut Vm, args: &Args) -> Result {
    let [function] = args.exactly("staticmethod")?;
    Ok(descriptor(Descriptor::StaticMethod(function.clone())))
}

pub fn new_class_method(_: &mut Vm, args: &Args) -> Result {
    let [function] = args.exactly("classmethod")?;
    Ok(descriptor(Descriptor::ClassMethod(function.clone())))
}

/// `property.__init__`, for derived classes that define an `__init__`.
fn init_property(vm: &mut Vm, args: &Args) -> Result {
    let made = new_property(vm, &args.rest())?;
    init_descriptor(args, made)
}

/// `staticmethod.__init__` and `classmethod.__init__`.
fn init_wrapped(vm: &mut Vm, args: &Args) -> Result {
    let this = args.positional().first().ok_or_else(errors::method_needs_object)?;
    let made = match vm.class_of(this).layout {
        Layout::Builtin(BuiltinType::ClassMethod) => new_class_method(vm, &args.rest())?,
        _ => new_static_method(vm, &args.rest())?,
    };
    init_descriptor(args, made)
}

/// Gives an instance its built-in base descriptor, unless it has one.
fn init_descriptor(args: &Args, made: Value) -> Result {
    match args.positional().first() {
        Some(Value::Instance(instance)) => {
            if let Payload::Value(place) = &instance.payload {
                drop(place.set(made));
            }
            Ok(Value::None)
        }
        _ => Ok(Value::None),
    }
}

/// An attribute of the wrapped function.
fn wrapped_attr(vm: &mut Vm, args: &Args, name: &str) -> Result {
    let function = property_part(args, 0)?;
    vm.get_attr(&function, name)
}

/// A property with one function replaced, as `@x.setter` and its siblings make it. It has the same class.
fn property_with(vm: &mut Vm, args: &Args, at: usize) -> Result {
    let [property, function] = args.exactly("property")?;
    let Value::Descriptor(of) = property.base_value() else { return Err(errors::wrong_receiver(property)) };
    let Descriptor::Property { get, set, delete, doc } = &**of else {
        return Err(errors::wrong_receiver(property));
    };
    let mut parts =
        PropertyParts { functions: [get, set, delete].map(Value::clone), doc: doc.borrow().clone() };
    parts.functions[at] = function.clone();
    if !matches!(property, Value::Instance(_)) {
        return Ok(parts.to_value());
    }
    let class = Value::Class(vm.class_of(property));
    let [get, set, delete] = parts.functions;
    match parts.doc {
        Value::Unset => vm.call(&class, &[get, set, delete]),
        doc => vm.call(&class, &[get, set, delete, doc]),
    }
}

fn property_getter(vm: &mut Vm, args: &Args) -> Result {
    property_with(vm, args, 0)
}

fn property_setter(vm: &mut Vm, args: &Args) -> Result {
    property_with(vm, args, 1)
}

fn property_deleter(vm: &mut Vm, args: &Args) -> Result {
    property_with(vm, args, 2)
}

/// The documentation of a property is its getter's by default.
fn property_doc(vm: &mut Vm, args: &Args) -> Result {
    let Value::Descriptor(of) = args.receiver()? else { return Ok(Value::None) };
    let Descriptor::Property { get, doc, .. } = &**of else { return Ok(Value::None) };
    let doc = doc.borrow().clone();
    match (doc, get) {
        (Value::Unset, Value::None) => Ok(Value::None),
        (Value::Unset, get) => Ok(vm.find_attr(get, "__doc__")?.unwrap_or(Value::None)),
        (doc, _) => Ok(doc),
    }
}

fn set_property_doc(_: &mut Vm, args: &Args) -> Result {
    let [_, new] = args.exactly("__doc__")?;
    if let Value::Descriptor(of) = args.receiver()?
        && let Descriptor::Property { doc, .. } = &**of
    {
        drop(doc.replace(new.clone()));
    }
    Ok(Value::None)
}

fn property_set(vm: &mut Vm, args: &Args) -> Result {
    let [this, instance, value] = args.exactly("__set__")?;
    match property_part(args, 1)? {
        Value::None => Err(property_lacks(vm, this, instance, "setter")),
        set => vm.call(&set, &[instance.clone(), value.clone()]),
    }
}

fn property_delete(vm: &mut Vm, args: &Args) -> Result {
    let [this, instance] = args.exactly("__delete__")?;
    match property_part(args, 2)? {
        Value::None => Err(property_lacks(vm, this, instance, "deleter")),
        delete => vm.call(&delete, std::slice::from_ref(instance)),
    }
}

/// The error of a property without a setter or deleter, with the name that the class of the instance has for it.
fn property_lacks(vm: &Vm, property: &Value, instance: &Value, what: &str) -> Raise {
    let name_in = |class: Rc<Class>| {
        let attrs = class.own_attrs();
        attrs.iter().find(|(_, attr)| attr.is(property)).map(|(name, _)| name.clone())
    };
    errors::attribute_error(match vm.class_of(instance).line().find_map(name_in) {
        Some(name) => format!("property '{name}' of '{}' object has no {what}", instance.type_name()),
        None => format!("property has no {what}"),
    })
}

fn property_fget(_: &mut Vm, args: &Args) -> Result {
    property_part(args, 0)
}

fn property_fset(_: &mut Vm, args: &Args) -> Result {
    property_part(args, 1)
}

fn property_fdel(_: &mut Vm, args: &Args) -> Result {
    property_part(args, 2)
}

/// The getter, setter or deleter; a static or class method has only the first.
fn property_part(args: &Args, at: usize) -> Result {
    let Value::Descriptor(descriptor) = args.receiver()? else {
        return Err(errors::wrong_receiver(args.receiver()?));
    };
    let parts = match &**descriptor {
        Descriptor::Property { get, set, delete, .. } => [get, set, delete],
        Descriptor::StaticMethod(function) | Descriptor::ClassMethod(function) => {
            [function, &Value::None, &Value::None]
        }
    };
    Ok(parts[at].clone())
}

fn generator<'a>(args: &Args<'a>) -> Result<&'a Rc<Generator>> {
    match args.receiver()? {
        Value::Generator(generator) => Ok(generator),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn generator_name(_: &mut Vm, args: &Args) -> Result {
    let qualname = &generator(args)?.name;
    Ok(Value::str(qualname.rsplit('.').next().unwrap_or(qualname)))
}

fn generator_qualname(_: &mut Vm, args: &Args) -> Result {
    Ok(generator(args)?.name.value())
}

fn generator_iter(_: &mut Vm, args: &Args) -> Result {
    Ok(args.receiver()?.clone())
}

fn yielded(step: std::result::Result<Value, Value>) -> Result {
    step.map_err(errors::stop_iteration)
}

fn generator_next(vm: &mut Vm, args: &Args) -> Result {
    let step = vm.resume(generator(args)?, Value::None)?;
    yielded(step)
}

fn generator_send(vm: &mut Vm, args: &Args) -> Result {
    let [_, value] = args.exactly("send")?;
    let step = vm.resume(generator(args)?, value.clone())?;
    yielded(step)
}

/// `throw(exception)`, or as in older scripts `throw(class, value)`; a traceback after it is ignored.
fn generator_throw(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("throw");
    let exception = parser.positional("exception")?;
    let value = parser.optional_positional().filter(|value| !value.is_none());
    parser.optional_positional();
    parser.finish()?;
    let raise = match value {
        None => vm.raise_of(exception),
        Some(value) => raise_with(vm, exception, value)?,
    };
    let step = vm.throw_into(generator(args)?, raise)?;
    yielded(step)
}

/// The exception that a class and a value raise: the value if it is an instance of the class, else a new
/// instance.
fn raise_with(vm: &mut Vm, class: &Value, value: &Value) -> Result<Raise> {
    let exception = match (class, value) {
        (Value::Class(class), Value::Instance(_)) if vm.is_instance(value, class) => value.clone(),
        (Value::Class(_), Value::Tuple(values)) => vm.call(class, values)?,
        (Value::Class(_), value) => vm.call(class, std::slice::from_ref(value))?,
        _ => return Err(errors::type_error("instance exception may not have a separate value")),
    };
    Ok(vm.raise_of(&exception))
}

fn generator_close(vm: &mut Vm, args: &Args) -> Result {
    vm.close(generator(args)?)?;
    Ok(Value::None)
}

//! Structs on the host: the classes of `Struct(..)` and `@struct class`, and their values as bytes.
//!
//! Every struct type has a class; its instances are plain objects with the members as attributes. A member
//! that is a vector or an array of numbers is an ndarray, one that is a struct is another instance.
//!
//! The host identifies a class by one type. Kernels see that type with the current methods ([`now`]), so the
//! next launch calls methods that a script has replaced.

use std::cell::RefCell;
use std::rc::Rc;

use kps_bytecode::Code;
use kps_compute::{Field, Number};
use kps_kernel::{
    ClassConstants, Constant, EnvValue, MAX_STRUCT_BYTES, Member, Method, MethodKind, Scalar, StructType,
    Type,
};

use super::env::{StructEnv, helper};
use super::errors;
use super::types::KernelType;
pub use super::types::type_of;
use crate::modules::kp;
use crate::modules::numpy::NdArray;
use crate::value::{
    Args, BuiltinType, Class, Descriptor, Instance, Layout, Name, NativeDef, NativeFunction, Result, Value,
};
use crate::vm::Vm;

/// The struct types that have a class, by their types.
#[derive(Default)]
struct Classes(RefCell<Vec<(Rc<StructType>, Rc<Class>)>>);

/// Methods that a class gets unless it defines them.
const METHODS: &[NativeDef] = &[
    NativeDef::method("__init__", init),
    NativeDef::method("__repr__", repr),
    NativeDef::method("__eq__", equal),
];

/// The class attribute with the type.
const TYPE: &str = "__struct__";

/// `@struct`: the class is the type from now on, for kernels too.
pub fn decorate(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("struct")?;
    let Value::Class(class) = value else { return Err(errors::not_a_class(value)) };
    if !class.is_script || class.base.as_ref().is_some_and(|base| base.is_script) {
        return Err(errors::struct_base(&class.name));
    }
    let of = Rc::new(read(vm, class)?);
    adopt(vm, &of, class.clone());
    Ok(value.clone())
}

/// A type that is written as a string, as all are after `from __future__ import annotations`.
fn named_type(vm: &mut Vm, class: &Class, annotation: &Value) -> Result {
    let Value::Str(name) = annotation else { return Ok(annotation.clone()) };
    let module = vm.modules.get(&*class.module).cloned();
    if let Some(value) = module.and_then(|module| module.get(name)) {
        return Ok(value);
    }
    Ok(crate::builtins::lookup(vm, name)?.unwrap_or_else(|| annotation.clone()))
}

/// The members and methods of a class, by its annotations and attributes.
fn read(vm: &mut Vm, class: &Rc<Class>) -> Result<StructType> {
    let annotations = match class.own_attrs().get_text("__annotations__") {
        Some(Value::Dict(annotations)) => annotations.to_pairs(),
        _ => Vec::new(),
    };
    let name = Some((&*class.name).into());
    let class_constants = ClassConstants::of_class(Rc::new(StructEnv(Rc::downgrade(class))));
    let mut of = StructType { name, constants: class_constants, ..StructType::new(Vec::new()) };
    for (name, annotation) in annotations {
        let Value::Str(name) = name else { continue };
        let annotation = named_type(vm, class, &annotation)?;
        let ty = type_of(&annotation).ok_or_else(|| errors::member_type(&class.name, &name, &annotation))?;
        let mut member = Member::new(name.as_str(), ty);
        let default = class.own_attrs().get_text(&name).cloned();
        if let Some(default) = default {
            member.default = Some(constants(vm, &member.ty, &default, &name)?);
        }
        of.members.push(member);
    }
    if of.members.is_empty() {
        return Err(errors::empty_struct(&class.name));
    }
    if of.size() > MAX_STRUCT_BYTES {
        return Err(errors::struct_too_large(&class.name, MAX_STRUCT_BYTES));
    }
    of.methods = methods(class);
    Ok(of)
}

/// The library whose `dataclass` creates methods, which structs have by default.
const DATACLASSES: &str = "<dataclasses>";

/// The functions that a class has now, as they are written in it.
fn methods(class: &Class) -> Vec<Method> {
    let functions = |value: &Value| match value {
        Value::Descriptor(descriptor) => match &**descriptor {
            Descriptor::StaticMethod(function) => vec![(function.clone(), MethodKind::Static)],
            Descriptor::Property { get, set, .. } => {
                vec![(get.clone(), MethodKind::Property), (set.clone(), MethodKind::Setter)]
            }
            Descriptor::ClassMethod(_) => Vec::new(),
        },
        value => vec![(value.clone(), MethodKind::Plain)],
    };
    let method = |name: &Name, (function, kind)| {
        let function = helper(&function)?;
        let is_made = function.source.name() == DATACLASSES;
        (!is_made).then(|| Method { name: (&**name).into(), function, kind })
    };
    let attrs = class.own_attrs();
    let methods = attrs
        .iter()
        .flat_map(|(name, value)| functions(value).into_iter().filter_map(|function| method(name, function)));
    methods.collect()
}

/// A default as the numbers that kernels fill in.
fn constants(vm: &mut Vm, ty: &Type, value: &Value, name: &str) -> Result<Vec<Constant>> {
    let bytes = pack(vm, ty, value, name)?;
    let constant = |(offset, scalar): (u32, Scalar)| constant(scalar, &bytes[offset as usize..]);
    Ok(ty.numbers().into_iter().map(constant).collect())
}

/// The number at the start of `bytes`.
pub fn constant(scalar: Scalar, bytes: &[u8]) -> Constant {
    match Number::load(scalar, bytes) {
        Number::Bool(truth) => Constant::bool(truth),
        Number::Int(int) => Constant::int(scalar, int),
        Number::Float(float) => Constant::float(scalar, float),
    }
}

/// The bytes of one value, unless the script uses the name for something else.
const ITEMSIZE: &str = "itemsize";

/// Makes `class` the class of a type.
fn adopt(vm: &mut Vm, of: &Rc<StructType>, class: Rc<Class>) {
    for def in METHODS {
        if class.own_attrs().get_text(def.name).is_none() {
            let function = NativeFunction::of_class(def, class.name.clone());
            vm.set_class_attr(&class, &Name::from(def.name), Value::NativeFunction(Rc::new(function)));
        }
    }
    let ty = KernelType::of_struct(of);
    vm.set_class_attr(&class, &Name::from(TYPE), ty);
    if of.member(ITEMSIZE).is_none() && class.own_attrs().get_text(ITEMSIZE).is_none() {
        vm.set_class_attr(&class, &Name::from(ITEMSIZE), Value::Int(of.size().into()));
    }
    vm.state::<Classes>().0.borrow_mut().push((of.clone(), class));
}

/// The class of a struct type; one without a name gets a new class.
pub fn class_of(vm: &mut Vm, of: &Rc<StructType>) -> Rc<Class> {
    let classes = vm.state::<Classes>();
    let known = |is_it: &dyn Fn(&Rc<StructType>) -> bool| {
        classes.0.borrow().iter().find(|(known, _)| is_it(known)).map(|(_, class)| class.clone())
    };
    if let Some(class) = known(&|known| known == of).or_else(|| known(&|known| are_of_one_class(known, of))) {
        return class;
    }
    let base = vm.builtin_class(BuiltinType::Object);
    let mut class = Class::new(of.to_string().as_str(), Some(base), Layout::Plain);
    class.is_script = true;
    class.module = Name::from("pyshader");
    let class = Rc::new(class);
    adopt(vm, of, class.clone());
    class
}

/// A struct type as a value: its class if it has a name.
pub fn type_value(vm: &mut Vm, of: &Rc<StructType>) -> Value {
    match of.name {
        Some(_) => Value::Class(class_of(vm, of)),
        None => KernelType::of_struct(of),
    }
}

/// The struct type that a class is of.
pub fn type_of_class(class: &Class) -> Option<Type> {
    match class.own_attrs().get_text(TYPE) {
        Some(ty) => ty.downcast::<KernelType>()?.ty().cloned(),
        None => None,
    }
}

/// The key that requests the type of a struct's class: not a name that a script can write.
pub const TYPE_NOW: &str = "type now";

/// The struct type that kernels see a class as: with the methods that it has now, for a script may have replaced those
/// with which it was decorated.
pub fn type_now(class: &Class) -> Option<Type> {
    let ty = class.own_attrs().get_text(TYPE).cloned()?;
    let ty: &KernelType = ty.downcast()?;
    let Some(Type::Struct(first)) = ty.ty() else { return None };
    let latest = ty.latest.borrow().clone().unwrap_or_else(|| first.clone());
    let (methods, members) = (methods(class), newer_members(&latest));
    if members.is_none() && are_same(&methods, &latest.methods) {
        return Some(Type::Struct(latest));
    }
    let members = members.unwrap_or_else(|| latest.members.clone());
    let latest = Rc::new(StructType { members, methods, ..StructType::clone(&latest) });
    *ty.latest.borrow_mut() = Some(latest.clone());
    Some(Type::Struct(latest))
}

/// Whether these are the same functions, with the same captured values.
fn are_same(a: &[Method], b: &[Method]) -> bool {
    let is_same = |(a, b): (&Method, &Method)| {
        a == b && a.kind == b.kind && a.function.env.identity() == b.function.env.identity()
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// A type as kernels see it now.
pub fn now(ty: &Type) -> Type {
    newer(ty).unwrap_or_else(|| ty.clone())
}

/// The current version of a type; `None` if it is this one.
pub fn newer(ty: &Type) -> Option<Type> {
    match ty {
        Type::Array(array) => Some(Type::array(array.len, newer(&array.element)?)),
        Type::Struct(of) => match of.constant(TYPE_NOW) {
            Some(EnvValue::Type(Type::Struct(now))) if Rc::ptr_eq(&now, of) => None,
            Some(EnvValue::Type(now)) => Some(now),
            _ => {
                let members = newer_members(of)?;
                Some(Type::Struct(Rc::new(StructType { members, ..StructType::clone(of) })))
            }
        },
        _ => None,
    }
}

fn newer_members(of: &StructType) -> Option<Vec<Member>> {
    let newer: Vec<Option<Type>> = of.members.iter().map(|member| newer(&member.ty)).collect();
    let member = |(member, newer): (&Member, &Option<Type>)| {
        let ty = newer.as_ref().unwrap_or(&member.ty).clone();
        Member { ty, ..member.clone() }
    };
    newer.iter().any(Option::is_some).then(|| of.members.iter().zip(&newer).map(member).collect())
}

/// Whether both are types of one class, whichever methods that had at the time.
fn are_of_one_class(a: &Rc<StructType>, b: &Rc<StructType>) -> bool {
    a == b || now(&Type::Struct(a.clone())) == now(&Type::Struct(b.clone()))
}

fn is_instance(value: &Value, of: &Rc<StructType>) -> bool {
    matches!(type_of_value(value), Some(Type::Struct(own)) if are_of_one_class(&own, of))
}

/// The struct type of an instance.
pub fn type_of_value(value: &Value) -> Option<Type> {
    match value {
        Value::Instance(instance) => type_of_class(instance.class()),
        _ => None,
    }
}

fn this<'a>(args: &'a Args) -> Result<(&'a Rc<Instance>, Rc<StructType>)> {
    match (args.receiver()?, type_of_value(args.receiver()?)) {
        (Value::Instance(instance), Some(Type::Struct(of))) => Ok((instance, of)),
        (other, _) => Err(crate::errors::wrong_receiver(other)),
    }
}

/// `P(pos, mass=2)`: members by position or by name.
fn init(vm: &mut Vm, args: &Args) -> Result {
    let (instance, of) = this(args)?;
    let rest = args.rest();
    let given = rest.positional();
    if given.len() > of.members.len() {
        return Err(errors::too_many_members(&of, given.len()));
    }
    if let Some((name, _)) = rest.keywords().find(|(name, _)| of.member(name).is_none()) {
        return Err(errors::unknown_member(&of, name));
    }
    for (at, member) in of.members.iter().enumerate() {
        let value = match (given.get(at), rest.keyword(&member.name)) {
            (Some(_), Some(_)) => return Err(errors::member_twice(&of, &member.name)),
            (Some(value), None) | (None, Some(value)) => {
                let bytes = pack(vm, &member.ty, value, &member.name)?;
                stored(vm, &member.ty, value, &bytes)?
            }
            (None, None) => default(vm, &of, member)?,
        };
        instance.set_text(&member.name, value);
    }
    // As `dataclass` has it.
    if let Some(this) = args.positional().first()
        && let Some(post_init) = vm.find_attr(this, "__post_init__")?
    {
        vm.call(&post_init, &[])?;
    }
    Ok(Value::None)
}

/// Whether a script may set an attribute of an instance: a member, or an attribute that its class mentions.
pub fn check_attribute(instance: &Instance, name: &Name) -> Result<()> {
    let class = instance.class();
    let Some(Type::Struct(of)) = type_of_class(class) else { return Ok(()) };
    let is_known = of.member(name).is_some()
        || class.lookup(name).is_some()
        || instance.get_text(name).is_some()
        || class.body.as_ref().is_some_and(|body| mentions(&body.code, name));
    if is_known { Ok(()) } else { Err(errors::no_member(&of, name)) }
}

/// Whether code, or a function in it, mentions an attribute with this name.
fn mentions(code: &Code, attribute: &str) -> bool {
    code.sites.iter().any(|name| &**name == attribute)
        || code.children.iter().any(|child| mentions(child, attribute))
}

/// The stored value of a member: a number is stored as given, composite values are copied.
fn stored(vm: &mut Vm, ty: &Type, value: &Value, bytes: &[u8]) -> Result {
    match ty {
        Type::Scalar(_) => Ok(value.clone()),
        ty => unpack(vm, ty, bytes),
    }
}

fn default(vm: &mut Vm, of: &StructType, member: &Member) -> Result {
    let Some(constants) = &member.default else { return Err(errors::member_missing(of, &member.name)) };
    let mut bytes = vec![0; member.ty.packed_size() as usize];
    for ((offset, scalar), constant) in member.ty.numbers().into_iter().zip(constants) {
        let (at, size) = (offset as usize, scalar.size());
        bytes[at..at + size].copy_from_slice(&constant.bits().to_le_bytes()[..size]);
    }
    unpack(vm, &member.ty, &bytes)
}

/// `P(pos=[1.0, 2.0], mass=2.0)`.
fn repr(vm: &mut Vm, args: &Args) -> Result {
    let (instance, of) = this(args)?;
    let mut members = Vec::with_capacity(of.members.len());
    for member in &of.members {
        let value = instance.get_text(&member.name).unwrap_or_default();
        let shown = match value.downcast::<NdArray>() {
            Some(array) => array.to_list()?,
            None => value,
        };
        members.push(format!("{}={}", member.name, vm.repr(&shown)?));
    }
    let name = of.name.as_deref().unwrap_or("Struct");
    Ok(Value::str(format!("{name}({})", members.join(", "))))
}

/// Member by member, between instances of one type.
fn equal(vm: &mut Vm, args: &Args) -> Result {
    let (_, of) = this(args)?;
    let [left, right] = args.exactly("__eq__")?;
    let ty = Type::Struct(of);
    if type_of_value(right).as_ref() != Some(&ty) {
        return Ok(Value::NotImplemented);
    }
    let (a, b) = (value_of(vm, &ty, left)?, value_of(vm, &ty, right)?);
    Ok((a == b).into())
}

/// The numbers of a value, for comparing: NaN differs from itself.
fn value_of(vm: &mut Vm, ty: &Type, value: &Value) -> Result<Vec<Number>> {
    let bytes = pack(vm, ty, value, "")?;
    Ok(numbers(ty, &bytes))
}

/// Every number that bytes hold, in order.
pub fn numbers(ty: &Type, bytes: &[u8]) -> Vec<Number> {
    let number = |(offset, scalar)| Number::load(scalar, &bytes[offset as usize..]);
    ty.numbers().into_iter().map(number).collect()
}

/// The numbers of a struct and of its members, in order; `None` if a script stored something else.
pub fn numbers_in(ty: &Type, value: &Value) -> Option<Vec<Constant>> {
    let parts: Vec<Type> = ty.offsets().into_iter().map(|(_, part)| part).collect();
    let items: Vec<Value> = match (ty, value) {
        (Type::Scalar(scalar), value) => {
            let mut bytes = vec![0; scalar.size()];
            kp::number(value).ok()??.exact(*scalar, &mut bytes).ok()?;
            return Some(vec![constant(*scalar, &bytes)]);
        }
        (Type::Struct(of), Value::Instance(instance)) if type_of_value(value).as_ref() == Some(ty) => {
            of.members.iter().map(|member| instance.get_text(&member.name)).collect::<Option<_>>()?
        }
        (_, Value::Tuple(items)) => items.to_vec(),
        (_, Value::List(items)) => items.borrow().to_vec(),
        (ty, array) => {
            let Value::List(items) = array.downcast::<NdArray>()?.to_list().ok()? else { return None };
            return numbers_in(ty, &Value::List(items));
        }
    };
    if items.len() != parts.len() {
        return None;
    }
    let numbers = parts.iter().zip(&items).map(|(part, item)| numbers_in(part, item));
    numbers.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
}

/// A value's bytes in memory. `name` is its name in errors.
pub fn pack(vm: &mut Vm, ty: &Type, value: &Value, name: &str) -> Result<Vec<u8>> {
    let mut bytes = vec![0; ty.packed_size() as usize];
    write(vm, ty, value, &mut bytes, name)?;
    Ok(bytes)
}

/// Writes a value to its place in memory.
pub fn write(vm: &mut Vm, ty: &Type, value: &Value, bytes: &mut [u8], name: &str) -> Result<()> {
    match ty {
        Type::Scalar(scalar) => {
            let wrong = || errors::member_value(name, ty, value);
            let number = kp::number(value)?.ok_or_else(wrong)?;
            number.exact(*scalar, bytes).map_err(|_| errors::member_range(name, ty, number))
        }
        Type::Struct(of) => write_struct(vm, of, value, bytes, name),
        ty => {
            let items = match value {
                Value::Str(_) | Value::Dict(_) | Value::Set(_) => None,
                value if kp::number(value)?.is_some() => None,
                value => Some(vm.collect(value).map_err(|_| errors::member_value(name, ty, value))?),
            };
            let items = items.ok_or_else(|| errors::member_value(name, ty, value))?;
            let parts = ty.offsets();
            if items.len() != parts.len() {
                return Err(errors::member_len(name, ty, parts.len(), items.len()));
            }
            for (at, (item, (offset, part))) in items.iter().zip(parts).enumerate() {
                let end = offset + part.packed_size();
                let place = &mut bytes[offset as usize..end as usize];
                write(vm, &part, item, place, &format!("{name}[{at}]"))?;
            }
            Ok(())
        }
    }
}

/// From an instance, a dict of the members, or the members in order.
fn write_struct(vm: &mut Vm, of: &Rc<StructType>, value: &Value, bytes: &mut [u8], name: &str) -> Result<()> {
    let ty = Type::Struct(of.clone());
    let items = match value {
        Value::Tuple(_) | Value::List(_) => Some(vm.collect(value)?),
        _ => None,
    };
    if let Some(items) = &items
        && items.len() != of.members.len()
    {
        return Err(errors::member_len(name, &ty, of.members.len(), items.len()));
    }
    if let Value::Dict(dict) = value {
        let unknown = dict.to_pairs().into_iter().find_map(|(key, _)| match key.as_str() {
            Some(key) if of.member(key).is_some() => None,
            Some(key) => Some(key.to_owned()),
            None => Some(key.type_name().into_owned()),
        });
        if let Some(unknown) = unknown {
            return Err(errors::unknown_member(of, &unknown));
        }
    }
    let is_instance = is_instance(value, of);
    for (at, (member, offset)) in of.members.iter().zip(of.offsets()).enumerate() {
        let part = match (value, &items) {
            (_, Some(items)) => Some(items[at].clone()),
            (Value::Dict(dict), _) => dict.get_text(&member.name),
            (Value::Instance(instance), _) if is_instance => instance.get_text(&member.name),
            _ => return Err(errors::member_value(name, &ty, value)),
        };
        let part = match part {
            Some(part) => part,
            None => default(vm, of, member)?,
        };
        let end = (offset + member.ty.packed_size()) as usize;
        let inner = if name.is_empty() { member.name.to_string() } else { format!("{name}.{}", member.name) };
        write(vm, &member.ty, &part, &mut bytes[offset as usize..end], &inner)?;
    }
    Ok(())
}

/// The value that bytes are.
pub fn unpack(vm: &mut Vm, ty: &Type, bytes: &[u8]) -> Result {
    if let Type::Scalar(scalar) = ty {
        return Ok(kp::number_value(Number::load(*scalar, bytes)));
    }
    if let Some((shape, scalar)) = array_shape(ty) {
        return Ok(Value::native(NdArray::from_row(scalar, &shape, bytes.to_vec())));
    }
    let mut parts = Vec::new();
    for (offset, part) in ty.offsets() {
        parts.push(unpack(vm, &part, &bytes[offset as usize..(offset + part.packed_size()) as usize])?);
    }
    let Type::Struct(of) = ty else { return Ok(Value::list(parts)) };
    let instance = Instance::new(class_of(vm, of), crate::value::Payload::None);
    for (member, part) in of.members.iter().zip(parts) {
        instance.set_text(&member.name, part);
    }
    Ok(Value::Instance(Rc::new(instance)))
}

/// The shape and type of a value that is an array of numbers on the host, rows of a matrix first; `None` for
/// a single number and for values with structs.
pub fn array_shape(ty: &Type) -> Option<(Vec<usize>, Scalar)> {
    let mut shape = Vec::new();
    let mut ty = ty.clone();
    loop {
        match ty {
            Type::Scalar(scalar) => return (!shape.is_empty()).then_some((shape, scalar)),
            Type::Struct(_) => return None,
            Type::Matrix { columns, rows, scalar } => {
                shape.extend([usize::from(rows), usize::from(columns)]);
                ty = Type::Scalar(scalar);
            }
            _ => {
                shape.push(ty.n_parts()? as usize);
                ty = ty.part(0)?;
            }
        }
    }
}

/// Whether values of both types are the same bytes.
pub fn same_layout(a: &Type, b: &Type) -> bool {
    a == b || a.packed_size() == b.packed_size() && a.numbers() == b.numbers()
}

/// The numbers of one value, with their offsets in a tensor.
pub fn fields(ty: &Type) -> Vec<Field> {
    let field = |(offset, scalar)| Field { offset: offset as usize, dtype: scalar };
    ty.numbers().into_iter().map(field).collect()
}

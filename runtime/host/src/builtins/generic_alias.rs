//! `list[int]`: a class with type arguments, for type hints. Calling it creates an object of the class.
//!
//! Arguments may be type variables, or contain some; an index then substitutes those.

use std::rc::Rc;

use super::union_type::{UnionType, equality, union_operator};
use crate::errors;
use crate::ops::Side;
use crate::value::{
    Args, BinaryOp, Class, CompareOp, ExceptionKind, Native, NativeDef, NativeType, Result, Value,
    plain_equal,
};
use crate::vm::Vm;

pub static TYPE: NativeType =
    NativeType { methods: METHODS, new: Some(new), ..NativeType::new("GenericAlias", "types") };

static METHODS: &[NativeDef] = &[
    NativeDef::getter("__origin__", origin),
    NativeDef::getter("__args__", args_of),
    NativeDef::getter("__parameters__", parameters_of),
    NativeDef::method("__getitem__", super::protocol::get_item),
];

pub struct GenericAlias {
    pub origin: Rc<Class>,
    pub args: Vec<Value>,
}

/// `__class_getitem__` of the classes with unconstrained type arguments.
pub fn of_class(_: &mut Vm, args: &Args) -> Result {
    let [class, parts] = args.exactly("__class_getitem__")?;
    let Value::Class(origin) = class else { return Err(errors::wrong_receiver(class)) };
    Ok(Value::native(GenericAlias { origin: origin.clone(), args: parts_of(parts) }))
}

/// `types.GenericAlias(origin, args)`.
fn new(_: &mut Vm, args: &Args) -> Result {
    let [origin, parts] = args.exactly("GenericAlias")?;
    let Value::Class(origin) = origin else {
        let given = origin.type_name();
        return Err(errors::type_error(format!("GenericAlias() argument 1 must be a class, not '{given}'")));
    };
    Ok(Value::native(GenericAlias { origin: origin.clone(), args: parts_of(parts) }))
}

fn parts_of(parts: &Value) -> Vec<Value> {
    match parts {
        Value::Tuple(parts) => parts.to_vec(),
        part => vec![part.clone()],
    }
}

/// The type variables in type arguments, each once, in order of occurrence.
pub fn parameters(vm: &mut Vm, parts: &[Value]) -> Result<Vec<Value>> {
    let mut found: Vec<Value> = Vec::new();
    for part in parts {
        for parameter in parameters_of_part(vm, part)? {
            if !found.iter().any(|known| known.is(&parameter)) {
                found.push(parameter);
            }
        }
    }
    Ok(found)
}

fn parameters_of_part(vm: &mut Vm, part: &Value) -> Result<Vec<Value>> {
    vm.check_stack()?;
    match part {
        Value::Native(_) => {
            let parts = match (part.downcast::<GenericAlias>(), part.downcast::<UnionType>()) {
                (Some(alias), _) => alias.args.clone(),
                (_, Some(union)) => union.args.clone(),
                _ => return Ok(Vec::new()),
            };
            parameters(vm, &parts)
        }
        Value::List(parts) => parameters(vm, &parts.to_vec()),
        Value::Instance(_) if vm.script_method(part, "__typing_subst__").is_some() => Ok(vec![part.clone()]),
        Value::Instance(_) => match vm.find_attr(part, "__parameters__")? {
            Some(Value::Tuple(parameters)) => Ok(parameters.to_vec()),
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

/// A part with the type variables replaced.
fn substituted(vm: &mut Vm, part: &Value, parameters: &[Value], given: &[Value]) -> Result {
    if let Some(at) = parameters.iter().position(|parameter| parameter.is(part)) {
        return Ok(given[at].clone());
    }
    let own = parameters_of_part(vm, part)?;
    if own.is_empty() {
        return Ok(part.clone());
    }
    let mut args = Vec::with_capacity(own.len());
    for parameter in &own {
        args.push(substituted(vm, parameter, parameters, given)?);
    }
    if let Some(union) = part.downcast::<UnionType>() {
        let mut whole = None;
        for part in union.args.clone() {
            let part = substituted(vm, &part, parameters, given)?;
            whole = Some(match whole {
                None => part,
                Some(left) => vm.binary(BinaryOp::BitOr, &left, &part)?,
            });
        }
        return Ok(whole.unwrap_or(Value::None));
    }
    vm.get_item(part, &Value::tuple(args))
}

impl Native for GenericAlias {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&Value::Class(self.origin.clone()));
        self.args.iter().for_each(visit);
    }

    fn get_attr(&self, _: &Value, vm: &mut Vm, name: &str) -> Result<Option<Value>> {
        if name == "__class__" {
            return Ok(None);
        }
        vm.get_attr(&Value::Class(self.origin.clone()), name).map(Some)
    }

    /// Replaces the type variables among the parts.
    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let parameters = parameters(vm, &self.args)?;
        let given = parts_of(index);
        if parameters.is_empty() {
            return Err(errors::type_error(format!("{} is not a generic class", vm.repr(this)?)));
        }
        if given.len() != parameters.len() {
            let much = if given.len() < parameters.len() { "few" } else { "many" };
            let (this, n_given, n_wanted) = (vm.repr(this)?, given.len(), parameters.len());
            let message = format!("Too {much} arguments for {this}; actual {n_given}, expected {n_wanted}");
            return Err(errors::type_error(message));
        }
        let mut args = Vec::with_capacity(self.args.len());
        for part in &self.args {
            args.push(substituted(vm, part, &parameters, &given)?);
        }
        Ok(Some(Value::native(GenericAlias { origin: self.origin.clone(), args })))
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, this: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        let made = vm.call_with(&Value::Class(self.origin.clone()), args)?;
        if let Value::Instance(instance) = &made
            && instance.class().is_script
        {
            match vm.set_attr(&made, "__orig_class__", this.clone()) {
                // An object without a `__dict__` cannot store its `__orig_class__`.
                Err(raise)
                    if !raise.is(ExceptionKind::AttributeError) && !raise.is(ExceptionKind::TypeError) =>
                {
                    return Err(raise);
                }
                _ => {}
            }
        }
        Ok(Some(made))
    }

    fn binary(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        union_operator(vm, this, op, side, other)
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = other.downcast::<GenericAlias>() else { return Ok(None) };
        let parts = |alias: &GenericAlias| Value::tuple(alias.args.clone());
        let equal = Rc::ptr_eq(&self.origin, &other.origin) && vm.equals(&parts(self), &parts(other))?;
        Ok(equality(op, equal))
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<GenericAlias>().is_some_and(|other| {
            let is_same = |(left, right): (&Value, &Value)| plain_equal(left, right);
            Rc::ptr_eq(&self.origin, &other.origin)
                && self.args.len() == other.args.len()
                && self.args.iter().zip(&other.args).all(is_same)
        })
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let mut parts = Vec::with_capacity(self.args.len());
        for part in &self.args {
            parts.push(shown(vm, part)?);
        }
        let parts = if parts.is_empty() { "()".to_owned() } else { parts.join(", ") };
        Ok(format!("{}[{parts}]", class_path(&self.origin)))
    }

    fn hash(&self, _: &Value, vm: &mut Vm) -> Result<Option<i64>> {
        let parts = Value::tuple([Value::Class(self.origin.clone()), Value::tuple(self.args.clone())]);
        vm.hash(&parts).map(Some)
    }
}

fn class_path(class: &Class) -> String {
    match &*class.module {
        "builtins" => class.qualname().to_string(),
        module => format!("{module}.{}", class.qualname()),
    }
}

/// A type as a type hint shows it.
pub fn shown(vm: &mut Vm, part: &Value) -> Result<String> {
    vm.check_stack()?;
    Ok(match part {
        Value::Class(class) => class_path(class),
        Value::Ellipsis => "...".to_owned(),
        Value::List(parts) => {
            let mut texts = Vec::new();
            for part in parts.to_vec() {
                texts.push(shown(vm, &part)?);
            }
            format!("[{}]", texts.join(", "))
        }
        other => vm.repr(other)?,
    })
}

fn origin(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Class(args.this::<GenericAlias>()?.origin.clone()))
}

fn args_of(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::tuple(args.this::<GenericAlias>()?.args.clone()))
}

fn parameters_of(vm: &mut Vm, args: &Args) -> Result {
    let parts = args.this::<GenericAlias>()?.args.clone();
    parameters(vm, &parts).map(Value::tuple)
}

//! `list[int]`: a class with the types of its parts, for type hints. Calling it makes an object of the class.

use std::rc::Rc;

use super::union_type::of_types;
use crate::errors;
use crate::ops::Side;
use crate::value::{Args, BinaryOp, Class, CompareOp, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType { methods: METHODS, ..NativeType::new("GenericAlias", "types") };

static METHODS: &[NativeDef] =
    &[NativeDef::getter("__origin__", origin), NativeDef::getter("__args__", args_of)];

pub struct GenericAlias {
    pub origin: Rc<Class>,
    args: Vec<Value>,
}

/// `__class_getitem__` of the classes that take parts of any type.
pub fn of_class(_: &mut Vm, args: &Args) -> Result {
    let [class, parts] = args.exactly("__class_getitem__")?;
    let Value::Class(origin) = class else { return Err(errors::wrong_receiver(class)) };
    let args = match parts {
        Value::Tuple(parts) => parts.to_vec(),
        part => vec![part.clone()],
    };
    Ok(Value::native(GenericAlias { origin: origin.clone(), args }))
}

impl Native for GenericAlias {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn get_attr(&self, _: &Value, vm: &mut Vm, name: &str) -> Result<Option<Value>> {
        vm.find_attr(&Value::Class(self.origin.clone()), name)
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        vm.call_with(&Value::Class(self.origin.clone()), args).map(Some)
    }

    fn binary(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        match (op, side) {
            (BinaryOp::BitOr, Side::Left) => of_types(vm, this, other),
            (BinaryOp::BitOr, Side::Right) => of_types(vm, other, this),
            _ => Ok(None),
        }
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = other.downcast::<GenericAlias>() else { return Ok(None) };
        let parts = |alias: &GenericAlias| Value::tuple(alias.args.clone());
        let equal = Rc::ptr_eq(&self.origin, &other.origin) && vm.equals(&parts(self), &parts(other))?;
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(equal)),
            CompareOp::NotEq => Some(Value::Bool(!equal)),
            _ => None,
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
        vm.hash(&Value::tuple(self.args.clone())).map(Some)
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

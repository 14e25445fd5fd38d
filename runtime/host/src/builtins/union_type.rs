//! `int | None`: unions of types, for type hints and for `isinstance`.

use super::generic_alias::{GenericAlias, parameters, shown};
use crate::ops::Side;
use crate::value::{Args, BinaryOp, CompareOp, Native, NativeDef, NativeType, Result, Value, plain_equal};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType {
    methods: &[NativeDef::getter("__args__", args_of), NativeDef::getter("__parameters__", parameters_of)],
    ..NativeType::new("UnionType", "types")
};

pub struct UnionType {
    pub args: Vec<Value>,
}

/// `left | right` of two types; `None` if one of them is not a type.
pub fn of_types(vm: &mut Vm, left: &Value, right: &Value) -> Result<Option<Value>> {
    let has_type = !left.is_none() || !right.is_none();
    let (Some(left), Some(right)) = (parts(vm, left), parts(vm, right)) else { return Ok(None) };
    if !has_type {
        return Ok(None);
    }
    let mut args: Vec<Value> = Vec::new();
    for part in left.into_iter().chain(right) {
        let mut is_known = false;
        for known in &args {
            is_known |= vm.same(known, &part)?;
        }
        if !is_known {
            args.push(part);
        }
    }
    Ok(Some(if args.len() == 1 { args.remove(0) } else { Value::native(UnionType { args }) }))
}

fn parts(vm: &mut Vm, value: &Value) -> Option<Vec<Value>> {
    if let Some(union) = value.downcast::<UnionType>() {
        return Some(union.args.clone());
    }
    match value {
        Value::None => Some(vec![Value::Class(vm.class_of(value))]),
        Value::Class(_) => Some(vec![value.clone()]),
        other => other.downcast::<GenericAlias>().map(|_| vec![other.clone()]),
    }
}

/// `this | other` or `other | this` of a type that is a host object.
pub fn union_operator(
    vm: &mut Vm,
    this: &Value,
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

/// The result of `==` and `!=` of two objects; other comparisons have none.
pub fn equality(op: CompareOp, equal: bool) -> Option<Value> {
    match op {
        CompareOp::Eq => Some(Value::Bool(equal)),
        CompareOp::NotEq => Some(Value::Bool(!equal)),
        _ => None,
    }
}

impl Native for UnionType {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        self.args.iter().for_each(visit);
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

    /// The order of the types is irrelevant.
    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = other.downcast::<UnionType>() else { return Ok(None) };
        let args = Value::tuple(other.args.clone());
        let mut equal = self.args.len() == other.args.len();
        for part in &self.args {
            equal = equal && vm.contains(&args, part)?;
        }
        Ok(equality(op, equal))
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<UnionType>().is_some_and(|other| {
            let has = |part: &Value| other.args.iter().any(|known| plain_equal(known, part));
            self.args.len() == other.args.len() && self.args.iter().all(has)
        })
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let mut texts = Vec::with_capacity(self.args.len());
        for part in &self.args {
            texts.push(match part {
                Value::Class(class) if &*class.name == "NoneType" => "None".to_owned(),
                part => shown(vm, part)?,
            });
        }
        Ok(texts.join(" | "))
    }

    fn hash(&self, _: &Value, vm: &mut Vm) -> Result<Option<i64>> {
        let mut hash = 0;
        for part in &self.args {
            hash ^= vm.hash(part)?;
        }
        Ok(Some(hash))
    }
}

fn args_of(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::tuple(args.this::<UnionType>()?.args.clone()))
}

fn parameters_of(vm: &mut Vm, args: &Args) -> Result {
    let parts = args.this::<UnionType>()?.args.clone();
    parameters(vm, &parts).map(Value::tuple)
}

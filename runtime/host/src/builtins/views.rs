//! The views of a dict: `keys()` and `items()`, which act as sets, and `values()`. They reflect later
//! changes.

use std::rc::Rc;

use super::iterators;
use crate::errors;
use crate::ops::Side;
use crate::value::{
    Args, BinaryOp, CompareOp, Dict, IterState, Native, NativeDef, NativeType, Result, Set, Value,
};
use crate::vm::Vm;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Keys,
    Values,
    Items,
}

static KEYS: NativeType = NativeType { methods: SET_METHODS, ..NativeType::new("dict_keys", "builtins") };
static VALUES: NativeType = NativeType { methods: METHODS, ..NativeType::new("dict_values", "builtins") };
static ITEMS: NativeType = NativeType { methods: SET_METHODS, ..NativeType::new("dict_items", "builtins") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("__len__", super::protocol::len),
    NativeDef::method("__iter__", super::protocol::iter),
    NativeDef::method("__contains__", super::protocol::contains),
    NativeDef::method("__reversed__", iterators::reversed_method),
];

static SET_METHODS: &[NativeDef] = &[
    NativeDef::method("isdisjoint", isdisjoint),
    NativeDef::method("__len__", super::protocol::len),
    NativeDef::method("__iter__", super::protocol::iter),
    NativeDef::method("__contains__", super::protocol::contains),
    NativeDef::method("__reversed__", iterators::reversed_method),
];

/// A view of a dict.
pub struct View {
    dict: Rc<Dict>,
    kind: Kind,
}

pub fn keys(dict: Rc<Dict>) -> Value {
    Value::native(View { dict, kind: Kind::Keys })
}

pub fn values(dict: Rc<Dict>) -> Value {
    Value::native(View { dict, kind: Kind::Values })
}

pub fn items(dict: Rc<Dict>) -> Value {
    Value::native(View { dict, kind: Kind::Items })
}

impl View {
    /// The view's items, in order.
    pub fn to_vec(&self) -> Vec<Value> {
        let pairs = self.dict.to_pairs().into_iter();
        match self.kind {
            Kind::Keys => pairs.map(|(key, _)| key).collect(),
            Kind::Values => pairs.map(|(_, value)| value).collect(),
            Kind::Items => pairs.map(|(key, value)| Value::tuple([key, value])).collect(),
        }
    }

    fn to_set(&self, vm: &mut Vm) -> Result {
        let set = vm.set_from(&Value::list(self.to_vec()))?;
        Ok(Value::Set(Rc::new(set)))
    }
}

impl Native for View {
    fn native_type(&self) -> &'static NativeType {
        match self.kind {
            Kind::Keys => &KEYS,
            Kind::Values => &VALUES,
            Kind::Items => &ITEMS,
        }
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        Ok((name == "mapping").then(|| Value::Dict(self.dict.clone())))
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.dict.len()))
    }

    fn iter(&self, _: &Value, _: &mut Vm) -> Result<Option<Value>> {
        let (dict, len) = (self.dict.clone(), self.dict.len());
        Ok(Some(Value::iter(match self.kind {
            Kind::Keys => IterState::DictKeys { dict, at: 0, len },
            Kind::Values => IterState::DictValues { dict, at: 0, len },
            Kind::Items => IterState::DictItems { dict, at: 0, len },
        })))
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        match (self.kind, item) {
            (Kind::Keys, key) => Ok(Some(vm.dict_get(&self.dict, key)?.is_some())),
            (Kind::Values, _) => Ok(None),
            (Kind::Items, Value::Tuple(pair)) if pair.len() == 2 => {
                let Some(value) = vm.dict_get(&self.dict, &pair[0])? else { return Ok(Some(false)) };
                vm.same(&value, &pair[1]).map(Some)
            }
            (Kind::Items, _) => Ok(Some(false)),
        }
    }

    /// Keys and items combine with any iterable, and return sets.
    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let is_set_operator =
            matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Sub);
        if self.kind == Kind::Values || !is_set_operator {
            return Ok(None);
        }
        let this = self.to_set(vm)?;
        let other = Value::Set(Rc::new(vm.set_from(other)?));
        let (left, right) = if side == Side::Left { (this, other) } else { (other, this) };
        vm.set_binary(op, &left, &right).map(Some)
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if self.kind == Kind::Values {
            return Ok(None);
        }
        let other = match other {
            Value::Set(_) | Value::FrozenSet(_) => other.clone(),
            _ => match other.downcast::<View>() {
                Some(view) if view.kind != Kind::Values => view.to_set(vm)?,
                _ => return Ok(None),
            },
        };
        let this = self.to_set(vm)?;
        vm.compare(op, &this, &other).map(Some)
    }

    fn repr(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        let name = self.native_type().name;
        let address = this.address().unwrap_or(0);
        if vm.repr_active.contains(&address) {
            return Ok("...".to_owned());
        }
        vm.repr_active.push(address);
        let items = vm.repr(&Value::list(self.to_vec()));
        vm.repr_active.pop();
        Ok(format!("{name}({})", items?))
    }

    fn hash(&self, this: &Value, _: &mut Vm) -> Result<Option<i64>> {
        // A view of values is hashable by identity; the others compare by content.
        Ok(if self.kind == Kind::Values { this.address().map(|at| at as i64 >> 4) } else { None })
    }
}

fn isdisjoint(vm: &mut Vm, args: &Args) -> Result {
    let [other] = args.rest().exactly("isdisjoint")?;
    let receiver = args.receiver()?;
    for item in vm.collect(other)? {
        if vm.contains(receiver, &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// A set of an iterable's items, or the set itself.
pub fn as_set(vm: &mut Vm, value: &Value) -> Result<Rc<Set>> {
    match value.base_value() {
        Value::Set(set) | Value::FrozenSet(set) => Ok(set.clone()),
        other => vm.set_from(other).map(Rc::new).map_err(|raise| match other {
            Value::Instance(_) | Value::Native(_) => raise,
            _ if raise.is(crate::value::ExceptionKind::TypeError) && vm.iter(other).is_err() => {
                errors::not_iterable(other)
            }
            _ => raise,
        }),
    }
}

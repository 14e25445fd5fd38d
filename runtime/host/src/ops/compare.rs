//! Comparison, membership and truth.

use std::cmp::Ordering;
use std::rc::Rc;

use super::number::{self, number};
use crate::errors;
use crate::text::search;
use crate::value::{CompareOp, Result, Value};
use crate::vm::Vm;

/// Whether a value of a built-in type defines membership itself.
fn is_container(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_)
            | Value::Tuple(_)
            | Value::Dict(_)
            | Value::Set(_)
            | Value::FrozenSet(_)
            | Value::Str(_)
            | Value::Bytes(_)
    )
}

fn dunder(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "__eq__",
        CompareOp::NotEq => "__ne__",
        CompareOp::Less => "__lt__",
        CompareOp::LessEq => "__le__",
        CompareOp::Greater => "__gt__",
        CompareOp::GreaterEq => "__ge__",
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => {
            unreachable!("identity and membership have no such method")
        }
    }
}

/// The operator with its operands exchanged.
fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEq => CompareOp::GreaterEq,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEq => CompareOp::LessEq,
        other => other,
    }
}

fn holds(op: CompareOp, ordering: Option<Ordering>) -> bool {
    match op {
        CompareOp::Eq => ordering == Some(Ordering::Equal),
        CompareOp::NotEq => ordering != Some(Ordering::Equal),
        CompareOp::Less => ordering == Some(Ordering::Less),
        CompareOp::LessEq => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Greater => ordering == Some(Ordering::Greater),
        CompareOp::GreaterEq => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        _ => false,
    }
}

impl Vm {
    /// `left op right` for every comparison; an array may answer with an array.
    pub fn compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Result {
        let truth = match op {
            CompareOp::Is => left.is(right),
            CompareOp::IsNot => !left.is(right),
            CompareOp::In => self.contains(right, left)?,
            CompareOp::NotIn => !self.contains(right, left)?,
            _ => return self.rich_compare(op, left, right),
        };
        Ok(Value::Bool(truth))
    }

    fn rich_compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Result {
        if let Some(ordering) = plain_order(left, right) {
            return Ok(Value::Bool(holds(op, ordering)));
        }
        let reflected_first = match right {
            Value::Instance(instance) => {
                let (left, right) = (self.class_of(left), instance.class());
                !Rc::ptr_eq(&left, right) && right.is_subclass_of(&left)
            }
            _ => false,
        };
        if reflected_first && let Some(value) = self.operand_compare(mirrored(op), right, left)? {
            return Ok(value);
        }
        // The class of the right operand does not take precedence, so the number on the left is tried first.
        if !reflected_first
            && number::takes(left, right)
            && let Some(ordering) = plain_order(left, right.base_value())
        {
            return Ok(Value::Bool(holds(op, ordering)));
        }
        if let Some(value) = self.operand_compare(op, left, right)? {
            return Ok(value);
        }
        if !reflected_first && let Some(value) = self.operand_compare(mirrored(op), right, left)? {
            return Ok(value);
        }
        let (left_base, right_base) = (left.base_value(), right.base_value());
        if !left_base.is(left) || !right_base.is(right) {
            return self.rich_compare(op, left_base, right_base);
        }
        if let Some(truth) = self.container_compare(op, left, right)? {
            return Ok(Value::Bool(truth));
        }
        match op {
            CompareOp::Eq => Ok(Value::Bool(left.is(right))),
            CompareOp::NotEq => Ok(Value::Bool(!left.is(right))),
            _ => Err(errors::not_ordered(op, left, right)),
        }
    }

    /// Tries the hook or dunder method of `this`; `None` if it does not apply.
    fn operand_compare(&mut self, op: CompareOp, this: &Value, other: &Value) -> Result<Option<Value>> {
        match this {
            Value::Native(object) => object.object().compare(this, self, op, other),
            Value::Instance(_) => {
                if let Some(value) = self.call_operator(this, dunder(op), other)? {
                    return Ok(Some(value));
                }
                if op != CompareOp::NotEq {
                    return Ok(None);
                }
                let Some(equal) = self.call_operator(this, "__eq__", other)? else { return Ok(None) };
                Ok(Some(Value::Bool(!self.truth(&equal)?)))
            }
            _ => Ok(None),
        }
    }

    /// Lists, tuples, dicts, sets, ranges; `None` if they are not comparable like this.
    fn container_compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> Result<Option<bool>> {
        let is_equality = matches!(op, CompareOp::Eq | CompareOp::NotEq);
        let wanted = op == CompareOp::Eq;
        match (left, right) {
            (Value::List(left_list), Value::List(right_list)) => {
                if is_equality && left_list.len() != right_list.len() {
                    return Ok(Some(!wanted));
                }
                let (left, right) = (left_list.to_vec(), right_list.to_vec());
                self.sequence_compare(op, &left, &right).map(Some)
            }
            (Value::Tuple(left), Value::Tuple(right)) => self.sequence_compare(op, left, right).map(Some),
            (Value::Dict(left), Value::Dict(right)) if is_equality => {
                Ok(Some(self.dicts_equal(left, right)? == wanted))
            }
            (Value::Set(left) | Value::FrozenSet(left), Value::Set(right) | Value::FrozenSet(right)) => {
                let (left, right) = (left.clone(), right.clone());
                self.sets_compare(op, &left, &right).map(Some)
            }
            (Value::Range(left), Value::Range(right)) if is_equality => {
                let same = left.has_same_items(right);
                Ok(Some(same == wanted))
            }
            (Value::Slice(left), Value::Slice(right)) if is_equality => {
                let left = [left.start.clone(), left.stop.clone(), left.step.clone()];
                let right = [right.start.clone(), right.stop.clone(), right.step.clone()];
                self.sequence_compare(op, &left, &right).map(Some)
            }
            (Value::Method(left), Value::Method(right)) if is_equality => {
                let same = left.receiver.is(&right.receiver) && left.function.is(&right.function);
                Ok(Some(same == wanted))
            }
            _ => Ok(None),
        }
    }

    /// The first pair that differs decides.
    fn sequence_compare(&mut self, op: CompareOp, left: &[Value], right: &[Value]) -> Result<bool> {
        self.check_stack()?;
        for (left_item, right_item) in left.iter().zip(right) {
            if !self.same(left_item, right_item)? {
                return match op {
                    CompareOp::Eq => Ok(false),
                    CompareOp::NotEq => Ok(true),
                    _ => {
                        let value = self.rich_compare(op, left_item, right_item)?;
                        self.truth(&value)
                    }
                };
            }
        }
        Ok(holds(op, Some(left.len().cmp(&right.len()))))
    }

    /// `left == right` as one bool.
    pub fn equals(&mut self, left: &Value, right: &Value) -> Result<bool> {
        if let Some(ordering) = plain_order(left, right) {
            return Ok(ordering == Some(Ordering::Equal));
        }
        let value = self.rich_compare(CompareOp::Eq, left, right)?;
        self.truth(&value)
    }

    /// Equality within containers: an object equals itself whatever its `__eq__` returns.
    pub fn same(&mut self, left: &Value, right: &Value) -> Result<bool> {
        Ok(left.is(right) || self.equals(left, right)?)
    }

    /// `left < right` as one bool: the order that `sorted` uses.
    pub fn less(&mut self, left: &Value, right: &Value) -> Result<bool> {
        let value = self.rich_compare(CompareOp::Less, left, right)?;
        self.truth(&value)
    }

    /// `item in container`.
    pub fn contains(&mut self, container: &Value, item: &Value) -> Result<bool> {
        match container {
            Value::Str(text) => match item.as_str() {
                Some(part) => return Ok(search::find(text.as_bytes(), part.as_bytes())?.is_some()),
                None => {
                    return Err(errors::type_error(format!(
                        "'in <string>' requires string as left operand, not {}",
                        item.type_name()
                    )));
                }
            },
            Value::Dict(dict) => return Ok(self.dict_get(dict, item)?.is_some()),
            Value::Set(set) | Value::FrozenSet(set) => {
                // A set that is looked up in a set is replaced by the frozenset of its elements.
                if let Value::Set(elements) = item {
                    return self.set_contains(set, &Value::FrozenSet(elements.clone()));
                }
                return self.set_contains(set, item);
            }
            Value::Range(range) => {
                if let Some(int) = item.as_int() {
                    return Ok(range.contains(int));
                }
            }
            Value::Bytes(bytes) => return bytes_contain(bytes, item),
            Value::List(list) => {
                let mut at = 0;
                loop {
                    let Some(candidate) = list.borrow().get(at).cloned() else { return Ok(false) };
                    self.poll()?;
                    if self.same(&candidate, item)? {
                        return Ok(true);
                    }
                    at += 1;
                }
            }
            Value::Native(object) => {
                if let Some(truth) = object.object().contains(container, self, item)? {
                    return Ok(truth);
                }
            }
            Value::Class(_) => {
                if let Some(found) =
                    self.class_says(container, "__class_contains__", std::slice::from_ref(item))?
                {
                    return self.truth(&found);
                }
            }
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(container, "__contains__") {
                    if function.is_none() {
                        let message = format!("'{}' object is not a container", container.type_name());
                        return Err(errors::type_error(message));
                    }
                    let value = self.call_method_value(&function, container, std::slice::from_ref(item))?;
                    return self.truth(&value);
                }
                if let Some(payload) = instance.payload_value()
                    && (is_container(payload) || self.script_method(container, "__iter__").is_none())
                {
                    return self.contains(payload, item);
                }
            }
            _ => {}
        }
        let iter = self.iter(container).map_err(|raise| {
            let message = format!("argument of type '{}' is not iterable", container.type_name());
            if raise.is(crate::value::ExceptionKind::TypeError) { errors::type_error(message) } else { raise }
        })?;
        while let Some(candidate) = self.next(&iter)? {
            self.poll()?;
            if self.same(&candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a condition holds for the value.
    pub fn truth(&mut self, value: &Value) -> Result<bool> {
        Ok(match value {
            Value::Bool(truth) => *truth,
            Value::None | Value::Unset => false,
            Value::Int(int) => *int != 0,
            Value::Float(float) => *float != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::List(list) => !list.is_empty(),
            Value::Tuple(tuple) => !tuple.is_empty(),
            Value::Dict(dict) => !dict.is_empty(),
            Value::Set(set) | Value::FrozenSet(set) => !set.is_empty(),
            Value::Bytes(bytes) => !bytes.is_empty(),
            Value::Range(range) => !range.is_empty(),
            Value::Native(object) => return object.object().truth(self),
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(value, "__bool__") {
                    return match self.call_method_value(&function, value, &[])? {
                        Value::Bool(truth) => Ok(truth),
                        other => Err(errors::type_error(format!(
                            "__bool__ should return bool, returned {}",
                            other.type_name()
                        ))),
                    };
                }
                if self.script_method(value, "__len__").is_some() {
                    return Ok(self.len(value)? != 0);
                }
                match instance.payload_value() {
                    Some(payload) => return self.truth(payload),
                    None => true,
                }
            }
            _ => true,
        })
    }
}

/// The order of numbers and of strings; the outer `None` means that these are neither.
fn plain_order(left: &Value, right: &Value) -> Option<Option<Ordering>> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(Some(if Rc::ptr_eq(left, right) {
            Ordering::Equal
        } else {
            left.as_str().cmp(right.as_str())
        })),
        (Value::Bytes(left), Value::Bytes(right)) => Some(Some(left.0.cmp(&right.0))),
        _ => Some(number::order(&number(left)?, &number(right)?)),
    }
}

fn bytes_contain(bytes: &[u8], item: &Value) -> Result<bool> {
    match item {
        Value::Bytes(part) => Ok(search::find(bytes, part)?.is_some()),
        _ => match item.as_int() {
            Some(byte @ 0..=255) => Ok(bytes.contains(&(byte as u8))),
            Some(_) => Err(errors::byte_out_of_range()),
            None => Err(errors::not_bytes_like(item)),
        },
    }
}

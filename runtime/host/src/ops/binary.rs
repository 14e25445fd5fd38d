//! Binary and unary operators.

use std::rc::Rc;

use kps_syntax::ast::UnaryOp;

use super::{Side, number};
use crate::errors;
use crate::memory;
use crate::value::{BinaryOp, Bytes, Class, Dict, Result, Value};
use crate::vm::{Vm, repeat_all, repeat_text};

/// No sequence is repeated to more items than this.
const MAX_REPEATED: usize = 1 << 31;

/// The methods of an operator: plain, reflected, in place.
pub(crate) fn dunders(op: BinaryOp) -> (&'static str, &'static str, &'static str) {
    match op {
        BinaryOp::Add => ("__add__", "__radd__", "__iadd__"),
        BinaryOp::Sub => ("__sub__", "__rsub__", "__isub__"),
        BinaryOp::Mul => ("__mul__", "__rmul__", "__imul__"),
        BinaryOp::MatMul => ("__matmul__", "__rmatmul__", "__imatmul__"),
        BinaryOp::Div => ("__truediv__", "__rtruediv__", "__itruediv__"),
        BinaryOp::FloorDiv => ("__floordiv__", "__rfloordiv__", "__ifloordiv__"),
        BinaryOp::Mod => ("__mod__", "__rmod__", "__imod__"),
        BinaryOp::Pow => ("__pow__", "__rpow__", "__ipow__"),
        BinaryOp::LeftShift => ("__lshift__", "__rlshift__", "__ilshift__"),
        BinaryOp::RightShift => ("__rshift__", "__rrshift__", "__irshift__"),
        BinaryOp::BitAnd => ("__and__", "__rand__", "__iand__"),
        BinaryOp::BitOr => ("__or__", "__ror__", "__ior__"),
        BinaryOp::BitXor => ("__xor__", "__rxor__", "__ixor__"),
    }
}

impl Vm {
    /// `left op right`.
    pub fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result {
        match self.try_binary(op, left, right)? {
            Some(value) => Ok(value),
            None => Err(operand_error(op, false, left, right)),
        }
    }

    /// `left op= right`: the new value of the target.
    pub fn binary_in_place(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result {
        if let Some(value) = self.change_in_place(op, left, right)? {
            return Ok(value);
        }
        match self.try_binary(op, left, right)? {
            Some(value) => Ok(value),
            None => Err(operand_error(op, true, left, right)),
        }
    }

    fn change_in_place(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result<Option<Value>> {
        match left {
            Value::Native(object) => object.object().binary_in_place(left, self, op, right),
            Value::Instance(instance) => {
                if self.script_method(left, dunders(op).2).is_some() {
                    return self.call_operator(left, dunders(op).2, right);
                }
                match instance.payload_value() {
                    Some(payload) => Ok(self.change_builtin(op, payload, right)?.then(|| left.clone())),
                    None => Ok(None),
                }
            }
            Value::List(_) if matches!(right, Value::Native(_) | Value::Instance(_)) => {
                // `items += array` is the array's result, if it defines the operator.
                match self.operand_binary(op, Side::Right, left, right)? {
                    Some(value) => Ok(Some(value)),
                    None => Ok(self.change_builtin(op, left, right)?.then(|| left.clone())),
                }
            }
            _ => Ok(self.change_builtin(op, left, right)?.then(|| left.clone())),
        }
    }

    /// Changes a list, dict or set in place; false if the operator creates a new object.
    fn change_builtin(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result<bool> {
        match (left, op, right.base_value()) {
            (Value::List(list), BinaryOp::Add, _) => {
                let items = self.collect(right)?;
                list.extend(items)?;
            }
            (Value::List(list), BinaryOp::Mul, times) => {
                let Some(times) = self.try_index(times)? else { return Ok(false) };
                let Some(Value::List(repeated)) = repeat(left, times)? else { return Ok(false) };
                let previous = std::mem::replace(&mut *list.borrow_mut(), repeated.to_vec());
                drop(previous);
            }
            (Value::Dict(dict), BinaryOp::BitOr, _) => self.dict_update(dict, right)?,
            (
                Value::Set(set),
                BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::Sub | BinaryOp::BitXor,
                right @ (Value::Set(_) | Value::FrozenSet(_)),
            ) => {
                let Value::Set(result) = self.set_binary(op, left, right)? else { return Ok(false) };
                let result = std::mem::take(&mut *result.borrow_mut());
                let previous = std::mem::replace(&mut *set.borrow_mut(), result);
                drop(previous);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `None` if neither operand defines the operator.
    pub(crate) fn try_binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result<Option<Value>> {
        if let Some(result) = number::arithmetic(op, left, right) {
            return result.map(Some);
        }
        let sides = self.order_of_sides(op, left, right);
        if sides[0] == Side::Left {
            if let Some(value) = self.builtin_binary(op, left, right)? {
                return Ok(Some(value));
            }
            // The class of the right operand does not take precedence, so the number on the left is tried
            // first.
            if number::takes(left, right)
                && let Some(result) = number::arithmetic(op, left, right.base_value())
            {
                return result.map(Some);
            }
        }
        for side in sides {
            if let Some(value) = self.operand_binary(op, *side, left, right)? {
                return Ok(Some(value));
            }
        }
        let (left_base, right_base) = (left.base_value(), right.base_value());
        if !left_base.is(left) || !right_base.is(right) {
            self.check_stack()?;
            return self.try_binary(op, left_base, right_base);
        }
        if op == BinaryOp::Mul {
            return self.repeat_by_index(left, right);
        }
        Ok(None)
    }

    /// A sequence times an object that has an `__index__`.
    fn repeat_by_index(&mut self, left: &Value, right: &Value) -> Result<Option<Value>> {
        for (sequence, times) in [(left, right), (right, left)] {
            let is_sequence =
                matches!(sequence, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Bytes(_));
            if is_sequence
                && matches!(times, Value::Instance(_) | Value::Native(_))
                && let Some(times) = self.try_index(times)?
            {
                return repeat(sequence, times);
            }
        }
        Ok(None)
    }

    /// Which operand is tried first: the right one if its class derives from the left one's and overrides the
    /// reflected method. A right operand of the same class is not tried at all.
    fn order_of_sides(&self, op: BinaryOp, left: &Value, right: &Value) -> &'static [Side] {
        let Value::Instance(right) = right else { return &[Side::Left, Side::Right] };
        let (left, right) = (&self.class_of(left), right.class());
        if Rc::ptr_eq(left, right) {
            return &[Side::Left];
        }
        let reflected = dunders(op).1;
        let has_own = || match (left.lookup_script(reflected), right.lookup_script(reflected)) {
            (Some(left), Some(right)) => !left.is(&right),
            (left, right) => left.is_some() || right.is_some(),
        };
        if right.is_subclass_of(left) && has_own() {
            return &[Side::Right, Side::Left];
        }
        &[Side::Left, Side::Right]
    }

    /// Tries the operand on one side.
    fn operand_binary(
        &mut self,
        op: BinaryOp,
        side: Side,
        left: &Value,
        right: &Value,
    ) -> Result<Option<Value>> {
        let (this, other) = if side == Side::Left { (left, right) } else { (right, left) };
        match this {
            Value::Native(object) => {
                let value = object.object().binary(this, self, op, side, other)?;
                // Operators of arrays take time, and a script may consist of nothing else.
                self.poll()?;
                Ok(value)
            }
            Value::Instance(_) => {
                let (plain, reflected, _) = dunders(op);
                self.call_operator(this, if side == Side::Left { plain } else { reflected }, other)
            }
            _ => Ok(None),
        }
    }

    /// Calls an operator method of a script; `None` if there is none or it does not apply.
    pub(crate) fn call_operator(
        &mut self,
        this: &Value,
        method: &str,
        other: &Value,
    ) -> Result<Option<Value>> {
        let Some(function) = self.script_method(this, method) else { return Ok(None) };
        // A class declares by None that it lacks an operator.
        if function.is_none() {
            return Ok(None);
        }
        let value = self.call_method_value(&function, this, std::slice::from_ref(other))?;
        Ok(if matches!(value, Value::NotImplemented) { None } else { Some(value) })
    }

    fn builtin_binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result<Option<Value>> {
        Ok(Some(match (op, left, right) {
            (BinaryOp::Add, Value::Str(left), Value::Str(right)) => {
                memory::grant(left.len() + right.len())?;
                let mut text = String::with_capacity(left.len() + right.len());
                text.push_str(left);
                text.push_str(right);
                Value::str(text)
            }
            (BinaryOp::Add, Value::List(left), Value::List(right)) => {
                memory::grant_items::<Value>(left.len() + right.len())?;
                let mut items = left.to_vec();
                items.extend_from_slice(&right.borrow());
                Value::list(items)
            }
            (BinaryOp::Add, Value::Tuple(left), Value::Tuple(right)) => {
                memory::grant_items::<Value>(left.len() + right.len())?;
                Value::tuple([&left[..], &right[..]].concat())
            }
            (BinaryOp::Add, Value::Bytes(left), Value::Bytes(right)) => {
                memory::grant(left.len() + right.len())?;
                Value::bytes([&left[..], &right[..]].concat())
            }
            (BinaryOp::Mul, sequence, Value::Int(_) | Value::Bool(_)) => {
                return repeat(sequence, right.as_int().unwrap_or(0));
            }
            (BinaryOp::Mul, Value::Int(_) | Value::Bool(_), sequence) => {
                return repeat(sequence, left.as_int().unwrap_or(0));
            }
            (BinaryOp::Mod, Value::Str(text), _) => {
                Value::str(crate::builtins::format::percent(self, text, right)?)
            }
            (BinaryOp::Mod, Value::Bytes(bytes), _) => {
                Value::bytes(crate::builtins::format::percent_bytes(self, bytes, right)?)
            }
            (BinaryOp::BitOr, Value::Dict(left), Value::Dict(right)) => {
                let merged = Dict::new();
                merged.borrow_mut().clone_from(&left.borrow());
                let merged = Rc::new(merged);
                self.dict_update(&merged, &Value::Dict(right.clone()))?;
                Value::Dict(merged)
            }
            (
                BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::Sub | BinaryOp::BitXor,
                Value::Set(_) | Value::FrozenSet(_),
                Value::Set(_) | Value::FrozenSet(_),
            ) => self.set_binary(op, left, right)?,
            (BinaryOp::BitOr, Value::Class(_) | Value::None, Value::Class(_) | Value::None) => {
                return crate::builtins::union_type::of_types(self, left, right);
            }
            _ => return Ok(None),
        }))
    }

    /// `op operand`.
    pub fn unary(&mut self, op: UnaryOp, operand: &Value) -> Result {
        if op == UnaryOp::Not {
            return Ok(Value::Bool(!self.truth(operand)?));
        }
        if let Some(value) = number_unary(op, operand) {
            return Ok(value);
        }
        let value = match operand {
            Value::Native(object) => object.object().unary(operand, self, op)?,
            Value::Instance(instance) => {
                let method = match op {
                    UnaryOp::Plus => "__pos__",
                    UnaryOp::Minus => "__neg__",
                    UnaryOp::Invert | UnaryOp::Not => "__invert__",
                };
                match (self.script_method(operand, method), instance.payload_value()) {
                    (Some(function), _) => Some(self.call_method_value(&function, operand, &[])?),
                    (None, Some(payload)) => Some(self.unary(op, payload)?),
                    (None, None) => None,
                }
            }
            _ => None,
        };
        value.ok_or_else(|| errors::bad_unary(op.symbol(), operand))
    }

    /// A method that a script's class defines for `value`, unbound.
    pub(crate) fn script_method(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Instance(instance) = value else { return None };
        let class: &Class = instance.class();
        class.lookup_script(name)
    }
}

fn number_unary(op: UnaryOp, operand: &Value) -> Option<Value> {
    Some(match (op, operand) {
        (UnaryOp::Minus, Value::Int(int)) => match int.checked_neg() {
            Some(negative) => Value::Int(negative),
            None => Value::big(-number::to_big(operand)?),
        },
        (UnaryOp::Minus, Value::Float(float)) => Value::Float(-float),
        (UnaryOp::Minus, Value::Bool(truth)) => Value::Int(-(*truth as i64)),
        (UnaryOp::Minus, Value::BigInt(big)) => Value::big(-&**big),
        (UnaryOp::Plus, Value::Bool(truth)) => Value::Int(*truth as i64),
        (UnaryOp::Plus, Value::Int(_) | Value::Float(_) | Value::BigInt(_)) => operand.clone(),
        (UnaryOp::Invert, Value::Int(int)) => Value::Int(!int),
        (UnaryOp::Invert, Value::Bool(truth)) => Value::Int(!(*truth as i64)),
        (UnaryOp::Invert, Value::BigInt(big)) => Value::big(!&**big),
        _ => return None,
    })
}

fn repeat(sequence: &Value, times: i64) -> Result<Option<Value>> {
    let times = times.max(0) as usize;
    let check = |len: usize, item: usize| match len.checked_mul(times) {
        Some(total) if total <= MAX_REPEATED => memory::grant(total.saturating_mul(item)),
        _ => Err(errors::memory_error("the repeated sequence is too large")),
    };
    Ok(Some(match sequence {
        Value::Str(text) => {
            check(text.len(), 1)?;
            Value::str(repeat_text(text, times)?)
        }
        Value::List(list) => {
            check(list.len(), size_of::<Value>())?;
            Value::list(repeat_all(&list.borrow(), times)?)
        }
        Value::Tuple(tuple) => {
            check(tuple.len(), size_of::<Value>())?;
            Value::tuple(repeat_all(tuple, times)?)
        }
        Value::Bytes(bytes) => {
            check(bytes.len(), 1)?;
            Value::Bytes(Rc::new(Bytes(repeat_all(bytes, times)?)))
        }
        _ => return Ok(None),
    }))
}

/// CPython has its own messages for concatenation and repetition of sequences.
fn operand_error(op: BinaryOp, in_place: bool, left: &Value, right: &Value) -> crate::value::Raise {
    let is_sequence =
        |value: &Value| matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Bytes(_));
    match (op, left, right) {
        (BinaryOp::Add, Value::Str(_) | Value::List(_) | Value::Tuple(_), _) => {
            let (left, right) = (left.type_name(), right.type_name());
            errors::type_error(format!("can only concatenate {left} (not \"{right}\") to {left}"))
        }
        (BinaryOp::Mul, _, _) if is_sequence(left) => {
            errors::type_error(format!("can't multiply sequence by non-int of type '{}'", right.type_name()))
        }
        (BinaryOp::Mul, _, _) if is_sequence(right) => {
            errors::type_error(format!("can't multiply sequence by non-int of type '{}'", left.type_name()))
        }
        _ => errors::unsupported_operands(&errors::operator_symbol(op, in_place), left, right),
    }
}

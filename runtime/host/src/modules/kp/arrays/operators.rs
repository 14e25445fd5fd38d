//! The operators of tensors: `a + b`, `-a`, `a += b`, `a < b`.

use kps_array::{Array, Op, Operand};
use kps_syntax::ast::UnaryOp;

use super::{array_of, operand, raised, result, value};
use crate::modules::kp::tensor::ScriptTensor;
use crate::ops::Side;
use crate::value::{BinaryOp, CompareOp, Result, Value};
use crate::vm::Vm;

/// The operation of an operator; `@` is none of elements.
fn name_of(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "subtract",
        BinaryOp::Mul => "multiply",
        BinaryOp::Div => "divide",
        BinaryOp::FloorDiv => "floor_divide",
        BinaryOp::Mod => "remainder",
        BinaryOp::Pow => "pow",
        BinaryOp::LeftShift => "bitwise_left_shift",
        BinaryOp::RightShift => "bitwise_right_shift",
        BinaryOp::BitAnd => "bitwise_and",
        BinaryOp::BitOr => "bitwise_or",
        BinaryOp::BitXor => "bitwise_xor",
        BinaryOp::MatMul => return None,
    })
}

fn op(name: &str) -> &'static Op {
    Op::named(name).expect("operators name operations of the table")
}

/// `left op right`, where `this` is the operand on `side`.
pub fn binary(
    vm: &mut Vm,
    operator: BinaryOp,
    side: Side,
    (this, tensor): (&Value, &ScriptTensor),
    other: &Value,
) -> Result<Option<Value>> {
    let Some(name) = name_of(operator) else { return super::library::matmul(vm, side, this, other) };
    let this = array_of(vm, tensor)?;
    let Some(other) = operand(vm, other, Some(&this))? else { return Ok(None) };
    let (left, right) = if side == Side::Left { (this.into(), other) } else { (other, this.into()) };
    applied(name, left, right).map(|array| Some(value(array)))
}

fn applied(name: &str, left: Operand, right: Operand) -> Result<Array> {
    match name {
        "pow" => kps_array::power(left, right).map_err(raised),
        name => Array::apply(op(name), &[left, right]).map_err(raised),
    }
}

/// `this op= other`: the elements change in place, so that all views of them see it. The type stays.
pub fn binary_in_place(
    vm: &mut Vm,
    operator: BinaryOp,
    this: &Value,
    tensor: &ScriptTensor,
    other: &Value,
) -> Result<Option<Value>> {
    let Some(name) = name_of(operator) else { return Ok(None) };
    let target = array_of(vm, tensor)?;
    let Some(other) = operand(vm, other, Some(&target))? else { return Ok(None) };
    let made = applied(name, target.clone().into(), other)?;
    let keeps_kind = made.dtype() == target.dtype()
        || made.dtype().kind() == target.dtype().kind()
        || made.dtype().is_int() && (target.dtype().is_int() || target.dtype().is_float())
        || made.dtype() == kps_compute::DType::Bool;
    if !keeps_kind {
        return Err(raised(kps_array::errors::would_change_type(
            operator.symbol(),
            target.dtype(),
            made.dtype(),
        )));
    }
    target.assign(made.into()).map_err(raised)?;
    Ok(Some(this.clone()))
}

pub fn unary(vm: &mut Vm, operator: UnaryOp, this: &ScriptTensor) -> Result<Option<Value>> {
    let name = match operator {
        UnaryOp::Plus => "positive",
        UnaryOp::Minus => "negative",
        UnaryOp::Invert => "bitwise_invert",
        UnaryOp::Not => return Ok(None),
    };
    let this = array_of(vm, this)?;
    result(Array::apply(op(name), &[this.into()])).map(Some)
}

/// `this op other`, element by element; `None` where other is no number and no array.
pub fn compare(
    vm: &mut Vm,
    operator: CompareOp,
    this: &ScriptTensor,
    other: &Value,
) -> Result<Option<Value>> {
    let name = match operator {
        CompareOp::Eq => "equal",
        CompareOp::NotEq => "not_equal",
        CompareOp::Less => "less",
        CompareOp::LessEq => "less_equal",
        CompareOp::Greater => "greater",
        CompareOp::GreaterEq => "greater_equal",
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => return Ok(None),
    };
    let this = array_of(vm, this)?;
    let Some(other) = operand(vm, other, Some(&this))? else { return Ok(None) };
    result(Array::apply(op(name), &[this.into(), other])).map(Some)
}

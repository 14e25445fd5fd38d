//! Operations on whole arrays: the type of the result, broadcasting, and the loops in `kernel`.

use std::cmp::Ordering;

use kps_compute::DType;
use kps_compute::number::Number;
use kps_syntax::ast::UnaryOp;

use super::array::NdArray;
use super::casting::{self, Casting};
use super::kernel::binary::Binary;
use super::kernel::cast::cast_row;
use super::kernel::compare::{self, Compare};
use super::kernel::unary::{Test, Unary};
use super::kernel::{self, Filled, Loop1, Places, source, working_dtype};
use super::layout::{Axes, broadcast_shapes};
use super::operand::{self, Operand};
use super::promote::{Kind, float_for, promote};
use super::scalar::Scalar;
use super::{errors, linear};
use crate::ops::Side;
use crate::value::{BinaryOp, CompareOp, Result, Value};
use crate::vm::Vm;

/// The result of an operation: elements in the order of their indices.
pub struct OpResult {
    pub dtype: DType,
    pub shape: Axes<usize>,
    pub row: Vec<u8>,
}

impl OpResult {
    pub fn new(dtype: DType, shape: &[usize], row: Vec<u8>) -> OpResult {
        OpResult { dtype, shape: Axes::from_slice(shape), row }
    }

    pub fn into_array(self) -> NdArray {
        NdArray::from_row(self.dtype, &self.shape, self.row)
    }

    /// A scalar if there are no axes, as in NumPy.
    pub fn into_value(self) -> Value {
        wrap(self.dtype, &self.shape, self.row)
    }
}

/// Elements as a value: an array, or a scalar if there are no axes.
pub fn wrap(dtype: DType, shape: &[usize], row: Vec<u8>) -> Value {
    if shape.is_empty() {
        return Value::native(Scalar::load(dtype, &row));
    }
    Value::native(NdArray::from_row(dtype, shape, row))
}

/// `left op right`, where `this` is the operand on `side`.
pub fn binary(vm: &mut Vm, op: BinaryOp, side: Side, this: &Operand, other: &Value) -> Result<Option<Value>> {
    let Some(other) = operand::from_value(vm, other)? else { return Ok(None) };
    let (left, right) = if side == Side::Left { (this, &other) } else { (&other, this) };
    let made = match ufunc_of(op) {
        Some((name, op)) => apply_binary(name, op, left, right)?,
        None => linear::matmul(left, right)?,
    };
    Ok(Some(made.into_value()))
}

/// `this op= other`, written into the elements that are there.
pub fn binary_in_place(
    vm: &mut Vm,
    op: BinaryOp,
    this: &Value,
    array: &NdArray,
    other: &Value,
) -> Result<Option<Value>> {
    let Some(other) = operand::from_value(vm, other)? else { return Ok(None) };
    let Some((name, op)) = ufunc_of(op) else { return Ok(None) };
    let made = apply_binary(name, op, &Operand::Array(array.clone()), &other)?;
    casting::write(name, array, made, None, Casting::SameKind)?;
    Ok(Some(this.clone()))
}

/// The function of an operator; `@` has none.
fn ufunc_of(op: BinaryOp) -> Option<(&'static str, Binary)> {
    Some(match op {
        BinaryOp::Add => ("add", Binary::Add),
        BinaryOp::Sub => ("subtract", Binary::Subtract),
        BinaryOp::Mul => ("multiply", Binary::Multiply),
        BinaryOp::Div => ("divide", Binary::Divide),
        BinaryOp::FloorDiv => ("floor_divide", Binary::FloorDivide),
        BinaryOp::Mod => ("remainder", Binary::Remainder),
        BinaryOp::Pow => ("power", Binary::Power),
        BinaryOp::LeftShift => ("left_shift", Binary::LeftShift),
        BinaryOp::RightShift => ("right_shift", Binary::RightShift),
        BinaryOp::BitAnd => ("bitwise_and", Binary::And),
        BinaryOp::BitOr => ("bitwise_or", Binary::Or),
        BinaryOp::BitXor => ("bitwise_xor", Binary::Xor),
        BinaryOp::MatMul => return None,
    })
}

/// A binary operation with broadcasting.
pub fn apply_binary(name: &str, op: Binary, left: &Operand, right: &Operand) -> Result<OpResult> {
    let (op, dtype) = resolve_binary(name, op, left.kind(), right.kind())?;
    if op == Binary::Power && dtype.is_int() {
        check_exponents(right)?;
    }
    let shape = common_shape(&[left.shape(), right.shape()], dtype)?;
    let row = loop_binary(op, dtype, left, right, &shape)?;
    Ok(OpResult { dtype, shape, row })
}

/// The loop to run, and the type of its operands and of its result.
fn resolve_binary(name: &str, op: Binary, left: Kind, right: Kind) -> Result<(Binary, DType)> {
    let dtype = promote(left, right);
    Ok(match op {
        Binary::Add | Binary::Maximum | Binary::Fmax if dtype == DType::Bool => (Binary::Or, dtype),
        Binary::Multiply | Binary::Minimum | Binary::Fmin if dtype == DType::Bool => (Binary::And, dtype),
        Binary::Subtract if dtype == DType::Bool => return Err(errors::bool_subtract()),
        Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Minimum
        | Binary::Maximum
        | Binary::Fmin
        | Binary::Fmax => (op, dtype),
        Binary::FloorDivide | Binary::Remainder | Binary::Fmod | Binary::Power if dtype == DType::Bool => {
            (op, DType::I8)
        }
        Binary::FloorDivide | Binary::Remainder | Binary::Fmod | Binary::Power => (op, dtype),
        Binary::Divide if !dtype.is_float() => (op, DType::F64),
        Binary::Divide => (op, dtype),
        Binary::Arctan2 | Binary::Hypot | Binary::Copysign | Binary::Logaddexp | Binary::Nextafter => {
            (op, float_for(dtype))
        }
        _ if dtype.is_float() => return Err(errors::no_loop(name)),
        Binary::LeftShift | Binary::RightShift | Binary::Gcd | Binary::Lcm if dtype == DType::Bool => {
            (op, DType::I8)
        }
        Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::LeftShift
        | Binary::RightShift
        | Binary::Gcd
        | Binary::Lcm => (op, dtype),
    })
}

fn check_exponents(exponents: &Operand) -> Result<()> {
    let any_negative = match exponents {
        Operand::Int(int) => *int < 0,
        Operand::Scalar(scalar) => scalar.number.as_f64() < 0.0,
        Operand::Float(_) => false,
        array => apply_test(Test::Signbit, array)?.row.contains(&1),
    };
    if any_negative { Err(errors::negative_power()) } else { Ok(()) }
}

/// The shape that operands broadcast to, with room for as many elements.
pub fn common_shape(shapes: &[&[usize]], dtype: DType) -> Result<Axes<usize>> {
    let shape = broadcast_shapes(shapes).ok_or_else(|| errors::not_broadcast(shapes))?;
    check_room(&shape, dtype)?;
    Ok(shape)
}

/// The bytes of a new array, after a check that they can be allocated.
pub fn check_room(shape: &[usize], dtype: DType) -> Result<usize> {
    let n_bytes = check_count(shape, dtype)?;
    if kernel::has_room(n_bytes) { Ok(n_bytes) } else { Err(errors::too_large(shape, dtype)) }
}

/// Bytes of an array of this shape; as many as can be counted, empty axes aside.
pub fn check_count(shape: &[usize], dtype: DType) -> Result<usize> {
    let counted = shape.iter().try_fold(dtype.size(), |n, &len| n.checked_mul(len.max(1)));
    match counted {
        Some(n) if n <= isize::MAX as usize => Ok(if shape.contains(&0) { 0 } else { n }),
        _ => Err(errors::too_large(shape, dtype)),
    }
}

fn loop_binary(
    op: Binary,
    dtype: DType,
    left: &Operand,
    right: &Operand,
    shape: &[usize],
) -> Result<Vec<u8>> {
    let working = working_dtype(dtype);
    let row = loop_over(kernel::binary::binary(op, working), working.size(), dtype, [left, right], shape)?;
    cast_row(row, working, dtype)
}

/// The greater one of an element and its lower bound, or its upper bound if that is less.
pub fn apply_clip(operand: &Operand, least: &Operand, most: &Operand) -> Result<OpResult> {
    let (_, raised) = resolve_binary("maximum", Binary::Maximum, operand.kind(), least.kind())?;
    // A Python int must fit the type without the upper bound.
    let least = &Operand::Array(least.clone().into_array_of(raised)?);
    let (minimum, dtype) = resolve_binary("minimum", Binary::Minimum, Kind::Strong(raised), most.kind())?;
    let (maximum, _) = resolve_binary("maximum", Binary::Maximum, Kind::Strong(dtype), Kind::Strong(dtype))?;
    let shape = common_shape(&[operand.shape(), least.shape(), most.shape()], dtype)?;
    let (working, n) = (working_dtype(dtype), shape.iter().product());
    let (raise, lower) = (kernel::binary::binary(maximum, working), kernel::binary::binary(minimum, working));
    if n == 0 {
        check_numbers(dtype, [most, most])?;
        return Ok(OpResult { dtype, shape, row: Vec::new() });
    }
    let row = operand.with_source(dtype, &shape, |operand| {
        least.with_source(dtype, &shape, |least| {
            most.with_source(dtype, &shape, |most| {
                let sources = [&operand.cast(working), &least.cast(working), &most.cast(working)];
                source::map(sources, n, working.size(), |[row, least, most], places| {
                    let mut raised = Vec::new();
                    kernel::append(&mut raised, row.len(), |places| raise(row, least, places));
                    lower(&raised, most, places)
                })
            })
        })
    })????;
    Ok(OpResult { row: cast_row(row, working, dtype)?, dtype, shape })
}

/// A row of elements of a size, each computed from two elements of a type.
pub fn loop_over(
    func: impl Fn(&[u8], &[u8], Places<'_>) -> Filled + Sync,
    size: usize,
    dtype: DType,
    [left, right]: [&Operand; 2],
    shape: &[usize],
) -> Result<Vec<u8>> {
    let n = shape.iter().product();
    if n == 0 {
        check_numbers(dtype, [left, right])?;
        return Ok(Vec::new());
    }
    let working = working_dtype(dtype);
    left.with_source(dtype, shape, |left| {
        right.with_source(dtype, shape, |right| {
            let sources = [&left.cast(working), &right.cast(working)];
            source::map(sources, n, size, |[left, right], places| func(left, right, places))
        })
    })??
}

/// Python's ints must fit the type also where there are no elements.
fn check_numbers(dtype: DType, operands: [&Operand; 2]) -> Result<()> {
    operands.into_iter().try_for_each(|operand| match operand {
        Operand::Int(int) => operand::check_bounds(*int, dtype),
        _ => Ok(()),
    })
}

/// Any of `== != < <= > >=`; `None` if the other value is neither a number nor an array.
pub fn compare(vm: &mut Vm, op: CompareOp, left: &Operand, right: &Value) -> Result<Option<Value>> {
    let Some(right) = operand::from_value(vm, right)? else { return Ok(None) };
    let op = match op {
        CompareOp::Eq => Compare::Equal,
        CompareOp::NotEq => Compare::NotEqual,
        CompareOp::Less => Compare::Less,
        CompareOp::LessEq => Compare::LessEqual,
        CompareOp::Greater => Compare::Greater,
        CompareOp::GreaterEq => Compare::GreaterEqual,
        _ => return Ok(None),
    };
    if let (Compare::Equal | Compare::NotEqual, None) = (op, broadcast_shapes(&[left.shape(), right.shape()]))
    {
        return Err(errors::not_broadcast(&[left.shape(), right.shape()]));
    }
    Ok(Some(apply_compare(op, left, &right)?.into_value()))
}

pub fn apply_compare(op: Compare, left: &Operand, right: &Operand) -> Result<OpResult> {
    let dtype = promote(left.kind(), right.kind());
    let shape = common_shape(&[left.shape(), right.shape()], dtype)?;
    let n = shape.iter().product();
    if let Some(order) = order_outside(left, right, dtype) {
        let row = vec![compare::holds(op, order).into(); n];
        return Ok(OpResult { dtype: DType::Bool, shape, row });
    }
    let working = working_dtype(dtype);
    let row = loop_over(compare::compare(op, working), size_of::<bool>(), dtype, [left, right], &shape)?;
    Ok(OpResult { dtype: DType::Bool, shape, row })
}

/// The order of a Python int outside of the other side's type relative to all its elements.
fn order_outside(left: &Operand, right: &Operand, dtype: DType) -> Option<Ordering> {
    let (least, most) = dtype.int_range()?;
    let outside = |int: i128| match int {
        int if int < least => Some(Ordering::Less),
        int if int > most => Some(Ordering::Greater),
        _ => None,
    };
    match (left, right) {
        (Operand::Int(int), _) => outside(*int),
        (_, Operand::Int(int)) => outside(*int).map(Ordering::reverse),
        _ => None,
    }
}

/// `op operand`.
pub fn unary(op: UnaryOp, operand: &Operand) -> Result<Option<Value>> {
    let (name, op) = match op {
        UnaryOp::Minus => ("negative", Unary::Negative),
        UnaryOp::Plus => ("positive", Unary::Positive),
        UnaryOp::Invert => ("invert", Unary::Invert),
        UnaryOp::Not => return Ok(None),
    };
    apply_unary(name, op, operand).map(|made| Some(made.into_value()))
}

pub fn apply_unary(name: &str, op: Unary, operand: &Operand) -> Result<OpResult> {
    let dtype = operand.dtype();
    let is_bool = dtype == DType::Bool;
    let result = match op {
        Unary::Negative if is_bool => return Err(errors::bool_negative()),
        Unary::Positive | Unary::Sign if is_bool => return Err(errors::no_loop(name)),
        Unary::Invert if is_bool => return apply_test(Test::Not, operand),
        Unary::Invert if dtype.is_float() => return Err(errors::no_loop(name)),
        Unary::BitwiseCount if dtype.is_float() => return Err(errors::no_loop(name)),
        Unary::BitwiseCount => return count_bits(operand),
        Unary::Square if is_bool => DType::Bool,
        Unary::Rint => float_for(dtype),
        Unary::Negative
        | Unary::Positive
        | Unary::Absolute
        | Unary::Sign
        | Unary::Square
        | Unary::Invert
        | Unary::Floor
        | Unary::Ceil
        | Unary::Trunc => dtype,
        Unary::Reciprocal if dtype.is_int() => return integer_reciprocal(operand),
        _ => float_for(dtype),
    };
    check_room(operand.shape(), result)?;
    let working = working_dtype(result);
    let row = loop_over_one(kernel::unary::unary(op, working), working.size(), [result, working], operand)?;
    Ok(OpResult::new(result, operand.shape(), cast_row(row, working, result)?))
}

/// A row of elements of a size, each computed from one that was converted to these types.
fn loop_over_one(
    func: Loop1,
    size: usize,
    [dtype, working]: [DType; 2],
    operand: &Operand,
) -> Result<Vec<u8>> {
    match operand.size() {
        0 => Ok(Vec::new()),
        n => operand.with_source(dtype, operand.shape(), |source| {
            source::map([&source.cast(working)], n, size, |[row], places| func(row, places))
        })?,
    }
}

fn count_bits(operand: &Operand) -> Result<OpResult> {
    let dtype = operand.dtype();
    let row = loop_over_one(kernel::unary::unary(Unary::BitwiseCount, dtype), 1, [dtype, dtype], operand)?;
    Ok(OpResult::new(DType::U8, operand.shape(), row))
}

fn integer_reciprocal(operand: &Operand) -> Result<OpResult> {
    let one = Operand::Scalar(Scalar { dtype: operand.dtype(), number: Number::Int(1) });
    apply_binary("reciprocal", Binary::FloorDivide, &one, operand)
}

/// A question about each element.
pub fn apply_test(test: Test, operand: &Operand) -> Result<OpResult> {
    let working = working_dtype(operand.dtype());
    let row =
        loop_over_one(kernel::unary::test(test, working), size_of::<bool>(), [working, working], operand)?;
    Ok(OpResult::new(DType::Bool, operand.shape(), row))
}

/// `and`, `or` or `xor` of the truth of elements.
pub fn apply_logical(op: Binary, left: &Operand, right: &Operand) -> Result<OpResult> {
    let (left, right) = (truths(left)?, truths(right)?);
    apply_binary("logical", op, &left, &right)
}

fn truths(operand: &Operand) -> Result<Operand> {
    let row = operand.row_as(DType::Bool)?;
    Ok(Operand::Array(NdArray::from_row(DType::Bool, operand.shape(), row)))
}

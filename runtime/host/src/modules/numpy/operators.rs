//! Operations on whole arrays: the type of the result, broadcasting, and the loops in `kernel`.

use std::cmp::Ordering;

use kps_compute::DType;
use kps_compute::number::Number;
use kps_syntax::ast::UnaryOp;

use super::array::NdArray;
use super::casting::{self, Casting};
use super::kernel::binary::Binary;
use super::kernel::cast::cast;
use super::kernel::compare::{self, Compare};
use super::kernel::unary::{Test, Unary};
use super::kernel::{self, working_dtype};
use super::layout::broadcast_shapes;
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
    pub shape: Vec<usize>,
    pub row: Vec<u8>,
}

impl OpResult {
    pub fn new(dtype: DType, shape: &[usize], row: Vec<u8>) -> OpResult {
        OpResult { dtype, shape: shape.to_vec(), row }
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
        Operand::Array(array) => array
            .with_row(|row| kernel::unary::test(Test::Signbit, working_dtype(array.dtype()), row))??
            .contains(&1),
    };
    if any_negative { Err(errors::negative_power()) } else { Ok(()) }
}

/// The shape that operands broadcast to, with room for as many elements.
pub fn common_shape(shapes: &[&[usize]], dtype: DType) -> Result<Vec<usize>> {
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
    let n = shape.iter().product();
    // 16-bit floats are rounded to their own type first, so that Python's numbers are.
    let row = left.with_row(dtype, shape, |left_row| {
        right.with_row(dtype, shape, |right_row| {
            if working == dtype {
                return kernel::binary::binary(op, dtype, left_row, right_row, n);
            }
            let (left_row, right_row) = (cast(left_row, dtype, working)?, cast(right_row, dtype, working)?);
            cast(&kernel::binary::binary(op, working, &left_row, &right_row, n)?, working, dtype)
        })
    })???;
    Ok(row)
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
    let row = left.with_row(dtype, &shape, |left_row| {
        right.with_row(dtype, &shape, |right_row| {
            if working == dtype {
                return compare::compare(op, dtype, left_row, right_row, n);
            }
            let (left_row, right_row) = (cast(left_row, dtype, working)?, cast(right_row, dtype, working)?);
            compare::compare(op, working, &left_row, &right_row, n)
        })
    })???;
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
    let row = operand.with_row(result, operand.shape(), |row| {
        if working == result {
            return kernel::unary::unary(op, result, row);
        }
        cast(&kernel::unary::unary(op, working, &cast(row, result, working)?)?, working, result)
    })??;
    Ok(OpResult::new(result, operand.shape(), row))
}

fn count_bits(operand: &Operand) -> Result<OpResult> {
    let dtype = operand.dtype();
    let row = operand
        .with_row(dtype, operand.shape(), |row| kernel::unary::unary(Unary::BitwiseCount, dtype, row))??;
    Ok(OpResult::new(DType::U8, operand.shape(), row))
}

fn integer_reciprocal(operand: &Operand) -> Result<OpResult> {
    let one = Operand::Scalar(Scalar { dtype: operand.dtype(), number: Number::Int(1) });
    apply_binary("reciprocal", Binary::FloorDivide, &one, operand)
}

/// A question about each element.
pub fn apply_test(test: Test, operand: &Operand) -> Result<OpResult> {
    let working = working_dtype(operand.dtype());
    let row = operand.with_row(working, operand.shape(), |row| kernel::unary::test(test, working, row))??;
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

//! Products of vectors and matrices.

use kps_compute::DType;

use super::array::NdArray;
use super::casting::{Casting, Target};
use super::kernel::binary::Binary;
use super::kernel::cast::cast_row;
use super::kernel::product::product;
use super::kernel::unary::Unary;
use super::kernel::working_dtype;
use super::layout::broadcast_shapes;
use super::operand::{self, Operand};
use super::operators::{self, OpResult, check_room};
use super::promote::promote;
use super::reduce::{self, Reduction};
use super::{errors, kernel};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("dot", dot_function),
    NativeDef::function("matmul", matmul_function),
    NativeDef::function("vdot", vdot),
    NativeDef::function("inner", inner),
    NativeDef::function("outer", outer),
    NativeDef::function("trace", trace),
    NativeDef::function("diagonal", diagonal),
    NativeDef::function("diag", diag),
    NativeDef::function("tril", tril),
    NativeDef::function("triu", triu),
];

/// The functions of `np.linalg`.
pub static LINALG: &[NativeDef] = &[NativeDef::function("norm", norm)];

/// `left @ right`: matrices in the last two axes, the others broadcast.
pub fn matmul(left: &Operand, right: &Operand) -> Result<OpResult> {
    for (at, operand) in [left, right].into_iter().enumerate() {
        if operand.shape().is_empty() {
            return Err(errors::matmul_scalar(at));
        }
    }
    let (left_array, right_array) = (left.clone().into_array()?, right.clone().into_array()?);
    let (is_row, is_column) = (left.shape().len() == 1, right.shape().len() == 1);
    let left_matrix = with_axis(&left_array, is_row, 0);
    let right_matrix = with_axis(&right_array, is_column, 1);
    let (m, k) = last_two(left_matrix.shape());
    let (right_k, n) = last_two(right_matrix.shape());
    if k != right_k {
        return Err(errors::matmul_mismatch(k, right_k));
    }
    let (left_stack, right_stack) = (stack_of(left_matrix.shape()), stack_of(right_matrix.shape()));
    let stack = broadcast_shapes(&[left_stack, right_stack])
        .ok_or_else(|| errors::not_broadcast(&[left.shape(), right.shape()]))?;
    let dtype = promote(left.kind(), right.kind());
    let working = working_dtype(dtype);
    let n_bytes = check_room(&[&stack[..], &[m, n]].concat(), working)?;
    let (left_shape, right_shape) = ([&stack[..], &[m, k]].concat(), [&stack[..], &[k, n]].concat());
    let size = working.size();
    let n_products: usize = if n_bytes == 0 { 0 } else { stack.iter().product() };
    let row = Operand::Array(left_matrix).with_row_of(working, &left_shape, |left| {
        Operand::Array(right_matrix).with_row_of(working, &right_shape, |right| {
            let product = |at: usize| {
                let left = &left[at * m * k * size..(at + 1) * m * k * size];
                let right = &right[at * k * n * size..(at + 1) * k * n * size];
                product(working, left, right, (m, k, n))
            };
            if n_products == 1 {
                return product(0);
            }
            let mut row = kernel::empty(n_bytes)?;
            for at in 0..n_products {
                row.extend(product(at)?);
            }
            Ok(row)
        })
    })???;
    let mut shape = stack;
    if !is_row {
        shape.push(m);
    }
    if !is_column {
        shape.push(n);
    }
    Ok(OpResult { dtype, shape, row: cast_row(row, working, dtype)? })
}

fn with_axis(array: &NdArray, is_vector: bool, axis: usize) -> NdArray {
    let mut layout = array.layout().clone();
    if is_vector {
        layout.insert_axis(axis);
    }
    array.clone().with_layout(layout)
}

fn last_two(shape: &[usize]) -> (usize, usize) {
    (shape[shape.len() - 2], shape[shape.len() - 1])
}

fn stack_of(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

fn matmul_function(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("matmul");
    let left = operand::required(vm, parser.required("x1")?)?;
    let right = operand::required(vm, parser.required("x2")?)?;
    let output = parser.optional("out")?;
    let casting = Casting::from_argument(parser.keyword_only("casting"), Casting::SameKind)?;
    parser.finish()?;
    let made = matmul(&left, &right)?;
    Target::new(vm, output, None, casting)?.finish("matmul", made)
}

/// The last axis of one array with the last but one of the other.
pub fn dot_function(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("dot");
    let left = operand::required(vm, parser.required("a")?)?;
    let right = operand::required(vm, parser.required("b")?)?;
    let output = parser.optional("out")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    let made = dot(&left, &right)?;
    // An output array must have the exact properties of a new result.
    if let Some(array) = output.as_ref().and_then(|output| output.downcast::<NdArray>())
        && (array.dtype() != made.dtype || *array.shape() != *made.shape)
    {
        return Err(crate::errors::value_error(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)",
        ));
    }
    Target::new(vm, output.as_ref(), None, Casting::No)?.finish("dot", made)
}

fn dot(left: &Operand, right: &Operand) -> Result<OpResult> {
    let (left_shape, right_shape) = (left.shape(), right.shape());
    if left_shape.is_empty() || right_shape.is_empty() {
        return operators::apply_binary("multiply", Binary::Multiply, left, right);
    }
    let axes = (left_shape.len() - 1, right_shape.len().saturating_sub(2));
    if left_shape[axes.0] != right_shape[axes.1] {
        return Err(errors::dot_mismatch(left_shape, right_shape, axes));
    }
    if right_shape.len() <= 2 {
        return matmul(left, right);
    }
    let raise = crate::errors::value_error("dot() takes arrays of at most two axes on the right");
    Err(raise.help("write `a @ b` for stacks of matrices"))
}

fn vdot(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("vdot")?;
    let (left, right) = (operand::required(vm, left)?, operand::required(vm, right)?);
    Ok(dot(&left.flat()?, &right.flat()?)?.into_value())
}

fn inner(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("inner")?;
    let (left, right) = (operand::required(vm, left)?, operand::required(vm, right)?);
    if right.shape().len() < 2 {
        return Ok(dot(&left, &right)?.into_value());
    }
    let array = right.into_array()?;
    let mut order: Vec<usize> = (0..array.shape().len()).collect();
    order.rotate_right(1);
    let n_axes = order.len();
    order.swap(0, n_axes - 2);
    let layout = array.layout().permute(&order);
    Ok(dot(&left, &Operand::Array(array.with_layout(layout)))?.into_value())
}

fn outer(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("outer");
    let left = operand::required(vm, parser.required("a")?)?;
    let right = operand::required(vm, parser.required("b")?)?;
    let output = parser.optional("out")?;
    parser.finish()?;
    let target = Target::new(vm, output, None, Casting::SameKind)?;
    let column = left.flat()?.into_array()?;
    let column = Operand::Array(with_axis(&column, true, 1));
    let made = operators::apply_binary("multiply", Binary::Multiply, &column, &right.flat()?)?;
    target.finish("multiply", made)
}

/// A view of the elements `[i, i + offset]` of the first two axes.
fn diagonal_view(owner: &Value, array: &NdArray, offset: i64) -> Result<NdArray> {
    if array.shape().len() < 2 {
        return Err(crate::errors::value_error("diag requires an array of at least two dimensions"));
    }
    let (n_rows, n_columns) = (array.shape()[0] as i64, array.shape()[1] as i64);
    let (row, column) = (offset.saturating_neg().max(0), offset.max(0));
    let n = n_rows.saturating_sub(row).min(n_columns.saturating_sub(column)).max(0);
    let mut layout = array.layout().clone();
    let size = array.dtype().size();
    let stride = layout.strides[0] + layout.strides[1];
    if n > 0 {
        layout.slice(0, size, row, 1, n as usize);
        layout.slice(1, size, column, 1, n as usize);
    }
    layout.pick(0, size, 0);
    let (_, _) = (layout.shape.remove(0), layout.strides.remove(0));
    layout.shape.push(n as usize);
    layout.strides.push(stride);
    Ok(array.view(owner, layout))
}

pub fn diagonal(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("diagonal");
    let value = parser.required("a")?;
    let offset = parser.optional("offset")?.map_or(Ok(0), |offset| vm.index(offset))?;
    parser.finish()?;
    let array = operand::to_array(vm, value, None)?;
    Ok(Value::native(diagonal_view(value, &array, offset)?.read_only()))
}

pub fn trace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("trace");
    let value = parser.required("a")?;
    let offset = parser.optional("offset")?.map_or(Ok(0), |offset| vm.index(offset))?;
    parser.finish()?;
    let array = operand::to_array(vm, value, None)?;
    let diagonal = diagonal_view(value, &array, offset)?;
    let last = diagonal.shape().len() - 1;
    Ok(reduce::reduce(Reduction::Sum, &Operand::Array(diagonal), &[last], false, None)?.into_value())
}

/// A matrix from its diagonal, or the diagonal of a matrix.
fn diag(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("diag");
    let value = parser.required("v")?;
    let offset = parser.optional("k")?.map_or(Ok(0), |offset| vm.index(offset))?;
    parser.finish()?;
    let array = operand::to_array(vm, value, None)?;
    if array.shape().len() != 1 {
        let diagonal = diagonal_view(value, &array, offset)?;
        return Ok(Value::native(NdArray::from_row(
            array.dtype(),
            diagonal.shape(),
            diagonal.to_contiguous_bytes()?,
        )));
    }
    let side = array.size().saturating_add(offset.unsigned_abs() as usize);
    let matrix =
        super::create::filled(array.dtype(), &[side, side], &super::array::element(array.dtype(), 0))?;
    let places = diagonal_view(&Value::None, &matrix, offset)?;
    places.write_row(&array.to_contiguous_bytes()?)?;
    Ok(Value::native(matrix))
}

fn triangle(vm: &mut Vm, args: &Args, name: &str, keeps: fn(i64, i64, i64) -> bool) -> Result {
    let mut parser = args.parser(name);
    let array = operand::to_array(vm, parser.required("m")?, None)?;
    let offset = parser.optional("k")?.map_or(Ok(0), |offset| vm.index(offset))?;
    parser.finish()?;
    if array.shape().len() < 2 {
        return Err(crate::errors::value_error(format!("{name} requires a matrix")));
    }
    let (n_rows, n_columns) = last_two(array.shape());
    let mut row = array.to_contiguous_bytes()?;
    for (at, element) in row.chunks_exact_mut(array.dtype().size()).enumerate() {
        let (line, column) = (at / n_columns % n_rows, at % n_columns);
        if !keeps(line as i64, column as i64, offset) {
            element.fill(0);
        }
    }
    Ok(Value::native(NdArray::from_row(array.dtype(), array.shape(), row)))
}

fn tril(vm: &mut Vm, args: &Args) -> Result {
    triangle(vm, args, "tril", |row, column, offset| column <= row.saturating_add(offset))
}

fn triu(vm: &mut Vm, args: &Args) -> Result {
    triangle(vm, args, "triu", |row, column, offset| column >= row.saturating_add(offset))
}

/// The root of the sum of squares, of all elements or along axes.
fn norm(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("norm");
    let operand = operand::required(vm, parser.required("x")?)?;
    let order = parser.optional("ord")?.cloned().and_then(Value::not_none);
    let axis = parser.optional("axis")?;
    let keeps = parser.optional("keepdims")?;
    parser.finish()?;
    let axes = reduce::axes(vm, axis, operand.shape().len())?;
    let keeps = keeps.map_or(Ok(false), |keeps| vm.truth(keeps))?;
    let dtype = if operand.dtype().is_float() { operand.dtype() } else { DType::F64 };
    let values = Operand::Array(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?));
    let sizes = Operand::Array(operators::apply_unary("absolute", Unary::Absolute, &values)?.into_array());
    let order = match &order {
        None => 2.0,
        Some(order) if order.as_str() == Some("fro") => 2.0,
        Some(order) => match operand::required(vm, order)?.number() {
            Some(order) if axes.len() == 1 => order.as_f64(),
            _ => return Err(crate::errors::value_error("Invalid norm order for matrices.")),
        },
    };
    let reduced = |reduction, values: &Operand| reduce::reduce(reduction, values, &axes, keeps, None);
    let made = match order {
        f64::INFINITY => reduced(Reduction::Maximum, &sizes)?,
        f64::NEG_INFINITY => reduced(Reduction::Minimum, &sizes)?,
        1.0 => reduced(Reduction::Sum, &sizes)?,
        2.0 => {
            let squares =
                Operand::Array(operators::apply_unary("square", Unary::Square, &values)?.into_array());
            let sum = Operand::Array(reduced(Reduction::Sum, &squares)?.into_array());
            operators::apply_unary("sqrt", Unary::Sqrt, &sum)?
        }
        order => {
            let powers = operators::apply_binary("power", Binary::Power, &sizes, &Operand::Float(order))?;
            let sum =
                Operand::Array(reduced(Reduction::Sum, &Operand::Array(powers.into_array()))?.into_array());
            operators::apply_binary("power", Binary::Power, &sum, &Operand::Float(1.0 / order))?
        }
    };
    Ok(made.into_value())
}

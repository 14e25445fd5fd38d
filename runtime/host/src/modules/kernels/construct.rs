//! Values of kernel types created on the host: `vec3(xy, 1)`, `mat2(column, column)`, `Array(4,
//! f32)(values)`.
//!
//! Vectors and matrices are composed as in kernels, each part converted. The result is an ndarray with the
//! type's numbers, or a list of structs.

use kps_compute::Number;
use kps_kernel::{Scalar, Type};

use super::{errors, structs};
use crate::errors::overflow_error;
use crate::modules::kp;
use crate::modules::numpy::NdArray;
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

pub fn construct(vm: &mut Vm, ty: &Type, args: &Args) -> Result {
    match (ty, args.positional()) {
        (ty, []) => structs::unpack(vm, ty, &vec![0; ty.packed_size() as usize]),
        (Type::Vector(n, scalar), parts) => vector(vm, ty, usize::from(*n), *scalar, parts),
        (Type::Matrix { columns, rows, scalar }, [one]) if kp::number(one)?.is_some() => {
            let (columns, rows) = (usize::from(*columns), usize::from(*rows));
            let (zero, one) = (Number::Int(0), number(one)?);
            let at = |at: usize| if at / columns == at % columns { one } else { zero };
            array(&[rows, columns], *scalar, (0..columns * rows).map(at))
        }
        // A nested list, or an array, has rows as everywhere on the host.
        (Type::Matrix { .. } | Type::Array(_), [one]) => {
            let items = vm.collect(one)?;
            whole(vm, ty, items)
        }
        (Type::Matrix { columns, rows, scalar }, parts) => {
            let (columns, rows) = (usize::from(*columns), usize::from(*rows));
            let numbers = flattened(vm, parts)?;
            if numbers.len() != columns * rows {
                return Err(errors::part_count(ty, columns * rows, numbers.len()));
            }
            // Columns go in, rows are stored.
            let at = |at: usize| numbers[at % columns * rows + at / columns];
            array(&[rows, columns], *scalar, (0..columns * rows).map(at))
        }
        (ty, parts) => whole(vm, ty, parts.to_vec()),
    }
}

fn vector(vm: &mut Vm, ty: &Type, n: usize, scalar: Scalar, parts: &[Value]) -> Result {
    let mut numbers = flattened(vm, parts)?;
    if let ([number], [part]) = (&numbers[..], parts)
        && kp::number(part)?.is_some()
    {
        numbers = vec![*number; n];
    }
    if numbers.len() != n {
        return Err(errors::part_count(ty, n, numbers.len()));
    }
    array(&[n], scalar, numbers.into_iter())
}

fn whole(vm: &mut Vm, ty: &Type, parts: Vec<Value>) -> Result {
    let bytes = structs::pack(vm, ty, &Value::list(parts), &ty.to_string())?;
    structs::unpack(vm, ty, &bytes)
}

/// The numbers of all parts in order: a part is a number, or a row of them.
fn flattened(vm: &mut Vm, parts: &[Value]) -> Result<Vec<Number>> {
    let mut numbers = Vec::new();
    for part in parts {
        match kp::number(part)? {
            Some(number) => numbers.push(number),
            None => {
                for item in vm.collect(part)? {
                    numbers.push(number(&item)?);
                }
            }
        }
    }
    Ok(numbers)
}

fn number(value: &Value) -> Result<Number> {
    kp::number(value)?.ok_or_else(|| errors::part_kind(value))
}

/// Converts each number as a cast does: a float is truncated to an int.
fn array(shape: &[usize], scalar: Scalar, numbers: impl Iterator<Item = Number>) -> Result {
    let mut bytes = Vec::new();
    for number in numbers {
        let mut element = [0; 8];
        let unfit = |_| overflow_error(format!("{number} is out of range for {scalar}"));
        number.store(scalar, &mut element).map_err(unfit)?;
        bytes.extend_from_slice(&element[..scalar.size()]);
    }
    Ok(Value::native(NdArray::from_row(scalar, shape, bytes)))
}

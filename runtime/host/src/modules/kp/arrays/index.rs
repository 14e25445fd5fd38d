//! `tensor[index]`, read and assigned: ints, slices, `...` and None give views; arrays of ints and of bools pick
//! elements.

use kps_array::{Array, Part};
use kps_compute::DType;

use super::{array, array_of, operand, raised, value};
use crate::errors::type_error;
use crate::modules::kp::tensor::ScriptTensor;
use crate::modules::kp::values;
use crate::modules::numpy::NdArray;
use crate::text::slice::SliceIndices;
use crate::value::{Result, Value};
use crate::vm::Vm;

/// `tensor[index]`: a number where the index names one element, else a tensor.
pub fn get(vm: &mut Vm, tensor: &ScriptTensor, index: &Value) -> Result {
    let this = array_of(vm, tensor)?;
    if let Some(picked) = picks(index) {
        return super::library::pick(vm, this, index, picked);
    }
    let parts = parts(vm, this.shape(), index)?;
    let names_one = parts.iter().filter(|part| matches!(part, Part::At(_))).count() == this.ndim()
        && parts.len() == this.ndim();
    let selected = this.indexed(&parts).map_err(raised)?;
    if names_one {
        let memory = selected.tensor().map_err(raised)?;
        return Ok(values::value(memory.get(0).map_err(super::compute)?));
    }
    Ok(value(selected))
}

/// `tensor[index] = item`.
pub fn set(vm: &mut Vm, tensor: &ScriptTensor, index: &Value, item: &Value) -> Result<()> {
    let this = array_of(vm, tensor)?;
    if let Some(picked) = picks(index) {
        return super::library::put(vm, this, index, picked, item);
    }
    let parts = parts(vm, this.shape(), index)?;
    let target = this.indexed(&parts).map_err(raised)?;
    let item = match operand(vm, item, Some(&target))? {
        Some(item) => item,
        None => array(vm, item, this.dtype())?.into(),
    };
    target.assign(dropping_axes(item, target.ndim())?).map_err(raised)
}

/// Leading axes of length 1 that are too many are dropped, as NumPy does.
fn dropping_axes(item: kps_array::Operand, ndim: usize) -> Result<kps_array::Operand> {
    let kps_array::Operand::Array(array) = &item else { return Ok(item) };
    let extra = array.ndim().saturating_sub(ndim);
    if extra == 0 || array.shape()[..extra].iter().any(|len| *len != 1) {
        return Ok(item);
    }
    let shape: Vec<i64> = array.shape()[extra..].iter().map(|len| *len as i64).collect();
    Ok(array.reshaped(&shape).map_err(raised)?.into())
}

/// How an index picks elements, if it does not only select by axes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Picks {
    /// By an array of bools.
    Mask,
    /// By arrays of ints.
    Indices,
}

fn picks(index: &Value) -> Option<Picks> {
    let one = |part: &Value| match part {
        Value::Bool(_) => Some(Picks::Mask),
        Value::List(list) => match list.borrow().first() {
            Some(Value::Bool(_)) => Some(Picks::Mask),
            _ => Some(Picks::Indices),
        },
        part => {
            let dtype = part.downcast::<NdArray>().map(NdArray::dtype);
            let dtype = dtype.or_else(|| part.downcast::<ScriptTensor>().map(ScriptTensor::dtype));
            dtype.map(|dtype| if dtype == DType::Bool { Picks::Mask } else { Picks::Indices })
        }
    };
    match index {
        Value::Tuple(parts) => parts.iter().filter_map(one).max_by_key(|picks| *picks == Picks::Mask),
        index => one(index),
    }
}

/// The parts of an index for an array of this shape.
pub fn parts(vm: &mut Vm, shape: &[usize], index: &Value) -> Result<Vec<Part>> {
    let items = match index {
        Value::Tuple(items) => items.to_vec(),
        item => vec![item.clone()],
    };
    let named = items.iter().filter(|item| !matches!(item, Value::None | Value::Ellipsis)).count();
    if named > shape.len() {
        return Err(raised(kps_array::errors::too_many_indices(named, shape.len())));
    }
    let mut parts = Vec::with_capacity(items.len());
    let mut axis = 0;
    for item in &items {
        match item {
            Value::None => parts.push(Part::New),
            Value::Ellipsis => {
                let whole = shape.len() - named;
                parts.extend(std::iter::repeat_n(Part::All, whole));
                axis += whole;
            }
            Value::Slice(slice) => {
                let bound = |vm: &mut Vm, bound: &Value| match bound {
                    Value::None => Ok(None),
                    bound => vm.index(bound).map(Some),
                };
                let (start, stop) = (bound(vm, &slice.start)?, bound(vm, &slice.stop)?);
                let step = bound(vm, &slice.step)?;
                let indices = SliceIndices::new(start, stop, step, shape[axis])?;
                let start = usize::try_from(indices.start).unwrap_or(0);
                parts.push(Part::Slice { start, step: indices.step as isize, len: indices.len });
                axis += 1;
            }
            item => match vm.try_index(item)? {
                Some(at) => {
                    parts.push(Part::At(at));
                    axis += 1;
                }
                None => {
                    let given = item.type_name();
                    return Err(type_error(format!(
                        "an index is an int, a slice, `...`, None or an array, not {given}"
                    )));
                }
            },
        }
    }
    Ok(parts)
}

/// The array's elements on the host, for indices that only the host evaluates.
pub fn on_host(vm: &mut Vm, this: &Array, index: &Value) -> Result<(Value, Value)> {
    let tensor = value(this.clone());
    let array = vm.call_method(&tensor, "numpy", &[])?;
    let index = match index {
        Value::Tuple(items) => {
            let items = items.iter().map(|item| host_index(vm, item)).collect::<Result<Vec<_>>>()?;
            Value::tuple(items)
        }
        item => host_index(vm, item)?,
    };
    Ok((array, index))
}

fn host_index(vm: &mut Vm, item: &Value) -> Result {
    match item.downcast::<ScriptTensor>() {
        Some(_) => vm.call_method(item, "numpy", &[]),
        None => Ok(item.clone()),
    }
}

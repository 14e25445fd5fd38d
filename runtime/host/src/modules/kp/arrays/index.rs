//! `tensor[index]`, read and assigned: ints, slices, `...` and None give views; arrays of ints and of bools pick
//! elements.

use std::rc::Rc;

use kps_array::{Array, ElementType, IndexPart, Op, Operand, Part};
use kps_compute::{DType, Number};

use super::{array, array_of, operand, raised, value};
use crate::errors::{index_error, type_error};
use crate::modules::kp::errors;
use crate::modules::kp::tensor::ScriptTensor;
use crate::modules::numpy::NdArray;
use crate::text::slice::SliceIndices;
use crate::value::{Raise, Result, Slice, Value};
use crate::vm::Vm;

/// `tensor[index]`: a number where the index names one element, else a tensor.
pub fn get(vm: &mut Vm, tensor: &ScriptTensor, index: &Value) -> Result {
    let this = array_of(vm, tensor)?;
    if picks(index) {
        if let Some(mask) = whole_mask(vm, &this, index)? {
            return super::library::call(vm, "compress", &[value(this), mask]);
        }
        let parts = picking(vm, &this, index)?;
        return super::result(this.picked(&parts));
    }
    let parts = parts(vm, this.shape(), index)?;
    let names_one = parts.iter().filter(|part| matches!(part, Part::At(_))).count() == this.ndim()
        && parts.len() == this.ndim();
    let selected = this.indexed(&parts).map_err(raised)?;
    if names_one {
        return super::only(&selected);
    }
    Ok(value(selected))
}

/// `tensor[index] = item`.
pub fn set(vm: &mut Vm, tensor: &ScriptTensor, index: &Value, item: &Value) -> Result<()> {
    let this = array_of(vm, tensor)?;
    let given = match operand(vm, item, Some(&this))? {
        Some(item) => item,
        None => array(vm, item, this.dtype())?.into(),
    };
    if picks(index) {
        // A number is chosen where the mask is true: no element has to be found.
        if let (Some(mask), Operand::Number(_)) = (whole_mask(vm, &this, index)?, &given) {
            let mask = array(vm, &mask, DType::Bool)?;
            let chosen = Array::apply(
                Op::named("where").expect("it is in the table"),
                &[mask.into(), given, this.clone().into()],
            )
            .map_err(raised)?;
            return this.assign(chosen.into()).map_err(raised);
        }
        let parts = picking(vm, &this, index)?;
        return this.put(&parts, given).map_err(raised);
    }
    let item = given;
    let parts = parts(vm, this.shape(), index)?;
    let target = this.indexed(&parts).map_err(raised)?;
    target.assign(dropping_axes(item, target.ndim())?).map_err(raised)
}

/// Leading axes of length 1 that are too many are dropped, as NumPy does.
fn dropping_axes(item: Operand, ndim: usize) -> Result<Operand> {
    let Operand::Array(array) = &item else { return Ok(item) };
    let extra = array.ndim().saturating_sub(ndim);
    if extra == 0 || array.shape()[..extra].iter().any(|len| *len != 1) {
        return Ok(item);
    }
    let shape: Vec<i64> = array.shape()[extra..].iter().map(|len| *len as i64).collect();
    Ok(array.reshaped(&shape).map_err(raised)?.into())
}

/// The type of an array in an index; `None` for ints, slices and the like.
fn picked_type(part: &Value) -> Option<DType> {
    match part {
        Value::Tuple(_) => Some(DType::I64),
        Value::List(list) => match list.borrow().first() {
            Some(Value::Bool(_)) => Some(DType::Bool),
            Some(inner @ Value::List(_)) => picked_type(inner),
            _ => Some(DType::I64),
        },
        part => match part.downcast::<NdArray>() {
            Some(array) => Some(array.dtype()),
            None => part.downcast::<ScriptTensor>().map(ScriptTensor::dtype),
        },
    }
}

/// Whether an index picks elements by arrays.
fn picks(index: &Value) -> bool {
    match index {
        Value::Tuple(parts) => parts.iter().any(|part| picked_type(part).is_some()),
        index => picked_type(index).is_some(),
    }
}

/// The index, if it is one mask with the shape of the array.
fn whole_mask(vm: &mut Vm, this: &Array, index: &Value) -> Result<Option<Value>> {
    if picked_type(index) != Some(DType::Bool) {
        return Ok(None);
    }
    let mask = array(vm, index, DType::Bool)?;
    Ok((mask.shape() == this.shape()).then(|| value(mask)))
}

/// The parts of an index with arrays. A mask becomes the indices of its true elements, one array for each axis.
fn picking(vm: &mut Vm, this: &Array, index: &Value) -> Result<Vec<IndexPart>> {
    let items = match index {
        Value::Tuple(items) => items.to_vec(),
        item => vec![item.clone()],
    };
    let mut arrays: Vec<Vec<Array>> = Vec::new();
    let mut plain = Vec::new();
    let mut axis = 0;
    for item in &items {
        let Some(dtype) = picked_type(item) else {
            plain.push(item.clone());
            axis += usize::from(!item.is_none());
            continue;
        };
        let indices = array(vm, item, if dtype == DType::Bool { DType::Bool } else { DType::I32 })?;
        let indices = match indices.dtype() {
            ElementType::Real(DType::Bool) => {
                let of_axes = &this.shape()[axis.min(this.ndim())..];
                if indices.ndim() == 0 {
                    return Err(no_bool_index());
                }
                if !of_axes.starts_with(indices.shape()) {
                    return Err(errors::mask_shape(indices.shape(), this.shape()));
                }
                let found = super::library::call(vm, "nonzero", &[value(indices)])?;
                vm.collect(&found)?
                    .iter()
                    .map(|one| array(vm, one, DType::I32))
                    .collect::<Result<Vec<_>>>()?
            }
            _ => vec![indices],
        };
        axis += indices.len();
        // They stand for whole axes, until the others are known.
        plain.extend(std::iter::repeat_n(whole_axis(), indices.len()));
        arrays.push(indices);
    }
    let parts = parts(vm, this.shape(), &Value::tuple(plain.clone()))?;
    let mut arrays = arrays.into_iter().flatten();
    let mut next = |item: &Value| match item {
        Value::Slice(slice) if slice.start.is_unset() => arrays.next(),
        _ => None,
    };
    let mut picking = Vec::with_capacity(parts.len());
    let mut at = 0;
    for item in &plain {
        if matches!(item, Value::Ellipsis) {
            let n = parts.len() - (plain.len() - 1);
            picking.extend(parts[at..at + n].iter().map(|part| IndexPart::Whole(*part)));
            at += n;
            continue;
        }
        picking.push(match (next(item), parts[at]) {
            (Some(indices), _) => IndexPart::Picks(indices),
            // An int beside arrays is an array of one.
            (None, Part::At(index)) => {
                let index = Array::filled(this.engine(), DType::I64, &[], Number::Int(index.into()));
                IndexPart::Picks(index.map_err(raised)?)
            }
            (None, part) => IndexPart::Whole(part),
        });
        at += 1;
    }
    Ok(picking)
}

/// A slice that no script can write: the place of an array.
fn whole_axis() -> Value {
    Value::Slice(Rc::new(Slice { start: Value::Unset, stop: Value::None, step: Value::None }))
}

fn no_bool_index() -> Raise {
    index_error("one bool is no index").help("an array of bools selects elements: `x[x > 0]`")
}

/// The parts of an index for an array of this shape.
pub fn parts(vm: &mut Vm, shape: &[usize], index: &Value) -> Result<Vec<Part>> {
    let items = match index {
        Value::Tuple(items) => items.to_vec(),
        item => vec![item.clone()],
    };
    if items.iter().filter(|item| matches!(item, Value::Ellipsis)).count() > 1 {
        return Err(index_error("an index has one `...` at most"));
    }
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
                    Value::None | Value::Unset => Ok(None),
                    bound => vm.index(bound).map(Some),
                };
                let (start, stop) = (bound(vm, &slice.start)?, bound(vm, &slice.stop)?);
                let step = bound(vm, &slice.step)?;
                let indices = SliceIndices::new(start, stop, step, shape[axis])?;
                let start = usize::try_from(indices.start).unwrap_or(0);
                parts.push(Part::Slice { start, step: indices.step as isize, len: indices.len });
                axis += 1;
            }
            Value::Bool(_) => return Err(no_bool_index()),
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

//! `a.flat`: the elements of an array in sequence, read and assigned by flat indices.

use std::cell::Cell;

use super::array::NdArray;
use super::index;
use super::layout::Layout;
use super::methods::{receiver, shape_value, unravel};
use super::operand;
use super::{errors, operators};
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static FLATITER: NativeType = NativeType {
    methods: &[
        NativeDef::method("__next__", next),
        NativeDef::method("copy", copy),
        NativeDef::method("__array__", copy),
        NativeDef::getter("base", base),
        NativeDef::getter("index", position),
        NativeDef::getter("coords", coords),
    ],
    ..NativeType::new("flatiter", "numpy")
};

struct FlatIter {
    array: NdArray,
    base: Value,
    at: Cell<usize>,
}

/// `a.flat`.
pub fn flat(vm: &mut Vm, args: &Args) -> Result {
    let array = receiver(vm, args)?.into_array()?;
    Ok(Value::native(FlatIter { array, base: args.receiver()?.clone(), at: Cell::new(0) }))
}

/// `a.flat = values`, repeated as necessary.
pub fn assign(vm: &mut Vm, array: &NdArray, values: &Value) -> Result<()> {
    let all: Vec<usize> = places(array)?;
    put(vm, array, &all, values)
}

/// The byte offsets of all elements.
fn places(array: &NdArray) -> Result<Vec<usize>> {
    operators::check_room(&[array.size()], kps_compute::DType::I64)?;
    let offset = |at: usize| array.layout().byte_of(&unravel(at, array.shape()), array.dtype().size());
    Ok((0..array.size()).map(offset).collect())
}

fn put(vm: &mut Vm, array: &NdArray, places: &[usize], values: &Value) -> Result<()> {
    let values = operand::required(vm, values)?;
    let row = values.row_as(array.dtype())?;
    if places.is_empty() || row.is_empty() {
        return Ok(());
    }
    let size = array.dtype().size();
    let repeated: Vec<u8> = row.iter().copied().cycle().take(places.len() * size).collect();
    array.write_at(places, &repeated)
}

impl FlatIter {
    /// The flat positions that an index picks, and whether it is a single one.
    fn picked(&self, vm: &mut Vm, index: &Value) -> Result<(Vec<usize>, bool)> {
        let n = self.array.size();
        let is_many =
            matches!(index, Value::Slice(_) | Value::Ellipsis) || index.downcast::<NdArray>().is_some();
        if !is_many && let Some(at) = vm.try_index(index)? {
            let from_start = if at < 0 { at.saturating_add(n as i64) } else { at };
            return match usize::try_from(from_start) {
                Ok(from_start) if from_start < n => Ok((vec![from_start], true)),
                _ => Err(errors::flat_index_out_of_bounds(at, n)),
            };
        }
        let counted = Layout::contiguous(&[n]);
        let (_, offsets) = index::elements_of(vm, (&counted, 1), index)?;
        Ok((offsets, false))
    }

    fn offset(&self, at: usize) -> usize {
        self.array.layout().byte_of(&unravel(at, self.array.shape()), self.array.dtype().size())
    }
}

impl Native for FlatIter {
    fn native_type(&self) -> &'static NativeType {
        &FLATITER
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let (picked, is_single) = self.picked(vm, index)?;
        let offsets: Vec<usize> = picked.iter().map(|&at| self.offset(at)).collect();
        if let (true, [only]) = (is_single, &offsets[..]) {
            return self.array.scalar_at(*only).map(|scalar| Some(Value::native(scalar)));
        }
        let row = self.array.gather_at(&offsets)?;
        Ok(Some(Value::native(NdArray::from_row(self.array.dtype(), &[offsets.len()], row))))
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        let (picked, _) = self.picked(vm, index)?;
        let offsets: Vec<usize> = picked.iter().map(|&at| self.offset(at)).collect();
        put(vm, &self.array, &offsets, value)?;
        Ok(true)
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.array.size()))
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(Value::native_iter(Elements(this.clone()))))
    }
}

/// The elements from the position of an iterator on, which moves along.
struct Elements(Value);

impl crate::value::NativeIter for Elements {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        step(self.0.downcast::<FlatIter>().expect("it was made of one"))
    }
}

fn step(flat: &FlatIter) -> Result<Option<Value>> {
    let at = flat.at.get();
    if at >= flat.array.size() {
        return Ok(None);
    }
    flat.at.set(at + 1);
    flat.array.scalar_at(flat.offset(at)).map(|scalar| Some(Value::native(scalar)))
}

fn next(_: &mut Vm, args: &Args) -> Result {
    step(args.this::<FlatIter>()?)?.ok_or_else(|| crate::errors::stop_iteration(Value::None))
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    let array = &args.this::<FlatIter>()?.array;
    Ok(Value::native(array.copied(&[array.size()])?))
}

fn base(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<FlatIter>()?.base.clone())
}

fn position(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(args.this::<FlatIter>()?.at.get() as i64))
}

fn coords(_: &mut Vm, args: &Args) -> Result {
    let flat = args.this::<FlatIter>()?;
    if flat.at.get() >= flat.array.size() {
        return Err(errors::flat_index_out_of_bounds(flat.at.get() as i64, flat.array.size()));
    }
    Ok(shape_value(&unravel(flat.at.get(), flat.array.shape())))
}

//! The result of `tensor.data()`: an ndarray with one axis in the form of a list.
//!
//! It prints, iterates and compares as a list of numbers does, because the first scripts of Kompute received
//! a list. Everything else is the ndarray's, because later ones received that. A slice has the form of a list
//! again; other views are plain arrays.

use kps_compute::number::Number;
use kps_compute::{ComputeError, Tensor};
use kps_syntax::ast::UnaryOp;

use super::array::{NDARRAY, NdArray};
use super::layout::Layout;
use super::operand::{self, Operand};
use super::scalar::Scalar;
use super::{index, operators};
use crate::errors::{type_error, value_error};
use crate::modules::kp;
use crate::ops::Side;
use crate::value::{BinaryOp, CompareOp, Native, NativeType, Result, Slice, Value};
use crate::vm::Vm;

pub static TENSOR_DATA: NativeType =
    NativeType { base: Some(&NDARRAY), ..NativeType::new("TensorData", "kp") };

/// All elements of a tensor, in the form of a list. `base` is the tensor as the script holds it.
pub fn of_tensor(base: Value, tensor: &Tensor) -> NdArray {
    let layout = Layout { offset: tensor.byte_range().start, ..Layout::contiguous(&[tensor.size()]) };
    let array = NdArray::from_storage(tensor.storage().clone(), tensor.dtype(), &[tensor.size()]);
    array.with_layout(layout).with_base(base).in_form_of_list()
}

/// How a script indexes it.
enum Index<'a> {
    Position,
    Slice(&'a Slice),
    /// As an array, by axes, masks or lists.
    Array,
}

fn kind(index: &Value) -> Index<'_> {
    match index {
        Value::Slice(slice) => Index::Slice(slice),
        Value::Ellipsis | Value::None | Value::List(_) | Value::Tuple(_) | Value::Bool(_) => Index::Array,
        Value::Native(_) if index.downcast::<Scalar>().is_none() => Index::Array,
        _ => Index::Position,
    }
}

pub fn get_item(vm: &mut Vm, this: &Value, array: &NdArray, index: &Value) -> Result {
    match kind(index) {
        Index::Array if is_all(index) => Ok(this.clone()),
        Index::Array => index::get(vm, this, array, index),
        Index::Slice(slice) => Ok(Value::native(sliced(vm, array, slice)?)),
        Index::Position => {
            let at = vm.position(index, array.size(), "list")?;
            Ok(array.scalar_at(array.layout().byte_of(&[at], array.dtype().size()))?.to_python())
        }
    }
}

/// `d[()]` is all of it.
fn is_all(index: &Value) -> bool {
    matches!(index, Value::Tuple(parts) if parts.is_empty())
}

fn sliced(vm: &mut Vm, array: &NdArray, slice: &Slice) -> Result<NdArray> {
    let span = slice.span(vm, array.size())?;
    let mut layout = array.layout().clone();
    layout.slice(0, array.dtype().size(), span.start, span.step, span.n);
    Ok(array.clone().with_layout(layout))
}

pub fn set_item(vm: &mut Vm, array: &NdArray, index: &Value, item: &Value) -> Result<()> {
    match kind(index) {
        Index::Array => index::set(vm, array, index, item),
        Index::Slice(slice) => {
            let part = sliced(vm, array, slice)?;
            assign(vm, &part, item)
        }
        Index::Position => {
            let at = vm.position(index, array.size(), "list")?;
            let number = kp::number(item)?.ok_or_else(|| not_numbers(item))?;
            let mut layout = array.layout().clone();
            layout.slice(0, array.dtype().size(), at as i64, 1, 1);
            array.clone().with_layout(layout).fill(&element(array, number)?)
        }
    }
}

/// Assigns one number to all elements, or as many numbers as there are.
fn assign(vm: &mut Vm, part: &NdArray, item: &Value) -> Result<()> {
    if let Some(number) = kp::number(item)? {
        return part.fill(&element(part, number)?);
    }
    let (row, n) = match item.base_value() {
        // An array is converted as a whole, as NumPy does it.
        Value::Native(_) => {
            let operand = operand::required(vm, item)?;
            (operand.shared_row_as(part.dtype())?, operand.size())
        }
        _ => {
            let items = vm.collect(item)?;
            let mut row = Vec::with_capacity(items.len() * part.dtype().size());
            for item in &items {
                let number = kp::number(item)?.ok_or_else(|| not_numbers(item))?;
                row.extend(element(part, number)?);
            }
            (row.into(), items.len())
        }
    };
    if n != part.size() {
        return Err(value_error(format!("cannot assign {n} elements to a slice of {}", part.size())));
    }
    part.write_row(&row)
}

/// A number as an element, if the type holds it.
fn element(array: &NdArray, value: Number) -> Result<Vec<u8>> {
    let dtype = array.dtype();
    let mut bytes = vec![0; dtype.size()];
    let what = || array.storage().label().to_owned();
    let unfit = |unfit| kp::compute(ComputeError::ElementUnfit { what: what(), value, dtype, unfit });
    value.store(dtype, &mut bytes).map_err(unfit)?;
    Ok(bytes)
}

fn not_numbers(item: &Value) -> crate::value::Raise {
    type_error(format!("a tensor takes numbers, not {}", item.type_name()))
}

/// With a list or another such array: both as lists, and their elements. `None` for other operands.
pub fn compare(vm: &mut Vm, op: CompareOp, array: &NdArray, other: &Value) -> Result<Option<Value>> {
    let list = match other.base_value() {
        Value::List(_) => other.clone(),
        Value::Tuple(items) => Value::list(items.to_vec()),
        _ => match other.downcast::<NdArray>().filter(|other| other.is_in_form_of_list()) {
            Some(other) => other.to_list()?,
            None => return Ok(None),
        },
    };
    let answer = vm.compare(op, &array.to_list()?, &list)?;
    let answer = vm.truth(&answer)?;
    let elements = match operand::from_value(vm, &list) {
        Ok(Some(other)) if other.shape() == array.shape() => {
            operators::compare(vm, op, &Operand::Array(array.clone()), &list)?
        }
        _ => None,
    };
    Ok(Some(match elements {
        Some(elements) => Value::native(Comparison { answer, elements }),
        None => answer.into(),
    }))
}

pub static COMPARISON: NativeType = NativeType {
    methods: &[crate::value::NativeDef::method("__array__", |_, args| {
        Ok(args.this::<Comparison>()?.elements.clone())
    })],
    ..NativeType::new("Comparison", "kp")
};

/// `t.data() == [1, 2]`: one truth, as of two lists, and a truth for each element, as of two arrays.
struct Comparison {
    answer: bool,
    elements: Value,
}

impl Native for Comparison {
    fn native_type(&self) -> &'static NativeType {
        &COMPARISON
    }

    fn get_attr(&self, _: &Value, vm: &mut Vm, name: &str) -> Result<Option<Value>> {
        vm.find_attr(&self.elements, name)
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(self.answer)
    }

    fn len(&self, vm: &mut Vm) -> Result<Option<usize>> {
        vm.len(&self.elements).map(Some)
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        vm.get_item(&self.elements, index).map(Some)
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        vm.iter(&self.elements).map(Some)
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        match side {
            Side::Left => vm.try_binary(op, &self.elements, other),
            Side::Right => vm.try_binary(op, other, &self.elements),
        }
    }

    fn unary(&self, _: &Value, vm: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        match op {
            UnaryOp::Not => Ok(None),
            op => vm.unary(op, &self.elements).map(Some),
        }
    }

    /// With a bool, the answer; with others, the elements.
    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let this = match other {
            Value::Bool(_) => self.answer.into(),
            _ => self.elements.clone(),
        };
        vm.compare(op, &this, other).map(Some)
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        vm.repr(&self.answer.into())
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(self.answer.into()))
    }
}

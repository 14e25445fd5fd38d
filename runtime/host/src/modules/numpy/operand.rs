//! Operands of scripts: arrays, scalars, Python's numbers, nested lists.

use std::rc::Rc;

use kps_compute::DType;
use kps_compute::number::Number;
use num_bigint::BigInt;

use super::array::NdArray;
use super::complex::ComplexArray;
use super::kernel::source::Source;
use super::layout::Layout;
use super::operators::check_room;
use super::promote::{Kind, promote, promote_types};
use super::scalar::Scalar;
use super::{errors, kernel};
use crate::value::{IterState, Result, Value};
use crate::vm::Vm;

/// No array has more axes.
pub const MAX_AXES: usize = 64;

/// One side of an operation.
#[derive(Clone)]
pub enum Operand {
    Array(NdArray),
    /// One of NumPy's scalars, or a Python bool.
    Scalar(Scalar),
    /// A Python int, which adopts the type of the other side.
    Int(i128),
    /// A Python float, likewise.
    Float(f64),
}

impl Operand {
    pub fn kind(&self) -> Kind {
        match self {
            Operand::Array(array) => Kind::Strong(array.dtype()),
            Operand::Scalar(scalar) => Kind::Strong(scalar.dtype),
            Operand::Int(_) => Kind::WeakInt,
            Operand::Float(_) => Kind::WeakFloat,
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Operand::Int(int) if i64::try_from(*int).is_err() && u64::try_from(*int).is_ok() => DType::U64,
            other => other.kind().dtype(),
        }
    }

    pub fn shape(&self) -> &[usize] {
        match self {
            Operand::Array(array) => array.shape(),
            _ => &[],
        }
    }

    pub fn size(&self) -> usize {
        self.shape().iter().product()
    }

    /// The number, unless it is an array.
    pub fn number(&self) -> Option<Number> {
        match self {
            Operand::Array(_) => None,
            Operand::Scalar(scalar) => Some(scalar.number),
            Operand::Int(int) => Some(Number::Int(*int)),
            Operand::Float(float) => Some(Number::Float(*float)),
        }
    }

    /// The elements in the order of their indices, as elements of a type.
    pub fn row_as(&self, dtype: DType) -> Result<Vec<u8>> {
        match self {
            Operand::Array(array) => array.row_as(dtype),
            Operand::Int(int) => {
                check_bounds(*int, dtype)?;
                Ok(number_row(Number::Int(*int), dtype))
            }
            Operand::Scalar(scalar) => kernel::cast::cast(&scalar.row(), scalar.dtype, dtype),
            Operand::Float(float) => Ok(number_row(Number::Float(*float), dtype)),
        }
    }

    /// The same; the bytes of an array of this type may be shared with it.
    pub fn shared_row_as(&self, dtype: DType) -> Result<Rc<Vec<u8>>> {
        match self {
            Operand::Array(array) if array.dtype() == dtype => array.shared_row(),
            _ => self.row_as(dtype).map(Rc::new),
        }
    }

    /// Calls `look` with the elements of a larger shape, or with one element that is broadcast.
    pub fn with_row<R>(&self, dtype: DType, shape: &[usize], look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let Operand::Array(array) = self else { return Ok(look(&self.row_as(dtype)?)) };
        if array.shape() == shape && array.dtype() == dtype {
            return array.with_row(look);
        }
        if array.shape() == shape || array.size() == 1 {
            return Ok(look(&array.row_as(dtype)?));
        }
        let n = check_room(shape, dtype)? / dtype.size();
        if n == 0 {
            return Ok(look(&[]));
        }
        let row = array.with_source(shape, |source| source.cast(dtype).to_row(n))??;
        Ok(look(&row))
    }

    /// The same without broadcasting: the elements of the shape are all there.
    pub fn with_row_of<R>(&self, dtype: DType, shape: &[usize], look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if let Operand::Array(array) = self
            && array.shape() == shape
            && array.dtype() == dtype
        {
            return array.with_row(look);
        }
        let n = check_room(shape, dtype)? / dtype.size();
        let row = match n {
            0 => Vec::new(),
            n => self.with_source(dtype, shape, |source| source.to_row(n))??,
        };
        Ok(look(&row))
    }

    /// Calls `look` with the elements of a shape, which is not empty, as elements of a type.
    pub fn with_source<R>(&self, dtype: DType, shape: &[usize], look: impl FnOnce(Source) -> R) -> Result<R> {
        match self {
            Operand::Array(array) => array.with_source(shape, |source| look(source.cast(dtype))),
            number => Ok(look(Source::row(&number.row_as(dtype)?, dtype))),
        }
    }

    /// As an array of a type, which is the same object if it has it.
    pub fn in_type(self, dtype: DType) -> Result<Operand> {
        match self {
            Operand::Array(array) if array.dtype() == dtype => Ok(Operand::Array(array)),
            other => Ok(Operand::Array(NdArray::from_row(dtype, other.shape(), other.row_as(dtype)?))),
        }
    }

    /// All elements along one axis, in the order of their indices.
    pub fn flat(&self) -> Result<Operand> {
        let dtype = self.dtype();
        match self {
            Operand::Array(array) if array.layout().is_contiguous() => {
                let flat = Layout { offset: array.layout().offset, ..Layout::contiguous(&[array.size()]) };
                Ok(Operand::Array(array.clone().with_layout(flat)))
            }
            other => Ok(Operand::Array(NdArray::from_row(dtype, &[other.size()], other.row_as(dtype)?))),
        }
    }

    /// As an array; a number as one of a type.
    pub fn into_array_of(self, dtype: DType) -> Result<NdArray> {
        match self {
            Operand::Array(array) => Ok(array),
            number => Ok(NdArray::from_row(dtype, &[], number.row_as(dtype)?)),
        }
    }

    /// As an array, which is the same object if it is one.
    pub fn into_array(self) -> Result<NdArray> {
        match self {
            Operand::Array(array) => Ok(array),
            other => {
                let dtype = other.dtype();
                let row = other.row_as(dtype)?;
                Ok(NdArray::from_row(dtype, &[], row))
            }
        }
    }
}

fn number_row(number: Number, dtype: DType) -> Vec<u8> {
    let mut row = vec![0; dtype.size()];
    number.wrap(dtype, &mut row);
    row
}

/// A Python int must fit the type that it adopts.
pub fn check_bounds(int: i128, dtype: DType) -> Result<()> {
    match dtype.int_range() {
        Some((least, most)) if !(least..=most).contains(&int) => Err(errors::int_out_of_bounds(int, dtype)),
        _ => Ok(()),
    }
}

/// The value as an operand; `None` if it is neither a number nor an array of numbers.
pub fn from_value(vm: &mut Vm, value: &Value) -> Result<Option<Operand>> {
    if let Some(operand) = from_number(value)? {
        return Ok(Some(operand));
    }
    Ok(match value.base_value() {
        Value::Native(_) | Value::Instance(_) => from_object(vm, value)?,
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => Some(Operand::Array(nested(vm, value, None)?)),
        _ => None,
    })
}

fn from_number(value: &Value) -> Result<Option<Operand>> {
    Ok(Some(match value.base_value() {
        Value::Bool(truth) => Operand::Scalar(Scalar { dtype: DType::Bool, number: Number::Bool(*truth) }),
        Value::Int(int) => Operand::Int((*int).into()),
        Value::Float(float) => Operand::Float(*float),
        Value::BigInt(big) => Operand::Int(big_int(big)?),
        other => match (other.downcast::<NdArray>(), other.downcast::<Scalar>()) {
            (Some(array), _) => Operand::Array(array.plain()),
            (_, Some(scalar)) => Operand::Scalar(*scalar),
            _ => return Ok(None),
        },
    }))
}

fn big_int(big: &BigInt) -> Result<i128> {
    i128::try_from(big).map_err(|_| errors::int_too_large())
}

/// Objects that can be converted to an array: those with a method `__array__`.
fn from_object(vm: &mut Vm, value: &Value) -> Result<Option<Operand>> {
    let class = vm.class_of(value);
    if class.lookup_text("__array__").is_none() || value.downcast::<ComplexArray>().is_some() {
        return Ok(None);
    }
    let array = vm.call_method(value, "__array__", &[])?;
    Ok(array.downcast::<NdArray>().cloned().map(Operand::Array))
}

/// The value as an array; a list is converted to `dtype`.
pub fn to_array(vm: &mut Vm, value: &Value, dtype: Option<DType>) -> Result<NdArray> {
    if let Value::List(_) | Value::Tuple(_) | Value::Range(_) = value.base_value() {
        return nested(vm, value, dtype);
    }
    if let Some(array) = value.downcast::<ComplexArray>() {
        return Err(errors::no_complex_arrays(array.element_type().numpy_name()));
    }
    let operand = match from_value(vm, value)? {
        Some(operand) => operand,
        None if matches!(value, Value::Iter(_) | Value::Generator(_)) || value.as_str().is_some() => {
            return Err(errors::not_a_number(value));
        }
        None => match vm.collect(value) {
            Ok(items) => return nested(vm, &Value::list(items), dtype),
            Err(_) => return Err(errors::not_a_number(value)),
        },
    };
    match dtype {
        Some(dtype) if operand.dtype() != dtype => {
            Ok(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?))
        }
        _ => operand.into_array(),
    }
}

/// Any operand, or an error that describes the value.
pub fn required(vm: &mut Vm, value: &Value) -> Result<Operand> {
    match from_value(vm, value)? {
        Some(operand) => Ok(operand),
        None => to_array(vm, value, None).map(Operand::Array),
    }
}

/// The number of an argument, or the default.
pub fn one_f64(vm: &mut Vm, value: Option<&Value>, default: f64) -> Result<f64> {
    let Some(value) = value else { return Ok(default) };
    match required(vm, value)?.into_array()?.only()? {
        Some(only) => Ok(only.number.as_f64()),
        None => Err(errors::not_one_element()),
    }
}

/// A nested list as an array: of the given type, or of one that holds all its numbers.
pub fn nested(vm: &mut Vm, value: &Value, dtype: Option<DType>) -> Result<NdArray> {
    if let Value::Range(range) = value {
        let ints =
            Value::iter(IterState::Range { next: range.start, remaining: range.len(), step: range.step });
        let items = vm.collect(&ints)?;
        return nested(vm, &Value::list(items), dtype);
    }
    let mut finder = Finder::default();
    finder.visit(vm, value, 0)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => finder.kind.map_or(DType::F64, |kind| finder.dtype_for(kind)),
    };
    let mut row = Vec::with_capacity(check_room(&finder.shape, dtype)?);
    write_items(vm, value, dtype, &mut row)?;
    Ok(NdArray::from_row(dtype, &finder.shape, row))
}

/// Looks a nested list over: its shape, and the type that holds its numbers.
#[derive(Default)]
struct Finder {
    shape: Vec<usize>,
    /// The depth of the numbers, known after the first one.
    leaf_depth: Option<usize>,
    kind: Option<Kind>,
    needs_u64: bool,
}

impl Finder {
    fn visit(&mut self, vm: &mut Vm, value: &Value, depth: usize) -> Result<()> {
        if let Some(items) = sequence_items(value) {
            if depth >= MAX_AXES {
                return Err(errors::too_deep());
            }
            self.enter(depth, items.len())?;
            for item in &items {
                // All but the first number of its kind need no look.
                if !self.is_like_the_last(item, depth + 1) {
                    self.visit(vm, item, depth + 1)?;
                }
            }
            return Ok(());
        }
        let Some(operand) = from_value(vm, value)? else { return Err(errors::not_a_number(value)) };
        for (at, &len) in operand.shape().iter().enumerate() {
            self.enter(depth + at, len)?;
        }
        let leaf = depth + operand.shape().len();
        if self.shape.len() != leaf || self.leaf_depth.is_some_and(|depth| depth != leaf) {
            self.shape.truncate(leaf.min(self.shape.len()));
            return Err(errors::inhomogeneous(&self.shape[..depth.min(self.shape.len())]));
        }
        self.leaf_depth = Some(leaf);
        if let Operand::Int(int) = operand {
            self.needs_u64 |= i64::try_from(int).is_err();
            if self.needs_u64 && u64::try_from(int).is_err() {
                return Err(errors::int_too_large());
            }
        }
        self.kind = Some(match (self.kind, operand.kind()) {
            (None, kind) => kind,
            (Some(Kind::WeakInt), Kind::WeakInt) => Kind::WeakInt,
            // Numbers within one list have equal rank: none of them is weak.
            (Some(left), right) => Kind::Strong(promote_types(left.dtype(), right.dtype())),
        });
        Ok(())
    }

    /// Whether it is a float or a small int at the depth of the numbers, and they are known to be of its kind.
    fn is_like_the_last(&self, item: &Value, depth: usize) -> bool {
        self.leaf_depth == Some(depth)
            && match item {
                Value::Float(_) => matches!(self.kind, Some(Kind::WeakFloat | Kind::Strong(DType::F64))),
                Value::Int(_) => self.kind == Some(Kind::WeakInt) && !self.needs_u64,
                _ => false,
            }
    }

    fn enter(&mut self, depth: usize, len: usize) -> Result<()> {
        if depth == self.shape.len() && self.leaf_depth.is_none() {
            self.shape.push(len);
            return Ok(());
        }
        match self.shape.get(depth) {
            Some(&known) if known == len => Ok(()),
            _ => Err(errors::inhomogeneous(&self.shape[..depth.min(self.shape.len())])),
        }
    }

    fn dtype_for(&self, kind: Kind) -> DType {
        if self.needs_u64 && kind == Kind::WeakInt { DType::U64 } else { promote(kind, kind) }
    }
}

fn sequence_items(value: &Value) -> Option<Vec<Value>> {
    match value.base_value() {
        Value::List(list) => Some(list.to_vec()),
        Value::Tuple(tuple) => Some(tuple.to_vec()),
        _ => None,
    }
}

/// The bytes of all numbers in a nested list, as elements of a type.
fn write_items(vm: &mut Vm, value: &Value, dtype: DType, row: &mut Vec<u8>) -> Result<()> {
    if let Some(items) = sequence_items(value) {
        for item in &items {
            write_items(vm, item, dtype, row)?;
        }
        return Ok(());
    }
    match (value, dtype) {
        (Value::Float(float), DType::F64) => {
            row.extend_from_slice(&float.to_le_bytes());
            return Ok(());
        }
        (Value::Int(int), DType::I64) => {
            row.extend_from_slice(&int.to_le_bytes());
            return Ok(());
        }
        _ => {}
    }
    match from_value(vm, value)? {
        Some(Operand::Array(array)) => row.extend_from_slice(&array.row_as(dtype)?),
        Some(operand) => {
            let number = operand.number().expect("what is no array is a number");
            if let Operand::Int(int) = operand {
                check_bounds(int, dtype)?;
            }
            let mut element = [0; 8];
            number.wrap(dtype, &mut element);
            row.extend_from_slice(&element[..dtype.size()]);
        }
        None => return Err(errors::not_a_number(value)),
    }
    Ok(())
}

//! Script values as numbers and as the elements of tensors.

use std::rc::Rc;

use kps_array::{Constant, ElementType};
use kps_compute::{DType, Number, SpecValues, Tensor, Written};
use kps_kernel::{StructType, Type};

use super::tensor::ScriptTensor;
use super::{enums, errors};
use crate::builtins::complex::Complex;
use crate::errors::overflow_error;
use crate::modules::logging;
use crate::modules::numpy::{ComplexArray, NdArray, RecordArray, Scalar};
use crate::value::{Result, Value};
use crate::vm::Vm;

/// Elements for a tensor, with the type and shape of their source.
pub struct Elements {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: Rc<Vec<u8>>,
    /// Which of the bytes are defined, if the source was created without data.
    pub written: Written,
}

impl Elements {
    pub fn cast(self, dtype: DType) -> Elements {
        if self.dtype == dtype {
            return self;
        }
        let bytes = kps_compute::number::convert(&self.bytes, self.dtype, dtype);
        let written = self.written.resized(self.dtype.size(), dtype.size());
        Elements { dtype, bytes: Rc::new(bytes), written, ..self }
    }
}

/// A number, if the value is one.
pub fn number(value: &Value) -> Result<Option<Number>> {
    Ok(Some(match value.base_value() {
        Value::Bool(truth) => Number::Bool(*truth),
        Value::Int(int) => Number::Int((*int).into()),
        Value::Float(float) => Number::Float(*float),
        Value::BigInt(big) => {
            let int = i128::try_from(&**big).map_err(|_| overflow_error("int too large for any tensor"))?;
            Number::Int(int)
        }
        other => match other.downcast::<Scalar>() {
            Some(scalar) => scalar.number,
            None => return Ok(None),
        },
    }))
}

/// A number, which may be complex, if the value is one.
pub fn constant(value: &Value) -> Result<Option<Constant>> {
    match value.base_value().downcast::<Complex>() {
        Some(Complex { re, im }) => Ok(Some(Constant::Complex { re: *re, im: *im })),
        None => Ok(number(value)?.map(Constant::Real)),
    }
}

/// The complex numbers with these parts, in pairs, as script values.
pub fn complex_values(parts: &[Number]) -> Vec<Value> {
    let pairs = parts.chunks_exact(2);
    pairs.map(|pair| Complex { re: pair[0].as_f64(), im: pair[1].as_f64() }.value()).collect()
}

/// A number as a script value.
pub fn value(number: Number) -> Value {
    match number {
        Number::Bool(truth) => Value::Bool(truth),
        Number::Int(int) => match i64::try_from(int) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::big(int.into()),
        },
        Number::Float(float) => Value::Float(float),
    }
}

/// The tensor that a value is, or the part of one that it shows: an array over the memory of a tensor, whose
/// elements are in one piece.
pub fn tensor(value: &Value) -> Result<Option<Tensor>> {
    match value.downcast::<ScriptTensor>() {
        Some(tensor) if tensor.why_unbound()?.is_some() => Ok(None),
        Some(tensor) => tensor.tensor().map(Some),
        None => Ok(part(value)),
    }
}

/// The part of a tensor that an array shows, if its elements are in one piece.
fn part(value: &Value) -> Option<Tensor> {
    if let Some(array) = value.downcast::<NdArray>() {
        let tensor = viewed(value)?;
        let (start, shape) = (array.layout().offset, array.shape());
        // All of a tensor's data have its axes.
        if array.is_in_form_of_list() && shape == [tensor.size()] && start == tensor.byte_range().start {
            return array.layout().is_contiguous().then_some(tensor);
        }
        let is_part = array.layout().is_contiguous() && array.dtype() == tensor.dtype();
        return (is_part && !tensor.is_record()).then(|| tensor.view(start, shape).ok()).flatten();
    }
    let array = value.downcast::<RecordArray>()?;
    let (tensor, start) = (viewed(value)?, array.start_in_one_piece()?);
    let is_same = tensor.is_record() && tensor.element_size() == array.of().size() as usize;
    is_same.then(|| tensor.view(start, array.shape()).ok()).flatten()
}

/// The value, or the tensor that it stands for: what the method `__tensor__` of an object of a script returns.
pub fn resolved(vm: &mut Vm, value: &Value) -> Result {
    if !matches!(value, Value::Instance(_)) || vm.class_of(value).lookup_text("__tensor__").is_none() {
        return Ok(value.clone());
    }
    let given = vm.call_method(value, "__tensor__", &[])?;
    match tensor(&given)? {
        Some(_) => Ok(given),
        None => Err(errors::not_the_tensor_of(value, &given)),
    }
}

/// The tensor whose memory an array shows. If the tensor has other memory now, it is one over the old memory,
/// whose use is an error.
fn viewed(array: &Value) -> Option<Tensor> {
    let (storage, mut base) = match (array.downcast::<NdArray>(), array.downcast::<RecordArray>()) {
        (Some(array), _) => (array.storage(), array.base()),
        (_, Some(array)) => (array.storage(), array.base()),
        _ => return None,
    };
    while let Some(owner) = base {
        if let Some(tensor) = owner.downcast::<ScriptTensor>() {
            let tensor = tensor.tensor().ok()?;
            let is_present = Rc::ptr_eq(tensor.storage(), storage);
            return Some(if is_present { tensor } else { tensor.whole_of(storage.clone()) });
        }
        base = match (owner.downcast::<NdArray>(), owner.downcast::<RecordArray>()) {
            (Some(array), _) => array.base(),
            (_, Some(array)) => array.base(),
            _ => return None,
        };
    }
    None
}

/// Whether a value has numbers of one type: an array or a tensor.
pub fn is_array(value: &Value) -> bool {
    value.downcast::<NdArray>().is_some() || value.downcast::<ScriptTensor>().is_some()
}

/// Why a device cannot be given a part of a tensor; `None` for other values.
pub fn unbound_part(value: &Value) -> Option<&'static str> {
    if let Some(tensor) = value.downcast::<ScriptTensor>() {
        return tensor.why_unbound().ok()?;
    }
    let (size, is_scattered) = match (value.downcast::<NdArray>(), value.downcast::<RecordArray>()) {
        (Some(array), _) => (array.size(), !array.layout().is_contiguous()),
        (_, Some(array)) => (array.size(), array.start_in_one_piece().is_none()),
        _ => return None,
    };
    viewed(value)?;
    why_unbound(size, is_scattered)
}

/// Why a device cannot be given elements.
pub fn why_unbound(size: usize, is_scattered: bool) -> Option<&'static str> {
    match size {
        0 => Some("an empty slice of a tensor"),
        _ => is_scattered.then_some("elements of a tensor that lie apart"),
    }
}

/// The struct that a tensor's elements are.
pub fn record(value: &Value) -> Option<Rc<StructType>> {
    value.downcast::<ScriptTensor>()?.record().cloned()
}

/// The kernel type of one element of a tensor, if that is a struct or a vector.
pub fn element(value: &Value) -> Option<Type> {
    value.downcast::<ScriptTensor>()?.element()
}

/// The tensors of a list, or a single tensor. `operation` is the caller, for errors.
pub fn tensors(vm: &mut Vm, value: &Value, operation: &str) -> Result<Vec<Tensor>> {
    let items = operands(vm, value, operation)?;
    items.iter().map(|item| tensor(item)?.ok_or_else(|| errors::not_a_tensor(operation, item))).collect()
}

/// The items of a list, or one tensor.
pub fn operands(vm: &mut Vm, value: &Value, operation: &str) -> Result<Vec<Value>> {
    let value = resolved(vm, value)?;
    if tensor(&value)?.is_some() {
        return Ok(vec![value]);
    }
    match value.base_value() {
        Value::List(_) | Value::Tuple(_) | Value::Iter(_) | Value::Generator(_) => {
            vm.collect(&value)?.iter().map(|item| resolved(vm, item)).collect()
        }
        _ => Err(errors::not_a_tensor(operation, &value)),
    }
}

/// The elements of any source of numbers. Those without a type become `untyped`.
pub fn elements(vm: &mut Vm, source: &Value, untyped: DType) -> Result<Elements> {
    let source = &resolved(vm, source)?;
    if let Some(array) = source.downcast::<NdArray>() {
        let bytes = array.shared_row()?;
        let (shape, written) = (array.shape().to_vec(), array.written()?);
        return Ok(Elements { dtype: array.dtype(), shape, bytes, written });
    }
    let in_one_piece = source.downcast::<ScriptTensor>().map(ScriptTensor::in_one_piece).transpose()?;
    if let Some(tensor) = in_one_piece.or_else(|| part(source)) {
        let bytes = tensor.shared_bytes().map_err(errors::compute)?;
        let written = tensor.written();
        return Ok(Elements { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), bytes, written });
    }
    if let Value::Bytes(bytes) = source {
        let (shape, bytes) = (vec![bytes.len()], Rc::new(bytes.to_vec()));
        return Ok(Elements { dtype: DType::U8, shape, bytes, written: Written::All });
    }
    let mut flat = Flat::new(untyped.into());
    if let Some(one) = number(source)? {
        flat.push(one.into())?;
        return Ok(Elements {
            dtype: untyped,
            shape: vec![1],
            bytes: flat.bytes.into(),
            written: Written::All,
        });
    }
    flat.rows(vm, source, 0)?;
    Ok(Elements { dtype: untyped, shape: flat.shape, bytes: flat.bytes.into(), written: Written::All })
}

/// Numbers, or rows of them, as complex ones; an array of them keeps its type. The parts of each are along a further axis.
pub fn complex_elements(vm: &mut Vm, source: &Value, ty: ElementType) -> Result<Elements> {
    if let Some(array) = source.downcast::<ComplexArray>() {
        let mut shape = array.shape().to_vec();
        shape.push(2);
        let (dtype, bytes) = (array.element_type().part(), array.bytes()?.into());
        return Ok(Elements { dtype, shape, bytes, written: Written::All });
    }
    let mut flat = Flat::new(ty);
    match constant(source)? {
        Some(one) => flat.push(one)?,
        None => flat.rows(vm, source, 0)?,
    }
    flat.shape.push(2);
    Ok(Elements { dtype: ty.part(), shape: flat.shape, bytes: flat.bytes.into(), written: Written::All })
}

/// Whether one of the numbers is complex.
pub fn has_complex(vm: &mut Vm, source: &Value) -> Result<bool> {
    vm.check_stack()?;
    match source.base_value() {
        Value::List(list) => is_one_complex(vm, &list.borrow()),
        Value::Tuple(items) => is_one_complex(vm, items),
        value => Ok(value.downcast::<Complex>().is_some()
            || value.downcast::<ComplexArray>().is_some()
            || value.downcast::<ScriptTensor>().is_some_and(|tensor| tensor.element_type().is_complex())),
    }
}

fn is_one_complex(vm: &mut Vm, items: &[Value]) -> Result<bool> {
    for item in items {
        let is_real = matches!(item, Value::Float(_) | Value::Int(_) | Value::Bool(_));
        if !is_real && has_complex(vm, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Warns on the logger `kp` if ints of the script are rounded, because a tensor of floats cannot hold them.
pub fn warn_of_rounding(vm: &mut Vm, source: &Value, dtype: DType) -> Result<()> {
    // Floats are rounded everywhere, and arrays are typed.
    if !dtype.is_float() || dtype == DType::F64 || source.downcast::<NdArray>().is_some() {
        return Ok(());
    }
    let Some(int) = first_rounded(vm, source, dtype)? else { return Ok(()) };
    let fitting = match i32::try_from(int) {
        _ if has_floats(vm, source)? => "float64",
        Ok(_) => "int32",
        Err(_) => "int64",
    };
    logging::warn_kp(
        vm,
        &format!("{int} is rounded in a tensor of {dtype}: Tensor(values, dtype=\"{fitting}\") keeps it"),
    )
}

/// The first int that elements of a type cannot hold.
fn first_rounded(vm: &mut Vm, source: &Value, dtype: DType) -> Result<Option<i128>> {
    let mut element = [0; 8];
    match source.base_value() {
        Value::Int(_) | Value::BigInt(_) => {
            let Some(Number::Int(int)) = number(source)? else { return Ok(None) };
            Number::Int(int).wrap(dtype, &mut element);
            Ok((Number::load(dtype, &element).as_f64() as i128 != int).then_some(int))
        }
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => {
            vm.check_stack()?;
            for item in vm.collect(source)? {
                if let Some(int) = first_rounded(vm, &item, dtype)? {
                    return Ok(Some(int));
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// The type of numbers that have none, or of their parts: `f32` if one of them is a float or complex, else `i32`, or
/// `bool` if all are bools.
pub fn untyped(vm: &mut Vm, source: &Value) -> Result<DType> {
    vm.check_stack()?;
    match constant(source)? {
        Some(Constant::Real(Number::Bool(_))) => return Ok(DType::Bool),
        Some(Constant::Real(Number::Int(_))) => return Ok(DType::I32),
        Some(Constant::Real(Number::Float(_)) | Constant::Complex { .. }) => return Ok(DType::F32),
        None if !is_nested(source) || is_array(source) => return Ok(DType::F32),
        None => {}
    }
    let mut common = None;
    for item in vm.collect(source)? {
        common = match (common, untyped(vm, &item)?) {
            (_, DType::F32) => return Ok(DType::F32),
            (Some(DType::I32), _) | (_, DType::I32) => Some(DType::I32),
            _ => Some(DType::Bool),
        };
    }
    Ok(common.unwrap_or(DType::F32))
}

/// Whether any of the numbers that [`elements`] reads is a float.
pub fn has_floats(vm: &mut Vm, source: &Value) -> Result<bool> {
    vm.check_stack()?;
    let dtype = source.downcast::<NdArray>().map(NdArray::dtype);
    let dtype = dtype.or_else(|| source.downcast::<ScriptTensor>().map(ScriptTensor::dtype));
    if let Some(dtype) = dtype {
        return Ok(dtype.is_float());
    }
    match number(source)? {
        Some(number) => return Ok(matches!(number, Number::Float(_))),
        None if !is_nested(source) => return Ok(false),
        None => {}
    }
    for item in vm.collect(source)? {
        if has_floats(vm, &item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rows within rows being laid out one after the other.
struct Flat {
    ty: ElementType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Flat {
    fn new(ty: ElementType) -> Flat {
        Flat { ty, shape: Vec::new(), bytes: Vec::new() }
    }

    /// A number, if an element of this type can be made of the value.
    fn one(&self, value: &Value) -> Result<Option<Constant>> {
        if self.ty.is_complex() { constant(value) } else { Ok(number(value)?.map(Constant::Real)) }
    }

    fn push(&mut self, number: Constant) -> Result<()> {
        let parts = match (number, self.ty.n_parts()) {
            (Constant::Real(number), 1) => [number, number],
            (Constant::Real(number), _) => [number, Number::Int(0)],
            (Constant::Complex { re, im }, _) => [re, im].map(Number::Float),
        };
        let dtype = self.ty.part();
        for part in &parts[..self.ty.n_parts()] {
            let mut element = [0; 8];
            part.store(dtype, &mut element).map_err(|_| {
                overflow_error(format!("{number} does not fit into the tensor's type {}", self.ty))
            })?;
            self.bytes.extend_from_slice(&element[..dtype.size()]);
        }
        Ok(())
    }

    fn rows(&mut self, vm: &mut Vm, source: &Value, axis: usize) -> Result<()> {
        vm.check_stack()?;
        if matches!(source.base_value(), Value::Str(_) | Value::Dict(_)) {
            return Err(errors::not_numbers("a tensor", source));
        }
        let items = vm.collect(source)?;
        // The first row of each depth determines the length of all others.
        match self.shape.get(axis) {
            Some(len) if *len != items.len() => return Err(errors::ragged()),
            Some(_) => {}
            None if self.bytes.is_empty() => self.shape.push(items.len()),
            None => return Err(errors::ragged()),
        }
        let is_last = axis + 1 == self.shape.len();
        for item in &items {
            match self.one(item)? {
                Some(one) if is_last => self.push(one)?,
                Some(_) => return Err(errors::ragged()),
                None if is_nested(item) => self.rows(vm, item, axis + 1)?,
                None => return Err(errors::not_numbers("a tensor", item)),
            }
        }
        Ok(())
    }
}

fn is_nested(value: &Value) -> bool {
    matches!(value.base_value(), Value::List(_) | Value::Tuple(_) | Value::Range(_) | Value::Native(_))
}

/// Values of specialisation constants: a list, or some by their ids in a dict.
pub fn spec_constants(vm: &mut Vm, source: &Value) -> Result<SpecValues> {
    let Value::Dict(dict) = source.base_value() else {
        return Ok(SpecValues::list(numbers(vm, source, "spec_consts")?));
    };
    let mut values = Vec::new();
    for (key, given) in dict.to_pairs() {
        let id =
            count(vm, &key)?.and_then(|id| u32::try_from(id).ok()).ok_or_else(|| errors::spec_id(&key))?;
        let number = number(&given)?.ok_or_else(|| errors::not_numbers("spec_consts", &given))?;
        values.push((id, number));
    }
    Ok(SpecValues::by_id(values))
}

/// The numbers of a list or of anything that holds numbers: constants of a kernel.
pub fn numbers(vm: &mut Vm, source: &Value, what: &str) -> Result<Vec<Number>> {
    if let Some(one) = number(source)? {
        return Ok(vec![one]);
    }
    if let Some(tensor) = tensor(source)? {
        return tensor.numbers().map_err(errors::compute);
    }
    if let Some(array) = source.downcast::<NdArray>() {
        let (dtype, row) = (array.dtype(), array.to_contiguous_bytes()?);
        return Ok(row.chunks_exact(dtype.size()).map(|element| Number::load(dtype, element)).collect());
    }
    let items = vm.collect(source)?;
    items.iter().map(|item| number(item)?.ok_or_else(|| errors::not_numbers(what, item))).collect()
}

/// The type of real numbers that a script names: `"float32"`, `f32`, `np.float32`, `float`.
pub fn dtype(vm: &mut Vm, given: &Value) -> Result<DType> {
    let ty = element_type(vm, given)?;
    ty.real().ok_or_else(|| errors::complex_dtype(ty))
}

/// The element type that a script names, which may be one of complex numbers: `"complex64"`, `complex`.
pub fn element_type(vm: &mut Vm, given: &Value) -> Result<ElementType> {
    if let Some(dtype) = enums::data_type(given) {
        return Ok(dtype.into());
    }
    let name = match given {
        Value::Str(text) => text.to_string(),
        Value::Class(class) => match &*class.name {
            "float" => return Ok(DType::F32.into()),
            "int" => return Ok(DType::I32.into()),
            "complex" => return Ok(ElementType::Complex64),
            name => name.to_owned(),
        },
        other => match vm.find_attr(other, "name")? {
            Some(Value::Str(text)) => text.to_string(),
            _ => vm.str(other)?,
        },
    };
    ElementType::parse(&name).ok_or_else(|| errors::unknown_dtype(given, &name))
}

/// An int that can be a count; `None` for others. A bool is an int elsewhere, but not a count.
pub fn count(vm: &mut Vm, given: &Value) -> Result<Option<i64>> {
    match given {
        Value::Bool(_) => Ok(None),
        // An array of several numbers is an error of NumPy's.
        Value::Native(_) => Ok(vm.try_index(given).unwrap_or(None)),
        given => vm.try_index(given),
    }
}

/// A single count, or the items of a collection of them, including an array; `None` for others.
pub fn axes(vm: &mut Vm, given: &Value) -> Result<Option<Vec<Value>>> {
    match count(vm, given)? {
        Some(_) => Ok(Some(vec![given.clone()])),
        None => Ok(vm.collect(given).ok()),
    }
}

/// Up to three counts of workgroups; missing ones are 0, which is for the launch to fill in.
pub fn groups(vm: &mut Vm, argument: &str, given: &Value) -> Result<[u32; 3]> {
    let counts = group_counts(vm, argument, given)?;
    Ok(std::array::from_fn(|axis| counts.get(axis).copied().unwrap_or(0)))
}

/// The given counts, at most three.
pub fn group_counts(vm: &mut Vm, argument: &str, given: &Value) -> Result<Vec<u32>> {
    let items = axes(vm, given)?.ok_or_else(|| errors::no_groups(argument, given))?;
    if items.len() > 3 {
        return Err(errors::too_many_axes_of_groups(argument, items.len()));
    }
    let mut counts = Vec::with_capacity(items.len());
    for item in &items {
        let n = count(vm, item)?.ok_or_else(|| errors::no_groups(argument, item))?;
        counts.push(u32::try_from(n).map_err(|_| errors::group_count(argument, n))?);
    }
    Ok(counts)
}

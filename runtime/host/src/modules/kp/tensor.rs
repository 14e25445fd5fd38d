//! `kp.Tensor`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kps_array::{Array, ElementType, Op, ReducedAxes, Reducer};
use kps_compute::{DType, Number, Tensor};
use kps_device::Sampler;
use kps_kernel::{StructType, Type};
use kps_syntax::ast::UnaryOp;

use super::arrays;
use super::enums::{self, EnumValue};
use super::errors::{self, compute};
use super::image::{self, IMAGE};
use super::records;
use super::values::{self, Elements};
use crate::builtins::complex::Complex;
use crate::errors::{index_error, type_error};
use crate::modules::kernels::{structs, type_of};
use crate::modules::numpy::{ComplexArray, Scalar, nested, struct_of_dtype, tensor_data};
use crate::ops::Side;
use crate::text::float;
use crate::value::{Args, BinaryOp, CompareOp, Native, NativeDef, NativeType, Result, Slice, Value, joined};
use crate::vm::Vm;

pub static TENSOR: NativeType = NativeType {
    new: Some(new),
    methods: &joined::<{ METHODS.len() + arrays::METHODS.len() }>(METHODS, arrays::METHODS),
    ..NativeType::new("Tensor", "kp").doc(
        "(data, memory_type=device, *, dtype=None)",
        "Numbers in the memory of a device: of `dtype`, of the type of an array, or `float32` for a list.",
    )
};

/// Memory and its elements.
const METHODS: &[NativeDef] = &[
    NativeDef::static_method("zeros", zeros).doc("(shape, dtype=f32)", "Makes a tensor of zeros."),
    NativeDef::method("data", data)
        .doc("()", "Returns a flat view of the elements, which prints and compares as a list."),
    NativeDef::method("numpy", numpy)
        .doc("()", "Returns an ndarray with the tensor's shape over the same memory."),
    NativeDef::method("__array__", numpy),
    NativeDef::method("tolist", tolist).doc("()", "Returns the elements as nested lists."),
    NativeDef::method("set_data", set_data)
        .doc("(data)", "Replaces all elements, converted to the tensor's type."),
    NativeDef::method("size", size).doc("()", "Returns the number of elements."),
    NativeDef::method("tensor_type", tensor_type)
        .doc("()", "Returns the kind of memory, a member of `MemoryTypes`."),
    NativeDef::method("memory_type", tensor_type)
        .doc("()", "Returns the kind of memory, a member of `MemoryTypes`."),
    NativeDef::method("data_type", data_type).doc("()", "Returns the element type, a member of `DataTypes`."),
    NativeDef::method("is_init", is_init).doc("()", "Returns whether the tensor has memory."),
    NativeDef::method("destroy", destroy).doc("()", "Frees the memory."),
    NativeDef::method("map_data_from_host", sync)
        .doc("()", "Does nothing: reading and writing elements copies by itself."),
    NativeDef::method("map_data_into_host", sync)
        .doc("()", "Does nothing: reading and writing elements copies by itself."),
    NativeDef::method("reshape", reshape)
        .doc("(*shape)", "Returns a tensor of another shape over the same memory."),
    NativeDef::method("resize", resize).doc(
        "(n)",
        "Changes the number of elements, or of rows: the first ones stay, and new ones are zeros.",
    ),
    NativeDef::method("__reversed__", reversed),
    NativeDef::getter("shape", shape).doc("", "The number of elements along each axis, as a tuple."),
    NativeDef::getter("ndim", ndim).doc("", "The number of axes."),
    NativeDef::getter("dtype", dtype).doc("", "The element type: a NumPy dtype, or a struct type."),
    NativeDef::getter("nbytes", nbytes).doc("", "The size of the elements in bytes."),
];

/// A tensor as scripts hold it.
pub struct ScriptTensor {
    content: RefCell<Content>,
    /// Whether it has the type of an array that it was made of, not one that the script named. The first
    /// generations of Kompute have tensors of `f32` alone.
    is_adaptable: Cell<bool>,
    /// The type of each element, if that is a struct.
    record: Option<Rc<StructType>>,
    /// The kernel type of one element, if that is a vector: its numbers are along the tensor's last axis.
    vector: Option<Type>,
    /// How shaders sample it, if it is an image.
    sampler: Cell<Option<Sampler>>,
}

/// What a tensor of a script stands for.
enum Content {
    /// Memory in one piece. `resize` replaces it.
    Tensor(Tensor),
    /// The result of an operation, or a view.
    Array(Array),
}

impl ScriptTensor {
    fn new(tensor: Tensor, record: Option<Rc<StructType>>, vector: Option<Type>) -> ScriptTensor {
        let (content, is_adaptable) = (RefCell::new(Content::Tensor(tensor)), Cell::new(false));
        ScriptTensor { content, is_adaptable, record, vector, sampler: Cell::new(None) }
    }

    /// The result of an operation on arrays.
    pub fn of_array(array: Array) -> ScriptTensor {
        let (content, is_adaptable) = (RefCell::new(Content::Array(array)), Cell::new(false));
        ScriptTensor { content, is_adaptable, record: None, vector: None, sampler: Cell::new(None) }
    }

    pub fn sampler(&self) -> Option<Sampler> {
        self.sampler.get()
    }

    pub fn sample_by(&self, sampler: Sampler) {
        self.sampler.set(Some(sampler));
    }

    pub fn value(tensor: Tensor) -> Value {
        Value::native(ScriptTensor::new(tensor, None, None))
    }

    /// A tensor of numbers that kernels see as vectors.
    pub fn of_vectors(tensor: Tensor, of: Type) -> Value {
        Value::native(ScriptTensor::new(tensor, None, Some(of)))
    }

    /// A tensor whose elements are structs.
    pub fn of_records(tensor: Tensor, of: Rc<StructType>) -> Value {
        Value::native(ScriptTensor::new(tensor, Some(of), None))
    }

    pub fn record(&self) -> Option<&Rc<StructType>> {
        self.record.as_ref()
    }

    /// The kernel type of one element, if that is more than a number.
    pub fn element(&self) -> Option<Type> {
        let ty = self.element_type();
        if ty.is_complex() {
            return Some(Type::Vector(2, ty.part()));
        }
        self.record.as_ref().map(|of| structs::now(&Type::Struct(of.clone()))).or_else(|| self.vector.clone())
    }

    /// The memory of the elements, which are computed if they were not. An error if they are not in one piece. The parts
    /// of complex numbers are along a further axis.
    pub fn tensor(&self) -> Result<Tensor> {
        let array = match &*self.content.borrow() {
            Content::Tensor(tensor) => return Ok(tensor.clone()),
            Content::Array(array) => array.clone(),
        };
        let tensor = array.tensor().map_err(arrays::raised)?;
        // The memory alone does not have the type of complex numbers.
        if !array.dtype().is_complex() {
            self.replace(tensor.clone());
        }
        Ok(tensor)
    }

    /// The elements in one piece: the memory itself, or a copy.
    pub fn in_one_piece(&self) -> Result<Tensor> {
        match self.array() {
            Some(array) => array.in_one_piece().and_then(|array| array.tensor()).map_err(arrays::raised),
            None => self.tensor(),
        }
    }

    /// Why a device cannot be given the elements as they are; `None` if it can.
    pub fn why_unbound(&self) -> Result<Option<&'static str>> {
        let Some(array) = self.array() else { return Ok(None) };
        let view = array.view().map_err(arrays::raised)?;
        Ok(values::why_unbound(array.size(), view.is_some_and(|view| !view.layout.is_contiguous())))
    }

    /// The memory if it is there, whatever became of it.
    fn memory(&self) -> Option<Tensor> {
        match &*self.content.borrow() {
            Content::Tensor(tensor) => Some(tensor.clone()),
            Content::Array(_) => None,
        }
    }

    /// The array, if the tensor is the result of an operation or a view.
    pub fn array(&self) -> Option<Array> {
        match &*self.content.borrow() {
            Content::Tensor(_) => None,
            Content::Array(array) => Some(array.clone()),
        }
    }

    /// Whether its elements are numbers to kernels, too: no structs, vectors or texels.
    pub fn is_of_numbers(&self) -> bool {
        let is_image = self.memory().is_some_and(|tensor| tensor.as_image().is_some());
        self.record.is_none() && self.vector.is_none() && !is_image
    }

    /// The type of the numbers in memory.
    pub fn dtype(&self) -> DType {
        self.element_type().part()
    }

    pub fn element_type(&self) -> ElementType {
        match &*self.content.borrow() {
            Content::Tensor(tensor) => tensor.dtype().into(),
            Content::Array(array) => array.dtype(),
        }
    }

    /// The array of complex numbers that the tensor is.
    fn complex(&self) -> Option<Array> {
        self.array().filter(|array| array.dtype().is_complex())
    }

    pub fn shape(&self) -> Vec<usize> {
        match &*self.content.borrow() {
            Content::Tensor(tensor) => tensor.shape().to_vec(),
            Content::Array(array) => array.shape().to_vec(),
        }
    }

    fn size(&self) -> usize {
        self.shape().iter().product()
    }

    pub fn replace(&self, tensor: Tensor) {
        let before = self.content.replace(Content::Tensor(tensor));
        drop(before);
    }

    /// The elements as `f32`, if the script did not ask for another type.
    pub fn as_floats(&self) -> Result<Option<Tensor>> {
        if !self.is_adaptable.get() {
            return Ok(None);
        }
        let tensor = self.tensor()?;
        if tensor.dtype() == DType::F32 {
            return Ok(None);
        }
        let bytes = tensor.shared_bytes().map_err(compute)?;
        let elements = Elements {
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            bytes,
            written: tensor.written(),
        };
        make(elements.cast(DType::F32), tensor.memory_type()).map(Some)
    }

    /// The array with the tensor's axes over the same memory.
    fn as_numpy(&self, this: &Value) -> Result {
        if let Some(array) = self.array() {
            return match array.view().map_err(arrays::raised)? {
                Some(view) if view.dtype.is_complex() => Ok(super::complex_array_over_view(this, &view)),
                Some(view) => Ok(super::array_over_view(this, &view)),
                None => Ok(super::array_of_nothing(array.dtype(), array.shape())),
            };
        }
        let tensor = self.tensor()?;
        tensor.check_readable().map_err(compute)?;
        Ok(match &self.record {
            Some(of) => records::array(this, &tensor, of, tensor.shape()),
            None => super::array_over(this, &tensor),
        })
    }

    /// All elements along one axis: `data()`.
    fn flat(&self, this: &Value) -> Result {
        let tensor = self.tensor()?;
        Ok(match &self.record {
            Some(of) => records::array(this, &tensor, of, &[tensor.size()]),
            None => Value::native(tensor_data(this.clone(), &tensor)),
        })
    }

    /// The flat index of one element, for tensors that are no arrays of numbers.
    fn position(&self, vm: &mut Vm, index: &Value) -> Result<usize> {
        let shape = self.shape();
        let Value::Tuple(indices) = index else {
            let at = vm.position(index, self.size(), "tensor")?;
            return if shape.len() < 2 { Ok(at) } else { Err(errors::one_index(shape.len())) };
        };
        if indices.len() != shape.len() {
            let message = format!("a tensor with {} axes takes {} indices", shape.len(), shape.len());
            return Err(index_error(format!("{message}, {} were given", indices.len())));
        }
        let mut flat = 0;
        for (index, len) in indices.iter().zip(shape) {
            flat = flat * len + vm.position(index, len, "tensor")?;
        }
        Ok(flat)
    }
}

/// A tensor of these elements in this kind of memory.
pub fn make(elements: Elements, memory: kps_compute::MemoryType) -> Result<Tensor> {
    let builder = kps_compute::tensor::Builder::new(elements.dtype, &elements.shape).memory(memory);
    let tensor = builder.bytes(elements.bytes).map_err(compute)?;
    tensor.storage().forget_but(elements.written);
    Ok(tensor)
}

/// `Tensor(data, tensor_type=device, dtype=None)`: lists become f32, typed data keeps its type.
fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("Tensor");
    let data = parser.required("data")?;
    let tensor_type = parser.optional("tensor_type")?;
    let memory_type = parser.keyword_only("memory_type").or(parser.keyword_only("tensorType"));
    let dtype = parser.keyword_only("dtype");
    parser.finish()?;
    let memory = enums::memory_type(tensor_type.or(memory_type))?;
    if let Some(of) = record_type(dtype, data) {
        return records::make(vm, &of, data, memory);
    }
    if let Some(of) = vector_type(dtype) {
        return Ok(ScriptTensor::of_vectors(make(vectors(vm, data, &of)?, memory)?, of));
    }
    if let Some(ty) = complex_type(vm, dtype, data)? {
        let array = arrays::array(vm, data, ty)?.converted(ty).and_then(|array| array.copy());
        return arrays::result(array);
    }
    let elements = match dtype {
        Some(given) if !given.is_none() => {
            let dtype = values::dtype(vm, given)?;
            values::elements(vm, data, dtype)?.cast(dtype)
        }
        _ => values::elements(vm, data, DType::F32)?,
    };
    values::warn_of_rounding(vm, data, elements.dtype)?;
    let tensor = ScriptTensor::new(make(elements, memory)?, None, None);
    tensor.is_adaptable.set(dtype.is_none_or(Value::is_none));
    Ok(Value::native(tensor))
}

/// The struct type of a tensor's elements, by its dtype or its data.
pub fn record_type(dtype: Option<&Value>, data: &Value) -> Option<Rc<StructType>> {
    match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => struct_of_dtype(dtype),
        None => records::type_of_data(data),
    }
}

/// The type of complex numbers that a tensor has, by its dtype or its data.
fn complex_type(vm: &mut Vm, dtype: Option<&Value>, data: &Value) -> Result<Option<ElementType>> {
    let ty = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => values::element_type(vm, dtype)?,
        None => match (data.downcast::<ScriptTensor>(), data.downcast::<ComplexArray>()) {
            (Some(tensor), _) => tensor.element_type(),
            (_, Some(array)) => array.element_type(),
            _ if values::has_complex(vm, data)? => ElementType::Complex64,
            _ => return Ok(None),
        },
    };
    Ok(Some(ty).filter(|ty| ty.is_complex()))
}

/// The vector type of a tensor's elements, by a dtype.
pub fn vector_type(dtype: Option<&Value>) -> Option<Type> {
    dtype.and_then(type_of).filter(Type::is_vector)
}

/// The numbers of some data whose last axis has those of one vector.
pub fn vectors(vm: &mut Vm, data: &Value, of: &Type) -> Result<Elements> {
    let dtype = of.scalar().expect("vectors are of numbers");
    let elements = values::elements(vm, data, dtype)?.cast(dtype);
    match elements.shape.last() == Some(&usize::from(of.n_components())) {
        true => Ok(elements),
        false => Err(errors::not_vectors(of, &elements.shape)),
    }
}

/// `Tensor.zeros(shape, dtype=f32)`.
fn zeros(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("zeros");
    let shape = parser.required("shape")?;
    let dtype = parser.optional("dtype")?;
    parser.finish()?;
    let axes = if shape.as_int().is_some() { vec![shape.clone()] } else { vm.collect(shape)? };
    let mut shape = Vec::with_capacity(axes.len());
    for axis in &axes {
        let n = vm.index(axis)?;
        shape.push(usize::try_from(n).map_err(|_| type_error(format!("{n} is no length of an axis")))?);
    }
    let memory = kps_compute::MemoryType::Device;
    if let Some(of) = dtype.and_then(struct_of_dtype) {
        return records::zeros(&of, &shape, memory);
    }
    if let Some(of) = vector_type(dtype) {
        shape.push(usize::from(of.n_components()));
        let dtype = of.scalar().expect("vectors are of numbers");
        let tensor = kps_compute::tensor::Builder::new(dtype, &shape).memory(memory).zeros();
        return Ok(ScriptTensor::of_vectors(tensor.map_err(compute)?, of));
    }
    let ty = dtype.map_or(Ok(DType::F32.into()), |dtype| values::element_type(vm, dtype))?;
    if ty.is_complex() {
        let zeros = Array::filled(&arrays::engine_for(vm, None)?, ty, &shape, Number::Int(0));
        return arrays::result(zeros.and_then(|zeros| zeros.evaluate().map(|()| zeros)));
    }
    let tensor = kps_compute::tensor::Builder::new(ty.part(), &shape).memory(memory).zeros();
    Ok(ScriptTensor::value(tensor.map_err(compute)?))
}

fn data(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    // Storage that the host cannot read reports that here, not at the first access.
    this.tensor()?.check_readable().map_err(compute)?;
    this.flat(args.receiver()?)
}

fn numpy(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    this.as_numpy(args.receiver()?)
}

fn tolist(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    if let Some(array) = this.complex() {
        let shape = array.shape().to_vec();
        return Ok(nested(arrays::complex_values(&array)?, &shape));
    }
    if this.array().is_some() {
        let array = this.as_numpy(args.receiver()?)?;
        return vm.call_method(&array, "tolist", &[]);
    }
    let tensor = this.tensor()?;
    if let Some(of) = &this.record {
        return Ok(nested(records::list(vm, &tensor, of)?, tensor.shape()));
    }
    let numbers = tensor.numbers().map_err(compute)?;
    Ok(nested(numbers.into_iter().map(values::value).collect(), tensor.shape()))
}

fn set_data(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    let [_, data] = args.exactly("set_data")?;
    if let Some(array) = this.complex() {
        let shape: Vec<i64> = array.shape().iter().map(|len| *len as i64).collect();
        let elements = arrays::array(vm, data, array.dtype())?.reshaped(&shape);
        let assigned = elements.and_then(|elements| array.assign(elements.into()));
        return assigned.map(|()| Value::None).map_err(arrays::raised);
    }
    let tensor = this.tensor()?;
    if let Some(of) = &this.record {
        let elements = records::elements(vm, of, data)?;
        tensor.set_bytes(elements.bytes).map_err(compute)?;
        return Ok(Value::None);
    }
    let elements = values::elements(vm, data, tensor.dtype())?.cast(tensor.dtype());
    tensor.set_bytes(elements.bytes).map_err(compute)?;
    Ok(Value::None)
}

fn size(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptTensor>()?.size().into())
}

fn tensor_type(_: &mut Vm, args: &Args) -> Result {
    Ok(EnumValue::of_memory(args.this::<ScriptTensor>()?.tensor()?.memory_type()))
}

fn data_type(_: &mut Vm, args: &Args) -> Result {
    Ok(EnumValue::of_dtype(args.this::<ScriptTensor>()?.dtype()))
}

fn is_init(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    let is_init = match &*this.content.borrow() {
        Content::Tensor(tensor) => tensor.is_init(),
        Content::Array(array) => array.is_init(),
    };
    Ok(is_init.into())
}

fn destroy(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptTensor>()?.tensor()?.destroy();
    Ok(Value::None)
}

/// Host and device are synchronised at each access, so nothing is left to do here.
fn sync(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    this.tensor()?.check_readable().map_err(compute)?;
    Ok(Value::None)
}

fn reshape(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    let axes = match args.rest().positional() {
        [one] if one.as_int().is_none() => vm.collect(one)?,
        axes => axes.to_vec(),
    };
    let axes: Vec<i64> = axes.iter().map(|axis| vm.index(axis)).collect::<Result<_>>()?;
    if this.is_of_numbers() {
        return arrays::result(arrays::array_of(vm, this)?.reshaped(&axes));
    }
    let tensor = this.tensor()?;
    let shape = kps_array::shape::resolved(&axes, tensor.size());
    let shape = shape.map_or_else(
        || axes.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect(),
        |shape| shape.to_vec(),
    );
    let tensor = tensor.reshape(&shape).map_err(compute)?;
    Ok(Value::native(ScriptTensor::new(tensor, this.record.clone(), None)))
}

fn reversed(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    if let Some(of) = &this.record {
        let mut items = records::list(vm, &this.tensor()?, of)?;
        items.reverse();
        return Ok(Value::list(items));
    }
    let mut items = vm.collect(args.receiver()?)?;
    items.reverse();
    Ok(Value::list(items))
}

fn shape(_: &mut Vm, args: &Args) -> Result {
    let axes: Vec<Value> = args.this::<ScriptTensor>()?.shape().into_iter().map(Value::from).collect();
    Ok(Value::tuple(axes))
}

fn ndim(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptTensor>()?.shape().len().into())
}

fn dtype(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    match &this.record {
        Some(of) => Ok(structs::type_value(vm, of)),
        None => super::dtype_value(vm, this.element_type()),
    }
}

fn nbytes(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    match this.memory() {
        Some(tensor) => Ok(tensor.n_bytes().into()),
        None => Ok((this.size() * this.element_type().size()).into()),
    }
}

/// Whether an index selects by axes, as an array's does: `t[:, 1]`, `t[..., 0]`, `t[mask]`. One number or one
/// slice counts elements, whatever the shape.
fn selects_by_axes(index: &Value) -> bool {
    let is_many = |part: &Value| match part {
        Value::Ellipsis | Value::None | Value::List(_) | Value::Bool(_) => true,
        part => values::is_array(part),
    };
    match index {
        Value::Tuple(parts) => {
            parts.iter().any(|part| is_many(part) || matches!(part, Value::Slice(_) | Value::Tuple(_)))
        }
        index => is_many(index),
    }
}

/// `t[()]` is `t[:]`.
fn all_for_none(index: &Value) -> Value {
    match index {
        Value::Tuple(parts) if parts.is_empty() => {
            Value::Slice(Rc::new(Slice { start: Value::None, stop: Value::None, step: Value::None }))
        }
        index => index.clone(),
    }
}

/// `resize(n)`: the first elements stay, and new ones are zeros. With several axes, it counts rows.
fn resize(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptTensor = args.this()?;
    let mut parser = args.method_parser("resize");
    let given = parser.required("n")?;
    parser.finish()?;
    let n = values::count(vm, given)?.and_then(|n| usize::try_from(n).ok());
    let n = n.ok_or_else(|| errors::not_resized(given))?;
    let is_complex = this.complex().is_some();
    let resized = this.tensor()?.resize(n).map_err(compute)?;
    this.replace(resized);
    if is_complex {
        let parts = arrays::array_of(vm, this)?;
        this.content.replace(Content::Array(parts.of_parts().map_err(arrays::raised)?));
    }
    Ok(Value::None)
}

/// Of an axis with more elements, those at its ends are printed.
const SHOWN: usize = 6;

impl Native for ScriptTensor {
    fn native_type(&self) -> &'static NativeType {
        if self.memory().is_some_and(|tensor| tensor.as_image().is_some()) { &IMAGE } else { &TENSOR }
    }

    /// Elements along the first axis; an image counts all of its numbers.
    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        if !self.is_of_numbers() {
            return Ok(Some(self.size()));
        }
        match self.shape().first() {
            Some(len) => Ok(Some(*len)),
            None => Err(errors::no_axes("len()")),
        }
    }

    /// One number is true unless it is 0. Of several, the script must say what it means.
    fn truth(&self, vm: &mut Vm) -> Result<bool> {
        match self.size() {
            _ if !self.is_of_numbers() => Ok(true),
            1 => {
                let only = arrays::only(&arrays::array_of(vm, self)?)?;
                vm.truth(&only)
            }
            n => Err(errors::ambiguous_truth(n)),
        }
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if self.is_of_numbers() {
            // The quickest way to one element.
            if let (Value::Int(_), Some(tensor)) = (index, self.memory())
                && tensor.shape().len() == 1
            {
                let at = vm.position(index, tensor.size(), "tensor")?;
                return Ok(Some(values::value(tensor.get(at).map_err(compute)?)));
            }
            return arrays::get_item(vm, self, index).map(Some);
        }
        let (index, tensor) = (&all_for_none(index), self.tensor()?);
        if selects_by_axes(index) {
            let array = self.as_numpy(this)?;
            return vm.get_item(&array, index).map(Some);
        }
        if let Value::Slice(_) = index {
            tensor.check_readable().map_err(compute)?;
            let flat = self.flat(this)?;
            return vm.get_item(&flat, index).map(Some);
        }
        let at = self.position(vm, index)?;
        if let Some(of) = &self.record {
            return records::get(vm, &tensor, of, at).map(Some);
        }
        Ok(Some(values::value(tensor.get(at).map_err(compute)?)))
    }

    fn set_item(&self, this: &Value, vm: &mut Vm, index: &Value, item: &Value) -> Result<bool> {
        if self.is_of_numbers() {
            // The quickest way to one element.
            if let (Value::Int(_), Some(tensor), Some(number)) = (index, self.memory(), values::number(item)?)
                && tensor.shape().len() == 1
            {
                let at = vm.position(index, tensor.size(), "tensor")?;
                return tensor.set(at, number).map_err(compute).map(|()| true);
            }
            return arrays::set_item(vm, self, index, item).map(|()| true);
        }
        let (index, tensor) = (&all_for_none(index), self.tensor()?);
        if selects_by_axes(index) {
            let array = self.as_numpy(this)?;
            return vm.set_item(&array, index, item.clone()).map(|()| true);
        }
        if let Value::Slice(_) = index {
            let flat = self.flat(this)?;
            return vm.set_item(&flat, index, item.clone()).map(|()| true);
        }
        let at = self.position(vm, index)?;
        if let Some(of) = &self.record {
            return records::set(vm, &tensor, of, at, item).map(|()| true);
        }
        let number = values::number(item)?.ok_or_else(|| errors::not_numbers("a tensor", item))?;
        tensor.set(at, number).map_err(compute)?;
        Ok(true)
    }

    /// `x.real = 1`: the elements of that view.
    fn set_attr(&self, _: &Value, vm: &mut Vm, name: &str, value: &Value) -> Result<bool> {
        match (name, self.complex()) {
            ("real" | "imag", Some(array)) => arrays::set_part(vm, &array, name, value).map(|()| true),
            _ => Ok(false),
        }
    }

    fn binary(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        if self.is_of_numbers() { arrays::binary(vm, op, side, (this, self), other) } else { Ok(None) }
    }

    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        if self.is_of_numbers() { arrays::binary_in_place(vm, op, this, self, other) } else { Ok(None) }
    }

    fn unary(&self, _: &Value, vm: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        if self.is_of_numbers() { arrays::unary(vm, op, self) } else { Ok(None) }
    }

    /// Element by element. A tensor of structs equals itself alone.
    fn compare(&self, this: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if self.is_of_numbers() {
            return arrays::compare(vm, op, self, other);
        }
        if self.record.is_some() || values::number(other)?.is_none() {
            return Ok(None);
        }
        let array = self.as_numpy(this)?;
        vm.compare(op, &array, other).map(Some)
    }

    /// Numbers, or views of the rows.
    fn iter(&self, this: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        if let Some(of) = &self.record {
            let list = Value::list(records::list(vm, &self.tensor()?, of)?);
            return vm.iter(&list).map(Some);
        }
        let items = match self.shape().len() {
            _ if !self.is_of_numbers() => self.tensor()?.numbers().map_err(compute)?,
            0 => return Err(errors::no_axes("iter()")),
            1 => {
                let list = vm.call_method(this, "tolist", &[])?;
                return vm.iter(&list).map(Some);
            }
            _ => {
                let rows = Value::list(arrays::rows(&arrays::array_of(vm, self)?)?);
                return vm.iter(&rows).map(Some);
            }
        };
        let list = Value::list(items.into_iter().map(values::value).collect());
        vm.iter(&list).map(Some)
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        if let Some(of) = &self.record {
            let list = Value::list(records::list(vm, &self.tensor()?, of)?);
            return vm.contains(&list, item).map(Some);
        }
        let Some(wanted) = values::constant(item)? else { return Ok(Some(false)) };
        if let Some(array) = self.array() {
            let equal = Op::named("equal").expect("it is in the table");
            let equal = Array::apply(equal, &[array.into(), wanted.into()]).map_err(arrays::raised)?;
            let any = equal.reduced(Reducer::Any, None, ReducedAxes::Dropped).map_err(arrays::raised)?;
            return vm.truth(&arrays::only(&any)?).map(Some);
        }
        let Some(wanted) = wanted.real() else { return Ok(Some(false)) };
        let numbers = self.tensor()?.numbers().map_err(compute)?;
        Ok(Some(numbers.iter().any(|number| number.as_f64() == wanted.as_f64())))
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let kind = |dtype: &str| format!("dtype={dtype}, shape={}", shape_text(&self.shape()));
        let tensor = match self.array() {
            Some(array) if array.size() == 0 => {
                return Ok(format!("Tensor([], {})", kind(array.dtype().name())));
            }
            Some(array) => array.in_one_piece().and_then(|array| array.tensor()).map_err(arrays::raised)?,
            None => self.tensor()?,
        };
        if let Some(info) = tensor.as_image() {
            return Ok(match tensor.is_init() {
                true => image::repr(info),
                false => image::repr(info).replacen('(', "(destroyed, ", 1),
            });
        }
        let kind = kind(&self.record.as_ref().map_or(self.element_type().to_string(), |of| of.to_string()));
        if !tensor.is_init() {
            return Ok(format!("Tensor(destroyed, {kind})"));
        }
        if tensor.check_readable().is_err() {
            return Ok(format!("Tensor(on the device, {kind})"));
        }
        let shown = self.shown(vm, &tensor, &self.shape(), 0)?;
        Ok(format!("Tensor({shown}, {kind})"))
    }
}

impl ScriptTensor {
    /// The elements from a flat index on, in nested brackets; of a long axis, those at its ends.
    fn shown(&self, vm: &mut Vm, tensor: &Tensor, shape: &[usize], start: usize) -> Result<String> {
        let Some((len, inner)) = shape.split_first() else {
            return Ok(self.texts(vm, tensor, start..start + 1)?.remove(0));
        };
        let edge = if *len <= SHOWN { *len } else { SHOWN / 2 };
        let ends = [0..edge, (*len - edge).max(edge)..*len];
        let mut shown = Vec::new();
        for (end, indices) in ends.into_iter().enumerate() {
            if end == 1 && edge < *len {
                shown.push("..".to_owned());
            }
            if inner.is_empty() {
                shown.extend(self.texts(vm, tensor, start + indices.start..start + indices.end)?);
                continue;
            }
            let row: usize = inner.iter().product();
            for index in indices {
                shown.push(self.shown(vm, tensor, inner, start + index * row)?);
            }
        }
        Ok(format!("[{}]", shown.join(", ")))
    }

    fn texts(&self, vm: &mut Vm, tensor: &Tensor, range: std::ops::Range<usize>) -> Result<Vec<String>> {
        if let Some(of) = &self.record {
            let mut texts = Vec::with_capacity(range.len());
            for at in range {
                let element = records::get(vm, tensor, of, at)?;
                texts.push(vm.repr(&element)?);
            }
            return Ok(texts);
        }
        if self.element_type().is_complex() {
            let numbers = tensor.range_numbers(2 * range.start..2 * range.end).map_err(compute)?;
            let pairs = numbers.chunks_exact(2);
            let numbers = pairs.map(|pair| Complex { re: pair[0].as_f64(), im: pair[1].as_f64() });
            return Ok(match tensor.dtype() {
                DType::F32 => numbers.map(Complex::short_text).collect(),
                _ => numbers.map(Complex::text).collect(),
            });
        }
        let numbers = tensor.range_numbers(range).map_err(compute)?;
        let mut text = |number: Number| match (tensor.dtype(), number) {
            (DType::F32, Number::Float(float)) => Ok(float::short_repr(float)),
            (dtype @ (DType::F16 | DType::Bf16), number) => Ok(Scalar { dtype, number }.text()),
            (_, number) => vm.repr(&values::value(number)),
        };
        numbers.into_iter().map(&mut text).collect()
    }
}

fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    if let [only] = axes.as_slice() { format!("({only},)") } else { format!("({})", axes.join(", ")) }
}

//! Tensors of structs: elements are instances of a struct.

use std::rc::Rc;

use kps_compute::{DType, MemoryType, Tensor, Written};
use kps_kernel::{StructType, Type};

use super::errors::compute;
use super::tensor::ScriptTensor;
use super::values::Elements;
use crate::modules::kernels::structs;
use crate::modules::numpy::RecordArray;
use crate::value::{Result, Value};
use crate::vm::Vm;

/// The struct that the elements of some data are: records of NumPy's, a tensor of structs, or a list of
/// instances.
pub fn type_of_data(data: &Value) -> Option<Rc<StructType>> {
    if let Some(array) = data.downcast::<RecordArray>() {
        return Some(array.of().clone());
    }
    if let Some(tensor) = data.downcast::<ScriptTensor>() {
        return tensor.record().cloned();
    }
    let first = match data {
        Value::List(items) => items.to_vec().into_iter().next(),
        Value::Tuple(items) => items.first().cloned(),
        _ => None,
    };
    match first.as_ref().and_then(structs::type_of_value) {
        Some(Type::Struct(of)) => Some(of),
        _ => None,
    }
}

/// A tensor with these structs as elements.
pub fn make(vm: &mut Vm, of: &Rc<StructType>, data: &Value, memory: MemoryType) -> Result {
    let elements = elements(vm, of, data)?;
    let tensor = from_bytes(of, &elements.shape, memory, elements.bytes)?;
    tensor.storage().forget_but(elements.written);
    Ok(ScriptTensor::of_records(tensor, of.clone()))
}

pub fn zeros(of: &Rc<StructType>, shape: &[usize], memory: MemoryType) -> Result {
    let n = shape.iter().product::<usize>().saturating_mul(of.size() as usize);
    Ok(ScriptTensor::of_records(from_bytes(of, shape, memory, vec![0; n])?, of.clone()))
}

fn from_bytes(
    of: &Rc<StructType>,
    shape: &[usize],
    memory: MemoryType,
    bytes: impl Into<Rc<Vec<u8>>>,
) -> Result<Tensor> {
    let fields = structs::fields(&Type::Struct(of.clone()));
    Tensor::records(&of.to_string(), of.size() as usize, fields, shape, memory, bytes).map_err(compute)
}

/// All structs, as bytes.
pub fn elements(vm: &mut Vm, of: &Rc<StructType>, data: &Value) -> Result<Elements> {
    let dtype = DType::U8;
    if let Some(array) = data.downcast::<RecordArray>()
        && same_layout(array.of(), of)
    {
        let (shape, bytes) = (array.shape().to_vec(), array.bytes()?.into());
        return Ok(Elements { dtype, shape, bytes, written: array.written()? });
    }
    if let Some(tensor) = data.downcast::<ScriptTensor>()
        && tensor.record().is_some_and(|record| same_layout(record, of))
    {
        let tensor = tensor.tensor()?;
        let (shape, bytes) = (tensor.shape().to_vec(), tensor.shared_bytes().map_err(compute)?);
        return Ok(Elements { dtype, shape, bytes, written: tensor.written() });
    }
    // An array of many numbers is refused at its first, before they are all objects.
    if data.type_name() == "ndarray"
        && let Ok(first) = vm.get_item(data, &Value::from(0))
    {
        structs::pack(vm, &Type::Struct(of.clone()), &first, "[0]")?;
    }
    let items = vm.collect(data)?;
    let mut bytes = Vec::with_capacity(items.len() * of.size() as usize);
    for (at, item) in items.iter().enumerate() {
        bytes.extend(structs::pack(vm, &Type::Struct(of.clone()), item, &format!("[{at}]"))?);
    }
    Ok(Elements { dtype, shape: vec![items.len()], bytes: bytes.into(), written: Written::All })
}

fn same_layout(a: &Rc<StructType>, b: &Rc<StructType>) -> bool {
    structs::same_layout(&Type::Struct(a.clone()), &Type::Struct(b.clone()))
}

pub fn get(vm: &mut Vm, tensor: &Tensor, of: &Rc<StructType>, at: usize) -> Result {
    let bytes = tensor.element_bytes(at).map_err(compute)?;
    structs::unpack(vm, &Type::Struct(of.clone()), &bytes)
}

pub fn set(vm: &mut Vm, tensor: &Tensor, of: &Rc<StructType>, at: usize, item: &Value) -> Result<()> {
    let bytes = structs::pack(vm, &Type::Struct(of.clone()), item, "")?;
    tensor.set_element_bytes(at, &bytes).map_err(compute)
}

/// All elements as instances.
pub fn list(vm: &mut Vm, tensor: &Tensor, of: &Rc<StructType>) -> Result<Vec<Value>> {
    let bytes = tensor.bytes().map_err(compute)?;
    let ty = Type::Struct(of.clone());
    bytes.chunks_exact(of.size() as usize).map(|element| structs::unpack(vm, &ty, element)).collect()
}

/// The structured array over a tensor's memory, in a shape of as many elements.
pub fn array(this: &Value, tensor: &Tensor, of: &Rc<StructType>, shape: &[usize]) -> Value {
    let storage = tensor.storage().clone();
    let array = RecordArray::over(storage, of.clone(), shape, Some(this.clone()));
    Value::native(array.with_start(tensor.byte_range().start))
}

//! What the module `gpu` asks about kernels: parameters, options, and the compiled form.
//!
//! A kernel object goes in; a dict comes out. Nothing runs.

use std::rc::Rc;

use kps_kernel::{Form, Param, ParamKind, Target, Type};

use super::object::Kernel;
use crate::value::{Dict, Result, Value};
use crate::vm::Vm;

/// The name, the options and the parameters of a kernel; `None` if the value is not a kernel.
pub fn described(value: &Value) -> Option<Value> {
    let template = &value.downcast::<Kernel>()?.template;
    let options = &template.options;
    let dict = Dict::new();
    let parameters = template.params.iter().filter_map(parameter).collect();
    dict.insert_text("name", (&**template.name()).into());
    dict.insert_text("is_kernel", (options.form == Form::Kernel).into());
    dict.insert_text("local_size", options.local_size.map(|axes| Value::tuple(axes.map(Value::from))).into());
    dict.insert_text("subgroup_size", options.subgroup_size.into());
    dict.insert_text("precise", options.precise.into());
    dict.insert_text("parameters", Value::list(parameters));
    Some(Value::Dict(Rc::new(dict)))
}

/// The compiled form for the declared types: its SPIR-V, its local size and the bytes that a workgroup shares;
/// `None` if a declaration lacks a type, which an argument gives.
pub fn compiled(vm: &Vm, value: &Value) -> Result<Option<Value>> {
    let Some(kernel) = value.downcast::<Kernel>() else { return Ok(None) };
    let Ok(signature) = kernel.declared() else { return Ok(None) };
    let module = kernel.compile(vm, &signature, &Target::portable())?;
    let shared: u64 = module.shared.iter().map(|(_, n_bytes)| n_bytes).sum();
    let local_size = Value::tuple(module.local_size.map(Value::from));
    Ok(Some(Value::tuple([Value::bytes(module.bytes()), local_size, shared.into()])))
}

/// A parameter that a launch gives; `None` for an input of the device.
fn parameter(param: &Param) -> Option<Value> {
    let (kind, text, element, rank) = match &param.kind {
        ParamKind::Input { .. } | ParamKind::Port(_) => return None,
        ParamKind::Untyped => ("untyped", String::new(), None, 0),
        ParamKind::Array(array) => ("array", array.to_string(), Some(array.element.clone()), array.rank),
        ParamKind::Buffer { element, .. } => ("array", format!("Array({element})"), Some(element.clone()), 1),
        ParamKind::Scalar(ty) => ("scalar", ty.to_string(), Some(ty.clone()), 0),
        ParamKind::Const(scalar) => ("const", format!("const[{scalar}]"), Some((*scalar).into()), 0),
        ParamKind::Uniform { ty, .. } | ParamKind::Cell { ty, .. } => {
            ("struct", ty.to_string(), Some(ty.clone()), 0)
        }
        ParamKind::Texture { ty, .. } => ("image", ty.to_string(), None, 0),
        ParamKind::Sampler { .. } => ("sampler", "Sampler".to_owned(), None, 0),
    };
    let dict = Dict::new();
    dict.insert_text("name", (&*param.name.name).into());
    dict.insert_text("kind", kind.into());
    dict.insert_text("type", text.into());
    let dtype = element.as_ref().and_then(Type::number).map(|scalar| scalar.numpy_name());
    dict.insert_text("dtype", dtype.into());
    dict.insert_text("size", element.map_or(0, |element| element.packed_size()).into());
    dict.insert_text("rank", rank.into());
    Some(Value::Dict(Rc::new(dict)))
}

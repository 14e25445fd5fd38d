//! Functions of arrays that are written in kps: modules of the standard library, imported at the first call.

use kps_array::Array;

use super::index::{Picks, on_host};
use super::{array, value};
use crate::modules::kp::tensor::ScriptTensor;
use crate::ops::Side;
use crate::value::{Doc, Module, NativeFunction, Result, Value};
use crate::vm::Vm;

/// A function of a module of the library.
struct Function {
    name: &'static str,
    module: &'static str,
    doc: Doc,
}

const fn function(
    name: &'static str,
    module: &'static str,
    signature: &'static str,
    sentence: &'static str,
) -> Function {
    Function { name, module, doc: Doc { signature, sentence } }
}

#[rustfmt::skip]
static FUNCTIONS: &[Function] = &[
    function("concat",      "kp.kernels.joining", "(arrays, axis=0)",      "The arrays one behind the other along an axis."),
    function("concatenate", "kp.kernels.joining", "(arrays, axis=0)",      "As `concat`, under NumPy's name."),
    function("stack",       "kp.kernels.joining", "(arrays, axis=0)",      "The arrays along a new axis."),
    function("unstack",     "kp.kernels.joining", "(x, axis=0)",           "A tuple of views, one for each index of an axis."),
    function("split",       "kp.kernels.joining", "(x, parts, axis=0)",    "A list of views: so many equal parts, or parts that end at these indices."),
    function("tile",        "kp.kernels.joining", "(x, repetitions)",      "The array repeated along each axis."),
    function("repeat",      "kp.kernels.joining", "(x, repeats, axis=None)", "Each element repeated."),
    function("roll",        "kp.kernels.joining", "(x, shift, axis=None)", "The elements moved along an axis; the last ones come first."),
    function("pad",         "kp.kernels.joining", "(x, width, value=0)",   "The array with a border of a number."),
    function("moveaxis",    "kp.kernels.joining", "(x, source, destination)", "A view with axes at other places."),
    function("broadcast_arrays", "kp.kernels.joining", "(*arrays)",        "Views of the arrays in their common shape."),
    function("meshgrid",    "kp.kernels.joining", "(*arrays, indexing=\"xy\")", "The coordinates of a grid, one array for each axis."),
    function("tril",        "kp.kernels.joining", "(x, k=0)",              "A matrix with zeros above its k-th diagonal."),
    function("triu",        "kp.kernels.joining", "(x, k=0)",              "A matrix with zeros below its k-th diagonal."),
    function("diff",        "kp.kernels.joining", "(x, n=1, axis=-1)",     "The differences of neighbours along an axis."),
];

/// Adds the functions to the module `kp`.
pub fn add_to(module: &Module) {
    for known in FUNCTIONS {
        let mut function = NativeFunction::closure(known.name, |vm, args| {
            let function = found(vm, known.module, known.name)?;
            vm.call_with(&function, args)
        });
        function.doc = Some(known.doc);
        module.set(known.name, Value::NativeFunction(function.into()));
    }
}

/// A function of a module of the library.
fn found(vm: &mut Vm, module: &str, name: &str) -> Result {
    let function = vm.import(module)?.get(name);
    Ok(function.expect("the module has the function"))
}

/// `left @ right`, where `this` is the operand on `side`.
pub fn matmul(_: &mut Vm, _: Side, _: &ScriptTensor, _: &Value) -> Result<Option<Value>> {
    Ok(None)
}

/// `array[index]` with arrays of ints or bools in the index.
pub fn pick(vm: &mut Vm, this: Array, index: &Value, _: Picks) -> Result {
    let (host, index) = on_host(vm, &this, index)?;
    let picked = vm.get_item(&host, &index)?;
    array(vm, &picked, this.dtype()).map(value)
}

/// `array[index] = item` with arrays of ints or bools in the index.
pub fn put(vm: &mut Vm, this: Array, index: &Value, _: Picks, item: &Value) -> Result<()> {
    let (host, index) = on_host(vm, &this, index)?;
    let item = match item.downcast::<ScriptTensor>() {
        Some(_) => vm.call_method(item, "numpy", &[])?,
        None => item.clone(),
    };
    vm.set_item(&host, &index, item)?;
    Ok(())
}

//! Functions of arrays that are written in kps: modules of the standard library, imported at the first call.

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

/// Calls a function of the library.
pub fn call(vm: &mut Vm, name: &str, args: &[Value]) -> Result {
    let known = FUNCTIONS.iter().find(|function| function.name == name).expect("it is in the table");
    let function = found(vm, known.module, known.name)?;
    vm.call(&function, args)
}

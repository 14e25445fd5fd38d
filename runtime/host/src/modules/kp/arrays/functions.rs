//! The functions of elements, `kp.sin(x)`, and those that say how expressions are computed.

use std::rc::Rc;

use kps_array::promote::{self, OperandType};
use kps_array::{Array, Op, Operand, Part, ops};

use super::{array, array_of, as_array, moved, operand, raised, result};
use crate::errors::type_error;
use crate::modules::kp::tensor::ScriptTensor;
use crate::modules::kp::{shared, values};
use crate::value::{Args, Doc, Module, NativeDef, NativeFunction, Result, Value};
use crate::vm::Vm;

pub const FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("source", source)
        .doc("(x)", "Returns the text of the kernel that would compute a tensor, if it is not computed yet."),
    NativeDef::function("evaluate", evaluate)
        .doc("(*tensors)", "Starts the computation of tensors, before somebody needs their elements."),
    NativeDef::function("eager", eager)
        .doc("(on=True)", "Turns on that every operation runs when it is written, to find a mistake."),
    NativeDef::function("clip", clip)
        .doc("(x, min=None, max=None)", "The elements, but none below or above."),
    NativeDef::function("view_as_real", view_as_real)
        .doc("(x)", "A view of complex numbers as floats: a new last axis has the real and the imaginary part."),
    NativeDef::function("view_as_complex", view_as_complex).doc(
        "(x)",
        "Floats whose last axis has the real and the imaginary part as complex numbers; a view if that is possible.",
    ),
    NativeDef::function("astype", astype).doc(
        "(x, dtype, copy=True, device=None)",
        "The elements as another type; without `copy`, the array itself if it has the type.",
    ),
    NativeDef::function("reshape", reshape).doc(
        "(x, shape, copy=None)",
        "The elements in another shape; one axis may be -1. A view where that is possible, unless `copy` is true.",
    ),
    NativeDef::function("permute_dims", permute_dims)
        .doc("(x, axes)", "A view with the axes in another order."),
    NativeDef::function("broadcast_to", broadcast_to)
        .doc("(x, shape)", "A view that repeats axes of length 1, and new ones."),
    NativeDef::function("expand_dims", expand_dims).doc("(x, axis=0)", "A view with a new axis of length 1."),
    NativeDef::function("squeeze", squeeze).doc("(x, axis=None)", "A view without axes of length 1."),
    NativeDef::function("result_type", result_type)
        .doc("(*arrays)", "The type of the elements of all arrays together."),
    NativeDef::function("flip", flip).doc("(x, axis=None)", "A view with the elements in reverse order."),
];

/// Adds the operations on elements.
pub fn add_to(module: &Module) {
    for op in ops::all() {
        let mut function = NativeFunction::closure(op.name, move |vm, args| elementwise(vm, args, op));
        function.doc = Some(Doc { signature: signature(op), sentence: op.meaning });
        module.set(op.name, Value::NativeFunction(Rc::new(function)));
    }
}

/// The parameters of an operation, for help.
pub fn signature(op: &Op) -> &'static str {
    match op.n_inputs {
        1 => "(x)",
        2 => "(a, b)",
        _ => "(condition, a, b)",
    }
}

fn elementwise(vm: &mut Vm, args: &Args, op: &'static Op) -> Result {
    let given = args.positional();
    if given.len() != op.n_inputs || args.has_keywords() {
        let n = given.len();
        let plural = if op.n_inputs == 1 { "" } else { "s" };
        return Err(type_error(format!("{}() takes {} argument{plural}, not {n}", op.name, op.n_inputs)));
    }
    let mut operands: Vec<Operand> = Vec::with_capacity(given.len());
    let mut beside: Option<Array> = None;
    for value in given {
        let one = match operand(vm, value, beside.as_ref())? {
            Some(one) => one,
            None => as_array(vm, value)?.into(),
        };
        if let Operand::Array(array) = &one {
            beside = Some(array.clone());
        }
        operands.push(one);
    }
    // Numbers alone are arrays without axes.
    if beside.is_none() {
        let engine = super::engine_for(vm, None)?;
        let Operand::Number(number) = operands[0] else { unreachable!("there is no array") };
        let dtype = promote::common_of(&[OperandType::Number(number)]);
        operands[0] = Array::filled(&engine, dtype.map_err(raised)?, &[], number).map_err(raised)?.into();
    }
    match op.name {
        "pow" => result(kps_array::power(operands.remove(0), operands.remove(0))),
        _ => result(Array::apply(op, &operands)),
    }
}

/// `source(x)`.
fn source(vm: &mut Vm, args: &Args) -> Result {
    let [given] = args.exactly("source")?;
    let Some(tensor) = given.downcast::<ScriptTensor>() else {
        return Err(type_error(format!("source() takes a tensor, not {}", given.type_name())));
    };
    let array = array_of(vm, tensor)?;
    array.source().map(Value::str).map_err(raised)
}

fn evaluate(vm: &mut Vm, args: &Args) -> Result {
    for given in args.positional() {
        as_array(vm, given)?.evaluate().map_err(raised)?;
    }
    Ok(Value::None)
}

fn eager(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("eager");
    let on = parser.optional("on")?;
    parser.finish()?;
    let on = match on {
        None => true,
        Some(Value::Bool(on)) => *on,
        Some(other) => {
            return Err(type_error(format!("eager() takes True or False, not {}", other.type_name())));
        }
    };
    shared::set_eager(vm, on);
    Ok(Value::None)
}

fn clip(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("clip");
    let x = parser.required("x")?;
    let (min, max) = (parser.optional("min")?, parser.optional("max")?);
    parser.finish()?;
    let x = as_array(vm, x)?;
    clipped(vm, x, min, max)
}

/// The elements, but none below `min` or above `max`.
pub fn clipped(vm: &mut Vm, x: Array, min: Option<&Value>, max: Option<&Value>) -> Result {
    let mut clipped = x;
    for (bound, op) in [(min, "maximum"), (max, "minimum")] {
        let Some(bound) = bound.filter(|bound| !bound.is_none()) else { continue };
        let bound = match operand(vm, bound, Some(&clipped))? {
            Some(bound) => bound,
            None => array(vm, bound, clipped.dtype())?.into(),
        };
        let op = Op::named(op).expect("it is in the table");
        clipped = Array::apply(op, &[clipped.into(), bound]).map_err(raised)?;
    }
    Ok(super::value(clipped))
}

fn astype(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("astype");
    let (x, dtype) = (parser.required("x")?, parser.required("dtype")?);
    let (copy, device) = (parser.optional("copy")?, parser.keyword_only("device"));
    parser.finish()?;
    let x = as_array(vm, x)?;
    let x = moved(vm, &x, device)?;
    as_type(vm, &x, dtype, copy)
}

/// The elements as a type, in memory of their own unless `copy` is false.
pub fn as_type(vm: &mut Vm, x: &Array, dtype: &Value, copy: Option<&Value>) -> Result {
    let dtype = values::element_type(vm, dtype)?;
    let copies = copy.map_or(Ok(true), |copy| vm.truth(copy))?;
    match copies && dtype == x.dtype() {
        true => result(x.copy()),
        false => result(x.converted(dtype)),
    }
}

fn view_as_real(vm: &mut Vm, args: &Args) -> Result {
    let [x] = args.exactly("view_as_real")?;
    result(as_array(vm, x)?.as_parts())
}

fn view_as_complex(vm: &mut Vm, args: &Args) -> Result {
    let [x] = args.exactly("view_as_complex")?;
    result(as_array(vm, x)?.of_parts())
}

/// `result_type(*arrays)`: of arrays, numbers and types.
fn result_type(vm: &mut Vm, args: &Args) -> Result {
    let mut types = Vec::new();
    for value in args.positional() {
        types.push(match operand(vm, value, None) {
            Ok(Some(Operand::Array(array))) => OperandType::Array(array.dtype()),
            Ok(Some(Operand::Number(number))) => OperandType::Number(number),
            _ => OperandType::Array(values::element_type(vm, value)?),
        });
    }
    let common = promote::common_of(&types).map_err(raised)?;
    Ok(crate::modules::numpy::dtype_object(common))
}

/// Ints of a shape or of axes: one int, or several.
pub fn ints(vm: &mut Vm, value: &Value) -> Result<Vec<i64>> {
    match values::count(vm, value)? {
        Some(one) => Ok(vec![one]),
        None => vm.collect(value)?.iter().map(|item| vm.index(item)).collect(),
    }
}

fn x_and_ints(
    vm: &mut Vm,
    args: &Args,
    function: &'static str,
    second: &'static str,
) -> Result<(Array, Vec<i64>)> {
    let mut parser = args.parser(function);
    let (x, second) = (parser.required("x")?, parser.required(second)?);
    parser.finish()?;
    Ok((as_array(vm, x)?, ints(vm, second)?))
}

fn reshape(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("reshape");
    let (x, shape) = (parser.required("x")?, parser.required("shape")?);
    let copy = parser.keyword_only("copy").filter(|copy| !copy.is_none());
    parser.finish()?;
    let (x, shape) = (as_array(vm, x)?, ints(vm, shape)?);
    let Some(copy) = copy else { return result(x.reshaped(&shape)) };
    match vm.truth(copy)? {
        true => result(x.copy().and_then(|copy| copy.reshaped(&shape))),
        false => result(x.reshaped_view(&shape)),
    }
}

fn permute_dims(vm: &mut Vm, args: &Args) -> Result {
    let (x, axes) = x_and_ints(vm, args, "permute_dims", "axes")?;
    result(x.permuted(&axes))
}

fn broadcast_to(vm: &mut Vm, args: &Args) -> Result {
    let (x, shape) = x_and_ints(vm, args, "broadcast_to", "shape")?;
    let shape: Option<Vec<usize>> = shape.iter().map(|n| usize::try_from(*n).ok()).collect();
    let shape = shape.ok_or_else(|| type_error("a shape has no negative axes"))?;
    result(x.broadcast_to(&shape))
}

fn expand_dims(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("expand_dims");
    let (x, axis) = (parser.required("x")?, parser.optional("axis")?);
    parser.finish()?;
    let x = as_array(vm, x)?;
    let axis = axis.map_or(Ok(0), |axis| vm.index(axis))?;
    let axis = kps_array::shape::axis(axis, x.ndim() + 1).map_err(raised)?;
    let mut parts = vec![Part::All; axis];
    parts.push(Part::New);
    result(x.indexed(&parts))
}

fn squeeze(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("squeeze");
    let (x, axis) = (parser.required("x")?, parser.optional("axis")?);
    parser.finish()?;
    let x = as_array(vm, x)?;
    squeezed(vm, &x, axis)
}

/// A view without the axes that are named, or without all axes of length 1.
pub fn squeezed(vm: &mut Vm, x: &Array, axis: Option<&Value>) -> Result {
    let axes = match axis.filter(|axis| !axis.is_none()) {
        Some(axis) => kps_array::shape::axes(&ints(vm, axis)?, x.ndim()).map_err(raised)?,
        None => (0..x.ndim()).filter(|axis| x.shape()[*axis] == 1).collect(),
    };
    if let Some(long) = axes.iter().find(|axis| x.shape()[**axis] != 1) {
        let n = x.shape()[*long];
        return Err(crate::errors::value_error(format!(
            "axis {long} has {n} elements, so it cannot be squeezed"
        )));
    }
    let parts: Vec<Part> =
        (0..x.ndim()).map(|axis| if axes.contains(&axis) { Part::At(0) } else { Part::All }).collect();
    result(x.indexed(&parts))
}

fn flip(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("flip");
    let (x, axis) = (parser.required("x")?, parser.optional("axis")?);
    parser.finish()?;
    let x = as_array(vm, x)?;
    let axes = match axis.filter(|axis| !axis.is_none()) {
        Some(axis) => kps_array::shape::axes(&ints(vm, axis)?, x.ndim()).map_err(raised)?,
        None => (0..x.ndim()).collect(),
    };
    let part = |axis: usize| match (axes.contains(&axis), x.shape()[axis]) {
        (true, len) if len > 0 => Part::Slice { start: len - 1, step: -1, len },
        _ => Part::All,
    };
    let parts: Vec<Part> = (0..x.ndim()).map(part).collect();
    result(x.indexed(&parts))
}

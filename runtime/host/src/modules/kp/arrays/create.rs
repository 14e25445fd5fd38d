//! New tensors: `kp.zeros(shape)`, `kp.arange(n)`. Their elements are made on the device.

use std::rc::Rc;

use kps_array::promote::{DEFAULT_FLOAT, DEFAULT_INT};
use kps_array::{Array, Constant, ElementType, Engine};
use kps_compute::{DType, Number};

use super::functions::ints;
use super::{array, as_array, engine_for, engine_on, moved, raised, result, value};
use crate::errors::{type_error, value_error};
use crate::modules::kp::{is_tensor, values};
use crate::value::{Args, NativeDef, Parser, Result, Value};
use crate::vm::Vm;

pub const FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("zeros", zeros).doc("(shape, dtype=f32, device=None)", "A tensor of zeros."),
    NativeDef::function("ones", ones).doc("(shape, dtype=f32, device=None)", "A tensor of ones."),
    NativeDef::function("empty", empty)
        .doc("(shape, dtype=f32, device=None)", "A tensor whose elements are set later."),
    NativeDef::function("full", full)
        .doc("(shape, fill_value, dtype=None, device=None)", "A tensor with the same number everywhere."),
    NativeDef::function("zeros_like", zeros_like)
        .doc("(x, dtype=None, device=None)", "Zeros in the shape and type of another."),
    NativeDef::function("ones_like", ones_like)
        .doc("(x, dtype=None, device=None)", "Ones in the shape and type of another."),
    NativeDef::function("empty_like", empty_like).doc(
        "(x, dtype=None, device=None)",
        "A tensor in the shape and type of another, whose elements are set later.",
    ),
    NativeDef::function("full_like", full_like).doc(
        "(x, fill_value, dtype=None, device=None)",
        "The same number everywhere, in the shape and type of another.",
    ),
    NativeDef::function("arange", arange).doc(
        "(start, stop=None, step=1, dtype=None, device=None)",
        "The numbers from `start` up to, but without, `stop`.",
    ),
    NativeDef::function("linspace", linspace).doc(
        "(start, stop, num=50, dtype=f32, endpoint=True, device=None)",
        "So many numbers at equal distances.",
    ),
    NativeDef::function("eye", eye).doc(
        "(n, m=None, k=0, dtype=f32, device=None)",
        "A matrix with ones on its k-th diagonal, and zeros elsewhere.",
    ),
    NativeDef::function("asarray", asarray).doc(
        "(x, dtype=None, copy=None, device=None)",
        "A tensor of numbers, lists or a NumPy array; a tensor is copied if `copy` is true or its type differs.",
    ),
    NativeDef::function("from_numpy", asarray)
        .doc("(x, dtype=None, copy=None, device=None)", "As `asarray`, under PyTorch's name."),
];

/// What the library asks about arrays. None is listed: they begin with `_`.
pub const HIDDEN: &[NativeDef] = &[
    // Kernels have another form on the CPU device.
    NativeDef::function("_on_cpu", |vm, args| {
        args.exactly::<0>("_on_cpu")?;
        Ok(engine_for(vm, None)?.is_cpu().into())
    }),
    // The bytes that a workgroup can share.
    NativeDef::function("_shared_memory", |vm, args| {
        args.exactly::<0>("_shared_memory")?;
        let engine = engine_for(vm, None)?;
        Ok(i64::from(engine.manager().info().limits.max_shared).into())
    }),
    // Cooperative matrices are the device's own, not emulated.
    NativeDef::function("_has_matrices", |vm, args| {
        args.exactly::<0>("_has_matrices")?;
        let engine = engine_for(vm, None)?;
        Ok((!engine.is_cpu() && !engine.manager().info().matrices.is_empty()).into())
    }),
    // The elements of the transposed array lie in one piece.
    NativeDef::function("_is_transposed", |vm, args| {
        let [x] = args.exactly("_is_transposed")?;
        let view = as_array(vm, x)?.view().map_err(raised)?;
        Ok(view
            .is_some_and(|view| {
                let order: Vec<usize> = (0..view.layout.shape.len()).rev().collect();
                !view.layout.is_contiguous() && view.layout.permuted(&order).is_contiguous()
            })
            .into())
    }),
    NativeDef::function("_in_one_piece", |vm, args| {
        let [x] = args.exactly("_in_one_piece")?;
        result(as_array(vm, x)?.in_one_piece())
    }),
];

fn shape_of(vm: &mut Vm, value: &Value) -> Result<Vec<usize>> {
    let axes = ints(vm, value)?;
    axes.iter()
        .map(|n| usize::try_from(*n).map_err(|_| value_error(format!("{n} is no length of an axis"))))
        .collect()
}

fn dtype_of(vm: &mut Vm, given: Option<&Value>, default: impl Into<ElementType>) -> Result<ElementType> {
    let given = given.filter(|dtype| !dtype.is_none());
    given.map_or(Ok(default.into()), |dtype| values::element_type(vm, dtype))
}

fn constant_of(value: &Value) -> Result<Constant> {
    let number = values::constant(value)?;
    number.ok_or_else(|| type_error(format!("a number is expected, not {}", value.type_name())))
}

fn number_of(value: &Value) -> Result<Number> {
    let number = values::number(value)?;
    number.ok_or_else(|| type_error(format!("a number is expected, not {}", value.type_name())))
}

/// A type that has the number, if no type was given.
fn default_type(number: Constant) -> ElementType {
    match number {
        Constant::Real(Number::Bool(_)) => DType::Bool.into(),
        Constant::Real(Number::Int(_)) => DEFAULT_INT.into(),
        Constant::Real(Number::Float(_)) => DEFAULT_FLOAT.into(),
        Constant::Complex { .. } => ElementType::complex_of(DEFAULT_FLOAT),
    }
}

fn filled(vm: &mut Vm, args: &Args, function: &'static str, number: Number) -> Result {
    let mut parser = args.parser(function);
    let (shape, dtype) = (parser.required("shape")?, parser.optional("dtype")?);
    let device = parser.keyword_only("device");
    parser.finish()?;
    let (shape, dtype) = (shape_of(vm, shape)?, dtype_of(vm, dtype, DEFAULT_FLOAT)?);
    let engine = engine_on(vm, device)?;
    result(Array::filled(&engine, dtype, &shape, number))
}

fn zeros(vm: &mut Vm, args: &Args) -> Result {
    filled(vm, args, "zeros", Number::Int(0))
}

fn ones(vm: &mut Vm, args: &Args) -> Result {
    filled(vm, args, "ones", Number::Int(1))
}

fn empty(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("empty");
    let (shape, dtype) = (parser.required("shape")?, parser.optional("dtype")?);
    let device = parser.keyword_only("device");
    parser.finish()?;
    let (shape, dtype) = (shape_of(vm, shape)?, dtype_of(vm, dtype, DEFAULT_FLOAT)?);
    let engine = engine_on(vm, device)?;
    result(Array::uninitialised(&engine, dtype, &shape))
}

fn full(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("full");
    let (shape, number) = (parser.required("shape")?, parser.required("fill_value")?);
    let dtype = parser.optional("dtype")?;
    let device = parser.keyword_only("device");
    parser.finish()?;
    let (shape, number) = (shape_of(vm, shape)?, constant_of(number)?);
    let dtype = dtype_of(vm, dtype, default_type(number))?;
    let engine = engine_on(vm, device)?;
    result(Array::filled(&engine, dtype, &shape, number))
}

/// What an array has in common with the one that it is made like.
struct Like {
    engine: Rc<Engine>,
    dtype: ElementType,
    shape: Vec<usize>,
}

fn like(vm: &mut Vm, parser: &mut Parser) -> Result<Like> {
    let x = parser.required("x")?;
    let (dtype, device) = (parser.keyword_only("dtype"), parser.keyword_only("device"));
    let x = as_array(vm, x)?;
    let dtype = dtype_of(vm, dtype, x.dtype())?;
    let engine = match device.filter(|device| !device.is_none()) {
        Some(_) => engine_on(vm, device)?,
        None => x.engine().clone(),
    };
    Ok(Like { engine, dtype, shape: x.shape().to_vec() })
}

fn filled_like(vm: &mut Vm, args: &Args, function: &'static str, number: Number) -> Result {
    let mut parser = args.parser(function);
    let like = like(vm, &mut parser)?;
    parser.finish()?;
    result(Array::filled(&like.engine, like.dtype, &like.shape, number))
}

fn zeros_like(vm: &mut Vm, args: &Args) -> Result {
    filled_like(vm, args, "zeros_like", Number::Int(0))
}

fn ones_like(vm: &mut Vm, args: &Args) -> Result {
    filled_like(vm, args, "ones_like", Number::Int(1))
}

fn empty_like(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("empty_like");
    let like = like(vm, &mut parser)?;
    parser.finish()?;
    result(Array::uninitialised(&like.engine, like.dtype, &like.shape))
}

fn full_like(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("full_like");
    let like = like(vm, &mut parser)?;
    let number = constant_of(parser.required("fill_value")?)?;
    parser.finish()?;
    result(Array::filled(&like.engine, like.dtype, &like.shape, number))
}

/// The number of steps from `start` to before `stop`.
fn n_steps(start: Number, stop: Number, step: Number) -> Result<usize> {
    if step.is_zero() {
        return Err(value_error("the step of arange() is not 0"));
    }
    let n = match (start, stop, step) {
        (Number::Int(start), Number::Int(stop), Number::Int(step)) => {
            let distance = stop - start;
            (distance / step + i128::from(distance % step != 0 && (distance < 0) == (step < 0))) as f64
        }
        _ => ((stop.as_f64() - start.as_f64()) / step.as_f64()).ceil(),
    };
    if n.is_nan() || n > 1e18 {
        return Err(value_error("arange() of so many numbers"));
    }
    Ok(n.max(0.0) as usize)
}

fn arange(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("arange");
    let first = number_of(parser.required("start")?)?;
    let stop = parser.optional("stop")?.filter(|stop| !stop.is_none());
    let step = parser.optional("step")?;
    let dtype = parser.optional("dtype")?;
    let device = parser.keyword_only("device");
    parser.finish()?;
    let (start, stop) = match stop {
        Some(stop) => (first, number_of(stop)?),
        None => (Number::Int(0), first),
    };
    let step = step.map_or(Ok(Number::Int(1)), number_of)?;
    let is_float = [start, stop, step].iter().any(|number| matches!(number, Number::Float(_)));
    let dtype = dtype_of(vm, dtype, if is_float { DEFAULT_FLOAT } else { DEFAULT_INT })?;
    let n = n_steps(start, stop, step)?;
    let engine = engine_on(vm, device)?;
    let counted = Array::counted(&engine, dtype.part(), n, start, step);
    result(counted.and_then(|counted| counted.converted(dtype)))
}

fn linspace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("linspace");
    let start = number_of(parser.required("start")?)?.as_f64();
    let stop = number_of(parser.required("stop")?)?.as_f64();
    let num = parser.optional("num")?;
    let dtype = parser.optional("dtype")?;
    let (endpoint, device) = (parser.keyword_only("endpoint"), parser.keyword_only("device"));
    parser.finish()?;
    let n = match num {
        Some(num) => usize::try_from(vm.index(num)?).map_err(|_| value_error("linspace() takes a count"))?,
        None => 50,
    };
    let dtype = dtype_of(vm, dtype, DEFAULT_FLOAT)?;
    let n_gaps = match endpoint {
        Some(endpoint) if !vm.truth(endpoint)? => n,
        _ => n.saturating_sub(1),
    };
    let step = if n_gaps == 0 { 0.0 } else { (stop - start) / n_gaps as f64 };
    let engine = engine_on(vm, device)?;
    let counted = Array::counted(&engine, DType::F64, n, Number::Float(start), Number::Float(step));
    result(counted.and_then(|counted| counted.converted(dtype)))
}

fn eye(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("eye");
    let n = parser.required("n")?;
    let m = parser.optional("m")?.filter(|m| !m.is_none());
    let k = parser.optional("k")?;
    let dtype = parser.optional("dtype")?;
    let device = parser.keyword_only("device");
    parser.finish()?;
    let n = vm.index(n)?;
    let m = m.map_or(Ok(n), |m| vm.index(m))?;
    let k = k.map_or(Ok(0), |k| vm.index(k))?;
    let dtype = dtype_of(vm, dtype, DEFAULT_FLOAT)?;
    let engine = engine_on(vm, device)?;
    let line = |n: i64, start: i64| -> kps_array::Result<Array> {
        let n = usize::try_from(n).unwrap_or(0);
        Array::counted(&engine, DType::I64, n, Number::Int(start.into()), Number::Int(1))
    };
    let made = (|| {
        let rows = line(n, k)?.reshaped(&[n.max(0), 1])?;
        let equal = kps_array::Op::named("equal").expect("it is in the table");
        Array::apply(equal, &[rows.into(), line(m, 0)?.into()])?.converted(dtype)
    })();
    result(made)
}

fn asarray(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("asarray");
    let (x, dtype) = (parser.required("x")?, parser.optional("dtype")?);
    let (copy, device) = (parser.keyword_only("copy"), parser.keyword_only("device"));
    parser.finish()?;
    let given = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => {
            let dtype = values::element_type(vm, dtype)?;
            array(vm, x, dtype)?
        }
        None => as_array(vm, x)?,
    };
    let dtype = dtype_of(vm, dtype, given.dtype())?;
    let there = moved(vm, &given, device)?;
    // A tensor of another type or device is copied, and so is what was no tensor.
    let is_shared = is_tensor(x) && given.dtype() == dtype && Rc::ptr_eq(given.engine(), there.engine());
    let made = there.converted(dtype).map_err(raised)?;
    match copy.filter(|copy| !copy.is_none()) {
        None => Ok(value(made)),
        Some(copy) if vm.truth(copy)? && is_shared => result(made.copy()),
        Some(copy) if !vm.truth(copy)? && !is_shared => Err(value_error(
            "the elements are not in a tensor of this type and device: they have to be copied",
        )),
        Some(_) => Ok(value(made)),
    }
}

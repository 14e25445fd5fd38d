//! Sums, extremes, means and the like: `kp.sum(x, axis=0)` and `x.sum(axis=0)`.

use kps_array::{Array, Op, Operand, ReducedAxes, Reducer};
use kps_compute::{DType, Number};

use super::functions::ints;
use super::{as_array, raised, value};
use crate::modules::kp::values;
use crate::value::{Args, NativeDef, Parser, Result};
use crate::vm::Vm;

const AXES: &str = "(x, axis=None, keepdims=False)";
const TYPED: &str = "(x, axis=None, dtype=None, keepdims=False)";
const CORRECTED: &str = "(x, axis=None, correction=0, keepdims=False)";

pub const FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("sum", sum).doc(TYPED, "The sum of the elements; ints are added as 64-bit ones."),
    NativeDef::function("prod", prod).doc(TYPED, "The product of the elements."),
    NativeDef::function("min", min).doc(AXES, "The smallest element; a NaN if there is one."),
    NativeDef::function("max", max).doc(AXES, "The largest element; a NaN if there is one."),
    NativeDef::function("any", any).doc(AXES, "Whether one or more elements are true."),
    NativeDef::function("all", all).doc(AXES, "Whether every element is true."),
    NativeDef::function("argmin", argmin)
        .doc(AXES, "The index of the smallest element, the first one of several."),
    NativeDef::function("argmax", argmax)
        .doc(AXES, "The index of the largest element, the first one of several."),
    NativeDef::function("count_nonzero", count_nonzero).doc(AXES, "The number of elements that are not 0."),
    NativeDef::function("mean", mean).doc(AXES, "The mean of the elements, a float."),
    NativeDef::function("var", var).doc(
        CORRECTED,
        "The mean of the squared distances from the mean; `correction` is subtracted from the count.",
    ),
    NativeDef::function("std", std).doc(CORRECTED, "The root of the variance."),
    NativeDef::function("logsumexp", logsumexp)
        .doc(AXES, "`log(sum(exp(x)))`; the largest element is taken out first, so that nothing overflows."),
];

/// What the functions of this file take.
struct Given {
    x: Array,
    axes: Option<Vec<i64>>,
    reduced: ReducedAxes,
}

impl Given {
    fn read(vm: &mut Vm, args: &Args, function: &'static str) -> Result<Given> {
        let mut parser = args.parser(function);
        let given = Given::start(vm, &mut parser)?;
        parser.finish()?;
        Ok(given)
    }

    fn start(vm: &mut Vm, parser: &mut Parser) -> Result<Given> {
        let x = parser.required("x")?;
        let axis = parser.optional("axis")?;
        let keepdims = parser.keyword_only("keepdims");
        let x = as_array(vm, x)?;
        let axes = match axis.filter(|axis| !axis.is_none()) {
            Some(axis) => Some(ints(vm, axis)?),
            None => None,
        };
        let reduced = match keepdims {
            Some(keep) if vm.truth(keep)? => ReducedAxes::Kept,
            _ => ReducedAxes::Dropped,
        };
        Ok(Given { x, axes, reduced })
    }

    fn reduce(&self, x: &Array, reducer: Reducer, reduced: ReducedAxes) -> Result<Array> {
        x.reduced(reducer, self.axes.as_deref(), reduced).map_err(raised)
    }

    /// Elements of each result.
    fn n_reduced(&self, reduced: &Array) -> usize {
        self.x.size().checked_div(reduced.size()).unwrap_or(0)
    }
}

fn apply(op: &str, inputs: &[Operand]) -> Result<Array> {
    Array::apply(Op::named(op).expect("it is in the table"), inputs).map_err(raised)
}

fn plain(vm: &mut Vm, args: &Args, reducer: Reducer) -> Result {
    let given = Given::read(vm, args, reducer.name())?;
    given.reduce(&given.x, reducer, given.reduced).map(value)
}

/// With `dtype`, elements are converted before they are combined.
fn typed(vm: &mut Vm, args: &Args, reducer: Reducer) -> Result {
    let mut parser = args.parser(reducer.name());
    let dtype = parser.keyword_only("dtype");
    let mut given = Given::start(vm, &mut parser)?;
    parser.finish()?;
    let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
        return given.reduce(&given.x, reducer, given.reduced).map(value);
    };
    let dtype = values::element_type(vm, dtype)?;
    given.x = given.x.converted(dtype).map_err(raised)?;
    given.reduce(&given.x, reducer, given.reduced)?.converted(dtype).map(value).map_err(raised)
}

fn sum(vm: &mut Vm, args: &Args) -> Result {
    typed(vm, args, Reducer::Sum)
}

fn prod(vm: &mut Vm, args: &Args) -> Result {
    typed(vm, args, Reducer::Product)
}

fn min(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::Smallest)
}

fn max(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::Largest)
}

fn any(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::Any)
}

fn all(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::All)
}

fn argmin(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::ArgSmallest)
}

fn argmax(vm: &mut Vm, args: &Args) -> Result {
    plain(vm, args, Reducer::ArgLargest)
}

fn count_nonzero(vm: &mut Vm, args: &Args) -> Result {
    let given = Given::read(vm, args, "count_nonzero")?;
    let truths = given.x.converted(DType::Bool).map_err(raised)?;
    given.reduce(&truths, Reducer::Sum, given.reduced).map(value)
}

fn float(x: &Array) -> Result<Array> {
    x.converted(kps_array::promote::as_float(x.dtype())).map_err(raised)
}

fn mean_of(given: &Given, x: &Array, reduced: ReducedAxes, correction: f64) -> Result<Array> {
    let sum = given.reduce(&float(x)?, Reducer::Sum, reduced)?;
    let n = given.n_reduced(&sum) as f64 - correction;
    apply("divide", &[sum.into(), Number::Float(n.max(0.0)).into()])
}

fn mean(vm: &mut Vm, args: &Args) -> Result {
    let given = Given::read(vm, args, "mean")?;
    mean_of(&given, &given.x, given.reduced, 0.0).map(value)
}

fn variance(vm: &mut Vm, args: &Args, function: &'static str) -> Result<Array> {
    let mut parser = args.parser(function);
    let correction = parser.keyword_only("correction").or(parser.keyword_only("ddof"));
    let given = Given::start(vm, &mut parser)?;
    parser.finish()?;
    let correction = match correction {
        Some(correction) => values::number(correction)?.map_or(0.0, Number::as_f64),
        None => 0.0,
    };
    let mean = mean_of(&given, &given.x, ReducedAxes::Kept, 0.0)?;
    let distance = apply("subtract", &[float(&given.x)?.into(), mean.into()])?;
    let square = apply("square", &[apply("abs", &[distance.into()])?.into()])?;
    mean_of(&given, &square, given.reduced, correction)
}

fn var(vm: &mut Vm, args: &Args) -> Result {
    variance(vm, args, "var").map(value)
}

fn std(vm: &mut Vm, args: &Args) -> Result {
    let variance = variance(vm, args, "std")?;
    apply("sqrt", &[variance.into()]).map(value)
}

fn logsumexp(vm: &mut Vm, args: &Args) -> Result {
    let given = Given::read(vm, args, "logsumexp")?;
    let x = float(&given.x)?;
    let largest = given.reduce(&x, Reducer::Largest, ReducedAxes::Kept)?;
    // An infinity cannot be taken out.
    let is_finite = apply("isfinite", &[largest.clone().into()])?;
    let largest = apply("where", &[is_finite.into(), largest.into(), Number::Int(0).into()])?;
    let less = apply("subtract", &[x.into(), largest.clone().into()])?;
    let sum = given.reduce(&apply("exp", &[less.into()])?, Reducer::Sum, given.reduced)?;
    let shape: Vec<i64> = sum.shape().iter().map(|len| *len as i64).collect();
    let largest = largest.reshaped(&shape).map_err(raised)?;
    apply("add", &[apply("log", &[sum.into()])?.into(), largest.into()]).map(value)
}

//! Reductions over one axis, several, or all: sums, products, extremes, means, running sums.

use kps_compute::DType;
use kps_compute::number::Number;
use smallvec::smallvec;

use super::array::NdArray;
use super::casting::{Casting, Target};
use super::kernel::binary::Binary;
use super::kernel::cast::cast_row;
use super::kernel::reduce::{Extent, Extreme};
use super::kernel::unary::Unary;
use super::kernel::{self, working_dtype};
use super::layout::Axes;
use super::operand::{self, Operand};
use super::operators::{self, OpResult};
use super::promote::promote_types;
use super::{dtype, errors};
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Sum,
    Product,
    All,
    Any,
    Minimum,
    Maximum,
    /// A universal function's `reduce`, with its name.
    Other(&'static str, Binary),
}

/// An axis counted from either end.
pub fn axis(at: i64, n_axes: usize) -> Result<usize> {
    let from_start = if at < 0 { at + n_axes as i64 } else { at };
    match usize::try_from(from_start) {
        Ok(axis) if axis < n_axes => Ok(axis),
        _ => Err(errors::axis_out_of_bounds(at, n_axes)),
    }
}

/// The axes that an argument `axis` names: one axis, a tuple of them, or all if it is None.
pub fn axes(vm: &mut Vm, value: Option<&Value>, n_axes: usize) -> Result<Vec<usize>> {
    let mut axes = match value {
        None | Some(Value::None) => return Ok((0..n_axes).collect()),
        // A scalar has an axis 0 for this purpose.
        Some(Value::Int(0 | -1)) if n_axes == 0 => return Ok(Vec::new()),
        Some(Value::Tuple(items)) => {
            let mut axes = Vec::new();
            for item in items.iter() {
                axes.push(axis(vm.index(item)?, n_axes)?);
            }
            axes
        }
        Some(value) => vec![axis(vm.index(value)?, n_axes)?],
    };
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(errors::duplicate_axis());
    }
    Ok(axes)
}

impl Reduction {
    /// As universal functions are called.
    fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "add",
            Reduction::Product => "multiply",
            Reduction::All => "logical_and",
            Reduction::Any => "logical_or",
            Reduction::Minimum => "minimum",
            Reduction::Maximum => "maximum",
            Reduction::Other(name, _) => name,
        }
    }

    fn op(self) -> Binary {
        match self {
            Reduction::Sum => Binary::Add,
            Reduction::Product => Binary::Multiply,
            Reduction::All => Binary::And,
            Reduction::Any => Binary::Or,
            Reduction::Minimum => Binary::Minimum,
            Reduction::Maximum => Binary::Maximum,
            Reduction::Other(_, op) => op,
        }
    }

    /// The neutral number; extremes have none.
    fn identity(self) -> Option<Number> {
        Some(match self.op() {
            Binary::Add | Binary::Or | Binary::Xor | Binary::Gcd | Binary::Hypot => Number::Int(0),
            Binary::Multiply => Number::Int(1),
            Binary::And if self == Reduction::All => Number::Bool(true),
            Binary::And => Number::Int(-1),
            Binary::Logaddexp => Number::Float(f64::NEG_INFINITY),
            _ => return None,
        })
    }

    fn is_logical(self) -> bool {
        matches!(self, Reduction::All | Reduction::Any)
    }
}

/// Reduces some axes, which are dropped, or kept with length 1 if `keeps` is true.
pub fn reduce(
    reduction: Reduction,
    operand: &Operand,
    axes: &[usize],
    keeps: bool,
    wanted: Option<DType>,
) -> Result<OpResult> {
    let result = wanted.unwrap_or_else(|| result_dtype(reduction, operand.dtype()));
    let n_reduced: usize = axes.iter().map(|&axis| operand.shape()[axis]).product();
    let made_shape = reduced_shape(operand.shape(), axes, keeps);
    if n_reduced == 0 && made_shape.iter().product::<usize>() > 0 {
        match reduction {
            Reduction::Minimum | Reduction::Maximum | Reduction::Other(..)
                if reduction.identity().is_none() =>
            {
                return Err(errors::no_identity(reduction.name()));
            }
            Reduction::Minimum | Reduction::Maximum | Reduction::Other(..) => {
                let identity = super::array::element(result, reduction.identity().expect("tested just now"));
                let filled = super::create::filled(result, &made_shape, &identity)?;
                return Ok(OpResult { dtype: result, shape: made_shape, row: filled.to_contiguous_bytes()? });
            }
            Reduction::All => {
                operators::check_room(&made_shape, DType::Bool)?;
                let n = made_shape.iter().product();
                return Ok(OpResult { dtype: DType::Bool, shape: made_shape, row: vec![1; n] });
            }
            Reduction::Any | Reduction::Sum | Reduction::Product => {}
        }
    }
    let working = working_dtype(result);
    operators::check_room(&made_shape, working)?;
    let row =
        with_arranged(operand, axes, working, |row, extent| reduce_row(reduction, working, row, extent))?;
    Ok(OpResult { dtype: result, shape: made_shape, row: cast_row(row, working, result)? })
}

fn result_dtype(reduction: Reduction, dtype: DType) -> DType {
    match reduction {
        Reduction::All | Reduction::Any => DType::Bool,
        Reduction::Sum | Reduction::Product => sum_dtype(dtype),
        Reduction::Minimum | Reduction::Maximum | Reduction::Other(..) => dtype,
    }
}

/// Sums of small integers are `int64` or `uint64`.
fn sum_dtype(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::I64,
        dtype if dtype.is_float() => dtype,
        dtype if dtype.is_signed() => DType::I64,
        _ => DType::U64,
    }
}

fn reduce_row(reduction: Reduction, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let is_bool = dtype == DType::Bool;
    let op = match reduction {
        Reduction::Sum => return kernel::reduce::sum(dtype, row, extent),
        Reduction::Product => return kernel::reduce::product(dtype, row, extent),
        // The first bool that differs ends the search.
        Reduction::Any if extent.after == 1 => return kernel::reduce::any(row, extent),
        Reduction::All if extent.after == 1 => return kernel::reduce::all(row, extent),
        Reduction::Minimum if is_bool => Binary::And,
        Reduction::Maximum if is_bool => Binary::Or,
        other => other.op(),
    };
    if extent.len == 0 {
        return kernel::zeros(extent.before * extent.after * dtype.size());
    }
    kernel::reduce::reduce(op, dtype, row, extent)
}

fn reduced_shape(shape: &[usize], axes: &[usize], keeps: bool) -> Axes<usize> {
    let kept = shape.iter().enumerate().filter_map(|(axis, &len)| match (axes.contains(&axis), keeps) {
        (false, _) => Some(len),
        (true, true) => Some(1),
        (true, false) => None,
    });
    kept.collect()
}

/// Calls `look` with the elements so arranged that the axes are one stretch of steps.
fn with_arranged(
    operand: &Operand,
    axes: &[usize],
    dtype: DType,
    look: impl FnOnce(&[u8], Extent) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let shape = operand.shape();
    if let [only] = axes {
        return operand.with_row(dtype, shape, |row| look(row, Extent::around(shape, *only)))?;
    }
    let len: usize = axes.iter().map(|&axis| shape[axis]).product();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let before = kept.iter().map(|&axis| shape[axis]).product();
    let extent = Extent { before, len, after: 1 };
    match operand {
        Operand::Array(array) if !kept.is_empty() && kept != (0..kept.len()).collect::<Vec<_>>() => {
            let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
            let layout = array.layout().permute(&order);
            let moved = Operand::Array(array.clone().with_layout(layout.clone()));
            moved.with_row(dtype, &layout.shape, |row| look(row, extent))?
        }
        _ => operand.with_row(dtype, shape, |row| look(row, extent))?,
    }
}

/// The mean over axes: of integers in `float64`.
pub fn mean(operand: &Operand, axes: &[usize], keeps: bool, wanted: Option<DType>) -> Result<OpResult> {
    mean_where(operand, axes, keeps, wanted, None)
}

/// The mean of those elements that a mask chooses.
fn mean_where(
    operand: &Operand,
    axes: &[usize],
    keeps: bool,
    wanted: Option<DType>,
    mask: Option<&Operand>,
) -> Result<OpResult> {
    let result = wanted.unwrap_or_else(|| mean_dtype(operand.dtype()));
    // Sums of 16-bit floats stay wide until they are divided.
    let working = working_dtype(result);
    let values = masked(Reduction::Sum, operand, working, mask, None)?;
    let sum = reduce(Reduction::Sum, &values, axes, keeps, Some(working))?;
    let mean = divide(sum, &count(operand, axes, keeps, mask)?)?;
    Ok(OpResult { row: cast_row(mean.row, mean.dtype, result)?, dtype: result, shape: mean.shape })
}

fn mean_dtype(dtype: DType) -> DType {
    if dtype.is_float() { dtype } else { DType::F64 }
}

fn divide(made: OpResult, by: &Operand) -> Result<OpResult> {
    let dtype = made.dtype;
    let quotient = operators::apply_binary("divide", Binary::Divide, &Operand::Array(made.into_array()), by)?;
    Ok(OpResult { row: cast_row(quotient.row, quotient.dtype, dtype)?, dtype, shape: quotient.shape })
}

/// The number of elements in each result.
fn count(operand: &Operand, axes: &[usize], keeps: bool, mask: Option<&Operand>) -> Result<Operand> {
    let Some(mask) = mask else {
        let n: usize = axes.iter().map(|&axis| operand.shape()[axis]).product();
        return Ok(Operand::Float(n as f64));
    };
    let ones = ones_like(operand)?;
    let chosen = masked(Reduction::Sum, &ones, DType::F64, Some(mask), None)?;
    Ok(Operand::Array(reduce(Reduction::Sum, &chosen, axes, keeps, Some(DType::F64))?.into_array()))
}

/// The elements in the type of a result; those that a mask excludes become the neutral number.
fn masked(
    reduction: Reduction,
    operand: &Operand,
    dtype: DType,
    mask: Option<&Operand>,
    initial: Option<&Operand>,
) -> Result<Operand> {
    let Some(mask) = mask else { return Ok(operand.clone()) };
    let neutral = match (initial, reduction.identity()) {
        (_, Some(identity)) => super::array::element(dtype, identity),
        (Some(initial), None) => initial.row_as(dtype)?,
        (None, None) => return Err(errors::masked_without_identity(reduction.name())),
    };
    let values = Operand::Array(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?));
    let neutral = Operand::Array(NdArray::from_row(dtype, &[], neutral));
    let chosen = super::join::choose(mask, &values, &neutral)?;
    if *chosen.shape != *operand.shape() {
        return Err(errors::not_broadcast(&[operand.shape(), mask.shape()]));
    }
    Ok(Operand::Array(chosen.into_array()))
}

/// The mean of squared distances from the mean; `ddof` counts less in the divisor.
fn variance(request: &Request) -> Result<OpResult> {
    let Request { operand, axes, keeps, ddof, .. } = request;
    let mask = request.target.mask.as_ref();
    let result = request.dtype.unwrap_or_else(|| mean_dtype(operand.dtype()));
    let working = working_dtype(result);
    let values = operand.clone().in_type(working)?;
    let mean = mean_where(&values, axes, true, Some(working), mask)?;
    let mean = Operand::Array(mean.into_array());
    let distances = operators::apply_binary("subtract", Binary::Subtract, &values, &mean)?;
    let distances = Operand::Array(distances.into_array());
    let squares = operators::apply_unary("square", Unary::Square, &distances)?;
    let squares = masked(Reduction::Sum, &Operand::Array(squares.into_array()), working, mask, None)?;
    let sum = reduce(Reduction::Sum, &squares, axes, *keeps, Some(working))?;
    let count = count(operand, axes, *keeps, mask)?;
    let freedom = operators::apply_binary("subtract", Binary::Subtract, &count, &Operand::Float(*ddof))?;
    let freedom = Operand::Array(freedom.into_array());
    let freedom = operators::apply_binary("maximum", Binary::Maximum, &freedom, &Operand::Float(0.0))?;
    let variance = divide(sum, &Operand::Array(freedom.into_array()))?;
    Ok(OpResult {
        row: cast_row(variance.row, variance.dtype, result)?,
        dtype: result,
        shape: variance.shape,
    })
}

/// The indices of extremes along an axis, or in the flat array without an axis.
pub fn index_of_extreme(
    extreme: Extreme,
    operand: &Operand,
    axis: Option<i64>,
    keeps: bool,
) -> Result<OpResult> {
    let shape = operand.shape();
    let working = working_dtype(operand.dtype());
    let (extent, made_shape) = match axis {
        None => {
            let made = if keeps { smallvec![1; shape.len()] } else { Axes::new() };
            (Extent { before: 1, len: operand.size(), after: 1 }, made)
        }
        Some(at) => {
            let at = self::axis(at, shape.len())?;
            (Extent::around(shape, at), reduced_shape(shape, &[at], keeps))
        }
    };
    if extent.len == 0 {
        return Err(errors::empty_argument(if extreme == Extreme::Least { "argmin" } else { "argmax" }));
    }
    let find = |row: &[u8]| kernel::reduce::index_of_extreme(extreme, working, row, extent);
    operators::check_room(&made_shape, DType::I64)?;
    let row = operand.with_row(working, shape, find)??;
    Ok(OpResult { dtype: DType::I64, shape: made_shape, row })
}

/// Running sums and their like along an axis.
pub fn accumulate(op: Binary, operand: &Operand, at: i64, wanted: Option<DType>) -> Result<OpResult> {
    let result = wanted.unwrap_or_else(|| match op {
        Binary::Add | Binary::Multiply => sum_dtype(operand.dtype()),
        _ => operand.dtype(),
    });
    let axis = axis(at, operand.shape().len())?;
    let working = working_dtype(result);
    let extent = Extent::around(operand.shape(), axis);
    let row = operand
        .with_row(working, operand.shape(), |row| kernel::reduce::accumulate(op, working, row, extent))??;
    Ok(OpResult::new(result, operand.shape(), cast_row(row, working, result)?))
}

/// The arguments that reductions share.
pub struct Request {
    pub operand: Operand,
    pub axes: Vec<usize>,
    pub keeps: bool,
    pub dtype: Option<DType>,
    pub target: Target,
    pub ddof: f64,
    pub initial: Option<Operand>,
}

fn request(vm: &mut Vm, args: &Args, name: &str) -> Result<Request> {
    let mut parser = args.parser(name);
    let operand = operand::required(vm, parser.required("a")?)?;
    let axis = parser.optional("axis")?;
    let dtype = match name {
        "all" | "any" | "min" | "max" | "ptp" => None,
        _ => parser.optional("dtype")?,
    };
    let output = parser.optional("out")?;
    let ddof = match name {
        "var" | "std" => match (parser.optional("ddof")?, parser.keyword_only("correction")) {
            (Some(_), Some(_)) => {
                return Err(crate::errors::value_error(
                    "ddof and correction can't be provided simultaneously.",
                ));
            }
            (ddof, correction) => ddof.or(correction),
        },
        _ => None,
    };
    let keeps = parser.optional("keepdims")?;
    let initial = match name {
        "sum" | "prod" | "min" | "max" => parser.optional("initial")?.cloned().and_then(Value::not_none),
        _ => None,
    };
    let mask = if name == "ptp" { None } else { parser.keyword_only("where") };
    parser.finish()?;
    Ok(Request {
        axes: axes(vm, axis, operand.shape().len())?,
        operand,
        keeps: keeps.map_or(Ok(false), |keeps| vm.truth(keeps))?,
        dtype: dtype::from_argument(vm, dtype)?,
        target: Target::new(vm, output, mask, Casting::SameKind)?,
        ddof: match ddof {
            Some(ddof) => operand::required(vm, ddof)?.number().map_or(0.0, Number::as_f64),
            None => 0.0,
        },
        initial: initial.map(|initial| operand::required(vm, &initial)).transpose()?,
    })
}

impl Request {
    pub fn reduce(self, reduction: Reduction) -> Result {
        let made = self.fold(reduction)?;
        self.target.finish_reduction(reduction.name(), made)
    }

    fn fold(&self, reduction: Reduction) -> Result<OpResult> {
        let natural = match self.target.dtype() {
            _ if reduction.is_logical() => DType::Bool,
            // The type of the output array affects the type of the result.
            Some(output) => promote_types(self.operand.dtype(), output),
            None => result_dtype(reduction, self.operand.dtype()),
        };
        let dtype = if reduction.is_logical() { natural } else { self.dtype.unwrap_or(natural) };
        let (mask, initial) = (self.target.mask.as_ref(), self.initial.as_ref());
        let values = masked(reduction, &self.operand, dtype, mask, initial)?;
        let Some(initial) = initial else {
            return reduce(reduction, &values, &self.axes, self.keeps, Some(dtype));
        };
        let initial = Operand::Array(NdArray::from_row(dtype, &[], initial.row_as(dtype)?));
        if self.axes.iter().any(|&axis| values.shape()[axis] == 0) {
            let shape = reduced_shape(values.shape(), &self.axes, self.keeps);
            let filled = super::create::filled(dtype, &shape, &initial.row_as(dtype)?)?;
            return Ok(OpResult::new(dtype, &shape, filled.to_contiguous_bytes()?));
        }
        let folded = reduce(reduction, &values, &self.axes, self.keeps, Some(dtype))?;
        operators::apply_binary(
            reduction.name(),
            reduction.op(),
            &initial,
            &Operand::Array(folded.into_array()),
        )
    }
}

macro_rules! reductions {
    ($($func:ident $name:literal $reduction:ident;)*) => {$(
        pub fn $func(vm: &mut Vm, args: &Args) -> Result {
            request(vm, args, $name)?.reduce(Reduction::$reduction)
        }
    )*};
}

reductions! {
    sum_method "sum" Sum;
    prod_method "prod" Product;
    all_method "all" All;
    any_method "any" Any;
    min_method "min" Minimum;
    max_method "max" Maximum;
}

pub fn mean_method(vm: &mut Vm, args: &Args) -> Result {
    let Request { operand, axes, keeps, dtype, target, .. } = request(vm, args, "mean")?;
    let made = mean_where(&operand, &axes, keeps, dtype, target.mask.as_ref())?;
    target.finish_reduction("add", made)
}

/// The mean, each element counted with its weight.
pub fn average(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("average");
    let operand = operand::required(vm, parser.required("a")?)?;
    let axis = parser.optional("axis")?;
    let weights = parser.optional("weights")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    let axes = axes(vm, axis, operand.shape().len())?;
    let Some(weights) = weights else { return Ok(mean(&operand, &axes, false, None)?.into_value()) };
    let mut weights = operand::required(vm, &weights)?.into_array()?;
    if let ([axis], [_]) = (&axes[..], weights.shape()) {
        // One weight per step along the axis.
        let mut layout = weights.layout().clone();
        for _ in *axis + 1..operand.shape().len() {
            layout.insert_axis(layout.n_axes());
        }
        weights = weights.with_layout(layout);
    }
    let weights = Operand::Array(weights);
    let weighted = operators::apply_binary("multiply", Binary::Multiply, &operand, &weights)?;
    let weights = operators::apply_binary("multiply", Binary::Multiply, &weights, &ones_like(&operand)?)?;
    let mut sums = Vec::new();
    for made in [weighted, weights] {
        let summed = reduce(Reduction::Sum, &Operand::Array(made.into_array()), &axes, false, None)?;
        sums.push(Operand::Array(summed.into_array()));
    }
    Ok(operators::apply_binary("divide", Binary::Divide, &sums[0], &sums[1])?.into_value())
}

fn ones_like(operand: &Operand) -> Result<Operand> {
    let one = super::array::element(operand.dtype(), 1);
    super::create::filled(operand.dtype(), operand.shape(), &one).map(Operand::Array)
}

pub fn var_method(vm: &mut Vm, args: &Args) -> Result {
    let request = request(vm, args, "var")?;
    let made = variance(&request)?;
    request.target.finish_reduction("add", made)
}

pub fn std_method(vm: &mut Vm, args: &Args) -> Result {
    let request = request(vm, args, "std")?;
    let variance = Operand::Array(variance(&request)?.into_array());
    let made = operators::apply_unary("sqrt", Unary::Sqrt, &variance)?;
    request.target.finish_reduction("add", made)
}

/// The difference of the greatest and the least.
pub fn ptp(vm: &mut Vm, args: &Args) -> Result {
    let request = request(vm, args, "ptp")?;
    let extreme = |reduction| -> Result<Operand> {
        let made = reduce(reduction, &request.operand, &request.axes, request.keeps, None)?;
        Ok(Operand::Array(made.into_array()))
    };
    let (most, least) = (extreme(Reduction::Maximum)?, extreme(Reduction::Minimum)?);
    let made = operators::apply_binary("subtract", Binary::Subtract, &most, &least)?;
    request.target.finish_reduction("subtract", made)
}

fn extreme_index(vm: &mut Vm, args: &Args, name: &str, extreme: Extreme) -> Result {
    let mut parser = args.parser(name);
    let operand = operand::required(vm, parser.required("a")?)?;
    let axis = parser.optional("axis")?;
    let output = parser.optional("out")?;
    let keeps = parser.keyword_only("keepdims");
    parser.finish()?;
    let axis = match axis {
        None | Some(Value::None) => None,
        Some(axis) => Some(vm.index(axis)?),
    };
    let keeps = keeps.map_or(Ok(false), |keeps| vm.truth(keeps))?;
    let target = Target::new(vm, output, None, Casting::SameKind)?;
    target.finish_reduction(name, index_of_extreme(extreme, &operand, axis, keeps)?)
}

pub fn argmin(vm: &mut Vm, args: &Args) -> Result {
    extreme_index(vm, args, "argmin", Extreme::Least)
}

pub fn argmax(vm: &mut Vm, args: &Args) -> Result {
    extreme_index(vm, args, "argmax", Extreme::Greatest)
}

fn running(vm: &mut Vm, args: &Args, name: &str, op: Binary) -> Result {
    let mut parser = args.parser(name);
    let operand = operand::required(vm, parser.required("a")?)?;
    let axis = parser.optional("axis")?;
    let dtype = parser.optional("dtype")?;
    let output = parser.optional("out")?;
    parser.finish()?;
    let target = Target::new(vm, output, None, Casting::SameKind)?;
    let dtype = dtype::from_argument(vm, dtype)?.or(target.dtype());
    let made = match axis {
        None | Some(Value::None) => accumulate(op, &operand.flat()?, 0, dtype)?,
        Some(axis) => accumulate(op, &operand, vm.index(axis)?, dtype)?,
    };
    target.finish_reduction(name, made)
}

pub fn cumsum(vm: &mut Vm, args: &Args) -> Result {
    running(vm, args, "cumsum", Binary::Add)
}

pub fn cumprod(vm: &mut Vm, args: &Args) -> Result {
    running(vm, args, "cumprod", Binary::Multiply)
}

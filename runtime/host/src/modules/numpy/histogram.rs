//! `np.histogram`: counts numbers by bins.

use kps_compute::DType;

use super::array::NdArray;
use super::kernel::cast::cast;
use super::kernel::{load_all, row_of};
use super::operand::{self, Operand};
use super::operators::check_room;
use crate::errors::{type_error, value_error};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("histogram", histogram),
    NativeDef::function("histogram_bin_edges", histogram_bin_edges),
];

/// Bins between neighbouring edges; the last one has its upper edge, too.
struct Bins {
    edges: Vec<f64>,
    /// As in NumPy: the type of the numbers if they are floats.
    dtype: DType,
    is_even: bool,
}

/// The numbers of a call, and the bins of its arguments.
fn bins(vm: &mut Vm, numbers: &Operand, bins: Option<&Value>, range: Option<&Value>) -> Result<Bins> {
    let dtype = if numbers.dtype().is_float() { numbers.dtype() } else { DType::F64 };
    let n = match bins {
        None => 10,
        Some(Value::Str(name)) => {
            let name = name.as_str();
            let raise = value_error(format!("'{name}' is not a valid estimator for `bins`"));
            return Err(raise.help("give a number of bins, or their edges"));
        }
        Some(given) => match vm.try_index(given)? {
            Some(n) => n,
            None => return edges(vm, given),
        },
    };
    let n = usize::try_from(n).ok().filter(|n| *n > 0);
    let n = n.ok_or_else(|| value_error("`bins` must be positive, when an integer"))?;
    let (first, last) = bounds(vm, numbers, range)?;
    check_room(&[n + 1], DType::F64)?;
    let step = (last - first) / n as f64;
    let exact = row_of(n + 1, |at| if at == n { last } else { first + at as f64 * step })?;
    let rounded = cast(&cast(&exact, DType::F64, dtype)?, dtype, DType::F64)?;
    Ok(Bins { edges: load_all(&rounded)?, dtype, is_even: true })
}

/// Bin edges given by the script.
fn edges(vm: &mut Vm, given: &Value) -> Result<Bins> {
    let given = operand::required(vm, given)?;
    if given.shape().len() != 1 {
        return Err(match given.shape().len() {
            0 => type_error("`bins` must be an integer, a string, or an array"),
            _ => value_error("`bins` must be 1d, when an array"),
        });
    }
    let edges = load_all::<f64>(&given.row_as(DType::F64)?)?;
    if edges.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(value_error("`bins` must increase monotonically, when an array"));
    }
    Ok(Bins { edges, dtype: given.dtype(), is_even: false })
}

/// The first and the last edge: those of `range`, else the least and the greatest number.
fn bounds(vm: &mut Vm, numbers: &Operand, range: Option<&Value>) -> Result<(f64, f64)> {
    let (first, last) = match range {
        Some(range) => {
            let bounds = load_all::<f64>(&operand::required(vm, range)?.row_as(DType::F64)?)?;
            let &[first, last] = &bounds[..] else {
                return Err(value_error("`range` is a pair of numbers"));
            };
            if first > last {
                return Err(value_error("max must be larger than min in range parameter."));
            }
            if !(first.is_finite() && last.is_finite()) {
                return Err(value_error(format!("supplied range of [{first}, {last}] is not finite")));
            }
            (first, last)
        }
        None if numbers.size() == 0 => (0.0, 1.0),
        None => {
            let numbers = load_all::<f64>(&numbers.row_as(DType::F64)?)?;
            let first = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let last = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let has_nan = numbers.iter().any(|number| number.is_nan());
            let (first, last) = if has_nan { (f64::NAN, f64::NAN) } else { (first, last) };
            if !(first.is_finite() && last.is_finite()) {
                let (first, last) = (crate::text::float::repr(first), crate::text::float::repr(last));
                return Err(value_error(format!("autodetected range of [{first}, {last}] is not finite")));
            }
            (first, last)
        }
    };
    Ok(if first == last { (first - 0.5, last + 0.5) } else { (first, last) })
}

impl Bins {
    fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The bin of a number.
    fn find(&self, number: f64) -> Option<usize> {
        let (first, last) = (*self.edges.first()?, *self.edges.last()?);
        if !(first..=last).contains(&number) || self.len() == 0 {
            return None;
        }
        if !self.is_even {
            return Some((self.edges.partition_point(|edge| *edge <= number) - 1).min(self.len() - 1));
        }
        // The place by proportion may be one off, by rounding.
        let mut at = (((number - first) / (last - first) * self.len() as f64) as usize).min(self.len() - 1);
        if number < self.edges[at] {
            at -= 1;
        } else if at + 1 < self.len() && number >= self.edges[at + 1] {
            at += 1;
        }
        Some(at)
    }

    fn edges_array(&self) -> Result<Value> {
        let row = row_of(self.edges.len(), |at| self.edges[at])?;
        let row = cast(&row, DType::F64, self.dtype)?;
        Ok(Value::native(NdArray::from_row(self.dtype, &[self.edges.len()], row)))
    }
}

/// `histogram(a, bins=10, range=None, density=False, weights=None)`: counts, and the edges of the bins.
fn histogram(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("histogram");
    let numbers = operand::required(vm, parser.required("a")?)?;
    let given = parser.optional("bins")?;
    let range = parser.optional("range")?.filter(|range| !range.is_none());
    let density = parser.optional("density")?.map_or(Ok(false), |density| vm.truth(density))?;
    let weights = parser.optional("weights")?.filter(|weights| !weights.is_none());
    parser.finish()?;
    let bins = bins(vm, &numbers, given, range)?;
    let weights = weights.map(|weights| operand::required(vm, weights)).transpose()?;
    if weights.as_ref().is_some_and(|weights| weights.shape() != numbers.shape()) {
        return Err(value_error("weights should have the same shape as a."));
    }
    let values = load_all::<f64>(&numbers.row_as(DType::F64)?)?;
    let loads = match &weights {
        Some(weights) => Some(load_all::<f64>(&weights.row_as(DType::F64)?)?),
        None => None,
    };
    check_room(&[bins.len()], DType::F64)?;
    let mut sums = vec![0f64; bins.len()];
    for (at, value) in values.iter().enumerate() {
        if let Some(bin) = bins.find(*value) {
            sums[bin] += loads.as_ref().map_or(1.0, |loads| loads[at]);
        }
    }
    let dtype = match &weights {
        _ if density => DType::F64,
        Some(weights) => weights.dtype(),
        None => DType::I64,
    };
    if density {
        let total: f64 = sums.iter().sum();
        for (sum, pair) in sums.iter_mut().zip(bins.edges.windows(2)) {
            *sum = *sum / (pair[1] - pair[0]) / total;
        }
    }
    let row = row_of(sums.len(), |at| sums[at])?;
    let counts = NdArray::from_row(dtype, &[sums.len()], cast(&row, DType::F64, dtype)?);
    Ok(Value::tuple([Value::native(counts), bins.edges_array()?]))
}

/// Only the edges.
fn histogram_bin_edges(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("histogram_bin_edges");
    let numbers = operand::required(vm, parser.required("a")?)?;
    let given = parser.optional("bins")?;
    let range = parser.optional("range")?.filter(|range| !range.is_none());
    parser.finish()?;
    bins(vm, &numbers, given, range)?.edges_array()
}

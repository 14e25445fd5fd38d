//! `np.random`: one stream per machine for its functions, and independent generators by `default_rng`.

mod bits;
mod distributions;

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use kps_compute::DType;
use num_bigint::Sign;

use self::bits::{Bits, Pcg64, Source};
use self::distributions::{Bounding, bounded, polar_normals, ziggurat_normal};
use super::array::NdArray;
use super::kernel::cast::{cast, cast_row};
use super::kernel::{row_in_order, row_of};
use super::layout::Layout;
use super::operand::{self, Operand};
use super::operators::{self, check_room};
use super::{create, dtype, strided};
use crate::errors::{type_error, value_error};
use crate::modules::mersenne::Mersenne;
use crate::ops::number::to_big;
use crate::value::{Args, Native, NativeDef, NativeModule, NativeType, Result, Value};
use crate::vm::{STRETCH, Vm, checkpoint, collect_all};

/// One stream, and how numbers are drawn from it.
struct Stream {
    bits: Source,
    bounding: Bounding,
    /// The cached second number of a pair of normal numbers.
    kept: Option<f64>,
}

impl Stream {
    fn legacy(seed: u32) -> Stream {
        Stream {
            bits: Source::Mersenne(Box::new(Mersenne::from_word(seed))),
            bounding: Bounding::Masked,
            kept: None,
        }
    }

    fn modern(entropy: &[u32]) -> Stream {
        Stream { bits: Source::Pcg64(Pcg64::new(entropy)), bounding: Bounding::Multiplied, kept: None }
    }

    fn normal(&mut self) -> f64 {
        if self.bounding == Bounding::Multiplied {
            return ziggurat_normal(&mut self.bits);
        }
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let (now, later) = polar_normals(&mut self.bits);
        self.kept = Some(later);
        now
    }

    /// An int from 0 to `most`, which is included.
    fn int(&mut self, most: u64) -> u64 {
        bounded(&mut self.bits, most, self.bounding)
    }

    /// The indices below `n` in random order.
    fn order(&mut self, n: usize) -> Result<Vec<usize>> {
        let mut order = collect_all(0..n)?;
        for at in (1..n).rev() {
            if at.is_multiple_of(STRETCH) {
                checkpoint()?;
            }
            let other = bounded(&mut self.bits, at as u64, Bounding::Masked) as usize;
            order.swap(at, other);
        }
        Ok(order)
    }
}

/// The stream of the module's functions; seeded by chance until a script seeds it.
struct Global(RefCell<Stream>);

impl Default for Global {
    fn default() -> Global {
        Global(RefCell::new(Stream::legacy(chance() as u32)))
    }
}

fn chance() -> u64 {
    RandomState::new().hash_one(0)
}

/// `np.random.default_rng(seed)`.
struct Generator(RefCell<Stream>);

static GENERATOR: NativeType = NativeType {
    methods: &[
        NativeDef::method("random", random),
        NativeDef::method("integers", integers),
        NativeDef::method("uniform", uniform),
        NativeDef::method("normal", normal),
        NativeDef::method("standard_normal", standard_normal),
        NativeDef::method("choice", choice),
        NativeDef::method("shuffle", shuffle),
        NativeDef::method("permutation", permutation),
    ],
    ..NativeType::new("Generator", "numpy.random")
};

impl Native for Generator {
    fn native_type(&self) -> &'static NativeType {
        &GENERATOR
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok("Generator(PCG64)".to_owned())
    }
}

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("seed", seed),
    NativeDef::function("rand", rand),
    NativeDef::function("randn", randn),
    NativeDef::function("randint", randint),
    NativeDef::function("random", random),
    NativeDef::function("random_sample", random),
    NativeDef::function("uniform", uniform),
    NativeDef::function("normal", normal),
    NativeDef::function("standard_normal", standard_normal),
    NativeDef::function("choice", choice),
    NativeDef::function("shuffle", shuffle),
    NativeDef::function("permutation", permutation),
    NativeDef::function("default_rng", default_rng),
];

/// The module `numpy.random`.
pub static MODULE: NativeModule = NativeModule {
    functions: FUNCTIONS,
    types: &[&GENERATOR],
    ..NativeModule::new("numpy.random").doc("Pseudorandom arrays.")
};

/// The arguments without the generator that a method was called on.
fn arguments<'a>(args: &Args<'a>) -> Args<'a> {
    match args.positional().first() {
        Some(first) if first.downcast::<Generator>().is_some() => args.rest(),
        _ => *args,
    }
}

/// Lets `draw` draw from the generator that a method was called on, or from the module's stream.
fn with_stream<R>(vm: &mut Vm, args: &Args, draw: impl FnOnce(&mut Stream) -> R) -> R {
    match args.positional().first().and_then(|first| first.downcast::<Generator>()) {
        Some(generator) => draw(&mut generator.0.borrow_mut()),
        None => {
            let global: Rc<Global> = vm.state();
            let mut stream = global.0.borrow_mut();
            draw(&mut stream)
        }
    }
}

fn seed(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("seed");
    let seed = parser.optional("seed")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    let seed = match seed {
        None => chance() as u32,
        Some(seed) => u32::try_from(vm.index(&seed)?)
            .map_err(|_| value_error("Seed must be between 0 and 2**32 - 1"))?,
    };
    let global: Rc<Global> = vm.state();
    *global.0.borrow_mut() = Stream::legacy(seed);
    Ok(Value::None)
}

fn default_rng(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("default_rng");
    let seed = parser.optional("seed")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    let entropy = match &seed {
        None => vec![chance() as u32, chance() as u32, chance() as u32, chance() as u32],
        Some(generator) if generator.downcast::<Generator>().is_some() => return Ok(generator.clone()),
        Some(seed) => entropy(vm, seed)?,
    };
    Ok(Value::native(Generator(RefCell::new(Stream::modern(&entropy)))))
}

/// The 32-bit words of a seed, the lowest first.
fn entropy(vm: &mut Vm, seed: &Value) -> Result<Vec<u32>> {
    if let Value::List(_) | Value::Tuple(_) = seed {
        vm.check_stack()?;
        let mut words = Vec::new();
        for item in vm.collect(seed)? {
            words.extend(entropy(vm, &item)?);
        }
        return Ok(words);
    }
    let big = match to_big(seed) {
        Some(big) => big,
        None => vm.index(seed)?.into(),
    };
    if big.sign() == Sign::Minus {
        return Err(value_error("expected non-negative integer"));
    }
    let words = big.magnitude().to_u32_digits();
    Ok(if words.is_empty() { vec![0] } else { words })
}

/// A shape argument: None is a single number.
fn size(vm: &mut Vm, value: Option<&Value>) -> Result<Option<Vec<usize>>> {
    match value {
        None | Some(Value::None) => Ok(None),
        Some(value) => create::shape(vm, value).map(Some),
    }
}

/// Numbers drawn for a shape: a Python float without a shape.
fn floats(vm: &mut Vm, args: &Args, shape: Option<&[usize]>, draw: impl Fn(&mut Stream) -> f64) -> Result {
    let Some(shape) = shape else { return Ok(Value::Float(with_stream(vm, args, draw))) };
    check_room(shape, DType::F64)?;
    let n = shape.iter().product();
    let drawn = with_stream(vm, args, |stream| row_in_order(n, || draw(stream)))?;
    Ok(Value::native(NdArray::from_row(DType::F64, shape, drawn)))
}

fn lens(vm: &mut Vm, args: &Args) -> Result<Option<Vec<usize>>> {
    match args.positional() {
        [] => Ok(None),
        lens => create::shape(vm, &Value::list(lens.to_vec())).map(Some),
    }
}

fn rand(vm: &mut Vm, args: &Args) -> Result {
    let shape = lens(vm, args)?;
    floats(vm, args, shape.as_deref(), |stream| stream.bits.next_f64())
}

fn randn(vm: &mut Vm, args: &Args) -> Result {
    let shape = lens(vm, args)?;
    floats(vm, args, shape.as_deref(), Stream::normal)
}

fn random(vm: &mut Vm, args: &Args) -> Result {
    let given = arguments(args);
    let mut parser = given.parser("random");
    let shape = parser.optional("size")?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let shape = size(vm, shape)?;
    let drawn = floats(vm, args, shape.as_deref(), |stream| stream.bits.next_f64())?;
    match (dtype::from_argument(vm, wanted)?, drawn.downcast::<NdArray>()) {
        (Some(dtype), Some(array)) => {
            Ok(Value::native(NdArray::from_row(dtype, array.shape(), array.row_as(dtype)?)))
        }
        _ => Ok(drawn),
    }
}

fn standard_normal(vm: &mut Vm, args: &Args) -> Result {
    let given = arguments(args);
    let mut parser = given.parser("standard_normal");
    let shape = parser.optional("size")?;
    parser.finish()?;
    let shape = size(vm, shape)?;
    floats(vm, args, shape.as_deref(), Stream::normal)
}

/// Two parameters that shift and scale the drawn numbers.
fn scaled(
    vm: &mut Vm,
    args: &Args,
    name: &str,
    parameters: [(&str, f64); 2],
    draw: impl Fn(&mut Stream, f64, f64) -> f64,
) -> Result {
    let given = arguments(args);
    let mut parser = given.parser(name);
    let [(first, first_default), (second, second_default)] = parameters;
    let first = parser.optional(first)?;
    let second = parser.optional(second)?;
    let shape = parser.optional("size")?;
    parser.finish()?;
    let (first, second) =
        (operand::one_f64(vm, first, first_default)?, operand::one_f64(vm, second, second_default)?);
    if name == "normal" && second < 0.0 {
        return Err(value_error("scale < 0"));
    }
    let shape = size(vm, shape)?;
    floats(vm, args, shape.as_deref(), |stream| draw(stream, first, second))
}

fn uniform(vm: &mut Vm, args: &Args) -> Result {
    scaled(vm, args, "uniform", [("low", 0.0), ("high", 1.0)], |stream, low, high| {
        low + (high - low) * stream.bits.next_f64()
    })
}

fn normal(vm: &mut Vm, args: &Args) -> Result {
    scaled(vm, args, "normal", [("loc", 0.0), ("scale", 1.0)], |stream, mean, deviation| {
        mean + deviation * stream.normal()
    })
}

fn randint(vm: &mut Vm, args: &Args) -> Result {
    ints(vm, args, "randint")
}

fn integers(vm: &mut Vm, args: &Args) -> Result {
    ints(vm, args, "integers")
}

fn ints(vm: &mut Vm, args: &Args, name: &str) -> Result {
    let given = arguments(args);
    let mut parser = given.parser(name);
    let low = parser.required("low")?;
    let high = parser.optional("high")?.cloned().and_then(Value::not_none);
    let shape = parser.optional("size")?;
    let wanted = parser.optional("dtype")?;
    let endpoint = parser.keyword_only("endpoint");
    parser.finish()?;
    let endpoint = endpoint.map_or(Ok(false), |endpoint| vm.truth(endpoint))?;
    let (low, high) = match high {
        Some(high) => (vm.index(low)?, vm.index(&high)?),
        None => (0, vm.index(low)?),
    };
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::I64);
    let n = i128::from(high) - i128::from(low) + i128::from(endpoint);
    if n <= 0 {
        return Err(value_error("low >= high"));
    }
    let most = (n - 1) as u64;
    let shape = size(vm, shape)?;
    let draw = |stream: &mut Stream| low.wrapping_add_unsigned(stream.int(most));
    let Some(shape) = shape else {
        let drawn = with_stream(vm, args, draw);
        return Ok(match name {
            "randint" if wanted.is_none() => Value::Int(drawn),
            _ => operators::wrap(dtype, &[], cast(&drawn.to_le_bytes(), DType::I64, dtype)?),
        });
    };
    check_room(&shape, DType::I64)?;
    let n = shape.iter().product();
    let drawn = with_stream(vm, args, |stream| row_in_order(n, || draw(stream)))?;
    Ok(Value::native(NdArray::from_row(dtype, &shape, cast_row(drawn, DType::I64, dtype)?)))
}

/// An array with the items of its first axis in another order.
fn reordered(array: &NdArray, order: &[usize]) -> Result<Vec<u8>> {
    let size = array.dtype().size();
    let row = array.to_contiguous_bytes()?;
    let layout = Layout::contiguous(array.shape());
    let mut shape = array.shape().to_vec();
    shape[0] = order.len();
    if check_room(&shape, DType::I64)? == 0 {
        return Ok(Vec::new());
    }
    let mut indices: Vec<Vec<usize>> = shape.iter().map(|&len| (0..len).collect()).collect();
    indices[0] = order.to_vec();
    strided::gather_at(&row, size, &layout.bytes_of(&indices, size)?)
}

fn shuffle(vm: &mut Vm, args: &Args) -> Result {
    let [value] = arguments(args).exactly("shuffle")?;
    if let Value::List(list) = value {
        let items = list.to_vec();
        let order = with_stream(vm, args, |stream| stream.order(items.len()))?;
        let shuffled = order.iter().map(|&at| items[at].clone()).collect();
        let previous = std::mem::replace(&mut *list.borrow_mut(), shuffled);
        drop(previous);
        return Ok(Value::None);
    }
    let Some(array) = value.downcast::<NdArray>().filter(|array| !array.shape().is_empty()) else {
        return Err(type_error(format!("a '{}' object cannot be shuffled", value.type_name())));
    };
    let order = with_stream(vm, args, |stream| stream.order(array.shape()[0]))?;
    array.write_row(&reordered(array, &order)?)?;
    Ok(Value::None)
}

fn permutation(vm: &mut Vm, args: &Args) -> Result {
    let [value] = arguments(args).exactly("permutation")?;
    let array = population(vm, value)?;
    let order = with_stream(vm, args, |stream| stream.order(array.shape()[0]))?;
    Ok(Value::native(NdArray::from_row(array.dtype(), array.shape(), reordered(&array, &order)?)))
}

/// An array to draw from: the ints below one, or the items of a sequence.
fn population(vm: &mut Vm, value: &Value) -> Result<NdArray> {
    if let Some(n) = vm.try_index(value)?
        && value.downcast::<NdArray>().is_none()
    {
        let n = usize::try_from(n)
            .map_err(|_| value_error("a must be greater than 0 unless no samples are taken"))?;
        check_room(&[n], DType::I64)?;
        return Ok(NdArray::from_row(DType::I64, &[n], row_of(n, |at| at as i64)?));
    }
    let array = operand::to_array(vm, value, None)?;
    if array.shape().is_empty() {
        return Err(value_error("a must be 1-dimensional or an integer"));
    }
    Ok(array)
}

fn choice(vm: &mut Vm, args: &Args) -> Result {
    let given = arguments(args);
    let mut parser = given.parser("choice");
    let population = population(vm, parser.required("a")?)?;
    let shape = parser.optional("size")?;
    let replaces = parser.optional("replace")?.map_or(Ok(true), |replaces| vm.truth(replaces))?;
    let weights = parser.optional("p")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    let shape = size(vm, shape)?;
    let n_bytes = check_room(shape.as_deref().unwrap_or(&[]), DType::I64)?;
    let n = n_bytes / size_of::<i64>();
    let n_items = population.shape()[0];
    if n_items == 0 && n > 0 {
        return Err(value_error("a cannot be empty unless no samples are taken"));
    }
    if !replaces && n > n_items {
        return Err(value_error("Cannot take a larger sample than population when replace is False"));
    }
    let weights = weights.map(|weights| cumulated(vm, &weights, n_items)).transpose()?;
    if weights.is_some() && !replaces {
        return Err(value_error("weights without replacement are not supported"));
    }
    let picks: Result<Vec<usize>> = with_stream(vm, args, |stream| match &weights {
        Some(sums) => {
            let pick = |x: f64| sums.partition_point(|sum| *sum <= x).min(n_items - 1);
            Ok((0..n).map(|_| pick(stream.bits.next_f64())).collect())
        }
        None if replaces => Ok((0..n).map(|_| stream.int(n_items as u64 - 1) as usize).collect()),
        None => {
            let mut order = stream.order(n_items)?;
            order.truncate(n);
            Ok(order)
        }
    });
    let row = reordered(&population, &picks?)?;
    let rest = &population.shape()[1..];
    let shape = [shape.as_deref().unwrap_or(&[]), rest].concat();
    Ok(operators::wrap(population.dtype(), &shape, row))
}

/// Running sums of weights, the last one 1.
fn cumulated(vm: &mut Vm, weights: &Value, n: usize) -> Result<Vec<f64>> {
    let weights: Operand = operand::required(vm, weights)?;
    let weights = super::kernel::load_all::<f64>(&weights.row_as(DType::F64)?)?;
    if weights.len() != n {
        return Err(value_error("a and p must have same size"));
    }
    let total: f64 = weights.iter().sum();
    if weights.iter().any(|weight| weight.is_nan() || *weight < 0.0) {
        return Err(value_error("probabilities are not non-negative"));
    }
    if (total - 1.0).abs() > 1e-8 {
        return Err(value_error("probabilities do not sum to 1"));
    }
    let mut sum = 0.0;
    let mut sums: Vec<f64> = Vec::with_capacity(n);
    for weight in weights {
        sum += weight;
        sums.push(sum);
    }
    sums.iter_mut().for_each(|partial| *partial /= sum);
    Ok(sums)
}

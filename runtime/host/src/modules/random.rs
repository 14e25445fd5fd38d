//! The module `random`: the same numbers as CPython for the same seed.
//!
//! The functions of the module are the methods of one generator `Random`, which is seeded by the clock.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use sha2::{Digest, Sha512};

use super::mersenne::Mersenne;
use super::random_distributions as distributions;
use crate::builtins::float::to_f64;
use crate::builtins::int::required;
use crate::builtins::support::given;
use crate::errors;
use crate::ops::number;
use crate::value::{
    Args, BoundMethod, Module, Native, NativeDef, NativeFunction, NativeModule, NativeType, Result, Value,
};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    types: &[&TYPE],
    init: Some(init),
    ..NativeModule::new("random").doc("Pseudorandom numbers, equal to those of CPython for a seed.")
};

static TYPE: NativeType =
    NativeType { new: Some(new), methods: METHODS, ..NativeType::new("Random", "random") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("seed", seed),
    NativeDef::method("random", random),
    NativeDef::method("getrandbits", getrandbits),
    NativeDef::method("randbytes", randbytes),
    NativeDef::method("randrange", randrange),
    NativeDef::method("randint", randint),
    NativeDef::method("choice", choice),
    NativeDef::method("choices", choices),
    NativeDef::method("shuffle", shuffle),
    NativeDef::method("sample", sample),
    NativeDef::method("getstate", getstate),
    NativeDef::method("setstate", setstate),
    NativeDef::method("uniform", distributions::uniform),
    NativeDef::method("triangular", distributions::triangular),
    NativeDef::method("gauss", distributions::gauss),
    NativeDef::method("normalvariate", distributions::normalvariate),
    NativeDef::method("lognormvariate", distributions::lognormvariate),
    NativeDef::method("expovariate", distributions::expovariate),
    NativeDef::method("gammavariate", distributions::gammavariate),
    NativeDef::method("betavariate", distributions::betavariate),
    NativeDef::method("paretovariate", distributions::paretovariate),
    NativeDef::method("weibullvariate", distributions::weibullvariate),
    NativeDef::method("vonmisesvariate", distributions::vonmisesvariate),
];

/// A generator object.
pub struct Random {
    pub generator: RefCell<Mersenne>,
    /// The second of the two numbers that `gauss` draws at a time.
    pub gauss_next: Cell<Option<f64>>,
}

impl Native for Random {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }
}

impl Random {
    fn by_clock() -> Random {
        Random { generator: RefCell::new(Mersenne::new(&clock_seed())), gauss_next: Cell::new(None) }
    }

    pub fn next(&self) -> f64 {
        self.generator.borrow_mut().next_f64()
    }

    fn below(&self, n: usize) -> usize {
        self.generator.borrow_mut().below(n as u64) as usize
    }
}

/// Different for each run and each generator.
fn clock_seed() -> BigUint {
    thread_local! {
        static N_MADE: Cell<u32> = const { Cell::new(0) };
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    N_MADE.set(N_MADE.get().wrapping_add(1));
    BigUint::from(now.as_nanos()) << 64
        | BigUint::from(std::process::id()) << 32
        | BigUint::from(N_MADE.get())
}

fn init(vm: &mut Vm, module: &Module) -> Result<()> {
    let generator = Value::native(Random::by_clock());
    let class = vm.name("Random");
    for def in METHODS {
        let function = Value::NativeFunction(Rc::new(NativeFunction::of_class(def, class.clone())));
        let method = BoundMethod { function, receiver: generator.clone() };
        module.set(def.name, Value::Method(Rc::new(method)));
    }
    Ok(())
}

fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("Random");
    let source = given(parser.optional("x")?);
    parser.finish()?;
    let random = Random::by_clock();
    if let Some(source) = source {
        *random.generator.borrow_mut() = Mersenne::new(&seed_of(vm, source)?);
    }
    Ok(Value::native(random))
}

pub fn this<'a>(args: &Args<'a>) -> Result<&'a Random> {
    args.this::<Random>()
}

/// The int of a seed.
fn seed_of(vm: &mut Vm, source: &Value) -> Result<BigUint> {
    if let Some(int) = number::to_big(source.base_value()) {
        return Ok(int.magnitude().clone());
    }
    match source.base_value() {
        Value::Float(_) => Ok(BigUint::from(vm.hash(source)? as u64)),
        Value::Str(text) => Ok(text_seed(text.as_bytes())),
        Value::Bytes(bytes) => Ok(text_seed(bytes)),
        _ => Err(errors::type_error(
            "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.",
        )),
    }
}

/// The int of a text seed: the bytes and their SHA-512 digest.
fn text_seed(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(&[bytes, &Sha512::digest(bytes)].concat())
}

fn seed(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("seed");
    let source = given(parser.optional("a")?);
    parser.finish()?;
    let seed = match source {
        Some(source) => seed_of(vm, source)?,
        None => clock_seed(),
    };
    let random = this(args)?;
    *random.generator.borrow_mut() = Mersenne::new(&seed);
    random.gauss_next.set(None);
    Ok(Value::None)
}

fn random(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("random")?;
    Ok(Value::Float(this(args)?.next()))
}

fn getrandbits(vm: &mut Vm, args: &Args) -> Result {
    let [n_bits] = args.rest().exactly("getrandbits")?;
    let n_bits = vm.index(n_bits)?;
    if n_bits < 0 {
        return Err(errors::value_error("number of bits must be non-negative"));
    }
    crate::text::check_length(n_bits as usize)?;
    Ok(Value::big(this(args)?.generator.borrow_mut().next_bits(n_bits as u64).into()))
}

fn randbytes(vm: &mut Vm, args: &Args) -> Result {
    let [n_bytes] = args.rest().exactly("randbytes")?;
    let Ok(n_bytes) = usize::try_from(vm.index(n_bytes)?) else {
        return Err(errors::value_error("number of bits must be non-negative"));
    };
    crate::text::check_length(n_bytes)?;
    let mut bytes = this(args)?.generator.borrow_mut().next_bits(8 * n_bytes as u64).to_bytes_le();
    bytes.resize(n_bytes, 0);
    Ok(Value::bytes(bytes))
}

/// An int below `n`, which is positive.
fn below_big(random: &Random, n: &BigInt) -> BigInt {
    random.generator.borrow_mut().below_big(n.magnitude()).into()
}

fn randrange(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("randrange");
    let start = parser.required("start")?;
    let stop = given(parser.optional("stop")?);
    let step = parser.optional("step")?;
    parser.finish()?;
    let random = this(args)?;
    let start = required(vm, start)?;
    let Some(stop) = stop else {
        if !start.is_positive() {
            return Err(errors::value_error("empty range for randrange()"));
        }
        return Ok(Value::big(below_big(random, &start)));
    };
    let stop = required(vm, stop)?;
    let step = step.map_or(Ok(BigInt::from(1)), |step| required(vm, step))?;
    if step.is_zero() {
        return Err(errors::value_error("zero step for randrange()"));
    }
    let width = &stop - &start;
    // The number of steps, the last one perhaps a part of one.
    let n_steps = Integer::div_ceil(&width, &step);
    if !n_steps.is_positive() {
        let message = if step == BigInt::from(1) {
            format!("empty range for randrange() ({start}, {stop}, {width})")
        } else {
            "empty range for randrange()".to_owned()
        };
        return Err(errors::value_error(message));
    }
    Ok(Value::big(start + step * below_big(random, &n_steps)))
}

fn randint(vm: &mut Vm, args: &Args) -> Result {
    let [low, high] = args.rest().exactly("randint")?;
    let (low, high) = (required(vm, low)?, required(vm, high)?);
    let width: BigInt = &high - &low + 1;
    if !width.is_positive() {
        let message = format!("empty range for randrange() ({low}, {}, {width})", high + 1);
        return Err(errors::value_error(message));
    }
    Ok(Value::big(low + below_big(this(args)?, &width)))
}

fn choice(vm: &mut Vm, args: &Args) -> Result {
    let [sequence] = args.rest().exactly("choice")?;
    let n_items = vm.len(sequence)?;
    if n_items == 0 {
        return Err(errors::index_error("Cannot choose from an empty sequence"));
    }
    let at = this(args)?.below(n_items);
    vm.get_item(sequence, &Value::from(at))
}

fn choices(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("choices");
    let population = parser.required("population")?;
    let weights = given(parser.optional("weights")?);
    let cumulative = given(parser.keyword_only("cum_weights"));
    let n_wanted = parser.keyword_only("k");
    parser.finish()?;
    let population = vm.collect(population)?;
    let n_wanted = n_wanted.map_or(Ok(1), |n| vm.index(n))?.max(0);
    let random = this(args)?;
    let n_items = population.len();
    let totals = match (weights, cumulative) {
        (None, None) if n_items == 0 => return Err(errors::index_error("list index out of range")),
        (None, None) => {
            let pick = |_| population[(random.next() * n_items as f64).floor() as usize].clone();
            return Ok(Value::list((0..n_wanted).map(pick).collect()));
        }
        (Some(_), Some(_)) => {
            return Err(errors::type_error("Cannot specify both weights and cumulative weights"));
        }
        (Some(weights), None) => running_totals(vm, weights)?,
        (None, Some(cumulative)) => floats(vm, cumulative)?,
    };
    if totals.len() != n_items {
        return Err(errors::value_error("The number of weights does not match the population"));
    }
    let total = totals.last().copied().unwrap_or(0.0);
    if total <= 0.0 {
        return Err(errors::value_error("Total of weights must be greater than zero"));
    }
    if !total.is_finite() {
        return Err(errors::value_error("Total of weights must be finite"));
    }
    let pick = |_| {
        let point = random.next() * total;
        let at = totals[..n_items - 1].partition_point(|&up_to| up_to <= point);
        population[at].clone()
    };
    Ok(Value::list((0..n_wanted).map(pick).collect()))
}

fn floats(vm: &mut Vm, values: &Value) -> Result<Vec<f64>> {
    let values = vm.collect(values)?;
    values.iter().map(|value| to_f64(vm, value)).collect()
}

fn running_totals(vm: &mut Vm, weights: &Value) -> Result<Vec<f64>> {
    let mut total = 0.0;
    let weights = floats(vm, weights)?;
    Ok(weights
        .into_iter()
        .map(|weight| {
            total += weight;
            total
        })
        .collect())
}

fn shuffle(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("shuffle")?;
    let random = this(args)?;
    if let Value::List(list) = items.base_value() {
        let mut list = list.borrow_mut();
        for at in (1..list.len()).rev() {
            list.swap(at, random.below(at + 1));
        }
        return Ok(Value::None);
    }
    for at in (1..vm.len(items)?).rev() {
        let (here, there) = (Value::from(at), Value::from(random.below(at + 1)));
        let (left, right) = (vm.get_item(items, &here)?, vm.get_item(items, &there)?);
        vm.set_item(items, &here, right)?;
        vm.set_item(items, &there, left)?;
    }
    Ok(Value::None)
}

fn sample(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("sample");
    let population = parser.required("population")?;
    let n_wanted = parser.required("k")?;
    let counts = given(parser.keyword_only("counts"));
    parser.finish()?;
    if let Value::Set(_) | Value::FrozenSet(_) | Value::Dict(_) = population.base_value() {
        return Err(errors::type_error("Population must be a sequence.  For dicts or sets, use sorted(d)."));
    }
    let mut population = vm.collect(population)?;
    if let Some(counts) = counts {
        population = repeated(vm, &population, counts)?;
    }
    let n_wanted = usize::try_from(vm.index(n_wanted)?).ok().filter(|&n| n <= population.len());
    let Some(n_wanted) = n_wanted else {
        return Err(errors::value_error("Sample larger than population or is negative"));
    };
    Ok(Value::list(pick(this(args)?, population, n_wanted)))
}

fn repeated(vm: &mut Vm, population: &[Value], counts: &Value) -> Result<Vec<Value>> {
    let counts = vm.collect(counts)?;
    if counts.len() != population.len() {
        return Err(errors::value_error("The number of counts does not match the population"));
    }
    let mut items = Vec::new();
    for (item, count) in population.iter().zip(&counts) {
        let Ok(count) = usize::try_from(vm.index(count)?) else {
            return Err(errors::value_error("Counts must be non-negative"));
        };
        crate::text::check_length(count)?;
        items.extend(std::iter::repeat_n(item.clone(), count));
    }
    Ok(items)
}

/// Items without repetition: from a shrinking pool if many are wanted, else by rejecting repeats. The method
/// determines which numbers are drawn, so the choice is CPython's.
fn pick(random: &Random, mut pool: Vec<Value>, n_wanted: usize) -> Vec<Value> {
    let n_items = pool.len();
    let mut set_size = 21.0;
    if n_wanted > 5 {
        set_size += 4.0_f64.powf(((n_wanted as f64 * 3.0).ln() / 4.0_f64.ln()).ceil());
    }
    if n_items as f64 <= set_size {
        return (0..n_wanted)
            .map(|n_picked| {
                let n_left = n_items - n_picked;
                let at = random.below(n_left);
                let item = pool[at].clone();
                pool[at] = pool[n_left - 1].clone();
                item
            })
            .collect();
    }
    let mut picked = rustc_hash::FxHashSet::default();
    (0..n_wanted)
        .map(|_| {
            let mut at = random.below(n_items);
            while !picked.insert(at) {
                at = random.below(n_items);
            }
            pool[at].clone()
        })
        .collect()
}

/// `(version, words and position, gauss_next)`, as in CPython.
fn getstate(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("getstate")?;
    let random = this(args)?;
    let generator = random.generator.borrow();
    let (words, at) = generator.state();
    let mut state: Vec<Value> = words.iter().map(|&word| Value::from(word)).collect();
    state.push(Value::from(at));
    Ok(Value::tuple([Value::Int(3), Value::tuple(state), random.gauss_next.get().into()]))
}

fn setstate(vm: &mut Vm, args: &Args) -> Result {
    let [state] = args.rest().exactly("setstate")?;
    let parts = vm.collect(state)?;
    let restored = match &parts[..] {
        [_, Value::Tuple(words), gauss_next] => words.split_last().and_then(|(at, words)| {
            let words: Option<Vec<u32>> = words.iter().map(|word| word.as_int()?.to_u32()).collect();
            let generator = Mersenne::from_state(&words?, usize::try_from(at.as_int()?).ok()?)?;
            let gauss_next = if let Value::Float(float) = gauss_next { Some(*float) } else { None };
            Some((generator, gauss_next))
        }),
        _ => None,
    };
    let Some((generator, gauss_next)) = restored else {
        return Err(errors::value_error("state vector is not one that getstate() returned"));
    };
    let random = this(args)?;
    *random.generator.borrow_mut() = generator;
    random.gauss_next.set(gauss_next);
    Ok(Value::None)
}

//! Every function of f64 against the host's, which is right to about half a unit in the last place,
//! over a grid of ordinary and extreme values, on the built-in device.
//!
//! The bounds are those of the rows in `src/builtins`: units in the last place of the true result.

mod support;

use kps_device::{Access, Binding, BufferId, Command, Commands, Device, Dispatch, MemoryUsage, QueueId};
use kps_kernel::intrinsics::{Bound, intrinsic};
use kps_kernel::{Reach, Target};

use support::{compile, render};

/// A function of one number, as the host computes it.
type OneToOne = fn(f64) -> f64;
type TwoToOne = fn(f64, f64) -> f64;

/// Functions of one number: as kernels write them, and as the host computes them.
const FUNCTIONS: &[(&str, OneToOne)] = &[
    ("sin(x)", f64::sin),
    ("cos(x)", f64::cos),
    ("tan(x)", f64::tan),
    ("asin(x)", f64::asin),
    ("acos(x)", f64::acos),
    ("atan(x)", f64::atan),
    ("sinh(x)", f64::sinh),
    ("cosh(x)", f64::cosh),
    ("tanh(x)", f64::tanh),
    ("asinh(x)", asinh),
    ("acosh(x)", acosh),
    ("atanh(x)", atanh),
    ("exp(x)", f64::exp),
    ("exp2(x)", f64::exp2),
    ("expm1(x)", f64::exp_m1),
    ("log(x)", f64::ln),
    ("log2(x)", f64::log2),
    ("log10(x)", f64::log10),
    ("log1p(x)", f64::ln_1p),
    ("cbrt(x)", f64::cbrt),
    ("sqrt(x)", f64::sqrt),
];

/// The same of two numbers.
const OF_TWO: &[(&str, TwoToOne)] =
    &[("atan2(x, y)", f64::atan2), ("x ** y", f64::powf), ("hypot(x, y)", f64::hypot)];

/// The promised bound, in ULP.
fn bound(call: &str) -> f64 {
    match intrinsic(call).and_then(|intrinsic| intrinsic.double) {
        Some(Bound::Ulp(units)) => units,
        // A square root is rounded right.
        _ => 0.5,
    }
}

/// The host's overflow where the logarithm does not, and lose digits near 1.
fn asinh(x: f64) -> f64 {
    if x.abs() > 1e9 { (x.abs().ln() + std::f64::consts::LN_2).copysign(x) } else { x.asinh() }
}

fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    if x > 1e9 { x.ln() + std::f64::consts::LN_2 } else { (x - 1.0 + ((x - 1.0) * (x + 1.0)).sqrt()).ln_1p() }
}

/// The host's loses digits on the negative side.
fn atanh(x: f64) -> f64 {
    x.abs().atanh().copysign(x)
}

/// Signed values: what is special, powers of two and multiples of a quarter turn with their
/// neighbours, and numbers of every size.
fn grid() -> Vec<f64> {
    let mut sizes = vec![0.0, f64::from_bits(1), f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NAN];
    for exponent in -1074..1024 {
        if exponent % 7 == 0 || exponent > -30 && exponent < 30 {
            let power = 2f64.powi(exponent);
            sizes.extend([power, power * 1.3, power * 1.999_999]);
        }
    }
    for n in 1..300 {
        let near = f64::from(n) * std::f64::consts::FRAC_PI_4;
        sizes.extend([
            near.next_down(),
            near,
            near.next_up(),
            f64::from(n) * 0.03,
            1.0 + f64::from(n) * 1e-7,
        ]);
        sizes.extend([1.0 - f64::from(n) * 1e-7, f64::from(n), f64::from(n) + 0.5, f64::from(n) * 2.37]);
    }
    sizes.extend([1e22, 1e300, 123_456_789.0, 1_647_099.0]);
    sizes.iter().flat_map(|size| [*size, -size]).collect()
}

/// Numbers without a pattern, the same every time, and of every size that matters for two arguments.
fn pairs() -> Vec<(f64, f64)> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut pairs = Vec::new();
    for _ in 0..4000 {
        let (a, b) = (next() * 2.0 - 1.0, next() * 2.0 - 1.0);
        pairs.extend([(a, b), (1.0 + a * 0.01, b * 3e4), (a.abs() * 1e3, b * 90.0)]);
        pairs.push((2f64.powf(a * 1000.0), 2f64.powf(b * 1000.0)));
    }
    let special = [0.0, 1.0, 0.5, 2.0, 3.0, 1e-320, 1e308, f64::INFINITY, f64::NAN, 1e22, 0.333];
    let signed: Vec<f64> = special.iter().flat_map(|size| [*size, -size]).collect();
    pairs.extend(signed.iter().flat_map(|a| signed.iter().map(|b| (*a, *b))));
    pairs
}

fn buffer(device: &dyn Device, values: &[f64]) -> BufferId {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let buffer = device.alloc(bytes.len() as u64, MemoryUsage::Host).expect("memory");
    device.write(buffer, 0, &bytes).expect("a write");
    buffer
}

/// What the built-in device makes of an expression over `x` and `y`.
fn computed(device: &dyn Device, expression: &str, x: &[f64], y: &[f64]) -> Vec<f64> {
    let text = format!(
        "@kernel\ndef k(a: Array[f64], b: Array[f64], out: Array[f64]):\n    i = global_id.x\n    x = a[i]\n    \
         y = b[i] + 0.0\n    out[i] = {expression}\n"
    );
    let (kernels, mistakes) = compile("doubles", &text, &Target::portable(), Reach::Binding);
    assert!(mistakes.is_empty(), "{expression}\n{}", render(&mistakes));
    let support::Compiled { name, module } = &kernels[0];
    assert_eq!(name, "k");
    let pipeline = device.load(&module.words, &Default::default()).expect("our own words load");
    let (n, size) = (x.len() as u32, size_of_val(x) as u64);
    let out = buffer(device, &vec![0.0; x.len()]);
    let buffers = [buffer(device, x), buffer(device, y), out];
    let bindings = buffers.iter().zip(0..).map(|(buffer, binding)| Binding {
        set: 0,
        binding,
        buffer: *buffer,
        offset: 0,
        size,
        access: Access::ReadWrite,
    });
    let bindings = bindings.collect();
    let push_constants = [n, 1, 1].iter().flat_map(|axis| axis.to_le_bytes()).collect();
    let groups = [n.div_ceil(module.local_size[0]), 1, 1];
    let dispatch = Command::Dispatch(Dispatch {
        pipeline,
        bindings,
        samplers: Vec::new(),
        push_constants,
        addressed: Vec::new(),
        groups,
    });
    let ticket = device.submit(QueueId(0), &Commands::new(vec![dispatch]), &[]).expect("a submission");
    device.wait(ticket, None).expect("the end of it");
    let mut bytes = vec![0; size as usize];
    device.read(out, 0, &mut bytes).expect("a read");
    buffers.into_iter().for_each(|buffer| device.free(buffer));
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect()
}

/// How many units in the last place lie between two numbers; the signs of zeros count.
fn distance(found: f64, wanted: f64) -> f64 {
    if wanted.is_nan() || found.is_nan() {
        return if wanted.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found == wanted {
        return if found.is_sign_negative() == wanted.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    let place = |value: f64| {
        let bits = value.to_bits() as i64;
        i128::from(if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits })
    };
    (place(found) - place(wanted)).unsigned_abs() as f64
}

/// The host is off by less than a unit itself, so a whole number of units stands for the bound's ceiling.
fn check(
    name: &str,
    bound: f64,
    found: &[f64],
    wanted: &[f64],
    at: impl Fn(usize) -> String,
) -> Option<String> {
    let errors = found.iter().zip(wanted).map(|(found, wanted)| distance(*found, *wanted));
    let (worst, error) = errors.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).expect("a grid");
    println!("{name}: at most {error} off, at {}", at(worst));
    (error > bound.ceil()).then(|| {
        format!(
            "{name} at {}: {:e}, and {:e} is right: {error} units",
            at(worst),
            found[worst],
            wanted[worst]
        )
    })
}

#[test]
fn functions_of_doubles_keep_their_bounds() {
    let device = kps_device::cpu::open().expect("the built-in device is always there");
    let x = grid();
    let mut failures = Vec::new();
    for (expression, function) in FUNCTIONS {
        let found = computed(&*device, expression, &x, &x);
        let wanted: Vec<f64> = x.iter().map(|x| function(*x)).collect();
        failures.extend(check(expression, bound(expression), &found, &wanted, |at| format!("{:e}", x[at])));
    }
    let (x, y): (Vec<f64>, Vec<f64>) = pairs().into_iter().unzip();
    for (expression, function) in OF_TWO {
        let found = computed(&*device, expression, &x, &y);
        // The kernel adds 0.0 to y, so that its zeros have one sign.
        let wanted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| function(*x, *y + 0.0)).collect();
        let place = |at: usize| format!("{:e}, {:e}", x[at], y[at]);
        failures.extend(check(expression, bound(expression), &found, &wanted, place));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The double that comes nearest to a multiple of pi/2 (J.-M. Muller, "Elementary Functions", 2016,
/// section 11.3.2), where a host's own cosine may be off.
#[test]
fn cosine_is_right_next_to_its_zeros() {
    let device = kps_device::cpu::open().expect("the built-in device is always there");
    let x = 6_381_956_970_095_103.0 * 2f64.powi(797);
    assert_eq!(computed(&*device, "cos(x)", &[x], &[x]), [-4.687_165_924_254_628e-19]);
    assert_eq!(computed(&*device, "sin(x)", &[x], &[x]), [1.0]);
}

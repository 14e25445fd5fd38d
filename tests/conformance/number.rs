//! The types of the table, their numbers, and the argument values of every row.

use kps_kernel::intrinsics::Format;

/// A type that rows are run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Bool,
    Int { bits: u32, signed: bool },
    Float(Float),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    F16,
    Bf16,
    F32,
    F64,
}

use Number::Int;

pub const NUMBERS: [Number; 13] = [
    Number::Bool,
    Int { bits: 8, signed: true },
    Int { bits: 16, signed: true },
    Int { bits: 32, signed: true },
    Int { bits: 64, signed: true },
    Int { bits: 8, signed: false },
    Int { bits: 16, signed: false },
    Int { bits: 32, signed: false },
    Int { bits: 64, signed: false },
    Number::Float(Float::F16),
    Number::Float(Float::Bf16),
    Number::Float(Float::F32),
    Number::Float(Float::F64),
];

/// Python's shortest notation that reads back as the same number.
pub fn python(number: f64) -> String {
    if number.is_nan() { "nan".to_owned() } else { format!("{number:e}") }
}

impl Number {
    /// The name in kernels.
    pub fn name(self) -> String {
        match self {
            Number::Bool => "bool".to_owned(),
            Int { bits, signed: true } => format!("i{bits}"),
            Int { bits, signed: false } => format!("u{bits}"),
            Number::Float(Float::F16) => "f16".to_owned(),
            Number::Float(Float::Bf16) => "bf16".to_owned(),
            Number::Float(Float::F32) => "f32".to_owned(),
            Number::Float(Float::F64) => "f64".to_owned(),
        }
    }

    /// The name in NumPy.
    pub fn dtype(self) -> String {
        match self {
            Number::Bool => "bool".to_owned(),
            Int { bits, signed: true } => format!("int{bits}"),
            Int { bits, signed: false } => format!("uint{bits}"),
            Number::Float(Float::Bf16) => "bfloat16".to_owned(),
            Number::Float(float) => format!("float{}", float.bits()),
        }
    }

    /// The width of an int.
    pub fn bits(self) -> Option<u32> {
        match self {
            Int { bits, .. } => Some(bits),
            Number::Bool | Number::Float(_) => None,
        }
    }

    /// The float type of its quotients; there is none for bools.
    pub fn as_float(self) -> Float {
        match self {
            Int { bits: 64, .. } => Float::F64,
            Int { .. } | Number::Bool => Float::F32,
            Number::Float(float) => float,
        }
    }
}

impl Float {
    pub fn bits(self) -> u32 {
        match self {
            Float::F16 | Float::Bf16 => 16,
            Float::F32 => 32,
            Float::F64 => 64,
        }
    }

    pub fn format(self) -> Format {
        match self {
            Float::F16 => Format::F16,
            Float::Bf16 => Format::BF16,
            Float::F32 => Format::F32,
            Float::F64 => Format::F64,
        }
    }

    pub fn least_normal(self) -> f64 {
        self.format().least_normal()
    }

    /// The bits of a number of this type, which is not NaN.
    pub fn to_bits(self, value: f64) -> u64 {
        if self == Float::F64 {
            return value.to_bits();
        }
        let least_unit = self.format().unit(0.0);
        let size = match value.abs() {
            size if size.is_infinite() => self.infinity_bits(),
            size if size < self.least_normal() => (size / least_unit) as u64,
            size => {
                let unit = self.format().unit(size);
                // The highest digit is implicit: it adds one to the exponent.
                let exponent = (unit / least_unit).log2() as u64;
                (exponent << (self.format().digits - 1)) + (size / unit) as u64
            }
        };
        size | u64::from(value.is_sign_negative()) << (self.bits() - 1)
    }

    /// The number that has these bits.
    pub fn of_bits(self, bits: u64) -> f64 {
        if self == Float::F64 {
            return f64::from_bits(bits);
        }
        let n_digits = self.format().digits - 1;
        let size = bits & ((1 << (self.bits() - 1)) - 1);
        let (exponent, digits) = (size >> n_digits, size & ((1 << n_digits) - 1));
        let least_unit = self.format().unit(0.0);
        let value = match exponent {
            _ if size == self.infinity_bits() => f64::INFINITY,
            _ if size > self.infinity_bits() => f64::NAN,
            0 => digits as f64 * least_unit,
            _ => (digits | 1 << n_digits) as f64 * least_unit * 2f64.powi(exponent as i32 - 1),
        };
        if bits >> (self.bits() - 1) == 1 { -value } else { value }
    }

    fn infinity_bits(self) -> u64 {
        let n_digits = self.format().digits as u32 - 1;
        ((1 << (self.bits() - 1 - n_digits)) - 1) << n_digits
    }

    /// To nearest, ties to even; beyond the largest number it is an infinity.
    pub fn round(self, value: f64) -> f64 {
        if self == Float::F64 || !value.is_finite() || value == 0.0 {
            return value;
        }
        let format = self.format();
        let unit = format.unit(value);
        // Exact: units are powers of two, and far from the limits of f64.
        let rounded = (value / unit).round_ties_even() * unit;
        if rounded.abs() > format.largest() { f64::INFINITY.copysign(value) } else { rounded }
    }
}

/// Three arguments of a row.
#[derive(Clone, Copy, Debug)]
pub struct Triple<T>(pub [T; 3]);

/// Every `x` with every `y`; `z` takes them in strides.
fn triples<T: Copy>(xs: &[T], ys: &[T]) -> Vec<Triple<T>> {
    let pairs =
        xs.iter().enumerate().flat_map(|(i, x)| ys.iter().enumerate().map(move |(j, y)| (i, *x, j, *y)));
    pairs.map(|(i, x, j, y)| Triple([x, y, ys[(i * 7 + j * 5) % ys.len()]])).collect()
}

/// The least and the largest of an int type.
pub fn int_range(bits: u32, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// All values.
pub fn bools() -> Vec<Triple<bool>> {
    triples(&[false, true], &[false, true])
        .into_iter()
        .flat_map(|Triple([x, y, _])| [false, true].map(|z| Triple([x, y, z])))
        .collect()
}

/// Special ints: the limits of the type, powers of two with their neighbours, small primes.
pub fn ints(bits: u32, signed: bool) -> Vec<Triple<i128>> {
    let (low, high) = int_range(bits, signed);
    let mut grid = vec![low, low + 1, low / 2, low / 3, high / 3, high / 2, high - 1, high];
    grid.extend([0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256]);
    grid.extend([-1, -2, -3, -7, -8, -31, -32, -33, -100, -128]);
    grid.retain(|value| (low..=high).contains(value));
    grid.sort_unstable();
    grid.dedup();
    triples(&grid, &grid)
}

/// Special floats: both zeros, the smallest and the largest, infinities and NaN, ends of domains, rounding
/// ties, multiples of a quarter turn, and ordinary numbers between.
pub fn floats(float: Float) -> Vec<Triple<f64>> {
    let format = float.format();
    let (tiny, least, largest) = (format.unit(0.0), format.least_normal(), format.largest());
    let epsilon = format.unit(1.0);
    let mut sizes = vec![0.0, tiny, least - tiny, least, largest, f64::INFINITY, 1.0, 0.5, 2.0, 3.0, 0.1];
    sizes.extend([1.5, 2.5, 7.0, 100.3, 1.0 + epsilon, 1.0 - epsilon / 2.0, 1e-3, 1e4]);
    let mut ys: Vec<f64> = sizes.iter().flat_map(|size| [*size, -size]).chain([f64::NAN]).collect();
    let quarter = std::f64::consts::FRAC_PI_4;
    sizes.extend([quarter, 2.0 * quarter, 3.0 * quarter, 4.0 * quarter, 12.0, 50.0, 88.5, 0.25, 0.75]);
    // The last argument before `exp` overflows, in each type.
    sizes.extend([10.9, 86.0, 705.0]);
    sizes.extend([0.999, 1.001, 0.3, 0.6, 1.3, 3.7, 5.5, 1e-2, 1e-5, 2e-7, 33.0, 255.0, 1000.0, 65504.0]);
    sizes.extend([1e9, 1e18, 1e30, 1e-20, 1e-30, 8388607.5, 16777217.0, 2.0 / 3.0, std::f64::consts::E]);
    let mut xs: Vec<f64> = sizes.iter().flat_map(|size| [*size, -size]).chain([f64::NAN]).collect();
    for values in [&mut xs, &mut ys] {
        values.iter_mut().for_each(|value| *value = float.round(*value));
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| a.to_bits() == b.to_bits());
    }
    triples(&xs, &ys)
}

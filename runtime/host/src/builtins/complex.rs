//! complex: numbers with a real and an imaginary part. Both are floats.

use kps_syntax::ast::UnaryOp;

use crate::errors;
use crate::modules::numpy::Scalar;
use crate::ops::{Side, number};
use crate::text::digits::parse_float;
use crate::text::float;
use crate::text::format_number::format_float;
use crate::text::spec::{FormatSpec, Sign};
use crate::value::{Args, BinaryOp, CompareOp, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType {
    new: Some(new),
    methods: METHODS,
    ..NativeType::new("complex", "builtins")
        .doc("(real=0, imag=0)", "A complex number, from its parts or from a text: `complex(\"1+2j\")`.")
};

static METHODS: &[NativeDef] = &[
    NativeDef::getter("real", |_, args| Ok(Value::Float(this(args)?.re))).doc("", "The real part."),
    NativeDef::getter("imag", |_, args| Ok(Value::Float(this(args)?.im))).doc("", "The imaginary part."),
    NativeDef::method("conjugate", |_, args| Ok(this(args)?.conjugate().value()))
        .doc("()", "Returns the number with the opposite imaginary part."),
    NativeDef::method("__abs__", |_, args| Ok(Value::Float(this(args)?.size()?))),
    NativeDef::method("__complex__", |_, args| Ok(this(args)?.value())),
];

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// Whole exponents up to this one are products.
const MAX_WHOLE_EXPONENT: f64 = 100.0;

impl Complex {
    pub fn value(self) -> Value {
        Value::native(self)
    }

    /// The number that a value is: a complex one, or a real one.
    pub fn of(value: &Value) -> Result<Option<Complex>> {
        let value = value.base_value();
        if let Some(complex) = value.downcast::<Complex>() {
            return Ok(Some(*complex));
        }
        if let Some(scalar) = value.downcast::<Scalar>() {
            return Ok(Some(Complex { re: scalar.number.as_f64(), im: 0.0 }));
        }
        let Some(real) = number::number(value) else { return Ok(None) };
        Ok(Some(Complex { re: real.to_f64()?, im: 0.0 }))
    }

    pub fn conjugate(self) -> Complex {
        Complex { im: -self.im, ..self }
    }

    fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }

    fn size(self) -> Result<f64> {
        let size = self.re.hypot(self.im);
        if size.is_infinite() && self.re.is_finite() && self.im.is_finite() {
            return Err(errors::overflow_error("absolute value too large"));
        }
        Ok(size)
    }

    pub fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    /// The quotient, by the ratio of the divisor's parts, so that no square overflows.
    /// R. L. Smith: Algorithm 116, Complex Division (CACM 1962).
    fn over(self, other: Complex) -> Result<Complex> {
        match other.is_zero() {
            true => Err(errors::zero_division("complex division by zero")),
            false => Ok(self.quotient(other)),
        }
    }

    /// The same; by 0, it is infinite or a NaN.
    pub fn quotient(self, other: Complex) -> Complex {
        if other.is_zero() {
            return Complex { re: self.re / other.re.abs(), im: self.im / other.re.abs() };
        }
        if other.re.abs() >= other.im.abs() {
            let ratio = other.im / other.re;
            let divisor = other.re + other.im * ratio;
            let (re, im) = (self.re + self.im * ratio, self.im - self.re * ratio);
            return Complex { re: re / divisor, im: im / divisor };
        }
        let ratio = other.re / other.im;
        let divisor = other.re * ratio + other.im;
        let (re, im) = (self.re * ratio + self.im, self.im * ratio - self.re);
        Complex { re: re / divisor, im: im / divisor }
    }

    /// The root whose real part is not negative.
    pub fn sqrt(self) -> Complex {
        let root = (0.5 * self.re.abs() + 0.5 * self.re.hypot(self.im)).sqrt();
        match self {
            Complex { im, .. } if im.is_infinite() => Complex { re: f64::INFINITY, im },
            Complex { im, .. } if root == 0.0 => Complex { re: 0.0, im },
            Complex { re, im } if re >= 0.0 => Complex { re: root, im: im / (2.0 * root) },
            Complex { im, .. } => Complex { re: im.abs() / (2.0 * root), im: root.copysign(im) },
        }
    }

    pub fn exp(self) -> Complex {
        let size = self.re.exp();
        Complex { re: size * self.im.cos(), im: if self.im == 0.0 { self.im } else { size * self.im.sin() } }
    }

    pub fn power(self, exponent: Complex) -> Result<Complex> {
        if self.is_zero() && (exponent.im != 0.0 || exponent.re < 0.0) {
            return Err(errors::zero_division("0.0 to a negative or complex power"));
        }
        let is_whole = exponent.im == 0.0 && exponent.re.fract() == 0.0;
        if is_whole && exponent.re.abs() <= MAX_WHOLE_EXPONENT {
            let power = self.whole_power(exponent.re.abs() as u32);
            let one = Complex { re: 1.0, im: 0.0 };
            return if exponent.re < 0.0 { one.over(power) } else { Ok(power) };
        }
        if self.is_zero() {
            return Ok(Complex { re: 0.0, im: 0.0 });
        }
        let (size, angle) = (self.re.hypot(self.im), self.im.atan2(self.re));
        let length = size.powf(exponent.re) / (angle * exponent.im).exp();
        let phase = angle * exponent.re + exponent.im * size.ln();
        Ok(Complex { re: length * phase.cos(), im: length * phase.sin() })
    }

    /// The product of n factors: the squares that belong to the bits of n.
    fn whole_power(self, mut n: u32) -> Complex {
        let (mut power, mut square) = (Complex { re: 1.0, im: 0.0 }, self);
        while n > 0 {
            if n % 2 == 1 {
                power = power.times(square);
            }
            square = square.times(square);
            n /= 2;
        }
        power
    }

    /// As CPython prints it: `(1+2j)`, and `2j` without a real part.
    pub fn text(self) -> String {
        self.text_by(float::repr)
    }

    /// The same for parts that are `f32`.
    pub fn short_text(self) -> String {
        self.text_by(float::short_repr)
    }

    fn text_by(self, part: impl Fn(f64) -> String) -> String {
        let short = |float: f64| {
            let text = part(float);
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        };
        if self.re == 0.0 && self.re.is_sign_positive() {
            return format!("{}j", short(self.im));
        }
        let sign = if self.im.is_nan() || self.im.is_sign_positive() { "+" } else { "" };
        format!("({}{sign}{}j)", short(self.re), short(self.im))
    }
}

impl Native for Complex {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn binary(
        &self,
        _: &Value,
        _: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let Some(other) = Complex::of(other)? else { return Ok(None) };
        let (left, right) = if side == Side::Left { (*self, other) } else { (other, *self) };
        Ok(Some(match op {
            BinaryOp::Add => Complex { re: left.re + right.re, im: left.im + right.im }.value(),
            BinaryOp::Sub => Complex { re: left.re - right.re, im: left.im - right.im }.value(),
            BinaryOp::Mul => left.times(right).value(),
            BinaryOp::Div => left.over(right)?.value(),
            BinaryOp::Pow => left.power(right)?.value(),
            _ => return Ok(None),
        }))
    }

    fn unary(&self, this: &Value, _: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        Ok(match op {
            UnaryOp::Plus => Some(this.clone()),
            UnaryOp::Minus => Some(Complex { re: -self.re, im: -self.im }.value()),
            UnaryOp::Invert | UnaryOp::Not => None,
        })
    }

    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = Complex::of(other)? else { return Ok(None) };
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(*self == other)),
            CompareOp::NotEq => Some(Value::Bool(*self != other)),
            _ => None,
        })
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(!self.is_zero())
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.text())
    }

    /// Both parts by the same precision and type: `f"{z:.2f}"`.
    fn format(&self, this: &Value, vm: &mut Vm, spec: &str) -> Result<Option<String>> {
        if spec.is_empty() {
            return vm.str(this).map(Some);
        }
        let given = FormatSpec::parse(spec, "complex")?;
        let part = FormatSpec { width: 0, align: None, fill: ' ', ..given };
        let re = format_float(self.re, &part)?;
        let im = format_float(self.im, &FormatSpec { sign: Some(Sign::Plus), ..part })?;
        let whole = FormatSpec { fill: given.fill, width: given.width, ..FormatSpec::PLAIN };
        let align = given.align.or(Some(crate::text::spec::Align::Right));
        Ok(Some(FormatSpec { align, ..whole }.format_str(&format!("{re}{im}j"))?))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        let [re, im] = [self.re, self.im].map(|part| part.to_bits() as i64);
        Ok(Some(re.wrapping_add(im.wrapping_mul(1_000_003))))
    }

    /// A number without an imaginary part equals the float.
    fn number(&self) -> Option<Value> {
        (self.im == 0.0).then_some(Value::Float(self.re))
    }

    fn same_key(&self, other: &Value) -> bool {
        Complex::of(other).ok().flatten() == Some(*self)
    }
}

fn this(args: &Args) -> Result<Complex> {
    args.this::<Complex>().copied()
}

/// `complex(real=0, imag=0)`, `complex("1+2j")`.
fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("complex");
    let (re, im) = (parser.optional("real")?, parser.optional("imag")?);
    parser.finish()?;
    if let Some(text) = re.and_then(Value::as_str) {
        if im.is_some() {
            return Err(errors::type_error("complex() can't take second arg if first is a string"));
        }
        let parsed = parse(text);
        let malformed = || errors::value_error("complex() arg is a malformed string");
        return parsed.map(Complex::value).ok_or_else(malformed);
    }
    let re = part(vm, re, "first argument must be a string or a number")?;
    if im.is_none() {
        return Ok(re.value());
    }
    let im = part(vm, im, "second argument must be a number")?;
    // A part that is missing keeps the sign of the other part's zero.
    let (less, more) = (if im.im == 0.0 { 0.0 } else { im.im }, if re.im == 0.0 { -0.0 } else { re.im });
    Ok(Complex { re: re.re - less, im: im.re + more }.value())
}

/// An argument as a number: what the method `__complex__` of an object returns, if it is none itself.
fn part(vm: &mut Vm, given: Option<&Value>, expected: &str) -> Result<Complex> {
    let Some(given) = given else { return Ok(Complex { re: 0.0, im: 0.0 }) };
    let mut number = Complex::of(given)?;
    if number.is_none()
        && let Some(function) = vm.class_of(given).lookup_text("__complex__")
    {
        number = Complex::of(&vm.call_method_value(&function, given, &[])?)?;
    }
    number.ok_or_else(|| errors::type_error(format!("complex() {expected}, not '{}'", given.type_name())))
}

/// `1+2j`, `2j`, `1`, also in brackets.
fn parse(text: &str) -> Option<Complex> {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map_or(text, str::trim);
    let Some(start) = text.strip_suffix(['j', 'J']) else {
        return Some(Complex { re: parse_float(text).ok()?, im: 0.0 });
    };
    // The sign of the imaginary part is the last one that is no exponent's.
    let is_sign = |at: usize| {
        let before = start.as_bytes()[..at].last();
        matches!(start.as_bytes()[at], b'+' | b'-') && !matches!(before, Some(b'e' | b'E'))
    };
    let split = (0..start.len()).rev().find(|at| is_sign(*at)).unwrap_or(0);
    let (re, im) = start.split_at(split);
    let im = match im {
        "+" | "" => 1.0,
        "-" => -1.0,
        im => parse_float(im).ok()?,
    };
    let re = if re.is_empty() { 0.0 } else { parse_float(re).ok()? };
    Some(Complex { re, im })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_complex_numbers() {
        fn check(text: &str, expect: Option<(f64, f64)>) {
            assert_eq!(parse(text).map(|complex| (complex.re, complex.im)), expect, "{text}");
        }
        check("1+2j", Some((1.0, 2.0)));
        check(" (-1e-3-1e+2j) ", Some((-1e-3, -1e2)));
        check("-j", Some((0.0, -1.0)));
        check("2.5", Some((2.5, 0.0)));
        check("1+2", None);
        check("1 + 2j", None);
    }
}

//! Operations on arrays of complex numbers. Each computes with doubles, and stores what the type of its result holds.

use kps_array::ElementType;
use kps_compute::DType;

use super::complex::{self, ComplexArray};
use super::errors;
use super::layout::Layout;
use super::operand::{self, Operand};
use super::operators::{self, OpResult, common_shape};
use super::promote::{Kind, promote};
use crate::builtins::complex::Complex;
use crate::modules::kp;
use crate::ops::Side;
use crate::value::{Args, BinaryOp, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("real", |vm, args| part(vm, args, "real")),
    NativeDef::function("imag", |vm, args| part(vm, args, "imag")),
    NativeDef::function("angle", |vm, args| named(vm, args, "angle")),
    NativeDef::function("conj", |vm, args| named(vm, args, "conjugate")),
    NativeDef::function("conjugate", |vm, args| named(vm, args, "conjugate")),
    NativeDef::function("iscomplexobj", |vm, args| {
        let [x] = args.exactly("iscomplexobj")?;
        Ok(is_complex(vm, x)?.into())
    }),
];

/// An operand: numbers in the order of their indices.
pub struct Numbers {
    pub shape: Vec<usize>,
    pub numbers: Vec<Complex>,
    /// What the parts contribute to the type of a result.
    kind: Kind,
}

/// An operation, by its operands and its result.
enum Func {
    Unary(fn(Complex) -> Complex),
    /// The result is real.
    Size(fn(Complex) -> f64),
    Test(fn(Complex) -> bool),
    Binary(fn(Complex, Complex) -> Complex),
    Compare(fn(Complex, Complex) -> bool),
}

fn func(name: &str) -> Option<Func> {
    const ONE: Complex = Complex { re: 1.0, im: 0.0 };
    Some(match name {
        "positive" => Func::Unary(|z| z),
        "negative" => Func::Unary(|z| Complex { re: -z.re, im: -z.im }),
        "conjugate" => Func::Unary(Complex::conjugate),
        "square" => Func::Unary(|z| z.times(z)),
        "reciprocal" => Func::Unary(|z| ONE.quotient(z)),
        "sqrt" => Func::Unary(Complex::sqrt),
        "exp" => Func::Unary(Complex::exp),
        "log" => Func::Unary(|z| Complex { re: z.re.hypot(z.im).ln(), im: z.im.atan2(z.re) }),
        "absolute" | "abs" => Func::Size(|z| z.re.hypot(z.im)),
        "angle" => Func::Size(|z| z.im.atan2(z.re)),
        "isnan" => Func::Test(|z| z.re.is_nan() || z.im.is_nan()),
        "isinf" => Func::Test(|z| z.re.is_infinite() || z.im.is_infinite()),
        "isfinite" => Func::Test(|z| z.re.is_finite() && z.im.is_finite()),
        "add" => Func::Binary(|z, w| Complex { re: z.re + w.re, im: z.im + w.im }),
        "subtract" => Func::Binary(|z, w| Complex { re: z.re - w.re, im: z.im - w.im }),
        "multiply" => Func::Binary(Complex::times),
        "divide" | "true_divide" => Func::Binary(Complex::quotient),
        "power" | "pow" => Func::Binary(|z, w| z.power(w).unwrap_or(Complex { re: f64::NAN, im: f64::NAN })),
        "equal" => Func::Compare(|z, w| z == w),
        "not_equal" => Func::Compare(|z, w| z != w),
        _ => return None,
    })
}

impl Numbers {
    /// The numbers that a value is or has; `None` for other values.
    pub fn of(vm: &mut Vm, value: &Value) -> Result<Option<Numbers>> {
        if let Some(array) = value.downcast::<ComplexArray>() {
            let kind = Kind::Strong(array.element_type().part());
            return Ok(Some(Numbers { shape: array.shape().to_vec(), numbers: array.numbers()?, kind }));
        }
        if let Some(number) = value.downcast::<Complex>() {
            return Ok(Some(Numbers { shape: Vec::new(), numbers: vec![*number], kind: Kind::WeakFloat }));
        }
        if is_complex(vm, value)? {
            if kp::is_tensor(value) {
                let array = vm.call_method(value, "numpy", &[])?;
                return Numbers::of(vm, &array);
            }
            let ty = ElementType::Complex128;
            let (shape, bytes) = kp::complex_rows(vm, value, ty)?;
            let numbers = bytes.chunks_exact(ty.size()).map(|bytes| complex::number_of(ty, bytes)).collect();
            return Ok(Some(Numbers { shape, numbers, kind: Kind::Strong(ty.part()) }));
        }
        let Some(operand) = operand::from_value(vm, value)? else { return Ok(None) };
        let row = operand.row_as(DType::F64)?;
        let floats =
            row.chunks_exact(8).map(|float| f64::from_le_bytes(float.try_into().expect("eight bytes")));
        let numbers = floats.map(|re| Complex { re, im: 0.0 }).collect();
        Ok(Some(Numbers { shape: operand.shape().to_vec(), numbers, kind: operand.kind() }))
    }

    pub fn required(vm: &mut Vm, value: &Value) -> Result<Numbers> {
        Numbers::of(vm, value)?.ok_or_else(|| errors::not_a_number(value))
    }

    /// The numbers in a larger shape.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Vec<Complex>> {
        if self.shape == shape {
            return Ok(self.numbers.clone());
        }
        let layout = Layout::contiguous(&self.shape).broadcast_to(shape);
        let layout = layout.ok_or_else(|| errors::not_assigned(&self.shape, shape))?;
        let indices: Vec<Vec<usize>> = shape.iter().map(|&len| (0..len).collect()).collect();
        Ok(layout.bytes_of(&indices, 1)?.into_iter().map(|at| self.numbers[at]).collect())
    }
}

/// Whether a value has complex numbers.
pub fn is_complex(vm: &mut Vm, value: &Value) -> Result<bool> {
    kp::has_complex(vm, value)
}

/// Whether one of the values has.
pub fn are_complex(vm: &mut Vm, values: &[Value]) -> Result<bool> {
    for value in values {
        if is_complex(vm, value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The type of complex numbers with parts for these operands.
fn result_type(kinds: &[Kind]) -> ElementType {
    // Parts are floats: a number of the script beside ints is one of doubles.
    let kind = kinds.iter().copied().reduce(|left, right| Kind::Strong(promote(left, right)));
    let part = kind.map_or(DType::F64, |kind| promote(kind, Kind::WeakFloat));
    ElementType::complex_of(part)
}

/// A number if there are no axes.
fn wrapped(ty: ElementType, shape: &[usize], numbers: &[Complex]) -> Result {
    let array = ComplexArray::of_numbers(ty, shape, numbers)?;
    Ok(match shape {
        [] => array.numbers()?[0].value(),
        _ => Value::native(array),
    })
}

/// The complex numbers with these real and imaginary parts, of the same shape.
pub fn combined(vm: &mut Vm, ty: ElementType, re: &Value, im: &Value) -> Result {
    let (re, im) = (Numbers::required(vm, re)?, Numbers::required(vm, im)?);
    let pairs = re.numbers.iter().zip(&im.numbers);
    let numbers: Vec<Complex> = pairs.map(|(re, im)| Complex { re: re.re, im: im.re }).collect();
    wrapped(ty, &re.shape, &numbers)
}

/// `left op right`, where `this` is the operand on `side`.
pub fn binary(vm: &mut Vm, op: BinaryOp, side: Side, this: &Value, other: &Value) -> Result<Option<Value>> {
    let name = match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "subtract",
        BinaryOp::Mul => "multiply",
        BinaryOp::Div => "divide",
        BinaryOp::Pow => "power",
        _ => return Ok(None),
    };
    if Numbers::of(vm, other)?.is_none() {
        return Ok(None);
    }
    let operands =
        if side == Side::Left { [this.clone(), other.clone()] } else { [other.clone(), this.clone()] };
    function(vm, name, &operands).map(Some)
}

/// The function of NumPy's with this name.
pub fn function(vm: &mut Vm, name: &str, operands: &[Value]) -> Result {
    let operands =
        operands.iter().map(|operand| Numbers::required(vm, operand)).collect::<Result<Vec<_>>>()?;
    let ty = result_type(&operands.iter().map(|operand| operand.kind).collect::<Vec<_>>());
    match (func(name), &operands[..]) {
        (Some(Func::Unary(func)), [x]) => {
            let numbers: Vec<Complex> = x.numbers.iter().map(|number| func(*number)).collect();
            wrapped(ty, &x.shape, &numbers)
        }
        (Some(Func::Size(func)), [x]) => {
            let floats: Vec<u8> = x.numbers.iter().flat_map(|number| func(*number).to_le_bytes()).collect();
            let made = Operand::Array(OpResult::new(DType::F64, &x.shape, floats).into_array());
            Ok(operators::wrap(ty.part(), &x.shape, made.row_as(ty.part())?))
        }
        (Some(Func::Test(func)), [x]) => {
            let truths = x.numbers.iter().map(|number| func(*number).into()).collect();
            Ok(operators::wrap(DType::Bool, &x.shape, truths))
        }
        (Some(Func::Binary(func)), [left, right]) => {
            let (shape, pairs) = paired(left, right)?;
            let numbers: Vec<Complex> = pairs.into_iter().map(|(left, right)| func(left, right)).collect();
            wrapped(ty, &shape, &numbers)
        }
        (Some(Func::Compare(func)), [left, right]) => {
            let (shape, pairs) = paired(left, right)?;
            let truths = pairs.into_iter().map(|(left, right)| func(left, right).into()).collect();
            Ok(operators::wrap(DType::Bool, &shape, truths))
        }
        _ => Err(errors::no_loop(name)),
    }
}

/// Numbers of two operands.
type Pair = (Complex, Complex);

/// The numbers of both in their common shape.
fn paired(left: &Numbers, right: &Numbers) -> Result<(Vec<usize>, Vec<Pair>)> {
    let shape = common_shape(&[&left.shape, &right.shape], DType::F64)?.to_vec();
    let pairs = left.broadcast_to(&shape)?.into_iter().zip(right.broadcast_to(&shape)?);
    Ok((shape, pairs.collect()))
}

/// Whether numbers are equal within `atol + rtol * |b|`.
pub fn close(
    vm: &mut Vm,
    [left, right]: [&Value; 2],
    (relative, absolute): (f64, f64),
    equal_nan: bool,
) -> Result<OpResult> {
    let (left, right) = (Numbers::required(vm, left)?, Numbers::required(vm, right)?);
    let size = |z: Complex| z.re.hypot(z.im);
    let is_close = |(left, right): Pair| {
        if !size(left).is_finite() || !size(right).is_finite() {
            return left == right || equal_nan && size(left).is_nan() && size(right).is_nan();
        }
        size(Complex { re: left.re - right.re, im: left.im - right.im }) <= absolute + relative * size(right)
    };
    let (shape, pairs) = paired(&left, &right)?;
    Ok(OpResult::new(DType::Bool, &shape, pairs.into_iter().map(|pair| is_close(pair).into()).collect()))
}

/// Whether shapes and numbers are equal.
pub fn are_equal(vm: &mut Vm, left: &Value, right: &Value) -> Result<bool> {
    let (left, right) = (Numbers::required(vm, left)?, Numbers::required(vm, right)?);
    Ok(left.shape == right.shape && left.numbers == right.numbers)
}

/// `real(x)`, `imag(x)`: a view of complex numbers.
fn part(vm: &mut Vm, args: &Args, name: &'static str) -> Result {
    let [x] = args.exactly(name)?;
    if is_complex(vm, x)? {
        let array = complex::array(vm, x)?;
        return vm.get_attr(&array, name);
    }
    let operand = operand::required(vm, x)?;
    let row = match name {
        "real" => operand.row_as(operand.dtype())?,
        _ => vec![0; operand.size() * operand.dtype().size()],
    };
    Ok(operators::wrap(operand.dtype(), operand.shape(), row))
}

fn named(vm: &mut Vm, args: &Args, name: &'static str) -> Result {
    let [x] = args.exactly(name)?;
    if name == "conjugate" && !is_complex(vm, x)? {
        return operand::required(vm, x)?.into_array().map(Value::native);
    }
    function(vm, name, std::slice::from_ref(x))
}

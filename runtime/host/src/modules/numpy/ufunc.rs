//! Universal functions as objects: `np.sqrt(x)`, `np.add(x, y, out=z)`, `np.maximum.reduce(x)`.

use kps_compute::DType;

use super::array::NdArray;
use super::casting::{Casting, Target};
use super::kernel::binary::Binary;
use super::kernel::compare::Compare;
use super::kernel::unary::{Test, Unary};
use super::operand::{self, Operand};
use super::operators::{self, OpResult};
use super::order::Order;
use super::reduce::{self, Reduction, Request};
use super::scalar::Scalar;
use super::{complex_math, dtype, errors, index};
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static UFUNC: NativeType = NativeType {
    methods: &[
        NativeDef::method("reduce", reduce_method),
        NativeDef::method("accumulate", accumulate),
        NativeDef::method("outer", outer),
        NativeDef::method("at", at),
        NativeDef::getter("__name__", name),
    ],
    ..NativeType::new("ufunc", "numpy")
};

#[derive(Clone, Copy, Debug)]
pub enum Func {
    Unary(Unary),
    Test(Test),
    Binary(Binary),
    Compare(Compare),
    /// On the truth of the elements.
    Logical(Binary),
    Divmod,
}

pub struct Ufunc {
    pub name: &'static str,
    pub func: Func,
}

/// Every universal function, by all of its names.
pub static UFUNCS: &[(&str, Func)] = &[
    ("add", Func::Binary(Binary::Add)),
    ("subtract", Func::Binary(Binary::Subtract)),
    ("multiply", Func::Binary(Binary::Multiply)),
    ("divide", Func::Binary(Binary::Divide)),
    ("true_divide", Func::Binary(Binary::Divide)),
    ("floor_divide", Func::Binary(Binary::FloorDivide)),
    ("remainder", Func::Binary(Binary::Remainder)),
    ("mod", Func::Binary(Binary::Remainder)),
    ("fmod", Func::Binary(Binary::Fmod)),
    ("power", Func::Binary(Binary::Power)),
    ("pow", Func::Binary(Binary::Power)),
    ("minimum", Func::Binary(Binary::Minimum)),
    ("maximum", Func::Binary(Binary::Maximum)),
    ("fmin", Func::Binary(Binary::Fmin)),
    ("fmax", Func::Binary(Binary::Fmax)),
    ("bitwise_and", Func::Binary(Binary::And)),
    ("bitwise_or", Func::Binary(Binary::Or)),
    ("bitwise_xor", Func::Binary(Binary::Xor)),
    ("left_shift", Func::Binary(Binary::LeftShift)),
    ("right_shift", Func::Binary(Binary::RightShift)),
    ("arctan2", Func::Binary(Binary::Arctan2)),
    ("atan2", Func::Binary(Binary::Arctan2)),
    ("hypot", Func::Binary(Binary::Hypot)),
    ("copysign", Func::Binary(Binary::Copysign)),
    ("logaddexp", Func::Binary(Binary::Logaddexp)),
    ("nextafter", Func::Binary(Binary::Nextafter)),
    ("gcd", Func::Binary(Binary::Gcd)),
    ("lcm", Func::Binary(Binary::Lcm)),
    ("divmod", Func::Divmod),
    ("equal", Func::Compare(Compare::Equal)),
    ("not_equal", Func::Compare(Compare::NotEqual)),
    ("less", Func::Compare(Compare::Less)),
    ("less_equal", Func::Compare(Compare::LessEqual)),
    ("greater", Func::Compare(Compare::Greater)),
    ("greater_equal", Func::Compare(Compare::GreaterEqual)),
    ("logical_and", Func::Logical(Binary::And)),
    ("logical_or", Func::Logical(Binary::Or)),
    ("logical_xor", Func::Logical(Binary::Xor)),
    ("logical_not", Func::Test(Test::Not)),
    ("isnan", Func::Test(Test::IsNan)),
    ("isinf", Func::Test(Test::IsInf)),
    ("isfinite", Func::Test(Test::IsFinite)),
    ("signbit", Func::Test(Test::Signbit)),
    ("negative", Func::Unary(Unary::Negative)),
    ("positive", Func::Unary(Unary::Positive)),
    ("absolute", Func::Unary(Unary::Absolute)),
    ("abs", Func::Unary(Unary::Absolute)),
    ("fabs", Func::Unary(Unary::Absolute)),
    ("sign", Func::Unary(Unary::Sign)),
    ("square", Func::Unary(Unary::Square)),
    ("invert", Func::Unary(Unary::Invert)),
    ("bitwise_not", Func::Unary(Unary::Invert)),
    ("bitwise_count", Func::Unary(Unary::BitwiseCount)),
    ("floor", Func::Unary(Unary::Floor)),
    ("ceil", Func::Unary(Unary::Ceil)),
    ("trunc", Func::Unary(Unary::Trunc)),
    ("rint", Func::Unary(Unary::Rint)),
    ("reciprocal", Func::Unary(Unary::Reciprocal)),
    ("sqrt", Func::Unary(Unary::Sqrt)),
    ("cbrt", Func::Unary(Unary::Cbrt)),
    ("exp", Func::Unary(Unary::Exp)),
    ("exp2", Func::Unary(Unary::Exp2)),
    ("expm1", Func::Unary(Unary::Expm1)),
    ("log", Func::Unary(Unary::Log)),
    ("log2", Func::Unary(Unary::Log2)),
    ("log10", Func::Unary(Unary::Log10)),
    ("log1p", Func::Unary(Unary::Log1p)),
    ("sin", Func::Unary(Unary::Sin)),
    ("cos", Func::Unary(Unary::Cos)),
    ("tan", Func::Unary(Unary::Tan)),
    ("arcsin", Func::Unary(Unary::Arcsin)),
    ("arccos", Func::Unary(Unary::Arccos)),
    ("arctan", Func::Unary(Unary::Arctan)),
    ("asin", Func::Unary(Unary::Arcsin)),
    ("acos", Func::Unary(Unary::Arccos)),
    ("atan", Func::Unary(Unary::Arctan)),
    ("sinh", Func::Unary(Unary::Sinh)),
    ("cosh", Func::Unary(Unary::Cosh)),
    ("tanh", Func::Unary(Unary::Tanh)),
    ("arcsinh", Func::Unary(Unary::Arcsinh)),
    ("arccosh", Func::Unary(Unary::Arccosh)),
    ("arctanh", Func::Unary(Unary::Arctanh)),
    ("degrees", Func::Unary(Unary::Degrees)),
    ("rad2deg", Func::Unary(Unary::Degrees)),
    ("radians", Func::Unary(Unary::Radians)),
    ("deg2rad", Func::Unary(Unary::Radians)),
];

impl Func {
    fn n_operands(self) -> usize {
        match self {
            Func::Unary(_) | Func::Test(_) => 1,
            _ => 2,
        }
    }

    fn n_results(self) -> usize {
        if matches!(self, Func::Divmod) { 2 } else { 1 }
    }
}

impl Ufunc {
    fn apply(&self, operands: &[Operand]) -> Result<OpResult> {
        match (self.func, operands) {
            // `fabs` takes and returns floats.
            (Func::Unary(op), [operand]) if self.name == "fabs" => {
                let operand = as_float(operand)?;
                operators::apply_unary(self.name, op, &operand)
            }
            (Func::Unary(op), [operand]) => operators::apply_unary(self.name, op, operand),
            (Func::Test(test), [operand]) => operators::apply_test(test, operand),
            (Func::Binary(op), [left, right]) => operators::apply_binary(self.name, op, left, right),
            (Func::Compare(op), [left, right]) => operators::apply_compare(op, left, right),
            (Func::Logical(op), [left, right]) => operators::apply_logical(op, left, right),
            _ => Err(errors::no_loop(self.name)),
        }
    }

    /// The operation of `reduce`, `accumulate` and `outer`.
    fn binary(&self) -> Result<Binary> {
        match self.func {
            Func::Binary(op) => Ok(op),
            _ => {
                Err(crate::errors::value_error(format!("{} is not reduced: it takes one operand", self.name)))
            }
        }
    }
}

fn as_float(operand: &Operand) -> Result<Operand> {
    let dtype = super::promote::float_for(operand.dtype());
    Ok(Operand::Array(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?)))
}

impl Native for Ufunc {
    fn native_type(&self) -> &'static NativeType {
        &UFUNC
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        if !args.has_keywords() && complex_math::are_complex(vm, args.positional())? {
            return complex_math::function(vm, self.name, args.positional()).map(Some);
        }
        let mut parser = args.parser(self.name);
        let mut operands = Vec::with_capacity(2);
        for at in 0..self.func.n_operands() {
            let value = parser.positional(if at == 0 { "x1" } else { "x2" })?;
            operands.push(operand_or_no_loop(vm, self.name, value)?);
        }
        let positional_outputs: Vec<Value> = std::iter::from_fn(|| parser.optional_positional().cloned())
            .take(self.func.n_results())
            .collect();
        let outputs = parser.keyword_only("out").cloned();
        let wanted = dtype::from_argument(vm, parser.keyword_only("dtype"))?;
        let mask = parser.keyword_only("where");
        let casting = Casting::from_argument(parser.keyword_only("casting"), Casting::SameKind)?;
        let _order = Order::from_argument(parser.keyword_only("order"), Order::K)?;
        let _subclasses = parser.keyword_only("subok");
        parser.finish()?;
        let outputs = self.outputs(outputs, positional_outputs)?;
        let mut targets = Vec::with_capacity(outputs.len());
        for output in &outputs {
            targets.push(Target::new(vm, Some(output), mask, casting)?);
        }
        let mut results = Vec::with_capacity(targets.len());
        for (made, target) in self.results(&operands, wanted, casting)?.into_iter().zip(targets) {
            results.push(target.finish(self.name, made)?);
        }
        Ok(Some(if results.len() == 1 { results.remove(0) } else { Value::tuple(results) }))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("<ufunc '{}'>", self.name))
    }
}

impl Ufunc {
    /// One output, or None, per result.
    fn outputs(&self, given: Option<Value>, positional: Vec<Value>) -> Result<Vec<Value>> {
        let n = self.func.n_results();
        let mut outputs = match given {
            Some(Value::Tuple(outputs)) if outputs.len() == n => outputs.to_vec(),
            Some(Value::Tuple(_)) => {
                return Err(crate::errors::value_error(
                    "The 'out' tuple must have exactly one entry per ufunc output",
                ));
            }
            Some(output) if n == 1 => vec![output],
            Some(Value::None) | None => positional,
            Some(_) => {
                return Err(crate::errors::type_error("'out' must be a tuple of arrays"));
            }
        };
        outputs.resize(n, Value::None);
        Ok(outputs)
    }

    /// The results of the operation, after its operands have the requested type.
    fn results(
        &self,
        operands: &[Operand],
        wanted: Option<DType>,
        casting: Casting,
    ) -> Result<Vec<OpResult>> {
        let answers_bool = matches!(self.func, Func::Test(_) | Func::Compare(_) | Func::Logical(_));
        let operands = match wanted {
            Some(dtype) if !answers_bool => {
                let cast = |(at, operand)| casting.input(self.name, at, operand, dtype);
                operands.iter().enumerate().map(cast).collect::<Result<Vec<_>>>()?
            }
            _ => operands.to_vec(),
        };
        let results = match (self.func, &operands[..]) {
            (Func::Divmod, [left, right]) => vec![
                operators::apply_binary("divmod", Binary::FloorDivide, left, right)?,
                operators::apply_binary("divmod", Binary::Remainder, left, right)?,
            ],
            _ => vec![self.apply(&operands)?],
        };
        if let Some(dtype) = wanted
            && results.iter().any(|made| made.dtype != dtype)
        {
            return Err(errors::no_such_loop(self.name));
        }
        if casting == Casting::No && !answers_bool {
            let dtype = results[0].dtype;
            let is_weak = |operand: &Operand| matches!(operand, Operand::Int(_) | Operand::Float(_));
            let other = operands.iter().position(|operand| !is_weak(operand) && operand.dtype() != dtype);
            if let Some(at) = other {
                return Err(errors::input_not_cast(self.name, at, operands[at].dtype(), dtype, casting));
            }
        }
        Ok(results)
    }
}

fn operand_or_no_loop(vm: &mut Vm, name: &str, value: &Value) -> Result<Operand> {
    match value.as_str() {
        Some(_) => Err(errors::no_loop(name)),
        None => operand::required(vm, value),
    }
}

fn reduce_method(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("reduce");
    let array = parser.required("array")?;
    let axis = parser.optional("axis")?.cloned().unwrap_or(Value::Int(0));
    let wanted = parser.optional("dtype")?;
    let output = parser.optional("out")?;
    let keeps = parser.optional("keepdims")?;
    let initial = parser.optional("initial")?.cloned().and_then(Value::not_none);
    let mask = parser.optional("where")?;
    parser.finish()?;
    let reduction = match ufunc.func {
        Func::Logical(Binary::And) => Reduction::All,
        Func::Logical(Binary::Or) => Reduction::Any,
        _ => match ufunc.binary()? {
            Binary::Add => Reduction::Sum,
            Binary::Multiply => Reduction::Product,
            Binary::Minimum => Reduction::Minimum,
            Binary::Maximum => Reduction::Maximum,
            other => Reduction::Other(ufunc.name, other),
        },
    };
    let operand = operand::required(vm, array)?;
    let request = Request {
        axes: reduce::axes(vm, Some(&axis), operand.shape().len())?,
        operand,
        keeps: keeps.map_or(Ok(false), |keeps| vm.truth(keeps))?,
        dtype: dtype::from_argument(vm, wanted)?,
        target: Target::new(vm, output, mask, Casting::SameKind)?,
        ddof: 0.0,
        initial: initial.map(|initial| operand::required(vm, &initial)).transpose()?,
    };
    request.reduce(reduction)
}

fn accumulate(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("accumulate");
    let array = parser.required("array")?;
    let axis = parser.optional("axis")?;
    let wanted = parser.optional("dtype")?;
    let output = parser.optional("out")?;
    parser.finish()?;
    let operand = operand::required(vm, array)?;
    let axis = axis.map_or(Ok(0), |axis| vm.index(axis))?;
    let target = Target::new(vm, output, None, Casting::SameKind)?;
    let wanted = dtype::from_argument(vm, wanted)?;
    let made = reduce::accumulate(ufunc.binary()?, &operand, axis, wanted.or(target.dtype()))?;
    target.finish(ufunc.name, made)
}

fn outer(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("outer");
    let left = operand::required(vm, parser.required("A")?)?.into_array()?;
    let right = operand::required(vm, parser.required("B")?)?.into_array()?;
    parser.finish()?;
    let mut layout = left.layout().clone();
    for _ in right.shape() {
        layout.insert_axis(layout.n_axes());
    }
    let left = Operand::Array(left.with_layout(layout));
    Ok(ufunc.apply(&[left, Operand::Array(right)])?.into_value())
}

/// `np.add.at(a, indices, b)`: as `a[indices] += b`, but an index that occurs twice counts twice.
fn at(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("at");
    let value = parser.required("a")?;
    let index = parser.required("indices")?;
    let other = parser.optional("b")?;
    parser.finish()?;
    let array = value.downcast::<NdArray>().ok_or_else(errors::not_an_output)?;
    let (shape, offsets) = index::elements(vm, array, index)?;
    let other = other.map(|other| operand::required(vm, other)).transpose()?;
    let others = match &other {
        Some(other) => Some(broadcast_elements(other, &shape)?),
        None => None,
    };
    for (nth, offset) in offsets.iter().enumerate() {
        let mut operands = vec![Operand::Scalar(array.scalar_at(*offset)?)];
        operands.extend(others.as_ref().map(|others| Operand::Scalar(others[nth])));
        if operands.len() != ufunc.func.n_operands() {
            return Err(crate::errors::value_error("second operand needed for ufunc"));
        }
        let made = ufunc.apply(&operands)?;
        if !Casting::SameKind.allows(made.dtype, array.dtype()) {
            return Err(errors::output_not_cast(ufunc.name, made.dtype, array.dtype(), Casting::SameKind));
        }
        array.write_at(&[*offset], &made.into_array().row_as(array.dtype())?)?;
    }
    Ok(Value::None)
}

/// The elements of an operand in a larger shape.
fn broadcast_elements(operand: &Operand, shape: &[usize]) -> Result<Vec<Scalar>> {
    let array = operand.clone().into_array()?;
    let layout = array.layout().broadcast_to(shape);
    let layout = layout.ok_or_else(|| errors::not_assigned(array.shape(), shape))?;
    let array = array.with_layout(layout);
    operators::check_room(&[array.size(), size_of::<Scalar>()], DType::U8)?;
    let dtype = array.dtype();
    array.with_row(|row| row.chunks_exact(dtype.size()).map(|element| Scalar::load(dtype, element)).collect())
}

fn name(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<Ufunc>()?.name.into())
}

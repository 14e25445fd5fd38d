//! Universal functions as objects: `np.sqrt(x)`, `np.add(x, y, out=z)`, `np.maximum.reduce(x)`.

use kps_compute::DType;

use super::array::NdArray;
use super::kernel::binary::Binary;
use super::kernel::compare::Compare;
use super::kernel::unary::{Test, Unary};
use super::operand::{self, Operand};
use super::operators::{self, Made};
use super::reduce::{self, Reduction};
use super::{dtype, errors, join};
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static UFUNC: NativeType = NativeType {
    methods: &[
        NativeDef::method("reduce", reduce_method),
        NativeDef::method("accumulate", accumulate),
        NativeDef::method("outer", outer),
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
}

impl Ufunc {
    fn apply(&self, operands: &[Operand]) -> Result<Made> {
        match (self.func, operands) {
            // `fabs` is for floats, and gives floats.
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

    fn apply_divmod(&self, left: &Operand, right: &Operand) -> Result {
        let quotient = operators::apply_binary("divmod", Binary::FloorDivide, left, right)?;
        let rest = operators::apply_binary("divmod", Binary::Remainder, left, right)?;
        Ok(Value::tuple([quotient.into_value(), rest.into_value()]))
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
        let mut parser = args.parser(self.name);
        let mut operands = Vec::with_capacity(2);
        for at in 0..self.func.n_operands() {
            let value = parser.positional(if at == 0 { "x1" } else { "x2" })?;
            operands.push(operand_or_no_loop(vm, self.name, value)?);
        }
        let positional_output = parser.optional_positional();
        let output = parser.keyword_only("out").or(positional_output);
        let wanted = dtype::from_argument(vm, parser.keyword_only("dtype"))?;
        let mask = parser.keyword_only("where");
        parser.finish()?;
        if let (Func::Divmod, [left, right]) = (self.func, &operands[..]) {
            return self.apply_divmod(left, right).map(Some);
        }
        if let Some(dtype) = wanted {
            for operand in &mut operands {
                *operand = convert(operand, dtype)?;
            }
        }
        let made = self.apply(&operands)?;
        finish(vm, self.name, made, output, mask).map(Some)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("<ufunc '{}'>", self.name))
    }
}

fn operand_or_no_loop(vm: &mut Vm, name: &str, value: &Value) -> Result<Operand> {
    match value.as_str() {
        Some(_) => Err(errors::no_loop(name)),
        None => operand::required(vm, value),
    }
}

fn convert(operand: &Operand, dtype: DType) -> Result<Operand> {
    Ok(Operand::Array(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?)))
}

/// The result itself, or the array of `out=` with the result in it, where the mask of `where=` is true.
fn finish(vm: &mut Vm, name: &str, made: Made, output: Option<&Value>, mask: Option<&Value>) -> Result {
    let output = match output {
        Some(Value::Tuple(outputs)) if outputs.len() == 1 => Some(outputs[0].clone()),
        Some(output) => output.clone().not_none(),
        None => None,
    };
    let Some(output) = output else { return Ok(made.into_value()) };
    let Some(array) = output.downcast::<NdArray>() else {
        return Err(errors::not_an_output());
    };
    match mask {
        None | Some(Value::Bool(true)) => operators::write_output(name, array, made)?,
        Some(mask) => {
            let mask = operand::required(vm, mask)?;
            let made = Operand::Array(made.into_array());
            let chosen = join::choose(&mask, &made, &Operand::Array(array.clone()))?;
            operators::write_output(name, array, Made { dtype: array.dtype(), ..chosen })?;
        }
    }
    Ok(output)
}

fn reduce_method(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("reduce");
    let array = parser.required("array")?;
    let axis = parser.optional("axis")?.cloned().unwrap_or(Value::Int(0));
    let wanted = parser.optional("dtype")?;
    let _output = parser.optional("out")?;
    let keeps = parser.optional("keepdims")?;
    parser.finish()?;
    let operand = operand::required(vm, array)?;
    let axes = reduce::axes(vm, Some(&axis), operand.shape().len())?;
    let keeps = keeps.map_or(Ok(false), |keeps| vm.truth(keeps))?;
    let wanted = dtype::from_argument(vm, wanted)?;
    let reduction = match ufunc.func {
        Func::Logical(Binary::And) => Reduction::All,
        Func::Logical(Binary::Or) => Reduction::Any,
        _ => match ufunc.binary()? {
            Binary::Add => Reduction::Sum,
            Binary::Multiply => Reduction::Product,
            other => Reduction::Other(ufunc.name, other),
        },
    };
    Ok(reduce::reduce(reduction, &operand, &axes, keeps, wanted)?.into_value())
}

fn accumulate(vm: &mut Vm, args: &Args) -> Result {
    let ufunc = args.this::<Ufunc>()?;
    let mut parser = args.method_parser("accumulate");
    let array = parser.required("array")?;
    let axis = parser.optional("axis")?;
    parser.finish()?;
    let operand = operand::required(vm, array)?;
    let axis = axis.map_or(Ok(0), |axis| vm.index(axis))?;
    Ok(reduce::accumulate(ufunc.binary()?, &operand, axis, None)?.into_value())
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

fn name(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<Ufunc>()?.name.into())
}

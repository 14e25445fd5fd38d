//! Print options, and the limits of types.

use kps_compute::DType;

use super::State;
use super::casting::Casting;
use super::dtype;
use super::operand;
use super::print::{self, Frame, PrintOptions};
use super::promote::promote_types;
use crate::value::{Args, Native, NativeDef, NativeType, Parser, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("set_printoptions", set_printoptions),
    NativeDef::function("array2string", array2string),
    NativeDef::function("array_repr", array_repr),
    NativeDef::function("array_str", array_str),
    NativeDef::function("finfo", finfo),
    NativeDef::function("iinfo", iinfo),
    NativeDef::function("result_type", result_type),
    NativeDef::function("promote_types", promote_types_function),
    NativeDef::function("can_cast", can_cast),
    NativeDef::function("isscalar", isscalar),
    NativeDef::function("astype", astype),
];

fn set_printoptions(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("set_printoptions");
    let state = vm.state::<State>();
    let options = read_options(vm, &mut parser, state.print_options.get())?;
    parser.finish()?;
    state.print_options.set(options);
    Ok(Value::None)
}

fn read_options(vm: &mut Vm, parser: &mut Parser, mut options: PrintOptions) -> Result<PrintOptions> {
    let places: [(&str, &mut usize); 4] = [
        ("precision", &mut options.precision),
        ("threshold", &mut options.threshold),
        ("edgeitems", &mut options.edge_items),
        ("linewidth", &mut options.line_width),
    ];
    for (name, place) in places {
        let Some(value) = parser.optional(name)? else { continue };
        if value.is_none() {
            continue;
        }
        // `threshold=np.inf` shows everything.
        let is_endless = matches!(value, Value::Float(float) if *float == f64::INFINITY);
        *place = if is_endless { usize::MAX } else { usize::try_from(vm.index(value)?).unwrap_or(0) };
    }
    if let Some(suppress) = parser.optional("suppress")? {
        options.suppress = vm.truth(suppress)?;
    }
    // More digits than a float has are zeros, so the precision is bounded.
    options.precision = options.precision.min(1100);
    Ok(options)
}

fn array2string(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("array2string");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let options = vm.state::<State>().print_options.get();
    let separator = parser.keyword_only("separator").and_then(Value::as_str).unwrap_or(" ").to_owned();
    let width = parser.keyword_only("max_line_width");
    let precision = parser.keyword_only("precision");
    let suppress = parser.keyword_only("suppress_small");
    let threshold = parser.keyword_only("threshold");
    parser.finish()?;
    let mut options = options;
    for (place, value) in [
        (&mut options.line_width, width),
        (&mut options.precision, precision),
        (&mut options.threshold, threshold),
    ] {
        if let Some(value) = value {
            *place = usize::try_from(vm.index(value)?).unwrap_or(0);
        }
    }
    if let Some(suppress) = suppress {
        options.suppress = vm.truth(suppress)?;
    }
    let frame = Frame { separator: &separator, prefix: "", suffix: "" };
    Ok(Value::str(print::elements_text(&array.shown(&options)?, frame, &options)))
}

fn array_repr(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("array_repr")?;
    Ok(Value::str(vm.repr(value)?))
}

fn array_str(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("array_str")?;
    Ok(Value::str(vm.str(value)?))
}

/// The limits of a type: `np.finfo(np.float32).max`.
struct Info {
    dtype: DType,
}

static FINFO: NativeType = NativeType::new("finfo", "numpy");
static IINFO: NativeType = NativeType::new("iinfo", "numpy");

impl Native for Info {
    fn native_type(&self) -> &'static NativeType {
        if self.dtype.is_float() { &FINFO } else { &IINFO }
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        let dtype = self.dtype;
        if name == "dtype" {
            return Ok(Some(dtype::object(dtype)));
        }
        if name == "bits" {
            return Ok(Some(Value::Int(dtype.size() as i64 * 8)));
        }
        if let Some((least, most)) = dtype.int_range() {
            return Ok(match name {
                "min" => Some(Value::big(least.into())),
                "max" => Some(Value::big(most.into())),
                _ => None,
            });
        }
        let (most, least_normal, epsilon) = match dtype {
            DType::F16 => (65504.0, 6.103_515_625e-5, 0.000_976_562_5),
            DType::Bf16 => (f64::from(half::bf16::MAX), f64::from(half::bf16::MIN_POSITIVE), 0.007_812_5),
            DType::F32 => (f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE), f64::from(f32::EPSILON)),
            _ => (f64::MAX, f64::MIN_POSITIVE, f64::EPSILON),
        };
        let float = match name {
            "max" => most,
            "min" => -most,
            "tiny" | "smallest_normal" => least_normal,
            "eps" => epsilon,
            _ => return Ok(None),
        };
        Ok(Some(Value::native(super::Scalar { dtype, number: kps_compute::Number::Float(float) })))
    }
}

fn finfo(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("finfo")?;
    let dtype = info_dtype(vm, value)?;
    if !dtype.is_float() {
        return Err(crate::errors::value_error(format!("data type {} not inexact", dtype.numpy_name())));
    }
    Ok(Value::native(Info { dtype }))
}

fn iinfo(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("iinfo")?;
    let dtype = info_dtype(vm, value)?;
    if dtype.int_range().is_none() {
        let kind = dtype.numpy_kind();
        return Err(crate::errors::value_error(format!("Invalid integer data type '{kind}'.")));
    }
    Ok(Value::native(Info { dtype }))
}

/// A type, or a number that has one.
fn info_dtype(vm: &mut Vm, value: &Value) -> Result<DType> {
    match value {
        Value::Int(_) | Value::Float(_) => Ok(operand::required(vm, value)?.dtype()),
        value => dtype::from_value(vm, value),
    }
}

fn dtype_of(vm: &mut Vm, value: &Value) -> Result<DType> {
    match operand::from_value(vm, value)? {
        Some(operand) => Ok(operand.dtype()),
        None => dtype::from_value(vm, value),
    }
}

fn result_type(vm: &mut Vm, args: &Args) -> Result {
    let mut kind = None;
    for value in args.positional() {
        let next = match operand::from_value(vm, value)? {
            Some(operand) => operand.kind(),
            None => super::promote::Kind::Strong(dtype::from_value(vm, value)?),
        };
        kind = Some(match kind {
            None => next,
            Some(kind) => super::promote::Kind::Strong(super::promote::promote(kind, next)),
        });
    }
    match kind {
        Some(kind) => Ok(dtype::object(kind.dtype())),
        None => Err(crate::errors::value_error("at least one array or dtype is required")),
    }
}

fn promote_types_function(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("promote_types")?;
    let (left, right) = (dtype::from_value(vm, left)?, dtype::from_value(vm, right)?);
    Ok(dtype::object(promote_types(left, right)))
}

fn can_cast(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("can_cast");
    let from = dtype_of(vm, parser.required("from_")?)?;
    let to = dtype::from_value(vm, parser.required("to")?)?;
    let casting = Casting::from_argument(parser.optional("casting")?, Casting::Safe)?;
    parser.finish()?;
    Ok(Value::Bool(casting.allows(from, to)))
}

fn isscalar(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("isscalar")?;
    let is_number = matches!(
        value,
        Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::BigInt(_) | Value::Str(_) | Value::Bytes(_)
    );
    Ok(Value::Bool(is_number || value.downcast::<super::Scalar>().is_some()))
}

fn astype(vm: &mut Vm, args: &Args) -> Result {
    let [value, dtype] = args.exactly("astype")?;
    let operand = operand::required(vm, value)?;
    let dtype = dtype::from_value(vm, dtype)?;
    Ok(super::operators::wrap(dtype, operand.shape(), operand.row_as(dtype)?))
}

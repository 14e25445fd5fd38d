//! Evaluates NumPy calls with literal arguments: `np.array([1.0, 2.0])`, `np.float32(0.5)`.
//!
//! A call goes in; out comes its result as a running kernel would see it. NumPy itself computes it, in a
//! machine that prints nothing. Arrays larger than a kernel can capture are not evaluated.

use kps_kernel::{EnvValue, Holder, MAX_TABLE, Type};
use kps_syntax::ast::*;
use num_traits::ToPrimitive;

use super::builtin;
use super::decoration::called;
use super::names::StaticEnv;
use super::values::value_of;
use crate::modules::numpy::dtype_object;
use crate::value::Value;

/// Functions that create arrays.
const ARRAYS: [&str; 7] = ["array", "asarray", "zeros", "ones", "full", "arange", "eye"];

/// Types of single numbers.
const NUMBERS: [&str; 15] = [
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "single", "double", "half",
];

/// Whether an expression may create an array, which others can write to.
pub(super) fn makes_array(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { func, .. } => called(func).is_some_and(|name| ARRAYS.contains(&name)),
        _ => false,
    }
}

/// The result of a NumPy call; `None` for any other call, for unknown arguments, and for a call that would
/// raise.
pub(super) fn made_by(func: &Expr, args: &[Argument], env: &StaticEnv) -> Option<EnvValue> {
    let name = function_of_numpy(func, env)?;
    if !ARRAYS.contains(&&*name) && !NUMBERS.contains(&&*name) {
        return None;
    }
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for arg in args {
        match &arg.kind {
            ArgumentKind::Positional(value) if names.is_empty() => values.push(value_of(value, env)),
            ArgumentKind::Keyword(name, value) => {
                names.push(name.name.clone());
                values.push(value_of(value, env));
            }
            _ => return None,
        }
    }
    let sizes = match &*name {
        "zeros" | "ones" | "full" | "eye" => values.get(..1)?,
        "arange" => &values[..],
        _ => &[],
    };
    if sizes.iter().any(|size| n_elements(size).is_none_or(|n| n > MAX_TABLE as i128)) {
        return None;
    }
    let values = values.iter().map(host_value).collect::<Option<Vec<_>>>()?;
    builtin::call("numpy", &name, &values, &names)
}

/// The name that a function of NumPy's has there.
fn function_of_numpy(func: &Expr, env: &StaticEnv) -> Option<Name> {
    match &func.kind {
        ExprKind::Name(name) => {
            let (module, member) = env.member_of_builtin(name)?;
            (&*module == "numpy").then_some(member)
        }
        ExprKind::Attribute { value, attr } => match value_of(value, env) {
            EnvValue::Module(module) if module.kind == Holder::Module && &*module.name == "numpy" => {
                Some(attr.name.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The number of elements that an argument requests, if it is small enough.
fn n_elements(value: &EnvValue) -> Option<i128> {
    match value {
        EnvValue::Int(n) => Some(n.abs()),
        EnvValue::Tuple(items) | EnvValue::List(items) => {
            items.iter().try_fold(1i128, |n, item| n.checked_mul(n_elements(item)?))
        }
        // A type.
        EnvValue::Str(_) | EnvValue::Builtin(_) | EnvValue::Type(_) => Some(1),
        _ => None,
    }
}

/// A value as the machine has it; a type of NumPy's by its name.
fn host_value(value: &EnvValue) -> Option<Value> {
    let all = |items: &[EnvValue]| items.iter().map(host_value).collect::<Option<Vec<_>>>();
    Some(match value {
        EnvValue::Int(value) => Value::Int(value.to_i64()?),
        EnvValue::Float(value) => Value::Float(*value),
        EnvValue::Bool(value) => Value::Bool(*value),
        EnvValue::Str(text) | EnvValue::Builtin(text) => Value::str(&**text),
        EnvValue::Type(Type::Scalar(scalar)) => dtype_object(*scalar),
        EnvValue::Tuple(items) => Value::tuple(all(items)?),
        EnvValue::List(items) => Value::list(all(items)?),
        _ => return None,
    })
}

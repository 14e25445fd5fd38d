//! Constant evaluation of host expressions.
//!
//! A tree and its environment go in; out comes a literal, the result of Python's operators on literals, or
//! [`EnvValue::Unknown`]. Nothing is run, and each number equals that of a run bit for bit.

use kps_kernel::{EnvModule, EnvValue, KernelEnv, MAX_TABLE, Type};
use kps_syntax::ast::*;
use num_traits::ToPrimitive;

use super::arrays;
use super::declared::is_type;
use super::names::StaticEnv;

/// Up to here every int is a float, too.
const MAX_EXACT: i128 = 1 << 53;

pub(super) fn value_of(expr: &Expr, env: &StaticEnv) -> EnvValue {
    evaluate(expr, env).unwrap_or(EnvValue::Unknown)
}

/// The result of a test; `None` if it is only known at run time.
pub(super) fn truth_of(test: &Expr, env: &StaticEnv) -> Option<bool> {
    truth(&value_of(test, env))
}

fn truth(value: &EnvValue) -> Option<bool> {
    match value {
        EnvValue::Bool(value) => Some(*value),
        EnvValue::Int(value) => Some(*value != 0),
        EnvValue::Float(value) => Some(*value != 0.0),
        EnvValue::Str(text) => Some(!text.is_empty()),
        EnvValue::Tuple(items) => Some(!items.is_empty()),
        EnvValue::List(_) | EnvValue::Function(_) => Some(true),
        EnvValue::Other { type_name } if type_name == "NoneType" => Some(false),
        _ => None,
    }
}

/// `None` for an unknown value, and for an expression that would raise.
fn evaluate(expr: &Expr, env: &StaticEnv) -> Option<EnvValue> {
    Some(match &expr.kind {
        ExprKind::Int(value) => EnvValue::Int(value.to_i128()?),
        ExprKind::Float(value) => EnvValue::Float(*value),
        ExprKind::True => EnvValue::Bool(true),
        ExprKind::False => EnvValue::Bool(false),
        ExprKind::Str(text) => EnvValue::Str(Name::from(&**text)),
        ExprKind::None => other("NoneType"),
        ExprKind::Dict(_) | ExprKind::DictComp { .. } => other("dict"),
        ExprKind::Set(_) | ExprKind::SetComp { .. } => other("set"),
        ExprKind::Name(name) => match env.get(name) {
            Some(value) => value,
            None => EnvValue::Type(Type::by_name(name)?),
        },
        ExprKind::Attribute { value, attr } => match evaluate(value, env)? {
            EnvValue::Module(module) => member(&module, &attr.name)?,
            _ => return None,
        },
        // The number of items is unknown.
        ExprKind::Tuple(items) | ExprKind::List(items) if items.iter().any(is_starred) => return None,
        ExprKind::Tuple(items) => {
            EnvValue::Tuple(items.iter().map(|item| value_of(item, env)).collect()).of_bounded_size()
        }
        ExprKind::List(items) if (1..=MAX_TABLE).contains(&items.len()) => {
            EnvValue::List(items.iter().map(|item| value_of(item, env)).collect()).of_bounded_size()
        }
        ExprKind::List(items) if items.is_empty() => other("empty list"),
        ExprKind::List(_) => other("list"),
        ExprKind::Unary { op, operand } => unary(*op, evaluate(operand, env)?)?,
        ExprKind::Binary { op, left, right, .. } => binary(*op, evaluate(left, env)?, evaluate(right, env)?)?,
        ExprKind::Compare { left, comparisons } => compare(evaluate(left, env)?, comparisons, env)?,
        ExprKind::Bool { op, values } => {
            let decided = *op == BoolOp::Or;
            let mut last = None;
            for value in values {
                let value = evaluate(value, env)?;
                if truth(&value)? == decided {
                    return Some(value);
                }
                last = Some(value);
            }
            last?
        }
        ExprKind::IfElse { test, then, orelse } => {
            return evaluate(if truth_of(test, env)? { then } else { orelse }, env);
        }
        _ if is_type(expr) => kps_kernel::read_type(expr, env.source(), env).ok()?.into(),
        ExprKind::Call { func, args } => call(func, args, env)?,
        _ => return None,
    })
}

fn is_starred(item: &Expr) -> bool {
    matches!(item.kind, ExprKind::Starred(_))
}

fn other(type_name: &str) -> EnvValue {
    EnvValue::Other { type_name: type_name.to_owned() }
}

/// Of `math` and of PyShader's modules kernels know the members by themselves.
fn member(module: &EnvModule, name: &Name) -> Option<EnvValue> {
    module.members.get(name).or_else(|| {
        let is_library = matches!(&*module.name, "math" | "pyshader" | "pyshader.stdlib");
        let (_, constant) = kps_kernel::stdlib().find(|(known, _)| is_library && *known == &**name)?;
        constant.map(EnvValue::Float)
    })
}

fn unary(op: UnaryOp, operand: EnvValue) -> Option<EnvValue> {
    Some(match (op, operand) {
        (UnaryOp::Not, operand) => EnvValue::Bool(!truth(&operand)?),
        (UnaryOp::Minus, EnvValue::Int(value)) => EnvValue::Int(value.checked_neg()?),
        (UnaryOp::Minus, EnvValue::Float(value)) => EnvValue::Float(-value),
        (UnaryOp::Invert, EnvValue::Int(value)) => EnvValue::Int(!value),
        (UnaryOp::Plus, value @ (EnvValue::Int(_) | EnvValue::Float(_))) => value,
        _ => return None,
    })
}

fn binary(op: BinaryOp, left: EnvValue, right: EnvValue) -> Option<EnvValue> {
    if let (EnvValue::Int(left), EnvValue::Int(right)) = (&left, &right)
        && op != BinaryOp::Div
    {
        return ints(op, *left, *right).map(EnvValue::Int);
    }
    let (left, right) = (float(&left)?, float(&right)?);
    Some(EnvValue::Float(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div if right != 0.0 => left / right,
        _ => return None,
    }))
}

fn ints(op: BinaryOp, left: i128, right: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        // By a positive number both round as Python's do.
        BinaryOp::FloorDiv if right > 0 => Some(left.div_euclid(right)),
        BinaryOp::Mod if right > 0 => Some(left.rem_euclid(right)),
        BinaryOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        BinaryOp::LeftShift => left.checked_mul(2i128.checked_pow(u32::try_from(right).ok()?)?),
        BinaryOp::RightShift => left.checked_shr(u32::try_from(right).ok()?),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        _ => None,
    }
}

fn float(value: &EnvValue) -> Option<f64> {
    match value {
        EnvValue::Float(value) => Some(*value),
        EnvValue::Int(value) if value.abs() <= MAX_EXACT => Some(*value as f64),
        _ => None,
    }
}

fn compare(left: EnvValue, comparisons: &[Comparison], env: &StaticEnv) -> Option<EnvValue> {
    let mut left = left;
    for comparison in comparisons {
        let right = evaluate(&comparison.right, env)?;
        if !compares(comparison.op, &left, &right)? {
            return Some(EnvValue::Bool(false));
        }
        left = right;
    }
    Some(EnvValue::Bool(true))
}

fn compares(op: CompareOp, left: &EnvValue, right: &EnvValue) -> Option<bool> {
    if let (EnvValue::Str(left), EnvValue::Str(right)) = (left, right) {
        return match op {
            CompareOp::Eq => Some(left == right),
            CompareOp::NotEq => Some(left != right),
            _ => None,
        };
    }
    let (left, right) = (float(left)?, float(right)?);
    match op {
        CompareOp::Eq => Some(left == right),
        CompareOp::NotEq => Some(left != right),
        CompareOp::Less => Some(left < right),
        CompareOp::LessEq => Some(left <= right),
        CompareOp::Greater => Some(left > right),
        CompareOp::GreaterEq => Some(left >= right),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => None,
    }
}

/// `len(xs)`, calls of NumPy, and `Tensor(..)`, whose type is known.
fn call(func: &Expr, args: &[Argument], env: &StaticEnv) -> Option<EnvValue> {
    let is_len = matches!(&func.kind, ExprKind::Name(name) if &**name == "len" && env.get(name).is_none());
    if is_len {
        let [Argument { kind: ArgumentKind::Positional(of), .. }] = args else { return None };
        return match evaluate(of, env)? {
            EnvValue::Tuple(items) | EnvValue::List(items) => Some(EnvValue::Int(items.len() as i128)),
            _ => None,
        };
    }
    let is_range =
        matches!(&func.kind, ExprKind::Name(name) if &**name == "range" && env.get(name).is_none());
    if is_range {
        return range(args, env);
    }
    let is_tensor = match &func.kind {
        ExprKind::Name(name) if env.get(name).is_none() => &**name == "Tensor",
        _ => matches!(evaluate(func, env), Some(EnvValue::Builtin(name)) if &*name == "Tensor"),
    };
    if is_tensor { Some(other("Tensor")) } else { arrays::made_by(func, args, env) }
}

/// `None` for unknown bounds, and for a step of 0.
fn range(args: &[Argument], env: &StaticEnv) -> Option<EnvValue> {
    let bound = |arg: &Argument| match &arg.kind {
        ArgumentKind::Positional(bound) => match evaluate(bound, env)? {
            EnvValue::Int(bound) => Some(bound),
            _ => None,
        },
        _ => None,
    };
    let bounds = match args.iter().map(bound).collect::<Option<Vec<i128>>>()?[..] {
        [stop] => [0, stop, 1],
        [start, stop] => [start, stop, 1],
        [start, stop, step] if step != 0 => [start, stop, step],
        _ => return None,
    };
    Some(EnvValue::Range(bounds))
}

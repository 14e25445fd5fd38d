//! Types that a script creates, `Struct(a=f32)`, `Array(4, vec2)`, and their errors.
//!
//! Only literal types are checked. A type that depends on a call, on an item of a list or on a name with an
//! unknown value is left for the run.

use kps_kernel::{EnvValue, KernelEnv};
use kps_syntax::ast::*;
use kps_syntax::{Diagnostics, Source};

use super::decoration::called;
use super::names::StaticEnv;

/// A call that creates a type, with its environment.
pub(super) struct StaticType {
    pub expr: Expr,
    pub source: Source,
    pub env: StaticEnv,
}

impl StaticType {
    pub fn check(&self) -> Diagnostics {
        match is_written_out(&self.expr, &self.env) {
            true => kps_kernel::check_type(&self.expr, &self.source, &self.env),
            false => Diagnostics::new(),
        }
    }
}

/// `Struct(..)`, `Array(4, f32)`, `Vector(2, i32)`, `Array[f32]`.
pub(super) fn is_type(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call { func, .. } => matches!(called(func), Some("Struct" | "Array" | "Vector" | "Matrix")),
        ExprKind::Subscript { value, .. } => matches!(called(value), Some("Array" | "const")),
        _ => false,
    }
}

/// Whether the name of a type is that of a class of the script's own.
fn is_class(func: &Expr, env: &StaticEnv) -> bool {
    let ExprKind::Name(name) = &func.kind else { return false };
    matches!(env.get(name), Some(EnvValue::Module(_) | EnvValue::Type(_)))
}

fn is_written_out(expr: &Expr, env: &StaticEnv) -> bool {
    let is_known = |expr: &Expr| is_written_out(expr, env);
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) => true,
        ExprKind::Name(name) => !matches!(env.get(name), Some(EnvValue::Unknown | EnvValue::Function(_))),
        ExprKind::Attribute { value, .. } => match &value.kind {
            ExprKind::Name(name) => matches!(env.get(name), Some(EnvValue::Module(_))),
            _ => false,
        },
        ExprKind::Binary { left, right, .. } => is_known(left) && is_known(right),
        ExprKind::Call { func, args } if is_type(expr) => {
            is_known(func)
                && !is_class(func, env)
                && args.iter().all(|arg| match &arg.kind {
                    ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value) => is_known(value),
                    ArgumentKind::Spread(_) | ArgumentKind::KeywordSpread(_) => false,
                })
        }
        _ => false,
    }
}

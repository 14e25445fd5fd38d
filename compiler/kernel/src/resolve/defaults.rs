//! Defaults that do not fit their parameter of a kernel.
//!
//! In goes a declared parameter with its default, out comes a mistake if the default is a literal. A computed default
//! is checked at the launch that uses it.

use kps_syntax::ast::{Expr, ExprKind, Ident};
use kps_syntax::{Diagnostic, Source};

use super::given::number;
use crate::constant::Literal;
use crate::errors;
use crate::template::ParamKind;
use crate::types::{Scalar, Type};

pub(super) fn misfit(name: &Ident, kind: &ParamKind, default: &Expr, source: &Source) -> Option<Diagnostic> {
    let (wanted, fits, help) = match kind {
        ParamKind::Array(array) => (format!("`{array}`"), !is_plain(default), EVERY_LAUNCH),
        ParamKind::Texture { .. } => ("an image".to_owned(), !is_plain(default), EVERY_LAUNCH),
        ParamKind::Sampler { .. } => ("a sampler".to_owned(), !is_plain(default), EVERY_LAUNCH),
        ParamKind::Untyped => {
            ("an array, a number or a function".to_owned(), !is_no_argument(default), EVERY_LAUNCH)
        }
        ParamKind::Scalar(ty) => (format!("`{ty}`"), holds(ty, default), ANOTHER),
        ParamKind::Const(scalar) => (format!("`{scalar}`"), holds(&(*scalar).into(), default), ANOTHER),
        // PyShader's parameters have no defaults.
        ParamKind::Input { .. }
        | ParamKind::Port(_)
        | ParamKind::Uniform { .. }
        | ParamKind::Buffer { .. }
        | ParamKind::Cell { .. } => return None,
    };
    let at = source.at(default.span);
    (!fits).then(|| errors::default_misfit(at, source.slice(default.span), &name.name, &wanted, help))
}

const EVERY_LAUNCH: &str = "leave the default out: every launch gives it";
const ANOTHER: &str = "write a value that the type holds, or declare another type";

fn is_no_number(default: &Expr) -> bool {
    matches!(default.kind, ExprKind::None | ExprKind::Str(_))
}

/// Whether a parameter without a type cannot have this default.
fn is_no_argument(default: &Expr) -> bool {
    is_no_number(default)
        || matches!(default.kind, ExprKind::List(_) | ExprKind::Tuple(_) | ExprKind::Dict(_))
}

/// A literal, which is no tensor, image or sampler.
fn is_plain(default: &Expr) -> bool {
    let is_truth = matches!(default.kind, ExprKind::True | ExprKind::False);
    let is_several = matches!(default.kind, ExprKind::Tuple(_) | ExprKind::List(_));
    is_no_number(default) || is_truth || is_several || number(default).is_some()
}

/// Whether a launch would take it as a value of the type.
fn holds(ty: &Type, default: &Expr) -> bool {
    match (ty, &default.kind) {
        _ if is_no_number(default) => false,
        (Type::Scalar(scalar), _) => number(default).is_none_or(|literal| takes(*scalar, literal)),
        (Type::Vector(n, scalar), ExprKind::Tuple(items) | ExprKind::List(items)) => {
            items.len() == usize::from(*n) && items.iter().all(|item| holds(&(*scalar).into(), item))
        }
        (Type::Vector(..), _) => number(default).is_none(),
        _ => true,
    }
}

/// As numbers of the host are taken: their value stays whole, but that a float is rounded.
fn takes(scalar: Scalar, literal: Literal) -> bool {
    match (literal, scalar) {
        (_, Scalar::Bool) => true,
        (Literal::Int(value), scalar) if scalar.is_float() => {
            let fitted = literal.fit(scalar).and_then(|constant| constant.as_float());
            fitted.is_some_and(|float| float == value as f64)
        }
        (Literal::Float(value), scalar) if scalar.is_int() && value.fract() == 0.0 => {
            Literal::Int(value as i128).fit(scalar).is_some()
        }
        _ => literal.fit(scalar).is_some(),
    }
}

//! Folding of functions of literals.

use std::cmp::Ordering;

use super::row::Fold;
use crate::constant::Literal;

/// Folds a function of literals, if its result is correctly rounded and the same on every machine.
pub(crate) fn fold_function(fold: Fold, args: &[Literal]) -> Option<Literal> {
    match (fold, args) {
        (Fold::Literals(fold), args) => fold(args),
        (Fold::Of1(of_one) | Fold::Of1Or2(of_one, _), [x]) => finite_literal(of_one(x.to_f64())),
        (Fold::Of2(of_two) | Fold::Of1Or2(_, of_two), [x, y]) => {
            finite_literal(of_two(x.to_f64(), y.to_f64()))
        }
        _ => None,
    }
}

/// A result that is not finite is left to run time.
fn finite_literal(value: f64) -> Option<Literal> {
    value.is_finite().then_some(Literal::Float(value))
}

/// The smallest or the largest of literals of one kind.
pub(super) fn fold_extreme(args: &[Literal], is_better: fn(Ordering) -> bool) -> Option<Literal> {
    let best = |a: Literal, b: Literal| {
        let order = match (b, a) {
            (Literal::Int(b), Literal::Int(a)) => b.cmp(&a),
            (Literal::Float(b), Literal::Float(a)) => b.partial_cmp(&a)?,
            _ => return None,
        };
        Some(if is_better(order) { b } else { a })
    };
    args.iter().copied().map(Some).reduce(|a, b| best(a?, b?)).flatten()
}

pub(super) fn fold_abs(args: &[Literal]) -> Option<Literal> {
    match args {
        [Literal::Int(x)] => x.checked_abs().map(Literal::Int),
        [Literal::Float(x)] => Some(Literal::Float(x.abs())),
        _ => None,
    }
}

pub(super) fn fold_sqrt(args: &[Literal]) -> Option<Literal> {
    let root = args.first()?.to_f64().sqrt();
    (!root.is_nan()).then_some(Literal::Float(root))
}

pub(super) fn fold_clamp(args: &[Literal]) -> Option<Literal> {
    let [x, least, most] = args else { return None };
    let [x, least, most] = [x, least, most].map(|literal| literal.to_f64());
    if least <= most { finite_literal(x.max(least).min(most)) } else { None }
}

//! Names to which a body assigns only literals: `found = 1`, `step = -0.5 if x else 0.5`.

use kps_syntax::ast::{Expr, ExprKind, Name, Stmt, StmtKind, UnaryOp};
use kps_syntax::scope::{Assigns, assigned_names};
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use crate::constant::Literal;

/// Each such name with its numbers.
pub(crate) fn assigned_literals(body: &[Stmt]) -> FxHashMap<&Name, Vec<Literal>> {
    let mut found = FxHashMap::default();
    collect(body, &mut found);
    let mut n_assigned: FxHashMap<Name, usize> = FxHashMap::default();
    assigned_names(body, &mut |name, assigns| match assigns {
        Assigns::Name(_) => *n_assigned.entry(name.clone()).or_default() += 1,
        Assigns::Part => {}
    });
    found.retain(|name, (n_found, _)| n_assigned.get(*name) == Some(n_found));
    found.into_iter().map(|(name, (_, literals))| (name, literals)).collect()
}

/// How often each name is given numbers, and which.
fn collect<'b>(body: &'b [Stmt], found: &mut FxHashMap<&'b Name, (usize, Vec<Literal>)>) {
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind
            && let [Expr { kind: ExprKind::Name(name), .. }] = &targets[..]
        {
            let (n_found, literals) = found.entry(name).or_default();
            *n_found += usize::from(literals_of(value, literals));
        }
        stmt.blocks().into_iter().for_each(|block| collect(block, found));
    }
}

fn number(expr: &Expr) -> Option<Literal> {
    match &expr.kind {
        ExprKind::Int(value) => value.to_i128().map(Literal::Int),
        ExprKind::Float(value) => Some(Literal::Float(*value)),
        _ => None,
    }
}

fn negative(literal: Literal) -> Option<Literal> {
    Some(match literal {
        Literal::Int(value) => Literal::Int(value.checked_neg()?),
        Literal::Float(value) => Literal::Float(-value),
    })
}

/// Adds the numbers that an expression may be; false where it may be anything else.
fn literals_of(expr: &Expr, literals: &mut Vec<Literal>) -> bool {
    match &expr.kind {
        ExprKind::IfElse { then, orelse, .. } => literals_of(then, literals) && literals_of(orelse, literals),
        ExprKind::Unary { op: UnaryOp::Minus, operand, .. } => {
            let literal = number(operand).and_then(negative);
            literals.extend(literal);
            literal.is_some()
        }
        _ => {
            let literal = number(expr);
            literals.extend(literal);
            literal.is_some()
        }
    }
}

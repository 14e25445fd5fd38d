//! Lints: unused results, unreachable code, tests that never hold, and assignments to the name of an array.
//!
//! In goes a function's body, out come warnings.

use kps_syntax::ast::{
    Argument, ArgumentKind, BoolOp, Branch, CompareOp, Comparison, Expr, ExprKind, FunctionDef, Stmt,
    StmtKind, UnaryOp,
};
use kps_syntax::{Diagnostic, Part, Source, Span};

use super::types::int_literal;
use crate::builtins::{self, Builtin, Effect};
use crate::errors;

/// An expression statement without effect. `is_own` says which names the script defines.
pub(super) fn unused(expr: &Expr, source: &Source, is_own: &dyn Fn(&str) -> bool) -> Option<Diagnostic> {
    if !is_pure(expr, is_own) {
        return None;
    }
    let text = source.slice(expr.span);
    let help = match &expr.kind {
        ExprKind::Compare { left, comparisons } if is_assignment(left, comparisons[0].op) => {
            let value = source.slice(comparisons[0].right.span);
            format!("to assign, write `{} = {value}`", source.slice(left.span))
        }
        ExprKind::Unary { op: UnaryOp::Plus | UnaryOp::Minus, operand } if is_counted(operand) => {
            let sign = if text.starts_with('-') { '-' } else { '+' };
            format!("Python counts with `{} {sign}= 1`", text.trim_start_matches(['+', '-']).trim())
        }
        ExprKind::Name(_) | ExprKind::Attribute { .. } => {
            format!("leave it out; a function is called with `{text}()`")
        }
        _ => format!("assign it, `result = {text}`, or leave it out"),
    };
    Some(errors::unused_result(source.at(expr.span), text, help))
}

/// The rest of `++i` and `--i` after the first sign.
fn is_counted(operand: &Expr) -> bool {
    matches!(&operand.kind, ExprKind::Unary { op: UnaryOp::Plus | UnaryOp::Minus, operand }
        if matches!(operand.kind, ExprKind::Name(_) | ExprKind::Subscript { .. }))
}

fn is_assignment(left: &Expr, op: CompareOp) -> bool {
    let has_place =
        matches!(left.kind, ExprKind::Name(_) | ExprKind::Subscript { .. } | ExprKind::Attribute { .. });
    has_place && op == CompareOp::Eq
}

/// Computing it changes nothing.
fn is_pure(expr: &Expr, is_own: &dyn Fn(&str) -> bool) -> bool {
    let is_pure_here = match &expr.kind {
        ExprKind::Call { func, .. } => match &func.kind {
            ExprKind::Name(name) if !is_own(name) => match builtins::lookup(name) {
                Some(Builtin::Type(_)) => true,
                Some(Builtin::Function(function)) => {
                    function.effect == Effect::None && !function.gives_nothing()
                }
                _ => false,
            },
            _ => false,
        },
        ExprKind::Walrus { .. } | ExprKind::Error => false,
        // Effects of a later call do not count.
        ExprKind::Lambda(_) => return true,
        _ => true,
    };
    let mut is_all_pure = is_pure_here;
    expr.each_child(&mut |child| is_all_pure &= is_pure(child, is_own));
    is_all_pure
}

/// `(test, "message")`, which an `assert` is given as one tuple.
pub(crate) fn is_test_with_text(test: &Expr) -> bool {
    let ExprKind::Tuple(items) = &test.kind else { return false };
    matches!(&items[..], [_, Expr { kind: ExprKind::Str(_) | ExprKind::FString(_), .. }])
}

/// A test that is always false, by its literals: `False`, `1 > 2`.
pub(super) fn never_true(test: &Expr, source: &Source) -> Option<Diagnostic> {
    (written_truth(test) == Some(false))
        .then(|| errors::never_true(source.at(test.span), source.slice(test.span)))
}

/// The branches after a test that is always true.
pub(super) fn behind_true(branches: &[Branch], orelse: &[Stmt], source: &Source) -> Option<Diagnostic> {
    let at = branches.iter().position(|branch| written_truth(&branch.test) == Some(true))?;
    let test = branches[at].test.span;
    let next =
        branches.get(at + 1).map(|branch| branch.test.span).or(orelse.first().map(|stmt| stmt.span))?;
    Some(errors::behind_true(source.at(next), source.at(test)))
}

/// The truth of a test without names; a name may be a setting.
fn written_truth(test: &Expr) -> Option<bool> {
    match &test.kind {
        ExprKind::True => Some(true),
        ExprKind::False => Some(false),
        ExprKind::Unary { op: UnaryOp::Not, operand } => written_truth(operand).map(|truth| !truth),
        ExprKind::Bool { op, values } => {
            let mut truths = values.iter().map(written_truth);
            match op {
                BoolOp::And if truths.any(|truth| truth == Some(false)) => Some(false),
                BoolOp::Or => truths.try_fold(false, |any, truth| Some(any || truth?)),
                BoolOp::And => None,
            }
        }
        ExprKind::Compare { left, comparisons } => {
            let [Comparison { op, right, .. }] = &comparisons[..] else { return None };
            let (left, right) = (int_literal(left)?, int_literal(right)?);
            Some(match op {
                CompareOp::Eq => left == right,
                CompareOp::NotEq => left != right,
                CompareOp::Less => left < right,
                CompareOp::LessEq => left <= right,
                CompareOp::Greater => left > right,
                CompareOp::GreaterEq => left >= right,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// A loop over `range(10, 0)` or `range(0, 10, -1)`, which counts away from its end, or over `range(0)`.
pub(super) fn never_runs(iter: &Expr, source: &Source) -> Option<Diagnostic> {
    let ExprKind::Call { func, args } = &iter.kind else { return None };
    if !matches!(&func.kind, ExprKind::Name(name) if &**name == "range") {
        return None;
    }
    let written = |arg: &Argument| match &arg.kind {
        ArgumentKind::Positional(Expr { kind: ExprKind::Unary { op: UnaryOp::Minus, operand }, .. }) => {
            int_literal(operand).map(|bound| -bound)
        }
        ArgumentKind::Positional(bound) => int_literal(bound),
        _ => None,
    };
    let bounds: Vec<i64> = args.iter().map(written).collect::<Option<_>>()?;
    let (start, stop, step) = match bounds[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step),
        _ => return None,
    };
    let is_away = start > stop && step > 0 || start < stop && step < 0;
    let help = match step {
        _ if start == stop => "leave it out: `range` stops before its end".to_owned(),
        _ if !is_away => return None,
        -1 => format!("to count in the other direction, write `range({start}, {stop})`"),
        step => format!("to count in the other direction, write `range({start}, {stop}, {})`", -step),
    };
    Some(errors::never_runs(source.at(iter.span), source.slice(iter.span), help))
}

/// Assignments to the name of an array parameter that nothing names afterwards: they write no element.
pub(super) fn rebound(def: &FunctionDef, arrays: &[&str], source: &Source) -> Vec<Diagnostic> {
    let mut last_mention: Vec<u32> = vec![0; arrays.len()];
    let mut found = Vec::new();
    visit_names(&def.body, &mut |name, span| {
        if let Some(at) = arrays.iter().position(|array| *array == name) {
            last_mention[at] = last_mention[at].max(span.start);
        }
    });
    visit_rebound(&def.body, &mut |target, name, value| {
        let at = arrays.iter().position(|array| *array == name);
        if at.is_some_and(|at| last_mention[at] <= target.start) {
            found.push(errors::rebound_array(source.at(target), name, source.slice(value)));
        }
    });
    found
}

/// Calls `visit` for `name = value` outside of loops.
fn visit_rebound(body: &[Stmt], visit: &mut dyn FnMut(Span, &str, Span)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    if let ExprKind::Name(name) = &target.kind {
                        visit(target.span, name, value.span);
                    }
                }
            }
            StmtKind::If { .. } => stmt.blocks().into_iter().for_each(|body| visit_rebound(body, visit)),
            _ => {}
        }
    }
}

/// Calls `visit` for every name that a block mentions.
fn visit_names(body: &[Stmt], visit: &mut dyn FnMut(&str, Span)) {
    fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&str, Span)) {
        if let ExprKind::Name(name) = &expr.kind {
            visit(name, expr.span);
        }
        expr.each_child(&mut |child| in_expr(child, visit));
    }
    for stmt in body {
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => in_expr(expr, visit),
            Part::Name(name, span) => visit(name, span),
            Part::Block(body) => visit_names(body, visit),
        });
        if let StmtKind::Function(def) = &stmt.kind {
            visit_names(&def.body, visit);
        }
    }
}

/// The first statement of a block that nothing reaches, with the jump before it.
pub(super) fn unreachable(body: &[Stmt], source: &Source) -> Option<Diagnostic> {
    let jump = body.iter().position(ends)?;
    let next = body.get(jump + 1)?;
    Some(errors::unreachable_code(source.at(next.span), source.at(body[jump].span)))
}

/// Control never continues after this statement.
fn ends(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { branches, orelse } => {
            let ends = |body: &[Stmt]| body.iter().any(ends);
            !orelse.is_empty() && ends(orelse) && branches.iter().all(|branch| ends(&branch.body))
        }
        StmtKind::While { test, body, .. } => matches!(test.kind, ExprKind::True) && !has_break(body),
        _ => false,
    }
}

/// Whether a `break` in this body leaves the loop around it.
pub(crate) fn has_break(body: &[Stmt]) -> bool {
    has_exit(body, |exit| matches!(exit, StmtKind::Break))
}

/// Whether a loop's body has a statement of this kind that belongs to that loop.
pub(crate) fn has_exit(body: &[Stmt], is_exit: fn(&StmtKind) -> bool) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        exit if is_exit(exit) => true,
        // In the `else` of an inner loop it belongs to this loop.
        StmtKind::While { orelse, .. } | StmtKind::For { orelse, .. } => has_exit(orelse, is_exit),
        _ => stmt.blocks().into_iter().any(|block| has_exit(block, is_exit)),
    })
}

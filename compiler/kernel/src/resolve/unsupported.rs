//! Constructs of Python that kernels do not have, each with what to write instead.
//!
//! In goes a statement or an expression, out comes one message about all of it.

use kps_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};
use kps_syntax::{Diagnostic, Source};

use crate::errors;
use crate::types::Type;

/// A statement that kernels do not have.
pub(super) fn stmt(stmt: &Stmt, source: &Source) -> Diagnostic {
    let (span, what, help) = match &stmt.kind {
        StmtKind::For { .. } => (stmt.span, "`async for`", "write `for`"),
        StmtKind::Class(def) => (def.header, "a class", "define the type outside the kernel"),
        StmtKind::TypeAlias { .. } => (stmt.span, "a type alias", "define it outside the kernel"),
        StmtKind::Delete(_) => (stmt.span, "`del`", "leave it out: a kernel's variables end with the kernel"),
        StmtKind::Raise { .. } => {
            (stmt.span, "`raise`", "write `assert condition, \"message\"`, which raises at the launch")
        }
        StmtKind::Global(_) => (
            stmt.span,
            "`global`",
            "names of the script are constants in a kernel: pass an array and write to an element of it, `out[i] = ..`; \
             where invocations share one, as for counting, `atomic_add(count, 0, 1)`",
        ),
        StmtKind::Nonlocal(_) => (
            stmt.span,
            "`nonlocal`",
            "a nested function sees values: return the new one, `x = f(x)`, or keep it in a list",
        ),
        StmtKind::Import(_) | StmtKind::ImportFrom(_) => {
            (stmt.span, "an import", "import it outside the kernel")
        }
        StmtKind::With { .. } => (stmt.span, "`with`", "enter the context around the launch"),
        StmtKind::Try(_) => (stmt.span, "`try`", "nothing raises in a kernel: test the values with `if`"),
        _ => (stmt.span, "this statement", "write it with assignments, `if` and loops"),
    };
    errors::unsupported(source.at(span), what, help)
}

/// An expression that kernels do not have; `None` for those that they do.
pub(super) fn expr(expr: &Expr, source: &Source) -> Option<Diagnostic> {
    let (what, help) = match &expr.kind {
        ExprKind::None => (
            "`None`",
            "kernels have numbers, bools, vectors and arrays: use a number that says \"nothing\", such as `-1`",
        ),
        ExprKind::Ellipsis => {
            ("`...`", "write `pass` for an empty body; an index says which element it is: `x[i]`")
        }
        ExprKind::Imaginary(_) => ("a complex number", "keep the two parts in a `vec2`"),
        ExprKind::Str(text) if Type::by_name(text).is_some() => {
            let message = format!("a type has a name here, no string: write `{text}`");
            return Some(errors::unsupported(source.at(expr.span), "a string", &message));
        }
        ExprKind::Str(_) | ExprKind::Bytes(_) => (
            "a string",
            "kernels have no strings: use numbers, such as a `const[i32]` parameter for a choice",
        ),
        ExprKind::FString(_) => (
            "an f-string",
            "`print` and `assert` take it only as a literal: for two texts write two calls, under `if` and `else`",
        ),
        ExprKind::ListComp { .. } => {
            ("a list comprehension", "make the list first, `xs = [0.0] * 8`, and fill it in a `for` loop")
        }
        ExprKind::Set(_) | ExprKind::SetComp { .. } => {
            ("a set", "test against a tuple: `x in (1, 2, 3)`; keep members in a list")
        }
        ExprKind::Dict(_) | ExprKind::DictComp { .. } => {
            ("a dict", "keep the values in a list and index it: `values = [1.0, 2.0]`, `values[key]`")
        }
        ExprKind::Generator { .. } => ("a generator", "write a `for` loop: `for x in xs: total += x`"),
        // A whole axis of a matrix: `m[:, 0]`.
        ExprKind::Slice { lower: None, upper: None, step: None } => return None,
        ExprKind::Subscript { value, index } => return slice(value, index, source),
        ExprKind::Slice { .. } => ("a slice", "index the elements in a `for` loop: `for i in range(n)`"),
        ExprKind::Starred(_) => ("a starred expression", "write the parts one by one"),
        ExprKind::Yield(_) | ExprKind::YieldFrom(_) => {
            ("`yield`", "write results to an array parameter: `out[i] = x`")
        }
        ExprKind::Await(_) => ("`await`", "kernels run to their end: launch asynchronously on the host"),
        _ => return None,
    };
    Some(errors::unsupported(source.at(expr.span), what, help))
}

/// `x[-1:]` and `x[2:8]`; `None` for any other index, and for a whole axis.
fn slice(value: &Expr, index: &Expr, source: &Source) -> Option<Diagnostic> {
    let ExprKind::Slice { lower, upper, step: None } = &index.kind else { return None };
    let text = |bound: &Option<Box<Expr>>| bound.as_ref().map(|bound| source.slice(bound.span));
    let (array, lower, upper) = (source.slice(value.span), text(lower), text(upper));
    let from_end = |bound: &str| match bound.strip_prefix('-') {
        Some(n) => format!("len({array}) - {n}"),
        None => bound.to_owned(),
    };
    let only = match (lower, upper) {
        (Some("-1"), None) => Some("-1"),
        (Some(lower), Some(upper)) if is_next(lower, upper) => Some(lower),
        (None, Some("1")) => Some("0"),
        _ => None,
    };
    let first = lower.map_or(String::new(), |lower| format!("{}, ", from_end(lower)));
    let end = upper.map_or_else(|| format!("len({array})"), from_end);
    let help = match (only, lower.or(upper)) {
        (Some(only), _) => format!("take the one element in it: `{array}[{only}]`"),
        (None, Some(_)) => {
            format!("take its elements in a loop, `for j in range({first}{end}): ..`: `{array}[j]`")
        }
        (None, None) => return None,
    };
    Some(errors::unsupported(source.at(index.span), "a slice", &help))
}

fn is_next(lower: &str, upper: &str) -> bool {
    match (lower.parse::<i64>(), upper.parse::<i64>()) {
        (Ok(lower), Ok(upper)) => lower.checked_add(1) == Some(upper) && upper != 0,
        _ => upper == format!("{lower} + 1"),
    }
}

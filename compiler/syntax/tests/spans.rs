//! The places of nodes: what a label under an expression covers.

use kps_syntax::ast::{Expr, ExprKind, FStringPart, Stmt, StmtKind};
use kps_syntax::{Source, parse};

/// Parses one statement and compares the texts of its expressions, outermost first.
fn check(text: &str, expect: &[&str]) {
    let source = Source::new("spans", text);
    let (module, diagnostics) = parse(&source);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let mut found = Vec::new();
    for stmt in &module.body {
        statement(&source, stmt, &mut found);
    }
    assert_eq!(found, expect, "{text}");
}

fn statement<'a>(source: &'a Source, stmt: &Stmt, found: &mut Vec<&'a str>) {
    match &stmt.kind {
        StmtKind::Expr(value) => expression(source, value, found),
        StmtKind::Function(def) => {
            found.push(source.slice(def.span));
            found.push(source.slice(def.header));
            found.push(source.slice(def.name.span));
            def.body.iter().for_each(|stmt| statement(source, stmt, found));
        }
        StmtKind::If { branches, orelse } => {
            found.push(source.slice(stmt.span));
            for branch in branches {
                found.push(source.slice(branch.span));
            }
            orelse.iter().for_each(|stmt| statement(source, stmt, found));
        }
        _ => found.push(source.slice(stmt.span)),
    }
}

fn expression<'a>(source: &'a Source, expr: &Expr, found: &mut Vec<&'a str>) {
    found.push(source.slice(expr.span));
    match &expr.kind {
        ExprKind::Binary { left, right, op_span, .. } => {
            expression(source, left, found);
            found.push(source.slice(*op_span));
            expression(source, right, found);
        }
        ExprKind::Unary { operand, .. } => expression(source, operand, found),
        ExprKind::Compare { left, comparisons } => {
            expression(source, left, found);
            for comparison in comparisons {
                found.push(source.slice(comparison.op_span));
                expression(source, &comparison.right, found);
            }
        }
        ExprKind::Attribute { value, attr } => {
            expression(source, value, found);
            found.push(source.slice(attr.span));
        }
        ExprKind::Subscript { value, index } => {
            expression(source, value, found);
            expression(source, index, found);
        }
        ExprKind::Call { func, args } => {
            expression(source, func, found);
            args.iter().for_each(|arg| found.push(source.slice(arg.span)));
        }
        ExprKind::FString(parts) => {
            for part in parts {
                if let FStringPart::Value(value) = part {
                    found.push(source.slice(value.span));
                    expression(source, &value.expr, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn operators() {
    check("a + b * c", &["a + b * c", "a", "+", "b * c", "b", "*", "c"]);
    check("(a + b) * c", &["(a + b) * c", "(a + b)", "a", "+", "b", "*", "c"]);
    check("-a ** b", &["-a ** b", "a ** b", "a", "**", "b"]);
    check("a not  in b is not c", &["a not  in b is not c", "a", "not  in", "b", "is not", "c"]);
}

#[test]
fn trailers() {
    check(
        "a.b (c, *d, e = f) [1:2] . g",
        &[
            "a.b (c, *d, e = f) [1:2] . g",
            "a.b (c, *d, e = f) [1:2]",
            "a.b (c, *d, e = f)",
            "a.b",
            "a",
            "b",
            "c",
            "*d",
            "e = f",
            "1:2",
            "g",
        ],
    );
    check("(a).b", &["(a).b", "(a)", "b"]);
}

#[test]
fn strings() {
    check("f'é{a!r:>3} {b.c}' 'd'", &["f'é{a!r:>3} {b.c}' 'd'", "{a!r:>3}", "a", "{b.c}", "b.c", "b", "c"]);
}

#[test]
fn statements() {
    check(
        "@d\nasync def f(a) -> b:\n    pass\n\n\nx = 1\n",
        &["@d\nasync def f(a) -> b:\n    pass", "async def f(a) -> b", "f", "pass", "x = 1"],
    );
    check(
        "if a: b;\nelif c:\n  d\n# end\nelse:\n  return_ = 1\n",
        &["if a: b;\nelif c:\n  d\n# end\nelse:\n  return_ = 1", "if a: b;", "elif c:\n  d", "return_ = 1"],
    );
}

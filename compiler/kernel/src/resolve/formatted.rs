//! Strings that only the host can format, `"x = %d" % x`, and the f-strings to write instead.

use kps_syntax::Source;
use kps_syntax::ast::{Argument, ArgumentKind, BinaryOp, Expr, ExprKind};

/// `"x = %d" % x`, `"x = " + str(x)` and `"{}".format(x)`.
pub(super) fn is_formatted(expr: &Expr) -> bool {
    let is_string = |expr: &Expr| matches!(expr.kind, ExprKind::Str(_) | ExprKind::FString(_));
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Mod, left, .. } => is_string(left),
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
            [left, right].iter().any(|side| is_string(side) || is_formatted(side))
        }
        ExprKind::Call { func, .. } => match &func.kind {
            ExprKind::Attribute { value, attr } => is_string(value) && &*attr.name == "format",
            _ => false,
        },
        _ => false,
    }
}

/// The equivalent f-string; `None` if there is none.
pub(super) fn as_f_string(expr: &Expr, source: &Source) -> Option<String> {
    Some(format!("f\"{}\"", content(expr, source)?))
}

fn content(expr: &Expr, source: &Source) -> Option<String> {
    match &expr.kind {
        ExprKind::Str(text) => literal(text),
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
            Some(content(left, source)? + &content(right, source)?)
        }
        ExprKind::Binary { op: BinaryOp::Mod, left, right, .. } => {
            let ExprKind::Str(text) = &left.kind else { return None };
            let values = match &right.kind {
                ExprKind::Tuple(items) => {
                    items.iter().map(|item| value(item, source)).collect::<Option<_>>()?
                }
                _ => vec![value(right, source)?],
            };
            by_percent(text, &values)
        }
        ExprKind::Call { func, args } => match &func.kind {
            ExprKind::Name(name) if &**name == "str" => match &args[..] {
                [Argument { kind: ArgumentKind::Positional(of), .. }] => {
                    Some(format!("{{{}}}", value(of, source)?))
                }
                _ => None,
            },
            ExprKind::Attribute { value: of, attr } if &*attr.name == "format" => {
                let ExprKind::Str(text) = &of.kind else { return None };
                let given = |arg: &Argument| match &arg.kind {
                    ArgumentKind::Positional(of) => value(of, source),
                    _ => None,
                };
                by_braces(text, &args.iter().map(given).collect::<Option<Vec<_>>>()?)
            }
            _ => Some(format!("{{{}}}", value(expr, source)?)),
        },
        _ => Some(format!("{{{}}}", value(expr, source)?)),
    }
}

/// The content of the f-string for a text.
fn literal(text: &str) -> Option<String> {
    let is_plain = !text.contains(['"', '\\', '\n', '\t']);
    is_plain.then(|| text.replace('{', "{{").replace('}', "}}"))
}

/// The content of the braces for a value.
fn value<'s>(expr: &Expr, source: &'s Source) -> Option<&'s str> {
    let text = source.slice(expr.span);
    (!text.contains(['"', '\'', '{', '\n'])).then_some(text)
}

/// `%d` and `%-6.2f` become `{n}` and `{x:<6.2f}`.
fn by_percent(text: &str, values: &[&str]) -> Option<String> {
    let mut values = values.iter();
    let mut pieces = text.split('%');
    let mut out = literal(pieces.next()?)?;
    while let Some(piece) = pieces.next() {
        if piece.is_empty() {
            // `%%`
            out += &format!("%{}", literal(pieces.next()?)?);
            continue;
        }
        let end = piece.find(|c: char| c.is_ascii_alphabetic())?;
        let (spec, rest) = piece.split_at(end);
        let (kind, rest) = rest.split_at(1);
        if !spec.chars().all(|c| c.is_ascii_digit() || "-+.".contains(c)) {
            return None;
        }
        let spec = spec.replacen('-', "<", 1);
        let value = values.next()?;
        let spec = match kind {
            "d" | "i" | "u" | "s" => spec,
            "f" | "F" | "e" | "E" | "g" | "G" | "x" | "X" | "o" => spec + kind,
            _ => return None,
        };
        out += &if spec.is_empty() { format!("{{{value}}}") } else { format!("{{{value}:{spec}}}") };
        out += &literal(rest)?;
    }
    values.next().is_none().then_some(out)
}

/// `{}` and `{:.2f}` become `{x}` and `{x:.2f}`.
fn by_braces(text: &str, values: &[&str]) -> Option<String> {
    if text.contains(['"', '\\', '\n', '\t']) || text.contains("{{") || text.contains("}}") {
        return None;
    }
    let mut values = values.iter();
    let mut pieces = text.split('{');
    let mut out = pieces.next()?.to_owned();
    for piece in pieces {
        let (spec, rest) = piece.split_once('}')?;
        if !spec.is_empty() && !spec.starts_with(':') {
            return None;
        }
        out += &format!("{{{}{spec}}}{rest}", values.next()?);
    }
    values.next().is_none().then_some(out)
}

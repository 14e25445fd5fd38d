//! Annotations from Python and from other frameworks, each with what to write in a kernel:
//! `wp.array(dtype=wp.float32)`, `ti.template()`, `list[float]`, `Optional[f32]`.
//!
//! They are recognised only in an annotation that is not a kernel's type.

use kps_syntax::ast::{Argument, ArgumentKind, BinaryOp, Expr, ExprKind};

use super::types::TypeReader;
use crate::foreign_names;

/// What to write instead of an annotation; `None` for an annotation that is not recognised.
pub(super) fn instead(reader: &TypeReader, annotation: &Expr) -> Option<String> {
    match &annotation.kind {
        ExprKind::Name(_) | ExprKind::Attribute { .. } => by_name(last_name(annotation)?),
        ExprKind::Binary { op: BinaryOp::BitOr, left, right, .. } => match (&left.kind, &right.kind) {
            (_, ExprKind::None) => Some(always_there(reader, left)),
            (ExprKind::None, _) => Some(always_there(reader, right)),
            _ => {
                Some("a parameter has one type: leave the annotation out, and each launch chooses".to_owned())
            }
        },
        ExprKind::Subscript { value, index } => {
            let args: Vec<&Expr> = match &index.kind {
                ExprKind::Tuple(items) => items.iter().collect(),
                _ => vec![index],
            };
            subscripted(reader, value, &args)
        }
        ExprKind::Call { func, args } => called(reader, func, args),
        _ => None,
    }
}

fn by_name(name: &str) -> Option<String> {
    match name {
        "constexpr" | "template" | "static" | "Final" | "Literal" => {
            Some("a number that is part of the kernel is a `const[i32]`, with the number's type".to_owned())
        }
        "Sampler" => Some("leave the parentheses out: `Sampler`".to_owned()),
        "Callable" => {
            Some("leave the annotation out: kernels call functions of the script by name".to_owned())
        }
        _ => None,
    }
}

/// `Tensor[f32]`, `Array[f32, 2, 3]`, `f32[:, :]`, `shared[f32, 64]`.
fn subscripted(reader: &TypeReader, of: &Expr, args: &[&Expr]) -> Option<String> {
    if args.iter().all(|arg| is_slice(arg)) {
        let of = match &of.kind {
            ExprKind::Subscript { value, index } if last_name(value) == Some("Array") => index,
            _ => of,
        };
        return Some(array(&element(reader, of)?, args.len()));
    }
    if let ExprKind::Subscript { value, index } = &of.kind
        && last_name(value) == Some("Array")
    {
        return Some(array(&element(reader, index)?, 1 + args.len()));
    }
    let name = last_name(of)?;
    let first = args.first()?;
    match name {
        "Optional" => Some(always_there(reader, first)),
        "Union" => {
            Some("a parameter has one type: leave the annotation out, and each launch chooses".to_owned())
        }
        "shared" => Some(made_inside(reader, args)),
        "Array" if args.len() > 2 => {
            let of = element(reader, first)?;
            let n_axes = args.len() - 1;
            Some(format!(
                "the lengths come with each tensor: write how many axes it has, {}",
                code(&of, n_axes)
            ))
        }
        "tuple" | "Tuple" => {
            let of = element(reader, first)?;
            Some(format!(
                "write a list, `Array({}, {of})`, or a struct, which may have members of any type",
                args.len()
            ))
        }
        name if is_array(name) => Some(array(&element(reader, first).unwrap_or("f32".to_owned()), 1)),
        name => by_name(name).or_else(|| {
            let (of, n) = (reader.value_type(of).ok()?, reader.int(first)?);
            Some(format!("a list of {n} is `Array({n}, {of})`, an array of any length `Array[{of}]`"))
        }),
    }
}

/// `wp.array(dtype=wp.float32, ndim=2)`, `Image("2d r32f")`.
fn called(reader: &TypeReader, func: &Expr, args: &[Argument]) -> Option<String> {
    let name = last_name(func)?;
    let given = |wanted: &str| {
        args.iter().find_map(|arg| match &arg.kind {
            ArgumentKind::Keyword(name, value) if &*name.name == wanted => Some(value),
            _ => None,
        })
    };
    let positional: Vec<&Expr> = args
        .iter()
        .filter_map(|arg| match &arg.kind {
            ArgumentKind::Positional(expr) => Some(expr),
            _ => None,
        })
        .collect();
    match name {
        "Image" | "Texture" => {
            let words: Option<Vec<String>> = positional.iter().map(|word| reader.word(word)).collect();
            let words = words.filter(|words| !words.is_empty()).map(|words| words.join(" "));
            Some(format!("write it with brackets: `Image[\"{}\"]`", words.as_deref().unwrap_or("2d r32f")))
        }
        "shared" => Some(made_inside(reader, &positional)),
        "Optional" => Some(always_there(reader, positional.first()?)),
        "Array" if matches!(func.kind, ExprKind::Name(_)) => None,
        name if is_array(name) => {
            let of = given("dtype").or(positional.first().copied());
            let of = of.and_then(|of| element(reader, of)).unwrap_or("f32".to_owned());
            let said = given("ndim").and_then(|n| reader.int(n)).and_then(|n| usize::try_from(n).ok());
            let n_axes = said.or_else(|| name.strip_prefix("array")?.strip_suffix('d')?.parse().ok());
            Some(array(&of, n_axes.filter(|n| *n > 0).unwrap_or(1)))
        }
        name => by_name(name),
    }
}

fn array(of: &str, n_axes: usize) -> String {
    match n_axes {
        1 => format!("an array of any length is `Array[{of}]`, one with rows `Array[{of}, 2]`"),
        n_axes => format!("an array of {n_axes} axes is {}", code(of, n_axes)),
    }
}

fn code(of: &str, n_axes: usize) -> String {
    match n_axes {
        1 => format!("`Array[{of}]`"),
        n_axes => format!("`Array[{of}, {n_axes}]`"),
    }
}

fn always_there(reader: &TypeReader, of: &Expr) -> String {
    let of = element(reader, of).unwrap_or_else(|| reader.source.slice(of.span).to_owned());
    format!(
        "a parameter of a kernel always has a value: write `{of}`, and pass a number that says \"nothing\""
    )
}

fn made_inside(reader: &TypeReader, args: &[&Expr]) -> String {
    let args: Vec<&str> = args.iter().map(|arg| reader.source.slice(arg.span)).collect();
    format!("shared memory is made in the kernel: `tile = shared({})`", args.join(", "))
}

/// The element type of an array, as a kernel writes it.
fn element(reader: &TypeReader, expr: &Expr) -> Option<String> {
    if let Ok(ty) = reader.value_type(expr) {
        return Some(ty.to_string());
    }
    foreign_names::type_named(last_name(expr)?).map(|ty| ty.to_string())
}

fn is_array(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["array", "tensor", "field", "buffer", "list", "sequence", "pointer", "ptr"];
    words.iter().any(|word| name.ends_with(word) || name.starts_with(word))
}

fn is_slice(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Slice { .. })
}

/// `array` of `wp.array`.
fn last_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute { attr, .. } => Some(&attr.name),
        _ => None,
    }
}

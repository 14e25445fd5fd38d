//! Lines to write instead, made of the text that stands there and of the types that meet in it.
//!
//! A type comes as a message has it, `` `vec3` ``, or in words, "a lambda". Nothing here knows the kernel.

use std::cmp::Ordering;

use super::{is_array, is_enum_member, is_function};
use crate::builtins::{self, Builtin};
use crate::types::{Kind, Scalar, Type};

/// More of them than this are not written out.
const MAX_ROWS: u32 = 4;

/// How a value becomes what is wanted of it; `None` where nothing in one line does.
pub(super) fn how_to_convert(text: &str, found: &str, wanted: &Type) -> Option<String> {
    let is_int = wanted.scalar().is_some_and(Scalar::is_int);
    Some(match (value_type(found), wanted) {
        _ if is_function(found) => how_to_call(text),
        _ if found.contains("tuple") || found.starts_with("`Array(") => {
            return how_to_use_items(text, found, wanted);
        }
        _ if found.contains("the type") => format!("make a value of it: `{text}(..)`"),
        (_, Type::Struct(of)) => {
            let members: Vec<&str> = of.members.iter().map(|member| &*member.name).collect();
            format!("make one: `{wanted}({})`", members.join(", "))
        }
        (Some(Type::Matrix { .. }), Type::Matrix { rows, .. }) => {
            let letters = &"xyzw"[..usize::from(*rows)];
            format!("make it of the other's columns, such as `{text}[0].{letters}`")
        }
        (from, Type::Matrix { columns, rows, scalar }) if !from.as_ref().is_some_and(Type::is_matrix) => {
            let column = Type::Vector(*rows, *scalar);
            let columns = vec![format!("{column}(..)"); usize::from(*columns)];
            format!("make one of its columns: `{wanted}({})`", columns.join(", "))
        }
        (_, Type::Array(_)) => "store in its elements, one by one".to_owned(),
        _ if is_struct(found) => "take one of its members".to_owned(),
        _ if wanted.scalar().is_none() => return None,
        _ if is_array(found) => format!("take one element: `{text}[i]`"),
        _ if is_enum_member(found) => format!("write what it stands for: `{text}.value`"),
        _ if found.contains("the module") => format!("name what is wanted of it: `{text}.pi`"),
        _ if is_sequence(found) => format!("loop over it: `for item in {text}: ..`"),
        _ if found.ends_with("texture") => format!("read one texel: `{text}.read(ivec2(x, y)).x`"),
        (Some(Type::Vector(_, Scalar::Bool)), &Type::BOOL) => {
            format!("ask for all of them, `all({text})`, or for one, `any({text})`")
        }
        (Some(Type::Vector(_, from)), Type::Scalar(to)) => {
            let component = format!("{}.x", as_operand(text));
            match from.widens_to(*to) {
                true => format!("take one component: `{component}`"),
                false => format!("take one component: `{wanted}({component})`"),
            }
        }
        (Some(from @ Type::Vector(..)), Type::Vector(..)) if from.n_components() < wanted.n_components() => {
            format!("add what it lacks: `{wanted}({text}{})`", fillers(from.n_components().into(), wanted))
        }
        (Some(from @ Type::Vector(..)), Type::Vector(n, to)) if from.n_components() > *n => {
            let first = first_components(text, *n);
            match from.scalar() == Some(*to) {
                true => format!("take as many components: `{first}`"),
                false => format!("take as many components: `{wanted}({first})`"),
            }
        }
        (Some(Type::Matrix { .. }), Type::Scalar(_)) => {
            format!("take one element: `{}[0, 0]`", as_operand(text))
        }
        _ if is_int && text.contains(" / ") => format!(
            "`/` gives a float: write `{}`, or cast it: `{wanted}({text})`",
            text.replace(" / ", " // ")
        ),
        (Some(Type::Scalar(Scalar::I64)), Type::Scalar(Scalar::F64)) => format!(
            "cast it: `{wanted}({text})`; NumPy's arrays are i64 and f64 where nothing is said, so make both f32: \
             `np.arange(n, dtype=np.float32)`"
        ),
        (Some(Type::Scalar(int)), Type::Scalar(Scalar::F32 | Scalar::F64)) if int.is_int() => {
            let largest = if *wanted == Type::Scalar(Scalar::F32) { "16777216" } else { "9007199254740992" };
            format!("cast it: `{wanted}({text})`, which is exact up to {largest}")
        }
        (Some(_), _) => format!("cast it: `{wanted}({text})`"),
        _ if found.starts_with("`Vector(") || found.ends_with("literal") => {
            format!("cast it: `{wanted}({text})`")
        }
        _ => return None,
    })
}

/// A struct has a name that is none of ours.
pub(super) fn is_struct(found: &str) -> bool {
    if value_type(found).is_some() {
        return false;
    }
    if found.starts_with("`Struct(") {
        return true;
    }
    let name = found.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
    name.is_some_and(|name| {
        name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') && name != "?"
    })
}

fn is_sequence(found: &str) -> bool {
    ["a `range`", "a `zip`", "an `enumerate`", "a `reversed`"].contains(&found)
}

/// The line that gives a list of one's own, down to the rows of its rows.
pub(crate) fn copied_list(name: &str, text: &str, ty: &Type) -> String {
    format!("{name} = {}", copy_of(&as_operand(text), ty))
}

fn copy_of(text: &str, ty: &Type) -> String {
    match ty {
        Type::Array(array) if matches!(array.element, Type::Array(_)) => {
            let row = |at| copy_of(&format!("{text}[{at}]"), &array.element);
            let rows: Vec<String> = (0..array.len.min(MAX_ROWS)).map(row).collect();
            let rest = if array.len > MAX_ROWS { ", .." } else { "" };
            format!("[{}{rest}]", rows.join(", "))
        }
        _ => format!("[*{text}]"),
    }
}

/// `1,5` as the number that some write so.
fn with_decimal_comma(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(',')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole.trim_start_matches('-')) && is_digits(rest)).then(|| format!("{whole}.{rest}"))
}

/// What a tuple or a list of known length gives.
fn how_to_use_items(text: &str, found: &str, wanted: &Type) -> Option<String> {
    let spread = literal_items(text).map_or_else(|| format!("*{}", as_operand(text)), str::to_owned);
    let has_as_many = n_items(found).is_some_and(|n| wanted.n_parts() == Some(n));
    Some(match wanted {
        Type::Scalar(scalar)
            if scalar.is_float()
                && let Some(number) = with_decimal_comma(text) =>
        {
            format!("a number's point is a dot, `{number}`; a comma makes a tuple")
        }
        Type::Scalar(_) if n_items(found) == Some(1) && text.ends_with(',') => {
            format!("the comma at the end makes a tuple: write `{}`", text.trim_end_matches(','))
        }
        Type::Scalar(_) => format!("take one of its items: `{}[0]`", as_operand(text)),
        Type::Vector(..) | Type::Struct(_) if has_as_many => format!("write `{wanted}({spread})`"),
        Type::Array(of) if has_as_many => match (&of.element, literal_items(text)) {
            (Type::Scalar(scalar), Some(items)) => format!("write `{}`", list_of(items, *scalar)?),
            (_, Some(_)) => return None,
            (_, None) => format!("write `[{spread}]`"),
        },
        Type::Vector(n, _) => {
            format!("{} numbers are wanted, or one for all of them: `{wanted}({})`", n, filler(wanted))
        }
        _ => return None,
    })
}

/// A list of one type: its numbers take the type of what is no number, else that of the first.
pub(super) fn list_of(items: &str, scalar: Scalar) -> Option<String> {
    let items = split_at_commas(items);
    if items.iter().any(|item| item.starts_with(['[', '(', '*'])) {
        return None;
    }
    let is_number =
        |item: &str| item.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit());
    let all_are_numbers = items.iter().all(|item| is_number(item));
    let is_cast = |item: &str| item.starts_with(&format!("{scalar}("));
    let stays = |at: usize, item: &str| is_number(item) && !(all_are_numbers && at == 0) || is_cast(item);
    let cast = |(at, item): (usize, &&str)| match stays(at, item) {
        true => (*item).to_owned(),
        false => format!("{scalar}({item})"),
    };
    Some(format!("[{}]", items.iter().enumerate().map(cast).collect::<Vec<_>>().join(", ")))
}

/// Of `` `Array(3, i32)` ``, `a tuple of 3`.
fn n_items(found: &str) -> Option<u32> {
    let list = found.strip_prefix("`Array(").and_then(|list| list.split(',').next());
    list.or_else(|| found.rsplit(' ').next())?.parse().ok()
}

/// A function that stands where a value is wanted.
pub(super) fn how_to_call(text: &str) -> String {
    if let Some(lambda) = text.strip_prefix("lambda") {
        let args = if lambda.trim_start().starts_with(':') { "" } else { ".." };
        return format!("call it: `({text})({args})`");
    }
    let Some(Builtin::Function(function)) = builtins::member(text.rsplit('.').next().unwrap_or(text)) else {
        return format!("call it: `{text}(..)`");
    };
    let call = builtins::line(function.params, text, &[]);
    match function.gives_nothing() {
        true => format!("it gives no value: call it on a line of its own, `{call}`"),
        false => format!("call it: `{call}`"),
    }
}

/// The components that a vector lacks, as arguments behind it.
pub(super) fn fillers(n_given: usize, to: &Type) -> String {
    format!(", {}", filler(to)).repeat(usize::from(to.n_components()).saturating_sub(n_given))
}

/// A value of this type, as a line may write it.
pub(crate) fn zero_of(ty: &Type) -> String {
    match ty {
        Type::Scalar(_) => filler(ty).to_owned(),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(zero_of).collect();
            format!("({})", items.join(", "))
        }
        Type::Array(array) => format!("[{}] * {}", zero_of(&array.element), array.len),
        _ if ty.scalar().is_some() => format!("{ty}({})", filler(ty)),
        _ => "..".to_owned(),
    }
}

fn filler(ty: &Type) -> &'static str {
    match ty.scalar().map(Scalar::kind) {
        Some(Kind::Bool) => "False",
        Some(Kind::Float) => "0.0",
        _ => "0",
    }
}

/// `v.xy`
pub(super) fn first_components(text: &str, n: u8) -> String {
    format!("{}.{}", as_operand(text), &"xyzw"[..usize::from(n).min(4)])
}

/// The longer of two vectors, cut to the length of the other.
pub(super) fn cut_alike((left, a): (&str, &str), (right, b): (&str, &str)) -> Option<String> {
    let (Type::Vector(n, _), Type::Vector(m, _)) = (value_type(a)?, value_type(b)?) else { return None };
    match n.cmp(&m) {
        Ordering::Less => Some(first_components(right, n)),
        Ordering::Equal => None,
        Ordering::Greater => Some(first_components(left, m)),
    }
}

/// The type that a message names.
pub(super) fn value_type(found: &str) -> Option<Type> {
    Type::by_name(found.strip_prefix('`')?.strip_suffix('`')?)
}

/// What a tuple or a list that is written out holds.
pub(super) fn literal_items(text: &str) -> Option<&str> {
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = list.unwrap_or_else(|| without_brackets(text));
    (list.is_some() && is_whole(inner) || split_at_commas(inner).len() > 1).then_some(inner)
}

/// An expression without parentheses around all of it.
pub(crate) fn without_brackets(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.filter(|inner| is_whole(inner)).unwrap_or(text)
}

/// Whether brackets are pairs: those of `a) + (b` are not.
fn is_whole(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|letter| {
        depth += nesting(letter);
        depth >= 0
    })
}

fn nesting(letter: char) -> i32 {
    i32::from("([".contains(letter)) - i32::from(")]".contains(letter))
}

/// What commas divide outside of brackets.
pub(crate) fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    let is_comma = |letter: char| {
        depth += nesting(letter);
        letter == ',' && depth == 0
    };
    text.split(is_comma).map(str::trim).collect()
}

/// The text of an expression as a side of a comparison.
pub(super) fn as_side(text: &str) -> String {
    let binds_less = [":=", " if ", " and ", " or ", "not ", "lambda"];
    match binds_less.iter().any(|word| text.contains(word)) && without_brackets(text) == text {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// The text of an expression as a dot or an index takes it.
pub(super) fn as_operand(text: &str) -> String {
    let mut depth = 0i32;
    let has_operator = text.chars().any(|letter| {
        depth += nesting(letter);
        matches!(letter, ' ' | ',') && depth == 0
    });
    if has_operator || text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

//! Replacement lines for help texts, from the source text and the types of its operands.

use std::cmp::Ordering;

use super::source_text::{
    as_operand, floor_divided, last_name, list_of, literal_items, takes_arguments, with_decimal_comma,
    without_last_comma,
};
use crate::builtins::{self, Builtin};
use crate::found::Found;
use crate::types::{Kind, Scalar, Type};

/// More of them than this are not written out.
const MAX_ROWS: u32 = 4;

/// A replacement for a value of the wrong type.
pub(super) struct Remedy {
    /// The text of the help.
    text: String,
    /// The expression of the expected type, with the value in it; `None` if it does not use the value, or if there is
    /// no such expression.
    pub converted: Option<String>,
}

impl Remedy {
    /// `{lead}: `{line}``
    fn converting(lead: &str, line: String) -> Remedy {
        Remedy { text: format!("{lead}: `{line}`"), converted: Some(line) }
    }

    fn cast(wanted: &Type, text: &str) -> Remedy {
        Remedy::converting("cast it", format!("{wanted}({text})"))
    }

    /// With more text after the line.
    fn and(mut self, more: &str) -> Remedy {
        self.text.push_str(more);
        self
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Remedy {
        Remedy { text, converted: None }
    }
}

impl From<Remedy> for String {
    fn from(remedy: Remedy) -> String {
        remedy.text
    }
}

/// The conversion of a value to the expected type; `None` if no single line does it.
pub(super) fn how_to_convert(text: &str, found: &Found, wanted: &Type) -> Option<Remedy> {
    let is_int = wanted.scalar().is_some_and(Scalar::is_int);
    Some(match (found, wanted) {
        (Found::Function(_) | Found::Lambda, _) => how_to_call(text),
        (Found::Tuple(_) | Found::Value(Type::Tuple(_) | Type::Array(_)), _) => {
            return how_to_use_items(text, found, wanted);
        }
        (Found::Type(_) | Found::Generic(_), _) => {
            Remedy::converting("make a value of it", format!("{text}(..)"))
        }
        (_, Type::Struct(of)) => {
            let members: Vec<&str> = of.members.iter().map(|member| &*member.name).collect();
            Remedy::from(format!("make one: `{wanted}({})`", members.join(", ")))
        }
        (Found::Value(Type::Matrix { .. }), Type::Matrix { rows, .. }) => {
            let letters = &"xyzw"[..usize::from(*rows)];
            Remedy::from(format!("make it of the other's columns, such as `{text}[0].{letters}`"))
        }
        (_, Type::Matrix { columns, rows, scalar }) => {
            let column = Type::Vector(*rows, *scalar);
            let columns = vec![format!("{column}(..)"); usize::from(*columns)];
            Remedy::from(format!("make one of its columns: `{wanted}({})`", columns.join(", ")))
        }
        (_, Type::Array(_)) => Remedy::from("store in its elements, one by one".to_owned()),
        (Found::Value(Type::Struct(_)), _) => Remedy::from("take one of its members".to_owned()),
        _ if wanted.scalar().is_none() => return None,
        (Found::Array(_), _) => Remedy::converting("take one element", format!("{text}[i]")),
        (Found::EnumMember(_), _) => Remedy::converting("write its value", format!("{text}.value")),
        (Found::Module(_), _) => Remedy::from(format!("name what is wanted of it: `{text}.pi`")),
        (Found::Sequence(_), _) => Remedy::from(format!("loop over it: `for item in {text}: ..`")),
        (Found::Texture(_), _) => Remedy::converting("read one texel", format!("{text}.read(ivec2(x, y)).x")),
        (Found::Value(Type::Vector(_, Scalar::Bool)), &Type::BOOL) => {
            let all = format!("all({text})");
            Remedy {
                text: format!("test all of them, `{all}`, or any of them, `any({text})`"),
                converted: Some(all),
            }
        }
        (Found::Value(Type::Vector(_, from)), Type::Scalar(to)) => {
            let component = format!("{}.x", as_operand(text));
            let line = if from.widens_to(*to) { component } else { format!("{wanted}({component})") };
            Remedy::converting("take one component", line)
        }
        (Found::Value(Type::Vector(from, _)), Type::Vector(n, _)) if from < n => {
            let line = format!("{wanted}({text}{})", fillers((*from).into(), wanted));
            Remedy::converting("add what it lacks", line)
        }
        (Found::Value(Type::Vector(from, scalar)), Type::Vector(n, to)) if from > n => {
            let first = first_components(text, *n);
            let line = if scalar == to { first } else { format!("{wanted}({first})") };
            Remedy::converting("take as many components", line)
        }
        (Found::Value(Type::Matrix { .. }), Type::Scalar(_)) => {
            Remedy::converting("take one element", format!("{}[0, 0]", as_operand(text)))
        }
        _ if is_int && let Some(divided) = floor_divided(text) => {
            Remedy::from(format!("`/` gives a float: write `{divided}`, or cast it: `{wanted}({text})`"))
        }
        (Found::Value(Type::Scalar(Scalar::I64)), Type::Scalar(Scalar::F64)) => Remedy::cast(wanted, text)
            .and(
                "; NumPy's arrays are i64 and f64 where nothing is said, so make both f32: \
             `np.arange(n, dtype=np.float32)`",
            ),
        (Found::Value(Type::Scalar(int)), Type::Scalar(float @ (Scalar::F32 | Scalar::F64)))
            if int.is_int() =>
        {
            let largest = if *float == Scalar::F32 { "16777216" } else { "9007199254740992" };
            Remedy::cast(wanted, text).and(&format!(", which is exact up to {largest}"))
        }
        (Found::Value(from), _) if from.number().is_some() => Remedy::cast(wanted, text),
        (Found::Literal(_), _) => Remedy::cast(wanted, text),
        _ => return None,
    })
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

/// A replacement for a tuple or a list of known length.
fn how_to_use_items(text: &str, found: &Found, wanted: &Type) -> Option<Remedy> {
    let spread = literal_items(text).map_or_else(|| format!("*{}", as_operand(text)), str::to_owned);
    let n_items = found.n_items();
    let has_as_many = n_items.is_some_and(|n| wanted.n_parts() == Some(n));
    let write = |line: String| Remedy { text: format!("write `{line}`"), converted: Some(line) };
    Some(match wanted {
        Type::Scalar(scalar)
            if scalar.is_float()
                && let Some(number) = with_decimal_comma(text) =>
        {
            Remedy::from(format!("a number's point is a dot, `{number}`; a comma makes a tuple"))
        }
        Type::Scalar(_)
            if n_items == Some(1)
                && let Some(item) = without_last_comma(text) =>
        {
            Remedy::from(format!("the comma at the end makes a tuple: write `{item}`"))
        }
        Type::Scalar(_) => Remedy::converting("take one of its items", format!("{}[0]", as_operand(text))),
        Type::Vector(..) | Type::Struct(_) if has_as_many => write(format!("{wanted}({spread})")),
        Type::Array(of) if has_as_many => match (&of.element, literal_items(text)) {
            (Type::Scalar(scalar), Some(items)) => write(list_of(items, *scalar)?),
            (_, Some(_)) => return None,
            (_, None) => write(format!("[{spread}]")),
        },
        Type::Vector(n, _) => {
            let filler = filler(wanted);
            Remedy::from(format!("{n} numbers are wanted, or one for all of them: `{wanted}({filler})`"))
        }
        _ => return None,
    })
}

/// A function that is used as a value.
pub(super) fn how_to_call(text: &str) -> Remedy {
    if let Some(takes_arguments) = takes_arguments(text) {
        let args = if takes_arguments { ".." } else { "" };
        return Remedy::converting("call it", format!("({text})({args})"));
    }
    let Some(Builtin::Function(function)) = builtins::member(last_name(text)) else {
        return Remedy::converting("call it", format!("{text}(..)"));
    };
    let call = builtins::line(function.params, text, &[]);
    match function.gives_nothing() {
        true => Remedy::from(format!("it gives no value: call it on a line of its own, `{call}`")),
        false => Remedy::converting("call it", call),
    }
}

/// The missing components of a vector, as further arguments.
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
pub(super) fn cut_alike((left, a): (&str, &Found), (right, b): (&str, &Found)) -> Option<String> {
    let ((n, _), (m, _)) = (a.vector()?, b.vector()?);
    match n.cmp(&m) {
        Ordering::Less => Some(first_components(right, n)),
        Ordering::Equal => None,
        Ordering::Greater => Some(first_components(left, m)),
    }
}

//! Methods of str that test or change its form: case, padding, kinds of characters, encoding, templates.

use super::format as formatting;
use super::support::{given, index, str_arg, this_str};
use crate::errors;
use crate::memory;
use crate::text::pad::{self, Side};
use crate::text::{case, unicode};
use crate::value::{Args, Dict, Result, Value};
use crate::vm::Vm;

/// The method's own text, when it was called without arguments.
fn sole_argument<'a>(args: &Args<'a>, function: &str) -> Result<&'a str> {
    args.rest().exactly::<0>(function)?;
    Ok(this_str(args)?)
}

macro_rules! changes_and_tests {
    ($($func:ident($name:literal) = $result:expr;)*) => {
        $(pub fn $func(_: &mut Vm, args: &Args) -> Result {
            let result: fn(&str) -> Result<_> = $result;
            result(sole_argument(args, $name)?).map(Value::from)
        })*
    };
}

changes_and_tests! {
    upper("str.upper") = case::upper;
    lower("str.lower") = case::lower;
    title("str.title") = case::title;
    capitalize("str.capitalize") = case::capitalize;
    swapcase("str.swapcase") = case::swapcase;
    casefold("str.casefold") = case::casefold;
    isalpha("str.isalpha") = |text| case::all_of_kind(text, unicode::is_alpha);
    isalnum("str.isalnum") = |text| case::all_of_kind(text, unicode::is_alnum);
    isdecimal("str.isdecimal") = |text| case::all_of_kind(text, unicode::is_decimal);
    isdigit("str.isdigit") = |text| case::all_of_kind(text, unicode::is_digit);
    isnumeric("str.isnumeric") = |text| case::all_of_kind(text, unicode::is_numeric);
    isspace("str.isspace") = |text| case::all_of_kind(text, unicode::is_space);
    isprintable("str.isprintable") = |text| case::all(text, unicode::is_printable);
    isascii("str.isascii") = |text| Ok(text.is_ascii());
    isupper("str.isupper") = case::is_upper;
    islower("str.islower") = case::is_lower;
    istitle("str.istitle") = case::is_title;
    isidentifier("str.isidentifier") = case::is_identifier;
}

fn padded(vm: &mut Vm, args: &Args, function: &'static str, side: Side) -> Result {
    let mut parser = args.method_parser(function);
    let width = parser.positional("width")?;
    let fill = parser.optional_positional();
    parser.finish()?;
    let width = index(vm, width)?.max(0) as usize;
    let fill = match fill {
        None => ' ',
        Some(value) => fill_char(value)?,
    };
    Ok(Value::str(pad::pad(this_str(args)?, width, fill, side)?))
}

fn fill_char(value: &Value) -> Result<char> {
    let Some(text) = value.as_str() else {
        let given = value.type_name();
        return Err(errors::type_error(format!(
            "The fill character must be a unicode character, not {given}"
        )));
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(fill), None) => Ok(fill),
        _ => Err(errors::type_error("The fill character must be exactly one character long")),
    }
}

pub fn center(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "center", Side::Center)
}

pub fn ljust(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "ljust", Side::Left)
}

pub fn rjust(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "rjust", Side::Right)
}

pub fn zfill(vm: &mut Vm, args: &Args) -> Result {
    let [width] = args.rest().exactly("str.zfill")?;
    let width = index(vm, width)?.max(0) as usize;
    Ok(Value::str(pad::zfill(this_str(args)?, width)?))
}

pub fn expandtabs(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("expandtabs");
    let size = parser.optional("tabsize")?;
    parser.finish()?;
    let size = size.map_or(Ok(8), |size| index(vm, size))?.max(0) as usize;
    Ok(Value::str(pad::expandtabs(this_str(args)?, size)?))
}

pub fn encode(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("encode");
    let encoding = parser.optional("encoding")?;
    let on_error = parser.optional("errors")?;
    parser.finish()?;
    let encoding = encoding.map_or(Ok("utf-8"), |value| str_arg(value, "encode", 1))?;
    let on_error = on_error.map_or(Ok("strict"), |value| str_arg(value, "encode", 2))?;
    Ok(Value::bytes(super::encoding::encode(this_str(args)?, encoding, on_error)?))
}

/// `str.translate(table)`: maps each character by the table's entry for its code.
pub fn translate(vm: &mut Vm, args: &Args) -> Result {
    let [table] = args.rest().exactly("str.translate")?;
    let mut out = String::new();
    for c in this_str(args)?.chars() {
        vm.poll()?;
        memory::make_text_room(&mut out, c.len_utf8())?;
        match vm.get_item(table, &Value::Int(c as i64)) {
            Ok(Value::None) => {}
            Ok(replacement) => match (replacement.as_str(), replacement.as_int()) {
                (Some(text), _) => {
                    memory::make_text_room(&mut out, text.len())?;
                    out.push_str(text);
                }
                (None, Some(code)) => out.push(char_of(code)?),
                (None, None) => {
                    return Err(errors::type_error("character mapping must return integer, None or str"));
                }
            },
            Err(raise) if raise.is(crate::value::ExceptionKind::LookupError) => out.push(c),
            Err(raise) => return Err(raise),
        }
    }
    Ok(Value::str(out))
}

fn char_of(code: i64) -> Result<char> {
    u32::try_from(code)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(|| errors::value_error("character mapping must be in range(0x110000)"))
}

/// `str.maketrans(dict)`, `str.maketrans(from, to)`, `str.maketrans(from, to, deleted)`.
pub fn maketrans(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("maketrans");
    let from = parser.positional("x")?;
    let to = given(parser.optional_positional());
    let deleted = given(parser.optional_positional());
    parser.finish()?;
    let table = std::rc::Rc::new(Dict::new());
    let insert = |key: i64, value: Value| {
        let key = crate::value::HashedKey { hash: crate::ops::number::hash_int(key), value: Value::Int(key) };
        table.borrow_mut().insert(key, value);
    };
    let Some(to) = to else {
        let Value::Dict(pairs) = from.base_value() else {
            return Err(errors::type_error("if you give only one argument to maketrans it must be a dict"));
        };
        for (key, value) in pairs.to_pairs() {
            insert(trans_key(&key)?, value);
        }
        return Ok(Value::Dict(table));
    };
    let Some(from) = from.as_str() else {
        return Err(errors::type_error(
            "first maketrans argument must be a string if there is a second argument",
        ));
    };
    let to = str_arg(to, "maketrans", 2)?;
    if pad::n_chars(from) != pad::n_chars(to) {
        return Err(errors::value_error("the first two maketrans arguments must have equal length"));
    }
    for (from, to) in from.chars().zip(to.chars()) {
        insert(from as i64, Value::Int(to as i64));
    }
    for c in deleted.map_or(Ok(""), |value| str_arg(value, "maketrans", 3))?.chars() {
        insert(c as i64, Value::None);
    }
    Ok(Value::Dict(table))
}

fn trans_key(key: &Value) -> Result<i64> {
    if let Some(code) = key.as_int() {
        return Ok(code);
    }
    let Some(text) = key.as_str() else {
        return Err(errors::type_error("keys in translate table must be strings or integers"));
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(c as i64),
        _ => Err(errors::value_error("string keys in translate table must be of length 1")),
    }
}

pub fn format(vm: &mut Vm, args: &Args) -> Result {
    let template = this_str(args)?;
    Ok(Value::str(formatting::format_template(vm, template, formatting::Fields::Args(&args.rest()))?))
}

pub fn format_map(vm: &mut Vm, args: &Args) -> Result {
    let [mapping] = args.rest().exactly("str.format_map")?;
    let template = this_str(args)?;
    Ok(Value::str(formatting::format_template(vm, template, formatting::Fields::Mapping(mapping))?))
}

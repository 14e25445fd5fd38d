//! bytes: its constructor, bytes-like arguments, and the methods that search; bytearray shares them.
//! `bytes_form.rs` has the methods that split and convert bytes.
//!
//! Letters and spaces are the ASCII ones. A method returns the type that it was called on.

use super::bytearray::ByteArray;
use super::support::{bound, index, str_arg, window};
use super::{bytes_form, encoding, protocol};
use crate::errors;
use crate::memory;
use crate::text::search;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

/// The methods of bytes; bytearray lists them too.
pub static METHODS: &[NativeDef] = &[
    NativeDef::method("decode", decode),
    NativeDef::method("hex", hex),
    NativeDef::static_method("fromhex", fromhex),
    NativeDef::method("find", find),
    NativeDef::method("rfind", rfind),
    NativeDef::method("index", index_of),
    NativeDef::method("rindex", rindex),
    NativeDef::method("count", count),
    NativeDef::method("startswith", startswith),
    NativeDef::method("endswith", endswith),
    NativeDef::method("replace", bytes_form::replace),
    NativeDef::method("split", bytes_form::split),
    NativeDef::method("rsplit", bytes_form::rsplit),
    NativeDef::method("splitlines", bytes_form::splitlines),
    NativeDef::method("partition", bytes_form::partition),
    NativeDef::method("rpartition", bytes_form::rpartition),
    NativeDef::method("join", bytes_form::join),
    NativeDef::method("strip", bytes_form::strip),
    NativeDef::method("lstrip", bytes_form::lstrip),
    NativeDef::method("rstrip", bytes_form::rstrip),
    NativeDef::method("removeprefix", bytes_form::removeprefix),
    NativeDef::method("removesuffix", bytes_form::removesuffix),
    NativeDef::method("upper", bytes_form::upper),
    NativeDef::method("lower", bytes_form::lower),
    NativeDef::method("capitalize", bytes_form::capitalize),
    NativeDef::method("title", bytes_form::title),
    NativeDef::method("swapcase", bytes_form::swapcase),
    NativeDef::method("istitle", bytes_form::istitle),
    NativeDef::method("expandtabs", bytes_form::expandtabs),
    NativeDef::static_method("maketrans", bytes_form::maketrans),
    NativeDef::method("isalpha", bytes_form::isalpha),
    NativeDef::method("isalnum", bytes_form::isalnum),
    NativeDef::method("isdigit", bytes_form::isdigit),
    NativeDef::method("isspace", bytes_form::isspace),
    NativeDef::method("isascii", bytes_form::isascii),
    NativeDef::method("isupper", bytes_form::isupper),
    NativeDef::method("islower", bytes_form::islower),
    NativeDef::method("center", bytes_form::center),
    NativeDef::method("ljust", bytes_form::ljust),
    NativeDef::method("rjust", bytes_form::rjust),
    NativeDef::method("zfill", bytes_form::zfill),
    NativeDef::method("translate", bytes_form::translate),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__add__", protocol::add),
    NativeDef::method("__mul__", protocol::mul),
];

/// The bytes of bytes and bytearray.
pub fn like(value: &Value) -> Option<Vec<u8>> {
    match value.base_value() {
        Value::Bytes(bytes) => Some(bytes.to_vec()),
        other => other.downcast::<ByteArray>().map(ByteArray::to_vec),
    }
}

pub fn required(value: &Value) -> Result<Vec<u8>> {
    like(value).ok_or_else(|| errors::not_bytes_like(value))
}

/// `bytes(..)`.
pub fn new(vm: &mut Vm, args: &Args) -> Result {
    Ok(Value::bytes(from_args(vm, args, "bytes")?))
}

/// The bytes that the arguments of `bytes()` and `bytearray()` describe.
pub fn from_args(vm: &mut Vm, args: &Args, function: &'static str) -> Result<Vec<u8>> {
    let mut parser = args.parser(function);
    let source = parser.optional("source")?;
    let encoding = parser.optional("encoding")?;
    let on_error = parser.optional("errors")?;
    parser.finish()?;
    let Some(source) = source else { return Ok(Vec::new()) };
    if let Some(text) = source.as_str() {
        let Some(encoding) = encoding else {
            return Err(errors::type_error("string argument without an encoding"));
        };
        let on_error = on_error.map_or(Ok("strict"), |value| str_arg(value, function, 3))?;
        return encoding::encode(text, str_arg(encoding, function, 2)?, on_error);
    }
    if encoding.is_some() || on_error.is_some() {
        return Err(errors::type_error("encoding without a string argument"));
    }
    if let Some(bytes) = like(source) {
        return Ok(bytes);
    }
    if let Some(method) = vm.script_method(source, "__bytes__") {
        let made = vm.call_method_value(&method, source, &[])?;
        return match made.base_value() {
            Value::Bytes(bytes) => Ok(bytes.0.to_vec()),
            other => {
                let given = other.type_name();
                Err(errors::type_error(format!("__bytes__ returned non-bytes (type {given})")))
            }
        };
    }
    let is_count = match source.base_value() {
        Value::Int(_) | Value::Bool(_) | Value::BigInt(_) => true,
        other => vm.script_method(other, "__index__").is_some(),
    };
    if is_count {
        let Ok(len) = usize::try_from(index(vm, source)?) else {
            return Err(errors::value_error("negative count"));
        };
        crate::text::check_length(len)?;
        return Ok(vec![0; len]);
    }
    from_items(vm, source)
}

/// Bytes from an iterable of ints.
pub fn from_items(vm: &mut Vm, source: &Value) -> Result<Vec<u8>> {
    let items = vm.collect(source).map_err(|raise| {
        let message = format!("cannot convert '{}' object to bytes", source.type_name());
        super::only_iterable(raise, &message)
    })?;
    items.iter().map(|item| byte(vm, item)).collect()
}

pub fn byte(vm: &mut Vm, value: &Value) -> Result<u8> {
    let out_of_range = || errors::value_error("bytes must be in range(0, 256)");
    match value.base_value() {
        Value::BigInt(_) => Err(out_of_range()),
        other => u8::try_from(vm.index(other)?).map_err(|_| out_of_range()),
    }
}

pub(super) fn this(args: &Args) -> Result<Vec<u8>> {
    let receiver = args.receiver()?;
    like(receiver).ok_or_else(|| errors::wrong_receiver(receiver))
}

/// A result of the receiver's type.
pub(super) fn alike(args: &Args, bytes: &[u8]) -> Result {
    Ok(match args.receiver()? {
        Value::Native(_) => Value::native(ByteArray::new(bytes.to_vec())),
        _ => Value::bytes(bytes),
    })
}

fn decode(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("decode");
    let encoding = parser.optional("encoding")?;
    let on_error = parser.optional("errors")?;
    parser.finish()?;
    let encoding = encoding.map_or(Ok("utf-8"), |value| str_arg(value, "decode", 1))?;
    let on_error = on_error.map_or(Ok("strict"), |value| str_arg(value, "decode", 2))?;
    Ok(Value::str(encoding::decode(&this(args)?, encoding, on_error)?))
}

/// `hex(sep, bytes_per_sep=1)`: a separator between groups of `bytes_per_sep` bytes. Groups are counted from
/// the end, or from the start if the number is negative.
fn hex(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("hex");
    let separator = parser.optional("sep")?;
    let group = parser.optional("bytes_per_sep")?.map_or(Ok(1), |group| index(vm, group))?;
    parser.finish()?;
    let bytes = this(args)?;
    let separator = match separator.filter(|_| group != 0) {
        Some(separator) => {
            let text = match like(separator) {
                Some(bytes) => bytes.iter().map(|&byte| byte as char).collect(),
                None => str_arg(separator, "hex", 1)?.to_owned(),
            };
            if text.chars().count() != 1 {
                return Err(errors::value_error("sep must be length 1."));
            }
            text
        }
        None => String::new(),
    };
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX).max(1);
    let n = bytes.len();
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        vm.poll()?;
        memory::make_text_room(&mut text, 2 + separator.len())?;
        let is_start = if group > 0 { (n - at).is_multiple_of(size) } else { at.is_multiple_of(size) };
        if at > 0 && is_start {
            text.push_str(&separator);
        }
        text.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[digit as usize])));
    }
    Ok(Value::str(text))
}

fn fromhex(_: &mut Vm, args: &Args) -> Result {
    let [text] = args.exactly("fromhex")?;
    parse_hex(str_arg(text, "fromhex", 1)?).map(Value::bytes)
}

pub fn parse_hex(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chars = text.char_indices().filter(|(_, c)| !c.is_ascii_whitespace());
    let bad = |at: usize| {
        let message = format!("non-hexadecimal number found in fromhex() arg at position {at}");
        errors::value_error(message)
    };
    while let Some((at, high)) = chars.next() {
        let high = high.to_digit(16).ok_or_else(|| bad(at))?;
        let (at, low) = chars.next().ok_or_else(|| bad(at + 1))?;
        let low = low.to_digit(16).ok_or_else(|| bad(at))?;
        bytes.push((high * 16 + low) as u8);
    }
    Ok(bytes)
}

/// What is looked for, and the part of the receiver that is searched.
struct Search {
    wanted: Vec<u8>,
    window: Option<(usize, usize)>,
}

/// What `find` looks for: bytes, or one as an int.
fn window_args(vm: &mut Vm, args: &Args, function: &'static str) -> Result<Search> {
    let mut parser = args.method_parser(function);
    let wanted = parser.positional("sub")?;
    let (start, end) = (parser.optional_positional(), parser.optional_positional());
    parser.finish()?;
    let wanted = match like(wanted) {
        Some(bytes) => bytes,
        None if matches!(wanted.base_value(), Value::Int(_) | Value::Bool(_)) => {
            let byte = u8::try_from(wanted.as_int().unwrap_or(-1));
            vec![byte.map_err(|_| errors::byte_out_of_range())?]
        }
        None => {
            let given = wanted.type_name();
            return Err(errors::type_error(format!(
                "argument should be integer or bytes-like object, not '{given}'"
            )));
        }
    };
    let (start, end) = (bound(vm, start)?, bound(vm, end)?);
    Ok(Search { wanted, window: window(start, end, this(args)?.len()) })
}

fn locate(
    vm: &mut Vm,
    args: &Args,
    function: &'static str,
    search: fn(&[u8], &[u8]) -> Result<Option<usize>>,
) -> Result<Option<usize>> {
    let Search { wanted, window } = window_args(vm, args, function)?;
    let Some((start, end)) = window else { return Ok(None) };
    Ok(search(&this(args)?[start..end], &wanted)?.map(|at| start + at))
}

fn find(vm: &mut Vm, args: &Args) -> Result {
    Ok(locate(vm, args, "find", search::find)?.map_or(Value::Int(-1), Value::from))
}

fn rfind(vm: &mut Vm, args: &Args) -> Result {
    Ok(locate(vm, args, "rfind", search::rfind)?.map_or(Value::Int(-1), Value::from))
}

fn index_of(vm: &mut Vm, args: &Args) -> Result {
    let found = locate(vm, args, "index", search::find)?;
    found.map(Value::from).ok_or_else(|| errors::value_error("subsection not found"))
}

fn rindex(vm: &mut Vm, args: &Args) -> Result {
    let found = locate(vm, args, "rindex", search::rfind)?;
    found.map(Value::from).ok_or_else(|| errors::value_error("subsection not found"))
}

fn count(vm: &mut Vm, args: &Args) -> Result {
    let Search { wanted, window } = window_args(vm, args, "count")?;
    let Some((start, end)) = window else { return Ok(Value::Int(0)) };
    if wanted.is_empty() {
        return Ok(Value::from(end - start + 1));
    }
    let bytes = this(args)?;
    Ok(Value::from(search::find_all(&bytes[start..end], &wanted, usize::MAX)?.len()))
}

fn begins_or_ends(
    vm: &mut Vm,
    args: &Args,
    function: &'static str,
    test: fn(&[u8], &[u8]) -> bool,
) -> Result {
    let mut parser = args.method_parser(function);
    let wanted = parser.positional("prefix")?;
    let (start, end) = (parser.optional_positional(), parser.optional_positional());
    parser.finish()?;
    let choices = match wanted.base_value() {
        Value::Tuple(choices) => choices.to_vec(),
        single => vec![single.clone()],
    };
    let bytes = this(args)?;
    let window = window(bound(vm, start)?, bound(vm, end)?, bytes.len());
    for choice in &choices {
        let Some(choice) = like(choice) else {
            return Err(errors::type_error(format!(
                "{function} first arg must be bytes or a tuple of bytes, not {}",
                choice.type_name()
            )));
        };
        if window.is_some_and(|(start, end)| test(&bytes[start..end], &choice)) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn startswith(vm: &mut Vm, args: &Args) -> Result {
    begins_or_ends(vm, args, "startswith", |bytes, wanted| bytes.starts_with(wanted))
}

fn endswith(vm: &mut Vm, args: &Args) -> Result {
    begins_or_ends(vm, args, "endswith", |bytes, wanted| bytes.ends_with(wanted))
}

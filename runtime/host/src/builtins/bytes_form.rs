//! Methods of bytes and bytearray that split them or change their form.

use super::bytes::{alike, like, required, this};
use super::support::{flag, given, index};
use crate::errors;
use crate::memory;
use crate::text::search;
use crate::value::{Args, Result, Value};
use crate::vm::{Vm, checkpoint, collect_all};

fn list_alike<'a>(args: &Args, parts: impl IntoIterator<Item = &'a [u8]>) -> Result {
    let mut items = Vec::new();
    for part in parts {
        checkpoint()?;
        memory::make_room(&mut items)?;
        items.push(alike(args, part)?);
    }
    Ok(Value::list(items))
}

/// The parts between separators, which are not empty.
fn split_at<'a>(bytes: &'a [u8], separator: &[u8], most: usize) -> Result<Vec<&'a [u8]>> {
    parts_between(bytes, &search::find_all(bytes, separator, most)?, separator.len())
}

/// The parts before, between and after separators at these places.
fn parts_between<'a>(bytes: &'a [u8], places: &[usize], n_separator: usize) -> Result<Vec<&'a [u8]>> {
    let starts = std::iter::once(0).chain(places.iter().map(|at| at + n_separator));
    let ends = places.iter().copied().chain([bytes.len()]);
    collect_all(starts.zip(ends).map(|(start, end)| &bytes[start..end]))
}

fn rsplit_at<'a>(bytes: &'a [u8], separator: &[u8], most: usize) -> Result<Vec<&'a [u8]>> {
    parts_between(bytes, &search::rfind_all(bytes, separator, most)?, separator.len())
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

fn trim(bytes: &[u8], is_trimmed: impl Fn(u8) -> bool, at_start: bool, at_end: bool) -> &[u8] {
    let start = if at_start { bytes.iter().take_while(|&&byte| is_trimmed(byte)).count() } else { 0 };
    let rest = &bytes[start..];
    let tail = if at_end { rest.iter().rev().take_while(|&&byte| is_trimmed(byte)).count() } else { 0 };
    &rest[..rest.len() - tail]
}

fn split_words(bytes: &[u8], most: usize) -> Result<Vec<&[u8]>> {
    let mut words = Vec::new();
    let mut rest = trim(bytes, is_space, true, false);
    while !rest.is_empty() {
        checkpoint()?;
        memory::make_room(&mut words)?;
        if words.len() == most {
            words.push(rest);
            break;
        }
        let end = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = trim(&rest[end..], is_space, true, false);
    }
    Ok(words)
}

fn rsplit_words(bytes: &[u8], most: usize) -> Result<Vec<&[u8]>> {
    let mut words = Vec::new();
    let mut rest = trim(bytes, is_space, false, true);
    while !rest.is_empty() {
        checkpoint()?;
        memory::make_room(&mut words)?;
        if words.len() == most {
            words.push(rest);
            break;
        }
        let start = rest.iter().rposition(|&byte| is_space(byte)).map_or(0, |at| at + 1);
        words.push(&rest[start..]);
        rest = trim(&rest[..start], is_space, false, true);
    }
    words.reverse();
    Ok(words)
}

fn split_args(vm: &mut Vm, args: &Args, function: &'static str) -> Result<(Option<Vec<u8>>, usize)> {
    let mut parser = args.method_parser(function);
    let separator = given(parser.optional("sep")?);
    let most = parser.optional("maxsplit")?;
    parser.finish()?;
    let separator = separator.map(required).transpose()?;
    if separator.as_ref().is_some_and(Vec::is_empty) {
        return Err(errors::value_error("empty separator"));
    }
    let most = most.map_or(Ok(-1), |most| index(vm, most))?;
    Ok((separator, usize::try_from(most).unwrap_or(usize::MAX)))
}

pub fn split(vm: &mut Vm, args: &Args) -> Result {
    let (separator, most) = split_args(vm, args, "split")?;
    let bytes = this(args)?;
    match separator {
        Some(separator) => list_alike(args, split_at(&bytes, &separator, most)?),
        None => list_alike(args, split_words(&bytes, most)?),
    }
}

pub fn rsplit(vm: &mut Vm, args: &Args) -> Result {
    let (separator, most) = split_args(vm, args, "rsplit")?;
    let bytes = this(args)?;
    match separator {
        Some(separator) => list_alike(args, rsplit_at(&bytes, &separator, most)?),
        None => list_alike(args, rsplit_words(&bytes, most)?),
    }
}

pub fn splitlines(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("splitlines");
    let keep = parser.optional("keepends")?;
    parser.finish()?;
    let keep = flag(vm, keep, false)?;
    let bytes = this(args)?;
    let mut lines = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        checkpoint()?;
        memory::make_room(&mut lines)?;
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let next = if rest[end..].starts_with(b"\r\n") { end + 2 } else { (end + 1).min(rest.len()) };
        lines.push(&rest[..if keep { next } else { end }]);
        rest = &rest[next..];
    }
    list_alike(args, lines)
}

fn separator_arg(args: &Args, function: &str) -> Result<Vec<u8>> {
    let [separator] = args.rest().exactly(function)?;
    let separator = required(separator)?;
    if separator.is_empty() {
        return Err(errors::value_error("empty separator"));
    }
    Ok(separator)
}

fn triple(args: &Args, parts: [&[u8]; 3]) -> Result {
    let [before, separator, after] = parts;
    Ok(Value::tuple([alike(args, before)?, alike(args, separator)?, alike(args, after)?]))
}

pub fn partition(_: &mut Vm, args: &Args) -> Result {
    let separator = separator_arg(args, "bytes.partition")?;
    let bytes = this(args)?;
    match search::find(&bytes, &separator)? {
        Some(at) => triple(args, [&bytes[..at], &separator, &bytes[at + separator.len()..]]),
        None => triple(args, [&bytes, b"", b""]),
    }
}

pub fn rpartition(_: &mut Vm, args: &Args) -> Result {
    let separator = separator_arg(args, "bytes.rpartition")?;
    let bytes = this(args)?;
    match search::rfind(&bytes, &separator)? {
        Some(at) => triple(args, [&bytes[..at], &separator, &bytes[at + separator.len()..]]),
        None => triple(args, [b"", b"", &bytes]),
    }
}

pub fn join(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("bytes.join")?;
    let items =
        vm.collect(items).map_err(|raise| super::only_iterable(raise, "can only join an iterable"))?;
    let mut parts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let Some(part) = like(item) else {
            return Err(errors::type_error(format!(
                "sequence item {at}: expected a bytes-like object, {} found",
                item.type_name()
            )));
        };
        parts.push(part);
    }
    alike(args, &parts.join(&this(args)?[..]))
}

pub fn replace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("replace");
    let old = required(parser.positional("old")?)?;
    let new = required(parser.positional("new")?)?;
    let count = parser.optional_positional();
    parser.finish()?;
    let count = count.map_or(Ok(-1), |count| index(vm, count))?;
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let bytes = this(args)?;
    crate::text::check_length(bytes.len().saturating_mul(new.len()))?;
    if !old.is_empty() {
        return alike(args, &split_at(&bytes, &old, most)?.join(&new[..]));
    }
    // An empty pattern matches before every byte, and at the end.
    let mut out = Vec::new();
    for at in 0..=bytes.len() {
        if at < most {
            out.extend_from_slice(&new);
        }
        out.extend(bytes.get(at));
    }
    alike(args, &out)
}

fn strip_ends(args: &Args, function: &'static str, at_start: bool, at_end: bool) -> Result {
    let mut parser = args.method_parser(function);
    let chars = given(parser.optional_positional()).map(required).transpose()?;
    parser.finish()?;
    let bytes = this(args)?;
    let is_trimmed = |byte: u8| chars.as_ref().map_or_else(|| is_space(byte), |chars| chars.contains(&byte));
    alike(args, trim(&bytes, is_trimmed, at_start, at_end))
}

pub fn strip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "strip", true, true)
}

pub fn lstrip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "lstrip", true, false)
}

pub fn rstrip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "rstrip", false, true)
}

pub fn removeprefix(_: &mut Vm, args: &Args) -> Result {
    let [prefix] = args.rest().exactly("bytes.removeprefix")?;
    let bytes = this(args)?;
    alike(args, bytes.strip_prefix(&required(prefix)?[..]).unwrap_or(&bytes))
}

pub fn removesuffix(_: &mut Vm, args: &Args) -> Result {
    let [suffix] = args.rest().exactly("bytes.removesuffix")?;
    let bytes = this(args)?;
    alike(args, bytes.strip_suffix(&required(suffix)?[..]).unwrap_or(&bytes))
}

pub fn upper(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.upper")?;
    alike(args, &this(args)?.to_ascii_uppercase())
}

pub fn lower(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.lower")?;
    alike(args, &this(args)?.to_ascii_lowercase())
}

pub fn capitalize(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.capitalize")?;
    let mut bytes = this(args)?.to_ascii_lowercase();
    bytes.iter_mut().take(1).for_each(|first| first.make_ascii_uppercase());
    alike(args, &bytes)
}

/// Words begin with a capital: each letter that follows a byte that is not a letter.
pub fn title(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.title")?;
    alike(args, &as_title(&this(args)?)?)
}

fn as_title(bytes: &[u8]) -> Result<Vec<u8>> {
    let before = std::iter::once(&b' ').chain(bytes);
    let letters = bytes.iter().zip(before).map(|(byte, before)| match before.is_ascii_alphabetic() {
        true => byte.to_ascii_lowercase(),
        false => byte.to_ascii_uppercase(),
    });
    collect_all(letters)
}

pub fn istitle(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.istitle")?;
    let bytes = this(args)?;
    Ok(Value::Bool(bytes.iter().any(u8::is_ascii_alphabetic) && as_title(&bytes)? == bytes))
}

pub fn swapcase(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.swapcase")?;
    let swapped = this(args)?.into_iter().map(|byte| match byte.is_ascii_lowercase() {
        true => byte.to_ascii_uppercase(),
        false => byte.to_ascii_lowercase(),
    });
    alike(args, &collect_all(swapped)?)
}

pub fn expandtabs(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("expandtabs");
    let size = parser.optional("tabsize")?;
    parser.finish()?;
    let size = size.map_or(Ok(8), |size| index(vm, size))?.max(0) as usize;
    let mut out = Vec::new();
    let mut column = 0;
    for byte in this(args)? {
        let n_spaces = if size == 0 { 0 } else { size - column % size };
        match byte {
            b'\t' => {
                crate::text::check_length(out.len().saturating_add(n_spaces))?;
                out.resize(out.len() + n_spaces, b' ');
                column += n_spaces;
            }
            _ => {
                out.push(byte);
                column = if matches!(byte, b'\n' | b'\r') { 0 } else { column + 1 };
            }
        }
    }
    alike(args, &out)
}

/// `bytes.maketrans(from, to)`: a table for `translate`.
pub fn maketrans(_: &mut Vm, args: &Args) -> Result {
    let [from, to] = args.exactly("maketrans")?;
    let (from, to) = (required(from)?, required(to)?);
    if from.len() != to.len() {
        return Err(errors::value_error("maketrans arguments must have same length"));
    }
    let mut table: Vec<u8> = (0..=255).collect();
    from.into_iter().zip(to).for_each(|(from, to)| table[usize::from(from)] = to);
    Ok(Value::bytes(table))
}

fn all_of_kind(args: &Args, function: &str, is_kind: fn(u8) -> bool) -> Result {
    args.rest().exactly::<0>(function)?;
    let bytes = this(args)?;
    Ok(Value::Bool(!bytes.is_empty() && bytes.into_iter().all(is_kind)))
}

pub fn isalpha(_: &mut Vm, args: &Args) -> Result {
    all_of_kind(args, "bytes.isalpha", |byte| byte.is_ascii_alphabetic())
}

pub fn isalnum(_: &mut Vm, args: &Args) -> Result {
    all_of_kind(args, "bytes.isalnum", |byte| byte.is_ascii_alphanumeric())
}

pub fn isdigit(_: &mut Vm, args: &Args) -> Result {
    all_of_kind(args, "bytes.isdigit", |byte| byte.is_ascii_digit())
}

pub fn isspace(_: &mut Vm, args: &Args) -> Result {
    all_of_kind(args, "bytes.isspace", is_space)
}

pub fn isascii(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.isascii")?;
    Ok(Value::Bool(this(args)?.is_ascii()))
}

pub fn isupper(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.isupper")?;
    let bytes = this(args)?;
    let has_lower = bytes.iter().any(u8::is_ascii_lowercase);
    Ok(Value::Bool(!has_lower && bytes.iter().any(u8::is_ascii_uppercase)))
}

pub fn islower(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytes.islower")?;
    let bytes = this(args)?;
    let has_upper = bytes.iter().any(u8::is_ascii_uppercase);
    Ok(Value::Bool(!has_upper && bytes.iter().any(u8::is_ascii_lowercase)))
}

/// Fills the bytes up to a width; `before` says how many of the missing ones go in front.
fn padded(vm: &mut Vm, args: &Args, function: &'static str, before: fn(usize, usize) -> usize) -> Result {
    let mut parser = args.method_parser(function);
    let width = parser.positional("width")?;
    let fill = parser.optional_positional();
    parser.finish()?;
    let width = index(vm, width)?.max(0) as usize;
    let fill = fill.map_or(Ok(vec![b' ']), required)?;
    let &[fill] = &fill[..] else {
        return Err(errors::type_error(format!("{function}() argument 2 must be a byte string of length 1")));
    };
    let bytes = this(args)?;
    let missing = width.saturating_sub(bytes.len());
    crate::text::check_length(missing)?;
    let before = before(missing, width);
    alike(args, &[vec![fill; before], bytes, vec![fill; missing - before]].concat())
}

pub fn center(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "center", |missing, width| missing / 2 + (missing & width & 1))
}

pub fn ljust(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "ljust", |_, _| 0)
}

pub fn rjust(vm: &mut Vm, args: &Args) -> Result {
    padded(vm, args, "rjust", |missing, _| missing)
}

pub fn zfill(vm: &mut Vm, args: &Args) -> Result {
    let [width] = args.rest().exactly("bytes.zfill")?;
    let width = index(vm, width)?.max(0) as usize;
    let bytes = this(args)?;
    let missing = width.saturating_sub(bytes.len());
    crate::text::check_length(missing)?;
    let n_sign = bytes.first().is_some_and(|byte| matches!(byte, b'+' | b'-')) as usize;
    alike(args, &[&bytes[..n_sign], &vec![b'0'; missing], &bytes[n_sign..]].concat())
}

pub fn translate(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("translate");
    let table = parser.positional("table")?;
    let deleted = parser.optional("delete")?;
    parser.finish()?;
    let table = given(Some(table)).map(required).transpose()?;
    if table.as_ref().is_some_and(|table| table.len() != 256) {
        return Err(errors::value_error("translation table must be 256 characters long"));
    }
    let deleted = deleted.map_or(Ok(Vec::new()), required)?;
    let kept = this(args)?.into_iter().filter(|byte| !deleted.contains(byte));
    let out = kept.map(|byte| table.as_ref().map_or(byte, |table| table[byte as usize]));
    alike(args, &collect_all(out)?)
}

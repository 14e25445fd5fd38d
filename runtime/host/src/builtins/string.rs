//! Methods of str: searching, splitting, joining. `string_form.rs` has the rest.

use super::support::{flag, given, index, str_arg, this_str, window, window_args};
use super::{protocol, string_form};
use crate::errors;
use crate::memory;
use crate::text::pad::n_chars;
use crate::text::search;
use crate::text::split::{self, LineEnds};
use crate::text::unicode::is_space;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::{Vm, checkpoint};

pub static METHODS: &[NativeDef] = &[
    NativeDef::method("find", find)
        .doc("(sub[, start[, end]])", "Where a text first occurs between two indices; -1 if nowhere."),
    NativeDef::method("rfind", rfind)
        .doc("(sub[, start[, end]])", "Where a text last occurs between two indices; -1 if nowhere."),
    NativeDef::method("index", index_of)
        .doc("(sub[, start[, end]])", "As `find`; raises ValueError if the text occurs nowhere."),
    NativeDef::method("rindex", rindex)
        .doc("(sub[, start[, end]])", "As `rfind`; raises ValueError if the text occurs nowhere."),
    NativeDef::method("count", count).doc(
        "(sub[, start[, end]])",
        "Counts how often a text occurs between two indices, without overlaps.",
    ),
    NativeDef::method("startswith", startswith)
        .doc("(prefix[, start[, end]])", "Tests the beginning for a text, or for one of a tuple."),
    NativeDef::method("endswith", endswith)
        .doc("(suffix[, start[, end]])", "Tests the end for a text, or for one of a tuple."),
    NativeDef::method("replace", replace)
        .doc("(old, new, count=-1, /)", "Writes `new` for `old` everywhere, or the first `count` times."),
    NativeDef::method("split", split)
        .doc("(sep=None, maxsplit=-1)", "Cuts at each separator, or at blanks, into a list of parts."),
    NativeDef::method("rsplit", rsplit)
        .doc("(sep=None, maxsplit=-1)", "As `split`; `maxsplit` counts cuts from the end."),
    NativeDef::method("splitlines", splitlines)
        .doc("(keepends=False)", "The lines as a list, with their ends if `keepends` is true."),
    NativeDef::method("partition", partition)
        .doc("(sep, /)", "The parts before, at and behind the first separator."),
    NativeDef::method("rpartition", rpartition)
        .doc("(sep, /)", "The parts before, at and behind the last separator."),
    NativeDef::method("join", join)
        .doc("(iterable, /)", "Joins the texts of an iterable, with this one between them."),
    NativeDef::method("strip", strip).doc("(chars=None, /)", "Drops blanks, or `chars`, at both ends."),
    NativeDef::method("lstrip", lstrip).doc("(chars=None, /)", "Drops blanks, or `chars`, at the beginning."),
    NativeDef::method("rstrip", rstrip).doc("(chars=None, /)", "Drops blanks, or `chars`, at the end."),
    NativeDef::method("removeprefix", removeprefix)
        .doc("(prefix, /)", "Drops a beginning, if the text has it."),
    NativeDef::method("removesuffix", removesuffix).doc("(suffix, /)", "Drops an end, if the text has it."),
    NativeDef::method("upper", string_form::upper).doc("()", "The text in capitals."),
    NativeDef::method("lower", string_form::lower).doc("()", "The text in small letters."),
    NativeDef::method("title", string_form::title)
        .doc("()", "The text with a capital at each word, and small letters behind it."),
    NativeDef::method("capitalize", string_form::capitalize)
        .doc("()", "The text with a capital first, and small letters behind it."),
    NativeDef::method("swapcase", string_form::swapcase)
        .doc("()", "Capitals become small letters, and small letters capitals."),
    NativeDef::method("casefold", string_form::casefold)
        .doc("()", "The form in which texts compare equal that differ only in case."),
    NativeDef::method("center", string_form::center)
        .doc("(width, fillchar=' ', /)", "Fills both sides, so that the text has `width` characters."),
    NativeDef::method("ljust", string_form::ljust)
        .doc("(width, fillchar=' ', /)", "Fills the right side, so that the text has `width` characters."),
    NativeDef::method("rjust", string_form::rjust)
        .doc("(width, fillchar=' ', /)", "Fills the left side, so that the text has `width` characters."),
    NativeDef::method("zfill", string_form::zfill)
        .doc("(width, /)", "Puts zeros behind the sign, so that the text has `width` characters."),
    NativeDef::method("expandtabs", string_form::expandtabs)
        .doc("(tabsize=8)", "Writes spaces for tabs, up to the next multiple of `tabsize`."),
    NativeDef::method("isalpha", string_form::isalpha)
        .doc("()", "Tests for letters alone, and at least one."),
    NativeDef::method("isalnum", string_form::isalnum)
        .doc("()", "Tests for letters and digits alone, and at least one."),
    NativeDef::method("isdecimal", string_form::isdecimal)
        .doc("()", "Tests for digits of decimal numbers alone, and at least one."),
    NativeDef::method("isdigit", string_form::isdigit)
        .doc("()", "Tests for digits alone, raised ones too, and at least one."),
    NativeDef::method("isnumeric", string_form::isnumeric)
        .doc("()", "Tests for characters with a numeric value alone, and at least one."),
    NativeDef::method("isspace", string_form::isspace).doc("()", "Tests for blanks alone, and at least one."),
    NativeDef::method("isprintable", string_form::isprintable)
        .doc("()", "Tests whether `repr` would escape nothing."),
    NativeDef::method("isascii", string_form::isascii)
        .doc("()", "Tests whether all code points are below 128."),
    NativeDef::method("isupper", string_form::isupper).doc("()", "Tests for a capital, and no small letter."),
    NativeDef::method("islower", string_form::islower).doc("()", "Tests for a small letter, and no capital."),
    NativeDef::method("istitle", string_form::istitle)
        .doc("()", "Tests for a capital at each word, and small letters behind it."),
    NativeDef::method("isidentifier", string_form::isidentifier)
        .doc("()", "Tests whether the text could be a name."),
    NativeDef::method("encode", string_form::encode)
        .doc("(encoding='utf-8', errors='strict')", "The bytes of the text in an encoding."),
    NativeDef::method("translate", string_form::translate)
        .doc("(table, /)", "Looks each code point up in a table, for what to write instead."),
    NativeDef::static_method("maketrans", string_form::maketrans),
    NativeDef::method("format", string_form::format)
        .doc("(*args, **kwargs)", "Fills the braces with the arguments."),
    NativeDef::method("format_map", string_form::format_map)
        .doc("(mapping)", "Fills the braces with values of a mapping."),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__format__", protocol::format),
    NativeDef::method("__add__", protocol::add),
    NativeDef::method("__mul__", protocol::mul),
    NativeDef::method("__rmul__", protocol::rmul),
    NativeDef::method("__mod__", protocol::modulo),
    NativeDef::method("__lt__", protocol::lt),
    NativeDef::method("__le__", protocol::le),
    NativeDef::method("__gt__", protocol::gt),
    NativeDef::method("__ge__", protocol::ge),
];

/// A part of a string, and the index of its first character.
struct Part<'a> {
    text: &'a str,
    first_char: usize,
}

/// The characters from `start` to before `end`, counted as Python counts; `None` if the part does not exist.
fn part(text: &crate::value::Str, start: Option<i64>, end: Option<i64>) -> Option<Part<'_>> {
    let (start, end) = window(start, end, text.n_chars())?;
    let byte_at = |char_at: usize| {
        if text.is_ascii() {
            return char_at;
        }
        text.char_indices().nth(char_at).map_or(text.as_str().len(), |(at, _)| at)
    };
    Some(Part { text: &text.as_str()[byte_at(start)..byte_at(end)], first_char: start })
}

/// Where `find` and similar methods find their argument, as a character index.
fn locate(
    vm: &mut Vm,
    args: &Args,
    function: &'static str,
    search: fn(&[u8], &[u8]) -> Result<Option<usize>>,
) -> Result<Option<usize>> {
    let (wanted, start, end) = window_args(vm, args, function)?;
    let Some(wanted) = wanted.as_str() else {
        return Err(errors::type_error(format!("must be str, not {}", wanted.type_name())));
    };
    let Some(part) = part(this_str(args)?, start, end) else { return Ok(None) };
    let found = search(part.text.as_bytes(), wanted.as_bytes())?;
    Ok(found.map(|at| part.first_char + n_chars(&part.text[..at])))
}

fn position_or_minus_one(found: Option<usize>) -> Value {
    found.map_or(Value::Int(-1), Value::from)
}

fn find(vm: &mut Vm, args: &Args) -> Result {
    Ok(position_or_minus_one(locate(vm, args, "find", search::find)?))
}

fn rfind(vm: &mut Vm, args: &Args) -> Result {
    Ok(position_or_minus_one(locate(vm, args, "rfind", search::rfind)?))
}

fn index_of(vm: &mut Vm, args: &Args) -> Result {
    let found = locate(vm, args, "index", search::find)?;
    found.map(Value::from).ok_or_else(|| errors::value_error("substring not found"))
}

fn rindex(vm: &mut Vm, args: &Args) -> Result {
    let found = locate(vm, args, "rindex", search::rfind)?;
    found.map(Value::from).ok_or_else(|| errors::value_error("substring not found"))
}

fn count(vm: &mut Vm, args: &Args) -> Result {
    let (wanted, start, end) = window_args(vm, args, "count")?;
    let Some(wanted) = wanted.as_str() else {
        return Err(errors::type_error(format!("must be str, not {}", wanted.type_name())));
    };
    let Some(part) = part(this_str(args)?, start, end) else { return Ok(Value::Int(0)) };
    if wanted.is_empty() {
        return Ok(Value::from(n_chars(part.text) + 1));
    }
    Ok(Value::from(search::find_all(part.text.as_bytes(), wanted.as_bytes(), usize::MAX)?.len()))
}

/// `startswith` and `endswith`: one string, or a tuple of which any will do.
fn begins_or_ends(vm: &mut Vm, args: &Args, function: &'static str, test: fn(&str, &str) -> bool) -> Result {
    let (wanted, start, end) = window_args(vm, args, function)?;
    let Some(part) = part(this_str(args)?, start, end) else { return Ok(Value::Bool(false)) };
    let refuse = |value: &Value, place: &str| {
        let given = value.type_name();
        errors::type_error(format!(
            "{place} must be str{}, not {given}",
            match place {
                "tuple for" => "",
                _ => " or a tuple of str",
            }
        ))
    };
    match wanted.base_value() {
        Value::Tuple(choices) => {
            for choice in choices.iter() {
                let Some(choice) = choice.as_str() else {
                    let given = choice.type_name();
                    let message = format!("tuple for {function} must only contain str, not {given}");
                    return Err(errors::type_error(message));
                };
                if test(part.text, choice) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Value::Str(text) => Ok(Value::Bool(test(part.text, text))),
        other => Err(refuse(other, &format!("{function} first arg"))),
    }
}

fn startswith(vm: &mut Vm, args: &Args) -> Result {
    begins_or_ends(vm, args, "startswith", |text, wanted| text.starts_with(wanted))
}

fn endswith(vm: &mut Vm, args: &Args) -> Result {
    begins_or_ends(vm, args, "endswith", |text, wanted| text.ends_with(wanted))
}

fn replace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("replace");
    let old = str_arg(parser.positional("old")?, "replace", 1)?;
    let new = str_arg(parser.positional("new")?, "replace", 2)?;
    let count = parser.optional_positional();
    parser.finish()?;
    let count = count.map_or(Ok(-1), |count| index(vm, count))?;
    let text = this_str(args)?;
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    if old.is_empty() {
        let n_places = most.min(text.n_chars() + 1);
        crate::text::check_length(n_places.saturating_mul(new.len()).saturating_add(text.as_str().len()))?;
        return Ok(Value::str(text.replacen(old, new, n_places)));
    }
    let places = search::find_all(text.as_bytes(), old.as_bytes(), most)?;
    if places.is_empty() {
        return Ok(Value::Str(text.clone()));
    }
    let n_kept = text.as_str().len() - places.len() * old.len();
    let n_bytes = places.len().saturating_mul(new.len()).saturating_add(n_kept);
    crate::text::check_length(n_bytes)?;
    let mut out = String::with_capacity(n_bytes);
    for (at, part) in parts_between(text, &places, old.len()).enumerate() {
        if at > 0 {
            out.push_str(new);
        }
        out.push_str(part);
    }
    Ok(Value::str(out))
}

/// The parts of a text before, between and after separators at these places.
fn parts_between<'a>(text: &'a str, places: &[usize], n_separator: usize) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(places.iter().map(move |at| at + n_separator));
    let ends = places.iter().copied().chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end])
}

/// The separator and the maximum number of splits; the separator is `None` to split at whitespace.
fn split_args<'a>(vm: &mut Vm, args: &Args<'a>, function: &'a str) -> Result<(Option<&'a str>, usize)> {
    let mut parser = args.method_parser(function);
    let separator = given(parser.optional("sep")?);
    let most = parser.optional("maxsplit")?;
    parser.finish()?;
    let most = most.map_or(Ok(-1), |most| index(vm, most))?;
    let separator = match separator {
        Some(value) => match value.as_str() {
            Some("") => return Err(errors::value_error("empty separator")),
            Some(text) => Some(text),
            None => {
                let given = value.type_name();
                return Err(errors::type_error(format!("must be str or None, not {given}")));
            }
        },
        None => None,
    };
    Ok((separator, usize::try_from(most).unwrap_or(usize::MAX)))
}

fn list_of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result {
    /// Parts that are copied between two looks at the interrupter.
    const STRETCH: usize = 1 << 16;
    let mut items = Vec::new();
    for part in parts {
        if items.len() % STRETCH == 0 {
            checkpoint()?;
        }
        memory::make_room(&mut items)?;
        items.push(Value::str(part));
    }
    Ok(Value::list(items))
}

fn split(vm: &mut Vm, args: &Args) -> Result {
    let (separator, most) = split_args(vm, args, "split")?;
    let text = this_str(args)?;
    match separator {
        Some(separator) => {
            let places = search::find_all(text.as_bytes(), separator.as_bytes(), most)?;
            list_of(parts_between(text, &places, separator.len()))
        }
        None => list_of(split::split_words(text, most)),
    }
}

fn rsplit(vm: &mut Vm, args: &Args) -> Result {
    let (separator, most) = split_args(vm, args, "rsplit")?;
    let text = this_str(args)?;
    match separator {
        Some(separator) => {
            let places = search::rfind_all(text.as_bytes(), separator.as_bytes(), most)?;
            list_of(parts_between(text, &places, separator.len()))
        }
        None => list_of(split::rsplit_words(text, most)),
    }
}

fn splitlines(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("splitlines");
    let keep = parser.optional("keepends")?;
    parser.finish()?;
    let ends = if flag(vm, keep, false)? { LineEnds::Keep } else { LineEnds::Drop };
    list_of(split::split_lines(this_str(args)?, ends))
}

fn separator_arg<'a>(args: &Args<'a>, function: &str) -> Result<&'a str> {
    let [separator] = args.rest().exactly(function)?;
    match separator.as_str() {
        Some("") => Err(errors::value_error("empty separator")),
        Some(text) => Ok(text),
        None => Err(errors::type_error(format!("must be str, not {}", separator.type_name()))),
    }
}

fn triple(parts: [&str; 3]) -> Value {
    Value::tuple(parts.map(Value::str))
}

fn partition(_: &mut Vm, args: &Args) -> Result {
    let separator = separator_arg(args, "str.partition")?;
    let text = this_str(args)?;
    Ok(match text.split_once(separator) {
        Some((before, after)) => triple([before, separator, after]),
        None => triple([text, "", ""]),
    })
}

fn rpartition(_: &mut Vm, args: &Args) -> Result {
    let separator = separator_arg(args, "str.rpartition")?;
    let text = this_str(args)?;
    Ok(match text.rsplit_once(separator) {
        Some((before, after)) => triple([before, separator, after]),
        None => triple(["", "", text]),
    })
}

fn join(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("str.join")?;
    let separator = this_str(args)?;
    let items =
        vm.collect(items).map_err(|raise| super::only_iterable(raise, "can only join an iterable"))?;
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        let Some(part) = item.as_str() else {
            let given = item.type_name();
            return Err(errors::type_error(format!(
                "sequence item {at}: expected str instance, {given} found"
            )));
        };
        memory::make_text_room(&mut text, separator.len() + part.len())?;
        if at > 0 {
            text.push_str(separator);
        }
        text.push_str(part);
    }
    Ok(Value::str(text))
}

/// Strips one or both ends: whitespace, or the characters of the argument.
fn strip_ends(args: &Args, function: &'static str, at_start: bool, at_end: bool) -> Result {
    let mut parser = args.method_parser(function);
    let chars = given(parser.optional_positional());
    parser.finish()?;
    let chars = match chars {
        None => None,
        Some(value) => Some(
            value
                .as_str()
                .ok_or_else(|| errors::type_error(format!("{function} arg must be None or str")))?,
        ),
    };
    let is_stripped = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = this_str(args)?;
    let mut rest = text.as_str();
    if at_start {
        rest = rest.trim_start_matches(is_stripped);
    }
    if at_end {
        rest = rest.trim_end_matches(is_stripped);
    }
    Ok(if rest.len() == text.as_str().len() { Value::Str(text.clone()) } else { Value::str(rest) })
}

fn strip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "strip", true, true)
}

fn lstrip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "lstrip", true, false)
}

fn rstrip(_: &mut Vm, args: &Args) -> Result {
    strip_ends(args, "rstrip", false, true)
}

fn removeprefix(_: &mut Vm, args: &Args) -> Result {
    let [prefix] = args.rest().exactly("str.removeprefix")?;
    let prefix = str_arg(prefix, "removeprefix", 1)?;
    let text = this_str(args)?;
    Ok(text.strip_prefix(prefix).map_or_else(|| Value::Str(text.clone()), Value::str))
}

fn removesuffix(_: &mut Vm, args: &Args) -> Result {
    let [suffix] = args.rest().exactly("str.removesuffix")?;
    let suffix = str_arg(suffix, "removesuffix", 1)?;
    let text = this_str(args)?;
    Ok(text.strip_suffix(suffix).map_or_else(|| Value::Str(text.clone()), Value::str))
}

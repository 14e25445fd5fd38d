//! `format(value, spec)`, `str.format` and the `%` operator of strings and bytes. `crate::text` does the
//! formatting.

use num_bigint::BigInt;

use super::bytes;
use crate::errors;
use crate::ops::number;
use crate::text::format_number::{format_float, format_int};
use crate::text::percent::{self, Amount, Directive, Percent};
use crate::text::quote;
use crate::text::spec::FormatSpec;
use crate::text::template::{DEEPEST, Field, FieldName, First, Numbering, Piece, Step, Template};
use crate::value::{Args, Raise, Result, Value};
use crate::vm::Vm;

/// `format(value, spec)`.
pub fn format_value(vm: &mut Vm, value: &Value, spec: &str) -> Result<String> {
    if let Value::Native(object) = value
        && let Some(text) = object.object().format(value, vm, spec)?
    {
        return Ok(text);
    }
    if let Some(function) = vm.script_method(value, "__format__") {
        let text = vm.call_method_value(&function, value, &[Value::str(spec)])?;
        return match text.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => {
                Err(errors::type_error(format!("__format__ must return a str, not {}", text.type_name())))
            }
        };
    }
    if spec.is_empty() {
        return vm.str(value);
    }
    match value.base_value() {
        Value::Str(text) => Ok(FormatSpec::parse(spec, "str")?.format_str(text)?),
        Value::Float(float) => Ok(format_float(*float, &FormatSpec::parse(spec, "float")?)?),
        // A bool is formatted as the int that it is.
        int @ (Value::Int(_) | Value::Bool(_) | Value::BigInt(_)) => {
            let type_name = int.type_name();
            Ok(format_int(&big(int), &FormatSpec::parse(spec, &type_name)?)?)
        }
        _ => Err(errors::type_error(format!(
            "unsupported format string passed to {}.__format__",
            value.type_name()
        ))),
    }
}

fn big(int: &Value) -> BigInt {
    number::to_big(int).expect("the value was matched as an int")
}

/// The source of a template's field values.
#[derive(Clone, Copy)]
pub enum Fields<'a> {
    Args(&'a Args<'a>),
    Mapping(&'a Value),
}

/// `template.format(..)`.
pub fn format_template(vm: &mut Vm, template: &str, fields: Fields) -> Result<String> {
    Formatter { fields, numbering: Numbering::default() }.expand(vm, template, DEEPEST)
}

struct Formatter<'a> {
    fields: Fields<'a>,
    numbering: Numbering,
}

impl Formatter<'_> {
    fn expand(&mut self, vm: &mut Vm, template: &str, levels: usize) -> Result<String> {
        if levels == 0 {
            return Err(errors::value_error("Max string recursion exceeded"));
        }
        let mut out = String::with_capacity(template.len());
        for piece in Template::new(template) {
            match piece? {
                Piece::Text(text) => out.push_str(text),
                Piece::Field(field) => out.push_str(&self.field(vm, &field, levels)?),
            }
        }
        Ok(out)
    }

    fn field(&mut self, vm: &mut Vm, field: &Field, levels: usize) -> Result<String> {
        let value = self.value(vm, field.name)?;
        let value = match field.conversion {
            None => value,
            Some('r') => Value::str(vm.repr(&value)?),
            Some('s') => Value::str(vm.str(&value)?),
            Some('a') => Value::str(quote::ascii(&vm.repr(&value)?)),
            Some(other) => {
                let message = format!("Unknown conversion specifier {other}");
                return Err(errors::value_error(message));
            }
        };
        if field.spec.contains(['{', '}']) {
            let spec = self.expand(vm, field.spec, levels - 1)?;
            return format_value(vm, &value, &spec);
        }
        format_value(vm, &value, field.spec)
    }

    /// The value that a field's name leads to.
    fn value(&mut self, vm: &mut Vm, name: &str) -> Result {
        let FieldName { first, steps } = FieldName::parse(name)?;
        let mut value = match first {
            First::Auto => {
                let index = self.numbering.next_index()?;
                self.positional(index)?
            }
            First::Index(index) => {
                self.numbering.manual()?;
                self.positional(index)?
            }
            First::Name(name) => self.named(vm, name)?,
        };
        for step in steps {
            value = match step {
                Step::Attr(name) => vm.get_attr(&value, name)?,
                Step::Index(index) => vm.get_item(&value, &Value::from(index))?,
                Step::Key(key) => vm.get_item(&value, &Value::str(key))?,
            };
        }
        Ok(value)
    }

    fn positional(&self, index: usize) -> Result {
        let Fields::Args(args) = self.fields else {
            return Err(errors::value_error("Format string contains positional fields"));
        };
        args.positional().get(index).cloned().ok_or_else(|| {
            errors::index_error(format!("Replacement index {index} out of range for positional args tuple"))
        })
    }

    fn named(&self, vm: &mut Vm, name: &str) -> Result {
        match self.fields {
            Fields::Args(args) => {
                args.keyword(name).cloned().ok_or_else(|| errors::key_error(Value::str(name)))
            }
            Fields::Mapping(mapping) => vm.get_item(mapping, &Value::str(name)),
        }
    }
}

/// `text % args`.
pub fn percent(vm: &mut Vm, text: &str, args: &Value) -> Result<String> {
    percent_of(vm, PercentForm::Text, text, args)
}

/// `bytes % args`: each byte is the character of its number, so widths count bytes.
pub fn percent_bytes(vm: &mut Vm, bytes: &[u8], args: &Value) -> Result<Vec<u8>> {
    Ok(bytes_of(&percent_of(vm, PercentForm::Bytes, &latin(bytes), args)?))
}

fn bytes_of(latin: &str) -> Vec<u8> {
    latin.chars().map(|byte| u8::try_from(byte).expect("all that goes in is bytes")).collect()
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The type of a `%` format, and so of its result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PercentForm {
    Text,
    Bytes,
}

fn percent_of(vm: &mut Vm, form: PercentForm, text: &str, args: &Value) -> Result<String> {
    let mut values = PercentValues::new(form, args);
    let mut out = String::with_capacity(text.len());
    for piece in Percent::new(text) {
        match piece? {
            percent::Piece::Text(text) => out.push_str(text),
            percent::Piece::Directive(directive) => {
                let text = values.directive(vm, directive)?;
                out.push_str(&text);
            }
        }
    }
    values.finish()?;
    Ok(out)
}

/// The source of the values for the directives of a `%` format.
struct PercentValues<'a> {
    form: PercentForm,
    args: &'a Value,
    /// The next item of a tuple; a single value counts as one item.
    at: usize,
    used_mapping: bool,
}

impl<'a> PercentValues<'a> {
    fn new(form: PercentForm, args: &'a Value) -> PercentValues<'a> {
        PercentValues { form, args, at: 0, used_mapping: false }
    }

    fn next(&mut self) -> Result {
        self.at += 1;
        let value = match self.args {
            Value::Tuple(items) => items.get(self.at - 1).cloned(),
            single => (self.at == 1).then(|| single.clone()),
        };
        match value {
            Some(value) => Ok(value),
            None => Ok(percent::not_enough()?),
        }
    }

    fn keyed(&mut self, vm: &mut Vm, key: &str) -> Result {
        self.used_mapping = true;
        match self.args.base_value() {
            Value::Str(_)
            | Value::Tuple(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::None => Err(errors::type_error("format requires a mapping")),
            _ => {
                let key = match self.form {
                    PercentForm::Text => Value::str(key),
                    PercentForm::Bytes => Value::bytes(bytes_of(key)),
                };
                vm.get_item(self.args, &key)
            }
        }
    }

    fn finish(self) -> Result<()> {
        let all_used = match self.args {
            Value::Tuple(items) => self.at >= items.len(),
            // A mapping or a list may stay unused: it could have been meant for keys.
            Value::Dict(_) | Value::List(_) | Value::Native(_) | Value::Instance(_) => true,
            _ => self.at >= 1 || self.used_mapping,
        };
        if !all_used {
            percent::not_all_converted(match self.form {
                PercentForm::Text => "string",
                PercentForm::Bytes => "bytes",
            })?;
        }
        Ok(())
    }

    fn star(&mut self) -> Result<i64> {
        let value = self.next()?;
        value.as_int().ok_or_else(|| errors::type_error("* wants int"))
    }

    fn directive(&mut self, vm: &mut Vm, directive: Directive) -> Result<String> {
        let keyed = match directive.key {
            Some(key) => Some(self.keyed(vm, key)?),
            None => None,
        };
        let mut flags = directive.flags;
        let width = match directive.width {
            Amount::None => 0,
            Amount::Given(width) => width,
            Amount::FromValue => percent::star_width(&mut flags, self.star()?)?,
        };
        let precision = match directive.precision {
            Amount::None => None,
            Amount::Given(precision) => Some(precision),
            Amount::FromValue => Some(self.star()?.max(0) as usize),
        };
        if directive.conversion == '%' {
            return Ok("%".to_owned());
        }
        let value = match keyed {
            Some(value) => value,
            None => self.next()?,
        };
        Ok(match directive.conversion {
            's' | 'b' if self.form == PercentForm::Bytes => {
                percent::format_str(&percent_of_bytes(vm, &value)?, flags, width, precision)?
            }
            'r' if self.form == PercentForm::Bytes => {
                percent::format_str(&quote::ascii(&vm.repr(&value)?), flags, width, precision)?
            }
            'c' if self.form == PercentForm::Bytes => {
                percent::format_str(&percent_byte(vm, &value)?, flags, width, None)?
            }
            's' => percent::format_str(&vm.str(&value)?, flags, width, precision)?,
            'r' => percent::format_str(&vm.repr(&value)?, flags, width, precision)?,
            'a' => percent::format_str(&quote::ascii(&vm.repr(&value)?), flags, width, precision)?,
            'c' => percent::format_str(&percent_char(&value)?, flags, width, None)?,
            letter @ ('d' | 'i' | 'u' | 'o' | 'x' | 'X') => {
                percent::format_int(&percent_int(vm, &value, letter)?, letter, flags, width, precision)?
            }
            letter @ ('e' | 'E' | 'f' | 'F' | 'g' | 'G') => {
                percent::format_float(super::float::to_f64(vm, &value)?, letter, flags, width, precision)?
            }
            _ => directive.unsupported()?,
        })
    }
}

/// `%s` and `%b` of bytes.
fn percent_of_bytes(vm: &mut Vm, value: &Value) -> Result<String> {
    if let Some(bytes) = bytes::like(value) {
        return Ok(latin(&bytes));
    }
    if let Some(function) = vm.script_method(value, "__bytes__") {
        let made = vm.call_method_value(&function, value, &[])?;
        return bytes::required(&made).map(|bytes| latin(&bytes));
    }
    Err(errors::type_error(format!(
        "%b requires a bytes-like object, or an object that implements __bytes__, not '{}'",
        value.type_name()
    ))
    .help("encode a str first: text.encode()"))
}

/// `%c` of bytes.
fn percent_byte(vm: &mut Vm, value: &Value) -> Result<String> {
    let byte = match bytes::like(value).as_deref() {
        Some([byte]) => Some(*byte),
        Some(_) => None,
        None => match vm.try_index(value)? {
            Some(int) => {
                Some(u8::try_from(int).map_err(|_| errors::overflow_error("%c arg not in range(256)"))?)
            }
            None => None,
        },
    };
    let byte =
        byte.ok_or_else(|| errors::type_error("%c requires an integer in range(256) or a single byte"))?;
    Ok(char::from(byte).to_string())
}

fn percent_char(value: &Value) -> Result<String> {
    if let Some(text) = value.as_str() {
        let mut chars = text.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c.to_string()),
            _ => Err(errors::type_error("%c requires int or char")),
        };
    }
    match value.base_value() {
        Value::BigInt(_) => Ok(percent::char_of(None)?.to_string()),
        other => match other.as_int() {
            Some(code) => Ok(percent::char_of(u32::try_from(code).ok())?.to_string()),
            None => Err(errors::type_error("%c requires int or char")),
        },
    }
}

fn percent_int(vm: &mut Vm, value: &Value, letter: char) -> Result<BigInt> {
    if let Some(int) = number::to_big(value.base_value()) {
        return Ok(int);
    }
    let wants_int = |needed: &str| -> Raise {
        errors::type_error(format!("%{letter} format: {needed} is required, not {}", value.type_name()))
    };
    match value {
        // Only the decimal letters cut a float off.
        Value::Float(float) if matches!(letter, 'd' | 'i' | 'u') => super::int::truncate(*float),
        Value::Instance(_) | Value::Native(_) => {
            let int = vm.try_index(value)?;
            int.map(BigInt::from).ok_or_else(|| wants_int("a real number"))
        }
        _ if matches!(letter, 'd' | 'i' | 'u') => Err(wants_int("a real number")),
        _ => Err(wants_int("an integer")),
    }
}

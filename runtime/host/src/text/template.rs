//! The templates of `str.format`: `{}`, `{0}`, `{name.attr[0]!r:>{width}}`.
//!
//! [`Template`] iterates over the pieces of one. The caller looks the values up, and expands nested fields in
//! a spec as a template, up to [`DEEPEST`] levels.

use super::error::{Result, value_error};
use super::unicode::decimal_value;

/// The spec of a field may contain fields, but not deeper than this.
pub const DEEPEST: usize = 2;

/// A field of a template, or the text before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    Field(Field<'a>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The text before `!` and `:`; see [`FieldName::parse`].
    pub name: &'a str,
    /// The letter after `!`.
    pub conversion: Option<char>,
    /// The spec as written: it may hold fields itself.
    pub spec: &'a str,
}

/// The pieces of a template, from the left; the first error ends it.
pub struct Template<'a> {
    rest: &'a str,
}

impl<'a> Template<'a> {
    pub fn new(text: &'a str) -> Template<'a> {
        Template { rest: text }
    }

    fn piece(&mut self) -> Result<Piece<'a>> {
        let Some(brace) = self.rest.find(['{', '}']) else {
            return Ok(Piece::Text(std::mem::take(&mut self.rest)));
        };
        let tail = &self.rest[brace..];
        if tail.starts_with("{{") || tail.starts_with("}}") {
            // Two braces are an escaped one: it ends this piece of text.
            let text = &self.rest[..brace + 1];
            self.rest = &tail[2..];
            return Ok(Piece::Text(text));
        }
        if tail.starts_with('}') {
            return value_error("Single '}' encountered in format string");
        }
        if tail.len() == 1 {
            return value_error("Single '{' encountered in format string");
        }
        if brace > 0 {
            let text = &self.rest[..brace];
            self.rest = tail;
            return Ok(Piece::Text(text));
        }
        self.rest = &tail[1..];
        self.field().map(Piece::Field)
    }

    /// A field, after its opening brace.
    fn field(&mut self) -> Result<Field<'a>> {
        let end = field_name_end(self.rest)?;
        let name = &self.rest[..end];
        let mut behind = self.rest[end..].chars();
        let mut field = Field { name, conversion: None, spec: "" };
        let stop = behind.next();
        self.rest = behind.as_str();
        match stop {
            Some('}') => return Ok(field),
            Some(':') => {}
            Some(_) => {
                field.conversion = behind.next();
                if field.conversion.is_none() {
                    return value_error("end of string while looking for conversion specifier");
                }
                let after = behind.next();
                self.rest = behind.as_str();
                match after {
                    Some('}') => return Ok(field),
                    Some(':') | None => {}
                    Some(_) => return value_error("expected ':' after conversion specifier"),
                }
            }
            None => return value_error("expected '}' before end of string"),
        }
        field.spec = self.spec()?;
        Ok(field)
    }

    /// Everything up to the brace that closes the field.
    fn spec(&mut self) -> Result<&'a str> {
        let mut n_open = 1;
        for (at, c) in self.rest.char_indices() {
            match c {
                '{' => n_open += 1,
                '}' => n_open -= 1,
                _ => continue,
            }
            if n_open == 0 {
                let spec = &self.rest[..at];
                self.rest = &self.rest[at + 1..];
                return Ok(spec);
            }
        }
        value_error("unmatched '{' in format spec")
    }
}

impl<'a> Iterator for Template<'a> {
    type Item = Result<Piece<'a>>;

    fn next(&mut self) -> Option<Result<Piece<'a>>> {
        if self.rest.is_empty() {
            return None;
        }
        let piece = self.piece();
        if piece.is_err() {
            self.rest = "";
        }
        Some(piece)
    }
}

/// The end of the name: at `}`, `!` or `:`, unless inside brackets.
fn field_name_end(text: &str) -> Result<usize> {
    let mut in_brackets = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if in_brackets => in_brackets = c != ']',
            '[' => in_brackets = true,
            '{' => return value_error("unexpected '{' in field name"),
            '}' | '!' | ':' => return Ok(at),
            _ => {}
        }
    }
    Ok(text.len())
}

/// Which argument a field means, and the way from it to the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldName<'a> {
    pub first: First<'a>,
    pub steps: Vec<Step<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First<'a> {
    /// `{}`: the next one.
    Auto,
    Index(usize),
    Name(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Attr(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> FieldName<'a> {
    pub fn parse(name: &'a str) -> Result<FieldName<'a>> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let first = match (&name[..end], index(&name[..end])?) {
            ("", _) => First::Auto,
            (_, Some(index)) => First::Index(index),
            (text, None) => First::Name(text),
        };
        let mut rest = &name[end..];
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, tail) = FieldName::step(rest)?;
            steps.push(step);
            rest = tail;
        }
        Ok(FieldName { first, steps })
    }

    fn step(text: &'a str) -> Result<(Step<'a>, &'a str)> {
        if let Some(attr) = text.strip_prefix('.') {
            let (name, tail) = attr.split_at(attr.find(['.', '[']).unwrap_or(attr.len()));
            return Ok((Step::Attr(not_empty(name)?), tail));
        }
        let Some(bracketed) = text.strip_prefix('[') else {
            return value_error("Only '.' or '[' may follow ']' in format field specifier");
        };
        let Some((key, tail)) = bracketed.split_once(']') else {
            return value_error("Missing ']' in format string");
        };
        let step = match index(not_empty(key)?)? {
            Some(index) => Step::Index(index),
            None => Step::Key(key),
        };
        Ok((step, tail))
    }
}

fn not_empty(name: &str) -> Result<&str> {
    if name.is_empty() { value_error("Empty attribute in format string") } else { Ok(name) }
}

/// A name of only digits is an index.
fn index(text: &str) -> Result<Option<usize>> {
    let mut index = None;
    for c in text.chars() {
        let Some(digit) = decimal_value(c) else { return Ok(None) };
        let next = index.unwrap_or(0_i64).checked_mul(10).and_then(|tens| tens.checked_add(digit as i64));
        if next.is_none() {
            return value_error("Too many decimal digits in format string");
        }
        index = next;
    }
    Ok(index.map(|index| index as usize))
}

/// Numbers the fields of one template: either all automatically or all manually.
#[derive(Clone, Copy, Debug, Default)]
pub enum Numbering {
    #[default]
    Unknown,
    /// The next index.
    Auto(usize),
    Manual,
}

impl Numbering {
    /// The index of a field without a name.
    pub fn next_index(&mut self) -> Result<usize> {
        let index = match *self {
            Numbering::Unknown => 0,
            Numbering::Auto(next) => next,
            Numbering::Manual => {
                return value_error(
                    "cannot switch from manual field specification to automatic field numbering",
                );
            }
        };
        *self = Numbering::Auto(index + 1);
        Ok(index)
    }

    /// Records a field with an explicit index.
    pub fn manual(&mut self) -> Result<()> {
        if matches!(self, Numbering::Auto(_)) {
            return value_error("cannot switch from automatic field numbering to manual field specification");
        }
        *self = Numbering::Manual;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_fall_into_pieces() {
        fn check(text: &str, expect: &str) {
            let show = |piece: Result<Piece>| match piece {
                Ok(Piece::Text(text)) => format!("<{text}>"),
                Ok(Piece::Field(field)) => {
                    let conversion = field.conversion.map_or(String::new(), |c| format!("!{c}"));
                    format!("({}{conversion}:{})", field.name, field.spec)
                }
                Err(error) => error.message().to_owned(),
            };
            assert_eq!(Template::new(text).map(show).collect::<String>(), expect, "{text}");
        }
        check("a{}b{0!r:>{w}}", "<a>(:)<b>(0!r:>{w})");
        check("{{x}}", "<{><x}>");
        check("{a[}]}", "(a[}]:)");
        check("x}", "Single '}' encountered in format string");
        check("x{", "Single '{' encountered in format string");
        check("{a", "expected '}' before end of string");
        check("{!", "end of string while looking for conversion specifier");
        check("{!rx}", "expected ':' after conversion specifier");
        check("{:{}", "unmatched '{' in format spec");
        check("{a{b}}", "unexpected '{' in field name");
    }

    #[test]
    fn field_names_lead_to_values() {
        fn check(name: &str, expect: std::result::Result<(First, &[Step]), &str>) {
            let got = FieldName::parse(name);
            match (&got, expect) {
                (Ok(name), Ok((first, steps))) => assert_eq!((name.first, &*name.steps), (first, steps)),
                (got, expect) => assert_eq!(got.as_ref().err().map(|error| error.message()), expect.err()),
            }
        }
        check("", Ok((First::Auto, &[])));
        check("0.a[1][b]", Ok((First::Index(0), &[Step::Attr("a"), Step::Index(1), Step::Key("b")])));
        check("x[-1]", Ok((First::Name("x"), &[Step::Key("-1")])));
        check("a.", Err("Empty attribute in format string"));
        check("a[1", Err("Missing ']' in format string"));
        check("a[1]b", Err("Only '.' or '[' may follow ']' in format field specifier"));
        check("99999999999999999999", Err("Too many decimal digits in format string"));
    }
}

//! The format specification: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
//!
//! Parsing, and padding the result; `format_number.rs` formats numbers by a spec.

use super::error::{Result, check_length, value_error};
use super::pad::n_chars;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
    Center,
    /// Between the sign and the digits.
    AfterSign,
}

/// The sign of numbers that are not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
    Space,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatSpec {
    pub fill: char,
    /// `None` is the default of the type: numbers to the right, others to the left.
    pub align: Option<Align>,
    pub sign: Option<Sign>,
    /// `z`: a negative number that rounds to zero loses its sign.
    pub no_negative_zero: bool,
    /// `#`.
    pub alternate: bool,
    pub width: usize,
    /// `,` or `_`.
    pub grouping: Option<char>,
    pub precision: Option<usize>,
    pub ty: Option<char>,
}

impl FormatSpec {
    pub const PLAIN: FormatSpec = FormatSpec {
        fill: ' ',
        align: None,
        sign: None,
        no_negative_zero: false,
        alternate: false,
        width: 0,
        grouping: None,
        precision: None,
        ty: None,
    };

    /// Parses the spec for a value whose type is called `type_name`.
    pub fn parse(text: &str, type_name: &str) -> Result<FormatSpec> {
        let mut reader = Reader { rest: text };
        let mut spec = FormatSpec::PLAIN;
        let has_fill = reader.fill_and_align(&mut spec);
        spec.sign = reader.take(|c| match c {
            '+' => Some(Sign::Plus),
            '-' => Some(Sign::Minus),
            ' ' => Some(Sign::Space),
            _ => None,
        });
        spec.no_negative_zero = reader.take_char('z');
        spec.alternate = reader.take_char('#');
        if !has_fill && reader.take_char('0') {
            spec.fill = '0';
            // Strings keep their alignment to the left: `f"{'a':05}"`.
            if spec.align.is_none() && type_name != "str" {
                spec.align = Some(Align::AfterSign);
            }
        }
        spec.width = reader.number()?.unwrap_or(0);
        spec.grouping = reader.grouping()?;
        if reader.take_char('.') {
            spec.precision = reader.number()?;
            if spec.precision.is_none() {
                return value_error("Format specifier missing precision");
            }
        }
        spec.ty = reader.take(Some);
        if !reader.rest.is_empty() {
            let message = format!("Invalid format specifier '{text}' for object of type '{type_name}'");
            return value_error(message);
        }
        spec.check_grouping(type_name)?;
        check_length(spec.width)?;
        Ok(spec)
    }

    fn check_grouping(&self, type_name: &str) -> Result<()> {
        let default_ty = (type_name == "str").then_some('s');
        match (self.grouping, self.ty.or(default_ty)) {
            (None, _) | (_, None | Some('d' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F')) => Ok(()),
            (Some('_'), Some('b' | 'o' | 'x' | 'X')) => Ok(()),
            (Some(separator), Some(ty)) => cannot_group(separator, ty),
        }
    }

    /// `format(text, self)`.
    pub fn format_str(&self, text: &str) -> Result<String> {
        if self.ty.is_some_and(|ty| ty != 's') {
            return self.unknown_type("str");
        }
        match self.sign {
            Some(Sign::Space) => return value_error("Space not allowed in string format specifier"),
            Some(_) => return value_error("Sign not allowed in string format specifier"),
            None => {}
        }
        if self.no_negative_zero {
            return value_error("Negative zero coercion (z) not allowed in string format specifier");
        }
        if self.alternate {
            return value_error("Alternate form (#) not allowed in string format specifier");
        }
        if self.align == Some(Align::AfterSign) {
            return value_error("'=' alignment not allowed in string format specifier");
        }
        let end = self.precision.and_then(|n| text.char_indices().nth(n)).map_or(text.len(), |(at, _)| at);
        Ok(self.pad(&text[..end], Align::Left))
    }

    /// The text in a field of the spec's width.
    pub fn pad(&self, text: &str, default_align: Align) -> String {
        let missing = self.width.saturating_sub(n_chars(text));
        if missing == 0 {
            return text.to_owned();
        }
        let before = match self.align.unwrap_or(default_align) {
            Align::Left => 0,
            Align::Right | Align::AfterSign => missing,
            Align::Center => missing / 2,
        };
        let mut out = String::with_capacity(text.len() + missing * self.fill.len_utf8());
        out.extend(std::iter::repeat_n(self.fill, before));
        out.push_str(text);
        out.extend(std::iter::repeat_n(self.fill, missing - before));
        out
    }

    /// The error for a type letter that values of this type do not have.
    pub fn unknown_type<T>(&self, type_name: &str) -> Result<T> {
        let ty = self.ty.unwrap_or(' ');
        let shown = if (' '..='\x7f').contains(&ty) && ty != ' ' {
            ty.to_string()
        } else {
            format!("\\x{:x}", ty as u32)
        };
        value_error(format!("Unknown format code '{shown}' for object of type '{type_name}'"))
    }
}

fn cannot_group<T>(separator: char, ty: char) -> Result<T> {
    if (' '..'\u{80}').contains(&ty) && ty != ' ' {
        return value_error(format!("Cannot specify '{separator}' with '{ty}'."));
    }
    value_error(format!("Cannot specify '{separator}' with '\\x{:x}'.", ty as u32))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take<T>(&mut self, read: impl Fn(char) -> Option<T>) -> Option<T> {
        let mut chars = self.rest.chars();
        let value = read(chars.next()?)?;
        self.rest = chars.as_str();
        Some(value)
    }

    fn take_char(&mut self, expected: char) -> bool {
        self.take(|c| (c == expected).then_some(())).is_some()
    }

    /// Returns whether a fill character was given.
    fn fill_and_align(&mut self, spec: &mut FormatSpec) -> bool {
        let mut chars = self.rest.chars();
        let first = chars.next();
        let after_first = chars.as_str();
        if let Some(align) = chars.next().and_then(align_of) {
            spec.fill = first.expect("a second character follows a first one");
            spec.align = Some(align);
            self.rest = chars.as_str();
            return true;
        }
        if let Some(align) = first.and_then(align_of) {
            spec.align = Some(align);
            self.rest = after_first;
        }
        false
    }

    fn number(&mut self) -> Result<Option<usize>> {
        let mut value = None;
        while let Some(digit) = self.take(super::unicode::decimal_value) {
            let next = value.unwrap_or(0_i64).checked_mul(10).and_then(|tens| tens.checked_add(digit as i64));
            if next.is_none() {
                return value_error("Too many decimal digits in format string");
            }
            value = next;
        }
        Ok(value.map(|value| value as usize))
    }

    fn grouping(&mut self) -> Result<Option<char>> {
        let comma = self.take_char(',');
        if comma && self.rest.starts_with(',') {
            return cannot_group(',', ',');
        }
        let underscore = self.take_char('_');
        if underscore && (comma || self.rest.starts_with(',')) {
            return value_error("Cannot specify both ',' and '_'.");
        }
        if underscore && self.rest.starts_with('_') {
            return cannot_group('_', '_');
        }
        Ok(if comma { Some(',') } else { underscore.then_some('_') })
    }
}

fn align_of(c: char) -> Option<Align> {
    Some(match c {
        '<' => Align::Left,
        '>' => Align::Right,
        '^' => Align::Center,
        '=' => Align::AfterSign,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_formatted() {
        fn check(text: &str, spec: &str, expect: &str) {
            let got = FormatSpec::parse(spec, "str").and_then(|spec| spec.format_str(text));
            assert_eq!(got.unwrap_or_else(|error| error.message().to_owned()), expect);
        }
        check("abc", "", "abc");
        check("abc", "é^6.2s", "ééabéé");
        check("abc", "05", "abc00");
        check("abc", ">5", "  abc");
        check("abc", "=5", "'=' alignment not allowed in string format specifier");
        check("abc", "+5", "Sign not allowed in string format specifier");
        check("abc", "d", "Unknown format code 'd' for object of type 'str'");
        check("abc", "5.", "Format specifier missing precision");
        check("abc", ",_", "Cannot specify both ',' and '_'.");
        check("abc", ",", "Cannot specify ',' with 's'.");
        check("abc", "sx", "Invalid format specifier 'sx' for object of type 'str'");
        check("abc", "99999999999999999999", "Too many decimal digits in format string");
    }
}

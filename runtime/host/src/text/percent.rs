//! `text % values`: `%5.2f`, `%-10s`, `%(name)r`, `%*d`.
//!
//! [`Percent`] iterates over the pieces of a format. The caller takes a value for each directive and each
//! `*`, and formats it by the functions at the end of this file.

use num_bigint::BigInt;
use num_traits::Signed;

use super::error::{Result, check_length, overflow_error, type_error, value_error};
use super::format_number::Style;
use super::int;
use super::pad::n_chars;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    Directive(Directive<'a>),
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    None,
    Given(usize),
    /// `*`: the next value.
    FromValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// `%(key)s`.
    pub key: Option<&'a str>,
    pub flags: Flags,
    pub width: Amount,
    pub precision: Amount,
    /// The letter at the end; any character, checked by [`Directive::unsupported`].
    pub conversion: char,
    /// The position of the conversion character, in characters.
    pub at: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `-`.
    pub left: bool,
    /// `+`.
    pub plus: bool,
    /// A blank.
    pub blank: bool,
    /// `#`.
    pub alternate: bool,
    /// `0`.
    pub zero: bool,
}

impl Directive<'_> {
    /// The error for a letter that no conversion has.
    pub fn unsupported<T>(&self) -> Result<T> {
        let shown = if (' '..='~').contains(&self.conversion) { self.conversion } else { '?' };
        let code = self.conversion as u32;
        value_error(format!("unsupported format character '{shown}' (0x{code:x}) at index {}", self.at))
    }
}

/// The pieces of a format, from the left; the first error ends it.
pub struct Percent<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Percent<'a> {
    pub fn new(text: &'a str) -> Percent<'a> {
        Percent { text, at: 0 }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn directive(&mut self) -> Result<Directive<'a>> {
        let key = if self.peek() == Some('(') { Some(self.key()?) } else { None };
        let flags = self.flags();
        let width = self.amount("width too big")?;
        let precision = if self.peek() == Some('.') {
            self.bump();
            match self.amount("precision too big")? {
                Amount::None => Amount::Given(0),
                amount => amount,
            }
        } else {
            Amount::None
        };
        // C's length letters mean nothing here.
        if matches!(self.peek(), Some('h' | 'l' | 'L')) {
            self.bump();
        }
        let at = n_chars(&self.text[..self.at]);
        let Some(conversion) = self.bump() else { return value_error("incomplete format") };
        Ok(Directive { key, flags, width, precision, conversion, at })
    }

    /// The text between parentheses, which may nest.
    fn key(&mut self) -> Result<&'a str> {
        self.bump();
        let start = self.at;
        let mut n_open = 1;
        while let Some(c) = self.bump() {
            match c {
                '(' => n_open += 1,
                ')' => n_open -= 1,
                _ => {}
            }
            if n_open == 0 {
                return Ok(&self.text[start..self.at - 1]);
            }
        }
        value_error("incomplete format key")
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some('-') => flags.left = true,
                Some('+') => flags.plus = true,
                Some(' ') => flags.blank = true,
                Some('#') => flags.alternate = true,
                Some('0') => flags.zero = true,
                _ => return flags,
            }
            self.bump();
        }
    }

    fn amount(&mut self, too_big: &str) -> Result<Amount> {
        if self.peek() == Some('*') {
            self.bump();
            return Ok(Amount::FromValue);
        }
        let mut amount = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.bump();
            let next = amount.unwrap_or(0_usize) * 10 + digit as usize;
            if next > i32::MAX as usize {
                return value_error(too_big);
            }
            amount = Some(next);
        }
        Ok(amount.map_or(Amount::None, Amount::Given))
    }
}

impl<'a> Iterator for Percent<'a> {
    type Item = Result<Piece<'a>>;

    fn next(&mut self) -> Option<Result<Piece<'a>>> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = rest.find('%').unwrap_or(rest.len());
        if end > 0 {
            self.at += end;
            return Some(Ok(Piece::Text(&rest[..end])));
        }
        self.at += 1;
        let directive = self.directive();
        if directive.is_err() {
            self.at = self.text.len();
        }
        Some(directive.map(Piece::Directive))
    }
}

/// Applies a value of `*`: the width or the precision.
pub fn star_width(flags: &mut Flags, width: i64) -> Result<usize> {
    if width < 0 {
        flags.left = true;
    }
    match usize::try_from(width.unsigned_abs()) {
        Ok(width) if width <= i32::MAX as usize => Ok(width),
        _ => value_error("width too big"),
    }
}

/// `d`, `i`, `u`, `o`, `x` and `X`.
pub fn format_int(
    int: &BigInt,
    conversion: char,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) -> Result<String> {
    check_length(precision.unwrap_or(0))?;
    let (digits, prefix) = match conversion {
        'o' => (int.magnitude().to_str_radix(8), "0o"),
        'x' => (int.magnitude().to_str_radix(16), "0x"),
        'X' => (int.magnitude().to_str_radix(16).to_ascii_uppercase(), "0X"),
        _ => (int::to_decimal(&int.abs(), int::max_str_digits())?, ""),
    };
    let zeros = "0".repeat(precision.unwrap_or(0).saturating_sub(digits.len()));
    let prefix = if flags.alternate { prefix } else { "" };
    place(int.is_negative(), prefix, &(zeros + &digits), flags, width)
}

/// `e`, `E`, `f`, `F`, `g` and `G`.
pub fn format_float(
    x: f64,
    conversion: char,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) -> Result<String> {
    check_length(precision.unwrap_or(0))?;
    let style = Style { precision, alternate: flags.alternate };
    let mut text = match conversion.to_ascii_lowercase() {
        _ if x.is_nan() => "nan".to_owned(),
        _ if x.is_infinite() => "inf".to_owned(),
        'e' => style.scientific(x),
        'f' => style.fixed(x),
        _ => style.general_plain(x),
    };
    if conversion.is_ascii_uppercase() {
        text.make_ascii_uppercase();
    }
    place(x.is_sign_negative() && !x.is_nan(), "", &text, flags, width)
}

/// `s`, `r` and `a`: the precision cuts the text.
pub fn format_str(text: &str, flags: Flags, width: usize, precision: Option<usize>) -> Result<String> {
    let end = precision.and_then(|n| text.char_indices().nth(n)).map_or(text.len(), |(at, _)| at);
    let flags = Flags { left: flags.left, ..Flags::default() };
    place(false, "", &text[..end], flags, width)
}

/// `c`: the character of a code.
pub fn char_of(code: Option<u32>) -> Result<char> {
    match code.and_then(char::from_u32) {
        Some(c) => Ok(c),
        None => overflow_error("%c arg not in range(0x110000)"),
    }
}

fn place(is_negative: bool, prefix: &str, body: &str, flags: Flags, width: usize) -> Result<String> {
    check_length(width)?;
    let sign = match () {
        () if is_negative => "-",
        () if flags.plus => "+",
        () if flags.blank => " ",
        () => "",
    };
    let missing = width.saturating_sub(sign.len() + prefix.len() + n_chars(body));
    Ok(if flags.left {
        [sign, prefix, body, &" ".repeat(missing)].concat()
    } else if flags.zero {
        [sign, prefix, &"0".repeat(missing), body].concat()
    } else {
        [&" ".repeat(missing), sign, prefix, body].concat()
    })
}

pub fn not_enough<T>() -> Result<T> {
    type_error("not enough arguments for format string")
}

/// `what` is a string or bytes.
pub fn not_all_converted<T>(what: &str) -> Result<T> {
    type_error(format!("not all arguments converted during {what} formatting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_fall_into_pieces() {
        fn check(text: &str, expect: &str) {
            let show = |piece: Result<Piece>| match piece {
                Ok(Piece::Text(text)) => format!("<{text}>"),
                Ok(Piece::Directive(directive)) => {
                    let Directive { key, width, precision, conversion, .. } = directive;
                    let key = key.map_or(String::new(), |key| format!("{key}="));
                    format!("({key}{}.{}{conversion})", show_amount(width), show_amount(precision))
                }
                Err(error) => error.message().to_owned(),
            };
            assert_eq!(Percent::new(text).map(show).collect::<String>(), expect, "{text}");
        }
        fn show_amount(amount: Amount) -> String {
            match amount {
                Amount::None => "-".to_owned(),
                Amount::Given(n) => n.to_string(),
                Amount::FromValue => "*".to_owned(),
            }
        }
        check("a%5.2fb", "<a>(5.2f)<b>");
        check("%(k(1))s%%", "(k(1)=-.-s)(-.-%)");
        check("%-*.*ld", "(*.*d)");
        check("%.s", "(-.0s)");
        check("%", "incomplete format");
        check("%(a", "incomplete format key");
        check("%99999999999d", "width too big");
    }

    #[test]
    fn numbers_are_placed() {
        fn check(format: &str, expect: &str) {
            let Some(Ok(Piece::Directive(directive))) = Percent::new(format).next() else {
                panic!("`{format}` is one directive");
            };
            let given = |amount| if let Amount::Given(n) = amount { Some(n) } else { None };
            let width = given(directive.width).unwrap_or(0);
            let precision = given(directive.precision);
            let got = match directive.conversion {
                'f' | 'e' | 'g' => {
                    format_float(-12.345, directive.conversion, directive.flags, width, precision)
                }
                's' => format_str("héllo", directive.flags, width, precision),
                _ => format_int(&BigInt::from(255), directive.conversion, directive.flags, width, precision),
            };
            assert_eq!(got.as_deref(), Ok(expect), "{format}");
        }
        check("%08.2f", "-0012.35");
        check("%-8.1fx", "-12.3   ");
        check("%#x", "0xff");
        check("%#010X", "0X000000FF");
        check("%+.5d", "+00255");
        check("% d", " 255");
        check("%7.3s", "    hél");
        check("%07s", "  héllo");
        check("%.2e", "-1.23e+01");
    }
}

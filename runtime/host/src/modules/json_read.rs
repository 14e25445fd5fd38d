//! Reading JSON: `json.loads` and `json.load`, with CPython's messages.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::builtins::{bytes, encoding};
use crate::errors;
use crate::text::int::MAX_STR_DIGITS;
use crate::text::pad::n_chars;
use crate::value::{Args, Dict, Raise, Result, Value};
use crate::vm::Vm;

/// Arrays and objects nest no deeper.
const DEEPEST: usize = 900;

pub fn loads(_: &mut Vm, args: &Args) -> Result {
    let [source] = args.exactly("loads")?;
    let text = match (source.as_str(), bytes::like(source)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(bytes)) => encoding::decode(&bytes, "utf-8", "strict")?,
        (None, None) => {
            let given = source.type_name();
            let message = format!("the JSON object must be str, bytes or bytearray, not {given}");
            return Err(errors::type_error(message));
        }
    };
    Reader { text: &text, at: 0, depth: 0 }.document()
}

pub fn load(vm: &mut Vm, args: &Args) -> Result {
    let [file] = args.exactly("load")?;
    let text = vm.call_method(file, "read", &[])?;
    loads(vm, &Args::new(&[text], &[]))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn document(mut self) -> Result {
        if self.text.starts_with('\u{feff}') {
            return Err(self.mistake("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0));
        }
        self.skip_spaces();
        let value = self.value()?;
        self.skip_spaces();
        if self.at < self.text.len() {
            return Err(self.mistake("Extra data", self.at));
        }
        Ok(value)
    }

    fn mistake(&self, message: &str, at: usize) -> Raise {
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = n_chars(before.rsplit('\n').next().unwrap_or("")) + 1;
        errors::value_error(format!("{message}: line {line} column {column} (char {})", n_chars(before)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self) -> Result {
        let words = [
            ("null", Value::None),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        match self.peek() {
            Some(b'"') => return self.string().map(Value::str),
            Some(b'[') => return self.nested(Reader::array),
            Some(b'{') => return self.nested(Reader::object),
            _ => {}
        }
        for (word, value) in words {
            if self.take(word) {
                return Ok(value);
            }
        }
        self.number()
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result) -> Result {
        if self.depth == DEEPEST {
            return Err(errors::recursion_error());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_spaces();
        if self.take("]") {
            return Ok(Value::list(items));
        }
        loop {
            self.skip_spaces();
            items.push(self.value()?);
            self.skip_spaces();
            if self.take("]") {
                return Ok(Value::list(items));
            }
            if !self.take(",") {
                return Err(self.mistake("Expecting ',' delimiter", self.at));
            }
        }
    }

    fn object(&mut self) -> Result {
        self.at += 1;
        let dict = Dict::new();
        self.skip_spaces();
        if self.take("}") {
            return Ok(Value::Dict(Rc::new(dict)));
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return Err(self.mistake("Expecting property name enclosed in double quotes", self.at));
            }
            let key = self.string()?;
            self.skip_spaces();
            if !self.take(":") {
                return Err(self.mistake("Expecting ':' delimiter", self.at));
            }
            self.skip_spaces();
            dict.insert_text(key, self.value()?);
            self.skip_spaces();
            if self.take("}") {
                return Ok(Value::Dict(Rc::new(dict)));
            }
            if !self.take(",") {
                return Err(self.mistake("Expecting ',' delimiter", self.at));
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ') else {
                return Err(self.mistake("Unterminated string starting at", start));
            };
            out.push_str(&rest[..end]);
            self.at += end + 1;
            match rest.as_bytes()[end] {
                b'"' => return Ok(out),
                b'\\' => out.push(self.escape(start)?),
                _ => return Err(self.mistake("Invalid control character at", self.at - 1)),
            }
        }
    }

    /// The character that an escape stands for, behind its backslash.
    fn escape(&mut self, start: usize) -> Result<char> {
        let backslash = self.at - 1;
        let Some(letter) = self.peek() else {
            return Err(self.mistake("Unterminated string starting at", start));
        };
        if letter == b'u' {
            return self.unicode(backslash);
        }
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => letter as char,
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\x08',
            b'f' => '\x0c',
            _ => return Err(self.mistake("Invalid \\escape", backslash)),
        })
    }

    /// `\uXXXX`, or two of them for a character past the first plane; half a pair is no character.
    fn unicode(&mut self, backslash: usize) -> Result<char> {
        let first = self.unit(backslash)?;
        if !(0xd800..0xdc00).contains(&first) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let behind_first = self.at;
        self.at += 1;
        let second = self.unit(behind_first)?;
        let pair = [first as u16, second as u16];
        match char::decode_utf16(pair).next() {
            Some(Ok(c)) => Ok(c),
            _ => {
                self.at = behind_first;
                Ok('\u{fffd}')
            }
        }
    }

    /// Four hexadecimal digits behind the `u`.
    fn unit(&mut self, backslash: usize) -> Result<u32> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let unit = digits.and_then(|digits| {
            digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + (digit as char).to_digit(16)?))
        });
        let Some(unit) = unit else {
            return Err(self.mistake("Invalid \\uXXXX escape", backslash + 1));
        };
        self.at += 5;
        Ok(unit)
    }

    fn number(&mut self) -> Result {
        let start = self.at;
        let rest = &self.text[start..];
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let n_sign = rest.starts_with('-') as usize;
        // A leading zero stands alone.
        let n_whole = if rest[n_sign..].starts_with('0') { 1 } else { digits(&rest[n_sign..]) };
        if n_whole == 0 {
            return Err(self.mistake("Expecting value", start));
        }
        let mut end = n_sign + n_whole;
        if rest[end..].starts_with('.') && digits(&rest[end + 1..]) > 0 {
            end += 1 + digits(&rest[end + 1..]);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let n_exponent_sign = rest[end + 1..].starts_with(['+', '-']) as usize;
            let n_exponent = digits(&rest[end + 1 + n_exponent_sign..]);
            if n_exponent > 0 {
                end += 1 + n_exponent_sign + n_exponent;
            }
        }
        self.at = start + end;
        let text = &rest[..end];
        if end > n_sign + n_whole {
            return Ok(Value::Float(text.parse().expect("this is how floats are written")));
        }
        let int: BigInt = crate::text::int::parse(text, 10, MAX_STR_DIGITS)?;
        Ok(Value::big(int))
    }
}

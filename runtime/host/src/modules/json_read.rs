//! Reads JSON, with CPython's messages. Errors are raised as the class that the module `json` defines.

use std::rc::Rc;

use crate::errors;
use crate::memory;
use crate::text::pad::n_chars;
use crate::value::{Args, Dict, Raise, Result, Value};
use crate::vm::Vm;

/// Arrays and objects nest no deeper.
const DEEPEST: usize = 900;

/// `loads(text, strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant)`: the value
/// of a whole text. A hook that is None changes nothing.
pub fn loads(vm: &mut Vm, args: &Args) -> Result {
    let [text, hooks @ ..] = args.exactly::<7>("loads")?;
    let result = Reader::new(vm, text, hooks)?.document();
    found(vm, text, result)
}

/// `scan(text, at, ..)`: the value that begins at a position, and the position after it.
pub fn scan(vm: &mut Vm, args: &Args) -> Result {
    let [text, at, hooks @ ..] = args.exactly::<8>("scan")?;
    let start = usize::try_from(vm.index(at)?).map_err(|_| errors::value_error("idx cannot be negative"))?;
    let mut reader = Reader::new(vm, text, hooks)?;
    reader.at = reader.text.char_indices().nth(start).map_or(reader.text.len(), |(at, _)| at);
    let result =
        reader.value().map(|value| Value::tuple([value, Value::from(n_chars(&reader.text[..reader.at]))]));
    found(vm, text, result)
}

/// The result of reading; an error becomes an exception of the script's class.
fn found(vm: &mut Vm, text: &Value, result: std::result::Result<Value, Stop>) -> Result {
    let mistake = match result {
        Ok(value) => return Ok(value),
        Err(Stop::Raise(raise)) => return Err(raise),
        Err(Stop::Mistake(mistake)) => mistake,
    };
    let Some(class) = vm.modules.get("json").and_then(|module| module.get("JSONDecodeError")) else {
        return Err(errors::value_error(mistake.message));
    };
    let args = [mistake.message.into(), text.clone(), Value::from(mistake.at)];
    let exception = vm.call(&class, &args)?;
    Err(vm.raise_of(&exception))
}

/// Why reading stopped early.
enum Stop {
    Mistake(Mistake),
    Raise(Raise),
}

/// An error in a text, and its character position.
struct Mistake {
    message: &'static str,
    at: usize,
}

impl From<Raise> for Stop {
    fn from(raise: Raise) -> Stop {
        Stop::Raise(raise)
    }
}

/// The result of reading a part of the text.
type Read<T = Value> = std::result::Result<T, Stop>;

/// The functions of the script that convert values.
struct Hooks<'a> {
    object: Option<&'a Value>,
    pairs: Option<&'a Value>,
    float: Option<&'a Value>,
    int: Option<&'a Value>,
    constant: Option<&'a Value>,
}

struct Reader<'a> {
    vm: &'a mut Vm,
    text: &'a str,
    at: usize,
    depth: usize,
    hooks: Hooks<'a>,
    /// Whether control characters in strings are mistakes.
    is_strict: bool,
}

impl<'a> Reader<'a> {
    fn new(vm: &'a mut Vm, text: &'a Value, arguments: &'a [Value]) -> Result<Reader<'a>> {
        let [strict, object, pairs, float, int, constant] = arguments else {
            unreachable!("the count of the arguments was tested")
        };
        let given = text.type_name();
        let text = text
            .as_str()
            .ok_or_else(|| errors::type_error(format!("the JSON object must be str, not {given}")))?;
        let is_strict = vm.truth(strict)?;
        let hook = |value: &'a Value| Some(value).filter(|value| !value.is_none());
        let hooks = Hooks {
            object: hook(object),
            pairs: hook(pairs),
            float: hook(float),
            int: hook(int),
            constant: hook(constant),
        };
        Ok(Reader { vm, text, at: 0, depth: 0, hooks, is_strict })
    }

    fn document(mut self) -> Read {
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

    fn mistake(&self, message: &'static str, at: usize) -> Stop {
        Stop::Mistake(Mistake { message, at: n_chars(&self.text[..at]) })
    }

    /// The value that a hook returns; the value itself without one.
    fn hooked(&mut self, hook: Option<&Value>, value: Value) -> Read {
        match hook {
            Some(hook) => Ok(self.vm.call(hook, &[value])?),
            None => Ok(value),
        }
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

    fn value(&mut self) -> Read {
        let words = [("null", Value::None), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        let constants = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];
        self.vm.poll()?;
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
        for (word, float) in constants {
            if self.take(word) {
                return match self.hooks.constant {
                    Some(hook) => Ok(self.vm.call(hook, &[word.into()])?),
                    None => Ok(Value::Float(float)),
                };
            }
        }
        self.number()
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read) -> Read {
        if self.depth == DEEPEST {
            return Err(errors::recursion_error().into());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Read {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_spaces();
        if self.take("]") {
            return Ok(Value::list(items));
        }
        loop {
            self.skip_spaces();
            let item = self.value()?;
            memory::make_room(&mut items)?;
            items.push(item);
            self.skip_spaces();
            if self.take("]") {
                return Ok(Value::list(items));
            }
            if !self.take(",") {
                return Err(self.mistake("Expecting ',' delimiter", self.at));
            }
        }
    }

    fn object(&mut self) -> Read {
        self.at += 1;
        let mut pairs = Vec::new();
        self.skip_spaces();
        if self.take("}") {
            return self.object_of(pairs);
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
            let value = self.value()?;
            memory::make_room(&mut pairs)?;
            pairs.push((key, value));
            self.skip_spaces();
            if self.take("}") {
                return self.object_of(pairs);
            }
            if !self.take(",") {
                return Err(self.mistake("Expecting ',' delimiter", self.at));
            }
        }
    }

    fn object_of(&mut self, pairs: Vec<(String, Value)>) -> Read {
        if let Some(hook) = self.hooks.pairs {
            let pairs = pairs.into_iter().map(|(key, value)| Value::tuple([Value::str(key), value]));
            return Ok(self.vm.call(hook, &[Value::list(pairs.collect())])?);
        }
        let dict = Dict::new();
        for (key, value) in pairs {
            self.vm.poll()?;
            dict.insert_text(key, value);
        }
        self.hooked(self.hooks.object, Value::Dict(Rc::new(dict)))
    }

    fn string(&mut self) -> Read<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let is_strict = self.is_strict;
            let Some(end) = rest.find(|c: char| matches!(c, '"' | '\\') || is_strict && c < ' ') else {
                return Err(self.mistake("Unterminated string starting at", start));
            };
            memory::make_text_room(&mut out, end + 4)?;
            out.push_str(&rest[..end]);
            self.at += end + 1;
            match rest.as_bytes()[end] {
                b'"' => return Ok(out),
                b'\\' => out.push(self.escape(start)?),
                _ => return Err(self.mistake("Invalid control character at", self.at - 1)),
            }
        }
    }

    /// The character of an escape, after its backslash.
    fn escape(&mut self, start: usize) -> Read<char> {
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
    fn unicode(&mut self, backslash: usize) -> Read<char> {
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

    /// Four hexadecimal digits after the `u`.
    fn unit(&mut self, backslash: usize) -> Read<u32> {
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

    fn number(&mut self) -> Read {
        let start = self.at;
        let rest = &self.text[start..];
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let n_sign = rest.starts_with('-') as usize;
        // A number with a leading zero has one digit.
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
            return match self.hooks.float {
                Some(hook) => Ok(self.vm.call(hook, &[text.into()])?),
                None => Ok(Value::Float(text.parse().expect("this is how floats are written"))),
            };
        }
        if let Some(hook) = self.hooks.int {
            return Ok(self.vm.call(hook, &[text.into()])?);
        }
        let int =
            crate::text::int::parse(text, 10, crate::text::int::max_str_digits()).map_err(Raise::from)?;
        Ok(Value::big(int))
    }
}

//! The Rust part of the module `json`: `dumps`; `json_read.rs` reads. Classes and defaults are in the script
//! part, `json.kps`.

use std::fmt::Write;

use kps_compute::DType;

use super::json_read;
use super::numpy::Scalar;
use crate::builtins::support::{flag, given};
use crate::errors;
use crate::memory;
use crate::text::float;
use crate::value::{Args, NativeDef, NativeModule, Result, Value};
use crate::vm::{STRETCH, Vm, checkpoint};

/// The maximum size of a number, or a constant, with its separators, in bytes.
const SHORT: usize = 64;

pub static MODULE: NativeModule = NativeModule {
    functions: &[
        NativeDef::function("dumps", dumps),
        NativeDef::function("loads", json_read::loads),
        NativeDef::function("scan", json_read::scan),
    ],
    ..NativeModule::new("_json")
};

/// How `dumps` writes.
struct Writer {
    out: String,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    only_ascii: bool,
    sort_keys: bool,
    skip_keys: bool,
    allow_nan: bool,
    /// Converts values without a JSON form.
    default: Option<Value>,
    /// Addresses of the containers that are being written.
    active: Vec<usize>,
}

fn dumps(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("dumps");
    let value = parser.required("obj")?;
    let mut writer = writer(vm, &mut parser)?;
    parser.finish()?;
    writer.value(vm, value)?;
    Ok(Value::str(writer.out))
}

fn writer(vm: &mut Vm, parser: &mut crate::value::Parser) -> Result<Writer> {
    let indent = match given(parser.keyword_only("indent")) {
        None => None,
        Some(indent) => Some(match indent.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(vm.index(indent)?.clamp(0, 1000) as usize),
        }),
    };
    let separators = given(parser.keyword_only("separators"));
    let (item_separator, key_separator) = match separators {
        Some(pair) => match &vm.collect(pair)?[..] {
            [Value::Str(item), Value::Str(key)] => (item.to_string(), key.to_string()),
            _ => return Err(errors::type_error("separators must be a pair of strings")),
        },
        None => (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()),
    };
    Ok(Writer {
        out: String::new(),
        indent,
        item_separator,
        key_separator,
        only_ascii: flag(vm, parser.keyword_only("ensure_ascii"), true)?,
        sort_keys: flag(vm, parser.keyword_only("sort_keys"), false)?,
        skip_keys: flag(vm, parser.keyword_only("skipkeys"), false)?,
        allow_nan: flag(vm, parser.keyword_only("allow_nan"), true)?,
        default: given(parser.keyword_only("default")).cloned(),
        active: Vec::new(),
    })
}

impl Writer {
    fn value(&mut self, vm: &mut Vm, value: &Value) -> Result<()> {
        vm.poll()?;
        memory::make_text_room(&mut self.out, SHORT)?;
        match value.base_value() {
            Value::None => self.out.push_str("null"),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Value::Float(float) => {
                let text = self.float(*float)?;
                self.out.push_str(&text);
            }
            Value::Str(text) => self.text(text)?,
            plain @ (Value::Int(_) | Value::BigInt(_)) => self.out.push_str(&vm.repr(plain)?),
            Value::List(list) => {
                let items = list.to_vec();
                self.nested(vm, value, |writer, vm| writer.items(vm, &items))?;
            }
            Value::Tuple(items) => self.nested(vm, value, |writer, vm| writer.items(vm, items))?,
            Value::Dict(dict) => {
                let pairs = dict.to_pairs();
                self.nested(vm, value, |writer, vm| writer.entries(vm, pairs))?;
            }
            other => match other.downcast::<Scalar>() {
                // NumPy's float64 is a float, its other numbers are nothing that JSON has.
                Some(Scalar { dtype: DType::F64, number }) => {
                    let text = self.float(number.as_f64())?;
                    self.out.push_str(&text);
                }
                _ => self.converted(vm, value)?,
            },
        }
        Ok(())
    }

    fn float(&self, float: f64) -> Result<String> {
        if float.is_finite() {
            return Ok(float::repr(float));
        }
        if !self.allow_nan {
            return Err(errors::value_error("Out of range float values are not JSON compliant"));
        }
        Ok(match float {
            float if float.is_nan() => "NaN",
            f64::INFINITY => "Infinity",
            _ => "-Infinity",
        }
        .to_owned())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        memory::make_text_room(&mut self.out, text.len() + 2)?;
        self.out.push('"');
        for (at, c) in text.char_indices() {
            if at.is_multiple_of(STRETCH) {
                checkpoint()?;
                // An escape may be six bytes of a single one.
                memory::make_text_room(&mut self.out, 6 * STRETCH.min(text.len() - at))?;
            }
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                ' '..='\x7e' => self.out.push(c),
                _ if c < ' ' || self.only_ascii => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(self.out, "\\u{unit:04x}").expect("writing to a String does not fail");
                    }
                }
                _ => self.out.push(c),
            }
        }
        self.out.push('"');
        Ok(())
    }

    /// Writes a container, which must not contain itself.
    fn nested(
        &mut self,
        vm: &mut Vm,
        value: &Value,
        write: impl FnOnce(&mut Writer, &mut Vm) -> Result<()>,
    ) -> Result<()> {
        vm.check_stack()?;
        let address = value.address().unwrap_or(0);
        if self.active.contains(&address) {
            return Err(errors::value_error("Circular reference detected"));
        }
        self.active.push(address);
        write(self, vm)?;
        self.active.pop();
        Ok(())
    }

    /// Starts an indented line, if the output has lines.
    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            self.out.push_str(&indent.repeat(depth));
        }
    }

    fn items(&mut self, vm: &mut Vm, items: &[Value]) -> Result<()> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push_str(&self.item_separator);
            }
            self.line(self.active.len());
            self.value(vm, item)?;
        }
        if !items.is_empty() {
            self.line(self.active.len() - 1);
        }
        self.out.push(']');
        Ok(())
    }

    fn entries(&mut self, vm: &mut Vm, mut pairs: Vec<(Value, Value)>) -> Result<()> {
        if self.sort_keys {
            pairs = sorted(vm, pairs)?;
        }
        self.out.push('{');
        let mut n_written = 0;
        for (key, value) in &pairs {
            let Some(key) = self.key(vm, key)? else { continue };
            if n_written > 0 {
                self.out.push_str(&self.item_separator);
            }
            n_written += 1;
            self.line(self.active.len());
            self.text(&key)?;
            self.out.push_str(&self.key_separator);
            self.value(vm, value)?;
        }
        if n_written > 0 {
            self.line(self.active.len() - 1);
        }
        self.out.push('}');
        Ok(())
    }

    /// A key as text; `None` for one to be skipped.
    fn key(&self, vm: &mut Vm, key: &Value) -> Result<Option<String>> {
        Ok(Some(match key.base_value() {
            Value::Str(text) => text.to_string(),
            Value::None => "null".to_owned(),
            Value::Bool(truth) => if *truth { "true" } else { "false" }.to_owned(),
            Value::Float(float) => self.float(*float)?,
            plain @ (Value::Int(_) | Value::BigInt(_)) => vm.repr(plain)?,
            _ if self.skip_keys => return Ok(None),
            other => {
                let given = other.type_name();
                let message = format!("keys must be str, int, float, bool or None, not {given}");
                return Err(errors::type_error(message));
            }
        }))
    }

    fn converted(&mut self, vm: &mut Vm, value: &Value) -> Result<()> {
        let Some(default) = self.default.clone() else {
            let given = value.type_name();
            let message = format!("Object of type {given} is not JSON serializable");
            return Err(errors::type_error(message));
        };
        self.nested(vm, value, |writer, vm| {
            let replacement = vm.call(&default, std::slice::from_ref(value))?;
            let address = writer.active.pop();
            let result = writer.value(vm, &replacement);
            writer.active.extend(address);
            result
        })
    }
}

/// The entries in the order of their keys.
fn sorted(vm: &mut Vm, pairs: Vec<(Value, Value)>) -> Result<Vec<(Value, Value)>> {
    let pairs: Vec<Value> = pairs.into_iter().map(|(key, value)| Value::tuple([key, value])).collect();
    let first = crate::value::NativeFunction::closure("key", |vm, args| {
        let [pair] = args.exactly("key")?;
        vm.get_item(pair, &Value::Int(0))
    });
    let first = Value::NativeFunction(first.into());
    let direction = crate::builtins::sort::Direction::Ascending;
    let sorted =
        crate::builtins::sort::sort(vm, pairs, Some(&first), direction).map_err(|(raise, _)| raise)?;
    let split = |pair: Value| match &pair {
        Value::Tuple(pair) => (pair[0].clone(), pair[1].clone()),
        _ => unreachable!("the pairs were made as tuples"),
    };
    Ok(sorted.into_iter().map(split).collect())
}

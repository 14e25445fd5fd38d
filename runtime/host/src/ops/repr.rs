//! `repr` and `str` of every value. Objects that contain themselves are written `[...]`.

use std::rc::Rc;

use crate::errors;
use crate::text;
use crate::value::{ExceptionKind, Instance, IterState, Name, Result, Value};
use crate::vm::Vm;

impl Vm {
    /// `str(value)`.
    pub fn str(&mut self, value: &Value) -> Result<String> {
        match value {
            Value::Str(text) => Ok(text.to_string()),
            Value::Native(object) => object.object().str(value, self),
            Value::Instance(instance) => {
                self.check_stack()?;
                if let Some(function) = self.script_method(value, "__str__") {
                    return self.text_from(&function, value, "__str__");
                }
                if self.script_method(value, "__repr__").is_some() {
                    return self.repr(value);
                }
                if instance.exception().is_some() {
                    return self.exception_text(value);
                }
                match instance.payload_value() {
                    Some(payload) => self.str(payload),
                    None => self.repr(value),
                }
            }
            _ => self.repr(value),
        }
    }

    fn text_from(&mut self, function: &Value, this: &Value, method: &str) -> Result<String> {
        self.check_stack()?;
        let value = self.call_method_value(function, this, &[])?;
        match value.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => {
                Err(errors::type_error(format!("{method} returned non-string (type {})", value.type_name())))
            }
        }
    }

    /// `str` of an exception: its message.
    fn exception_text(&mut self, value: &Value) -> Result<String> {
        let Value::Instance(instance) = value else { return self.repr(value) };
        let args = instance.exception().map_or(Vec::new(), |data| data.args.borrow().clone());
        match &args[..] {
            [] => Ok(String::new()),
            [key] if instance.class().exception_kind() == ExceptionKind::KeyError => self.repr(key),
            [message] => self.str(message),
            [number, words] if instance.class().exception_kind().is_of(ExceptionKind::OSError) => {
                let text = format!("[Errno {}] {}", self.str(number)?, self.str(words)?);
                let file =
                    instance.exception().and_then(|data| data.members.borrow().get_text("filename").cloned());
                match file {
                    Some(file) if !file.is_none() => Ok(format!("{text}: {}", self.repr(&file)?)),
                    _ => Ok(text),
                }
            }
            _ => self.repr(&Value::tuple(args)),
        }
    }

    /// `repr(value)`.
    pub fn repr(&mut self, value: &Value) -> Result<String> {
        let mut out = String::new();
        self.write_repr(value, &mut out)?;
        Ok(out)
    }

    fn write_repr(&mut self, value: &Value, out: &mut String) -> Result<()> {
        match value {
            Value::Unset => out.push_str("<unset>"),
            Value::None => out.push_str("None"),
            Value::NotImplemented => out.push_str("NotImplemented"),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::Bool(truth) => out.push_str(if *truth { "True" } else { "False" }),
            Value::Int(int) => out.push_str(&int.to_string()),
            Value::Float(float) => out.push_str(&text::float::repr(*float)),
            Value::Str(str) => text::quote::push_repr(out, str),
            Value::BigInt(big) => out.push_str(&big_repr(big)?),
            Value::Bytes(bytes) => out.push_str(&text::quote::bytes_repr(bytes)),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Set(_) | Value::FrozenSet(_) => {
                return self.write_container(value, out);
            }
            Value::Range(range) if range.step == 1 => {
                out.push_str(&format!("range({}, {})", range.start, range.stop));
            }
            Value::Range(range) => {
                out.push_str(&format!("range({}, {}, {})", range.start, range.stop, range.step));
            }
            Value::Slice(slice) => {
                self.check_stack()?;
                let parts = [&slice.start, &slice.stop, &slice.step];
                out.push_str("slice(");
                self.write_row(&parts.map(Clone::clone), out)?;
                out.push(')');
            }
            Value::Instance(_) => {
                self.check_stack()?;
                return self.write_instance(value, out);
            }
            Value::Native(object) => out.push_str(&object.object().repr(value, self)?),
            other => out.push_str(&self.opaque_repr(other)?),
        }
        Ok(())
    }

    fn write_container(&mut self, value: &Value, out: &mut String) -> Result<()> {
        let address = value.address().expect("a container is an object");
        if self.repr_active.contains(&address) {
            out.push_str(match value {
                Value::List(_) => "[...]",
                Value::Tuple(_) => "(...)",
                Value::Dict(_) => "{...}",
                _ => "set(...)",
            });
            return Ok(());
        }
        self.check_stack()?;
        self.repr_active.push(address);
        let result = self.write_items(value, out);
        self.repr_active.pop();
        result
    }

    fn write_items(&mut self, value: &Value, out: &mut String) -> Result<()> {
        match value {
            Value::List(list) => {
                out.push('[');
                self.write_row(&list.to_vec(), out)?;
                out.push(']');
            }
            Value::Tuple(tuple) => {
                out.push('(');
                self.write_row(tuple, out)?;
                out.push_str(if tuple.len() == 1 { ",)" } else { ")" });
            }
            Value::Dict(dict) => {
                out.push('{');
                for (at, (key, value)) in dict.to_pairs().iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    self.write_repr(key, out)?;
                    out.push_str(": ");
                    self.write_repr(value, out)?;
                }
                out.push('}');
            }
            Value::Set(set) if set.is_empty() => out.push_str("set()"),
            Value::Set(set) => {
                out.push('{');
                self.write_row(&set.to_vec(), out)?;
                out.push('}');
            }
            Value::FrozenSet(set) if set.is_empty() => out.push_str("frozenset()"),
            Value::FrozenSet(set) => {
                out.push_str("frozenset({");
                self.write_row(&set.to_vec(), out)?;
                out.push_str("})");
            }
            _ => unreachable!("only containers come here"),
        }
        Ok(())
    }

    fn write_row(&mut self, items: &[Value], out: &mut String) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            self.write_repr(item, out)?;
        }
        Ok(())
    }

    fn write_instance(&mut self, value: &Value, out: &mut String) -> Result<()> {
        let Value::Instance(instance) = value else { unreachable!("only instances come here") };
        if let Some(function) = self.script_method(value, "__repr__") {
            out.push_str(&self.text_from(&function, value, "__repr__")?);
            return Ok(());
        }
        if let Some(payload) = instance.payload_value() {
            return self.write_repr(&payload.clone(), out);
        }
        if let Some(data) = instance.exception() {
            let args = data.args.borrow().clone();
            out.push_str(&instance.class().name);
            out.push('(');
            self.write_row(&args, out)?;
            out.push(')');
            return Ok(());
        }
        let class = instance.class();
        let address = value.address().unwrap_or(0);
        out.push_str(&format!("<{}.{} object at {address:#x}>", class.shown_module(), class.qualname()));
        Ok(())
    }

    /// Objects that show only their name and place.
    fn opaque_repr(&mut self, value: &Value) -> Result<String> {
        let address = value.address().unwrap_or(0);
        Ok(match value {
            Value::Function(function) => {
                format!("<function {} at {address:#x}>", function.qualname())
            }
            Value::NativeFunction(function) => match &function.class {
                Some(class) => format!("<method '{}' of '{class}' objects>", function.name),
                None => format!("<built-in function {}>", function.name),
            },
            Value::Method(method) => {
                let name = self.function_name(&method.function);
                let receiver = self.repr(&method.receiver)?;
                match &method.function {
                    Value::NativeFunction(_) => {
                        format!("<built-in method {name} of {} object>", method.receiver.type_name())
                    }
                    _ => format!("<bound method {name} of {receiver}>"),
                }
            }
            Value::Class(class) if &*class.module == "builtins" => format!("<class '{}'>", class.name),
            Value::Class(class) => match self.class_says(value, "__class_repr__", &[])? {
                Some(text) => self.str(&text)?,
                None => format!("<class '{}.{}'>", class.shown_module(), class.qualname()),
            },
            Value::Module(module) => match &module.file {
                Some(file) => format!("<module '{}' from '{}'>", module.name, file.display()),
                None => format!("<module '{}' (built-in)>", module.name),
            },
            Value::Super(object) => {
                format!("<super: <class '{}'>, <{} object>>", object.class.name, object.receiver.type_name())
            }
            Value::Generator(generator) => format!("<generator object {} at {address:#x}>", generator.name),
            Value::Iter(iter) if matches!(&*iter.0.borrow(), IterState::Stepping) => {
                "<iterator that is running>".to_owned()
            }
            other => format!("<{} object at {address:#x}>", other.type_name()),
        })
    }

    /// The name of anything that can be called.
    pub(crate) fn function_name(&self, callee: &Value) -> Name {
        match callee {
            Value::Function(function) => function.qualname(),
            Value::NativeFunction(function) => function.name.clone(),
            Value::Method(method) => self.function_name(&method.function),
            Value::Class(class) => class.name.clone(),
            other => Name::new(other.type_name().into_owned()),
        }
    }

    /// An exception as the last line of a traceback has it: `ValueError: message`.
    pub fn exception_line(&mut self, exception: &Rc<Instance>) -> String {
        let class = exception.class().clone();
        let value = Value::Instance(exception.clone());
        let message = self.str(&value).unwrap_or_else(|_| "<exception str() failed>".to_owned());
        if message.is_empty() { class.name.to_string() } else { format!("{}: {message}", class.name) }
    }
}

fn big_repr(big: &num_bigint::BigInt) -> Result<String> {
    text::int::to_decimal(big, text::int::max_str_digits()).map_err(crate::value::Raise::from)
}

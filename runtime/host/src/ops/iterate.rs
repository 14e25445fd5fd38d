//! Iteration, length, and unpacking.

use std::rc::Rc;

use crate::errors;
use crate::memory;
use crate::value::{ExceptionKind, Iter, IterState, Result, Value};
use crate::vm::Vm;

impl Vm {
    /// `iter(value)`.
    pub fn iter(&mut self, value: &Value) -> Result {
        Ok(Value::iter(match value {
            Value::List(list) => IterState::List { list: list.clone(), at: 0 },
            Value::Tuple(tuple) => IterState::Tuple { tuple: tuple.clone(), at: 0 },
            Value::Str(text) => IterState::Str { text: text.clone(), at: 0 },
            Value::Bytes(bytes) => IterState::Bytes { bytes: bytes.clone(), at: 0 },
            Value::Range(range) => {
                IterState::Range { next: range.start, remaining: range.len(), step: range.step }
            }
            Value::Dict(dict) => IterState::DictKeys { dict: dict.clone(), at: 0, len: dict.len() },
            Value::Set(set) | Value::FrozenSet(set) => {
                IterState::Set { set: set.clone(), at: 0, len: set.len() }
            }
            Value::Iter(_) | Value::Generator(_) => return Ok(value.clone()),
            Value::Native(object) => {
                let Some(iter) = object.object().iter(value, self)? else {
                    return Err(errors::not_iterable(value));
                };
                return if self.is_iterator(&iter) { Ok(iter) } else { self.iter(&iter) };
            }
            Value::Instance(instance) => {
                self.check_stack()?;
                if let Some(function) = self.script_method(value, "__iter__") {
                    if function.is_none() {
                        return Err(errors::not_iterable(value));
                    }
                    let iter = self.call_method_value(&function, value, &[])?;
                    if self.is_iterator(&iter) {
                        return Ok(iter);
                    }
                    return Err(errors::type_error(format!(
                        "iter() returned non-iterator of type '{}'",
                        iter.type_name()
                    )));
                }
                if let Some(payload) = instance.payload_value() {
                    return self.iter(payload);
                }
                if self.script_method(value, "__getitem__").is_none() {
                    return Err(errors::not_iterable(value));
                }
                IterState::Sequence { object: value.clone(), at: 0 }
            }
            Value::Class(_) => {
                let iter = self.class_says(value, "__class_iter__", &[])?;
                return iter.ok_or_else(|| errors::not_iterable(value));
            }
            _ => return Err(errors::not_iterable(value)),
        }))
    }

    /// Whether `next` works on the value.
    pub fn is_iterator(&self, value: &Value) -> bool {
        match value {
            Value::Iter(_) | Value::Generator(_) => true,
            Value::Instance(_) => self.script_method(value, "__next__").is_some(),
            Value::Native(object) => {
                object.native_type().methods.iter().any(|method| method.name == "__next__")
            }
            _ => false,
        }
    }

    /// The next item of an iterator; `None` at its end.
    pub fn next(&mut self, iter: &Value) -> Result<Option<Value>> {
        match iter {
            Value::Iter(iter) => self.step(iter),
            other => Ok(self.advance(other)?.ok()),
        }
    }

    /// The next item of an iterator, or `Err` with its return value at its end.
    pub fn advance(&mut self, iter: &Value) -> Result<std::result::Result<Value, Value>> {
        match iter {
            Value::Iter(iter) => Ok(self.step(iter)?.ok_or(Value::None)),
            Value::Generator(generator) => {
                let generator = generator.clone();
                self.resume(&generator, Value::None)
            }
            Value::Instance(_) | Value::Native(_) => {
                // Nested iterators recurse at each step.
                self.check_stack()?;
                let function = match self.script_method(iter, "__next__") {
                    Some(function) => function,
                    None => {
                        let class = self.class_of(iter);
                        class.lookup_text("__next__").ok_or_else(|| errors::not_iterator(iter))?
                    }
                };
                step_of(self.call_method_value(&function, iter, &[]))
            }
            _ => Err(errors::not_iterator(iter)),
        }
    }

    fn step(&mut self, iter: &Rc<Iter>) -> Result<Option<Value>> {
        let stepped = step_plain(&mut iter.0.borrow_mut());
        match stepped {
            Step::Item(item) => Ok(Some(item)),
            Step::End(state) => {
                drop(state);
                Ok(None)
            }
            Step::Changed(container) => {
                let message = format!("{container} changed size during iteration");
                Err(errors::runtime_error(message))
            }
            Step::Running => Err(errors::value_error("iterator already executing")),
            Step::Native(mut native) => {
                let result = self.check_stack().and_then(|()| native.next(self));
                let is_over = !matches!(result, Ok(Some(_)));
                let state = if is_over { IterState::Done } else { IterState::Native(native) };
                *iter.0.borrow_mut() = state;
                result
            }
            Step::Sequence(object, at) => match self.get_item(&object, &Value::Int(at)) {
                Ok(item) => Ok(Some(item)),
                Err(raise)
                    if raise.is(ExceptionKind::IndexError) || raise.is(ExceptionKind::StopIteration) =>
                {
                    *iter.0.borrow_mut() = IterState::Done;
                    Ok(None)
                }
                Err(raise) => Err(raise),
            },
        }
    }

    /// All items of an iterable.
    pub fn collect(&mut self, iterable: &Value) -> Result<Vec<Value>> {
        match iterable {
            Value::List(list) => {
                memory::grant_items::<Value>(list.len())?;
                return Ok(list.to_vec());
            }
            Value::Tuple(tuple) => {
                memory::grant_items::<Value>(tuple.len())?;
                return Ok(tuple.to_vec());
            }
            Value::Set(set) | Value::FrozenSet(set) => {
                memory::grant_items::<Value>(set.len())?;
                return Ok(set.to_vec());
            }
            Value::Range(range) => {
                memory::grant_items::<Value>(usize::try_from(range.len()).unwrap_or(usize::MAX))?;
            }
            _ => {}
        }
        let iter = self.iter(iterable)?;
        let mut items = Vec::new();
        while let Some(item) = self.next(&iter)? {
            self.poll()?;
            memory::make_room(&mut items)?;
            items.push(item);
        }
        Ok(items)
    }

    /// `len(value)`.
    pub fn len(&mut self, value: &Value) -> Result<usize> {
        Ok(match value {
            Value::Str(text) => text.n_chars(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Tuple(tuple) => tuple.len(),
            Value::Dict(dict) => dict.len(),
            Value::Set(set) | Value::FrozenSet(set) => set.len(),
            Value::Range(range) => usize::try_from(range.len()).map_err(|_| errors::too_large_for_index())?,
            Value::Native(object) => {
                return object.object().len(self)?.ok_or_else(|| errors::no_len(value));
            }
            Value::Class(_) => {
                let len = self.class_says(value, "__class_len__", &[])?;
                return match len.and_then(|len| usize::try_from(len.as_int()?).ok()) {
                    Some(len) => Ok(len),
                    None => Err(errors::no_len(value)),
                };
            }
            Value::Instance(instance) => {
                let Some(function) = self.script_method(value, "__len__") else {
                    return match instance.payload_value() {
                        Some(payload) => self.len(payload),
                        None => Err(errors::no_len(value)),
                    };
                };
                let len = self.call_method_value(&function, value, &[])?;
                match len.as_int() {
                    Some(len) => usize::try_from(len)
                        .map_err(|_| errors::value_error("__len__() should return >= 0"))?,
                    None => return Err(errors::not_an_integer(&len)),
                }
            }
            _ => return Err(errors::no_len(value)),
        })
    }

    /// Exactly `n` items, as `a, b = value` requires.
    pub(crate) fn unpack(&mut self, value: &Value, n: usize) -> Result<Vec<Value>> {
        let items = self.unpack_items(value, n + 1)?;
        if items.len() == n {
            return Ok(items);
        }
        Err(errors::value_error(if items.len() > n {
            format!("too many values to unpack (expected {n})")
        } else {
            format!("not enough values to unpack (expected {n}, got {})", items.len())
        }))
    }

    /// At least `before + after` items, the middle ones as a list.
    pub(crate) fn unpack_star(&mut self, value: &Value, before: usize, after: usize) -> Result<Vec<Value>> {
        let mut items = self.unpack_items(value, usize::MAX)?;
        if items.len() < before + after {
            let n = before + after;
            return Err(errors::value_error(format!(
                "not enough values to unpack (expected at least {n}, got {})",
                items.len()
            )));
        }
        let middle: Vec<Value> = items.drain(before..items.len() - after).collect();
        items.insert(before, Value::list(middle));
        Ok(items)
    }

    fn unpack_items(&mut self, value: &Value, most: usize) -> Result<Vec<Value>> {
        if let Value::List(_) | Value::Tuple(_) = value {
            return self.collect(value);
        }
        let iter = self.iter(value).map_err(|raise| {
            if raise.is(ExceptionKind::TypeError) && !matches!(value, Value::Instance(_)) {
                errors::type_error(format!("cannot unpack non-iterable {} object", value.type_name()))
            } else {
                raise
            }
        })?;
        let mut items = Vec::new();
        while items.len() < most
            && let Some(item) = self.next(&iter)?
        {
            memory::make_room(&mut items)?;
            items.push(item);
        }
        Ok(items)
    }
}

enum Step {
    Item(Value),
    /// The end, with the state to drop outside of the borrow.
    End(IterState),
    Changed(&'static str),
    Running,
    Native(Box<dyn crate::value::NativeIter>),
    Sequence(Value, i64),
}

fn step_plain(state: &mut IterState) -> Step {
    let item = match state {
        IterState::Done => None,
        IterState::Stepping => return Step::Running,
        IterState::List { list, at } => list.borrow().get(*at).cloned().inspect(|_| *at += 1),
        IterState::Tuple { tuple, at } => tuple.get(*at).cloned().inspect(|_| *at += 1),
        IterState::Bytes { bytes, at } => {
            bytes.get(*at).map(|&byte| Value::Int(byte as i64)).inspect(|_| *at += 1)
        }
        IterState::Str { text, at } => {
            let next = text[*at..].chars().next();
            next.map(|char| {
                *at += char.len_utf8();
                Value::str(char)
            })
        }
        IterState::Range { next, remaining, step } => (*remaining > 0).then(|| {
            let item = *next;
            *remaining -= 1;
            *next = next.wrapping_add(*step);
            Value::Int(item)
        }),
        IterState::DictKeys { dict, len, .. }
        | IterState::DictValues { dict, len, .. }
        | IterState::DictItems { dict, len, .. }
            if dict.len() != *len =>
        {
            return Step::Changed("dictionary");
        }
        IterState::DictKeys { dict, at, .. } => dict.entry_at(*at).map(|(key, _)| key).inspect(|_| *at += 1),
        IterState::DictValues { dict, at, .. } => {
            dict.entry_at(*at).map(|(_, value)| value).inspect(|_| *at += 1)
        }
        IterState::DictItems { dict, at, .. } => {
            dict.entry_at(*at).map(|(key, value)| Value::tuple([key, value])).inspect(|_| *at += 1)
        }
        IterState::Set { set, len, .. } if set.len() != *len => return Step::Changed("Set"),
        IterState::Set { set, at, .. } => set.element_at(*at).inspect(|_| *at += 1),
        IterState::Sequence { object, at } => {
            *at += 1;
            return Step::Sequence(object.clone(), *at - 1);
        }
        IterState::Native(_) => {
            let IterState::Native(native) = std::mem::replace(state, IterState::Stepping) else {
                unreachable!("the state was just matched")
            };
            return Step::Native(native);
        }
    };
    match item {
        Some(item) => Step::Item(item),
        None => Step::End(std::mem::replace(state, IterState::Done)),
    }
}

/// The result of a script's iterator: its end is a StopIteration with the return value.
pub(crate) fn step_of(called: Result) -> Result<std::result::Result<Value, Value>> {
    match called {
        Ok(item) => Ok(Ok(item)),
        Err(raise) if raise.is(ExceptionKind::StopIteration) => Ok(Err(raise.stop_value())),
        Err(raise) => Err(raise),
    }
}

//! Subscripts: `value[index]`, assignment and deletion, slices.

use std::rc::Rc;

use num_traits::Signed;

use crate::builtins::BigRange;
use crate::errors;
use crate::memory;
use crate::value::{List, Range, Result, Slice, Value};
use crate::vm::Vm;

/// A slice applied to a sequence: `n` items from `start` in steps of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: i64,
    pub step: i64,
    pub n: usize,
}

impl Span {
    /// The indices, in order; all of them are inside of the sequence.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        (0..self.n as i64).map(move |at| (self.start + at * self.step) as usize)
    }
}

impl Slice {
    /// The items that this slice selects in a sequence of `len` items.
    pub fn span(&self, vm: &mut Vm, len: usize) -> Result<Span> {
        let len = len as i64;
        let step = match vm.slice_bound(&self.step)? {
            Some(0) => return Err(errors::value_error("slice step cannot be zero")),
            step => step.unwrap_or(1),
        };
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let bound = |given: Option<i64>, default: i64| match given {
            Some(at) if at < 0 => at.saturating_add(len).max(low),
            Some(at) => at.min(high),
            None => default,
        };
        let start = bound(vm.slice_bound(&self.start)?, if step > 0 { low } else { high });
        let stop = bound(vm.slice_bound(&self.stop)?, if step > 0 { high } else { low });
        let distance = if step > 0 { stop - start } else { start - stop };
        let stride = step.unsigned_abs();
        let n = if distance <= 0 { 0 } else { ((distance as u64 - 1) / stride + 1) as usize };
        Ok(Span { start, step, n })
    }
}

impl Vm {
    /// A bound of a slice, or `None`; big ints saturate to i64.
    pub fn slice_bound(&mut self, bound: &Value) -> Result<Option<i64>> {
        match bound {
            Value::None => Ok(None),
            Value::BigInt(big) => Ok(Some(if big.is_negative() { i64::MIN } else { i64::MAX })),
            other => match self.try_index(other)? {
                Some(index) => Ok(Some(index)),
                None => Err(errors::type_error(
                    "slice indices must be integers or None or have an __index__ method",
                )),
            },
        }
    }

    /// The value as an index, by `__index__`; `None` if it is not an int.
    pub fn try_index(&mut self, value: &Value) -> Result<Option<i64>> {
        if let Some(int) = value.as_int() {
            return Ok(Some(int));
        }
        match value {
            Value::BigInt(_) => Err(errors::index_error("cannot fit 'int' into an index-sized integer")),
            Value::Instance(_) | Value::Native(_) => {
                let class = self.class_of(value);
                let Some(function) = class.lookup_text("__index__") else { return Ok(None) };
                let index = self.call_method_value(&function, value, &[])?;
                Ok(index.as_int())
            }
            _ => Ok(None),
        }
    }

    /// The value as an int of any size that fits into i64, or a TypeError.
    pub fn index(&mut self, value: &Value) -> Result<i64> {
        self.try_index(value)?.ok_or_else(|| errors::not_an_integer(value))
    }

    /// `value[index]`.
    pub fn get_item(&mut self, value: &Value, index: &Value) -> Result {
        match value {
            Value::List(list) => self.get_list_item(list, index),
            Value::Dict(dict) => match self.dict_get(dict, index)? {
                Some(item) => Ok(item),
                None => Err(errors::key_error(index.clone())),
            },
            Value::Tuple(tuple) => {
                if let Value::Slice(slice) = index {
                    let span = slice.span(self, tuple.len())?;
                    let items: Vec<Value> = span.indices().map(|at| tuple[at].clone()).collect();
                    return Ok(Value::tuple(items));
                }
                let at = self.position(index, tuple.len(), "tuple")?;
                Ok(tuple[at].clone())
            }
            Value::Str(_) => self.get_str_item(value, index),
            Value::Bytes(bytes) => {
                if let Value::Slice(slice) = index {
                    let span = slice.span(self, bytes.len())?;
                    return Ok(Value::bytes(span.indices().map(|at| bytes[at]).collect::<Vec<u8>>()));
                }
                let at = self.position(index, bytes.len(), "byte")?;
                Ok(Value::Int(bytes[at] as i64))
            }
            Value::Range(range) => self.get_range_item(range, index),
            Value::Native(object) => {
                let item = object.object().get_item(value, self, index)?;
                item.ok_or_else(|| errors::not_subscriptable(value))
            }
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(value, "__getitem__") {
                    return self.call_method_value(&function, value, std::slice::from_ref(index));
                }
                match instance.payload_value() {
                    Some(payload @ Value::Dict(dict)) => match self.dict_get(dict, index)? {
                        Some(item) => Ok(item),
                        None => match self.script_method(value, "__missing__") {
                            Some(function) => {
                                self.call_method_value(&function, value, std::slice::from_ref(index))
                            }
                            None => self.get_item(payload, index),
                        },
                    },
                    Some(payload) => self.get_item(payload, index),
                    None => Err(errors::not_subscriptable(value)),
                }
            }
            Value::Class(_) => self.get_class_item(value, index),
            _ => Err(errors::not_subscriptable(value)),
        }
    }

    /// The result of `__class_getitem__`: `list[int]`.
    fn get_class_item(&mut self, value: &Value, index: &Value) -> Result {
        let Value::Class(class) = value else { unreachable!("only classes come here") };
        if let Some(function) = class.lookup_text("__class_getitem__") {
            let function = self.bind(&function, value, class)?;
            return self.call(&function, std::slice::from_ref(index));
        }
        Err(errors::not_subscriptable(value))
    }

    /// Converts an index's objects to ints first, so that no `__index__` can change the list between its
    /// length check and its access. `None` if there is nothing to convert.
    fn resolved_index(&mut self, index: &Value) -> Result<Option<Value>> {
        let asks = |part: &Value| matches!(part, Value::Instance(_) | Value::Native(_));
        let mut resolve = |part: &Value| match self.try_index(part) {
            Ok(int) if asks(part) => Ok(int.map_or_else(|| part.clone(), Value::Int)),
            Err(raise) if asks(part) => Err(raise),
            _ => Ok(part.clone()),
        };
        match index {
            Value::Slice(slice) if asks(&slice.start) || asks(&slice.stop) || asks(&slice.step) => {
                let (start, stop, step) =
                    (resolve(&slice.start)?, resolve(&slice.stop)?, resolve(&slice.step)?);
                Ok(Some(Value::Slice(Rc::new(Slice { start, stop, step }))))
            }
            other if asks(other) => Ok(Some(resolve(other)?).filter(|resolved| !asks(resolved))),
            _ => Ok(None),
        }
    }

    fn get_list_item(&mut self, list: &List, index: &Value) -> Result {
        let resolved = self.resolved_index(index)?;
        let index = resolved.as_ref().unwrap_or(index);
        if let Value::Slice(slice) = index {
            let span = slice.span(self, list.len())?;
            let items = list.borrow();
            return Ok(Value::list(span.indices().map(|at| items[at].clone()).collect()));
        }
        let at = self.position(index, list.len(), "list")?;
        Ok(list.borrow()[at].clone())
    }

    fn get_str_item(&mut self, value: &Value, index: &Value) -> Result {
        let Value::Str(text) = value else { unreachable!("only strings come here") };
        if let Value::Slice(slice) = index {
            let span = slice.span(self, text.n_chars())?;
            if text.is_ascii() {
                let bytes: Vec<u8> = span.indices().map(|at| text.as_bytes()[at]).collect();
                return Ok(Value::str(String::from_utf8(bytes).expect("a part of ASCII is ASCII")));
            }
            let chars: Vec<char> = text.chars().collect();
            return Ok(Value::str(span.indices().map(|at| chars[at]).collect::<String>()));
        }
        if !matches!(index, Value::Int(_) | Value::Bool(_)) && self.try_index(index)?.is_none() {
            return Err(errors::type_error(format!(
                "string indices must be integers, not '{}'",
                index.type_name()
            )));
        }
        let at = self.position(index, text.n_chars(), "string")?;
        Ok(Value::str(text.char_at(at).expect("the position was checked")))
    }

    fn get_range_item(&mut self, range: &Range, index: &Value) -> Result {
        if let Value::Slice(slice) = index {
            return BigRange::of(range).slice(self, slice);
        }
        let len = usize::try_from(range.len()).unwrap_or(usize::MAX);
        let at = self.position(index, len, "range").map_err(|raise| {
            if raise.is(crate::value::ExceptionKind::IndexError) {
                errors::index_error("range object index out of range")
            } else {
                raise
            }
        })?;
        Ok(Value::Int(range.item(at as u64)))
    }

    /// An index counted from either end, checked against the length.
    pub fn position(&mut self, index: &Value, len: usize, container: &str) -> Result<usize> {
        let Some(at) = self.try_index(index)? else {
            return Err(errors::bad_index(container, index));
        };
        let from_start = if at < 0 { at.checked_add_unsigned(len as u64) } else { Some(at) };
        match from_start {
            Some(at) if (0..len as i64).contains(&at) => Ok(at as usize),
            _ if container == "byte" => Err(errors::index_error("index out of range")),
            _ => Err(errors::index_error(format!("{container} index out of range"))),
        }
    }

    /// `value[index] = item`.
    pub fn set_item(&mut self, value: &Value, index: &Value, item: Value) -> Result<()> {
        match value {
            Value::List(list) => {
                let resolved = self.resolved_index(index)?;
                let index = resolved.as_ref().unwrap_or(index);
                if let Value::Slice(slice) = index {
                    return self.set_list_slice(list, slice, &item);
                }
                let at = self.store_position(index, list.len(), "assignment")?;
                let previous = std::mem::replace(&mut list.borrow_mut()[at], item);
                drop(previous);
                Ok(())
            }
            Value::Dict(dict) => self.dict_insert(dict, index, item),
            Value::Native(object) => {
                if object.object().set_item(value, self, index, &item)? {
                    return Ok(());
                }
                Err(errors::no_item_assignment(value))
            }
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(value, "__setitem__") {
                    self.call_method_value(&function, value, &[index.clone(), item])?;
                    return Ok(());
                }
                match instance.payload_value() {
                    Some(payload) => self.set_item(payload, index, item),
                    None => Err(errors::no_item_assignment(value)),
                }
            }
            _ => Err(errors::no_item_assignment(value)),
        }
    }

    fn store_position(&mut self, index: &Value, len: usize, action: &str) -> Result<usize> {
        self.position(index, len, "list").map_err(|raise| {
            if raise.is(crate::value::ExceptionKind::IndexError) {
                errors::index_error(format!("list {action} index out of range"))
            } else {
                raise
            }
        })
    }

    fn set_list_slice(&mut self, list: &List, slice: &Slice, items: &Value) -> Result<()> {
        let items = match self.collect(items) {
            Err(raise) if raise.is(crate::value::ExceptionKind::TypeError) => {
                return Err(errors::type_error("can only assign an iterable"));
            }
            items => items?,
        };
        let span = slice.span(self, list.len())?;
        if span.step == 1 {
            let start = span.start as usize;
            memory::make_more_room(&mut list.borrow_mut(), items.len())?;
            let removed: Vec<Value> = list.borrow_mut().splice(start..start + span.n, items).collect();
            drop(removed);
            return Ok(());
        }
        if items.len() != span.n {
            return Err(errors::value_error(format!(
                "attempt to assign sequence of size {} to extended slice of size {}",
                items.len(),
                span.n
            )));
        }
        let mut replaced = Vec::with_capacity(span.n);
        for (at, item) in span.indices().zip(items) {
            replaced.push(std::mem::replace(&mut list.borrow_mut()[at], item));
        }
        Ok(())
    }

    /// `del value[index]`.
    pub fn delete_item(&mut self, value: &Value, index: &Value) -> Result<()> {
        match value {
            Value::List(list) => {
                let resolved = self.resolved_index(index)?;
                let index = resolved.as_ref().unwrap_or(index);
                if let Value::Slice(slice) = index {
                    let span = slice.span(self, list.len())?;
                    let mut doomed: Vec<usize> = span.indices().collect();
                    doomed.sort_unstable();
                    let mut removed = Vec::with_capacity(doomed.len());
                    let items = std::mem::take(&mut *list.borrow_mut());
                    let mut kept = Vec::with_capacity(items.len() - doomed.len());
                    for (at, item) in items.into_iter().enumerate() {
                        if doomed.binary_search(&at).is_ok() { removed.push(item) } else { kept.push(item) }
                    }
                    *list.borrow_mut() = kept;
                    return Ok(());
                }
                let at = self.store_position(index, list.len(), "assignment")?;
                let removed = list.borrow_mut().remove(at);
                drop(removed);
                Ok(())
            }
            Value::Dict(dict) => match self.dict_remove(dict, index)? {
                Some(_) => Ok(()),
                None => Err(errors::key_error(index.clone())),
            },
            Value::Native(object) => {
                if object.object().delete_item(value, self, index)? {
                    return Ok(());
                }
                Err(errors::no_item_deletion(value))
            }
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(value, "__delitem__") {
                    self.call_method_value(&function, value, std::slice::from_ref(index))?;
                    return Ok(());
                }
                match instance.payload_value() {
                    Some(payload) => self.delete_item(payload, index),
                    None => Err(errors::no_item_deletion(value)),
                }
            }
            _ => Err(errors::no_item_deletion(value)),
        }
    }
}

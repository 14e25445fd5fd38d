//! The patterns of `match` that destructure an object. Each step returns whether the object matches, and then
//! stores its parts in registers.

use std::rc::Rc;

use kps_bytecode::op::Instruction;

use crate::errors;
use crate::value::{BuiltinType, Class, Dict, Layout, Name, Result, Value};
use crate::vm::Vm;
use crate::vm::register::Registers;

impl Vm {
    pub(in crate::vm) fn step_match_sequence(
        &mut self,
        registers: Registers,
        i: Instruction,
    ) -> Result<bool> {
        let value = registers.operand(i.b, false);
        if !is_sequence(&value) {
            return Ok(false);
        }
        let n_items = self.len(&value)?;
        if i.x == 2 {
            return self.match_ends(registers, i, &value, n_items);
        }
        let items = if i.x == 0 {
            let n = i.c as usize;
            if n_items != n {
                return Ok(false);
            }
            self.unpack(&value, n)?
        } else {
            let (before, after) = ((i.c & 255) as usize, (i.c >> 8) as usize);
            if n_items < before + after {
                return Ok(false);
            }
            self.unpack_star(&value, before, after)?
        };
        for (item, at) in items.into_iter().zip(i.a..) {
            registers.set(at, item);
        }
        Ok(true)
    }

    /// The items on both sides of `*_`, each by its index: a range is too long for a list.
    fn match_ends(
        &mut self,
        registers: Registers,
        i: Instruction,
        value: &Value,
        n_items: usize,
    ) -> Result<bool> {
        let (before, after) = ((i.c & 255) as usize, (i.c >> 8) as usize);
        if n_items < before + after {
            return Ok(false);
        }
        let places = (0..before)
            .map(|at| (at, at))
            .chain((0..after).map(|at| (before + 1 + at, n_items - after + at)));
        for (register, index) in places {
            let item = self.get_item(value, &Value::from(index))?;
            registers.set(i.a + register as u16, item);
        }
        registers.set(i.a + before as u16, Value::Unset);
        Ok(true)
    }

    pub(in crate::vm) fn step_match_mapping(&mut self, registers: Registers, i: Instruction) -> Result<bool> {
        let keys = self.take_row(registers, i.a, i.c);
        let value = registers.operand(i.b, false);
        let Some(value) = self.as_mapping(&value)? else { return Ok(false) };
        let Value::Dict(dict) = value.base_value() else { return Ok(false) };
        if dict.len() < keys.len() {
            return Ok(false);
        }
        let seen = Dict::new();
        for (key, at) in keys.iter().zip(i.a..) {
            if self.dict_get(&seen, key)?.is_some() {
                let key = self.repr(key)?;
                return Err(errors::value_error(format!("mapping pattern checks duplicate key ({key})")));
            }
            self.dict_insert(&seen, key, Value::None)?;
            let Some(item) = self.dict_get(dict, key)? else { return Ok(false) };
            registers.set(at, item);
        }
        if i.x != 0 {
            let rest = Rc::new(Dict::new());
            self.dict_update(&rest, &Value::Dict(dict.clone()))?;
            for key in &keys {
                self.dict_remove(&rest, key)?;
            }
            registers.set(i.a + i.c, Value::Dict(rest));
        }
        Ok(true)
    }

    /// A dict, or the dict of a mapping in the library.
    fn as_mapping(&mut self, value: &Value) -> Result<Option<Value>> {
        if let Value::Dict(_) = value.base_value() {
            return Ok(Some(value.clone()));
        }
        match self.script_method(value, "__as_mapping__") {
            Some(method) => self.call_method_value(&method, value, &[]).map(Some),
            None => Ok(None),
        }
    }

    /// `names` are the attributes that the pattern names; `x` more are positional.
    pub(in crate::vm) fn step_match_class(
        &mut self,
        registers: Registers,
        i: Instruction,
        names: &[Name],
    ) -> Result<bool> {
        let Value::Class(class) = registers.operand(i.a, true) else {
            return Err(errors::type_error("called match pattern must be a class"));
        };
        let value = registers.operand(i.b, false);
        if !self.is_instance(&value, &class) {
            return Ok(false);
        }
        let by_place = match i.x as usize {
            0 => Vec::new(),
            n => self.places_of(&class, n)?,
        };
        let by_name = names.iter().cloned().map(Place::Attribute);
        let mut seen: Vec<Name> = Vec::new();
        for (place, at) in by_place.into_iter().chain(by_name).zip(i.a..) {
            let part = match place {
                Place::Itself => value.clone(),
                Place::Attribute(name) => {
                    if seen.contains(&name) {
                        let message =
                            format!("{}() got multiple sub-patterns for attribute '{name}'", class.name);
                        return Err(errors::type_error(message));
                    }
                    let Some(part) = self.find_attr(&value, &name)? else { return Ok(false) };
                    seen.push(name);
                    part
                }
            };
            registers.set(at, part);
        }
        Ok(true)
    }

    /// The targets of the first `n` positional patterns, by the class's `__match_args__`.
    fn places_of(&mut self, class: &Rc<Class>, n: usize) -> Result<Vec<Place>> {
        let too_many = |n_known: usize| {
            let s = if n_known == 1 { "" } else { "s" };
            let name = &class.name;
            let message = format!("{name}() accepts {n_known} positional sub-pattern{s} ({n} given)");
            errors::type_error(message)
        };
        let names = match class.lookup_text("__match_args__") {
            Some(Value::Tuple(names)) => names,
            Some(other) => {
                let (name, found) = (&class.name, other.type_name());
                let message = format!("{name}.__match_args__ must be a tuple (got {found})");
                return Err(errors::type_error(message));
            }
            None if is_its_own_part(class) && n == 1 => return Ok(vec![Place::Itself]),
            None => return Err(too_many(is_its_own_part(class) as usize)),
        };
        if names.len() < n {
            return Err(too_many(names.len()));
        }
        let place = |name: &Value| match name.as_str() {
            Some(text) => Ok(Place::Attribute(self.name(text))),
            None => {
                let found = name.type_name();
                Err(errors::type_error(format!("__match_args__ elements must be strings (got {found})")))
            }
        };
        names.iter().take(n).map(place).collect()
    }
}

/// The target of a pattern within a class pattern.
enum Place {
    /// `int(x)`: the object that matched.
    Itself,
    Attribute(Name),
}

/// Built-in types that match the object itself: `int(x)`, `str(text)`.
fn is_its_own_part(class: &Class) -> bool {
    use BuiltinType::*;
    let Layout::Builtin(ty) = class.layout else { return false };
    matches!(ty, Bool | Bytes | Dict | Float | FrozenSet | Int | List | Set | Str | Tuple)
}

/// Ordered sequences: texts and bytes do not count, as in Python.
fn is_sequence(value: &Value) -> bool {
    match value.base_value() {
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => true,
        Value::Native(object) => object.object().is_sequence(),
        _ => false,
    }
}

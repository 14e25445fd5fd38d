//! Items, displays of sets and dicts, unpacking, and the steps of loops.

use std::rc::Rc;

use kps_bytecode::op::Instruction;

use crate::errors;
use crate::value::{Dict, IterState, Result, Set, Slice, Value};
use crate::vm::Vm;
use crate::vm::register::Registers;

impl Vm {
    pub(in crate::vm) fn step_load_item(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let (object, index) = (registers.operand(i.b, i.ends_b()), registers.operand(i.c, i.ends_c()));
        let value = self.get_item(&object, &index)?;
        registers.set(i.a, value);
        Ok(())
    }

    pub(in crate::vm) fn step_store_item(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let object = registers.operand(i.a, i.x & 1 != 0);
        let index = registers.operand(i.b, i.x & 2 != 0);
        let item = registers.operand(i.c, i.x & 4 != 0);
        if let (Value::List(list), Value::Int(at)) = (&object, &index)
            && *at >= 0
            && let Some(place) = list.borrow_mut().get_mut(*at as usize)
        {
            let previous = std::mem::replace(place, item);
            drop(previous);
            return Ok(());
        }
        self.set_item(&object, &index, item)
    }

    pub(in crate::vm) fn step_delete_item(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let (object, index) = (registers.operand(i.a, i.ends_b()), registers.operand(i.b, i.ends_c()));
        self.delete_item(&object, &index)
    }

    pub(in crate::vm) fn step_slice(&mut self, registers: Registers, i: Instruction) {
        let [start, stop, step] = [i.b, i.b + 1, i.b + 2].map(|at| registers.operand(at, true));
        registers.set(i.a, Value::Slice(Rc::new(Slice { start, stop, step })));
    }

    pub(in crate::vm) fn step_build_set(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let set_object = Set::new();
        for item in self.take_row(registers, i.b, i.c) {
            self.set_add(&set_object, &item)?;
        }
        registers.set(i.a, Value::Set(Rc::new(set_object)));
        Ok(())
    }

    pub(in crate::vm) fn step_build_dict(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let dict = Dict::new();
        for pair in 0..i.c {
            let key = registers.operand(i.b + 2 * pair, true);
            let value = registers.operand(i.b + 2 * pair + 1, true);
            self.dict_insert(&dict, &key, value)?;
        }
        registers.set(i.a, Value::Dict(Rc::new(dict)));
        Ok(())
    }

    pub(in crate::vm) fn step_list_extend(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let items = registers.operand(i.b, i.ends_b());
        let items = self.collect(&items)?;
        let Value::List(list) = registers.operand(i.a, false) else {
            unreachable!("the register holds a list")
        };
        list.extend(items)
    }

    pub(in crate::vm) fn step_set_add(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let item = registers.operand(i.b, i.ends_b());
        let Value::Set(set) = registers.operand(i.a, false) else { unreachable!("the register holds a set") };
        self.set_add(&set, &item)?;
        Ok(())
    }

    pub(in crate::vm) fn step_set_update(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let items = registers.operand(i.b, i.ends_b());
        let Value::Set(set) = registers.operand(i.a, false) else { unreachable!("the register holds a set") };
        for item in self.collect(&items)? {
            self.set_add(&set, &item)?;
        }
        Ok(())
    }

    pub(in crate::vm) fn step_dict_insert(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let (key, value) = (registers.operand(i.b, i.ends_b()), registers.operand(i.c, i.ends_c()));
        let Value::Dict(dict) = registers.operand(i.a, false) else {
            unreachable!("the register holds a dict")
        };
        self.dict_insert(&dict, &key, value)
    }

    pub(in crate::vm) fn step_dict_update(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let source = registers.operand(i.b, i.ends_b());
        let Value::Dict(dict) = registers.operand(i.a, false) else {
            unreachable!("the register holds a dict")
        };
        if !matches!(source.base_value(), Value::Dict(_)) && self.find_attr(&source, "keys")?.is_none() {
            return Err(errors::type_error(format!("'{}' object is not a mapping", source.type_name())));
        }
        self.dict_update(&dict, &source)
    }

    pub(in crate::vm) fn step_dict_merge(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let source = registers.operand(i.b, i.ends_b());
        let Value::Dict(dict) = registers.operand(i.a, false) else {
            unreachable!("the register holds a dict")
        };
        let given = Rc::new(Dict::new());
        if !matches!(source.base_value(), Value::Dict(_)) && self.find_attr(&source, "keys")?.is_none() {
            return Err(errors::type_error(format!(
                "argument after ** must be a mapping, not {}",
                source.type_name()
            )));
        }
        self.dict_update(&given, &source)?;
        for (key, value) in given.to_pairs() {
            let Some(name) = key.as_str() else { return Err(errors::type_error("keywords must be strings")) };
            if dict.get_text(name).is_some() {
                return Err(errors::type_error(format!("got multiple values for keyword argument '{name}'")));
            }
            dict.insert_text(Value::str(name), value);
        }
        Ok(())
    }

    pub(in crate::vm) fn step_unpack(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let value = registers.operand(i.b, i.ends_b());
        let n = i.c as usize;
        for (at, item) in self.unpack(&value, n)?.into_iter().enumerate() {
            registers.set(i.a + at as u16, item);
        }
        Ok(())
    }

    pub(in crate::vm) fn step_unpack_star(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let value = registers.operand(i.b, i.ends_b());
        let (before, after) = ((i.c & 255) as usize, (i.c >> 8) as usize);
        for (at, item) in self.unpack_star(&value, before, after)?.into_iter().enumerate() {
            registers.set(i.a + at as u16, item);
        }
        Ok(())
    }

    /// Ranges become three ints, lists are iterated by index, all others by an iterator.
    pub(in crate::vm) fn step_get_iter(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let value = registers.operand(i.b, i.ends_b());
        let state = match &value {
            Value::Range(range) if range.len() <= i64::MAX as u64 => {
                [Value::Int(range.start), Value::Int(range.len() as i64), Value::Int(range.step)]
            }
            Value::List(_) => [value, Value::Int(0), Value::Unset],
            _ => [self.iter(&value)?, Value::Unset, Value::Unset],
        };
        for (at, part) in state.into_iter().enumerate() {
            registers.set(i.a + at as u16, part);
        }
        Ok(())
    }

    pub(in crate::vm) fn step_iter(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let value = registers.operand(i.b, i.ends_b());
        let iter = self.iter(&value)?;
        registers.set(i.a, iter);
        Ok(())
    }

    /// The next item of a loop, `Unset` at the end.
    pub(in crate::vm) fn step_for(&mut self, registers: Registers, i: Instruction) -> Result {
        let iter = registers.operand(i.a, false);
        if let Value::Iter(iter) = &iter
            && let IterState::Tuple { tuple, at } = &mut *iter.0.borrow_mut()
        {
            *at += 1;
            return Ok(tuple.get(*at - 1).cloned().unwrap_or(Value::Unset));
        }
        Ok(self.next(&iter)?.unwrap_or(Value::Unset))
    }
}

//! What single instructions do when there is no short way: one method per family.
//!
//! `base` points at the running frame's registers. Operands are taken or cloned before anything runs
//! that could reach the registers, and results are put in last.

use std::rc::Rc;

use kps_bytecode::op::{IN_PLACE, Instruction, NO_SPEC, Op};
use kps_bytecode::{Capture, Constant};
use kps_syntax::ast::UnaryOp;

use super::Vm;
use super::call::Entered;
use super::code::{CacheKey, Global, Site};
use super::frame::FrameKind;
use crate::builtins;
use crate::errors;
use crate::ops::is_data_descriptor;
use crate::value::{
    Args, BinaryOp, Cell, CompareOp, Dict, ExceptionKind, Function, Instance, IterState, Layout, Name, Raise,
    Result, Set, Slice, Value,
};

/// What a call instruction led to.
pub(super) enum Called {
    Frame,
    Value(Value),
}

/// In the order of the opcodes from `Add` on.
const BINARY_OPS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::MatMul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Mod,
    BinaryOp::Pow,
    BinaryOp::LeftShift,
    BinaryOp::RightShift,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
];

/// In the order of the opcodes from `Eq`, `TestEq` and `TestEqInt` on.
const COMPARE_OPS: [CompareOp; 10] = [
    CompareOp::Eq,
    CompareOp::NotEq,
    CompareOp::Less,
    CompareOp::LessEq,
    CompareOp::Greater,
    CompareOp::GreaterEq,
    CompareOp::Is,
    CompareOp::IsNot,
    CompareOp::In,
    CompareOp::NotIn,
];

/// A register's value: taken when it ends, else cloned.
fn operand(base: *mut Value, at: u16, ends: bool) -> Value {
    // SAFETY: the compiler only emits registers of the running frame, and no reference to one is held.
    unsafe {
        let register = base.add(at as usize);
        if ends { register.replace(Value::Unset) } else { (*register).clone() }
    }
}

fn set(base: *mut Value, at: u16, value: Value) {
    // SAFETY: as in `operand`. The previous value is dropped once the register holds the new one.
    let previous = unsafe { base.add(at as usize).replace(value) };
    drop(previous);
}

impl Vm {
    /// The function that is running.
    #[inline]
    pub(super) fn running(&self) -> &Rc<Function> {
        &self.frames.last().expect("a frame is running").function
    }

    #[cold]
    pub(super) fn unbound(&self, register: u16) -> Raise {
        let name = self.running().code.code.locals.get(register as usize);
        errors::unbound_local(name.map_or("?", |name| name))
    }

    #[cold]
    pub(super) fn unbound_free(&self, at: u16) -> Raise {
        errors::unbound_free(&self.running().code.code.free[at as usize])
    }

    /// The builtin of a global name that no one has assigned.
    #[cold]
    pub(super) fn load_builtin(&mut self, global: &Global) -> Result {
        if let Some(builtin) = global.builtin.get() {
            return Ok(builtin.clone());
        }
        match builtins::lookup(self, &global.name)? {
            Some(value) => Ok(global.builtin.get_or_init(|| value).clone()),
            None => Err(self.unknown_name(&global.name)),
        }
    }

    fn unknown_name(&self, name: &Name) -> Raise {
        let function = self.running();
        let globals = function.globals().to_pairs();
        let mut known: Vec<&str> = builtins::names().collect();
        known.extend(function.code.code.locals.iter().map(|name| &**name));
        known.extend(globals.iter().map(|(name, _)| &**name));
        if let Some(nearest) = crate::suggest::nearest(name, known.into_iter()) {
            return errors::name_not_defined(name, Some(nearest.to_owned()));
        }
        let raise = errors::name_not_defined(name, None);
        match crate::modules::find(name) {
            Some(_) => raise.help(format!("write `import {name}` first")),
            None => raise,
        }
    }

    pub(super) fn step_binary(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let op = BINARY_OPS[i.op as usize - Op::Add as usize];
        if op == BinaryOp::Add && i.a == i.b && append_in_place(base, i) {
            return Ok(());
        }
        let (left, right) = (operand(base, i.b, i.ends_b()), operand(base, i.c, i.ends_c()));
        let value = if i.x & IN_PLACE != 0 {
            self.binary_in_place(op, &left, &right)?
        } else {
            self.binary(op, &left, &right)?
        };
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_binary_int(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let op = match i.op {
            Op::AddInt => BinaryOp::Add,
            Op::SubInt => BinaryOp::Sub,
            _ => BinaryOp::Mul,
        };
        let (left, right) = (operand(base, i.b, i.ends_b()), Value::Int(i.c as i16 as i64));
        let value = if i.x & IN_PLACE != 0 {
            self.binary_in_place(op, &left, &right)?
        } else {
            self.binary(op, &left, &right)?
        };
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_unary(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let op = match i.op {
            Op::Neg => UnaryOp::Minus,
            Op::Pos => UnaryOp::Plus,
            Op::Invert => UnaryOp::Invert,
            _ => UnaryOp::Not,
        };
        let value = operand(base, i.b, i.ends_b());
        let value = self.unary(op, &value)?;
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_compare(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let op = COMPARE_OPS[i.op as usize - Op::Eq as usize];
        let (left, right) = (operand(base, i.b, i.ends_b()), operand(base, i.c, i.ends_c()));
        let value = self.compare(op, &left, &right)?;
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_test(&mut self, base: *mut Value, i: Instruction) -> Result<bool> {
        let op = COMPARE_OPS[i.op as usize - Op::TestEq as usize];
        let (left, right) = (operand(base, i.a, i.ends_b()), operand(base, i.b, i.ends_c()));
        let value = self.compare(op, &left, &right)?;
        self.truth(&value)
    }

    pub(super) fn step_test_int(&mut self, base: *mut Value, i: Instruction) -> Result<bool> {
        let op = COMPARE_OPS[i.op as usize - Op::TestEqInt as usize];
        let left = operand(base, i.a, i.ends_b());
        let value = self.compare(op, &left, &Value::Int(i.c as i16 as i64))?;
        self.truth(&value)
    }

    pub(super) fn step_truth(&mut self, base: *mut Value, i: Instruction) -> Result<bool> {
        let value = operand(base, i.a, i.ends_b());
        self.truth(&value)
    }

    pub(super) fn step_load_attr(&mut self, base: *mut Value, i: Instruction, site: &Site) -> Result<()> {
        let object = operand(base, i.b, i.ends_b());
        let value = self.get_attr_named(&object, &site.name)?;
        if let Value::Instance(instance) = &object {
            let class = instance.class();
            let fields = instance.fields.borrow();
            let is_plain = class.lookup_script("__getattribute__").is_none()
                && !class.lookup(&site.name).is_some_and(|attr| is_data_descriptor(&attr));
            if let Some(slot) = fields.slot(&site.name)
                && is_plain
                && fields.shape_id() != 0
            {
                site.key.set(CacheKey { shape: fields.shape_id(), epoch: self.class_epoch });
                site.slot.set(slot);
            }
        }
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_store_attr(&mut self, base: *mut Value, i: Instruction, site: &Site) -> Result<()> {
        let object = operand(base, i.a, i.ends_b());
        let value = operand(base, i.b, i.ends_c());
        let Value::Instance(instance) = &object else {
            return self.set_attr_named(&object, &site.name, value);
        };
        let key = CacheKey { shape: instance.fields.borrow().shape_id(), epoch: self.class_epoch };
        if site.key.get() == key {
            let mut fields = instance.fields.borrow_mut();
            if let Some(next) = &*site.next.borrow() {
                fields.extend(next.clone(), value);
                return Ok(());
            }
            if let Some(place) = fields.at_mut(site.slot.get()) {
                let previous = std::mem::replace(place, value);
                drop(fields);
                drop(previous);
                return Ok(());
            }
        }
        self.set_attr_named(&object, &site.name, value)?;
        self.remember_store(instance, site, key);
        Ok(())
    }

    /// Fills the cache of a site where an attribute was stored in an instance that had the shape of `key`.
    fn remember_store(&self, instance: &Instance, site: &Site, key: CacheKey) {
        let class = instance.class();
        let fields = instance.fields.borrow();
        let is_plain = class.lookup_script("__setattr__").is_none()
            && !class.lookup(&site.name).is_some_and(|attr| is_data_descriptor(&attr));
        let Some(slot) = fields.slot(&site.name) else { return };
        if !is_plain || key.shape == 0 || fields.shape_id() == 0 || key.epoch != self.class_epoch {
            return;
        }
        site.key.set(key);
        site.slot.set(slot);
        // Where the shape changed, the attribute is new and lies in the last slot.
        let next = (fields.shape_id() != key.shape).then(|| fields.shape().clone());
        *site.next.borrow_mut() = next;
    }

    pub(super) fn step_load_method(&mut self, base: *mut Value, i: Instruction, site: &Site) -> Result<()> {
        let object = operand(base, i.b, i.ends_b());
        // Values of built-in types and host objects have no shape: their class's own one stands for them.
        let class = match &object {
            Value::Instance(_)
            | Value::Class(_)
            | Value::Module(_)
            | Value::Super(_)
            | Value::Function(_) => None,
            other => Some(self.class_of(other)),
        };
        let key = class.map(|class| CacheKey { shape: class.shape.id(), epoch: self.class_epoch });
        if key == Some(site.key.get()) {
            let method = site.method.borrow().clone();
            set(base, i.a, method);
            set(base, i.a + 1, object);
            return Ok(());
        }
        let (method, receiver) = self.get_method(&object, &site.name)?;
        if !receiver.is_unset() {
            let key = key.or_else(|| match &object {
                Value::Instance(instance) => {
                    let shape = instance.fields.borrow().shape_id();
                    (shape != 0).then_some(CacheKey { shape, epoch: self.class_epoch })
                }
                _ => None,
            });
            if let Some(key) = key {
                site.key.set(key);
                let previous = site.method.replace(method.clone());
                drop(previous);
            }
        }
        set(base, i.a, method);
        set(base, i.a + 1, receiver);
        Ok(())
    }

    pub(super) fn step_load_item(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let (object, index) = (operand(base, i.b, i.ends_b()), operand(base, i.c, i.ends_c()));
        let value = self.get_item(&object, &index)?;
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_store_item(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let object = operand(base, i.a, i.x & 1 != 0);
        let index = operand(base, i.b, i.x & 2 != 0);
        let item = operand(base, i.c, i.x & 4 != 0);
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

    pub(super) fn step_delete_item(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let (object, index) = (operand(base, i.a, i.ends_b()), operand(base, i.b, i.ends_c()));
        self.delete_item(&object, &index)
    }

    pub(super) fn step_slice(&mut self, base: *mut Value, i: Instruction) {
        let [start, stop, step] = [i.b, i.b + 1, i.b + 2].map(|at| operand(base, at, true));
        set(base, i.a, Value::Slice(Rc::new(Slice { start, stop, step })));
    }

    /// Moves the values of `n` registers out.
    pub(super) fn take_row(&self, base: *mut Value, first: u16, n: u16) -> Vec<Value> {
        (first..first + n).map(|at| operand(base, at, true)).collect()
    }

    /// Calls `R[a]` with the `n` values behind it.
    pub(super) fn step_call(&mut self, a: u16, n: usize, names: &[Name]) -> Result<Called> {
        let at = self.frames.last().expect("a frame is running").base + a as usize;
        let callee = self.stack.take(at);
        self.poll()?;
        self.call_registers(callee, at, at + 1, n, names)
    }

    /// Calls the method `R[a]` with its receiver and the `n` values behind.
    pub(super) fn step_call_method(&mut self, a: u16, n: usize, names: &[Name]) -> Result<Called> {
        let at = self.frames.last().expect("a frame is running").base + a as usize;
        let callee = self.stack.take(at);
        self.poll()?;
        // SAFETY: the compiler reserved the receiver's register.
        let has_receiver = unsafe { !(*self.stack.register(at + 1)).is_unset() };
        if has_receiver {
            return self.call_registers(callee, at, at + 1, n + 1, names);
        }
        if !matches!(callee, Value::NativeFunction(_)) {
            // Callees with frames want their arguments right behind the register of the result.
            for at in at + 1..at + 1 + n {
                let value = self.stack.take(at + 1);
                self.stack.put(at, value);
            }
            return self.call_registers(callee, at, at + 1, n, names);
        }
        self.call_registers(callee, at, at + 2, n, names)
    }

    /// Calls with the `n` values from register `first` on; they are gone afterwards, unless a frame took
    /// them over. The result of a frame goes to register `at`, right before `first`.
    fn call_registers(
        &mut self,
        callee: Value,
        at: usize,
        first: usize,
        n: usize,
        names: &[Name],
    ) -> Result<Called> {
        match callee {
            Value::Function(function) => match self.enter(function, first, n, names, FrameKind::Call)? {
                Entered::Frame => Ok(Called::Frame),
                Entered::Generator(generator) => Ok(Called::Value(generator)),
            },
            // The compiler reserves one register more than the call needs, so one receiver fits in.
            Value::Method(method)
                if matches!(method.function, Value::Function(_) | Value::NativeFunction(_)) =>
            {
                self.push_first(first, n, method.receiver.clone());
                self.call_registers(method.function.clone(), at, first, n + 1, names)
            }
            Value::Class(class)
                if class.is_script && matches!(class.layout, Layout::Plain | Layout::Exception(_)) =>
            {
                let Some(init) = class.plain_init(self.class_epoch) else {
                    return self.call_slice(Value::Class(class), first, n, names);
                };
                // SAFETY: the frame's registers stay as they are while the instance is made.
                let args = Args::new(unsafe { self.stack.slice(first, first + n) }, names);
                let instance = self.blank_instance(&class, &args)?;
                self.stack.put(at, instance.clone());
                self.push_first(first, n, instance);
                match self.enter(init, first, n + 1, names, FrameKind::Init) {
                    Ok(Entered::Frame) => Ok(Called::Frame),
                    Ok(Entered::Generator(_)) => Err(errors::type_error("__init__() should return None")),
                    Err(raise) => {
                        drop(self.stack.take(at));
                        Err(raise)
                    }
                }
            }
            callee => self.call_slice(callee, first, n, names),
        }
    }

    /// Puts a value before the `n` values from `first` on. The compiler reserves a register for it.
    fn push_first(&mut self, first: usize, n: usize, value: Value) {
        for at in (first..first + n).rev() {
            let moved = self.stack.take(at);
            self.stack.put(at + 1, moved);
        }
        self.stack.put(first, value);
    }

    /// Calls anything with arguments that lie in registers, and empties them.
    fn call_slice(&mut self, callee: Value, first: usize, n: usize, names: &[Name]) -> Result<Called> {
        // SAFETY: the registers belong to the running frame, and nested runs stay above it.
        let args = Args::new(unsafe { self.stack.slice(first, first + n) }, names);
        let result = match &callee {
            Value::NativeFunction(function) => match &function.code {
                crate::value::NativeCode::Plain(code) => code(self, &args),
                crate::value::NativeCode::Closure(code) => code(self, &args),
            },
            callee => self.call_with(callee, &args),
        };
        self.stack.clear(first, first + n);
        result.map(Called::Value)
    }

    pub(super) fn step_call_spread(&mut self, base: *mut Value, i: Instruction) -> Result {
        let [callee, list, dict] = [i.a, i.a + 1, i.a + 2].map(|at| operand(base, at, true));
        self.poll()?;
        let Value::List(list) = list else { unreachable!("spread arguments are collected in a list") };
        let mut values = std::mem::take(&mut *list.borrow_mut());
        let mut names = Vec::new();
        if let Value::Dict(dict) = dict {
            for (key, value) in dict.to_pairs() {
                let Value::Str(text) = key else {
                    return Err(errors::type_error("keywords must be strings"));
                };
                names.push(Name(text));
                values.push(value);
            }
        }
        self.call_with(&callee, &Args::new(&values, &names))
    }

    /// Steps the iterator of a `yield from`; false at its end.
    pub(super) fn step_delegate(&mut self, base: *mut Value, i: Instruction) -> Result<bool> {
        let sent = operand(base, i.a, true);
        let iter = operand(base, i.b, false);
        let step = match &iter {
            Value::Generator(generator) => self.resume(generator, sent)?,
            iter if sent.is_none() => self.next(iter)?.ok_or(Value::None),
            iter => match self.call_method(iter, "send", &[sent]) {
                Ok(item) => Ok(item),
                Err(raise) if raise.is(ExceptionKind::StopIteration) => Err(self.stop_value(raise)),
                Err(raise) => return Err(raise),
            },
        };
        let has_item = step.is_ok();
        let (Ok(value) | Err(value)) = step;
        set(base, i.a, value);
        Ok(has_item)
    }

    fn stop_value(&mut self, raise: Raise) -> Value {
        let exception = self.exception_object(raise);
        let args = exception.exception().map(|data| data.args.borrow().clone()).unwrap_or_default();
        args.into_iter().next().unwrap_or(Value::None)
    }

    pub(super) fn step_build_set(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let set_object = Set::new();
        for item in self.take_row(base, i.b, i.c) {
            self.set_add(&set_object, &item)?;
        }
        set(base, i.a, Value::Set(Rc::new(set_object)));
        Ok(())
    }

    pub(super) fn step_build_dict(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let dict = Dict::new();
        for pair in 0..i.c {
            let key = operand(base, i.b + 2 * pair, true);
            let value = operand(base, i.b + 2 * pair + 1, true);
            self.dict_insert(&dict, &key, value)?;
        }
        set(base, i.a, Value::Dict(Rc::new(dict)));
        Ok(())
    }

    pub(super) fn step_list_extend(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let items = operand(base, i.b, i.ends_b());
        let items = self.collect(&items)?;
        let Value::List(list) = operand(base, i.a, false) else { unreachable!("the register holds a list") };
        list.borrow_mut().extend(items);
        Ok(())
    }

    pub(super) fn step_set_add(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let item = operand(base, i.b, i.ends_b());
        let Value::Set(set) = operand(base, i.a, false) else { unreachable!("the register holds a set") };
        self.set_add(&set, &item)?;
        Ok(())
    }

    pub(super) fn step_set_update(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let items = operand(base, i.b, i.ends_b());
        let Value::Set(set) = operand(base, i.a, false) else { unreachable!("the register holds a set") };
        for item in self.collect(&items)? {
            self.set_add(&set, &item)?;
        }
        Ok(())
    }

    pub(super) fn step_dict_insert(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let (key, value) = (operand(base, i.b, i.ends_b()), operand(base, i.c, i.ends_c()));
        let Value::Dict(dict) = operand(base, i.a, false) else { unreachable!("the register holds a dict") };
        self.dict_insert(&dict, &key, value)
    }

    pub(super) fn step_dict_update(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let source = operand(base, i.b, i.ends_b());
        let Value::Dict(dict) = operand(base, i.a, false) else { unreachable!("the register holds a dict") };
        if !matches!(source.base_value(), Value::Dict(_)) && self.find_attr(&source, "keys")?.is_none() {
            return Err(errors::type_error(format!("'{}' object is not a mapping", source.type_name())));
        }
        self.dict_update(&dict, &source)
    }

    pub(super) fn step_dict_merge(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let source = operand(base, i.b, i.ends_b());
        let Value::Dict(dict) = operand(base, i.a, false) else { unreachable!("the register holds a dict") };
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

    pub(super) fn step_format(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let mut value = operand(base, i.b, true);
        let spec = if i.c == NO_SPEC { Value::Unset } else { operand(base, i.c, true) };
        value = match i.x {
            1 => Value::str(self.str(&value)?),
            2 => Value::str(self.repr(&value)?),
            3 => Value::str(crate::text::quote::ascii(&self.repr(&value)?)),
            _ => value,
        };
        let text = match (&value, spec.as_str().unwrap_or("")) {
            (Value::Str(_), "") => value,
            (value, spec) => Value::str(builtins::format::format_value(self, value, spec)?),
        };
        set(base, i.a, text);
        Ok(())
    }

    pub(super) fn step_build_string(&mut self, base: *mut Value, i: Instruction) {
        let mut text = String::new();
        for part in self.take_row(base, i.b, i.c) {
            text.push_str(part.as_str().unwrap_or(""));
        }
        set(base, i.a, Value::str(text));
    }

    pub(super) fn step_unpack(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let value = operand(base, i.b, i.ends_b());
        let n = i.c as usize;
        for (at, item) in self.unpack(&value, n)?.into_iter().enumerate() {
            set(base, i.a + at as u16, item);
        }
        Ok(())
    }

    pub(super) fn step_unpack_star(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let value = operand(base, i.b, i.ends_b());
        let (before, after) = ((i.c & 255) as usize, (i.c >> 8) as usize);
        for (at, item) in self.unpack_star(&value, before, after)?.into_iter().enumerate() {
            set(base, i.a + at as u16, item);
        }
        Ok(())
    }

    /// Ranges become three ints, lists are walked by index, everything else by an iterator.
    pub(super) fn step_get_iter(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let value = operand(base, i.b, i.ends_b());
        let state = match &value {
            Value::Range(range) if range.len() <= i64::MAX as u64 => {
                [Value::Int(range.start), Value::Int(range.len() as i64), Value::Int(range.step)]
            }
            Value::List(_) => [value, Value::Int(0), Value::Unset],
            _ => [self.iter(&value)?, Value::Unset, Value::Unset],
        };
        for (at, part) in state.into_iter().enumerate() {
            set(base, i.a + at as u16, part);
        }
        Ok(())
    }

    pub(super) fn step_iter(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let value = operand(base, i.b, i.ends_b());
        let iter = self.iter(&value)?;
        set(base, i.a, iter);
        Ok(())
    }

    /// The next item of a loop, `Unset` at the end.
    pub(super) fn step_for(&mut self, base: *mut Value, i: Instruction) -> Result {
        let iter = operand(base, i.a, false);
        if let Value::Iter(iter) = &iter
            && let IterState::Tuple { tuple, at } = &mut *iter.0.borrow_mut()
        {
            *at += 1;
            return Ok(tuple.get(*at - 1).cloned().unwrap_or(Value::Unset));
        }
        Ok(self.next(&iter)?.unwrap_or(Value::Unset))
    }

    pub(super) fn step_make_function(&mut self, base: *mut Value, i: Instruction) -> Value {
        let function = self.running().clone();
        let code = function.code.child(self, i.c as usize);
        let defaults = match i.x & 1 {
            0 => Vec::new(),
            _ => match operand(base, i.b, true) {
                Value::Tuple(defaults) => defaults.to_vec(),
                _ => unreachable!("the compiler builds a tuple of defaults"),
            },
        };
        let params = code.code.params;
        let keyword_names = &code.param_names[params.n_positional as usize..params.n_named()];
        let keyword_defaults = match i.x & 2 {
            0 => Vec::new(),
            _ => match operand(base, i.b + 1, true) {
                Value::Dict(defaults) => {
                    keyword_names.iter().map(|name| defaults.get_text(name).unwrap_or_default()).collect()
                }
                _ => unreachable!("the compiler builds a dict of keyword defaults"),
            },
        };
        let cell = |capture: &Capture| -> Rc<Cell> {
            match capture {
                Capture::Free(at) => function.closure[*at as usize].clone(),
                Capture::Local(at) => match operand(base, *at, false) {
                    Value::Cell(cell) => cell,
                    _ => unreachable!("a captured variable lives in a cell"),
                },
            }
        };
        let closure = code.code.captures.iter().map(cell).collect();
        let name = self.name(&code.code.name).into();
        Value::Function(Rc::new(Function {
            code,
            name,
            defaults,
            keyword_defaults,
            closure,
            attrs: Default::default(),
        }))
    }

    pub(super) fn step_make_class(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.c);
        let Value::Function(body) = operand(base, i.a, true) else {
            unreachable!("a class body is a function")
        };
        let bases = self.take_row(base, i.a + 1, i.b);
        let class = self.make_class(&name, &body, &bases)?;
        set(base, i.a, class);
        Ok(())
    }

    /// A name in the constants of the running code.
    fn constant_name(&self, at: u16) -> Name {
        let code = &self.running().code;
        match &code.code.constants[at as usize] {
            Constant::Str(text) => self.name(text),
            _ => unreachable!("the constant is a name"),
        }
    }

    pub(super) fn step_locals(&mut self, base: *mut Value) -> Value {
        let dict = Dict::new();
        let code = self.running().code.clone();
        for (at, name) in code.code.locals.iter().enumerate() {
            let value = operand(base, at as u16, false);
            let value = match value {
                Value::Cell(cell) if &**name != "__class__" => cell.get(),
                value => value,
            };
            if !value.is_unset() {
                dict.insert_text(self.name(name).value(), value);
            }
        }
        Value::Dict(Rc::new(dict))
    }

    pub(super) fn step_import(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.b);
        let module = self.import_from_code(&name, i.c as usize)?;
        let module = match name.split_once('.') {
            Some((first, _)) if i.x == 0 => self.import_from_code(first, i.c as usize)?,
            _ => module,
        };
        set(base, i.a, Value::Module(module));
        Ok(())
    }

    pub(super) fn step_import_from(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.c);
        let module = operand(base, i.b, false);
        let value = self.import_name(&module, &name)?;
        set(base, i.a, value);
        Ok(())
    }

    pub(super) fn step_import_star(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let module = operand(base, i.a, true);
        let namespace = self.running().globals().clone();
        for (name, value) in self.public_names(&module)? {
            let slot = namespace.slot(&name);
            let previous = namespace.put(slot, value);
            drop(previous);
        }
        Ok(())
    }

    pub(super) fn raise_bare(&mut self) -> Raise {
        match self.handled_exception() {
            Some(exception) => Raise::object(exception),
            None => errors::runtime_error("No active exception to reraise"),
        }
    }

    pub(super) fn step_match_exception(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let exception = operand(base, i.b, false);
        let pattern = operand(base, i.c, i.ends_c());
        let matches = self.exception_matches(&exception, &pattern)?;
        set(base, i.a, Value::Bool(matches));
        Ok(())
    }

    pub(super) fn step_with_enter(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let manager = operand(base, i.a, false);
        let class = self.class_of(&manager);
        let (enter, exit) = (class.lookup_text("__enter__"), class.lookup_text("__exit__"));
        let (Some(enter), Some(exit)) = (enter, exit) else {
            return Err(errors::type_error(format!(
                "'{}' object does not support the context manager protocol",
                manager.type_name()
            )));
        };
        let exit = self.bind(&exit, &manager, &class)?;
        let entered = self.call_method_value(&enter, &manager, &[])?;
        set(base, i.a + 1, exit);
        set(base, i.a + 2, entered);
        Ok(())
    }

    pub(super) fn step_with_exit(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let (manager, exit) = (operand(base, i.a, true), operand(base, i.a + 1, true));
        self.call(&exit, &[Value::None, Value::None, Value::None])?;
        drop(manager);
        Ok(())
    }

    pub(super) fn step_with_except(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let exit = operand(base, i.a + 1, false);
        let exception = operand(base, i.a + 2, false);
        let class = Value::Class(self.class_of(&exception));
        let handled = self.call(&exit, &[class, exception, Value::None])?;
        let handled = self.truth(&handled)?;
        set(base, i.a + 3, Value::Bool(handled));
        Ok(())
    }
}

/// `text += tail` where nobody else holds the text: appends instead of copying.
fn append_in_place(base: *mut Value, i: Instruction) -> bool {
    if i.a == i.c {
        return false;
    }
    // SAFETY: the compiler only emits registers of the running frame, and these are two.
    let (target, tail) = unsafe { (&mut *base.add(i.a as usize), &*base.add(i.c as usize).cast_const()) };
    let (Value::Str(target), Value::Str(tail)) = (target, tail) else { return false };
    match Rc::get_mut(target) {
        Some(text) => {
            text.push_str(tail);
            true
        }
        None => false,
    }
}

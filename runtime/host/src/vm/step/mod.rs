//! What single instructions do when there is no short way: names and operators here, the other families
//! in a chapter each.
//!
//! `base` points at the running frame's registers. Operands are taken or cloned before anything runs
//! that could reach the registers, and results are put in last.

mod attributes;
mod calls;
mod collections;
mod definitions;
mod exceptions;
mod patterns;

use std::rc::Rc;

use kps_bytecode::op::{IN_PLACE, Instruction, NO_SPEC, Op};
use kps_syntax::ast::UnaryOp;

use super::Vm;
use super::code::Global;
use crate::builtins;
use crate::errors;
use crate::value::{BinaryOp, CompareOp, Function, Name, Raise, Result, Value};

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
pub(super) fn operand(base: *mut Value, at: u16, ends: bool) -> Value {
    // SAFETY: the compiler only emits registers of the running frame, and no reference to one is held.
    unsafe {
        let register = base.add(at as usize);
        if ends { register.replace(Value::Unset) } else { (*register).clone() }
    }
}

pub(super) fn set(base: *mut Value, at: u16, value: Value) {
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
        match crate::modules::names().any(|module| module == &**name) {
            true => raise.help(format!("write `import {name}` first")),
            false => raise,
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

    /// Moves the values of `n` registers out.
    pub(super) fn take_row(&self, base: *mut Value, first: u16, n: u16) -> Vec<Value> {
        (first..first + n).map(|at| operand(base, at, true)).collect()
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

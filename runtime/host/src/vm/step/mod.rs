//! Single instructions without a fast path: operators here, the other families in one file each.
//!
//! Operands are moved or cloned before anything runs that could access the registers, and results are stored
//! last.

mod attributes;
mod calls;
mod collections;
mod definitions;
mod exceptions;
mod names;
mod patterns;

pub(super) use exceptions::assertion_error;

use std::rc::Rc;

use kps_bytecode::op::{IN_PLACE, Instruction, NO_SPEC, Op};
use kps_syntax::ast::UnaryOp;

use super::Vm;
use super::register::Registers;
use crate::builtins;
use crate::memory;
use crate::value::{BinaryOp, CompareOp, Function, Result, Value};

/// The result of a call instruction.
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

impl Vm {
    /// The function that is running.
    #[inline]
    pub(super) fn running(&self) -> &Rc<Function> {
        &self.frames.last().expect("a frame is running").function
    }

    pub(super) fn step_binary(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let op = BINARY_OPS[i.op as usize - Op::Add as usize];
        if op == BinaryOp::Add && i.a == i.b && append_in_place(registers, i)? {
            return Ok(());
        }
        let (left, right) = (registers.operand(i.b, i.ends_b()), registers.operand(i.c, i.ends_c()));
        let value = if i.x & IN_PLACE != 0 {
            self.binary_in_place(op, &left, &right)?
        } else {
            self.binary(op, &left, &right)?
        };
        registers.set(i.a, value);
        Ok(())
    }

    pub(super) fn step_binary_int(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let op = match i.op {
            Op::AddInt => BinaryOp::Add,
            Op::SubInt => BinaryOp::Sub,
            _ => BinaryOp::Mul,
        };
        let (left, right) = (registers.operand(i.b, i.ends_b()), Value::Int(i.c as i16 as i64));
        let value = if i.x & IN_PLACE != 0 {
            self.binary_in_place(op, &left, &right)?
        } else {
            self.binary(op, &left, &right)?
        };
        registers.set(i.a, value);
        Ok(())
    }

    pub(super) fn step_unary(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let op = match i.op {
            Op::Neg => UnaryOp::Minus,
            Op::Pos => UnaryOp::Plus,
            Op::Invert => UnaryOp::Invert,
            _ => UnaryOp::Not,
        };
        let value = registers.operand(i.b, i.ends_b());
        let value = self.unary(op, &value)?;
        registers.set(i.a, value);
        Ok(())
    }

    pub(super) fn step_compare(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let op = COMPARE_OPS[i.op as usize - Op::Eq as usize];
        let (left, right) = (registers.operand(i.b, i.ends_b()), registers.operand(i.c, i.ends_c()));
        let value = self.compare(op, &left, &right)?;
        registers.set(i.a, value);
        Ok(())
    }

    pub(super) fn step_test(&mut self, registers: Registers, i: Instruction) -> Result<bool> {
        let op = COMPARE_OPS[i.op as usize - Op::TestEq as usize];
        let (left, right) = (registers.operand(i.a, i.ends_b()), registers.operand(i.b, i.ends_c()));
        let value = self.compare(op, &left, &right)?;
        self.truth(&value)
    }

    pub(super) fn step_test_int(&mut self, registers: Registers, i: Instruction) -> Result<bool> {
        let op = COMPARE_OPS[i.op as usize - Op::TestEqInt as usize];
        let left = registers.operand(i.a, i.ends_b());
        let value = self.compare(op, &left, &Value::Int(i.c as i16 as i64))?;
        self.truth(&value)
    }

    pub(super) fn step_truth(&mut self, registers: Registers, i: Instruction) -> Result<bool> {
        let value = registers.operand(i.a, i.ends_b());
        self.truth(&value)
    }

    /// Moves the values of `n` registers out.
    pub(super) fn take_row(&self, registers: Registers, first: u16, n: u16) -> Vec<Value> {
        (first..first + n).map(|at| registers.operand(at, true)).collect()
    }

    pub(super) fn step_format(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let mut value = registers.operand(i.b, true);
        let spec = if i.c == NO_SPEC { Value::Unset } else { registers.operand(i.c, true) };
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
        registers.set(i.a, text);
        Ok(())
    }

    pub(super) fn step_build_string(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let mut text = String::new();
        for part in self.take_row(registers, i.b, i.c) {
            let part = part.as_str().unwrap_or("");
            memory::make_text_room(&mut text, part.len())?;
            text.push_str(part);
        }
        registers.set(i.a, Value::str(text));
        Ok(())
    }
}

/// `text += tail` if there is no other reference to the text: appends instead of copying.
fn append_in_place(registers: Registers, i: Instruction) -> Result<bool> {
    if i.a == i.c {
        return Ok(false);
    }
    // SAFETY: these are two registers, and nothing else points to the first.
    let target = unsafe { &mut *registers.pointer(i.a) };
    let (Value::Str(target), Value::Str(tail)) = (target, registers.get(i.c)) else { return Ok(false) };
    match Rc::get_mut(target) {
        Some(text) => {
            text.push_str(tail)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

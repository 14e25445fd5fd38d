//! Exceptions that are being handled, and `with`.

use kps_bytecode::op::Instruction;

use crate::errors;
use crate::value::{ExceptionKind, Order, Raise, Result, Value};
use crate::vm::Vm;
use crate::vm::register::Registers;

impl Vm {
    pub(in crate::vm) fn raise_bare(&mut self) -> Raise {
        match self.handled_exception() {
            Some(exception) => Raise::object(exception),
            None => errors::runtime_error("No active exception to reraise"),
        }
    }

    pub(in crate::vm) fn step_match_exception(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let exception = registers.operand(i.b, false);
        let pattern = registers.operand(i.c, i.ends_c());
        let matches = self.exception_matches(&exception, &pattern)?;
        registers.set(i.a, Value::Bool(matches));
        Ok(())
    }

    pub(in crate::vm) fn step_with_enter(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let manager = registers.operand(i.a, false);
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
        registers.set(i.a + 1, exit);
        registers.set(i.a + 2, entered);
        Ok(())
    }

    pub(in crate::vm) fn step_with_exit(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let (manager, exit) = (registers.operand(i.a, true), registers.operand(i.a + 1, true));
        self.call(&exit, &[Value::None, Value::None, Value::None])?;
        drop(manager);
        Ok(())
    }

    pub(in crate::vm) fn step_with_except(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let exit = registers.operand(i.a + 1, false);
        let exception = registers.operand(i.a + 2, false);
        let class = Value::Class(self.class_of(&exception));
        let is_ordered = matches!(&exception, Value::Instance(given) if given.order() != Order::None);
        let handled = self.call(&exit, &[class, exception, Value::None])?;
        let handled = self.truth(&handled)? && !is_ordered;
        registers.set(i.a + 3, Value::Bool(handled));
        Ok(())
    }
}

/// The exception of a failed `assert`, with its message if it has one.
pub(in crate::vm) fn assertion_error(registers: Registers, i: Instruction) -> Raise {
    let message = i.ends_b().then(|| registers.take(i.a));
    Raise::with_args(ExceptionKind::AssertionError, message.into_iter().collect())
}

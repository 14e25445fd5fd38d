//! Exceptions that are being handled, and `with`.

use kps_bytecode::op::Instruction;

use super::{operand, set};
use crate::errors;
use crate::value::{Order, Raise, Result, Value};
use crate::vm::Vm;

impl Vm {
    pub(in crate::vm) fn raise_bare(&mut self) -> Raise {
        match self.handled_exception() {
            Some(exception) => Raise::object(exception),
            None => errors::runtime_error("No active exception to reraise"),
        }
    }

    pub(in crate::vm) fn step_match_exception(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let exception = operand(base, i.b, false);
        let pattern = operand(base, i.c, i.ends_c());
        let matches = self.exception_matches(&exception, &pattern)?;
        set(base, i.a, Value::Bool(matches));
        Ok(())
    }

    pub(in crate::vm) fn step_with_enter(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
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

    pub(in crate::vm) fn step_with_exit(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let (manager, exit) = (operand(base, i.a, true), operand(base, i.a + 1, true));
        self.call(&exit, &[Value::None, Value::None, Value::None])?;
        drop(manager);
        Ok(())
    }

    pub(in crate::vm) fn step_with_except(&mut self, base: *mut Value, i: Instruction) -> Result<()> {
        let exit = operand(base, i.a + 1, false);
        let exception = operand(base, i.a + 2, false);
        let class = Value::Class(self.class_of(&exception));
        let is_ordered = matches!(&exception, Value::Instance(given) if given.order() != Order::None);
        let handled = self.call(&exit, &[class, exception, Value::None])?;
        let handled = self.truth(&handled)? && !is_ordered;
        set(base, i.a + 3, Value::Bool(handled));
        Ok(())
    }
}

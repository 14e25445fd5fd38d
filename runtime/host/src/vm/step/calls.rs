//! Calls of functions, methods and classes.

use kps_bytecode::op::Instruction;

use super::Called;
use crate::errors;
use crate::value::{Args, Layout, Name, Result, Value};
use crate::vm::Vm;
use crate::vm::call::Entered;
use crate::vm::frame::FrameKind;
use crate::vm::register::Registers;

impl Vm {
    /// Calls `R[a]` with the `n` values after it.
    pub(in crate::vm) fn step_call(&mut self, a: u16, n: usize, names: &[Name]) -> Result<Called> {
        let at = self.frames.last().expect("a frame is running").base + a as usize;
        let callee = self.stack.take(at);
        self.pause()?;
        self.call_registers(callee, at, at + 1, n, names)
    }

    /// Calls the method `R[a]` with its receiver and the `n` values after it.
    pub(in crate::vm) fn step_call_method(&mut self, a: u16, n: usize, names: &[Name]) -> Result<Called> {
        let at = self.frames.last().expect("a frame is running").base + a as usize;
        let callee = self.stack.take(at);
        self.pause()?;
        // SAFETY: the compiler reserved the receiver's register.
        let has_receiver = unsafe { !(*self.stack.register(at + 1)).is_unset() };
        if has_receiver {
            return self.call_registers(callee, at, at + 1, n + 1, names);
        }
        if !matches!(callee, Value::NativeFunction(_)) {
            // Callees with frames expect their arguments directly after the register of the result.
            for at in at + 1..at + 1 + n {
                let value = self.stack.take(at + 1);
                self.stack.put(at, value);
            }
            return self.call_registers(callee, at, at + 1, n, names);
        }
        self.call_registers(callee, at, at + 2, n, names)
    }

    /// Calls with the `n` values from register `first` on; they are consumed, unless a frame took them over.
    /// The result of a frame is stored in register `at`, directly before `first`.
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
                // SAFETY: the frame's registers do not change while the instance is created.
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

    /// Inserts a value before the `n` values from `first` on. The compiler reserves a register for it.
    fn push_first(&mut self, first: usize, n: usize, value: Value) {
        for at in (first..first + n).rev() {
            let moved = self.stack.take(at);
            self.stack.put(at + 1, moved);
        }
        self.stack.put(first, value);
    }

    /// Calls any value with arguments in registers, and empties them.
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

    pub(in crate::vm) fn step_call_spread(&mut self, registers: Registers, i: Instruction) -> Result {
        let [callee, list, dict] = [i.a, i.a + 1, i.a + 2].map(|at| registers.operand(at, true));
        self.pause()?;
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
}

//! Resumes generators: a suspended frame is moved to the stack, and runs to its next `yield`, or its end. If
//! it is suspended at a `yield from`, sent values and exceptions are passed to the iterator there.

use std::rc::Rc;

use kps_bytecode::op::{Instruction, Op};

use super::Vm;
use super::frame::{Frame, FrameKind};
use super::register::Registers;

use crate::errors;
use crate::value::{ExceptionKind, Generator, GeneratorState, Raise, Result, Value};

/// The result of an iterator's step: an item (`Ok`), or the return value at its end (`Err`).
pub(crate) type Step = std::result::Result<Value, Value>;

impl Vm {
    /// Runs a generator to its next `yield` (`Ok`) or its end (`Err` with the return value).
    pub(crate) fn resume(&mut self, generator: &Rc<Generator>, sent: Value) -> Result<Step> {
        self.mark_stack();
        self.check_stack()?;
        match self.wake(generator, sent)? {
            false => Ok(Err(Value::None)),
            true => self.run_step(generator),
        }
    }

    /// Raises an exception at the `yield` where the generator is suspended; at a `yield from`, in its
    /// iterator.
    pub(crate) fn throw_into(&mut self, generator: &Rc<Generator>, raise: Raise) -> Result<Step> {
        self.mark_stack();
        self.check_stack()?;
        if matches!(&*generator.state.borrow(), GeneratorState::Suspended { pc: 0, .. }) {
            *generator.state.borrow_mut() = GeneratorState::Done;
        }
        if !self.wake(generator, Value::None)? {
            return Err(raise);
        }
        let floor = self.frames.len() - 1;
        let thrown = match self.delegation() {
            None => Err(raise),
            Some((iter, item)) => self.throw_on(&iter, raise).map(|step| self.go_on_with(item, step)),
        };
        match thrown.or_else(|raise| self.unwind(raise, floor)) {
            Ok(()) => self.run_step(generator),
            Err(raise) => {
                *generator.state.borrow_mut() = GeneratorState::Done;
                Err(raise)
            }
        }
    }

    /// Ends a suspended generator: its `finally` blocks run.
    pub(crate) fn close(&mut self, generator: &Rc<Generator>) -> Result<()> {
        if matches!(&*generator.state.borrow(), GeneratorState::Done) {
            return Ok(());
        }
        let exit = Raise::with_args(ExceptionKind::GeneratorExit, Vec::new());
        match self.throw_into(generator, exit) {
            Ok(Ok(_)) => Err(errors::runtime_error("generator ignored GeneratorExit")),
            Ok(Err(_)) => Ok(()),
            Err(raise) if raise.is(ExceptionKind::GeneratorExit) => Ok(()),
            Err(raise) => Err(raise),
        }
    }

    /// Of a generator that was woken: the iterator that its `yield from` waits for, and the register of its items.
    fn delegation(&self) -> Option<(Value, u16)> {
        let frame = self.frames.last().expect("a generator was woken");
        // ORDER: Delegate, jump to the end, Yield, and the program counter.
        let delegate = frame.function.code.code.instructions.get(frame.pc.checked_sub(3)?)?;
        // SAFETY: the register belongs to the frame on top.
        let iter = || unsafe { (*self.stack.register(frame.base + delegate.b as usize)).clone() };
        (delegate.op == Op::Delegate).then(|| (iter(), delegate.a))
    }

    /// Lets the resumed generator yield the item of its `yield from`, or continue after it.
    fn go_on_with(&mut self, register: u16, step: Step) {
        let frame = self.frames.last_mut().expect("a generator was woken");
        frame.pc -= if step.is_ok() { 1 } else { 2 };
        let at = frame.base + register as usize;
        let (Ok(value) | Err(value)) = step;
        self.stack.put(at, value);
    }

    /// Raises an exception in the iterator of a `yield from`. One without a `throw` is skipped. It is closed,
    /// if possible, when the exception is GeneratorExit.
    fn throw_on(&mut self, iter: &Value, raise: Raise) -> Result<Step> {
        let is_exit = raise.is(ExceptionKind::GeneratorExit);
        if let Value::Generator(generator) = iter {
            if is_exit {
                self.close(generator)?;
                return Err(raise);
            }
            return self.throw_into(generator, raise);
        }
        let Some(method) = self.find_attr(iter, if is_exit { "close" } else { "throw" })? else {
            return Err(raise);
        };
        if is_exit {
            self.call(&method, &[])?;
            return Err(raise);
        }
        let exception = Value::Instance(self.exception_object(raise));
        let step = self.call(&method, &[exception]);
        crate::ops::step_of(step)
    }

    /// Moves the running generator's frame off the stack, and returns its yielded value.
    pub(super) fn step_yield(&mut self, registers: Registers, i: Instruction) -> Value {
        let value = registers.take(i.b);
        let Frame { function, base, pc, generator, .. } = self.frames.pop().expect("a frame is running");
        let n_registers = function.code.code.n_registers as usize;
        let registers = (base..base + n_registers).map(|at| self.stack.take(at)).collect();
        let generator = generator.expect("only generators yield, and they only run in steps");
        *generator.state.borrow_mut() =
            GeneratorState::Suspended { function, registers, pc: pc as u32, sent: i.a };
        value
    }

    /// Steps the iterator of a `yield from`; false at its end.
    pub(super) fn step_delegate(&mut self, registers: Registers, i: Instruction) -> Result<bool> {
        let sent = registers.operand(i.a, true);
        let iter = registers.operand(i.b, false);
        let step = match &iter {
            Value::Generator(generator) => self.resume(generator, sent)?,
            iter if sent.is_none() => self.advance(iter)?,
            iter => {
                let step = self.call_method(iter, "send", &[sent]);
                crate::ops::step_of(step)?
            }
        };
        let has_item = step.is_ok();
        let (Ok(value) | Err(value)) = step;
        registers.set(i.a, value);
        Ok(has_item)
    }

    /// Moves a waiting generator's frame onto the stack; false when it is over.
    fn wake(&mut self, generator: &Rc<Generator>, sent: Value) -> Result<bool> {
        let is_new = matches!(&*generator.state.borrow(), GeneratorState::Suspended { pc: 0, .. });
        if is_new && !sent.is_none() {
            return Err(errors::type_error("can't send non-None value to a just-started generator"));
        }
        let base = self.top();
        let state = std::mem::replace(&mut *generator.state.borrow_mut(), GeneratorState::Running);
        let (function, registers, pc, sent_register) = match state {
            GeneratorState::Suspended { function, registers, pc, sent } => (function, registers, pc, sent),
            GeneratorState::Running => return Err(errors::value_error("generator already executing")),
            GeneratorState::Done => {
                *generator.state.borrow_mut() = GeneratorState::Done;
                return Ok(false);
            }
        };
        let n_registers = function.code.code.n_registers as usize;
        if self.frames.len() >= self.limits.recursion || !self.stack.has(base + n_registers + 1) {
            *generator.state.borrow_mut() =
                GeneratorState::Suspended { function, registers, pc, sent: sent_register };
            return Err(errors::recursion_error());
        }
        for (at, value) in registers.into_iter().enumerate() {
            self.stack.put(base + at, value);
        }
        if pc > 0 {
            self.stack.put(base + sent_register as usize, sent);
        }
        let mut frame = Frame::new(function, base, FrameKind::Step);
        frame.pc = pc as usize;
        frame.generator = Some(generator.clone());
        self.frames.push(frame);
        Ok(true)
    }

    fn run_step(&mut self, generator: &Rc<Generator>) -> Result<Step> {
        let floor = self.frames.len() - 1;
        let result = self.run(floor);
        let is_suspended = matches!(&*generator.state.borrow(), GeneratorState::Suspended { .. });
        match result {
            Ok(value) if is_suspended => Ok(Ok(value)),
            Ok(value) => {
                *generator.state.borrow_mut() = GeneratorState::Done;
                Ok(Err(value))
            }
            Err(raise) => {
                *generator.state.borrow_mut() = GeneratorState::Done;
                if raise.is(ExceptionKind::StopIteration) {
                    let cause = self.exception_object(raise);
                    return Err(
                        self.raise_from(errors::runtime_error("generator raised StopIteration"), cause)
                    );
                }
                Err(raise)
            }
        }
    }
}

//! Propagates exceptions: from the instruction that raised to a handler, or out to the host.

use std::rc::Rc;

use kps_bytecode::HandlerKind;
use kps_bytecode::op::Op;
use kps_syntax::diagnostic::Frame as TraceFrame;

use kps_syntax::{Diagnostic, Diagnostics, Location};

use super::frame::FrameKind;
use super::{Vm, with_stack};
use crate::errors;
use crate::modules::kp;
use crate::value::{Args, ExceptionKind, Instance, Name, Order, Raise, Result, TraceEntry, Value};

/// The number of places that a trace shows at either end of a runaway recursion.
const TRACE_ENDS: usize = 10;

/// The number of causes and contexts that are reported.
const MAX_CAUSES: usize = 16;

impl Vm {
    /// The exception as an object.
    pub fn exception_object(&mut self, raise: Raise) -> Rc<Instance> {
        let raise = match raise.is_new_fault() {
            true => kp::with_launch(self, raise),
            false => self.interruption(raise),
        };
        raise.into_object(|kind| self.exception_class(kind))
    }

    /// The exception of `raise value`: the value, or an instance of an exception class.
    pub(crate) fn raise_of(&mut self, value: &Value) -> Raise {
        match value {
            Value::Instance(instance) if instance.exception().is_some() => Raise::object(instance.clone()),
            Value::Class(class) if class.is_exception() => {
                match self.instantiate(class, &Args::new(&[], &[])) {
                    Ok(Value::Instance(instance)) if instance.exception().is_some() => {
                        Raise::object(instance)
                    }
                    Ok(_) => {
                        errors::type_error("calling an exception class should have returned an exception")
                    }
                    Err(raise) => raise,
                }
            }
            _ => errors::type_error("exceptions must derive from BaseException"),
        }
    }

    /// `raise raise from cause`.
    pub(crate) fn raise_from(&mut self, raise: Raise, cause: Rc<Instance>) -> Raise {
        let exception = self.exception_object(raise);
        if let Some(data) = exception.exception() {
            *data.cause.borrow_mut() = Some(cause);
            data.suppress_context.set(true);
        }
        Raise::object(exception)
    }

    /// `raise value from cause`, with None for no cause and no context.
    pub(super) fn raise_with_cause(&mut self, value: &Value, cause: &Value) -> Raise {
        let raise = self.raise_of(value);
        if cause.is_none() {
            let exception = self.exception_object(raise);
            if let Some(data) = exception.exception() {
                data.cause.borrow_mut().take();
                data.suppress_context.set(true);
            }
            return Raise::object(exception);
        }
        let is_exception = match cause {
            Value::Class(class) => class.is_exception(),
            Value::Instance(instance) => instance.exception().is_some(),
            _ => false,
        };
        if !is_exception {
            return errors::type_error("exception causes must derive from BaseException");
        }
        let cause = self.raise_of(cause);
        let cause = self.exception_object(cause);
        self.raise_from(raise, cause)
    }

    /// The exception that is being handled at the current place: `sys.exception()`.
    pub fn handled_exception(&self) -> Option<Rc<Instance>> {
        for frame in self.frames.iter().rev() {
            let code = &frame.function.code.code;
            let running = frame.pc.saturating_sub(1) as u32;
            let Some(range) =
                code.handling.iter().find(|range| range.start <= running && running < range.end)
            else {
                continue;
            };
            // SAFETY: the register belongs to a frame that is on the stack.
            let value = unsafe { &*self.stack.register(frame.base + range.register as usize) };
            if let Value::Instance(instance) = value {
                return Some(instance.clone());
            }
        }
        None
    }

    /// Propagates a new exception to its handler: the frame on top is then ready to continue there. `Err` if
    /// no frame above `floor` handles it; those frames are then popped.
    pub(super) fn unwind(&mut self, raise: Raise, floor: usize) -> Result<()> {
        let exception = self.exception_object(raise);
        self.link_context(&exception);
        self.unwind_object(exception, floor)
    }

    fn link_context(&self, exception: &Rc<Instance>) {
        let Some(data) = exception.exception() else { return };
        let Some(handled) = self.handled_exception() else { return };
        if Rc::ptr_eq(&handled, exception) || data.context.borrow().is_some() {
            return;
        }
        // An exception that is already in the chain must not close a cycle. A script may have made another
        // cycle, so a slower pointer follows.
        let next = |of: Rc<Instance>| of.exception().and_then(|data| data.context.borrow().clone());
        let (mut link, mut slow) = (Some(handled.clone()), Some(handled.clone()));
        let mut n_steps = 0;
        while let Some(current) = link {
            if Rc::ptr_eq(&current, exception) {
                return;
            }
            link = next(current);
            n_steps += 1;
            if n_steps % 2 == 0 {
                slow = slow.and_then(next);
                if let (Some(link), Some(slow)) = (&link, &slow)
                    && Rc::ptr_eq(link, slow)
                {
                    break;
                }
            }
        }
        *data.context.borrow_mut() = Some(handled);
    }

    /// As [`Vm::unwind`], for an exception that is raised again.
    pub(super) fn unwind_object(&mut self, exception: Rc<Instance>, floor: usize) -> Result<()> {
        let order = exception.order();
        while self.frames.len() > floor {
            self.record_frame(&exception);
            let frame = self.frames.last_mut().expect("there are frames above the floor");
            let code = &frame.function.code.code;
            let running = frame.pc.saturating_sub(1) as u32;
            let handler = code
                .handlers
                .iter()
                .find(|range| range.start <= running && running < range.end && takes(range.kind, order));
            let handler = handler.copied();
            if let Some(handler) = handler {
                frame.pc = handler.target as usize;
                let (base, top) = (frame.base, frame.top());
                self.stack.clear(base + handler.level as usize, top);
                self.stack.put(base + handler.level as usize, Value::Instance(exception));
                return Ok(());
            }
            let frame = self.frames.pop().expect("there are frames above the floor");
            self.stack.clear(frame.base, frame.top());
            match &frame.kind {
                FrameKind::Init => drop(self.stack.take(frame.base - 1)),
                FrameKind::Call | FrameKind::Entry | FrameKind::Step => {}
            }
        }
        Err(Raise::object(exception))
    }

    /// The calls that led to the current place, outermost first.
    pub(crate) fn trace(&self) -> Vec<TraceFrame> {
        let frame = |frame: &super::frame::Frame| {
            let code = &frame.function.code;
            let location = code.source().at(code.span_before(frame.pc));
            TraceFrame { location, function: code.code.name.to_string(), times: 1, left_out: 0 }
        };
        self.frames.iter().map(frame).collect()
    }

    /// The place that a script, not the library, has reached.
    pub(crate) fn script_location(&self) -> Option<Location> {
        let is_script =
            |frame: &&super::frame::Frame| !frame.function.code.source().name().starts_with("<kp.");
        let frame = self.frames.iter().rev().find(is_script)?;
        let code = &frame.function.code;
        Some(code.source().at(code.span_before(frame.pc)))
    }

    fn record_frame(&self, exception: &Rc<Instance>) {
        let (Some(frame), Some(data)) = (self.frames.last(), exception.exception()) else { return };
        let code = &frame.function.code;
        let mut trace = data.trace.borrow_mut();
        // An exception that continues after `finally`, or without a matching `except`, was recorded here
        // before.
        let running = code.code.instructions.get(frame.pc.saturating_sub(1)).map(|running| running.op);
        if matches!(running, Some(Op::Reraise | Op::RaiseBare)) && !trace.is_empty() {
            return;
        }
        let location = code.source().at(code.span_before(frame.pc));
        trace.push(TraceEntry { location, function: Name::from(&*code.code.name) });
    }

    /// Whether an exception matches the operand of `except`: a class, or a tuple of them.
    pub(super) fn exception_matches(&mut self, exception: &Value, pattern: &Value) -> Result<bool> {
        match pattern {
            Value::Class(class) if class.is_exception() => Ok(self.is_instance(exception, class)),
            Value::Tuple(patterns) => {
                self.check_stack()?;
                for pattern in patterns.iter() {
                    if self.exception_matches(exception, pattern)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Err(errors::type_error(
                "catching classes that do not inherit from BaseException is not allowed",
            )),
        }
    }

    /// An unhandled exception as diagnostics: those that it carries, or its own message.
    pub fn unhandled(&mut self, raise: Raise) -> Diagnostics {
        with_stack(|| {
            self.mark_stack();
            self.diagnostics_of(raise)
        })
    }

    fn diagnostics_of(&mut self, raise: Raise) -> Diagnostics {
        let exception = self.exception_object(raise);
        let mut diagnostics =
            match exception.exception().and_then(|data| data.diagnostics.borrow_mut().take()) {
                Some(carried) if !carried.is_empty() => carried,
                _ => Diagnostics::from(self.describe(&exception)),
            };
        if let Some(first) = diagnostics.0.first_mut() {
            first.trace = trace_of(&exception);
            first.cause = self.cause_of(&mut vec![exception.clone()]);
        }
        diagnostics
    }

    fn describe(&mut self, exception: &Rc<Instance>) -> Diagnostic {
        let message = self.exception_line(exception);
        let mut diagnostic = Diagnostic::error(exception.class().exception_kind().code(), message);
        if let Some(data) = exception.exception() {
            diagnostic.help = data.help.borrow().clone();
            let place = data.place.borrow();
            let in_kernel = place.as_ref().and_then(|place| Some((self.locate(&place.line)?, place)));
            match (in_kernel, data.trace.borrow().first()) {
                (Some((location, place)), _) => {
                    diagnostic = diagnostic.label(location, &place.text);
                    if let Some(call) = &place.launch {
                        diagnostic = diagnostic.label(call.clone(), "started here");
                    }
                }
                (None, Some(entry)) => diagnostic = diagnostic.label(entry.location.clone(), ""),
                (None, None) => {}
            }
            let is_elsewhere =
                |at: &&Location| diagnostic.labels.iter().all(|label| !label.location.overlaps(at));
            if let Some(written) = data.expression.borrow().as_ref().filter(is_elsewhere) {
                diagnostic = diagnostic.label(written.clone(), "the array that could not be computed");
            }
        }
        diagnostic
    }

    /// The cause of the last of these exceptions; the others were described before it, and occur once each.
    fn cause_of(&mut self, described: &mut Vec<Rc<Instance>>) -> Option<Box<Diagnostic>> {
        let data = described.last()?.exception()?;
        let cause = data.cause.borrow().clone();
        let context = || (!data.suppress_context.get()).then(|| data.context.borrow().clone()).flatten();
        let cause = cause.or_else(context)?;
        if described.len() > MAX_CAUSES || described.iter().any(|known| Rc::ptr_eq(known, &cause)) {
            return None;
        }
        let mut diagnostic = self.describe(&cause);
        diagnostic.trace = trace_of(&cause);
        described.push(cause);
        diagnostic.cause = self.cause_of(described);
        Some(Box::new(diagnostic))
    }

    /// The exit code of a `SystemExit`; `None` for other exceptions.
    pub fn exit_code(&mut self, exception: &Rc<Instance>) -> Option<i32> {
        if exception.class().exception_kind() != ExceptionKind::SystemExit {
            return None;
        }
        let args = exception.exception()?.args.borrow().clone();
        Some(match args.first() {
            None | Some(Value::None) => 0,
            Some(code) => code.as_int().map_or(1, |code| code as i32),
        })
    }
}

/// The frames of an exception, outermost first; the middle of a long recursion is left out.
fn trace_of(exception: &Rc<Instance>) -> Vec<TraceFrame> {
    let Some(data) = exception.exception() else { return Vec::new() };
    let mut frames: Vec<TraceFrame> = Vec::new();
    for entry in data.trace.borrow().iter().rev() {
        match frames.last_mut() {
            Some(last) if last.location == entry.location => last.times += 1,
            _ => frames.push(TraceFrame {
                location: entry.location.clone(),
                function: entry.function.to_string(),
                times: 1,
                left_out: 0,
            }),
        }
    }
    if frames.len() > 2 * TRACE_ENDS {
        let end = frames.len() - TRACE_ENDS;
        let left_out = frames.drain(TRACE_ENDS..end).map(|frame| frame.times).sum();
        frames[TRACE_ENDS].left_out = left_out;
    }
    frames
}

/// Whether a handler may have an exception.
fn takes(kind: HandlerKind, order: Order) -> bool {
    match order {
        Order::None => true,
        Order::End => kind == HandlerKind::Cleanup,
        Order::EndNow => false,
    }
}

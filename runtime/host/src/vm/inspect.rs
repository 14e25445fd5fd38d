//! Introspection of the script by native code: its global and its local names.

use std::rc::Rc;

use super::Vm;
use crate::value::{Name, Namespace, Value};

impl Vm {
    /// The global names that the running script function sees.
    pub fn caller_globals(&self) -> Option<Rc<Namespace>> {
        self.frames.last().map(|frame| frame.function.globals().clone())
    }

    /// The bound local names of the running script function; `None` in the code of a module, whose names are
    /// all global.
    pub fn caller_locals(&self) -> Option<Vec<(Name, Value)>> {
        let frame = self.frames.last()?;
        let code = &frame.function.code.code;
        if code.kind == kps_bytecode::CodeKind::Module {
            return None;
        }
        let registers = code.locals.iter().enumerate().map(|(at, name)| {
            // SAFETY: the register belongs to a frame that is on the stack.
            let register = unsafe { &*self.stack.register(frame.base + at) };
            (name, register.clone())
        });
        let captured = code.free.iter().zip(&frame.function.closure);
        let all = registers.chain(captured.map(|(name, cell)| (name, cell.get())));
        let seen = all.filter_map(|(name, register)| {
            let value = if let Value::Cell(cell) = register { cell.get() } else { register };
            // Temporaries of comprehensions have no name that a script could write.
            (!value.is_unset() && !name.starts_with('.')).then(|| (self.name(name), value))
        });
        Some(seen.collect())
    }
}

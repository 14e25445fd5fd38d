//! `def`, `class` and `import`.

use std::rc::Rc;

use kps_bytecode::op::Instruction;
use kps_bytecode::{CLASS_CELL, Capture, Constant};

use crate::value::{Annotations, Cell, Dict, Function, Name, Result, Value};
use crate::vm::Vm;
use crate::vm::register::Registers;

impl Vm {
    pub(in crate::vm) fn step_make_function(&mut self, registers: Registers, i: Instruction) -> Value {
        let function = self.running().clone();
        let code = function.code.child(self, i.c as usize);
        let defaults = match i.x & 1 {
            0 => Vec::new(),
            _ => match registers.operand(i.b, true) {
                Value::Tuple(defaults) => defaults.to_vec(),
                _ => unreachable!("the compiler builds a tuple of defaults"),
            },
        };
        let params = code.code.params;
        let keyword_names = &code.param_names[params.n_positional as usize..params.n_named()];
        let keyword_defaults = match i.x & 2 {
            0 => Vec::new(),
            _ => match registers.operand(i.b + 1, true) {
                Value::Dict(defaults) => {
                    keyword_names.iter().map(|name| defaults.get_text(name).unwrap_or_default()).collect()
                }
                _ => unreachable!("the compiler builds a dict of keyword defaults"),
            },
        };
        let cell = |capture: &Capture| -> Rc<Cell> {
            match capture {
                Capture::Free(at) => function.closure[*at as usize].clone(),
                Capture::Local(at) => match registers.operand(*at, false) {
                    Value::Cell(cell) => cell,
                    _ => unreachable!("a captured variable lives in a cell"),
                },
            }
        };
        let closure = code.code.captures.iter().map(cell).collect();
        let mut made = Function::plain(code);
        made.name = self.name(&made.code.code.name).into();
        made.defaults = defaults.into();
        made.keyword_defaults = keyword_defaults.into();
        made.closure = closure;
        if i.x & 4 != 0 {
            made.annotations = Annotations::Waiting(registers.operand(i.b + 2, true)).into();
        }
        let function = Rc::new(made);
        self.remembered.function(&function);
        Value::Function(function)
    }

    pub(in crate::vm) fn step_make_class(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.c);
        let Value::Function(body) = registers.operand(i.a, true) else {
            unreachable!("a class body is a function")
        };
        let bases = self.take_row(registers, i.a + 1, i.b);
        let keywords = match i.x & 1 {
            0 => Vec::new(),
            _ => match registers.operand(i.a + 1 + i.b, true) {
                Value::Dict(keywords) => keywords.named_pairs(),
                _ => unreachable!("the compiler gathers the keywords in a dict"),
            },
        };
        let class = self.make_class(&name, &body, &bases, keywords)?;
        registers.set(i.a, class);
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

    pub(in crate::vm) fn step_locals(&mut self, registers: Registers) -> Value {
        let dict = Dict::new();
        let code = self.running().code.clone();
        for (at, name) in code.code.locals.iter().enumerate() {
            let value = registers.operand(at as u16, false);
            let value = match value {
                // The machine stores the class in it.
                Value::Cell(cell) if &**name == CLASS_CELL => Value::Cell(cell),
                Value::Cell(cell) => cell.get(),
                value => value,
            };
            if !value.is_unset() {
                dict.insert_text(self.name(name).value(), value);
            }
        }
        Value::Dict(Rc::new(dict))
    }

    pub(in crate::vm) fn step_import(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.b);
        let module = self.import_from_code(&name, i.c as usize)?;
        let module = match name.split_once('.') {
            Some((first, _)) if i.x == 0 => self.import_from_code(first, i.c as usize)?,
            _ => module,
        };
        registers.set(i.a, Value::Module(module));
        Ok(())
    }

    pub(in crate::vm) fn step_import_from(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let name = self.constant_name(i.c);
        let module = registers.operand(i.b, false);
        let value = self.import_name(&module, &name)?;
        registers.set(i.a, value);
        Ok(())
    }

    pub(in crate::vm) fn step_import_star(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        let module = registers.operand(i.a, true);
        let namespace = self.running().globals().clone();
        for (name, value) in self.public_names(&module)? {
            let slot = namespace.slot(&name);
            let previous = namespace.put(slot, value);
            drop(previous);
        }
        Ok(())
    }
}

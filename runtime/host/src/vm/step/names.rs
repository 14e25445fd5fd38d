//! Unusual names: missing ones, builtins, names in the body of a class, names that `del` removes.

use kps_bytecode::op::Instruction;

use crate::builtins;
use crate::errors;
use crate::value::{Name, Raise, Result, Value};
use crate::vm::Vm;
use crate::vm::code::{Global, LoadedCode};
use crate::vm::register::Registers;

impl Vm {
    /// A global name that the namespace lacks: a builtin.
    pub(in crate::vm) fn step_load_builtin(
        &mut self,
        registers: Registers,
        i: Instruction,
        loaded: &LoadedCode,
    ) -> Result<()> {
        let builtin = self.load_builtin(loaded.global(i.index()))?;
        registers.set(i.a, builtin);
        Ok(())
    }

    /// A name in the body of a class that may be the class's own or a global one.
    pub(in crate::vm) fn step_load_class_name(
        &mut self,
        registers: Registers,
        i: Instruction,
        loaded: &LoadedCode,
    ) -> Result<()> {
        let mut value = registers.operand(i.b, false);
        let global = loaded.global(i.c as usize);
        if value.is_unset() {
            value = loaded.program.namespace.at(global.slot);
        }
        if value.is_unset() {
            value = self.load_builtin(global)?;
        }
        registers.set(i.a, value);
        Ok(())
    }

    pub(in crate::vm) fn step_delete_local(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        match registers.take(i.a) {
            Value::Unset => Err(self.unbound(i.a)),
            _ => Ok(()),
        }
    }

    pub(in crate::vm) fn step_delete_global(&mut self, i: Instruction, loaded: &LoadedCode) -> Result<()> {
        let global = loaded.global(i.index());
        match loaded.program.namespace.put(global.slot, Value::Unset) {
            Value::Unset => Err(errors::name_not_defined(&global.name, None)),
            _ => Ok(()),
        }
    }

    pub(in crate::vm) fn step_delete_cell(&mut self, registers: Registers, i: Instruction) -> Result<()> {
        match registers.cell(i.a).put(Value::Unset) {
            Value::Unset => Err(self.unbound(i.a)),
            _ => Ok(()),
        }
    }

    pub(in crate::vm) fn step_delete_free(&mut self, i: Instruction) -> Result<()> {
        match self.running().closure[i.a as usize].put(Value::Unset) {
            Value::Unset => Err(self.unbound_free(i.a)),
            _ => Ok(()),
        }
    }

    #[cold]
    pub(in crate::vm) fn unbound(&self, register: u16) -> Raise {
        let name = self.running().code.code.locals.get(register as usize);
        errors::unbound_local(name.map_or("?", |name| name))
    }

    #[cold]
    pub(in crate::vm) fn unbound_free(&self, at: u16) -> Raise {
        errors::unbound_free(&self.running().code.code.free[at as usize])
    }

    /// The builtin of a global name that no one has assigned.
    #[cold]
    fn load_builtin(&mut self, global: &Global) -> Result {
        if let Some(builtin) = global.builtin.get() {
            return Ok(builtin.clone());
        }
        match builtins::lookup(self, &global.name)? {
            Some(value) => Ok(global.builtin.get_or_init(|| value).clone()),
            None => Err(self.unknown_name(&global.name)),
        }
    }

    fn unknown_name(&self, name: &Name) -> Raise {
        if let "eval" | "exec" | "compile" = &**name {
            return errors::name_not_defined(name, None).help(errors::NO_CODE_FROM_TEXT);
        }
        let function = self.running();
        let globals = function.globals().to_pairs();
        let mut known: Vec<&str> = builtins::names().collect();
        known.extend(function.code.code.locals.iter().map(|name| &**name));
        known.extend(globals.iter().map(|(name, _)| &**name));
        if crate::modules::names().any(|module| *module == **name) {
            return errors::name_not_defined(name, None).help(format!("write `import {name}` first"));
        }
        let nearest = kps_syntax::suggest::nearest(name, known.into_iter());
        let within = function.def().filter(|_| !function.is_lambda()).map(|_| &*function.code.code.name);
        errors::name_not_defined_in(within, name, nearest.map(str::to_owned))
    }
}

//! The entry points of the compiler.

use kps_syntax::Diagnostics;
use kps_syntax::ast::Module;

use crate::{Program, errors};

/// Compiles a module.
pub fn compile(module: &Module) -> Result<Program, Diagnostics> {
    Err(errors::not_compiled(module).into())
}

/// Compiles an entry at the prompt: the value of a last expression is its result.
pub fn compile_entry(module: &Module) -> Result<Program, Diagnostics> {
    compile(module)
}

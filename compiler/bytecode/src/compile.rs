use crate::Program;
use kps_syntax::Diagnostics;
use kps_syntax::ast::Module;
pub fn compile(_: &Module) -> Result<Program, Diagnostics> {
    Err(Diagnostics::new())
}
pub fn compile_entry(_: &Module) -> Result<Program, Diagnostics> {
    Err(Diagnostics::new())
}

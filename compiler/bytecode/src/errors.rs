//! The mistakes that this crate reports.

use kps_syntax::Diagnostic;
use kps_syntax::ast::Module;

pub fn not_compiled(module: &Module) -> Diagnostic {
    Diagnostic::error("compile/not-yet", format!("`{}` cannot be compiled yet", module.source.name()))
}

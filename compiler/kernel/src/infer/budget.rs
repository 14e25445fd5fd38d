//! Limits on what one kernel compiles to, and cancellation.
//!
//! Inference spends a step on each expression, statement and function. Past a limit, or when the environment
//! `is_cancelled`, it stops, and the result is one error. A short text may need any number of steps: nested
//! loops over tuples, or calls whose literals differ.

mod inference;

use std::sync::Arc;

use kps_syntax::Diagnostic;
use kps_syntax::ast::FunctionDef;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct Budget {
    n_steps: u32,
    /// How many forms of each function were compiled.
    forms: FxHashMap<*const FunctionDef, (Arc<FunctionDef>, u32)>,
    /// Why inference stopped before the end of the source.
    pub end: Option<Diagnostic>,
}

impl Budget {
    pub fn is_spent(&self) -> bool {
        self.end.is_some()
    }
}

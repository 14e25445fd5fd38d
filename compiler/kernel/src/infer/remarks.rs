//! The table of types: for each function and signature, the types, conversions and known values of places in its
//! source. It is collected if a caller asks for it, whether or not the kernel has mistakes.
//!
//! An entry says nothing that the IR does not contain. But the IR no longer knows which expression it belongs
//! to, and a function with mistakes has none. Entries never change what is inferred. A wrong expression has no entry.

mod inference;

use std::sync::Arc;

use kps_syntax::Diagnostic;
use kps_syntax::ast::FunctionDef;

use crate::ir::FunctionId;
use crate::remark::ExplainedFunction;

/// What inference is asked for besides the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collect {
    Nothing,
    /// The table of types.
    Types,
}

/// One function in the table of types.
pub(crate) struct FunctionTypes {
    /// `None` for a function with mistakes. The kernel always has one.
    pub id: Option<FunctionId>,
    pub def: Arc<FunctionDef>,
    pub function: ExplainedFunction,
    pub mistakes: Vec<Diagnostic>,
    /// `None` for the kernel.
    instance: Option<usize>,
}

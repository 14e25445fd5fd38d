//! Text in, syntax tree out: sources and spans, diagnostics, and the AST of Python 3.12.

pub mod ast;
pub mod diagnostic;
pub mod source;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use source::{Location, Source, Span};

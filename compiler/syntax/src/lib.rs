//! Text in, syntax tree out: sources and spans, diagnostics, and the AST of Python 3.12.
//!
//! [`parse`] never fails: what is wrong is data beside the tree, and the tree has `Error` nodes in its
//! place. Everything here is pure: no files, no clock.

pub mod ast;
mod build;
mod cancellation;
mod completeness;
pub mod diagnostic;
pub mod dump;
mod errors;
mod highlight;
mod lexer;
mod parser;
pub mod scope;
pub mod source;
pub mod suggest;
mod token;
pub mod visit;

pub use completeness::{Completeness, completeness};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use dump::dump;
pub use highlight::{TokenClass, tokens};
pub use parser::{parse, parse_unless};
pub use source::{Location, Source, Span};
pub use visit::Part;

//! Text in, syntax tree out: sources and spans, diagnostics, and the AST of Python 3.12.
//!
//! [`parse`] never fails: what is wrong is data beside the tree, and the tree has `Error` nodes in its
//! place. Everything here is pure: no files, no clock.

// What the diagnosis of syntax errors will use.
#![allow(dead_code)]

pub mod ast;
mod build;
pub mod diagnostic;
mod errors;
mod lexer;
mod parser;
pub mod source;
mod token;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use parser::parse;
pub use source::{Location, Source, Span};

//! The syntax of scripts and kernels: text in, syntax tree out.
//!
//! [`parse`] takes a [`Source`] and returns a tree of [`ast`] with the mistakes that it found.
//! It never fails: where the text is wrong, the tree has an `Error` node and [`Diagnostics`] has a message.
//! The language is Python 3.12, with the parts that kps does not have refused by name.
//!
//! | Type | Use |
//! |---|---|
//! | [`Source`] | a named text, with its lines |
//! | [`Span`], [`Location`] | a range of bytes of a text, without and with its source |
//! | [`Diagnostic`] | one mistake, of any crate: a code, a message, labels and help |
//! | [`ast::Module`] | the tree; [`visit`] walks over it and [`dump()`] prints it |
//!
//! ```
//! use kps_syntax::{Source, dump, parse};
//!
//! let source = Source::new("area.kps", "area = width * height\n");
//! let (module, mistakes) = parse(&source);
//! assert!(mistakes.is_empty());
//! assert!(dump(&module).contains("area"));
//!
//! let (_, mistakes) = parse(&Source::new("area.kps", "area = (width\n"));
//! let first = mistakes.iter().next().expect("the bracket is open");
//! assert!(first.location().is_some());
//! ```
//!
//! Nothing here reads a file or a clock.

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
pub use diagnostic::{Diagnostic, Diagnostics, ErrorCode, Severity};
pub use dump::dump;
pub use errors::ERROR_CODES;
pub use highlight::{TokenClass, tokens};
pub use parser::{parse, parse_unless};
pub use source::{Location, Source, Span};
pub use visit::Part;

//! One constructor per syntax error.
//!
//! They are sorted by the phase that finds them: the lexer, the strings, the parser, the builder, the final
//! checks.

mod codes;
mod context;
mod grammar;
mod lexical;
mod meaning;
mod strings;

pub use codes::ERROR_CODES;
pub(crate) use context::*;
pub(crate) use grammar::*;
pub(crate) use lexical::*;
pub(crate) use meaning::*;
pub(crate) use strings::*;

//! One constructor per mistake that the syntax can hold.
//!
//! They are sorted by who finds them: the lexer, the strings, the parser, the builder behind it, the
//! last look at the whole.

mod context;
mod grammar;
mod lexical;
mod meaning;
mod strings;

pub(crate) use context::*;
pub(crate) use grammar::*;
pub(crate) use lexical::*;
pub(crate) use meaning::*;
pub(crate) use strings::*;

//! Text algorithms on Rust's own types, with CPython's results and messages.
//!
//! Nothing here knows of values or of the machine: numbers and strings come in, strings or a
//! [`TextError`] come out. No call panics or runs long on any input.

pub mod case;
pub mod digits;
mod error;
pub mod float;
pub mod format_number;
pub mod int;
pub mod pad;
pub mod percent;
pub mod quote;
pub mod slice;
pub mod spec;
pub mod split;
pub mod template;
pub mod unicode;
mod unicode_tables;

pub use error::{TextError, TextErrorKind, check_length};

//! Text algorithms on Rust's own types, with CPython's results and messages.
//!
//! Numbers and strings come in, strings or a [`TextError`] come out. No call panics on any input. What takes long or
//! makes much asks the host that runs for leave ([`crate::vm::checkpoint`], [`crate::memory::grant`]).

pub mod case;
pub mod digits;
mod error;
pub mod float;
pub mod format_number;
pub mod int;
pub mod pad;
pub mod percent;
pub mod quote;
pub mod search;
pub mod slice;
pub mod spec;
pub mod split;
pub mod template;
pub mod unicode;

pub use error::{TextError, TextErrorKind, check_length};

//! Text algorithms on Rust's types, with CPython's results and messages.
//!
//! Numbers and strings go in, strings or a [`TextError`] come out. No input causes a panic. Long work polls
//! the running host ([`crate::vm::checkpoint`]), and large results check its memory limit
//! ([`crate::memory::grant`]).

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

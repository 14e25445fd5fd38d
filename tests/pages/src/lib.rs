//! The Rust blocks of the pages, as doc tests. A page with such a block has its line here, which the suite
//! checks.

#![cfg(doctest)]

#[doc = include_str!("../../../docs/src/guide/embedding.md")]
pub mod embedding {}

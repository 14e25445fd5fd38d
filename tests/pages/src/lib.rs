//! The blocks in Rust of the pages, as doc tests. A page with such a block has its line here; the suite checks that.

#![cfg(doctest)]

#[doc = include_str!("../../../docs/src/guide/embedding.md")]
pub mod embedding {}

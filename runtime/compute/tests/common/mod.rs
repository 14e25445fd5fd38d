//! Shared by the tests of this crate.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod kernels;
pub mod recorder;

//! The built-in device: modules run on it, their results compared.

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod assembly;
mod barriers;
mod bench;
mod comparisons;
mod control;
mod conversions;
mod device;
mod garbage;
mod glsl;
mod memory;

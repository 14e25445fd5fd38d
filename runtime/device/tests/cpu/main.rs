//! The built-in device: modules run on it, their results compared.

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod assembly;
mod atomics;
mod barriers;
mod bench;
mod checked;
mod comparisons;
mod control;
mod conversions;
mod cooperative;
mod device;
mod documented;
mod gangs;
mod garbage;
mod glsl;
mod images;
mod matrices;
mod meetings;
mod memory;
mod narrow;
mod phases;
mod pointers;
mod programs;
mod races;
mod subgroups;

//! The CPU device: modules run on it, and their results are compared.

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
mod garbage;
mod glsl;
mod images;
mod matrices;
mod memory;
mod narrow;
mod phases;
mod pointers;
mod programs;
mod queues;
mod races;
mod simd_groups;
mod subgroup_programs;
mod subgroups;

//! How SIMD groups interleave the memory of their lanes, so that accesses of all lanes at one offset are one access.
//!
//! A lane's bytes are split into granules, and the same granules of all lanes of a SIMD group are adjacent:
//!
//! ```text
//! granule 0: lane 0, lane 1, .. | granule 1: lane 0, lane 1, .. | ..
//! ```
//!
//! No access crosses a granule. Most accesses are whole granules, and smaller ones are inside one.

use rustc_hash::FxHashMap;

use super::{Address, Kernel, Op, Space, Value};

/// The granule size in bytes that suits all accesses of a kernel to private memory; `None` where none does.
pub fn granule(kernel: &Kernel) -> Option<u32> {
    let mut addresses = FxHashMap::default();
    let mut accesses = Vec::new();
    for inst in kernel.blocks.iter().flat_map(|block| &block.insts) {
        if let (Op::Address(address), Some(result)) = (&inst.op, inst.result) {
            if is_own(address) {
                addresses.insert(result, *address);
            }
        } else if let Some((address, offset, size)) = access(kernel, &inst.op) {
            accesses.extend(addresses.get(&address).map(|address| (*address, offset, size)));
        }
    }
    let granule = accesses.iter().map(|(_, _, size)| *size).max().unwrap_or(0).max(4);
    let fits = |&(address, offset, size): &(Address, u32, u32)| {
        size == granule || (offset == 0 && address.size == size)
    };
    accesses.iter().all(fits).then_some(granule)
}

/// Whether an address is in the lane's own memory.
pub fn is_own(address: &Address) -> bool {
    matches!(address.space, Space::Frame { .. })
}

/// Address, offset and bytes of an access.
fn access(kernel: &Kernel, op: &Op) -> Option<(Value, u32, u32)> {
    let size = |value: Value| kernel.values[value.0 as usize].ty.size();
    Some(match *op {
        Op::Load { ty, address, offset } => (address, offset, ty.size()),
        Op::Store { address, offset, value } => (address, offset, size(value)),
        Op::LoadNarrow { bytes, address, offset } | Op::StoreNarrow { bytes, address, offset, .. } => {
            (address, offset, bytes)
        }
        Op::AtomicLoad { ty, address } => (address, 0, ty.size()),
        Op::Atomic { address, value, .. } | Op::CompareExchange { address, value, .. } => {
            (address, 0, size(value))
        }
        _ => return None,
    })
}

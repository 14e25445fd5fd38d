//! Buffers of which each invocation touches one element alone, its own along x: nobody can race for them in a
//! dispatch that has one row.

use rustc_hash::FxHashMap;

use crate::cpu::lane::{Address, Binary, Builtin, Convert, Def, Kernel, Op, Space, Value};

/// Of each buffer whether all accesses are at the element that an invocation's id names.
pub fn find(kernel: &Kernel) -> Vec<bool> {
    let insts = || kernel.blocks.iter().flat_map(|block| &block.insts);
    let defs: FxHashMap<Value, &Op> = insts().filter_map(|inst| Some((inst.result?, &inst.op))).collect();
    let mut own = vec![true; kernel.buffers.len()];
    // The bytes from one invocation's element to the next, and where in them the first access was.
    let mut elements: Vec<Option<u64>> = vec![None; kernel.buffers.len()];
    for inst in insts() {
        let Op::Address(Address { space, dynamic, constant, size, .. }) = inst.op else { continue };
        let Space::Buffer(buffer) = space else { continue };
        let stride = dynamic.and_then(|dynamic| stride(kernel, &defs, dynamic));
        let known = elements[buffer as usize].or(stride);
        own[buffer as usize] &= stride.is_some()
            && stride == known
            && stride.is_some_and(|stride| constant + u64::from(size) <= stride);
        elements[buffer as usize] = known;
    }
    own
}

/// The factor of a value that is the invocation's id along x times a constant.
fn stride(kernel: &Kernel, defs: &FxHashMap<Value, &Op>, value: Value) -> Option<u64> {
    let Op::Binary(Binary::Mul, id, factor) = **defs.get(&value)? else { return None };
    let Def::Const(factor) = kernel.values[factor.0 as usize].def else { return None };
    let Op::Convert(Convert::SignExtend | Convert::ZeroExtend, id) = **defs.get(&id)? else { return None };
    let is_id = kernel.values[id.0 as usize].def == Def::Builtin(Builtin::GlobalId(0));
    (is_id && factor < 1 << 16).then_some(factor)
}

//! Finds the variables that must be in memory: those with dynamic indices, here or in a function to which
//! their pointer is passed.

use rspirv::spirv::Op;
use rustc_hash::FxHashSet;

use super::atomics;
use crate::cpu::module::{Id, Instruction, Module};

/// Variables, parameters and pointers into them.
pub fn in_memory(module: &Module<'_>) -> FxHashSet<Id> {
    let mut found = FxHashSet::default();
    // Callees come first, and pointers are used after their definition, so one backward pass suffices.
    for &function in &module.call_order {
        for block in module.functions[function].blocks.iter().rev() {
            for inst in block.body.iter().rev() {
                visit(module, inst, &mut found);
            }
        }
    }
    found
}

fn visit(module: &Module<'_>, inst: &Instruction, found: &mut FxHashSet<Id>) {
    let operands = module.operands(inst);
    let id = |i: usize| operands.get(i).copied().map(Id);
    let (Some(result), Some(base)) = (id(1), id(2)) else { return };
    match inst.op {
        Op::AccessChain | Op::InBoundsAccessChain => {
            let dynamic = operands[3..].iter().any(|&index| !module.constants.contains_key(&Id(index)));
            if dynamic || found.contains(&result) {
                found.insert(base);
            }
        }
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain | Op::CooperativeMatrixLoadKHR => {
            found.insert(base);
        }
        Op::CopyObject if found.contains(&result) => {
            found.insert(base);
        }
        Op::FunctionCall => {
            let Some(&callee) = module.function_by_id.get(&base) else { return };
            for ((param, _), &argument) in module.functions[callee].params.iter().zip(&operands[3..]) {
                if found.contains(param) {
                    found.insert(Id(argument));
                }
            }
        }
        Op::AtomicStore => found.extend(id(0)),
        op if atomics::is_atomic(op) => {
            found.insert(base);
        }
        _ => {}
    }
}

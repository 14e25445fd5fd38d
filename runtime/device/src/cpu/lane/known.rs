//! Uses the conditions of branches: in a block that only one edge enters, a [`Op::Select`] with that edge's
//! condition becomes one of its operands. So an index that is tested before a store keeps the test's bound
//! after it.

use rustc_hash::FxHashMap;

use super::{Block, Kernel, Op, Terminator, Value};

pub fn use_branches(kernel: &mut Kernel) {
    let mut n_edges = vec![0; kernel.blocks.len()];
    let mut selects: FxHashMap<Value, (Value, Value, Value)> = FxHashMap::default();
    for block in &kernel.blocks {
        block.end.successors().iter().for_each(|to| n_edges[to.0 as usize] += 1);
        for inst in &block.insts {
            if let (Op::Select(condition, a, b), Some(result)) = (&inst.op, inst.result) {
                selects.insert(result, (*condition, *a, *b));
            }
        }
    }
    if selects.is_empty() {
        return;
    }
    for from in 0..kernel.blocks.len() {
        let Terminator::Branch { condition, ref then, ref otherwise } = kernel.blocks[from].end else {
            continue;
        };
        for (to, holds) in [(then.to, true), (otherwise.to, false)] {
            if n_edges[to.0 as usize] == 1 {
                replace(&mut kernel.blocks[to.0 as usize], &selects, condition, holds);
            }
        }
    }
}

fn replace(block: &mut Block, selects: &FxHashMap<Value, (Value, Value, Value)>, known: Value, holds: bool) {
    let mut chosen = |value: &mut Value| {
        if let Some(&(condition, a, b)) = selects.get(value)
            && condition == known
        {
            *value = if holds { a } else { b };
        }
    };
    for inst in &mut block.insts {
        inst.op.each_use(&mut chosen);
    }
    block.end.each_use(&mut chosen);
}

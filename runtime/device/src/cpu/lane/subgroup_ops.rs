//! Makes subgroup operations instructions, for SIMD groups of whole subgroups. In these, the lanes of a
//! subgroup reconverge as all lanes of a SIMD group do: at each block, in each iteration of the loops around
//! it. So a subgroup operation need not end a region. It becomes an [`Op::Subgroup`], and the iteration
//! counters are removed.

use rustc_hash::FxHashSet;

use super::regions::{self, Carried, Regions};
use super::simd::MAX_WIDTH;
use super::sites::{Site, SiteKind};
use super::{BlockId, Def, Inst, Kernel, Op, Space, SubgroupOp, Terminator, Value};

/// A kernel in which all subgroup operations are instructions.
pub struct InlinedSubgroupOps {
    pub kernel: Kernel,
    pub regions: Regions,
    pub carried: Carried,
}

/// `None` if no SIMD group can hold whole subgroups, if there are no such operations, or if a check depends
/// on the order of lanes.
pub fn inline(kernel: &Kernel, known: &Regions) -> Option<InlinedSubgroupOps> {
    let size = kernel.subgroup_size;
    let fits = size <= MAX_WIDTH && kernel.local_size[0].is_multiple_of(size);
    let is_of_one_lane = |site: &Site| matches!(&site.kind, SiteKind::Check(site) if site.is_of_one_lane());
    if kernel.group_ops.is_empty() || !fits || !kernel.sites.iter().all(is_of_one_lane) {
        return None;
    }
    let mut kernel = kernel.clone();
    let uncounted = counts(&kernel);
    for i in 0..kernel.blocks.len() {
        kernel.blocks[i].insts.retain(|inst| !is_count(&inst.op, &uncounted));
        while let Terminator::Subgroup { op, next } = kernel.blocks[i].end {
            go_on(&mut kernel, i, op, next);
        }
    }
    kernel.group_ops.clear();
    let mut regions = regions::split(&kernel).ok()?;
    regions.numbers = regions.all.iter().map(|region| known.by_entry[&region.entry]).collect();
    let carried = regions::carried(&kernel, &regions).ok()?;
    Some(InlinedSubgroupOps { kernel, regions, carried })
}

/// Addresses of the iteration counters.
fn counts(kernel: &Kernel) -> FxHashSet<Value> {
    let starts: FxHashSet<u32> =
        kernel.group_ops.iter().filter(|op| !op.loops.is_empty()).map(|op| op.rounds).collect();
    let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
    let is_one = |inst: &&Inst| match &inst.op {
        Op::Address(address) => {
            matches!(address.space, Space::Frame { start, .. } if starts.contains(&start))
        }
        _ => false,
    };
    insts.filter(is_one).filter_map(|inst| inst.result).collect()
}

fn is_count(op: &Op, counts: &FxHashSet<Value>) -> bool {
    matches!(op, Op::Store { address, .. } if counts.contains(address))
}

/// Appends the block after the operation that ends this one. That block has no other predecessor.
fn go_on(kernel: &mut Kernel, block: usize, op: usize, next: BlockId) {
    let after = std::mem::take(&mut kernel.blocks[next.0 as usize]);
    for inst in &after.insts {
        if let Some(result) = inst.result {
            kernel.values[result.0 as usize].def = Def::Inst(BlockId(block as u32));
        }
    }
    let here = &mut kernel.blocks[block];
    let known = &kernel.group_ops[op];
    let op_in_place = SubgroupOp { number: op as u32, kind: known.kind, slots: known.slots, n: known.n };
    here.insts.push(Inst { op: Op::Subgroup(op_in_place), result: None, line: here.line });
    here.insts.extend(after.insts);
    here.end = after.end;
    here.line = after.line;
}
